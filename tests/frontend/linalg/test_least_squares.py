"""Shortest solutions with the least squares, of any rank, and their slopes."""

import numpy as np
import pytest

from gravure import tf

RANDOM = np.random.default_rng(9)
SHAPES = [(5, 5), (7, 4), (4, 7), (2, 6, 3), (3, 3, 5), (1, 1)]
KINDS = ["float32", "float64", "complex64", "complex128"]


def of_rank(shape: tuple[int, ...], rank: int | None, kind: str = "float64") -> np.ndarray:
    """Return matrices of a rank, the full one if it is None."""
    a = RANDOM.normal(size=shape)
    if "complex" in kind:
        a = a + 1j * RANDOM.normal(size=shape)
    if rank is not None:
        u, s, v = np.linalg.svd(a, full_matrices=False)
        s[..., rank:] = 0
        a = (u * s[..., None, :]) @ v
    return a.astype(kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [None, 2, 0])
@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_are_the_shortest(shape: tuple[int, ...], rank: int | None, kind: str) -> None:
    a = of_rank(shape, rank, kind)
    b = RANDOM.normal(size=(*shape[:-1], 2)).astype(kind)
    wide = a.astype(np.complex128)
    wanted = np.linalg.pinv(wide, rcond=1e-5) @ b if a.any() else np.zeros((shape[-1], 2))
    near = 1e-3 if kind in ("float32", "complex64") else 1e-9
    for solve in (tf.linalg.lstsq, tf.function(tf.linalg.lstsq)):
        found = solve(tf.constant(a), tf.constant(b), fast=False)
        assert found.dtype == kind
        np.testing.assert_allclose(
            found, np.broadcast_to(wanted, found.shape), rtol=near, atol=near
        )


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_matrices_that_are_nearly_singular_keep_their_digits(kind: str) -> None:
    """Squared matrices lose half of the digits, unless they are squared in more of them."""
    u, _ = np.linalg.qr(RANDOM.normal(size=(8, 8)))
    a = (u * np.logspace(0, -3, 8)).astype(kind)
    x = RANDOM.normal(size=(8, 1))
    found = tf.linalg.lstsq(a, (a.astype(np.float64) @ x).astype(kind), fast=False)
    np.testing.assert_allclose(found, x, rtol=0, atol=2e-3 if kind == "float32" else 1e-11)


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("shape", SHAPES[:-1])
def test_slopes_are_those_of_differences(shape: tuple[int, ...], rank: int | None) -> None:
    a, b = of_rank(shape, rank), RANDOM.normal(size=(*shape[:-1], 2))
    weight = RANDOM.normal(size=(*shape[:-2], shape[-1], 2))
    toward, beside = RANDOM.normal(size=shape), RANDOM.normal(size=b.shape)
    if rank is not None:  # the rank has to stay
        inverse = np.linalg.pinv(a, rcond=1e-8)
        out, within = np.eye(shape[-2]) - a @ inverse, np.eye(shape[-1]) - inverse @ a
        toward = toward - out @ toward @ within

    def loss(step: float) -> float:
        inverse = np.linalg.pinv(a + step * toward, rcond=1e-7)
        return float((inverse @ (b + step * beside) * weight).sum())

    given = [tf.constant(a), tf.constant(b)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        total = tf.reduce_sum(tf.linalg.lstsq(*given, fast=False) * weight)
    for_a, for_b = tape.gradient(total, given)
    found = (for_a.numpy() * toward).sum() + (for_b.numpy() * beside).sum()
    assert found == pytest.approx((loss(1e-6) - loss(-1e-6)) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("more", [0.1, np.float64(0.1)])
def test_what_is_added_to_the_diagonal_has_all_its_digits(more: float) -> None:
    a, b = of_rank((4, 3), None), RANDOM.normal(size=(4, 1))
    wanted = np.linalg.solve(a.T @ a + 0.1 * np.eye(3), a.T @ b)
    for solve in (tf.linalg.lstsq, tf.function(tf.linalg.lstsq)):
        found = solve(tf.constant(a), tf.constant(b), l2_regularizer=more)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

"""Eigenvalues and singular values of small matrices, found in loops, and what LAPACK gives."""

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.tf.linalg import lapack, rotations

RANDOM = np.random.default_rng(8)
SIZES = [(1, 1), (2, 2), (3, 3), (40, 3, 3), (2, 3, 9, 9), (15, 15), (32, 32)]
NEAR = {"float32": 4e-6, "float64": 1e-13}
RANKS = [np.zeros((4, 4)), np.ones((4, 4)), np.eye(4), np.diag([1e-30, 0, 1, 1e30]),
         np.diag([3.0, -3.0, 0.0]), np.eye(5)[::-1]]  # fmt: skip


RECORDED = [
    [2.194397, 3.38677, 9.418828],
    [
        [0.441225, -0.815583, 0.374359],
        [0.57735, 0.57735, 0.57735],
        [-0.687014, -0.038605, 0.725618],
    ],
    [9.418832, 3.38677, 2.194396],
    [[0.374359, 0.815583, 0.441225], [0.57735, -0.57735, 0.57735], [0.725619, 0.038605, -0.687013]],
    [[0.374359, 0.815583, 0.441225], [0.57735, -0.57735, 0.57735], [0.725619, 0.038605, -0.687013]],
]
"""Eigenvalues and vectors, singular values, left and right vectors of one matrix."""


def normal(*shape: int, kind: str = "float64") -> np.ndarray:
    """Return matrices of normal numbers."""
    return RANDOM.normal(size=shape).astype(kind)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", SIZES)
def test_symmetric_matrices_have_their_eigenvalues(shape: tuple[int, ...], kind: str) -> None:
    a = normal(*shape, kind=kind)
    lower = np.tril(a)
    whole = lower + np.swapaxes(np.tril(a, -1), -1, -2)
    values, vectors = rotations.symmetric(a)
    near = NEAR[kind] * shape[-1] * np.abs(whole).max()
    wanted = np.linalg.eigvalsh(whole.astype(np.float64))
    np.testing.assert_allclose(values, wanted, rtol=0, atol=near)
    np.testing.assert_allclose(whole @ vectors, vectors * values[..., None, :], rtol=0, atol=near)
    one = np.broadcast_to(np.eye(shape[-1]), shape)
    turned = np.swapaxes(vectors, -1, -2)
    np.testing.assert_allclose(vectors @ turned, one, rtol=0, atol=NEAR[kind])
    assert rotations.symmetric(a, vectors=False)[0].tobytes() == values.tobytes()


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", SIZES[:-1])
def test_square_matrices_have_their_singular_values(shape: tuple[int, ...], kind: str) -> None:
    a = normal(*shape, kind=kind)
    s, u, v = rotations.singular(a)
    near = NEAR[kind] * shape[-1] * np.abs(a).max()
    wanted = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(s, wanted, rtol=0, atol=near)
    back = (u * s[..., None, :]) @ np.swapaxes(v, -1, -2)
    np.testing.assert_allclose(back, a, rtol=0, atol=near)
    assert rotations.singular(a, vectors=False)[0].tobytes() == s.tobytes()


@pytest.mark.parametrize("given", RANKS)
def test_equal_and_missing_values_are_found(given: np.ndarray) -> None:
    values, vectors = rotations.symmetric(given)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(given), rtol=1e-14, atol=1e-15)
    s, u, v = rotations.singular(given)
    np.testing.assert_allclose(s, np.linalg.svd(given)[1], rtol=1e-14, atol=1e-15)
    for each in (vectors, u, v):
        np.testing.assert_allclose(each @ each.T, np.eye(len(given)), atol=1e-14)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(0, 0), (1, 1), (1, 0), (2, 0), (2, 2)])
def test_what_is_not_finite_has_no_values(place: tuple[int, int], wrong: float) -> None:
    a = np.eye(3)[None].repeat(2, 0)
    a[0, *place] = wrong
    with np.errstate(all="ignore"):
        values = rotations.symmetric(a)[0]
    assert np.isnan(values[0]).all()
    assert (values[1] == 1).all()
    for function in (tf.linalg.eigh, tf.linalg.eigvalsh, tf.function(tf.linalg.eigh)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not successful"):
            function(a)
    for found in (tf.linalg.svd(a)[0], tf.linalg.svd(a, compute_uv=False)):
        np.testing.assert_array_equal(found, [[np.nan] * 3, [1.0] * 3])


@pytest.mark.parametrize("name", ["_symmetric", "_singular"])
def test_the_written_functions_are_the_compiled_ones(name: str) -> None:
    function, a = getattr(rotations, name), normal(2, 3, 3)
    room = [np.zeros((2, 3, 3)) for _ in range(1 if name == "_symmetric" else 2)]
    arrays = [np.zeros((2, 3)), *room, np.zeros(9)]
    plain = [x.copy().reshape(-1) for x in arrays]
    function(a.copy(), 3, 2.2e-16, *arrays)
    function.function(a.copy().reshape(-1), 3, 2.2e-16, *plain)
    for x, y in zip(arrays, plain, strict=True):
        np.testing.assert_allclose(x.reshape(-1), y, rtol=1e-13, atol=1e-15)


def test_signs_of_vectors_are_tensorflows() -> None:
    """The numbers are those of TensorFlow 2.21."""
    a = np.array([[4.0, 1, 2], [1, 5, 3], [2, 3, 6]], np.float32)
    s, u, v = tf.linalg.svd(a)
    e, w = tf.linalg.eigh(a)
    for found, wanted in zip((e, w, s, u, v), RECORDED, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(40, 40), (2, 35, 35), (0, 3, 3), (3, 0, 0)])
def test_lapack_has_what_is_larger(shape: tuple[int, ...], kind: str) -> None:
    a = normal(*shape, kind=kind)
    a = a + np.swapaxes(a, -1, -2)
    values, vectors = lapack.symmetric(a)
    assert values.dtype == a.real.dtype
    near = 1e-4 if kind in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=near)
    np.testing.assert_allclose(lapack.eigenvalues(a), values, atol=near)
    s, u, v = lapack.svd(a)
    assert s.dtype == a.real.dtype
    back = (u * s[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))
    np.testing.assert_allclose(back, a, atol=near)
    np.testing.assert_allclose(lapack.singular_values(a), s, atol=near)

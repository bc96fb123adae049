"""What numpy took several ways for is done to many numbers in one."""

import numpy as np
import pytest

from gravure import tf
from gravure.codegen.serial.function import Serial
from gravure.frontend.eager import in_loops
from gravure.frontend.tf.linalg import lapack, three_diagonals
from gravure.frontend.tf.ops import special
from gravure.frontend.values import sums


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_segments_end_where_numpy_finds_them(dtype) -> None:
    random = np.random.default_rng(0)
    for most in (1, 3, 900, 20000):
        ids = np.sort(random.integers(0, most, 5000)).astype(dtype)
        for count in (int(ids[-1]) + 1, most + 7):
            wanted = np.searchsorted(ids, np.arange(count), "right")
            assert np.array_equal(sums.ends_of(ids, count), wanted)
    assert np.array_equal(sums.ends_of(np.repeat(ids, 2)[::2], count), wanted)


def test_segments_in_python_are_those_of_compiled_code() -> None:
    ids, ends = np.array([0, 0, 2, 5, 5]), [-1] * 8
    sums._fill_ends.function(ids.tolist(), ends)
    assert ends == sums.ends_of(ids, 8).tolist() == [2, 2, 3, 3, 3, 5, 5, 5]


def test_upper_gammas_of_small_numbers_are_compiled(monkeypatch) -> None:
    """One such number among a thousand had them all wait for loops of numpy's."""
    random = np.random.default_rng(0)
    a = (10 ** random.uniform(-3.6, -3, 5000)).astype(np.float32)
    x = random.uniform(1e-3, 30, 5000).astype(np.float32)
    wanted = special._far(a.astype(np.float64), x.astype(np.float64), upper=True)
    monkeypatch.setattr(special, "_far", None)
    found = np.asarray(tf.math.igammac(a, x))
    np.testing.assert_allclose(found, wanted, 1.5e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_systems_are_solved_by_what_python_calls_at_once(dtype, monkeypatch) -> None:
    """Truths among the arguments had each call converted by Python, argument by argument."""

    def refuse(*_: object) -> None:
        raise AssertionError("an argument is none that compiled code takes")

    for module, name in ((three_diagonals, "_solve"), (in_loops, "_substitute")):
        made = Serial(getattr(module, name).function)
        monkeypatch.setattr(made, "plain", refuse)
        monkeypatch.setattr(module, name, made)
    x = tf.constant([[1.0, 2, 3], [9, 8, 7], [2, 4, 3]], dtype)
    tf.linalg.tridiagonal_solve(x, x[1])
    tf.linalg.lstsq(x, x, fast=False)


@pytest.mark.parametrize("name", ["eigvals", "eig"])
def test_eigenvalues_have_one_gradient_with_vectors_and_without(name) -> None:
    random = np.random.default_rng(0)
    x, weights = tf.constant(random.normal(size=(3, 5, 5))), random.random((3, 5))
    function = getattr(tf.linalg, name)
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = function(x) if name == "eigvals" else function(x)[0]
        total = tf.reduce_sum(abs(values) * weights)
    step = random.normal(size=x.shape) * 1e-6
    ahead, before = (abs(np.linalg.eigvals(x.numpy() + way * step)) for way in (1, -1))
    moved = ((ahead - before) * weights).sum() / 2
    assert np.isclose((tape.gradient(total, x).numpy() * step).sum(), moved, rtol=1e-4)


def test_eigenvalues_alone_are_found_without_vectors(monkeypatch) -> None:
    monkeypatch.setattr(lapack, "eig", None)
    x = tf.constant(np.random.default_rng(0).normal(size=(20, 20)))
    found = tf.linalg.eigvals(x)
    assert np.array_equal(found, tf.function(tf.linalg.eigvals)(x))
    assert np.isclose(tf.reduce_sum(found), np.trace(x))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(2, 5), (3, 2), (2, 3, 4), (1, 3)])
def test_triangles_of_bands_have_their_diagonals_and_give_gradients_to_them(shape, lower) -> None:
    bands = tf.constant(np.random.default_rng(0).random(shape) + 1.0)
    *outer, count, n = shape
    with tf.GradientTape() as tape:
        tape.watch(bands)
        identities = np.broadcast_to(np.eye(n), (*outer, n, n))
        inverse = tf.linalg.banded_triangular_solve(bands, identities, lower)
    whole = np.linalg.inv(inverse.numpy())
    wanted, slopes = np.zeros((*outer, n, n)), np.zeros(shape)
    slope = -np.swapaxes(inverse, -1, -2) @ np.ones((n, n)) @ np.swapaxes(inverse, -1, -2)
    for i in range(min(count, n)):
        j, row = np.arange(n - i), i if lower else count - 1 - i
        places = (j + i, j) if lower else (j, j + i)
        own = slice(i, n) if lower else slice(0, n - i)
        wanted[(..., *places)] = bands.numpy()[..., row, own]
        slopes[..., row, own] = slope[(..., *places)]
    assert np.allclose(whole, wanted)
    assert np.allclose(tape.gradient(inverse, bands), slopes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_numbers_are_those_of_c_at_once_and_in_functions(dtype, monkeypatch) -> None:
    kind = np.finfo(dtype)
    ends = [0, 1, 1.5, 2, kind.smallest_subnormal, kind.tiny, kind.max, np.inf]
    numbers = np.array([*ends, *(-x for x in ends), -0.0, np.nan], dtype)
    x, towards = (each.ravel() for each in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        wanted = np.nextafter(x, towards)
    monkeypatch.setattr(np, "nextafter", None)
    bits = "i4" if dtype is np.float32 else "i8"
    is_some = ~np.isnan(wanted)
    for function in (tf.math.nextafter, tf.function(tf.math.nextafter)):
        for _ in range(4):
            found = function(tf.constant(x), tf.constant(towards)).numpy()
            assert np.array_equal(found.view(bits)[is_some], wanted.view(bits)[is_some])
            assert np.isnan(found[~is_some]).all()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_no_matrix_is_made_of_bands(lower, adjoint) -> None:
    count = 200_000
    main, beside = np.full(count, 4.0), np.full(count, 2.0)
    bands = tf.constant(np.stack([main, beside] if lower else [beside, main]))
    right = np.ones((count, 1))

    def solved(x: tf.Tensor) -> tf.Tensor:
        return tf.linalg.banded_triangular_solve(x, right, lower, adjoint)[1000:2000]

    for function in (solved, tf.function(solved)):
        with tf.GradientTape() as tape:
            tape.watch(bands)
            found = function(bands)
        np.testing.assert_allclose(found, np.full((1000, 1), 1 / 6))
        assert np.isfinite(tape.gradient(found, bands)).all()

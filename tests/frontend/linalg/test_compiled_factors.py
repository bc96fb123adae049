"""What numpy takes long for is compiled at once, also where results have few elements."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.codegen import single
from gravure.frontend.eager import in_loops
from gravure.ir.op import REGISTRY
from gravure.ir.types.tensor import spec_of_array

RANDOM = np.random.default_rng(3)


def matrices(*shape: int) -> np.ndarray:
    """Return symmetric positive matrices."""
    made = RANDOM.uniform(-1, 1, shape)
    made = made @ np.swapaxes(made, -1, -2) + np.eye(shape[-1])
    return made.astype(np.float32)


@pytest.mark.parametrize("shape", [(100, 100), (20, 32, 32), (1000, 3, 3)])
def test_triangles_are_solved_by_substitution(shape: tuple[int, ...]) -> None:
    a, b = matrices(*shape), RANDOM.uniform(-1, 1, (*shape[:-1], 2)).astype(np.float32)
    op = REGISTRY["gv.triangular_solve"]
    compiled = single.whole(op, [spec_of_array(a), spec_of_array(b)], op.complete({}))
    found = tf.linalg.triangular_solve(a, b).numpy()
    assert found.tobytes() == compiled(a, b).tobytes()
    np.testing.assert_allclose(np.tril(a) @ found, b, atol=1e-3)


@pytest.mark.parametrize("name", ["det", "cholesky"])
def test_factors_of_many_rows_are_those_of_a_kernel(name: str) -> None:
    a = matrices(120, 120) / np.float32(30)
    op = REGISTRY["gv.determinant" if name == "det" else "gv.cholesky"]
    compiled = single.whole(op, [spec_of_array(a)], {})
    found = getattr(tf.linalg, name)(a).numpy()
    assert found.tobytes() == compiled(a).tobytes()
    np.testing.assert_allclose(found, op.evaluate(a)[0], rtol=1e-3, atol=1e-3)
    in_function = tf.function(getattr(tf.linalg, name))
    for _ in range(4):
        assert in_function(a).numpy().tobytes() == found.tobytes()


@pytest.mark.parametrize("shape", [(120, 120), (20, 32, 32)])
def test_triangles_of_many_rows_are_those_of_a_kernel(shape: tuple[int, ...]) -> None:
    a = RANDOM.uniform(-1, 1, shape).astype(np.float32)
    compiled = single.whole(REGISTRY["gv.lu"], [spec_of_array(a)], {})
    for make in (tf.linalg.lu, tf.function(tf.linalg.lu)):
        for found, wanted in zip(make(a), compiled(a), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("wrong", ["first", "singular"])
def test_matrices_of_many_rows_without_triangles_are_refused(wrong: str) -> None:
    a = matrices(120, 120)
    if wrong == "first":
        a[0, 0] = np.nan
    else:
        a[70] = a[:, 70] = 0
    for make in (tf.linalg.lu, tf.function(tf.linalg.lu)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            make(a)


def test_logarithms_of_determinants_of_many_rows_are_those_of_a_kernel() -> None:
    a = matrices(120, 120)
    wanted = single.whole(REGISTRY["gv.log_determinant"], [spec_of_array(a)], {})(a)
    for _ in range(3):
        for found, each in zip(tf.linalg.slogdet(a), wanted, strict=True):
            assert found.numpy().tobytes() == each.tobytes()


def test_a_matrix_that_is_not_positive_gives_nan_in_compiled_code_too() -> None:
    a = -matrices(120, 120)
    for make in (tf.linalg.cholesky, tf.function(tf.linalg.cholesky)):
        np.testing.assert_array_equal(make(a), np.where(np.tri(120, dtype=bool), np.nan, 0))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shapes", [((5, 5), (5, 2)), ((3, 4, 4), (3, 4, 1)), ((2, 3, 3), (3, 7))])
def test_triangles_of_few_rows_are_solved_as_evaluated(
    shapes: tuple[tuple[int, ...], ...], kind: str, adjoint: bool, lower: bool
) -> None:
    a, b = (RANDOM.uniform(0.5, 2, shape).astype(kind) for shape in shapes)
    op = REGISTRY["gv.triangular_solve"]
    flags = {"lower": lower, "transpose": adjoint}
    found = tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint).numpy()
    assert found.dtype == kind
    (wanted,) = op.evaluate(a, b, **flags)
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if kind == "float32" else 1e-12)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (30, 30), (2, 5, 20, 20), (50, 4, 4)])
def test_roots_and_logarithms_of_few_rows_are_as_evaluated(
    shape: tuple[int, ...], kind: str
) -> None:
    given = matrices(*shape).astype(kind)
    near = 1e-5 if kind == "float32" else 1e-10
    for name, a in (("cholesky", given), ("slogdet", given - np.float32(0.7))):
        op = REGISTRY["gv.cholesky" if name == "cholesky" else "gv.log_determinant"]
        made = getattr(tf.linalg, name)(a)
        for found, wanted in zip(
            [made] if name == "cholesky" else made, op.evaluate(a), strict=True
        ):
            assert found.dtype == kind
            np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_few_rows_without_a_root_or_a_logarithm(kind: str) -> None:
    nan = np.diag([1.0, np.nan, 1.0])
    odd = np.stack([np.eye(3), np.zeros((3, 3)), nan, -np.eye(3), np.ones((3, 3))]).astype(kind)
    sign, size = tf.linalg.slogdet(odd)
    np.testing.assert_array_equal(sign, [1, 0, np.nan, -1, 0])
    np.testing.assert_array_equal(size, [0, -np.inf, np.nan, 0, -np.inf])
    roots = tf.linalg.cholesky(odd).numpy()
    np.testing.assert_array_equal(roots[0], np.eye(3))
    for root in roots[1:]:
        np.testing.assert_array_equal(root, np.where(np.tri(3, dtype=bool), np.nan, 0))


def test_written_roots_and_logarithms_are_the_compiled_ones() -> None:
    a = matrices(2, 5, 5).astype(np.float64)
    found, plain = a.copy(), a.reshape(-1).copy()
    in_loops._roots(found, 5)
    in_loops._roots.function(plain, 5)
    np.testing.assert_allclose(found.reshape(-1), plain, rtol=1e-14)
    pairs = [[a.copy(), np.empty(2), np.empty(2)] for _ in range(2)]
    in_loops._logarithms(pairs[0][0], 5, *pairs[0][1:])
    in_loops._logarithms.function(pairs[1][0].reshape(-1), 5, *pairs[1][1:])
    for one, other in zip(*pairs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_written_substitutions_are_the_compiled_ones() -> None:
    a, made = RANDOM.uniform(1, 2, (2, 4, 4)), RANDOM.uniform(-1, 1, (2, 4, 3))
    for forwards in (0, 1):
        for turned in (0, 1):
            found, plain = made.copy(), made.reshape(-1).copy()
            in_loops._substitute(a, found, 4, forwards, turned)
            in_loops._substitute.function(a.reshape(-1), plain, 4, forwards, turned)
            np.testing.assert_array_equal(found.reshape(-1), plain)


SINGULAR = np.array([[1, 2], [2, 4]], np.float32)
UNSOLVED = {"singular": SINGULAR, "zeros": SINGULAR * 0, "nan": np.full((2, 2), np.nan, np.float32)}
SYSTEMS: dict[str, Callable[[Any], Any]] = {
    "tf.inv": tf.linalg.inv,
    "tf.solve": lambda a: tf.linalg.solve(a, tf.ones([2, 1])),
    "tf.inv of some": lambda a: tf.linalg.inv(tf.stack([tf.eye(2), a])),
    "tf.adjoint": lambda a: tf.linalg.solve(a, tf.ones([2, 3]), adjoint=True),
    "gv.inv": gv.linalg.inv,
    "gv.solve": lambda a: gv.linalg.solve(a, gv.ones((2, 1))),
}


@pytest.mark.parametrize("kind", UNSOLVED)
@pytest.mark.parametrize("name", SYSTEMS)
def test_what_has_no_inverse_is_refused_in_each_call(name: str, kind: str) -> None:
    """From the third call on, which is compiled, it was infinite or NaN without a word."""
    function = (tf if name.startswith("tf") else gv).function(SYSTEMS[name])
    make = tf.constant if name.startswith("tf") else gv.asarray
    good = make(np.array([[2, 1], [1, 1]], np.float32))
    for _ in range(4):
        function(good)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"not invertible|Singular"):
            function(make(UNSOLVED[kind]))


def test_right_sides_and_large_numbers_are_not_taken_for_what_has_no_inverse() -> None:
    """A result that is not finite says nothing of the matrix."""
    function = tf.function(tf.linalg.solve)
    matrix = tf.constant([[2.0, 1.0], [1.0, 1.0]])
    for _ in range(4):
        assert np.isnan(function(matrix, tf.fill([2, 1], np.nan)).numpy()).all()
        assert np.isinf(function(matrix * 1e-30, tf.fill([2, 1], 1e20)).numpy()).any()
        assert function(tf.zeros([0, 0]), tf.zeros([0, 3])).shape == (0, 3)

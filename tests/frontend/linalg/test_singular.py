"""What matrices give that are singular, not finite or empty, beside what TensorFlow 2.21 gives."""

import numpy as np
import pytest

from gravure import tf

INVALID = tf.errors.InvalidArgumentError
TYPES = ["float32", "float64", "complex64", "complex128"]
HOLE = np.array([[2.0, 0.0, 0.0], [4.0, 0.0, 0.0], [6.0, 8.0, 4.0]])
RIGHT = np.array([[2.0, 4.0], [3.0, 8.0], [4.0, 8.0]])


def changed(place: tuple[int, int], number: float, kind: str = "float64") -> np.ndarray:
    """Return a matrix of which one element is another."""
    made = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]], kind)
    made[place] = number
    return made


def both(function, *args):
    """Return what a function gives at once and in a graph."""
    given = [tf.constant(x) for x in args]
    return [function(*given), tf.function(function)(*given)]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_a_zero_on_the_diagonal_of_a_triangle_is_divided_by(kind: str) -> None:
    a, b = HOLE.astype(kind), RIGHT.astype(kind)
    for found in both(tf.linalg.triangular_solve, a, b):
        wanted = [[1, 2], [-np.inf, np.nan], [np.inf, np.nan]]
        np.testing.assert_array_equal(found, wanted)
    upper = tf.linalg.triangular_solve(a, b, lower=False)
    np.testing.assert_array_equal(upper, [[np.nan] * 2, [np.inf] * 2, [1, 2]])
    several = tf.linalg.triangular_solve(np.stack([a, np.eye(3, dtype=kind)]), b)
    np.testing.assert_array_equal(several[1], b)
    nothing = tf.linalg.triangular_solve(np.zeros((3, 3), kind), np.zeros((3, 2), kind))
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("kind", TYPES)
def test_a_triangle_spreads_nan_forwards_only(kind: str) -> None:
    b = RIGHT.astype(kind)
    for found in both(tf.linalg.triangular_solve, changed((2, 0), np.nan, kind), b):
        assert np.isnan(found).tolist() == [[False] * 2, [False] * 2, [True] * 2]
    upper = tf.linalg.triangular_solve(changed((0, 2), np.nan, kind), b, lower=False)
    assert np.isnan(upper).tolist() == [[True] * 2, [False] * 2, [False] * 2]
    b[0, 0] = np.nan
    turned = tf.linalg.triangular_solve(changed((0, 0), 4.0, kind), b, adjoint=True)
    assert np.isnan(turned).tolist() == [[True, False], [False] * 2, [False] * 2]


@pytest.mark.parametrize("kind", TYPES)
def test_nan_in_the_first_place_leaves_no_pivot(kind: str) -> None:
    nan, b = changed((0, 0), np.nan, kind), RIGHT.astype(kind)
    for function in (tf.linalg.inv, tf.linalg.lu, lambda x: tf.linalg.solve(x, b)):
        with pytest.raises(INVALID, match="not invertible"):
            function(tf.constant(nan))
        with pytest.raises(INVALID, match="not invertible"):
            tf.function(function)(tf.constant(nan))
    assert np.isnan(tf.linalg.inv(changed((2, 0), np.nan, kind))).any()
    assert tf.linalg.solve(np.zeros((3, 3), kind), np.zeros((3, 0), kind)).shape == (3, 0)


def test_a_function_looks_at_pivots_where_a_result_is_not_finite() -> None:
    """What is right of a matrix that has an inverse is not: its function gives a result then."""
    good, b = tf.constant(changed((0, 0), 4.0)), tf.constant(RIGHT)
    function = tf.function(tf.linalg.solve)
    for _ in range(4):
        assert np.isfinite(function(good, b)).all()
    assert not np.isfinite(function(good, b * np.inf)).any()
    for wrong in (good * 0.0, tf.constant(changed((0, 0), np.nan))):
        with pytest.raises(INVALID, match="not invertible"):
            function(wrong, b)
    assert np.isfinite(function(good, b)).all()


@pytest.mark.parametrize("kind", TYPES)
def test_triangles_of_what_is_not_finite(kind: str) -> None:
    for found, order in both(tf.linalg.lu, changed((2, 2), np.nan, kind)):
        assert np.isnan(found).tolist() == [[False] * 3] * 2 + [[False, False, True]]
        assert order.numpy().tolist() == [0, 1, 2]
    found, order = tf.linalg.lu(changed((0, 2), np.nan, kind))
    assert np.isnan(found[:, 2]).all()
    assert order.numpy().tolist() == [0, 1, 2]
    empty = tf.zeros([2, 0, 0], kind)
    order = tf.zeros([2, 0], tf.int32)
    assert tf.linalg.lu_matrix_inverse(empty, order).shape == (2, 0, 0)
    assert tf.linalg.lu_reconstruct(empty, order).shape == (2, 0, 0)


@pytest.mark.parametrize("kind", TYPES)
def test_systems_come_one_for_each_right_side(kind: str) -> None:
    a, b = np.eye(3, dtype=kind), np.ones((2, 3, 1), kind)
    for function in (tf.linalg.solve, lambda a, b: tf.linalg.lstsq(a, b, fast=False)):
        with pytest.raises(INVALID, match="same rank"):
            function(a, b)
        with pytest.raises(INVALID, match="same outer dimensions"):
            function(np.stack([a] * 3), b)
        with pytest.raises(ValueError, match="same rank"):
            tf.function(function)(a, b)
    assert tf.linalg.lstsq(a, b).shape == (2, 3, 1)
    assert tf.linalg.LinearOperatorFullMatrix(a).solve(b).shape == (2, 3, 1)


@pytest.mark.parametrize("kind", TYPES)
def test_least_squares_of_matrices_without_rank(kind: str) -> None:
    b = RIGHT.astype(kind)
    for found in both(tf.linalg.lstsq, np.zeros((3, 3), kind), b):
        assert np.isnan(found).all()
    several = tf.linalg.lstsq(np.stack([np.eye(3), np.zeros((3, 3))]).astype(kind), b)
    np.testing.assert_allclose(several[0], b, rtol=1e-6)
    assert np.isnan(several[1]).all()
    for odd in (np.zeros((3, 2), kind), np.full((3, 2), np.nan, kind), np.full((3, 2), np.inf)):
        found = tf.linalg.lstsq(odd.astype(kind), b * np.nan, fast=False)
        assert found.numpy().tolist() == [[0, 0], [0, 0]]
    tall = np.array([[1, 2], [3, 5], [4, 7]], kind) * (1 + (1j if kind[0] == "c" else 0))
    found = tf.linalg.lstsq(tall, b, fast=False)
    np.testing.assert_allclose(found, np.linalg.lstsq(tall, b)[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", TYPES)
def test_each_matrix_without_a_square_root_is_nan_alone(kind: str) -> None:
    given = np.stack([np.eye(2), -np.eye(2), 4 * np.eye(2)]).astype(kind)
    for found in both(tf.linalg.cholesky, given):
        made = found.numpy()
        np.testing.assert_array_equal(made[[0, 2]], np.stack([np.eye(2), 2 * np.eye(2)]))
        assert np.isnan(made[1]).tolist() == [[True, False], [True, True]]
    with pytest.raises(INVALID, match="square"):
        tf.linalg.cholesky(tf.zeros([2, 3], kind))
    for function in (tf.linalg.inv, tf.linalg.det):
        with pytest.raises(INVALID, match=r"square matrices|rank >= 2"):
            function(tf.zeros([3], kind))


@pytest.mark.parametrize("kind", TYPES)
def test_eigenvalues_are_of_finite_numbers(kind: str) -> None:
    for number in (np.nan, np.inf, -np.inf):
        for function in (tf.linalg.eigh, tf.linalg.eigvalsh, tf.linalg.eigvals):
            with pytest.raises(INVALID, match="decomposition was not successful"):
                function(changed((1, 1), number, kind))
    assert np.isfinite(tf.linalg.eigvalsh(changed((0, 2), np.nan, kind))).all()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_three_diagonals_without_pivots_are_solved_by_nan(kind: str) -> None:
    b = np.ones((2, 3, 2), kind)
    one = np.array([[1, 1, 0], [4, 4, 4], [0, 1, 1]], kind)
    for pivots in (True, False):
        for found in both(
            lambda a, b: tf.linalg.tridiagonal_solve(a, b, partial_pivoting=pivots),  # noqa: B023
            np.stack([one, 0 * one]), b,
        ):  # fmt: skip
            assert np.isnan(found).tolist() == [[[False] * 2] * 3, [[True] * 2] * 3]


def test_bands_are_looked_at_in_the_first_matrix() -> None:
    bands = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 1.0]])
    b = np.ones((3, 1))
    for number in (0.0, np.nan):
        wrong = np.where(bands == 1, number, bands)
        with pytest.raises(INVALID, match="not invertible"):
            tf.linalg.banded_triangular_solve(wrong, b)
    several = tf.linalg.banded_triangular_solve(np.stack([bands, 0 * bands]), b)
    np.testing.assert_array_equal(several[0, :, 0], [1, 0, 0.25])
    np.testing.assert_array_equal(several[1, :, 0], [np.inf, np.nan, np.nan])
    for shapes in (((0, 3), (3, 1)), ((2, 3), (3, 0))):
        with pytest.raises(INVALID, match="must not be an empty tensor"):
            tf.linalg.banded_triangular_solve(*map(np.zeros, shapes))
    with pytest.raises(INVALID, match="ndims must be >= 2: 1"):
        tf.linalg.banded_triangular_solve(np.ones(3), b)
    x = tf.constant(bands)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(tf.linalg.banded_triangular_solve(x, b))
    assert np.isfinite(tape.gradient(total, x)).all()

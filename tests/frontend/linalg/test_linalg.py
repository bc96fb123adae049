"""Factors of matrices and complex ones, beside what TensorFlow gives (`record.py`)."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

from .record import CALLS, MIXED, WHOLE, arrays, listed

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text())


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_tensorflows(name: str) -> None:
    staged = tf.function(lambda: CALLS[name](tf))
    for found in (arrays(CALLS[name], tf), arrays(lambda _: staged(), tf)):
        assert len(found) == len(RECORDED[name])
        for array, (dtype, shape, values) in zip(found, RECORDED[name], strict=True):
            assert (str(array.dtype), list(array.shape)) == (dtype, shape)
            near = 1e-4 if dtype in ("float32", "complex64") else 1e-7
            np.testing.assert_allclose(listed(array), values, rtol=near, atol=near)


@pytest.mark.parametrize("given", [MIXED, WHOLE])
def test_the_gradient_of_triangles_leads_back(given: np.ndarray) -> None:
    x = tf.constant(given)
    with tf.GradientTape() as tape:
        tape.watch(x)
        both, order = tf.linalg.lu(x)
        back = tf.linalg.lu_reconstruct(both, order)
    np.testing.assert_allclose(back, given, atol=1e-12)
    weights = np.random.default_rng(0).normal(size=(4, 4)).astype(given.dtype)
    found = tape.gradient(back, x, output_gradients=tf.constant(weights))
    np.testing.assert_allclose(found, weights, atol=1e-9)


def test_refusals_are_tensorflows() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="square"):
        tf.linalg.lu(tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.lu(tf.zeros([2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="complex64"):
        tf.linalg.logm(tf.eye(2))
    with pytest.raises(ValueError, match="rank"):
        tf.linalg.lu_solve(tf.eye(2), [[0, 1]], tf.eye(2))
    with pytest.raises(TypeError, match="float"):
        tf.linalg.pinv(WHOLE)
    with pytest.raises(ValueError, match="diagonals_format"):
        tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([4, 1]), diagonals_format="wide")
    x = tf.Variable(WHOLE)
    with tf.GradientTape() as tape:
        y = tf.linalg.logm(x)
    with pytest.raises(LookupError, match="MatrixLogarithm"):
        tape.gradient(y, x)
    staged = tf.function(lambda x: tf.gradients(tf.linalg.logm(x), x, grad_ys=x))
    with pytest.raises(LookupError, match="MatrixLogarithm"):
        staged(tf.constant(WHOLE))


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64"])
def test_a_determinant_too_small_for_floats_is_none_of_zero(kind):
    small = np.eye(40, dtype=kind) * np.array(1e-10, kind)
    np.testing.assert_allclose(tf.linalg.inv(small), np.linalg.inv(small), rtol=1e-5)
    rhs = np.ones((40, 1), kind)
    np.testing.assert_allclose(tf.linalg.solve(small, rhs), np.linalg.solve(small, rhs), rtol=1e-5)
    assert tf.linalg.inv(np.zeros((2, 0, 0), kind)).shape == (2, 0, 0)
    assert tf.linalg.inv(np.zeros((0, 3, 3), kind)).shape == (0, 3, 3)


@pytest.mark.parametrize("dims", [[None, None], [None, 3, 3], None])
def test_open_shapes_are_told_in_the_run(dims: list[int | None] | None) -> None:
    @tf.function(input_signature=[tf.TensorSpec(dims, tf.float64)])
    def everything(x: tf.Tensor) -> list[tf.Tensor]:
        e, v = tf.linalg.eigh(x)
        q, r = tf.linalg.qr(x)
        s = tf.linalg.svd(x, compute_uv=False)
        return [e, v, q, r, s, tf.linalg.lu(x)[0], tf.linalg.eigvals(x), tf.linalg.sqrtm(x)]

    x = np.diag([3.0, 2.0, 1.0]) + 0.1
    found = everything(x[None] if dims == [None, 3, 3] else x)
    wanted = everything.python_function(tf.constant(x[None] if dims == [None, 3, 3] else x))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_gradients_of_triangles_of_unknown_rank(shape: tuple[int, ...]) -> None:
    def slope(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.linalg.lu(x)[0] ** 2.0)
        return tape.gradient(loss, x)

    x = np.random.default_rng(0).normal(size=shape)
    staged = tf.function(slope, input_signature=[tf.TensorSpec(None, tf.float64)])
    np.testing.assert_allclose(staged(x), slope(tf.constant(x)), rtol=1e-9)


@pytest.mark.parametrize(
    ("both", "side"), [((2, 2), (2, 1)), ((3, 2, 2), (3, 2, 1)), ((2, 2), (3, 2, 1))]
)
def test_systems_of_triangles_of_unknown_rank(both: tuple, side: tuple) -> None:
    matrices = np.random.default_rng(1).normal(size=both) + np.array([[0, 4], [5, 1]])
    right = np.random.default_rng(2).normal(size=side)
    open_ = [tf.TensorSpec(None, each) for each in (tf.float64, tf.int32, tf.float64)]
    solve = tf.function(tf.linalg.lu_solve, input_signature=open_)
    invert = tf.function(tf.linalg.lu_matrix_inverse, input_signature=open_[:2])
    factors, order = tf.linalg.lu(matrices)
    near = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(
        solve(factors, order, right), np.linalg.solve(matrices, right), **near
    )
    np.testing.assert_allclose(invert(factors, order), np.linalg.inv(matrices), **near)


def test_matrices_without_elements() -> None:
    empty = tf.zeros([2, 0, 0], tf.complex64)
    assert tf.linalg.lu(empty).p.shape == [2, 0]
    assert tf.linalg.eigvals(empty).shape == [2, 0]
    assert tf.linalg.logm(empty).shape == [2, 0, 0]
    assert tf.linalg.inv(empty).shape == [2, 0, 0]
    assert tf.linalg.slogdet(tf.zeros([2, 0, 0]))[1].numpy().tolist() == [0, 0]


def test_diagonals_do_not_hear_of_what_is_beside_them() -> None:
    strange = tf.constant([[1.0, np.nan], [np.inf, 2.0]])
    assert tf.linalg.trace(strange).numpy() == 3
    assert tf.linalg.tensor_diag([np.inf, 1.0]).numpy().tolist() == [[np.inf, 0], [0, 1]]


def test_factors_in_a_loop_and_in_a_session() -> None:
    given = np.stack([WHOLE, 2 * WHOLE])
    wanted = np.linalg.inv(given)
    mapped = tf.function(lambda x: tf.map_fn(tf.linalg.inv, x))(tf.constant(given))
    np.testing.assert_allclose(mapped, wanted, atol=1e-12)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.complex128, [None, 4, 4])
        found = [tf.linalg.inv(x), tf.gradients(tf.abs(tf.linalg.det(x)), x)[0]]
        with tf.compat.v1.Session() as session:
            inverse, slope = session.run(found, {x: given})
    np.testing.assert_allclose(inverse, wanted, atol=1e-12)
    assert slope.shape == given.shape


def test_a_gradient_may_call_its_own_function() -> None:
    @tf.custom_gradient
    def grows(x: tf.Tensor) -> tuple[tf.Tensor, object]:
        return tf.exp(x), lambda grad: grad * grows(x)

    def third(x: tf.Tensor) -> tf.Tensor:
        found = grows(x)
        for _ in range(3):
            found = tf.gradients(found, x)[0]
        return found

    assert tf.function(third)(tf.constant(1.0)).numpy() == pytest.approx(np.e)
    fifth = tf.function(lambda x: tf.gradients(tf.gradients(third(x), x)[0], x)[0])
    with pytest.raises(LookupError, match="3 times"):
        fifth(tf.constant(1.0))


@pytest.mark.parametrize("axis", [-2, 0])
def test_rows_counted_from_the_end_have_a_dense_gradient(axis: int) -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [1, 1], axis=axis)
    found = tape.gradient(rows, table)
    assert isinstance(found, tf.IndexedSlices) == (axis == 0)
    assert tf.convert_to_tensor(found).numpy().tolist() == [[0, 0], [2, 2]]


def test_what_is_no_square_of_a_triangle_is_nan_and_its_neighbours_are_not() -> None:
    """The third call of a shape was remembered: it raised where the first one gave NaN."""
    right, wrong, zero = (
        [[2.0, 1.0], [1.0, 2.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
    )
    nan = [[np.nan, 0.0], [np.nan, np.nan]]  # as TensorFlow's
    for _ in range(3):
        first = tf.linalg.cholesky(tf.constant(right)).numpy()
    np.testing.assert_array_equal(tf.linalg.cholesky(tf.constant(wrong)), nan)
    staged = tf.function(tf.linalg.cholesky)
    for _ in range(4):
        for factor in (tf.linalg.cholesky, staged):
            found = factor(tf.constant([right, wrong, zero])).numpy()
            np.testing.assert_allclose(found, [first, nan, nan], rtol=1e-6)


@pytest.mark.parametrize("staged", [False, True])
def test_what_is_not_finite_has_no_factors_and_ends(staged: bool) -> None:
    """Singular values of NaN raised numpy's error, and an exponential was squared for hours."""
    call = tf.function if staged else (lambda function: function)
    for bad in (np.nan, np.inf):
        x = np.stack([np.eye(3, dtype=np.float32), 2 * np.eye(3, dtype=np.float32)])
        x[0, 0, 1] = bad
        s, u, v = call(tf.linalg.svd)(tf.constant(x))
        assert np.isnan(call(tf.linalg.expm)(x)[0]).all()
        for part in (s, u, v, call(tf.linalg.pinv)(x)):
            assert np.isnan(part[0]).all()
            assert np.isfinite(part[1]).all()
        np.testing.assert_array_equal(s[1], [2.0, 2.0, 2.0])
    for function in (tf.linalg.eigh, tf.linalg.eigvalsh, tf.linalg.eig):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(function)(tf.constant(np.full((3, 3), np.nan, np.float32)))


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("scale", [0.0, 0.1, 3.0, 30.0])
def test_exponentials_of_matrices_are_those_of_their_eigenvalues(scale: float, kind: str) -> None:
    random = np.random.default_rng(5)
    half = random.normal(size=(6, 6))
    if "complex" in kind:
        half = half + 1j * random.normal(size=(6, 6))
    a = (scale * (half + half.conj().T)).astype(kind)
    values, vectors = np.linalg.eigh(a.astype(np.complex128))
    wanted = (vectors * np.exp(values)) @ vectors.conj().T
    found = tf.linalg.expm(a)
    assert found.dtype == kind
    near = 2e-4 if kind in ("float32", "complex64") else 1e-12
    finite = np.abs(wanted).max() < np.finfo(kind).max
    if finite:
        np.testing.assert_allclose(found, wanted, rtol=0, atol=near * np.abs(wanted).max())
    else:
        assert not np.isfinite(found).all()


@pytest.mark.parametrize("is_hermitian", [True, False])
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_roots_and_logarithms_of_complex_matrices_lead_back(rows: int, is_hermitian: bool) -> None:
    random = np.random.default_rng(6)
    a = random.normal(size=(rows, rows)) + 1j * random.normal(size=(rows, rows))
    a = a + a.conj().T if is_hermitian else a
    root = tf.linalg.sqrtm(a)
    np.testing.assert_allclose(root @ root, a, atol=1e-9)
    np.testing.assert_allclose(tf.linalg.expm(tf.linalg.logm(a)), a, atol=1e-9)

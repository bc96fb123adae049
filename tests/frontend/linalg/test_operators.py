"""Operators that stand for matrices: each does what its matrix does."""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

RANDOM = np.random.default_rng(7)
A, B = (RANDOM.normal(size=(4, 4)) + 4 * np.eye(4) for _ in range(2))
BATCH = RANDOM.normal(size=(3, 4, 4)) + 4 * np.eye(4)
SMALL = RANDOM.normal(size=(2, 2)) + 2 * np.eye(2)
LINE = RANDOM.normal(size=4) + 3
COMPLEX = A + 1j * B
U, V = RANDOM.normal(size=(2, 4, 2))
full = tf.linalg.LinearOperatorFullMatrix
lin = tf.linalg


def tridiagonal() -> np.ndarray:
    return np.diag(LINE) + np.diag(LINE[:3], 1) + np.diag(LINE[1:], -1)


OPERATORS: dict[str, tuple[Callable[[], tf.linalg.LinearOperator], np.ndarray]] = {
    "full": (lambda: full(A), A),
    "batch": (lambda: full(BATCH), BATCH),
    "complex": (lambda: full(COMPLEX), COMPLEX),
    "positive": (
        lambda: full(A @ A.T, is_self_adjoint=True, is_positive_definite=True), A @ A.T
    ),
    "diag": (lambda: lin.LinearOperatorDiag(LINE), np.diag(LINE)),
    "complex diag": (lambda: lin.LinearOperatorDiag(LINE * 1j), np.diag(LINE * 1j)),
    "lower": (lambda: lin.LinearOperatorLowerTriangular(A), np.tril(A)),
    "identity": (lambda: lin.LinearOperatorIdentity(4, dtype=tf.float64), np.eye(4)),
    "identities": (
        lambda: lin.LinearOperatorIdentity(4, batch_shape=[3], dtype=tf.float64),
        np.stack([np.eye(4)] * 3),
    ),
    "scaled": (
        lambda: lin.LinearOperatorScaledIdentity(4, tf.constant([2.0, 3.0], tf.float64)),
        np.stack([2 * np.eye(4), 3 * np.eye(4)]),
    ),
    "permutation": (
        lambda: lin.LinearOperatorPermutation([2, 0, 3, 1], dtype=tf.float64),
        np.eye(4)[[2, 0, 3, 1]],
    ),
    "householder": (
        lambda: lin.LinearOperatorHouseholder(LINE),
        np.eye(4) - 2 * np.outer(LINE, LINE) / (LINE @ LINE),
    ),
    "tridiag": (
        lambda: lin.LinearOperatorTridiag([LINE[:3], LINE, LINE[1:]], "sequence"), tridiagonal()
    ),
    "tridiag of a matrix": (
        lambda: lin.LinearOperatorTridiag(tridiagonal(), "matrix"), tridiagonal()
    ),
    "toeplitz": (
        lambda: lin.LinearOperatorToeplitz(LINE, LINE[[0, 2, 1, 3]]),
        np.array([[(LINE[i - j] if i >= j else LINE[[0, 2, 1, 3]][j - i]) for j in range(4)]
                  for i in range(4)]),
    ),
    "circulant": (
        lambda: lin.LinearOperatorCirculant(np.fft.fft(LINE), tf.float64),
        np.stack([np.roll(LINE, i) for i in range(4)], 1),
    ),
    "product": (lambda: lin.LinearOperatorComposition([full(A), full(B)]), A @ B),
    "adjoint": (lambda: full(COMPLEX).adjoint(), COMPLEX.conj().T),
    "inverse": (lambda: full(A).inverse(), np.linalg.inv(A)),
    "blocks": (
        lambda: lin.LinearOperatorBlockDiag([full(SMALL), lin.LinearOperatorDiag(LINE[:2])]),
        np.block([[SMALL, np.zeros((2, 2))], [np.zeros((2, 2)), np.diag(LINE[:2])]]),
    ),
    "lower blocks": (
        lambda: lin.LinearOperatorBlockLowerTriangular(
            [[full(SMALL)], [full(SMALL.T), full(2 * SMALL)]]
        ),
        np.block([[SMALL, np.zeros((2, 2))], [SMALL.T, 2 * SMALL]]),
    ),
    "kronecker": (
        lambda: lin.LinearOperatorKronecker([full(SMALL), full(SMALL.T + 1)]),
        np.kron(SMALL, SMALL.T + 1),
    ),
    "update": (
        lambda: lin.LinearOperatorLowRankUpdate(full(A), U, LINE[:2], V),
        A + U @ np.diag(LINE[:2]) @ V.T,
    ),
}  # fmt: skip


def everything(made: tf.linalg.LinearOperator) -> list[tf.Tensor]:
    x = tf.cast(tf.constant(RIGHT), made.dtype)
    return [
        made.to_dense(), made.matmul(x), made.matmul(x, adjoint=True), made.matvec(x[:, 0]),
        made.solve(x), made.solve(x, adjoint=True), made.solvevec(x[:, 0]), made.determinant(),
        made.log_abs_determinant(), made.diag_part(), made.trace(), made.add_to_tensor(x[:, :1]),
        (made @ made).matmul(x), made.inverse().matmul(x), made.adjoint().matmul(x),
    ]  # fmt: skip


RIGHT = RANDOM.normal(size=(4, 3))


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_matrix_does(name: str) -> None:
    make, m = OPERATORS[name]
    made = make()
    assert (made.shape, made.batch_shape) == (list(m.shape), list(m.shape[:-2]))
    assert made.shape_tensor().numpy().tolist() == list(m.shape)
    assert (made.range_dimension, made.is_square, made.tensor_rank) == (4, True, m.ndim)
    h, inverse = m.conj().swapaxes(-1, -2), np.linalg.inv(m)
    wanted = [
        m, m @ RIGHT, h @ RIGHT, m @ RIGHT[:, 0], inverse @ RIGHT, np.linalg.inv(h) @ RIGHT,
        inverse @ RIGHT[:, 0], np.linalg.det(m), np.log(abs(np.linalg.det(m))),
        np.diagonal(m, axis1=-2, axis2=-1), np.trace(m, axis1=-2, axis2=-1), m + RIGHT[:, :1],
        m @ m @ RIGHT, inverse @ RIGHT, h @ RIGHT,
    ]  # fmt: skip
    staged = tf.function(lambda: everything(make()))
    for found in (everything(made), staged()):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def test_variables_get_gradients_and_are_found() -> None:
    table = tf.Variable(LINE)
    made = tf.linalg.LinearOperatorDiag(table)
    assert [v.name for v in made.trainable_variables] == [table.name]
    with tf.GradientTape() as tape:
        loss = made.log_abs_determinant()
    np.testing.assert_allclose(tape.gradient(loss, table), 1 / LINE)
    table.assign(LINE + 1)
    np.testing.assert_allclose(made.to_dense(), np.diag(LINE + 1))


def test_what_stays_of_its_kind() -> None:
    d, unit = (
        tf.linalg.LinearOperatorDiag(LINE),
        tf.linalg.LinearOperatorIdentity(4, dtype="float64"),
    )
    assert isinstance(d @ d, tf.linalg.LinearOperatorDiag)
    assert isinstance(d.inverse(), tf.linalg.LinearOperatorDiag)
    assert d.H is d
    assert unit @ d is d
    positive = full(A @ A.T, is_self_adjoint=True, is_positive_definite=True)
    np.testing.assert_allclose(positive.cholesky().to_dense(), np.linalg.cholesky(A @ A.T))
    np.testing.assert_allclose(positive.eigvals(), np.linalg.eigvalsh(A @ A.T))
    np.testing.assert_allclose(full(A).cond(), np.linalg.cond(A))
    zeros = tf.linalg.LinearOperatorZeros(2, 3)
    assert zeros.matmul(tf.ones([3, 1])).numpy().tolist() == [[0], [0]]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="not compatible"):
        full(A).matmul(np.ones((3, 1)))
    with pytest.raises(NotImplementedError, match="not be square"):
        full(A[:3]).determinant()
    with pytest.raises(NotImplementedError, match="singular"):
        tf.linalg.LinearOperatorZeros(2).solve(tf.ones([2, 1]))
    with pytest.raises(ValueError, match="always non-singular"):
        full(A, is_positive_definite=True, is_non_singular=False)
    with pytest.raises(ValueError, match="Cholesky"):
        full(A).cholesky()
    with pytest.raises(ValueError, match="incompatible"):
        tf.linalg.LinearOperatorComposition([full(A), full(SMALL)])


def test_logarithms_of_determinants_have_the_type_of_the_matrices() -> None:
    """They were real; but a triangle and a scaled identity have real ones in TensorFlow, too."""
    numbers = tf.constant([[2 + 1j, 1], [0.5j, 3]], tf.complex128)
    full, diagonal = (
        tf.linalg.LinearOperatorFullMatrix(numbers),
        tf.linalg.LinearOperatorDiag(numbers[0]),
    )
    wanted = np.linalg.slogdet(numbers.numpy())[1]
    for made, log in (
        (full, wanted),
        (tf.linalg.LinearOperatorInversion(full), -wanted),
        (tf.linalg.LinearOperatorBlockDiag([full, diagonal]), wanted + np.log(5) / 2),
        (tf.linalg.LinearOperatorKronecker([full, full]), 4 * wanted),
    ):
        found = made.log_abs_determinant()
        assert found.dtype == tf.complex128
        assert found.numpy() == pytest.approx(log)
    assert (
        tf.linalg.LinearOperatorLowerTriangular(numbers).log_abs_determinant().dtype == tf.float64
    )
    scaled = tf.linalg.LinearOperatorScaledIdentity(2, numbers[0, 0])
    assert scaled.log_abs_determinant().dtype == tf.float64


def test_a_circulant_has_the_type_that_it_was_told() -> None:
    """Its matrix had that of the spectrum."""
    made = tf.linalg.LinearOperatorCirculant(tf.constant([4.0, 1.0, 1.0], tf.complex128))
    for found in (made.to_dense(), made.trace(), made.diag_part(), made.log_abs_determinant()):
        assert found.dtype == tf.complex64

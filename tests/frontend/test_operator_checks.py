"""What operators refuse when they are made, and what they say of themselves when asked."""

from typing import Any

import pytest

import gravure.tf as tf

L: Any = tf.linalg
CHECKS: list[tuple[Any, str, str]] = [
    (lambda: L.LinearOperatorFullMatrix([[1.0, 2.0], [2.0, 4.0]]), "non_singular", "Singular"),
    (lambda: L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]), "self_adjoint", "not equal to"),
    (lambda: L.LinearOperatorDiag([1.0, 0.0]), "non_singular", "Diagonal contained zero values"),
    (lambda: L.LinearOperatorDiag([1.0, -1.0]), "positive_definite", "non-positive diagonal"),
    (lambda: L.LinearOperatorDiag([1.0 + 1.0j]), "self_adjoint", "non-zero imaginary values"),
    (lambda: L.LinearOperatorLowerTriangular([[0.0, 0.0], [2.0, 4.0]]), "non_singular", "zero"),
    (lambda: L.LinearOperatorScaledIdentity(2, 0.0), "non_singular", "was singular"),
    (lambda: L.LinearOperatorScaledIdentity(2, -1.0), "positive_definite", "not positive"),
    (lambda: L.LinearOperatorZeros(2), "non_singular", "always non-invertible"),
    (lambda: L.LinearOperatorZeros(2), "positive_definite", "always non-positive definite"),
    (lambda: L.LinearOperatorHouseholder([1.0, 2.0]), "positive_definite", "non-positive definite"),
    (lambda: L.LinearOperatorCirculant([1.0, 0.0]), "non_singular", "Spectrum contained zero"),
    (lambda: L.LinearOperatorCirculant([1.0, -1.0]), "positive_definite", "was not all positive"),
    (lambda: L.LinearOperatorCirculant([1.0 + 1j, 0.0]), "self_adjoint", "imaginary part"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "asked", "wrong"), CHECKS)
def test_operators_say_what_they_are_not(make: Any, asked: str, wrong: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        getattr(make(), f"assert_{asked}")()


def test_operators_agree_with_what_they_are() -> None:
    for made in (
        L.LinearOperatorIdentity(2),
        L.LinearOperatorDiag([1.0, 2.0]),
        L.LinearOperatorScaledIdentity(2, 3.0),
        L.LinearOperatorCirculant([1.0, 2.0]),
    ):
        for asked in ("non_singular", "self_adjoint", "positive_definite"):
            getattr(made, f"assert_{asked}")()
    L.LinearOperatorZeros(2).assert_self_adjoint()
    with pytest.raises(NotImplementedError, match="assert_positive_definite is not implemented"):
        L.LinearOperatorFullMatrix([[1.0]]).assert_positive_definite()


def test_checks_are_made_in_functions() -> None:
    @tf.function
    def determinant(x: Any) -> Any:
        made = L.LinearOperatorDiag(x)
        made.assert_non_singular()
        return made.determinant()

    assert determinant(tf.constant([2.0, 3.0])).numpy() == 6.0
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="zero values"):
            determinant(tf.constant([2.0, 0.0]))


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: L.LinearOperatorDiag(1.0), ValueError, "diag must have at least 1 dimension"),
    (lambda: L.LinearOperatorDiag([1.0], is_square=False), ValueError, "Only square diagonal"),
    (lambda: L.LinearOperatorFullMatrix([1.0]), ValueError, r"2 dimensions. Received: \[1.\]"),
    (lambda: L.LinearOperatorFullMatrix([[1]]), TypeError, "have dtype in .*Received: .*int32"),
    (lambda: L.LinearOperatorLowerTriangular([1.0]), ValueError, "tril must have at least 2"),
    (lambda: L.LinearOperatorIdentity(-1), ValueError, "must be non-negative.  Found: -1"),
    (lambda: L.LinearOperatorIdentity(2.0), TypeError, "must be integer type"),
    (lambda: L.LinearOperatorIdentity([2]), ValueError, "must be a 0-D Tensor"),
    (lambda: L.LinearOperatorIdentity(2, batch_shape=3), ValueError, "must be a 1-D Tensor"),
    (lambda: L.LinearOperatorIdentity(2, is_square=False), ValueError, "is always square"),
    (lambda: L.LinearOperatorZeros(2, is_non_singular=True), ValueError, "is always singular"),
    (lambda: L.LinearOperatorPermutation([0, 0]), ValueError, "unique integers from 0 to 1"),
    (lambda: L.LinearOperatorPermutation([0.0]), TypeError, "must be integer dtype"),
    (lambda: L.LinearOperatorTridiag([[1.0]], "foo"), ValueError, "compact, matrix, or sequence"),
    (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
    (lambda: L.LinearOperatorKronecker([]), ValueError, "a list of >=1 operators"),
    (lambda: L.LinearOperatorBlockDiag([]), ValueError, "non-empty list"),
    (lambda: L.LinearOperatorBlockLowerTriangular([[], []]), ValueError, "`1` blocks"),
    (lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorIdentity(2), [[1.0]]), ValueError,
     "Dimensions 2 and 1 are not compatible"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "wrong"), REFUSED)
def test_what_is_no_operator_is_refused(make: Any, kind: type[Exception], wrong: str) -> None:
    with pytest.raises(kind, match=wrong):
        make()

"""Operators that stand for matrices: what all of them do, by the matrix if they know no better.

A kind of operator says its shape and its matrix (`_shape`, `_dense`), and what of the rest is
cheaper than by that: a product, a solution, the diagonal, the determinant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from ...values.dtypes import DataType
from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.values import InGraph, convert, graph_of
from ..graph import debugging
from ..ops.array_ops import shape as tensor_shape
from ..ops.array_ops import squeeze
from ..ops.creation import constant
from ..ops.linear_ops import (
    adjoint as turned,
)
from ..ops.linear_ops import (
    cholesky,
    cholesky_solve,
    det,
    diag_part,
    solve_each,
)
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, matmul, real
from ..train.modules import Module
from .decompositions import eigvalsh, singular_values, slogdet

HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
"""The element types that most operators are of."""


def require(what: str, value: TfTensor, least: int, *, ends: str = ".") -> None:
    """Raise where an argument has too few dimensions."""
    if value.shape.rank is not None and value.shape.rank < least:
        dimensions = "dimension" if least == 1 else "dimensions"
        shown = f"{value}" if "Received" in ends else str(value)
        raise ValueError(f"Argument {what} must have at least {least} {dimensions}{ends}{shown}")


def require_floats(what: str, value: TfTensor) -> None:
    """Raise where an argument is not of floats or complex numbers."""
    if value.dtype.name not in FLOATS:
        kinds = ", ".join(f"tf.{name}" for name in FLOATS)
        raise TypeError(f"Argument `{what}` must have dtype in [{kinds}]. Received: {value.dtype}.")


def require_always(what: str, given: Mapping[str, bool | None], known: Mapping[str, bool]) -> None:
    """Raise where a hint says the contrary of what is known of all such operators."""
    for hint, value in known.items():
        if given.get(hint) is not None and given[hint] is not value:
            word = WORDS[hint] if value else OPPOSITES[hint]
            raise ValueError(f"{what} is always {word}.")


WORDS = {
    "is_non_singular": "non-singular", "is_self_adjoint": "self adjoint",
    "is_positive_definite": "positive-definite", "is_square": "square",
}  # fmt: skip
OPPOSITES = {
    "is_non_singular": "singular", "is_self_adjoint": "not self adjoint",
    "is_positive_definite": "non-positive definite", "is_square": "not square",
}  # fmt: skip

KINDS: dict[str, Callable[..., LinearOperator]] = {}
"""The kinds of operators that others are made into, by their names: they enter themselves."""


class LinearOperator(Module):
    """A matrix, or a batch of some, of which only what is needed is computed."""

    LOGARITHMS_ARE_REAL: ClassVar = False
    """Whether `log_abs_determinant` of complex numbers is real; in others, it has their type."""

    def __init_subclass__(cls) -> None:
        KINDS[cls.__name__] = cls

    def __init__(
        self,
        dtype: DataType,
        parameters: dict[str, object] | None = None,
        name: str | None = None,
        **hints: bool | None,
    ) -> None:
        unknown = {*hints} - {*HINTS}
        if unknown:
            raise TypeError(f"got an unexpected keyword argument {min(unknown)!r}")
        super().__init__(name)
        self.dtype, self.parameters = dtype, parameters or {}
        given = [hints.get(hint) for hint in HINTS]
        self.is_non_singular, self.is_self_adjoint, self.is_positive_definite, square = given
        if self.is_positive_definite:
            if self.is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            self.is_non_singular = True
        if self.is_non_singular and square is False:
            raise ValueError("A non-singular matrix is always square.")
        if self.is_self_adjoint and square is False:
            raise ValueError("A self-adjoint matrix is always square.")
        self._square = True if self.is_non_singular or self.is_self_adjoint else square

    @property
    def hints(self) -> dict[str, bool | None]:
        """Return what is known of the matrix."""
        return {hint: getattr(self, hint) for hint in HINTS}

    @property
    def is_square(self) -> bool | None:
        """Say whether there are as many rows as columns, None if that is not known."""
        sizes = self.range_dimension, self.domain_dimension
        return self._square if None in sizes else sizes[0] == sizes[1]

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__} has no shape")

    def _dense(self) -> TfTensor:
        raise NotImplementedError(f"{type(self).__name__} has no matrix")

    @property
    def shape(self) -> TensorShape:
        """Return the shape of the matrices."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """Return the shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """Return the rank of the matrices as a tensor."""
        return self.shape.rank

    @property
    def range_dimension(self) -> int | None:
        """Return the number of rows."""
        return None if self.shape.rank is None else self.shape.as_list()[-2]

    @property
    def domain_dimension(self) -> int | None:
        """Return the number of columns."""
        return None if self.shape.rank is None else self.shape.as_list()[-1]

    def shape_tensor(self, name: str = "shape_tensor") -> TfTensor:
        """Return the shape as a tensor."""
        if self.shape.is_fully_defined():
            return constant(self.shape.known(), "int32")
        return tensor_shape(self.to_dense())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> TfTensor:
        """Return the shape of the batch as a tensor."""
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> TfTensor:
        """Return the rank as a tensor."""
        return tensor_shape(self.shape_tensor())[0]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> TfTensor:
        """Return the number of rows as a tensor."""
        return self.shape_tensor()[-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> TfTensor:
        """Return the number of columns as a tensor."""
        return self.shape_tensor()[-1]

    def to_dense(self, name: str = "to_dense") -> TfTensor:
        """Return the matrices."""
        return self._dense()

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return matmul(self._dense(), x, adjoint_a=adjoint)

    def _checked(self, x: object, size: int | None, *, adjoint_arg: bool = False) -> TfTensor:
        """Return an operand as a tensor, which must have so many rows."""
        made = convert(x, self.dtype)
        made = turned(made) if adjoint_arg else made
        rows = None if made.shape.rank is None else made.shape.as_list()[-2]
        if None not in (rows, size) and rows != size:
            raise ValueError(f"Dimensions {size} and {rows} are not compatible")
        return made

    def matmul(
        self, x: object, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> TfTensor | LinearOperator:
        """Multiply by a tensor, or by an operator: that gives an operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left._after(x.adjoint() if adjoint_arg else x)
        with InGraph(graph_of([x])):
            size = self.range_dimension if adjoint else self.domain_dimension
            return self._matmul(self._checked(x, size, adjoint_arg=adjoint_arg), adjoint)

    def _after(self, other: LinearOperator) -> LinearOperator:
        """Return the operator that first does what another does."""
        if other.range_dimension != self.domain_dimension:
            raise ValueError(
                f"Operators are incompatible. Expected `x` to have dimension "
                f"{self.domain_dimension} but got {other.range_dimension}."
            )
        return KINDS["LinearOperatorComposition"]([self, other])

    def __matmul__(self, other: object) -> TfTensor | LinearOperator:
        return self.matmul(other)

    def matvec(self, x: object, adjoint: bool = False, name: str = "matvec") -> TfTensor:
        """Multiply by vectors."""
        with InGraph(graph_of([x])):
            size = self.range_dimension if adjoint else self.domain_dimension
            column = self._checked(convert(x, self.dtype)[..., None], size)
            return squeeze(self._matmul(column, adjoint), -1)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        if self.is_positive_definite and self.is_self_adjoint:
            return cholesky_solve(cholesky(self._dense()), rhs)
        return solve_each(self._dense(), rhs, adjoint=adjoint)

    def _require(self, what: str, *, regular: bool = False) -> None:
        """Raise where only some matrices have what is asked for."""
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )
        if regular and self.is_non_singular is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to be singular."
            )

    def solve(
        self, rhs: object, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> TfTensor | LinearOperator:
        """Solve linear equations; of an operator, return the operator that has done so."""
        self._require("Exact solve", regular=True)
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left.inverse()._after(rhs.adjoint() if adjoint_arg else rhs)
        with InGraph(graph_of([rhs])):
            right = self._checked(rhs, self.range_dimension, adjoint_arg=adjoint_arg)
            return self._solve(right, adjoint)

    def solvevec(self, rhs: object, adjoint: bool = False, name: str = "solve") -> TfTensor:
        """Solve linear equations for vectors."""
        self._require("Exact solve", regular=True)
        with InGraph(graph_of([rhs])):
            right = self._checked(convert(rhs, self.dtype)[..., None], self.range_dimension)
            return squeeze(self._solve(right, adjoint), -1)

    def _determinant(self) -> TfTensor:
        return det(self._dense())

    def _log_abs_determinant(self) -> TfTensor:
        """Return real numbers."""
        return real(slogdet(self._dense()).log_abs_determinant)

    def determinant(self, name: str = "det") -> TfTensor:
        """Return the determinants."""
        self._require("Determinant")
        return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> TfTensor:
        """Return the logarithms of the absolute values of determinants."""
        self._require("Determinant")
        found = self._log_abs_determinant()
        return found if self.LOGARITHMS_ARE_REAL else cast(found, self.dtype)

    def diag_part(self, name: str = "diag_part") -> TfTensor:
        """Return the diagonals."""
        return diag_part(self._dense())

    def trace(self, name: str = "trace") -> TfTensor:
        """Return the sums of the diagonals."""
        return REDUCTIONS["reduce_sum"](self.diag_part(), axis=-1)

    def add_to_tensor(self, x: object, name: str = "add_to_tensor") -> TfTensor:
        """Add the matrices to a tensor."""
        return convert(x, self.dtype) + self._dense()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator whose matrix is turned and conjugated."""
        return self if self.is_self_adjoint else KINDS["LinearOperatorAdjoint"](self)

    @property
    def H(self) -> LinearOperator:  # noqa: N802  (TensorFlow's name)
        """Return the adjoint operator."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator that undoes this one."""
        if self.is_square is False:
            raise ValueError(
                "Cannot get the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot get the Inverse: This operator represents a singular matrix.")
        return KINDS["LinearOperatorInversion"](self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the lower triangle whose product with its adjoint this is."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        return KINDS["LinearOperatorLowerTriangular"](cholesky(self._dense()), is_non_singular=True)

    def _singular_check(self) -> object:
        """Return what raises where the matrix is singular, as far as its numbers tell."""
        most = 0.01 / np.finfo(np.dtype(self.dtype.as_numpy_dtype)).eps
        text = "Singular matrix up to precision epsilon."
        return debugging.assert_less(self.cond(), cast(most, self.cond().dtype), message=text)

    def _adjoint_check(self) -> object:
        """Return what raises where the matrix is not its own adjoint."""
        dense = self._dense()
        text = "Matrix was not equal to its adjoint."
        return debugging.assert_equal(dense, turned(dense), message=text)

    def _positive_check(self) -> object:
        """Return what raises where the matrix is not positive definite."""
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_non_singular(self, name: str = "assert_non_singular") -> object:
        """Raise where the matrix is singular; in a graph, return what does so."""
        return self._singular_check()

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> object:
        """Raise where the matrix is not its own adjoint; in a graph, return what does so."""
        return self._adjoint_check()

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> object:
        """Raise where the matrix is not positive definite; in a graph, return what does so."""
        return self._positive_check()

    def eigvals(self, name: str = "eigvals") -> TfTensor:
        """Return the eigenvalues of a Hermitian matrix."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return eigvalsh(self._dense())

    def cond(self, name: str = "cond") -> TfTensor:
        """Return the largest singular value over the smallest."""
        known = self.is_self_adjoint
        sizes = FUNCTIONS["abs"](self.eigvals()) if known else singular_values(self._dense())
        return REDUCTIONS["reduce_max"](sizes, axis=-1) / REDUCTIONS["reduce_min"](sizes, axis=-1)

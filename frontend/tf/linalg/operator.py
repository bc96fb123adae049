"""Operators that stand for matrices: what all of them do, by the matrix if they know no better.

A kind of operator says its shape and its matrix (`_shape`, `_dense`), and what of the rest is
cheaper than by that: a product, a solution, the diagonal, the determinant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...values.dtypes import DataType
from ..core.bridge import TfTensor
from ..core.dimensions import Dimension
from ..core.shapes import TensorShape, dimension_at_index
from ..core.values import InGraph, convert, graph_of
from ..graph import debugging
from ..ops.array_ops import broadcast_to, concat, squeeze
from ..ops.array_ops import rank as tensor_rank
from ..ops.array_ops import shape as tensor_shape
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


def part_of(value: object, places: list[object], batch: TfTensor, axes: int | None) -> object:
    """Return what of a parameter belongs to some places of a batch; `axes` follow those of it."""
    if axes is None or value is None:
        return value
    if isinstance(value, LinearOperator):
        return value._sliced(places, batch)
    if isinstance(value, list | tuple):
        return [part_of(each, places, batch, axes) for each in value]
    found = convert(value)
    inner = tensor_shape(found)[tensor_rank(found) - axes :]
    whole = broadcast_to(found, concat([batch, inner], 0))
    behind = [slice(None)] * axes if Ellipsis in places else []
    return whole[(*places, *behind)]


def kept(value: object, dtype: DataType | None = None) -> object:
    """Return what an operator keeps of an argument: a variable itself, else a tensor."""
    return value if hasattr(value, "__gv_tensor__") else convert(value, dtype)


def known_of_all(operators: Sequence[LinearOperator], *hints: str) -> dict[str, bool | None]:
    """Return which of these is known of all operators, and so of what is made of them."""
    return {h: True for h in hints if all(getattr(each, h) for each in operators)}


Known = Mapping[str, bool | None]


def agreed(known: Known, hints: Known) -> dict[str, bool | None]:
    """Return hints, and what is known where they say nothing; raise where they say the contrary."""
    made = dict(known)
    for hint, said in hints.items():
        if said is None:
            continue
        found = made.get(hint)
        if found is not None and found is not said:
            fact = WORDS.get(hint, hint) if found else f"not {WORDS.get(hint, hint)}"
            raise ValueError(f"{hint} is {said}, but the operator is always {fact}.")
        made[hint] = said
    return made


KINDS: dict[str, Callable[..., LinearOperator]] = {}
"""The kinds of operators that others are made into, by their names: they enter themselves."""


class LinearOperator(Module):
    """A matrix, or a batch of some, of which only what is needed is computed."""

    LOGARITHMS_ARE_REAL: ClassVar = False
    """Whether `log_abs_determinant` of complex numbers is real; in others, it has their type."""

    MATRIX_AXES: ClassVar[dict[str, int]] = {}
    """By the names of parameters that have the axes of the batch: how many axes follow these."""

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
        super().__init__(name or type(self).__name__)
        self.dtype = dtype
        self.parameters = {**dict.fromkeys(HINTS), **(parameters or {}), "name": self.name}
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
        sizes = self.range_dimension.value, self.domain_dimension.value
        return self._square if None in sizes else sizes[0] == sizes[1]

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__} has no shape")

    def _dense(self) -> TfTensor:
        raise NotImplementedError(f"{type(self).__name__} has no matrix")

    @property
    def shape(self) -> TensorShape:
        """Return the shape of the matrices."""
        return self._shape()

    def __tf_tensor__(self, dtype: object = None, name: str | None = None) -> TfTensor:
        return self.to_dense()

    def __getitem__(self, slices: object) -> LinearOperator:
        """Return the operators at some places of the batch."""
        places = slices if isinstance(slices, list | tuple) else [slices]
        return self._sliced(list(places), self.batch_shape_tensor())

    def _matrix_axes(self) -> dict[str, int]:
        return self.MATRIX_AXES

    def _sliced(self, places: list[object], batch: TfTensor) -> LinearOperator:
        """Return the operators at some places of a batch, which this one is repeated to."""
        own = {
            name: part_of(value, places, batch, self._matrix_axes().get(name))
            for name, value in self.parameters.items()
        }
        return KINDS[type(self).__name__](**{**own, **self.hints})

    @property
    def batch_shape(self) -> TensorShape:
        """Return the shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """Return the rank of the matrices as a tensor."""
        return self.shape.rank

    @property
    def range_dimension(self) -> Dimension:
        """Return the number of rows."""
        return dimension_at_index(self.shape, -2)

    @property
    def domain_dimension(self) -> Dimension:
        """Return the number of columns."""
        return dimension_at_index(self.shape, -1)

    def shape_tensor(self, name: str = "shape_tensor") -> TfTensor:
        """Return the shape as a tensor."""
        if self.shape.is_fully_defined():
            return constant(self.shape.known(), "int32")
        return self._shape_tensor()

    def _shape_tensor(self) -> TfTensor:
        """Return the shape where only a run knows it."""
        return tensor_shape(self.to_dense())

    def _size(self, axis: int) -> int | TfTensor:
        """Return the number of rows or of columns: a tensor where only a run knows it."""
        known = None if self.shape.rank is None else self.shape.as_list()[axis]
        return self.shape_tensor()[axis] if known is None else known

    def _batch(self) -> list[int] | TfTensor:
        """Return the shape of the batch: a tensor where only a run knows it."""
        known = self.batch_shape
        return known.known() if known.is_fully_defined() else self.batch_shape_tensor()

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
            size = (self.range_dimension if adjoint else self.domain_dimension).value
            return self._matmul(self._checked(x, size, adjoint_arg=adjoint_arg), adjoint)

    def _after(self, other: LinearOperator) -> LinearOperator:
        """Return the operator that first does what another does."""
        if not other.range_dimension.is_compatible_with(self.domain_dimension):
            raise ValueError(
                f"Operators are incompatible. Expected `x` to have dimension "
                f"{self.domain_dimension} but got {other.range_dimension}."
            )
        made = self._merged(other)
        made = other._merged_behind(self) if made is None else made
        return KINDS["LinearOperatorComposition"]([self, other]) if made is None else made

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        """Return what one operator does behind another; None: nothing simpler than both."""
        return None

    def _merged_behind(self, last: LinearOperator) -> LinearOperator | None:
        """Return what one operator does in front of another; None: nothing simpler than both."""
        return None

    def __matmul__(self, other: object) -> TfTensor | LinearOperator:
        return self.matmul(other)

    def matvec(self, x: object, adjoint: bool = False, name: str = "matvec") -> TfTensor:
        """Multiply by vectors."""
        with InGraph(graph_of([x])):
            size = (self.range_dimension if adjoint else self.domain_dimension).value
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
            right = self._checked(rhs, self.range_dimension.value, adjoint_arg=adjoint_arg)
            return self._solve(right, adjoint)

    def solvevec(self, rhs: object, adjoint: bool = False, name: str = "solve") -> TfTensor:
        """Solve linear equations for vectors."""
        self._require("Exact solve", regular=True)
        with InGraph(graph_of([rhs])):
            right = self._checked(convert(rhs, self.dtype)[..., None], self.range_dimension.value)
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
        return self._inverse()

    def _inverse(self) -> LinearOperator:
        return KINDS["LinearOperatorInversion"](self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the lower triangle whose product with its adjoint this is."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        return self._cholesky()

    def _cholesky(self) -> LinearOperator:
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
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        return cholesky(self._dense())

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

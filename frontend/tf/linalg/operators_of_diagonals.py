"""Operators of diagonals: three of them, or one number for each."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import ClassVar

from ..core.bridge import TfTensor
from ..core.shapes import TensorShape, broadcast_static_shape
from ..core.values import convert
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, concat, reverse
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, range_, zeros_like
from ..ops.gathering import gather
from ..ops.nn_ops import band_part
from .bands import three, tridiagonal_matmul, tridiagonal_solve
from .operator import LinearOperator, kept, require
from .operators import Hint, squared, squared_tensor

FORMATS = ("compact", "matrix", "sequence")


class LinearOperatorTridiag(LinearOperator):
    """Three diagonals, in one of the formats of `bands`."""

    def __init__(
        self,
        diagonals: object,
        diagonals_format: str = "compact",
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        if diagonals_format not in FORMATS:
            raise ValueError(
                f"Argument `diagonals_format` must be one of {', '.join(FORMATS[:2])}, or "
                f"{FORMATS[2]}. Received : {diagonals_format}."
            )
        is_list = diagonals_format == "sequence" and isinstance(diagonals, list | tuple)
        found = [convert(x) for x in diagonals] if is_list else convert(diagonals)  # type: ignore[attr-defined]
        middle = found[1] if isinstance(found, list) else found
        parameters = {"diagonals": diagonals, "diagonals_format": diagonals_format}
        super().__init__(middle.dtype, parameters, name, **{**hints, "is_square": True})
        self._given = [kept(x) for x in diagonals] if is_list else kept(diagonals)  # type: ignore[attr-defined]
        self.diagonals_format = diagonals_format

    @property
    def diagonals(self) -> TfTensor | list[TfTensor]:
        """Return the diagonals: one tensor, or a list of three."""
        given = self._given
        return [convert(x) for x in given] if isinstance(given, list) else convert(given)

    def _matrix_axes(self) -> dict[str, int]:
        return {"diagonals": 1 if isinstance(self.diagonals, list) else 2}

    def _main(self) -> TfTensor:
        """Return a tensor as long as the main diagonals, in as many batches."""
        if isinstance(self.diagonals, list):
            return self.diagonals[1]
        is_matrix = self.diagonals_format == "matrix"
        return self.diagonals[..., 0 if is_matrix else 1, :]

    def _shape(self) -> TensorShape:
        return squared(self._main().shape)

    def _shape_tensor(self) -> TfTensor:
        return squared_tensor(self._main())

    def _dense(self) -> TfTensor:
        if self.diagonals_format == "matrix":
            return band_part(self.diagonals, 1, 1)
        unit = eye(self._size(-1), dtype=self.dtype)
        nothing = zeros_like(unit[:1])
        sides = concat([unit[1:], nothing], 0), unit, concat([nothing, unit[:-1]], 0)
        rows = three(self.diagonals, self.diagonals_format)
        return reduce(add, [x[..., None] * side for x, side in zip(rows, sides, strict=True)])

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        if adjoint or x.shape.rank is None or x.shape.rank != self.shape.rank:
            return super()._matmul(x, adjoint)
        return tridiagonal_matmul(self.diagonals, x, self.diagonals_format)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        if adjoint or rhs.shape.rank is None or rhs.shape.rank != self.shape.rank:
            return super()._solve(rhs, adjoint)
        return tridiagonal_solve(self.diagonals, rhs, self.diagonals_format)


class LinearOperatorToeplitz(LinearOperator):
    """Diagonals of one number each: its first column and its first row."""

    MATRIX_AXES: ClassVar = {"col": 1, "row": 1}

    def __init__(self, col: object, row: object, name: str | None = None, **hints: Hint) -> None:
        column = convert(col)
        parameters = {"col": col, "row": row}
        super().__init__(column.dtype, parameters, name, **{**hints, "is_square": True})
        self._column, self._line = kept(col), kept(row, column.dtype)
        for what, each in (("col", self.col), ("row", self.row)):
            require(what, each, 1, ends=".  Found: ")
        sizes = [each.shape.as_list()[-1] for each in (self.col, self.row) if each.shape.rank]
        if None not in sizes and len({*sizes}) > 1:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")

    @property
    def col(self) -> TfTensor:
        """Return the first columns."""
        return convert(self._column)

    @property
    def row(self) -> TfTensor:
        """Return the first rows."""
        return convert(self._line)

    def _shape(self) -> TensorShape:
        return squared(broadcast_static_shape(self.col.shape, self.row.shape))

    def _line_shape(self) -> object:
        """Return the shape of rows and of columns in all batches."""
        known = broadcast_static_shape(self.col.shape, self.row.shape)
        if known.is_fully_defined():
            return known
        return broadcast_dynamic_shape(tensor_shape(self.col), tensor_shape(self.row))

    def _shape_tensor(self) -> TfTensor:
        shape = convert(self._line_shape(), "int32")
        return concat([shape, shape[-1:]], 0)

    def _dense(self) -> TfTensor:
        col, row = (broadcast_to(x, self._line_shape()) for x in (self.col, self.row))
        line = concat([reverse(row[..., 1:], [-1]), col], -1)
        count = range_(self._size(-1))
        return gather(line, count[:, None] - count + self._size(-1) - 1, axis=-1)

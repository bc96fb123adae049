"""Rows of a matrix whose transpose is packed: of an embedding that is the last product too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import SSAValue

from ...families import INTEGER, expect
from ...op import Array, Op, register
from ...reading import Reading
from ...types.dims import ceil_divide
from ...types.dtypes import i32, i64
from ...types.indices import Indices
from ...types.tensor import TensorSpec, spec_of
from ..index import check_not_empty, in_range, indexed
from .packed import unpack


@register
class GatherPacked(Op):
    """The columns at indices of a matrix [K, columns] in panels [P, K, tile], each as a row."""

    name = "gv.gather_packed"
    INDICES: ClassVar = 1
    SAMPLES: ClassVar = (
        indexed(((2, 5, 4), (2, 3)), 1, {"columns": 7}),
        indexed(((3, 3, 2), ()), 1, {"columns": 5}, index_dtype=i32),
    )

    @classmethod
    def infer(
        cls, panels: TensorSpec, indices: TensorSpec, *, columns: int
    ) -> Sequence[TensorSpec]:
        """Return the shape of the indices, and a row behind."""
        expect(indices, INTEGER)
        if panels.rank != 3:
            raise TypeError(f"operand {panels}, expected panels [P, K, tile]")
        count, depth, tile = panels.dims
        if not isinstance(tile, int) or ceil_divide(columns, tile) != count:
            raise TypeError(f"{count} panels do not hold {columns} columns")
        check_not_empty(0, columns, indices)
        return (panels.with_shape((*indices.dims, depth)),)

    @classmethod
    def evaluate(cls, panels: Array, indices: Array, *, columns: int) -> Sequence[Array]:
        """Take columns of the unpacked matrix."""
        rows = np.ascontiguousarray(unpack(panels, columns).T)
        return (np.take(rows, in_range(indices, columns), 0),)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read the index, then the element in the panel that has the column."""
        panels, indices = operands
        count, _, tile = spec_of(panels.type).static_shape
        at = reading.element(indices, index[:-1])
        column = reading.counted(reading.picked(at, attributes["columns"]), i64)
        math = reading.math
        width = math.constant(tile, i64)
        panel = math.truncated_divide(column, width)
        place = math.sub(column, math.mul(panel, width))
        spot = (reading.place(panel, count), index[-1], reading.place(place, tile))
        return reading.element(panels, spot)


__all__ = ["GatherPacked"]

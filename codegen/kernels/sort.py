"""Sorting along an axis: a heap of the best so far, or merging where most of a row is wanted."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ...ir import Op
from ...ir.types.dtypes import i64
from ...target import Target
from .builder.plan import returned_values
from .heap_sort import HeapSort
from .merge_sort import LONGEST, SHORTEST, MergeSort

PART = 20
"""A heap is used for less than this part of a row."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a sort."""
    anchor = returned_values(kernel)[0].owner
    assert isinstance(anchor, Op), "the root is an operation"
    way = MergeSort if merges(anchor) else HeapSort
    return way(kernel, target).build()


def merges(op: Op) -> bool:
    """Say whether whole rows are to be sorted, and can be: of known length and real elements."""
    attributes, spec = op.plain_attributes(), op.specs[0]
    length, k = spec.dims[attributes["axis"]], attributes["k"]
    if not isinstance(length, int) or not isinstance(k, int) or spec.dtype.size > i64.size:
        return False
    if spec.dtype.kind == "c":
        return False
    return SHORTEST <= length <= LONGEST and k * PART >= length

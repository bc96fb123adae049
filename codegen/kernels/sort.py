"""Sorting along an axis: a heap of the best so far, or merging where most of a row is wanted.

Of columns side by side the few best are found in registers.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ...ir import Op
from ...ir.ops.sort import TopK
from ...ir.types.dtypes import DType, i64
from ...target import Target
from .builder.ordering import Ordering
from .builder.plan import returned_values
from .columns_sort import ColumnsSort
from .heap_sort import ItemHeap
from .key_heap import KeyHeap
from .merge_sort import LONGEST, SHORTEST, MergeSort

SLOPE, FREE = 2, 7
"""Of a row of `n` elements a heap is used for less than one in `SLOPE * bits of n - FREE`."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a sort."""
    anchor = returned_values(kernel)[0].owner
    assert isinstance(anchor, Op), "the root is an operation"
    return _way(anchor, target)(kernel, target).build()


def _way(op: Op, target: Target) -> type[Ordering]:
    """Return what sorts here."""
    few = isinstance(op, TopK) and op.has_few(op.specs[0], **op.plain_attributes())
    if few and target.can.walk_vectors:
        return ColumnsSort
    if merges(op):
        return MergeSort
    return KeyHeap if op.specs[0].dtype.size < i64.size else ItemHeap


def merges(op: Op) -> bool:
    """Say whether whole rows are to be sorted, and can be: of known length and real elements."""
    attributes, spec = op.plain_attributes(), op.specs[0]
    length, k = spec.dims[attributes["axis"]], attributes["k"]
    if not isinstance(length, int) or not isinstance(k, int) or spec.dtype.size > i64.size:
        return False
    if spec.dtype.kind == "c":
        return False
    return SHORTEST <= length <= LONGEST and k * heap_part(length, spec.dtype) >= length


def heap_part(length: int, dtype: DType) -> int:
    """Return for less than which part of a row a heap takes less time than merging all of it.

    Long rows are merged more often; keys of 64 bits take twice the time, in a heap they do not.

    >>> heap_part(1000, i64), heap_part(100, i64)
    (6, 3)
    """
    part = max(SLOPE * length.bit_length() - FREE, 2)
    return max(part // 2, 2) if dtype.size == i64.size else part

"""Ordering, counting and finding by TensorFlow's names; results whose shape depends on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from .core import convert, op, perform, row_of, static


@op("TopKV2", "input", strict=False, label="TopKV2")
def top_k(m: Maker, input: Any, k: int = 1, sorted: bool = True) -> Any:
    """Return the largest elements of each row, and where they are."""
    values, places = m.top_k(
        input, k=int(static(k)), axis=spec_of_value(input).rank - 1, largest=True, sorted=True
    )
    return values, m.cast(places, dtype=rows.i32)


def _order(values: Any, axis: int, direction: str, *, places: bool, name: Any) -> Any:
    def rule(m: Maker, x: Any) -> Any:
        at = axis % spec_of_value(x).rank
        down = direction.upper() == "DESCENDING"
        if places:
            return m.cast(m.argsort(x, axis=at, descending=down), dtype=rows.i32)
        return m.sort(x, axis=at, descending=down)

    return perform("Sort", rule, [convert(values)], name=name)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Put elements in order along an axis."""
    return _order(values, axis, direction, places=False, name=name)


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """Return where the elements in order come from."""
    return _order(values, axis, direction, places=True, name=name)


def _host(type_: str, *operands: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return op(type_, *operands, strict=False, differentiable=False)


@op("Unique", "x", strict=False, differentiable=None)
def unique(m: Maker, x: Any) -> Any:
    """Return the different elements in the order they come, and which one each is."""
    array = np.asarray(x)
    _, first, back = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return array[np.sort(first)], rank[back].astype(np.int32)


@_host("Bincount", "arr")
def bincount(m: Maker, arr: Any, minlength: Any = None, **_: Any) -> Any:
    """Count each number."""
    return np.bincount(np.asarray(arr).ravel(), minlength=int(minlength or 0)).astype(np.int32)


@_host("SearchSorted", "sorted_sequence", "values")
def searchsorted(m: Maker, sorted_sequence: Any, values: Any, side: str = "left", **_: Any) -> Any:
    """Return where values belong in an ordered sequence."""
    find: Any = np.searchsorted
    return find(np.asarray(sorted_sequence), np.asarray(values), side).astype(np.int32)


@_host("SequenceMask", "lengths")
def sequence_mask(m: Maker, lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Any:
    """Mark the first elements of each row."""
    array, row = np.asarray(lengths), row_of(dtype)
    assert row is not None, "a type was given"
    width = int(array.max(initial=0)) if maxlen is None else int(static(maxlen))
    return (np.arange(width) < array[..., None]).astype(row.numpy)


@_host("CountNonzero", "input")
def count_nonzero(
    m: Maker, input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = "int64"
) -> Any:
    """Count elements that are not 0."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return np.asarray(np.count_nonzero(np.asarray(input), axis=axis, keepdims=keepdims), row.numpy)


@_host("InvertPermutation", "x")
def invert_permutation(m: Maker, x: Any) -> Any:
    """Return where each number is."""
    return np.argsort(np.asarray(x)).astype(np.asarray(x).dtype)


@op("SegmentSum", "data", "segment_ids", strict=False)
def segment_sum(m: Maker, data: Any, segment_ids: Any) -> Any:
    """Add rows by their segment."""
    return _segments(m, data, segment_ids, int(np.asarray(segment_ids).max(initial=-1)) + 1)


@op("UnsortedSegmentSum", "data", "segment_ids", strict=False)
def unsorted_segment_sum(m: Maker, data: Any, segment_ids: Any, num_segments: int) -> Any:
    """Add rows by their segment."""
    return _segments(m, data, segment_ids, int(static(num_segments)))


def _segments(m: Maker, data: Any, ids: Any, count: int) -> Any:
    from ...ir.compositions import sum_along  # noqa: PLC0415

    return sum_along(m.emit, data, m.to(ids, rows.i64), 0, count)

"""Reductions along axes of rows, and segments of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ....ir.types.dtypes import DType
from ...values.dispatch import handles
from ...values.dtypes import finfo
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import unknown
from ..core.values import convert, graph_of, static
from ..graph.flow import stop_gradient
from ..ops import array_ops as a
from ..ops import gathering as g
from ..ops import math_ops as m
from ..ops import nn_ops as n
from ..ops.creation import fill, ones_like, range_, zeros_like
from ..ops.sorting import searchsorted
from .converting import axis_of, read_of
from .moving import expand_dims
from .partition import agreed, computed
from .planning import assembled, rows_read, splits_type
from .rows import Rows, splits_of
from .tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph

Combine = Callable[[TfTensor, TfTensor, TfTensor], TfTensor]
"""What is made of elements whose numbers say where they go, in a frame of so many zeros."""


def combined(rows: Rows, ids: Array, count: int) -> tuple[Rows, int]:
    """Return rows of which those with one number are laid over each other.

    The places of the result are, for each element, where it goes; with how many there are.
    """
    if not rows.splits:
        return Rows((), ids), count
    most = np.zeros(count, np.int64)
    np.maximum.at(most, ids, rows.counts)
    splits = splits_of(most)
    there = splits[:-1][ids[rows.row_numbers()]] + rows.offsets()
    made, total = combined(rows.below, there, int(splits[-1]))
    return made.over([splits]), total


def without_axis(rows: Rows, axis: int) -> tuple[Rows, int]:
    """Return rows with an axis combined."""
    if axis == 0 and len(rows.splits) == 1:  # all rows begin at the first place
        return Rows((), rows.offsets()), int(rows.counts.max(initial=0))
    if axis == 0:
        made, total = combined(rows, np.zeros(len(rows), np.int64), 1)
        return made.below, total
    if axis == 1:
        return combined(rows.below, rows.row_numbers(), len(rows))
    made, total = without_axis(rows.below, axis - 1)
    return made.over(rows.splits[:1]), total


def is_open(splits: TfTensor) -> bool:
    """Say whether only the run of a graph has splits."""
    return graph_of([splits]) is not None and isinstance(static(splits), TfTensor)


def innermost(x: RaggedTensor) -> tuple[TfTensor, TfTensor]:
    """Return the row of each element on the innermost level, and a zero for each such row.

    They are computed of the splits as a program does, by sizes that it knows: an element is behind
    all rows that end with it or before.
    """
    with same_graph(x):
        splits = m.cast(x.nested_row_splits[-1], "int64")
        places = range_(a.shape(x.flat_values, "int64")[0])
        there = searchsorted(splits[1:], places, side="right", out_type="int64")
        return there, zeros_like(splits[1:])


class Reduced:
    """What is left of rows when axes are combined: where elements go, how many, the splits."""

    def __init__(self, x: RaggedTensor, axes: Sequence[int]) -> None:
        levels, left = x.ragged_rank, x.ragged_rank - len(axes)
        kept = [n for i, n in enumerate(x.row_sizes()) if i not in axes]
        self.lengths = kept[1:]
        self.splits: Sequence[TfTensor] = x.nested_row_splits[:-1]
        if [*axes] == [levels] and is_open(x.nested_row_splits[-1]):
            self.there, self.frame = innermost(x)
            return
        number = np.dtype(splits_type([x]))

        def compute(*arrays: Array) -> Sequence[Array]:
            rows = rows_read(arrays, levels)
            there, total = rows.places, 0
            for axis in sorted(axes, reverse=True):
                made, total = without_axis(rows, axis)
                there = made.places if there is rows.places else made.places[there]
                rows = Rows(made.splits, np.arange(total))
            return [there, np.zeros(total, np.int64), *(s.astype(number) for s in rows.splits)]

        kind = kinds.i32 if number == np.int32 else kinds.i64
        first = kept[0]
        ends = [None if first is None else first + 1, *[None] * left][:left]
        size = first if not left else None
        frame = unknown(kinds.i64, size)
        specs = [unknown(kinds.i64, None), frame, *(unknown(kind, n) for n in ends)]
        self.there, self.frame, *self.splits = computed("RaggedReduce", compute, read_of(x), specs)

    def holding(self, flat: TfTensor) -> Ragged:
        """Return the result of combined elements."""
        return assembled(flat, self.splits, self.lengths)


def _laid(scatter: Callable[..., TfTensor], neutral: str) -> Combine:
    """Return what lays elements over each other where they go, beginning with a neutral one."""

    def made(x: TfTensor, ids: TfTensor, frame: TfTensor) -> TfTensor:
        row, rank, dims = x.spec.dtype, x.shape.rank or 1, x.shape._dims
        zeros = a.reshape(m.cast(frame, row), [-1, *[1] * (rank - 1)])
        ends = a.shape(x, "int64")[1:] if dims is None or None in dims[1:] else list(dims[1:])
        first = fill(ends, convert(NEUTRAL[neutral](row), row))
        start = m.FUNCTIONS["add"](zeros, first)
        return scatter(start, a.expand_dims(m.cast(ids, "int64"), 1), x)

    return made


def _least(row: DType) -> object:
    return float(finfo(row.numpy).min) if row.is_float else row.minimum


def _most(row: DType) -> object:
    return float(finfo(row.numpy).max) if row.is_float else row.maximum


NEUTRAL: dict[str, Callable[[DType], object]] = {
    "zero": lambda _: 0,
    "one": lambda _: 1,
    "least": _least,
    "most": _most,
}
total = _laid(g.tensor_scatter_nd_add, "zero")
product = _laid(g.tensor_scatter_nd_mul, "one")
largest = _laid(g.tensor_scatter_nd_max, "least")
smallest = _laid(g.tensor_scatter_nd_min, "most")


def _mean(x: TfTensor, ids: TfTensor, frame: TfTensor) -> TfTensor:
    return m.truediv(total(x, ids, frame), total(ones_like(x), ids, frame))


def _sqrt_n(x: TfTensor, ids: TfTensor, frame: TfTensor) -> TfTensor:
    number = total(ones_like(x), ids, frame)
    return m.truediv(total(x, ids, frame), m.FUNCTIONS["sqrt"](number))


def _by_numbers(combine: Combine) -> Combine:
    """Return what combines truth values as numbers."""

    def made(x: TfTensor, ids: TfTensor, frame: TfTensor) -> TfTensor:
        return m.cast(combine(m.cast(x, "int32"), ids, frame), "bool")

    return made


def _logsumexp(x: TfTensor, ids: TfTensor, frame: TfTensor) -> TfTensor:
    exp, log = m.FUNCTIONS["exp"], m.FUNCTIONS["log"]
    top = stop_gradient(largest(x, ids, frame))
    finite = a.where(m.FUNCTIONS["is_finite"](top), top, zeros_like(top))
    parts = exp(m.FUNCTIONS["subtract"](x, g.gather(finite, ids)))
    return m.FUNCTIONS["add"](log(total(parts, ids, frame)), finite)


COMBINING: dict[Callable[..., TfTensor], Combine] = {
    m.REDUCTIONS["reduce_sum"]: total,
    m.REDUCTIONS["reduce_prod"]: product,
    m.REDUCTIONS["reduce_max"]: largest,
    m.REDUCTIONS["reduce_min"]: smallest,
    m.REDUCTIONS["reduce_any"]: _by_numbers(total),
    m.REDUCTIONS["reduce_all"]: _by_numbers(product),
    m.REDUCTIONS["reduce_logsumexp"]: _logsumexp,
    m.reduce_mean: _mean,
}


def _axes(x: RaggedTensor, axis: object) -> list[int] | None:
    """Return axes from the front in order, None for all of them."""
    if axis is None:
        return None
    known = static(axis)
    if isinstance(known, TfTensor):
        raise ValueError("axis must be known at graph construction time.")
    if hasattr(axis, "spec"):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    return sorted({axis_of(n, x.shape.rank) for n in np.ravel(known)})


def _as_numbers(x: TfTensor) -> TfTensor:
    """Return what is divided: whole numbers as floats."""
    return x if x.dtype.is_floating or x.dtype.is_complex else m.cast(x, "float64")


def reduction(dense: Callable[..., TfTensor], combine: Combine) -> Callable[..., Ragged]:
    """Return the reduction of rows that goes with one of tensors."""
    divides = dense is m.reduce_mean

    def function(
        input_tensor: RaggedTensor,
        axis: object = None,
        keepdims: bool | None = None,
        name: str | None = None,
    ) -> Ragged:
        """Reduce along axes, all of them if none is given."""
        x = input_tensor
        with same_graph(x, axis):
            axes, levels = _axes(x, axis), x.ragged_rank
            if axes == []:
                return x
            rank = x.shape.rank
            if axes is None or axes == list(range(rank or -1)):
                made = dense(_as_numbers(x.flat_values) if divides else x.flat_values)
                return a.reshape(made, [1] * (rank or 0)) if keepdims else made
            inner = [n - levels for n in axes if n > levels]
            if inner:
                x = x.with_flat_values(dense(x.flat_values, axis=inner))
            found: Ragged = x
            outer = [n for n in axes if n <= levels]
            if outer:
                left = Reduced(x, outer)
                found = left.holding(combine(x.flat_values, left.there, left.frame))
            if keepdims:
                for each in axes:
                    found = expand_dims(found, each)
            return found

    return function


for _dense, _combine in COMBINING.items():
    handles(RaggedTensor, _dense)(reduction(_dense, _combine))


@handles(RaggedTensor, m.reduce_variance)
def reduce_variance(
    input_tensor: RaggedTensor,
    axis: object = None,
    keepdims: bool | None = False,
    name: str | None = None,
) -> Ragged:
    """Return the variance along axes: rounding leaves none below 0."""
    x = input_tensor
    with same_graph(x):
        squares = m.reduce_mean(m.square(x), axis, bool(keepdims))
        centre = m.square(m.reduce_mean(x, axis, bool(keepdims)))
        found = m.FUNCTIONS["subtract"](squares, centre)
        return m.FUNCTIONS["maximum"](found, 0) if x.dtype.is_floating else found


@handles(RaggedTensor, m.reduce_std)
def reduce_std(
    input_tensor: RaggedTensor,
    axis: object = None,
    keepdims: bool | None = False,
    name: str | None = None,
) -> Ragged:
    """Return the standard deviation along axes."""
    return m.FUNCTIONS["sqrt"](reduce_variance(input_tensor, axis, keepdims))


PREFIX = "segment_ids.shape must be a prefix of data.shape"


def _segments(dense: Callable[..., TfTensor], combine: Combine) -> Callable[..., Ragged]:
    def function(
        data: object, segment_ids: object, num_segments: object, name: str | None = None
    ) -> Ragged:
        """Combine rows by their segment."""
        with same_graph(data, segment_ids, num_segments):
            x, ids = ragged_or_tensor(data), ragged_or_tensor(segment_ids)
            count = convert(num_segments)
            if isinstance(ids, RaggedTensor):
                if not isinstance(x, RaggedTensor):
                    raise ValueError(f"{PREFIX}, but segment_ids is ragged and data is not.")
                flat = agreed(x.row_splits, ids.row_splits, PREFIX, ids.flat_values)
                return function(x.values, ids.with_flat_values(flat).values, count)
            if isinstance(x, TfTensor):
                return dense(x, ids, count)
            return _of_rows(x, ids, count, combine)

    return function


def _of_rows(x: RaggedTensor, ids: TfTensor, count: TfTensor, combine: Combine) -> Ragged:
    """Combine rows that have one number."""
    levels = x.ragged_rank
    number = np.dtype(splits_type([x]))

    def compute(*arrays: Array) -> Sequence[Array]:
        rows = rows_read(arrays[: levels + 1], levels)
        where, total = arrays[levels + 1], int(arrays[levels + 2])
        if len(where) != len(rows):
            raise InvalidArgumentError(f"{PREFIX}: {len(where)} ids for {len(rows)} rows")
        if len(where) and not 0 <= where.min() <= where.max() < total:
            raise InvalidArgumentError(f"segment ids must be in [0, {total})")
        made, size = combined(rows, where, total)
        return [made.places, np.zeros(size, np.int64), *(s.astype(number) for s in made.splits)]

    kind = kinds.i32 if number == np.int32 else kinds.i64
    specs = [*[unknown(kinds.i64, None)] * 2, *[unknown(kind, None)] * levels]
    there, frame, *splits = computed("RaggedSegments", compute, [*read_of(x), ids, count], specs)
    return assembled(combine(x.flat_values, there, frame), splits)


for _function, _how in (
    (g.unsorted_segment_sum, total),
    (g.unsorted_segment_prod, product),
    (g.unsorted_segment_max, largest),
    (g.unsorted_segment_min, smallest),
    (g.unsorted_segment_mean, _mean),
    (g.unsorted_segment_sqrt_n, _sqrt_n),
):
    handles(RaggedTensor, _function)(_segments(_function, _how))


@handles(RaggedTensor, n.softmax)
def softmax(logits: RaggedTensor, axis: int = -1, name: str | None = None) -> Ragged:
    """Return exponentials that sum to one along the last axis."""
    at = axis_of(axis, logits.shape.rank)
    if at != logits.ragged_rank:
        raise NotImplementedError("the softmax of a ragged tensor is along its last axis of rows")
    with same_graph(logits):
        ids = logits.partitions[-1].value_rowids()
        frame = m.FUNCTIONS["multiply"](logits.partitions[-1].row_lengths(), 0)
        flat = logits.flat_values
        top = stop_gradient(g.gather(largest(flat, ids, frame), ids))
        powers = m.FUNCTIONS["exp"](m.FUNCTIONS["subtract"](flat, top))
        sums = g.gather(total(powers, ids, frame), ids)
        return logits.with_flat_values(m.truediv(powers, sums))

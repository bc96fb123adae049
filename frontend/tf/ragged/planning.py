"""Operations that move elements: the host finds from where each one comes, one gather takes it.

rows of the operands -> host: rows of the result, places   (numbers only)
values of the operands -> concat -> gather(places)         (compiled, with a gradient)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ....ir.types.tensor import TensorSpec
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import unknown
from ..core.values import convert
from ..ops import array_ops as a
from ..ops.gathering import gather
from ..ops.math_ops import REDUCTIONS
from .partition import RowPartition, computed
from .rows import Rows, ranges, splits_of, uniform
from .tensor import Ragged, RaggedTensor, same_graph

Plan = Callable[..., Rows]
"""What rows are made of the operands' rows and of further arrays."""


def assembled(
    values: Ragged, splits: Sequence[TfTensor], lengths: Sequence[int | None] = ()
) -> Ragged:
    """Return values cut by splits, from the outermost level; lengths of rows that are known."""
    made = values
    known = [*lengths, *[None] * (len(splits) - len(lengths))]
    for each, length in zip(reversed(splits), reversed(known), strict=True):
        with same_graph(each):
            size = None if length is None else convert(length, each.dtype)
        made = RaggedTensor.cut(made, RowPartition(each, uniform=size))
    return made


def splits_type(operands: Sequence[object]) -> str:
    """Return the type of splits that operations on values give: int32 if all of them have it."""
    found = {x.row_splits.dtype.name for x in operands if isinstance(x, RaggedTensor)}
    return "int32" if found == {"int32"} else "int64"


def operand(x: Ragged, levels: int) -> tuple[TfTensor, list[TfTensor]]:
    """Return values without rows, and what the host reads of the rows, which has so many levels.

    That is: splits, and the sizes of a tensor that has fewer levels.
    """
    have = x.ragged_rank if isinstance(x, RaggedTensor) else 0
    flat = x.flat_values if isinstance(x, RaggedTensor) else x
    sizes = a.shape(flat, "int64")
    known = flat.shape._dims
    if have < levels:
        extra = levels - have
        if known is not None and len(known) <= extra:
            raise ValueError(f"a tensor of shape {flat.shape} has no {levels} levels of rows")
        behind = known[extra + 1 :] if known is not None else [None]
        if all(behind):  # what is left of the elements: of none, nothing is
            flat = a.reshape(flat, [-1, *behind])
        else:
            count = REDUCTIONS["reduce_prod"](sizes[: extra + 1], keepdims=True)
            flat = a.reshape(flat, a.concat([count, sizes[extra + 1 :]], 0))
    return flat, [sizes, *(x.nested_row_splits if isinstance(x, RaggedTensor) else ())]


def rows_read(arrays: Sequence[Array], levels: int, *, is_still: bool = False) -> Rows:
    """Return the rows of an operand that the host has read; if nothing moves, without its places.

    Then only how many there are is to be seen.
    """
    sizes, splits = arrays[0], arrays[1:]
    extra = levels - len(splits)
    dims = [int(n) for n in sizes[: extra + 1]]
    count = math.prod(dims)
    places = np.broadcast_to(np.int64(0), count) if is_still else np.arange(count, dtype=np.int64)
    inner = uniform(dims, places)
    return inner.over([s.astype(np.int64, copy=False) for s in splits])


def planned(
    type_: str,
    operands: Sequence[Ragged],
    plan: Plan,
    levels: int,
    *,
    read: Sequence[int] | int | None = None,
    more: Sequence[TfTensor] = (),
    lengths: Sequence[int | None] = (),
    nrows: int | None = None,
    default: TfTensor | None = None,
    name: str | None = None,
    is_still: bool = False,
) -> Ragged:
    """Return what a plan makes of the rows of values: a result with so many levels.

    `read` says how many levels each operand has for the plan, those of the first if nothing is
    said. `default` is the element for places that are -1. Of a plan that `is_still`, the rows are
    others and hold what there was, operand by operand: only its splits are asked for.
    """
    with same_graph(*operands, *more):
        depths = _depths(operands, read)
        flats, given, counts = [], [], []
        for x, depth in zip(operands, depths, strict=True):
            flat, parts = operand(x, depth)
            flats.append(flat)
            counts.append(len(parts))
            given += parts

        def compute(*arrays: Array) -> Sequence[Array]:
            found, at, shift = [], 0, 0
            for count, depth in zip(counts, depths, strict=True):
                each = rows_read(arrays[at : at + count], depth, is_still=is_still)
                found.append(each.shifted(shift) if shift and not is_still else each)
                shift += len(each.places)
                at += count
            made = plan(*found, *arrays[at:])
            assert len(made.splits) == levels, f"{type_} makes {len(made.splits)} levels"
            if is_still:
                return [x.astype(number, copy=False) for x in made.splits]
            places = made.places
            if default is not None:
                places = np.where(places < 0, shift, places)
            splits = [x.astype(number, copy=False) for x in made.splits]
            return [places.astype(np.int64, copy=False), *splits]

        row = splits_type(operands)
        number = np.dtype(row)
        kind = kinds.i32 if row == "int32" else kinds.i64
        first = None if nrows is None else nrows + 1
        counted = [first, *[None] * levels][:levels]
        size = nrows if not levels else None

        def specs(_: object) -> Sequence[TensorSpec]:
            cut = [unknown(kind, n) for n in counted]
            return cut if is_still else [unknown(kinds.i64, size), *cut]

        made = computed(type_, compute, [*given, *more], specs, name)
        if is_still:
            whole = flats[0] if len(flats) == 1 else a.concat(flats, 0)
            return assembled(whole, made, lengths)
        places, *splits = made
        if default is not None:
            flats.append(a.expand_dims(default, 0))
        whole = flats[0] if len(flats) == 1 else a.concat(flats, 0)
        return assembled(gather(whole, places), splits, lengths)


def _depths(operands: Sequence[Ragged], read: Sequence[int] | int | None) -> Sequence[int]:
    if isinstance(read, Sequence):
        return read
    if read is not None:
        return [read] * len(operands)
    levels = [x.ragged_rank if isinstance(x, RaggedTensor) else 0 for x in operands]
    return [max(levels)] * len(operands)


def levels_of(x: object) -> int:
    """Return how many levels of rows a value has."""
    return x.ragged_rank if isinstance(x, RaggedTensor) else 0


def with_levels(x: Ragged, levels: int) -> Ragged:
    """Return a value with at least so many levels of rows."""
    have = levels_of(x)
    if have >= levels:
        return x
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(with_levels(x.flat_values, levels - have))
    dims = x.shape._dims
    sizes = a.shape(x, "int64")

    def compute(extents: Array) -> Sequence[Array]:
        made = uniform([int(n) for n in extents[: levels + 1]], np.zeros(0, np.int64))
        return made.splits

    with same_graph(x):
        counts = [dims[0] + 1 if dims and dims[0] is not None else None, *[None] * levels][:levels]
        specs = [unknown(kinds.i64, n) for n in counts]
        splits = computed("RowsOfTensor", compute, [sizes], specs)
        flat = operand(x, levels)[0]
        lengths = [None] * levels if dims is None else dims[1 : levels + 1]
        return assembled(flat, splits, lengths)


@dataclass(frozen=True)
class InCommon:
    """Values whose rows are the same: without rows, and the splits of all."""

    flats: list[TfTensor]
    splits: Sequence[TfTensor]
    lengths: Sequence[int | None]

    def holding(self, flat: TfTensor) -> Ragged:
        """Return the rows with other values."""
        return assembled(flat, self.splits, self.lengths)


def broadcast(values: Sequence[Ragged], name: str | None = None) -> InCommon:
    """Return values repeated until all have the same rows.

    Axes are aligned at the end; what has one element along an axis is repeated. Axes behind the
    last level of rows are left alone: functions of elements broadcast them.
    """
    rank = max(map(_rank, values))
    ragged = [x for x in values if isinstance(x, RaggedTensor)]
    levels = max(x.ragged_rank + rank - _rank(x) for x in ragged)
    depths = [levels - (rank - _rank(x)) for x in values]
    lengths = _lengths(values, rank)[1 : levels + 1]
    with same_graph(*values):
        first = ragged[0]
        inside = [d < 0 for x, d in zip(values, depths, strict=True) if isinstance(x, TfTensor)]
        if all(x.is_cut_like(first) for x in ragged) and all(inside):
            flats = [x.flat_values if isinstance(x, RaggedTensor) else x for x in values]
            return InCommon(flats, first.nested_row_splits, lengths)
        return _spread(values, depths, levels, lengths, name)


def _spread(
    values: Sequence[Ragged],
    depths: Sequence[int],
    levels: int,
    lengths: Sequence[int | None],
    name: str | None,
) -> InCommon:
    """Return values repeated by a plan of the host, in so far as they reach into the rows."""
    given, counts, flats = [], [], []
    for x, depth in zip(values, depths, strict=True):
        flat, parts = operand(x, depth) if depth >= 0 else (x, [])
        assert isinstance(flat, TfTensor), "only tensors do not reach into the rows"
        flats.append(flat)
        counts.append(len(parts))
        given += parts
    number = np.dtype(splits_type(values))
    reached = [i for i, depth in enumerate(depths) if depth >= 0]
    repeats = [_repeats(values[i], levels - depths[i], levels) for i in reached]

    def compute(*arrays: Array) -> Sequence[Array]:
        every, at = [], 0
        for count, depth in zip(counts, depths, strict=True):
            if count:
                found = rows_read(arrays[at : at + count], depth)
                for _ in range(levels - depth):
                    found = found.above(np.array([len(found)], np.int64))
                every.append(found)
            at += count
        splits, places = matched(every, repeats)
        return [*(x.astype(number) for x in splits), *places]

    kind = kinds.i32 if number == np.int32 else kinds.i64
    specs = [*[unknown(kind, None)] * levels, *[unknown(kinds.i64, None)] * len(reached)]
    found = computed("RaggedBroadcast", compute, given, specs, name)
    for i, places in zip(reached, found[levels:], strict=True):
        flats[i] = gather(flats[i], places)
    return InCommon(flats, found[:levels], lengths)


def _repeats(x: Ragged, before: int, levels: int) -> list[bool]:
    """Return at which levels a value may be repeated: where rows have one length for sure."""
    mine = x.partitions if isinstance(x, RaggedTensor) else ()
    made = [*[True] * before, *(each.is_uniform() for each in mine)]
    return [*made, *[True] * (levels - len(made))]


def matched(
    every: Sequence[Rows], repeats: Sequence[Sequence[bool]]
) -> tuple[list[Array], list[Array]]:
    """Return the splits that several rows have in common, and the places of each in them.

    `repeats` says of each at which levels single elements are repeated.
    """
    if len({len(x) for x in every}) > 1:
        length = _common(np.array([[len(x)] for x in every]))[0]
        every = [x if len(x) == length else x.take(np.zeros(length, np.int64)) for x in every]
    splits: list[Array] = []
    while every[0].splits:
        may = [each[len(splits)] for each in repeats]
        counts = _common(np.stack([x.counts for x in every]), may)
        splits.append(splits_of(counts))
        every = [_filled(x, counts) for x in every]
    return splits, [x.places for x in every]


def _filled(x: Rows, counts: Array) -> Rows:
    """Return what rows hold that get these lengths: of one element, it is repeated."""
    have, below, starts = x.counts, x.below, x.splits[0][:-1]
    if np.array_equal(have, counts) and x.splits[0][0] == 0 and x.splits[0][-1] == len(below):
        return below  # nothing moves
    if (have == 1).all():
        return below.take(np.repeat(starts, counts))
    order = ranges(starts, counts)
    single = np.repeat((have == 1) & (counts != 1), counts)
    order[single] = np.repeat(starts, counts)[single]
    return below.take(order)


def _common(counts: Array, may: Sequence[bool] | None = None) -> Array:
    """Return the lengths that several ones broadcast to, of which some may be repeated."""
    alone = (counts == 1) & (True if may is None else np.array(may)[:, None])
    most = np.where(alone.all(axis=0), 1, np.where(alone, -1, counts).max(axis=0))
    if (~alone & (counts != most)).any():
        at = int(np.argmax((~alone & (counts != most)).any(axis=0)))
        raise InvalidArgumentError(
            f"Unable to broadcast: dimension size mismatch in dimension: {counts[:, at].tolist()}"
        )
    return most


def _lengths(values: Sequence[Ragged], rank: int) -> list[int | None]:
    """Return the length along each axis as far as it is known."""
    known: list[int | None] = [None] * rank
    single = [True] * rank
    for x in values:
        dims = [1] * (rank - _rank(x)) + x.shape.as_list()
        for axis, extent in enumerate(dims):
            single[axis] = single[axis] and extent == 1
            if extent not in (None, 1):
                known[axis] = extent
    return [1 if only else extent for only, extent in zip(single, known, strict=True)]


def _rank(x: Ragged) -> int:
    found = x.shape.rank
    if found is None:
        raise ValueError("Unable to broadcast: the rank of a value is not known")
    return found

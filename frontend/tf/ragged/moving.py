"""What moves rows: joined, stacked, turned, repeated, with more axes and fewer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...values.dispatch import handles
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import unknown
from ..core.values import convert, static
from ..ops import array_ops as a
from .converting import axis_of
from .partition import computed
from .planning import assembled, levels_of, planned, splits_type, with_levels
from .rows import Rows, expanded, joined, joined_splits, kept, reversed_along
from .tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph


def _is_typed(x: object) -> bool:
    """Say whether a value has a type of its own."""
    return hasattr(x, "spec") or isinstance(x, RaggedTensor)


def _parts(values: object) -> list[Ragged]:
    """Return a list of values, of which one has a type if any has."""
    if isinstance(values, RaggedTensor):
        return [values]
    if hasattr(values, "spec"):
        return [ragged_or_tensor(values)]
    if not isinstance(values, Iterable) or not (values := list(values)):
        raise ValueError("rt_inputs may not be empty.")
    typed = next((x.dtype for x in values if _is_typed(x)), None)
    made = [ragged_or_tensor(x, None if _is_typed(x) else typed) for x in values]
    if any(x.dtype != made[0].dtype for x in made):
        raise ValueError(f"values of types {', '.join(str(x.dtype.name) for x in made)} are joined")
    return made


def _common_rank(values: Sequence[Ragged]) -> int | None:
    ranks = {x.shape.rank for x in values} - {None}
    if len(ranks) > 1:
        raise ValueError(f"Shapes {', '.join(str(x.shape) for x in values)} differ in rank")
    return ranks.pop() if ranks else None


@handles(RaggedTensor, a.concat)
def concat(values: object, axis: object, name: str | None = "concat") -> Ragged:
    """Return values one behind the other along an axis."""
    with same_graph(*(values if isinstance(values, list | tuple) else [values])):
        every = _parts(values)
        return _joined(every, axis_of(static(axis), _common_rank(every)))


def _joined(every: Sequence[Ragged], at: int) -> Ragged:
    if len(every) == 1:
        return every[0]
    levels = max(map(levels_of, every))
    if not levels and at == 0:
        return a.concat(list(every), 0)
    levels = max(levels, at)
    rank = every[0].shape.rank
    if rank is not None and at > max(map(levels_of, every)):
        deep = max(map(levels_of, every))
        return _joined_inside([with_levels(x, deep) for x in every], at, deep)

    def plan(*rows: Rows) -> Rows:
        return joined(rows, at) if at else Rows(joined_splits(rows), rows[0].places)

    counts = [x.shape._dims[0] if x.shape._dims else None for x in every]
    nrows = counts[0] if at else None
    if at == 0 and None not in counts:
        nrows = sum(n for n in counts if n is not None)
    lengths = _joined_lengths(every, at, levels)
    return planned("RaggedConcat", every, plan, levels, read=levels, nrows=nrows, lengths=lengths,
                   is_still=not at)  # fmt: skip


def _joined_lengths(every: Sequence[Ragged], at: int, levels: int) -> list[int | None]:
    """Return the length along each axis but the first, as far as it is known."""
    made: list[int | None] = []
    for axis in range(1, levels + 1):
        found = [(x.shape._dims or [None] * (levels + 1))[axis] for x in every]
        known = [n for n in found if n is not None]
        if len(known) < len(found):
            made.append(None)
        elif axis == at:
            made.append(sum(known))
        else:
            made.append(known[0] if len(set(known)) == 1 else None)
    return made


def _joined_inside(every: Sequence[Ragged], at: int, levels: int) -> Ragged:
    """Join along an axis behind the last level of rows, which have to be the same."""
    first = every[0]
    if not isinstance(first, RaggedTensor):
        return a.concat(list(every), at)

    flats = [x.flat_values if isinstance(x, RaggedTensor) else x for x in every]
    splits = same_rows([x for x in every if isinstance(x, RaggedTensor)])
    lengths = _joined_lengths(every, -1, levels)
    return assembled(a.concat(flats, at - levels), splits, lengths)


def same_rows(
    every: Sequence[RaggedTensor], wrong: str = "Inputs must have identical ragged splits"
) -> Sequence[TfTensor]:
    """Return the splits of values that have the same ones, or raise."""
    first, levels = every[0], every[0].ragged_rank
    if all(first.is_cut_like(x) for x in every):
        return first.nested_row_splits
    number = np.dtype(splits_type(every))

    def compute(*splits: Array) -> Sequence[Array]:
        mine = splits[:levels]
        for at in range(levels, len(splits), levels):
            for one, two in zip(mine, splits[at : at + levels], strict=True):
                if len(one) != len(two) or (one != two).any():
                    raise InvalidArgumentError(wrong)
        return [x.astype(number) for x in mine]

    kind = kinds.i32 if number == np.int32 else kinds.i64
    sizes = [x.shape._dims[0] if x.shape._dims else None for x in first.nested_row_splits]
    given = [splits for x in every for splits in x.nested_row_splits]
    return computed("SameRows", compute, given, [unknown(kind, n) for n in sizes])


@handles(RaggedTensor, a.stack)
def stack(values: object, axis: object = 0, name: str | None = "stack") -> Ragged:
    """Return values as parts along a new axis."""
    at = static(axis)
    with same_graph(*(values if isinstance(values, list | tuple) else [values])):
        every = _parts(values)
        rank = _common_rank(every)
        place = axis_of(at, None if rank is None else rank + 1)
        levels = max(map(levels_of, every))
        if rank == 0:
            return a.stack(list(every), place)
        if not levels and rank is not None:
            every = [with_levels(x, rank - 1) for x in every]
            levels = rank - 1
        every = [with_levels(x, levels) for x in every]
        if place > levels or (place and not levels):
            parts = [expand_dims(x, place) for x in every]
            return _joined(parts, place)
        return _open(_joined([_lifted(x, place) for x in every], place), max(place, 1))


def _open(x: Ragged, axis: int) -> Ragged:
    """Return a value of which it is not stated that rows along an axis have one length."""
    if not isinstance(x, RaggedTensor):
        return x
    lengths = x.row_sizes()[1:]
    lengths[axis - 1 : axis] = [None]
    return assembled(x.flat_values, x.nested_row_splits, lengths)


def _lifted(x: Ragged, axis: int) -> Ragged:
    """Return a value with a new axis, which is a level of rows."""
    if isinstance(x, RaggedTensor):
        return expand_dims(x, axis)
    return with_levels(a.expand_dims(x, axis), axis + 1)


@handles(RaggedTensor, a.expand_dims)
def expand_dims(input: Ragged, axis: object, name: str | None = None) -> Ragged:
    """Return values with a new axis of one."""
    x, rank = input, input.shape.rank
    if isinstance(x, TfTensor):
        return a.expand_dims(x, axis)
    with same_graph(x, axis):
        at = axis_of(static(axis), None if rank is None else rank + 1)
        levels = x.ragged_rank
        if at > levels + 1 or (at == levels + 1 and at > 1 and levels < at - 1):
            return x.with_flat_values(a.expand_dims(x.flat_values, at - levels))
        if at == levels + 1:
            return x.with_flat_values(a.expand_dims(x.flat_values, 1))

        def plan(rows: Rows) -> Rows:
            return expanded(rows, at)

        known = x.row_sizes()
        lengths = [*known[:at], 1, *known[at : levels + 1]][1:]
        lengths = lengths if at else [known[0], *known[1 : levels + 1]]
        nrows = known[0] if at else 1
        return planned("RaggedExpandDims", [x], plan, levels + 1, nrows=nrows, lengths=lengths,
                       is_still=True)  # fmt: skip


@handles(RaggedTensor, a.squeeze)
def squeeze(input: RaggedTensor, axis: object = None, name: str | None = None) -> Ragged:
    """Return values without axes of one."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    rank, known = input.shape.rank, static(axis)
    if not isinstance(known, int | list | tuple):
        raise TypeError("Axis must be a list or tuple of integers.")
    every = known if isinstance(known, list | tuple) else [known]
    axes = sorted({axis_of(n, rank) for n in every}, reverse=True)
    x: Ragged = input
    levels = input.ragged_rank
    inner = [n - levels for n in axes if n > levels]
    if inner:
        x = input.with_flat_values(a.squeeze(input.flat_values, inner))
    for each in [n for n in axes if n <= levels]:
        x = _squeezed(x, each)
    return x


def _squeezed(x: Ragged, at: int) -> Ragged:
    if isinstance(x, TfTensor):
        return a.squeeze(x, [at])

    def plan(rows: Rows) -> Rows:
        return _without(rows, at)

    known = x.row_sizes()
    if known[at] not in (1, None):
        raise InvalidArgumentError(f"Can not squeeze dim[{at}], expected 1, got {known[at]}")
    left = [n for i, n in enumerate(known) if i != at]
    return planned("RaggedSqueeze", [x], plan, x.ragged_rank - 1, nrows=left[0], lengths=left[1:])


def _without(rows: Rows, at: int) -> Rows:
    if at == 0:
        if len(rows) != 1:
            raise InvalidArgumentError(f"Can not squeeze dim[0], expected 1, got {len(rows)}")
        return rows.below
    if at == 1:
        if (rows.counts != 1).any():
            raise InvalidArgumentError("Can not squeeze a dimension whose rows are not 1 long")
        return rows.below
    return _without(rows.below, at - 1).over(rows.splits[:1])


@handles(RaggedTensor, a.tile)
def tile(input: RaggedTensor, multiples: object, name: str | None = None) -> Ragged:
    """Return values several times along each axis."""
    with same_graph(input, multiples):
        times = convert(multiples)
        levels, rank = input.ragged_rank, input.shape.rank
        known = static(times)
        if isinstance(known, list) and rank is not None and len(known) != rank:
            raise ValueError(f"multiples has {len(known)} numbers for {rank} axes")

        def plan(rows: Rows, counts: Array) -> Rows:
            for axis in range(levels, -1, -1):
                rows = _repeated(rows, axis, int(counts[axis]))
            return rows

        lengths = input.row_sizes()
        if isinstance(known, list):
            lengths = [None if n is None else n * t for n, t in zip(lengths, known, strict=False)]
        else:
            lengths = [None] * (levels + 1)
        made = planned(
            "RaggedTile", [input], plan, levels, more=[times], nrows=lengths[0],
            lengths=lengths[1:],
        )  # fmt: skip
        assert isinstance(made, RaggedTensor), "it has rows"
        if rank is not None and rank == levels + 1:
            return made
        inner = a.concat([convert([1], times.dtype), times[levels + 1 :]], 0)
        return made.with_flat_values(a.tile(made.flat_values, inner))


def _repeated(rows: Rows, axis: int, times: int) -> Rows:
    """Return rows several times along an axis."""
    if times == 0 and axis == 0:
        return rows.take(np.zeros(0, np.int64))
    if times == 0:
        if axis == 1:
            return rows.below.take(np.zeros(0, np.int64)).above(np.zeros(len(rows), np.int64))
        return _repeated(rows.below, axis - 1, 0).over(rows.splits[:1])
    return joined([rows] * times, axis)


@handles(RaggedTensor, a.reverse)
def reverse(tensor: RaggedTensor, axis: object, name: str | None = None) -> Ragged:
    """Return values backwards along axes."""
    rank, levels = tensor.shape.rank, tensor.ragged_rank
    known = static(axis)
    if not isinstance(known, list | tuple) or not all(isinstance(n, int) for n in known):
        raise TypeError(f"`axis` must be a list of int or a constant tensor, found {axis!r}")
    axes = {axis_of(n, rank, f"axis[{i}]") for i, n in enumerate(known)}
    with same_graph(tensor):

        def plan(rows: Rows) -> Rows:
            for each in sorted(axes):
                rows = reversed_along(rows, each) if each <= levels else rows
            return rows

        dims = tensor.row_sizes()
        made = planned(
            "RaggedReverse", [tensor], plan, levels, nrows=dims[0], lengths=dims[1 : levels + 1]
        )
        assert isinstance(made, RaggedTensor), "it has rows"
        inner = [n - levels for n in sorted(axes) if n > levels]
        return made.with_flat_values(a.reverse(made.flat_values, inner)) if inner else made


def boolean_mask(data: object, mask: object, name: str | None = None) -> Ragged:
    """Return what a mask keeps: rows, or parts of them."""
    with same_graph(data, mask):
        x, test = ragged_or_tensor(data), ragged_or_tensor(mask, "bool")
        rank, depth = x.shape.rank, test.shape.rank
        if depth is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if depth == 0:
            raise ValueError("mask cannot be scalar.")
        if rank is not None and depth > rank:
            raise ValueError(f"the mask of rank {depth} is for data of rank {rank}")
        if test.dtype != "bool":
            raise ValueError(
                f"Tensor conversion requested dtype bool for {type(test).__name__} with dtype "
                f"{test.dtype.name}"
            )
        if not levels_of(x) and not levels_of(test):
            x.shape[:depth].assert_is_compatible_with(test.shape)
        levels = max(depth - 1, levels_of(x))
        if depth == 1 and not levels_of(x):
            return a.boolean_mask(x, test)
        flags = with_levels(test, depth - 1)
        splits = list(flags.nested_row_splits) if isinstance(flags, RaggedTensor) else []
        flat = flags.flat_values if isinstance(flags, RaggedTensor) else flags

        def plan(rows: Rows, keep: Array, *ends: Array) -> Rows:
            held = Rows(tuple(s.astype(np.int64) for s in ends), np.arange(len(keep)))
            return kept(rows, held, keep)

        known = x.shape._dims
        nrows = None if known is None or depth == 1 else known[0]
        left = max(levels, 1) if depth > 1 else levels
        return planned("RaggedMask", [x], plan, left, read=left, more=[flat, *splits], nrows=nrows)

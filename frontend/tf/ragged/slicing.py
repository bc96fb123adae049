"""Indexing of ragged tensors: rows, parts of rows, new axes."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from ....ir.op import Array
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.values import convert, static
from .moving import expand_dims
from .planning import planned
from .rows import Rows
from .tensor import OPERATIONS, Ragged, RaggedTensor

Key: TypeAlias = object
WHOLE = slice(None)


def getitem(x: RaggedTensor, key: Key) -> Ragged:
    """Return rows, or parts of them."""
    keys = list(key) if isinstance(key, tuple | list) else [key]
    if sum(each is Ellipsis for each in keys) > 1:
        raise ValueError("Multiple ellipses in slice_spec is not allowed")
    for each in keys:
        _refuse(each)
    return _outer(x, keys)


def _refuse(key: Key) -> None:
    if isinstance(key, slice):
        for part in (key.start, key.stop, key.step):
            if not (part is None or isinstance(part, int | np.integer) or hasattr(part, "spec")):
                raise TypeError(f"slice offsets must be integers or None, got {part!r}")
    elif isinstance(key, EllipsisType) or key is None:
        return
    elif not (isinstance(key, int | np.integer) or hasattr(key, "spec")):
        raise TypeError(f"Ragged __getitem__ expects a slice, a number or a tensor, got {key!r}")


def _outer(x: Ragged, keys: list[Key]) -> Ragged:
    """Index all axes from the first."""
    if not keys:
        return x
    if isinstance(x, TfTensor):
        return x[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _outer(x, _filled(x, rest))
    if first is None:
        return expand_dims(_outer(x, rest), 0)
    if isinstance(first, slice):
        return _inner(_rows(x, first), rest)
    return _outer(_row(x, first), rest)


def _filled(x: Ragged, rest: list[Key]) -> list[Key]:
    """Return keys with slices in the place of an ellipsis."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    missing = rank - sum(each is not None for each in rest)
    if missing < 0:
        raise ValueError(f"Too many indices {len(rest)} for a shape of rank {rank}")
    return [*[WHOLE] * missing, *rest]


def _inner(x: RaggedTensor, keys: list[Key]) -> Ragged:
    """Index the axes behind the first."""
    if not keys:
        return x
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        rank = x.shape.rank
        if rank is None:
            raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
        missing = rank - 1 - sum(each is not None for each in rest)
        return _inner(x, [*[WHOLE] * missing, *rest])
    if first is None:
        return expand_dims(_inner(x, rest), 1)
    if not isinstance(first, slice):
        return _column(x, first, rest)
    cut = x if first == WHOLE else _parts(x, first)
    if not rest:
        return cut
    values = cut.values
    if isinstance(values, RaggedTensor):
        return cut.with_values(_inner(values, rest))
    return cut.with_values(values[(WHOLE, *rest)])


def _lengths(x: RaggedTensor) -> list[int | None]:
    return [each.static_uniform_row_length for each in x.partitions]


def _row(x: RaggedTensor, number: Key) -> Ragged:
    """Return one row."""

    def plan(rows: Rows, at: Array) -> Rows:
        place = int(at)
        if not -len(rows) <= place < len(rows):
            raise InvalidArgumentError(
                f"slice index {place} of dimension 0 out of bounds: there are {len(rows)} rows"
            )
        return rows.take(np.array([place % len(rows)])).below

    at = convert(number, None if hasattr(number, "spec") else "int64")
    if at.shape.rank not in (0, None):
        raise ValueError(f"a row is named by a number, found a tensor of shape {at.shape}")
    lengths = _lengths(x)
    place, count = static(at), x.partitions[0].static_nrows
    if isinstance(place, int) and count is not None and place >= count:
        raise IndexError(f"row {place} of {count}")
    return planned(
        "RaggedRow", [x], plan, x.ragged_rank - 1, more=[at], nrows=lengths[0], lengths=lengths[1:]
    )


def _given(key: slice) -> tuple[list[bool], list[TfTensor]]:
    """Return which ends of a slice are named, and these."""
    parts = [key.start, key.stop, key.step]
    named = [part is not None for part in parts]
    return named, [
        convert(p, None if hasattr(p, "spec") else "int64") for p in parts if p is not None
    ]


def _as_slice(named: Sequence[bool], arrays: Sequence[Array]) -> slice:
    ends = iter(arrays)
    found = slice(*[int(next(ends)) if each else None for each in named])
    if found.step == 0:
        raise InvalidArgumentError("slice step cannot be zero")
    return found


def _rows(x: RaggedTensor, key: slice) -> RaggedTensor:
    """Return rows from one to another."""
    if key == WHOLE:
        return x
    named, ends = _given(key)
    known = [static(each) for each in ends]
    count = x.partitions[0].static_nrows
    nrows = None
    if count is not None and all(isinstance(n, int) for n in known):
        nrows = len(range(*_as_slice(named, known).indices(count)))

    def plan(rows: Rows, *arrays: Array) -> Rows:
        return rows.take(np.arange(len(rows))[_as_slice(named, arrays)])

    made = planned(
        "RaggedRows", [x], plan, x.ragged_rank, more=ends, nrows=nrows, lengths=_lengths(x)
    )
    assert isinstance(made, RaggedTensor), "it has rows"
    return made


def _parts(x: RaggedTensor, key: slice) -> RaggedTensor:
    """Return a part of each row."""
    named, ends = _given(key)
    known = [static(each) for each in ends]
    each, *rest = _lengths(x)
    if each is not None:
        fixed = all(isinstance(n, int) for n in known)
        each = len(range(*_as_slice(named, known).indices(each))) if fixed else None

    def plan(rows: Rows, *arrays: Array) -> Rows:
        cut = _as_slice(named, arrays)
        first, counts = spans(cut, rows.counts)
        starts, step = first + rows.splits[0][:-1], 1 if cut.step is None else cut.step
        offsets = Rows((), np.zeros(0, np.int64)).above(counts).offsets()
        return rows.below.take(np.repeat(starts, counts) + offsets * step).above(counts)

    made = planned(
        "RaggedParts",
        [x],
        plan,
        x.ragged_rank,
        more=ends,
        nrows=x.partitions[0].static_nrows,
        lengths=[each, *rest],
    )
    assert isinstance(made, RaggedTensor), "it has rows"
    return made


def spans(cut: slice, sizes: Array) -> tuple[Array, Array]:
    """Return where a part of rows of these sizes begins, and how long it is, as of lists.

    >>> [x.tolist() for x in spans(slice(-2, None), np.array([0, 1, 5]))]
    [[0, 0, 3], [0, 1, 2]]
    >>> [x.tolist() for x in spans(slice(None, None, -2), np.array([0, 1, 5]))]
    [[-1, 0, 4], [0, 1, 3]]
    """
    cut.indices(0)  # raises where there are no steps
    step = 1 if cut.step is None else int(cut.step)
    low, high = (np.zeros_like(sizes), sizes) if step > 0 else (np.full_like(sizes, -1), sizes - 1)

    def end(place: int | None, missing: Array) -> Array:
        if place is None:
            return missing
        return np.minimum(high, place) if place >= 0 else np.maximum(low, sizes + place)

    start = end(cut.start, low if step > 0 else high)
    stop = end(cut.stop, high if step > 0 else low)
    counts = np.maximum((stop - start + step - (1 if step > 0 else -1)) // step, 0)
    return start.astype(np.int64), counts.astype(np.int64)


def _column(x: RaggedTensor, number: Key, rest: list[Key]) -> Ragged:
    """Return one element of each row, which have one length."""
    if x.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    at = convert(number, None if hasattr(number, "spec") else "int64")

    def plan(rows: Rows, place: Array) -> Rows:
        counts, where = rows.counts, int(place)
        if len(counts) and not -counts.min() <= where < counts.min():
            raise InvalidArgumentError(f"index {where} is out of bounds of rows")
        offset = where if where >= 0 else where + counts
        return rows.below.take(rows.splits[0][:-1] + offset)

    found = planned(
        "RaggedColumn",
        [x],
        plan,
        x.ragged_rank - 1,
        more=[at],
        nrows=x.partitions[0].static_nrows,
        lengths=_lengths(x)[1:],
    )
    if isinstance(found, RaggedTensor):
        return _inner(found, rest)
    return found[(WHOLE, *rest)] if rest else found


OPERATIONS["getitem"] = getitem

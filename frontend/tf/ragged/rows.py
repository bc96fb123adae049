"""Rows of different lengths as the host knows them: where rows end, and which elements they hold.

Elements are numbers of places: what is done to rows is done to places, and gives a plan by which
elements of any type are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....codegen.serial.function import I64s, serial
from ....ir.op import Array
from ...values.run_errors import InvalidArgumentError


def splits_of(counts: Array) -> Array:
    """Return where rows of these lengths begin and end.

    >>> splits_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    made = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=made[1:])
    return made


def ranges(starts: Array, counts: Array) -> Array:
    """Return numbers that count up from each start, one row behind the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    made = np.empty(int(counts.sum()), np.int64)
    _count_up(np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(counts, np.int64), made)
    return made


def steps_up(starts: Array, steps: Array, counts: Array, dtype: np.dtype[np.generic]) -> Array:
    """Return integers that go from each start by steps of a length, one row behind the other.

    >>> steps_up(*map(np.array, ([5, 0], [-1, 2], [2, 3])), np.dtype(np.int32)).tolist()
    [5, 4, 0, 2, 4]
    """
    made = np.empty(int(counts.sum()), dtype)
    _step_up(starts, steps, counts, made)
    return made


@serial
def _step_up(starts: I64s, steps: I64s, counts: I64s, made: Array) -> int:
    at = 0
    for row in range(len(counts)):
        x = starts[row]
        for i in range(counts[row]):
            made[at + i] = x
            x += steps[row]
        at += counts[row]
    return at


@serial
def _count_up(starts: I64s, counts: I64s, made: I64s) -> int:
    at = 0
    for row in range(len(counts)):
        for i in range(counts[row]):
            made[at + i] = starts[row] + i
        at += counts[row]
    return at


@serial
def _ends_of(splits: I64s, order: I64s, made: I64s) -> int:
    """Say where rows end that are taken by their numbers; return where the last one does."""
    at = 0
    made[0] = 0
    for i in range(len(order)):
        at += splits[order[i] + 1] - splits[order[i]]
        made[i + 1] = at
    return at


@serial
def _lay(places: I64s, splits: I64s, order: I64s, made: I64s) -> int:
    """Lay rows of places one behind the other, by their numbers."""
    at = 0
    for i in range(len(order)):
        for place in range(splits[order[i]], splits[order[i] + 1]):
            made[at] = places[place]
            at += 1
    return at


def indices_of(splits: Sequence[Array]) -> Array:
    """Return where each thing stands that rows hold: the number of its row, and its place in it.

    >>> indices_of([np.array([0, 2, 2, 3])]).tolist()
    [[0, 0], [0, 1], [2, 0]]
    """
    made = np.arange(len(splits[0]) - 1)[:, None]
    for each in splits:
        outer, width = made, made.shape[1]
        made = np.empty((int(each[-1]), width + 1), np.int64)
        _deepen(outer, width, np.ascontiguousarray(each, np.int64), made)
    return made


@serial
def _deepen(outer: I64s, width: int, splits: I64s, made: I64s) -> int:
    """Write the indices of what rows hold behind those of the rows."""
    at = 0
    for row in range(len(splits) - 1):
        for place in range(splits[row + 1] - splits[row]):
            for k in range(width):
                made[at + k] = outer[row * width + k]
            made[at + width] = place
            at += width + 1
    return at


@serial
def _number_places(splits: I64s, made: I64s) -> int:
    """Write the place of each thing in its row; splits that nobody has checked may be too many."""
    at = 0
    for row in range(len(splits) - 1):
        for place in range(min(splits[row + 1] - splits[row], len(made) - at)):
            made[at] = place
            at += 1
    return at


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows: the splits of each level from the outermost one, and the places they hold."""

    splits: tuple[Array, ...]
    places: Array

    def __len__(self) -> int:
        return len(self.splits[0]) - 1 if self.splits else len(self.places)

    @property
    def below(self) -> Rows:
        """Return what the rows hold, one behind the other."""
        return Rows(self.splits[1:], self.places)

    @property
    def counts(self) -> Array:
        """Return the lengths of the rows."""
        made: Array = np.diff(self.splits[0])
        return made

    def above(self, counts: Array) -> Rows:
        """Return rows of these lengths that hold what there is."""
        return Rows((splits_of(counts), *self.splits), self.places)

    def over(self, splits: Sequence[Array]) -> Rows:
        """Return rows whose splits are given that hold what there is."""
        return Rows((*splits, *self.splits), self.places)

    def take(self, order: Array) -> Rows:
        """Return rows by their numbers."""
        if not self.splits:
            return Rows((), self.places[order])
        outer, order = self.splits[0], np.ascontiguousarray(order, np.int64)
        ends = np.empty(len(order) + 1, np.int64)
        made = np.empty(_ends_of(outer, order, ends), np.int64)
        if len(self.splits) == 1:
            _lay(self.places, outer, order, made)
            return Rows((ends,), made)
        _lay(np.arange(outer[-1]), outer, order, made)
        return self.below.take(made).over((ends,))

    def shifted(self, by: int) -> Rows:
        """Return rows of other places."""
        return Rows(self.splits, self.places + by)

    def row_numbers(self) -> Array:
        """Return for each thing that the rows hold the number of its row."""
        ends = self.splits[0]
        count = int(ends[-1])  # counting beginnings up takes half the time of a repetition
        return np.cumsum(np.bincount(ends[1:-1], minlength=count)[:count], dtype=np.int64)

    def offsets(self) -> Array:
        """Return for each thing that the rows hold its place in its row."""
        splits = np.ascontiguousarray(self.splits[0], np.int64)
        made = np.empty(int(splits[-1]), np.int64)
        _number_places(splits, made)
        return made

    def numbered(self) -> tuple[Array, Array]:
        """Return for each thing that the rows hold the number of its row, and its place in it."""
        numbers = self.row_numbers()
        return numbers, np.arange(len(numbers), dtype=np.int64) - self.splits[0][numbers]

    def extents(self) -> list[int]:
        """Return the largest extent along each axis."""
        most = [int(np.diff(s).max(initial=0)) for s in self.splits]
        return [len(self), *most]


def numbered(splits: Sequence[Array], count: int) -> Rows:
    """Return rows whose places are numbered."""
    wide = tuple(s.astype(np.int64, copy=False) for s in splits)
    return Rows(wide, np.arange(count, dtype=np.int64))


def uniform(dims: Sequence[int], places: Array) -> Rows:
    """Return rows of one length along each axis."""
    splits = []
    for axis in range(1, len(dims)):
        outer = int(np.prod(dims[:axis], dtype=np.int64))
        splits.append(np.arange(outer + 1, dtype=np.int64) * dims[axis])
    return Rows(tuple(splits), places)


def joined_splits(every: Sequence[Rows]) -> tuple[Array, ...]:
    """Return the splits of rows one behind the other."""
    return tuple(
        splits_of(np.concatenate([np.diff(x.splits[i]) for x in every]))
        for i in range(len(every[0].splits))
    )


def joined(every: Sequence[Rows], axis: int) -> Rows:
    """Return rows one behind the other along an axis; outer axes agree."""
    first = every[0]
    if axis == 0:
        return Rows(joined_splits(every), np.concatenate([x.places for x in every]))
    if any(len(x) != len(first) for x in every):
        raise InvalidArgumentError(
            f"Input tensors have incompatible shapes: {[len(x) for x in every]} rows are joined"
        )
    if axis == 1:
        total = np.sum([x.counts for x in every], axis=0)
        number = len(first)
        order = np.arange(number * len(every)).reshape(len(every), number).T.ravel()
        return joined(every, 0).take(order).below.above(total)
    if any((x.splits[0] != first.splits[0]).any() for x in every):
        raise InvalidArgumentError("Inputs must have identical ragged splits")
    return joined([x.below for x in every], axis - 1).over(first.splits[:1])


def expanded(rows: Rows, axis: int) -> Rows:
    """Return rows with a new axis of one."""
    if axis == 0:
        return rows.above(np.array([len(rows)], np.int64))
    if axis == 1:
        return rows.above(np.ones(len(rows), np.int64))
    return expanded(rows.below, axis - 1).over(rows.splits[:1])


def reversed_along(rows: Rows, axis: int) -> Rows:
    """Return rows backwards along an axis."""
    if axis == 0:
        return rows.take(np.arange(len(rows))[::-1])
    if axis == 1:
        order = np.repeat(rows.splits[0][:-1] + rows.splits[0][1:] - 1, rows.counts)
        return rows.below.take(order - np.arange(len(order))).over(rows.splits[:1])
    return reversed_along(rows.below, axis - 1).over(rows.splits[:1])


def kept(rows: Rows, mask: Rows, keep: Array) -> Rows:
    """Return what a mask keeps; its rows are cut as those of the data, in so far as it has some.

    Axes of the mask but the first stay as rows.
    """
    if not mask.splits:
        if len(keep) != len(rows):
            raise InvalidArgumentError(
                f"the mask has {len(keep)} rows, expected those of the data: {len(rows)}"
            )
        return rows.take(np.flatnonzero(keep))
    if len(mask) != len(rows) or (mask.splits[0] != rows.splits[0]).any():
        raise InvalidArgumentError(
            "Inputs must have identical ragged splits: the mask's rows are not as long as those "
            "of the data"
        )
    if len(mask.splits) > 1:
        return kept(rows.below, mask.below, keep).over(rows.splits[:1])
    total = np.zeros(len(rows), np.int64)
    np.add.at(total, rows.row_numbers(), keep.astype(np.int64))
    return kept(rows.below, mask.below, keep).above(total)

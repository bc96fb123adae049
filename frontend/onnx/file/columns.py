"""Fields of very many records of a file at once, as columns of numbers, without protobuf.

    node { input: "x" input: "w0" output: "y0" op_type: "MatMul" }     records 0 0 0 0 1 1 1 1 ...
    node { input: "y0" input: "w1" output: "y1" op_type: "MatMul" } => tags    i i o t i i o t ...
    ...                                                                starts  2 5 9 ...

A step reads the next field of all records that have one. What is not written as all writers do it
has no columns: protobuf says what of it is right.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...files.beside import Bytes

Integers = NDArray[np.int64]
VARINT, RECORD = 0, 2
Text = TypeVar("Text", bytes, memoryview)
NEAR = 8
"""How many times as far apart values may be as there are of them to be looked up in a table."""
LONGEST = 5
"""Bytes of a number: a length is below 32 GiB."""


class Columns(NamedTuple):
    """Fields of records, those of one record in their order one behind the other."""

    records: Integers
    """To which record each belongs."""
    tags: Integers
    """Number and wire type, as they are written."""
    starts: Integers
    ends: Integers
    """Where the content lies."""
    values: Integers
    """Of a number what it is, of others how long they are."""

    def where(self, chosen: NDArray[np.bool_]) -> Columns:
        """Return some of the fields."""
        return Columns(*(column[chosen] for column in self))

    def texts(self, data: Text) -> list[Text]:
        """Return the contents of all."""
        rows = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [data[start:end] for start, end in rows]

    def not_ascii(self, data: Bytes) -> Columns:
        """Return those whose content has other letters than those of ASCII."""
        others = np.flatnonzero(data >= 0x80)
        first, behind = (np.searchsorted(others, at) for at in (self.starts, self.ends))
        return self.where(first != behind)

    def counts(self, records: int) -> Integers:
        """Return how many of the fields each of so many records has."""
        return np.bincount(self.records, minlength=records).astype(np.int64)


def columns_of(data: Bytes, starts: Integers, ends: Integers) -> Columns | None:
    """Return the fields of the records that lie in some bytes; None where one is out of order."""
    records = np.flatnonzero(starts < ends)
    places, limits = starts[records], ends[records]
    found: list[tuple[Integers, ...]] = [(np.empty(0, np.int64),) * 5]
    while len(records):
        tags = data[places].astype(np.int64)
        wires = tags & 7
        numbers = _numbers(data, places + 1, limits)
        if numbers is None or np.any((tags >= 0x80) | (tags < 8)):
            return None
        values, first = numbers
        stops = np.where(wires == RECORD, first + values, first)
        if np.any((stops > limits) | ((wires != RECORD) & (wires != VARINT))):
            return None
        found.append((records, tags, first, stops, values))
        left = stops < limits
        records, places, limits = records[left], stops[left], limits[left]
    every = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(every[0], kind="stable")
    return Columns(*(column[order] for column in every))


def _numbers(data: Bytes, places: Integers, ends: Integers) -> tuple[Integers, Integers] | None:
    """Return the numbers that lie at some places, and where they end; None where one does not."""
    values, rows = np.zeros(len(places), np.int64), np.arange(len(places))
    places = places.copy()
    for index in range(LONGEST):
        if np.any(places[rows] >= ends[rows]):
            return None
        read = data[places[rows]].astype(np.int64)
        values[rows] |= (read & 0x7F) << (7 * index)
        places[rows] += 1
        rows = rows[read >= 0x80]
        if not len(rows):
            return values, places
    return None


def decoded(texts: list[bytes]) -> list[str] | None:
    """Return names as text; None where one is not UTF-8.

    >>> decoded([b"x", b"", b"w"])
    ['x', '', 'w']
    """
    try:
        found = b"\0".join(texts).decode().split("\0") if texts else []
    except UnicodeDecodeError:
        return None
    return found if len(found) == len(texts) else None


def names_at(data: Bytes, starts: Integers, ends: Integers) -> list[str] | None:
    """Return the names in some places as text; None where one is not UTF-8, or holds a zero.

    >>> names_at(np.frombuffer(b"..x.w1", np.uint8), np.array([2, 4, 6]), np.array([3, 6, 6]))
    ['x', 'w1', '']
    """
    if not len(starts):
        return []
    sizes = ends - starts
    stops = np.cumsum(sizes + 1)
    places = np.arange(stops[-1]) + np.repeat(ends + 1 - stops, sizes + 1)
    rows = data.take(places, mode="clip")
    rows[stops - 1] = 0  # what stands behind each
    try:
        found = rows.tobytes().decode().split("\0")[:-1]
    except UnicodeDecodeError:
        return None
    return found if len(found) == len(starts) else None


def rows_of(data: Bytes, starts: Integers, size: int) -> Bytes:
    """Return pieces of some bytes that are equally long, as rows.

    >>> rows_of(np.arange(9, dtype=np.uint8), np.array([1, 6]), 2).tolist()
    [[1, 2], [6, 7]]
    """
    pieces: Bytes = data[starts[:, None] + np.arange(size)]
    return pieces


def folded(numbers: Integers, records: Integers, values: Integers) -> Integers:
    """Return for each record a number that those share whose numbers and values are equal.

    >>> folded(np.array([5, 5, 5]), np.array([0, 0, 1, 2, 2]), np.array([1, 9, 1, 1, 9])).tolist()
    [1, 0, 1]
    """
    counts = np.bincount(records, minlength=len(numbers)).astype(np.int64)
    starts = np.cumsum(counts) - counts
    kinds = same(values)
    span = int(kinds.max(initial=0)) + 1
    found = same(same(numbers) * (counts.max(initial=0) + 1) + counts)
    for place in range(counts.max(initial=0)):
        rows = np.flatnonzero(counts > place)
        pairs = found[rows] * span + kinds[starts[rows] + place]
        found[rows] = int(found.max()) + 1 + same(pairs)
    return same(found)


def same(values: Integers) -> Integers:
    """Return for each value a number that equal ones share, from 0 on, in the order of values.

    >>> same(np.array([7, 3, 7])).tolist(), same(np.array([1 << 40, 3, 1 << 40])).tolist()
    ([1, 0, 1], [1, 0, 1])
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low > NEAR * len(values):
        found: Integers = np.unique(values, return_inverse=True)[1].astype(np.int64)
        return found
    places = values - low  # few numbers: those that there are can be counted instead of sorted
    are_there = np.zeros(high - low + 1, np.bool_)
    are_there[places] = True
    numbers: Integers = (np.cumsum(are_there) - 1)[places]
    return numbers

"""Sums of numbers that follow one another, each rounded as it is added, and places in them."""

from __future__ import annotations

from math import isnan

import numpy as np

from ...codegen.serial.function import F64s, I64s, rounded, serial
from ...ir.op import Array

TYPES = (np.dtype(np.float32), np.dtype(np.float64))
"""The element types of numbers that are added up here."""


STEPS = 32
"""Looking for the end of a segment takes as long as going past so many rows."""


def ends_of(ids: Array, count: int) -> Array:
    """Return behind which place each of so many segments ends, of rows that are in their order.

    >>> ends_of(np.array([0, 0, 3]), 5).tolist()
    [2, 2, 2, 3, 3]
    """
    if count * STEPS < len(ids):
        found: Array = np.searchsorted(ids, np.arange(count, dtype=ids.dtype), "right")
        return found
    ends = np.zeros(count, np.int64)
    _fill_ends(_of_known_type(ids), ends)
    return ends


def _of_known_type(ids: Array) -> Array:
    """Return numbers of segments without gaps, of 32 bits if they are, of 64 if not."""
    return np.ascontiguousarray(ids, None if ids.dtype == np.int32 else np.int64)


@serial
def _fill_ends(ids: Array, ends: I64s) -> int:
    """Write behind each row that its segment ends there, of which the last one stays.

    To ask where one ends would be as slow as segments are short: nobody guesses it. Where there are
    no rows, the segment ends with the one before.
    """
    for i in range(len(ids)):
        ends[ids[i]] = i + 1
    last = 0
    for place in range(len(ends)):
        last = max(last, ends[place])
        ends[place] = last
    return last


def is_in_order(ids: Array) -> bool:
    """Say whether no number of a row is less than the one before.

    >>> is_in_order(np.array([0, 0, 3])), is_in_order(np.array([1, 0]))
    (True, False)
    """
    return not _falls(_of_known_type(ids))


def fault_of_order(ids: Array, count: int | None = None) -> str:
    """Return what is wrong with the segments of rows, which have to be in order from 0 on.

    `count` is how many there are; if none is given, the last one says it.

    >>> fault_of_order(np.array([0, 2, 1]))
    'segment ids are not increasing'
    """
    last = int(ids[-1]) + 1 if ids.size else 1
    if count is not None and ids.size and last > count:
        return "segment ids must be < num_segments"
    if last < 1:
        return "segment ids must be >= 0"
    if not ids.size or (ids[0] >= 0 and is_in_order(ids)):
        return ""
    ends = np.append(np.flatnonzero(ids[1:] != ids[:-1]), len(ids) - 1)
    for place in ends.tolist():  # each segment is looked at when it ends
        if place + 1 < len(ids) and ids[place] > ids[place + 1]:
            return "segment ids are not increasing"
        if not 0 <= ids[place] < last:
            return (
                f"Segment id {ids[place]} out of range [0, {last}), possibly because "
                "'segment_ids' input is not sorted."
            )
    return ""


@serial
def _falls(ids: Array) -> int:
    """Count the numbers that are less than the one before: all, without a look at each."""
    count = 0
    for i in range(len(ids) - 1):
        count += ids[i + 1] < ids[i]
    return count


def sums_of(data: Array, ends: Array) -> Array:
    """Return the sum of the numbers up to each end, from the one before on."""
    made = np.empty(len(ends), data.dtype)
    _add(np.ascontiguousarray(data), np.ascontiguousarray(ends, np.int64), made)
    return made


@serial
def _add(data: Array, ends: I64s, made: Array) -> int:
    """Add up two sums at a time: each addition waits for the one before, not for the other sum."""
    at = 0
    for row in range(0, len(ends), 2):
        middle = ends[row]
        end = ends[row + 1] if row + 1 < len(ends) else middle
        one, other, both = 0.0, 0.0, max(min(middle - at, end - middle), 0)
        for i in range(both):
            one = rounded(one + data[at + i], made)
            other = rounded(other + data[middle + i], made)
        for i in range(at + both, middle):
            one = rounded(one + data[i], made)
        for i in range(middle + both, end):
            other = rounded(other + data[i], made)
        made[row], at = one, end
        if row + 1 < len(ends):
            made[row + 1] = other
    return at


def sums_of_rows(table: Array, at: Array, ids: Array, count: int) -> Array:
    """Return as many rows as are counted, each the sum of the table's rows at places of its own.

    >>> table = np.array([[1.0, 2.0], [10.0, 20.0]])
    >>> sums_of_rows(table, np.array([1, 0, 1]), np.array([0, 2, 2]), 3).tolist()
    [[10.0, 20.0], [0.0, 0.0], [11.0, 22.0]]
    """
    made = np.zeros((count, table.shape[1]), table.dtype)
    places = [np.ascontiguousarray(x, np.int64) for x in (at, ids)]
    _add_rows(np.ascontiguousarray(table), *places, made, table.shape[1])
    return made


@serial
def _add_rows(table: Array, at: I64s, ids: I64s, made: Array, width: int) -> int:
    """Add each row to its sum; no row is written down between."""
    for i in range(len(at)):
        source, to = at[i] * width, ids[i] * width
        for j in range(width):
            made[to + j] += table[source + j]
    return width


def extremes_of(data: Array, ends: Array, how: str) -> Array:
    """Return the largest ("max"), the smallest ("min") or the product ("mul") of the same numbers.

    None of them are 0, or 1. What is no number stays, and of equal ones the first does.

    >>> numbers = np.array([3.0, 1.0, 2.0])
    >>> [extremes_of(numbers, np.array([2, 2, 3]), how).tolist() for how in ("max", "min", "mul")]
    [[3.0, 0.0, 2.0], [1.0, 0.0, 2.0], [3.0, 1.0, 2.0]]
    """
    made = np.empty(len(ends), data.dtype)
    given = np.ascontiguousarray(data), np.ascontiguousarray(ends, np.int64), made
    if how == "mul":
        _multiply(*given)
    else:
        _find_most(*given, 1.0 if how == "max" else -1.0)
    return made


@serial
def _multiply(data: Array, ends: I64s, made: Array) -> int:
    """Multiply two products at a time, as `_add` adds."""
    at = 0
    for row in range(0, len(ends), 2):
        middle = ends[row]
        end = ends[row + 1] if row + 1 < len(ends) else middle
        one, other, both = 1.0, 1.0, max(min(middle - at, end - middle), 0)
        for i in range(both):
            one = rounded(one * data[at + i], made)
            other = rounded(other * data[middle + i], made)
        for i in range(at + both, middle):
            one = rounded(one * data[i], made)
        for i in range(middle + both, end):
            other = rounded(other * data[i], made)
        made[row], at = one, end
        if row + 1 < len(ends):
            made[row + 1] = other
    return at


@serial
def _find_most(data: Array, ends: I64s, made: Array, way: float) -> int:
    """Look for the largest of the numbers times 1 or -1."""
    at = 0
    for row in range(len(ends)):
        most = data[at] * way if at < ends[row] else 0.0
        for i in range(at + 1, ends[row]):
            x = data[i] * way
            most = x if x > most or isnan(x) else most
        made[row], at = most * way if at < ends[row] else 0.0, ends[row]
    return at


def places_above(chances: Array, parts: Array) -> Array:
    """Return where the chances of each row add up to more than each of some parts of them all.

    >>> places_above(np.array([[1.0, 1.0, 0.0, 2.0]]), np.array([[0.5, 0.125, 1.0]]))
    array([[3, 0, 4]])
    """
    found = np.empty(parts.shape, np.int64)
    if found.size:
        given = np.ascontiguousarray(chances), np.ascontiguousarray(parts)
        _search(*given, len(chances), np.empty(chances.shape[1]), found)
    return found


@serial
def _search(chances: F64s, parts: F64s, rows: int, sums: F64s, found: I64s) -> int:
    wanted = len(parts) // rows
    for row in range(rows):
        total = 0.0
        for i in range(len(sums)):
            total += chances[row * len(sums) + i]
            sums[i] = total
        for j in range(row * wanted, row * wanted + wanted):
            low, high, limit = 0, len(sums), parts[j] * total
            while low < high:
                middle = (low + high) // 2
                if sums[middle] > limit:
                    high = middle
                else:
                    low = middle + 1
            found[j] = low
    return rows

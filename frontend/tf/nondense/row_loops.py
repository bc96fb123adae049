"""Rows of indices gone through once, in compiled loops: whether they rise, which lie in a box."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....codegen.serial.function import I64s, serial
from ....ir.op import Array
from ....runtime.buffer import is_plain
from .numbering import number_at, numbered


def fits_loops(table: Array) -> bool:
    """Say whether a table is as loops take it: plain rows of one index at least."""
    return table.dtype == np.int64 and table.shape[1] > 0 and is_plain(table)


def order_of(indices: Array) -> Array | None:
    """Return the order in which indices increase; equal ones stay as they are. None: they do.

    >>> order_of(np.array([[1, 0], [0, 2]])), order_of(np.array([[0, 2], [1, 0]]))
    (array([1, 0]), None)
    """
    if not indices.shape[1]:
        return None
    table = np.ascontiguousarray(indices, np.int64)
    if _rises(table, table.shape[1], len(table)):
        return None
    found = numbered(table)
    if found is not None:
        return found[0][0].argsort(kind="stable")
    return np.lexsort(indices.T[::-1]).astype(np.int64)


@serial
def _rises(table: I64s, width: int, count: int) -> int:
    """Say whether no row is below the one before it."""
    for i in range(1, count):
        at = i * width
        last = at + width - 1
        while at < last and table[at] == table[at - width]:
            at += 1
        if table[at] < table[at - width]:
            return 0
    return 1


def rows_inside(indices: Array, start: Array, extents: Array) -> tuple[Array, Array]:
    """Return the rows that lie in a box, from its start on, and the places where they stood.

    >>> table = np.array([[0, 2], [1, 0], [1, 1]])
    >>> [x.tolist() for x in rows_inside(table, np.array([1, 1]), np.array([1, 5]))]
    [[[0, 0]], [2]]
    """
    if not fits_loops(indices):
        inside = ((indices >= start) & (indices < start + extents)).all(axis=1)
        return indices[inside] - start, np.flatnonzero(inside)
    made = np.empty((len(indices) + 1, indices.shape[1]), np.int64)
    place = np.empty(len(indices) + 1, np.int64)
    count = _cut(indices, start, extents, len(indices), made, place)
    return made[:count].copy(), place[:count].copy()


@serial
def _cut(table: I64s, start: I64s, extents: I64s, count: int, made: I64s, place: I64s) -> int:
    """Write the rows in a box; there is room for one more, which is written without a choice."""
    width, at = len(start), 0
    for i in range(count):
        inside = True
        for k in range(width):
            x = table[i * width + k] - start[k]
            inside = inside and x >= 0 and x < extents[k]
            made[at * width + k] = x
        place[at] = i
        at += inside
    return at


def tight(indices: Array) -> Array:
    """Return the sizes of the smallest tensor that has these indices.

    >>> tight(np.array([[0, 2], [1, 0]]))
    array([2, 3])
    """
    if not fits_loops(indices):
        return np.asarray(indices.max(axis=0, initial=-1) + 1, np.int64)
    made = np.zeros(indices.shape[1], np.int64)
    _widen(indices, len(indices), made)
    return made


@serial
def _widen(table: I64s, count: int, sizes: I64s) -> int:
    """Let sizes be above each index."""
    width = len(sizes)
    for k in range(width):
        most = sizes[k]
        for i in range(count):
            most = max(most, table[i * width + k] + 1)
        sizes[k] = most
    return width


def reshaped(indices: Array, sizes: Sequence[int], target: Sequence[int]) -> Array | None:
    """Return where indices stand in as many elements of another shape; None: some are not in it.

    >>> reshaped(np.array([[0, 2], [1, 0]]), [2, 3], [6])
    array([[2],
           [3]])
    """
    if not fits_loops(indices) or not target or math.prod(sizes) >= 1 << 62:
        return None
    made = np.empty((len(indices), len(target)), np.int64)
    ends = np.array(sizes, np.int64), np.array(target, np.int64)
    return made if _reshape(indices, *ends, len(indices), made) else None


@serial
def _reshape(table: I64s, sizes: I64s, target: I64s, count: int, made: I64s) -> int:
    """Write the indices in another shape; say whether all are in the first one."""
    width, wide = len(sizes), len(target)
    for i in range(count):
        number = number_at(table, i * width, sizes)
        if number < 0:
            return 0
        at = (i + 1) * wide - 1
        for _ in range(wide - 1):
            size = target[at - i * wide]
            made[at] = number % size
            number = number // size
            at -= 1
        made[at] = number
    return 1


def rows_filled(indices: Array, count: int) -> tuple[Array, Array | None, Array] | int:
    """Return indices with one more in each row without any, in the order of rows; or what is wrong.

    With them come their places, of those that are new the one behind all (None: all stay where
    they are), and which rows had none. What is wrong is the place of an index that is in no row.

    >>> [x.tolist() for x in rows_filled(np.array([[2, 5], [0, 1]]), 3)]
    [[[0, 1], [1, 0], [2, 5]], [1, 2, 0], [False, True, False]]
    >>> rows_filled(np.array([[0, 1], [3, 5]]), 3)
    1
    """
    table = np.ascontiguousarray(indices)
    lengths = np.zeros(count, np.int64)
    wrong = _count_in_rows(table, table.shape[1], len(table), lengths)
    if wrong >= 0:
        return wrong
    is_empty = lengths == 0
    if wrong == RISES and not is_empty.any():
        return indices, None, is_empty
    lengths += is_empty
    ends = lengths.cumsum()
    total = int(ends[-1]) if count else 0
    made = np.zeros((total, table.shape[1]), np.int64)
    place = np.full(total, len(table))
    _fill_rows(table, table.shape[1], len(table), ends - lengths, made, place)
    made[(ends - lengths)[is_empty], 0] = np.flatnonzero(is_empty)
    return made, place, is_empty


RISES, FALLS = -1, -2
"""What is said of indices that are all in rows: whether the rows are in order."""


@serial
def _count_in_rows(table: I64s, width: int, count: int, lengths: I64s) -> int:
    """Count the indices of each row; return the place of one that is in none, or their order."""
    before, found = 0, RISES
    for i in range(count):
        row = table[i * width]
        if row < 0 or row >= len(lengths):
            return i
        found = FALLS if row < before else found
        lengths[row] += 1
        before = row
    return found


@serial
def _fill_rows(table: I64s, width: int, count: int, begins: I64s, made: I64s, place: I64s) -> int:
    """Write each index to the next place of its row; the places move on."""
    for i in range(count):
        row = table[i * width]
        at = begins[row]
        begins[row] = at + 1
        place[at] = i
        for k in range(width):
            made[at * width + k] = table[i * width + k]
    return count


def places_of(flat: Array, sizes: Sequence[int]) -> Array:
    """Return the indices of rising numbers of elements among all of a size.

    >>> places_of(np.array([2, 3]), [2, 3])
    array([[0, 2],
           [1, 0]])
    """
    made = np.empty((len(flat), len(sizes)), np.int64)
    if sizes:
        _places(flat, np.array(sizes, np.int64), made)
    return made


@serial
def _places(flat: I64s, sizes: I64s, made: I64s) -> int:
    """Write the indices; those of all axes but the last are worked out where they change only."""
    width = len(sizes)
    inner, end = sizes[width - 1], 0
    for i in range(len(flat)):
        if flat[i] >= end:
            number = flat[i] // inner
            end = (number + 1) * inner
            at = (i + 1) * width - 2
            for k in range(width - 1):
                size = sizes[width - 2 - k]
                made[at - k] = number % size
                number = number // size
        else:
            for k in range(i * width, (i + 1) * width - 1):
                made[k] = made[k - width]
        made[(i + 1) * width - 1] = flat[i] - end + inner
    return width


def interlaced(one: Array, two: Array) -> tuple[Array, Array, Array]:
    """Return where the rows of two tables, both in order, stand in one of both; and that one.

    A row that both have stands there once. What is not in order stays as it is: the smaller of
    the two next ones comes first.

    >>> found = interlaced(np.array([[0, 2], [1, 0]]), np.array([[0, 2], [0, 3]]))
    >>> [x.tolist() for x in found]
    [[0, 2], [0, 1], [[0, 2], [0, 3], [1, 0]]]
    """
    one, two = (np.ascontiguousarray(x, np.int64) for x in (one, two))
    made = np.empty((len(one) + len(two), one.shape[1]), np.int64)
    first, second = np.empty(len(one), np.int64), np.empty(len(two), np.int64)
    count = _interlace(one, two, one.shape[1], first, second, made)
    return first, second, made if count == len(made) else made[:count].copy()


@serial
def _interlace(one: I64s, two: I64s, width: int, first: I64s, second: I64s, made: I64s) -> int:
    """Write where the rows stand, and the rows; what is not their place is written over later."""
    i, j, at = 0, 0, 0
    while i < len(first) and j < len(second):
        x, y, last = i * width, j * width, i * width + width - 1
        while x < last and one[x] == two[y]:
            x += 1
            y += 1
        left, both = one[x] <= two[y], one[x] == two[y]
        x, y = i * width, j * width
        for k in range(width):
            made[at * width + k] = one[x + k] if left else two[y + k]
        first[i], second[j] = at, at
        i += left
        j += 1 - left + both
        at += 1
    for rest in range(i, len(first)):
        for k in range(width):
            made[at * width + k] = one[rest * width + k]
        first[rest] = at
        at += 1
    for rest in range(j, len(second)):
        for k in range(width):
            made[at * width + k] = two[rest * width + k]
        second[rest] = at
        at += 1
    return at

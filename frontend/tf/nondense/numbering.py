"""Indices of elements as one number each, which numpy sorts and compares far faster than rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....codegen.serial.function import I64s, U32s, serial
from ....ir.op import Array
from ....runtime.buffer import is_plain

MOST = 1 << 62
"""So many places can be told apart by a number."""


THIN = 8
"""Up to so many places for each row are looked through in order, instead of sorting the rows."""


def largest(table: Array) -> list[int] | None:
    """Return the largest number of each column, -1 of none; None: some are negative.

    >>> largest(np.array([[0, 2], [1, 0]])), largest(np.array([[-1]]))
    ([1, 2], None)
    """
    if not len(table):
        return [-1] * table.shape[1]
    plain = table.astype(np.int64, copy=False).view(np.uint64)  # of which -1 is the largest
    found = [int(np.maximum.reduce(plain[:, i])) for i in range(table.shape[1])]
    return found if all(x < 1 << 63 for x in found) else None


def is_inside(table: Array, sizes: Sequence[int]) -> bool:
    """Say whether the numbers of each column are at least 0 and below a size.

    >>> is_inside(np.array([[0, 2], [1, 0]]), [2, 3]), is_inside(np.array([[0, 2]]), [2, 2])
    (True, False)
    """
    found = largest(table)
    return found is not None and all(x < n for x, n in zip(found, sizes, strict=True))


def in_order(table: Array, sizes: Sequence[int]) -> Array:
    """Return the number of each row among all rows of a size, which they are inside of."""
    number = np.zeros(len(table), np.int64) if not sizes else table[:, 0].astype(np.int64)
    for column in range(1, len(sizes)):
        number *= sizes[column]
        number += table[:, column]
    return number


def numbers_inside(
    table: Array, sizes: Sequence[int], axes: Sequence[int] | None = None
) -> Array | None:
    """Return the number of each row among all of a size, None if some are not among them.

    Only some columns count if `axes` says which; the sizes are theirs.

    >>> numbers_inside(np.array([[0, 2], [1, 0]]), [2, 3])
    array([2, 3])
    >>> numbers_inside(np.array([[0, 2], [1, 0]]), [3], [1])
    array([2, 0])
    """
    columns = range(table.shape[1]) if axes is None else axes
    if not _is_counted_in_a_loop(table, columns, sizes):
        table = table if axes is None else table[:, axes]
        fits = math.prod(sizes) <= MOST and is_inside(table, sizes)
        return in_order(table, sizes) if fits else None
    number = np.empty(len(table), np.int64)
    ends = np.array([x for pair in zip(columns, sizes, strict=True) for x in pair], np.int64)
    return number if _count_inside(table, table.shape[1], ends, number) else None


def numbers_rising(table: Array, sizes: Sequence[int]) -> Array | None:
    """Return the number of each row among all of a size; None unless they rise and are inside.

    >>> numbers_rising(np.array([[0, 2], [1, 0]]), [2, 3])
    array([2, 3])
    >>> numbers_rising(np.array([[1, 0], [1, 0]]), [2, 3])
    """
    if not _is_counted_in_a_loop(table, range(table.shape[1]), sizes):
        number = numbers_inside(table, sizes)
        return number if number is not None and (number[1:] > number[:-1]).all() else None
    number = np.empty(len(table), np.int64)
    return number if _count_rising(table, np.array(sizes, np.int64), number) else None


def is_put_in_a_loop(table: Array, values: Array, sizes: Sequence[int]) -> bool:
    """Say whether `put_rising` takes these: words for an array that is not far larger."""
    are_words = values.dtype != object and values.itemsize == 4 and is_plain(values)
    is_filled = min(sizes, default=0) >= 0 and math.prod(sizes) <= THINNEST * len(values)
    fits = are_words and is_filled and len(values) == len(table)
    return fits and _is_counted_in_a_loop(table, range(table.shape[1]), sizes)


def put_rising(table: Array, values: Array, made: Array) -> bool:
    """Write words to the places that the rows of a table say; False unless they rise inside."""
    sizes, words = np.array(made.shape, np.int64), made.reshape(-1).view(np.uint32)
    return bool(_put_rising(table, sizes, values.view(np.uint32), words))


THINNEST = 64
"""An array of which fewer elements than one of so many is given is made when they are known to fit.
"""


def _is_counted_in_a_loop(table: Array, columns: Sequence[int], sizes: Sequence[int]) -> bool:
    """Say whether rows are gone through once, instead of column by column."""
    fits = table.dtype == np.int64 and is_plain(table) and len(columns) == len(sizes)
    return fits and math.prod(sizes) <= MOST


def number_at(table: I64s, at: int, sizes: I64s) -> int:
    """Return the number of the row that begins at a place among all of a size; -1 if outside."""
    found = 0
    for k in range(len(sizes)):
        x = table[at + k]
        if x < 0 or x >= sizes[k]:
            return -1
        found = found * sizes[k] + x
    return found


@serial
def _put_rising(table: I64s, sizes: I64s, values: U32s, made: U32s) -> int:
    """Write values to their places; say whether all rows rise and are inside."""
    width, last = len(sizes), -1
    for i in range(len(values)):
        found = number_at(table, i * width, sizes)
        if found <= last:
            return 0
        made[found], last = values[i], found
    return 1


@serial
def _count_inside(table: I64s, width: int, ends: I64s, number: I64s) -> int:
    """Write the number of each row; say whether all are inside of each second of the `ends`.

    What is before an end is the column that has to be inside of it.
    """
    for i in range(len(number)):
        found = 0
        for k in range(0, len(ends), 2):
            x = table[i * width + ends[k]]
            if x < 0 or x >= ends[k + 1]:
                return 0
            found = found * ends[k + 1] + x
        number[i] = found
    return 1


@serial
def _count_rising(table: I64s, sizes: I64s, number: I64s) -> int:
    """Write the number of each row; say whether all rise and are inside."""
    width, last = len(sizes), -1
    for i in range(len(number)):
        found = number_at(table, i * width, sizes)
        if found <= last:
            return 0
        number[i], last = found, found
    return 1


def numbered(*tables: Array) -> tuple[list[Array], list[int]] | None:
    """Return a number for each row of tables, ordered as the rows are, and the sizes of columns.

    None: there are too many, or some are negative.

    >>> numbered(np.array([[0, 2], [1, 0]]), np.array([[1, 1]]))
    ([array([2, 3]), array([4])], [2, 3])
    """
    ends = [largest(x) for x in tables]
    known = [x for x in ends if x is not None]
    if len(known) < len(ends):
        return None
    sizes = [max(column) + 1 for column in zip(*known, strict=True)]
    if math.prod(sizes) > MOST:
        return None
    return [in_order(x, sizes) for x in tables], sizes


def of_numbers(numbers: Array, sizes: Sequence[int]) -> Array:
    """Return the rows that have these numbers.

    >>> of_numbers(np.array([2, 4]), [2, 3]).tolist()
    [[0, 2], [1, 1]]
    """
    made = np.empty((len(numbers), len(sizes)), np.int64)
    for column in range(len(sizes) - 1, 0, -1):
        numbers, made[:, column] = np.divmod(numbers, sizes[column])
    if sizes:
        made[:, 0] = numbers
    return made


def different(table: Array) -> tuple[Array, Array]:
    """Return the different rows of a table in order, and which one each row is.

    >>> [x.tolist() for x in different(np.array([[1, 0], [0, 5], [1, 0]]))]
    [[[0, 5], [1, 0]], [1, 0, 1]]
    """
    found = numbered(table)
    if found is None:
        there, place = np.unique(table, axis=0, return_inverse=True)
        return there, place.reshape(-1).astype(np.int64)
    [number], sizes = found
    if (number[1:] >= number[:-1]).all():
        fresh = np.ones(len(number), bool)
        np.not_equal(number[1:], number[:-1], out=fresh[1:])
        return table[fresh], np.cumsum(fresh) - 1
    if math.prod(sizes) <= THIN * len(number):
        is_there = np.zeros(math.prod(sizes), bool)
        is_there[number] = True
        return of_numbers(np.flatnonzero(is_there), sizes), (np.cumsum(is_there) - 1)[number]
    each, place = np.unique(number, return_inverse=True)
    return of_numbers(each, sizes), place.reshape(-1).astype(np.int64)

"""The distinct elements of few numbers, or slices of few: found in a loop instead of by sorting.

And of many as they come, by a table; and rows by numbers below some count: neither needs sorting.
"""

from __future__ import annotations

from itertools import pairwise
from math import isnan

import numpy as np

from ...codegen.serial.function import I32s, I64s, U32s, U64s, serial
from ...ir.op import Array
from ...ir.ops.selecting import Unique
from .text_loops import FACTOR, MASK

MOST, FEW = 1 << 14, 1 << 7
"""So many numbers at most are looked at in a loop, and so many distinct ones kept in order."""


def distinct(
    x: Array, *, sizes: object = (), axis: int | None = None, sorted: bool = True
) -> list[Array]:
    """Return what `gv.unique` does."""
    del sizes
    found = None
    if x.size <= MOST and x.dtype.kind in "biuf" and x.dtype != np.uint64:
        one = _few(x.ravel(), is_sorted=sorted) if axis is None else None
        found = one if axis is None else _few_slices(x, axis, is_sorted=sorted)
    return [*Unique.evaluate(x, axis=axis, sorted=sorted)] if found is None else found


def _few(x: Array, *, is_sorted: bool) -> list[Array] | None:
    """Return the same of a row of numbers; None where too many of them are distinct."""
    is_float = x.dtype.kind == "f"
    keys = x.astype(np.float64 if is_float else np.int64)
    most = min(FEW, len(x))
    place, made = np.empty(len(x), np.int64), np.empty(2 * most, np.int64)
    given = (
        keys,
        int(is_sorted),
        np.empty(most, keys.dtype),
        np.empty(4 * most, np.int64),
        place,
        made,
    )
    many = _number(*given)
    if many < 0:
        return None
    first = made[:many].copy()
    return [x[first], first, place, made[most : most + many].copy()]


def _few_slices(x: Array, axis: int, *, is_sorted: bool) -> list[Array] | None:
    """Return the same of the slices along an axis; None where too many of them are distinct."""
    rows = x.swapaxes(0, axis) if axis < 2 else np.moveaxis(x, axis, 0)
    is_float = x.dtype.kind == "f"
    keys = np.ascontiguousarray(rows, np.float64 if is_float else np.int64)
    count = len(keys)
    most = min(FEW, count)
    place, made = np.empty(count, np.int64), np.empty(2 * most, np.int64)
    given = keys, x.size // max(count, 1), int(is_sorted), np.empty(4 * most, np.int64), place, made
    many = _number_slices(*given)
    if many < 0:
        return None
    first = made[:many].copy()
    return [x.take(first, axis), first, place, made[most : most + many].copy()]


@serial
def _number(keys: Array, is_sorted: int, known: Array, room: I64s, place: I64s, made: I64s) -> int:
    """Give keys their numbers."""
    return _in_order(_numbered(keys, known, room, place), is_sorted, room, place, made)


@serial
def _number_slices(
    keys: Array, width: int, is_sorted: int, room: I64s, place: I64s, made: I64s
) -> int:
    """Give rows of keys their numbers."""
    return _in_order(_numbered_rows(keys, width, room, place), is_sorted, room, place, made)


def of_table(numbers: Array, array: Array, width: int) -> tuple[Array, Array]:
    """Return the same of numbers below a width, which lie close together, without sorting them.

    They tell apart the elements of an array.
    """
    table, first = np.zeros(width, np.int64), np.empty(min(width, len(array)), np.int64)
    places = np.empty(len(array), np.int32)
    count = _look_up(numbers.astype(np.int64), table, first, places)
    return array[first[:count]], places


@serial
def _look_up(numbers: I64s, table: I64s, first: I64s, places: I32s) -> int:
    """Count different numbers as they come, from 1 on in a table; return how many there are."""
    count = 0
    for i in range(len(numbers)):
        number = table[numbers[i]]
        if number == 0:
            first[count] = i
            count += 1
            table[numbers[i]] = number = count
        places[i] = number - 1
    return count


def as_they_come(x: Array) -> tuple[Array, Array]:
    """Return where each distinct number of a row comes first, and which one each is (i32).

    Zeros of both signs are one; each NaN is one by itself.

    >>> first, places = as_they_come(np.array([1.5, np.nan, 0.0, 1.5, np.nan, -0.0]))
    >>> first.tolist(), places.tolist()
    ([0, 1, 2, 4], [0, 1, 2, 0, 3, 2])
    """
    count = len(x)
    if x.dtype.kind not in "iu":
        keys = x.astype(np.float32 if x.itemsize < 4 else x.dtype) + 0.0  # of which none is -0
        bits = keys.view(f"u{keys.itemsize}").astype(np.uint64)
    else:
        keys = x.astype(np.int64)
        bits = keys.view(np.uint64)
    table = np.full(1 << (2 * count).bit_length(), -1, np.int32)
    first, places = np.empty(count, np.int64), np.empty(count, np.int32)
    return first[: _enter(keys, bits, table, first, places)], places


@serial
def _enter(keys: Array, bits: U64s, table: I32s, first: I64s, places: I32s) -> int:
    """Give keys numbers as they come, NaN each a new one; return how many there are.

    The table has room for twice as many, and no entries.
    """
    count = 0
    for i in range(len(keys)):
        at = int((bits[i] ^ bits[i] >> 32) * FACTOR & MASK) >> 32 & len(table) - 1
        if not isnan(keys[i]):
            while table[at] >= 0 and keys[first[table[at]]] != keys[i]:
                at = at + 1 & len(table) - 1
            if table[at] >= 0:
                places[i] = table[at]
                continue
            table[at] = count
        places[i], first[count] = count, i
        count += 1
    return count


def _numbered_rows(keys: Array, width: int, room: I64s, place: I64s) -> int:
    """Give distinct rows numbers as they come, as `_numbered` does; with a NaN each is distinct.

    Of rows that are in the same place of the order the first one comes first.
    """
    most, many = len(room) // 4, 0
    for i in range(len(place)):
        low, high = 0, many
        while low < high:
            middle = (low + high) // 2
            if _compared(keys, width, i, room[most + room[middle]]) < 0:
                high = middle
            else:
                low = middle + 1
        is_new = low == 0
        if low > 0:
            is_new = _compared(keys, width, i, room[most + room[low - 1]]) != 0 or _has_nan(
                keys, width, i
            )
        if is_new:
            if many == most:
                return -1
            for k in range(many, low, -1):
                room[k] = room[k - 1]
            room[low], room[most + many], room[2 * most + many] = many, i, 0
            many += 1
            place[i] = many - 1
        else:
            place[i] = room[low - 1]
        room[2 * most + place[i]] += 1
    return many


def _compared(keys: Array, width: int, one: int, other: int) -> int:
    """Return which of two rows comes first: below 0 the one, above 0 the other; NaN come last."""
    for j in range(width):
        a, b = keys[one * width + j], keys[other * width + j]
        if a < b or (isnan(b) and not isnan(a)):
            return -1
        if a > b or (isnan(a) and not isnan(b)):
            return 1
    return 0


def _has_nan(keys: Array, width: int, row: int) -> bool:
    """Say whether an element of a row is no number."""
    for j in range(width):  # noqa: SIM110  (compiled, which takes no generators)
        if isnan(keys[row * width + j]):
            return True
    return False


def _numbered(keys: Array, known: Array, room: I64s, place: I64s) -> int:
    """Give distinct keys numbers as they come; return how many there are, -1 if that is too many.

    `known` are the keys in their order. The first quarter of the room has their numbers in that
    order, the second one where each number comes first, the third one how often. All keys that are
    no numbers are one, the last.
    """
    most, many = len(known), 0
    for i in range(len(keys)):
        key, low, high = keys[i], 0, many
        while low < high:
            middle = (low + high) // 2
            if known[middle] < key or (isnan(key) and not isnan(known[middle])):
                low = middle + 1
            else:
                high = middle
        if low == many or (known[low] != key and not isnan(key)):
            if many == most:
                return -1
            for k in range(many, low, -1):
                known[k], room[k] = known[k - 1], room[k - 1]
            known[low], room[low], room[most + many], room[2 * most + many] = key, many, i, 0
            many += 1
        place[i] = room[low]
        room[2 * most + room[low]] += 1
    return many


def _in_order(many: int, is_sorted: int, room: I64s, place: I64s, made: I64s) -> int:
    """Write where each number comes first and how often, sorted by the keys or as they come."""
    most = len(made) // 2
    for k in range(many):
        number = room[k] if is_sorted != 0 else k
        room[3 * most + number] = k
        made[k], made[most + k] = room[most + number], room[2 * most + number]
    if many > 0 and is_sorted != 0:
        for i in range(len(place)):
            place[i] = room[3 * most + place[i]]
    return many


def parted(rows: Array, ids: Array, count: int) -> list[Array] | None:
    """Return the rows of each number from 0 up to some count, in order; None: some are not below.

    >>> [part.tolist() for part in parted(np.array([1.5, 2.5, 3.5]), np.array([1, 0, 1]), 2)]
    [[2.5], [1.5, 3.5]]
    """
    ends, ids = np.zeros(count, np.int64), ids.astype(np.int32, copy=False)
    if not _begin(ids, ends):
        return None
    if rows.ndim == 1 and rows.dtype != object and rows.itemsize == 4:
        made = np.empty_like(rows)
        _put(ids, np.ascontiguousarray(rows).view(np.uint32), ends, made.view(np.uint32))
    else:
        order = np.empty(len(ids), np.int64)
        _order(ids, ends, order)
        made = rows.take(order, 0)
    bounds = [0, *ends.tolist()]
    return [made[i:j] for i, j in pairwise(bounds)]


@serial
def _begin(ids: I32s, ends: I64s) -> int:
    """Write where each number begins, if they lie behind each other; say whether all are below."""
    for i in range(len(ids)):
        if ids[i] < 0 or ids[i] >= len(ends):
            return 0
        ends[ids[i]] += 1
    total = 0
    for k in range(len(ends)):
        many = ends[k]
        ends[k] = total
        total += many
    return 1


@serial
def _put(ids: I32s, words: U32s, ends: I64s, made: U32s) -> int:
    """Write each word behind those of the same number, whose beginnings become their ends."""
    for i in range(len(ids)):
        at = ends[ids[i]]
        made[at] = words[i]
        ends[ids[i]] = at + 1
    return len(ids)


@serial
def _order(ids: I32s, ends: I64s, order: I64s) -> int:
    """Write where each row is, behind those of the same number, as `_put` does."""
    for i in range(len(ids)):
        at = ends[ids[i]]
        order[at] = i
        ends[ids[i]] = at + 1
    return len(ids)

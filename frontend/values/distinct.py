"""The distinct elements of few numbers: found in a loop instead of by sorting."""

from __future__ import annotations

from math import isnan

import numpy as np

from ...codegen.serial.function import F64s, I64s, serial
from ...ir.op import Array
from ...ir.ops.selecting import Unique

MOST, FEW = 1 << 14, 1 << 7
"""So many numbers at most are looked at in a loop, and so many distinct ones kept in order."""


def distinct(
    x: Array, *, sizes: object = (), axis: int | None = None, sorted: bool = True
) -> list[Array]:
    """Return what `gv.unique` does."""
    del sizes
    is_little = axis is None and x.size <= MOST and x.dtype.kind in "biuf"
    found = _few(x.ravel(), is_sorted=sorted) if is_little and x.dtype != np.uint64 else None
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
    many = (_number_floats if is_float else _number)(*given)
    if many < 0:
        return None
    first = made[:many].copy()
    return [x[first], first, place, made[most : most + many].copy()]


@serial
def _number(keys: I64s, is_sorted: int, known: I64s, room: I64s, place: I64s, made: I64s) -> int:
    """Give whole numbers their numbers."""
    return _in_order(_numbered(keys, known, room, place), is_sorted, room, place, made)


@serial
def _number_floats(
    keys: F64s, is_sorted: int, known: F64s, room: I64s, place: I64s, made: I64s
) -> int:
    """Give floats their numbers."""
    return _in_order(_numbered(keys, known, room, place), is_sorted, room, place, made)


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

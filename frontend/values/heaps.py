"""Heaps for serial functions: entries with keys, of which the least comes first.

The steps are those of `heapq`. Of equal keys the one with the greater number is the less.
"""

from __future__ import annotations

from ...codegen.serial.function import F64s, I64s


def is_less(key: float, number: int, other: float, behind: int) -> bool:
    """Say whether an entry comes before another."""
    return key < other or (key == other and number > behind)


def rise(heap: I64s, numbers: I64s, keys: F64s, start: int, at: int) -> int:
    """Let an entry rise to where its parent comes before it."""
    entry, number, key = heap[at], numbers[at], keys[at]
    while at > start:
        above = (at - 1) // 2
        if not is_less(key, number, keys[above], numbers[above]):
            break
        heap[at], numbers[at], keys[at] = heap[above], numbers[above], keys[above]
        at = above
    heap[at], numbers[at], keys[at] = entry, number, key
    return 0


def sift(heap: I64s, numbers: I64s, keys: F64s, at: int, size: int) -> int:
    """Let an entry sink to a leaf by the first of two, and rise from there."""
    entry, number, key, start = heap[at], numbers[at], keys[at], at
    while at < size // 2:
        below = 2 * at + 1
        if below + 1 < size and not is_less(
            keys[below], numbers[below], keys[below + 1], numbers[below + 1]
        ):
            below += 1
        heap[at], numbers[at], keys[at] = heap[below], numbers[below], keys[below]
        at = below
    heap[at], numbers[at], keys[at] = entry, number, key
    return rise(heap, numbers, keys, start, at)


def heapify(heap: I64s, numbers: I64s, keys: F64s, size: int) -> int:
    """Make a heap of entries in any order."""
    for i in range(size // 2 - 1, -1, -1):
        sift(heap, numbers, keys, i, size)
    return 0

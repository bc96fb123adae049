"""Boxes that overlap: in serial functions, and of each class which ones stand out."""

from __future__ import annotations

from math import isnan

import numpy as np

from ...codegen.serial.function import F32s, F64s, I64s, serial, single
from ...ir.op import Array
from ...ir.ops.selecting import corners
from .heaps import heapify, sift

BOX = 5
"""What there is of a box: the lower corner, the upper one, and its area."""
NOTHING = float("nan")


def standing_out(  # noqa: PLR0913  (as many as the operation has)
    boxes: Array, scores: Array, most: Array, iou_threshold: Array, score_threshold: Array,
    *, sizes: object = (), center: bool = False,
) -> list[Array]:  # fmt: skip
    """Return what `gv.non_max_suppression` does: a batch, a class and a box in each row."""
    del sizes
    number, least, overlap = most.item(), score_threshold.item(), iou_threshold.item()
    if isnan(overlap):
        overlap = -1.0  # no share is at most what is no number: all others go
    if center:
        with np.errstate(all="ignore"):
            boxes = corners(boxes, center=True)
        boxes[(boxes[..., :2] > boxes[..., 2:]).any(-1)] = NOTHING  # which covers nothing
    return [kept(boxes, scores, number, least, overlap).copy()]


def kept(boxes: Array, scores: Array, most: int, least: float, limit: float) -> Array:
    """Return the boxes that are kept, a batch, a class and a box in each row.

    Of each class those are at most so many of more than the least score, the best ones first, of
    which none overlaps with a better one by more than a limit. Of equal scores the first one is the
    best. Boxes of shape batch, boxes, 4 have two corners; scores are of batch, classes, boxes.
    """
    batches, classes, count = scores.shape
    most = max(min(most, count), 0)
    rows, sides = (
        np.empty((batches * classes * most, 3), np.int64),
        np.empty(BOX * (most + 1), "f4"),
    )
    given = np.ascontiguousarray(boxes), np.ascontiguousarray(scores), classes, most, least, limit
    return rows[: _keep(*given, sides, np.empty(count, np.int64), np.empty(count), rows)]


@serial
def _keep(  # noqa: PLR0913, PLR0917  (a loop is given its room)
    boxes: F32s, scores: F32s, classes: int, most: int, least: float, limit: float, sides: F32s,
    heap: I64s, keys: F64s, rows: I64s,
) -> int:  # fmt: skip
    """Write a row for each box that is kept, and return how many."""
    each, total = len(heap), 0
    for row in range(len(scores) // each if each > 0 else 0):
        box, size, first = row // classes * each, 0, total
        for i in range(each):
            score = scores[row * each + i]
            if score > least:
                heap[size], keys[size] = -i, -score  # of equal keys the greater number comes first
                size += 1
        heapify(heap, heap, keys, size)
        while size > 0 and total - first < most:
            best = -heap[0]
            size -= 1
            heap[0], keys[0] = heap[size], keys[size]
            if size > 0:
                sift(heap, heap, keys, 0, size)
            take(boxes, box + best, sides, total - first)
            if _is_apart(sides, total - first, limit):
                at = 3 * total
                rows[at], rows[at + 1], rows[at + 2] = row // classes, row % classes, best
                total += 1
    return total


def _is_apart(sides: F32s, count: int, limit: float) -> bool:
    """Say whether a box overlaps with none of so many before it by more than a limit."""
    if limit < 0:  # which even what has nothing in common is above
        for other in range(count):  # noqa: SIM110  (compiled, which takes no generators)
            if share_of(sides, count, other) > limit:
                return False
        return True
    own = BOX * count
    low_y, low_x, high_y, high_x, area = (
        sides[own], sides[own + 1], sides[own + 2], sides[own + 3], sides[own + 4]
    )  # fmt: skip
    for other in range(count - 1, -1, -1):
        at = BOX * other
        height = single(min(high_y, sides[at + 2]) - max(low_y, sides[at]))
        if height > 0:
            width = single(min(high_x, sides[at + 3]) - max(low_x, sides[at + 1]))
            if width > 0:
                common = single(height * width)
                union = single(single(area + sides[at + 4]) - common)
                if union > 0 and single(common / union) > limit:
                    return False
    return True


def take(boxes: F32s, box: int, sides: F32s, place: int) -> int:
    """Note a box: a side that is no number leaves it without an area."""
    y, x, other_y, other_x = (
        boxes[4 * box], boxes[4 * box + 1], boxes[4 * box + 2], boxes[4 * box + 3]
    )  # fmt: skip
    at = BOX * place
    low_y, high_y, low_x, high_x = (
        min(y, other_y),
        max(y, other_y),
        min(x, other_x),
        max(x, other_x),
    )
    sides[at], sides[at + 1], sides[at + 2], sides[at + 3] = low_y, low_x, high_y, high_x
    area = single(single(high_y - low_y) * single(high_x - low_x))
    sides[at + 4] = NOTHING if isnan(y + other_y + x + other_x) else area
    return 0


def share_of(sides: F32s, one: int, other: int) -> float:
    """Return which part of what two boxes cover both cover; 0 without an area."""
    a, b = BOX * one, BOX * other
    height = single(min(sides[a + 2], sides[b + 2]) - max(sides[a], sides[b]))
    if not height > 0:
        return 0.0
    width = single(min(sides[a + 3], sides[b + 3]) - max(sides[a + 1], sides[b + 1]))
    if not width > 0:
        return 0.0
    common = single(height * width)
    union = single(single(sides[a + 4] + sides[b + 4]) - common)
    return single(common / union) if union > 0 else 0.0

"""Which of many boxes to keep: the best ones that do not overlap much with better ones."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np

from ....codegen.serial.function import F32s, F64s, I64s, exp_single, serial, single
from ....ir.ops.selecting import corners, overlaps
from ....ir.types.tensor import Array
from ...values.heaps import heapify, sift

BOX = 5
"""What there is of a box: the lower corner, the upper one, and its area."""
NOTHING = float("nan")


class Suppression(NamedTuple):
    """When a box is dropped, and how many are kept."""

    most: int
    overlap: float
    score: float
    sigma: float = 0.0


def kept(boxes: Array, scores: Array, limits: Suppression) -> tuple[Array, Array]:
    """Return the boxes that are kept, best first, with their scores.

    With a sigma a box that overlaps others is not dropped but its score falls (Bodla et al.,
    2017).
    """
    is_single = boxes.dtype == np.float32
    if limits.sigma:
        if np.isnan(scores).any():
            return np.empty(0, np.int64), np.empty(0, np.float32)
        return (_fallen if is_single else _fallen_slowly)(boxes, scores, limits)
    found = (_apart if is_single else _apart_slowly)(boxes, scores, limits)
    return found, scores[found]


def _apart(boxes: Array, scores: Array, limits: Suppression) -> Array:
    """Return the boxes that are kept where the others are dropped."""
    count = len(scores)
    most = max(min(limits.most, count), 0)
    found, sides = np.empty(most, np.int64), np.empty(BOX * (most + 1), np.float32)
    heap, numbers, keys = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    bounds = float(np.float32(limits.score)), float(np.float32(limits.overlap))
    given = np.ascontiguousarray(boxes), np.ascontiguousarray(scores, np.float32)
    return found[: _keep(*given, *bounds, sides, heap, numbers, keys, found)]


def _apart_slowly(boxes: Array, scores: Array, limits: Suppression) -> Array:
    """Return the same of boxes of any type."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > limits.score]
    found: list[int] = []
    sides = corners(boxes, center=False)
    for place in order.tolist():
        if len(found) >= limits.most:
            break
        if not (overlaps(sides[place], sides[found]) > limits.overlap).any():
            found.append(place)
    return np.array(found, np.int64)


def _fallen(boxes: Array, scores: Array, limits: Suppression) -> tuple[Array, Array]:
    """Return the boxes that are kept where the scores of others fall, best first."""
    count = len(scores)
    left, most = scores.astype(np.float32), max(min(limits.most, count), 0)
    heap, numbers = np.arange(count), -np.arange(count)
    found, seen = np.empty(most, np.int64), np.zeros(count, np.int64)
    sides, keys = np.empty(BOX * count, np.float32), np.empty(count)
    given = np.ascontiguousarray(boxes), left, limits.score, float(np.float32(-0.5 / limits.sigma))
    many = _fall(*given, sides, seen, heap, numbers, keys, found)
    return found[:many], left[found[:many]]


def _fallen_slowly(boxes: Array, scores: Array, limits: Suppression) -> tuple[Array, Array]:
    """Return the same of boxes of any type."""
    left, sides = scores.astype(np.float32), corners(boxes, center=False)
    found: list[int] = []
    values: list[float] = []
    while len(found) < min(limits.most, len(left)):
        place = int(left.argmax())
        score = float(left[place])
        if not score > limits.score:
            break
        found.append(place)
        values.append(score)
        shares = overlaps(sides[place], sides)
        left *= np.exp(-0.5 / limits.sigma * shares * shares).astype(np.float32)
        left[found] = -np.inf
    return np.array(found, np.int64), np.array(values, np.float32)


@serial
def _keep(
    boxes: F32s, scores: F32s, least: float, limit: float, sides: F32s, heap: I64s,
    numbers: I64s, keys: F64s, found: I64s,
) -> int:  # fmt: skip
    """Keep boxes of more than the least score that overlap with no better one by more than a limit.

    Return how many. Of equal scores the first one is the best.
    """
    size, count = 0, 0
    for i in range(len(scores)):
        if scores[i] > least:
            heap[size], numbers[size], keys[size] = i, -i, -scores[i]
            size += 1
    heapify(heap, numbers, keys, size)
    while size > 0 and count < len(found):
        best = heap[0]
        size -= 1
        heap[0], numbers[0], keys[0] = heap[size], numbers[size], keys[size]
        if size > 0:
            sift(heap, numbers, keys, 0, size)
        _take(boxes, best, sides, count)
        is_apart = True
        for other in range(count - 1, -1, -1):
            if _share(sides, count, other) > limit:
                is_apart = False
                break
        if is_apart:
            found[count] = best
            count += 1
    return count


@serial
def _fall(
    boxes: F32s, left: F32s, least: float, scale: float, sides: F32s, seen: I64s, heap: I64s,
    numbers: I64s, keys: F64s, found: I64s,
) -> int:  # fmt: skip
    """Keep boxes of more than the least score, best first; return how many.

    A score falls beside each that is kept, when it might be the best one. Scores below 0 rise so:
    if there are any, all of them change at once.
    """
    size, count, rises = len(left), 0, False
    for i in range(size):
        _take(boxes, i, sides, i)
        keys[i] = -left[i]
        rises = rises or left[i] < 0
    heapify(heap, numbers, keys, size)
    while size > 0 and count < len(found):
        best = heap[0]
        if seen[best] < count:
            keys[0] = -_fallen_to(left, best, scale, sides, seen, found, count)
            sift(heap, numbers, keys, 0, size)
            continue
        if not left[best] > least:
            break
        found[count] = best
        count += 1
        size -= 1
        heap[0], numbers[0], keys[0] = heap[size], numbers[size], keys[size]
        if rises:
            for i in range(size):
                keys[i] = -_fallen_to(left, heap[i], scale, sides, seen, found, count)
            heapify(heap, numbers, keys, size)
        elif size:
            sift(heap, numbers, keys, 0, size)
    return count


def _fallen_to(
    left: F32s, box: int, scale: float, sides: F32s, seen: I64s, found: I64s, count: int
) -> float:
    """Return the score of a box, which falls beside those that it has not seen yet."""
    score = float(left[box])
    for i in range(seen[box], count):
        share = _share(sides, found[i], box)
        if share != 0:
            score = single(score * exp_single(single(single(share * scale) * share)))
    left[box], seen[box] = score, count
    return score


def _take(boxes: F32s, box: int, sides: F32s, place: int) -> int:
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


def _share(sides: F32s, one: int, other: int) -> float:
    """Return which part of what two boxes cover both cover; 0 without an area."""
    a, b = BOX * one, BOX * other
    height = single(min(sides[a + 2], sides[b + 2]) - max(sides[a], sides[b]))
    width = single(min(sides[a + 3], sides[b + 3]) - max(sides[a + 1], sides[b + 1]))
    if not (height > 0 and width > 0):
        return 0.0
    common = single(height * width)
    union = single(single(sides[a + 4] + sides[b + 4]) - common)
    return single(common / union) if union > 0 else 0.0

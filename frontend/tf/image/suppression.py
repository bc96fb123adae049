"""Which of many boxes to keep: the best ones that do not overlap much with better ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....codegen.serial.function import F32s, F64s, I64s, exp_single, serial, single
from ....ir.ops.selecting import corners, overlaps
from ....ir.types.tensor import Array
from ...values.boxes import BOX, share_of, take
from ...values.boxes import kept as boxes_kept
from ...values.heaps import heapify, sift


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
    bounds = limits.most, float(np.float32(limits.score)), float(np.float32(limits.overlap))
    return boxes_kept(boxes[None], scores.astype(np.float32)[None, None], *bounds)[:, 2].copy()


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
        take(boxes, i, sides, i)
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
        share = share_of(sides, found[i], box)
        if share != 0:
            score = single(score * exp_single(single(single(share * scale) * share)))
    left[box], seen[box] = score, count
    return score

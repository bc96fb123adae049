"""Whether some elements are among the largest of their rows."""

from __future__ import annotations

from math import inf

import numpy as np

from ...codegen.serial.function import F32s, Flags, I64s, serial
from ...ir.op import Array


def among_best(k: int, targets: Array, predictions: Array) -> Array:
    """Say of the target of each row whether it is among the k largest: no more are looked at."""
    made = np.empty(len(targets), np.bool_)
    _look(targets.astype(np.int64), np.ascontiguousarray(predictions), k, made)
    return made


@serial
def _look(targets: I64s, predictions: F32s, k: int, made: Flags) -> int:
    for i in range(len(targets)):
        made[i] = _is_among(predictions, len(predictions) // len(targets), i, targets[i], k)
    return len(targets)


def _is_among(predictions: F32s, columns: int, row: int, target: int, k: int) -> bool:
    """Say whether fewer than k of a row are larger than one of it, and all up to there finite."""
    if target < 0 or target >= columns:
        return False
    start, larger = row * columns, 0
    for at in range(start, start + columns):
        larger += predictions[at] > predictions[start + target]
        if larger >= k or not abs(predictions[at]) < inf:
            return False
    return larger < k

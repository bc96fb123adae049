"""Boxes that are suppressed: many at a time, as if one after the other."""

import numpy as np
import pytest

from gravure.ir.ops.selecting import BLOCK, overlaps, suppressed


def one_after_the_other(boxes, order, limit, overlap):  # type: ignore[no-untyped-def]
    kept = []
    while order.size and len(kept) < limit:
        best, rest = int(order[0]), order[1:]
        kept.append(best)
        order = rest[overlaps(boxes[best], boxes[rest]) <= overlap]
    return kept


@pytest.mark.parametrize("limit", [0, 1, 70, 1000])
@pytest.mark.parametrize("count", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
@pytest.mark.parametrize("overlap", [0.0, 0.3, 1.0])
def test_boxes_are_suppressed_together_as_one_by_one(
    count: int, limit: int, overlap: float
) -> None:
    random = np.random.default_rng(count)
    low = random.random((count, 2)).astype(np.float32) * 3
    boxes = np.concatenate([low, low + random.random((count, 2)).astype(np.float32)], -1)
    boxes[::17] = np.inf  # without an area that is a number
    order = random.permutation(count)
    with np.errstate(invalid="ignore"):
        wanted = one_after_the_other(boxes, order, limit, np.float32(overlap))
        assert suppressed(boxes, order, limit, np.float32(overlap)) == wanted

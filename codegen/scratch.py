"""Where the scratch of each launch lies: in gaps that the plan leaves at that time.

A kernel's need of scratch is known when its loops are, behind the memory plan. Buffers that do
not live during a launch leave their place to its scratch; only what fits nowhere makes the
workspace longer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from ..ir.dims import Range
from ..ir.ops.structure import Buffer
from ..ir.placement import align
from ..ir.tensor import spec_of
from ..passes.analysis.lives import Lives
from ..passes.bufferise import highest

Span = tuple[int, int]
"""First byte, and the byte behind the last."""


def place_scratch(
    function: FuncOp, needs: Sequence[int], ranges: dict[str, Range]
) -> tuple[list[int], int]:
    """Return for each launch the offset of as many bytes as it needs, and the most that live.

    The second is the largest sum of a launch's scratch and the buffers that live during it, of
    the launches that need scratch: no plan can do with less.
    """
    if not any(needs):
        return [0 for _ in needs], 0
    lives = Lives(function)
    taken: list[list[Span]] = [[] for _ in needs]
    numbers = [number for number, need in enumerate(needs) if need]
    points = [2 * lives.number[lives.steps[number]] for number in numbers]
    for root, life in lives.lives.items():
        buffer = root.owner
        if not isinstance(buffer, Buffer):
            continue  # an output
        low = buffer.plain_attributes()["offset"]
        span = low, low + align(highest(spec_of(root.type).nbytes, ranges))
        for first, last in life.spans:
            for number in numbers[bisect_left(points, first - 1) : bisect_right(points, last)]:
                taken[number].append(span)
    live = [need + _covered(spans) if need else 0 for spans, need in zip(taken, needs, strict=True)]
    offsets = [_gap(spans, need) for spans, need in zip(taken, needs, strict=True)]
    return offsets, max(live, default=0)


def _covered(spans: Sequence[Span]) -> int:
    """Return how many bytes lie in any of the spans."""
    total = end = 0
    for low, high in sorted(spans):
        total += max(high - max(low, end), 0)
        end = max(end, high)
    return total


def _gap(spans: Sequence[Span], need: int) -> int:
    """Return the lowest offset where `need` bytes are free."""
    at = 0
    for low, high in sorted(spans):
        if low - at >= need:
            break
        at = max(at, high)
    return at

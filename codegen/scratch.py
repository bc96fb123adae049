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
from ..passes.analysis.gaps import Gaps
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
    numbers = [number for number, need in enumerate(needs) if need]
    points = [2 * lives.number[lives.steps[number]] for number in numbers]
    starts: list[list[Span]] = [[] for _ in numbers]
    ends: list[list[Span]] = [[] for _ in numbers]
    for root, life in lives.lives.items():
        buffer = root.owner
        if not isinstance(buffer, Buffer):
            continue  # an output
        low = buffer.plain_attributes()["offset"]
        span = low, low + align(highest(spec_of(root.type).nbytes, ranges))
        for first, last in life.spans:
            begin, end = bisect_left(points, first - 1), bisect_right(points, last)
            if begin < end and span[0] < span[1]:
                starts[begin].append(span)
                ends[end - 1].append(span)
    gaps, offsets, most = Shared(), [0 for _ in needs], 0
    for number, begins, finished in zip(numbers, starts, ends, strict=True):
        for span in begins:
            gaps.enter(span)
        offsets[number] = gaps.free.lowest(needs[number])
        most = max(most, needs[number] + gaps.free.taken)
        for span in finished:
            gaps.leave(span)
    return offsets, most


class Shared:
    """What is free, while several buffers may lie in one place."""

    def __init__(self) -> None:
        self.free = Gaps()
        self.count: dict[Span, int] = {}

    def enter(self, span: Span) -> None:
        """Note one more buffer."""
        self.count[span] = self.count.get(span, 0) + 1
        if self.count[span] == 1:
            self.free.take(*span)

    def leave(self, span: Span) -> None:
        """Note one buffer less."""
        self.count[span] -= 1
        if not self.count[span]:
            self.free.release(*span)

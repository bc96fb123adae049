"""Where the scratch of each launch lies: in gaps that the plan leaves at that time.

A kernel's need of scratch is known when its loops are, behind the memory plan. Buffers that do
not live during a launch leave their place to its scratch; only what fits nowhere makes the
workspace longer. Of these places it takes the last ones: buffers lie at the lowest, and what a
thread finds where it worked before need not be fetched from the cache of another.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.func import FuncOp

from ..ir.ops.structure import Buffer
from ..ir.placement import align
from ..ir.types.dims import Range
from ..ir.types.tensor import spec_of
from ..passes.analysis.memory.gaps import ENDLESS, Gaps
from ..passes.analysis.memory.lives import Lives
from ..passes.bufferise import highest

Span = tuple[int, int]
"""First byte, and the byte behind the last."""


def place_scratch(
    function: FuncOp, needs: Sequence[int], ranges: dict[str, Range], length: int
) -> tuple[list[int], int]:
    """Return for each launch the offset of as many bytes as it needs, and the most that live.

    `length` is what the buffers need of the workspace.

    The second is the largest sum of a launch's scratch and the buffers that live during it, of
    the launches that need scratch: no plan can do with less.
    """
    if not any(needs):
        return [0 for _ in needs], 0
    lives = Lives(function)
    numbers = [number for number, need in enumerate(needs) if need]
    points = [2 * lives.number[lives.steps[number]] for number in numbers]
    starts, ends = spans_at(points, lives, ranges)
    gaps, most = FreePlaces(), 0
    rooms: list[list[Span]] = []
    for number, begins, finished in zip(numbers, starts, ends, strict=True):
        for span in begins:
            gaps.enter(span)
        size, end = needs[number], gaps.free.end
        most = max(most, size + gaps.free.taken)
        if end + size <= length:
            rooms.append([(end, ENDLESS)])  # behind everything: no other place is looked at
        else:
            length = max(length, gaps.free.lowest(size) + size)
            rooms.append(gaps.free.places)
        for span in finished:
            gaps.leave(span)
    offsets = [0 for _ in needs]
    for number, room in zip(numbers, rooms, strict=True):
        offsets[number] = last_place(room, needs[number], length)
    return offsets, most


def spans_at(
    points: Sequence[int], lives: Lives, ranges: dict[str, Range]
) -> tuple[list[list[Span]], list[list[Span]]]:
    """Return the spans of buffers by the first and by the last of the points at which they live."""
    starts: list[list[Span]] = [[] for _ in points]
    ends: list[list[Span]] = [[] for _ in points]
    for root, life in lives.lives.items():
        buffer = root.owner
        if not isinstance(buffer, Buffer):
            continue  # an output
        low: Any = buffer.offset
        span = low, low + align(highest(spec_of(root.type).nbytes, ranges))
        for first, last in life.spans:
            begin, end = bisect_left(points, first - 1), bisect_right(points, last)
            if begin < end and span[0] < span[1]:
                starts[begin].append(span)
                ends[end - 1].append(span)
    return starts, ends


def last_place(room: Sequence[Span], size: int, length: int) -> int:
    """Return the highest offset of `size` bytes in a room of `length`."""
    ends = ((low, min(high, length)) for low, high in reversed(room))
    return next(high - size for low, high in ends if high - low >= size)


class FreePlaces:
    """What is free, while several buffers may lie in one place, or in a part of it.

    Buffers overlap that are not told apart by their lives: what a loop carries from trip to trip
    is known behind planning by its place only, and counts as alive from the beginning.
    """

    def __init__(self) -> None:
        self.free = Gaps()
        self.count: dict[Span, int] = {}
        self.overlap = False

    def enter(self, span: Span) -> None:
        """Note one more buffer."""
        self.count[span] = self.count.get(span, 0) + 1
        if self.count[span] == 1:
            parts = self.free.within(*span)
            self.overlap = self.overlap or parts != [span]
            for part in parts:
                self.free.take(*part)

    def leave(self, span: Span) -> None:
        """Note one buffer less."""
        self.count[span] -= 1
        if self.count[span]:
            return
        del self.count[span]
        if not self.overlap:
            self.free.release(*span)
            return
        low, high = span
        for start, end in sorted(self.count):
            if start < high and end > low:
                if low < start:
                    self.free.release(low, start)
                low = max(low, end)
        if low < high:
            self.free.release(low, high)

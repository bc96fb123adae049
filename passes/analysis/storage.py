"""Stretches of the workspace: their lives, and who waits for whom because of them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from ...ir.ops.structure import Buffer


@dataclass(eq=False)
class Storage:
    """A stretch of bytes that one or more buffers use, one after the other."""

    size: int
    start: int
    """The launch that first writes it."""
    end: int
    """The last launch that uses it."""
    buffers: list[Buffer] = field(default_factory=list)
    offset: int = 0


@dataclass
class _Segment:
    low: int
    high: int
    writer: int
    readers: list[int]


class Waits:
    """For each byte of the workspace, who wrote it last and who has read it since."""

    def __init__(self) -> None:
        self.segments: list[_Segment] = []

    def access(self, span: tuple[int, int], now: int, *, write: bool) -> set[int]:
        """Record an access; return the launches that must be done before."""
        found: set[int] = set()
        inside = self._cut(*span)
        for segment in inside:
            if segment.writer >= 0:
                found.add(segment.writer)
            if write:
                found.update(segment.readers)
            else:
                segment.readers.append(now)
        if write:
            self._replace(inside, _Segment(*span, now, []))
        return found

    def _cut(self, low: int, high: int) -> list[_Segment]:
        """Split segments at both ends; return those inside."""
        for point in (low, high):
            index = bisect_left(self.segments, point, key=lambda s: s.low)
            before = self.segments[index - 1] if index else None
            if before is not None and before.low < point < before.high:
                rest = _Segment(point, before.high, before.writer, before.readers.copy())
                before.high = point
                self.segments.insert(index, rest)
        first = bisect_left(self.segments, low, key=lambda s: s.low)
        last = bisect_left(self.segments, high, key=lambda s: s.low)
        return self.segments[first:last]

    def _replace(self, old: list[_Segment], new: _Segment) -> None:
        first = bisect_left(self.segments, new.low, key=lambda s: s.low)
        self.segments[first : first + len(old)] = [new]

"""`Window`: how a kernel moves along one spatial axis, and which of its taps lie inside."""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.types.dims import Dim
from .loops import Index, Loops


@dataclass(frozen=True)
class Window:
    """One spatial dim: sizes and how the kernel moves along it."""

    source: Dim
    result: Dim
    taps: int
    stride: int
    dilation: int
    before: int

    @property
    def is_known(self) -> bool:
        """Say whether the sizes are numbers."""
        return isinstance(self.source, int) and isinstance(self.result, int)

    def first(self, loops: Loops, at: Index) -> Index:
        """Return the source position of tap 0 for an output position; may be negative."""
        return loops.add(loops.multiply(at, self.stride), -self.before)

    def valid(self, loops: Loops, at: Index) -> tuple[Index, Index]:
        """Return the range of taps that lie inside of the source."""
        start = self.first(loops, at)
        if isinstance(at, int) and isinstance(self.source, int):
            return self.taps_of(at)
        if not self.before and self.fits_behind():
            return 0, self.taps
        below = loops.maximum(loops.subtract(0, loops.index(start)), 0)
        low: Index = loops.divide(loops.add(below, self.dilation - 1), self.dilation)
        room = loops.subtract(loops.index(self.source), loops.index(start))
        room = loops.maximum(room, 0)
        high: Index = loops.divide(loops.add(room, self.dilation - 1), self.dilation)
        high = loops.minimum(high, self.taps)
        return loops.minimum(low, high), high

    def fits_behind(self) -> bool:
        """Say whether the last window ends inside of the source."""
        if not isinstance(self.source, int) or not isinstance(self.result, int):
            return False
        last = (self.result - 1) * self.stride - self.before + (self.taps - 1) * self.dilation
        return last < self.source

    def middle(self) -> tuple[int, int]:
        """Return the range of output positions whose taps all lie inside."""
        assert isinstance(self.source, int), "the row of a convolution has a known length"
        assert isinstance(self.result, int), "the row of a convolution has a known length"
        low = -(-self.before // self.stride)
        room = self.source + self.before - (self.taps - 1) * self.dilation - 1
        high = room // self.stride + 1 if room >= 0 else 0
        low = min(low, self.result)
        return low, max(low, min(high, self.result))

    def span(self, loops: Loops) -> tuple[Index, Index]:
        """Return the same where sizes may be symbols."""
        if isinstance(self.source, int) and isinstance(self.result, int):
            return self.middle()
        result = loops.index(self.result)
        low = loops.minimum(-(-self.before // self.stride), result)
        behind = self.before - (self.taps - 1) * self.dilation - 1 + self.stride
        room = loops.maximum(loops.add(loops.index(self.source), behind), 0)
        high = loops.minimum(loops.divide(room, self.stride), result)
        return low, loops.maximum(low, high)

    def taps_of(self, at: int) -> tuple[int, int]:
        """Return the range of taps of one output position that lie inside of the source."""
        assert isinstance(self.source, int), "the source is known"
        start = at * self.stride - self.before
        low = max(0, -(start // self.dilation))
        high = max(0, min(self.taps, -((start - self.source) // self.dilation)))
        return min(low, high), high

    def ranges(self) -> list[tuple[int, int, tuple[int, int]]]:
        """Return runs of output positions with the same taps: first, behind the last, taps."""
        assert isinstance(self.result, int), "the result is known"
        made: list[tuple[int, int, tuple[int, int]]] = []
        for at in range(self.result):
            taps = self.taps_of(at)
            if made and made[-1][2] == taps:
                made[-1] = (made[-1][0], at + 1, taps)
            else:
                made.append((at, at + 1, taps))
        return made

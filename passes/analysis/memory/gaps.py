"""Free memory while time passes: what is taken is given back later.

    gaps = Gaps()
    at = gaps.lowest(size)             the lowest place with so many bytes free
    gaps.take(at, at + size); ...; gaps.release(at, at + size)

Only the gaps are kept, of which there are few: neither taking nor giving back looks at what else
is taken.
"""

from __future__ import annotations

from bisect import bisect_right

ENDLESS = 1 << 62


class Gaps:
    """The free places, in order; the last one has no end."""

    def __init__(self) -> None:
        self.starts = [0]
        self.ends = [ENDLESS]
        self.taken = 0
        """How many bytes are taken."""

    @property
    def places(self) -> list[tuple[int, int]]:
        """Return the free places, in order."""
        return list(zip(self.starts, self.ends, strict=True))

    @property
    def end(self) -> int:
        """Return from where on everything is free."""
        return self.starts[-1]

    def lowest(self, size: int) -> int:
        """Return the lowest place where so many bytes are free."""
        for low, high in zip(self.starts, self.ends, strict=True):
            if high - low >= size:
                return low
        raise AssertionError("the last place has no end")

    def within(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return what is free of a place, in order."""
        first = max(bisect_right(self.starts, low) - 1, 0)
        last = bisect_right(self.starts, high)
        gaps = zip(self.starts[first:last], self.ends[first:last], strict=True)
        parts = [(max(start, low), min(end, high)) for start, end in gaps]
        return [part for part in parts if part[0] < part[1]]

    def take(self, low: int, high: int) -> None:
        """Take what is free."""
        at = bisect_right(self.starts, low) - 1
        start, end = self.starts[at], self.ends[at]
        assert start <= low <= high <= end, f"{low} to {high} is not free"
        parts = [part for part in ((start, low), (high, end)) if part[0] < part[1]]
        self.starts[at : at + 1] = [part[0] for part in parts]
        self.ends[at : at + 1] = [part[1] for part in parts]
        self.taken += high - low

    def release(self, low: int, high: int) -> None:
        """Give back what was taken."""
        at = bisect_right(self.starts, low)
        first, last = at, at
        self.taken -= high - low
        if at and self.ends[at - 1] == low:
            first, low = at - 1, self.starts[at - 1]
        if self.starts[at] == high:
            last, high = at + 1, self.ends[at]
        self.starts[first:last] = [low]
        self.ends[first:last] = [high]

"""What a launch takes at least on this machine: by its arithmetic, or by what it moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..passes.analysis.cost import Cost


SIZES = (1 << 15, 1 << 19, 1 << 23, 1 << 25, 1 << 27)
"""Bytes whose reading is measured: about what the caches hold, and beyond."""


@dataclass(frozen=True)
class Limits:
    """The most that so many threads were seen to do: flops and bytes in a second."""

    threads: int
    flops: float
    bandwidths: Mapping[int, float]
    """How fast data is read of which there are so many bytes in all."""

    @classmethod
    def measured(cls, threads: int) -> Limits:
        """Measure this machine, for half a second or so."""
        from .llvm.limits import multiply_rate, read_rate  # noqa: PLC0415  (loads LLVM)

        counts = sorted({1, threads})  # on a busy machine several threads may do less than one
        rates = {size: max(read_rate(count, size) for count in counts) for size in SIZES}
        return cls(threads, max(map(multiply_rate, counts)), rates)

    @property
    def memory(self) -> float:
        """Return how fast data is read that no cache holds."""
        return self.bandwidths[SIZES[-1]]

    def seconds(self, cost: Cost) -> tuple[float, str]:
        """Return the least time of some work, and which limit that is."""
        return self.least_of((cost.macs, cost.flops, cost.functions, cost.read, cost.written))

    def least_of(self, numbers: Sequence[int]) -> tuple[float, str]:
        """Return the same of the numbers of a cost."""
        _, flops, _, read, written = numbers
        moved = read + written
        by_flops, by_bytes = flops / self.flops, self.moving(moved)
        if by_flops > by_bytes:
            return by_flops, "arithmetic"
        return by_bytes, "memory" if moved > SIZES[-2] else "cache"

    def least(self, costs: Iterable[Cost]) -> float:
        """Return the least time of launches, one after the other."""
        return sum(self.seconds(cost)[0] for cost in costs)

    def moving(self, moved: int) -> float:
        """Return the least time in which so many bytes are read."""
        size = next((size for size in SIZES if moved <= size), SIZES[-1])
        return moved / self.bandwidths[size]

    def as_json(self) -> dict[str, Any]:
        """Return the rates by name."""
        return {
            "threads": self.threads,
            "flops_per_second": self.flops,
            "bytes_per_second": {str(size): rate for size, rate in self.bandwidths.items()},
        }


@cache
def limits_here(threads: int) -> Limits:
    """Return this machine's limits, measured once in a process."""
    return Limits.measured(threads)

"""All that a trace knows, as slices in lanes: spans as they were noted, launches, and their parts.

    Timeline.of(trace).slices      # [Slice(lane='MainThread', kind='step', name='loss', ...), ...]

A launch is a slice in a lane of launches, and each of its parts one in the lane of its thread. How
near a launch comes to what the machine can do is worked out here, from the time that it took.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...lazy import cached_property
from ..artifact import Work
from ..tracing import Trace
from .recorder import Done, Recording

Least = Callable[[Sequence[int]], tuple[float, str]]
"""Of the numbers of a `Work`: the seconds that it takes at least, and by which limit."""
LAUNCHES = "launches of "
"""With the name of a lane: that of what was launched from it."""
NUMBERS = ("macs", "flops", "functions", "read", "written")


@dataclass(frozen=True)
class Slice:
    """Something that took time, in nanoseconds since the trace began."""

    lane: str
    kind: str
    name: str
    start: int
    end: int
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Return how long it took."""
        return self.end - self.start


@dataclass(frozen=True)
class Timeline:
    """What happened in a trace, in the order that it began."""

    slices: tuple[Slice, ...]
    begin: int
    """Nanoseconds of the wall's clock when the trace began."""
    lost: int = 0
    """How many parts of launches nobody could note any more."""

    @classmethod
    def of(cls, trace: Trace, least: Least | None = None) -> Timeline:
        """Return what a trace knows; `least` says what launches take at least."""
        found = [
            Slice(s.lane, s.kind, s.name, s.start - trace.begin, s.end - trace.begin, s.details)
            for s in trace.spans
        ]
        for each in trace.recordings:
            found += _launches(each, trace.begin, least)
        found.sort(key=lambda s: (s.start, -s.end))
        return cls(tuple(found), trace.wall, sum(each.lost for each in trace.recordings))

    @property
    def leaves(self) -> list[Slice]:
        """Return the slices that hold no others in their lane, without the lanes of launches.

        What launched something holds it, also where threads of other lanes did all its parts.
        """
        lanes: dict[str, list[Slice]] = {}
        for each in self.slices:
            lanes.setdefault(each.lane.removeprefix(LAUNCHES), []).append(each)
        found = [leaf for lane in lanes.values() for leaf in _leaves(lane)]
        return sorted((x for x in found if "parts" not in x.details), key=lambda s: s.start)

    @cached_property
    def edges(self) -> Sequence[int]:
        """Return when slices that hold others begin and end, in order."""
        leaves = set(map(id, self.leaves))
        held = [s for s in self.slices if id(s) not in leaves and s.kind != "launch"]
        return sorted({moment for s in held for moment in (s.start, s.end)})

    @cached_property
    def nests(self) -> Mapping[str, NestedSlices]:
        """Return for each lane what finds the slice that a moment lies inside of."""
        lanes: dict[str, list[Slice]] = {}
        for each in self.slices:
            lanes.setdefault(each.lane, []).append(each)
        return {lane: NestedSlices(slices) for lane, slices in lanes.items()}

    def around(self, moment: int, lane: str) -> Slice | None:
        """Return the innermost slice that a moment lies inside of: of a lane, else of any."""
        found = self.nests[lane].around(moment) if lane in self.nests else None
        if found is not None:
            return found
        others = (nest.around(moment) for nest in self.nests.values())
        here = [each for each in others if each is not None]
        return min(here, key=lambda s: s.length, default=None)


class NestedSlices:
    """The slices of one lane, each with the one that it lies inside of."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self.slices = slices
        self.starts = [each.start for each in slices]
        self.outer: list[int] = []
        """By slice: the number of the one around it, -1 if there is none."""
        open_ones: list[int] = []
        for number, each in enumerate(slices):
            while open_ones and slices[open_ones[-1]].end <= each.start:
                open_ones.pop()
            self.outer.append(open_ones[-1] if open_ones else -1)
            open_ones.append(number)

    def around(self, moment: int) -> Slice | None:
        """Return the innermost slice with a moment inside."""
        number = bisect_right(self.starts, moment) - 1
        while number >= 0 and self.slices[number].end <= moment:
            number = self.outer[number]
        return self.slices[number] if number >= 0 else None


def _leaves(lane: Sequence[Slice]) -> Iterator[Slice]:
    """Give the slices of one lane, by their start, behind which none begins before they end."""
    for each, following in zip(lane, [*lane[1:], None], strict=True):
        if following is None or following.start >= each.end:
            yield each


def _launches(recording: Recording, begin: int, least: Least | None) -> Iterator[Slice]:
    """Give the launches of one run, and their parts."""
    for done in recording.launches():
        work = recording.works[done.number]
        name = ", ".join(work.sources or work.operations or (work.template,)) if work else "launch"
        details = {"launch": done.number, "model": recording.model, **_about(done, work, least)}
        lane = f"{LAUNCHES}{recording.lane}"
        start, end = done.start - begin, done.end - begin
        shares = {"parts": len(done.parts)}
        yield Slice(lane, "launch", name, start, end, {**details, **shares})
        for part in done.parts:
            span = part.start - begin, part.end - begin
            yield Slice(part.lane, "part", name, *span, details)


def _about(done: Done, work: Work | None, least: Least | None) -> dict[str, Any]:
    """Return what is known of a launch."""
    if work is None:
        return {}
    found: dict[str, Any] = {"kind": work.template, "sources": [*work.sources]}
    found["operations"] = [*work.operations]
    found |= dict(zip(NUMBERS, work.numbers, strict=False))
    if work.numbers and least is not None:
        seconds, bound = least(work.numbers)
        found["limit"] = bound
        found["limit_share"] = round(seconds * 1e9 / max(done.end - done.start, 1), 4)
    return found

"""The chain that a trace waited for: slices and waits in between whose lengths sum to the whole.

It is found from the end: what ended last, before that what ended last before it began, and so on.
What lies between two links is inside of something longer, whose name it gets: the time that a call
took outside of its launches, or a thread outside of everything that was noted.

    MainThread   [function                    ]
                   [op a ][  part 1  ]   [op b]
    gravure-1            [   part 2     ]

    chain        ^ [op a ] [ part 2     ] ^ [op b] ^       ^: inside of the function
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .timeline import Timeline


@dataclass(frozen=True)
class Link:
    """A piece of the chain."""

    name: str
    kind: str
    """That of the slice; `between` for what lies between slices."""
    lane: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """Return its nanoseconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Chain:
    """The links from the first to the last moment, without gaps."""

    links: tuple[Link, ...]

    @property
    def length(self) -> int:
        """Return the sum of all links, which is the makespan."""
        return sum(link.length for link in self.links)

    def by_name(self) -> list[tuple[str, str, int, int]]:
        """Return kind, name, how many links, and their sum; the longest first."""
        found: dict[tuple[str, str], list[int]] = {}
        for link in self.links:
            found.setdefault((link.kind, link.name), []).append(link.length)
        rows = [(kind, name, len(each), sum(each)) for (kind, name), each in found.items()]
        return sorted(rows, key=lambda row: -row[3])

    def as_json(self) -> dict[str, Any]:
        """Return the links as plain data, in seconds."""
        links = [
            {"kind": x.kind, "name": x.name, "lane": x.lane, "start": x.start / 1e9,
             "seconds": x.length / 1e9}
            for x in self.links
        ]  # fmt: skip
        return {"seconds": self.length / 1e9, "links": links}


def critical_path(timeline: Timeline) -> Chain:
    """Return the chain of a timeline."""
    leaves = sorted(timeline.leaves, key=lambda s: s.end)
    if not leaves:
        return Chain(())
    first = min(s.start for s in timeline.slices)
    now = max(s.end for s in timeline.slices)
    ends = [s.end for s in leaves]
    links: list[Link] = []
    last = max(timeline.slices, key=lambda s: s.end)
    lane, place = last.lane, len(leaves)
    while now > first:
        place = min(place, bisect_right(ends, now))
        found = leaves[place - 1] if place else None
        if found is not None and found.start >= now:  # it took no time
            place -= 1
            continue
        before = first if found is None else found.end
        links += reversed([*_between(timeline, before, now, lane)])
        if found is None:
            break
        links.append(Link(found.name, found.kind, found.lane, found.start, found.end))
        now, lane, place = found.start, found.lane, place - 1
    return Chain(tuple(reversed(links)))


def _between(timeline: Timeline, start: int, end: int, lane: str) -> Iterator[Link]:
    """Give the links of a time when nothing that was noted went on but what holds others."""
    edges = timeline.edges[bisect_right(timeline.edges, start) : bisect_left(timeline.edges, end)]
    for first, last in pairwise((start, *edges, end) if start < end else ()):
        around = timeline.around(first, lane)
        name = f"inside of {around.kind} {around.name}" if around else "outside of all"
        yield Link(name, "between", around.lane if around else lane, first, last)

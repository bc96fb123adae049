"""What compiled code noted of its launches: read after a run, put on the clock of a trace.

A model that somebody listens to runs through a second entry of the same kernels (see
`codegen/llvm/entry/record.py`), made when it is first needed; nobody else pays for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter_ns, sleep
from typing import Any

import numpy as np

from ..artifact import Work
from ..buffer import Array

RECORD = "record"
"""Where the manifest says that a run takes notes, and where."""
EVENTS, EVENT = 64, 32
"""Where the first note is behind their count, and the bytes of one."""
CAPACITY = 1 << 15
"""How many notes of one run are kept."""
SHORTEST = 5_000_000
"""Nanoseconds between two looks at both clocks, at least: for the length of a tick."""


class Clock:
    """Ticks of the processor, which has one clock for all, on the clock of `perf_counter_ns`."""

    def __init__(self) -> None:
        self.first: tuple[int, int] | None = None
        self.last = (0, 0)
        self.read: Callable[[], int] | None = None

    def look(self, read: Callable[[], int]) -> None:
        """Look at both clocks: at the ticks between two looks at the other one."""
        before = perf_counter_ns()
        ticks = read()
        self.last = (before + perf_counter_ns()) // 2, ticks
        self.first, self.read = self.first or self.last, read

    def moments(self, ticks: Array) -> list[int]:
        """Return moments in nanoseconds."""
        assert self.first is not None, "no clock was looked at"
        assert self.read is not None, "no clock was looked at"
        if self.last[0] - self.first[0] < SHORTEST:
            sleep(SHORTEST / 1e9)
            self.look(self.read)
        start, base = self.first
        length = (self.last[0] - start) / (self.last[1] - base)
        return [start + round((tick - base) * length) for tick in ticks.tolist()]


CLOCK = Clock()


@dataclass(frozen=True)
class PartDone:
    """What one thread did of a launch."""

    lane: str
    start: int
    end: int


@dataclass(frozen=True)
class Done:
    """A launch that was carried out."""

    number: int
    """Which launch of the program it is."""
    parts: tuple[PartDone, ...]

    @property
    def start(self) -> int:
        """Return when the first part began."""
        return min(part.start for part in self.parts)

    @property
    def end(self) -> int:
        """Return when the last part ended."""
        return max(part.end for part in self.parts)


@dataclass(eq=False)
class Recording:
    """The notes of one run."""

    model: str
    lane: str
    """The thread that called."""
    start: int
    end: int
    rows: Array
    """A row of four numbers for each part."""
    lost: int
    """How many parts there was no room for."""
    threads: dict[int, str]
    """Names by identity."""
    works: Sequence[Work | None]
    """What the launches are there for, by number."""

    def launches(self) -> list[Done]:
        """Return what was carried out, in order."""
        if not len(self.rows):
            return []
        rows = self.rows[np.argsort(self.rows[:, 2], kind="stable")]
        starts, ends = CLOCK.moments(rows[:, 2]), CLOCK.moments(rows[:, 3])
        heads = rows[:, 0].tolist()
        lanes = [self.threads.get(who, f"thread {who:#x}") for who in rows[:, 1].tolist()]
        number, seen = -1, set[int]()
        turns: list[tuple[int, int]] = []  # a part belongs to the turn that has not its slot yet
        for head in heads:
            launch, slot = head & 0xFFFFFFFF, head >> 32
            if not turns or turns[-1][1] != launch or slot in seen:
                number, seen = number + 1, set()
            seen.add(slot)
            turns.append((number, launch))
        found = zip(turns, lanes, starts, ends, strict=True)
        return [
            Done(launch, tuple(PartDone(lane, start, end) for _, lane, start, end in group))
            for (_, launch), group in groupby(found, key=lambda row: row[0])
        ]


@dataclass(eq=False)
class Recorder:
    """The second entry of a model, and what runs work in."""

    run: Callable[..., int]
    ticks: Callable[[], int]
    offset: int
    """Where in the workspace the notes are."""
    room: int
    """Bytes of the workspace."""
    model: str
    works: Callable[[Mapping[str, int]], Sequence[Work | None]]
    """What the launches are there for, by the values of the dimensions."""
    frames: list[Any] = field(default_factory=list)

    def begin(self, workspace: Array) -> Array:
        """Make the notebook empty; return it as words."""
        words = workspace[self.offset : self.offset + EVENTS + EVENT * CAPACITY].view(np.int64)
        words[0] = 0
        CLOCK.look(self.ticks)
        return words

    def end(self, words: Array, start: int, sizes: Mapping[str, int]) -> Recording:
        """Return what a run noted that began at `start` and ends now."""
        CLOCK.look(self.ticks)
        count = int(words[0])
        kept = min(count, CAPACITY)
        first = EVENTS // 8
        rows = words[first : first + EVENT // 8 * kept].reshape(kept, EVENT // 8).copy()
        names = {t.ident: t.name for t in threading.enumerate() if t.ident is not None}
        lane = threading.current_thread().name
        end, works = perf_counter_ns(), self.works(sizes)
        return Recording(self.model, lane, start, end, rows, count - kept, names, works)

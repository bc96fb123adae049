"""What happens when: spans in lanes, which are noted only while somebody listens.

    with listening(Trace()) as trace:
        ...
    trace.spans                      # [Span(lane='MainThread', name='matmul', ...)]

Who does something that is worth to be seen asks `EARS.count` first, and then says `note(...)`: so
nothing is measured as long as nobody listens. Times are nanoseconds of `time.perf_counter_ns`.
Whatever runs elsewhere (messages between processes, streams of a GPU) is noted the same way, with
a lane of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns, time_ns
from typing import Any, Protocol
from weakref import WeakSet

from ..forks import renewed
from .traces.recorder import Recording


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time."""

    kind: str
    """What it is: `step`, `function`, `operation`, `library`, `launch`, `part`, `copy`, `queue`,
    `message`."""
    name: str
    lane: str
    """What did it, one thing at a time: a thread, a queue, a stream."""
    start: int
    end: int
    details: Mapping[str, Any]


@dataclass(eq=False)
class Trace:
    """What was noted since it began."""

    spans: list[Span] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    """What compiled code noted of its launches, run by run."""
    begin: int = field(default_factory=perf_counter_ns)
    wall: int = field(default_factory=time_ns)
    """Nanoseconds of the wall's clock when it began."""

    def wall_of(self, moment: int) -> int:
        """Return a moment in nanoseconds of the wall's clock."""
        return self.wall + moment - self.begin


class Ears:
    """Who listens: to all threads, by `everyone`; to the present one, by `Own`."""

    def __init__(self) -> None:
        self.count = 0
        """How many listen at all."""
        self.everyone: tuple[Trace, ...] = ()
        self.lock = renewed(threading.Lock())


class Own(threading.local):
    """Who listens to this thread alone."""

    traces: tuple[Trace, ...] = ()


EARS, OWN = Ears(), Own()


class Watched(Protocol):
    """What is changed so that it tells who listens, as long as somebody does."""

    def listen(self, *, on: bool) -> None:
        """Begin or cease to tell."""


WATCHED: WeakSet[Watched] = WeakSet()
"""Compiled models: their calls are made of their own code, which asks nobody."""


@contextmanager
def listening(trace: Trace, *, everywhere: bool = True) -> Iterator[Trace]:
    """Let a trace hear what is noted, by all threads or by this one alone."""
    start(trace, everywhere=everywhere)
    try:
        yield trace
    finally:
        stop(trace)


def start(trace: Trace, *, everywhere: bool = True) -> None:
    """Let a trace hear what is noted from now on."""
    with EARS.lock:
        EARS.count += 1
        if everywhere:
            EARS.everyone = (*EARS.everyone, trace)
        else:
            OWN.traces = (*OWN.traces, trace)
        watch()


def stop(trace: Trace) -> None:
    """Let a trace hear no more; its own thread says so, if it hears no other."""
    with EARS.lock:
        EARS.count -= 1
        EARS.everyone = tuple(t for t in EARS.everyone if t is not trace)
        OWN.traces = tuple(t for t in OWN.traces if t is not trace)
        watch()


def watch() -> None:
    """Let what is watched tell everyone, if there is anyone."""
    for each in [*WATCHED]:
        each.listen(on=bool(EARS.everyone))


def note(kind: str, name: str, start: int, lane: str = "", **details: Any) -> None:
    """Let who listens know of something that began at `start` and ends now."""
    lane = lane or threading.current_thread().name
    span = Span(kind, name, lane, start, perf_counter_ns(), details)
    for trace in (*EARS.everyone, *OWN.traces):
        trace.spans.append(span)


def tell(recording: Recording) -> None:
    """Let who listens to all threads know what a run of compiled code noted."""
    for trace in EARS.everyone:
        trace.recordings.append(recording)


@contextmanager
def span(kind: str, name: str, lane: str = "", **details: Any) -> Iterator[None]:
    """Let who listens know how long something takes, and of what it did if it fails."""
    if not EARS.count:
        yield
        return
    begin = perf_counter_ns()
    try:
        yield
    finally:
        note(kind, name, begin, lane, **details)

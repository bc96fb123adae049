"""A timeline as a file that Perfetto, chrome://tracing and the like open: Chrome's trace format.

Each lane is a thread of the file. The format wants slices of a thread to lie inside of each other
or apart; where two of a lane overlap otherwise (two takers wait for one queue), the lane gets
another row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .timeline import Slice, Timeline

FIRST = ("MainThread",)
"""Lanes that stand before all others."""


def chrome_trace(timeline: Timeline, about: Mapping[str, Any] | None = None) -> str:
    """Return the text of the file; `about` is what else it says of itself."""
    process = os.getpid()
    lanes: dict[str, list[Slice]] = {name: [] for name in FIRST}
    for each in timeline.slices:
        lanes.setdefault(each.lane, []).append(each)
    events = [_meta("process_name", process, 0, "gravure")]
    number = 0
    for name, slices in lanes.items():
        for row, inside in enumerate(rows(slices)):
            number += 1
            label = name if row == 0 else f"{name} ({row + 1})"
            events.append(_meta("thread_name", process, number, label))
            order: dict[str, Any] = {"sort_index": number}
            events.append(_meta("thread_sort_index", process, number, order))
            events += [_event(each, process, number) for each in inside]
    data = {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"begin_unix_ns": timeline.begin, "lost": timeline.lost, **(about or {})},
    }
    return json.dumps(data, default=plain)


def rows(slices: Sequence[Slice]) -> Iterator[list[Slice]]:
    """Part the slices of a lane, by their start, into rows in which they lie in each other."""
    rest = list(slices)
    while rest:
        row: list[Slice] = []
        over: list[Slice] = []
        open_ends: list[int] = []
        for each in rest:
            while open_ends and open_ends[-1] <= each.start:
                open_ends.pop()
            if open_ends and each.end > open_ends[-1]:
                over.append(each)
                continue
            open_ends.append(each.end)
            row.append(each)
        yield row
        rest = over


def _event(each: Slice, process: int, thread: int) -> dict[str, Any]:
    """Return a complete event; times are microseconds."""
    return {
        "ph": "X", "pid": process, "tid": thread, "ts": each.start / 1e3,
        "dur": each.length / 1e3, "name": each.name, "cat": each.kind, "args": dict(each.details),
    }  # fmt: skip


def _meta(name: str, process: int, thread: int, value: str | Mapping[str, Any]) -> dict[str, Any]:
    args = {"name": value} if isinstance(value, str) else value
    return {"ph": "M", "pid": process, "tid": thread, "name": name, "args": args}


def plain(value: object) -> object:
    """Return what JSON has no form for as text or numbers."""
    if isinstance(value, np.generic):
        return value.item()
    return str(value)

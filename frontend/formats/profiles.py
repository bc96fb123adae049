"""A timeline as the file that TensorBoard's plug-in `profile` reads: `HOST.xplane.pb`.

    write_profile(timeline, Path("logs"))       # logs/plugins/profile/TIME/HOST.xplane.pb

The host is one plane whose lines are the lanes of the timeline. The plug-in counts an event as an
operation if it is called `name:Type`, so parts of launches are called by the node that they
compute and what they do: `conv1:Conv`. What else is known of a slice stands beside it.
"""

from __future__ import annotations

import gzip
import os
import re
import socket
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ...runtime.files import replacing, together
from ...runtime.traces.chrome import chrome_trace, rows
from ...runtime.traces.timeline import Slice, Timeline
from .messages import XSpace

HOST = "/host:CPU"
PICOSECONDS = 1000
"""In a nanosecond."""


def write_profile(timeline: Timeline, folder: Path) -> Path:
    """Write a timeline where TensorBoard looks for profiles; return the file for its plug-in.

    The same is beside it in Chrome's format, for Perfetto.
    """
    place = folder / "plugins" / "profile" / datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
    place.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname()
    path = place / f"{host}.xplane.pb"
    with together():
        with replacing(place / f"{host}.trace.json.gz") as file:
            file.write(gzip.compress(chrome_trace(timeline).encode()))
        with replacing(path) as file:
            file.write(xplane(timeline))
    return path


class Statement(Protocol):
    """What is said of an event, or of a plane."""

    int64_value: int
    double_value: float
    str_value: str


class Statements(Protocol):
    """A list of statements."""

    def add(self, *, metadata_id: int) -> Statement:
        """Append one."""


class Owner(Protocol):
    """What something is said of."""

    stats: Statements


class Label(Protocol):
    """What events or statements are called."""

    id: int
    name: str
    display_name: str


class PlaneMessage(Owner, Protocol):
    """The message of a plane."""

    event_metadata: Mapping[int, Label]
    stat_metadata: Mapping[int, Label]


class EventMessages(Protocol):
    """The events of a line."""

    def add(self, *, metadata_id: int, offset_ps: int, duration_ps: int) -> Owner:
        """Append one."""


class LineMessage(Protocol):
    """The message of a line."""

    events: EventMessages


class Plane:
    """A plane that is being written: events and what is said of them are named by numbers."""

    def __init__(self, plane: PlaneMessage) -> None:
        self.plane = plane
        self.events: dict[str, int] = {}
        self.stats: dict[str, int] = {}

    def event(self, each: Slice) -> int:
        """Return the number of what a slice is."""
        name = operation_name(each)
        if name not in self.events:
            self.events[name] = number = len(self.events) + 1
            row = self.plane.event_metadata[number]
            row.id, row.name, row.display_name = number, name, each.name
        return self.events[name]

    def stat(self, owner: Owner, name: str, value: object) -> None:
        """Say something of an event, or of the plane."""
        if name not in self.stats:
            self.stats[name] = number = len(self.stats) + 1
            row = self.plane.stat_metadata[number]
            row.id, row.name = number, name
        made = owner.stats.add(metadata_id=self.stats[name])
        if isinstance(value, int) and abs(value) < 1 << 63:
            made.int64_value = value
        elif isinstance(value, float):
            made.double_value = value
        elif isinstance(value, list | tuple):
            made.str_value = ", ".join(map(str, value))
        else:
            made.str_value = str(value)


def xplane(timeline: Timeline) -> bytes:
    """Return the bytes of the file."""
    space = XSpace(hostnames=[socket.gethostname()])
    plane = space.planes.add(id=1, name=HOST)
    made = Plane(plane)
    number = 0
    for lane, slices in by_lane(timeline).items():
        for row, inside in enumerate(rows(slices)):
            number += 1
            label = lane if row == 0 else f"{lane} ({row + 1})"
            line = plane.lines.add(id=number, display_id=number, name=label, display_name=label)
            line.duration_ps = max(s.end for s in inside) * PICOSECONDS
            for each in inside:
                add_event(made, line, each)
    made.stat(plane, "process_id", os.getpid())
    about = Plane(space.planes.add(id=2, name="Task Environment"))
    length = max((s.end for s in timeline.slices), default=0)
    about.stat(about.plane, "profile_start_time", timeline.begin)
    about.stat(about.plane, "profile_stop_time", timeline.begin + length)
    written: bytes = space.SerializeToString(deterministic=True)
    return written


def by_lane(timeline: Timeline) -> Mapping[str, list[Slice]]:
    """Return the slices of each lane; the main thread's first."""
    lanes: dict[str, list[Slice]] = {"MainThread": []}
    for each in timeline.slices:
        lanes.setdefault(each.lane, []).append(each)
    return lanes


def add_event(made: Plane, line: LineMessage, each: Slice) -> None:
    """Add a slice to a line."""
    event = line.events.add(
        metadata_id=made.event(each),
        offset_ps=each.start * PICOSECONDS,
        duration_ps=each.length * PICOSECONDS,
    )
    for name, value in each.details.items():
        made.stat(event, name, value)


def operation_name(each: Slice) -> str:
    """Return what an event is called: `name:Type` for what computes something.

    >>> operation_name(Slice("t", "part", "Conv_c1", 0, 1, {"operations": ["conv", "relu"]}))
    'Conv_c1:ConvRelu'
    """
    if each.kind == "step":  # the plug-in writes its number behind it
        return each.name.removesuffix(f" {each.details.get('step_num')}")
    if each.kind not in ("part", "operation"):
        return f"{each.kind} {each.name}" if each.name else each.kind
    operations = each.details.get("operations") or [each.details.get("kind") or each.name]
    kind = "".join(word.capitalize() for op in operations for word in re.split(r"\W|_", str(op)))
    name = re.sub(r"[^\w./>-]", "_", each.name).lstrip("_-/>") or "operation"
    return f"{name}:{kind if kind[:1].isalpha() else 'Operation'}"

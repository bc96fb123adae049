"""Where operations of a graph are to run: names of devices, and which have a kernel.

    /job:localhost/replica:0/task:0/device:CPU:0      in full
    /cpu:0, /device:CPU:0, gpu:1                      in part: what is left out does not matter

Sessions run on the CPU. An operation that asks for another device is refused, unless the session
may put it elsewhere (`soft`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .graph import Operation
from .run_errors import InvalidArgumentError

AVAILABLE = ("/job:localhost/replica:0/task:0/device:CPU:0",)
PART = re.compile(r"^(?:(job|replica|task):([\w.]+)|(?:device:)?([A-Za-z]\w*)(?::(\d+|\*))?)$")


class DeviceNameError(InvalidArgumentError, ValueError):
    """The name of a device is not written as one."""

    code = "GV2335"


class PlacementError(InvalidArgumentError):
    """No device that is there has a kernel for an operation, and is what was asked for."""

    code = "GV2336"


@dataclass(frozen=True)
class DeviceName:
    """The name of a device, of which parts may be left out."""

    job: str | None = None
    task: int | None = None
    kind: str | None = None
    index: int | None = None

    def is_within(self, full: DeviceName) -> bool:
        """Say whether a device fits the name."""
        mine = (self.job, self.task, self.kind, self.index)
        theirs = (full.job, full.task, full.kind, full.index)
        return all(a is None or a == b for a, b in zip(mine, theirs, strict=True))


def parse_device(name: str) -> DeviceName:
    """Return the parts of a device's name.

    >>> parse_device("/gpu:1")
    DeviceName(job=None, task=None, kind='GPU', index=1)
    """
    found: dict[str, str | int | None] = {}
    for part in filter(None, name.split("/")):
        match = PART.match(part)
        if match is None:
            raise DeviceNameError(f"{name!r} is not the name of a device")
        key, value, kind, index = match.groups()
        if key == "job":
            found["job"] = value
        elif key == "task":
            found["task"] = int(value)
        elif kind is not None:
            found["kind"] = kind.upper()
            found["index"] = None if index in (None, "*") else int(index)
    return DeviceName(**found)  # type: ignore[arg-type]


def check_placement(ops: Sequence[Operation], *, soft: bool) -> None:
    """Raise for the first operation that cannot run where it is to run."""
    if soft:
        return
    there = [parse_device(name) for name in AVAILABLE]
    for op in ops:
        if not op.device:
            continue
        wanted = parse_device(op.device)
        if not any(wanted.is_within(each) and each.kind in op.kind.devices for each in there):
            raise PlacementError(
                f"Cannot assign a device for operation '{op.name}' ({op.type}): it was explicitly "
                f"assigned to {op.device}, available devices are [{', '.join(AVAILABLE)}], devices "
                f"with a kernel: {', '.join(op.kind.devices)}",
                location=op.source,
            )

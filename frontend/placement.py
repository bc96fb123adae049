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

from ..runtime.devices import gpu_names
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

    def __str__(self) -> str:
        """Return the name with the parts that it has, as `parse_device` reads it."""
        parts = [("job", self.job), ("task", self.task)]
        text = "".join(f"/{key}:{value}" for key, value in parts if value is not None)
        if self.kind is None:
            return text
        return f"{text}/device:{self.kind}:{'*' if self.index is None else self.index}"

    def merge(self, inner: DeviceName) -> DeviceName:
        """Return the name where `inner` says what it says, and this one the rest.

        >>> str(parse_device("/job:worker/gpu:0").merge(parse_device("/gpu:1")))
        '/job:worker/device:GPU:1'
        """
        other_kind = inner.kind is not None and inner.kind != self.kind
        index = inner.index if inner.index is not None or other_kind else self.index
        return DeviceName(
            self.job if inner.job is None else inner.job,
            self.task if inner.task is None else inner.task,
            self.kind if inner.kind is None else inner.kind,
            index,
        )

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


def list_devices() -> list[str]:
    """Return the full names of the devices of this machine."""
    first = AVAILABLE[0].removesuffix("CPU:0")
    return [*AVAILABLE, *(f"{first}{name.upper()}" for name in gpu_names())]


def check_placement(ops: Sequence[Operation], *, soft: bool) -> None:
    """Raise for the first operation that cannot run where it is to run."""
    place(ops, AVAILABLE, soft=soft)


def place(
    ops: Sequence[Operation], available: Sequence[str], *, soft: bool = False
) -> dict[Operation, str]:
    """Return the device of each operation: the first that all constraints of its group allow.

    A group is what shall run on one device. A device must be what each member asks for, and have
    a kernel for each; with `soft`, what is asked for is forgotten where it cannot be.
    """
    found: dict[Operation, str] = {}
    for group in groups_of(ops):
        allowed = [name for name in available if all(_may_run(op, name) for op in group)]
        if not allowed and soft:
            allowed = [name for name in available if all(_has_kernel(op, name) for op in group)]
        if not allowed:
            raise _cannot_place(group, available)
        found |= dict.fromkeys(group, allowed[0])
    return found


def groups_of(ops: Sequence[Operation]) -> list[list[Operation]]:
    """Return the operations that shall run on one device, by union-find over colocation."""
    parents = {op: op for op in ops}

    def root(op: Operation) -> Operation:
        while parents[op] is not op:
            parents[op] = op = parents[parents[op]]
        return op

    for op in ops:
        for other in op.colocated:
            if other in parents:
                parents[root(op)] = root(other)
    groups: dict[Operation, list[Operation]] = {}
    for op in ops:
        groups.setdefault(root(op), []).append(op)
    return list(groups.values())


def _may_run(op: Operation, name: str) -> bool:
    """Say whether an operation can run on a device, and may."""
    if not _has_kernel(op, name):
        return False
    return not op.device or parse_device(op.device).is_within(parse_device(name))


def _has_kernel(op: Operation, name: str) -> bool:
    return parse_device(name).kind in op.kind.devices


def _cannot_place(group: Sequence[Operation], available: Sequence[str]) -> PlacementError:
    """Return the error of a group that no device is for; it names what asks for too much."""
    there = ", ".join(available)
    for op in group:
        if not any(_may_run(op, name) for name in available):
            return PlacementError(
                f"Cannot assign a device for operation '{op.name}' ({op.type}): it was explicitly "
                f"assigned to {op.device}, available devices are [{there}], devices "
                f"with a kernel: {', '.join(op.kind.devices)}",
                location=op.source,
            )
    wishes = [f"'{op.name}' ({op.device or 'anywhere'})" for op in group]
    return PlacementError(
        f"Cannot colocate operations {', '.join(wishes)}: no device suits all, available devices "
        f"are [{there}]",
        location=group[0].source,
    )

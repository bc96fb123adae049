"""Devices: where tensors lie and operations run, and their names.

/job:localhost/replica:0/task:0/device:CPU:0      in full
/cpu:0, /device:CPU:0, gpu:1                      in part: what is left out does not matter

The processor can be several devices (`MACHINE.processors`), each with operations of its own; they
share a memory, so that a copy from one to another costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from ...runtime.devices import gpu_index, gpu_names
from .context import STATE
from .run_errors import InvalidArgumentError

HOST = "/job:localhost/replica:0/task:0/device:"
PART = re.compile(
    r"^(?:(job|replica|task):([\w.]+)|"
    r"(?:device:([A-Za-z]\w*):(\d+|\*)|((?i:cpu|gpu|tpu))(?::(\d+|\*))?))$"
)


class DeviceNameError(InvalidArgumentError, ValueError):
    """The name of a device is not written as one."""

    code = "GV2335"


class PlacementError(InvalidArgumentError):
    """No device that is there has a kernel for an operation, and is what was asked for."""

    code = "GV2336"


@dataclass
class Machine:
    """What devices there are, and what a wish for one that is not there means."""

    processors: int = 1
    """As how many devices the processor appears."""
    soft: bool = True
    """Whether what asks for a device that is not there runs elsewhere, outside of sessions."""
    used: bool = False
    """Whether something was placed, so that the devices stay as they are."""
    others: dict[str, Device] = field(default_factory=dict)
    """By full name: devices of other tasks, which this process is connected to."""
    task: str = ""
    """The name of the task that this process is among these, as that of a device begins."""


MACHINE = Machine()


@dataclass(frozen=True)
class DeviceName:
    """The name of a device, of which parts may be left out."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    kind: str | None = None
    index: int | None = None

    def __str__(self) -> str:
        """Return the name with the parts that it has, as `parse_device` reads it."""
        parts = [("job", self.job), ("replica", self.replica), ("task", self.task)]
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
            self.replica if inner.replica is None else inner.replica,
            self.task if inner.task is None else inner.task,
            self.kind if inner.kind is None else inner.kind,
            index,
        )

    def is_within(self, full: DeviceName) -> bool:
        """Say whether a device fits the name."""
        mine, theirs = (self.kind, self.index), (full.kind, full.index)
        fits = all(a is None or a == b for a, b in zip(mine, theirs, strict=True))
        return fits and self.is_at(full)

    def is_at(self, full: DeviceName) -> bool:
        """Say whether a device is of the task that the name asks for."""
        mine = (self.job, self.replica, self.task)
        theirs = (full.job, full.replica, full.task)
        return all(a is None or a == b for a, b in zip(mine, theirs, strict=True))


@cache
def kind_of_device(kind: str) -> str:
    """Return a kind of devices as it is written in names: known ones in capitals."""
    return kind.upper() if kind.upper() in ("CPU", "GPU", "TPU") else kind


def parse_device(name: str) -> DeviceName:
    """Return the parts of a device's name.

    >>> parse_device("/gpu:1")
    DeviceName(job=None, replica=None, task=None, kind='GPU', index=1)
    """
    found: dict[str, str | int | None] = {}
    for part in filter(None, name.split("/")):
        match = PART.match(part)
        if match is None:
            raise DeviceNameError(f"{name!r} is not the name of a device")
        key, value, long, its, short, index = match.groups()
        index = its or index
        kind = long or short
        if key == "job":
            found["job"] = value
        elif key is not None:
            if not value.isdigit():
                raise DeviceNameError(f"{name!r} is not the name of a device: {key} {value!r}")
            found[key] = int(value)
        elif kind is not None:
            if "kind" in found:
                raise DeviceNameError(
                    f"Multiple device types are not allowed: {name!r} names more than one device"
                )
            found["kind"] = kind_of_device(kind)
            found["index"] = None if index in (None, "*") else int(index)
    return DeviceName(**found)  # type: ignore[arg-type]


def list_devices() -> list[str]:
    """Return the full names of the devices of this machine."""
    return [f"{HOST}{str(each).upper()}" for each in devices()]


def processors(count: int) -> list[str]:
    """Return the full names of devices that the processor appears as."""
    return [f"{HOST}CPU:{index}" for index in range(count)]


def set_processors(count: int) -> None:
    """Let the processor appear as so many devices, before any of them was asked for."""
    if count < 1:
        raise ValueError(f"{count} devices, expected at least one")
    if MACHINE.used and count != MACHINE.processors:
        raise RuntimeError("devices cannot be changed after they were used")
    MACHINE.processors = count


def wanted_device(name: str) -> Device:
    """Return the device of this machine that is meant, `CPU` where that is soft; refuse others.

    Another task, job or replica than those that there are is never soft.
    """
    MACHINE.used = True
    wish, there = parse_device(name), list_devices()
    if MACHINE.task and wish.is_at(parse_device(MACHINE.task)):
        wish = DeviceName(kind=wish.kind, index=wish.index)
    for full in there:
        if wish.is_within(parse_device(full)):
            found = parse_device(full)
            return Device((found.kind or "CPU").lower(), found.index or 0)
    for full, other in MACHINE.others.items():
        if wish.is_within(parse_device(full)):
            return other
    if MACHINE.soft and any(wish.is_at(parse_device(full)) for full in there):
        return CPU
    for full, other in MACHINE.others.items():
        if MACHINE.soft and wish.is_at(parse_device(full)):
            return other
    there += MACHINE.others
    raise PlacementError(f"device {name!r} is unknown, available devices are [{', '.join(there)}]")


def short_name(name: str) -> str:
    """Return what a device of this machine is called at short.

    >>> short_name("/job:localhost/replica:0/task:0/device:GPU:1"), short_name("/cpu:0")
    ('gpu:1', 'cpu:0')
    """
    device = parse_device(name)
    return f"{(device.kind or 'CPU').lower()}:{device.index or 0}"


@dataclass(frozen=True)
class Device:
    """A device of this machine.

    >>> CPU, CPU == "cpu"
    (Device('cpu:0'), True)
    """

    kind: str
    index: int = 0

    @property
    def full_name(self) -> str:
        """Return the name with all its parts.

        >>> CPU.full_name
        '/job:localhost/replica:0/task:0/device:CPU:0'
        """
        return f"{HOST}{str(self).upper()}"

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other in (str(self), self.kind if not self.index else str(self))
        return isinstance(other, Device) and (other.kind, other.index) == (self.kind, self.index)

    def __hash__(self) -> int:
        return hash(str(self))


CPU = Device("cpu")


def as_device(device: object) -> Device:
    """Return the device that is meant; None means the one where tensors are made."""
    if device is None:
        found: Device = STATE.device or CPU
        return found
    if device == CPU:
        return CPU
    if isinstance(device, Device) and device in MACHINE.others.values():
        return device
    if isinstance(device, Device):
        found = device
    elif isinstance(device, str):
        name = parse_device(device)
        for full, other in MACHINE.others.items():
            if name.job is not None and name.is_within(parse_device(full)):
                return other
        found = Device((name.kind or "CPU").lower(), name.index or 0)
        MACHINE.used = True
        if not name.is_within(parse_device(f"{HOST}{str(found).upper()}")):
            raise ValueError(f"device {device!r} is on another machine, expected one of this one")
    else:
        raise ValueError(f"device {device!r}, expected a name like 'gpu:0'")
    there = devices()
    if found not in there:
        known = ", ".join(map(repr, map(str, there)))
        raise ValueError(f"device {str(device)!r} is unknown, expected one of {known}")
    return found


def devices() -> list[Device]:
    """Return the devices of this machine, the processor first."""
    own = [Device("cpu", index) for index in range(MACHINE.processors)]
    return [*own, *(Device("gpu", gpu_index(name)) for name in gpu_names())]


Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def placing(function: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Let a function that makes a tensor put it where its keyword `device` says."""

    @wraps(function)
    def made(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Made:
        found, device = function(*args, **kwargs), kwargs.get("device")
        if device is None and (STATE.device is None or STATE.context is not None):
            return found
        tensor: Any = found
        if device is None and tensor.dtype.kind == "s":
            return found  # text is only in the memory of the processor
        moved: Made = tensor.to_device(as_device(device))
        return moved

    return made

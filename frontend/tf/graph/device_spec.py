"""`tf.DeviceSpec`: the name of a device in parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...values.devices import DeviceName, kind_of_device, parse_device


class DeviceSpec:
    """A device's name, of which parts may be left out; it does not change."""

    __slots__ = ("_name",)

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        kind = None if device_type is None else kind_of_device(str(device_type))
        numbers = [None if x is None else int(x) for x in (replica, task, device_index)]
        self._name = DeviceName(job, numbers[0], numbers[1], kind, numbers[2])

    @classmethod
    def _of(cls, name: DeviceName) -> DeviceSpec:
        made = cls()
        made._name = name
        return made

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Return the spec that a text says."""
        return cls._of(parse_device(spec))

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Return the spec that a text says."""
        return type(self).from_string(spec)

    @property
    def job(self) -> str | None:
        """Return the job."""
        return self._name.job

    @property
    def replica(self) -> int | None:
        """Return the replica."""
        return self._name.replica

    @property
    def task(self) -> int | None:
        """Return the number of the task in its job."""
        return self._name.task

    @property
    def device_type(self) -> str | None:
        """Return what kind of device it is: `CPU`, `GPU`."""
        return self._name.kind

    @property
    def device_index(self) -> int | None:
        """Return the number of the device in its task."""
        return self._name.index

    def to_string(self) -> str:
        """Return the name as text."""
        return str(self._name)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Return the spec where `dev` says what it says, and this one the rest."""
        return self._of(self._name.merge(dev._name))

    def replace(self, **parts: Any) -> DeviceSpec:
        """Return the spec with other parts."""
        names = ("job", "replica", "task", "device_type", "device_index")
        return DeviceSpec(**{**{name: getattr(self, name) for name in names}, **parts})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and other._name == self._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        shown = ("job", "replica", "task", "device_type", "device_index")
        found = [(name, getattr(self, name)) for name in shown]
        parts = ", ".join(f"{name}={value}" for name, value in found if value is not None)
        return f"<DeviceSpec({parts})>"

    def __str__(self) -> str:
        return self.to_string()


PARTS = {"job": "job", "replica": "replica", "task": "task", "device_type": "kind",
         "device_index": "index"}  # fmt: skip
"""By the part of a spec: the part of a name."""


class FirstDeviceSpec(DeviceSpec):
    """The device's name of the first version, whose parts can be set."""

    __slots__ = ()

    def __setattr__(self, part: str, value: object) -> None:
        if part in PARTS:
            changed = DeviceSpec().replace(**{part: value})
            value = replace(self._name, **{PARTS[part]: getattr(changed._name, PARTS[part])})
            part = "_name"
        super().__setattr__(part, value)

    def parse_from_string(self, spec: str) -> FirstDeviceSpec:
        """Become what a text says."""
        self._name = parse_device(spec)
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Take over what another spec says."""
        self._name = self._name.merge(dev._name)

    __hash__ = DeviceSpec.__hash__

"""Which devices a process has, and a session (`tf.config`, `device_count`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...values.devices import MACHINE, list_devices, processors, set_processors, short_name
from ...values.run_errors import UnimplementedError


def processors_of(config: Any) -> int:
    """Return as how many devices the processor is to appear; 0: as elsewhere in the process."""
    counts = dict(getattr(config, "device_count", None) or {})
    found = int(counts.pop("CPU", 0))
    counts.pop("GPU", None)  # none is taken that no operation asks for
    if counts or found < 0:
        raise ValueError(f"device_count of {config.device_count}, expected 'CPU' and 'GPU'")
    return found


@dataclass(frozen=True)
class LogicalDevice:
    """A device that operations can be put on."""

    name: str
    device_type: str


@dataclass(frozen=True)
class PhysicalDevice:
    """A part of the machine."""

    name: str
    device_type: str


@dataclass(frozen=True)
class LogicalDeviceConfiguration:
    """One of the devices that a part of the machine appears as."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices that operations can be put on."""
    MACHINE.used = True
    found = [short_name(name).upper() for name in list_devices()]
    made = [LogicalDevice(f"/device:{name}", name[:3]) for name in found]
    return [each for each in made if device_type in (None, each.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the parts of the machine."""
    found = [short_name(name).upper() for name in list_devices()]
    kept = [name for name in found if not name.startswith("CPU") or name == "CPU:0"]
    made = [PhysicalDevice(f"/physical_device:{name}", name[:3]) for name in kept]
    return [each for each in made if device_type in (None, each.device_type)]


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Let a part of the machine appear as several devices; before any is used."""
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    if device.device_type != "CPU":
        raise UnimplementedError(f"{device.name} appears as one device: GPUs are not divided")
    for each in logical_devices:
        if each != LogicalDeviceConfiguration():
            raise ValueError("a processor's devices have no limits of memory and no priorities")
    if MACHINE.used and len(logical_devices) != MACHINE.processors:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    set_processors(len(logical_devices))


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """Return as which devices a part of the machine appears, None where nothing was said."""
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    several = device.device_type == "CPU" and MACHINE.processors > 1
    return [LogicalDeviceConfiguration()] * len(processors(MACHINE.processors)) if several else None


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether what asks for a device that is not there runs elsewhere."""
    MACHINE.soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """Return whether what asks for a device that is not there runs elsewhere."""
    return MACHINE.soft

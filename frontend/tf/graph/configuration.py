"""Which devices a process has, and a session (`tf.config`, `device_count`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...models.memory import ACTIVE, MemoryCounter
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
    made += [LogicalDevice(name, "CPU") for name in MACHINE.others]
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


class Unheeded:
    """What programs set that changes nothing here, and ask for again."""

    growing: ClassVar[dict[PhysicalDevice, bool]] = {}
    """Whether a GPU's memory is taken as it is needed: here it always is."""
    short_floats = True
    """Whether products may be rounded to 10 bits: here none is."""


def _known(device: PhysicalDevice) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Let a GPU's memory be taken as it is needed; it is in any case."""
    if _known(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    Unheeded.growing[device] = bool(enable)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Return what was said of a GPU's memory."""
    if _known(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    return Unheeded.growing.get(device, False)


def get_memory_info(device: str) -> dict[str, int]:
    """Return the bytes that arrays take now, and took at most, as far as they are counted.

    They are in the block of a `gravure.count_memory`; TensorFlow counts none for a processor, so
    without one both are 0.
    """
    counter = _counter_of(device)
    if counter is None:
        return {"current": 0, "peak": 0}
    return {"current": counter.live_bytes, "peak": counter.peak_bytes}


def get_memory_usage(device: str) -> int:
    """Return the bytes that arrays take now, as `get_memory_info` does."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Let the most that there was be what there is now."""
    counter = _counter_of(device)
    if counter is not None:
        counter.reset_peak()


def _counter_of(device: str) -> MemoryCounter | None:
    """Return what counts the memory of a device; raise `ValueError` for one that has none."""
    kind, colon, number = device.rpartition("/")[2].removeprefix("device:").rpartition(":")
    if not colon or not number.isdecimal():
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least"
            ' contain a device type and a device index, like "GPU:0".'
        )
    known = [d for d in list_physical_devices() if d.name.endswith(f":{kind.upper()}:{number}")]
    if not known:
        raise ValueError(f"No matching devices found for '{device}'")
    if known[0].device_type != "CPU":
        raise ValueError(f"Allocator stats not available for device '{device}'")
    return ACTIVE[-1] if ACTIVE else None


def get_device_details(device: PhysicalDevice) -> dict[str, object]:
    """Return what is known of a device; nothing of a processor."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device!r}")
    return {}


def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Say which devices are used, which must be all that there are of a kind."""
    given = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in given:
        if device_type is not None and _known(device).device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    hidden = [d for d in list_physical_devices(device_type) if d not in given]
    if hidden:
        raise UnimplementedError(
            f"set_visible_devices: {hidden[0].name} cannot be hidden; place operations by tf.device"
        )


def set_synchronous_execution(enable: bool | None) -> None:
    """Say that operations have run when their call returns, as they always have."""
    if enable is False:
        raise UnimplementedError("set_synchronous_execution(False): operations run when called")


def enable_op_determinism() -> None:
    """Let operations give the same bits in each run, as they always do."""


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Say whether products may be rounded to 10 bits; none is in any case."""
    Unheeded.short_floats = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Return whether products may be rounded to 10 bits."""
    return Unheeded.short_floats

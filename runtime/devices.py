"""Devices by their names: `gpu:0`, and `emulated` for one that is none.

>>> open_driver("emulated").name
'emulated GPU'

Any driver can stand in for a GPU of this machine, so that programs that name one run without:

>>> with standing_in(7, open_driver("emulated")):
...     gpu_names()[-1]
'gpu:7'
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator

from ..forks import renewed
from .gpu.driver import Driver, GpuError

EMULATED = "emulated"
"""The name of a device that is none."""
_NAME = re.compile(r"gpu(?::(\d+))?")
_open: dict[int, Driver] = {}
_lock = renewed(threading.Lock())


def open_driver(name: str = "gpu:0") -> Driver:
    """Return the driver of a device: the same for each call, or a new emulated one."""
    if name == EMULATED:
        from .gpu.emulated import EmulatedDriver  # noqa: PLC0415  (loads the emulator)

        return EmulatedDriver()
    from .gpu.cuda import CudaDriver  # noqa: PLC0415  (only who uses one)

    index = gpu_index(name)
    with _lock:
        if index not in _open:
            _open[index] = CudaDriver(index)
        return _open[index]


def gpu_index(name: object) -> int:
    """Return the number in a device's name.

    >>> gpu_index("gpu:1")
    1
    """
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise GpuError(f"device {name!r} is unknown, expected 'gpu:N' or 'emulated'")
    return int(found[1] or 0)


def gpu_names() -> list[str]:
    """Return the names of the GPUs of this machine that can be used."""
    from .gpu.cuda import device_count  # noqa: PLC0415  (only who asks)

    return [f"gpu:{index}" for index in sorted({*range(device_count()), *_open})]


@contextlib.contextmanager
def standing_in(index: int, driver: Driver) -> Iterator[Driver]:
    """Let a driver be the device `gpu:index` for a while."""
    with _lock:
        before = _open.get(index)
        _open[index] = driver
    try:
        yield driver
    finally:
        with _lock:
            del _open[index]
            if before is not None:
                _open[index] = before

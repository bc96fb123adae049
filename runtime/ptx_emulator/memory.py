"""The memories of an emulated GPU, where every access is checked.

Global memory is one heap with unused bytes between its allocations, so that what runs out of one
does not come into the next. New memory holds `GARBAGE`, which is a NaN in every float type.
"""

from __future__ import annotations

import bisect
from typing import Any, TypeAlias

import numpy as np

from ..buffer import aligned_bytes
from .faults import KernelFault

Array: TypeAlias = np.ndarray[Any, Any]

GARBAGE = 0xFF
"""What memory is filled with that nobody has written to."""
HEAP_START = 0x7F00_0000_0000
"""The address of the first byte of global memory."""
SHARED_WINDOW, LOCAL_WINDOW = 1 << 44, 1 << 45
"""Where generic addresses find shared and local memory."""
WINDOW = 1 << 32
ALIGNMENT = 256
"""What addresses of allocations are multiples of, and the least gap between two."""

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
"""The types that values are moved as, by their bytes."""


class Heap:
    """Global memory: allocations with addresses, and the bytes in them."""

    def __init__(self) -> None:
        self.data = _garbage(1 << 16)
        self.starts: list[int] = []
        self.sizes: list[int] = []

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        number, start = self._room(size)
        self._grow(start + size - HEAP_START)
        self.starts.insert(number, start)
        self.sizes.insert(number, size)
        self.data[start - HEAP_START : start - HEAP_START + size] = GARBAGE
        return start

    def free(self, start: int) -> None:
        """Take memory back; from now on its use is a fault."""
        number = bisect.bisect_left(self.starts, start)
        if number == len(self.starts) or self.starts[number] != start:
            raise KernelFault(f"memory at {start:#x} is freed that was never allocated")
        del self.starts[number], self.sizes[number]

    def bytes_at(self, start: int, size: int) -> Array:
        """Return the bytes from an address on, all of one allocation, to read or change."""
        number = bisect.bisect_right(self.starts, start) - 1
        if size and not (number >= 0 and start + size <= self.starts[number] + self.sizes[number]):
            raise KernelFault(f"{size} bytes at {start:#x} are not in one allocation")
        return self.data[start - HEAP_START : start - HEAP_START + size]

    def places(self, addresses: Array, size: int) -> Array:
        """Return where addresses are in `data`, after a check of `size` bytes at each."""
        if addresses.size == 0:
            return addresses
        low, high = int(addresses.min()), int(addresses.max())
        number = bisect.bisect_right(self.starts, low) - 1
        if number < 0 or high + size > self.starts[number] + self.sizes[number]:
            self._check(addresses, size)
        if size > 1 and (addresses % size).any():
            raise misaligned(addresses, size)
        return addresses - HEAP_START

    def _check(self, addresses: Array, size: int) -> None:
        starts = np.array([0, *self.starts], np.int64)
        ends = np.array([0, *(a + n for a, n in zip(self.starts, self.sizes, strict=True))])
        numbers = starts.searchsorted(addresses, "right") - 1
        wrong = (addresses < 0) | (addresses + size > ends[numbers])
        if not wrong.any():
            return
        bad = int(addresses[wrong][0])
        number = int(numbers[wrong][0])
        near = ""
        if number > 0:
            beyond = bad - int(ends[number])
            near = f", {beyond} bytes behind an allocation of {self.sizes[number - 1]}"
        raise KernelFault(f"{size} bytes of global memory at {bad:#x}: not allocated{near}")

    def _room(self, size: int) -> tuple[int, int]:
        """Return the number and address of the first gap that is large enough."""
        free = HEAP_START + ALIGNMENT
        for number, start in enumerate(self.starts):
            if start - free >= size + ALIGNMENT:
                return number, free
            free = start + self.sizes[number] + ALIGNMENT
            free = -(-free // ALIGNMENT) * ALIGNMENT
        return len(self.starts), free

    def _grow(self, size: int) -> None:
        if size > self.data.size:
            larger = _garbage(max(size + ALIGNMENT, 2 * self.data.size))
            larger[: self.data.size] = self.data
            self.data = larger


def _garbage(size: int) -> Array:
    data = aligned_bytes(-(-size // 64) * 64)
    data[:] = GARBAGE
    return data


class Scratch:
    """Memory of which every block (shared) or thread (local) has a piece of its own."""

    def __init__(self, name: str, size: int, owners: Array) -> None:
        self.name = name
        self.size = size
        self.stride = -(-size // 1024) * 1024 if name == "shared" else -(-size // 16) * 16
        self.bases = owners.astype(np.int64) * self.stride
        """For each lane, where its piece begins."""
        count = int(owners[-1]) + 1 if owners.size else 0
        self.data = _garbage(count * self.stride)

    def places(self, addresses: Array, size: int, lanes: Array | None) -> Array:
        """Return where lanes' addresses are in `data`, after a check of `size` bytes at each."""
        if addresses.size == 0:
            return addresses
        low, high = int(addresses.min()), int(addresses.max())
        if low < 0 or high + size > self.size:
            bad = low if low < 0 else high
            raise KernelFault(
                f"{size} bytes of {self.name} memory at {bad}: there are {self.size} bytes"
            )
        if size > 1 and (addresses % size).any():
            raise misaligned(addresses, size)
        return addresses + (self.bases if lanes is None else self.bases[lanes])


def misaligned(addresses: Array, size: int) -> KernelFault:
    """Return the fault of an address that is not a multiple of what is read there."""
    bad = int(addresses[addresses % size != 0][0])
    return KernelFault(f"address {bad:#x} is not a multiple of {size}")


def gather(data: Array, places: Array, width: int, count: int) -> list[Array]:
    """Return `count` values of `width` bytes that follow each other at each place."""
    whole = width * count
    kind = UNSIGNED[width]
    if count == 1:
        return [data.view(kind)[places // width]]
    if whole in UNSIGNED:
        rows = data.view(UNSIGNED[whole])[places // whole].view(kind).reshape(-1, count)
        return list(np.ascontiguousarray(rows.T))
    first = places // width
    return [data.view(kind)[first + number] for number in range(count)]


def scatter(data: Array, places: Array, width: int, values: list[Array]) -> None:
    """Write values that follow each other at each place; the last lane wins."""
    first = places // width
    view: Array = data.view(UNSIGNED[width])
    for number, value in enumerate(values):
        view[first + number] = value

"""Tensor maps as the emulator has them, and the tiles that tensor copies move."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .faults import KernelFault
from .machine import Machine
from .memory import Array

BYTES = 128
_MAGIC = 0x47564D4150
_FORM = "<QQ5Q4Q5I3I"
_SWIZZLES = (0, 32, 64, 128)


@dataclass(frozen=True)
class TensorBox:
    """A tensor in global memory that is copied in tiles; sizes go from the innermost dim out."""

    base: int
    size: int
    """Bytes of an element."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Bytes from one to the next, along all dims but the innermost."""
    box: tuple[int, ...]
    swizzle: int

    def __post_init__(self) -> None:
        inner = self.box[0] * self.size
        if self.base % 16 or any(stride % 16 for stride in self.strides) or inner % 16:
            raise KernelFault("a tensor map needs addresses, strides and rows of whole 16 bytes")
        if not all(1 <= size <= 256 for size in self.box) or not 1 <= len(self.shape) <= 5:
            raise KernelFault(f"a tensor map of {len(self.shape)} dims with tiles of {self.box}")
        if not all(1 <= n <= 1 << 32 for n in self.shape) or not all(
            0 < n < 1 << 40 for n in self.strides
        ):
            raise KernelFault(f"a tensor map of {self.shape} elements, {self.strides} bytes apart")
        if self.swizzle not in _SWIZZLES or (self.swizzle and inner > self.swizzle):
            raise KernelFault(f"rows of {inner} bytes swizzled over {self.swizzle}")

    def encode(self) -> bytes:
        """Return the 128 bytes that a kernel gets."""

        def filled(values: Sequence[int], count: int) -> list[int]:
            return [*values, *[0] * (count - len(values))]

        numbers = [
            *(_MAGIC, self.base),
            *filled(self.shape, 5),
            *filled(self.strides, 4),
            *filled(self.box, 5),
            *(len(self.shape), self.size, self.swizzle),
        ]
        return struct.pack(_FORM, *numbers).ljust(BYTES, b"\0")

    @classmethod
    def decode(cls, data: bytes) -> TensorBox:
        """Return what `encode` was called on."""
        magic, base, *rest = struct.unpack(_FORM, data[: struct.calcsize(_FORM)])
        if magic != _MAGIC:
            raise KernelFault("what is used as a tensor map is none")
        shape, strides, box = rest[:5], rest[5:9], rest[9:14]
        rank, size, swizzle = rest[14:]
        return cls(
            base,
            size,
            tuple(shape[:rank]),
            tuple(strides[: rank - 1]),
            tuple(box[:rank]),
            swizzle,
        )

    @classmethod
    def find(cls, m: Machine, address: int) -> TensorBox:
        """Return the map at an address among the arguments, or in global memory."""
        if address < len(m.launch.arguments):
            return cls.decode(m.launch.arguments[address : address + BYTES].ljust(BYTES, b"\0"))
        return cls.decode(m.heap.bytes_at(address, BYTES).tobytes())

    def _tile(self, start: Sequence[int]) -> tuple[Array, Array]:
        """Return the addresses of a tile's elements, and which of them are in the tensor."""
        if len(start) != len(self.shape):
            raise KernelFault(f"{len(start)} coordinates for {len(self.shape)} dims")
        addresses = np.full(1, self.base, np.int64)
        inside = np.ones(1, np.bool_)
        strides = (self.size, *self.strides)
        for axis in range(len(self.shape)):
            index = start[axis] + np.arange(self.box[axis])
            ok = (index >= 0) & (index < self.shape[axis])
            addresses = (index * strides[axis])[:, None] + addresses
            inside = ok[:, None] & inside
            addresses, inside = addresses.reshape(-1), inside.reshape(-1)
        return addresses, inside

    def places(self, place: int) -> Array:
        """Return where the bytes of a tile go in the shared memory of all blocks."""
        count = int(np.prod(self.box)) * self.size
        if place % 128:
            raise KernelFault("a tile in shared memory begins at a multiple of 128")
        return swizzled(place + np.arange(count), self.swizzle)

    def read(self, m: Machine, start: Sequence[int]) -> Array:
        """Return the bytes of a tile; what is outside of the tensor is zero."""
        addresses, inside = self._tile(start)
        rows = np.zeros((len(addresses), self.size), np.uint8)
        places = m.heap.places(addresses[inside], self.size)
        rows[inside] = m.heap.data[places[:, None] + np.arange(self.size)]
        return rows.reshape(-1)

    def write(self, m: Machine, start: Sequence[int], data: Array, lane: int) -> None:
        """Write the bytes of a tile for a lane; what is outside of the tensor is left out."""
        addresses, inside = self._tile(start)
        places = m.heap.places(addresses[inside], self.size)
        if m.block_races is not None:
            m.block_races.write(m, places, self.size, np.full(len(places), lane))
        rows = data.reshape(-1, self.size)[inside]
        m.heap.data[places[:, None] + np.arange(self.size)] = rows


def swizzled(places: Array, width: int) -> Array:
    """Return addresses in shared memory with the 16-byte pieces of rows of `width` exchanged.

    The pieces of a row are exchanged by the row's number, so that a column of them does not lie
    in the same banks.
    """
    if width == 0:
        return places
    rows = {32: 1, 64: 3, 128: 7}[width]
    found: Array = places ^ (((places >> 7) & rows) << 4)
    return found

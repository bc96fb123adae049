"""Memory that is aligned or kept, and the addresses of arrays."""

from __future__ import annotations

import contextlib
import ctypes
import math
import mmap
import platform
import resource
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, compress
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from ..errors import OutOfMemoryError
from ..forks import renewed
from ..knobs import GLIBC_KNOBS
from .artifact import ALIGNMENT

Array: TypeAlias = np.ndarray[Any, Any]

HUGE = 4 << 20
"""Bytes from which memory is asked for in huge pages."""
HUGE_PAGE = 2 << 20
VAST = 8 << 30
"""Bytes from which memory is only given out as it is written to: most of it may never be."""
ADDRESSES = 1 << 47
"""Bytes of addresses that a process has on common processors."""
AT_ONCE = 16
"""So many runs with vast memory may go on at once at least, where models are no larger."""
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Linux; Python 3.13 has the name
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
UNUSED = 2
"""References to the owner of a block that nothing else looks at: the block's, and who asks."""
TAKEN: list[Callable[[mmap.mmap], None]] = []
"""What is told of memory that is taken from the system directly, past numpy."""
LARGEST_KEPT = 32 << 20
"""Bytes of the largest array that comes from kept memory: the most that glibc allows."""
KEPT = 256 << 20
"""Bytes that may lie free at the end of the heap before some are given back."""


@cache
def keep_pages() -> bool:
    """Tell glibc to keep the pages of arrays that are gone; return whether it does.

    It gives them back as soon as an array of some MiB is freed, and the system clears each page
    anew when the next one is written to: for eager operations on a million elements that is most
    of their time. Nothing is done where the user told glibc how to, and elsewhere than on glibc,
    as other allocators keep memory by themselves.
    """
    if platform.libc_ver()[0] != "glibc" or any(knob.text() for knob in GLIBC_KNOBS):
        return False
    tell = ctypes.CDLL(None).mallopt
    return bool(tell(_MMAP_THRESHOLD, LARGEST_KEPT)) and bool(tell(_TRIM_THRESHOLD, KEPT))


def address(array: Array) -> int:
    """Return where the elements of an array begin."""
    where: int = array.__array_interface__["data"][0]
    return where


def aligned_bytes(size: int) -> Array:
    """Return `size` bytes, not set to anything, that begin at a multiple of `ALIGNMENT`."""
    return _huge_bytes(size) if size >= HUGE else kept_bytes(size)


def kept_bytes(size: int) -> Array:
    """Return aligned bytes of numpy's: of pages that it has kept, where there are some."""
    try:
        room = np.empty(size + ALIGNMENT, np.uint8)
    except MemoryError as error:
        raise _out_of_memory(size, str(error)) from error
    start = -address(room) % ALIGNMENT
    return room[start : start + size]


class RecycledBytes:
    """Memory that is used again once no array looks at it any more: its pages are there already.

    It is for large results that are made again and again. What nothing looks at when none of it
    fits is given back.
    """

    def __init__(self) -> None:
        self.blocks: list[Array] = []
        self.lock = renewed(Lock())

    def take(self, size: int) -> Array:
        """Return `size` bytes, not set to anything, that begin at a multiple of `ALIGNMENT`."""
        if size < HUGE:
            return kept_bytes(size)
        with self.lock:
            unused = [x for x in self.blocks if sys.getrefcount(x.base) == UNUSED]
            fitting = [x for x in unused if size <= x.size <= 2 * size]
            if not fitting:
                gone = set(map(id, unused))
                fitting = [aligned_bytes(size)]
                self.blocks = [x for x in self.blocks if id(x) not in gone] + fitting
            return min(fitting, key=len)[:size]

    def array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return an array, not set to anything."""
        size = math.prod(shape) * dtype.itemsize
        return self.take(size).view(dtype).reshape(shape)

    def arrays(
        self, rows: Sequence[tuple[tuple[int, ...], np.dtype[Any]]], shared: Sequence[bool]
    ) -> list[Array]:
        """Return an array for each shape and type; those that may share one lie in one block.

        The block is used again once nothing looks at any of them.
        """
        sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in rows]
        starts = [
            *accumulate(
                (-(-x // ALIGNMENT) * ALIGNMENT for x in compress(sizes, shared)), initial=0
            )
        ]
        block, places = self.take(starts[-1]), iter(starts)
        return [
            block[(start := next(places)) : start + size].view(dtype).reshape(shape)
            if may
            else aligned_array(shape, dtype)
            for (shape, dtype), size, may in zip(rows, sizes, shared, strict=True)
        ]


def told(error: MemoryError) -> OutOfMemoryError:
    """Return what numpy says of memory that it did not get as an error of ours."""
    if isinstance(error, OutOfMemoryError):
        return error
    hint = "smaller dimensions, or bounds of them, need less"
    return OutOfMemoryError(f"there is no memory for a result: {error}", hint=hint)


def _out_of_memory(size: int, reason: str) -> OutOfMemoryError:
    hint = "smaller dimensions, or bounds of them, need less"
    return OutOfMemoryError(f"{size} bytes of memory are needed: {reason}", hint=hint)


def _huge_bytes(size: int) -> Array:
    """Return memory in huge pages where the system has them: a fault in 2 MiB, not in 4 KiB."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if size >= VAST:
        flags |= NO_RESERVE
    try:
        room = mmap.mmap(-1, size + HUGE_PAGE, flags=flags)
    except (OSError, OverflowError) as error:
        raise _out_of_memory(size, str(error.args[-1])) from error
    if size < VAST and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages says EINVAL
            room.madvise(mmap.MADV_HUGEPAGE)
    if size >= VAST:
        VAST_ROOMS.add(room)
    array: Array = np.frombuffer(room, np.uint8)
    for tell in TAKEN:
        tell(room)
    start = -address(array) % HUGE_PAGE
    return array[start : start + size]


VAST_ROOMS: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
"""Vast memory that something looks at."""


def addresses_left() -> int:
    """Return how many bytes of addresses vast memory may still take, of those that are allowed."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    most = ADDRESSES if allowed == resource.RLIM_INFINITY else min(allowed, ADDRESSES)
    return max(most - sum(map(len, VAST_ROOMS)), 0)


class SharedRooms:
    """Vast memory that runs of any models take turns with: a process has few addresses for it."""

    def __init__(self) -> None:
        self.blocks: list[Array] = []
        self.lock = renewed(Lock())

    def take(self, size: int) -> Array:
        """Return `size` bytes, not set to anything, for as long as somebody looks at them."""
        with self.lock:
            unused = [x for x in self.blocks if sys.getrefcount(x.base) == UNUSED]
            fitting = [x for x in unused if size <= x.size]
            if fitting:
                return min(fitting, key=len)[:size]
            gone = set(map(id, unused))
            self.blocks = [x for x in self.blocks if id(x) not in gone]
            unused.clear()  # smaller ones would be in the way
            self.blocks.append(aligned_bytes(size))
            return self.blocks[-1][:size]


SHARED_ROOMS = SharedRooms()


def may_be_kept(size: int) -> bool:
    """Say whether memory may be kept from run to run: vast one only as long as much more is left.

    Runs of models that come later take turns with the rest, and may be as many at once.
    """
    return size < VAST or size <= addresses_left() // AT_ONCE


def aligned_array(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array, not set to anything, that begins at a multiple of `ALIGNMENT`."""
    size = math.prod(shape) * dtype.itemsize
    return aligned_bytes(size).view(dtype).reshape(shape)


def is_plain(array: Array) -> bool:
    """Say whether compiled code can use an array as it is: no gaps, own byte order, aligned."""
    return array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative

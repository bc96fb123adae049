"""Statistics of the allocator: how many buffers were made and freed, and how large they were.

    with gv.count_memory() as memory:
        for _ in range(1000):
            step()
    memory.allocations - memory.frees, memory.live_bytes, memory.peak_bytes

The buffers of tensors are numpy's, in eager operations, in sessions and as results of compiled
code. Where it is asked for, numpy gets them from an allocator that counts (NEP 49), made of machine
code; else nothing is counted and nothing is slower.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import weakref
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType

import numpy as np

from ...codegen.llvm.text.allocator import ALLOCATOR, COUNTED, FUNCTIONS
from ...runtime import buffer
from ...runtime.direct import numpy_function, python_function
from ...target import Target

SET_HANDLER = 304
"""Where numpy's C interface has `PyDataMem_SetHandler`."""
VERSION = 1
"""Of the table of an allocator's functions."""
TAG = "counted"


class _Allocator(ctypes.Structure):
    """numpy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
    )


@cache
def _code() -> ctypes.CDLL:
    """Return the functions of the allocator, compiled and loaded."""
    from ...codegen.aot.library import link  # noqa: PLC0415  (LLVM: for who counts)
    from ...codegen.llvm.compile import assemble  # noqa: PLC0415

    target = Target.parse("native")
    text = f'target triple = "{target.triple}"\n{ALLOCATOR}'.replace("TAG", TAG)
    library = link([assemble(text, target)], TAG)
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        path = os.path.join(folder, f"{TAG}.so")
        library.save(path)
        return ctypes.CDLL(path, os.RTLD_NOW)


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


_KEPT: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], _Allocator]] = []
"""Every allocator there was: an array is freed by the one that it came from, however late."""


@dataclass(eq=False)
class MemoryCounter:
    """What was allocated for arrays while a `with` block ran, in its thread.

    What is freed later is counted then, so the numbers may be read at any time. Bytes are those of
    the elements.
    """

    _words: np.ndarray[tuple[int], np.dtype[np.int64]] = field(init=False, repr=False)
    _handler: object = field(init=False, repr=False)
    _before: list[object] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._words = np.zeros(len(FUNCTIONS) + len(COUNTED), np.int64)
        system = ctypes.CDLL(None)
        self._words[: len(FUNCTIONS)] = [_address(system[name]) for name in FUNCTIONS]
        functions = [_address(_code()[f"{TAG}_{name}"]) for name in FUNCTIONS]
        table = _Allocator(b"gravure", VERSION, buffer.address(self._words), *functions)
        _KEPT.append((self._words, table))
        make = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
        )(python_function("PyCapsule_New"))
        self._handler = make(ctypes.addressof(table), b"mem_handler", None)

    def __enter__(self) -> MemoryCounter:
        self._before.append(_set_handler(self._handler))
        ACTIVE.append(self)
        buffer.TAKEN.append(self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        buffer.TAKEN.remove(self._take)
        ACTIVE.remove(self)
        _set_handler(self._before.pop())

    def _take(self, room: mmap.mmap) -> None:
        """Count memory that comes from the system directly, and when it goes back."""
        size = len(room)
        self._add(0, size)
        weakref.finalize(room, self._add, 1, size).atexit = False

    def _add(self, freed: int, size: int) -> None:
        counted = self._words[len(FUNCTIONS) :]
        counted[freed] += 1
        counted[2 + freed] += size
        counted[4] += -size if freed else size
        counted[5] = max(counted[4], counted[5])

    def _number(self, name: str) -> int:
        return int(self._words[len(FUNCTIONS) + COUNTED.index(name)])

    @property
    def allocations(self) -> int:
        """How many buffers were allocated; one that grows is freed and allocated."""
        return self._number("allocations")

    @property
    def frees(self) -> int:
        """How many of them were freed."""
        return self._number("frees")

    @property
    def allocated_bytes(self) -> int:
        """The bytes of all that was allocated."""
        return self._number("allocated_bytes")

    @property
    def freed_bytes(self) -> int:
        """The bytes of all that was freed."""
        return self._number("freed_bytes")

    @property
    def live_bytes(self) -> int:
        """The bytes of what is not freed yet."""
        return self._number("live_bytes")

    @property
    def peak_bytes(self) -> int:
        """The most that there was at a time, since the beginning or `reset_peak`."""
        return self._number("peak_bytes")

    def reset_peak(self) -> None:
        """Let the peak be what there is now."""
        self._words[-1] = self._words[-2]

    def __str__(self) -> str:
        return (
            f"{self.allocations} buffers allocated ({self.allocated_bytes} bytes), {self.frees}"
            f" freed ({self.freed_bytes} bytes), {self.live_bytes} bytes live,"
            f" {self.peak_bytes} at most"
        )


ACTIVE: list[MemoryCounter] = []
"""The counters whose blocks are running, the innermost last."""


def _set_handler(handler: object) -> object:
    """Let numpy take memory from a handler; return the one before."""
    call = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(numpy_function(SET_HANDLER))
    before: object = call(handler)
    return before


def count_memory() -> MemoryCounter:
    """Return what counts the buffers that are allocated and freed in a `with` block.

    It counts in the thread, or task, that the block is in.

    >>> import gravure as gv
    >>> x = gv.ones((256, 256))
    >>> y = gv.exp(x)
    >>> with gv.count_memory() as memory:
    ...     for _ in range(10):
    ...         y = gv.exp(x)
    ...     y = None
    >>> memory.allocations == memory.frees >= 10, memory.live_bytes
    (True, 0)
    """
    return MemoryCounter()

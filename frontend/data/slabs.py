"""Memory of batches to come: what is computed for an element is written where its batch will be.

Copying results of functions of elements into batches takes about as long as computing them does,
and so does having the system clear memory: that of batches that nobody holds any more is used
again.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ...forks import renewed
from ...ir.types.tensor import Array
from ...runtime.buffer import address, aligned_bytes
from .stages import Element, Rows

BIG = 1 << 16
"""Bytes of a part from which on it is better written where its batch will be than copied."""
KEPT = 1 << 28
"""Bytes of batches that are gone that are kept for those to come, at the most."""


class Slabs:
    """Gives out the rows of batches to come. Elements are taken to be like the first one."""

    bases: ClassVar[WeakValueDictionary[int, Array]] = WeakValueDictionary()
    """The memory of all slabs that somebody holds, by its identity."""

    def __init__(self, size: int, memory: dict[str, Any]) -> None:
        self.size, self.at = size, 0
        self.memory = memory
        """Where a stream finds what elements were like in the streams before, and their memory."""
        self.slabs: Rows = ()

    def learn(self, element: Element) -> None:
        """Take note of what elements are like, if this is the first one."""
        if "specs" not in self.memory:
            self.memory["pool"] = Recycled()
            self.memory["specs"] = [
                (x.shape, x.dtype) if x.nbytes >= BIG and x.dtype.kind != "O" else None
                for x in element
            ]

    def next(self) -> Rows:
        """Return the rows of the next element."""
        row = self.at % self.size
        if not row:
            self.slabs = [spec and self._slab(*spec) for spec in self.memory.get("specs", ())]
        self.at += 1
        return [None if x is None else x[row] for x in self.slabs]

    def _slab(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        whole = (self.size, *shape)
        made: Array = self.memory["pool"].taken(math.prod(whole) * dtype.itemsize)
        base = made.base
        assert base is not None, "it is a view"
        self.bases[id(base)] = base
        return made.view(dtype).reshape(whole)

    @classmethod
    def whole(cls, column: Sequence[Array]) -> Array | None:
        """Return the batch whose rows arrays are already, if they follow one another in a slab."""
        first = column[0]
        base, start = cls.bases.get(id(first.base)), address(first)
        if base is None:
            return None
        offset = start - address(base)
        for i, x in enumerate(column):
            if x.base is not base or address(x) != start + i * first.nbytes:
                return None
        shape = len(column), *first.shape
        return np.ndarray(shape, first.dtype, buffer=base, offset=offset)


class Recycled:
    """Memory that is used again when no array lies in it any more. Any thread may ask for it."""

    def __init__(self) -> None:
        self.lock = renewed(threading.Lock())
        self.kept: list[Array] = []
        """What is kept, as views of all of it: arrays that lie in it hold what these view."""

    def taken(self, size: int) -> Array:
        """Return so many bytes that nobody uses."""
        with self.lock:
            for i, kept in enumerate(self.kept):
                # the one that is kept here, and the one that `base` gives
                if kept.nbytes == size and sys.getrefcount(self.kept[i].base) == 2:
                    return kept[:]
            made = aligned_bytes(size)
            if sum(x.nbytes for x in self.kept) + size <= KEPT:
                self.kept.append(made[:])
            return made

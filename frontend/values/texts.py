"""Many texts as one row of bytes: what is done to all of them is done by few steps of numpy.

"ab", "", "cde"     ->     bytes "abcde", sizes 2, 0, 3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import starmap

import numpy as np

from ...ir.op import Array
from ...lazy import cached_property

CONTINUES = 0b10000000
"""The first two bits of a byte of UTF-8 that is not the first one of its character."""
FEW = 64
"""So few texts are faster one by one."""
SHORT = 16
"""Parts of so many bytes, all of one size, are cut column by column."""


class Texts:
    """Texts one behind the other: all their bytes, and the size of each."""

    def __init__(self, every: Array, sizes: Array) -> None:
        self.every, self.sizes = every, sizes

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """Return texts as one row."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(np.frombuffer(b"".join(texts), np.uint8), sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def ends(self) -> Array:
        """Return where each text ends."""
        return np.cumsum(self.sizes)

    @cached_property
    def begins(self) -> Array:
        """Return where each text begins."""
        return np.asarray(self.ends - self.sizes)

    def separate(self) -> Array:
        """Return each as an object of its own."""
        every, made = self.every.tobytes(), np.empty(len(self), object)
        places = starmap(slice, zip(self.begins.tolist(), self.ends.tolist(), strict=True))
        made[:] = [*map(every.__getitem__, places)]
        return made

    def parts(self, begins: Array, sizes: Array) -> Texts:
        """Return so many bytes from each of some places on, as texts."""
        if not len(sizes):
            return Texts(self.every[:0], sizes)
        size = int(sizes[0])
        if size > SHORT or np.count_nonzero(sizes != size):
            made = Texts(self.every, sizes)
            return Texts(self.every[made.spread(begins)], sizes)
        table = np.empty((len(sizes), size), np.uint8)
        for i in range(size):
            table[:, i] = self.every[begins + i]
        return Texts(table.ravel(), sizes)

    def spread(self, begins: Array) -> Array:
        """Return the place of each byte if the texts begin at some places."""
        return np.asarray(np.repeat(begins - self.begins, self.sizes) + np.arange(self.ends[-1]))

    def changed(self, function: Callable[[bytes], bytes]) -> Texts:
        """Return what a function makes of all bytes, of which each stays one."""
        return Texts(np.frombuffer(function(self.every.tobytes()), np.uint8), self.sizes)

    def characters(self) -> Array:
        """Return how many characters each text has."""
        continues = self.every & 0b11000000 == CONTINUES
        if not np.count_nonzero(continues):
            return self.sizes
        before = np.searchsorted(np.flatnonzero(continues), self.ends)
        return np.asarray(self.sizes - np.diff(before, prepend=0))


def in_a_row(parts: Sequence[Texts | bytes], count: int) -> Texts:
    """Return the texts of each place behind each other; a single one stands at every place."""
    lengths = [len(x) if isinstance(x, bytes) else x.sizes for x in parts]
    sizes = np.broadcast_to(np.asarray(sum(lengths), np.int64), count)
    made = Texts(np.empty(int(sizes.sum()), np.uint8), sizes)
    at = made.begins
    for x, length in zip(parts, lengths, strict=True):
        if isinstance(x, bytes):
            for i, each in enumerate(x):
                made.every[at + i] = each
        elif len(x.every):
            made.every[x.spread(at)] = x.every
        at = at + length
    return made

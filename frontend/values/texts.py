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


BYTES_KEPT = np.array([(1 << 8 * i) - 1 for i in range(9)], np.uint64)
"""By how many bytes of a word are meant: those."""


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

    def owners(self, places: Array) -> Array:
        """Return which text each of some rising places is in."""
        if len(places) == len(self) and bool(
            ((self.begins <= places) & (places < self.ends)).all()
        ):
            return np.arange(len(self))  # one in each, as often: then nothing is to be looked for
        return np.searchsorted(self.ends, places, side="right")

    def numbers(self) -> Array | None:
        """Return a number for each text, equal for equal ones; None: some are too long for it."""
        if not len(self) or self.sizes.max() > 8 or not self.every.all():
            return None
        room = np.zeros(len(self.every) + 8, np.uint8)
        room[:-8] = self.every
        at_any = np.ndarray(len(self.every) + 1, "<u8", room, strides=(1,))
        return np.asarray(at_any[self.begins] & BYTES_KEPT[self.sizes])

    def words(self) -> tuple[Texts, Array]:
        """Return what white space parts, and how many parts each text has."""
        every = self.every
        inside = (every != 32) & ((every < 9) | (every > 13))
        begins, ends = inside.copy(), inside.copy()
        borders = self.ends[(self.ends > 0) & (self.ends < len(every))]
        begins[1:] &= ~inside[:-1]
        ends[:-1] &= ~inside[1:]
        begins[borders] = inside[borders]
        ends[borders - 1] = inside[borders - 1]
        first = np.flatnonzero(begins)
        made = Texts(every[inside], np.flatnonzero(ends) + 1 - first)
        return made, np.diff(np.searchsorted(first, self.ends), prepend=0)

    def between(self, sign: int) -> tuple[Texts, Array]:
        """Return what a byte parts, and how many parts each text has: one more than of that."""
        is_sign = self.every == sign
        signs = np.flatnonzero(is_sign)
        before = np.searchsorted(signs, self.ends)
        counts = np.diff(before, prepend=0) + 1
        last = np.cumsum(counts) - 1
        is_last = np.zeros(len(signs) + len(self), bool)
        is_last[last] = True
        ends = np.empty(len(is_last), np.int64)
        ends[is_last], ends[~is_last] = self.ends, signs
        begins = np.concatenate([[0], ends[:-1] + ~is_last[:-1]])[: len(ends)]
        return Texts(self.every[~is_sign], ends - begins), counts

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

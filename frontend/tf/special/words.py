"""The random words of a key, one after the other, as TensorFlow's kernels take them on the host."""

from __future__ import annotations

import numpy as np

from ....ir.op import Array
from ....ir.ops.random import philox


class WordsInTurn:
    """Gives the words of a key's blocks in order."""

    def __init__(self, key: Array) -> None:
        self.key, self.block, self.left = key, 0, list[int]()

    def next(self) -> int:
        """Return the next word."""
        if not self.left:
            words = philox(self.key, np.array([self.block], np.uint64))
            self.left, self.block = [int(np.asarray(w).ravel()[0]) for w in words], self.block + 1
        return self.left.pop(0)

    def anew(self) -> None:
        """Go on with the next block."""
        self.left = []

    def single(self) -> np.float32:
        """Return an f32 from 0 to below 1."""
        bits = np.array((self.next() & 0x7FFFFF) | 127 << 23, np.uint32)
        return np.float32(bits.view(np.float32) - np.float32(1))

    def double(self) -> float:
        """Return an f64 from 0 to below 1."""
        bits = (self.next() & 0xFFFFF) << 32 | self.next() | 1023 << 52
        return float(np.array(bits, np.uint64).view(np.float64)) - 1.0

    def below(self, count: int) -> int:
        """Return a number from 0 to below another one."""
        if not count & (count - 1):
            return self.next() & max(count - 1, 0)
        skewed = 0xFFFFFFFF % count + 1
        while True:
            word = self.next()
            if word >= skewed:
                return word % count

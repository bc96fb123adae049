"""Numbers of 32 bits that are sent as their upper 16: half the bytes, and what is cut off is 0.

    1.2345678  0x3f9e0651  ->  0x3f9e  ->  0x3f9e0000  1.234375

(White paper, section 5.5.) Only `float32` is cut; all else is sent as it is. A NaN whose bits are
all in what is cut off comes as an infinity.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from .protocol import Array

UPPER = slice(1 if sys.byteorder == "little" else 0, None, 2)
"""Where the upper halves of numbers are among all halves."""


@dataclass(frozen=True)
class UpperHalves:
    """The upper 16 bits of numbers, and the shape that they have."""

    bits: Array
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Return how many bytes are sent."""
        return int(self.bits.nbytes)


def upper_halves(value: object) -> object:
    """Return what is sent for a value: half of it if it is an array of `float32`, or else all."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype != np.float32:
        return value
    array = np.asarray(value)
    flat = np.ascontiguousarray(array, np.float32).reshape(-1)
    return UpperHalves(flat.view(np.uint16)[UPPER].copy(), array.shape)


def refilled(value: object) -> object:
    """Return a value that was sent: with zeros for what was cut off."""
    if not isinstance(value, UpperHalves):
        return value
    whole = np.zeros(2 * value.bits.size, np.uint16)
    whole[UPPER] = value.bits
    return whole.view(np.float32).reshape(value.shape)

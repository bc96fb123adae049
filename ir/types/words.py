"""Words of 32 bits that hold eight numbers of 4 bits.

The numbers 0, 2, 4, 6 stand from the lowest bits on in the lower half of a word, and 1, 3, 5, 7
in the upper half: so the pairs that an instruction multiplies are one shift and one mask away.
"""

from __future__ import annotations

import numpy as np

from .tensor import Array

SHIFTS = np.array([0, 16, 4, 20, 8, 24, 12, 28], np.uint32)
"""How far up each of the eight numbers stands."""


def numbers_of_words(words: Array) -> Array:
    """Return the numbers 0..15 of words, eight on a new last axis."""
    return (words.view(np.uint32)[..., None] >> SHIFTS) & np.uint32(15)

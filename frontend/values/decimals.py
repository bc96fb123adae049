"""Many numbers as texts at once."""

from __future__ import annotations

import numpy as np

from ...ir.op import Array
from . import text_loops as loops
from .texts import Texts

BEHIND = 6
"""The digits behind the point, as C and Python write floats."""
MOST_BEHIND = 12
"""So many there may be: ten to the power of that takes 28 bits, and a float of 32 bits 24."""
SHORT = 32
"""A product of a float of so many bits and such a power is exact."""
SPLIT = 2.0**27 + 1
EXACT = 2.0**53
"""Below this a float holds each whole number."""


def written(numbers: Array, behind: int = BEHIND) -> Texts | None:
    """Return integers as `%d` does, or floats with so many digits behind the point as `%f` does.

    None: some are not finite, or too large for it.
    """
    if numbers.dtype.kind != "f":
        negative = numbers < 0
        size = np.abs(numbers.astype(np.int64)) if numbers.dtype.kind == "i" else numbers
        return _texts(negative, size.astype(np.uint64), 0)
    size, wide = np.abs(numbers.astype(np.float64)), 10.0**behind
    scaled = size * wide
    if not (scaled < EXACT).all():
        return None
    every = np.rint(scaled)  # halves to even, as C and Python write
    if numbers.dtype.itemsize * 8 > SHORT:
        left, half = scaled - every, rounded_off(size, wide, scaled)
        every += (left == 0.5) & (half > 0)
        every -= (left == -0.5) & (half < 0)
    return _texts(np.signbit(numbers), every.astype(np.uint64), behind)


def rounded_off(x: Array, y: float, product: Array) -> Array:
    """Return what a product lacks, which is exact: factors are taken apart into halves."""
    (x1, x2), (y1, y2) = _halves(x), _halves(np.asarray(y))
    return np.asarray(((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2)


def _halves(x: Array) -> tuple[Array, Array]:
    """Return two floats of half as many bits that make up others."""
    high = np.asarray(x * SPLIT - (x * SPLIT - x))
    return high, np.asarray(x - high)


MOST = 15
"""So many digits are a whole number that a float holds; so is the power of ten that divides it."""


def read_whole(texts: Texts) -> Array | None:
    """Return the whole numbers that texts of few digits are; None: some are other ones."""
    made = np.empty(len(texts), np.int64)
    is_plain = loops.read_whole(texts.every, texts.sizes, DIGITS, made)
    return made if is_plain else None


DIGITS = 18
"""So many digits 64 bits hold, whatever they are."""


def read(texts: Texts) -> Array | None:
    """Return what texts of a few digits are, with or without a point; None: some are other ones.

    A float that is a quotient of two others is rounded once, as what is read is.
    """
    made = np.empty(len(texts))
    is_plain = loops.read(texts.every, texts.sizes, TENS, made)
    return made if is_plain else None


TENS = 10.0 ** np.arange(MOST + 1)


def _texts(negative: Array, numbers: Array, behind: int) -> Texts:
    """Return numbers with a sign, of which so many digits stand behind a point, if any do."""
    longest = len(str(int(numbers.max(initial=0)))) + behind + 3  # a sign, a point, a 0 before it
    made, sizes = np.empty(longest * len(numbers), np.uint8), np.empty(len(numbers), np.int64)
    numbers, negative = (np.ascontiguousarray(x).ravel() for x in (numbers, negative))
    end = loops.spell(numbers, negative, behind, made, sizes)
    return Texts(made[:end], sizes)

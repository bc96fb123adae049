"""Many numbers as texts at once."""

from __future__ import annotations

import numpy as np

from ...ir.op import Array
from . import text_loops as loops
from .texts import Texts

BEHIND = 6
"""The digits behind the point, as C and Python write floats."""
WIDE = 10**BEHIND
EXACT = 2.0**53
"""Below this a float holds each whole number."""


def written(numbers: Array) -> Texts | None:
    """Return integers, or floats of at most 32 bits, with all digits of `%d` or `%f`.

    None: some are not finite, or too large for it.
    """
    if numbers.dtype.kind != "f":
        negative = numbers < 0
        size = np.abs(numbers.astype(np.int64)) if numbers.dtype.kind == "i" else numbers
        return _texts(negative, size.astype(np.uint64), 0)
    scaled = np.abs(numbers.astype(np.float64)) * WIDE  # exact: 24 bits by 14, and a power of two
    if not (scaled < EXACT).all():
        return None
    every = np.rint(scaled).astype(np.uint64)  # halves to even, as C and Python write
    return _texts(np.signbit(numbers), every, BEHIND)


MOST = 15
"""So many digits are a whole number that a float holds; so is the power of ten that divides it."""


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

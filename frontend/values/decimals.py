"""Many numbers as texts at once: digits are columns of a table, and a row of bytes is cut of it."""

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
POWERS = [10**i for i in range(1, 20)]
ZERO, MINUS, POINT = b"0-."
TRIPLES = np.array([[*b"%03d" % i] for i in range(1000)], np.uint8)


def written(numbers: Array) -> Texts | None:
    """Return integers, or floats of at most 32 bits, with all digits of `%d` or `%f`.

    None: some are not finite, or too large for it.
    """
    if numbers.dtype.kind != "f":
        negative = numbers < 0
        size = np.abs(numbers.astype(np.int64)) if numbers.dtype.kind == "i" else numbers
        return _texts(negative, size.astype(np.uint64), None)
    scaled = np.abs(numbers.astype(np.float64)) * WIDE  # exact: 24 bits by 14, and a power of two
    if not (scaled < EXACT).all():
        return None
    every = np.rint(scaled).astype(np.uint64)  # halves to even, as C and Python write
    whole = every // np.uint64(WIDE)
    return _texts(np.signbit(numbers), whole, (every - whole * np.uint64(WIDE)).astype(np.int64))


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


def _texts(negative: Array, whole: Array, rest: Array | None) -> Texts:
    """Return numbers of a sign, digits before the point, and those behind it if there is one."""
    most = int(whole.max(initial=0))
    powers = [p for p in POWERS if p <= most]
    sizes = negative.astype(np.int64) + 1
    for power in powers:
        sizes += whole >= np.uint64(power)
    longest = len(powers) + 1
    behind = 0 if rest is None else BEHIND + 1
    table = np.empty((len(whole), 1 + longest + behind), np.uint8)
    for column in range(longest, 0, -1):
        tens = whole // np.uint64(10)
        table[:, column] = whole - tens * np.uint64(10) + np.uint64(ZERO)
        whole = tens
    if rest is not None:
        thousands = rest // 1000
        table[:, longest + 1] = POINT
        table[:, longest + 2 : longest + 5] = TRIPLES[thousands]
        table[:, longest + 5 :] = TRIPLES[rest - thousands * 1000]
        sizes += behind
    width = table.shape[1]
    signed = np.flatnonzero(negative)
    table[signed, width - sizes[signed]] = MINUS
    if len(sizes) and (sizes == sizes[0]).all():
        return Texts(table[:, width - int(sizes[0]) :].ravel(), sizes)
    return Texts(table[np.arange(width) >= width - sizes[:, None]], sizes)

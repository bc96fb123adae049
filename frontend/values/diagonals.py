"""Parts of matrices beside their diagonals, on arrays: few elements are written, none looked at.

Operations look at where each element is, which is what a compiled program wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from ...ir.types.tensor import Array

NARROW = 8
"""So many times as many columns as a band has are left out sooner than they are looked at."""


def is_narrow(lower: int, upper: int, width: int) -> bool:
    """Say whether a band is so narrow that its diagonals are taken one by one."""
    return min(lower, upper) >= 0 and width > NARROW * (lower + upper + 1)


def band(lower: int, upper: int, array: Array) -> Array:
    """Return a matrix, or a batch, whose elements away from some diagonals are 0; -1 is all.

    >>> band(0, 1, np.ones((3, 3))).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """
    height, width = array.shape[-2:]
    if not is_narrow(lower, upper, width):
        return np.where(_inside(height, width, lower, upper), array, np.zeros((), array.dtype))
    made = np.zeros(array.shape, array.dtype)
    count = prod(array.shape[:-2])
    given, kept = (x.reshape(count, height * width) for x in (array, made))
    for k in range(-min(lower, height - 1), upper + 1):
        at = _diagonal(height, width, k)
        kept[:, at] = given[:, at]
    return made


@lru_cache(maxsize=16)
def _inside(height: int, width: int, lower: int, upper: int) -> Array:
    """Return where a band is."""
    away = np.arange(width, dtype=np.int32) - np.arange(height, dtype=np.int32)[:, None]
    made: Array = (away >= (-lower if lower >= 0 else -height)) & (
        away <= (upper if upper >= 0 else width)
    )
    return made


def _diagonal(height: int, width: int, k: int) -> slice:
    """Return where in a row of all elements a diagonal is."""
    first, end = max(0, -k), min(height, width - k)
    return slice(first * (width + 1) + k, end * (width + 1) - width + k, width + 1)


def with_diagonals(places: Array, array: Array, diagonals: Array) -> Array:
    """Return matrices with other elements where `places` says, a row for each; -1 is none.

    >>> with_diagonals(np.array([[0, 3]]), np.ones((2, 2)), np.array([5.0, 6.0])).tolist()
    [[5.0, 1.0], [1.0, 6.0]]
    """
    return _put(places, np.array(array, order="C"), diagonals)


def of_diagonals(places: Array, shape: Sequence[int], fill: Array, diagonals: Array) -> Array:
    """Return matrices with elements where `places` says, and one number elsewhere.

    >>> of_diagonals(np.array([[0, 3]]), (2, 2), np.array(1.0), np.array([5.0, 6.0])).tolist()
    [[5.0, 1.0], [1.0, 6.0]]
    """
    return _put(places, np.full(shape, fill), diagonals)


def _put(places: Array, made: Array, diagonals: Array) -> Array:
    if not diagonals.size:
        return made
    flat = made.reshape(prod(made.shape[:-2]), -1)
    given = diagonals.reshape(len(flat), -1)
    if len(places) == 1:
        first, width = int(places[0, 0]), made.shape[-1]
        flat[:, first : int(places[0, -1]) + 1 : width + 1] = given
        return made
    there = places.ravel() >= 0
    flat[:, places.ravel()[there]] = given[:, there]
    return made

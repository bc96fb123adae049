"""Memory that is aligned, and the addresses of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .artifact import ALIGNMENT

Array: TypeAlias = np.ndarray[Any, Any]


def address(array: Array) -> int:
    """Return where the elements of an array begin."""
    where: int = array.__array_interface__["data"][0]
    return where


def aligned_bytes(size: int) -> Array:
    """Return `size` bytes, not set to anything, that begin at a multiple of `ALIGNMENT`."""
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -address(room) % ALIGNMENT
    return room[start : start + size]


def aligned_array(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array, not set to anything, that begins at a multiple of `ALIGNMENT`."""
    size = math.prod(shape) * dtype.itemsize
    return aligned_bytes(size).view(dtype).reshape(shape)


def is_plain(array: Array) -> bool:
    """Say whether compiled code can use an array as it is: no gaps, own byte order, aligned."""
    return array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative

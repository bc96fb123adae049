"""Functions of two arrays of which one is a few numbers that come again and again.

    image[4, 250, 250, 8] + bias[8]    =>    image[1000, 2000] + (bias, bias, ...)[2000]

numpy goes through the last axis in memory at a time: where it is short, as channels are, it takes
longer around each row than for it. Repeated so that rows are long, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod

import numpy as np

from ...ir.op import Array

Function = Callable[..., Array]

MANY = 1 << 14
"""So many elements are worth looking how they lie."""
SHORT = 64
"""Rows of so many elements are short."""
LONG = 2048
"""Rows of at most so many are made of them."""


def in_long_rows(function: Function) -> Function:
    """Return an element-wise function of two arrays that goes through long rows."""

    @wraps(function)
    def kernel(x: Array, y: Array) -> Array:
        if x.shape == y.shape or (x.size < MANY and y.size < MANY) or 1 in (x.size, y.size):
            return function(x, y)
        if x.size > y.size:
            made = repeated(function, x, y)
        else:
            made = repeated(lambda large, small: function(small, large), y, x)
        return function(x, y) if made is None else made

    return kernel


def repeated(function: Function, large: Array, small: Array) -> Array | None:
    """Return what a function gives of an array and one that is repeated; None: it is not so."""
    if small.size > SHORT or small.ndim > large.ndim:
        return None
    order = sorted(range(large.ndim), key=lambda axis: -large.strides[axis])
    lying, few = large.transpose(order), _deep(small, large.ndim).transpose(order)
    first = next(i for i, size in enumerate(few.shape) if size != 1)
    block = lying.shape[first:]
    fits = all(a in (1, b) for a, b in zip(few.shape[first:], block, strict=True))
    if not lying.flags.c_contiguous or not fits or prod(block) > SHORT:
        return None
    times = _times(large.size // prod(block), LONG // prod(block))
    row = np.tile(np.broadcast_to(few.reshape(few.shape[first:]), block).ravel(), times)
    made = function(lying.reshape(-1, row.size), row)
    back = sorted(range(large.ndim), key=order.__getitem__)
    return made.reshape(lying.shape).transpose(back)


def _deep(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _times(count: int, most: int) -> int:
    """Return the largest divisor of a number up to another one."""
    return next(k for k in range(min(count, most), 0, -1) if count % k == 0)

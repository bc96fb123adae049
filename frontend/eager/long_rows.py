"""Functions of two arrays of which one is a few numbers that come again and again.

    image[4, 250, 250, 8] + bias[8]    =>    image[1000, 2000] + (bias, bias, ...)[2000]

numpy goes through the last axis in memory at a time: where it is short, as channels are, it takes
longer around each row than for it. Repeated so that rows are long, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod

import numpy as np

from ...ir.families import Elementwise
from ...ir.op import Array
from ...ir.types.shapes import few_axes

Function = Callable[..., Array]

MANY = 1 << 14
"""So many elements are worth looking how they lie."""
MUCH = 1 << 17
"""So many elements are worth compiled code where rows are short."""
SHORT = 64
"""Rows of so many elements are short."""
LONG = 2048
"""Rows of at most so many are made of them."""


def in_long_rows(function: Function, op: type[Elementwise] | None = None) -> Function:
    """Return an element-wise function of two arrays that goes through long rows.

    Where that cannot be, compiled code of an operation goes through many rows that are short.
    """
    spread: list[Callable[..., Array | None]] = []

    def compiled(x: Array, y: Array) -> Array | None:
        """Return the result of compiled code, where it is to be that."""
        if op is None or x.dtype != y.dtype or not is_usual(x):
            return None
        shape = np.broadcast_shapes(x.shape, y.shape)
        if prod(shape) < MUCH or _row(shape, [x.shape, y.shape]) >= LONG:
            return None
        if not spread:
            from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

            spread.append(single.Broadcasting(op, {}))
        return spread[0](shape, (x, y))

    @wraps(function)
    def kernel(x: Array, y: Array) -> Array:
        if x.shape == y.shape or (x.size < MANY and y.size < MANY) or 1 in (x.size, y.size):
            return function(x, y)
        if x.size > y.size:
            made = repeated(function, x, y)
        else:
            made = repeated(lambda large, small: function(small, large), y, x)
        if made is None:
            made = compiled(x, y)
        return function(x, y) if made is None else made

    return kernel


def is_usual(x: Array) -> bool:
    """Say whether an array has elements, of a type that compiled code computes as numpy does."""
    return x.size > 0 and (x.dtype.kind in "biu" or (x.dtype.kind == "f" and x.dtype.itemsize > 2))


def _row(shape: tuple[int, ...], shapes: Sequence[tuple[int, ...]]) -> int:
    """Return how many elements numpy goes through at a time: those along the last joined axis."""
    return max(few[-1] if few else 1 for few in few_axes(shape, shapes))


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

"""Fourier transforms: of many rows by compiled code, else by numpy.

Which of the two it is depends on the shape alone: numpy has the lengths of other factors, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import Array
from ...ir.ops.fourier import has_kernel, turns
from ...ir.types.dims import parse
from ...ir.types.dtypes import DType, f32, f64
from ...ir.types.tensor import TensorSpec

ROWS = 16
"""So few rows are not worth it: each lane has a row."""
MUCH = 1 << 13
"""So few numbers are not worth compiling."""
Kernel = Callable[..., Array]
PARTS: dict[np.dtype[np.generic], DType] = {
    np.dtype(np.complex64): f32,
    np.dtype(np.complex128): f64,
}
"""The type of the parts of complex numbers."""
WHOLE: dict[np.dtype[np.generic], np.dtype[np.generic]] = {
    part.numpy: whole for whole, part in PARTS.items()
}
"""The type of complex numbers by that of their parts."""


def is_compiled(shape: tuple[int, ...], points: int) -> bool:
    """Say whether compiled code transforms rows, each as so many complex numbers."""
    rows = prod(shape[:-1])
    return rows >= ROWS and rows * points >= MUCH and has_kernel(points)


def transformed(x: Array, *, inverse: bool = False) -> Array:
    """Return what numpy's `fft` or `ifft` gives, in the type of the operand, which is complex."""
    count = x.shape[-1]
    if not is_compiled(x.shape, count):
        made = np.fft.ifft(x) if inverse else np.fft.fft(x)
        return made.astype(x.dtype, copy=False)
    part = PARTS[x.dtype]
    pairs = np.ascontiguousarray(x).view(part.numpy).reshape(-1, count, 2)
    kernel = _compiled(part, count, _bound(len(pairs)), inverse=inverse, half=False)
    return kernel(pairs).view(x.dtype).reshape(x.shape)


def transformed_half(x: Array) -> Array:
    """Return what numpy's `rfft` gives, in complex numbers of the type of the operand."""
    count, whole = x.shape[-1], WHOLE[x.dtype]
    if count % 2 or not is_compiled(x.shape, count // 2):
        found: Array = np.fft.rfft(x).astype(whole, copy=False)
        return found
    pairs = np.ascontiguousarray(x).reshape(-1, count // 2, 2)
    kernel = _compiled(PARTS[whole], count // 2, _bound(len(pairs)), inverse=False, half=True)
    made: Array = kernel(pairs).view(whole)
    return made.reshape(*x.shape[:-1], count // 2 + 1)


def _bound(rows: int) -> int:
    """Return the next power of two: the room for what lies between is made for so many rows."""
    return 1 << (rows - 1).bit_length()


@cache
def _compiled(part: DType, count: int, most: int, *, inverse: bool, half: bool) -> Kernel:
    """Return the transform of up to so many rows of so many pairs."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    def build(emit: Callable[..., object], x: object) -> object:
        make = Maker(emit)
        table = turns(count, inverse=inverse, half=half).astype(part.numpy)
        made = make.fourier(x, make.constant(value=table), inverse=inverse, half=half)
        return make.mul(made, make.number(1 / count, part)) if inverse else made

    return single.in_a_row(build, [TensorSpec(part, (parse("N"), count, 2))], most)

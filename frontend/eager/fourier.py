"""Fourier transforms: of many rows by compiled code, else by numpy.

Which of the two it is depends on the shape alone: numpy has the lengths of other factors, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY, Array
from ...ir.ops.fourier import has_kernel, turns
from ...ir.types.dims import parse
from ...ir.types.dtypes import DType, f32, f64
from ...ir.types.tensor import TensorSpec

ROWS = 16
"""So few rows are not worth it: each lane has a row."""
MUCH = 1 << 13
"""So few numbers are not worth compiling."""
_NUMPY: object = getattr(np.fft, "_pocketfft_umath", None)
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


def transformed(x: Array, *, inverse: bool = False, parts: int | None = None) -> Array:
    """Return what numpy's `fft` or `ifft` gives, in the type of the operand, which is complex.

    An inverse is divided by how many numbers a row has, or by so many `parts`.
    """
    count = x.shape[-1]
    if not is_compiled(x.shape, count):
        return _by_numpy(x, -1, inverse=inverse)
    part = PARTS[x.dtype]
    pairs = np.ascontiguousarray(x).view(part.numpy).reshape(-1, count, 2)
    parts = (parts or count) if inverse else 1
    kernel = _compiled(part, count, _bound(len(pairs)), inverse=inverse, half=False, parts=parts)
    return kernel(pairs).view(x.dtype).reshape(x.shape)


def transformed_along(x: Array, rank: int, *, inverse: bool = False) -> Array:
    """Return what numpy's `fftn` or `ifftn` gives along the last axes, the last one first."""
    if x.ndim == rank == 2 and all(
        is_compiled(shape, shape[1]) for shape in (x.shape, x.shape[::-1])
    ):
        made = transformed(x, inverse=inverse, parts=1)  # (all is divided once, at the end)
        return transformed(_turned_over(made), inverse=inverse, parts=x.size).swapaxes(0, 1)
    is_few = x.size < MUCH
    made = _by_numpy(x, -1, inverse=inverse) if is_few else transformed(x, inverse=inverse)
    for axis in range(x.ndim - 2, x.ndim - 1 - rank, -1):
        count = x.shape[axis]
        if not is_few and is_compiled((x.size // count, count), count):
            made = transformed(made.swapaxes(axis, -1), inverse=inverse).swapaxes(axis, -1)
        elif count > 1:
            made = _by_numpy(made, axis, inverse=inverse)
    return made


def _turned_over(x: Array) -> Array:
    """Return a matrix with its axes exchanged; a pair of floats moves as one."""
    if x.dtype != np.complex64:
        return x.T
    return _transposing(x.shape)(x.view(np.float64)).view(np.complex64)


@lru_cache(maxsize=64)
def _transposing(shape: tuple[int, ...]) -> Kernel:
    """Return the transposition of matrices of a shape."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    return single.whole(REGISTRY["gv.transpose"], [TensorSpec(f64, shape)], {"order": (1, 0)})


def _by_numpy(x: Array, axis: int, *, inverse: bool) -> Array:
    """Return what numpy's `fft` or `ifft` gives along an axis, computed in the operand's type.

    Of few numbers most of the time is what `numpy.fft` does around its own functions.
    """
    function: Kernel | None = getattr(_NUMPY, "ifft" if inverse else "fft", None)
    if not x.size or function is None:
        made: Array = (np.fft.ifft if inverse else np.fft.fft)(x, axis=axis)
        return made.astype(x.dtype, copy=False)
    kind = PARTS[x.dtype].numpy.type
    factor = kind(1 / x.shape[axis]) if inverse else kind(1)
    if axis == -1:
        found: Array = function(x, factor, out=np.empty_like(x))
    else:
        found = function(x, factor, axes=[(axis,), (), (axis,)], out=np.empty_like(x))
    return found


def transformed_half(x: Array) -> Array:
    """Return what numpy's `rfft` gives, in complex numbers of the type of the operand."""
    count, whole = x.shape[-1], WHOLE[x.dtype]
    if count % 2 or not is_compiled(x.shape, count // 2):
        found: Array = np.fft.rfft(x).astype(whole, copy=False)
        return found
    pairs = np.ascontiguousarray(x).reshape(-1, count // 2, 2)
    kernel = _compiled(
        PARTS[whole], count // 2, _bound(len(pairs)), inverse=False, half=True, parts=1
    )
    made: Array = kernel(pairs).view(whole)
    return made.reshape(*x.shape[:-1], count // 2 + 1)


def cosines(x: Array, kind: int, *, ortho: bool) -> Array:
    """Return the cosine transform of kind 2 or 3 of rows of floats, by one of complex numbers.

    Of kind 2, as J. Makhoul did ("A fast cosine transform in one and two dimensions", 1980): what
    is at even places, and then what is at odd ones from the last on, is a row of its own. Kind 3
    is, in this order, the real part of what the turned row becomes.
    """
    count = x.shape[-1]
    half = count - count // 2
    row = np.empty_like(x, order="C")
    if kind == 3:
        whole = transformed(x * _turn(count, kind, ortho, x.dtype)).real
        row[..., ::2], row[..., 1::2] = whole[..., :half], whole[..., half:][..., ::-1]
        return row
    row[..., :half], row[..., half:] = x[..., ::2], x[..., 1::2][..., ::-1]
    found = transformed_half(row)
    found *= _turn(count, kind, ortho, x.dtype)
    kept = found.shape[-1]
    row[..., :kept] = found.real
    np.negative(found.imag[..., half - 1 : 0 : -1], out=row[..., kept:])
    return row


@lru_cache(maxsize=16)
def _turn(count: int, kind: int, ortho: bool, dtype: np.dtype[np.generic]) -> Array:
    """Return what turns elements before or after they are transformed, with their weights."""
    weights = np.full(count, 2.0)
    if ortho:
        weights *= np.sqrt(0.5 / count)
        weights[0] *= np.sqrt(0.5)
    elif kind == 3:
        weights[0] = 1.0
    made = weights * np.exp(-0.5j * np.pi / count * np.arange(count))
    kept = count if kind == 3 else count // 2 + 1
    found: Array = made[:kept].astype(WHOLE[dtype])
    return found


def _bound(rows: int) -> int:
    """Return the next power of two: the room for what lies between is made for so many rows."""
    return 1 << (rows - 1).bit_length()


@cache
def _compiled(
    part: DType, count: int, most: int, *, inverse: bool, half: bool, parts: int
) -> Kernel:
    """Return the transform of up to so many rows of so many pairs, divided by some parts."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    def build(emit: Callable[..., object], x: object) -> object:
        make = Maker(emit)
        table = turns(count, inverse=inverse, half=half).astype(part.numpy)
        return make.fourier(x, make.constant(value=table), inverse=inverse, half=half, parts=parts)

    return single.in_a_row(build, [TensorSpec(part, (parse("N"), count, 2))], most)

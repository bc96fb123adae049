"""Arithmetic on numpy arrays where numpy leaves a case open or has no function.

Who calls these functions, or `Op.evaluate`, silences numpy's warnings.

Integers wrap; division by zero gives 0, as do both remainders; the lowest integer divided by
-1 is itself; a shift by the width or more gives 0 (of a signed right shift: the sign), and the
amount is read as unsigned. A float becomes an integer by truncation, clamped to the
integer's range, NaN becoming 0; an integer becomes a narrower one by dropping the upper bits.
A number becomes f16 or bf16 through f32, so that f64 and large integers are rounded twice: so do
TensorFlow and PyTorch. To floats of fewer bits f64 is rounded once, as it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .dtypes import DType, bf16, f8e8m0, f32, f64, i32, of_numpy
from .tensor import Array

_NARROW = ("f16", "bf16")
_WIDE = (f64.numpy, f32.numpy)


def widened(dtype: DType) -> DType:
    """Return the type that a float type is computed in: f32 for the narrower ones."""
    return f32 if dtype.name in _NARROW else dtype


def widen(array: Array) -> Array:
    """Return the array in the type that it is computed in, its rows one behind the other.

    In another order numpy adds up in another order: values would depend on where they lie.
    """
    if array.dtype not in _WIDE:
        array = array.astype(widened(of_numpy(array.dtype)).numpy, copy=False)
    return np.asarray(array, order="C")


def round_to(array: Array, dtype: DType) -> Array:
    """Return numbers rounded once, to nearest even, to a real or complex float type."""
    if dtype is bf16 and array.dtype not in (np.float32, dtype.numpy):
        wide = array.astype(np.float64, copy=False)
        array = wide.astype(np.float32, order="C")
        if (array.view(np.uint32) & _BELOW_BF16 == _MIDDLE).any():
            array = _single_to_odd(wide)  # (elsewhere, rounding twice is rounding once)
    return array.astype(dtype.numpy)


_BELOW_BF16 = np.uint32((1 << 16) - 1)
"""The bits of f32 that bf16 has not,"""
_MIDDLE = np.uint32(1 << 15)
"""and what they are in the middle between two numbers of bf16."""
_BELOW_SINGLE = (1 << 29) - 1
"""The bits of f64 that f32 has not, where it is normal."""
_NORMAL = float(np.finfo(np.float32).tiny)


def _single_to_odd(wide: Array) -> Array:
    """Return f64 as f32 rounded to odd, which a second rounding does not spoil."""
    if (np.abs(wide) < _NORMAL).any():
        return _subnormal_to_odd(wide)
    bits = wide.view(np.int64)
    sticky = (bits & _BELOW_SINGLE) + _BELOW_SINGLE
    return ((bits | sticky) & ~_BELOW_SINGLE).view(np.float64).astype(np.float32)


def _subnormal_to_odd(wide: Array) -> Array:
    """Return the same where some may be subnormal in f32."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = wide.astype(np.float32)
        error = wide - single  # of infinities there is none
    bits = single.view(np.int32)
    inexact = (error != 0) & np.isfinite(wide) & ((bits & 1) == 0)
    away = np.where((error > 0) == (wide > 0), 1, -1).astype(np.int32)
    return np.where(inexact, bits + away, bits).view(np.float32)


def in_wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """Return a function of arrays of one float type, computed in f32 where they are narrower."""

    def run(*arrays: Array) -> Array:
        dtype = arrays[0].dtype
        if dtype in _WIDE:
            return np.asarray(function(*arrays), dtype)
        made = np.asarray(function(*map(widen, arrays)))
        return made if made.dtype == dtype else round_to(made, of_numpy(dtype))

    return run


def complex_multiply(x: Array, y: Array) -> Array:
    """Return products of complex numbers; each step is rounded, as in compiled code.

    numpy's own bits depend on the processor, and on where the elements lie.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    made = np.empty(np.broadcast_shapes(x.shape, y.shape), np.result_type(x, y))
    made.real = a * c - b * d
    made.imag = a * d + b * c
    return made


def complex_absolute(z: Array) -> Array:
    """Return the sizes of complex numbers; each step is rounded, as in compiled code."""
    a, b = np.abs(z.real), np.abs(z.imag)
    large, small = np.maximum(a, b), np.minimum(a, b)
    ratio = np.where(large == 0, large, small / large)
    made = np.sqrt(ratio * ratio + 1) * large
    return np.asarray(np.where(np.isinf(a) | np.isinf(b), large.dtype.type(np.inf), made))


def complex_divide(x: Array, y: Array) -> Array:
    """Return quotients of complex numbers, the divisor scaled by the larger one of its parts.

    Each step is rounded, so that compiled code and TensorFlow's have the same bits; a divisor of 0
    or without finite parts gives NaN.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    size = np.maximum(np.abs(c), np.abs(d))
    c, d = c / size, -(d / size)
    whole = c * c + d * d
    made = np.empty(np.broadcast_shapes(x.shape, y.shape), np.result_type(x, y))
    made.real = (a * c - b * d) / whole / size
    made.imag = (a * d + b * c) / whole / size
    return made


def divide(x: Array, y: Array) -> Array:
    """Return quotients of floats or complex numbers."""
    return complex_divide(x, y) if np.iscomplexobj(x) else np.divide(x, y)


def erf(x: Array) -> Array:
    """Return the error function, computed in f64."""
    return np.asarray(_ERF(x.astype(np.float64))).astype(x.dtype)


_ERF = np.vectorize(math.erf, otypes=[np.float64])


def erfc(x: Array) -> Array:
    """Return what the error function leaves to 1, computed in f64."""
    return np.asarray(_ERFC(x.astype(np.float64))).astype(x.dtype)


_ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def saturate(x: Array, dtype: DType) -> Array:
    """Return the elements in another type; see the module's first page."""
    if dtype.kind == "b":
        return np.asarray(x != 0)
    if "n" in (dtype.kind, of_numpy(x.dtype).kind):
        return _narrow(x, dtype)
    if dtype.is_integer and x.dtype.kind not in "biu":
        return _to_integer(x, dtype)
    if dtype.name in _NARROW and x.dtype not in (np.float32, dtype.numpy):
        x = x.astype(np.float32)
    return x.astype(dtype.numpy)


def _narrow(x: Array, dtype: DType) -> Array:
    """Convert from or to a narrow type: through i32 if that is an integer, else through f32."""
    source = of_numpy(x.dtype)
    if source.kind == "n":
        return saturate(x.astype(np.int32 if source.is_narrow_integer else np.float32), dtype)
    if dtype is f8e8m0:
        return _to_power(x.astype(np.float32))
    if dtype.is_narrow_float:
        single = _single_to_odd(x) if x.dtype == np.float64 else x.astype(np.float32)
        return single.astype(dtype.numpy)
    wide = saturate(x, i32) & ((1 << dtype.bits) - 1)
    return np.asarray(wide).astype(np.uint8).view(dtype.numpy)


def _to_power(x: Array) -> Array:
    """Return the nearest powers of two, of two that are as near the larger; NaN if there is none.

    All above the smallest is at least the next one: ml_dtypes had it so before 0.7.
    """
    half = 1 << 22
    bits = np.ascontiguousarray(x).view(np.int32).astype(np.int64)
    code = np.where(bits <= half, 0, bits + half >> 23)
    return np.where((bits <= 0) | (code > 254), 255, code).astype(np.uint8).view(f8e8m0.numpy)


def _to_integer(x: Array, dtype: DType) -> Array:
    if x.dtype.kind == "f" and dtype.kind == "i" and _largest(x) < dtype.maximum:
        return x.astype(dtype.numpy)
    wide = np.trunc(x.astype(np.float64))
    low, high = dtype.minimum, dtype.maximum
    above, below = wide >= float(high), wide <= float(low)
    inside = np.where(above | below | np.isnan(wide), 0, wide)
    kept = inside.astype(np.uint64 if dtype.name == "u64" else np.int64).astype(dtype.numpy)
    limited = np.where(above, dtype.numpy.type(high), kept)
    return np.where(below, dtype.numpy.type(low), limited)


def _largest(x: Array) -> float:
    """Return the largest absolute value; NaN if there is one."""
    return float(np.maximum.reduce(np.abs(x), None, initial=0))


def truncated_divide(x: Array, y: Array) -> Array:
    """Return the quotient of integers, towards zero; 0 where divided by 0."""
    with np.errstate(all="ignore"):
        quotient = np.asarray(np.floor_divide(x, y))
        if x.dtype.kind == "u":
            return quotient
        up = (np.fmod(x, y) != 0) & ((x < 0) != (y < 0))
        return np.asarray(quotient + up.astype(x.dtype))


def truncated_remainder(x: Array, y: Array) -> Array:
    """Return the remainder with the sign of the dividend, of integers or floats."""
    with np.errstate(all="ignore"):
        return np.asarray(np.fmod(x, y))


def floor_divide(x: Array, y: Array) -> Array:
    """Return the quotient, towards minus infinity, of integers (by 0 it is 0) or floats."""
    with np.errstate(all="ignore"):
        if x.dtype.kind not in "iu":
            made: Array = np.asarray(np.true_divide(x, y))
            return np.asarray(np.floor(made, out=made))
        return np.asarray(np.floor_divide(x, y))


def floor_remainder(x: Array, y: Array) -> Array:
    """Return the remainder with the sign of the divisor, of integers or floats; that of 0 too."""
    if x.dtype.kind in "iu":
        with np.errstate(all="ignore"):
            return np.asarray(np.remainder(x, y))
    remainder = truncated_remainder(x, y)
    other_sign = (remainder != 0) & ((remainder < 0) != (y < 0))
    found: Array = np.where(other_sign, remainder + y, remainder).astype(x.dtype)
    return np.where(found == 0, np.copysign(found, y), found)


def larger(x: Array, y: Array) -> Array:
    """Return the larger elements; of zeros the first (numpy gives the second)."""
    made: Array = np.maximum(y, x)
    return made


def smaller(x: Array, y: Array) -> Array:
    """Return the smaller elements; of zeros the first (numpy gives the second)."""
    made: Array = np.minimum(y, x)
    return made


def _amount(x: Array, y: Array) -> tuple[Array, Array]:
    """Return a shift's amount limited to what numpy can do, and where it was."""
    width = 8 * x.dtype.itemsize
    unsigned = y.view(f"u{y.dtype.itemsize}")
    limited = np.minimum(unsigned, unsigned.dtype.type(width - 1))
    return limited.astype(x.dtype), unsigned >= width


def shift_left(x: Array, y: Array) -> Array:
    """Return the integers shifted to the left."""
    amount, too_far = _amount(x, y)
    return np.where(too_far, x.dtype.type(0), np.left_shift(x, amount))


def shift_right(x: Array, y: Array) -> Array:
    """Return the integers shifted to the right, keeping the sign."""
    amount, too_far = _amount(x, y)
    shifted = np.right_shift(x, amount)
    return (
        np.asarray(shifted) if x.dtype.kind == "i" else np.where(too_far, x.dtype.type(0), shifted)
    )


BITS: dict[int, np.dtype[np.generic]] = {2: np.dtype(np.uint16), 8: np.dtype(np.uint64)}
"""By size in bytes: numbers that have the bits of elements, which numpy writes one by one."""


def fill(x: Array, value: object) -> None:
    """Write a value to all elements of an array without gaps: by its bits, if numpy is slow."""
    bits = BITS.get(x.dtype.itemsize)
    if bits is None or not x.ndim or x.dtype.kind in "biuO":
        x[...] = value
    else:
        one: Array = np.asarray(value).astype(x.dtype)
        x.view(bits)[...] = one.view(bits)


def own(x: Array) -> Array:
    """Return a copy of an array, in which one element may be everywhere."""
    if any(x.strides) or not x.size:
        return x.copy()
    made = np.empty(x.shape, x.dtype)
    fill(made, x[(0,) * x.ndim])
    return made

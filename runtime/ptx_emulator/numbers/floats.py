"""Rounding as the hardware rounds: every result is what exact arithmetic gives, rounded once.

Sums are first made in f64 and rounded to odd (the last bit set where anything was lost); from
there a second rounding to fewer bits gives what one rounding would have given.
"""

from __future__ import annotations

import numpy as np

from ..memory import Array

_SPLIT = float((1 << 27) + 1)
_LOST, _HALF = (1 << 29) - 1, 1 << 28
"""The bits of f64 that f32 lacks, and what they are half way between two f32."""
_SMALL = np.uint32(1 << 24)
"""One more than the bits of what is next to the subnormal numbers of f32, or one of them."""


def odd_sum(x: Array, y: Array) -> Array:
    """Return x + y in f64, rounded to odd."""
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
    bits = np.atleast_1d(total).view(np.int64)
    lost = np.atleast_1d((error != 0) & np.isfinite(total)) & ((bits & 1) == 0)
    if not lost.any():
        return total
    toward = np.where((error > 0) == (total > 0), 1, -1)
    return (bits + np.where(lost, toward, 0)).view(np.float64).reshape(np.shape(total))


def round_f32(x: Array, mode: str = "rn") -> Array:
    """Return f64 as f32, rounded to nearest even or in the direction of `mode`."""
    nearest = np.asarray(x, np.float32)
    if mode == "rn":
        return nearest
    back = nearest.astype(np.float64)
    up = np.nextafter(nearest, np.float32(np.inf))
    down = np.nextafter(nearest, np.float32(-np.inf))
    if mode == "rp":
        return np.where(back < x, up, nearest)
    if mode == "rm":
        return np.where(back > x, down, nearest)
    outward = np.abs(back) > np.abs(x)
    return np.where(outward, np.where(x > 0, down, up), nearest)


def round_odd_f32(x: Array) -> Array:
    """Return f64 as f32, rounded to odd."""
    toward_zero = round_f32(x, "rz")
    bits: Array = np.atleast_1d(toward_zero).view(np.uint32)
    lost = np.atleast_1d((toward_zero.astype(np.float64) != x) & np.isfinite(x))
    found: Array = (bits | lost).view(np.float32)
    return found.reshape(np.shape(x))


def to_bf16(x: Array, mode: str = "rn") -> Array:
    """Return f32 as the bits of bf16."""
    bits = np.atleast_1d(np.asarray(x, np.float32)).view(np.uint32)
    half = 0 if mode == "rz" else 0x7FFF + ((bits >> 16) & 1)
    found = (bits + half) >> 16
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, 0x7FFF, found).astype(np.uint16).reshape(np.shape(x))


def from_bf16(bits: Array) -> Array:
    """Return the bits of bf16 as f32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_f16(x: Array, mode: str = "rn") -> Array:
    """Return f32 or f64 as f16."""
    nearest = x.astype(np.float16)
    if mode == "rn":
        return nearest
    outward = np.abs(nearest.astype(np.float64)) > np.abs(x)
    return np.where(outward, np.nextafter(nearest, np.float16(0)), nearest)


def to_tf32(x: Array) -> Array:
    """Return f32 rounded to the 10 bits behind the point of tf32, ties away from zero."""
    bits = np.atleast_1d(x).view(np.uint32)
    finite = (bits & 0x7F800000) != 0x7F800000
    rounded = (bits + np.where(finite, 0x1000, 0).astype(np.uint32)) & np.uint32(0xFFFFE000)
    return rounded.view(np.float32).reshape(np.shape(x))


def cut_tf32(x: Array) -> Array:
    """Return f32 as a tensor core reads it for tf32: without its last 13 bits."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def flush(x: Array) -> Array:
    """Return f32 with zeros for subnormal numbers, as `.ftz` says."""
    return np.where(np.abs(x) < np.float32(2**-126), np.copysign(np.float32(0), x), x)


def fma_f32(x: Array, y: Array, z: Array, mode: str = "rn") -> Array:
    """Return x * y + z of f32, rounded once."""
    product = x.astype(np.float64) * y.astype(np.float64)
    if mode != "rn":
        return round_f32(odd_sum(product, z.astype(np.float64)), mode)
    total = np.atleast_1d(product + z.astype(np.float64))
    found: Array = total.astype(np.float32)
    # A second rounding matters only half way between two f32, which subnormal ones have
    # elsewhere: there the sum is made again.
    bits: Array = total.view(np.int64)
    size: Array = found.view(np.uint32) & np.uint32(0x7FFFFFFF)
    unsure = ((bits & _LOST) == _HALF) | (size - np.uint32(1) < _SMALL)
    if unsure.any():
        shape = total.shape
        parts = (np.broadcast_to(each, shape)[unsure] for each in (product, z.astype(np.float64)))
        found[unsure] = round_f32(odd_sum(*parts))
    return found.reshape(np.broadcast_shapes(np.shape(product), np.shape(z)))


def fma_f16(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z of f16, rounded once."""
    product = x.astype(np.float64) * y.astype(np.float64)
    return odd_sum(product, z.astype(np.float64)).astype(np.float16)


def fma_bf16(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z of the bits of bf16, rounded once."""
    product = from_bf16(x).astype(np.float64) * from_bf16(y).astype(np.float64)
    return to_bf16(round_odd_f32(odd_sum(product, from_bf16(z).astype(np.float64))))


def fma_f64(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z of f64 with the product's lost bits, almost always rounded once."""
    product = x * y
    xh, yh = x * _SPLIT, y * _SPLIT
    xh, yh = xh - (xh - x), yh - (yh - y)
    xl, yl = x - xh, y - yh
    low = ((xh * yh - product) + xh * yl + xl * yh) + xl * yl
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    found = total + (error + low)
    return np.where(np.isfinite(found), found, total)

"""Complex tensors as two of real numbers: what operations and functions of them are by parts.

Compiled code has real numbers only (`passes/split_complex.py`). Eager code computes functions by
the same formulas, so that both have the same bits; special values are those of C's annex G.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..families import spec_of_value
from ..types import dtypes as rows
from ..types.dtypes import DType
from .maker import Maker


@dataclass(frozen=True)
class Complex:
    """A complex tensor as two."""

    make: Maker
    real: Any
    imag: Any

    @property
    def dtype(self) -> DType:
        """Return the element type of both parts."""
        return spec_of_value(self.real).dtype

    def each(self, function: Callable[[Any], Any]) -> Complex:
        """Apply a function of real numbers to both parts."""
        return Complex(self.make, function(self.real), function(self.imag))

    def to(self, dtype: DType) -> Complex:
        """Convert both parts."""
        return self.each(lambda x: self.make.to(x, dtype))

    def __add__(self, other: Complex) -> Complex:
        real = self.make.add(self.real, other.real)
        return Complex(self.make, real, self.make.add(self.imag, other.imag))

    def __sub__(self, other: Complex) -> Complex:
        real = self.make.sub(self.real, other.real)
        return Complex(self.make, real, self.make.sub(self.imag, other.imag))

    def __mul__(self, other: Complex) -> Complex:
        """Multiply as `complex_multiply` does: each step is rounded, on whatever processor."""
        m, (a, b), (c, d) = self.make, (self.real, self.imag), (other.real, other.imag)
        real = m.sub(m.mul(a, c), m.mul(b, d))
        return Complex(m, real, m.add(m.mul(a, d), m.mul(b, c)))

    def __truediv__(self, other: Complex) -> Complex:
        """Divide as `complex_divide` does, step by step."""
        m, (a, b) = self.make, (self.real, self.imag)
        size = m.maximum(m.abs(other.real), m.abs(other.imag))
        c, d = m.div(other.real, size), m.neg(m.div(other.imag, size))
        whole = m.add(m.mul(c, c), m.mul(d, d))
        real, imag = m.sub(m.mul(a, c), m.mul(b, d)), m.add(m.mul(a, d), m.mul(b, c))
        return Complex(m, real, imag).each(lambda x: m.div(m.div(x, whole), size))

    def conjugate(self) -> Complex:
        """Return the conjugates."""
        return Complex(self.make, self.real, self.make.neg(self.imag))

    def scaled(self, factor: float) -> Complex:
        """Multiply by a real number."""
        number = self.make.number(factor, self.dtype)
        return self.each(lambda x: self.make.mul(x, number))

    def turned(self) -> Complex:
        """Multiply by the imaginary unit."""
        return Complex(self.make, self.make.neg(self.imag), self.real)

    def turned_back(self) -> Complex:
        """Multiply by minus the imaginary unit."""
        return Complex(self.make, self.imag, self.make.neg(self.real))

    def times(self, factor: np.ndarray[Any, Any]) -> Complex:
        """Multiply by complex numbers that broadcast."""
        make, parts = self.make, (factor.real, factor.imag)
        real, imag = (make.constant(value=p.astype(self.dtype.numpy)) for p in parts)
        return self * Complex(make, real, imag)

    def reshaped(self, shape: Sequence[Any]) -> Complex:
        """Give both parts another shape."""
        return self.each(lambda x: self.make.reshape(x, shape=tuple(shape)))


def absolute(z: Complex) -> Any:
    """Return the sizes as `complex_absolute` does: by the quotient of the parts."""
    m, one, zero = z.make, z.make.number(1, z.dtype), z.make.number(0, z.dtype)
    a, b = m.abs(z.real), m.abs(z.imag)
    far, infinite = m.number(np.inf, z.dtype), m.logical_or(m.isinf(a), m.isinf(b))
    large, small = m.maximum(a, b), m.minimum(a, b)
    ratio = m.select(m.equal(large, zero), zero, m.div(small, large))
    made = m.mul(m.sqrt(m.add(m.mul(ratio, ratio), one)), large)
    return m.select(infinite, far, made)


def _signed(m: Maker, size: Any, like: Any, dtype: DType) -> Any:
    """Return numbers that are not negative with the signs of others, those of zeros too."""
    bits = {rows.f32: rows.i32, rows.f64: rows.i64}[dtype]
    below = m.less(m.bitcast(like, dtype=bits), m.number(0, bits))
    return m.select(below, m.neg(size), size)


def _along(m: Maker, size: Any, part: Any) -> Any:
    """Multiply, where a part of a direction that is 0 stays 0 however large the size is."""
    nothing = m.equal(part, m.number(0, spec_of_value(part).dtype))
    return m.select(nothing, part, m.mul(size, part))


def equal(a: Complex, b: Complex) -> Any:
    """Say where both parts are equal."""
    m = a.make
    return m.logical_and(m.equal(a.real, b.real), m.equal(a.imag, b.imag))


def not_equal(a: Complex, b: Complex) -> Any:
    """Say where one of the parts differs."""
    m = a.make
    return m.logical_or(m.not_equal(a.real, b.real), m.not_equal(a.imag, b.imag))


LIMITS = {rows.f32: (80.0, 64.0), rows.f64: (700.0, 600.0)}
"""Beyond what an exponential is taken in two factors, and the second one's exponent."""


def exp(z: Complex) -> Complex:
    """Return e to the power of numbers."""
    m, dtype, y = z.make, z.dtype, z.imag
    most, shift = LIMITS[dtype]
    large = m.greater(z.real, m.number(most, dtype))
    none, less = m.number(0, dtype), m.number(shift, dtype)
    size = m.exp(m.sub(z.real, m.select(large, less, none)))
    more = m.select(large, m.number(np.exp(shift), dtype), m.number(1, dtype))
    gone = m.logical_and(m.equal(size, none), m.logical_not(m.isfinite(y)))
    parts = Complex(m, m.cos(y), m.sin(y)).each(
        lambda x: m.select(gone, none, m.mul(_along(m, size, x), more))
    )
    return Complex(m, _unbounded(m, z.real, y, size, parts.real), parts.imag)


def _unbounded(m: Maker, exponent: Any, angle: Any, size: Any, made: Any) -> Any:
    """Return a part, which is infinite where an exponent is and the angle is not known."""
    unknown = m.logical_not(m.isfinite(angle))
    return m.select(m.logical_and(m.isinf(exponent), unknown), size, made)


def _hyperbolic(m: Maker, x: Any, dtype: DType) -> tuple[Any, Any, Any]:
    """Return the hyperbolic sine and cosine, and what both are to be multiplied by."""
    most, shift = LIMITS[dtype]
    size = m.abs(x)
    large = m.greater(size, m.number(most, dtype))
    half = m.mul(m.exp(m.sub(size, m.number(shift, dtype))), m.number(0.5, dtype))
    sinh, cosh = m.select(large, half, m.sinh(size)), m.select(large, half, m.cosh(x))
    more = m.select(large, m.number(np.exp(shift), dtype), m.number(1, dtype))
    return _signed(m, sinh, x, dtype), cosh, more


def sin(z: Complex) -> Complex:
    """Return the sines."""
    m = z.make
    sinh, cosh, more = _hyperbolic(m, z.imag, z.dtype)
    imag = _unbounded(m, z.imag, z.real, sinh, _crossed(m, m.cos(z.real), sinh))
    return Complex(m, _along(m, cosh, m.sin(z.real)), imag).each(lambda x: m.mul(x, more))


def cos(z: Complex) -> Complex:
    """Return the cosines."""
    m = z.make
    sinh, cosh, more = _hyperbolic(m, z.imag, z.dtype)
    imag = m.neg(_crossed(m, sinh, m.sin(z.real)))
    real = _unbounded(m, z.imag, z.real, cosh, _along(m, cosh, m.cos(z.real)))
    return Complex(m, real, imag).each(lambda x: m.mul(x, more))


def _crossed(m: Maker, a: Any, b: Any) -> Any:
    """Multiply, where either being 0 makes the product 0."""
    zero = m.number(0, spec_of_value(a).dtype)
    unit = _signed(m, m.number(1, spec_of_value(a).dtype), a, spec_of_value(a).dtype)
    nothing = m.mul(m.select(m.equal(a, zero), a, unit), m.select(m.isfinite(b), b, zero))
    return m.select(m.logical_or(m.equal(a, zero), m.equal(b, zero)), nothing, m.mul(a, b))


def sinh(z: Complex) -> Complex:
    """Return the hyperbolic sines."""
    return sin(z.turned()).turned_back()


def cosh(z: Complex) -> Complex:
    """Return the hyperbolic cosines."""
    return cos(z.turned())


FAR = 350.0
"""Where the hyperbolic tangent's imaginary part is nearly nothing, and its real part 1."""


def tanh(z: Complex) -> Complex:
    """Return sinh cosh and sin cos over sinh² + cos², in f64, where nothing overflows."""
    m, f64 = z.make, rows.f64
    wide = z.to(f64)
    far, one = m.number(FAR, f64), m.number(1, f64)
    a = m.minimum(m.maximum(wide.real, m.neg(far)), far)
    sinh, sin, cos = m.sinh(a), m.sin(wide.imag), m.cos(wide.imag)
    cosh = m.sqrt(m.add(m.mul(sinh, sinh), one))
    size = m.add(m.mul(sinh, sinh), m.mul(cos, cos))
    beyond = m.isinf(wide.real)
    imag = m.div(m.mul(sin, cos), size)
    nothing = m.mul(m.select(m.isfinite(imag), imag, m.number(0, f64)), m.number(0, f64))
    real = m.select(beyond, _signed(m, one, a, f64), m.div(m.mul(sinh, cosh), size))
    real = m.select(m.equal(a, m.number(0, f64)), a, real)
    imag = m.select(m.equal(wide.imag, m.number(0, f64)), wide.imag, imag)
    return Complex(m, real, m.select(beyond, nothing, imag)).to(z.dtype)


def tan(z: Complex) -> Complex:
    """Return the tangents."""
    return tanh(z.turned()).turned_back()


def _log_size(m: Maker, x: Any, y: Any, *, is_narrow: bool) -> Any:
    """Return the logarithm of the size of numbers of f64, precise where that is near 1.

    The squares of numbers that were f32 are neither too large, nor too far from being exact.
    """
    f64 = rows.f64
    one, half = (m.number(v, f64) for v in (1, 0.5))
    infinite = m.logical_or(m.isinf(x), m.isinf(y))
    if is_narrow:
        made = m.log(m.add(m.mul(x, x), m.mul(y, y)))
        return m.select(infinite, m.number(np.inf, f64), m.mul(half, made))
    a, b = m.abs(x), m.abs(y)
    large, small = m.maximum(a, b), m.minimum(a, b)
    huge, tiny = m.greater(large, m.number(1e150, f64)), m.less(large, m.number(1e-140, f64))
    scales = [
        m.select(huge, m.number(far, f64), m.select(tiny, m.number(near, f64), m.number(v, f64)))
        for far, near, v in ((2.0**-500, 2.0**600, 1), (500 * _LOG2, -600 * _LOG2, 0))
    ]
    a, b = m.mul(a, scales[0]), m.mul(b, scales[0])
    far = m.add(m.mul(half, m.log(m.add(m.mul(a, a), m.mul(b, b)))), scales[1])
    rest = m.add(m.mul(m.sub(large, one), m.add(large, one)), m.mul(small, small))
    near = m.mul(half, m.log1p(rest))
    made = m.select(m.less(m.abs(rest), half), near, far)
    return m.select(infinite, m.number(np.inf, f64), made)


_LOG2 = 0.6931471805599453


def log(z: Complex) -> Complex:
    """Return the logarithms."""
    m, wide = z.make, z.to(rows.f64)
    size = _log_size(m, wide.real, wide.imag, is_narrow=z.dtype == rows.f32)
    return Complex(m, m.to(size, z.dtype), m.atan2(z.imag, z.real))


def log1p(z: Complex) -> Complex:
    """Return the logarithms of 1 + z, precise near 0."""
    m, f64 = z.make, rows.f64
    wide = z.to(f64)
    one, two, half = (m.number(v, f64) for v in (1, 2, 0.5))
    more = m.add(wide.real, one)
    rest = m.add(m.mul(wide.real, m.add(wide.real, two)), m.mul(wide.imag, wide.imag))
    near = m.mul(half, m.log1p(rest))
    far = _log_size(m, more, wide.imag, is_narrow=z.dtype == rows.f32)
    size = m.select(m.less(m.abs(rest), half), near, far)
    return Complex(m, size, m.atan2(wide.imag, more)).to(z.dtype)


def expm1(z: Complex) -> Complex:
    """Return e to the power of numbers less 1, precise near 0."""
    m, whole = z.make, exp(z)
    half = m.sin(m.mul(z.imag, m.number(0.5, z.dtype)))
    near = m.sub(
        m.mul(m.expm1(z.real), m.cos(z.imag)), m.mul(m.number(2, z.dtype), m.mul(half, half))
    )
    is_near = m.less(m.abs(z.real), m.number(1, z.dtype))
    real = m.select(is_near, near, m.sub(whole.real, m.number(1, z.dtype)))
    return Complex(m, real, whole.imag)


ENDS = {rows.f32: (1e18, 68, 1e-15, 100), rows.f64: (1e150, 520, 1e-140, 600)}
"""Beyond what numbers are scaled before they are squared, and by which powers of 2."""


def sqrt(z: Complex) -> Complex:
    """Return the roots whose real part is not negative."""
    m, dtype = z.make, z.dtype
    zero, half = m.number(0, dtype), m.number(0.5, dtype)
    scaled, back = _scaled(z)
    a, b = scaled.real, scaled.imag
    size = m.sqrt(m.add(m.mul(a, a), m.mul(b, b)))
    large = m.sqrt(m.mul(m.add(size, m.abs(a)), half))
    divisor = m.select(m.equal(large, zero), m.number(1, dtype), large)
    small = m.div(m.mul(b, half), divisor)
    is_right = m.greater_equal(a, zero)
    real = m.select(is_right, large, m.abs(small))
    imag = m.select(is_right, small, _signed(m, large, b, dtype))
    return _rooted(z, Complex(m, real, imag).each(lambda x: m.mul(x, back)))


def _scaled(z: Complex) -> tuple[Complex, Any]:
    """Return numbers that are neither huge nor tiny, and by what their roots are multiplied."""
    m, dtype = z.make, z.dtype
    most, plain = m.maximum(m.abs(z.real), m.abs(z.imag)), m.number(1, dtype)
    high, down, low, up = ENDS[dtype]
    huge, tiny = m.greater(most, m.number(high, dtype)), m.less(most, m.number(low, dtype))
    by, back = (
        m.select(huge, m.number(a, dtype), m.select(tiny, m.number(b, dtype), plain))
        for a, b in ((2.0**-down, 2.0**up), (2.0 ** (down // 2), 2.0 ** (-up // 2)))
    )
    return z.each(lambda x: m.mul(x, by)), back


def _rooted(z: Complex, made: Complex) -> Complex:
    """Return roots, those of what is infinite by C's rules."""
    m, dtype = z.make, z.dtype
    far, zero = m.number(np.inf, dtype), m.number(0, dtype)
    tall, wide = m.isinf(z.imag), m.isinf(z.real)
    right = m.greater(z.real, zero)
    unknown = m.isnan(z.imag)
    across = m.select(right, far, m.select(unknown, z.imag, zero))
    level = m.select(unknown, z.imag, _signed(m, zero, z.imag, dtype))
    up = m.select(right, level, _signed(m, far, z.imag, dtype))
    real = m.select(tall, far, m.select(wide, across, made.real))
    return Complex(m, real, m.select(tall, z.imag, m.select(wide, up, made.imag)))


def reciprocal(z: Complex) -> Complex:
    """Return 1 over numbers."""
    m = z.make
    return Complex(m, m.number(1, z.dtype), m.number(0, z.dtype)) / z


def rsqrt(z: Complex) -> Complex:
    """Return 1 over the roots."""
    return reciprocal(sqrt(z))


def sigmoid(z: Complex) -> Complex:
    """Return 1 / (1 + exp(-z))."""
    m, minus = z.make, exp(z.each(z.make.neg))
    return reciprocal(Complex(m, m.add(m.number(1, z.dtype), minus.real), minus.imag))


def sign(z: Complex) -> Complex:
    """Return the directions; 0 has none."""
    m, size, zero = z.make, absolute(z), z.make.number(0, z.dtype)
    nothing = m.equal(size, zero)
    divisor = m.select(nothing, m.number(1, z.dtype), size)
    return z.each(lambda x: m.select(nothing, zero, m.div(x, divisor)))


def power(z: Complex, w: Complex) -> Complex:
    """Return z to the power of w: in f64, exp(w log z); of 0 it is 1, 0 or NaN."""
    m, f64 = z.make, rows.f64
    base, exponent = z.to(f64), w.to(f64)
    zero, one = m.number(0, f64), m.number(1, f64)
    a, b = log(base).real, log(base).imag
    c, d = exponent.real, exponent.imag
    angle = Complex(m, m.sub(m.mul(c, a), m.mul(d, b)), m.add(m.mul(c, b), m.mul(d, a)))
    made = exp(angle)
    of_none = m.logical_and(m.equal(base.real, zero), m.equal(base.imag, zero))
    by_none = m.logical_and(m.equal(c, zero), m.equal(d, zero))
    gone = m.logical_and(of_none, m.greater(c, zero))
    made = made.each(lambda x: m.select(gone, zero, x))
    made = Complex(m, m.select(by_none, one, made.real), m.select(by_none, zero, made.imag))
    return made.to(z.dtype)

"""Modified Bessel functions: power series near 0, integrals or asymptotic series further out.

All is done in f64 by elementary operations, so that gradients of any order come out of those; but
where a function is infinite or has a bend, they are what the functions of the other order say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor
from ..core.calls import op
from ..ops.math_ops import FUNCTIONS
from ..ops.special import Wide, widened
from .bessel_fits import FALLING_FAR, GROWING_FAR, GROWING_NEAR
from .slopes import with_slope

NEAR = 20.0
"""Up to here the power series is used, from here on the asymptotic one."""
NARROW = 8.0
"""Up to here one polynomial is used, from here on another, where f32 has all digits of results."""
FEW = 10
"""So many terms of a series that begins slowly are enough then."""
SMALL = 2.0
"""Up to here what grows as a logarithm is, from here on the integral."""
STEP = 0.125
POINTS = 31
"""Step and number of the points that exp(-x (cosh t - 1)) is added up at."""


def _power_series(order: int, count: int) -> list[float]:
    """Return the coefficients of (x / 2)^2k, without the front (x / 2)^order."""
    return [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(count)]


def _asymptotic_series(order: int, sign: int, count: int) -> list[float]:
    """Return the coefficients of x^-k behind exp(x) or exp(-x) and the root of x."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * sign * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    return found


def _growing(w: Wide, size: object, order: int) -> object:
    """Return I(x) exp(-x) from 0 up."""
    near, far = w.minimum(size, NEAR), w.maximum(size, NEAR)
    half = w.mul(near, 0.5)
    series = w.series(w.mul(half, half), _power_series(order, 56))
    if order:
        series = w.mul(series, half)
    inverse = w.div(1.0, far)
    tail = w.series(inverse, _asymptotic_series(order, -1, 24))
    found = w.mul(tail, w.sqrt(w.mul(inverse, 1 / (2 * math.pi))))
    return w.select(w.less(size, NEAR), w.mul(series, w.exp(w.neg(near))), found)


def _growing_fitted(w: Wide, size: object, order: int) -> object:
    """Return I(x) exp(-x) from 0 up with the digits of f32."""
    near = w.minimum(size, NARROW)
    low = w.series(w.add(w.mul(near, 0.25), -1.0), GROWING_NEAR[order])
    inverse = w.div(1.0, w.maximum(size, NARROW))
    high = w.series(w.add(w.mul(inverse, 16.0), -1.0), GROWING_FAR[order])
    high = w.mul(high, w.sqrt(inverse))
    return w.select(w.less(size, NARROW), w.mul(low, near) if order else low, high)


def _growing_function(type_: str, order: int, *, scaled: bool) -> Callable[..., TfTensor]:
    @op(type_, "x", strict=False)
    def function(m: Maker, x: object) -> object:
        """Return the modified Bessel function of the first kind."""
        w, wide, row = widened(m), m.to(x, rows.f64), spec_of_value(x).dtype
        compute = _growing_fitted if row.size <= 4 else _growing

        def above(size: object) -> object:
            found = compute(w, size, order)
            return found if scaled else w.mul(found, w.exp(size))

        return m.to(w.odd(wide, above) if order else above(w.abs(wide)), row)

    return function


_i0 = _growing_function("BesselI0", 0, scaled=False)
_i0e = _growing_function("BesselI0e", 0, scaled=True)
bessel_i1 = _growing_function("BesselI1", 1, scaled=False)
bessel_i1e = _growing_function("BesselI1e", 1, scaled=True)
bessel_i0 = with_slope(_i0, lambda x, _: bessel_i1(x))
bessel_i0e = with_slope(_i0e, lambda x, y: bessel_i1e(x) - FUNCTIONS["sign"](x) * y)


def _harmonic(order: int, count: int) -> Sequence[float]:
    """Return the coefficients of (x / 2)^2k beside the logarithm."""
    sums = [sum(1 / i for i in range(1, k + 1)) for k in range(count + 2)]
    rest = _power_series(order, count)
    if not order:
        return [c * h for c, h in zip(rest, sums, strict=False)]
    return [-0.5 * c * (sums[k] + sums[k + 1]) for k, c in enumerate(rest)]


EULER = 0.57721566490153286060651209008240243


def _falling(w: Wide, x: object, order: int, row: DType) -> object:
    """Return K(x) exp(x) of numbers above 0."""
    terms = FEW if row.size <= 4 else 16
    low = w.minimum(x, SMALL)
    half = w.mul(low, 0.5)
    square, logarithm = w.mul(half, half), w.add(w.log(half), EULER)
    first = w.mul(logarithm, w.series(square, _power_series(order, terms)))
    rest = w.series(square, _harmonic(order, terms))
    added = w.add(w.div(1.0, low), w.mul(half, w.add(first, rest)))
    small = added if order else w.sub(rest, first)
    above = _fallen_fitted(w, x, order) if row.size <= 4 else _fallen(w, x, order)
    return w.select(w.less_equal(x, SMALL), w.mul(small, w.exp(low)), above)


def _fallen_fitted(w: Wide, x: object, order: int) -> object:
    """Return K(x) exp(x) of numbers above `SMALL` with the digits of f32."""
    inverse = w.div(1.0, w.maximum(x, SMALL))
    found = w.series(w.add(w.mul(inverse, 4.0), -1.0), FALLING_FAR[order])
    return w.mul(found, w.sqrt(inverse))


def _fallen(w: Wide, x: object, order: int) -> object:
    """Return K(x) exp(x) of numbers above `SMALL`."""
    middle = w.minimum(w.maximum(x, SMALL), NEAR)
    total: object = w.number(0.5 * STEP, rows.f64)
    for i in range(1, POINTS):
        at = math.cosh(i * STEP)
        weight = STEP * (at if order else 1.0)
        total = w.add(total, w.mul(w.exp(w.mul(middle, 1.0 - at)), weight))
    inverse = w.div(1.0, w.maximum(x, NEAR))
    tail = w.series(inverse, _asymptotic_series(order, 1, 24))
    far = w.mul(tail, w.sqrt(w.mul(inverse, math.pi / 2)))
    return w.select(w.less(x, NEAR), total, far)


def _falling_function(type_: str, order: int, *, scaled: bool) -> Callable[..., TfTensor]:
    @op(type_, "x", strict=False)
    def function(m: Maker, x: object) -> object:
        """Return the modified Bessel function of the second kind."""
        w, wide = widened(m), m.to(x, rows.f64)
        above = w.less(0.0, wide)
        safe = w.select(above, wide, 1.0)
        found = _falling(w, safe, order, spec_of_value(x).dtype)
        if not scaled:
            found = w.mul(found, w.exp(w.neg(safe)))
        outside = w.select(w.equal(wide, wide), math.inf, math.nan)
        return m.to(w.select(above, found, outside), spec_of_value(x).dtype)

    return function


_k0 = _falling_function("BesselK0", 0, scaled=False)
_k0e = _falling_function("BesselK0e", 0, scaled=True)
_k1 = _falling_function("BesselK1", 1, scaled=False)
_k1e = _falling_function("BesselK1e", 1, scaled=True)
bessel_k0 = with_slope(_k0, lambda x, _: -bessel_k1(x))
bessel_k0e = with_slope(_k0e, lambda x, y: y - bessel_k1e(x))
bessel_k1: Callable[..., TfTensor] = with_slope(_k1, lambda x, y: -bessel_k0(x) - y / x)
bessel_k1e: Callable[..., TfTensor] = with_slope(_k1e, lambda x, y: y * (1 - 1 / x) - bessel_k0e(x))

remember_all(globals())

"""Integrals that have names: Dawson's, the exponential, Fresnel's and Spence's.

All is done in f64 by elementary operations, so that gradients of any order come out of those; but
those of functions that have no number somewhere are formulas of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor
from ..core.calls import op
from ..ops.array_ops import where
from ..ops.creation import ones_like
from ..ops.math_ops import FUNCTIONS
from ..ops.special import Wide, widened
from .slopes import with_slope

Compute = Callable[[Wide, object], object]


def special(type_: str, wide: Compute, narrow: Compute | None = None) -> Callable[..., TfTensor]:
    """Return the function of a tensor of floats that is computed in f64.

    `narrow` is good enough for what has no more digits than f32.
    """

    @op(type_, "x", strict=False)
    def function(m: Maker, x: object) -> object:
        """Compute in f64, and round."""
        row = spec_of_value(x).dtype
        if not row.is_float:
            raise TypeError(f"Value for attr 'T' of {row} is not in the list of allowed values")
        compute = narrow if narrow is not None and row.size <= 4 else wide
        return m.to(compute(widened(m), m.to(x, rows.f64)), row)

    return function


NEAR_0 = 0.25
"""Up to here Dawson's function is a series in x."""
FAR = 1e4
"""From here on it is half of 1/x, and a little more."""
STEP = 0.25


def _dawson(w: Wide, x: object) -> object:
    """Add up Gaussians at odd steps around x, each over its place (Rybicki, 1989)."""
    terms = [1.0]
    for k in range(1, 9):
        terms.append(terms[-1] * -2 / (2 * k + 1))
    low = w.minimum(w.maximum(x, -NEAR_0), NEAR_0)
    small = w.mul(low, w.series(w.mul(low, low), terms))
    middle = w.minimum(w.maximum(x, -FAR), FAR)
    whole = w.mul(w.round(w.div(middle, 2 * STEP)), 2.0)
    away, total = w.sub(middle, w.mul(whole, STEP)), w.number(0.0, rows.f64)
    for n in range(-25, 26, 2):
        apart = w.sub(away, n * STEP)
        part = w.div(w.exp(w.neg(w.mul(apart, apart))), w.add(whole, float(n)))
        total = w.add(total, part)
    total = w.mul(total, 1 / math.sqrt(math.pi))
    inverse = w.div(0.5, w.select(w.less(w.abs(x), 1.0), 1.0, x))
    above = w.mul(inverse, w.add(w.mul(w.mul(inverse, inverse), 2.0), 1.0))
    size = w.abs(x)
    found = w.select(w.less(size, NEAR_0), small, total)
    return w.select(w.less(FAR, size), above, found)


MOST = 40.0
"""Up to here the exponential integral is its power series, from here on the asymptotic one."""


def _exponential(w: Wide, x: object) -> object:
    """Return Ei of numbers above 0, minus infinity at 0, NaN below."""
    safe = w.select(w.less(0.0, x), x, 1.0)
    low, high = w.minimum(safe, MOST), w.maximum(safe, MOST)
    terms = [0.0, *(1 / (k * math.factorial(k)) for k in range(1, 130))]
    near = w.add(w.add(w.series(low, terms), w.log(low)), float(np.euler_gamma))
    inverse = w.div(1.0, high)
    tail = w.series(inverse, [float(math.factorial(k)) for k in range(36)])
    far = w.mul(w.mul(w.exp(high), inverse), tail)
    found = w.select(w.less(safe, MOST), near, far)
    outside = w.select(w.equal(x, 0.0), -math.inf, math.nan)
    return w.select(w.less(0.0, x), found, outside)


SMALL = 1.5
"""Up to here Fresnel's integrals are power series."""
WIDTH = 0.2
POINTS = np.arange(1, 27) * WIDTH
"""Where Gaussians are looked at from there on."""


def _fresnel_series(sine: bool) -> list[float]:
    """Return the coefficients of x^4k behind x, or behind x^3 for the sine."""
    half, first = math.pi / 2, int(sine)
    return [
        (-1) ** k * half**n / (math.factorial(n) * (2 * n + 1))
        for k, n in enumerate(range(first, 36, 2))
    ]


def _fresnel(sine: bool) -> Callable[[Wide, object], object]:
    def above(w: Wide, size: object) -> object:
        """Turn by a right angle, less what two integrals over Gaussians say is missing."""
        low, high = w.minimum(size, SMALL), w.minimum(w.maximum(size, SMALL), 1e8)
        square = w.mul(low, low)
        near = w.mul(low, w.series(w.mul(square, square), _fresnel_series(sine)))
        near = w.mul(near, square) if sine else near
        inverse = w.div(1.0, high)
        fourth = w.mul(w.mul(inverse, inverse), w.mul(inverse, inverse))
        first, second = w.number(0.5, rows.f64), w.number(0.0, rows.f64)
        for v in POINTS:
            weight = math.exp(-math.pi * v * v / 2)
            part = w.div(weight, w.add(w.mul(fourth, float(v) ** 4), 1.0))
            first, second = w.add(first, part), w.add(second, w.mul(part, float(v * v)))
        scale = w.mul(inverse, WIDTH * math.sqrt(2) / math.pi)
        first = w.mul(first, scale)
        second = w.mul(w.mul(second, scale), w.mul(inverse, inverse))
        turns = w.mul(w.mul(high, high), 0.25)
        angle = w.mul(w.sub(turns, w.floor(turns)), 2 * math.pi)
        sin, cos = w.sin(angle), w.cos(angle)
        if sine:
            missing = w.add(w.mul(first, cos), w.mul(second, sin))
        else:
            missing = w.sub(w.mul(second, cos), w.mul(first, sin))
        found = w.select(w.less(size, SMALL), near, w.sub(0.5, missing))
        return w.select(w.less(high, size), 0.5, found)

    def compute(w: Wide, x: object) -> object:
        return w.select(w.equal(x, x), w.odd(x, partial(above, w)), x)

    return compute


BERNOULLI = (1.0, -0.5, 1 / 6, 0.0, -1 / 30, 0.0, 1 / 42, 0.0, -1 / 30, 0.0, 5 / 66, 0.0,
             -691 / 2730, 0.0, 7 / 6, 0.0, -3617 / 510)  # fmt: skip


def _spence(w: Wide, x: object) -> object:
    """Return the integral of -log(t) / (t - 1) from 1 to x: a series in log(x) near 1.

    Below 1/2 it is mirrored at 1/2, and above 2 at 1.
    """
    positive = w.less(0.0, x)
    safe = w.select(positive, x, 1.0)
    is_high = w.less(2.0, safe)
    turned = w.select(is_high, w.div(1.0, safe), safe)
    is_low = w.less(turned, 0.5)
    inner = w.select(is_low, w.sub(1.0, turned), turned)
    terms = [0.0, *(b / math.factorial(n + 1) for n, b in enumerate(BERNOULLI))]
    near = w.series(w.neg(w.log(inner)), terms)
    mirrored = w.sub(w.sub(math.pi**2 / 6, w.mul(w.log(turned), w.log(inner))), near)
    found = w.select(is_low, mirrored, near)
    logarithm = w.log(safe)
    high = w.sub(w.mul(w.mul(logarithm, logarithm), -0.5), found)
    found = w.select(is_high, high, found)
    outside = w.select(w.equal(x, 0.0), math.pi**2 / 6, math.nan)
    return w.select(w.logical_and(positive, w.less(safe, math.inf)), found, outside)


NEAR_1 = 0.0625
"""Up to here the slope of Spence's function is a series in the distance from 1."""


def _spence_slope(x: TfTensor, _: object) -> TfTensor:
    """Return log(x) / (1 - x), which is -1 at 1."""
    apart = FUNCTIONS["minimum"](FUNCTIONS["maximum"](x - 1, -NEAR_1), NEAR_1)
    near = 0 * apart
    for k in range(14, 0, -1):
        near = near * apart + (-1) ** k / k
    is_near = FUNCTIONS["less"](FUNCTIONS["abs"](x - 1), NEAR_1)
    safe = where(is_near, ones_like(x) * 2, x)
    return where(is_near, near, FUNCTIONS["log"](safe) / (1 - safe))


dawsn = special("Dawsn", _dawson)
expint = with_slope(special("Expint", _exponential), lambda x, _: FUNCTIONS["exp"](x) / x)
fresnel_cos = special("FresnelCos", _fresnel(sine=False))
fresnel_sin = special("FresnelSin", _fresnel(sine=True))
spence = with_slope(special("Spence", _spence), _spence_slope)

remember_all(globals())

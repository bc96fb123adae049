"""Bessel functions: means of waves near 0, asymptotic series further out.

All is done in f64 by elementary operations, so that gradients of any order come out of those.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...eager.remembered import remember_all
from ..ops.special import Wide
from .integrals import special

NEAR = 25.0
"""Up to here means of waves are taken, from here on the asymptotic series."""
ANGLES = (np.arange(32) + 0.5) * math.pi / 64
"""The angles in a quarter of the circle that waves are looked at."""
PARTS = 30
"""So many of the sums that a mean of waves is in one."""


def _ripples() -> list[float]:
    """Return for each angle what it counts in the alternating sum of functions of even order."""
    k = np.arange(1, PARTS + 1)
    found = ((-1.0) ** k / k * np.cos(2 * np.outer(ANGLES, k))).sum(1)
    return [float(x) for x in found]


def _mean(w: Wide, x: object, order: int, weights: list[float]) -> object:
    """Return the mean of waves of x times the sine of each angle."""
    total: object = 0.0
    for angle, weight in zip(ANGLES, weights, strict=True):
        sine = math.sin(angle)
        wave = (w.sin if order else w.cos)(w.mul(x, sine))
        part = w.mul(wave, weight * (sine if order else 1.0) / len(ANGLES))
        total = w.add(total, part)
    return total


def _terms(order: int) -> tuple[list[float], list[float]]:
    """Return the coefficients of 1/x^2k of both asymptotic series, of the second behind 1/x."""
    found = [1.0]
    for k in range(1, 24):
        found.append(found[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    signs = [(-1) ** (k // 2) for k in range(24)]
    every = [a * s for a, s in zip(found, signs, strict=True)]
    return every[::2], every[1::2]


def _far(w: Wide, x: object, order: int, second: bool) -> object:
    """Return a wave that falls as the root of x: the second kind is a quarter later."""
    inverse = w.div(1.0, x)
    square = w.mul(inverse, inverse)
    even, odd = _terms(order)
    p, q = w.series(square, even), w.mul(inverse, w.series(square, odd))
    angle = w.sub(x, (2 * order + 1) * math.pi / 4)
    sin, cos = w.sin(angle), w.cos(angle)
    wave = w.add(w.mul(p, sin), w.mul(q, cos)) if second else w.sub(w.mul(p, cos), w.mul(q, sin))
    return w.mul(w.sqrt(w.mul(inverse, 2 / math.pi)), wave)


def _first_kind(order: int) -> Callable[[Wide, object], object]:
    def compute(w: Wide, x: object) -> object:
        size = w.abs(x)
        near = _mean(w, w.minimum(size, NEAR), order, [1.0] * len(ANGLES))
        far = _far(w, w.maximum(size, NEAR), order, second=False)
        found = w.select(w.less(size, NEAR), near, far)
        return w.mul(found, w.sign(x)) if order else found

    return compute


def _second_kind(order: int) -> Callable[[Wide, object], object]:
    def compute(w: Wide, x: object) -> object:
        above = w.less(0.0, x)
        safe = w.select(above, x, 1.0)
        low = w.minimum(safe, NEAR)
        logarithm = w.mul(w.add(w.log(w.mul(low, 0.5)), float(np.euler_gamma)), 2 / math.pi)
        near = w.mul(logarithm, _mean(w, low, order, [1.0] * len(ANGLES)))
        ripples = w.mul(_mean(w, low, order, _ripples()), 4 / math.pi)
        if order:
            first = _mean(w, low, 0, [1.0] * len(ANGLES))
            near = w.sub(w.sub(near, ripples), w.div(w.mul(first, 2 / math.pi), low))
        else:
            near = w.sub(near, ripples)
        found = w.select(w.less(safe, NEAR), near, _far(w, w.maximum(safe, NEAR), order, True))
        outside = w.select(w.equal(x, x), -math.inf, math.nan)
        return w.select(above, found, outside)

    return compute


bessel_j0, bessel_j1 = (special(f"BesselJ{i}", _first_kind(i)) for i in (0, 1))
bessel_y0, bessel_y1 = (special(f"BesselY{i}", _second_kind(i)) for i in (0, 1))

remember_all(globals())

"""Bessel functions: means of waves near 0, asymptotic series further out.

All is done in f64 by elementary operations, so that gradients of any order come out of those; but
where a function is infinite or has a bend, they are what the functions of the other order say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ....ir.op import Array
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor
from ..ops.special import Wide
from .integrals import Compute, special
from .slopes import with_slope


@dataclass(frozen=True)
class Reach:
    """How far means of waves are taken, and how much they need for that."""

    near: float
    """From here on the asymptotic series is taken, ..."""
    terms: int
    """... of so many terms."""
    count: int
    """The angles in a quarter of the circle that waves are looked at."""
    finer: int
    """The angles that waves are looked at where they count differently."""
    parts: int
    """So many of the sums that a mean of waves is in one."""

    def angles(self, count: int) -> Array:
        """Return so many angles in a quarter of the circle."""
        return (np.arange(count) + 0.5) * math.pi / (2 * count)

    def ripples(self) -> list[float]:
        """Return what each angle counts in the alternating sum of functions of even order."""
        k = np.arange(1, self.parts + 1)
        waves = np.cos(2 * np.outer(self.angles(self.finer), k))
        return [float(x) for x in ((-1.0) ** k / k * waves).sum(1)]


WIDE = Reach(near=25.0, terms=24, count=16, finer=32, parts=30)
NARROW = Reach(near=10.0, terms=20, count=8, finer=14, parts=13)
"""For results that have no more digits than f32."""


def _mean(w: Wide, x: object, order: int, angles: Array, weights: list[float]) -> object:
    """Return the mean of waves of x times the sine of each angle."""
    total: object = 0.0
    for angle, weight in zip(angles, weights, strict=True):
        sine = math.sin(angle)
        wave = (w.sin if order else w.cos)(w.mul(x, sine))
        part = w.mul(wave, weight * (sine if order else 1.0) / len(angles))
        total = w.add(total, part)
    return total


def _mean_alike(w: Wide, x: object, order: int, reach: Reach) -> object:
    """Return the mean of waves that all count alike."""
    return _mean(w, x, order, reach.angles(reach.count), [1.0] * reach.count)


def _terms(order: int, count: int) -> tuple[list[float], list[float]]:
    """Return the coefficients of 1/x^2k of both asymptotic series, of the second behind 1/x."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    signs = [(-1) ** (k // 2) for k in range(count)]
    every = [a * s for a, s in zip(found, signs, strict=True)]
    return every[::2], every[1::2]


def _far(w: Wide, x: object, order: int, terms: int, second: bool) -> object:
    """Return a wave that falls as the root of x: the second kind is a quarter later."""
    inverse = w.div(1.0, x)
    square = w.mul(inverse, inverse)
    even, odd = _terms(order, terms)
    p, q = w.series(square, even), w.mul(inverse, w.series(square, odd))
    angle = w.sub(x, (2 * order + 1) * math.pi / 4)
    sin, cos = w.sin(angle), w.cos(angle)
    wave = w.add(w.mul(p, sin), w.mul(q, cos)) if second else w.sub(w.mul(p, cos), w.mul(q, sin))
    return w.mul(w.sqrt(w.mul(inverse, 2 / math.pi)), wave)


def _first_kind(order: int, reach: Reach) -> Compute:
    def above(w: Wide, size: object) -> object:
        near = _mean_alike(w, w.minimum(size, reach.near), order, reach)
        far = _far(w, w.maximum(size, reach.near), order, reach.terms, second=False)
        return w.select(w.less(size, reach.near), near, far)

    def compute(w: Wide, x: object) -> object:
        return w.odd(x, partial(above, w)) if order else above(w, w.abs(x))

    return compute


def _second_kind(order: int, reach: Reach) -> Compute:
    def compute(w: Wide, x: object) -> object:
        above = w.less(0.0, x)
        safe = w.select(above, x, 1.0)
        low = w.minimum(safe, reach.near)
        logarithm = w.mul(w.add(w.log(w.mul(low, 0.5)), float(np.euler_gamma)), 2 / math.pi)
        near = w.mul(logarithm, _mean_alike(w, low, order, reach))
        finer = _mean(w, low, order, reach.angles(reach.finer), reach.ripples())
        ripples = w.mul(finer, 4 / math.pi)
        if order:
            first = _mean_alike(w, low, 0, reach)
            near = w.sub(w.sub(near, ripples), w.div(w.mul(first, 2 / math.pi), low))
        else:
            near = w.sub(near, ripples)
        far = _far(w, w.maximum(safe, reach.near), order, reach.terms, second=True)
        found = w.select(w.less(safe, reach.near), near, far)
        outside = w.select(w.equal(x, x), -math.inf, math.nan)
        return w.select(above, found, outside)

    return compute


def _kinds(name: str, kind: Callable[[int, Reach], Compute]) -> list[Callable[..., TfTensor]]:
    """Return the functions of both orders."""
    return [special(f"{name}{i}", kind(i, WIDE), kind(i, NARROW)) for i in (0, 1)]


_j0, bessel_j1 = _kinds("BesselJ", _first_kind)
_y0, _y1 = _kinds("BesselY", _second_kind)
bessel_j0 = with_slope(_j0, lambda x, _: -bessel_j1(x))
bessel_y0 = with_slope(_y0, lambda x, _: -bessel_y1(x))
bessel_y1: Callable[..., TfTensor] = with_slope(_y1, lambda x, y: bessel_y0(x) - y / x)

remember_all(globals())

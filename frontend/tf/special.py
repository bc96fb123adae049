"""The gamma function's logarithm and its derivative, error functions and the like.

They are sums and products of elementary operations in f64, so that gradients of any order and
code come out of those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from .calls import op
from .math_ops import FUNCTIONS

SHIFT = 8
"""By so much an argument is moved up, to where the series are exact to f64 or nearly so."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


class Wide:
    """Arithmetic with numbers in f64."""

    def __init__(self, make: Maker) -> None:
        self.make = make

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            return getattr(self.make, name)(*map(self.value, values))

        return call

    def value(self, x: Any) -> Any:
        """Return a number as a value."""
        return self.make.number(x, rows.f64) if isinstance(x, float | int) else x

    def series(self, x: Any, terms: Sequence[float]) -> Any:
        """Return the polynomial with these coefficients, the lowest first."""
        total = self.value(terms[-1])
        for term in reversed(terms[:-1]):
            total = self.add(self.mul(total, x), term)
        return total


def _reflected(m: Maker, x: Any, above: Any, mirror: Any) -> Any:
    """Return `above(x)` from 1/2 up, and `mirror(x, above(1 - x))` below."""
    w, row = Wide(m), spec_of_value(x).dtype
    wide = m.to(x, rows.f64)
    low = w.less(wide, 0.5)
    found = above(w, w.select(low, w.sub(1.0, wide), wide))
    made = w.select(low, mirror(w, w.select(low, wide, 0.25), found), found)
    return m.to(made, row)


def _lgamma_above(w: Wide, y: Any) -> Any:
    product = y
    for i in range(1, SHIFT):
        product = w.mul(product, w.add(y, float(i)))
    z = w.add(y, float(SHIFT))
    inverse = w.div(1.0, z)
    tail = w.mul(inverse, w.series(w.mul(inverse, inverse), STIRLING))
    main = w.sub(w.mul(w.sub(z, 0.5), w.log(z)), z)
    return w.sub(w.add(w.add(main, 0.5 * math.log(2 * math.pi)), tail), w.log(product))


def _lgamma_mirror(w: Wide, x: Any, found: Any) -> Any:
    return w.sub(w.sub(math.log(math.pi), w.log(w.abs(w.sin(w.mul(math.pi, x))))), found)


@op("Lgamma", "x", strict=False)
def lgamma(m: Maker, x: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    return _reflected(m, x, _lgamma_above, _lgamma_mirror)


def _digamma_above(w: Wide, y: Any) -> Any:
    total = w.div(1.0, y)
    for i in range(1, SHIFT):
        total = w.add(total, w.div(1.0, w.add(y, float(i))))
    z = w.add(y, float(SHIFT))
    inverse = w.div(1.0, z)
    square = w.mul(inverse, inverse)
    tail = w.mul(square, w.series(square, DIGAMMA))
    return w.sub(w.add(w.sub(w.log(z), w.mul(0.5, inverse)), tail), total)


def _digamma_mirror(w: Wide, x: Any, found: Any) -> Any:
    return w.sub(found, w.div(math.pi, w.tan(w.mul(math.pi, x))))


@op("Digamma", "x", strict=False)
def digamma(m: Maker, x: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function."""
    return _reflected(m, x, _digamma_above, _digamma_mirror)


@op("Erfc", "x", strict=False)
def erfc(m: Maker, x: Any) -> Any:
    """Return what the error function leaves to 1."""
    row = spec_of_value(x).dtype
    wide = m.to(x, rows.f64)
    return m.to(m.sub(m.number(1, rows.f64), m.erf(wide)), row)


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """Return the logarithm of the logistic function."""
    negative = FUNCTIONS["negative"]
    return negative(FUNCTIONS["softplus"](negative(x)), name=name)


@op("Softsign", "features", strict=False)
def softsign(m: Maker, features: Any) -> Any:
    """Divide by one more than the size."""
    row = spec_of_value(features).dtype
    return m.div(features, m.add(m.abs(features), m.number(1, row)))


@op("DivNoNan", "x", "y")
def divide_no_nan(m: Maker, x: Any, y: Any) -> Any:
    """Divide; 0 where the divisor is 0."""
    row = spec_of_value(y).dtype
    zero = m.equal(y, m.number(0, row))
    return m.select(zero, m.number(0, row), m.div(x, m.select(zero, m.number(1, row), y)))


def _times_log(shift: float) -> Callable[..., Any]:
    def made(m: Maker, x: Any, y: Any) -> Any:
        """Return x log y (log1p y), 0 where x is 0."""
        row = spec_of_value(x).dtype
        zero = m.equal(x, m.number(0, row))
        safe = m.select(zero, m.number(1, row), y)
        logarithm = m.log1p(safe) if shift else m.log(safe)
        return m.select(zero, m.number(0, row), m.mul(x, logarithm))

    return made


xlogy = op("Xlogy", "x", "y")(_times_log(0))
xlog1py = op("Xlog1py", "x", "y")(_times_log(1))


@op("MulNoNan", "x", "y")
def multiply_no_nan(m: Maker, x: Any, y: Any) -> Any:
    """Multiply; 0 where the second is 0, whatever the first is."""
    row = spec_of_value(y).dtype
    zero = m.equal(y, m.number(0, row))
    return m.select(zero, m.number(0, row), m.mul(m.select(zero, m.number(0, row), x), y))

"""What the error function, its complement and the normal distribution give a value for.

Near zero that is an inverse of erf, in the tails one of erfc, which has all its digits there: what
is left to 1 is made of the argument itself, and not of one minus it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ....ir.compose.maker import Maker
from ....ir.families import FLOAT, expect, spec_of_value
from ....ir.types import dtypes as rows
from ...eager.remembered import remembered
from ...values.context import STATE
from ..core.bridge import TfTensor, custom_gradient
from ..core.calls import op
from ..core.values import InGraph, convert, graph_of
from ..ops.math_ops import FUNCTIONS
from ..ops.special import Wide, complement, widened

MIDDLE = (
    *(1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087),
    *(-4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08),
)
"""A polynomial near the inverse of erf over x, in the logarithm of 1 - x^2, the lowest first."""
TAIL = ((2.515517, 0.802853, 0.010328), (1.0, 1.432788, 0.189269, 0.001308))
"""By what a quotient of polynomials a quantile of a tail is less than the root of its logarithm."""
Slope = Callable[[TfTensor], TfTensor]


def _in_middle(w: Wide, x: object) -> object:
    """Return what erf gives x for, which is small."""
    size = w.neg(w.log(w.mul(w.sub(1.0, x), w.add(1.0, x))))
    found = w.mul(w.series(w.sub(size, 2.5), MIDDLE), x)
    for _ in range(2):  # Newton: each step doubles the digits
        slope = w.mul(w.exp(w.neg(w.mul(found, found))), 2 / math.sqrt(math.pi))
        found = w.sub(found, w.div(w.sub(w.erf(found), x), slope))
    return found


def _in_tail(w: Wide, c: object) -> object:
    """Return what erfc gives c for, which is from 0 to 1."""
    root = w.sqrt(w.mul(w.log(w.mul(c, 0.5)), -2.0))
    less = w.div(w.series(root, TAIL[0]), w.series(root, TAIL[1]))
    found = w.mul(w.sub(root, less), math.sqrt(0.5))
    for _ in range(2):  # Halley: each step triples the digits
        slope = w.mul(w.exp(w.neg(w.mul(found, found))), -2 / math.sqrt(math.pi))
        step = w.div(w.sub(complement(w, found), c), slope)
        found = w.sub(found, w.div(step, w.add(w.mul(found, step), 1.0)))
    return w.select(w.equal(c, 0.0), math.inf, found)


def _inverse(w: Wide, x: object, left: object) -> object:
    """Return what erf gives x for, of which so much is left to 1 or -1."""
    tail = _in_tail(w, left)
    signed = w.select(w.less(x, 0.0), w.neg(tail), tail)
    return w.select(w.less(w.abs(x), 0.5), _in_middle(w, x), signed)


@op("Erfinv", "x", strict=False)
def _erfinv(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    return m.to(_inverse(w, wide, w.sub(1.0, w.abs(wide))), row)


@op("Erfcinv", "x", strict=False)
def _erfcinv(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    left = w.minimum(wide, w.sub(2.0, wide))
    return m.to(_inverse(w, w.sub(1.0, wide), left), row)


@op("Ndtri", "x", strict=False)
def _ndtri(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    left = w.mul(w.minimum(wide, w.sub(1.0, wide)), 2.0)
    found = _inverse(w, w.sub(w.mul(wide, 2.0), 1.0), left)
    return m.to(w.mul(found, math.sqrt(2)), row)


def _with_slope(function: Slope, slope: Slope, text: str) -> Callable[..., TfTensor]:
    """Return the public function, of which the slope is one of what it gives."""

    def public(x: object, name: str | None = None) -> TfTensor:
        with InGraph(graph_of([x])):
            value = convert(x)
            return sloping(value) if STATE.busy else function(value, name=name)  # type: ignore[call-arg]

    @custom_gradient
    def sloping(x: TfTensor) -> tuple[TfTensor, Slope]:
        return function(x), lambda grad: grad * slope(public(x))

    public.__doc__ = text
    return remembered(public)


def _power(scale: float, share: float) -> Slope:
    return lambda y: scale * FUNCTIONS["exp"](FUNCTIONS["multiply"](y, y) * share)


_HALF = math.sqrt(math.pi) / 2
erfinv = _with_slope(_erfinv, _power(_HALF, 1.0), "Return what the error function gives x for.")
erfcinv = _with_slope(
    _erfcinv, _power(-_HALF, 1.0), "Return what the complement of the error function gives x for."
)
ndtri = _with_slope(
    _ndtri, _power(math.sqrt(2 * math.pi), 0.5), "Return the quantiles of the normal distribution."
)

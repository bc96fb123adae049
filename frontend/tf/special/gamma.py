"""Incomplete gamma functions with their gradients, also by their first argument.

The derivative by a comes with the sum or the fraction that gives the function: each step of either
is differentiated beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from ....codegen import single
from ....ir.compose.maker import Maker
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse
from ....ir.types.tensor import TensorSpec
from ...eager.remembered import remembered
from ...graph.kinds import RULES
from ...values.context import STATE
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor, custom_gradient
from ..core.calls import PUBLIC, op
from ..core.values import InGraph, at_once, graph_of, same
from ..ops import special
from ..ops.composed import of_one_shape
from ..ops.math_ops import FUNCTIONS

MOST = 20000
"""So many steps of a sum or a fraction are gone at most."""


@cache
def _digamma() -> Callable[[Array], Array]:
    """Return digamma as a function of arrays of f64."""

    def build(emit: Callable[..., object], x: object) -> object:
        return RULES["Digamma"].function(Maker(emit), x)

    return single.in_parts(build, [TensorSpec(rows.f64, (parse("N"),))])


def _by_series(a: Array, x: Array) -> tuple[Array, Array]:
    """Return the sum of x^n / ((a + 1) ... (a + n)) over n, and its derivative by a."""
    total = term = np.ones_like(a)
    moved = slope = np.zeros_like(a)
    for n in range(1, MOST):
        slope = (slope - term / (a + n)) * (x / (a + n))
        term = term * (x / (a + n))
        total, moved = total + term, moved + slope
        if not (np.abs(slope) > 1e-17 * np.abs(moved)).any():
            break
    return total, moved


def _by_fraction(a: Array, x: Array) -> tuple[Array, Array]:
    """Return the continued fraction of the upper function by Lentz, and its derivative by a."""
    b = x + 1 - a
    c, d = np.full_like(b, 1e300), 1 / b
    c_moved, d_moved = np.zeros_like(b), d * d
    found, moved = d, d_moved
    for n in range(1, MOST):
        step, b = n * (a - n), b + 2
        d_moved, under = n * d + step * d_moved - 1, step * d + b
        c_moved, c = n / c - step * c_moved / (c * c) - 1, b + step / c
        d = 1 / under
        d_moved = -d * d * d_moved
        factor, changed = d * c, d_moved * c + d * c_moved
        moved = moved * factor + found * changed
        found = found * factor
        left = (np.abs(factor - 1) > 1e-15) | (np.abs(found * changed) > 1e-15 * np.abs(moved))
        if not left.any():
            break
    return found, moved


def derivative_by_a(a: Array, x: Array) -> Array:
    """Return the derivative by a of the regularised lower function, of arrays of f64."""
    with np.errstate(all="ignore"):
        made = np.where((x == 0) | ((a > 0) & (x >= 0)), 0.0, np.nan)
        inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
        above = inside & (x > 1) & (x > a)
        for here, upper in ((inside & ~above, False), (above, True)):
            if not here.any():
                continue
            p, y = a[here], x[here]
            total, moved = (_by_fraction if upper else _by_series)(p, y)
            first = p if upper else p + 1
            logs = p * np.log(y) - y - special.in_doubles(math.lgamma, first)
            slope = moved + total * (np.log(y) - _digamma()(np.ascontiguousarray(first)))
            made[here] = (-1.0 if upper else 1.0) * np.exp(logs) * slope
    return made


@op("IgammaGradA", "a", "x", differentiable=None, shapes=shapes_of.alike)
def igamma_grad_a(m: Maker, a: object, x: object) -> object:
    """Return the derivative of igamma by its first argument."""

    def compute(p: Array, y: Array) -> Array:
        wide = np.broadcast_arrays(p.astype(np.float64), y.astype(np.float64))
        return derivative_by_a(*wide).astype(p.dtype)

    return at_once(compute, a, x)


def _with_gradient(type_: str, sign: float) -> Callable[..., TfTensor]:
    """Return an incomplete gamma function with its gradients."""
    plain = PUBLIC[type_]

    @custom_gradient
    def sloped(
        a: TfTensor, x: TfTensor
    ) -> tuple[TfTensor, Callable[[TfTensor], tuple[TfTensor, TfTensor]]]:
        def gradient(grad: TfTensor) -> tuple[TfTensor, TfTensor]:
            """Take the density by logarithms: the gamma function is large where a is."""
            logs = (a - 1.0) * FUNCTIONS["log"](x) - x - special.lgamma(a)
            signed = grad * sign
            return signed * igamma_grad_a(a, x), signed * FUNCTIONS["exp"](logs)

        found = plain(a, x)
        assert isinstance(found, TfTensor), "one result"
        return found, gradient

    def function(a: object, x: object, name: str | None = None) -> TfTensor:
        """Return the share of the gamma distribution of a below or above x."""
        with InGraph(graph_of([a, x])):
            both = same(a, x)
            if not STATE.busy and both[0].shape == both[1].shape:  # nobody asks for gradients
                found = plain(*both)
                assert isinstance(found, TfTensor), "one result"
                return found
            return sloped(*of_one_shape(*both))

    PUBLIC[type_] = function
    return remembered(function)


igamma, igammac = _with_gradient("Igamma", 1.0), _with_gradient("Igammac", -1.0)

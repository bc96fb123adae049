"""Gradients of draws by their parameters: how a draw moves that has the same probability below it.

The distribution function P(a, x) of the gamma distribution stays as it is where x moves by
-(dP/da) / (dP/dx) for each step of a (Figurnov, Mohamed and Mnih, 2018, section 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ....ir.op import Array
from ...values.context import STATE
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host
from ..core.values import InGraph, graph_of, same
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, shape
from ..ops.math_ops import identity
from ..ops.special import in_doubles, incomplete_gamma

STEP = 1e-3
"""How far apart P is taken, of the scale on which it changes; its fourth power is what is lost."""


def by_alpha(alpha: TfTensor, made: TfTensor) -> TfTensor:
    """Return draws of the gamma distribution, with their gradient by its shape parameter."""
    if STATE.context is None and not STATE.recorders:
        return made

    def draws(a: TfTensor) -> tuple[TfTensor, Callable[[TfTensor], TfTensor]]:
        def gradient(grad: TfTensor) -> TfTensor:
            [found] = host("RandomGammaGrad", lambda *x: (moves(*x),), [a, made], [made.spec])
            return grad * found

        return identity(made), gradient

    found: TfTensor = custom_gradient(draws)(broadcast_to(alpha, shape(made)))
    return found


def random_gamma_grad(alpha: object, sample: object, name: str | None = None) -> TfTensor:
    """Return how far draws of the gamma distribution move by its shape parameter."""
    with InGraph(graph_of([alpha, sample])):
        a, x = same(alpha, sample)
        sizes = broadcast_dynamic_shape(shape(a), shape(x))
        a, x = broadcast_to(a, sizes), broadcast_to(x, sizes)
        return host("RandomGammaGrad", lambda *y: (moves(*y),), [a, x], [x.spec], name=name)[0]


def moves(alpha: Array, made: Array) -> Array:
    """Return how far draws move by alpha, by differences of P."""
    a, x = alpha.astype(np.float64), made.astype(np.float64)
    h = STEP * np.minimum(a, np.sqrt(a))

    def between(steps: float) -> Array:
        return incomplete_gamma(a + steps * h, x) - incomplete_gamma(a - steps * h, x)

    slope = (8.0 * between(1.0) - between(2.0)) / (12.0 * h)
    with np.errstate(all="ignore"):
        density = np.exp((a - 1.0) * np.log(x) - x - in_doubles(math.lgamma, a))
        return np.asarray(-slope / density, made.dtype)

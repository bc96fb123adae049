"""The regularised incomplete beta function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from ....codegen import single
from ....ir.compose.maker import Maker
from ....ir.families import EmitMath
from ....ir.op import Array
from ....ir.scalar_math import Term
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse
from ....ir.types.tensor import TensorSpec
from ...eager.remembered import remembered
from ...graph.kinds import RULES
from ...values.context import STATE
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor, custom_gradient
from ..core.calls import op
from ..core.values import InGraph, at_once, graph_of, same
from ..ops.array_ops import broadcast_to, shape
from ..ops.math_ops import FUNCTIONS
from ..ops.special import in_doubles, lgamma

TINY = 1e-300


FEW = 8
"""So many numbers are gone through one by one: numpy takes longer to be called than to compute."""


def _one_by_fraction(a: float, b: float, x: float) -> float:
    """Return the same of one number, by the same steps."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    found = d = 1 / (TINY if abs(d) < TINY else d)
    for m in range(1, 10000):
        factor = 1.0
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + step * d, 1 + step / c
            d = 1 / (TINY if abs(d) < TINY else d)
            c = TINY if abs(c) < TINY else c
            factor *= d * c
            found *= d * c
        if not abs(factor - 1) > 4e-16:
            break
    return found


def _by_fraction(a: Array, b: Array, x: Array) -> Array:
    """Return the continued fraction behind the front, by Lentz, for x < (a + 1) / (a + b + 2)."""
    if len(x) <= FEW:
        each = zip(a.tolist(), b.tolist(), x.tolist(), strict=True)
        return np.array([_one_by_fraction(*numbers) for numbers in each])
    c, d = np.ones_like(x), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < TINY, TINY, d)
    found, goes_on = d, np.ones(x.shape, np.bool_)
    for m in range(1, 10000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        factor = np.ones_like(x)
        for step in (even, odd):
            d, c = 1 + step * d, 1 + step / c
            d = 1 / np.where(np.abs(d) < TINY, TINY, d)
            c = np.where(np.abs(c) < TINY, TINY, c)
            factor = factor * (d * c)
            found = np.where(goes_on, found * (d * c), found)
        goes_on &= np.abs(factor - 1) > 4e-16  # (each by itself, whatever lies beside it)
        if not goes_on.any():
            break
    return found


def _rest_of_stirling(z: Array) -> Array:
    """Return what Stirling's formula lacks of the logarithm of gamma, all digits from 20 on."""
    square, series = 1 / (z * z), np.zeros_like(z)
    for part in (1188.0, -1680.0, 1260.0, -360.0, 12.0):
        series = series * square + 1 / part
    return series / z


def _log_front(a: Array, b: Array, x: Array) -> Array:
    """Return the logarithm of x^a (1 - x)^b / beta(a, b).

    The logarithms of gamma of large numbers are so large themselves that their difference has
    lost digits; there Stirling's formula is subtracted from itself by hand.
    """
    less, more = np.minimum(a, b), np.maximum(a, b)
    power = a * np.log(x) + b * np.log1p(-x)
    logs = [in_doubles(math.lgamma, each) for each in (a + b, a, b)]
    near = logs[0] - logs[1] - logs[2] + power
    grown = (more - 0.5) * np.log1p(less / more) + less * np.log(a + b) - less
    rests = [_rest_of_stirling(each) for each in (a + b, more, less)]
    one_is_large = grown + rests[0] - rests[1] - in_doubles(math.lgamma, less) + power
    off, power = x * b - a * (1 - x), 0.0  # (nothing at the mean)
    for share, y, here in ((a, x, off / a), (b, 1 - x, -off / b)):
        far = np.log(y * ((a + b) / share))
        power = power + share * np.where(np.abs(here) < 0.5, np.log1p(here), far)
    scale = 0.5 * np.log(a / (a + b) * b / (2 * np.pi))
    both_are = power + scale + rests[0] - rests[1] - rests[2]
    made: Array = np.where(less < LARGEST, one_is_large, both_are)
    return np.where(more < LARGEST, near, made)


def _regularised(a: Array, b: Array, x: Array) -> Array:
    """Return the function of arrays of f64, NaN outside of where it is."""
    with np.errstate(all="ignore"):
        inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
        front = np.exp(_log_front(a, b, x))
        made = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), x, np.nan)
        turned = x >= (a + 1) / (a + b + 2)
        straight, other = inside & ~turned, inside & turned
        for here, p, q, y in ((straight, a, b, x), (other, b, a, 1 - x)):
            if here.any():
                part = front[here] * _by_fraction(p[here], q[here], y[here]) / p[here]
                made[here] = part if here is straight else 1 - part
    return made


LEAST, LEAST_OF_NARROW, LARGEST = 1e-3, 1e-6, 20.0
"""For `b` in between, and `a` up to that, a short fraction is enough. What is as small as `b` and a
difference from 1 has lost digits, which f32 does not have."""
NEXT_TO_NONE = 1e-290
"""Below there are digits missing; from here on `a` has all, and `b` too, where no difference from 1
is taken."""


@cache
def _moderate(levels: int, least_turned: float) -> Callable[..., Array]:
    """Return compiled code for a and b up to `LARGEST`, which gives NaN for others.

    The fraction is one quotient: nothing is divided but its factors.
    """

    def build(emit: Callable[..., object], *given: object) -> object:
        math_, maker = EmitMath(emit), Maker(emit)
        a, b, x = (Term(math_, each) for each in given)
        logs = [Term(math_, RULES["Lgamma"].function(maker, each.value)) for each in (a + b, a, b)]
        rest = x.like(1.0) - x
        power = a * x.apply("log") + b * (-x).apply("log1p")
        front = (logs[0] - logs[1] - logs[2] + power).apply("exp")
        direct = x * (a + b + 2.0) < a + 1.0
        p, q, y = direct.where(a, b), direct.where(b, a), direct.where(x, rest)
        over, over_before = x.like(1.0), x.like(1.0)
        under, under_before = x.like(1.0) - (p + q) * y / (p + 1.0), x.like(1.0)
        for n in range(1, levels + 1):
            last, next_ = p + 2.0 * n, p + (2.0 * n + 1)
            even = (float(n) * (q - float(n))) * y / ((last - 1.0) * last)
            odd = -(p + float(n)) * (p + q + float(n)) * y / (last * next_)
            for step in (even, odd):
                over, over_before = over + step * over_before, over
                under, under_before = under + step * under_before, under
        part = front * over / (under * p)
        found = direct.where(part, x.like(1.0) - part)
        least = direct.where(x.like(NEXT_TO_NONE), x.like(least_turned))
        inside = (a >= NEXT_TO_NONE) & (a <= LARGEST) & (b >= least) & (b <= LARGEST)
        return (inside & (x > 0.0) & (x < 1.0)).where(found, np.nan).value

    return single.in_parts(build, [TensorSpec(rows.f64, (parse("N"),))] * 3)


def incomplete_beta(a: Array, b: Array, x: Array, *, narrow: bool) -> Array:
    """Return the function of flat arrays of f64, to f32 if `narrow`."""
    made = _moderate(*((16, LEAST_OF_NARROW) if narrow else (32, LEAST)))(a, b, x)
    rest = np.flatnonzero(np.isnan(made))
    if len(rest):
        made[rest] = _regularised(a[rest], b[rest], x[rest])
    return made


def _compute(a: Array, b: Array, x: Array) -> Array:
    """Return what numpy and compiled code give together."""
    spread = (a, b, x) if a.shape == b.shape == x.shape else np.broadcast_arrays(a, b, x)
    wide = [each.astype(np.float64).ravel() for each in spread]
    found = incomplete_beta(*wide, narrow=x.dtype.itemsize <= 4)
    return found.astype(x.dtype).reshape(spread[0].shape)


@op("Betainc", "a", "b", "x", differentiable=None, shapes=shapes_of.alike)
def _betainc(m: Maker, a: object, b: object, x: object) -> object:
    """Compute on the host."""
    return at_once(_compute, a, b, x)


@custom_gradient
def _with_gradient(
    a: TfTensor, b: TfTensor, x: TfTensor
) -> tuple[TfTensor, Callable[[TfTensor], tuple[None, None, TfTensor]]]:
    def gradient(grad: TfTensor) -> tuple[None, None, TfTensor]:
        """Only x has one, as in TensorFlow: the density."""
        front = lgamma(a + b) - lgamma(a) - lgamma(b)
        logs = (a - 1) * FUNCTIONS["log"](x) + (b - 1) * FUNCTIONS["log1p"](-x)
        return None, None, grad * FUNCTIONS["exp"](front + logs)

    return _betainc(a, b, x), gradient


@remembered
def betainc(a: object, b: object, x: object, name: str | None = None) -> TfTensor:
    """Return the share of the beta distribution of a and b that lies below x."""
    with InGraph(graph_of([a, b, x])):
        values = same(a, b, x)
        if any(v.shape.rank != 0 for v in values):
            wanted = shape(values[0] + values[1] + values[2])
            values = [broadcast_to(v, wanted) if v.shape.rank == 0 else v for v in values]
        if not STATE.busy:  # nobody asks for gradients
            return _betainc(*values)
        return _with_gradient(*values)

"""The gamma function's logarithm and its derivative, error functions and the like.

They are sums and products of elementary operations in f64, so that gradients of any order and
code come out of those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ....codegen import single
from ....ir.build import GraphEmit
from ....ir.compose.maker import Maker
from ....ir.families import FLOAT, EmitMath, expect, spec_of_value
from ....ir.op import Array, Op
from ....ir.scalar_math import Term
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...eager.kernels import MANY
from ...eager.remembered import remember_all
from ...eager.tensor import Tensor, computed
from ...graph.kinds import RULES
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import op
from ..core.values import at_once, convert
from .creation import ones_like
from .math_ops import FUNCTIONS, REDUCTIONS, as_floats
from .nn_ops import relu

SHIFT = 8
"""By so much an argument is moved up, to where the series are exact to f64 or nearly so."""
UNMOVED = 1e30
"""From here on an argument is not moved: by so little it does not change, and products overflow."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


class Wide(Maker):
    """Arithmetic with Python's numbers, too."""

    def series(self, x: object, terms: Sequence[float]) -> object:
        """Return the polynomial with these coefficients, the lowest first."""
        total: object = self.number(terms[-1], spec_of_value(x).dtype)
        for term in reversed(terms[:-1]):
            total = self.add(self.mul(total, x), term)
        return total

    def odd(self, x: object, above: Callable[[object], object]) -> object:
        """Return an odd function by its values from 0 up, which say how steep it is at 0, too."""
        below = self.less(x, 0.0)
        found = above(self.select(below, self.neg(x), x))
        return self.select(below, self.neg(found), found)


def widened(make: Maker, row: DType = rows.f64) -> Wide:
    """Return what takes Python's numbers too, and makes elements of a type of them."""

    def emit(op: type[Op], *operands: object, **attributes: object) -> object:
        values = (make.number(x, row) if isinstance(x, float | int) else x for x in operands)
        return make.emit(op, *values, **attributes)

    return Wide(emit)


def _reflected(
    m: Maker,
    x: object,
    above: Callable[[Wide, object], object],
    mirror: Callable[[Wide, object, object], object],
) -> object:
    """Return `above(x)` from 1/2 up, and `mirror(x, above(1 - x))` below."""
    w, row = widened(m), spec_of_value(x).dtype
    wide = m.to(x, rows.f64)
    low = w.less(wide, 0.5)
    found = above(w, w.select(low, w.sub(1.0, wide), wide))
    made = w.select(low, mirror(w, w.select(low, wide, 0.25), found), found)
    return m.to(made, row)


def _lgamma_above(w: Wide, y: object) -> object:
    far = w.less(UNMOVED, y)
    near = w.select(far, 1.0, y)
    product = near
    for i in range(1, SHIFT):
        product = w.mul(product, w.add(near, float(i)))
    z = w.select(far, y, w.add(near, float(SHIFT)))
    inverse = w.div(1.0, z)
    tail = w.mul(inverse, w.series(w.mul(inverse, inverse), STIRLING))
    main = w.sub(w.mul(w.sub(z, 0.5), w.log(z)), z)
    rest = w.select(far, 0.0, w.log(product))
    return w.sub(w.add(w.add(main, 0.5 * math.log(2 * math.pi)), tail), rest)


def _lgamma_mirror(w: Wide, x: object, found: object) -> object:
    return w.sub(w.sub(math.log(math.pi), w.log(w.abs(w.sin(w.mul(math.pi, x))))), found)


@op("Lgamma", "x", strict=False)
def lgamma(m: Maker, x: object) -> object:
    """Return the logarithm of the absolute value of the gamma function."""
    row = spec_of_value(x).dtype
    endless = m.equal(x, m.number(math.inf, row))
    found = _reflected(m, m.select(endless, m.number(1, row), x), _lgamma_above, _lgamma_mirror)
    found = m.select(_at_pole(m, x), m.number(math.inf, row), found)
    return m.select(endless, m.mul(x, x), found)  # its slope has no end either


def _at_pole(m: Maker, x: object) -> object:
    """Say where the gamma function is infinite: at 0 and whole numbers below."""
    return m.logical_and(
        m.equal(m.floor(x), x), m.less_equal(x, m.number(0, spec_of_value(x).dtype))
    )


def _digamma_above(w: Wide, y: object) -> object:
    total = w.div(1.0, y)
    for i in range(1, SHIFT):
        total = w.add(total, w.div(1.0, w.add(y, float(i))))
    z = w.add(y, float(SHIFT))
    inverse = w.div(1.0, z)
    square = w.mul(inverse, inverse)
    tail = w.mul(square, w.series(square, DIGAMMA))
    return w.sub(w.add(w.sub(w.log(z), w.mul(0.5, inverse)), tail), total)


def _digamma_mirror(w: Wide, x: object, found: object) -> object:
    return w.sub(found, w.div(math.pi, w.tan(w.mul(math.pi, x))))


@op("Digamma", "x", strict=False)
def digamma(m: Maker, x: object) -> object:
    """Return the derivative of the logarithm of the gamma function."""
    row = spec_of_value(x).dtype
    found = _reflected(m, x, _digamma_above, _digamma_mirror)
    return m.select(_at_pole(m, x), m.number(math.nan, row), found)


BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
"""The even Bernoulli numbers over the factorials of their places."""


@op("Zeta", "x", "q", slopes=(1,))
def zeta(m: Maker, x: object, q: object) -> object:
    """Return the sum of (q + n) to the power -x over all n from 0 (Hurwitz).

    There is no gradient of x, as in TensorFlow.
    """
    w, row = widened(m), spec_of_value(x).dtype
    s, first = m.to(m.stop_gradient(x), rows.f64), m.to(q, rows.f64)
    total, minus = w.pow(first, w.neg(s)), w.neg(s)
    for i in range(1, SHIFT):
        total = w.add(total, w.pow(w.add(first, float(i)), minus))
    z = w.add(first, float(SHIFT))
    power = w.pow(z, minus)
    total = w.add(total, w.add(w.div(w.mul(power, z), w.sub(s, 1.0)), w.mul(power, 0.5)))
    factor = w.div(w.mul(power, s), z)
    for i, number in enumerate(BERNOULLI):
        total = w.add(total, w.mul(factor, number))
        step = w.mul(w.add(s, 2.0 * i + 1), w.add(s, 2.0 * i + 2))
        factor = w.div(w.mul(factor, step), w.mul(z, z))
    below = m.less(s, m.number(1, rows.f64))
    total = m.select(below, m.number(math.nan, rows.f64), total)
    total = m.select(m.equal(s, m.number(1, rows.f64)), m.number(math.inf, rows.f64), total)
    return m.to(total, row)


@op("Polygamma", "a", "x", slopes=(1,))
def polygamma(m: Maker, a: object, x: object) -> object:
    """Return the derivative of order `a` of digamma; there is no gradient of that one."""
    row, a = spec_of_value(a).dtype, m.stop_gradient(a)
    zero, one, two = (m.number(i, row) for i in range(3))
    above = m.add(m.select(m.equal(a, zero), one, a), one)  # of order 0 the sum has no slope
    sign = m.sub(m.mul(m.mod(a, two), two), one)
    factorial = m.exp(RULES["Lgamma"].function(m, above))
    made = m.mul(m.mul(sign, factorial), RULES["Zeta"].function(m, above, x))
    made = m.select(m.equal(a, zero), RULES["Digamma"].function(m, x), made)
    order = m.logical_and(m.equal(a, m.floor(a)), m.greater_equal(a, zero))
    return m.select(order, made, m.number(math.nan, row))


def _by_series(a: Array, x: Array) -> Array:
    """Return the lower incomplete gamma function over its front, for x < a + 1."""
    total = term = 1 / a
    n = 0.0
    while (np.abs(term) > 1e-17 * np.abs(total)).any():
        n += 1
        term = term * (x / (a + n))
        total = total + term
    return total


def _by_fraction(a: Array, x: Array) -> Array:
    """Return the upper incomplete gamma function over its front, by Lentz's continued fraction."""
    tiny, b = 1e-300, x + 1 - a
    c, d = np.full_like(b, 1 / tiny), 1 / b
    found = d
    for n in range(1, 10000):
        step = n * (a - n)
        b = b + 2
        d, c = step * d + b, b + step / c
        d, c = 1 / np.where(d == 0, tiny, d), np.where(c == 0, tiny, c)
        factor = d * c
        found = found * factor
        if not (np.abs(factor - 1) > 2e-15).any():
            break
    return found


def incomplete_gamma(a: Array, x: Array, *, upper: bool = False, narrow: bool = False) -> Array:
    """Return the regularised incomplete gamma function of arrays of f64, to f32 if `narrow`."""
    if a.shape != x.shape:
        a, x = np.broadcast_arrays(a, x)
    flat, at = a.ravel(), x.ravel()
    least = (LEAST_NARROW if narrow else LEAST) if upper else SMALLEST
    made = _moderate(upper, least, *((40, 12) if narrow else (60, 16)))(flat, at)
    rest = np.flatnonzero(np.isnan(made))
    if len(rest):
        made[rest] = _far(flat[rest], at[rest], upper=upper)
    return made.reshape(a.shape)


SMALLEST = 1e-30
"""From so small an `a` on the lower share is as precise as a large one's."""
LEAST, LARGEST, GAP = 1e-3, 20.0, 6.0
"""For `a` in between a short sum is enough; from so much above `a` on, a short fraction."""

LEAST_NARROW = 2.5e-4
"""From so small an `a` on, f32 has no more digits than what the lower share leaves of 1."""


@cache
def _moderate(upper: bool, least: float, terms: int, levels: int) -> Callable[..., Array]:
    """Return compiled code for a up to `LARGEST`, which gives NaN for others.

    The sum is one quotient of polynomials, and so is the fraction: nothing is divided in between.
    """

    def build(emit: Callable[..., object], a: object, x: object) -> object:
        math, maker = EmitMath(emit), Maker(emit)
        log_gamma = Term(math, RULES["Lgamma"].function(maker, a))
        first, at = Term(math, a), Term(math, x)
        front = (first * at.apply("log") - at - log_gamma).apply("exp")
        share = at.apply("minimum", 1000.0)  # beyond it the front is 0
        over, under = at.like(1.0), at.like(1.0)
        for n in range(terms, 0, -1):
            under = under * (first + float(n))
            over = share * over + under
        lower = front * over / (under * first)
        b = share + 1.0 - first
        over, over_before = at.like(1.0), at.like(0.0)
        under, under_before = b, at.like(1.0)
        for n in range(1, levels + 1):
            step, b = float(n) * (first - float(n)), b + 2.0
            over, over_before = b * over + step * over_before, over
            under, under_before = b * under + step * under_before, under
        higher = front * over / under
        if upper:
            made = (at < first + GAP).where(1.0 - lower, higher)
        else:
            made = (at < first + GAP).where(lower, 1.0 - higher)
        inside = (first >= least) & (first <= LARGEST) & (at > 0.0) & (at < np.inf)
        return inside.where(made, np.nan).value

    return single.in_parts(build, [TensorSpec(rows.f64, (parse("N"),))] * 2)


def _far(a: Array, x: Array, *, upper: bool) -> Array:
    """Return the regularised incomplete gamma function of any arrays of f64, in loops."""
    with np.errstate(all="ignore"):
        front = np.exp(a * np.log(x) - x - in_doubles(math.lgamma, a))
        made = np.where(np.isinf(x), 1.0, np.where(x == 0, 0.0, np.nan))
        made = 1.0 - made if upper else made
        inside = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
        for here, share, lies_above in (
            (inside & (x < a + 1), _by_series, False), (inside & (x >= a + 1), _by_fraction, True),
        ):  # fmt: skip
            if here.any():
                part = front[here] * share(a[here], x[here])
                made[here] = part if lies_above == upper else 1 - part
        made = np.where(np.isinf(a), np.where(np.isinf(x), 0.0, float(upper)), made)
        wrong = (a <= 0) | (x < 0) | np.isnan(a) | np.isnan(x)
        return np.where(wrong if upper else wrong & (x != 0), np.nan, made)


def in_doubles(function: Callable[[float], float], x: Array) -> Array:
    """Return a function of numbers for each element, infinite where it overflows or has a pole."""

    def value(number: float) -> float:
        try:
            return function(number)
        except (OverflowError, ValueError):
            return math.inf

    return np.fromiter(map(value, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def _incomplete(type_: str, upper: bool) -> Callable[..., TfTensor]:
    def compute(a: Array, x: Array) -> Array:
        """Return what numpy and compiled code give together."""
        wide, narrow = np.float64, a.dtype.itemsize <= 4
        found = incomplete_gamma(a.astype(wide), x.astype(wide), upper=upper, narrow=narrow)
        return found.astype(a.dtype)

    @op(type_, "a", "x", differentiable=None, shapes=shapes_of.alike)
    def function(m: Maker, a: object, x: object) -> object:
        """Compute on the host."""
        return at_once(compute, a, x)

    return function


igamma, igammac = _incomplete("Igamma", False), _incomplete("Igammac", True)


@dataclass(frozen=True)
class Tail:
    """How erfc is computed in a type: by a polynomial in 1 - 2 k / (x + k), near 0 in x squared."""

    k: float
    end: float
    """From here on erfc is 0."""
    split: float
    """What cuts the lower half of the digits off, if it is multiplied and subtracted again."""
    terms: tuple[float, ...]
    """Those of erfc(x) exp(x^2) (x + k), interpolated at Chebyshev's points from 1 to the end."""
    near: tuple[float, ...]
    """Those of erf(x) / x - 1 in the square of x, interpolated in the same way from 0 to 1."""


TAILS = {
    rows.f32: Tail(1.5, 10.5, 4097.0, (
        0.96475625, -0.507850111, 0.0756213218, 0.0477761477, -0.00811039191, -0.00960822962,
        -0.000683769991, 0.00231904001,
    ), (
        0.128379166, -0.376126267, 0.112835947, -0.026854212, 0.00518908742, -0.000801686429,
        7.87587506e-05,
    )),
    rows.f64: Tail(2.5, 28.0, 134217729.0, (
        1.054031820305718, -0.804651849439149, 0.4539141166481032, -0.17125114524602897,
        0.028361550131373123, 0.008393044301794689, -0.004818785501606681, -0.0004392082633690696,
        0.0007026933407977993, 5.830802322177332e-05, -0.0001126011187965278,
        -1.9536838549366243e-05, 1.8225428146129873e-05, 6.7925569745000476e-06,
        -2.294168264864345e-06, -2.107919450775484e-06, 3.613707219991008e-08,
        6.526872238639754e-07, -8.390626279519549e-08, -4.362110522271231e-08,
    ), (
        0.12837916709551256, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
        0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707,
        -1.492473690741966e-05, 1.6447424703317362e-06, -1.6208483801871705e-07,
        1.3720064546777686e-08, -7.795898827002142e-10,
    )),
}  # fmt: skip


@op("Erfc", "x", strict=False)
def erfc(m: Maker, x: object) -> object:
    """Return what the error function leaves to 1: all digits of it, however few are left."""
    row = spec_of_value(x).dtype
    kind = rows.f64 if row is rows.f64 else rows.f32
    here = isinstance(x, Tensor) and computed(x)
    if here and row is kind and math.prod(spec_of_value(x).static_shape) >= MANY:
        return at_once(_erfc_of_many, x)
    return m.to(complement(m, m.to(x, kind)), row)


def complement(m: Maker, x: object, *, is_near: bool = False) -> object:
    """Return `erfc` in the type of x; `is_near` says that nothing is beyond 1 or -1."""
    row = spec_of_value(x).dtype
    w, tail = widened(m, row), TAILS[row]
    below = w.less(x, 0.0)
    size = w.select(below, w.neg(x), x)
    size = w.select(w.less(tail.end, size), tail.end, size)
    # Of erf all but x itself: what is near 1 loses no digits to the difference then.
    found = w.sub(w.sub(1.0, size), w.mul(size, w.series(w.mul(size, size), tail.near)))
    if not is_near:
        found = w.select(w.less_equal(size, 1.0), found, _beyond(w, size, tail))
    return w.select(below, w.sub(2.0, found), found)


def _beyond(w: Wide, size: object, tail: Tail) -> object:
    """Return the same from 0 to the end of all.

    The power of -x^2 is that of a square that has all of its digits, and of the small rest.
    """
    cut = w.mul(size, tail.split)
    high = w.sub(cut, w.sub(cut, size))
    rest = w.mul(w.sub(high, size), w.add(high, size))
    power = w.mul(w.exp(w.neg(w.mul(high, high))), w.series(rest, (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24)))
    inverse = w.div(1.0, w.add(size, tail.k))
    share = w.series(w.sub(1.0, w.mul(inverse, 2 * tail.k)), tail.terms)
    return w.mul(power, w.mul(share, inverse))


def _erfc_of_many(x: Array) -> Array:
    """Return the same of an array of floats; where nothing is beyond 1, less is to be done."""
    kernel = _erfc_kernel(x.dtype.char, bool(x.max() <= 1 and x.min() >= -1))
    return kernel(x.ravel()).reshape(x.shape)


@cache
def _erfc_kernel(letter: str, is_near: bool) -> Callable[..., Array]:
    def build(emit: GraphEmit, x: object) -> object:
        return complement(Maker(emit), x, is_near=is_near)

    return single.of_any_length(build, [TensorSpec(rows.of_numpy(letter), (parse("N"),))])


def log_sigmoid(x: object, name: str | None = None) -> TfTensor:
    """Return the logarithm of the logistic function."""
    negative = FUNCTIONS["negative"]
    return negative(FUNCTIONS["softplus"](negative(x)), name=name)


@op("Softsign", "features", strict=False)
def softsign(m: Maker, features: object) -> object:
    """Divide by one more than the size."""
    expect(spec_of_value(features), FLOAT)
    row = spec_of_value(features).dtype
    return m.div(features, m.add(m.abs(features), m.number(1, row)))


@op("DivNoNan", "x", "y")
def divide_no_nan(m: Maker, x: object, y: object) -> object:
    """Divide; 0 where the divisor is 0."""
    x, y = as_floats(m, x), as_floats(m, y)
    row = spec_of_value(y).dtype
    zero = m.equal(y, m.number(0, row))
    return m.select(zero, m.number(0, row), m.div(x, m.select(zero, m.number(1, row), y)))


def _times_log(shift: float) -> Callable[..., object]:
    def made(m: Maker, x: object, y: object) -> object:
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
def multiply_no_nan(m: Maker, x: object, y: object) -> object:
    """Multiply; 0 where the second is 0, whatever the first is."""
    row = spec_of_value(y).dtype
    zero, none = m.equal(y, m.number(0, row)), m.number(0, row)
    size = m.abs(x)
    endless = m.logical_not(m.less(size, m.number(math.inf, spec_of_value(size).dtype)))
    left_out = m.logical_and(zero, endless)
    # a product, so that its slope along the second is the first; none is -0
    return m.add(m.mul(m.select(left_out, none, x), y), none)


@op("Xdivy", "x", "y")
def xdivy(m: Maker, x: object, y: object) -> object:
    """Divide; 0 where the first is 0, whatever the second is."""
    row = spec_of_value(x).dtype
    zero = m.equal(x, m.number(0, row))
    return m.select(zero, m.number(0, row), m.div(x, m.select(zero, m.number(1, row), y)))


def reciprocal_no_nan(x: object, name: str | None = None) -> TfTensor:
    """Divide 1 by each element; 0 where it is 0."""
    value = convert(x)
    return divide_no_nan(ones_like(value), value, name=name)


def lbeta(x: object, name: str | None = None) -> TfTensor:
    """Return the logarithm of the absolute value of the beta function along the last axis."""
    total = REDUCTIONS["reduce_sum"]
    return FUNCTIONS["subtract"](total(lgamma(x), axis=-1), lgamma(total(x, axis=-1)), name=name)


def weighted_cross_entropy_with_logits(
    labels: object, logits: object, pos_weight: float | TfTensor, name: str | None = None
) -> TfTensor:
    """Return the cross entropy of labels and sigmoid, where a label of 1 counts more."""
    x = convert(logits)
    wanted = convert(labels, x.dtype)
    if not x.shape.is_compatible_with(wanted.shape):
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({x.shape} vs "
            f"{wanted.shape})."
        )
    weight = 1 + (pos_weight - 1) * wanted
    tail = FUNCTIONS["softplus"](-FUNCTIONS["abs"](x))
    positive = relu(-x)
    return FUNCTIONS["add"]((1 - wanted) * x, weight * (tail + positive), name=name)


remember_all(globals())

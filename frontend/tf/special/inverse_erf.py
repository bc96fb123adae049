"""What the error function, its complement and the normal distribution give a value for.

All are quantiles of the normal distribution. In the tails they have all their digits: what is left
to 1 is made of the argument itself, and not of one minus it.
"""

from __future__ import annotations

import math

from ....ir.compose.maker import Maker
from ....ir.families import FLOAT, expect, spec_of_value
from ....ir.types import dtypes as rows
from ..core.calls import op
from ..ops.math_ops import FUNCTIONS
from ..ops.special import Wide, widened
from .slopes import Slope, with_slope

NEAR = (
    (
        *(3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3),
        *(1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4),
        *(3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3),
        *(2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4),
        5.2264952788528545610e3,
    ),
)
"""The quotient of polynomials that a quantile is for a probability of 0.075 to 0.925, over the
difference of that from 1/2, in 0.425^2 less the square of the difference, the lowest first.

These and the next two are of algorithm AS 241 (M. J. Wichura, "The Percentage Points of the Normal
Distribution", Applied Statistics 37, 1988), which has 16 digits.
"""
FURTHER = (
    (
        *(1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550),
        *(3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1),
        *(2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1),
        *(1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4),
        1.05075007164441684324e-9,
    ),
)
"""That of a smaller probability, in 1.6 less than the root of its logarithm turned round, ..."""
FURTHEST = (
    (
        *(6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580),
        *(2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3),
        *(2.71155556874348757815e-5, 2.01033439929228813265e-7),
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2),
        *(7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7),
        2.04426310338993978564e-15,
    ),
)
"""... and, where the root is above 5, in 5 less than that."""


def _inverse(w: Wide, x: object, left: object) -> object:
    """Return the quantile of (1 + x) / 2, of which so much is left to 1 or -1.

    Of all three quotients the one that holds is chosen before anything is divided.
    """
    half = w.mul(x, 0.5)
    root = w.sqrt(w.neg(w.log(w.mul(left, 0.5))))
    is_near, is_far = w.less_equal(w.abs(half), 0.425), w.less(5.0, root)
    near = w.sub(0.180625, w.mul(half, half))
    far = w.sub(root, w.select(is_far, 5.0, 1.6))
    parts = [
        w.select(
            is_near,
            w.series(near, NEAR[i]),
            w.select(is_far, w.series(far, FURTHEST[i]), w.series(far, FURTHER[i])),
        )
        for i in range(2)
    ]
    found = w.select(w.equal(left, 0.0), math.inf, w.div(parts[0], parts[1]))
    tail = w.select(w.less(x, 0.0), w.neg(found), found)
    return w.select(is_near, w.mul(half, found), tail)


@op("Erfinv", "x", strict=False)
def _erfinv(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    found = _inverse(w, wide, w.sub(1.0, w.abs(wide)))
    return m.to(w.mul(found, math.sqrt(0.5)), row)


@op("Erfcinv", "x", strict=False)
def _erfcinv(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    left = w.minimum(wide, w.sub(2.0, wide))
    return m.to(w.mul(_inverse(w, w.sub(1.0, wide), left), math.sqrt(0.5)), row)


@op("Ndtri", "x", strict=False)
def _ndtri(m: Maker, x: object) -> object:
    w, row = widened(m), spec_of_value(x).dtype
    expect(spec_of_value(x), FLOAT)
    wide = m.to(x, rows.f64)
    left = w.mul(w.minimum(wide, w.sub(1.0, wide)), 2.0)
    return m.to(_inverse(w, w.sub(w.mul(wide, 2.0), 1.0), left), row)


def _power(scale: float, share: float) -> Slope:
    return lambda _, y: scale * FUNCTIONS["exp"](FUNCTIONS["multiply"](y, y) * share)


_HALF = math.sqrt(math.pi) / 2
erfinv = with_slope(_erfinv, _power(_HALF, 1.0), "Return what the error function gives x for.")
erfcinv = with_slope(
    _erfcinv, _power(-_HALF, 1.0), "Return what the complement of the error function gives x for."
)
ndtri = with_slope(
    _ndtri, _power(math.sqrt(2 * math.pi), 0.5), "Return the quantiles of the normal distribution."
)

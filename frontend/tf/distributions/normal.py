"""The share of the normal distribution below a number, and its logarithm far below it."""

from __future__ import annotations

import math

from ..core.bridge import TfTensor
from ..ops.array_ops import where
from ..ops.creation import ones_like
from ..ops.math_ops import FUNCTIONS
from ..ops.special import erfc

TERMS = 3
"""So many terms of the series are taken."""


def ndtr(x: TfTensor) -> TfTensor:
    """Return the share below a number: near the middle by erf, elsewhere by erfc."""
    w = x * (0.5 * math.sqrt(2.0))
    far = FUNCTIONS["abs"](w)
    beyond = where(FUNCTIONS["greater"](w, 0.0), 2.0 - erfc(far), erfc(far))
    near = FUNCTIONS["less"](far, 0.5 * math.sqrt(2.0))
    return 0.5 * where(near, 1.0 + FUNCTIONS["erf"](w), beyond)


def log_ndtr(x: TfTensor) -> TfTensor:
    """Return the logarithm of the share: far below by an asymptotic series, far above by itself."""
    lower, upper = (-20.0, 8.0) if x.dtype.name == "float64" else (-10.0, 5.0)
    low = FUNCTIONS["minimum"](x, lower)
    square, series, term = low * low, ones_like(x), ones_like(x)
    for n in range(1, TERMS + 1):
        term = term * -(2.0 * n - 1.0) / square
        series = series + term
    far = -0.5 * square - FUNCTIONS["log"](-low) - 0.5 * math.log(2.0 * math.pi)
    far = far + FUNCTIONS["log"](series)
    middle = FUNCTIONS["log"](ndtr(FUNCTIONS["maximum"](x, lower)))
    below = where(FUNCTIONS["greater"](x, lower), middle, far)
    return where(FUNCTIONS["greater"](x, upper), -ndtr(-x), below)

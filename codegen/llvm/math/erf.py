"""The error function: by a table in registers where there is one, else by two polynomials."""

from __future__ import annotations

from ....target import Target
from ..text.build import Shape, Text
from .exp import exp_of
from .lanes import Lanes
from .lookup import odd_by_lookup
from .tables import ERF, ERF_LOOKUPS, LOG_ERFC

MIDDLE = 1.0
"""Up to here erf(x) is x times a polynomial in x^2; from here it is 1 - e^polynomial."""

END = {"float": 3.93, "double": 5.95}
"""From here erf is 1."""


def erf(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the error function."""
    lanes = Lanes(text, shape, target)
    if lanes.has_tables:
        return odd_by_lookup(lanes, x, ERF_LOOKUPS[lanes.form])
    size = lanes.absolute(x)
    square = lanes.multiply(x, x)
    near = lanes.fma(size, lanes.polynomial(square, ERF[lanes.precision]), size)
    is_far = lanes.compare("oge", size, MIDDLE)
    return lanes.copysign(lanes.overlay(is_far, lambda: _far(lanes, size), near), x)


def _far(lanes: Lanes, size: str) -> str:
    """Return it from `MIDDLE` on; that takes three times as long as nearer to 0."""
    end = lanes.minimum(END[lanes.precision], size)
    power = lanes.polynomial(lanes.subtract(end, 2.0), LOG_ERFC[lanes.precision])
    return lanes.subtract(1.0, exp_of(lanes, power))

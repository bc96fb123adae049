"""Inverse functions: asin, acos, atan, atan2, and asinh, acosh, atanh.

Those that would need the care of double arithmetic for a float are computed in double for floats.
"""

from __future__ import annotations

import math

from ....target import Target
from ..text.build import Shape, Text
from .lanes import Lanes, Operand
from .log import decompose, log1p_of, natural
from .tables import ASIN, ATAN, ATAN_TO_ONE, HALF_PI, LN2

LEAST = 2.0**-149
"""The least positive float."""
MANY = 2.0**55
"""From here asinh and acosh are ln(2 x), and x + 1 is x, for a double."""


def asin(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the arc sine; above 1/2 it is pi/2 less twice that of sqrt((1 - |x|) / 2)."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    big, root, tail = _small_asin(lanes, size, size)
    high, low = _half_pi(lanes)
    twice = lanes.add(root, root)
    first = lanes.subtract(high, twice)
    lost = lanes.subtract(lanes.subtract(high, first), twice)
    far = lanes.subtract(first, lanes.fma(tail, twice, lanes.subtract(-low, lost)))
    return lanes.copysign(lanes.select(big, far, lanes.fma(tail, root, root)), x)


def acos(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the arc cosine, by the same formula."""
    lanes = Lanes(text, shape, target)
    big, root, tail = _small_asin(lanes, lanes.absolute(x), x)
    angle = lanes.fma(tail, root, root)
    high, low = _half_pi(lanes)
    below = lanes.compare("olt", x, 0.0)
    twice = lanes.add(angle, angle)
    turned = lanes.select(below, lanes.negate(twice), twice)
    base, base_low = (
        lanes.select(big, lanes.select(below, 2 * part, 0.0), part) for part in (high, low)
    )
    rest = lanes.select(big, turned, lanes.negate(angle))
    return lanes.add(base, lanes.add(rest, base_low))


def _half_pi(lanes: Lanes) -> tuple[float, float]:
    """Return pi/2 in two parts."""
    high, low, *_ = HALF_PI[lanes.shape.element]
    return high, low


def _small_asin(lanes: Lanes, size: str, x: str) -> tuple[str, str, str]:
    """Return whether |x| is above 1/2, s, and asin(s) / s - 1.

    s is x, or sqrt((1 - |x|) / 2) if |x| is above 1/2.
    """
    big = lanes.compare("ogt", size, 0.5)
    folded = lanes.fma(size, -0.5, 0.5)
    square = lanes.select(big, folded, lanes.multiply(x, x))
    root = lanes.select(big, lanes.sqrt(folded), x)
    tail = lanes.multiply(square, lanes.polynomial(square, ASIN[lanes.precision]))
    return big, root, tail


def atan(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the arc tangent."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    return lanes.copysign(_angle(lanes, size, 1.0, _sectors(lanes, size, 1.0)), x)


def _sectors(lanes: Lanes, up: str, across: Operand) -> tuple[str, str]:
    """Return whether a point in the first quadrant is beyond the slope 1/2, and beyond 2."""
    if isinstance(across, float):
        return lanes.compare("ogt", up, across / 2), lanes.compare("ogt", up, across * 2)
    return (
        lanes.compare("ogt", lanes.add(up, up), across),
        lanes.compare("ogt", up, lanes.add(across, across)),
    )


def _angle(lanes: Lanes, up: str, across: Operand, sectors: tuple[str, str]) -> str:
    """Return the angle of a point in the first quadrant, of `up` over `across`.

    About pi/4 and pi/2 the point is turned back by as much.
    """
    across, (middle, steep) = lanes.name(across), sectors
    top = lanes.select(middle, lanes.subtract(up, across), up)
    top = lanes.select(steep, lanes.negate(across), top)
    bottom = lanes.select(middle, lanes.add(up, across), across)
    bottom = lanes.select(steep, up, bottom)
    angle = lanes.odd(lanes.divide(top, bottom), ATAN[lanes.precision])
    base, base_low = (
        lanes.select(steep, part, lanes.select(middle, part / 2, 0.0)) for part in _half_pi(lanes)
    )
    return lanes.add(base, lanes.add(angle, base_low))


def atan2(text: Text, shape: Shape, target: Target, y: str, x: str) -> str:
    """Return the angle of the point (x, y), from -pi to pi."""
    lanes = Lanes(text, shape, target)
    up, across = lanes.absolute(y), lanes.absolute(x)
    angle_of = _angle_of_floats if shape.element == "float" else _angle_of_doubles
    angle = angle_of(lanes, up, across, lanes.is_negative(x))
    return lanes.select(lanes.compare("uno", x, y), math.nan, lanes.copysign(angle, y))


def _angle_of_doubles(lanes: Lanes, up: str, across: str, behind: str) -> str:
    """Return the angle of a point in the upper half."""
    greater = lanes.maximum(up, across)
    endless = lanes.compare("oeq", greater, math.inf)
    up = lanes.select(endless, _is_infinite(lanes, up), up)
    across = lanes.select(endless, _is_infinite(lanes, across), across)
    factor = lanes.select(lanes.compare("ogt", greater, 2.0**1020), 2.0**-4, 1.0)
    up, across = lanes.multiply(up, factor), lanes.multiply(across, factor)
    across = lanes.select(lanes.compare("oeq", greater, 0.0), 1.0, across)
    angle = _angle(lanes, up, across, _sectors(lanes, up, across))
    high, low = _half_pi(lanes)
    return lanes.select(behind, lanes.subtract(2 * high, lanes.subtract(angle, 2 * low)), angle)


def _angle_of_floats(lanes: Lanes, up: str, across: str, behind: str) -> str:
    """Return the angle of a point in the upper half, of floats.

    The lesser over the greater is the slope from the nearest axis. They are divided as doubles;
    what chooses among them comes before, where there are half as many vectors.
    """
    steep, lesser = lanes.compare("ogt", up, across), lanes.minimum(up, across)
    greater = lanes.maximum(lanes.maximum(up, across), LEAST)
    endless = lanes.compare("oeq", lesser, math.inf)  # both are; one alone is a slope of 0
    lesser, greater = lanes.select(endless, 1.0, lesser), lanes.select(endless, 1.0, greater)
    top = lanes.select(lanes.differ(steep, behind), lanes.negate(lesser), lesser)
    turns = lanes.select(steep, 1.0, lanes.select(behind, 2.0, 0.0))
    wide = lanes.widened()
    slope = wide.divide(lanes.widen(top), lanes.widen(greater))
    angle = wide.odd(slope, ATAN_TO_ONE[wide.precision])
    return lanes.narrow(wide.fma(lanes.widen(turns), math.pi / 2, angle))


def _is_infinite(lanes: Lanes, x: str) -> str:
    """Return 1 where x is infinite, else 0."""
    return lanes.select(lanes.compare("oeq", x, math.inf), 1.0, 0.0)


def asinh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the inverse hyperbolic sine: ln(|x| + sqrt(x^2 + 1)) with the sign of x."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    if shape.element == "float":
        wide, value = lanes.widened(), lanes.widen(size)
        root = wide.sqrt(wide.fma(value, value, 1.0))
        far = _log(wide, wide.add(value, root))
        near = wide.odd(value, (-1 / 6,))
        result = lanes.narrow(wide.select(wide.compare("olt", value, NEAR), near, far))
        result = lanes.select(lanes.compare("olt", size, math.inf), result, size)
        return lanes.copysign(result, x)
    square = lanes.multiply(size, size)
    root = lanes.sqrt(lanes.add(square, 1.0))
    less_one = lanes.add(size, lanes.divide(square, lanes.add(root, 1.0)))
    return lanes.copysign(_log1p_or_log_of_twice(lanes, size, less_one), x)


NEAR = 2.0**-10
"""Below, two terms of the series are enough for a float."""


def acosh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the inverse hyperbolic cosine: ln(x + sqrt(x^2 - 1))."""
    lanes = Lanes(text, shape, target)
    if shape.element == "float":
        wide, value = lanes.widened(), lanes.widen(x)
        root = wide.sqrt(wide.fma(value, value, -1.0))
        result = lanes.narrow(_log(wide, wide.add(value, root)))
        result = lanes.select(lanes.compare("olt", x, math.inf), result, x)
        return lanes.select(lanes.compare("olt", x, 1.0), math.nan, result)
    less = lanes.subtract(x, 1.0)
    root = lanes.sqrt(lanes.multiply(less, lanes.add(x, 1.0)))
    result = _log1p_or_log_of_twice(lanes, x, lanes.add(less, root))
    return lanes.select(lanes.compare("olt", x, 1.0), math.nan, result)


def atanh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the inverse hyperbolic tangent: ln((1 + x) / (1 - x)) / 2."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    if shape.element == "float":
        wide, value = lanes.widened(), lanes.widen(size)
        quotient = wide.divide(wide.add(value, 1.0), wide.subtract(1.0, value))
        far = wide.multiply(_log(wide, quotient), 0.5)
        near = wide.odd(value, (1 / 3,))
        result = lanes.narrow(wide.select(wide.compare("olt", value, NEAR), near, far))
    else:
        twice = lanes.add(size, size)
        rest = lanes.divide(lanes.multiply(twice, size), lanes.subtract(1.0, size))
        result = lanes.multiply(log1p_of(lanes, lanes.add(twice, rest)), 0.5)
    outside = lanes.select(lanes.compare("oeq", size, 1.0), math.inf, math.nan)
    result = lanes.select(lanes.compare("olt", size, 1.0), result, outside)
    return lanes.copysign(result, x)


def _log(lanes: Lanes, x: str) -> str:
    """Return ln(x) of a positive normal number."""
    k, m = decompose(lanes, x, normal=True)
    return natural(lanes, k, lanes.subtract(m, 1.0))


def _log1p_or_log_of_twice(lanes: Lanes, x: str, less_one: str) -> str:
    """Return ln(1 + less_one), but ln(2 x) where x is so great that it is the same."""
    many = lanes.compare("ogt", x, MANY)
    result = log1p_of(lanes, lanes.select(many, x, less_one))
    return lanes.add(result, lanes.select(many, sum(LN2["double"]), 0.0))

"""Powers: x to the y, and the cube root.

The logarithm in x^y = e^(y ln(x)) has to be good to more bits than a number has. Of floats it is a
double; of doubles it is the sum of two.
"""

from __future__ import annotations

import math

from ....target import Target
from ..text.build import Shape, Text
from .exp import exp_of_sum, expm1_of_rest, power_of_two, split
from .lanes import Lanes
from .log import decompose, natural
from .tables import CUBE_ROOT, LN2_LONG, POW, TWO_THIRDS

Pair = tuple[str, str]


def powf(text: Text, shape: Shape, target: Target, x: str, y: str) -> str:
    """Return x^y by the rules of C: 1 for y = 0 and for x = 1, NaN if x < 0 and y is broken."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    regular = lanes.both(lanes.compare("ogt", size, 0.0), lanes.compare("olt", size, math.inf))
    base = lanes.select(regular, size, 1.0)
    magnitude = (_of_floats if shape.element == "float" else _of_doubles)(lanes, base, y)
    return _outside(lanes, x, y, regular, magnitude)


def _of_floats(lanes: Lanes, x: str, y: str) -> str:
    """Return x^y for a positive finite x and a finite y."""
    wide = lanes.widened()
    k, m = decompose(wide, lanes.widen(x), normal=True)
    power = wide.multiply(natural(wide, k, wide.subtract(m, 1.0)), lanes.widen(y))
    n, r = split(wide, wide.clamp(-110.0, power, 95.0))
    result = wide.add(expm1_of_rest(wide, r), 1.0)
    return lanes.narrow(wide.multiply(result, power_of_two(wide, n)))


def _of_doubles(lanes: Lanes, x: str, y: str) -> str:
    """Return x^y for a positive finite x and a finite y."""
    high, low = _long_log(lanes, x)
    y = lanes.clamp(-(2.0**66), y, 2.0**66)
    power, rest = lanes.two_product(high, y)
    return exp_of_sum(lanes, power, lanes.clamp(-1.0, lanes.fma(low, y, rest), 1.0))


def _outside(lanes: Lanes, x: str, y: str, regular: str, magnitude: str) -> str:
    """Return |x|^y with its sign, and right where x or y is 0, infinite or NaN, or x is 1."""
    size = lanes.absolute(x)
    endless = lanes.compare("oeq", lanes.absolute(y), math.inf)
    grows = lanes.differ(lanes.compare("ogt", size, 1.0), lanes.compare("olt", y, 0.0))
    extreme = lanes.select(grows, math.inf, 0.0)
    result = lanes.select(lanes.without(regular, endless), magnitude, extreme)

    whole = lanes.compare("oeq", lanes.intrinsic("floor", y), y)
    half = lanes.multiply(y, 0.5)
    odd = lanes.both(whole, lanes.compare("one", lanes.intrinsic("floor", half), half))
    result = lanes.select(odd, lanes.flip_sign(result, x), result)
    below = lanes.without(lanes.both(lanes.compare("olt", x, 0.0), regular), whole)
    result = lanes.select(lanes.either(below, lanes.compare("uno", x, y)), math.nan, result)

    one = lanes.both(lanes.compare("oeq", size, 1.0), endless)
    one = lanes.either(one, lanes.compare("oeq", x, 1.0))
    return lanes.select(lanes.either(one, lanes.compare("oeq", y, 0.0)), 1.0, result)


def _long_log(lanes: Lanes, x: str) -> Pair:
    """Return ln(x) as the sum of two doubles, good to 68 bits.

    With s = (m - 1) / (m + 1) in two parts, ln(m) = 2 s + s^3 (2/3 + s^2 p(s^2)).
    """
    k, m = decompose(lanes, x)
    f = lanes.subtract(m, 1.0)
    bottom, bottom_low = lanes.two_sum(m, 1.0)
    inverse = lanes.divide(1.0, bottom)
    s = lanes.multiply(f, inverse)
    product, error = lanes.two_product(s, bottom)
    left = lanes.subtract(lanes.subtract(f, product), error)
    s_low = lanes.multiply(lanes.subtract(left, lanes.multiply(s, bottom_low)), inverse)

    square, square_low = lanes.two_product(s, s)
    square_low = lanes.fma(lanes.add(s, s), s_low, square_low)
    series = lanes.multiply(lanes.polynomial(square, POW["double"]), square)
    factor, factor_low = lanes.quick_two_sum(TWO_THIRDS["double"][0], series)
    factor_low = lanes.add(factor_low, TWO_THIRDS["double"][1])
    cube = _product(lanes, (square, square_low), (s, s_low))
    tail = _product(lanes, cube, (factor, factor_low))

    first, second, third = LN2_LONG["double"]
    high, low = lanes.quick_two_sum(lanes.multiply(k, first), lanes.add(s, s))
    low = lanes.add(low, lanes.fma(k, third, lanes.add(s_low, s_low)))
    middle, middle_low = lanes.two_sum(lanes.multiply(k, second), tail[0])
    low = lanes.add(low, lanes.add(middle_low, tail[1]))
    high, error = lanes.quick_two_sum(high, middle)
    return lanes.quick_two_sum(high, lanes.add(low, error))


def _product(lanes: Lanes, a: Pair, b: Pair) -> Pair:
    """Return the product of two sums of two numbers."""
    high, low = lanes.two_product(a[0], b[0])
    low = lanes.fma(a[0], b[1], lanes.fma(a[1], b[0], low))
    return lanes.quick_two_sum(high, low)


def cbrt(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the cube root of x = 2^(3 q) m, by Newton's iteration for that of 1 / m."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    k, m = decompose(lanes, size)
    inverse = lanes.polynomial(m, CUBE_ROOT[lanes.precision])
    magic = lanes.layout.magic
    q = lanes.subtract(lanes.fma(k, 1 / 3, magic), magic)
    j = lanes.fma(q, -3.0, k)
    more, less = lanes.compare("ogt", j, 0.0), lanes.compare("olt", j, 0.0)
    m = lanes.multiply(m, lanes.select(more, 2.0, lanes.select(less, 0.5, 1.0)))
    factor = lanes.select(more, 0.5 ** (1 / 3), lanes.select(less, 2 ** (1 / 3), 1.0))
    inverse = lanes.multiply(inverse, factor)

    for _ in range(1 if shape.element == "float" else 2):
        cube = lanes.multiply(lanes.multiply(inverse, inverse), inverse)
        wrong = lanes.fma(lanes.negate(m), cube, 1.0)
        inverse = lanes.fma(lanes.multiply(inverse, wrong), 1 / 3, inverse)
    square = lanes.multiply(inverse, inverse)
    root = lanes.multiply(square, m)
    product, product_low = lanes.two_product(root, root)
    cube, cube_low = lanes.two_product(product, root)
    wrong = lanes.subtract(lanes.subtract(m, cube), lanes.fma(product_low, root, cube_low))
    root = lanes.fma(lanes.multiply(wrong, square), 1 / 3, root)

    result = lanes.copysign(lanes.multiply(root, power_of_two(lanes, q)), x)
    regular = lanes.both(lanes.compare("ogt", size, 0.0), lanes.compare("olt", size, math.inf))
    return lanes.select(regular, result, x)

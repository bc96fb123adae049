"""log and what follows from it: log2, log10, log1p.

All split x into 2^k m with m around 1; ln(m) is a polynomial. Floats need no division; doubles
take the series in s = f / (2 + f), f = m - 1, which is half as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ....target import Target
from ..text.build import Shape, Text
from .lanes import Lanes
from .tables import LN2, LOG, LOG2_E, LOG10_2, LOG10_E

FIRST = {"float": 0x3F2AAAAB, "double": 0x3FE6A09E00000000}
"""Where m begins, as bits: about 2/3 of floats, the square root of 1/2 of doubles."""


def decompose(lanes: Lanes, x: str, *, normal: bool = False) -> tuple[str, str]:
    """Return k and m of a positive finite x = 2^k m; numbers that are not normal are scaled."""
    layout, fraction = lanes.layout, lanes.layout.fraction
    bias: str | float = 2.0**fraction + layout.bias
    if not normal:
        lesser = lanes.compare("olt", x, layout.least_normal)
        x = lanes.select(lesser, lanes.multiply(x, 2.0**fraction), x)
        bias = lanes.select(lesser, 2.0**fraction + layout.bias + fraction, bias)
    first = FIRST[lanes.shape.element]
    bits = lanes.integer("add", lanes.as_bits(x), layout.one - first)
    k = lanes.subtract(join(lanes, lanes.integer("lshr", bits, fraction), 2.0**fraction), bias)
    m = lanes.integer("and", bits, (1 << fraction) - 1)
    return k, lanes.as_float(lanes.integer("add", m, first))


def join(lanes: Lanes, bits: str, base: float) -> str:
    """Return `base`, a power of two, with more bits set in its fraction."""
    layout = lanes.layout
    exponent = (math.frexp(base)[1] - 1 + layout.bias) << layout.fraction
    return lanes.as_float(lanes.integer("or", bits, exponent))


def get_exponent_and_mantissa(lanes: Lanes, x: str) -> tuple[str, str]:
    """Return k and m in [3/4, 3/2) by AVX-512, of numbers that are not normal too.

    Of 0 and infinity k is -inf and inf, and m is 1; of what is below 0, m is NaN.
    """
    kind, lanes_ = lanes.kind, lanes.shape.lanes
    suffix = f"p{'s' if lanes.shape.element == 'float' else 'd'}.{lanes.vector}"
    mask = f"i{max(lanes_, 8)}"
    rounding = (", i32", ", i32 4") if lanes.vector == 512 else ("", "")
    mantissa, exponent = (
        f"@llvm.x86.avx512.mask.{name}.{suffix}" for name in ("getmant", "getexp")
    )
    lanes.text.declare(f"declare {kind} {mantissa}({kind}, i32, {kind}, {mask}{rounding[0]})")
    lanes.text.declare(f"declare {kind} {exponent}({kind}, {kind}, {mask}{rounding[0]})")
    rest = f"{kind} zeroinitializer, {mask} -1{rounding[1]}"
    m = lanes.text.value(f"call {kind} {mantissa}({kind} {x}, i32 15, {rest})")
    of_x, of_m = (
        lanes.text.value(f"call {kind} {exponent}({kind} {each}, {rest})") for each in (x, m)
    )
    return lanes.subtract(of_x, of_m), m


def tail(lanes: Lanes, f: str) -> str:
    """Return ln(1 + f) - f."""
    form = f"{lanes.precision}-512" if lanes.vector else lanes.precision
    if lanes.precision == "float":
        series = lanes.polynomial(f, LOG[form])
        square = lanes.multiply(f, f)
        return lanes.multiply(square, lanes.fma(series, f, -0.5))
    s = lanes.divide(f, lanes.add(f, 2.0))
    z = lanes.multiply(s, s)
    half = lanes.multiply(lanes.multiply(f, f), 0.5)
    series = lanes.multiply(lanes.polynomial(z, LOG[form]), z)
    return lanes.fma(s, lanes.add(series, half), lanes.negate(half))


def natural(lanes: Lanes, k: str, f: str) -> str:
    """Return k ln(2) + ln(1 + f)."""
    ln2_high, ln2_low = LN2[lanes.shape.element]
    low = lanes.fma(k, ln2_low, tail(lanes, f))
    return lanes.fma(k, ln2_high, lanes.add(f, low))


def binary(lanes: Lanes, k: str, f: str) -> str:
    """Return k + log2(1 + f)."""
    high, low = LOG2_E[lanes.shape.element]
    rest = lanes.fma(tail(lanes, f), high, lanes.multiply(f, low))
    return lanes.add(k, lanes.fma(f, high, rest))


def decimal(lanes: Lanes, k: str, f: str) -> str:
    """Return k log10(2) + log10(1 + f)."""
    high, low = LOG10_E[lanes.shape.element]
    two_high, two_low = LOG10_2[lanes.shape.element]
    rest = lanes.fma(tail(lanes, f), high, lanes.multiply(f, low))
    rest = lanes.fma(f, high, lanes.fma(k, two_low, rest))
    return lanes.fma(k, two_high, rest)


Assemble = Callable[[Lanes, str, str], str]


def _logarithm(lanes: Lanes, x: str, assemble: Assemble) -> str:
    """Return what `assemble` makes of the parts of x, and what is due at 0, below, and above."""
    if lanes.vector:
        k, m = get_exponent_and_mantissa(lanes, x)
        return assemble(lanes, k, lanes.subtract(m, 1.0))
    k, m = decompose(lanes, x)
    return outside(lanes, x, assemble(lanes, k, lanes.subtract(m, 1.0)))


def outside(lanes: Lanes, x: str, result: str) -> str:
    """Return a logarithm of x, right at 0, below, at infinity, and for NaN."""
    result = lanes.select(lanes.compare("olt", x, math.inf), result, x)
    result = lanes.select(lanes.compare("oeq", x, 0.0), -math.inf, result)
    return lanes.select(lanes.compare("olt", x, 0.0), math.nan, result)


def log(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the natural logarithm."""
    return _logarithm(Lanes(text, shape, target), x, natural)


def log2(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the logarithm to base 2."""
    return _logarithm(Lanes(text, shape, target), x, binary)


def log10(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the logarithm to base 10."""
    return _logarithm(Lanes(text, shape, target), x, decimal)


def log1p(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return ln(1 + x)."""
    return log1p_of(Lanes(text, shape, target), x)


def log1p_of(lanes: Lanes, x: str) -> str:
    """Return ln(1 + x)."""
    total = lanes.add(x, 1.0)
    back = lanes.subtract(total, x)
    missing = lanes.subtract(x, lanes.subtract(total, back))
    missing = lanes.add(lanes.subtract(1.0, back), missing)
    same = lanes.compare("olt", lanes.absolute(x), lanes.layout.tiny)
    if lanes.vector:
        k, m = get_exponent_and_mantissa(lanes, total)
        scale = _inverse_power(lanes, lanes.clamp(-64.0, k, 64.0))
        same = lanes.either(same, lanes.compare("oeq", x, math.inf))
    else:
        k, m = decompose(lanes, total, normal=True)
        scale = _inverse_power(lanes, lanes.minimum(64.0, k))
    f = lanes.fma(missing, scale, lanes.subtract(m, 1.0))
    result = natural(lanes, k, f)
    return lanes.select(same, x, result if lanes.vector else outside(lanes, total, result))


def _inverse_power(lanes: Lanes, k: str) -> str:
    """Return 2^-k."""
    layout = lanes.layout
    bits = lanes.as_bits(lanes.subtract(layout.magic + layout.bias, k))
    return lanes.as_float(lanes.integer("shl", bits, layout.fraction))

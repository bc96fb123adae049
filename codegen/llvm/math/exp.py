"""exp and what follows from it: exp2, expm1, sinh, cosh, tanh.

All split x into n ln(2) + r with |r| <= ln(2)/2; e^r is a polynomial, and 2^n is put together
from bits, or applied by `scalef` where the machine has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....target import Target
from ..text.build import Shape, Text
from .lanes import Lanes, Operand
from .lookup import odd_by_lookup
from .tables import EXP2_NEAR, EXPM1, EXPM1_HALF, LN2, LOG2_E, SINH, TANH, TANH_LOOKUPS


@dataclass(frozen=True)
class Limits:
    """Where the functions of one type end."""

    low: float
    """Below, exp is 0."""
    high: float
    """Above, exp is infinite."""
    one: float
    """Above, tanh is 1."""


LIMITS = {
    "float": Limits(-104.0, 89.0, 9.125),
    "double": Limits(-746.0, 710.0, 19.5),
}


def limits(lanes: Lanes) -> Limits:
    """Return the limits of the shape's element type."""
    return LIMITS[lanes.shape.element]


def split(lanes: Lanes, x: Operand) -> tuple[str, str]:
    """Return n and r of x = n ln(2) + r; n is a whole number, |r| <= ln(2)/2."""
    magic = lanes.layout.magic
    high, low = LN2[lanes.shape.element]
    n = lanes.subtract(lanes.fma(x, LOG2_E["double"][0], magic), magic)
    return n, lanes.fma(n, -low, lanes.fma(n, -high, x))


def expm1_of_rest(lanes: Lanes, r: str) -> str:
    """Return e^r - 1 for |r| <= ln(2)/2."""
    tail = lanes.polynomial(r, EXPM1[lanes.precision])
    return lanes.fma(lanes.multiply(r, r), tail, r)


def power_of_two(lanes: Lanes, n: str) -> str:
    """Return 2^n for a whole n whose power is a normal number."""
    layout = lanes.layout
    bits = lanes.as_bits(lanes.add(n, layout.magic + layout.bias))
    return lanes.as_float(lanes.integer("shl", bits, layout.fraction))


def scale(lanes: Lanes, x: str, n: str) -> str:
    """Return x 2^n, rounded once, for an x near 1; n may be past the exponents there are."""
    if lanes.vector:
        return scalef(lanes, x, n)
    layout = lanes.layout
    biased = layout.magic + layout.bias
    half = lanes.fma(n, 0.5, biased)
    rest = lanes.add(lanes.subtract(n, lanes.subtract(half, biased)), biased)
    for part in (half, rest):
        bits = lanes.integer("shl", lanes.as_bits(part), layout.fraction)
        x = lanes.multiply(x, lanes.as_float(bits))
    return x


def scalef(lanes: Lanes, x: str, n: str) -> str:
    """Return x 2^n by AVX-512's instruction."""
    kind = lanes.kind
    name = f"@llvm.x86.avx512.mask.scalef.p{lanes.shape.element[0]}.{lanes.vector}"
    name = name.replace(".pf.", ".ps.")
    mask = f"i{max(lanes.shape.lanes, 8)}"
    rounding = ", i32" if lanes.vector == 512 else ""
    lanes.text.declare(f"declare {kind} {name}({kind}, {kind}, {kind}, {mask}{rounding})")
    rounding = ", i32 4" if lanes.vector == 512 else ""
    return lanes.text.value(
        f"call {kind} {name}({kind} {x}, {kind} {n}, {kind} zeroinitializer, {mask} -1{rounding})"
    )


def exp_of_sum(lanes: Lanes, x: str, low: str) -> str:
    """Return exp(x + low), where low is far less than x, or x so great that it does not matter."""
    found = limits(lanes)
    n, r = split(lanes, lanes.clamp(found.low - 2.0, x, found.high + 2.0))
    return scale(lanes, lanes.add(expm1_of_rest(lanes, lanes.add(r, low)), 1.0), n)


def _exp_of_rest(lanes: Lanes, r: str) -> str:
    """Return e^r for |r| <= ln(2)/2."""
    return lanes.polynomial(r, (1.0, 1.0, *EXPM1[lanes.precision]))


def exp(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return e^x."""
    lanes = Lanes(text, shape, target)
    return exp_of(lanes, x)


def exp_of(lanes: Lanes, x: str) -> str:
    """Return e^x."""
    found = limits(lanes)
    n, r = split(lanes, lanes.clamp(found.low, x, found.high))
    return scale(lanes, _exp_of_rest(lanes, r), n)


def exp2(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return 2^x."""
    lanes = Lanes(text, shape, target)
    magic = lanes.layout.magic
    ends = lanes.layout.bias + lanes.layout.fraction + 2.0
    x = lanes.clamp(-ends, x, ends)
    n = lanes.subtract(lanes.add(x, magic), magic)
    r = lanes.subtract(x, n)
    high, low = LN2[lanes.shape.element]
    r = lanes.fma(r, low, lanes.multiply(r, high))
    return scale(lanes, _exp_of_rest(lanes, r), n)


def exp2_near(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return 2^x for an x of at most 2^20, 2 ulp off; doubles as near as `exp2`.

    GPUs have an instruction that is as near; it gives 0 below 2^-126.
    """
    if shape.element != "float":
        return exp2(text, shape, target, x)
    if target.can.approximate_exp2:
        return _approximate(text, shape, x)
    lanes = Lanes(text, shape, target)
    magic, end = lanes.layout.magic, lanes.layout.bias + lanes.layout.fraction + 2.0
    x = _from_above(lanes, end, x)
    n = lanes.subtract(lanes.add(x, magic), magic)
    return _power_near(lanes, n, lanes.subtract(x, n))


def exp_near(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return e^x for an x of at most 2^20, some ulp off (|x| / 4 and 2); doubles as near as `exp`.

    x log2(e) is not rounded before the whole number is taken off.
    """
    if shape.element != "float":
        return exp(text, shape, target, x)
    lanes = Lanes(text, shape, target)
    x = _from_above(lanes, -limits(lanes).low + 1.0, x)
    magic, factor = lanes.layout.magic, LOG2_E["double"][0]
    n = lanes.subtract(lanes.fma(x, factor, magic), magic)
    return _power_near(lanes, n, lanes.fma(x, factor, lanes.negate(n)))


def _from_above(lanes: Lanes, end: float, x: str) -> str:
    """Return an x that is not large, or -end where it is less, of which the power is 0."""
    return lanes.maximum(-end, x) if lanes.vector else lanes.clamp(-end, x, end)


def _power_near(lanes: Lanes, n: str, f: str) -> str:
    """Return 2^(n + f), some ulp off, for a whole n and |f| <= 1/2."""
    return scale(lanes, lanes.polynomial(f, (1.0, *EXP2_NEAR["float"])), n)


def _approximate(text: Text, shape: Shape, x: str) -> str:
    """Return 2^x by the instruction of GPUs, which takes one number at a time."""
    name = "@llvm.nvvm.ex2.approx.ftz.f"
    text.declare(f"declare float {name}(float)")
    if not shape.lanes:
        return text.value(f"call float {name}(float {x})")
    made = "poison"
    for lane in range(shape.lanes):
        one = text.value(f"extractelement {shape.name} {x}, i64 {lane}")
        one = text.value(f"call float {name}(float {one})")
        made = text.value(f"insertelement {shape.name} {made}, float {one}, i64 {lane}")
    return made


def expm1(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return e^x - 1 = 2^n (e^r - 1) + (2^n - 1), with n = 0 up to 1/2 so that nothing cancels."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    clamped = lanes.clamp(-2 * limits(lanes).one, x, limits(lanes).high)
    n, r = split(lanes, clamped)
    near = lanes.compare("olt", size, 0.5)
    n, r = lanes.select(near, 0.0, n), lanes.select(near, clamped, r)
    tail = lanes.polynomial(r, EXPM1_HALF[lanes.precision])
    rest = lanes.fma(lanes.multiply(r, r), tail, r)
    power = power_of_two(lanes, lanes.subtract(n, 2.0))
    result = lanes.multiply(lanes.fma(power, rest, lanes.subtract(power, 0.25)), 4.0)
    return lanes.select(lanes.compare("olt", size, lanes.layout.tiny), x, result)


def _quarter_exp(lanes: Lanes, x: str) -> str:
    """Return e^x / 4 for a positive x that is not far above the end of exp."""
    n, r = split(lanes, x)
    power = power_of_two(lanes, lanes.subtract(n, 2.0))
    return lanes.fma(power, expm1_of_rest(lanes, r), power)


def sinh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the hyperbolic sine: with q = e^|x| / 4, it is 2 q - 1 / (8 q)."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    quarter = _quarter_exp(lanes, lanes.minimum(limits(lanes).high + 0.5, size))
    far = lanes.fma(quarter, 2.0, lanes.divide(-0.125, quarter))
    near = lanes.odd(size, SINH[lanes.precision])
    return lanes.copysign(lanes.select(lanes.compare("olt", size, 1.0), near, far), x)


def cosh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the hyperbolic cosine: with q = e^|x| / 4, it is 2 q + 1 / (8 q)."""
    lanes = Lanes(text, shape, target)
    quarter = _quarter_exp(lanes, lanes.minimum(limits(lanes).high + 0.5, lanes.absolute(x)))
    return lanes.fma(quarter, 2.0, lanes.divide(0.125, quarter))


def tanh(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the hyperbolic tangent: with q = e^(2|x|) / 4, it is 1 - 2 / (4 q + 1)."""
    lanes = Lanes(text, shape, target)
    if lanes.has_tables:
        return odd_by_lookup(lanes, x, TANH_LOOKUPS[lanes.form])
    size = lanes.absolute(x)
    end = lanes.minimum(limits(lanes).one, size)
    quarter = _quarter_exp(lanes, lanes.add(end, end))
    far = lanes.subtract(1.0, lanes.divide(2.0, lanes.fma(quarter, 4.0, 1.0)))
    near = lanes.odd(size, TANH[lanes.precision])
    return lanes.copysign(lanes.select(lanes.compare("olt", size, 0.55), near, far), x)

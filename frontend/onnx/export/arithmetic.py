"""Element-wise operations that are no operator of ONNX, or one under some conditions."""

from __future__ import annotations

import math
from typing import Any

from ....ir import Op
from ....ir.types import dtypes as d
from .extents import NotWritableError
from .rules import writes
from .writer import Writer


@writes("gv.identity", "gv.stop_gradient")
def same(out: Writer, op: Op, x: str) -> str:
    """Write nothing: the operand is the result."""
    return x


@writes("gv.with_gradient")
def with_gradient(out: Writer, op: Op, *xs: str) -> tuple[str, ...]:
    """Write nothing: the first operands are the results."""
    return xs[: len(op.results)]


@writes("gv.cast")
def cast(out: Writer, op: Op, x: str) -> str:
    """Convert; what is not 0 is true."""
    return out.cast(x, op.result_specs[0].dtype)


@writes("gv.not_equal")
def not_equal(out: Writer, op: Op, a: str, b: str) -> str:
    """Say that elements are not equal."""
    return str(out.node("Not", out.node("Equal", a, b)))


@writes("gv.maximum", "gv.minimum")
def extreme(out: Writer, op: Op, a: str, b: str) -> str:
    """Take the larger or the smaller."""
    largest = op.name == "gv.maximum"
    if out.types[a] is d.bool_:
        return str(out.node("Or" if largest else "And", a, b))
    return str(out.node("Max" if largest else "Min", a, b))


@writes("gv.clip")
def clip(out: Writer, op: Op, x: str, low: str, high: str) -> str:
    """Limit; ONNX wants the ends as single numbers."""
    if op.specs[1].rank == op.specs[2].rank == 0:
        return str(out.node("Clip", x, low, high))
    return str(out.node("Min", out.node("Max", x, low), high))


@writes("gv.silu")
def silu(out: Writer, op: Op, x: str) -> str:
    """Write x * sigmoid(x)."""
    return str(out.node("Mul", x, out.node("Sigmoid", x)))


@writes("gv.rsqrt")
def rsqrt(out: Writer, op: Op, x: str) -> str:
    """Write 1 / sqrt(x)."""
    return str(out.node("Reciprocal", out.node("Sqrt", x)))


@writes("gv.trunc")
def trunc(out: Writer, op: Op, x: str) -> str:
    """Round up what is below zero, and down what is not."""
    below = out.node("Less", x, out.like(0, x))
    return str(out.node("Where", below, out.node("Ceil", x), out.node("Floor", x)))


@writes("gv.exp2")
def exp2(out: Writer, op: Op, x: str) -> str:
    """Write 2 to the power of x."""
    return str(out.node("Pow", out.like(2, x), x))


@writes("gv.expm1")
def expm1(out: Writer, op: Op, x: str) -> str:
    """Write exp(x) - 1, near 0 as 2 t / (1 - t) with t = tanh(x / 2)."""
    one, two = out.like(1, x), out.like(2, x)
    t = out.node("Tanh", out.node("Div", x, two))
    near = out.node("Div", out.node("Mul", two, t), out.node("Sub", one, t))
    far = out.node("Sub", out.node("Exp", x), one)
    return str(out.node("Where", out.node("Less", out.node("Abs", x), one), near, far))


@writes("gv.log1p")
def log1p(out: Writer, op: Op, x: str) -> str:
    """Write log(u) x / (u - 1) with u = 1 + x, which forgives the rounding of u."""
    one = out.like(1, x)
    u = out.node("Add", x, one)
    rest, logarithm = out.node("Sub", u, one), out.node("Log", u)
    ratio = out.node("Mul", logarithm, out.node("Div", x, rest))
    tiny = out.node("Equal", u, one)
    huge = out.node("Greater", x, out.like(1e4, x))
    return str(out.node("Where", tiny, x, out.node("Where", huge, logarithm, ratio)))


@writes("gv.log2", "gv.log10")
def logarithm(out: Writer, op: Op, x: str) -> str:
    """Write the natural logarithm times a number."""
    base = 2 if op.name == "gv.log2" else 10
    return str(out.node("Mul", out.node("Log", x), out.like(1 / math.log(base), x)))


@writes("gv.isinf")
def isinf(out: Writer, op: Op, x: str) -> str:
    """Say whether elements are infinite."""
    rules = op.plain_attributes()
    return str(
        out.node(
            "IsInf",
            x,
            detect_positive=int(rules["positive"]),
            detect_negative=int(rules["negative"]),
        )
    )


@writes("gv.isfinite")
def isfinite(out: Writer, op: Op, x: str) -> str:
    """Say that elements are neither infinite nor NaN."""
    return str(out.node("Not", out.node("Or", out.node("IsInf", x), out.node("IsNaN", x))))


def _wide(out: Writer, *xs: str) -> list[str]:
    """Return floats as f32 or wider."""
    wide = d.f64 if out.types[xs[0]] is d.f64 else d.f32
    return [out.cast(x, wide) for x in xs]


@writes("gv.fmod")
def fmod(out: Writer, op: Op, a: str, b: str) -> str:
    """Write the remainder with the sign of the dividend."""
    return _remainder(out, a, b, fmod=1)


@writes("gv.mod")
def mod(out: Writer, op: Op, a: str, b: str) -> str:
    """Write the remainder with the sign of the divisor; of floats, moved from the dividend's."""
    if not out.types[a].is_float:
        return _remainder(out, a, b, fmod=0)
    zero, rest = out.like(0, a), _remainder(out, a, b, fmod=1)
    signs = out.node("Xor", out.node("Less", rest, zero), out.node("Less", b, zero))
    is_zero = out.node("Equal", rest, zero)
    moved = out.node("Where", signs, out.node("Add", rest, b), rest)
    return str(out.node("Where", is_zero, out.node("Mul", zero, b), moved))


def _remainder(out: Writer, a: str, b: str, *, fmod: int) -> str:
    """Write `Mod`; an integer's remainder by 0 is 0."""
    if out.types[a].is_float:
        return str(out.node("Mod", a, b, fmod=1))
    zero = out.node("Equal", b, out.like(0, b))
    safe = out.node("Where", zero, out.like(1, b), b)
    return str(out.node("Where", zero, out.like(0, a), out.node("Mod", a, safe, fmod=fmod)))


@writes("gv.floor_divide")
def floor_divide(out: Writer, op: Op, a: str, b: str) -> str:
    """Divide what is left without the remainder, so that nothing is rounded up."""
    rest = mod(out, op, a, b)
    if out.types[a].is_float:
        whole = out.node("Round", out.node("Div", out.node("Sub", a, rest), b))
        plain = out.node("Floor", out.node("Div", a, b))  # infinities, and division by 0
        odd = out.node("Or", out.node("IsNaN", whole), out.node("IsInf", whole))
        return str(out.node("Where", odd, plain, whole))
    zero = out.node("Equal", b, out.like(0, b))
    safe = out.node("Where", zero, out.like(1, b), b)
    made = out.node("Div", out.node("Sub", a, rest), safe)
    return str(out.node("Where", zero, out.like(0, a), made))


@writes("gv.atan2")
def atan2(out: Writer, op: Op, y: str, x: str) -> str:
    """Write the angle: atan(y / x), turned by half a circle where x is below zero."""
    dtype = out.types[y]
    y, x = _wide(out, y, x)
    zero, one, pi = out.like(0, x), out.like(1, x), out.like(math.pi, x)
    both = out.node("And", out.node("IsInf", y), out.node("IsInf", x))
    y_unit, x_unit = out.node("Sign", y), out.node("Sign", x)
    ratio = out.node("Div", out.node("Where", both, y_unit, y), out.node("Where", both, x_unit, x))
    none = out.node("And", out.node("Equal", y, zero), out.node("Equal", x, zero))
    base = out.node("Where", none, y, out.node("Atan", ratio))
    left = out.node("Or", out.node("Less", x, zero), _is_minus_zero(out, x, zero, one))
    down = out.node("Or", out.node("Less", y, zero), _is_minus_zero(out, y, zero, one))
    half = out.node("Where", down, out.node("Neg", pi), pi)
    on_axis = out.node("And", out.node("Equal", x, zero), out.node("Not", none))
    turned = out.node("And", left, out.node("Not", on_axis))
    quarter = out.node("Div", half, out.like(2, x))
    made = out.node("Where", turned, out.node("Add", base, half), base)
    return out.cast(str(out.node("Where", on_axis, quarter, made)), dtype)


def _is_minus_zero(out: Writer, x: str, zero: str, one: str) -> Any:
    below = out.node("Less", out.node("Div", one, x), zero)
    return out.node("And", out.node("Equal", x, zero), below)


SIGNED: dict[d.DType, d.DType] = {d.i8: d.u8, d.i16: d.u16, d.i32: d.u32, d.i64: d.u64}
"""The unsigned type of the same bits."""


@writes("gv.shift_left", "gv.shift_right")
def shift(out: Writer, op: Op, x: str, count: str) -> str:
    """Shift bits; a negative number to the right as what its bits turned round give."""
    dtype, right = out.types[x], op.name == "gv.shift_right"
    plain = SIGNED.get(dtype, dtype)
    direction = "RIGHT" if right else "LEFT"
    places = out.cast(count, plain)

    def shifted(value: str) -> str:
        moved = out.node("BitShift", out.cast(value, plain), places, direction=direction)
        return out.cast(moved, dtype)

    if not right or plain is dtype:
        return shifted(x)
    below = out.node("Less", x, out.like(0, x))
    turned = out.node("BitwiseNot", shifted(out.node("BitwiseNot", x)))
    return str(out.node("Where", below, turned, shifted(x)))


@writes("gv.pow")
def power(out: Writer, op: Op, a: str, b: str) -> str:
    """Raise to a power; of integers only where no exponent can be below zero."""
    if not out.types[a].is_float:
        exponent = out.known(op.operands[1])
        if out.types[b].kind != "u" and (exponent is None or (exponent < 0).any()):
            raise NotWritableError("powers of integers with exponents that may be negative")
    return str(out.node("Pow", a, b))


@writes("gv.relu")
def relu(out: Writer, op: Op, x: str) -> str:
    """Take the larger of x and 0; of unsigned numbers, x itself."""
    return x if out.types[x].kind == "u" else str(out.node("Relu", x))


@writes("gv.abs", "gv.sign")
def of_sign(out: Writer, op: Op, x: str) -> str:
    """Write the operator of the same name."""
    return str(out.node("Abs" if op.name == "gv.abs" else "Sign", x))


@writes("gv.neg")
def negative(out: Writer, op: Op, x: str) -> str:
    """Take from 0 what ONNX negates with sign only."""
    if out.types[x].kind == "u":
        return str(out.node("Sub", out.like(0, x), x))
    return str(out.node("Neg", x))


@writes("gv.div")
def divide(out: Writer, op: Op, a: str, b: str) -> str:
    """Divide; an integer by 0 is 0."""
    if out.types[a].is_float:
        return str(out.node("Div", a, b))
    divisor = out.known(op.operands[1])
    if divisor is not None and divisor.all():
        return str(out.node("Div", a, b))
    zero = out.node("Equal", b, out.like(0, b))
    safe = out.node("Where", zero, out.like(1, b), b)
    return str(out.node("Where", zero, out.like(0, a), out.node("Div", a, safe)))

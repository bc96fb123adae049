"""Equations of arithmetic that hold for every number: zeros of both signs, infinity, and NaN."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from ...ir import Op, operands_of
from ..analysis.constants import is_scalar, scalar_of
from ..analysis.rewrite import Rewriter, Rule, RuleBook, producer, reads, spec

RULES = RuleBook[Rule]()


def neutral(op: Op, number: float, *, left: bool) -> SSAValue | None:
    """Return the other operand, if one is `number` everywhere and does not widen the result."""
    lhs, rhs = operands_of(op)
    kind = op.results[0].type
    if lhs.type == kind and is_scalar(rhs, number):
        return lhs
    if left and rhs.type == kind and is_scalar(lhs, number):
        return rhs
    return None


def neutral_zero(op: Op, sign: float, *, left: bool) -> SSAValue | None:
    """Return the other operand, if one is 0 everywhere; of floats, the zero of this sign."""
    found = neutral(op, 0, left=left)
    if found is None or not spec(op.results[0]).dtype.is_float:
        return found
    zero = next(scalar_of(x) for x in operands_of(op)[::-1] if is_scalar(x, 0))
    return found if math.copysign(1.0, zero) == sign else None


def as_wide(op: Op, rewriter: Rewriter, value: SSAValue) -> SSAValue:
    """Return the value broadcast to the shape of the operation's result."""
    result = op.results[0]
    if value.type == result.type:
        return value
    return rewriter("broadcast_to", value, shape=spec(result).dims)


@RULES.on("add")
@reads("constant")
def add_zero(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x + 0 -> x`; of floats `x + -0`, for -0 + 0 is 0."""
    return neutral_zero(op, -1.0, left=True)


@RULES.on("sub")
@reads("constant")
def subtract_zero(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x - 0 -> x`; not of floats `x - -0`, for -0 - -0 is 0."""
    return neutral_zero(op, 1.0, left=False)


@RULES.on("mul")
@reads("constant")
def multiply_by_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x * 1 -> x`."""
    return neutral(op, 1, left=True)


@RULES.on("div")
@reads("constant")
def divide_by_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x / 1 -> x`."""
    return neutral(op, 1, left=False)


@RULES.on("pow")
@reads("constant")
def power_of_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x ** 1 -> x`."""
    return neutral(op, 1, left=False)


@RULES.on("mul")
@reads("constant")
def multiply_by_zero(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`i * 0 -> 0` for integers."""
    if spec(op.results[0]).dtype.is_float:
        return None
    for value in op.operands:
        if is_scalar(value, 0):
            return as_wide(op, rewriter, value)
    return None


@RULES.on("mul")
@reads("constant")
def multiply_by_minus_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x * -1 -> -x`."""
    if spec(op.results[0]).dtype.kind not in "if":
        return None
    value = neutral(op, -1, left=True)
    return None if value is None else rewriter("neg", value)


@RULES.on("div")
@reads("constant")
def divide_by_power_of_two(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x / 2**n -> x * 2**-n`, which rounds the same."""
    lhs, rhs = op.operands
    number, dtype = scalar_of(rhs), spec(rhs).dtype
    if number is None or not dtype.is_float or number == 0 or not math.isfinite(number):
        return None
    smallest = 2.0**-14 if dtype.name == "f16" else 2.0**-126
    reciprocal = 1.0 / number
    if abs(math.frexp(number)[0]) != 0.5 or not smallest <= abs(reciprocal) <= 1 / smallest:
        return None
    if abs(number) < smallest:
        return None
    shape = spec(rhs).static_shape
    made = rewriter.constant(np.broadcast_to(np.array(reciprocal, dtype.numpy), shape))
    return rewriter("mul", lhs, made)


@RULES.where(lambda op: op.INVOLUTION)
def double_negation(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """-(-x) -> x, and not (not x) -> x."""
    inner = op.operands[0].owner
    return inner.operands[0] if isinstance(inner, Op) and inner.name == op.name else None


@RULES.on("add")
@reads("neg")
def add_negation(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x + -y -> x - y`, and `-x + y -> y - x`."""
    lhs, rhs = operands_of(op)
    if (inner := producer(rhs, "neg")) is not None:
        return rewriter("sub", lhs, inner.operands[0])
    if (inner := producer(lhs, "neg")) is not None:
        return rewriter("sub", rhs, inner.operands[0])
    return None


@RULES.on("sub")
@reads("neg")
def subtract_negation(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x - -y -> x + y`."""
    lhs, rhs = op.operands
    inner = producer(rhs, "neg")
    return None if inner is None else rewriter("add", lhs, inner.operands[0])


@RULES.where(lambda op: op.IDEMPOTENT and len(op.signature().operands) == 1)
def idempotent(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """f(f(x)) -> f(x)."""
    inner = op.operands[0].owner
    return op.operands[0] if isinstance(inner, Op) and inner.name == op.name else None


@RULES.on("abs")
def magnitude_of_negation(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """|-x| -> |x|."""
    inner = producer(op.operands[0], "neg")
    return None if inner is None else rewriter("abs", inner.operands[0])


@RULES.where(lambda op: op.IDEMPOTENT and len(op.signature().operands) == 2)
def same_operands(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """max(x, x) -> x, and so for min, and, or."""
    lhs, rhs = op.operands
    return lhs if lhs is rhs else None


@RULES.on("maximum")
def maximum_with_zero(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """max(x, 0) -> relu(x); of two zeros both give the first, which max(0, x) would not."""
    if not spec(op.results[0]).dtype.is_float:
        return None
    value = neutral_zero(op, 1.0, left=False)
    return None if value is None else rewriter("relu", value)


@RULES.on("logical_and", "logical_or")
def logical_with_constant(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x and true -> x`, `x or false -> x`; `x and false -> false`, `x or true -> true`."""
    keeps = op.name == "gv.logical_and"
    value = neutral(op, keeps, left=True)
    if value is not None:
        return value
    for operand in op.operands:
        if is_scalar(operand, not keeps):
            return as_wide(op, rewriter, operand)
    return None


@RULES.on("select")
def select_by_constant(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """select(true, x, y) -> x, select(false, x, y) -> y."""
    condition, x, y = op.operands
    known = scalar_of(condition)
    if known is None:
        return None
    return as_wide(op, rewriter, x if known else y)


@RULES.on("select")
def select_same(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """select(c, x, x) -> x."""
    _, x, y = op.operands
    return x if x is y and x.type == op.results[0].type else None


@RULES.on("select")
def select_by_negation(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """select(not c, x, y) -> select(c, y, x)."""
    condition, x, y = op.operands
    inner = producer(condition, "logical_not")
    return None if inner is None else rewriter("select", inner.operands[0], y, x)


@RULES.on("cast")
def cast_to_same(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """cast(x: t) to t -> x."""
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


@RULES.on("cast")
def cast_of_cast(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """cast(cast(x: a) to b) to c -> cast(x) to c, if b holds every a."""
    inner = producer(op.operands[0], "cast")
    if inner is None:
        return None
    first, middle, last = (spec(v).dtype for v in (*inner.operands, *inner.results, *op.results))
    lossless = (first.kind == "b" or (first.name == "bf16" and middle.name in ("f32", "f64"))) or (
        "V" not in first.numpy.kind + middle.numpy.kind  # numpy does not know about bfloat16
        and bool(np.can_cast(first.numpy, middle.numpy, "safe"))
    )
    if not lossless or not (first.kind in (middle.kind, "b") or last == first):
        return None
    return rewriter("cast", inner.operands[0], dtype=last)

"""Write arithmetic in cheaper forms that round otherwise.

    %0 = gv.pow %x, 2.0                     %0 = gv.mul %x, %x
    %1 = gv.mul %0, 3.0           =>        %1 = gv.mul %0, 1.5
    %2 = gv.mul %1, 0.5

`canonicalize` keeps to forms that give the same results; here they may differ in the last
bits. Integers are left alone. Needs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from ..ir import Array, Op, Program, operands_of
from ..ir.families import EmitMath
from ..ir.ops.elementwise import POWERS
from ..ir.scalar_math import Term
from .analysis.constants import is_scalar, scalar_of
from .analysis.rewrite import Rewriter, Rule, RuleBook, Rules, producer, reads, spec
from .base import Pass

RULES = RuleBook[Rule]()
EXACT = RuleBook[Rule]()
"""Those of them that give the same bits, in compiled code."""


@dataclass(frozen=True)
class SimplifyArithmetic(Pass):
    """Write arithmetic in cheaper forms that round otherwise."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    exact: bool = False
    """Whether only those are written that give the bits that the code gives without them."""
    ulps: int = 0
    """Where they are to be exact: how many representable numbers off one may be all the same."""

    def apply(self, program: Program) -> None:
        """Apply the rules until none applies."""
        rewriter = Rewriter(exact_rules(self.ulps) if self.exact else RULES.table())
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


def exact_rules(ulps: int) -> Rules:
    """Return the exact rules of each operation, and those that are off by so much at most."""
    found = {name: [*rules] for name, rules in EXACT.table().items()}
    for name, rules in RULES.table().items():
        near = [rule for rule in rules if 0 < BOUNDS.get(rule.__name__, 0) <= ulps]
        if near:
            found[name] = [*found.get(name, ()), *near]
    return found


BOUNDS = {"divide_by_constant": 2, "root_of_reciprocal": 2}
"""How many representable numbers the results of rules are off, at most, of one operation.

A reciprocal is off by half an ulp of its own, which is less than one of the product's, and the
product is rounded once more; the division itself is off by half an ulp. Rules that are not here
have no bound: what they leave out may have cancelled, or overflowed.
"""


@RULES.on("pow")
def small_power(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x ** 2 -> x * x`, and so for 3, 1/2, -1/2 and -1.

    The powers 1/2 and -1/2 of -0 and -inf are no roots: those are chosen, where they may occur.
    """
    x, exponent = op.operands
    if not spec(x).dtype.is_float or x.type != op.results[0].type:
        return None
    for number, make in _POWERS.items():
        if is_scalar(exponent, number):
            return make(rewriter, x)
    return None


_POWERS: dict[float, Callable[[Rewriter, SSAValue], SSAValue]] = {
    2.0: lambda rewriter, x: rewriter("mul", x, x),
    3.0: lambda rewriter, x: rewriter("mul", rewriter("mul", x, x), x),
    0.5: lambda rewriter, x: _root_of(rewriter, x, "sqrt", math.inf),
    -0.5: lambda rewriter, x: _root_of(rewriter, x, "rsqrt", 0.0),
    -1.0: lambda rewriter, x: rewriter("reciprocal", x),
}


def _root_of(rewriter: Rewriter, x: SSAValue, name: str, of_infinity: float) -> SSAValue:
    """Return a power that is a root but of -0, which has no sign, and of -inf."""
    if has_no_sign(x):
        return rewriter(name, x)
    dtype = spec(x).dtype.numpy
    lowest, zero, chosen = (
        rewriter("constant", value=np.array(number, dtype))
        for number in (-math.inf, 0.0, of_infinity)
    )
    root = rewriter(name, rewriter("add", x, zero))
    return rewriter("select", rewriter("equal", x, lowest), chosen, root)


DEEP = 8
"""So many operations back a sign is looked for."""


def has_no_sign(x: SSAValue, deep: int = DEEP) -> bool:
    """Say whether no element of a value can have a sign, not even a zero: squares, and the like."""
    op = x.owner
    if not isinstance(op, Op) or not deep or not spec(x).dtype.is_float:
        return False
    operands = operands_of(op)
    if op.name == "gv.constant":
        return not bool(np.signbit(op.plain_attributes()["value"]).any())
    if op.name in ("gv.abs", "gv.exp") or (op.name == "gv.mul" and operands[0] is operands[1]):
        return True
    return op.UNSIGNED and all(has_no_sign(each, deep - 1) for each in operands)


@EXACT.on("pow")
def exact_power(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x ** 2 -> x * x`, and so for the other powers that are arithmetic to the last bit."""
    x, exponent = op.operands
    if not spec(x).dtype.is_float or x.type != op.results[0].type:
        return None
    power = POWERS.get(scalar_of(exponent))
    if power is None:
        return None

    def emit(made: type[Op], *operands: SSAValue, **attributes: object) -> SSAValue:
        return rewriter(made.name.removeprefix("gv."), *operands, **attributes)

    value: SSAValue = power(Term(EmitMath(emit), x)).value
    return value


@EXACT.on("cast")
@RULES.on("cast")
def cast_of_clip(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`u8 of clip(x, 0, 255) -> u8 of x`, which goes no further; and so for others."""
    clip, dtype = producer(op.operands[0], "clip"), spec(op.results[0]).dtype
    if clip is None or not dtype.is_integer or not spec(op.operands[0]).dtype.is_float:
        return None
    x, low, high = clip.operands
    ends = scalar_of(low), scalar_of(high)
    if None in ends or ends[0] > dtype.minimum or ends[1] < dtype.maximum:
        return None
    return rewriter("cast", x, dtype=dtype) if x.type == op.operands[0].type else None


@RULES.on("div", "reciprocal")
def root_of_reciprocal(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`1 / sqrt(x) -> rsqrt(x)`."""
    if op.name == "gv.div" and not is_scalar(op.operands[0], 1):
        return None
    below = op.operands[-1]
    inner = producer(below, "sqrt")
    if inner is None or below.type != op.results[0].type:
        return None
    return rewriter("rsqrt", inner.operands[0])


@RULES.on("div")
def divide_by_constant(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x / c -> x * (1 / c)`; not before rounding to integers, where the last bit may tell.

    Nor of one number, such as a scale that all is divided by then: it costs nothing to be right.
    """
    x, divisor = op.operands
    if any(use.operation.name == "gv.round" for use in op.results[0].uses):
        return None
    if spec(op.results[0]).size == 1:
        return None
    number, dtype = scalar_of(divisor), spec(divisor).dtype
    if number is None or not dtype.is_float or scalar_of(x) is not None:
        return None
    factor = _one_number(1.0 / number if number else math.inf, divisor)
    if factor is None:
        return None
    return rewriter("mul", x, rewriter.constant(factor))


@RULES.on("mul", "add")
@reads("constant")
def join_constants(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`(x * a) * b -> x * (a * b)`, and so for sums."""
    if not spec(op.results[0]).dtype.is_float:
        return None
    lhs, rhs = operands_of(op)
    for value, constant in ((lhs, rhs), (rhs, lhs)):
        inner = value.owner
        second = scalar_of(constant)
        if second is None or not isinstance(inner, Op) or inner.name != op.name:
            continue
        for x, other in (inner.operands, tuple(inner.operands)[::-1]):
            first = scalar_of(other)
            if first is None or x.type != op.results[0].type:
                continue
            joined = first * second if op.name == "gv.mul" else first + second
            number = _one_number(joined, constant)
            if number is not None:
                return rewriter.again(op, x, rewriter.constant(number))
    return None


def _one_number(number: float, like: SSAValue) -> Array | None:
    """Return the number in a value's element type, None if it is not a normal one there."""
    dtype = spec(like).dtype.numpy
    with np.errstate(all="ignore"):
        made = np.array(number).astype(dtype)
    smallest = 2.0**-14 if made.itemsize == 2 else 2.0**-126
    plain = bool(np.isfinite(made)) and abs(float(made)) >= smallest
    return made if plain else None

"""Keep what is quantised as integers of 8 bits, unsigned ones, on the way to where it is used.

    %q = gv.cast (gv.clip (%n + %z), -128, 127) {i8}       %q = gv.cast (gv.clip ..., 0, 255) {u8}
    %f = gv.mul (gv.cast (i32 of %q - %z) {f32}), %s  =>   %p = gv.max_pool %q
    %y = gv.max_pool %f                                    %y = gv.mul (f32 of %p - ...), %s

What is rounded to i8 and only dequantised behind is rounded to u8, 128 above: `integer-products`
multiplies u8. A pool moves before the dequantisation, and a quantisation before a concatenation,
where each part is quantised alone. All that is exact. Needs `canonicalize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..ir import Op, Program
from ..ir.types.dtypes import DType, f32, i8, i32, u8
from .analysis.constants import scalar_of
from .analysis.kernels.reads import is_elementwise
from .analysis.rewrite import Rewriter, Rule, RuleBook, producer, spec
from .base import Pass
from .integer_products import Levels, is_one, read

RULES = RuleBook[Rule]()


@dataclass(frozen=True)
class KeepQuantised(Pass):
    """Keep what is quantised as integers of 8 bits, unsigned ones."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Apply the rules until none applies."""
        rewriter = Rewriter(RULES.table())
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


@RULES.on("cast")
def unsigned(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`i8 of clip(x, -128, 127) -> i8 of ((i32 of u8 of clip(x + 128, 0, 255)) - 128)`."""
    clip = producer(op.operands[0], "clip")
    if clip is None or spec(op.results[0]).dtype != i8:
        return None
    x, *bounds = clip.operands
    if spec(x).dtype != f32 or [scalar_of(b) for b in bounds] != [i8.minimum, i8.maximum]:
        return None
    if not all(is_widened(use.operation) for use in op.results[0].uses):
        return None
    zero, away = producer(x, "add"), float(u8.minimum - i8.minimum)
    known = None if zero is None else scalar_of(zero.operands[1])
    if zero is not None and known is not None:
        x, away = zero.operands[0], away + known
    if away:
        x = rewriter("add", x, number(rewriter, away, f32))
    low, high = (number(rewriter, n, f32) for n in (u8.minimum, u8.maximum))
    made = rewriter("cast", rewriter("clip", x, low, high), dtype=u8)
    wide = rewriter("cast", made, dtype=i32)
    shift = number(rewriter, i8.minimum - u8.minimum, i32)
    return rewriter("cast", rewriter("add", wide, shift), dtype=i8)


@RULES.on("cast")
def widened(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`i32 of i8 of ((i32 of x) - 128) -> (i32 of x) - 128` for an x of u8."""
    narrow = producer(op.operands[0], "cast")
    if narrow is None or (spec(narrow.results[0]).dtype, spec(op.results[0]).dtype) != (i8, i32):
        return None
    moved = producer(narrow.operands[0], "add")
    levels = None if moved is None else producer(moved.operands[0], "cast")
    if levels is None or moved is None or spec(levels.operands[0]).dtype != u8:
        return None
    fits = scalar_of(moved.operands[1]) == i8.minimum - u8.minimum
    return moved.results[0] if fits else None


@RULES.on("sub")
def subtract_twice(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`(x + a) - b -> x - (b - a)` for numbers in i32."""
    inner = producer(op.operands[0], "add")
    first = None if inner is None else scalar_of(inner.operands[1])
    second = scalar_of(op.operands[1])
    if inner is None or first is None or second is None or spec(op.results[0]).dtype != i32:
        return None
    return rewriter("sub", inner.operands[0], number(rewriter, second - first, i32))


@RULES.on("max_pool")
def pool_of_levels(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`pool((i32 of q - z) * s) -> (i32 of pool(q) - z) * s` for one positive s."""
    found = read(op.operands[0])
    if found is None or found.scale is None or not (is_one(found.zero) and is_one(found.scale)):
        return None
    known = scalar_of(found.scale)
    if known is None or not known > 0:
        return None
    pooled = rewriter("max_pool", found.levels, **op.plain_attributes())
    return dequantised(Levels(pooled, found.zero, found.scale), rewriter)


def dequantised(value: Levels, rewriter: Rewriter) -> SSAValue:
    """Return what quantised levels stand for."""
    steps = rewriter("cast", value.levels, dtype=i32)
    if value.zero is not None:
        steps = rewriter("sub", steps, value.zero)
    assert value.scale is not None, "what is dequantised has a scale"
    numbers = rewriter("cast", steps, dtype=spec(value.scale).dtype)
    return rewriter("mul", numbers, value.scale)


@RULES.on("cast")
def parts_of_concat(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`u8 of f(concat(x, y)) -> concat(u8 of f(x), u8 of f(y))`, f element by element."""
    if spec(op.results[0]).dtype not in (u8, i8):
        return None
    chain, value = [op], op.operands[0]
    while (inner := value.owner) and isinstance(inner, Op) and value.has_one_use():
        if inner.name == "gv.concat":
            parts = [rebuilt(chain, part, rewriter) for part in inner.operands]
            return rewriter("concat", *parts, **inner.plain_attributes())
        if not is_elementwise(inner) or not all(is_one(other) for other in inner.operands[1:]):
            return None
        chain.append(inner)
        value = inner.operands[0]
    return None


def rebuilt(chain: Sequence[Op], value: SSAValue, rewriter: Rewriter) -> SSAValue:
    """Return a chain of operations, the last one first, applied to another value."""
    for each in reversed(chain):
        value = rewriter.again(each, value, *each.operands[1:])
    return value


def is_widened(op: Operation) -> bool:
    """Say whether an operation makes i32 of something."""
    return isinstance(op, Op) and op.name == "gv.cast" and op.result_specs[0].dtype == i32


def number(rewriter: Rewriter, value: float, dtype: DType) -> SSAValue:
    """Return a constant without axes."""
    return rewriter.constant(np.array(value, dtype.numpy))

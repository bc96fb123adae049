"""Multiply what is quantised as integers of 8 bits.

    %a = gv.mul (gv.cast (%q - %za) {f32}), %sa          %p = gv.matmul (i32 of %q), (i32 of %w)
    %b = gv.mul (gv.cast (%w - %zb) {f32}), %sb    =>    %t = %p - %za * (column sums of %w) - ...
    %y = gv.matmul %a, %b                                %y = gv.mul (gv.cast %t {f32}), %sa * %sb

and the same without scales, of integers. With u8 on the left and i8 on the right there are
instructions that add up four products (`pack-weights` lays out for them, and `turn-weights` for
GPUs); i8 is shifted by 128
to become u8, and u8 to become i8, and the zero points move with it. What a zero point adds is
subtracted afterwards: of the left one, that is made of weights only; of the right one it takes
the sums of rows. The sum of integers is exact, so that results are nearer than those of f32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.compositions import Maker
from ..ir.dtypes import f32, i8, i32, u8
from ..ir.ops.packed import DOTS
from .analysis.constants import Known
from .analysis.rewrite import Rewriter, producer, spec
from .base import Pass
from .pack_weights import adds_up, lies_in_rows, target_of

QUAD = next(dots for dots, kinds in DOTS.items() if kinds[0] == u8)


@dataclass(frozen=True)
class IntegerProducts(Pass):
    """Multiply what is quantised as integers of 8 bits, where the machine adds up four products."""

    NUMERICS = "approximate"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every product of quantised values by quantised weights."""
        target = target_of(program)
        if not (target.is_gpu or adds_up(target, u8)):
            return
        rewriter = Rewriter({"gv.matmul": (Products().integers,)})
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


@dataclass(frozen=True)
class Levels:
    """A value that is (levels - zero) * scale."""

    levels: SSAValue
    """Integers of 8 bits."""
    zero: SSAValue | None
    scale: SSAValue | None


@dataclass
class Products:
    """The rule, and what it knows about values."""

    known: Known = field(default_factory=Known)

    def integers(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """Rewrite (a - za) sa @ (b - zb) sb -> (a @ b - za sum(b) - zb sum(a) + K za zb) sa sb."""
        flags, (left, right) = op.plain_attributes(), op.specs
        depth = left.dims[-1]
        fits = not flags["transpose_lhs"] and right.rank == 2 and right.is_static
        if not fits or not isinstance(depth, int) or depth % QUAD:
            return None
        if not self.known.is_fixed(op.operands[1]) or self.known.is_fixed(op.operands[0]):
            return None
        a, b = (read(value) for value in op.operands)
        if a is None or b is None or not lies_in_rows(a.levels) or is_done(a, b):
            return None
        columns = 0 if flags["transpose_rhs"] else 1
        single = is_one(a.zero) and is_one(a.scale)
        if not (single and is_row(b.zero, columns) and is_row(b.scale, columns)):
            return None
        made: SSAValue = product(Maker(rewriter_emit(rewriter)), (a, b), flags, depth)
        return made


def is_done(a: Levels, b: Levels) -> bool:
    """Say whether a product is what the rule makes of products."""
    plain = a.zero is a.scale is b.zero is b.scale is None
    return plain and (spec(a.levels).dtype, spec(b.levels).dtype) == (u8, i8)


def rewriter_emit(rewriter: Rewriter) -> Any:
    """Return how operations are made by class."""
    return lambda op, *operands, **attributes: rewriter(
        op.name.removeprefix("gv."), *operands, **attributes
    )


def read(value: SSAValue) -> Levels | None:
    """Return the quantised form of a value in i32 or f32."""
    if spec(value).dtype == i32:
        return read_integers(value)
    scaled = producer(value, "mul")
    if scaled is None:
        return None
    for steps, scale in (scaled.operands, scaled.operands[::-1]):
        wide = producer(steps, "cast")
        if wide is None or spec(steps).dims != spec(value).dims:
            continue
        found = read_integers(wide.operands[0])
        if found is not None:
            return Levels(found.levels, found.zero, scale)
    return None


def read_integers(value: SSAValue) -> Levels | None:
    """Return the quantised form of integers."""
    if spec(value).dtype in (u8, i8):
        return Levels(value, None, None)
    moved = producer(value, "sub")
    inner, zero = moved.operands if moved is not None else (value, None)
    wide = producer(inner, "cast")
    if wide is None or spec(value).dtype != i32 or spec(inner).dims != spec(value).dims:
        return None
    levels = wide.operands[0]
    return Levels(levels, zero, None) if spec(levels).dtype in (u8, i8) else None


def is_one(value: SSAValue | None) -> bool:
    """Say whether a value is a single number."""
    return value is None or all(d == 1 for d in spec(value).dims)


def is_row(value: SSAValue | None, columns: int) -> bool:
    """Say whether a value differs from column to column at most; `columns` is their axis of 2."""
    if value is None:
        return True
    dims = (1, 1, *spec(value).dims)[-2:]
    return spec(value).rank <= 2 and dims[1 - columns] == 1


def product(make: Maker, operands: tuple[Levels, Levels], flags: dict[str, Any], depth: int) -> Any:
    """Return the product of two quantised values."""
    a, b = operands
    left, left_zero = shifted(make, a, u8, 128)
    right, right_zero = shifted(make, b, i8, -128)
    result = make.matmul(left, right, **flags)
    row = (spec(left).rank - 1,)
    if left_zero is not None:
        left_zero = make.reshape(left_zero, shape=())
        sums = make.sum(right, axes=(1 if flags["transpose_rhs"] else 0,))
        result = make.sub(result, make.mul(sums, left_zero))
    if right_zero is not None:
        right_zero = flat(make, right_zero)
        sums = make.sum(left, axes=row, keepdims=True)
        if left_zero is not None:
            sums = make.sub(sums, make.mul(left_zero, make.number(depth, i32)))
        result = make.sub(result, make.mul(sums, right_zero))
    if a.scale is None or b.scale is None:
        return result
    scale = make.mul(flat(make, b.scale), make.reshape(a.scale, shape=()))
    return make.mul(make.cast(result, dtype=f32), scale)


def shifted(make: Maker, value: Levels, dtype: Any, distance: int) -> tuple[Any, Any]:
    """Return levels as i32 that were of a type of 8 bits, and their zero point."""
    if spec(value.levels).dtype == dtype:
        return make.cast(value.levels, dtype=i32), value.zero
    away = make.number(distance, i32)
    levels = make.cast(make.add(make.cast(value.levels, dtype=i32), away), dtype=dtype)
    zero = away if value.zero is None else make.add(value.zero, away)
    return make.cast(levels, dtype=i32), zero


def flat(make: Maker, value: Any) -> Any:
    """Return a row without the axis that it is broadcast along."""
    dims = spec(value).dims
    wide = [d for d in dims if d != 1]
    return make.reshape(value, shape=tuple(wide))

"""Multiply by weights of 4 bits that share a scale by blocks of the depth, where they lie.

    %0 = gv.cast %q {f32}    : [K / 32, 32, N] of i4          %n = words of (%q + 8)   (to @prepare)
    %1 = gv.mul %0, %s                                        %l = i16 of %x / %f
    %w = gv.reshape %1                                  =>    %y = gv.matmul_blocked %l, %n, %f, ...
    %y = gv.matmul %x, %w

Such weights are read in an eighth of the bytes of f32, and multiplied as integers: the left
operand is rounded to 16 bits, with a scale %f for each block of a row. Weights may be [N, K / 32,
32] too, be u4 or masked to 4 bits, and have zero points: what those add is a product of the
blocks' sums. Blocks may be longer, by a whole factor. Stands before `pack-weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program
from ..ir.compose.maker import Maker
from ..ir.ops.laid_out.blocked import BLOCK, WORD, ZERO, MatmulBlocked
from ..ir.ops.laid_out.packed import pack
from ..ir.types.dims import Dim, product
from ..ir.types.dtypes import f32, i4, i16, i32, u4, u8
from ..ir.types.tensor import TensorSpec
from ..ir.types.words import SHIFTS
from ..target import Target
from .analysis.constants import is_scalar, scalar_of
from .analysis.kernels.tiles import panel_width
from .analysis.rewrite import producer, spec
from .analysis.targets import target_of
from .base import Pass
from .pack_weights import is_weighted, replace_marked, with_fixed

MOST = 32767
"""The largest level of the left operand."""


@dataclass(frozen=True)
class BlockWeights(Pass):
    """Multiply by weights of 4 bits that share a scale by blocks of the depth, where they lie."""

    NUMERICS = "approximate"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite in every function."""
        target = target_of(program)
        if not target.can.pack_panels:
            return
        for op, fixed in with_fixed(program):
            if op.name == "gv.matmul" and is_weighted(op, fixed):
                self.rewrite(op, target, fixed)

    def rewrite(self, op: Op, target: Target, fixed: dict[SSAValue, bool]) -> None:
        """Replace one product if its weight is of blocks."""
        flags, left = op.plain_attributes(), op.specs[0]
        weight = read(op.operands[1], turned=flags["transpose_rhs"])
        if weight is None or flags["transpose_lhs"] or left.dtype != f32:
            return
        emit = GraphEmit.before(op)
        made = multiplied(emit, op.operands[0], weight, target)
        replace_marked(op, made, emit, fixed)
        self.count("products")


@dataclass(frozen=True)
class Blocks:
    """A weight (levels - zero) * scale, whose depth is cut into blocks."""

    levels: SSAValue
    """Integers of 4 bits [K / block, block, N], or, if they are turned, [N, K / block, block]."""
    zero: SSAValue | None
    scale: SSAValue
    turned: bool

    @property
    def dims(self) -> tuple[int, int, int]:
        """Return the blocks, the rows of a block and the columns."""
        first, second, third = spec(self.levels).static_shape
        return (second, third, first) if self.turned else (first, second, third)

    def straight(self, make: Maker, value: SSAValue) -> Any:
        """Return levels, zero points or scales with the blocks in front."""
        return make.transpose(value, order=(1, 2, 0)) if self.turned else value


def read(value: SSAValue, *, turned: bool) -> Blocks | None:
    """Return the blocks that a matrix [K, N], or [N, K] if it is turned, is made of."""
    flip = producer(value, "transpose")
    if flip is not None:
        value, turned = flip.operands[0], not turned
    flat = producer(value, "reshape")
    scaled = None if flat is None else producer(flat.operands[0], "mul")
    if scaled is None or scaled.result_specs[0].rank != 3 or not scaled.result_specs[0].is_static:
        return None
    steps, scale = scaled.operands
    shape = scaled.result_specs[0].static_shape
    along = 2 if turned else 1
    matrix = (shape[0], shape[1] * shape[2]) if turned else (shape[0] * shape[1], shape[2])
    alike = tuple(1 if axis == along else n for axis, n in enumerate(shape))
    if spec(value).dims != matrix or shape[along] % BLOCK or spec(scale).dims != alike:
        return None
    levels, zero = parted(steps)
    if not is_of_four_bits(levels) or spec(levels).dims != shape:
        return None
    if zero is not None and spec(zero).dims not in ((), alike, (1, 1, 1)):
        return None
    return Blocks(levels, zero, scale, turned)


def parted(steps: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """Return levels and zero points, before they are widened."""
    zero = None
    while isinstance(owner := steps.owner, Op):
        if owner.name == "gv.sub" and zero is None:
            steps, zero = owner.operands
        elif owner.name == "gv.cast" and not is_of_four_bits(steps):
            steps = owner.operands[0]
        else:
            break
    return steps, zero


def is_of_four_bits(value: SSAValue) -> bool:
    """Say whether all numbers of a value have 4 bits, by its type or a mask."""
    if spec(value).dtype in (i4, u4):
        return True
    flat = producer(value, "reshape")
    masked = producer(flat.operands[0] if flat is not None else value, "bitwise_and")
    return masked is not None and spec(value).dtype == u8 and is_scalar(masked.operands[1], 15)


def multiplied(emit: GraphEmit, x: SSAValue, weight: Blocks, target: Target) -> Any:
    """Return x times the matrix."""
    make = Maker(emit)
    blocks, inner, columns = weight.dims
    bias = ZERO if spec(weight.levels).dtype == i4 else 0
    numbers = make.cast(weight.straight(make, weight.levels), dtype=i32)
    if bias:
        numbers = make.add(numbers, make.number(bias, i32))
    words = make.reshape(numbers, shape=(blocks * inner // WORD, WORD, columns))
    shifts = make.constant(value=SHIFTS.astype(np.int32).reshape(WORD, 1))
    words = make.sum(make.shift_left(words, shifts), axes=(1,))
    scales = make.reshape(weight.straight(make, weight.scale), shape=(blocks, 1, columns))
    around = offset(make, weight, bias)
    repeats = inner // BLOCK
    depth = blocks * repeats
    scales, around = (
        None if v is None else repeated(make, v, (blocks, repeats, columns))
        for v in (scales, around)
    )
    rows: Dim = product(spec(x).dims[:-1])
    tile = panel_width(target, rows, columns, f32)
    panels = pack(emit, words, TensorSpec(i32, (depth * BLOCK // WORD, columns)), tile)
    packed = pack(emit, scales, TensorSpec(f32, (depth, columns)), tile)
    levels, factors, sums = rounded(make, x, depth)
    offsets = make.mul(sums, make.number(-ZERO, i32))
    made = emit(MatmulBlocked, levels, panels, factors, offsets, packed, columns=columns)
    if around is None:
        return made
    sums = make.mul(make.cast(sums, dtype=f32), factors)
    return make.add(made, make.matmul(sums, make.mul(scales, around)))


def offset(make: Maker, weight: Blocks, bias: int) -> Any:
    """Return how far the zero points lie below 8 among the numbers 0..15; None if nowhere."""
    known = 0 if weight.zero is None else scalar_of(weight.zero)
    if known is not None and known + bias == ZERO:
        return None
    blocks, _, columns = weight.dims
    if weight.zero is None or spec(weight.zero).size == 1:
        one = make.number(0, f32) if weight.zero is None else make.cast(weight.zero, dtype=f32)
        zero = make.broadcast_to(make.reshape(one, shape=(1, 1, 1)), shape=(blocks, 1, columns))
    else:
        zero = weight.straight(make, make.cast(weight.zero, dtype=f32))
    return make.sub(make.number(ZERO - bias, f32), zero)


def repeated(make: Maker, value: Any, dims: tuple[int, int, int]) -> Any:
    """Return a row for each block of a longer one: [blocks, 1, N] as [blocks * repeats, N]."""
    blocks, repeats, columns = dims
    wide = make.broadcast_to(value, shape=dims) if repeats > 1 else value
    return make.reshape(wide, shape=(blocks * repeats, columns))


def rounded(make: Maker, x: SSAValue, blocks: int) -> tuple[Any, Any, Any]:
    """Return the levels of x in i16, and a factor and the sum of levels for each block of a row."""
    *rows, depth = spec(x).dims
    parts = make.reshape(x, shape=(*rows, blocks, BLOCK))
    most = make.max(make.abs(parts), axes=(len(rows) + 1,), keepdims=True)
    factor = make.div(most, make.number(MOST, f32))
    factor = make.select(make.equal(factor, make.number(0, f32)), make.number(1, f32), factor)
    whole = make.cast(make.round(make.div(parts, factor)), dtype=i16)
    factors = make.reshape(factor, shape=(*rows, blocks))
    sums = make.sum(make.cast(whole, dtype=i32), axes=(len(rows) + 1,))
    return make.reshape(whole, shape=(*rows, depth)), factors, sums

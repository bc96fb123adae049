"""Multiply and convolve what is quantised as integers of 8 bits.

    %a = gv.mul (gv.cast (%q - %za) {f32}), %sa          %p = gv.matmul (i32 of %q), (i32 of %w)
    %b = gv.mul (gv.cast (%w - %zb) {f32}), %sb    =>    %t = %p - %za * (column sums of %w) - ...
    %y = gv.matmul %a, %b                                %y = gv.mul (gv.cast %t {f32}), %sa * %sb

and the same without scales, of integers, and of convolutions, whose images are padded with
their zero point first. With u8 on the left and i8 on the right there are instructions that add
up four products (`pack-weights` lays out for them, and `turn-weights` for GPUs); i8 is shifted
by 128 to become u8, and u8 to become i8, and the zero points move with it. What a zero point
adds is subtracted afterwards: of the left one, that is made of weights only; of the right one it
takes the sums of rows. The sum of integers is exact, so that results are nearer than those of
f32. Depths that four does not divide are filled up with zeros. GPUs convolve in f32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.compose.maker import Maker
from ..ir.ops.laid_out.packed import DOTS
from ..ir.types.dtypes import DType, f32, f64, i8, i32, u8
from .analysis.constants import Known, scalar_of
from .analysis.rewrite import Rewriter, producer, spec
from .analysis.targets import target_of
from .base import Pass
from .pack_weights import lies_in_rows
from .widen_products import FEW

QUAD = next(dots for dots, kinds in DOTS.items() if kinds[0] == u8)


@dataclass(frozen=True)
class IntegerProducts(Pass):
    """Multiply and convolve what is quantised as integers of 8 bits."""

    NUMERICS = "approximate"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every product of quantised values by quantised weights."""
        known, can = Known(), target_of(program).can
        rules = {"gv.matmul": (Products(known, can.pack_panels).integers,)}
        if can.convolve_integers:
            rules["gv.conv"] = (WindowProducts(known, can.pack_panels).integers,)
        rewriter = Rewriter(rules)
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

    def shift(self, dtype: DType) -> int:
        """Return how far levels move to become another type of 8 bits."""
        have = spec(self.levels).dtype
        return 0 if have == dtype else dtype.minimum - have.minimum

    def offset(self, dtype: DType) -> int | None:
        """Return the zero point in a type of 8 bits, None if it is not known."""
        known = 0 if self.zero is None else scalar_of(self.zero)
        return None if known is None else known + self.shift(dtype)


@dataclass
class Products:
    """The rule of products, and what it knows about values."""

    known: Known = field(default_factory=Known)
    packs: bool = False
    """Whether what is given in a run is laid out in it."""

    def integers(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """Rewrite (a - za) sa @ (b - zb) sb -> (a @ b - za sum(b) - zb sum(a) + K za zb) sa sb."""
        flags, (left, right) = op.plain_attributes(), op.specs
        depth = left.dims[-1]
        if flags["transpose_lhs"] or right.rank != 2 or not isinstance(depth, int):
            return None
        pair = self.operands(op)
        if pair is None or not lies_in_rows(pair[0].levels):
            return None
        if is_plain(pair) and depth % QUAD == 0:
            return None
        _, b = pair
        columns = 0 if flags["transpose_rhs"] else 1
        if not (is_row(b.zero, columns) and is_row(b.scale, columns)):
            return None
        made: SSAValue = product(Maker(rewriter.make), pair, flags, depth)
        return made

    def operands(self, op: Op) -> tuple[Levels, Levels] | None:
        """Return the quantised operands: an activation with one scale, and a weight."""
        left, right = map(self.known.is_fixed, op.operands)
        if left or not (right or (self.packs and has_rows(op))):
            return None
        a, b = (read(value) for value in op.operands)
        if a is None or b is None or not op.specs[1].is_static:
            return None
        return (a, b) if is_one(a.zero) and is_one(a.scale) else None


@dataclass
class WindowProducts(Products):
    """The same of convolutions."""

    def integers(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """Rewrite conv((a - za) sa, (w - zw) sw) -> (conv(a, w) - za sum(w) - ...) sa sw."""
        flags, pair = op.plain_attributes(), self.operands(op)
        if pair is None or flags["channels_last"]:
            return None
        a, b = pair
        padded = any(low or high for low, high in flags["pads"])
        filters, inner = op.specs[1].dims[:2]
        is_alone = inner == 1 and flags["groups"] == filters > 1  # type: ignore[operator]
        rest = 0 if is_alone else -int(inner) % QUAD  # type: ignore[arg-type]
        if is_plain(pair) and not rest and (is_alone or not padded):
            return None
        if not (is_column(b.zero) and is_column(b.scale)) or (rest and flags["groups"] > 1):
            return None
        if (padded and a.offset(u8) is None) or (flags["groups"] > 1 and b.offset(i8) != 0):
            return None
        make = Maker(rewriter.make)
        made: SSAValue = convolution(make, pair, flags, rest, is_alone)
        return made


def has_rows(op: Op) -> bool:
    """Say whether a right operand is used for more than a few rows, or for a whole image."""
    rows = op.result_specs[0].dims[-2] if op.name == "gv.matmul" else None
    return not isinstance(rows, int) or rows > FEW


def is_plain(pair: tuple[Levels, Levels]) -> bool:
    """Say whether operands are as the rules leave them."""
    a, b = pair
    plain = a.zero is a.scale is b.zero is b.scale is None
    return plain and (spec(a.levels).dtype, spec(b.levels).dtype) == (u8, i8)


def read(value: SSAValue) -> Levels | None:
    """Return the quantised form of a value in i32, f32 or f64: others do not hold its sums."""
    if spec(value).dtype == i32:
        return read_integers(value)
    if spec(value).dtype not in (f32, f64):
        return None
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


def is_column(value: SSAValue | None) -> bool:
    """Say whether a value of a weight [O, C, *K] differs from filter to filter at most."""
    return value is None or all(d == 1 for d in spec(value).dims[1:]) or is_one(value)


def product(make: Maker, pair: tuple[Levels, Levels], flags: dict[str, Any], depth: int) -> Any:
    """Return the product of two quantised values."""
    a, b = pair
    (left, left_zero), (right, right_zero) = shifted(make, a, u8), shifted(make, b, i8)
    along = 1 if flags["transpose_rhs"] else 0
    if rest := -depth % QUAD:
        left = make.pad(left, pads=((0, 0),) * (spec(left).rank - 1) + ((0, rest),))
        right = make.pad(right, pads=tuple((0, rest if axis == along else 0) for axis in (0, 1)))
    left, right = make.cast(left, dtype=i32), make.cast(right, dtype=i32)
    result = make.matmul(left, right, **flags)
    row = (spec(left).rank - 1,)
    if left_zero is not None:
        left_zero = make.reshape(left_zero, shape=())
        result = make.sub(result, make.mul(make.sum(right, axes=(along,)), left_zero))
    if right_zero is not None:
        sums = make.sum(left, axes=row, keepdims=True)
        if left_zero is not None:
            sums = make.sub(sums, make.mul(left_zero, make.number(depth, i32)))
        result = make.sub(result, make.mul(sums, along_filters(make, right_zero, 0)))
    return scaled(make, result, pair)


def convolution(
    make: Maker, pair: tuple[Levels, Levels], flags: dict[str, Any], rest: int, is_alone: bool
) -> Any:  # fmt: skip
    """Return the convolution of a quantised image [N, C, *S] by weights [O, C / groups, *K]."""
    a, b = pair
    (left, left_zero), (right, right_zero) = shifted(make, a, u8), shifted(make, b, i8)
    filters, _, *window = spec(right).dims
    rank = len(window)
    none = ((0, 0),) * rank
    if rest:
        right = make.pad(right, pads=((0, 0), (0, rest), *none))
    if rest or (flags["pads"] != none and not (is_alone and left_zero is None)):
        around = float(a.offset(u8) or 0)
        left = make.pad(left, pads=((0, 0), (0, rest), *flags["pads"]), value=around)
        flags = {**flags, "pads": none}
    image, right = make.cast(left, dtype=i32), make.cast(right, dtype=i32)
    result = make.conv(image, right, **flags)
    inner = tuple(range(1, rank + 2))
    if left_zero is not None:
        left_zero = make.reshape(left_zero, shape=())
        sums = make.mul(make.sum(right, axes=inner), left_zero)
        result = make.sub(result, make.reshape(sums, shape=(filters, *(1,) * rank)))
    if right_zero is not None:
        seen = make.sum(image, axes=(1,), keepdims=True)
        moves = {name: flags[name] for name in ("strides", "pads", "dilations")}
        seen = make.sum_pool(seen, window=tuple(window), **moves)
        if left_zero is not None:
            count = prod(spec(right).static_shape[1:])
            seen = make.sub(seen, make.mul(left_zero, make.number(count, i32)))
        result = make.sub(result, make.mul(seen, along_filters(make, right_zero, rank)))
    return scaled(make, result, pair, rank)


def scaled(make: Maker, result: Any, pair: tuple[Levels, Levels], behind: int = 0) -> Any:
    """Return a sum of products as what it stands for; `behind` axes follow that of the weights."""
    a, b = pair
    if a.scale is None or b.scale is None:
        return result
    scale = make.mul(along_filters(make, b.scale, behind), make.reshape(a.scale, shape=()))
    return make.mul(make.cast(result, dtype=spec(scale).dtype), scale)


def shifted(make: Maker, value: Levels, dtype: DType) -> tuple[Any, Any]:
    """Return levels in a type of 8 bits, and their zero point in that; None if it is 0."""
    levels, zero, shift = value.levels, value.zero, value.shift(dtype)
    if shift:
        wide = make.cast(levels, dtype=i32)
        levels = make.cast(make.add(wide, make.number(shift, i32)), dtype=dtype)
    known = value.offset(dtype)
    if known is not None:
        return levels, make.number(known, i32) if known else None
    return levels, make.add(zero, make.number(shift, i32)) if shift else zero


def along_filters(make: Maker, value: Any, behind: int) -> Any:
    """Return a number, or one for each filter, where `behind` axes follow that of the filters."""
    wide = [d for d in spec(value).dims if d != 1]
    return make.reshape(value, shape=(*wide, *((1,) * behind if wide else ())))

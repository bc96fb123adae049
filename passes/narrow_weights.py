"""Store the weights of products in fewer bits.

    %w = gv.weight @w                      %w = gv.weight @w
    %y = gv.matmul %x, %w            =>    %1 = gv.cast %w {bf16}
                                           %2 = gv.cast %1 {f32}
                                           %y = gv.matmul %x, %2

    dtype=i8:  %s = max |%w| / 127 of each column,  %q = gv.cast (gv.round %w / %s) {i8}
               %y = gv.mul (gv.matmul %x, gv.cast %q {f32}), %s
    dtype=i4:  a scale for each 32 of a column (see `block-weights`), where 32 divides the depth

Where a run is bound by reading weights it becomes two, four or six times as fast, and what is
read takes as much less memory. Arithmetic stays in f32 (for i4, in 16 bits a block), and the
product of what is stored is exact; what is lost is lost when weights are rounded. Where the
machine adds up products of pairs of bf16 faster than those of f32, the left operand of several
rows is rounded too: such a product takes half the time. Needs `pack-weights` behind it, which
packs what was before the last cast. On GPUs both operands are rounded, and tensor cores multiply
them; with dtype=tf32 those multiply all f32 as it is, of which they take the first 10 bits of the
fraction:

    %y = gv.matmul %x, %w            =>    %y = gv.matmul_wide %x, %w
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..ir import GraphEmit, Op, Program, replace
from ..ir.compose.maker import Maker
from ..ir.ops.laid_out.blocked import BLOCK
from ..ir.types.dims import product
from ..ir.types.dtypes import bf16, f32, i4, i8
from ..ir.types.tensor import TensorSpec
from ..target import Target
from .analysis.targets import target_of
from .base import Pass, PipelineError
from .pack_weights import is_weighted, with_fixed

DTYPES = {"bf16": bf16, "i8": i8, "i4": i4, "tf32": f32}
SMALLEST = 1024
"""Elements of a weight from which it is narrowed."""


@dataclass(frozen=True)
class NarrowWeights(Pass):
    """Store the weights of products in fewer bits."""

    dtype: str = "bf16"

    NUMERICS = "approximate"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Narrow in every function."""
        if self.dtype not in DTYPES:
            raise PipelineError(
                f"narrow-weights: dtype {self.dtype!r}, expected one of {', '.join(DTYPES)}"
            )
        target = target_of(program)
        tensor_floats = self.dtype == "tf32"
        if tensor_floats and not target.can.multiply_wide:
            raise PipelineError(f"narrow-weights: tf32 is a type of GPUs, found target {target}")
        for op, fixed in with_fixed(program):
            if op.name != "gv.matmul":
                continue
            if tensor_floats and op.specs[0].dtype == f32:
                replace(op, wide(Maker(GraphEmit.before(op)), op, op.operands))
                self.count("narrowed")
            elif not tensor_floats and is_weighted(op, fixed):
                self.narrow(op, target)

    def narrow(self, op: Op, target: Target) -> None:
        """Replace the right operand of one product."""
        spec = op.specs[1]
        if spec.rank != 2 or spec.dtype != f32 or not spec.is_static:
            return
        if prod(spec.static_shape) < SMALLEST:
            return
        make = Maker(GraphEmit.before(op))
        if self.dtype == "bf16":
            replace(op, rounded(make, op, target))
        elif self.dtype == "i4" and spec.static_shape[depth_axis(op)] % BLOCK == 0:
            replace(op, by_blocks(make, op, spec))
        else:
            replace(op, by_columns(make, op, spec))
        self.count("narrowed")


def rounded(make: Maker, op: Op, target: Target) -> Any:
    """Return the product in bf16: of both operands, where a machine multiplies pairs of them."""
    left, right = op.operands
    if target.can.multiply_wide:
        return wide(make, op, [make.cast(x, dtype=bf16) for x in op.operands])
    pairs = target.adds_pairs_of_bf16 and product(op.specs[0].dims[:-1]) != 1
    if pairs:
        left = make.cast(make.cast(left, dtype=bf16), dtype=f32)
    right = make.cast(make.cast(right, dtype=bf16), dtype=f32)
    return make.matmul(left, right, **op.plain_attributes())


def wide(make: Maker, op: Op, operands: Sequence[Any]) -> Any:
    """Return the product as tensor cores compute it."""
    return make.matmul_wide(*operands, **op.plain_attributes())


def with_weight(make: Maker, op: Op, weight: Any) -> Any:
    """Return the product with another weight."""
    return make.matmul(op.operands[0], weight, **op.plain_attributes())


def depth_axis(op: Op) -> int:
    """Return the axis of a product's weight that is summed over."""
    return 1 if op.plain_attributes()["transpose_rhs"] else 0


def by_blocks(make: Maker, op: Op, spec: TensorSpec) -> Any:
    """Return the product with integers of 4 bits; each block of the depth has its scale.

    What is farthest from 0 in a block becomes -8.
    """
    axis, (rows, columns) = depth_axis(op), spec.static_shape
    turned = axis == 1
    shape = (rows, columns // BLOCK, BLOCK) if turned else (rows // BLOCK, BLOCK, columns)
    parts = make.reshape(op.operands[1], shape=shape)
    high, low = (f(parts, axes=(axis + 1,), keepdims=True) for f in (make.max, make.min))
    far = make.select(make.greater(high, make.neg(low)), high, low)
    scale = make.div(far, make.number(i4.minimum, f32))
    scale = make.select(make.equal(scale, make.number(0, f32)), make.number(1, f32), scale)
    bounds = (make.number(i4.minimum, f32), make.number(i4.maximum, f32))
    whole = make.cast(make.clip(make.round(make.div(parts, scale)), *bounds), dtype=i4)
    value = make.mul(make.cast(whole, dtype=f32), scale)
    return with_weight(make, op, make.reshape(value, shape=spec.dims))


def by_columns(make: Maker, op: Op, spec: TensorSpec) -> Any:
    """Return the product with integers, times the scale of each column."""
    axis = depth_axis(op)
    weight = op.operands[1]
    most = make.max(make.abs(weight), axes=(axis,), keepdims=True)
    scale = make.div(most, make.number(127, f32))
    scale = make.select(make.equal(scale, make.number(0, f32)), make.number(1, f32), scale)
    whole = make.cast(make.round(make.div(weight, scale)), dtype=i8)
    made = with_weight(make, op, make.cast(whole, dtype=f32))
    return make.mul(made, make.reshape(scale, shape=(spec.dims[1 - axis],)))

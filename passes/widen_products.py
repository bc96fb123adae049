"""Multiply and convolve narrow numbers as floats, where no unit of the machine takes them.

    %y = gv.conv %x, %w : f16          =>     %a, %b = gv.cast %x {f32}, gv.cast %w {f32}
                                              %c = gv.conv %a, %b : f32
                                              %y = gv.cast %c {f16}

    %y = gv.conv (gv.cast %x {i32}),   =>     %c = gv.conv (as f32), (as f32)
                 (gv.cast %w {i32})           %y = gv.cast %c {i32}

Products of these are computed in f32 anyway, and rounded once behind; as operations on f32 they
get its layouts, register tiles and packed weights, which stay 16 bits wide in memory. The casts go
into what is computed before and behind. One or two rows times a matrix read it as it is: to widen
it takes longer than to multiply.

Integers that were 8 bits wide, or are differences of such ones, are multiplied and added as f32
where no sum can be as large as what f32 has every integer of, and as f64 where that has them. There
are no fast loops for others; with fixed weights there are (`integer-products`). Stands behind what
looks for a product before what it rewrites, and before `choose-layout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ..ir import Op, Program, operands_of
from ..ir.op import REGISTRY
from ..ir.types.dims import Dim, product
from ..ir.types.dtypes import bf16, f16, f32, f64, i8, i32, u8
from ..target import Target
from .analysis.constants import Known
from .analysis.rewrite import Rewriter, spec
from .analysis.targets import target_of
from .base import Pass
from .pack_weights import adds_up

HALVES = (f16, bf16)
RANGES = {u8: (0, 255), i8: (-128, 127)}
EXACT = {f32: 24, f64: 53}
"""Up to which power of two a type has every integer."""
FEW = 2
"""Rows up to which a matrix is read once, and better as it is."""


@dataclass(frozen=True)
class WidenProducts(Pass):
    """Multiply and convolve narrow numbers as floats, where no unit of the machine takes them."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    def apply(self, program: Program) -> None:
        """Rewrite every product of narrow floats."""
        target = target_of(program)
        if target.can.multiply_wide:
            return
        known = Known()

        def exact(op: Op, rewriter: Rewriter) -> SSAValue | None:
            if any(map(known.is_fixed, operands_of(op))) or is_packed_in_runs(op, target):
                return None
            return as_floats(op, rewriter)

        products = [name for name, kind in REGISTRY.items() if kind.WIDENS]
        both = dict.fromkeys(("gv.conv", "gv.matmul"), (widened, exact))
        rewriter = Rewriter({**dict.fromkeys(products, (widened,)), **both})
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


def widened(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Return the product of the same elements as f32, rounded."""
    dtype = op.specs[0].dtype
    if dtype not in HALVES or any(spec(each).dtype != dtype for each in operands_of(op)):
        return None
    if is_streamed(op):
        return None
    wide = [rewriter("cast", each, dtype=f32) for each in operands_of(op)]
    return rewriter("cast", rewriter.again(op, *wide), dtype=dtype)


def as_floats(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Return the product of narrow integers, computed in floats that hold all sums."""
    if op.specs[0].dtype != i32 or any(each.dims[-1] == 1 for each in op.result_specs):
        return None
    reach, depth = [range_of(each) for each in operands_of(op)], depth_of(op)
    if None in reach or not isinstance(depth, int):
        return None
    most = prod(max(map(abs, each)) for each in reach if each is not None) * depth
    dtype = next((kind for kind, bits in EXACT.items() if most <= 1 << bits), None)
    if dtype is None or most >= 1 << 31:
        return None  # the sum could wrap
    wide = [rewriter("cast", each, dtype=dtype) for each in operands_of(op)]
    return rewriter("cast", rewriter.again(op, *wide), dtype=i32)


def is_packed_in_runs(op: Op, target: Target) -> bool:
    """Say whether `pack-weights` lays out groups of four bytes of the right operand in each run."""
    casts = [each.owner for each in operands_of(op)]
    if any(not isinstance(each, Op) or each.name != "gv.cast" for each in casts):
        return False
    left, right = (each.specs[0] for each in casts)  # type: ignore[union-attr]
    if (left.dtype, right.dtype) != (u8, i8) or not adds_up(target, u8) or not right.is_static:
        return False
    if op.name == "gv.conv":
        inner = int(right.dims[1])
        return inner % 4 == 0 or (inner == 1 and op.plain_attributes()["groups"] == right.dims[0])
    depth, rows = depth_of(op), op.result_specs[0].dims[-2]
    turned = op.plain_attributes()["transpose_lhs"]
    plain = right.rank == 2 and not turned and isinstance(depth, int) and depth % 4 == 0
    return plain and not (isinstance(rows, int) and rows <= FEW)


def range_of(value: SSAValue) -> tuple[int, int] | None:
    """Return the least and the largest of integers that were 8 bits wide, or are known."""
    op = value.owner
    if not isinstance(op, Op):
        return None
    if op.name == "gv.sub":
        left, right = map(range_of, operands_of(op))
        return left and right and (left[0] - right[1], left[1] - right[0])
    if op.name == "gv.constant":
        known = op.plain_attributes()["value"]
        return (int(known.min()), int(known.max())) if known.size else None
    return RANGES.get(op.specs[0].dtype) if op.name == "gv.cast" else None


def depth_of(op: Op) -> Dim:
    """Return how many products are added up for an element."""
    if op.name == "gv.matmul":
        turned = op.plain_attributes()["transpose_lhs"]
        return op.specs[0].dims[-2 if turned else -1]
    return product(op.specs[1].dims[1:])


def is_streamed(op: Op) -> bool:
    """Say whether a product of matrices takes the right one's rows once or twice, in their order.

    Of a transposed one it takes columns, one element at a time.
    """
    rows, by_columns = op.result_specs[0].dims[-2], op.plain_attributes().get("transpose_rhs", True)
    return isinstance(rows, int) and rows <= FEW and not by_columns

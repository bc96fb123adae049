"""Multiply and convolve floats of 16 bits as f32, where no unit of the machine takes them.

    %y = gv.conv %x, %w : f16          =>     %a, %b = gv.cast %x {f32}, gv.cast %w {f32}
                                              %c = gv.conv %a, %b : f32
                                              %y = gv.cast %c {f16}

Products of these are computed in f32 anyway, and rounded once behind; as operations on f32 they
get its layouts, register tiles and packed weights, which stay 16 bits wide in memory. The casts go
into what is computed before and behind. One or two rows times a matrix read it as it is: to widen
it takes longer than to multiply. Stands behind what looks for a product before what it rewrites,
and before `choose-layout`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..ir import Op, Program, operands_of
from ..ir.op import REGISTRY
from ..ir.types.dtypes import bf16, f16, f32
from .analysis.rewrite import Rewriter, spec
from .analysis.targets import target_of
from .base import Pass

HALVES = (f16, bf16)
FEW = 2
"""Rows up to which a matrix is read once, and better as it is."""


@dataclass(frozen=True)
class WidenProducts(Pass):
    """Multiply and convolve floats of 16 bits as f32, where no unit of the machine takes them."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    def apply(self, program: Program) -> None:
        """Rewrite every product of narrow floats."""
        if target_of(program).can.multiply_wide:
            return
        products = [name for name, kind in REGISTRY.items() if kind.WIDENS]
        rewriter = Rewriter(dict.fromkeys(products, (widened,)))
        rewriter.run(program)
        self.count("widened", rewriter.hits.get("widened", 0))


def widened(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Return the product of the same elements as f32, rounded."""
    dtype = op.specs[0].dtype
    if dtype not in HALVES or any(spec(each).dtype != dtype for each in operands_of(op)):
        return None
    if is_streamed(op):
        return None
    wide = [rewriter("cast", each, dtype=f32) for each in operands_of(op)]
    return rewriter("cast", rewriter.again(op, *wide), dtype=dtype)


def is_streamed(op: Op) -> bool:
    """Say whether a product of matrices takes the right one's rows once or twice, in their order.

    Of a transposed one it takes columns, one element at a time.
    """
    rows, by_columns = op.result_specs[0].dims[-2], op.plain_attributes().get("transpose_rhs", True)
    return isinstance(rows, int) and rows <= FEW and not by_columns

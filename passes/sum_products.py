"""Compute products of a matrix and a vector as sums, which read the matrix once, as it lies.

    %y = gv.matmul %x, %w                     =>    %c = gv.reshape %x : 1024x1
         (1x1024 times 1024x512)                    %p = gv.mul %c, %w
                                                    %s = gv.sum %p {axes = [0]}
                                                    %y = gv.reshape %s : 1x512

Register tiles use an element of the matrix as often as there are rows and columns on the other
side. With a vector there, it is used once: such a product takes as long as reading the matrix, and
panels of it are read in small pieces, or copied first. Sums over rows and over columns walk it in
its order. Rows of fixed matrices are left to `pack-weights`, before which this stands: panels lie
in the order of reading. A GPU has kernels of its own for few rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.types.dims import Dim
from ..ir.types.dtypes import bf16, f16, f32, f64, i32, i64
from .analysis.constants import Known
from .analysis.rewrite import Rewriter, spec
from .analysis.targets import target_of
from .base import Pass

SUMMED = (f32, f64, i32, i64)
WIDENED = (f16, bf16)
"""What is multiplied and added in f32."""


@dataclass(frozen=True)
class SumProducts(Pass):
    """Compute products of a matrix and a vector as sums."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    def apply(self, program: Program) -> None:
        """Rewrite every product with one row or one column."""
        if not target_of(program).can.walk_vectors:
            return
        known = Known()

        def summed(op: Op, rewriter: Rewriter) -> SSAValue | None:
            packed = op.result_specs[0].dims[-1] != 1 and known.is_fixed(op.operands[1])
            return None if packed else sums(op, rewriter)

        rewriter = Rewriter({"gv.matmul": (summed,)})
        rewriter.run(program)
        self.count("summed", rewriter.hits.get("summed", 0))


def sums(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Return the sums of the elements of a matrix times those of a vector."""
    flags, result = op.plain_attributes(), op.result_specs[0]
    batch, dtype = result.dims[:-2], result.dtype
    if dtype not in (*SUMMED, *WIDENED) or any(each.dims[:-2] != batch for each in op.specs):
        return None
    if result.dims[-1] == 1:
        (matrix, vector), by_rows = op.operands, not flags["transpose_lhs"]
    elif result.dims[-2] == 1:
        (vector, matrix), by_rows = op.operands, flags["transpose_rhs"]
    else:
        return None
    if dtype in WIDENED:
        vector, matrix = (rewriter("cast", each, dtype=f32) for each in (vector, matrix))
    depth = spec(matrix).dims[-1 if by_rows else -2]
    across: tuple[Dim, Dim] = (1, depth) if by_rows else (depth, 1)
    vector = rewriter("reshape", vector, shape=(*batch, *across))
    axis = len(batch) + (1 if by_rows else 0)
    made = rewriter("sum", rewriter("mul", vector, matrix), axes=(axis,))
    made = rewriter("reshape", made, shape=result.dims)
    return rewriter("cast", made, dtype=dtype) if dtype in WIDENED else made

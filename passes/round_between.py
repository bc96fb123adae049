"""Round floats of 16 bits between operations, as each operation alone would.

    %0 = gv.mul %x, %y : f16                   %0 = gv.mul %x, %y : f16
    %1 = gv.add %0, %z : f16         =>        %1 = gv.rounded %0 : f16
                                               %2 = gv.add %1, %z : f16

Code computes with them in f32 and rounds where they are stored; what one kernel hands from one
operation to the next is not. Stands before `decompose`: the parts of one operation are rounded as
one. What is stored is rounded once: rounded values are nothing more than read. A part of pipelines
with `exact` numerics or `ulp:N` only.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, Use
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from ..ir import SOURCE, Op, Program
from ..ir.build import GraphEmit, uses_of
from ..ir.ops.convert import Cast, Rounded
from ..ir.types.dtypes import bf16, f16
from .analysis.effects import all_operations
from .analysis.walks import is_move
from .base import Pass

HALVES = (f16, bf16)


@dataclass(frozen=True)
class RoundBetween(Pass):
    """Round floats of 16 bits between operations, as each operation alone would."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Round what is computed and read by something else than a result."""
        for op in all_operations(program.module):
            if isinstance(op, Op) and _computes_halves(op):
                uses = [use for use in uses_of(op) if _is_rounded_for(op, use)]
                if uses:
                    emit = GraphEmit(InsertPoint.after(op), op.attributes.get(SOURCE))
                    rounded = emit(Rounded, op.results[0])
                    for use in uses:
                        use.operation.operands[use.index] = rounded
                    self.count("rounded")


def _computes_halves(op: Op) -> bool:
    """Say whether an operation's one result is of 16 bits, and not rounded by it already."""
    if len(op.results) != 1 or not op.operands or op.regions or is_move(op):
        return False
    return not isinstance(op, Cast | Rounded) and op.result_specs[0].dtype in HALVES


def _is_rounded_for(op: Op, use: Use) -> bool:
    """Say whether one kernel may hand a result on to a user: one of the two goes by elements."""
    reader = use.operation
    if reader.has_trait(IsTerminator) or isinstance(reader, Rounded):
        return False
    return op.has("scalar") or _goes_by_elements(reader)


def _goes_by_elements(op: Operation) -> bool:
    return isinstance(op, Op) and op.has("scalar")

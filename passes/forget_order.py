"""Drop what keeps computations apart that are to be done twice.

    %0 = gv.again %x, %late
    %1 = gv.exp %0                =>   %1 = gv.exp %x

From here on equal operations are not merged any more, and they stay in their order: what is
computed again stands where it is needed. Belongs behind the last `cse`, and before `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Program, erase, operations, replace_uses
from ..ir.ops.gradient import Again
from ..ir.program import functions
from .analysis.blocks import blocks_of
from .base import Pass


@dataclass(frozen=True)
class ForgetOrder(Pass):
    """Drop what keeps computations apart that are to be done twice."""

    LEVEL = "graph"
    FOR = (Again,)

    def apply(self, program: Program) -> None:
        """Put the operand in the place of each one."""
        for function in functions(program.module):
            for block in blocks_of(function):
                for op in operations(block):
                    if isinstance(op, Again):
                        replace_uses(op.results[0], op.operands[0])
                        erase(op)
                        self.count("dropped")

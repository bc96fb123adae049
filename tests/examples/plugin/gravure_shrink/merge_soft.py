"""Merge soft thresholds that follow each other.

    %0 = shrink.soft %x {threshold = 1}      =>      %1 = shrink.soft %x {threshold = 3}
    %1 = shrink.soft %0 {threshold = 2}

The first stays, for `dce`, if nothing else reads it. In a pipeline it stands behind `canonicalize`.
"""

from dataclasses import dataclass

from gravure.extend import (
    GraphEmit,
    Pass,
    Program,
    functions,
    operations_of,
    register_pass,
    replace,
)

from .operation import Soft


@register_pass
@dataclass(frozen=True)
class MergeSoft(Pass):
    """Merge soft thresholds that follow each other."""

    LEVEL = "graph"
    NUMERICS = "reassociating"
    FOR = (Soft,)

    def apply(self, program: Program) -> None:
        """Merge in every function."""
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if isinstance(op, Soft) and isinstance(op.operands[0].owner, Soft):
                    self.merge(op, op.operands[0].owner)

    def merge(self, op: Soft, inner: Soft) -> None:
        """Replace two by one."""
        total = op.plain_attributes()["threshold"] + inner.plain_attributes()["threshold"]
        replace(op, GraphEmit.before(op)(Soft, inner.operands[0], threshold=total))
        self.count("merged")

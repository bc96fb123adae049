"""Sort along the last axis what would be sorted along another: columns become rows, and come back.

    %v, %i = gv.top_k %x {axis = 0, k = 50}    =>    %t = gv.transpose %x
                                                     %w, %j = gv.top_k %t {axis = 1, k = 50}
                                                     %v = gv.transpose %w, %i = gv.transpose %j

A row is looked through by vectors, and lies with its heap in few lines of the cache; a column takes
a line for each element. The few best of many columns stay: they are found in registers, all lanes
at once. A GPU's threads, which have a column each, read neighbours at once anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.ops.sort import TopK
from ..ir.types.dims import product
from .analysis.rewrite import Rewriter
from .analysis.targets import target_of
from .base import Pass

LEAST = 512
"""Elements from which on they are turned; of an open size there may be many."""


@dataclass(frozen=True)
class TurnSorts(Pass):
    """Sort along the last axis what would be sorted along another."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every sort of columns that is worth it."""
        if not target_of(program).can.walk_vectors:
            return
        rewriter = Rewriter({"gv.top_k": (turn,)})
        rewriter.run(program)
        self.count("turned", rewriter.hits.get("turn", 0))


def turn(op: Op, rewriter: Rewriter) -> Sequence[SSAValue] | None:
    """Return the best elements and their places along the last axis, turned back."""
    given, spec = op.plain_attributes(), op.specs[0]
    axis, last, count = given["axis"], spec.rank - 1, product(spec.dims)
    if product(spec.dims[axis + 1 :]) == 1 or TopK.has_few(spec, **given):
        return None
    if isinstance(count, int) and count < LEAST:
        return None
    axes = [*range(spec.rank)]
    axes[axis], axes[last] = last, axis
    order = tuple(axes)
    turned = rewriter("transpose", op.operands[0], order=order)
    made = TopK.make(turned, **{**given, "axis": last})
    return [rewriter("transpose", each, order=order) for each in rewriter.insert(made)]

"""Have many blocks of a GPU share reductions of few, long rows.

    %y = gv.sum %x {axes = [0]}         =>      %p = gv.reshape %x      [1048576] to [1024, 1024]
                                                %q = gv.sum %p {axes = [1]}
                                                %y = gv.sum %q {axes = [0]}

A row is walked by one block of threads, so that a few rows would leave most of the device idle.
The parts of a row are rows of their own, and what they come to is reduced again. Only rows of known
size that come out even are split; the order of a sum changes, but not from run to run. Needs
`decompose`; stands before `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import GraphEmit, Op, Program, replace
from ..ir.dims import product
from ..ir.op import REGISTRY
from ..ir.program import functions
from ..ir.shapes import normalize_axes
from .analysis.blocks import operations_of
from .analysis.kinds import ROW_REDUCTIONS, kind_of
from .base import Pass
from .pack_weights import target_of

FEW_ROWS = 128
"""With as many, each processor of a device has a row."""
LONG = 1 << 15
"""Elements of a row that one block would take long for."""
MOST_PARTS = 1024
SHORTEST = 512
"""Elements of a part."""


@dataclass(frozen=True)
class SplitReductions(Pass):
    """Reduce few, long rows in two steps, for GPUs."""

    NUMERICS = "reassociating"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Split in every function."""
        if not target_of(program).is_gpu:
            return
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if isinstance(op, Op) and op.name in ROW_REDUCTIONS - {"gv.mean"}:
                    self.split(op)

    def split(self, op: Op) -> None:
        """Replace one reduction if its rows are few and long."""
        shape = op.specs[0].dims
        axes = normalize_axes(op.plain_attributes()["axes"], len(shape))
        kept = [d for axis, d in enumerate(shape) if axis not in axes]
        rows, length = product(tuple(kept)), product(tuple(shape[axis] for axis in axes))
        if not isinstance(rows, int) or not isinstance(length, int) or kind_of(op) != "row":
            return
        parts = parts_of(length)
        if rows >= FEW_ROWS or length < LONG or not parts:
            return
        emit = GraphEmit.before(op)
        reduction = REGISTRY[op.name]
        flat = emit(REGISTRY["gv.reshape"], op.operands[0], shape=(rows, parts, length // parts))
        partial = emit(reduction, flat, axes=(2,), keepdims=False)
        total = emit(reduction, partial, axes=(1,), keepdims=False)
        made = emit(REGISTRY["gv.reshape"], total, shape=op.result_specs[0].dims)
        replace(op, made)
        self.count("split")


def parts_of(length: int) -> int:
    """Return how many equal parts of whole vectors there can be; 0 if it does not come out even."""
    most = min(MOST_PARTS, length // SHORTEST)
    return next((p for p in range(most, 15, -1) if length % (4 * p) == 0), 0)

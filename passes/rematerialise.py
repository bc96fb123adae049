"""Compute cheap values again where they are used late, instead of keeping them till then.

    %0 = gv.relu %x                      %0 = gv.relu %x
    use %0                               use %0
    ... many operations ...       =>     ... many operations ...
    use %0, %x                           %1 = gv.relu %x
                                         use %1, %x

Only element-wise operations are computed again, and only from operands that are kept till then
anyway, so that no value lives longer than before: what training keeps for the way back gets
less, and the numbers stay the same. Needs nothing; belongs behind the last `cse`, which would
merge what was computed again, and before `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..ir import Op, Program
from ..ir.ops.structure import Constant, Weight
from ..ir.program import functions
from .base import Pass

Places: TypeAlias = dict[Operation, int]
"""The place of each operation of a block; what stands elsewhere has none."""


@dataclass(frozen=True)
class Rematerialise(Pass):
    """Compute cheap values again where they are used late."""

    LEVEL = "graph"

    distance: int = 16
    """So many operations must be between two uses."""

    def apply(self, program: Program) -> None:
        """Go through each function from the last operation to the first."""
        for function in functions(program.module):
            block = function.body.block
            places: Places = {op: i for i, op in enumerate(block.ops)}
            pinned: dict[SSAValue, None] = {}
            for op in reversed(list(block.ops)):
                if is_cheap(op) and op.results[0] not in pinned:
                    self.again(block, op, places, pinned)

    def again(
        self, block: Block, op: Operation, places: Places, pinned: dict[SSAValue, None]
    ) -> None:
        """Compute an operation again before its late uses, if there are any.

        What it is computed from is `pinned`: it stays as it is.
        """
        late = late_use(op, places, self.distance)
        if late is None or not all(is_kept(x, op, late, places) for x in op.operands):
            return
        pinned.update(dict.fromkeys(op.operands))
        first = next(u.operation for u in op.results[0].uses if places[u.operation] == late)
        made = op.clone()
        block.insert_op_before(made, first)
        places[made] = late
        for use in list(op.results[0].uses):
            if use.operation is not made and places[use.operation] >= late:
                use.operation.operands[use.index] = made.results[0]
        self.count("again")


def is_cheap(op: Operation) -> bool:
    """Say whether an operation is element-wise and has operands."""
    return (
        isinstance(op, Op)
        and op.PURE
        and bool(op.operands)
        and len(op.results) == 1
        and not op.regions
        and type(op).has("scalar")
    )


def late_use(op: Operation, places: Places, distance: int) -> int | None:
    """Return the place of the first use behind the widest gap, if that is wide enough."""
    uses = [use.operation for use in op.results[0].uses]
    if any(user not in places for user in uses):
        return None  # a region uses it
    found = sorted({places[op], *(places[user] for user in uses)})
    gaps = [(b - a, b) for a, b in pairwise(found)]
    wide, late = max(gaps, default=(0, 0))
    return late if wide > distance and late != found[1] else None


def is_kept(value: SSAValue, op: Operation, late: int, places: Places) -> bool:
    """Say whether a value is there at a place although the operation does not use it there."""
    if isinstance(value, BlockArgument) or isinstance(value.owner, Constant | Weight):
        return True
    users = [use.operation for use in value.uses if use.operation is not op]
    return any(user in places and places[user] >= late for user in users)

"""Compute values again where they are used late, instead of keeping them till then.

    %0 = gv.relu %x                      %0 = gv.relu %x
    use %0                               use %0
    ... many operations ...       =>     ... many operations ...
    use %0, %x                           %1 = gv.relu %x
                                         use %1, %x

Only element-wise operations are computed again, and only from operands that are kept till then
anyway, so that no value lives longer than before: what training keeps for the way back gets
less, and the numbers stay the same.

With `layers`, whatever is kept for the way back is computed again, but for the values from which a
stretch of operations begins, of which there are about as many as each stretch has inside: of 50
layers 7 are kept, and those of one stretch. It costs the time of going forward once more.

Needs nothing; belongs behind the last `cse`, which would
merge what was computed again, and before `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ..ir import Op, Program
from ..ir.program import functions, ranges_of
from .analysis.memory.layers import Keeping, Stretches, can_be_repeated, is_there, root_of
from .base import Pass

Places: TypeAlias = dict[Operation, int]
"""The place of each operation of a block; what stands elsewhere has none."""


@dataclass(frozen=True)
class Rematerialise(Pass):
    """Compute values again where they are used late: cheap ones, or whole layers."""

    LEVEL = "graph"

    distance: int = 16
    """So many operations must be between two uses."""
    layers: bool = False
    """Whether what is not cheap is computed again, too."""

    def apply(self, program: Program) -> None:
        """Go through each function from the last operation to the first."""
        ranges = ranges_of(program.module)
        for function in functions(program.module):
            block = function.body.block
            keeping = Keeping(block, ranges, self.distance) if self.layers else None
            if keeping is not None and (found := keeping.stretches()) is not None:
                self.repeat(block, keeping, found)
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

    def repeat(self, block: Block, keeping: Keeping, found: Stretches) -> None:
        """Carry out each stretch but the last once more, before what comes late of it is used."""
        late: dict[int, list[OpResult]] = {}
        for op in keeping.ops[: found.turn + 1]:
            for result in op.results if can_be_repeated(op) else ():
                root = root_of(result)
                if (
                    root in keeping.gaps
                    and root not in found.kept
                    and self.comes_late(result, keeping.places, found.turn)
                ):
                    late.setdefault(found.number(keeping.places[op]), []).append(result)
        for number, results in late.items():
            if number < len(found.cuts):
                self.repeat_one(block, keeping, found, results)

    @staticmethod
    def comes_late(value: SSAValue, places: Places, turn: int) -> bool:
        """Say whether a value is used behind the turn, and nowhere in a region."""
        users = [places.get(use.operation) for use in value.uses]
        return None not in users and any(place is not None and place > turn for place in users)

    def repeat_one(
        self, block: Block, keeping: Keeping, found: Stretches, results: list[OpResult]
    ) -> None:
        """Carry out what some results of a stretch come from, and let late uses have that."""
        places, ops = keeping.places, dict[Operation, None]()
        waiting: list[SSAValue] = [*results]
        while waiting:
            value = waiting.pop()
            op = value.owner
            if is_there(value) or root_of(value) in found.kept or op in ops:
                continue
            if isinstance(op, Operation) and op in places and can_be_repeated(op):
                ops[op] = None
                waiting += op.operands
        late = [
            use for result in results for use in result.uses if places[use.operation] > found.turn
        ]
        first = min((use.operation for use in late), key=places.__getitem__)
        again: dict[SSAValue, SSAValue] = {}
        for op in sorted(ops, key=places.__getitem__):
            made = op.clone(again)
            block.insert_op_before(made, first)
            places[made] = places[first]
            again |= zip(op.results, made.results, strict=True)
        for use in late:
            use.operation.operands[use.index] = again[use.operation.operands[use.index]]
        self.count("layers again", len(ops))


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
    if is_there(value):
        return True
    users = [use.operation for use in value.uses if use.operation is not op]
    return any(user in places and places[user] >= late for user in users)

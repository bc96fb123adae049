"""Order the kernels so that less memory lives at one time.

    %a = call @big(%x)                    %b = call @small(%y)
    %b = call @small(%y)           =>     %c = call @reduce(%b)
    %c = call @reduce(%b)                 %a = call @big(%x)
    %d = call @join(%a, %c)               %d = call @join(%a, %c)

List scheduling: of the kernels that are ready, the one that frees most (what dies less what
it makes); the order is only taken if its peak is below that of the given one. Needs
`outline-kernels`.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue

from ..ir import Program, dims
from ..ir.dims import Range
from ..ir.levels import KIND
from ..ir.ops.control import Control
from ..ir.program import functions, ranges_of
from ..ir.tensor import spec_of
from .analysis.blocks import blocks_of
from .base import Pass

UNBOUNDED = 1 << 20
"""Counted for a symbol without an upper bound."""


@dataclass(frozen=True)
class ScheduleMemory(Pass):
    """Order the kernels so that less memory lives at one time."""

    LEVEL = "fused"

    def apply(self, program: Program) -> None:
        """Schedule every function that calls kernels."""
        ranges = ranges_of(program.module)
        for function in functions(program.module):
            if KIND not in function.attributes:
                for block in blocks_of(function):
                    self.schedule(block, ranges)

    def schedule(self, block: Block, ranges: dict[str, Range]) -> None:
        """Reorder one block if that lowers the peak."""
        given = list(block.ops)
        graph = Graph(block, ranges)
        order = graph.order()
        before, after = graph.peak(given), graph.peak(order)
        if after >= before:
            return
        for op in given:
            block.detach_op(op)
        block.add_ops(order)
        self.count("bytes saved", before - after)


@dataclass
class Graph:
    """Operations of a block with the values they need, make and free."""

    block: Block
    ranges: dict[str, Range]
    size: dict[SSAValue, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for op in self.block.ops:
            for result in op.results:
                owns = isinstance(op, CallOp | Control)
                self.size[result] = self.bytes(result) if owns else 0

    def bytes(self, value: SSAValue) -> int:
        """Return the bytes of a tensor at the largest symbols."""
        ranges = {
            s: (low, UNBOUNDED if high is None else high) for s, (low, high) in self.ranges.items()
        }
        return dims.bounds(spec_of(value.type).nbytes, ranges)[1] or 0

    def order(self) -> list[Operation]:
        """Return a topological order that frees memory early."""
        ops = list(self.block.ops)
        number = {op: i for i, op in enumerate(ops)}
        missing = {op: len(self._makers(op)) for op in ops}
        uses = self.uses()
        ready = [(self.cost(op, uses), number[op]) for op in ops if not missing[op]]
        heapq.heapify(ready)
        done: list[Operation] = []
        last = ops[-1]
        while ready:
            _, index = heapq.heappop(ready)
            op = ops[index]
            done.append(op)
            for value in set(op.operands):
                uses[value] = uses.get(value, 1) - 1
            for user in {u.operation for r in op.results for u in r.uses}:
                missing[user] -= 1
                if not missing[user] and user is not last:
                    heapq.heappush(ready, (self.cost(user, uses), number[user]))
        done = [op for op in done if op is not last]
        return [*done, last]

    def uses(self) -> dict[SSAValue, int]:
        """Return how many operations use each value."""
        count: dict[SSAValue, int] = {}
        for op in self.block.ops:
            for value in set(op.operands):
                count[value] = count.get(value, 0) + 1
        return count

    def cost(self, op: Operation, uses: dict[SSAValue, int]) -> int:
        """Return the bytes that an operation makes less those that die with it."""
        made = sum(self.size[r] for r in op.results)
        dies = sum(self.size.get(v, 0) for v in set(op.operands) if uses.get(v) == 1)
        return made - dies

    def peak(self, order: Sequence[Operation]) -> int:
        """Return the largest sum of live values in this order."""
        uses = self.uses()
        live = most = 0
        for op in order:
            live += sum(self.size[r] for r in op.results)
            most = max(most, live)
            for value in set(op.operands):
                uses[value] -= 1
                if not uses[value]:
                    live -= self.size.get(value, 0)
        return most

    def _makers(self, op: Operation) -> set[Operation]:
        owners = {v.owner for v in op.operands}
        return {o for o in owners if isinstance(o, Operation) and o.parent is self.block}

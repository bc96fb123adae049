"""Order the kernels so that less memory lives at one time.

    %a = call @big(%x)                    %b = call @small(%y)
    %b = call @small(%y)           =>     %c = call @reduce(%b)
    %c = call @reduce(%b)                 %a = call @big(%x)
    %d = call @join(%a, %c)               %d = call @join(%a, %c)

List scheduling: of the kernels that are ready, the one that frees most (what dies less what
it makes); the order is only taken if its peak is below that of the given one. In the body of a loop
what reads a carried value stands before what makes the next one, so that this may lie in its
place; the same holds for arguments that results lie over. Needs `outline-kernels`.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ..ir import Program, dims, operations
from ..ir.dims import Range
from ..ir.levels import KIND
from ..ir.ops.control import Control, While
from ..ir.program import functions, laid_over, ranges_of
from ..ir.tensor import spec_of
from .analysis.blocks import blocks_of
from .base import Pass
from .bufferise import viewed

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
        given = operations(block)
        graph = Graph(block, ranges, readers_first(block))
        calm = graph.order(by_memory=False) if graph.first else given
        order = graph.order()
        before, after = graph.peak(calm), graph.peak(order)
        if after < before:
            self.count("bytes saved", before - after)
        else:
            order = calm
        if order != given:
            self.count("blocks in another order")
            for op in given:
                block.detach_op(op)
            block.add_ops(order)


@dataclass
class Graph:
    """Operations of a block with the values they need, make and free."""

    block: Block
    ranges: dict[str, Range]
    first: dict[Operation, list[Operation]] = field(default_factory=dict)
    """Operations, and others that must stand behind them though they use no result of theirs."""
    size: dict[SSAValue, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for op in operations(self.block):
            for result in op.results:
                owns = isinstance(op, CallOp | Control)
                self.size[result] = self.bytes(result) if owns else 0

    def bytes(self, value: SSAValue) -> int:
        """Return the bytes of a tensor at the largest symbols."""
        size = spec_of(value.type).nbytes
        if isinstance(size, int):
            return size
        ranges = {
            s: (low, UNBOUNDED if high is None else high) for s, (low, high) in self.ranges.items()
        }
        return dims.bounds(size, ranges)[1] or 0

    def order(self, *, by_memory: bool = True) -> list[Operation]:
        """Return a topological order that frees memory early, or else is near the given one."""
        ops = operations(self.block)
        number = {op: i for i, op in enumerate(ops)}
        missing = {op: len(self._makers(op)) for op in ops}
        for later in self.first.values():
            for op in later:
                missing[op] += 1
        uses = self.uses()

        def rank(op: Operation) -> tuple[int, int]:
            return (self.cost(op, uses) if by_memory else 0), number[op]

        ready = [rank(op) for op in ops if not missing[op]]
        heapq.heapify(ready)
        done: list[Operation] = []
        last = ops[-1]
        while ready:
            _, index = heapq.heappop(ready)
            op = ops[index]
            done.append(op)
            for value in set(op.operands):
                uses[value] = uses.get(value, 1) - 1
            users = {u.operation for r in op.results for u in r.uses}
            for user in (*users, *self.first.get(op, ())):
                missing[user] -= 1
                if not missing[user] and user is not last:
                    heapq.heappush(ready, rank(user))
        done = [op for op in done if op is not last]
        return [*done, last]

    def uses(self) -> dict[SSAValue, int]:
        """Return how many operations use each value."""
        count: dict[SSAValue, int] = {}
        for op in operations(self.block):
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


def readers_first(block: Block) -> dict[Operation, list[Operation]]:
    """Return who must read a value before what takes its place is made.

    These are the carried values of a loop, and the arguments that results lie over. Nothing is
    asked that cannot be.
    """
    last = block.last_op
    if last is None:
        return {}
    found: dict[Operation, list[Operation]] = {}
    for argument, value in successors(block, last):
        maker = viewed(value).owner
        if not isinstance(maker, Operation) or maker.parent is not block:
            continue
        behind = {last, *reached(maker, found)}
        for reader in readers(argument):
            if reader not in behind:
                found.setdefault(reader, []).append(maker)
    return found


def successors(block: Block, last: Operation) -> list[tuple[SSAValue, SSAValue]]:
    """Return the arguments of a block whose place other values take, and those values."""
    parent = block.parent_op()
    if isinstance(parent, FuncOp):
        over = laid_over(parent.res_attrs)
        return [(block.args[argument], last.operands[i]) for i, argument in over.items()]
    if isinstance(parent, While) and block is parent.blocks()[1]:
        return list(zip(block.args, last.operands, strict=False))
    return []


def readers(value: SSAValue) -> list[Operation]:
    """Return the operations that read a value, through reshapes."""
    found: dict[Operation, None] = {}
    waiting = [value]
    while waiting:
        for use in waiting.pop().uses:
            if use.operation.name == "gv.reshape":
                waiting.append(use.operation.results[0])
            found[use.operation] = None
    return list(found)


def reached(op: Operation, first: dict[Operation, list[Operation]]) -> set[Operation]:
    """Return an operation, and all that must stand behind it."""
    seen, waiting = {op}, [op]
    while waiting:
        one = waiting.pop()
        users = [use.operation for result in one.results for use in result.uses]
        for user in (*users, *first.get(one, ())):
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return seen

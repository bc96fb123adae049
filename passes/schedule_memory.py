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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ..ir import Op, Program, operands_of, operations
from ..ir.host import symbols_of
from ..ir.interpret.launch import kernel_symbols
from ..ir.levels import KIND
from ..ir.ops.control.control import Control, While
from ..ir.ops.selecting import Told
from ..ir.program import by_name, functions, laid_over, ranges_of
from ..ir.types.dims import Range
from .analysis.blocks import blocks_of
from .analysis.memory.layers import largest_bytes
from .base import Pass
from .bufferise import viewed
from .hoist_prepare import PREPARE


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
        graph = BlockNeeds(block, ranges, before_others(block))
        given = graph.ops
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
class BlockNeeds:
    """Operations of a block with the values they need, make and free."""

    block: Block
    ranges: dict[str, Range]
    first: dict[Operation, list[Operation]] = field(default_factory=dict)
    """Operations, and others that must stand behind them though they use no result of theirs."""
    size: dict[SSAValue, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ops = operations(self.block)
        self.takes = [list(dict.fromkeys(operands_of(op))) for op in self.ops]
        """The values that each operation uses, each once."""
        for op in self.ops:
            owns = isinstance(op, CallOp | Control)
            for result in op.results:
                self.size[result] = largest_bytes(result, self.ranges) if owns else 0
        if is_preparation(self.block):
            self.size.update(dict.fromkeys(map(viewed, operands_of(self.ops[-1])), 0))

    def order(self, *, by_memory: bool = True) -> list[Operation]:
        """Return a topological order that frees memory early, or else is near the given one."""
        ops = self.ops
        number = {id(op): i for i, op in enumerate(ops)}
        makers = [
            {number[id(v.owner)] for v in taken if id(v.owner) in number} for taken in self.takes
        ]
        behind: list[list[int]] = [[] for _ in ops]
        for index, found in enumerate(makers):
            for maker in found:
                behind[maker].append(index)
        missing = [len(found) for found in makers]
        for op, later in self.first.items():
            for other in later:
                missing[number[id(other)]] += 1
                behind[number[id(op)]].append(number[id(other)])
        uses = self.uses()

        def rank(index: int) -> tuple[int, int]:
            return (self.cost(index, uses) if by_memory else 0), index

        ready = [rank(index) for index, count in enumerate(missing) if not count]
        heapq.heapify(ready)
        done: list[Operation] = []
        last = len(ops) - 1
        while ready:
            _, index = heapq.heappop(ready)
            done.append(ops[index])
            for value in self.takes[index]:
                uses[value] -= 1
            for user in behind[index]:
                missing[user] -= 1
                if not missing[user] and user != last:
                    heapq.heappush(ready, rank(user))
        return [*(op for op in done if op is not ops[last]), ops[last]]

    def uses(self) -> dict[SSAValue, int]:
        """Return how many operations use each value."""
        return Counter(value for taken in self.takes for value in taken)

    def cost(self, index: int, uses: dict[SSAValue, int]) -> int:
        """Return the bytes that an operation makes less those that die with it."""
        made = sum([self.size[r] for r in self.ops[index].results])
        return made - sum([self.size.get(v, 0) for v in self.takes[index] if uses[v] == 1])

    def peak(self, order: Sequence[Operation]) -> int:
        """Return the largest sum of live values in this order."""
        uses = self.uses()
        taken = {id(op): values for op, values in zip(self.ops, self.takes, strict=True)}
        live = most = 0
        for op in order:
            live += sum([self.size[r] for r in op.results])
            most = max(most, live)
            for value in taken[id(op)]:
                uses[value] -= 1
                if not uses[value]:
                    live -= self.size.get(value, 0)
        return most


def is_preparation(block: Block) -> bool:
    """Say whether a block makes weights: these lie among the others, and take no other memory."""
    parent = block.parent_op()
    return isinstance(parent, FuncOp) and parent.sym_name.data == PREPARE


def before_others(block: Block) -> dict[Operation, list[Operation]]:
    """Return operations, and others that must stand behind them without using their results."""
    found, given = dict[Operation, list[Operation]](), operations(block)
    tells = [op for op in given if isinstance(op, Told)]
    module = block.get_toplevel_object() if tells else None
    kernels = by_name(module) if isinstance(module, ModuleOp) else {}
    sizes = {op: sizes_of(op, kernels) for op in given} if tells else {}
    for op in tells:
        own = {str(size) for size in op.plain_attributes()["sizes"]}
        behind = given[given.index(op) + 1 :]
        found.setdefault(op, []).extend(each for each in behind if own & sizes[each])
    readers_first(block, found)
    return found


def sizes_of(op: Operation, kernels: Mapping[str, FuncOp]) -> set[str]:
    """Return the symbols that an operation needs to know, or a kernel that it calls."""
    calls = [each for each in op.walk() if isinstance(each, CallOp)]
    called = {name for c in calls for name in kernel_symbols(kernels[c.callee.root_reference.data])}
    return called | set(symbols_of(op))


def readers_first(block: Block, found: dict[Operation, list[Operation]]) -> None:
    """Ask that values are read before what takes their place is made.

    These are the carried values of a loop, and the arguments that results lie over. Nothing is
    asked that cannot be, with what is asked already.
    """
    last = block.last_op
    if last is None:
        return
    for argument, value in successors(block, last):
        maker = viewed(value).owner
        if not isinstance(maker, Operation) or maker.parent is not block:
            continue
        behind = {last, *reached(maker, found)}
        for reader in readers(argument):
            if reader not in behind:
                found.setdefault(reader, []).append(maker)


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
            user = use.operation
            if isinstance(user, Op) and user.IS_VIEW:
                waiting.append(user.results[0])
            found[user] = None
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

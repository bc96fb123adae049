"""Cut a program into stages of about as much work, each a function, for ranks in a row.

    %0 = gv.matmul %x, %a               %0 = func.call @stage0(%x)
    %1 = gv.relu %0              =>     %1 = func.call @stage1(%0)
    %2 = gv.matmul %1, %b

Stages are runs of operations in their order. Where it is cut, up to a tenth of a stage's work may
be moved, so that fewer bytes go over. Operations between host steps become functions too: it
is cut only there then. Constants and weights are copied into each stage that uses them. Needs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from ..ir import Dim, Op, Program, Range, spec_of
from ..ir.host import is_host
from ..ir.types import dims
from .analysis.cost import cost_of
from .base import Pass
from .cut_host import Segment, Stages, is_source

SLACK = 10
"""The part of a stage's work that a cut may be moved by."""
BYTES_OF_WORK = 8
"""Arithmetic operations that take as long as a byte that is read."""


@dataclass(frozen=True)
class CutStages(Pass):
    """Cut a program into stages of about as much work."""

    LEVEL = "graph"
    stages: int = 2

    def apply(self, program: Program) -> None:
        """Cut `main`."""
        block, last = program.main.body.block, program.main.body.block.last_op
        assert last is not None, "a block ends in a terminator"
        ops = [op for op in block.ops if op is not last and not is_source(op)]
        free = [op for op in block.ops if op is not last and is_source(op)]
        of = self.numbers(block, ops, program.ranges)
        for op in list(block.ops):
            block.detach_op(op)
        kept: list[Operation] = []
        for number in sorted({*of.values()}):
            group = [op for op in ops if of[op] == number and not is_host(op)]
            kept += self.outlined(group, number, program.module) if group else []
            kept += [op for op in ops if of[op] == number and is_host(op)]
        block.add_ops([*free, *kept, last])
        for op in free:
            if all(result.first_use is None for result in op.results):
                block.erase_op(op)

    def numbers(
        self, block: Block, ops: Sequence[Operation], ranges: Mapping[str, Range]
    ) -> dict[Operation, int]:
        """Return the stage of each operation."""
        if any(is_host(op) for op in ops):
            stages = Stages(block)
            return {op: stages.of[op] for op in ops}
        sizes = {name: high or low for name, (low, high, *_) in ranges.items()}
        ends = cuts(ops, [work_of(op, sizes) for op in ops], sizes, self.stages)
        return {op: sum(place >= end for end in ends) for place, op in enumerate(ops)}

    def outlined(
        self, group: Sequence[Operation], number: int, module: ModuleOp
    ) -> list[Operation]:
        """Make operations a function; return the call of it, and the rooms before."""
        segment = Segment(f"stage{number}", [op for op in group if isinstance(op, Op)])
        self.count("stages")
        module.body.block.add_op(segment.function)
        return [*segment.rooms, segment.call]


def work_of(op: Operation, sizes: Mapping[str, int]) -> float:
    """Return about how long an operation takes."""
    found = [cost_of(each, sizes) for each in op.walk() if isinstance(each, Op)]
    return sum(2 * c.macs + c.flops + 8 * c.functions + BYTES_OF_WORK * c.read for c in found)


def cuts(
    ops: Sequence[Operation], work: Sequence[float], sizes: Mapping[str, int], count: int
) -> list[int]:
    """Return the places where stages begin, behind the first."""
    before = [0.0]
    for each in work:
        before.append(before[-1] + each)
    share = before[-1] / count
    found: list[int] = []
    for number in range(1, count):
        goal, slack = number * share, share / SLACK
        first = found[-1] + 1 if found else 1
        last = len(ops) - (count - number)
        places = range(min(first, last), last + 1)
        near = [place for place in places if abs(before[place] - goal) <= slack]
        nearest = min(places, key=lambda place: abs(before[place] - goal))
        chosen = near or [nearest]
        found.append(min(chosen, key=lambda place: (crossing(ops, place, sizes), place)))
    return found


def crossing(ops: Sequence[Operation], place: int, sizes: Mapping[str, int]) -> int:
    """Return the bytes that go over a cut."""
    behind = set(ops[place:])
    values = [
        result
        for op in ops[:place]
        for result in op.results
        if any(use.operation in behind for use in result.uses)
    ]
    return sum(_size(spec_of(value.type).nbytes, sizes) for value in values)


def _size(size: Dim, sizes: Mapping[str, int]) -> int:
    known = {name: sizes.get(name, 1) for name in dims.symbols(size)}
    return int(dims.evaluate(size, known))

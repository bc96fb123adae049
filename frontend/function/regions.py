"""Choices and loops that are being made: graphs become blocks with arguments of their own.

A block is made by a frame of its own, which takes and gives the state that its graph touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.ir import Block, SSAValue

from ...ir import REGISTRY, GraphEmit
from ...ir.compose.maker import Maker
from ...ir.op import Op
from ...ir.ops.control.control import If
from ...ir.ops.host.host_control import FLAG, NUMBER, HostIf
from ...ir.ops.host.late import ReadSizes
from ...ir.ops.structure import Constant, Yield
from ...ir.types.tensor import spec_of
from ..dims.growing import Counters, GrowingSizes, counting
from ..graph.frame import Frame, NotSeenError, NotStageableError, Stateful
from ..graph.func_graph import FuncGraph
from .in_common import Shared, chosen, grown, if_seen, way_out


class RegionFrame(Frame):
    """A run that appends to a block."""

    shared: Shared
    state: dict[object, SSAValue]
    """What variables and counts of draws are by now."""

    turns = False
    """Whether it appends what a loop does in each turn."""

    def inside(self, block: Block) -> RegionFrame:
        """Return what appends to the block of a region."""
        raise NotImplementedError("what appends to a program makes its regions")

    def append(self, op: type[Op], *operands: object, **attributes: object) -> object:
        """Append an operation, unless it makes a few integers of some that are known."""
        raise NotImplementedError("what appends to a program knows its block")

    def value(self, x: object) -> SSAValue:
        """Return a value of the program."""
        raise NotImplementedError("what appends to a program knows its block")

    def goes_on(self, test: object) -> SSAValue:
        """Return whether a loop goes on: not behind a requirement that did not hold."""
        raise NotImplementedError("what appends to a program knows its requirements")


@dataclass
class LoopGraph:
    """A loop of which test and body are being made blocks of."""

    outer: RegionFrame
    touched: Sequence[Stateful]
    operands: Sequence[SSAValue]
    """What both take: what is carried, what is touched, what stays the same."""
    count: int
    """How many values it carries, beside what is touched."""

    def region(self, graph: FuncGraph, captured: slice, *, changes: bool) -> Block:
        """Return a block of a graph, which takes some of what stays the same."""
        block = Block(arg_types=[x.type for x in self.operands])
        inner = self.outer.inside(block)
        inner.turns = True
        end = self.count + len(self.touched)
        inner.state = dict(zip(self.touched, block.args[self.count : end], strict=True))
        inner.shared.goes_on_as(self.operands[:end], block.args)
        taken = inner.shared.settled(self.operands[end:], block.args[end:])[captured]
        made = run_inside(graph, inner, [*block.args[: self.count], *taken])
        state = [inner.state[v] for v in self.touched] if changes else []
        block.add_op(Yield.make(*map(inner.value, [*made, *state])))
        return block


ROUNDS = 6
"""How often a loop's body is read until the shapes that it gives are those that it takes."""


@dataclass
class Turning:
    """A loop that is being made, of which each turn ends with its test."""

    outer: RegionFrame
    test: FuncGraph
    body: FuncGraph
    touched: Sequence[Stateful]
    count: int
    """How many values it carries, beside what is touched."""

    def body_block(self, operands: Sequence[SSAValue]) -> Block:
        """Return the block of one turn: what is carried, what is touched, and whether to go on."""
        block = Block(arg_types=[x.type for x in operands])
        inner = self.outer.inside(block)
        inner.turns = True
        end = self.count + len(self.touched)
        inner.state = dict(zip(self.touched, block.args[self.count : end], strict=True))
        first = len(self.test.captured)
        inner.shared.goes_on_as(operands[: end + 1], block.args)
        arguments = block.args[: self.count]
        fixed = inner.shared.settled(operands[end + 1 :], block.args[end + 1 :])
        made = [inner.value(x) for x in run_inside(self.body, inner, [*arguments, *fixed[first:]])]
        on = inner.goes_on(run_inside(self.test, inner, [*made, *fixed[:first]])[0])
        block.add_op(Yield.make(*made, *(inner.value(inner.state[v]) for v in self.touched), on))
        return block


@dataclass
class Growing:
    """A loop that is being made, whose values change their shapes from turn to turn."""

    outer: RegionFrame
    test: FuncGraph
    body: FuncGraph
    touched: Sequence[Stateful]
    count: int
    """How many values it carries, beside what is touched."""

    def of_test(self, fixed: Sequence[object]) -> Sequence[object]:
        """Return what the test takes of the values that stay."""
        return fixed[: len(self.test.captured)]

    def region(
        self, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]
    ) -> tuple[Block, GrowingSizes]:
        """Return a turn's block, and the shapes of what is carried: sizes that change are open.

        Values that count a size are that size in it, if that spares the run to look at them.
        """
        block, sizes = self.settled(carried, fixed, {})
        if not any(isinstance(op, ReadSizes) for op in block.walk()):
            return block, sizes
        for guessed in sizes.hypotheses(carried):
            counters = guessed
            while counters:
                other, others = self.settled(carried, fixed, counters)
                assert isinstance(other.last_op, Yield), "a turn ends in gv.yield"
                found = counting(counters, other.last_op.operands[1:])
                if found == counters:
                    block.erase(safe_erase=False)
                    return other, others
                other.erase(safe_erase=False)
                counters = found
        return block, sizes

    def settled(
        self, carried: Sequence[SSAValue], fixed: Sequence[SSAValue], counters: Counters
    ) -> tuple[Block, GrowingSizes]:
        """Return a turn's block, and the shapes that it takes and gives."""
        sizes, shared = GrowingSizes.of(carried), self.outer.shared
        calls, slow = len(shared.calls), {**shared.slow}
        for _ in range(ROUNDS):
            taken = sizes.named(shared.size)
            types = [*(s.type for s in (NUMBER, FLAG, *taken)), *(x.type for x in fixed)]
            block = Block(arg_types=types)
            shared.goes_on_as(carried, block.args[2:])
            made = self.turn(block, fixed, counters)
            found = [spec_of(x.type) for x in made[1:]]
            both = zip(carried, sizes.specs, found, strict=True)
            joined = [grown(a, b, begun=x in shared.begun) for x, a, b in both]
            if any(spec.shape is None for spec in joined):
                raise NotStageableError("a loop that changes how many axes there are")
            behind = sizes.behind(joined, found)
            if sizes.is_settled(behind):
                block.add_op(Yield.make(*made))
                return block, sizes
            block.erase(safe_erase=False)
            del shared.calls[calls:]
            shared.slow, sizes = {**slow}, behind
        raise NotStageableError("a loop that changes shapes in every turn anew")

    def turn(self, block: Block, given: Sequence[SSAValue], counters: Counters) -> list[SSAValue]:
        """Append one turn; return whether to go on, and what is carried on."""
        frame = self.outer.inside(block)
        frame.turns = True
        end = 2 + self.count + len(self.touched)
        arguments: list[SSAValue] = list(block.args[2:end])
        fixed = frame.shared.settled(given, block.args[end:])
        for number, ((other, axis), above) in counters.items():
            size = spec_of(block.args[2 + other].type).dims[axis] + above
            dtype = spec_of(arguments[number].type).dtype
            arguments[number] = frame.value(Maker(frame.append).extent_of(size, dtype))
        frame.state = dict(zip(self.touched, arguments[self.count :], strict=True))
        taken = [*arguments[: self.count], *fixed[len(self.test.captured) :]]
        made = [frame.value(x) for x in run_inside(self.body, frame, taken)]
        on = run_inside(self.test, frame, [*made, *self.of_test(fixed)])
        return [frame.goes_on(on[0]), *made, *(frame.value(frame.state[v]) for v in self.touched)]


@dataclass
class ChoiceOfGraphs:
    """A choice between graphs that is being made: operands are an index, inputs and variables."""

    outer: RegionFrame
    branches: Sequence[FuncGraph]
    touched: Sequence[Stateful]
    count: int
    """How many inputs there are, of all branches."""

    def blocks(self, operands: Sequence[SSAValue]) -> list[Block]:
        """Return a block for each branch; one with a host step that was never run is a way out."""
        made = [
            if_seen(self.outer.shared, partial(self.region, number, operands))
            for number in (range(len(self.branches)) if len(self.branches) > 1 else (0, 0))
        ]
        end = next((block.last_op for block in made if block is not None), None)
        if end is None:
            raise NotSeenError("no branch of a choice was run yet")
        taken = [spec_of(x.type) for x in operands]
        given = [spec_of(x.type) for x in end.operands[: len(end.operands) - len(self.touched)]]
        state = slice(1 + self.count, len(operands))
        return [way_out(self.outer.shared, taken, given, state) if b is None else b for b in made]

    def region(self, number: int, operands: Sequence[SSAValue]) -> Block:
        """Return a block that runs one branch."""
        branch = self.branches[number]
        block = Block(arg_types=[x.type for x in operands])
        inner = self.outer.inside(block)
        inner.state = dict(zip(self.touched, block.args[1 + self.count :], strict=True))
        first = 1 + sum(len(other.captured) for other in self.branches[:number])
        every = inner.shared.settled(operands, block.args)
        taken = every[first : first + len(branch.captured)]
        made = [inner.value(x) for x in run_inside(branch, inner, taken)]
        block.add_op(Yield.make(*made, *(inner.value(inner.state[v]) for v in self.touched)))
        return block

    def chain(
        self, block: Block, operands: Sequence[SSAValue], regions: Sequence[Block], number: int
    ) -> If | HostIf:
        """Append the choice between the branches from a number on; the last is for the rest."""
        emit = GraphEmit.at_end(block)
        first, *others = regions
        dtype = spec_of(operands[0].type).dtype
        wanted = emit(Constant, value=np.array(number, dtype.numpy))
        condition = emit(REGISTRY["gv.equal"], operands[0], wanted)
        other = others[0]
        if len(others) > 1:
            other = Block(arg_types=[x.type for x in operands])
            inner = self.chain(other, list(other.args), others, number + 1)
            other.add_op(Yield.make(*inner.results))
        op = chosen(self.outer.shared, condition, operands, [first, other])
        block.add_op(op)
        return op

    def unchanged(self, op: If | HostIf) -> list[bool]:
        """Say of each variable whether all branches leave it as it is."""
        count = len(op.results) - len(self.touched)
        return [
            all(
                op.yielded(n)[count + i] is region.block.args[1 + self.count + i]
                for n, region in enumerate(op.regions)
            )
            for i in range(len(self.touched))
        ]


def run_inside(graph: FuncGraph, frame: Frame, values: Sequence[object]) -> list[object]:
    """Run a graph in a frame."""
    return graph.whole_plan().run(frame, values)

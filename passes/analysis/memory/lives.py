"""When the buffers of a planned function live, through choices and loops.

Launches and the places where control flow parts or meets are numbered in the order of the text.
Step n reads at the point 2n and has written at 2n + 1. The life of a buffer is a list of spans of
points: one where the function is straight; more where a branch does not need it, or where a loop
writes it at the end of a trip for the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ....ir import operands_of, operations
from ....ir.ops.control.steps import Choose, Loop, Repeat, Steps
from ....ir.ops.structure import Buffer, Following, Launch, Tell, View
from ....ir.placement import roles
from ....ir.program import laid_over

Span = tuple[int, int]
"""The first point and the last."""


@dataclass
class Life:
    """A buffer's spans in order, and the launches that write and read it."""

    spans: list[Span] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    reads: dict[int, list[int]] = field(default_factory=dict)
    """Step to the positions of operands that read."""

    def covers(self, point: int) -> bool:
        """Say whether the buffer lives at a point."""
        index = bisect_right(self.spans, (point, 1 << 62)) - 1
        return index >= 0 and self.spans[index][1] >= point

    def take(self, other: Life) -> None:
        """Live when another one lives, too."""
        self.spans = joined([*self.spans, *other.spans])
        self.writes = sorted([*self.writes, *other.writes], key=lambda access: access.step)
        for step, positions in other.reads.items():
            self.reads.setdefault(step, []).extend(positions)


class Access(NamedTuple):
    """A write of a launch."""

    step: int
    launch: Launch
    result: int
    depth: int
    """How many loops are around it."""


class Lives:
    """The lives of the buffers of one function that are not its inputs or weights.

    An input over which an output may lie is that output.
    """

    def __init__(self, function: FuncOp) -> None:
        block = function.body.block
        named = list(zip(block.args, roles(function), strict=True))
        self.workspace = {value for value, role in named if role == "workspace"}
        self.outputs = [value for value, role in named if role == "output"]
        self.roots: dict[SSAValue, SSAValue | None] = dict.fromkeys(block.args)
        self.roots.update((value, value) for value in self.outputs)
        for output, argument in laid_over(function.arg_attrs).items():
            self.roots[block.args[argument]] = block.args[output]
        self.lives: dict[SSAValue, Life] = {}
        self.number: dict[Operation, int] = {}
        """The step of each launch; of each other operation the last of its steps."""
        self.steps: list[Launch] = []
        self._count = 0
        self._ends: dict[Block, tuple[int, int]] = {}
        """First and last step of each region."""
        self._tests: dict[Operation, int] = {}
        self._enumerate(block, 0)
        end = 2 * self._count + 1
        self._walk(block, dict.fromkeys(self.outputs, end), record=True)
        for life in self.lives.values():
            life.spans = joined(life.spans)

    def is_argument(self, value: SSAValue) -> bool:
        """Say whether a value is, through views, an argument over which an output may lie."""
        while isinstance(value.owner, View):
            value = value.owner.operands[0]
        return self.roots.get(value, value) is not value

    def root(self, value: SSAValue) -> SSAValue | None:
        """Return the buffer behind a value through views; None for inputs and weights."""
        if value in self.roots:
            return self.roots[value]
        owner = value.owner
        if isinstance(owner, View | Following):
            found = self.root(owner.operands[0])
        else:
            assert isinstance(owner, Buffer), f"{owner} is no place in memory"
            found = value if owner.operands[0] in self.workspace else None
        self.roots[value] = found
        return found

    # -- steps ----------------------------------------------------------------------------

    def _enumerate(self, block: Block, depth: int) -> None:
        """Give each step its number, and note who writes and reads what."""
        first = self._step()
        for op in operations(block):
            if isinstance(op, Launch):
                self._launch(op, depth)
            elif isinstance(op, Tell):
                self.number[op] = self._step()
                self._read(op.operands[0], self.number[op], 0)
            elif isinstance(op, Choose):
                self._tests[op] = self._step()
                self._read(op.operands[0], self._tests[op], 0)
                for inner in op.blocks:
                    self._enumerate(inner, depth)
                self.number[op] = self._step()
            elif isinstance(op, Loop):
                self._enumerate(op.blocks[0], depth + 1)
                self._tests[op] = self._step()
                self._read(op.operands[0], self._tests[op], 0)
                self._enumerate(op.blocks[1], depth + 1)
                self.number[op] = self._step()
            elif isinstance(op, Repeat):
                self._enumerate(op.blocks[0], depth + 1)
                self.number[op] = self._step()
        self._ends[block] = first, self._step()

    def _step(self) -> int:
        self._count += 1
        return self._count - 1

    def _launch(self, op: Launch, depth: int) -> None:
        step = self.number[op] = self._step()
        self.steps.append(op)
        inputs = op.inputs
        for position, operand in enumerate(operands_of(op)):
            root = self.root(operand)
            if root is None:
                continue
            if position < inputs:
                self._read(operand, step, position)
            else:
                life = self.lives.setdefault(root, Life())
                life.writes.append(Access(step, op, position - inputs, depth))

    def _read(self, value: SSAValue, step: int, position: int) -> None:
        root = self.root(value)
        if root is not None:
            self.lives.setdefault(root, Life()).reads.setdefault(step, []).append(position)

    # -- lives, backward ------------------------------------------------------------------

    def _walk(self, block: Block, live: dict[SSAValue, int], *, record: bool) -> set[SSAValue]:
        """Go backward through a block; `live` are the buffers needed behind it, to which point.

        Returns those that are needed before it.
        """
        first, _ = self._ends[block]
        for op in reversed(operations(block)):
            if isinstance(op, Launch):
                self._pass(op, live, record)
            elif isinstance(op, Tell):
                root = self.root(op.operands[0])
                if root is not None:
                    live.setdefault(root, 2 * self.number[op])
            elif isinstance(op, Steps):
                self._cut(live, 2 * self.number[op], record)
                before, point = self._inside(op, set(live), record)
                live = dict.fromkeys(before, point)
        self._cut(live, 2 * first, record)
        return set(live)

    def _pass(self, op: Launch, live: dict[SSAValue, int], record: bool) -> None:
        step, inputs = self.number[op], op.inputs
        roots = [self.root(operand) for operand in operands_of(op)]
        for root in roots[inputs:]:
            if root is not None:
                end = max(live.pop(root, 0), 2 * step + 1)
                if record:
                    self.lives[root].spans.append((2 * step, end))
        for root in roots[:inputs]:
            if root is not None:
                live.setdefault(root, 2 * step)

    def _cut(self, live: dict[SSAValue, int], point: int, record: bool) -> None:
        """End the spans that are open at a point."""
        if record:
            for root, end in live.items():
                self.lives.setdefault(root, Life()).spans.append((point, end))

    def _inside(self, op: Steps, after: set[SSAValue], record: bool) -> tuple[set[SSAValue], int]:
        """Go through a choice or a loop; return what is needed before it, and up to where."""
        if isinstance(op, Choose):
            return self._choice(op, after, record)
        if isinstance(op, Repeat):
            return self._repeat(op, after, record)
        return self._loop(op, after, record)

    def _repeat(self, op: Steps, after: set[SSAValue], record: bool) -> tuple[set[SSAValue], int]:
        """Go through all trips; there is at least one."""
        body = op.blocks[0]
        first, last = self._ends[body]
        again: set[SSAValue] = set()
        while True:  # what is needed before a trip is needed behind the one before
            found = self._walk(body, dict.fromkeys(after | again, 2 * last + 1), record=False)
            if found <= again:
                break
            again |= found
        if record:
            self._walk(body, dict.fromkeys(after | again, 2 * last + 1), record=True)
        return again, 2 * first - 1

    def _choice(self, op: Steps, after: set[SSAValue], record: bool) -> tuple[set[SSAValue], int]:
        before: set[SSAValue] = set()
        for block in reversed(op.blocks):
            end = 2 * self._ends[block][1] + 1
            before |= self._walk(block, dict.fromkeys(after, end), record=record)
        return self._tested(op, before, record)

    def _loop(self, op: Steps, after: set[SSAValue], record: bool) -> tuple[set[SSAValue], int]:
        again: set[SSAValue] = set()
        while True:  # what is needed before the test is needed behind the body
            found = self._trip(op, after, again, record=False)
            if found <= again:
                break
            again |= found
        if record:
            again = self._trip(op, after, again, record=True)
        return again, 2 * self._ends[op.blocks[0]][0] - 1

    def _trip(
        self, op: Steps, after: set[SSAValue], again: set[SSAValue], *, record: bool
    ) -> set[SSAValue]:
        test, body = op.blocks
        end = 2 * self._ends[body][1] + 1
        inside = self._walk(body, dict.fromkeys(again, end), record=record)
        tested, point = self._tested(op, after | inside, record)
        end = 2 * self._ends[test][1] + 1
        assert point == end, "a test stands before its loop parts"
        return self._walk(test, dict.fromkeys(tested, end), record=record)

    def _tested(self, op: Steps, live: set[SSAValue], record: bool) -> tuple[set[SSAValue], int]:
        """Read the flag, where control flow parts."""
        step = self._tests[op]
        root = self.root(op.operands[0])
        found = live if root is None else live | {root}
        self._cut(dict.fromkeys(live, 2 * step + 1), 2 * step, record)
        if root is not None and root not in live:
            self._cut({root: 2 * step}, 2 * step, record)
        return found, 2 * step - 1


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that meet as one."""
    made: list[Span] = []
    for low, high in sorted(spans):
        if made and low <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(made[-1][1], high)
        else:
            made.append((low, high))
    return made

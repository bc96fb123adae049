"""Move what is used again much later into the memory of the host meanwhile.

    gv.launch %x, %a {kernel = @k0}           gv.launch %x, %a {kernel = @k0}
    gv.launch %a, %b {kernel = @k1}           gv.launch %a, %b {kernel = @k1}
    ... many launches ...               =>    gv.launch %a, %there {kernel = @copy0}
    gv.launch %b, %a, %out {kernel = @k2}     ... many launches ...
                                              gv.launch %there, %again {kernel = @copy0}
                                              gv.launch %b, %again, %out {kernel = @k2}

`%there` lies in an argument of the role `host`, which a GPU reaches through its bus: what training
keeps for the way back takes no memory of the device in between, and the numbers stay the same.
Of what lives where most does, the largest goes first, until `limit` bytes are left or nothing that
is large enough is unused for long enough. It comes back `ahead` launches before it is used, so that
it can come while others run. (White paper, section 4.1.)

Needs `bufferise`, stands before `plan-memory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue, Use

from ..ir import SOURCE, Program, operations
from ..ir.ops.control.steps import Steps
from ..ir.ops.structure import Buffer, Launch, Tell, View
from ..ir.placement import HOST, ROLE, align, roles, space_type
from ..ir.program import NAME, ranges_of
from ..ir.types.tensor import spec_of
from .analysis.memory.copies import Copies
from .analysis.targets import target_of
from .base import Pass, PipelineError
from .bufferise import highest


@dataclass(frozen=True)
class Swap(Pass):
    """Move what is used again much later into the memory of the host meanwhile."""

    LEVEL = "planned"

    least: int = 1 << 20
    """Bytes of the smallest buffer that is moved."""
    distance: int = 16
    """So many launches must be between two uses."""
    ahead: int = 2
    """So many launches before its use it comes back."""
    limit: int = 0
    """Bytes that may live at one time: nothing more is moved then."""

    def apply(self, program: Program) -> None:
        """Move buffers of the entry."""
        target = target_of(program)
        if not target.can.swap:
            raise PipelineError(
                f"swap: the memory of a GPU goes to its host, found target {target}"
            )
        self.swap(program, program.main)

    def swap(self, program: Program, function: FuncOp) -> None:
        """Move the buffers of one function."""
        steps = StepUses(function)
        workspace = function.body.block.args[roles(function).index("workspace")]
        ranges, size = ranges_of(program.module), dict[Buffer, int]()
        lives = {}
        for op in operations(function.body.block):
            if isinstance(op, Buffer) and op.operands[0] is workspace:
                life = steps.life(op)
                if life is not None:
                    lives[op] = life
                    size[op] = align(highest(spec_of(op.results[0].type).nbytes, ranges))
        chosen = self.chosen(lives, size, len(steps.steps))
        if not chosen:
            return
        room, total = add_argument(function), sum(size[op] for op in chosen)
        copies, at = Copies(program.module), 0
        for op in chosen:
            there = Buffer.at(room, at, spec_of(op.results[0].type))
            move(op, lives[op], lives[op].returning(self.ahead).back, steps, there, copies)
            at += size[op]
        function.attributes[HOST] = IntegerAttr(total, i64)
        self.count("moved to the host", len(chosen))
        self.count("bytes on the host", total)

    def chosen(
        self, lives: Mapping[Buffer, Life], size: Mapping[Buffer, int], count: int
    ) -> list[Buffer]:
        """Return what is moved, in the order of the text."""
        live = np.zeros(count + 1, np.int64)
        for op, life in lives.items():
            live[life.first : life.last + 1] += size[op]
        able = {
            op: life.returning(self.ahead)
            for op, life in lives.items()
            if size[op] >= self.least and life.can_rest(self.distance)
        }
        moved = set[Buffer]()
        while able and live.max() > self.limit:
            peak = int(live.argmax())
            there = [op for op, life in able.items() if life.left < peak < life.back]
            if not there:
                break
            best = max(there, key=lambda op: size[op])
            rest = able.pop(best)
            live[rest.left + 1 : rest.back] -= size[best]
            moved.add(best)
        return [op for op in lives if op in moved]


@dataclass(frozen=True)
class Life:
    """When a buffer is used: its first and last step, and the widest gap between two."""

    first: int
    last: int
    written: int
    """The last step that writes it."""
    left: int
    """The step behind which it rests."""
    back: int
    """The step that uses it next."""

    def can_rest(self, distance: int) -> bool:
        """Say whether it rests for long, and is only read behind that."""
        return self.back - self.left > distance and self.written <= self.left

    def returning(self, ahead: int) -> Life:
        """Return it as it is when it comes back some steps before it is used."""
        return replace(self, back=max(self.left + 1, self.back - ahead))


class StepUses:
    """The steps of a function's block by their numbers, and which step an operation is part of."""

    def __init__(self, function: FuncOp) -> None:
        self.block = function.body.block
        self.steps = [op for op in operations(self.block) if isinstance(op, Launch | Steps | Tell)]
        self.number: dict[Operation, int] = {op: i for i, op in enumerate(self.steps)}

    def step(self, op: Operation) -> int:
        """Return the number of the step that an operation stands in."""
        while op.parent is not self.block:
            outer = op.parent_op()
            assert outer is not None, "it stands in the function"
            op = outer
        return self.number[op]

    def life(self, buffer: Buffer) -> Life | None:
        """Return when a buffer is used; None if it never is."""
        uses = [(self.step(use.operation), writes(use, self.block)) for use in self.uses(buffer)]
        if not uses:
            return None
        places = sorted({place for place, _ in uses})
        gaps = [(b - a, a, b) for a, b in pairwise(places)]
        _, left, back = max(gaps, default=(0, places[0], places[0]))
        written = max((place for place, written in uses if written), default=places[0])
        return Life(places[0], places[-1], written, left, back)

    def uses(self, op: Operation) -> Iterator[Use]:
        """Give the uses of a buffer in steps, also through views before them."""
        for use in op.results[0].uses:
            if isinstance(use.operation, View) and use.operation.parent is self.block:
                yield from self.uses(use.operation)
            else:
                yield use


def writes(use: Use, block: Block) -> bool:
    """Say whether a use writes: inside of a choice or loop any may."""
    op = use.operation
    if op.parent is not block or not isinstance(op, Launch):
        return not isinstance(op, Tell)
    return use.index >= op.inputs


def add_argument(function: FuncOp) -> SSAValue:
    """Give a function an argument for memory of the host."""
    block = function.body.block
    room = block.insert_arg(space_type(), len(block.args))
    room.name_hint = "host"
    function.function_type = FunctionType.from_lists([x.type for x in block.args], [])
    rows = function.arg_attrs
    assert rows is not None, "a planned function has roles"
    words = DictionaryAttr({NAME: StringAttr("host"), ROLE: StringAttr("host")})
    function.properties["arg_attrs"] = ArrayAttr([*rows.data, words])
    return room


def move(
    buffer: Buffer, life: Life, back: int, places: StepUses, there: Buffer, copies: Copies
) -> None:
    """Copy a buffer to the host behind its early uses, and back before the late ones."""
    block, steps = places.block, places.steps
    late = [use for use in places.uses(buffer) if places.step(use.operation) >= life.back]
    again = Buffer.at(buffer.operands[0], buffer.offset, spec_of(buffer.results[0].type))
    away = copies.launch(buffer.results[0], there.results[0])
    home = copies.launch(there.results[0], again.results[0])
    for copy in (away, home):
        if SOURCE in steps[life.left].attributes:
            copy.attributes[SOURCE] = steps[life.left].attributes[SOURCE]
    block.insert_ops_after([there, away], steps[life.left])
    block.insert_ops_before([again, home], steps[back])
    known: dict[SSAValue, SSAValue] = {buffer.results[0]: again.results[0]}
    for use in late:
        use.operation.operands[use.index] = moved(use.operation.operands[use.index], known, home)


def moved(value: SSAValue, known: dict[SSAValue, SSAValue], behind: Operation) -> SSAValue:
    """Return a view of a buffer as that of what came back."""
    if value not in known:
        view = value.owner
        assert isinstance(view, View), "a step uses a buffer, or views of it"
        source = moved(view.operands[0], known, behind)
        made = view.clone({view.operands[0]: source})
        assert behind.parent is not None, "it stands in the function"
        behind.parent.insert_op_after(made, behind)
        known[value] = made.results[0]
    return known[value]

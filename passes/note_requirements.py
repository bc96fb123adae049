"""Have runs take note of what they require of values, and go on.

    %r = gv.require %holds, %place, %value      %n = concat(1, %place, %value)
      {message = "m"}                      =>   %f = select(%holds, [0, 0, 0], %n)
    func.return %y                              func.return %y, %f

`%f` is the last result, which no caller sees: the number of the first requirement that did not
hold, the place of the element that is wrong, and what it is (`gravure/requirements.py`); what they
are stands in the attribute `gv.requirements` of the module. Choices and loops in which something is
required take the three numbers in and give them back. What follows a requirement that does not hold
is computed all the same: it must touch nothing outside of its buffers whatever its operands are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ..errors import CompileError
from ..ir import Op, Program, operations, replace
from ..ir.build import GraphEmit, erase
from ..ir.compose.maker import Maker
from ..ir.ops.control.control import If, While
from ..ir.ops.control.state import Require
from ..ir.ops.host.host_control import HostIf, HostLoop
from ..ir.program import finish, requirements_of, result_names, returned, set_requirements
from ..ir.types.dtypes import i64
from ..ir.types.tensor import TensorSpec
from ..requirements import NUMBERS, Requirement, Within, within_of
from .base import Pass

FAULT = "fault"
"""What the last result is called."""
FAULT_TYPE = TensorSpec(i64, (NUMBERS,)).type


@dataclass(frozen=True)
class NoteRequirements(Pass):
    """Have runs take note of what they require of values, and go on."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite the entry, if something is required in it."""
        self.count("requirements", note_requirements(program))


def note_requirements(program: Program) -> int:
    """Have a program take note of what it requires; return how many requirements there are."""
    main = program.main
    if not requires(main):
        return 0
    names, block, noting = result_names(main), main.body.block, Noting()
    fault = noting.block(block, well(Maker(GraphEmit.before(block.first_op))))
    values, last = [*returned(main)], block.last_op
    assert last is not None, "a function returns"
    erase(last)
    finish(main, [*values, fault], [*names, new_name(names)])
    set_requirements(program.module, noting.rows)
    return len(noting.rows)


def requires(op: Operation) -> bool:
    """Say whether something is required in an operation."""
    return any(isinstance(each, Require) for each in op.walk())


def within(program: Program) -> dict[int, Within]:
    """Return in which ranges the integers of arguments must be, by the arguments' places."""
    rows = [Requirement.of(row) for row in requirements_of(program.module)]
    if program.level == "graph":  # below it all are noted
        rows += [op.requirement for op in program.main.walk() if isinstance(op, Require)]
    return within_of(rows)


def well(make: Maker) -> SSAValue:
    """Return what a run says in which all is well."""
    return make.filled(0, i64, (NUMBERS,))  # type: ignore[no-any-return]


def new_name(names: Sequence[str]) -> str:
    """Return a name that no other result has."""
    every = (f"{FAULT}{n or ''}" for n in range(len(names) + 1))
    return next(name for name in every if name not in names)


@dataclass
class Noting:
    """The requirements of one program."""

    rows: list[Requirement] = field(default_factory=list)

    def block(self, block: Block, fault: SSAValue) -> SSAValue:
        """Take note of what a block requires; return what is known behind it."""
        for op in operations(block):
            if isinstance(op, Require):
                fault = self.note(op, fault)
            elif op.regions and requires(op):
                fault = self.inside(op, fault)
        return fault

    def note(self, op: Require, fault: SSAValue) -> SSAValue:
        """Take note of one requirement, if no other was found wrong before."""
        make = Maker(GraphEmit.before(op))
        holds, *found = op.operands
        self.rows.append(op.requirement)
        zero = make.number(0, i64)
        given = (make.number(len(self.rows), i64), *(found or (zero, zero)))
        here = make.concat(*(make.reshape(x, shape=(1,)) for x in given), axis=0)
        first = make.slice(fault, starts=(0,), stops=(1,), steps=(1,))
        wrong = make.not_equal(make.reshape(first, shape=()), zero)
        made: SSAValue = make.select(make.logical_or(holds, wrong), fault, here)
        replace(op, holds)
        return made

    def inside(self, op: Operation, fault: SSAValue) -> SSAValue:
        """Take note of what is required in the regions of an operation."""
        if type(op) not in THREADED:
            raise CompileError(f"something is required inside of {op.name}")
        assert isinstance(op, Op), "choices and loops are ours"
        return THREADED[type(op)](self, op, fault)

    def detached(self, op: Op, place: int, yielding: Sequence[int | None]) -> list[Block]:
        """Return the blocks of an operation: the numbers are one more argument, and are yielded.

        `yielding` says of each block in which place; None: it yields what it did.
        """
        blocks = [region.detach_block(0) for region in op.regions]
        for block, at in zip(blocks, yielding, strict=True):
            argument = block.insert_arg(FAULT_TYPE, place)
            made, last = self.block(block, argument), block.last_op
            assert last is not None, "a region yields"
            if at is not None:
                last.operands = [*last.operands[:at], made, *last.operands[at:]]
        return blocks

    def choice(self, op: If, fault: SSAValue) -> SSAValue:
        """Take note of what is required in a branch."""
        count = len(op.results)
        blocks = self.detached(op, len(op.operands) - 1, (count, count))
        made = If.make_from(op.operands[0], [*op.operands[1:], fault], *blocks)
        return put(op, made, count)

    def host_choice(self, op: HostIf, fault: SSAValue) -> SSAValue:
        """Take note of what is required in a branch whose results may differ in size."""
        count = len(op.results)
        blocks = self.detached(op, len(op.operands) - 1, (count, count))
        types = [*(result.type for result in op.results), fault.type]
        made = HostIf.make_from(op.operands[0], [*op.operands[1:], fault], blocks, types)
        return put(op, made, count)

    def loop(self, op: While, fault: SSAValue) -> SSAValue:
        """Take note of what is required in a trip."""
        count = op.carried
        test, body = self.detached(op, count, (None, count))
        carried, fixed = op.operands[:count], op.operands[count:]
        return put(op, While.make_from([*carried, fault], fixed, test, body), count)

    def host_loop(self, op: HostLoop, fault: SSAValue) -> SSAValue:
        """Take note of what is required in a trip of a loop whose states may change their size."""
        count = op.states
        (body,) = self.detached(op, count + 2, (count + 1,))
        control, given = op.operands[:2], op.operands[2:]
        types = [result.type for result in op.results]
        types.insert(count, fault.type)
        states = [*given[:count], fault]
        made = HostLoop.make_from(control, states, given[count:], body, types)
        return put(op, made, count)


THREADED: dict[type[Operation], Callable[..., SSAValue]] = {
    If: Noting.choice,
    HostIf: Noting.host_choice,
    While: Noting.loop,
    HostLoop: Noting.host_loop,
}
"""What takes the numbers through an operation with regions."""


def put(op: Op, made: Op, place: int) -> SSAValue:
    """Put an operation in place of one that has a result less; return that result."""
    made.attributes.update(op.attributes)
    GraphEmit.before(op).insert(made)
    results = [*made.results]
    fault = results.pop(place)
    replace(op, *results)
    return fault

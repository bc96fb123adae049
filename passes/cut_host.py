"""Cut a program at its host steps: what lies between them becomes functions to be compiled.

    %0 = gv.exp %x                       %0 = func.call @segment0(%x)
    %1 = gv.non_zero %0           =>     %1 = gv.non_zero %0
    %2 = gv.neg %1                       %2 = func.call @segment1(%1)

Host steps are the operations that say so (`ir/host.py`); regions of theirs are cut in the same
way, unless the step is marked as `whole`. Operations go into the first function that knows all
their operands and sizes. A function that is not told a size by the shape of an argument gets a
`gv.room` of that size. Constants and weights are copied into each function that uses them; reshapes
alone make no function. What is made of constants alone goes where it is used first.

What a host step needs that `GOES_ON` beside others is a function of its own, so that the rest can
run meanwhile: `beside` marks such steps. Needs nothing; a program without host steps stays as it
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ..ir import REGISTRY, Op, Program, spec_of
from ..ir.host import BESIDE, WHOLE, HostOp, defined, is_host, symbols_in, symbols_of
from ..ir.ops.selecting import Told
from ..ir.program import finish, functions, new_function
from ..ir.types import dims
from .analysis.walks import ready
from .base import Pass

PYTHON = "gv.python_step"


@dataclass(frozen=True)
class CutHost(Pass):
    """Cut a program at its host steps."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Cut the functions that have host steps."""
        for function in functions(program.module):
            if any(is_host(op) for op in function.body.block.ops):
                self.cut(function.body.block, program.module)

    def cut(self, block: Block, module: ModuleOp) -> None:
        """Cut one block, those inside of it first."""
        for op in block.ops:
            if is_host(op):
                self.count("steps")
                for region in op.regions if WHOLE not in op.attributes else ():
                    self.cut(region.block, module)
        stages, last = Stages(block), block.last_op
        assert last is not None, "a block ends in a terminator"
        for op in list(block.ops):
            block.detach_op(op)
        kept: list[Operation] = []
        for number in range(stages.count):
            ops = [op for op in stages.ops if stages.of[op] == number and op is not last]
            group = [op for op in ops if isinstance(op, Op) and not is_host(op)]
            hosts = [op for op in ops if is_host(op)]
            kept += (op for op in group if is_source(op))
            apart = [op for op in hosts if isinstance(op, HostOp) and op.GOES_ON]
            for first in sorted(apart, key=stages.ready):
                needed = needs(first, group)
                if all(op.WORKLESS for op in group if op not in needed):
                    break  # nothing is left to be done meanwhile
                kept += [*self.outlined([op for op in group if op in needed], module), first]
                group = [op for op in group if op not in needed or is_source(op)]
                hosts.remove(first)
                first.attributes[BESIDE] = UnitAttr()
            kept += self.outlined(group, module)
            kept += hosts
        block.add_ops([*kept, last])
        for op in kept:
            if is_source(op) and all(result.first_use is None for result in op.results):
                block.erase_op(op)

    def outlined(self, group: Sequence[Op], module: ModuleOp) -> list[Operation]:
        """Make operations a function, if they do something; return its call, and the rooms."""
        if all(op.WORKLESS for op in group):
            return [op for op in group if not is_source(op)]
        segment = Segment(f"segment{self.counts.get('segments', 0)}", group)
        self.count("segments")
        module.body.block.add_op(segment.function)
        return [*segment.rooms, segment.call]


def needs(op: Operation, group: Sequence[Op]) -> set[Operation]:
    """Return the operations of a group that another one needs."""
    found: set[Operation] = {op}
    for each in reversed(group):
        if any(use.operation in found for result in each.results for use in result.uses):
            found.add(each)
    return found - {op}


class Stages:
    """For each operation of a block after how many host steps it can be carried out."""

    def __init__(self, block: Block) -> None:
        self.ops = list(block.ops)
        self.of: dict[Operation, int] = {}
        known: dict[SSAValue, int] = {}
        calls = 0
        """The stage of the last operation that calls Python: the next one comes behind it."""
        sizes = {name: 0 for argument in block.args for name in symbols_in(argument.type)}
        for op in self.ops:
            own = defined(op) - sizes.keys()
            used = [known.get(operand, 0) for operand in op.operands]
            used += [sizes.get(name, 0) for name in symbols_of(op) if name not in own]
            stage = max(used, default=0)
            if calls_python(op):
                stage = calls = max(stage, calls)
            self.of[op] = stage
            after = stage + is_host(op)
            known.update(dict.fromkeys(op.results, after))
            sizes.update(dict.fromkeys(own, after))
        self.delay(self.fixed())
        self.count = max(self.of.values(), default=0) + 1
        self.places = {op: place for place, op in enumerate(self.ops)}

    def fixed(self) -> list[Operation]:
        """Return the operations that give the same in every run: of constants alone."""
        found: dict[Operation, None] = {}
        for op in self.ops:
            is_pure = isinstance(op, Op) and op.PURE and not is_host(op)
            if is_pure and all(operand.owner in found for operand in op.operands):
                found[op] = None
        return [*found]

    def delay(self, ops: Sequence[Operation]) -> None:
        """Carry operations out where their results are used first.

        What is written over them is no argument there, of which there would be a copy.
        """
        for op in reversed(ops):
            users = [use.operation for result in op.results for use in result.uses]
            if users and all(user in self.of for user in users):
                self.of[op] = max(self.of[op], min(self.of[user] for user in users))

    def ready(self, op: Operation) -> int:
        """Return behind which place all operands of an operation are there."""
        return ready(op, self.places)


def calls_python(op: Operation) -> bool:
    """Say whether an operation, or one inside of it, calls Python: such ones keep their order."""
    return any(inner.name == PYTHON for inner in op.walk())


class Segment:
    """Operations that become one function, and what calls it."""

    def __init__(self, name: str, group: Sequence[Op]) -> None:
        self.name, self.ops = name, [op for op in group if not is_source(op)]
        self.own = set(self.ops)
        made = {result for op in self.ops for result in op.results}
        operands = dict.fromkeys(v for op in self.ops for v in op.operands if v not in made)
        self.copied = [value for value in operands if is_free(value)]
        self.inputs = [value for value in operands if not is_free(value)]
        self.outputs = [
            result
            for op in self.ops
            for result in op.results
            if any(use.operation not in self.own for use in result.uses)
        ]
        self.rooms = [REGISTRY["gv.room"].make(size=dims.symbol(n)) for n in self.untold()]
        given = [*self.inputs, *(room.results[0] for room in self.rooms)]
        self.call = CallOp(name, given, [value.type for value in self.outputs])
        self.function = self.outline(given)

    def untold(self) -> list[str]:
        """Return the symbols that no input has as a dimension of its own."""
        owners = (value.owner for value in self.copied)
        ops = (*(op for op in owners if isinstance(op, Operation)), *self.ops)
        used = dict.fromkeys(name for op in ops for name in symbols_of(op))
        told = {str(dim) for value in self.inputs for dim in spec_of(value.type).dims}
        told |= {name for op in self.ops for name in found_inside(op)}
        return [name for name in used if name not in told]

    def outline(self, given: Sequence[SSAValue]) -> FuncOp:
        """Return the function; what came of the operations comes of the call."""
        names = distinct([value.name_hint or f"x{at}" for at, value in enumerate(given)])
        specs = [spec_of(value.type) for value in given]
        function = new_function(self.name, list(zip(names, specs, strict=True)), private=True)
        block = function.body.block
        inner: dict[SSAValue, SSAValue] = dict(zip(given, block.args, strict=False))
        for value in self.copied:
            assert isinstance(value.owner, Operation), "a constant is an operation"
            copy = value.owner.clone()
            block.add_op(copy)
            inner[value] = copy.results[value.owner.results.index(value)]
        for op in self.ops:
            op.operands = [inner.get(operand, operand) for operand in op.operands]
            block.add_op(op)
        for old, new in zip(self.outputs, self.call.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_uses_with_if(new, lambda use: use.operation not in self.own)
        finish(function, self.outputs, distinct([v.name_hint or "y" for v in self.outputs]))
        return function


def found_inside(op: Operation) -> set[str]:
    """Return the symbols that compiled code gives their values in an operation, or inside of it."""
    every = [each for each in op.walk() if isinstance(each, Told)]
    return {str(size) for each in every for size in each.plain_attributes()["sizes"]}


def is_free(value: SSAValue) -> bool:
    """Say whether a value is copied instead of passed on."""
    return is_source(value.owner)


def is_source(op: object) -> bool:
    """Say whether an operation is a value that is there: it is copied into what uses it."""
    return isinstance(op, Op) and op.WORKLESS and not op.operands


def distinct(names: Sequence[str]) -> list[str]:
    """Return names that differ, for names that may not.

    >>> distinct(["y", "y", "y_2", "y"])
    ['y', 'y_2', 'y_2_2', 'y_3']
    """
    found: dict[str, None] = {}
    counts: dict[str, int] = {}
    for name in names:
        candidate = name
        while candidate in found:
            counts[name] = counts.get(name, 1) + 1
            candidate = f"{name}_{counts[name]}"
        found[candidate] = None
    return [*found]

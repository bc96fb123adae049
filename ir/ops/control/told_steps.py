"""Host steps on the way back: they may have effects, so they tell what they gave and run once.

    %y = gv.if %p, %x ({            %y, %t = gv.if %p, %x ({        what is run
      %t = gv.python_step %a          %t = gv.python_step %a
      ... yield %b                    ... yield %b, %t
    }, {... yield %c})              }, {... yield %c, zeros})

The gradient computes a branch again from `%t`: there a step stands that takes its results too, and
is not run (`is_told`). A loop keeps what the steps of each trip told in sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from ...build import GraphEmit
from ...compose.maker import Maker
from ...types.tensor import spec_of
from ...types.values import is_compilable
from ..host.python_step import PythonStep
from ..structure import Yield
from .control import If

TOLD = "told"


class UnknownSizesError(ValueError):
    """What has no gradient in compiled code: sizes that are not known, steps too deep inside."""


def is_told(op: Operation) -> bool:
    """Say whether an operation is a step that has its results as its last operands."""
    return TOLD in op.attributes


def has_steps(blocks: Iterable[Block]) -> bool:
    """Say whether there are steps that are not to run twice, inside of choices and loops too."""
    inner = (op for block in blocks for op in block.walk())
    return any(isinstance(op, PythonStep) and has_effects(op) for op in inner)


@dataclass
class ToldBlock:
    """A block as it is run, and as it is computed again from what its steps told."""

    run: Block
    again: Block
    """It has one more argument for each value that was told."""
    values: dict[SSAValue, SSAValue]
    """What stands in `run` for the values of the block."""
    repeated: dict[SSAValue, SSAValue]
    """What stands in `again` for them."""
    told: list[SSAValue] = field(default_factory=list)
    """What steps told, in `run`."""

    def tell(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Take note of what was told; return the arguments that stand for it."""
        self.told += values
        return [self.again.insert_arg(x.type, len(self.again.args)) for x in values]

    def step(self, op: PythonStep) -> None:
        """Take over a step."""
        given = [self.repeated[x] for x in op.operands]
        if is_told(op):
            for result, value in zip(op.results, told_results(op), strict=True):
                self.values[result] = self.values[value]
        else:
            run = op.clone(self.values)
            self.run.add_op(run)
            self.values.update(zip(op.results, run.results, strict=True))
            given += self.tell(run.results)
        if op.results:
            again = op.clone(self.repeated)
            again.operands = given
            again.attributes[TOLD] = UnitAttr()
            self.again.add_op(again)
            self.repeated.update(zip(op.results, again.results, strict=True))

    def choice(self, op: If) -> None:
        """Take over a choice that has steps."""
        run, again, count = split_choice(op, self.values, self.repeated)
        self.run.add_op(run)
        self.values.update(zip(op.results, run.results[:count], strict=True))
        again.operands = [*again.operands, *self.tell(run.results[count:])]
        self.again.add_op(again)
        self.repeated.update(zip(op.results, again.results, strict=True))

    def other(self, op: Operation) -> None:
        """Take over an operation that is computed twice."""
        for block, values in ((self.run, self.values), (self.again, self.repeated)):
            made = op.clone(values)
            block.add_op(made)
            values.update(zip(op.results, made.results, strict=True))
        for step in steps_inside(made):
            place = step.parent
            assert place is not None, "a step inside of something stands in a block"
            place.erase_op(step)


def steps_inside(op: Operation) -> list[PythonStep]:
    """Return the steps in the regions of a choice or a loop that are not to run twice."""
    inner = [each for region in op.regions for block in region.blocks for each in block.walk()]
    return [each for each in inner if isinstance(each, PythonStep) and has_effects(each)]


def told_results(op: PythonStep) -> Sequence[SSAValue]:
    """Return the operands of a step that was told which are its results."""
    return op.operands[len(op.operands) - len(op.results) :]


def split(block: Block, *, every: bool = False) -> ToldBlock:
    """Return a block as it is run, without its end, and as it is computed again.

    With `every`, steps without effects are not run twice either.
    """
    run, again = (Block(arg_types=[x.type for x in block.args]) for _ in range(2))
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, run.args, strict=True))
    repeated: dict[SSAValue, SSAValue] = dict(zip(block.args, again.args, strict=True))
    made = ToldBlock(run, again, values, repeated)
    for op in block.ops:
        if isinstance(op, Yield):
            again.add_op(op.clone(made.repeated))
        elif isinstance(op, PythonStep) and (every or has_effects(op)):
            made.step(op)
        elif isinstance(op, If) and has_steps(op.blocks()):
            made.choice(op)
        elif any(step.results for step in steps_inside(op)):
            raise UnknownSizesError("the gradient of a Python step in a loop in a choice or a loop")
        else:
            made.other(op)
    return made


def has_effects(op: PythonStep) -> bool:
    """Say whether a step is not to run twice."""
    return is_told(op) or op.call.has_effects


def split_choice(
    op: If, values: dict[SSAValue, SSAValue], repeated: dict[SSAValue, SSAValue]
) -> tuple[If, If, int]:
    """Return a choice as it is run, as it is computed again but for what was told, and a count.

    The choice that is run tells behind so many results what the steps of both branches gave, zeros
    for those of the branch that was not taken.
    """
    parts = [split(block) for block in op.blocks()]
    if not all(is_static(x) for part in parts for x in part.told):
        raise UnknownSizesError("the gradient of a Python step in a choice, of sizes not known")
    types = [[x.type for x in part.told] for part in parts]
    for n, (part, block) in enumerate(zip(parts, op.blocks(), strict=True)):
        make, own = Maker(GraphEmit.at_end(part.run)), iter(part.told)
        told = [
            next(own) if m == n else make.filled(0, spec_of(t).dtype, spec_of(t).dims)
            for m, row in enumerate(types)
            for t in row
        ]
        part.run.add_op(Yield.make(*yielded(block, part.values), *told))
    first, second = parts
    for type_ in types[1]:
        first.again.insert_arg(type_, len(first.again.args))
    for place, type_ in enumerate(types[0], len(op.operands) - 1):
        second.again.insert_arg(type_, place)
    condition, *others = op.operands
    run = If.make_from(values[condition], [values[x] for x in others], first.run, second.run)
    again = If.make_from(
        repeated[condition], [repeated[x] for x in others], first.again, second.again
    )
    for each in (run, again):
        each.attributes.update(op.attributes)
    return run, again, len(op.results)


def yielded(block: Block, values: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    """Return what stands for what a block yields."""
    last = block.last_op
    assert isinstance(last, Yield), "a region ends in gv.yield"
    return [values[x] for x in last.operands]


def is_static(x: SSAValue) -> bool:
    """Say whether compiled code can make zeros of the type of a value."""
    return is_compilable(x.type) and spec_of(x.type).is_static

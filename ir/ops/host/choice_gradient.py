"""Going backward through a choice that the host carries out: its branches give other sizes.

The gradient is such a choice as well: each region computes its branch again and goes back through
it. What comes from behind has the sizes of the results, which are those of the branch that was
taken, under other names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, SSAValue

from ...build import GraphEmit
from ...gradient.tape import Tape
from ...op import Call, Op
from ...types.tensor import TensorSpec, spec_of
from ..control.backward import GOES_BACK, Appends, Kept, as_value, or_zeros, replay
from ..control.told_steps import UnknownSizesError, has_steps
from ..structure import Yield
from .growing_gradient import called
from .host_control import HostIf


def append(tape: Tape, op: HostIf, at: Appends) -> Sequence[SSAValue]:
    """Append a choice so that a tape goes back through it; return its results."""
    blocks = [region.block for region in op.regions]
    if has_steps(blocks):
        raise UnknownSizesError("the gradient of a Python step in a choice, of sizes not known")
    operands, results = tuple(op.operands), tuple(at.insert(op))
    specs, made = ([spec_of(x.type) for x in each] for each in (operands, results))
    attributes = {"kept": Kept(blocks, at)}
    tape.remember(Call(HostChoiceGradient, operands, results, attributes, specs, at, made))
    return results


GOES_BACK[HostIf.name] = append


class HostChoiceGradient(Op):
    """What a tape asks for the gradient of such a choice."""

    name = "gv.host_if_gradient"

    @classmethod
    def infer(cls, *xs: TensorSpec, kept: Any) -> Sequence[TensorSpec]:
        """Refuse: it stands on tapes only."""
        raise TypeError(f"{cls.name} stands on tapes only")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Choose between the gradients of both branches."""
        kept: Kept = call.attributes["kept"]
        condition, *operands = call.operands
        given = {n: as_value(g, kept.at) for n, g in enumerate(grads) if g is not None}
        wanted = [n for n, x in enumerate(operands) if spec_of(x.type).dtype.is_float]
        taken = [*operands, *given.values()]
        ways = [BranchBack(branch, taken, [*given], wanted) for branch in kept.blocks]
        used = [
            place
            for place in range(len(wanted))
            if any(way.found[place] is not None for way in ways)
        ]
        result: list[Any] = [None] * len(call.operands)
        if not used:
            return result
        types = [operands[wanted[place]].type for place in used]
        for way in ways:
            way.end([(way.found[place], operands[wanted[place]]) for place in used])
        op = HostIf.make_from(condition, taken, [way.block for way in ways], types)
        for place, grad in zip(used, kept.at.insert(op), strict=True):
            result[1 + wanted[place]] = grad
        return result


class BranchBack:
    """The way back through one branch, with the gradients of some of its arguments."""

    def __init__(
        self, branch: Block, taken: Sequence[SSAValue], given: Sequence[int], wanted: Sequence[int]
    ) -> None:
        """Make it: `given` are the results that have gradients, the last values that are taken."""
        self.block = Block(arg_types=[x.type for x in taken])
        self.emit = GraphEmit.at_end(self.block)
        tape, count = Tape(self.emit), len(taken) - len(given)
        arguments, passed = self.block.args[:count], self.block.args[count:]
        values = replay(tape, branch, arguments, self.emit)
        ends = [values[n] for n in given]
        own = [
            called(g, spec_of(x.type).dims, self.emit) for g, x in zip(passed, ends, strict=True)
        ]
        self.found = tape.backward(ends, own, [arguments[n] for n in wanted])

    def end(self, pairs: Sequence[tuple[Any, SSAValue]]) -> None:
        """Give gradients: zeros where there is none."""
        self.block.add_op(Yield.make(*(or_zeros(x, like, self.emit) for x, like in pairs)))

"""Going backward through choices.

The gradient of a choice is a choice: each region computes its branch again and goes back through
it. What comes from behind has the sizes of the results, which where the host chooses are those of
the branch that was taken, under other names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Block, SSAValue

from ...build import GraphEmit
from ...gradient.tape import Tape
from ...op import Call
from ...types.dims import Dim
from ...types.tensor import spec_of
from ..host.host_control import HostIf
from ..host.late import ReshapeTo
from ..structure import Yield
from .backward import (
    GOES_BACK,
    Appends,
    OnTapes,
    as_value,
    detached,
    or_zeros,
    remember_as,
    replay,
)
from .control import If
from .told_steps import UnknownSizesError, has_steps, split_choice


@dataclass(frozen=True)
class KeptChoice:
    """A choice that was appended, and what its gradient needs of it."""

    blocks: Sequence[Block]
    """What it does, with nothing kept."""
    at: Appends
    """Where the gradient goes."""
    by_host: bool
    """Whether the host chooses, since the branches give other sizes."""

    def choose(
        self,
        condition: SSAValue,
        taken: Sequence[SSAValue],
        blocks: Sequence[Block],
        types: Sequence[Attribute],
    ) -> Sequence[SSAValue]:
        """Append a choice of the same kind; return its results."""
        if self.by_host:
            return self.at.insert(HostIf.make_from(condition, taken, blocks, types))
        return self.at.insert(If.make_from(condition, taken, *blocks))


def append(tape: Tape, op: If, at: Appends) -> Sequence[SSAValue]:
    """Append a choice so that a tape goes back through it; return its results."""
    operands, blocks, results = telling(op, at)
    kept = KeptChoice(blocks, at, by_host=False)
    remember_as(tape, ChoiceGradient, operands, results, {"kept": kept}, at)
    return results


def append_hosted(tape: Tape, op: HostIf, at: Appends) -> Sequence[SSAValue]:
    """Append a choice of the host so that a tape goes back through it; return its results."""
    blocks = [region.block for region in op.regions]
    if has_steps(blocks):
        raise UnknownSizesError("the gradient of a Python step in a choice, of sizes not known")
    operands, results = tuple(op.operands), at.insert(op)
    kept = KeptChoice(blocks, at, by_host=True)
    remember_as(tape, ChoiceGradient, operands, results, {"kept": kept}, at)
    return results


GOES_BACK[If.name] = append
GOES_BACK[HostIf.name] = append_hosted


def telling(op: If, at: Appends) -> tuple[list[SSAValue], Sequence[Block], list[SSAValue]]:
    """Append a choice that tells what its steps gave; return what its gradient takes, results."""
    operands = list(op.operands)
    if not has_steps(op.blocks()):
        return operands, op.blocks(), list(at.insert(op))
    same = {x: x for x in operands}
    run, again, count = split_choice(op, same, same)
    results = list(at.insert(run))
    blocks = [detached(region) for region in again.regions]
    for each in (op, again):
        each.operands = []  # what is not appended uses nothing
    return [*operands, *results[count:]], blocks, results[:count]


class ChoiceGradient(OnTapes):
    """What a tape asks for the gradient of a choice."""

    name = "gv.if_gradient"

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Choose between the gradients of both branches."""
        kept: KeptChoice = call.attributes["kept"]
        condition, *operands = call.operands
        given = {n: as_value(g, kept.at) for n, g in enumerate(grads) if g is not None}
        wanted = [n for n, x in enumerate(operands) if spec_of(x.type).dtype.kind in "fc"]
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
        found = kept.choose(condition, taken, [way.block for way in ways], types)
        for place, grad in zip(used, found, strict=True):
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


def called(x: SSAValue, dims: Sequence[Dim], at: Appends) -> SSAValue:
    """Return a value whose sizes are known under other names."""
    if spec_of(x.type).dims == tuple(dims):
        return x
    same = as_value(np.zeros(len(dims), np.int64), at)  # 0 keeps a size
    made: SSAValue = at(ReshapeTo, x, same, sizes=tuple(dims))
    return made

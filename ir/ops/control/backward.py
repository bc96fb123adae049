"""Going backward through control flow: what each kind of it needs.

A tape goes back through single operations. What carries regions out registers in `GOES_BACK` what
appends it so that a tape goes back through it: choices in `choice_back`, loops in `loop_back`,
those that the host carries out in `host/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from ...compose.maker import Maker
from ...gradient.tape import Tape
from ...op import Call, Op
from ...types.tensor import TensorSpec, spec_of
from ..structure import Constant, Yield
from .told_steps import is_told


class Appends(Protocol):
    """What carries operations out by appending them, those of other programs brought in."""

    def __call__(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Append an operation; return its result, or the tuple of several."""

    def insert(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation that is made already; return its results."""


GOES_BACK: dict[str, Callable[[Tape, Any, Appends], Sequence[SSAValue]]] = {}
"""What appends control flow so that a tape goes back through it, by its name."""


def append(tape: Tape, op: Operation, at: Appends) -> Sequence[SSAValue]:
    """Append control flow so that a tape goes back through it; return its results."""
    assert op.name in GOES_BACK, f"{op.name} has no way back"
    return GOES_BACK[op.name](tape, op, at)


def detached(region: Region) -> Block:
    """Return the block of a region, taken out of it."""
    return region.detach_block(region.block)


def is_read(value: SSAValue) -> bool:
    """Say whether something is computed from a value, and it is not only passed on."""
    return any(not isinstance(use.operation, Yield) for use in value.uses)


def replay(
    tape: Tape, block: Block, arguments: Sequence[SSAValue], at: Appends
) -> Sequence[SSAValue]:
    """Carry a block out on a tape, with other arguments; return what it yields."""
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        operands = [values[x] for x in op.operands]
        if isinstance(op, Yield):
            return operands
        made: Sequence[SSAValue]
        if is_told(op):
            made = operands[len(operands) - len(op.results) :]
            remember(tape, op, operands[: len(operands) - len(made)], made, at)
        elif op.name in GOES_BACK:
            made = append(tape, op.clone(values), at)
        else:
            assert isinstance(op, Op), f"{op.name} in a region"
            result = tape.emit(type(op), *operands, **op.plain_attributes())
            made = result if isinstance(result, tuple) else (result,)
        values.update(zip(op.results, made, strict=True))
    raise AssertionError("a region ends in gv.yield")


def remember(
    tape: Tape,
    op: Operation,
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
    at: Appends,
) -> None:
    """Let a tape go back through an operation whose results are there already."""
    assert isinstance(op, Op), f"{op.name} in a region"
    remember_as(tape, type(op), operands, results, op.plain_attributes(), at)


def remember_as(
    tape: Tape,
    rule: type[Op],
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
    attributes: dict[str, Any],
    at: Appends,
) -> None:
    """Let a tape go back from results to operands by the gradient of an operation."""
    specs, made = ([spec_of(x.type) for x in each] for each in (operands, results))
    tape.remember(Call(rule, tuple(operands), tuple(results), attributes, specs, at, made))


class OnTapes(Op):
    """The rule by which a tape goes back through control flow: no program holds it."""

    @classmethod
    def infer(cls, *xs: TensorSpec, kept: Any) -> Sequence[TensorSpec]:
        """Refuse: it stands on tapes only."""
        raise TypeError(f"{cls.name} stands on tapes only")


def as_value(x: Any, at: Appends) -> SSAValue:
    """Return a value of the program; an array becomes a constant."""
    if isinstance(x, SSAValue):
        return x
    made: SSAValue = at(Constant, value=np.asarray(x))
    return made


def or_zeros(x: Any, like: SSAValue, at: Appends) -> SSAValue:
    """Return a value, zeros like another one where there is none."""
    if x is not None:
        return as_value(x, at)
    spec = spec_of(like.type)
    made: SSAValue = Maker(at).filled(0, spec.dtype, spec.dims)
    return made

"""Going backward through choices and loops.

The gradient of a choice is a choice: each region computes its branch again and goes back through
it. A loop that will be gone back through keeps what it carries at the start of each trip on stacks;
its gradient is a loop from the last trip to the first, which computes each trip again from there.
Stacks need a bound of the number of trips: `trip_bound` finds that of a counter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Block, Operation, Region, SSAValue

from .backward import Tape
from .build import GraphEmit
from .compositions import Maker
from .dtypes import i64
from .op import Call, Op
from .ops.control import If, While
from .ops.structure import Constant, Yield
from .tensor import TensorSpec, spec_of


class UnboundedError(ValueError):
    """Nothing says how often a loop whose gradient is taken may go round."""


class Appends(Protocol):
    """What carries operations out by appending them, those of other programs brought in."""

    def __call__(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Append an operation; return its result, or the tuple of several."""

    def insert(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation that is made already; return its results."""


@dataclass(frozen=True)
class Kept:
    """A choice or a loop that was appended, and what its gradient needs of it."""

    blocks: Sequence[Block]
    """What it does, with nothing kept."""
    at: Appends
    """Where the gradient goes."""
    carried: int = 0
    """How many values a loop carries."""
    trips: SSAValue | None = None
    stacks: tuple[tuple[int, SSAValue], ...] = ()
    """The number of a carried value, and its value at the start of each trip."""


def append(tape: Tape, op: If | While, at: Appends) -> Sequence[SSAValue]:
    """Append a choice or a loop so that a tape goes back through it; return its results."""
    operands = tuple(op.operands)
    results: list[SSAValue]
    if isinstance(op, If):
        kept, results = Kept(op.blocks(), at), list(at.insert(op))
    else:
        kept, results = saving(op, at)
    rule = ChoiceGradient if isinstance(op, If) else LoopGradient
    specs = [spec_of(x.type) for x in operands]
    made = tuple(spec_of(x.type) for x in results)
    tape.remember(Call(rule, operands, tuple(results), {"kept": kept}, specs, at, made))
    return results


class ChoiceGradient(Op):
    """What a tape asks for the gradient of a choice."""

    name = "gv.if_gradient"

    @classmethod
    def infer(cls, *xs: TensorSpec, kept: Any) -> Sequence[TensorSpec]:
        """Refuse: it stands on tapes only."""
        raise TypeError(f"{cls.name} stands on tapes only")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Choose between the gradients of both branches."""
        kept: Kept = call.attributes["kept"]
        condition, *operands = call.operands
        given = [(n, as_value(g, kept.at)) for n, g in enumerate(grads) if g is not None]
        wanted = [n for n, x in enumerate(operands) if spec_of(x.type).dtype.is_float]
        blocks, found = [], []
        for branch in kept.blocks:
            block = Block(arg_types=[x.type for x in (*operands, *(g for _, g in given))])
            emit = GraphEmit.at_end(block)
            tape = Tape.on(emit)
            arguments, passed = block.args[: len(operands)], block.args[len(operands) :]
            values = replay(tape, branch, arguments, emit)
            sources = [arguments[n] for n in wanted]
            blocks.append(block)
            found.append(tape.backward([values[n] for n, _ in given], passed, sources))
        used = [n for n, pair in enumerate(zip(*found, strict=True)) if any(
            g is not None for g in pair)]  # fmt: skip
        result: list[Any] = [None] * len(call.operands)
        if not used:
            return result
        for block, row in zip(blocks, found, strict=True):
            emit = GraphEmit.at_end(block)
            block.add_op(Yield.make(*(or_zeros(row[n], operands[wanted[n]], emit) for n in used)))
        op = If.make_from(condition, [*operands, *(g for _, g in given)], *blocks)
        for n, grad in zip(used, kept.at.insert(op), strict=True):
            result[1 + wanted[n]] = grad
        return result


class LoopGradient(Op):
    """What a tape asks for the gradient of a loop."""

    name = "gv.while_gradient"

    @classmethod
    def infer(cls, *xs: TensorSpec, kept: Any) -> Sequence[TensorSpec]:
        """Refuse: it stands on tapes only."""
        raise TypeError(f"{cls.name} stands on tapes only")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go from the last trip to the first."""
        kept: Kept = call.attributes["kept"]
        assert kept.trips is not None, "a loop counts its trips"
        count, at = kept.carried, kept.at
        carried, fixed = call.operands[:count], call.operands[count:]
        smooth = [n for n, x in enumerate(carried) if spec_of(x.type).dtype.is_float]
        kind = [n for n, x in enumerate(fixed) if spec_of(x.type).dtype.is_float]
        first = [or_zeros(grads[n], carried[n], at) for n in smooth]
        totals = [or_zeros(None, fixed[n], at) for n in kind]
        make = Maker(at)
        moving = [make.sub(kept.trips, make.number(1, i64)), *first, *totals]
        constant = [*(stack for _, stack in kept.stacks), *fixed]
        types = [x.type for x in (*moving, *constant)]
        test, body = Block(arg_types=types), Block(arg_types=types)
        inside = Maker(GraphEmit.at_end(test))
        test.add_op(Yield.make(inside.greater_equal(test.args[0], inside.number(0, i64))))
        one_trip_back(kept, body, smooth, kind)
        op = While.make_from(moving, constant, test, body)
        result: list[Any] = [None] * len(call.operands)
        places = [*smooth, *(count + n for n in kind)]
        for place, grad in zip(places, at.insert(op)[1:], strict=True):
            result[place] = grad
        return result


def one_trip_back(kept: Kept, block: Block, smooth: Sequence[int], kind: Sequence[int]) -> None:
    """Fill the body of a gradient's loop.

    Its arguments are the number of the trip, the gradients of carried values, those of fixed ones,
    the stacks, the fixed values.
    """
    emit = GraphEmit.at_end(block)
    make = Maker(emit)
    trip, *rest = block.args
    grads, rest = rest[: len(smooth)], rest[len(smooth) :]
    totals, rest = rest[: len(kind)], rest[len(kind) :]
    stacks, fixed = rest[: len(kept.stacks)], rest[len(kept.stacks) :]
    _, body = kept.blocks
    saved = {n: make.gather(stack, trip, axis=0)
             for (n, _), stack in zip(kept.stacks, stacks, strict=True)}  # fmt: skip
    values = [saved[n] if n in saved else or_zeros(None, body.args[n], emit)
              for n in range(kept.carried)]  # fmt: skip
    tape = Tape.on(emit)
    made = replay(tape, body, [*values, *fixed], emit)
    sources = [*(values[n] for n in smooth), *(fixed[n] for n in kind)]
    found = tape.backward([made[n] for n in smooth], grads, sources)
    now = [or_zeros(g, values[n], emit) for n, g in zip(smooth, found, strict=False)]
    more = [
        total if g is None else make.add(total, g)
        for total, g in zip(totals, found[len(smooth) :], strict=True)
    ]
    block.add_op(Yield.make(make.sub(trip, make.number(1, i64)), *now, *more))


def saving(op: While, at: Appends) -> tuple[Kept, list[SSAValue]]:
    """Append a loop that counts its trips and keeps what it carries; return also its results."""
    limit, count = trip_bound(op), op.carried
    if limit is None:
        raise UnboundedError("the gradient of a loop that may go round any number of times")
    test, body = (detached(region.clone()) for region in op.regions)
    used = [n for n in range(count) if is_read(body.args[n])]
    make = Maker(at)
    specs = [spec_of(op.operands[n].type) for n in used]
    if not all(spec.is_static for spec in specs):
        raise UnboundedError("the gradient of a loop that carries sizes that are not known")
    starts = [make.filled(0, s.dtype, (max(limit, 1), *s.dims)) for s in specs]
    more = [make.number(0, i64), *starts]
    for block in (test, body):
        for offset, value in enumerate(more):
            block.insert_arg(value.type, count + offset)
    last = body.last_op
    assert last is not None, "a region ends in gv.yield"
    inside = Maker(GraphEmit.before(body.first_op))  # first: what is kept may then be written over
    trip, *stacks = body.args[count : count + len(more)]
    place = inside.reshape(trip, shape=(1, 1))
    pushed = [
        inside.scatter_nd(
            stack, place, inside.reshape(body.args[n], shape=(1, *s.dims)), reduction="none"
        )
        for n, s, stack in zip(used, specs, stacks, strict=True)
    ]
    yielded = [*last.operands, inside.add(trip, inside.number(1, i64)), *pushed]
    body.erase_op(last)
    body.add_op(Yield.make(*yielded))
    made = While.make_from([*op.operands[:count], *more], op.operands[count:], test, body)
    made.attributes.update(op.attributes)
    results = list(at.insert(made))
    trips, *kept = results[count:]
    blocks = [detached(region) for region in op.regions]
    op.operands = []  # what is not appended uses nothing
    stacked = tuple(zip(used, kept, strict=True))
    return Kept(blocks, at, count, trips, stacked), results[:count]


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
        if isinstance(op, If | While):
            made = append(tape, op.clone(values), at)
        else:
            assert isinstance(op, Op), f"{op.name} in a region"
            result = tape.emit(type(op), *operands, **op.plain_attributes())
            made = result if isinstance(result, tuple) else (result,)
        values.update(zip(op.results, made, strict=True))
    raise AssertionError("a region ends in gv.yield")


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


# -- how often a loop goes round --------------------------------------------------------------

UP = {"gv.less": 0, "gv.less_equal": 1}
DOWN = {"gv.greater": 0, "gv.greater_equal": 1}
TURNED = {
    "gv.less": "gv.greater",
    "gv.less_equal": "gv.greater_equal",
    "gv.greater": "gv.less",
    "gv.greater_equal": "gv.less_equal",
}


def trip_bound(op: While) -> int | None:
    """Return a number of trips that a loop never goes beyond, None if nothing tells.

    It is found where a counter is compared with a number, alone or among other conditions.
    """
    test, _ = op.blocks()
    waiting, bounds = [op.yielded(0)[0]], []
    while waiting:
        owner = waiting.pop().owner
        if not isinstance(owner, Operation):
            continue
        if owner.name in ("gv.logical_and", "gv.bitwise_and"):
            waiting += owner.operands
        elif owner.name in TURNED:
            left, right = owner.operands
            bounds.append(_counted(op, test, left, owner.name, right))
            bounds.append(_counted(op, test, right, TURNED[owner.name], left))
    return min((bound for bound in bounds if bound is not None), default=None)


def _counted(op: While, test: Block, counter: SSAValue, name: str, limit: SSAValue) -> int | None:
    """Return how often a loop goes round while a counter compares with a limit."""
    if counter not in test.args[: op.carried]:
        return None
    number = test.args.index(counter)
    start, end = _number(op.operands[number]), _fixed(op, test, limit)
    step = _step(op, number)
    if start is None or end is None or not step:
        return None
    if name in UP and step > 0:
        return max(0, ceil((end + UP[name] - start) / step))
    if name in DOWN and step < 0:
        return max(0, ceil((start + DOWN[name] - end) / -step))
    return None


def _step(op: While, number: int) -> int | None:
    """Return what is added to a carried value in each trip."""
    _, body = op.blocks()
    owner = op.yielded(1)[number].owner
    if not isinstance(owner, Operation) or owner.name not in ("gv.add", "gv.sub"):
        return None
    left, right = owner.operands
    if left is body.args[number]:
        step = _fixed(op, body, right)
        return None if step is None else step if owner.name == "gv.add" else -step
    if right is body.args[number] and owner.name == "gv.add":
        return _fixed(op, body, left)
    return None


def _fixed(op: While, block: Block, value: SSAValue) -> int | None:
    """Return the number that a value of a region always is."""
    if value in block.args[op.carried :]:
        return _number(op.operands[block.args.index(value)])
    return _number(value)


def _number(value: SSAValue) -> int | None:
    """Return the whole number that a constant is."""
    owner = value.owner
    if not isinstance(owner, Constant):
        return None
    array = owner.plain_attributes()["value"]
    return int(array.item()) if array.size == 1 and array.dtype.kind in "iu" else None


__all__ = ["UnboundedError", "append", "trip_bound"]

"""Going backward through loops.

A loop that will be gone back through keeps what it carries at the start of each trip on stacks;
its gradient is a loop from the last trip to the first, which computes each trip again from there.

Where the number of trips has a bound, that of a counter (`trip_bound`), each trip has a row of the
stacks. Else the rows are those of the last trips, and of ever fewer trips the further back they
are: see Note [Rows]. On the way back a trip whose row has been taken by a later one is reached
again from the nearest trip that is there, and the trips on this way get their rows back.

Note [Rows]
With a ring of r rows, trip t has row t mod r, and each r-th trip u r one behind the ring, numbered
by how often 2 divides u; the first trip has one of its own. So of the trips u r, the newest of each
power of 2 are there, and n trips back take n log n trips at most, in memory that does not grow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ...build import GraphEmit
from ...compose.maker import Maker
from ...gradient.tape import Tape
from ...op import Call
from ...types.dtypes import i64
from ...types.tensor import TensorSpec, spec_of
from ..host.host_control import FLAG, NUMBER, HostLoop
from ..structure import Constant, Yield
from .backward import (
    GOES_BACK,
    Appends,
    OnTapes,
    as_value,
    detached,
    is_read,
    or_zeros,
    remember_as,
    replay,
)
from .control import While
from .told_steps import UnknownSizesError, has_steps, yielded


@dataclass(frozen=True)
class Kept:
    """A loop that was appended, and what its gradient needs of it."""

    blocks: Sequence[Block]
    """What it does, with nothing kept."""
    at: Appends
    """Where the gradient goes."""
    carried: int
    """How many values a loop carries."""
    trips: SSAValue
    stacks: tuple[tuple[int, SSAValue], ...]
    """The number of a carried value, and its value at the start of each trip."""
    ring: Ring | None = None
    """Which trips have a row, where not all of them have."""
    owners: SSAValue | None = None
    """The trip that each row is of."""


@dataclass(frozen=True)
class Ring:
    """The rows of a loop that may go round any number of times; see Note [Rows]."""

    size: int
    """A power of 2."""
    levels: int = 40
    """So many powers of 2 have rows of their own."""

    @classmethod
    def of(cls, specs: Sequence[TensorSpec]) -> Ring:
        """Return one that takes about 1 MiB, and has 16 to 256 rows."""
        each = sum(s.dtype.size * prod(s.static_shape) for s in specs)
        fitting = 1 << 20 >> max(each, 1).bit_length()
        return cls(min(max(fitting, 16), 256))

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return self.size + self.levels + 1

    def row(self, make: Maker, trip: SSAValue) -> SSAValue:
        """Return the row of a trip."""
        zero, size = make.number(0, i64), make.number(self.size, i64)
        place = make.bitwise_and(trip, make.number(self.size - 1, i64))
        round_ = make.floor_divide(trip, size)
        lowest = make.bitwise_and(round_, make.neg(round_))
        powers = make.constant(value=np.left_shift(1, np.arange(self.levels, dtype=np.int64)))
        level = make.sum(make.cast(make.less(powers, lowest), dtype=i64), axes=(0,))
        behind = make.select(make.equal(round_, zero), make.number(self.levels, i64), level)
        found: SSAValue = make.select(make.equal(place, zero), make.add(size, behind), place)
        return found


def append(tape: Tape, op: While, at: Appends) -> Sequence[SSAValue]:
    """Append a loop so that a tape goes back through it; return its results."""
    if changing(op) or has_steps(op.blocks()):
        return GOES_BACK[HostLoop.name](tape, hosted(op, at), at)
    operands = tuple(op.operands)
    kept, results = saving(op, at)
    remember_as(tape, LoopGradient, operands, results, {"kept": kept}, at)
    return results


GOES_BACK[While.name] = append


def changing(op: While) -> bool:
    """Say whether a loop carries sizes that are not known where it is."""
    return not all(spec_of(x.type).is_static for x in op.operands[: op.carried])


def hosted(op: While, at: Appends) -> HostLoop:
    """Return a loop that the host carries out, whose steps or sizes compiled code cannot keep."""
    test, body = op.blocks()
    count, operands = op.carried, list(op.operands)
    first = yielded(test, copied(test, operands, at.insert))
    block = Block(arg_types=[NUMBER.type, FLAG.type, *(x.type for x in body.args)])
    made = yielded(body, copied(body, block.args[2:], inserting(block)))
    fixed = block.args[2 + count :]
    again = yielded(test, copied(test, [*made, *fixed], inserting(block)))
    block.add_op(Yield.make(*again, *made))
    types = [x.type for x in op.results]
    trips = as_value(np.array(np.iinfo(np.int64).max), at)
    loop = HostLoop.make_from([trips, *first], operands[:count], operands[count:], block, types)
    loop.attributes.update(op.attributes)
    op.operands = []  # what is not appended uses nothing
    return loop


def inserting(block: Block) -> Callable[[Operation], Sequence[SSAValue]]:
    """Return what appends operations that are made already to a block."""

    def insert(op: Operation) -> Sequence[SSAValue]:
        block.add_op(op)
        return op.results

    return insert


def copied(
    block: Block,
    arguments: Sequence[SSAValue],
    insert: Callable[[Operation], Sequence[SSAValue]],
) -> dict[SSAValue, SSAValue]:
    """Append what a block does, with other arguments; return what stands for its values."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if not isinstance(op, Yield):
            values.update(zip(op.results, insert(op.clone(values)), strict=True))
    return values


class LoopGradient(OnTapes):
    """What a tape asks for the gradient of a loop."""

    name = "gv.while_gradient"

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go from the last trip to the first."""
        kept: Kept = call.attributes["kept"]
        count, at = kept.carried, kept.at
        carried, fixed = call.operands[:count], call.operands[count:]
        smooth = [n for n, x in enumerate(carried) if spec_of(x.type).dtype.kind in "fc"]
        kind = [n for n, x in enumerate(fixed) if spec_of(x.type).dtype.kind in "fc"]
        first = [or_zeros(grads[n], carried[n], at) for n in smooth]
        totals = [or_zeros(None, fixed[n], at) for n in kind]
        make = Maker(at)
        moving = [make.sub(kept.trips, make.number(1, i64)), *first, *totals]
        constant = [*(stack for _, stack in kept.stacks), *fixed]
        if kept.owners is not None:
            moving += [kept.owners, *(stack for _, stack in kept.stacks)]
            constant = list(fixed)
        types = [x.type for x in (*moving, *constant)]
        test, body = Block(arg_types=types), Block(arg_types=types)
        inside = Maker(GraphEmit.at_end(test))
        test.add_op(Yield.make(inside.greater_equal(test.args[0], inside.number(0, i64))))
        one_trip_back(kept, body, smooth, kind)
        op = While.make_from(moving, constant, test, body)
        result: list[Any] = [None] * len(call.operands)
        places = [*smooth, *(count + n for n in kind)]
        for place, grad in zip(places, at.insert(op)[1:], strict=False):
            result[place] = grad
        return result


def one_trip_back(kept: Kept, block: Block, smooth: Sequence[int], kind: Sequence[int]) -> None:
    """Fill the body of a gradient's loop.

    Its arguments are the number of the trip, the gradients of carried values, those of fixed ones,
    the trips that rows are of if not all have one, the stacks, the fixed values.
    """
    emit = GraphEmit.at_end(block)
    make = Maker(emit)
    trip, *rest = block.args
    grads, rest = rest[: len(smooth)], rest[len(smooth) :]
    totals, rest = rest[: len(kind)], rest[len(kind) :]
    count = len(kept.stacks) + (kept.ring is not None)
    stacks: list[SSAValue] = list(rest[:count])
    fixed = rest[count:]
    _, body = kept.blocks
    if kept.ring is None:
        values, stacks = taken(kept, stacks, trip, emit), []
    else:
        values, stacks = reached(kept, kept.ring, stacks, trip, fixed, emit)
    tape = Tape(emit)
    made = replay(tape, body, [*values, *fixed], emit)
    sources = [*(values[n] for n in smooth), *(fixed[n] for n in kind)]
    found = tape.backward([made[n] for n in smooth], grads, sources)
    now = [or_zeros(g, values[n], emit) for n, g in zip(smooth, found, strict=False)]
    more = [
        total if g is None else make.add(total, g)
        for total, g in zip(totals, found[len(smooth) :], strict=True)
    ]
    block.add_op(Yield.make(make.sub(trip, make.number(1, i64)), *now, *more, *stacks))


def taken(kept: Kept, stacks: Sequence[SSAValue], row: SSAValue, emit: Appends) -> list[SSAValue]:
    """Return what a loop carried at the start of the trip in a row; zeros for what none reads."""
    make, (_, body) = Maker(emit), kept.blocks
    saved = {
        n: make.gather(stack, row, axis=0)
        for (n, _), stack in zip(kept.stacks, stacks, strict=True)
    }
    return [
        saved[n] if n in saved else or_zeros(None, body.args[n], emit) for n in range(kept.carried)
    ]


def reached(
    kept: Kept,
    ring: Ring,
    stacks: Sequence[SSAValue],
    trip: SSAValue,
    fixed: Sequence[SSAValue],
    emit: GraphEmit,
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return what a loop carried at the start of a trip, and the stacks after going there.

    It goes on from the last trip before it that has a row.
    """
    make = Maker(emit)
    owners = stacks[0]
    there = make.select(make.less_equal(owners, trip), owners, make.number(-1, i64))
    nearest = make.max(there, axes=(0,))
    values = taken(kept, stacks[1:], ring.row(make, nearest), emit)
    moving, rest = [*values, nearest, *stacks], [trip, *fixed]
    used = [n for n, _ in kept.stacks]
    body = saving_body(kept.blocks[1], kept.carried, used, stacks, ring, [trip])
    test = Block(arg_types=[x.type for x in (*moving, *rest)])
    inside = Maker(GraphEmit.at_end(test))
    place, end = test.args[kept.carried], test.args[len(moving)]
    test.add_op(Yield.make(inside.less(place, end)))
    op = While.make_from(moving, rest, test, body)
    results = list(emit.insert(op))
    return results[: kept.carried], results[kept.carried + 1 :]


def saving_body(
    plain: Block,
    count: int,
    used: Sequence[int],
    stacks: Sequence[SSAValue],
    ring: Ring | None,
    more: Sequence[SSAValue] = (),
) -> Block:
    """Return the body of a loop that counts its trips and keeps what it carries on stacks.

    It takes the carried values, the trip, the stacks, more values that it does not use, the fixed
    values. With a ring, the first stack is of the trips that rows are of.
    """
    carried = [x.type for x in plain.args[:count]]
    own = [TensorSpec(i64, ()).type, *(x.type for x in stacks)]
    fixed = [x.type for x in plain.args[count:]]
    block = Block(arg_types=[*carried, *own, *(x.type for x in more), *fixed])
    make = Maker(GraphEmit.at_end(block))
    state, trip = block.args[:count], block.args[count]
    now = block.args[count + 1 : count + len(own)]
    row = trip if ring is None else ring.row(make, trip)
    place = make.reshape(row, shape=(1, 1))
    given = [*([] if ring is None else [trip]), *(state[n] for n in used)]
    pushed = [  # first: what is kept may then be written over
        make.scatter_nd(
            stack,
            place,
            make.reshape(x, shape=(1, *spec_of(x.type).dims)),
            reduction="none",
        )
        for stack, x in zip(now, given, strict=True)
    ]
    values: dict[SSAValue, SSAValue] = dict(
        zip(plain.args, [*state, *block.args[len(block.args) - len(fixed) :]], strict=True)
    )
    last = plain.last_op
    assert isinstance(last, Yield), "a region ends in gv.yield"
    for op in plain.ops:
        if op is not last:
            block.add_op(op.clone(values))
    results = [values[x] for x in last.operands]
    block.add_op(Yield.make(*results, make.add(trip, make.number(1, i64)), *pushed))
    return block


def saving(op: While, at: Appends) -> tuple[Kept, list[SSAValue]]:
    """Append a loop that counts its trips and keeps what it carries; return also its results."""
    limit, count = trip_bound(op), op.carried
    test, body = detached(op.regions[0].clone()), op.regions[1].block
    used = [n for n in range(count) if is_read(body.args[n])]
    specs = [spec_of(op.operands[n].type) for n in used]
    if not all(spec.is_static for spec in specs):
        raise UnknownSizesError("the gradient of a loop that carries sizes that are not known")
    ring = Ring.of(specs) if limit is None else None
    rows = max(limit or 0, 1) if ring is None else ring.rows
    make = Maker(at)
    stacks = [make.filled(0, s.dtype, (rows, *s.dims)) for s in specs]
    if ring is not None:
        stacks.insert(0, make.filled(-1, i64, (rows,)))
    more = [make.number(0, i64), *stacks]
    for offset, value in enumerate(more):
        test.insert_arg(value.type, count + offset)
    again = saving_body(body, count, used, stacks, ring)
    made = While.make_from([*op.operands[:count], *more], op.operands[count:], test, again)
    made.attributes.update(op.attributes)
    results = list(at.insert(made))
    trips, *kept = results[count:]
    owners = None if ring is None else kept.pop(0)
    blocks = [detached(region) for region in op.regions]
    op.operands = []  # what is not appended uses nothing
    stacked = tuple(zip(used, kept, strict=True))
    return Kept(blocks, at, count, trips, stacked, ring, owners), results[:count]


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

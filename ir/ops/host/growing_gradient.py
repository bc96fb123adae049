"""Going backward through a loop that the host carries out: its values may change their sizes.

Going forward, what the body reads at the start of each trip is kept in sequences, and so is what
host steps of the body gave: they may have effects, and are not to run twice. The gradient is a loop
from the last trip to the first, which computes the rest of each trip again from there.

Each trip has sizes of its own under the names that they have going forward: a region's sizes are
its own (`HostControl.enter`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Block, SSAValue

from ...build import GraphEmit
from ...compose.maker import Maker
from ...gradient.tape import Tape
from ...op import Call
from ...types.dims import Dim, symbol
from ...types.dtypes import i64
from ...types.tensor import TensorSpec, spec_of
from ...types.values import ANY, SequenceSpec, held
from ..control.backward import (
    GOES_BACK,
    Appends,
    OnTapes,
    as_value,
    is_read,
    or_zeros,
    remember_as,
    replay,
)
from ..control.choice_back import called
from ..control.told_steps import split, yielded
from ..structure import Yield
from .host_control import FLAG, NUMBER, HostLoop
from .sequences import EmptySequence, SequenceAt, SequenceInsert


@dataclass(frozen=True)
class KeptLoop:
    """A loop that was appended, and what its gradient needs of it."""

    body: Block
    """What a trip does, with nothing kept."""
    at: Appends
    """Where the gradient goes."""
    carried: int
    trips: SSAValue
    kept: Sequence[SSAValue]
    """Values of the body, in the order of `sequences`."""
    sequences: Sequence[SSAValue]
    told: int
    """How many of them are what steps told, the last ones, as the last arguments of the body."""

    @property
    def fixed(self) -> Sequence[SSAValue]:
        """Return the arguments of the body that are the same in each trip."""
        return self.body.args[2 + self.carried : len(self.body.args) - self.told]


def append(tape: Tape, op: HostLoop, at: Appends) -> Sequence[SSAValue]:
    """Append a loop so that a tape goes back through it; return its results."""
    operands = tuple(op.operands)
    kept, results = saving(op, at)
    remember_as(tape, HostLoopGradient, operands, results, {"kept": kept}, at)
    return results


GOES_BACK[HostLoop.name] = append


def saving(op: HostLoop, at: Appends) -> tuple[KeptLoop, list[SSAValue]]:
    """Append a loop that counts its trips and keeps what it reads; return also its results."""
    count, body = op.states, op.regions[0].block
    assert len(op.results) == count, "a loop that collects parts is of a model, not of a function"
    parts = split(body, every=True)
    places = [n for n, x in enumerate(body.args[2 : 2 + count], 2) if is_needed(x)]
    kept = [*(parts.again.args[n] for n in places), *parts.again.args[len(body.args) :]]
    found = [*(parts.run.args[n] for n in places), *parts.told]
    specs = [SequenceSpec(held(spec_of(x.type))) for x in kept]
    empty = [at(EmptySequence, dtype=spec_of(x.type).dtype) for x in kept]
    states = [*op.operands[2 : 2 + count], Maker(at).number(0, i64), *empty]
    types = [*(x.type for x in op.results), NUMBER.type, *(s.type for s in specs)]
    end_saving(parts.run, yielded(body, parts.values), found, [s.type for s in specs])
    fixed = op.operands[2 + count :]
    made = HostLoop.make_from(op.operands[:2], states, fixed, parts.run, types)
    made.attributes.update(op.attributes)
    results = list(at.insert(made))
    op.operands = []  # what is not appended uses nothing
    told = len(parts.told)
    loop = KeptLoop(parts.again, at, count, results[count], kept, results[count + 1 :], told)
    return loop, results[:count]


def is_needed(x: SSAValue) -> bool:
    """Say whether a carried value is needed on the way back, be it for its sizes only."""
    return is_read(x) or not spec_of(x.type).is_static


def end_saving(
    block: Block, made: Sequence[SSAValue], found: Sequence[SSAValue], types: Sequence[Attribute]
) -> None:
    """Let a trip count itself, and keep some of its values; `made` is what it yields itself."""
    make, first = Maker(GraphEmit.at_end(block)), 1 + len(made)
    own = [block.insert_arg(t, first + n) for n, t in enumerate((NUMBER.type, *types))]
    trip = make.add(own[0], make.number(1, i64))
    pairs = zip(own[1:], found, strict=True)
    sequences = [make.emit(SequenceInsert, sequence, x) for sequence, x in pairs]
    block.add_op(Yield.make(*made, trip, *sequences))


class HostLoopGradient(OnTapes):
    """What a tape asks for the gradient of such a loop."""

    name = "gv.host_loop_gradient"

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go from the last trip to the first."""
        kept: KeptLoop = call.attributes["kept"]
        count, at = kept.carried, kept.at
        carried, fixed = call.operands[2 : 2 + count], call.operands[2 + count :]
        smooth = [n for n, x in enumerate(carried) if spec_of(x.type).dtype.kind in "fc"]
        kind = [n for n, x in enumerate(fixed) if spec_of(x.type).dtype.kind in "fc"]
        first = [or_zeros(grads[n], call.results[n], at) for n in smooth]
        states = [*first, *(or_zeros(None, fixed[n], at) for n in kind)]
        body = one_trip_back(kept, smooth, kind)
        begins = [opened(spec_of(kept.body.args[2 + n].type)) for n in smooth]
        types = [*(s.type for s in begins), *(fixed[n].type for n in kind)]
        control = [kept.trips, as_value(np.array(True), at)]
        constant = [kept.trips, *kept.sequences, *fixed]
        found = list(at.insert(HostLoop.make_from(control, states, constant, body, types)))
        result: list[Any] = [None] * len(call.operands)
        for place, n in enumerate(smooth):
            result[2 + n] = called(found[place], spec_of(carried[n].type).dims, at)
        for place, n in enumerate(kind, len(smooth)):
            result[2 + count + n] = found[place]
        return result


def opened(spec: TensorSpec, when: str = "before") -> TensorSpec:
    """Return a spec whose sizes that are not known have names of their own."""
    return spec.with_shape([d if isinstance(d, int) else symbol(f"{d}_{when}") for d in spec.dims])


def after(argument: SSAValue, result: SSAValue) -> TensorSpec:
    """Return the spec of the gradient of a state behind a trip; other trips give other sizes."""
    carried, made = spec_of(argument.type), spec_of(result.type)
    plain = all(isinstance(d, int) or str(d).isidentifier() for d in made.dims)
    return made if plain and held(made) == held(carried) else opened(carried, "after")


def one_trip_back(kept: KeptLoop, smooth: Sequence[int], kind: Sequence[int]) -> Block:
    """Return the body of a gradient's loop.

    Its states are the gradients of carried values and of fixed ones; behind them it takes the
    number of trips, the sequences, the fixed values.
    """
    plain, count = kept.body, kept.carried
    last = plain.last_op
    assert isinstance(last, Yield), "a region ends in gv.yield"
    fixed_types = [x.type for x in kept.fixed]
    parts = [
        [NUMBER.type, FLAG.type],
        [after(plain.args[2 + n], last.operands[1 + n]).type for n in smooth],
        [fixed_types[n] for n in kind],
        [NUMBER.type],
        [x.type for x in kept.sequences],
        fixed_types,
    ]
    block = Block(arg_types=[each for part in parts for each in part])
    given = iter(block.args)
    (number, flag), grads, totals, (trips,), sequences, fixed = (
        [next(given) for _ in part] for part in parts
    )
    emit = GraphEmit.at_end(block)
    make = Maker(emit)
    row = make.sub(make.sub(trips, make.number(1, i64)), number)
    saved = {
        x: emit(SequenceAt, sequence, row, sizes=open_sizes(x))
        for x, sequence in zip(kept.kept, sequences, strict=True)
    }
    values = [saved[x] if x in saved else or_zeros(None, x, emit) for x in plain.args[2:][:count]]
    tape = Tape(emit)
    told = [saved[x] for x in kept.kept[len(kept.kept) - kept.told :]]
    _, *made = replay(tape, plain, [row, flag, *values, *fixed, *told], emit)
    sources = [*(values[n] for n in smooth), *(fixed[n] for n in kind)]
    ends = [called(g, spec_of(made[n].type).dims, emit) for n, g in zip(smooth, grads, strict=True)]
    found = tape.backward([made[n] for n in smooth], ends, sources)
    now = [or_zeros(g, values[n], emit) for n, g in zip(smooth, found, strict=False)]
    more = [
        total if g is None else make.add(total, g)
        for total, g in zip(totals, found[len(smooth) :], strict=True)
    ]
    block.add_op(Yield.make(flag, *now, *more))
    return block


def open_sizes(x: SSAValue) -> tuple[Dim, ...]:
    """Return the sizes of a value that its sequence does not tell."""
    spec = spec_of(x.type)
    dims = zip(spec.dims, held(spec).dims, strict=True)
    return tuple(dim for dim, known in dims if known == ANY)

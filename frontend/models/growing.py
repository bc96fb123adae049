"""Loops whose values grow, as compiled code: it works in memory with room for more than there is.

    %y = gv.host_loop %x ...    =>    buffers of `room` rows for what grows, and how many there are;
                                      a gv.while over both, which ends when a trip might need more

A host step would go round in Python, piece by piece. Here all trips run in one call: `gv.told` cuts
off what is not there yet, and what a trip gives is filled up again. What each trip collects is
written to the row of its number. When the room is used up, the code for the next larger one goes on
from there; later runs begin with that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...codegen.compiled import Options
from ...forks import renewed
from ...ir import DEVICE, Array, GraphEmit, Program, TensorSpec, erase, operations, spec_of
from ...ir.compose.functions import unsqueeze
from ...ir.compose.maker import Maker
from ...ir.host import has_host_steps, is_host
from ...ir.ops.control.control import If, While
from ...ir.ops.host.host_control import FLAG, NUMBER, HostIf, HostLoop
from ...ir.ops.host.late import ReadSizes
from ...ir.ops.selecting import Leading, NonZero
from ...ir.ops.structure import Yield
from ...ir.program import finish, new_function, set_level, set_ranges
from ...ir.types import dims, dtypes
from ...ir.types.dims import Dim, Range
from ...ir.types.values import is_compilable
from ...passes.tell_sizes import Selecting, can_be_told, first
from .compiled import CompiledModel, compile_piece, load_compiled

LEAST = 64
"""So much room there is at first along an axis that grows."""
TIMES = 4
"""So much more room there is each time."""


@dataclass(frozen=True)
class GrowingAxis:
    """An axis of a state whose extent may change in each trip."""

    state: int
    place: int
    size: Dim
    """What the extent is called in the loop."""
    growth: int
    """By how much one trip makes it larger, at the most."""
    least: int
    """What it may be in any trip, whatever it was before."""


def axes_of(loop: HostLoop) -> list[GrowingAxis] | None:
    """Return what grows in a loop that compiled code can carry out, None of another one."""
    body, count = loop.regions[0].block, loop.states
    values = [*loop.operands, *loop.results, *body.args]
    if not all(is_compilable(x.type) for x in values) or not can_tell(body):
        return None
    if not all(spec.is_static for spec in parts_of(loop)):
        return None
    states, made = body.args[2 : 2 + count], loop.yielded(0)[1 : 1 + count]
    fixed = [spec_of(x.type) for x in body.args[2 + count :]]
    tops = upper_ends(body)
    if tops is None or not all(spec.is_static for spec in fixed):
        return None
    found = []
    for number, (before, after) in enumerate(zip(states, made, strict=True)):
        sizes = zip(spec_of(before.type).dims, spec_of(after.type).dims, strict=True)
        for place, (old, new) in enumerate(sizes):
            if isinstance(old, int):
                continue
            limits = growth_of(old, new, tops)
            if limits is None:
                return None
            found.append(GrowingAxis(number, place, old, *limits))
    return found


def parts_of(loop: HostLoop) -> list[TensorSpec]:
    """Return what a loop collects of each trip."""
    return [spec_of(x.type) for x in loop.yielded(0)[1 + loop.states :]]


def can_tell(block: Block) -> bool:
    """Say whether compiled code can find out the sizes that host steps in a block find out."""
    every = [op for op in block.walk() if is_host(op)]
    known = all(isinstance(op, While | If) or can_be_told(op) for op in every)
    return known and not any(DEVICE in op.attributes for op in block.walk())


def tell_all(selecting: Selecting, block: Block) -> None:
    """Have compiled code find out the sizes in a block, and in choices and loops in it."""
    for op in operations(block):
        if isinstance(op, While | If):
            for inner in op.blocks():
                tell_all(selecting, inner)
    selecting.rewrite_all(block)


def tell_inside(program: Program) -> None:
    """Have compiled code find out sizes that stay inside of choices and loops of a program.

    These are no host steps any more.
    """
    if not has_host_steps(program):
        return
    selecting, done = Selecting(program), set[Operation]()
    for op in list(program.module.walk()):
        if op not in done and isinstance(op, While | If) and is_host(op) and is_closed(op):
            done.update(op.walk())
            for block in op.blocks():
                tell_all(selecting, block)
    set_ranges(program.module, selecting.ranges)


def is_closed(op: While | If) -> bool:
    """Say whether all sizes in a choice or a loop that its operands do not have have bounds."""
    if not all(is_compilable(x.type) for x in (*op.operands, *op.results)):
        return False
    fixed = all(spec_of(x.type).is_static for x in (*op.operands, *op.results))
    return fixed and all(can_tell(b) and upper_ends(b) is not None for b in op.blocks())


def upper_ends(block: Block) -> dict[str, list[Dim]] | None:
    """Return what each size of a block, and of choices in it, is at the most; None if not known."""
    found: dict[str, list[Dim]] = {}
    for op in block.walk():
        if isinstance(op, HostIf):
            rows = [[spec_of(x.type).dims for x in op.yielded(n)] for n in (0, 1)]
            for result, *both in zip(op.results, *rows, strict=True):
                for size, *ends in zip(spec_of(result.type).dims, *both, strict=True):
                    if not isinstance(size, int):
                        found[str(size)] = list(dict.fromkeys(ends))
        elif isinstance(op, NonZero):
            found[str(op.plain_attributes()["sizes"][0])] = [op.specs[0].size]
        elif isinstance(op, Leading):
            found[str(op.plain_attributes()["sizes"][0])] = [op.specs[0].dims[0]]
        elif isinstance(op, ReadSizes):
            rules = op.plain_attributes()
            if not rules["most"]:
                return None
            found |= {str(n): [m] for n, m in zip(rules["sizes"], rules["most"], strict=True)}
    return found


def growth_of(old: Dim, new: Dim, tops: Mapping[str, list[Dim]]) -> tuple[int, int] | None:
    """Return by how much a size grows at the most, and what else it may be; None if not known."""
    growth = least = 0
    waiting, seen = [new], set[Dim]()
    while waiting:
        size = waiting.pop()
        if size in seen:
            continue
        seen.add(size)
        name = next((n for n in sorted(dims.symbols(size)) if n in tops and n != str(old)), None)
        if name is not None:
            rest = size - dims.symbol(name)
            if name in dims.symbols(rest):
                return None
            waiting += [rest + end for end in tops[name]]
        elif isinstance(size, int):
            least = max(least, size)
        elif (more := dims.bounds(size - old, {})[1]) is not None:
            growth = max(growth, more)
        else:
            return None
    return growth, least


class GrowingLoop:
    """A loop of which several versions may be compiled, for other rooms."""

    def __init__(
        self,
        loop: HostLoop,
        axes: Sequence[GrowingAxis],
        whole: Program,
        options: Options,
    ) -> None:
        self.loop = loop.clone()
        self.axes, self.options = axes, options
        self.weights, self.ranges = whole.weights, whole.ranges
        self.parts = parts_of(loop)
        self.made: dict[int, CompiledModel] = {}
        """The code by the room that it has."""
        self.room = max([LEAST, *(2 * axis.growth + axis.least for axis in axes)])
        self.lock = renewed(Lock())

    def model(self, room: int) -> CompiledModel:
        """Return the code for a room, made now if there is none."""
        with self.lock:
            if room not in self.made:
                whole = self.weights, self.ranges
                program = GrowingProgram(self.loop, self.axes, room, *whole).program
                self.made[room] = load_compiled(compile_piece(program, self.options), 1)
            self.room = max(self.room, room)
            return self.made[room]

    def run(self, operands: Sequence[object]) -> list[Array]:
        """Return the states behind the last trip, and what all trips collected."""
        count, grown = self.loop.states, len(self.axes)
        trips, flag, *fixed = map(np.asarray, operands)
        trip, states = np.zeros((), np.int64), fixed[:count]
        rows: list[Array] = [np.empty((0, *x.dims), x.dtype.numpy) for x in self.parts]
        while bool(flag) and trip < trips:
            room = self.enough(states, int(trip))
            counts = [np.array(states[a.state].shape[a.place], np.int64) for a in self.axes]
            buffers = self.widened(states, room)
            rows = [longer(x, int(trip), room) for x in rows]
            given = [trip, flag, *buffers, *counts, *rows, trips, *fixed[count:]]
            trip, flag, *made = self.model(room).run(given)
            states, rows = made[:count], made[count + grown :]
            for axis, size in zip(self.axes, made[count:], strict=False):
                kept = (*[slice(None)] * axis.place, slice(int(size)))
                states[axis.state] = states[axis.state][kept]
        found = [*states, *(x[: int(trip)] for x in rows)]
        return [np.ascontiguousarray(x) if np.ndim(x) else x for x in found]

    def enough(self, states: Sequence[Array], trip: int) -> int:
        """Return a room that is enough for one trip more."""
        sizes = [states[a.state].shape[a.place] + a.growth for a in self.axes]
        sizes += [trip + 1] if self.parts else []
        room = self.room
        while room < max(sizes, default=0):
            room *= TIMES
        return room

    def widened(self, states: Sequence[Array], room: int) -> list[Array]:
        """Return states with zeros behind what is there, as far as the room goes."""
        found = list(states)
        for number, state in enumerate(states):
            places = [axis.place for axis in self.axes if axis.state == number]
            if places:
                shape = [room if p in places else d for p, d in enumerate(state.shape)]
                found[number] = np.zeros(shape, state.dtype)
                found[number][tuple(map(slice, state.shape))] = state
        return found


def longer(rows: Array, count: int, room: int) -> Array:
    """Return room for so many rows, the first of which are there."""
    if len(rows) == room:
        return rows
    made: Array = np.zeros((room, *rows.shape[1:]), rows.dtype)
    made[:count] = rows[:count]
    return made


class GrowingProgram:
    """The program of a loop in a room: it takes and gives what `GrowingLoop.run` says."""

    def __init__(
        self,
        loop: HostLoop,
        axes: Sequence[GrowingAxis],
        room: int,
        weights: Mapping[str, Array],
        ranges: Mapping[str, Range],
    ) -> None:
        self.axes, self.room, self.count = axes, room, loop.states
        body = loop.regions[0].block
        self.states = [self.wide(n, spec_of(x.type)) for n, x in enumerate(body.args[2:])]
        self.states, fixed = self.states[: self.count], self.states[self.count :]
        rows = [spec.with_shape((room, *spec.dims)) for spec in parts_of(loop)]
        self.parts = len(rows)
        carried = [NUMBER, FLAG, *self.states, *[NUMBER] * len(axes), *rows]
        specs = [*carried, NUMBER, *fixed]
        main = new_function("main", [(f"x{n}", spec) for n, spec in enumerate(specs)])
        types = [spec.type for spec in specs]
        test, again = Block(arg_types=types), Block(arg_types=types)
        self.goes_on(test)
        given = [*main.body.block.args]
        made = While.make_from(given[: len(carried)], given[len(carried) :], test, again)
        main.body.block.add_op(made)
        finish(main, list(made.results), [f"y{n}" for n in range(len(carried))])
        module = ModuleOp([main])
        set_level(module, "graph")
        grown: dict[str, Range] = {str(a.size): (0, room - a.growth) for a in axes}
        set_ranges(module, {**ranges, **grown})
        self.program = Program(module, {n: weights[n] for n in weights_of(loop)})
        self.fill(again, body)

    def wide(self, number: int, spec: TensorSpec) -> TensorSpec:
        """Return the spec of the buffer for a state."""
        places = {axis.place for axis in self.axes if axis.state == number}
        return spec.with_shape([self.room if p in places else d for p, d in enumerate(spec.dims)])

    def goes_on(self, block: Block) -> None:
        """Say whether there is another trip, and room for it."""
        make = Maker(GraphEmit.at_end(block))
        trip, flag, *rest = block.args
        counts = rest[self.count : self.count + len(self.axes)]
        trips = rest[self.count + len(self.axes) + self.parts]
        made = make.logical_and(flag, make.less(trip, trips))
        if self.parts:
            made = make.logical_and(made, make.less(trip, make.number(self.room, dtypes.i64)))
        for axis, count in zip(self.axes, counts, strict=True):
            most = make.number(self.room - axis.growth, dtypes.i64)
            made = make.logical_and(made, make.less_equal(count, most))
        make.emit(Yield, made)

    def fill(self, block: Block, body: Block) -> None:
        """Carry out a trip."""
        make = Maker(GraphEmit.at_end(block))
        trip, flag, *rest = block.args
        states: list[SSAValue] = list(rest[: self.count])
        counts = rest[self.count :]
        for axis, count in zip(self.axes, counts, strict=False):
            states[axis.state] = first(make, states[axis.state], axis.place, count, axis.size)
        fixed = counts[len(self.axes) + self.parts + 1 :]
        values: dict[SSAValue, SSAValue] = dict(
            zip(body.args, [trip, flag, *states, *fixed], strict=True)
        )
        for op in body.ops:
            copy = op.clone(values)
            block.add_op(copy)
            values.update(zip(op.results, copy.results, strict=True))
        selecting = Selecting(self.program)
        tell_all(selecting, block)
        set_ranges(self.program.module, selecting.ranges)
        self.end(block, counts[len(self.axes) : len(self.axes) + self.parts])

    def end(self, block: Block, rows: Sequence[SSAValue]) -> None:
        """Give what the trip made in buffers, how much of them counts, and what is collected."""
        last = block.last_op
        assert isinstance(last, Yield), "a region ends in gv.yield"
        make = Maker(GraphEmit.before(last))
        flag, *made = last.operands
        made, parts = made[: self.count], made[self.count :]
        place = make.reshape(block.args[0], shape=(1, 1))
        written = [
            make.scatter_nd(row, place, unsqueeze(make.emit, part, (0,)), reduction="none")
            for row, part in zip(rows, parts, strict=True)
        ]
        counts = [make.extent_of(spec_of(made[a.state].type).dims[a.place]) for a in self.axes]
        for number, wide in enumerate(self.states):
            sizes = zip(spec_of(made[number].type).dims, wide.dims, strict=True)
            pads = tuple((0, most - size) for size, most in sizes)
            if any(pad != (0, 0) for pad in pads):
                made[number] = make.pad(made[number], pads=pads)
        one = make.number(1, dtypes.i64)
        make.emit(Yield, make.add(block.args[0], one), flag, *made, *counts, *written)
        erase(last)


def weights_of(loop: HostLoop) -> list[str]:
    """Return the names of the weights that a loop uses."""
    found = (op for op in loop.walk() if op.name == "gv.weight")
    return [str(op.plain_attributes()["weight"]) for op in found]  # type: ignore[attr-defined]

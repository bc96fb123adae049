"""Share the weights of products out over ranks: what is left is the program of one of them.

    %h = gv.matmul %x, %a               %h = gv.matmul %x, (columns of %a)
    %g = gv.relu %h              =>     %g = gv.relu %h
    %y = gv.matmul %g, %b               %p = gv.matmul %g, (rows of %b)
                                        %y = gv.all_reduce %p

A product of known columns gives its rank's columns of the result. What follows element by element
stays so, and a product that reads it has its rank's rows: their results are added up over ranks.
A convolution is a product whose columns are its filters and whose rows are the channels of the
image; groups of channels, windows of pools and normalised channels stay their rank's. Where
anything else reads it, the columns of all ranks are gathered first. Of a recurrent layer in both
directions each of two ranks has one. Of one direction each rank has some of the units, with their
gates: its steps follow each other, and behind each one the state of all ranks is gathered; how many
steps there are must be known. Weights whose sizes the ranks do not divide stay whole. Every rank
has the same operations in the same order. Stands behind `canonicalize` and `constant-fold`, before
anything that lays weights out; needs `dce` behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..ir import REGISTRY, GraphEmit, Op, Program, erase, spec_of
from ..ir.compose.maker import Maker
from ..ir.ops.host.collective import AllGather, AllReduce
from ..ir.ops.pool import Pool
from ..ir.ops.rnn import Gru, Lstm, Recurrent, Rnn
from ..ir.ops.structure import Weight
from ..ir.types.attributes import Symbol
from ..ir.types.tensor import Array, spec_of_array
from ..ir.windows import channel_axis
from .analysis.kernels.reads import is_elementwise
from .base import Pass, PipelineError

BOTH = ("forward", "reverse")
"""The directions of a layer that has both, in their order."""


@dataclass(frozen=True)
class SplitTensors(Pass):
    """Share the weights of products out over ranks."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    ranks: int = 2
    rank: int = 0
    """Whose program it becomes."""

    def apply(self, program: Program) -> None:
        """Split the products of `main`."""
        if not 0 <= self.rank < self.ranks:
            raise PipelineError(f"split-tensors: rank {self.rank} of {self.ranks}")
        shared = SharedOut(self, program)
        for op in list(program.main.body.block.ops):
            shared.visit(op)
        shared.finish()


@dataclass(frozen=True)
class Share:
    """A value of which each rank has a part."""

    part: SSAValue
    back: int
    """Which axis is shared out, counted from the last one, which is 1."""


class SharedOut:
    """What is shared out of a block, as far as it was walked."""

    def __init__(self, options: SplitTensors, program: Program) -> None:
        self.options, self.program = options, program
        self.ranks, self.rank = options.ranks, options.rank
        self.shares: dict[SSAValue, Share] = {}
        self.done: dict[Operation, None] = {}
        """Operations that parts stand for, in order."""

    def visit(self, op: Operation) -> None:
        """Share an operation out, or give it whole operands."""
        emit = GraphEmit.before(op)
        ways = (
            *(self.product, self.convolution, self.grouped),
            *(self.directions, self.units, self.channels, self.elements),
        )
        if isinstance(op, Op) and any(way(op, emit) for way in ways):
            self.done[op] = None
            return
        for operand in dict.fromkeys(op.operands):
            if operand in self.shares:
                self.gather(operand, emit)

    def finish(self) -> None:
        """Erase the operations that parts stand for."""
        for op in reversed(self.done):
            erase(op)

    def product(self, op: Op, emit: GraphEmit) -> bool:
        """Share out a product with a matrix that is known; say whether it was."""
        if op.name != "gv.matmul" or not self.is_known(op.operands[1]):
            return False
        flags, weights = op.plain_attributes(), op.operands[1]
        if spec_of(weights.type).rank != 2:
            return False
        rows, columns = (1, 0) if flags["transpose_rhs"] else (0, 1)
        return self.contracted(op, 1, rows, columns, emit, whole=bool(flags["transpose_lhs"]))

    def convolution(self, op: Op, emit: GraphEmit) -> bool:
        """Share out the filters of a convolution, or the channels of its image."""
        if op.name != "gv.conv" or not self.is_known(op.operands[1]):
            return False
        flags = op.plain_attributes()
        return flags["groups"] == 1 and self.contracted(op, back_of(op), 1, 0, emit)

    def contracted(
        self, op: Op, back: int, rows: int, columns: int, emit: GraphEmit, *, whole: bool = False
    ) -> bool:
        """Share out the rows of known weights if the operand is, else the columns."""
        left, right = op.operands
        flags, share = op.plain_attributes(), self.shares.get(left)
        if share is not None and share.back == back and not whole:
            part = emit(type(op), share.part, self.slice(right, rows, emit), **flags)
            self.replace(op.results[0], emit(AllReduce, part, how="sum"))
            self.options.count("rows")
            return True
        if share is not None or spec_of(right.type).static_shape[columns] % self.ranks:
            return False
        part = emit(type(op), left, self.slice(right, columns, emit), **flags)
        self.shares[op.results[0]] = Share(part, back)
        self.options.count("columns")
        return True

    def grouped(self, op: Op, emit: GraphEmit) -> bool:
        """Share out the groups of a convolution."""
        if op.name != "gv.conv" or not self.is_known(op.operands[1]):
            return False
        image, weights = op.operands
        flags, back, share = op.plain_attributes(), back_of(op), self.shares.get(image)
        if flags["groups"] % self.ranks or (share is not None and share.back != back):
            return False
        own = share.part if share is not None else self.cut(image, back, emit)
        flags["groups"] //= self.ranks
        part = emit(type(op), own, self.slice(weights, 0, emit), **flags)
        self.shares[op.results[0]] = Share(part, back)
        self.options.count("groups")
        return True

    def directions(self, op: Op, emit: GraphEmit) -> bool:
        """Share out the directions of a recurrent layer; say whether there are as many as ranks."""
        flags = op.plain_attributes()
        if not issubclass(type(op), Recurrent) or self.ranks != len(BOTH):
            return False
        if flags["direction"] != "bidirectional":
            return False
        for operand in dict.fromkeys(op.operands):
            if operand in self.shares:
                self.gather(operand, emit)
        x, *others = op.operands
        own = [self.cut(each, spec_of(each.type).rank, emit) for each in others]
        parts = emit(type(op), x, *own, **{**flags, "direction": BOTH[self.rank]})
        for result, part in zip(op.results, parts, strict=True):
            self.shares[result] = Share(part, 3)
        self.options.count("directions")
        return True

    def units(self, op: Op, emit: GraphEmit) -> bool:
        """Share out the units of a recurrent layer of one direction; say whether that can be."""
        if not isinstance(op, Recurrent) or not all(map(self.is_known, op.operands[1:4])):
            return False
        specs, flags = op.specs, op.plain_attributes()
        whole = specs[1].dims[0] == 1 and isinstance(specs[0].dims[0], int) and specs[0].dims[0]
        if not whole or specs[2].static_shape[2] % self.ranks:
            return False
        for operand in dict.fromkeys(op.operands):
            if operand in self.shares:
                self.gather(operand, emit)
        steps = UnitSteps(self, op, emit)
        made = steps.results(reverse=flags["direction"] == "reverse")
        for result, value in zip(op.results, made, strict=True):
            self.replace(result, value)
        self.options.count("units")
        return True

    def array(self, value: SSAValue) -> Array:
        """Return the elements of a weight or a constant."""
        owner = value.owner
        assert isinstance(owner, Op), "a weight is an operation"
        fields = owner.plain_attributes()
        name = str(fields.get("weight", ""))
        return np.asarray(self.program.weights[name] if name else fields["value"])

    def weight(self, name: str, array: Array, emit: GraphEmit) -> SSAValue:
        """Add a weight."""
        spec = spec_of_array(array)
        self.program.weights = {**self.program.weights, name: array}
        made: SSAValue = emit(Weight, weight=Symbol(name), dtype=spec.dtype, shape=spec.dims)
        return made

    def channels(self, op: Op, emit: GraphEmit) -> bool:
        """Compute this rank's channels of what does the same to each of them."""
        share = self.shares.get(op.operands[0]) if op.operands else None
        if share is None:
            return False
        if isinstance(op, Pool) and share.back == back_of(op):
            vectors = []
        elif op.name == "gv.batch_norm" and self.is_axis(op, share):
            vectors = [self.cut(x, 1, emit) for x in op.operands[1:]]
        else:
            return False
        part = emit(type(op), share.part, *vectors, **op.plain_attributes())
        self.shares[op.results[0]] = Share(part, share.back)
        return True

    def is_axis(self, op: Op, share: Share) -> bool:
        """Say whether an operation's axis is that of a share, and all else is whole."""
        rank = spec_of(op.operands[0].type).rank
        others = any(x in self.shares for x in op.operands[1:])
        return bool(rank - op.plain_attributes()["axis"] == share.back) and not others

    def elements(self, op: Op, emit: GraphEmit) -> bool:
        """Compute this rank's part of an operation on elements; say whether that can be."""
        if not is_elementwise(op) or len(op.results) != 1:
            return False
        backs = {self.shares[x].back for x in op.operands if x in self.shares}
        if len(backs) != 1:
            return False
        [back] = backs
        whole = op.result_specs[0].dims[-back]
        specs = [spec_of(x.type) for x in op.operands]
        sizes = [spec.dims[-back] if spec.rank >= back else 1 for spec in specs]
        if not isinstance(whole, int) or any(size not in (1, whole) for size in sizes):
            return False
        if any(x in self.shares and size == 1 for x, size in zip(op.operands, sizes, strict=True)):
            return False
        operands = [
            x if size == 1 else self.own(x, back, emit)
            for x, size in zip(op.operands, sizes, strict=True)
        ]
        part = emit(type(op), *operands, **op.plain_attributes())
        self.shares[op.results[0]] = Share(part, back)
        return True

    def own(self, value: SSAValue, back: int, emit: GraphEmit) -> SSAValue:
        """Return this rank's part of a value that may be shared out."""
        return self.shares[value].part if value in self.shares else self.cut(value, back, emit)

    def gather(self, value: SSAValue, emit: GraphEmit) -> None:
        """Let what is not shared out read the columns of all ranks."""
        dims = spec_of(value.type).dims
        share = self.shares.pop(value)
        own = spec_of(share.part.type).dims
        axis = len(own) - share.back
        first = emit(REGISTRY["gv.reshape"], share.part, shape=(1, *own))
        every = emit(AllGather, first, ranks=self.ranks, rank=self.rank)
        order = (*range(1, axis + 1), 0, *range(axis + 1, len(own) + 1))
        beside = emit(REGISTRY["gv.transpose"], every, order=order)
        self.replace(value, emit(REGISTRY["gv.reshape"], beside, shape=dims))
        self.options.count("gathered")

    def replace(self, old: SSAValue, new: SSAValue) -> None:
        """Let a value stand for another, but in operations that parts stand for."""
        old.replace_uses_with_if(new, lambda use: use.operation not in self.done)

    def is_known(self, value: SSAValue) -> bool:
        """Say whether the elements of a value are known."""
        is_source = isinstance(value.owner, Op) and value.owner.name in ("gv.weight", "gv.constant")
        return is_source and spec_of(value.type).is_static

    def cut(self, value: SSAValue, back: int, emit: GraphEmit) -> SSAValue:
        """Return this rank's part of an axis of a value that every rank has."""
        spec = spec_of(value.type)
        axis = spec.rank - back
        if self.is_known(value):
            return self.slice(value, axis, emit)
        size = spec.dims[axis] // self.ranks
        begin = tuple(self.rank * size if i == axis else 0 for i in range(spec.rank))
        end = (*spec.dims[:axis], (self.rank + 1) * size, *spec.dims[axis + 1 :])
        steps = (1,) * spec.rank
        made: SSAValue = emit(REGISTRY["gv.slice"], value, starts=begin, stops=end, steps=steps)
        return made

    def slice(self, value: SSAValue, axis: int, emit: GraphEmit) -> SSAValue:
        """Return this rank's part of a weight or a constant."""
        owner = value.owner
        assert isinstance(owner, Op), "a weight is an operation"
        fields = owner.plain_attributes()
        name = str(fields.get("weight", ""))
        array = self.array(value)
        part = np.ascontiguousarray(np.split(array, self.ranks, axis)[self.rank])
        if not name:
            constant: SSAValue = emit(REGISTRY["gv.constant"], value=part)
            return constant
        return self.weight(f"{name}.{axis}.{self.rank}of{self.ranks}", part, emit)


class UnitSteps:
    """The steps of a recurrent layer of one direction, of which each rank computes some units."""

    def __init__(self, of: SharedOut, op: Recurrent, emit: GraphEmit) -> None:
        self.of, self.op, self.emit, self.make = of, op, emit, Maker(emit)
        count, self.batch, _ = op.specs[0].dims
        assert isinstance(count, int), "the number of steps is known"
        self.count = count
        whole = op.specs[2].static_shape[2]
        self.gates, self.whole, self.size = op.GATES, whole, whole // of.ranks
        first = of.rank * self.size
        self.own = slice(first, first + self.size)
        w, r, b = (of.array(value)[0] for value in op.operands[1:4])
        self.of_input, self.of_state = (self.part(x) for x in np.split(b, 2))
        self.w, self.r = (self.part(x).T for x in (w, r))

    def part(self, rows: Array) -> Array:
        """Return what belongs to this rank's units, gate by gate."""
        each = rows.reshape(self.gates, self.whole, *rows.shape[1:])[:, self.own]
        return each.reshape(-1, *rows.shape[1:])

    def kept(self, what: str, array: Array) -> SSAValue:
        """Return a weight of this rank."""
        name = (
            f"{self.op.name}{len(self.of.program.weights)}.{what}.{self.of.rank}of{self.of.ranks}"
        )
        return self.of.weight(name, np.ascontiguousarray(array), self.emit)

    def results(self, *, reverse: bool) -> list[SSAValue]:
        """Return all states of the layer, and the last ones, of all units."""
        make, dims = self.make, self.op.specs[0].dims
        rows = make.reshape(self.op.operands[0], shape=(dims[0] * dims[1], dims[2]))
        units, gru = self.size, self.op.name == "gv.gru"
        bias = self.of_input + (np.where(np.arange(3 * units) < 2 * units, self.of_state, 0) if gru
                                else self.of_state)  # fmt: skip
        product = make.add(make.matmul(rows, self.kept("w", self.w)), self.kept("b", bias))
        gates = make.reshape(product, shape=(*dims[:2], self.gates * units))
        every = [self.row(gates, time) for time in range(self.count)]
        self.recurrent = self.kept("r", self.r[:, : 2 * units] if gru else self.r)
        if gru:
            self.hidden = self.kept("rh", self.r[:, 2 * units :])
            self.bias = self.kept("rb", self.of_state[2 * units :])
        states = [self.flat(value) for value in self.op.operands[4:]]
        whole, own = states[0], [self.cut(value, self.of.rank, units) for value in states]
        seen: list[SSAValue] = []
        for time in reversed(range(len(every))) if reverse else range(len(every)):
            own = STEPS[type(self.op)](self, every[time], whole, own)
            whole = self.gathered(own[0])
            seen.append(whole)
        seen = seen[::-1] if reverse else seen
        shape = (1, 1, self.batch, self.whole)
        rows = [make.reshape(value, shape=shape) for value in seen]
        lasts = [whole, *(self.gathered(value) for value in own[1:])]
        made = rows[0] if len(rows) == 1 else make.concat(*rows, axis=0)
        return [made, *(make.reshape(value, shape=shape[1:]) for value in lasts)]

    def row(self, gates: SSAValue, time: int) -> SSAValue:
        """Return the input's part of the gates of one step."""
        width = self.gates * self.size
        made = self.make.slice(
            gates, starts=(time, 0, 0), stops=(time + 1, self.batch, width), steps=(1, 1, 1)
        )
        return self.make.reshape(made, shape=(self.batch, width))  # type: ignore[no-any-return]

    def flat(self, state: SSAValue) -> SSAValue:
        """Return a state without the axis of directions."""
        return self.make.reshape(state, shape=(self.batch, self.whole))  # type: ignore[no-any-return]

    def cut(self, value: SSAValue, place: int, width: int) -> SSAValue:
        """Return columns: those at a place, counted in their width."""
        made: SSAValue = self.make.slice(
            value, starts=(0, place * width), stops=(self.batch, (place + 1) * width), steps=(1, 1)
        )
        return made

    def gathered(self, part: SSAValue) -> SSAValue:
        """Return the columns of all ranks."""
        first = self.make.reshape(part, shape=(1, self.batch, self.size))
        every = self.emit(AllGather, first, ranks=self.of.ranks, rank=self.of.rank)
        beside = self.make.transpose(every, order=(1, 0, 2))
        made: SSAValue = self.make.reshape(beside, shape=(self.batch, self.whole))
        return made

    def lstm(self, gates: SSAValue, whole: SSAValue, own: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the next output and cell."""
        make = self.make
        total = make.add(gates, make.matmul(whole, self.recurrent))
        i, o, f, c = (self.cut(total, n, self.size) for n in range(4))
        cell = make.add(make.mul(make.sigmoid(f), own[1]), make.mul(make.sigmoid(i), make.tanh(c)))
        return [make.mul(make.sigmoid(o), make.tanh(cell)), cell]

    def gru(self, gates: SSAValue, whole: SSAValue, own: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the next state; where its product is taken behind the reset, that is gathered."""
        make, units = self.make, self.size
        product = make.matmul(whole, self.recurrent)
        update, reset = (
            make.sigmoid(make.add(self.cut(gates, n, units), self.cut(product, n, units)))
            for n in range(2)
        )
        if self.op.plain_attributes()["linear_before_reset"]:
            more = make.mul(reset, make.add(make.matmul(whole, self.hidden), self.bias))
        else:
            held = self.gathered(make.mul(reset, own[0]))
            more = make.add(make.matmul(held, self.hidden), self.bias)
        new = make.tanh(make.add(self.cut(gates, 2, units), more))
        return [
            make.add(
                make.mul(make.sub(make.number(1.0, spec_of(update.type).dtype), update), new),
                make.mul(update, own[0]),
            )
        ]

    def rnn(self, gates: SSAValue, whole: SSAValue, own: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the next state."""
        total = self.make.add(gates, self.make.matmul(whole, self.recurrent))
        plain = self.op.plain_attributes()["activation"] == "tanh"
        return [self.make.tanh(total) if plain else self.make.relu(total)]


STEPS = {Lstm: UnitSteps.lstm, Gru: UnitSteps.gru, Rnn: UnitSteps.rnn}


def back_of(op: Op) -> int:
    """Return where the channels of an operation's image are, counted from the last axis."""
    rank = spec_of(op.operands[0].type).rank
    last = bool(op.plain_attributes()["channels_last"])
    return rank - channel_axis(rank, channels_last=last)

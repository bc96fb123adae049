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
directions each of two ranks has one; one direction stays whole, as each of its steps needs all of
the state that the step before it gave. Weights whose sizes the ranks
do not divide stay whole. Every rank has the same operations in the same order. Stands behind
`canonicalize` and `constant-fold`, before anything that lays weights out; needs `dce` behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..ir import REGISTRY, GraphEmit, Op, Program, erase, spec_of
from ..ir.ops.host.collective import AllGather, AllReduce
from ..ir.ops.pool import Pool
from ..ir.ops.rnn import Recurrent
from ..ir.ops.structure import Weight
from ..ir.types.attributes import Symbol
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
            *(self.directions, self.channels, self.elements),
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
        array = np.asarray(self.program.weights[name] if name else fields["value"])
        part = np.ascontiguousarray(np.split(array, self.ranks, axis)[self.rank])
        if not name:
            constant: SSAValue = emit(REGISTRY["gv.constant"], value=part)
            return constant
        own = f"{name}.{axis}.{self.rank}of{self.ranks}"
        self.program.weights = {**self.program.weights, own: part}
        made: SSAValue = emit(Weight, weight=Symbol(own), dtype=fields["dtype"], shape=part.shape)
        return made


def back_of(op: Op) -> int:
    """Return where the channels of an operation's image are, counted from the last axis."""
    rank = spec_of(op.operands[0].type).rank
    last = bool(op.plain_attributes()["channels_last"])
    return rank - channel_axis(rank, channels_last=last)

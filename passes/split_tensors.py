"""Share the weights of products out over ranks: what is left is the program of one of them.

    %h = gv.matmul %x, %a               %h = gv.matmul %x, (columns of %a)
    %g = gv.relu %h              =>     %g = gv.relu %h
    %y = gv.matmul %g, %b               %p = gv.matmul %g, (rows of %b)
                                        %y = gv.all_reduce %p

A product of known columns gives its rank's columns of the result. What follows element by element
stays so, and a product that reads it has its rank's rows: their results are added up over ranks.
Where anything else reads it, the columns of all ranks are gathered first. Weights whose sizes the
ranks do not divide stay whole. Every rank has the same operations in the same order. Stands behind
`canonicalize` and `constant-fold`, before anything that lays weights out; needs `dce` behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..ir import REGISTRY, GraphEmit, Op, Program, erase, spec_of
from ..ir.ops.host.collective import AllGather, AllReduce
from ..ir.ops.structure import Weight
from ..ir.types.attributes import Symbol
from .analysis.kernels.reads import is_elementwise
from .base import Pass, PipelineError


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


class SharedOut:
    """What is shared out of a block, as far as it was walked."""

    def __init__(self, options: SplitTensors, program: Program) -> None:
        self.options, self.program = options, program
        self.ranks, self.rank = options.ranks, options.rank
        self.parts: dict[SSAValue, SSAValue] = {}
        """Of values whose last axis is shared out, this rank's part."""
        self.done: dict[Operation, None] = {}
        """Operations that parts stand for, in order."""

    def visit(self, op: Operation) -> None:
        """Share an operation out, or give it whole operands."""
        emit = GraphEmit.before(op)
        if isinstance(op, Op) and (self.product(op, emit) or self.elements(op, emit)):
            self.done[op] = None
            return
        for operand in dict.fromkeys(op.operands):
            if operand in self.parts:
                self.gather(operand, emit)

    def finish(self) -> None:
        """Erase the operations that parts stand for."""
        for op in reversed(self.done):
            erase(op)

    def product(self, op: Op, emit: GraphEmit) -> bool:
        """Share out a product with a matrix that is known; say whether it was."""
        if op.name != "gv.matmul" or not self.is_known(op.operands[1]):
            return False
        left, right = op.operands
        flags, shape = op.plain_attributes(), spec_of(right.type).static_shape
        turned = bool(flags["transpose_rhs"])
        rows, columns = (1, 0) if turned else (0, 1)
        if left in self.parts and not flags["transpose_lhs"]:
            part = emit(type(op), self.parts[left], self.slice(right, rows, emit), **flags)
            made = emit(AllReduce, part, how="sum")
            self.replace(op.results[0], made)
            self.options.count("rows")
            return True
        if left in self.parts or shape[columns] % self.ranks:
            return False
        part = emit(type(op), left, self.slice(right, columns, emit), **flags)
        self.parts[op.results[0]] = part
        self.options.count("columns")
        return True

    def elements(self, op: Op, emit: GraphEmit) -> bool:
        """Compute this rank's part of an operation on elements; say whether that can be."""
        if not is_elementwise(op) or len(op.results) != 1:
            return False
        if not any(operand in self.parts for operand in op.operands):
            return False
        whole = op.result_specs[0].dims[-1]
        sizes = [spec_of(x.type).dims[-1] if spec_of(x.type).rank else 1 for x in op.operands]
        if not isinstance(whole, int) or any(size not in (1, whole) for size in sizes):
            return False
        operands = [
            x if size == 1 else self.parts[x] if x in self.parts else self.cut(x, emit)
            for x, size in zip(op.operands, sizes, strict=True)
        ]
        self.parts[op.results[0]] = emit(type(op), *operands, **op.plain_attributes())
        return True

    def gather(self, value: SSAValue, emit: GraphEmit) -> None:
        """Let what is not shared out read the columns of all ranks."""
        dims = spec_of(value.type).dims
        part = self.parts.pop(value)
        own = spec_of(part.type).dims
        first = emit(REGISTRY["gv.reshape"], part, shape=(1, *own))
        every = emit(AllGather, first, ranks=self.ranks, rank=self.rank)
        order = (*range(1, len(own)), 0, len(own))
        beside = emit(REGISTRY["gv.transpose"], every, order=order)
        self.replace(value, emit(REGISTRY["gv.reshape"], beside, shape=dims))
        self.options.count("gathered")

    def replace(self, old: SSAValue, new: SSAValue) -> None:
        """Let a value stand for another, but in operations that parts stand for."""
        old.replace_uses_with_if(new, lambda use: use.operation not in self.done)

    def is_known(self, value: SSAValue) -> bool:
        """Say whether a value is a matrix whose elements are known."""
        is_source = isinstance(value.owner, Op) and value.owner.name in ("gv.weight", "gv.constant")
        spec = spec_of(value.type)
        return is_source and spec.rank == 2 and spec.is_static

    def cut(self, value: SSAValue, emit: GraphEmit) -> SSAValue:
        """Return this rank's part of the last axis of a value that every rank has."""
        spec = spec_of(value.type)
        owner = value.owner
        if isinstance(owner, Op) and owner.name in ("gv.weight", "gv.constant") and spec.is_static:
            return self.slice(value, spec.rank - 1, emit)
        size = spec.dims[-1] // self.ranks
        begin = (*(0 for _ in spec.dims[1:]), self.rank * size)
        end = (*spec.dims[:-1], (self.rank + 1) * size)
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

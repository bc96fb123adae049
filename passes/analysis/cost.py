"""Count what operations do: multiplications with addition, arithmetic, functions, bytes.

The numbers come from the operations' own rules: the formula of an element is run on a `math` that
counts, and a loop nest has as many points as its extents say; what has neither says its `work`
itself. So a new operation is counted without being named here.

    matmul of [M, K] and [K, N]     M * N * K multiplications with addition, twice that many flops

A comparison, a choice or a negation is one flop; a conversion or a move is none. Functions (exp,
tanh, a square root) are counted by themselves, since what they cost is up to the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ...ir import Dim, Op
from ...ir.facts import Work
from ...ir.types import dims
from ...ir.types.tensor import TensorSpec, spec_of
from .decomposing import decompose
from .steps import CountingMath, counted


@dataclass(frozen=True)
class Cost(Work):
    """What is done once: all numbers are exact for the sizes they were counted for."""

    read: int = 0
    """Bytes of operands, each counted once."""
    written: int = 0
    """Bytes of results."""

    def __add__(self, other: Work) -> Cost:
        mine, theirs = vars(self), vars(other)
        return Cost(**{name: number + theirs.get(name, 0) for name, number in mine.items()})

    def as_json(self) -> dict[str, int]:
        """Return the numbers by name."""
        return dict(vars(self))


def cost_of_function(function: FuncOp, sizes: Mapping[str, int]) -> Cost:
    """Return the cost of all operations of a function on tensors, those in regions included."""
    ops = (op for op in function.body.block.walk() if isinstance(op, Op))
    return total(cost_of(op, sizes) for op in ops)


def cost_of_kernel(function: FuncOp, sizes: Mapping[str, int]) -> Cost:
    """Return what a kernel computes, and the bytes that it is given and returns, each once.

    Of an argument that is only selected from, what is selected counts.
    """
    work, size = cost_of_function(function, sizes), _Sizes(sizes)
    block = function.body.block
    last = block.last_op
    assert last is not None, "a kernel returns what it computes"
    read = sum(_read(argument, size) for argument in block.args)
    written = size.bytes(spec_of(value.type) for value in last.operands)
    return Cost(work.macs, work.flops, work.functions, read, written)


def _read(argument: SSAValue, size: _Sizes) -> int:
    whole = size.bytes([spec_of(argument.type)])
    users = [use.operation for use in argument.uses]
    chosen = [op for op in users if isinstance(op, Op) and op.moved(1) is not None]
    if len(chosen) < len(users):
        return whole
    return min(whole, sum(size.bytes(op.result_specs) for op in chosen))


def cost_of(op: Op, sizes: Mapping[str, int]) -> Cost:
    """Return the cost of one operation; what it only holds in regions is not in it."""
    if op.WORKLESS or op.regions:
        return Cost()
    size = _Sizes(sizes)
    bytes_ = Cost(read=size.bytes(op.specs), written=size.bytes(op.result_specs))
    if op.has("work"):
        known = [size.known(op.specs), size.known(op.result_specs)]
        return bytes_ + type(op).work(*known, **op.plain_attributes())
    if op.has("scalar"):
        return bytes_ + counted(op).times(size.of(op.result_specs[0].dims))
    if op.has("iteration"):
        return bytes_ + _iteration(op, size)
    if op.has("decompose"):
        parts = total(cost_of(part, sizes) for part in _parts(op))
        return bytes_ + Work(parts.macs, parts.flops, parts.functions)
    return bytes_


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum."""
    return sum(costs, Cost())


def largest(ranges: Mapping[str, dims.Range]) -> dict[str, int]:
    """Return a value for each symbol: its largest, or its smallest if it is not bounded."""
    return {name: low if high is None else high for name, (low, high) in ranges.items()}


class _Sizes:
    """Sizes as numbers."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.values = values

    def of(self, shape: Iterable[Dim]) -> int:
        """Return the number of elements."""
        return prod(dims.evaluate(dim, self.values) for dim in shape)

    def bytes(self, specs: Iterable[TensorSpec]) -> int:
        """Return the bytes of tensors."""
        return sum(self.of(spec.dims) * spec.dtype.size for spec in specs)

    def known(self, specs: Iterable[TensorSpec]) -> list[TensorSpec]:
        """Return tensors of these sizes."""
        return [s.with_shape([dims.evaluate(d, self.values) for d in s.dims]) for s in specs]


def _iteration(op: Op, size: _Sizes) -> Work:
    nest = type(op).iteration(*op.specs, **op.plain_attributes())
    parallel = size.of(nest.parallel)
    points = parallel * size.of(nest.reduce)
    body, finish = CountingMath(), CountingMath()
    nest.body(body, *(spec.dtype for spec in op.specs))
    if nest.finish is not None:
        nest.finish(finish, op.result_specs[0].dtype)
    is_product = nest.combiner == "add" and "mul" in body.counts
    combined = Work(macs=points if is_product else 0, flops=points)
    return body.times(points) + finish.times(parallel) + combined


def _parts(op: Op) -> list[Op]:
    """Return the operations that one decomposes into, from a copy of it."""
    block = Block(arg_types=[operand.type for operand in op.operands])
    copy = type(op).create(
        operands=block.args,
        result_types=[result.type for result in op.results],
        properties=op.properties.copy(),
    )
    block.add_op(copy)
    decompose(copy)
    return [part for part in block.ops if isinstance(part, Op)]

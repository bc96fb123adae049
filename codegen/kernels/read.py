"""Fusion by reading: the element of a value at an index, through the operations that make it.

A kernel's region is never materialised: a template asks the `Reader` for the element (or
the vector of elements) of a value at an index, and gets a load for an argument, an
expression for an element-wise operation, and another index for a data movement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import BlockArgument, SSAValue

from ...ir.dims import Dim
from ...ir.dtypes import DType
from ...ir.op import Op
from ...ir.tensor import TensorSpec, spec_of
from .elements import Element, LoopsMath
from .index import Linear, Opaque, Term, flatten, number, of, unflatten
from .indexed import SPECIAL
from .loops import NO_OVERFLOW, Loops, predicate, vector_type
from .space import Space

Indices: TypeAlias = tuple[Linear, ...]
INDEX = IndexType()


@dataclass(frozen=True)
class Access:
    """One read of a buffer while tracing: the argument and its flat offset."""

    argument: SSAValue
    offset: Linear


def broadcast_index(index: Sequence[Linear], source: TensorSpec, result: TensorSpec) -> Indices:
    """Return the index into an operand that broadcasts to the result."""
    tail = index[len(index) - source.rank :]
    dims = result.dims[result.rank - source.rank :]
    return tuple(
        number(0) if s == 1 and d != 1 else i
        for i, s, d in zip(tail, source.dims, dims, strict=True)
    )


# -- data movement: the index into the source for an index into the result ----------------


def _reshape(op: Op, index: Indices) -> Indices | None:
    flat = flatten(index, op.result_specs[0].dims)
    found = unflatten(flat, op.specs[0].dims)
    return None if found is None else tuple(found)


def _transpose(op: Op, index: Indices) -> Indices:
    order = op.plain_attributes()["order"]
    return tuple(index[order.index(axis)] for axis in range(len(order)))


def _broadcast_to(op: Op, index: Indices) -> Indices:
    return broadcast_index(index, op.specs[0], op.result_specs[0])


def _slice(op: Op, index: Indices) -> Indices:
    attributes = op.plain_attributes()
    rows = zip(index, attributes["starts"], attributes["steps"], strict=True)
    return tuple(i * step + start for i, start, step in rows)


MOVES: dict[str, Callable[[Op, Indices], Indices | None]] = {
    "gv.reshape": _reshape,
    "gv.transpose": _transpose,
    "gv.broadcast_to": _broadcast_to,
    "gv.slice": _slice,
}
"""Operations that only move data, by the index they read their one operand at."""


class Tracer:
    """Follows reads down to the buffers without building anything."""

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.alone: set[Term] = set()
        """Tokens that are used by themselves, so that they cannot be merged."""
        self.stops: dict[SSAValue, list[Indices]] = {}
        """Values not to look behind, with the indices they were read at."""
        self._seen: set[tuple[SSAValue, Indices]] = set()

    def visit(self, value: SSAValue, index: Indices) -> None:
        """Record all accesses that the element needs."""
        if (value, index) in self._seen:
            return
        self._seen.add((value, index))
        if value in self.stops:
            self.stops[value].append(index)
            return
        if isinstance(value, BlockArgument):
            self.accesses.append(Access(value, flatten(index, spec_of(value.type).dims)))
            return
        op = value.owner
        assert isinstance(op, Op), f"{op} is not a graph operation"
        if op.name in MOVES:
            source = MOVES[op.name](op, index)
            self.visit(op.operands[0], source or self._opaque_index(op.specs[0].dims, index))
        elif op.name in SPECIAL:
            SPECIAL[op.name].trace(self, op, index)
        else:
            for operand, spec in zip(op.operands, op.specs, strict=True):
                self.visit(operand, broadcast_index(index, spec, op.result_specs[0]))

    def use_alone(self, *index: Linear) -> None:
        """Note that these indices are used as numbers."""
        self.alone.update(term for part in index for term, _ in part.terms)

    def _opaque_index(self, shape: Sequence[Dim], index: Indices) -> Indices:
        self.use_alone(*index)
        return tuple(of(Opaque(None, d)) for d in shape)


class Reader:
    """Builds elements in the loops that are open."""

    def __init__(self, loops: Loops, arguments: Sequence[SSAValue], space: Space) -> None:
        self.loops, self.math, self.space = loops, LoopsMath(loops), space
        self.buffers = dict(zip(arguments, loops.buffers, strict=False))
        self.given: dict[SSAValue, Callable[[Indices], Element]] = {}
        """Values that a template computes itself (a row's sum, a register tile)."""
        self.known: dict[Any, Element] = {}
        self.mask: SSAValue | None = None
        """The lanes that exist; all if None."""
        self.constant_loads = True
        """Whether loads may move out of loops (nothing here writes to what is read)."""

    def fresh(self) -> None:
        """Forget elements made in loops that are closed."""
        self.known = {}

    def element(self, value: SSAValue, index: Indices) -> Element:
        """Return the element of a value at an index: a vector where the index has lanes."""
        key = (value, index, self.mask)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._element(value, index)
        return found

    def _element(self, value: SSAValue, index: Indices) -> Element:
        if value in self.given:
            return self.given[value](index)
        if isinstance(value, BlockArgument):
            return self.load(value, index)
        op = value.owner
        assert isinstance(op, Op), f"{op} is not a graph operation"
        if op.name in MOVES:
            source = MOVES[op.name](op, index)
            return self.element(op.operands[0], source or self._computed_index(op, index))
        if op.name in SPECIAL:
            return SPECIAL[op.name].build(self, op, index)
        result = op.result_specs[0]
        elements = [
            self.element(operand, broadcast_index(index, spec, result))
            for operand, spec in zip(op.operands, op.specs, strict=True)
        ]
        made = type(op).scalar(self.math, *elements, **op.plain_attributes())
        assert isinstance(made, Element), f"{op.name}: the scalar rule gave {made}"
        return made

    def load(self, argument: SSAValue, index: Indices) -> Element:
        """Load from the buffer of an argument."""
        spec = spec_of(argument.type)
        return self.load_flat(self.buffers[argument], spec.dtype, flatten(index, spec.dims))

    def load_flat(self, buffer: SSAValue, dtype: DType, offset: Linear) -> Element:
        """Load an element, a vector, or a strided vector."""
        base, stride, extra = self.space.split(self.loops, offset)
        lanes = self.space.lanes
        if extra is None and stride == 0:
            value = self.loops.load(buffer, base, 0, constant=self.constant_loads)
            return self.math.widen(value, dtype, 0)
        if extra is None and stride == 1:
            value = self.loops.load(buffer, base, lanes, self.mask, constant=self.constant_loads)
            return self.math.widen(value, dtype, lanes)
        offsets = self.offsets(stride, extra, lanes)
        value = self.loops.gather(buffer, base, offsets, self.mask, constant=self.constant_loads)
        return self.math.widen(value, dtype, lanes)

    def offsets(self, stride: Dim, extra: SSAValue | None, lanes: int) -> SSAValue:
        """Return the offset of each lane, from a stride and further offsets."""
        kind = vector_type(INDEX, lanes)
        total = extra
        if stride != 0:
            step = self.loops.step(lanes)
            if stride != 1:
                factor = self.loops.broadcast(self.loops.index(stride), lanes)
                step = self.loops.pure(arith.MuliOp, (step, factor), kind, NO_OVERFLOW)
            total = (
                step
                if total is None
                else self.loops.pure(arith.AddiOp, (total, step), kind, NO_OVERFLOW)
            )
        assert total is not None, "a gather needs offsets"
        return total

    def number(self, index: Linear) -> tuple[SSAValue, int]:
        """Return an index as a value: a scalar, or a vector with its lanes."""
        base, stride, extra = self.space.split(self.loops, index)
        value = self.loops.index(base)
        if stride == 0 and extra is None:
            return value, 0
        lanes = self.space.lanes
        offsets = self.offsets(stride, extra, lanes)
        wide = self.loops.broadcast(value, lanes)
        kind = vector_type(INDEX, lanes)
        return self.loops.pure(arith.AddiOp, (wide, offsets), kind, NO_OVERFLOW), lanes

    def _computed_index(self, op: Op, index: Indices) -> Indices:
        """Return the source index of a reshape by division at run time."""
        flat, lanes = self.number(flatten(index, op.result_specs[0].dims))
        found: list[Linear] = []
        for position, extent in reversed(list(enumerate(op.specs[0].dims))):
            inner = flat if position == 0 else self.divided(arith.RemUIOp, flat, extent, lanes)
            found.append(of(Opaque(inner, extent, lanes)))
            if position:
                flat = self.divided(arith.DivUIOp, flat, extent, lanes)
        return tuple(reversed(found))

    def divided(self, op: Any, value: SSAValue, by: Dim, lanes: int) -> SSAValue:
        """Return a quotient or remainder of an index by a dimension."""
        divisor = self.loops.index(by)
        if lanes:
            divisor = self.loops.broadcast(divisor, lanes)
        return self.loops.pure(op, (value, divisor), vector_type(INDEX, lanes))

    def clamp(self, value: SSAValue, lanes: int, extent: Dim) -> SSAValue:
        """Return an index moved into 0 .. extent-1."""
        kind = vector_type(INDEX, lanes)
        low, high = (
            self.loops.index(0),
            self.loops.index(self.loops.subtract(self.loops.index(extent), 1)),
        )
        if lanes:
            low, high = self.loops.broadcast(low, lanes), self.loops.broadcast(high, lanes)
        value = self.loops.pure(arith.MinSIOp, (value, high), kind)
        return self.loops.pure(arith.MaxSIOp, (value, low), kind)

    def inside(self, index: Linear, extent: Dim) -> tuple[SSAValue, int, SSAValue]:
        """Return an index as a value, its lanes, and whether 0 <= index < extent."""
        value, lanes = self.number(index)
        bound = self.loops.index(extent)
        if lanes:
            bound = self.loops.broadcast(bound, lanes)
        below = predicate(6)
        return (
            value,
            lanes,
            self.loops.pure(arith.CmpiOp, (value, bound), vector_type(i1, lanes), below),
        )

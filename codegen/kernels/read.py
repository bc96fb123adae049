"""Fusion by reading: the element of a value at an index, through the operations that make it.

A kernel's region is never materialised: a template asks the `Reader` for the element (or
the vector of elements) of a value at an index, and gets a load for an argument, an
expression for an element-wise operation, and another index for a data movement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import BlockArgument, SSAValue

from ...ir import dtypes
from ...ir.dims import Dim
from ...ir.op import Op
from ...ir.tensor import TensorSpec, spec_of
from .elements import Element, LoopsMath
from .index import Linear, Opaque, Term, flatten, number, of, unflatten
from .loops import Index, Loops, vector_type
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
        elif op.name in _SPECIAL:
            _SPECIAL[op.name].trace(self, op, index)
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
        if op.name in _SPECIAL:
            return _SPECIAL[op.name].build(self, op, index)
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

    def load_flat(self, buffer: SSAValue, dtype: dtypes.DType, offset: Linear) -> Element:
        """Load an element, a vector, or a strided vector."""
        base, stride, extra = self.space.split(self.loops, offset)
        lanes = self.space.lanes
        if extra is None and stride == 0:
            value = self.loops.load(buffer, base, 0, constant=self.constant_loads)
            return self.math.widen(value, dtype, 0)
        if extra is None and stride == 1:
            value = self.loops.load(buffer, base, lanes, self.mask, constant=self.constant_loads)
            return self.math.widen(value, dtype, lanes)
        offsets = self._offsets(stride, extra, lanes)
        value = self.loops.gather(buffer, base, offsets, self.mask)
        return self.math.widen(value, dtype, lanes)

    def _offsets(self, stride: Dim, extra: SSAValue | None, lanes: int) -> SSAValue:
        kind = vector_type(INDEX, lanes)
        total = extra
        if stride != 0:
            step = self.loops.step(lanes)
            if stride != 1:
                factor = self.loops.broadcast(self.loops.index(stride), lanes)
                step = self.loops.pure(arith.MuliOp, (step, factor), kind, _NONE)
            total = (
                step if total is None else self.loops.pure(arith.AddiOp, (total, step), kind, _NONE)
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
        offsets = self._offsets(stride, extra, lanes)
        wide = self.loops.broadcast(value, lanes)
        kind = vector_type(INDEX, lanes)
        return self.loops.pure(arith.AddiOp, (wide, offsets), kind, _NONE), lanes

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
        from xdsl.dialects.builtin import IntegerAttr  # noqa: PLC0415

        below = {"predicate": IntegerAttr(6, 64)}
        return (
            value,
            lanes,
            self.loops.pure(arith.CmpiOp, (value, bound), vector_type(i1, lanes), below),
        )


_NONE = {"overflowFlags": arith.IntegerOverflowAttr("none")}


# -- operations that need more than an index ----------------------------------------------


@dataclass(frozen=True)
class Special:
    """How an operation is traced and built."""

    trace: Callable[[Tracer, Op, Indices], None]
    build: Callable[[Reader, Op, Indices], Element]


def _trace_constant(tracer: Tracer, op: Op, index: Indices) -> None:
    """Record nothing: a splat needs no memory."""


def _build_constant(reader: Reader, op: Op, index: Indices) -> Element:
    value = op.plain_attributes()["value"]
    assert value.size == 1 or not any(value.strides), "only splat constants stay in kernels"
    scalar = np.asarray(value).reshape(-1)[0] if value.size == 1 else value[(0,) * value.ndim]
    return reader.math.constant(scalar.item(), op.result_specs[0].dtype)


def _trace_iota(tracer: Tracer, op: Op, index: Indices) -> None:
    tracer.use_alone(index[op.plain_attributes()["axis"]])


def _build_iota(reader: Reader, op: Op, index: Indices) -> Element:
    value, lanes = reader.number(index[op.plain_attributes()["axis"]])
    return reader.math.from_index(value, op.result_specs[0].dtype, lanes)


def _trace_pad(tracer: Tracer, op: Op, index: Indices) -> None:
    source = [i + _negative(low) for i, (low, _) in zip(index, _pads(op), strict=True)]
    padded = [s for s, (low, high) in zip(source, _pads(op), strict=True) if low or high]
    tracer.use_alone(*padded)
    tracer.visit(op.operands[0], tuple(source))


def _pads(op: Op) -> Sequence[tuple[Dim, Dim]]:
    pads: Sequence[tuple[Dim, Dim]] = op.plain_attributes()["pads"]
    return pads


def _negative(dim: Dim) -> Dim:
    return 0 - dim


def _build_pad(reader: Reader, op: Op, index: Indices) -> Element:
    attributes = op.plain_attributes()
    assert attributes["mode"] == "constant", f"pad mode {attributes['mode']} is not read in place"
    spec = op.specs[0]
    source: list[Linear] = []
    outside: list[Element] = []
    saved = reader.mask
    for part, (low, high), extent in zip(index, attributes["pads"], spec.dims, strict=True):
        moved = part + _negative(low)
        if low == 0 and high == 0:
            source.append(moved)
            continue
        value, lanes, inside = reader.inside(moved, extent)
        outside.append(Element(inside, dtypes.bool_, lanes))
        if lanes and reader.space.is_contiguous(moved):
            mask = reader.mask
            reader.mask = (
                inside
                if mask is None
                else reader.loops.pure(arith.AndIOp, (mask, inside), inside.type)
            )
            source.append(moved)
        else:
            source.append(of(Opaque(reader.clamp(value, lanes, extent), extent, lanes)))
    element = reader.element(op.operands[0], tuple(source))
    reader.mask = saved
    fill = reader.math.constant(attributes["value"], spec.dtype)
    for condition in outside:
        element = reader.math.select(condition, element, fill)
    return element


def _trace_gather(tracer: Tracer, op: Op, index: Indices) -> None:
    axis = op.plain_attributes()["axis"]
    rank = op.specs[1].rank
    tracer.visit(op.operands[1], index[axis : axis + rank])
    picked = of(Opaque(None, op.specs[0].dims[axis]))
    tracer.visit(op.operands[0], (*index[:axis], picked, *index[axis + rank :]))


def _build_gather(reader: Reader, op: Op, index: Indices) -> Element:
    axis = op.plain_attributes()["axis"]
    rank = op.specs[1].rank
    extent = op.specs[0].dims[axis]
    at = reader.element(op.operands[1], index[axis : axis + rank])
    value = wrap_negative(reader, at, extent)
    picked = of(Opaque(value, extent, at.lanes))
    return reader.element(op.operands[0], (*index[:axis], picked, *index[axis + rank :]))


def wrap_negative(reader: Reader, at: Element, extent: Dim) -> SSAValue:
    """Return a data-dependent index counted from the front and clamped into the axis."""
    value = reader.math.to_index(at)
    if at.dtype.kind == "i":
        size = reader.math.from_index(reader.loops.index(extent), dtypes.i64, 0)
        wide = reader.math.cast(at, dtypes.i64)
        negative = reader.math.compare("lt", wide, reader.math.constant(0, dtypes.i64))
        wrapped = reader.math.select(negative, reader.math.add(wide, size), wide)
        value = reader.math.to_index(wrapped)
    return reader.clamp(value, at.lanes, extent)


def _trace_extent(tracer: Tracer, op: Op, index: Indices) -> None:
    tracer.use_alone(*index)


def _build_extent(reader: Reader, op: Op, index: Indices) -> Element:
    values = op.plain_attributes()["values"]
    at, lanes = reader.number(index[0])
    where = Element(at, dtypes.i64, lanes)
    where = reader.math.from_index(at, dtypes.i64, lanes)
    total = reader.math.from_index(reader.loops.index(values[0]), dtypes.i64, 0)
    for position, value in enumerate(values[1:], 1):
        here = reader.math.compare("eq", where, reader.math.constant(position, dtypes.i64))
        other = reader.math.from_index(reader.loops.index(value), dtypes.i64, 0)
        total = reader.math.select(here, other, total)
    return total


_SPECIAL: dict[str, Special] = {
    "gv.constant": Special(_trace_constant, _build_constant),
    "gv.iota": Special(_trace_iota, _build_iota),
    "gv.pad": Special(_trace_pad, _build_pad),
    "gv.gather": Special(_trace_gather, _build_gather),
    "gv.extent": Special(_trace_extent, _build_extent),
}


def readable(op: Op) -> bool:
    """Say whether the operation can be read in place: fused into what uses it."""
    if op.name == "gv.pad":
        return bool(op.plain_attributes()["mode"] == "constant")
    if op.name == "gv.constant":
        value = op.plain_attributes()["value"]
        return bool(value.size == 1 or not any(value.strides))
    return op.name in MOVES or op.name in _SPECIAL or op.has("scalar")


__all__ = ["Access", "Index", "Indices", "MOVES", "Reader", "Tracer", "readable", "wrap_negative"]

"""Fusion by reading: the element of a value at an index, through the operations that make it.

A kernel's region is never materialised: a template asks the `Reader` for the element (or
the vector of elements) of a value at an index, and gets a load for an argument, an
expression for an element-wise operation, and another index for a data movement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import BlockArgument, SSAValue

from ....ir.op import Op
from ....ir.ops.layout import Reshape
from ....ir.scalar_math import ScalarMath
from ....ir.types import dtypes
from ....ir.types.dims import Dim
from ....ir.types.dtypes import DType
from ....ir.types.indices import (
    Indices,
    Linear,
    NeedSplit,
    Opaque,
    Term,
    broadcast_index,
    flatten,
    of,
    unflatten,
)
from ....ir.types.tensor import spec_of
from ....passes.analysis.orders import runs_of_axes
from ....passes.analysis.walks import is_move, source_index
from .elements import Element, LoopsMath
from .loops import NO_OVERFLOW, Index, Loops, predicate, vector_type
from .space import Space

INDEX = IndexType()
NEAR = 4
"""How far apart lanes may lie that are sooner taken out of whole vectors."""


@dataclass(frozen=True)
class Access:
    """One read of a buffer while tracing: the argument and its flat offset."""

    argument: SSAValue
    offset: Linear


class Nothing(ScalarMath):
    """A `ScalarMath` that computes nothing of nothing."""

    def step(self, name: str, *values: Any) -> None:
        """Do nothing."""


NOTHING = Nothing()


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
        if is_move(op):
            source = source_index(op, index)
            argument = reshaped_argument(value) if source is None else None
            if argument is not None and argument not in self.stops:
                self.accesses.append(Access(argument, flatten(index, op.result_specs[0].dims)))
                return
            self.visit(op.operands[0], source or self._opaque_index(op, index))
        elif op.has("element_at"):
            type(op).element_at(self, index, *op.operands, **op.plain_attributes())
        else:
            for operand, spec in zip(op.operands, op.specs, strict=True):
                self.visit(operand, broadcast_index(index, spec, op.result_specs[0]))

    def use_alone(self, *index: Linear) -> None:
        """Note that these indices are used as numbers."""
        self.alone.update(term for part in index for term, _ in part.terms)

    # -- as a `Reading` -------------------------------------------------------------------

    math = NOTHING

    def element(self, value: SSAValue, index: Indices) -> None:
        """Record what an element needs."""
        self.visit(value, index)

    def counted(self, index: Linear, dtype: DType) -> None:
        """Note that an index is used as a number."""
        self.use_alone(index)

    def size(self, dim: Dim) -> None:
        """Record nothing: sizes are in no buffer."""

    def place(self, at: None, extent: Dim) -> Linear:
        """Return an index of which nothing is known."""
        return of(Opaque(None, extent))

    picked = place

    def within(self, value: SSAValue, index: Indices, guarded: Sequence[bool], fill: float) -> None:
        """Note what is guarded, and record the element."""
        self.use_alone(*(i for i, outside in zip(index, guarded, strict=True) if outside))
        dims = spec_of(value.type).dims
        self.visit(
            value, tuple(Linear() if d == 1 else i for i, d in zip(index, dims, strict=True))
        )

    def _opaque_index(self, op: Op, index: Indices) -> Indices:
        """Return the source index of a reshape of which only some parts are linear."""
        source, result = op.specs[0].dims, op.result_specs[0].dims
        found: list[Linear] = []
        for axes, places in runs_of_axes(source, result):
            parts = unflatten(flatten(index[places], result[places]), source[axes])
            if parts is None:
                self.use_alone(*index[places])
                parts = [of(Opaque(None, d)) for d in source[axes]]
            found += parts
        return tuple(found)


def reshaped_argument(value: SSAValue) -> BlockArgument | None:
    """Return the argument that a value is with another shape, if it is one.

    At an index that is data, its elements need not be looked for along the argument's own axes:
    where they are in memory is the same in each shape.
    """
    while isinstance(value.owner, Reshape):
        value = value.owner.operands[0]
    return value if isinstance(value, BlockArgument) else None


class ElementReader:
    """Builds elements in the loops that are open."""

    def __init__(self, loops: Loops, arguments: Sequence[SSAValue], space: Space) -> None:
        self.loops, self.math, self.space = loops, LoopsMath(loops), space
        self.buffers = dict(zip(arguments, loops.buffers, strict=False))
        self.given: dict[SSAValue, Callable[[Indices], Element]] = {}
        """Values that a template computes itself (a row's sum, a register tile)."""
        self.known: dict[Any, Element] = {}
        self.mask: SSAValue | None = None
        """The lanes that exist; all if None."""
        self.tail: tuple[SSAValue, Index] | None = None
        """The mask of the first lanes of the last vector, and how many they are."""
        self.beyond: frozenset[Term] = frozenset()
        """What may go past an axis in lanes that the mask leaves out, and so in whole vectors."""
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
        if is_move(op):
            source = self._source_index(op, index)
            argument = reshaped_argument(value) if source is None else None
            if argument is not None and argument not in self.given:
                spec, flat = spec_of(argument.type), flatten(index, op.result_specs[0].dims)
                return self.load_flat(self.buffers[argument], spec.dtype, flat, spec.size)
            return self.element(op.operands[0], source or self._computed_index(op, index))
        if op.has("element_at"):
            read = type(op).element_at(self, index, *op.operands, **op.plain_attributes())
            assert isinstance(read, Element), f"{op.name}: element_at gave {read}"
            return read
        result = op.result_specs[0]
        elements = [
            self.element(operand, broadcast_index(index, spec, result))
            for operand, spec in zip(op.operands, op.specs, strict=True)
        ]
        made = type(op).scalar(self.math, *elements, **op.plain_attributes())
        assert isinstance(made, Element), f"{op.name}: the scalar rule gave {made}"
        return made

    def _source_index(self, op: Op, index: Indices) -> Indices | None:
        """Return where a move reads from; None where it is computed at run time.

        The loops were split by what was traced. Where a part of an index is data by now, as what
        was moved inside of its axis, more could be split: it is not, for that one read.
        """
        try:
            return source_index(op, index)
        except NeedSplit:
            return None

    def load(self, argument: SSAValue, index: Indices) -> Element:
        """Load from the buffer of an argument."""
        spec = spec_of(argument.type)
        flat = flatten(index, spec.dims)
        return self.load_flat(self.buffers[argument], spec.dtype, flat, spec.size)

    def load_flat(
        self, buffer: SSAValue, dtype: DType, offset: Linear, size: Dim | None = None
    ) -> Element:
        """Load an element, a vector, or a strided vector.

        One element for all lanes knows no mask. Where none of them exists it is moved into the
        buffer, which has this size: nobody takes what is there.
        """
        times = self.space.times(offset)
        if times > 1 and not self.beyond and self.is_plain:
            value = self.load_repeated(buffer, offset, times)
            return self.math.widen(value, dtype, self.space.lanes)
        base, stride, extra = self.space.split(self.loops, offset)
        lanes = self.space.lanes
        if extra is None and stride == 0:
            if size is not None and any(term in self.beyond for term, _ in offset.terms):
                base = self.clamp(self.loops.index(base), 0, size)
            value = self.loops.load(buffer, base, 0, constant=self.constant_loads)
            return self.math.widen(value, dtype, 0)
        if extra is None and stride == 1:
            value = self.loops.load(buffer, base, lanes, self.mask, constant=self.constant_loads)
        elif extra is None and self.is_near(stride):
            value = self.load_near(buffer, base, stride)
        else:
            offsets = self.offsets(stride, extra, lanes)
            value = self.loops.gather(
                buffer, base, offsets, self.mask, constant=self.constant_loads
            )
        return self.math.widen(value, dtype, lanes)

    def is_near(self, stride: Dim) -> TypeGuard[int]:
        """Say whether lanes that lie so far apart are sooner taken out of whole vectors."""
        lanes = self.space.lanes
        if self.loops.fine or self.mask is not None or not isinstance(stride, int):
            return False
        return abs(stride) <= min(NEAR, lanes)

    def load_near(self, buffer: SSAValue, base: Index, stride: int) -> SSAValue:
        """Load a vector whose elements lie a few apart, or backwards, out of whole vectors.

        The last of these ends with the last element, so that none reaches farther.
        """
        loops, lanes, apart = self.loops, self.space.lanes, abs(stride)
        last = apart * (lanes - 1)
        first = base if stride > 0 else loops.subtract(base, last)
        places = range(0, last + 1, apart) if stride > 0 else range(last, -1, -apart)
        starts = [*range(0, lanes * (apart - 1), lanes), last + 1 - lanes]
        vectors = [
            loops.load(buffer, loops.add(first, start), lanes, constant=self.constant_loads)
            for start in starts
        ]
        made, taken = vectors[0], [min(place, lanes - 1) for place in places]
        for start, before, vector in zip(starts[1:], starts, vectors[1:], strict=False):
            chosen = [
                lanes + min(place - start, lanes - 1) if place >= before + lanes else own
                for own, place in zip(taken, places, strict=True)
            ]
            made, taken = loops.shuffle(made, vector, chosen), [*range(lanes)]
        return made if apart > 1 else loops.shuffle(made, made, taken)

    @property
    def is_plain(self) -> bool:
        """Say whether all lanes exist, or just the first of the last vector."""
        return self.mask is None or (self.tail is not None and self.mask is self.tail[0])

    def load_repeated(self, buffer: SSAValue, offset: Linear, times: int) -> SSAValue:
        """Load neighbours, each for several lanes: fewer than there are lanes, and spread."""
        loops, lanes = self.loops, self.space.lanes
        base, _, _ = self.space.split(loops, offset, times)
        count = lanes // times
        if count == 1:
            return loops.broadcast(loops.load(buffer, base, 0, constant=self.constant_loads), lanes)
        mask = None
        if self.mask is not None:
            assert self.tail is not None, "a mask is that of the last vector"
            mask = loops.mask(loops.divide(self.tail[1], times), count)
        few = loops.load(buffer, base, count, mask, constant=self.constant_loads)
        return loops.shuffle(few, few, [lane // times for lane in range(lanes)])

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
        """Return the source index of a reshape by division at run time, where it is not linear."""
        source, result = op.specs[0].dims, op.result_specs[0].dims
        found: list[Linear] = []
        for axes, places in runs_of_axes(source, result):
            flat = flatten(index[places], result[places])
            try:
                parts = unflatten(flat, source[axes])
            except NeedSplit:
                parts = None
            found += self._parted(flat, source[axes]) if parts is None else parts
        return tuple(found)

    def _parted(self, offset: Linear, shape: Sequence[Dim]) -> list[Linear]:
        """Return the index of a row-major offset by division."""
        flat, lanes = self.number(offset)
        found: list[Linear] = []
        for position, extent in reversed(list(enumerate(shape))):
            inner = flat if position == 0 else self.divided(arith.RemUIOp, flat, extent, lanes)
            found.append(of(Opaque(inner, extent, lanes)))
            if position:
                flat = self.divided(arith.DivUIOp, flat, extent, lanes)
        return found[::-1]

    def divided(self, op: Any, value: SSAValue, by: Dim, lanes: int) -> SSAValue:
        """Return a quotient or remainder of an index by a dimension."""
        divisor = self.loops.index(by)
        if lanes:
            divisor = self.loops.broadcast(divisor, lanes)
        return self.loops.pure(op, (value, divisor), vector_type(INDEX, lanes))

    def counted(self, index: Linear, dtype: DType) -> Element:
        """Return an index as an element of a type."""
        value, lanes = self.number(index)
        return self.math.from_index(value, dtype, lanes)

    def size(self, dim: Dim) -> Element:
        """Return a dimension as an element of i64."""
        return self.math.from_index(self.loops.index(dim), dtypes.i64, 0)

    def place(self, at: Element, extent: Dim) -> Linear:
        """Return an element of i64 as an index, which is moved into 0 .. extent-1."""
        return of(Opaque(self.clamp(self.math.to_index(at), at.lanes, extent), extent, at.lanes))

    def picked(self, at: Element, extent: Dim) -> Linear:
        """Return an integer of data as an index into an axis."""
        return of(Opaque(self.wrapped(at, extent), extent, at.lanes))

    def wrapped(self, at: Element, extent: Dim) -> SSAValue:
        """Return a data-dependent index counted from the front and clamped into the axis."""
        if at.dtype.kind == "i":
            size = self.size(extent)
            wide = self.math.cast(at, dtypes.i64)
            negative = self.math.compare("lt", wide, self.math.constant(0, dtypes.i64))
            at = self.math.select(negative, self.math.add(wide, size), wide)
        elif at.dtype.name == "u64":
            most = self.math.constant((1 << 63) - 1, dtypes.u64)
            at = self.math.cast(self.math.minimum(at, most), dtypes.i64)
        return self.clamp(self.math.to_index(at), at.lanes, extent)

    def within(
        self, value: SSAValue, index: Indices, guarded: Sequence[bool], fill: float
    ) -> Element:
        """Return the element at an index, `fill` where a guarded part of it is outside."""
        spec, saved = spec_of(value.type), (self.mask, self.beyond)
        source: list[Linear] = []
        conditions: list[Element] = []
        for part, outside, extent in zip(index, guarded, spec.dims, strict=True):
            if not outside:
                source.append(Linear() if extent == 1 else part)
                continue
            at, lanes, inside = self.inside(part, extent)
            conditions.append(Element(inside, dtypes.bool_, lanes))
            if extent == 1:
                source.append(Linear())
            elif lanes and self.space.is_contiguous(part):
                self.mask = self.both(self.mask, inside)
                self.beyond |= {term for term, _ in part.terms}
                source.append(part)
            else:
                source.append(of(Opaque(self.clamp(at, lanes, extent), extent, lanes)))
        moved = [e for e, outside in zip(spec.dims, guarded, strict=True) if outside]
        element = self.unless_empty(moved, value, tuple(source), fill)
        self.mask, self.beyond = saved
        other = self.math.constant(fill, spec.dtype)
        for condition in conditions:
            element = self.math.select(condition, element, other)
        return element

    def unless_empty(
        self, extents: Sequence[Dim], value: SSAValue, index: Indices, fill: float
    ) -> Element:
        """Return the element at an index that was moved inside; `fill` where nothing is inside."""
        loops, math = self.loops, self.math
        other = math.constant(fill, spec_of(value.type).dtype)
        if 0 in extents:
            return other
        unsure = [each for each in extents if not loops.is_filled(each)]
        if not unsure:
            return self.element(value, index)
        least: Index = loops.index(unsure[0])
        for each in unsure[1:]:
            least = loops.minimum(least, loops.index(each))
        known, self.known = self.known, dict(self.known)
        made: list[Element] = []

        def make() -> Sequence[SSAValue]:
            made.append(self.element(value, index))
            return [made[0].value]

        def instead() -> Sequence[SSAValue]:
            lanes = made[0].lanes
            return [loops.broadcast(other.value, lanes) if lanes else other.value]

        (found,) = loops.either(loops.compare("sgt", least, 0), make, instead)
        self.known = known
        return Element(found, made[0].dtype, made[0].lanes)

    def both(self, mask: SSAValue | None, other: SSAValue) -> SSAValue:
        """Return the lanes that exist and hold."""
        if mask is None:
            return other
        return self.loops.pure(arith.AndIOp, (mask, other), other.type)

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

"""Element-wise kernels: every result element is an expression of elements that are read.

    for unit in lo..hi                 parallel: the outer groups, flattened
      for ... in the other groups
        for v in 0..n step L*U         vectors of L elements, U of them at a time
          out[..v..] = element(..v..)
        one masked vector for the rest

The loop dims are those of the result, split where a reshape cuts them and merged where all
accesses walk them as one, so that a plain chain over any shape is one loop. L is what a
register holds of f32; two vectors at a time hide the latency of polynomials without
spilling. A single loop is cut into units of 4096 elements: 16 KiB, half of L1. What only moves
elements, across memory, has a file of its own: `turned`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.program import result_specs
from ...ir.types.dims import Dim, ceil_divide, floor_divide, product, remainder
from ...ir.types.indices import Indices
from ...target import Target
from .builder.loops import Index, Loops
from .builder.plan import AccessPlan, open_kernel, plan, returned_values, write_offset
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, join_repeats, merge
from .turned import Turned

CHUNK = 4096
VECTOR = 16
"""Bytes that a thread of a GPU reads at a time."""
ENOUGH_UNITS = 16

Body: TypeAlias = Callable[[], None]
"""What stands inside of loops."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an element-wise kernel."""
    values = returned_values(kernel)
    shapes = [s.dims for s in result_specs(kernel)]
    assert all(s == shapes[0] for s in shapes), "the results of a map have one shape"

    def visit(tracer: Tracer, index: Indices) -> None:
        for value in values:
            tracer.visit(value, index)

    made = plan(shapes[0], visit)
    loops, arguments, outputs = open_kernel(kernel, target)
    nest = MapNest(loops, arguments, outputs, values, made)
    units = nest.build(shapes[0], target.lanes)
    return loops.finish(units)


@dataclass
class MapNest:
    """Builds the loop nest of one map."""

    loops: Loops
    arguments: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    values: Sequence[SSAValue]
    plan: AccessPlan

    def build(self, shape: Sequence[Dim], lanes: int) -> Dim:
        """Fill the function; return its parallel extent."""
        groups = self.groups(shape)
        buffers = self.values, self.outputs
        if not self.loops.fine:
            turned = Turned.of(self.loops, buffers, self.plan, groups, (self.offset, lanes))
            if turned is not None:
                return turned.build()
            groups = join_repeats(groups, self.plan.offsets, self.offset, self.plan.alone)
        if self.loops.fine:
            lanes = max(1, VECTOR // max(dtype.size for dtype in self.loops.dtypes))
        return self.walk(groups, lanes)

    def groups(self, shape: Sequence[Dim]) -> list[Group]:
        """Return what is walked as one, and note where an element of the shape is written."""
        self.offset = write_offset(self.plan.index, shape)
        return merge(self.plan.tokens, [*self.plan.offsets, self.offset], self.plan.alone)

    def walk(self, groups: Sequence[Group], lanes: int) -> Dim:
        """Open the loops over groups, the last one by vectors; return the parallel extent."""
        inner = groups[-1] if groups else Group(())
        lanes = fitting_lanes(inner.extent, lanes, even=self.loops.fine)
        self.space = Space([*groups], inner, lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        if self.loops.fine:
            return over_vectors(self.loops, self.reader, groups[:-1], inner, self.store)
        if len(groups) <= 1:
            low = self.loops.multiply(self.loops.lo, CHUNK)
            high = self.loops.minimum(
                self.loops.multiply(self.loops.hi, CHUNK), self.loops.index(inner.extent)
            )
            self.vectors(inner, low, high)
            return ceil_divide(inner.extent, CHUNK)
        return over_units(self.loops, groups[:-1], lambda: self.row(inner))

    def row(self, inner: Group) -> None:
        """Walk the innermost group."""
        extent = inner.extent
        self.vectors(inner, 0, extent if isinstance(extent, int) else self.loops.index(extent))

    def vectors(self, inner: Group, low: Index, high: Index) -> None:
        """Walk `low..high` by vectors, the rest under a mask."""
        walk_vectors(self.loops, self.reader, inner, (low, high), self.store)

    def store(self) -> None:
        """Compute and store one vector (or element) of every result."""
        reader, lanes = self.reader, self.space.lanes
        base, stride, extra = self.space.split(self.loops, self.offset)
        assert extra is None, "a result is written in strides"
        assert stride == 1 or not lanes, "a result is written contiguously"
        made = [reader.element(value, self.plan.index) for value in self.values]
        for element, buffer in zip(made, self.outputs, strict=True):
            value = reader.math.narrow(reader.math.spread(element, lanes))
            self.loops.store(value, buffer, base, reader.mask, nontemporal=self.loops.streams)


def fitting_lanes(extent: Dim, lanes: int, *, even: bool = False) -> int:
    """Return the lanes to walk an extent with: none for one element, fewer for short rows.

    Those that come out even leave no vector that is filled in part.
    """
    if even:
        while lanes > 1 and (extent == 1 or remainder(extent, lanes) != 0):
            lanes //= 2
        return lanes if lanes > 1 else 0
    if not isinstance(extent, int):
        return lanes
    if extent <= 1:
        return 0
    return min(lanes, 1 << (extent - 1).bit_length())


def over_units(loops: Loops, groups: Sequence[Group], body: Body) -> Dim:
    """Open the loops over groups, the outer ones as the parallel range; return its extent."""
    count = 0
    units: Dim = 1
    enough = ENOUGH_UNITS if not loops.fine else None
    while count < len(groups) and not (enough and isinstance(units, int) and units >= enough):
        units = units * groups[count].extent
        count += 1
    with loops.loop(loops.lo, loops.hi) as unit:
        place(loops, groups[:count], unit.index)
        _nest(loops, groups[count:], body)
    return units


def place(loops: Loops, groups: Sequence[Group], at: Index) -> None:
    """Set the values of groups for a position in all of them as one."""
    rest = at
    for group in reversed(groups[1:]):
        group.value = loops.remainder(rest, group.extent)
        rest = loops.divide(rest, group.extent)
    for group in groups[:1]:
        group.value = rest


def over_vectors(
    loops: Loops, reader: ElementReader, groups: Sequence[Group], inner: Group, body: Body,
    before: Dim | None = None,
) -> Dim:  # fmt: skip
    """Run `body` for each vector of `inner` within groups, each vector a unit; return how many.

    With `before`, that many units come before these and others behind, and what is returned is
    the number of the next. Lanes must come out even.
    """
    lanes = max(1, reader.space.lanes)
    vectors = floor_divide(inner.extent, lanes)
    count = product((*(group.extent for group in groups), vectors))
    low: Index = loops.lo
    high: Index = loops.hi
    if before is not None:
        begin = loops.index(before)
        low = loops.subtract(loops.maximum(low, begin), begin)
        high = loops.subtract(loops.minimum(high, loops.index(before + count)), begin)
    with loops.loop(low, high) as unit:
        inner.value = loops.multiply(loops.remainder(unit.index, vectors), lanes)
        place(loops, groups, loops.divide(unit.index, vectors))
        reader.fresh()
        body()
    return count if before is None else before + count


def _nest(loops: Loops, groups: Sequence[Group], body: Body) -> None:
    if not groups:
        body()
        return
    with loops.loop(0, loops.index(groups[0].extent)) as one:
        groups[0].value = one.index
        _nest(loops, groups[1:], body)


def walk_vectors(
    loops: Loops, reader: ElementReader, inner: Group, span: tuple[Index, Index], body: Body,
    unroll: int = 1,
) -> None:  # fmt: skip
    """Run `body` for each vector of a group in `span`, `unroll` a turn, the last under a mask."""
    lanes = reader.space.lanes
    low, high = span
    if not lanes:
        with loops.loop(low, high) as one:
            inner.value = one.index
            reader.fresh()
            body()
        return
    length = loops.known(loops.subtract(high, loops.index(low)))
    whole = loops.known(loops.subtract(length, loops.index(loops.remainder(length, lanes))))
    end = loops.add(low, whole)
    first: Index = low
    if unroll > 1 and not (isinstance(whole, int) and whole < lanes * unroll):
        turn = lanes * unroll
        first = loops.add(low, loops.multiply(loops.divide(whole, turn), turn))
        with loops.loop(low, first, turn) as one:
            for number in range(unroll):
                inner.value = loops.add(one.index, number * lanes)
                reader.fresh()
                body()
    if loops.known(first) != loops.known(end):
        with loops.loop(first, end, lanes) as one:
            inner.value = one.index
            reader.fresh()
            body()
    if whole == length:
        return
    rest = loops.known(loops.subtract(length, loops.index(whole)))
    if isinstance(rest, int):
        masked_vector(loops, reader, inner, (end, rest), body)
        return
    with loops.when(loops.compare("sgt", rest, 0)):
        masked_vector(loops, reader, inner, (end, rest), body)


def masked_vector(
    loops: Loops, reader: ElementReader, inner: Group, at: tuple[Index, Index], body: Body
) -> None:
    """Run `body` for the first lanes only."""
    inner.value, rest = at
    reader.mask = loops.mask(rest, reader.space.lanes)
    reader.tail = reader.mask, rest
    reader.fresh()
    body()
    reader.fresh()
    reader.mask = reader.tail = None

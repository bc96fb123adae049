"""Scans: running sums and products along an axis.

    for unit in lo..hi                     parallel: the dims beside the axis
      for v in 0..n step L                 the innermost dim, by vectors
        for i along the axis               total = combine(total, x[.., i, .., v])

Where the axis itself is innermost, vectors lie along it: each is scanned in log2(L) steps of
shifting and combining, then combined with the total of those before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.shapes import normalize_axis
from ...ir.target import Target
from .combine import COMBINERS, identity
from .elements import Element
from .index import flatten
from .loops import Index, Loops
from .map import fitting_lanes, over_units, walk_vectors
from .plan import open_kernel, plan, returned_values
from .read import Indices, Reader, Tracer
from .space import Group, Space, merge


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a scan."""
    return Scan(kernel, target).build()


class Scan:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        assert isinstance(root.owner, Op), "the root is an operation"
        self.anchor = root.owner
        attributes = self.anchor.plain_attributes()
        self.spec = self.anchor.specs[0]
        self.axis = normalize_axis(attributes["axis"], self.spec.rank)
        self.exclusive, self.reverse = attributes["exclusive"], attributes["reverse"]
        self.combiner: str = getattr(type(self.anchor), "COMBINER")  # noqa: B009
        self.loops, self.arguments, (self.out,) = open_kernel(kernel)
        self.plan = plan(self.spec.dims, self.trace)
        self.offset = flatten(self.plan.index, self.spec.dims)
        self.group(target.lanes)

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what the operand reads."""
        tracer.visit(self.anchor.operands[0], index)

    def group(self, lanes: int) -> None:
        """Merge the dims before and behind the axis; choose which one vectors walk."""
        accesses = [*self.plan.offsets, self.offset]
        axes = self.plan.axes
        before = [t for a in axes[: self.axis] for t in a.tokens]
        behind = [t for a in axes[self.axis + 1 :] for t in a.tokens]
        self.along = Group(tuple(axes[self.axis].tokens))
        self.outer = merge(before, accesses, self.plan.alone)
        inner = merge(behind, accesses, self.plan.alone)
        self.is_innermost = not inner
        self.walked = self.along if self.is_innermost else inner.pop()
        self.outer += inner
        self.lanes = fitting_lanes(self.walked.extent, lanes)
        groups = [*self.outer, self.along] + ([] if self.is_innermost else [self.walked])
        self.space = Space(groups, self.walked, self.lanes)
        self.reader = Reader(self.loops, self.arguments, self.space)
        self.math = self.reader.math
        start = self.math.constant(identity(self.combiner, self.spec.dtype), self.spec.dtype)
        self.start = self.math.spread(start, self.lanes)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        units = over_units(self.loops, self.outer, self.row)
        return self.loops.finish(units)

    def row(self) -> None:
        """Scan what one unit has."""
        if self.is_innermost and self.lanes:
            self.by_steps()
        elif self.is_innermost:
            self.column()
        else:
            extent = self.walked.extent
            high = extent if isinstance(extent, int) else self.loops.index(extent)
            walk_vectors(self.loops, self.reader, self.walked, (0, high), self.column)

    def column(self) -> None:
        """Scan elements or vectors across the axis, one after the other."""
        loops = self.loops
        last = loops.subtract(loops.index(self.along.extent), 1)
        with loops.loop(0, loops.index(self.along.extent), 1, [self.start.value]) as one:
            place: Index = one.index
            self.along.value = loops.subtract(last, place) if self.reverse else place
            before = self.like(one.values[0])
            total = self.combine(before, self.element())
            self.store(before if self.exclusive else total)
            one.carry(total.value)
        self.reader.fresh()

    def by_steps(self) -> None:
        """Scan vectors along the axis."""
        loops, lanes = self.loops, self.lanes
        extent = loops.index(self.along.extent)
        rest = loops.remainder(extent, lanes)
        whole = loops.subtract(extent, loops.index(rest))
        total = self.start
        if self.reverse and rest != 0:
            total = self.rest(whole, rest, total)
        with loops.loop(0, whole, lanes, [total.value]) as one:
            at: Index = one.index
            if self.reverse:
                at = loops.subtract(loops.subtract(whole, lanes), at)
            one.carry(self.vector(at, self.like(one.values[0])).value)
        total = self.like(one.results[0])
        if not self.reverse and rest != 0:
            self.rest(whole, rest, total)

    def rest(self, at: Index, count: Index, total: Element) -> Element:
        """Scan the end of the axis, which fills no vector; return the total."""
        self.reader.mask = self.loops.mask(count, self.lanes)
        made = self.vector(at, total)
        self.reader.mask = None
        return made

    # -- elements -------------------------------------------------------------------------

    def vector(self, at: Index, before: Element) -> Element:
        """Scan and store one vector; return the total up to its end in every lane."""
        self.along.value = at
        lanes, mask = range(self.lanes), self.reader.mask
        x = self.element()
        if mask is not None:
            kept = self.loops.pure(arith.SelectOp, (mask, x.value, self.start.value), x.value.type)
            x = self.like(kept)
        distance = 1
        while distance < self.lanes:
            x = self.combine(self.shifted(x, distance, self.start), x)
            distance *= 2
        total = self.combine(before, x)
        self.store(self.shifted(total, 1, before) if self.exclusive else total)
        end = 0 if self.reverse else self.lanes - 1
        return self.like(shuffle(self.loops, total.value, total.value, [end for _ in lanes]))

    def shifted(self, x: Element, distance: int, fill: Element) -> Element:
        """Return a vector moved on by lanes, filled up from another one."""
        lanes = self.lanes
        order = [lane + distance if self.reverse else lane - distance for lane in range(lanes)]
        picks = [lane if 0 <= lane < lanes else lanes for lane in order]
        return self.like(shuffle(self.loops, x.value, fill.value, picks))

    def element(self) -> Element:
        """Return the operand's element at the current place."""
        self.reader.fresh()
        x = self.reader.element(self.anchor.operands[0], self.plan.index)
        return self.math.spread(x, self.lanes)

    def combine(self, before: Element, x: Element) -> Element:
        """Return the combination of two totals, the earlier one first."""
        return COMBINERS[self.combiner](self.math, before, x)

    def store(self, element: Element) -> None:
        """Write at the current place."""
        base, _, _ = self.space.split(self.loops, self.offset)
        self.loops.store(self.math.narrow(element), self.out, base, self.reader.mask)

    def like(self, value: SSAValue) -> Element:
        """Return a value as an element of the scan."""
        return Element(value, self.spec.dtype, self.lanes)


def shuffle(loops: Loops, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
    """Return lanes of two vectors of the same type: those of `b` come behind those of `a`."""
    mask = {"mask": DenseArrayBase.from_list(i64, list(lanes))}
    return loops.pure(vector.ShuffleOp, (a, b), a.type, mask)

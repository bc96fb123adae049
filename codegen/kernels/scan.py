"""Scans: running sums and products along an axis.

    for unit in lo..hi                     parallel: the dims beside the axis
      for v in 0..n step L                 the innermost dim, by vectors
        for i along the axis               total = combine(total, x[.., i, .., v])

Where the axis itself is innermost, vectors lie along it: each is scanned in log2(L) steps of
shifting and combining, then combined with the total of those before it.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.ops.scan import Scan as ScanOp
from ...ir.types.indices import Indices, Linear, flatten
from ...target import Target
from .axis import AlongAxis
from .builder.combine import COMBINERS, identity
from .builder.elements import Element
from .builder.loops import Index


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a scan."""
    return Scan(kernel, target).build()


class Scan(AlongAxis):
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target, target.lanes)
        assert isinstance(self.anchor, ScanOp), f"{self.anchor.name} is no scan"
        self.combiner = type(self.anchor).COMBINER
        self.exclusive, self.reverse = self.attributes["exclusive"], self.attributes["reverse"]
        start = self.math.constant(identity(self.combiner, self.spec.dtype), self.spec.dtype)
        self.start = self.math.spread(start, self.lanes)

    def write_offset(self, index: Indices) -> Linear:
        """Return the flat offset of the same element."""
        return flatten(index, self.spec.dims)

    # -- loops ----------------------------------------------------------------------------

    def across(self) -> None:
        """Scan elements or vectors across the axis, one after the other."""
        loops = self.loops
        extent = loops.index(self.axis_group.extent)
        last = loops.subtract(extent, 1)
        with loops.loop(0, extent, 1, [self.start.value]) as one:
            place: Index = one.index
            before = self.like(one.values[0])
            x = self.element(loops.subtract(last, place) if self.reverse else place)
            total = self.combine(before, x)
            self.store([before if self.exclusive else total])
            one.carry(total.value)

    def along(self) -> None:
        """Scan vectors along the axis."""
        if not self.lanes:
            self.across()
            return
        loops, lanes = self.loops, self.lanes
        whole, rest = self.vectors()
        total = self.start
        if self.reverse and rest != 0:
            total = self.rest(whole, rest, total)
        with loops.loop(0, whole, lanes, [total.value]) as one:
            at: Index = one.index
            if self.reverse:
                at = loops.subtract(loops.subtract(whole, lanes), at)
            one.carry(self.vector(at, self.like(one.values[0])).value)
        if not self.reverse and rest != 0:
            self.rest(whole, rest, self.like(one.results[0]))

    def rest(self, at: Index, count: Index, total: Element) -> Element:
        """Scan the end of the axis, which fills no vector; return the total."""
        self.reader.mask = self.loops.mask(count, self.lanes)
        made = self.vector(at, total)
        self.reader.mask = None
        return made

    # -- elements -------------------------------------------------------------------------

    def vector(self, at: Index, before: Element) -> Element:
        """Scan and store one vector; return the total up to its end in every lane."""
        x, mask = self.element(at), self.reader.mask
        if mask is not None:
            kind = x.value.type
            x = self.like(self.loops.pure(arith.SelectOp, (mask, x.value, self.start.value), kind))
        distance = 1
        while distance < self.lanes:
            x = self.combine(self.shifted(x, distance, self.start), x)
            distance *= 2
        total = self.combine(before, x)
        self.store([self.shifted(total, 1, before) if self.exclusive else total])
        end = 0 if self.reverse else self.lanes - 1
        return self.like(self.loops.shuffle(total.value, total.value, [end] * self.lanes))

    def shifted(self, x: Element, distance: int, fill: Element) -> Element:
        """Return a vector moved on by lanes, filled up from another one."""
        lanes = self.lanes
        order = [lane + distance if self.reverse else lane - distance for lane in range(lanes)]
        picks = [lane if 0 <= lane < lanes else lanes for lane in order]
        return self.like(self.loops.shuffle(x.value, fill.value, picks))

    def combine(self, before: Element, x: Element) -> Element:
        """Return the combination of two totals, the earlier one first."""
        return COMBINERS[self.combiner](self.math, before, x)

    def like(self, value: SSAValue) -> Element:
        """Return a value as an element of the scan."""
        return Element(value, self.spec.dtype, self.lanes)

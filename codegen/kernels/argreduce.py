"""Searches: the place of the largest or smallest element along an axis.

    for unit in lo..hi                     parallel: the dims beside the axis
      for v in 0..n step L                 the innermost dim, by vectors
        for i along the axis               where x[.., i, .., v] is better: best = x, place = i

Where the axis itself is innermost, each lane searches its own part of the axis, and the first
(or last) place of the lanes with the best element is taken. A NaN is better than any number, or
than none.
Vectors are four registers long: one comparison waits for the one before it, four do not.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.types.dtypes import DType, bool_, i32, i64
from ...ir.types.indices import Indices, Linear, flatten
from ...target import Target
from .axis import AlongAxis
from .builder.combine import across_lanes, identity
from .builder.elements import Element
from .builder.loops import Index


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a search."""
    return Search(kernel, target).build()


class Search(AlongAxis):
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target, target.lanes * 4)
        self.combiner = "max" if self.anchor.name == "gv.argmax" else "min"
        self.last: bool = self.attributes["last"]
        self.takes_nan: bool = self.spec.dtype.is_float and not self.attributes["passes_nan"]
        extent = self.spec.dims[self.axis]
        small = isinstance(extent, int) and extent <= i32.maximum
        self.place_type: DType = i32 if small else i64
        """The narrower, the fewer registers."""

    def write_offset(self, index: Indices) -> Linear:
        """Return the flat offset of the vector's place."""
        dims, axis = self.spec.dims, self.axis
        return flatten((*index[:axis], *index[axis + 1 :]), (*dims[:axis], *dims[axis + 1 :]))

    # -- loops ----------------------------------------------------------------------------

    def across(self) -> None:
        """Search elements or vectors across the axis, one after the other."""
        (_, place) = self.search(0, self.loops.index(self.axis_group.extent), 1, self.start())
        self.store([self.math.cast(place, i64)])

    def along(self) -> None:
        """Search vectors along the axis, then across their lanes."""
        if not self.lanes:
            self.across()
            return
        whole, rest = self.vectors()
        state = self.search(0, whole, self.lanes, self.start())
        if rest != 0:
            self.reader.mask = self.loops.mask(rest, self.lanes)
            state = self.step(whole, state)
            self.reader.mask = None
        place = self.math.cast(self.chosen(*state), i64)
        lanes, self.space.lanes = self.space.lanes, 0
        self.axis_group.value = 0
        self.store([place])
        self.space.lanes = lanes

    def start(self) -> tuple[Element, Element]:
        """Return the worst element, and the first place."""
        first = self.math.constant(0, self.place_type)
        return self.worst(), self.math.spread(first, self.lanes)

    def worst(self) -> Element:
        """Return what no element is worse than."""
        worst = self.math.constant(identity(self.combiner, self.spec.dtype), self.spec.dtype)
        return self.math.spread(worst, self.lanes)

    def search(
        self, low: Index, high: Index, step: int, state: tuple[Element, Element]
    ) -> tuple[Element, Element]:
        """Return the best element of a stretch of the axis and its place."""
        with self.loops.loop(low, high, step, [e.value for e in state]) as one:
            made = self.step(one.index, self.like(one.values))
            one.carry(*(e.value for e in made))
        return self.like(one.results)

    # -- elements -------------------------------------------------------------------------

    def step(self, at: Index, state: tuple[Element, Element]) -> tuple[Element, Element]:
        """Return the better of what was found and the element at a place."""
        best, place = state
        x = self.element(at)
        if self.last and x.dtype.is_float and not self.takes_nan:
            x = self.math.select(self.math.isnan(x), self.worst(), x)
        better = self.better(x, best)
        if self.reader.mask is not None:
            better = self.math.logical_and(better, Element(self.reader.mask, bool_, self.lanes))
        here = self.math.from_index(self.loops.index(at), self.place_type, 0)
        return self.math.select(better, x, best), self.math.select(better, here, place)

    def better(self, x: Element, best: Element) -> Element:
        """Say whether an element replaces the best before it."""
        math = self.math
        beyond = {"max": "gt", "min": "lt"}[self.combiner]
        if self.last:
            found = math.compare(f"{beyond[0]}e", x, best)
            return math.logical_or(found, math.isnan(x)) if self.takes_nan else found
        if not self.takes_nan:
            return math.compare(beyond, x, best)
        within = math.compare({"gt": "le", "lt": "ge"}[beyond], x, best)
        number = math.compare("eq", best, best)
        return math.logical_and(math.logical_not(within), number)

    def chosen(self, best: Element, place: Element) -> Element:
        """Return the first or last place of the best of all lanes."""
        math, lanes = self.math, self.lanes
        lane = math.from_index(self.loops.step(lanes), self.place_type, lanes)
        place = math.add(place, lane)
        found = math.compare("eq", best, across_lanes(self.loops, self.combiner, best))
        if self.takes_nan:
            found = math.logical_or(found, math.isnan(best))
        extent = self.loops.index(self.axis_group.extent)
        inside = math.compare("lt", place, math.from_index(extent, self.place_type, 0))
        found = math.logical_and(found, inside)
        pick = "max" if self.last else "min"
        never = math.constant(identity(pick, self.place_type), self.place_type)
        return across_lanes(self.loops, pick, math.select(found, place, never))

    def like(self, values: list[SSAValue]) -> tuple[Element, Element]:
        """Return carried values as elements."""
        best, place = values
        return (
            Element(best, self.spec.dtype, self.lanes),
            Element(place, self.place_type, self.lanes),
        )

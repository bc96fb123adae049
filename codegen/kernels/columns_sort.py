"""The few best elements of each column: as many as there are lanes at once, without branches.

    for unit in lo..hi                     parallel: the dims beside the axis
      for v in 0..n step L                 the innermost dim, by vectors
        best[0..k] = the first k elements, put in one by one
        for i in k..n                      each lane has a column of its own
          if one lane's x is better than best[k - 1]
            for j in 0..k                  where x is better than best[j]
              best[j] = best[j - 1], or x where it is not better than that one

An element that comes later is better only if it is not equal, so that the order is stable: those
behind it move on, whether they are equal or not.
"""

from __future__ import annotations

from functools import partial

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.types.dtypes import DType, i32, i64
from ...target import Target
from .builder.combine import across_lanes
from .builder.elements import Element
from .builder.loops import Index
from .builder.ordering import Item, Ordering


class ColumnsSort(Ordering):
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target, target.lanes)
        extent = self.spec.dims[self.axis]
        small = isinstance(extent, int) and extent <= i32.maximum
        self.place_type: DType = i32 if small else i64
        """The narrower, the fewer registers."""

    def across(self) -> None:
        """Find the best of columns side by side."""
        loops, k = self.loops, int(self.k)  # type: ignore[arg-type]
        self.find_base()
        best: list[Item] = []
        for at in range(k):
            best.append(self.pushed(self.read(at), best))
        self.wide = best[0].x.dtype
        with loops.loop(k, loops.index(self.axis_group.extent), 1, values(best)) as one:
            item, kept = self.read(one.index), self.items(one.values)
            better = self.precedes(item.x, kept[-1].x)
            better = across_lanes(loops, "or", better) if self.lanes else better
            one.carry(
                *loops.either(better.value, partial(self.after, item, kept), partial(values, kept))
            )
        for at, item in enumerate(self.items(one.results)):
            self.put(at, Item(item.x, self.math.cast(item.place, i64)))

    def after(self, item: Item, best: list[Item]) -> list[SSAValue]:
        """Return what is carried on when an item is put in."""
        kept = [*best]
        self.pushed(item, kept)
        return values(kept)

    def read(self, at: Index) -> Item:
        """Return an element of each column."""
        x = self.element(at)
        place = self.math.from_index(self.loops.index(at), self.place_type, 0)
        return Item(x, self.math.spread(place, self.lanes))

    def pushed(self, item: Item, best: list[Item]) -> Item:
        """Put items where they belong among those in order; return those that are pushed out."""
        better = [self.precedes(item.x, old.x) for old in best]
        before, moved = [*best], item
        for j, old in enumerate(before):
            best[j] = self.picked(better[j], moved, old)
            moved = self.picked(better[j], old, item)
        return moved

    def picked(self, condition: Element, a: Item, b: Item) -> Item:
        """Return one of two items in each lane."""
        select = self.math.select
        return Item(select(condition, a.x, b.x), select(condition, a.place, b.place))

    def items(self, carried: list[SSAValue]) -> list[Item]:
        """Return carried values as items."""
        return [
            Item(Element(x, self.wide, self.lanes), Element(place, self.place_type, self.lanes))
            for x, place in zip(carried[::2], carried[1::2], strict=True)
        ]


def values(items: list[Item]) -> list[SSAValue]:
    """Return what a loop carries of items."""
    return [value for item in items for value in (item.x.value, item.place.value)]

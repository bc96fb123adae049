"""The k best elements along an axis in order: a heap of the best so far, in the results.

    for unit in lo..hi                     parallel: the dims beside the axis
      heap = the first k elements          the worst one is the root
      for x in the rest                    by vectors, if none is better than the root
        if x is better than the root: put x in its place, and let it sink
      for end in k-1..0                    swap the root with the last, let that one sink

Elements are compared with their places, so that no two are equal and the order is stable. A
heap needs no memory but the results, whatever k is, and log(k) steps for an element that gets
into it; most of a long row does not.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from ...ir.types.dtypes import bool_, i64
from .builder.combine import across_lanes
from .builder.elements import Element
from .builder.loops import Index
from .builder.ordering import Item, Ordering

ItemT = TypeVar("ItemT")
"""What the heap has of an element."""


class HeapSort(Ordering, Generic[ItemT]):
    """Builds one kernel; what items are, and which is better, is said elsewhere."""

    # -- loops ----------------------------------------------------------------------------

    def along(self) -> None:
        """Sort along the axis, wherever it is."""
        loops, k = self.loops, self.loops.index(self.k)
        self.find_base()
        with loops.loop(0, k) as one:
            self.keep(one.index, self.read(one.index))
        with loops.loop(1, loops.add(loops.divide(k, 2), 1)) as one:
            at = loops.subtract(loops.divide(k, 2), one.index)
            self.sink(self.get(at), at, k)
        if self.k != self.spec.dims[self.axis]:
            self.choose(k)
        with loops.loop(1, k) as one:
            end = loops.subtract(k, one.index)
            last = self.get(end)
            self.keep(end, self.get(0))
            self.sink(last, 0, end)

    def choose(self, k: Index) -> None:
        """Let elements behind the first k into the heap if they are better than the root."""
        loops = self.loops
        extent = loops.index(self.spec.dims[self.axis])
        some = loops.minimum(k, 1)
        end = loops.add(k, loops.multiply(loops.subtract(extent, k), some))
        start: Index = k
        if self.is_innermost and self.most:
            whole = loops.multiply(loops.divide(loops.subtract(end, k), self.most), self.most)
            start = loops.add(k, whole)
            with loops.loop(k, start, self.most) as one, loops.when(self.any_better(one.index)):
                self.admit_all(one.index, loops.add(one.index, self.most))
        self.admit_all(start, end)

    def walk_axis(self, lanes: int) -> None:
        """Read so many neighbours along the axis from now on; none: single elements."""
        self.space.vector = self.axis_group if lanes else None
        self.space.lanes = self.lanes = lanes
        self.reader.fresh()

    def admit_all(self, low: Index, high: Index) -> None:
        """Put those of a stretch of elements into the heap that are better than the root."""
        with self.loops.loop(low, high) as one:
            self.admit(one.index)

    def admit(self, at: Index) -> None:
        """Put an element in the root's place if it is better."""
        item = self.read(at)
        with self.loops.when(self.is_better(item)):
            self.sink(item, 0, self.loops.index(self.k))

    def sink(self, item: ItemT, start: Index, size: Index) -> None:
        """Put an item where no worse one is below; `size` items are in the heap.

        Starts at a place whose item is not needed any more.
        """
        loops = self.loops
        last = loops.subtract(size, 1)
        with loops.repeat([loops.index(start)]) as walk:
            at = walk.values[0]
            left = loops.add(loops.multiply(at, 2), 1)
            right = loops.minimum(loops.add(left, 1), last)
            inside = loops.compare("slt", left, size)
            left = loops.minimum(left, last)
            is_right, worse = self.worse(self.get(left), self.get(right))
            below = self.chosen(is_right, right, left)
            goes_on = self.both(inside, self.before(item, worse))
            with loops.when(goes_on):
                self.keep(at, worse)
            walk.carry(goes_on, self.chosen(goes_on, below, at))
        self.keep(walk.results[0], item)

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Return whether both hold."""
        return self.math.logical_and(Element(a, bool_, 0), Element(b, bool_, 0)).value

    def chosen(self, condition: SSAValue, a: Index, b: Index) -> SSAValue:
        """Return one of two indices."""
        operands = (condition, self.loops.index(a), self.loops.index(b))
        return self.loops.pure(arith.SelectOp, operands, IndexType())

    # -- items ----------------------------------------------------------------------------

    def any_better(self, at: Index) -> SSAValue:
        """Say whether one of a vector of elements is better than the root."""
        raise NotImplementedError

    def is_better(self, item: ItemT) -> SSAValue:
        """Say whether an item is better than the root."""
        raise NotImplementedError

    def read(self, at: Index) -> ItemT:
        """Return the item of an element of the operand."""
        raise NotImplementedError

    def get(self, at: Index) -> ItemT:
        """Return an item of the heap."""
        raise NotImplementedError

    def keep(self, at: Index, item: ItemT) -> None:
        """Put an item into the heap."""
        raise NotImplementedError

    def worse(self, first: ItemT, second: ItemT) -> tuple[SSAValue, ItemT]:
        """Return the worse of two items, and whether it is the second one."""
        raise NotImplementedError

    def before(self, a: ItemT, b: ItemT) -> SSAValue:
        """Say whether an item comes before another one."""
        raise NotImplementedError


class ItemHeap(HeapSort[Item]):
    """Builds one kernel, for elements of any type."""

    def any_better(self, at: Index) -> SSAValue:
        """Say whether one of a vector of elements is better than the root."""
        self.walk_axis(self.most)
        found = self.may_precede(self.element(at), self.get(0).x)
        self.walk_axis(0)
        return across_lanes(self.loops, "or", found).value

    def is_better(self, item: Item) -> SSAValue:
        """Say whether an item is better than the root."""
        return self.precedes(item.x, self.get(0).x).value

    def read(self, at: Index) -> Item:
        """Return an element of the operand."""
        place = self.math.from_index(self.loops.index(at), i64, 0)
        return Item(self.element(at), place)

    def get(self, at: Index) -> Item:
        """Return an item of the heap."""
        offset = self.offset_of(at)
        x = self.loops.load(self.values, offset, 0, constant=False)
        place = self.loops.load(self.places, offset, 0, constant=False)
        return Item(self.math.widen(x, self.spec.dtype, 0), Element(place, i64, 0))

    def keep(self, at: Index, item: Item) -> None:
        """Put an item into the heap."""
        self.put(at, item)

    def worse(self, first: Item, second: Item) -> tuple[SSAValue, Item]:
        """Return the worse of two items, and whether it is the second one."""
        select, is_right = self.math.select, Element(self.before(first, second), bool_, 0)
        parts = [(second.x, first.x), (second.place, first.place)]
        return is_right.value, Item(*(select(is_right, x, y) for x, y in parts))

    def may_precede(self, a: Element, b: Element) -> Element:
        """Say what `precedes` says, and maybe more where one is not a number: one comparison."""
        return self.math.logical_not(self.math.compare("le" if self.largest else "ge", a, b))

    def before(self, a: Item, b: Item) -> SSAValue:
        """Say whether an item comes before another one."""
        math = self.math
        tied = math.logical_not(self.precedes(b.x, a.x))
        earlier = math.logical_and(tied, math.compare("lt", a.place, b.place))
        return math.logical_or(self.precedes(a.x, b.x), earlier).value

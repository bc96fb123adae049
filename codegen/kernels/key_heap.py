"""The k best elements along an axis in order: a heap of keys, where their places are written.

A key has the place in it, so that one comparison says which of two comes first, and an item of the
heap is one number. The elements are read again when their places are known.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...ir.ops.sort import PLACES
from ...ir.types.dtypes import i64
from .builder.combine import across_lanes
from .builder.elements import Element
from .builder.keys import KeyOrdering
from .builder.loops import Index
from .heap_sort import HeapSort


class KeyHeap(HeapSort[Element], KeyOrdering):
    """Builds one kernel, for elements of 32 bits or fewer: places in their rows have as many."""

    def along(self) -> None:
        """Sort along the axis, wherever it is."""
        super().along()
        with self.loops.loop(0, self.loops.index(self.k)) as one:
            self.put_again(one.index, self.place_in(self.get(one.index)))

    def any_better(self, at: Index) -> SSAValue:
        """Say whether one of a vector of elements is better than the root."""
        root = self.math.shift_right(self.get(0), self.math.constant(PLACES, i64))
        self.walk_axis(self.most)
        found = self.math.compare("lt", self.key(self.element(at)), root)
        self.walk_axis(0)
        return across_lanes(self.loops, "or", found).value

    def is_better(self, item: Element) -> SSAValue:
        """Say whether an item is better than the root."""
        return self.before(item, self.get(0))

    # -- items ----------------------------------------------------------------------------

    def read(self, at: Index) -> Element:
        """Return the key of an element of the operand."""
        place = self.math.from_index(self.loops.index(at), i64, 0)
        return self.with_place(self.key(self.element(at)), place)

    def get(self, at: Index) -> Element:
        """Return an item of the heap."""
        found = self.loops.load(self.places, self.offset_of(at), 0, constant=False)
        return Element(found, i64, 0)

    def keep(self, at: Index, item: Element) -> None:
        """Put an item into the heap."""
        self.loops.store(item.value, self.places, self.offset_of(at), self.reader.mask)

    def worse(self, first: Element, second: Element) -> tuple[SSAValue, Element]:
        """Return the worse of two items, and whether it is the second one."""
        pair = first.value, second.value
        worse = self.loops.pure(arith.MaxSIOp, pair, first.value.type)
        return self.before(first, second), Element(worse, i64, 0)

    def before(self, a: Element, b: Element) -> SSAValue:
        """Say whether an item comes before another one."""
        return self.math.compare("lt", a, b).value

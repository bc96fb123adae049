"""Keys of elements: signed numbers that are in the order in which elements are wanted.

key of an element        its bits in order: of 64 bits, if the element is of 64, else of 32
key and place            key << 32 | place: no two are equal, and the order is stable
"""

from __future__ import annotations

from xdsl.dialects import arith

from ....ir.ops.sort import PLACES
from ....ir.types.dtypes import DType, f32, i32, i64
from .elements import Element
from .loops import Index, storage, vector_type
from .ordering import Item, Ordering


class KeyOrdering(Ordering):
    """A kernel that compares keys of elements; the best ones are read again when it is done."""

    @property
    def is_wide(self) -> bool:
        """Say whether keys have 64 bits, and no room for a place."""
        return self.spec.dtype.size == i64.size

    def key(self, x: Element) -> Element:
        """Return the keys of elements, as numbers of 64 bits."""
        math, kind = self.math, i64 if self.is_wide else i32
        if x.dtype.is_float:
            bits = self.bits(x, kind)
            turned = math.shift_right(bits, math.constant(8 * kind.size - 1, kind))
            flipped = math.bitwise_and(turned, math.constant(kind.maximum, kind))
            key = math.bitwise_xor(bits, flipped)
        elif x.dtype.name in ("u32", "u64"):
            key = math.bitwise_xor(
                Element(x.value, kind, x.lanes), math.constant(kind.minimum, kind)
            )
        else:
            key = math.cast(x, kind)
        return math.cast(math.bitwise_not(key) if self.largest else key, i64)

    def bits(self, x: Element, kind: DType) -> Element:
        """Return the bits of a float; equal numbers have equal bits, all NaNs the same."""
        math = self.math
        wide = x if self.is_wide else math.cast(x, f32)
        number = math.add(wide, math.constant(0.0, wide.dtype))
        number = math.select(math.isnan(wide), math.constant(float("nan"), wide.dtype), number)
        made = self.loops.pure(
            arith.BitcastOp, (number.value,), vector_type(storage(kind), x.lanes)
        )
        return Element(made, kind, x.lanes)

    def with_place(self, key: Element, place: Element) -> Element:
        """Return keys of 32 bits with the places behind them."""
        math = self.math
        return math.bitwise_or(math.shift_left(key, math.constant(PLACES, i64)), place)

    def place_in(self, key: Element) -> Element:
        """Return the place behind a key."""
        return self.math.bitwise_and(key, self.math.constant((1 << PLACES) - 1, i64))

    def put_again(self, at: Index, place: Element) -> None:
        """Write the element at a place of the row, and the place; it is read again, exactly."""
        loops = self.loops
        last = loops.subtract(loops.index(self.spec.dims[self.axis]), 1)
        source = loops.minimum(loops.maximum(self.math.to_index(place), 0), last)
        self.put(at, Item(self.element(loops.index(source)), place))

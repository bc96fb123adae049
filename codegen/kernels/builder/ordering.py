"""What the ways to sort have in common: where the best elements of a row are written."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from ....ir.types.dims import Dim, product
from ....ir.types.indices import Indices, Linear, flatten
from ....target import Target
from ..axis import AlongAxis
from .elements import Element
from .loops import Index


@dataclass(frozen=True)
class Item:
    """An element and its place along the axis."""

    x: Element
    place: Element


class Ordering(AlongAxis):
    """A kernel that finds the k best elements of each row in order, and their places."""

    def __init__(self, kernel: FuncOp, target: Target, lanes: int = 0) -> None:
        """Plan the loops, around an axis whose elements are visited one by one."""
        super().__init__(kernel, target, lanes)
        self.most = target.lanes if target.can.walk_vectors else 0
        """Lanes to walk the axis by where it is innermost."""
        self.k: Dim = self.attributes["k"]
        self.largest: bool = self.attributes["largest"]
        self.values, self.places = self.outputs
        self.stride = product(self.spec.dims[self.axis + 1 :])

    def write_offset(self, index: Indices) -> Linear:
        """Return the flat offset of the best element."""
        dims, axis = self.anchor.result_specs[0].dims, self.axis
        return flatten((*index[:axis], Linear(), *index[axis + 1 :]), dims)

    def find_base(self) -> None:
        """Compute where the current row's best element is written."""
        self.base, _, _ = self.space.split(self.loops, self.offset)

    def offset_of(self, at: Index) -> Index:
        """Return where one of the best elements of the current row is written."""
        return self.loops.add(self.base, self.loops.multiply(at, self.stride))

    def put(self, at: Index, item: Item) -> None:
        """Write an item of the row."""
        offset = self.offset_of(at)
        self.loops.store(self.math.narrow(item.x), self.values, offset, self.reader.mask)
        self.loops.store(item.place.value, self.places, offset, self.reader.mask)

    def precedes(self, a: Element, b: Element) -> Element:
        """Say whether an element comes before another one, whatever their places are."""
        math = self.math
        less = math.compare("gt" if self.largest else "lt", a, b)
        if not a.dtype.is_float:
            return less
        nan, other = (a, b) if self.largest else (b, a)
        return math.logical_or(
            less, math.logical_and(math.isnan(nan), math.compare("eq", other, other))
        )

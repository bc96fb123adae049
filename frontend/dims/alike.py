"""Which values of a program are alike: computed in the same way of the same values.

Sizes that are read of such values have one name, so that `zeros([n, 2])` and `ones([n, 1])` fit
each other, also where one is made within a loop and the other before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...ir.op import Op
from ...ir.types.dims import Dim
from .computed import is_arithmetic, sizes_of
from .unknown import unknown_dim

DEPTH = 16
"""So many operations are looked at, from a value on."""
Same = Mapping[SSAValue, SSAValue]
"""Values, and those that they are as well."""
NOTHING: Same = {}


@dataclass(frozen=True)
class SizesOfValue:
    """A few integers, as expressions of those that they are computed of."""

    numbers: tuple[Dim, ...]
    shape: tuple[int, ...]


class Alike:
    """Gives alike values one key."""

    def __init__(self) -> None:
        self.outside: dict[SSAValue, SSAValue] = {}
        """Arguments of regions, and the values around these that they are throughout."""
        self.symbols: dict[Hashable, Dim] = {}
        """What stands in expressions for elements that only the run has."""

    def keys(self, values: Sequence[SSAValue]) -> Iterator[tuple[Hashable, ...]]:
        """Give the key of values here, then those that they have in the regions around this one."""
        outside = {x: x for x in self.outside}
        while True:
            yield tuple(self.key(x, outside) for x in values)
            wider = {x: self.outside.get(y, y) for x, y in outside.items()}
            if wider == outside:
                return
            outside = wider

    def key(self, value: SSAValue, outside: Same = NOTHING, depth: int = DEPTH) -> Hashable:
        """Return what is alike for values that are alike."""
        value = outside.get(value, value)
        owner = value.owner
        if isinstance(owner, Op) and is_arithmetic(owner) and depth:
            found = sizes_of(value, lambda x, place: self.element(x, place, outside, depth - 1))
            if found is not None:
                return SizesOfValue(tuple(found.ravel().tolist()), found.shape)
        return self.computation(value, outside, depth)

    def computation(self, value: SSAValue, outside: Same, depth: int) -> Hashable:
        """Return by which operation a value is computed, and of what."""
        owner = value.owner
        if not isinstance(owner, Op) or owner.regions or owner.HOST or not owner.PURE or not depth:
            return value
        operands = [self.key(x, outside, depth - 1) for x in owner.operands]
        attributes = tuple(owner.properties.items())
        return (owner.name, value.index, attributes, *operands)  # type: ignore[attr-defined]

    def element(self, value: SSAValue, place: int, outside: Same, depth: int) -> Dim:
        """Return what stands for an element of a value that an expression does not look into."""
        if value in outside:
            key = self.key(value, outside, depth)
        else:
            key = self.computation(value, outside, depth)
        if isinstance(key, SizesOfValue):
            return key.numbers[place]
        return self.symbols.setdefault((key, place), unknown_dim())

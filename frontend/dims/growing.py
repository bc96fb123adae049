"""The sizes of what a loop carries, where they change from turn to turn: which are open, and equal.

Sizes that are equal before the loop have one name in a turn, as long as the turn gives equal ones:
so two values that grow together fit each other inside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ...ir.types.dims import Dim
from ...ir.types.tensor import TensorSpec, spec_of
from ...ir.types.values import ANY, held
from .computed import expressions

Place: TypeAlias = tuple[int, int]
"""The number of a value, and an axis of it."""
Counters: TypeAlias = Mapping[int, tuple[Place, int]]
"""By the number of a value that counts: a size, and by how much it is above that."""


@dataclass(frozen=True)
class GrowingSizes:
    """What is known of the sizes of what a loop carries."""

    specs: Sequence[TensorSpec]
    """With sizes that are known or open."""
    labels: Mapping[Place, Hashable]
    """Equal ones for places whose sizes are equal."""

    @classmethod
    def of(cls, values: Sequence[SSAValue]) -> GrowingSizes:
        """Return what there is before the first turn."""
        specs = [spec_of(x.type) for x in values]
        return cls([held(spec) for spec in specs], labels_of(specs))

    def named(self, name: Callable[[], Dim]) -> list[TensorSpec]:
        """Return the specs with names for sizes that are open."""
        names: dict[Hashable, Dim] = {}
        found = []
        for number, spec in enumerate(self.specs):
            dims = list(spec.dims)
            for axis, dim in enumerate(dims):
                if dim == ANY:
                    label = self.labels[number, axis]
                    dims[axis] = names[label] if label in names else names.setdefault(label, name())
            found.append(spec.with_shape(dims))
        return found

    def behind(self, joined: Sequence[TensorSpec], made: Sequence[TensorSpec]) -> GrowingSizes:
        """Return what is known when a turn has given other sizes; `joined` are those of all.

        Elements whose shape the first turn tells have other axes behind it than before.
        """
        behind = labels_of(made)
        labels = {place: (self.labels.get(place), size) for place, size in behind.items()}
        return GrowingSizes(joined, labels)

    def is_settled(self, other: GrowingSizes) -> bool:
        """Say whether a turn gives sizes like those that it takes."""
        if [*self.specs] != [*other.specs]:
            return False
        places = [p for p in self.labels if self.specs[p[0]].dims[p[1]] == ANY]
        return all(
            self.labels[a] != self.labels[b] or other.labels[a] == other.labels[b]
            for a in places
            for b in places
        )

    def hypotheses(self, values: Sequence[SSAValue]) -> Iterator[Counters]:
        """Give, for each size that is open, which values may count it: those that are known."""
        numbers = {n: known for n, x in enumerate(values) if (known := number_of(x)) is not None}
        seen = set[Hashable]()
        for (number, axis), label in self.labels.items():
            first = spec_of(values[number].type).dims[axis]
            is_open = self.specs[number].dims[axis] == ANY
            if is_open and isinstance(first, int) and label not in seen and numbers:
                seen.add(label)
                yield {n: ((number, axis), known - first) for n, known in numbers.items()}


def labels_of(specs: Sequence[TensorSpec]) -> dict[Place, Hashable]:
    """Return the size of each place."""
    return {(n, axis): d for n, spec in enumerate(specs) for axis, d in enumerate(spec.dims)}


def number_of(value: SSAValue) -> int | None:
    """Return the integer that a value is, None if that is not known."""
    found = expressions(value) if spec_of(value.type).shape == () else None
    number = None if found is None else found[()]
    return number if isinstance(number, int) else None


def counting(counters: Counters, made: Sequence[SSAValue]) -> Counters:
    """Return those of values that count sizes in what a turn gives."""
    found = {}
    for number, ((other, axis), above) in counters.items():
        known = expressions(made[number])
        size = None if known is None else np.asarray(known, object)[()]
        if size is not None and size - spec_of(made[other].type).dims[axis] == above:
            found[number] = counters[number]
    return found

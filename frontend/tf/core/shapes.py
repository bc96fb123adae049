"""`TensorShape`: a shape of which parts may be unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import SupportsIndex, TypeAlias, overload

import numpy as np

from .dimensions import Behaviour, Dimension, value_of

ShapeLike: TypeAlias = (
    "TensorShape | SupportsIndex | Iterable[SupportsIndex | Dimension | None] | None"
)
"""The extents of axes; one by itself is a shape of one axis; None leaves them open, or all."""


class TensorShape:
    """The extents of axes, of which some or all may be unknown."""

    def __init__(self, dims: ShapeLike) -> None:
        self._dims: tuple[int | None, ...] | None = None
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is not None:
            found = tuple(map(value_of, dims if isinstance(dims, Iterable) else [dims]))
            if any(d is not None and d < 0 for d in found):
                raise ValueError(f"Dimension {min(d for d in found if d is not None)} must be >= 0")
            self._dims = found

    @classmethod
    def of_array(cls, dims: tuple[int, ...]) -> TensorShape:
        """Return the shape of an array, of which nothing has to be looked at: one for all alike."""
        made = OF_ARRAYS.get(dims)
        if made is None:
            if len(OF_ARRAYS) >= MOST:
                OF_ARRAYS.clear()
            made = OF_ARRAYS[dims] = cls.__new__(cls)
            made._dims = dims
        return made

    @property
    def rank(self) -> int | None:
        """Return the number of axes, None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    def as_list(self) -> list[int | None]:
        """Return the extents."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def known(self) -> list[int]:
        """Return the extents, all of which must be known."""
        found = [d for d in self.as_list() if d is not None]
        if len(found) != len(self):
            raise ValueError(f"the shape {self} is not known, expected one that is fully defined")
        return found

    def is_fully_defined(self) -> bool:
        """Say whether all extents are known."""
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        """Return the number of elements, None if it is unknown."""
        return int(np.prod(self.known())) if self.is_fully_defined() else None

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Say whether a value can have both shapes."""
        a, b = self._dims, TensorShape(other)._dims
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(None in (x, y) or x == y for x, y in zip(a, b, strict=True))

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """Return what both shapes say together."""
        mine, theirs = self._dims, TensorShape(other)._dims
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are not compatible")
        if mine is None or theirs is None:
            return TensorShape(theirs if mine is None else mine)
        return TensorShape([b if a is None else a for a, b in zip(mine, theirs, strict=True)])

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """Return what both shapes agree on."""
        mine, theirs = self._dims, TensorShape(other)._dims
        if mine is None or theirs is None or len(mine) != len(theirs):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(mine, theirs, strict=True)])

    def most_specific_common_supertype(self, others: Sequence[object]) -> TensorShape | None:
        """Return the shape that this and others all fit, None if one of them is no shape."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raise unless a value can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise if it has another number of axes."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raise if another shape has another number of axes."""
        ranks = self.rank, TensorShape(other).rank
        if None not in ranks and ranks[0] != ranks[1]:
            raise ValueError(f"Shapes {self} and {TensorShape(other)} must have the same rank")

    def with_rank(self, rank: int) -> TensorShape:
        """Return what is known of the shape when it has so many axes."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape, which must not have fewer axes."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return the shape, which must not have more axes."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_is_fully_defined(self) -> None:
        """Raise unless all extents are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_subtype_of(self, other: TensorShape) -> bool:
        """Say whether all values of this shape have the other one too."""
        mine, theirs = self._dims, other._dims
        if theirs is None or mine is None:
            return theirs is None
        pairs = zip(mine, theirs, strict=False)
        return len(mine) == len(theirs) and all(b in (None, a) for a, b in pairs)

    def __bool__(self) -> bool:
        return self._dims is not None

    @property
    def dims(self) -> list[Dimension] | None:
        """Return the extents, None if nothing is known."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def __iter__(self) -> Iterator[Dimension | int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return map(_given_out, self._dims)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    @overload
    def __getitem__(self, key: int) -> Dimension | int | None: ...

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    def __getitem__(self, key: int | slice) -> TensorShape | Dimension | int | None:
        if isinstance(key, slice):
            return TensorShape(None if self._dims is None else self._dims[key])
        return _given_out(None if self._dims is None else self._dims[key])

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: ShapeLike) -> TensorShape:
        more = TensorShape(other)
        if self._dims is None or more._dims is None:
            return TensorShape(None)
        return TensorShape([*self._dims, *more._dims])

    concatenate = __add__

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return TensorShape(other) + self

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        if Behaviour.dimensions:
            return f"({', '.join(map(str, self))}{',' if len(self._dims) == 1 else ''})"
        tail = "," if len(self._dims) == 1 else ""
        return f"({', '.join(map(str, self._dims))}{tail})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self)})"


OF_ARRAYS: dict[tuple[int, ...], TensorShape] = {}
"""The shapes of arrays that were seen: nothing changes a shape."""
MOST = 1 << 12
"""So many are kept."""


def _given_out(extent: int | None) -> Dimension | int | None:
    """Return an extent as shapes give it out."""
    return Dimension(extent) if Behaviour.dimensions else extent


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """Return the shape that two shapes broadcast to, as far as it is known."""
    a, b = TensorShape(shape_x)._dims, TensorShape(shape_y)._dims
    if a is None or b is None:
        return TensorShape(None)
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    made: list[int | None] = []
    for x, y in pairs:
        if x is not None and y is not None and x != y and 1 not in (x, y):
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                f"dimension pair they are either equal or one of them is 1. Received: {shape_x} "
                f"and {shape_y}."
            )
        known = [n for n in (x, y) if n not in (None, 1)]
        made.append(known[0] if known else (None if None in (x, y) else 1))
    return TensorShape(made)


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return one extent of a shape; of a shape of unknown rank, an unknown one."""
    return Dimension(None if shape.rank is None else shape.as_list()[index])

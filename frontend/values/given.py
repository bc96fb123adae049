"""What users may write where a tensor, an element type, a shape or an axis is wanted.

These are the types of signatures: what a function takes it turns into what it works with at once,
by `as_tensor`, `as_dtype` and the like. Where anything at all is taken, and looked at by
`isinstance`, or only handed on, `object` says so. `DTypeLike` stands in `dtypes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from ...ir.types.dims import DimExpr
from ...ir.types.tensor import Array
from .devices import Device

Leaf = TypeVar("Leaf")


class SupportsArray(Protocol):
    """What numpy reads as an array: tensors of ours and of other libraries, variables."""

    def __array__(self) -> Array:
        """Return the elements."""


@runtime_checkable
class SupportsDLPack(Protocol):
    """What gives its memory by DLPack: tensors of other libraries."""

    def __dlpack__(self, *, stream: None = None) -> Any:
        """Return the capsule."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind and the number of the device."""


class SupportsTensor(Protocol):
    """What is read as a tensor at the moment when it is used: variables, lists of a loop."""

    def __gv_tensor__(self) -> SupportsArray:
        """Return the value that it has now."""


Number: TypeAlias = bool | int | float | complex
"""A Python number, which takes the element type of what it meets."""
Scalar: TypeAlias = Number | str | bytes | np.generic
"""One element; text becomes bytes."""
TensorLike: TypeAlias = "Scalar | Array | SupportsArray | SupportsTensor | Sequence[TensorLike]"
"""What can be a tensor: an element, an array, what gives one, and nested sequences of these."""

DeviceLike: TypeAlias = Device | str | None
"""A device, its name, or None: where tensors are made."""
Extent: TypeAlias = SupportsIndex | DimExpr
"""One size: a number, of numpy too, or the expression of symbols that `shape` gives in a graph."""
ShapeLike: TypeAlias = Extent | Iterable[Extent]
"""The sizes of axes; one size by itself is a shape of one axis."""
Axis: TypeAlias = SupportsIndex
"""The number of an axis; negative ones count from the end."""
Axes: TypeAlias = Axis | Sequence[Axis] | None
"""Some axes; None means all of them."""
Index: TypeAlias = "TensorLike | slice | EllipsisType | tuple[Index, ...] | None"
"""What stands in brackets behind a tensor: positions, ranges, masks and new axes."""

Nested: TypeAlias = "Leaf | Sequence[Nested[Leaf]] | Mapping[str, Nested[Leaf]]"
"""A leaf, or lists, tuples, named tuples and dictionaries of what is nested (see `nest`)."""

"""Indexing by numpy's rules: numbers, slices, `...`, None, integer and bool tensors.

Of computed values that nobody records, numpy does it. Otherwise it is operations: a slice, a
reshape for dropped and new axes, and one gather for all tensors in the key together. A bool
tensor becomes the indices of its true elements, which only a computed one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import SupportsIndex, TypeAlias

import numpy as np

from ...errors import GraphError
from ...ir.compose.maker import Maker
from ...ir.types import dtypes as rows
from ...ir.types.dims import Dim, DimExpr
from ..dims.slices import Knowledge, bounds
from ..eager.tensor import Tensor, apply, as_tensor
from ..values.given import Index
from ..values.origin import short, user_line
from .manipulation import broadcast_shapes, broadcast_to, permute_dims, reshape, stack

MAKE: Maker = Maker(apply)


Part: TypeAlias = "slice | EllipsisType | Tensor | Dim | None"
"""One part of a key."""


@dataclass
class Item:
    """One part of a key: an axis that is sliced, one that is new, or an axis with an index."""

    kind: str
    """`slice`, `new` or `index`."""
    bounds: tuple[Dim, Dim, int] = (0, 0, 1)
    index: Tensor | Dim = 0
    """A tensor of integers, or a number."""
    extent: Dim = 1


def taken(x: Tensor, key: Index) -> Tensor:
    """Return the part of a tensor that a key names, by operations."""
    items = _items(x, key)
    gathers = any(isinstance(item.index, Tensor) for item in items)
    starts, stops, steps = [], [], []
    for item in (i for i in items if i.kind != "new"):
        low, high, step = item.bounds
        if item.kind == "index":
            at = item.index
            whole = (0, item.extent, 1)
            low, high, step = whole if isinstance(at, Tensor) else _number_bounds(at, item.extent)
            low, high, step = whole if gathers else (low, high, step)
        starts.append(low)
        stops.append(high)
        steps.append(step)
    trivial = all(
        low == 0 and step == 1 and high == d
        for low, high, step, d in zip(starts, stops, steps, x.shape, strict=True)
    )
    part: Tensor = x
    if not trivial:
        part = MAKE.slice(x, starts=tuple(starts), stops=tuple(stops), steps=tuple(steps))
    part = _with_axes(part, items, keep_indexed=gathers)
    return _gathered(part, [i for i in items if i.kind != "drop"], x) if gathers else part


def _number_bounds(at: Dim, extent: Dim) -> tuple[Dim, Dim, int]:
    """Return the slice of one element that a number is."""
    if isinstance(at, int) and isinstance(extent, int) and not -extent <= at < extent:
        raise IndexError(f"index {at} is out of range for an axis of {extent} elements")
    low = at + extent if isinstance(at, int) and at < 0 else at
    return low, low + 1, 1


def _with_axes(x: Tensor, items: Sequence[Item], *, keep_indexed: bool) -> Tensor:
    """Return the tensor with new axes, and without those that a number indexes."""
    extents = iter(x.shape)
    shape: list[Dim] = []
    for item in items:
        if item.kind == "new":
            shape.append(1)
            continue
        extent = next(extents)
        if item.kind == "slice" or keep_indexed:
            shape.append(extent)
    return x if tuple(shape) == tuple(x.shape) else reshape(x, tuple(shape))


def _gathered(x: Tensor, items: Sequence[Item], source: Tensor) -> Tensor:
    """Return the slices at the indices, which are broadcast against each other."""
    axes = [axis for axis, item in enumerate(items) if item.kind == "index"]
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    indices = [_checked(items[axis]) for axis in axes]
    shape = broadcast_shapes(*(i.shape for i in indices))
    if len(axes) == 1:
        made: Tensor = MAKE.gather(x, indices[0], axis=axes[0])
        return made
    front = permute_dims(x, (*axes, *rest))
    vectors = stack([broadcast_to(i, shape) for i in indices], axis=-1)
    made = MAKE.gather_nd(front, vectors)
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    place = axes[0] if together else 0
    if not place:
        return made
    rank = len(shape)
    order = (*range(rank, rank + place), *range(rank), *range(rank + place, made.ndim))
    return permute_dims(made, order)


def _checked(item: Item) -> Tensor:
    """Return an index as a tensor of int64, inside of its axis as far as that is known."""
    index = as_tensor(item.index, rows.i64)
    if index.eager and isinstance(item.extent, int) and index.size:
        low, high = int(index.numpy().min()), int(index.numpy().max())
        if low < -item.extent or high >= item.extent:
            wrong = low if low < -item.extent else high
            raise IndexError(f"index {wrong} is out of range for an axis of {item.extent} elements")
    made: Tensor = MAKE.to(index, rows.i64)
    return made


def _items(x: Tensor, key: Index) -> list[Item]:
    """Return what the parts of a key mean, axis by axis."""
    given = key if isinstance(key, tuple) else (key,)
    parts: list[Part] = [p for part in given for p in _part(part)]
    used = sum(p is not None and p is not Ellipsis for p in parts)
    dots = sum(p is Ellipsis for p in parts)
    if dots > 1 or used > x.ndim:
        raise IndexError(f"{used} indices and {dots} ellipses for a tensor of {x.ndim} axes")
    fill = [slice(None)] * (x.ndim - used)
    at = next((i for i, p in enumerate(parts) if p is Ellipsis), len(parts))
    parts[at : at + dots] = fill
    axis, items = 0, list[Item]()
    for part in parts:
        if part is None:
            items.append(Item("new"))
            continue
        extent = x.shape[axis]
        axis += 1
        if isinstance(part, slice):
            items.append(Item("slice", _slice_bounds(part, extent), extent=extent))
        elif part is not Ellipsis:
            items.append(Item("index", index=part, extent=extent))
    return items


def _part(part: Index) -> Sequence[Part]:
    """Return one part of a key as indices; a bool tensor is as many as it has axes."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return [part]
    if isinstance(part, int | np.integer | DimExpr) and not isinstance(part, bool):
        return [part if isinstance(part, DimExpr) else int(part)]
    tensor = as_tensor(part)
    if tensor.row.is_integer:
        return [int(tensor.numpy())] if tensor.eager and not tensor.ndim else [tensor]
    if tensor.row is not rows.bool_:
        raise IndexError(f"an index of {tensor.spec}, expected integers or bools")
    if not tensor.eager:
        raise GraphError(
            f"the number of elements that a bool tensor ({tensor.spec}) chooses is not known "
            "in a graph",
            location=short(user_line()),
            hint="use gravure.where, which keeps the shape",
        )
    return [Tensor(np.asarray(at)) for at in np.nonzero(tensor.numpy())]


def _slice_bounds(part: slice, extent: Dim) -> tuple[Dim, Dim, int]:
    step = 1 if part.step is None else int(part.step)
    far = 1 << 62
    start = part.start if part.start is not None else (0 if step > 0 else far)
    stop = part.stop if part.stop is not None else (far if step > 0 else -far)
    if step == 0:
        raise ValueError("a slice of step 0, expected another number")
    return bounds(_dim(start), _dim(stop), step, extent, Knowledge())


def _dim(value: SupportsIndex | DimExpr) -> Dim:
    return value if isinstance(value, DimExpr) else int(value)

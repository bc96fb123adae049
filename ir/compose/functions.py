"""Well-known operations that are a few others: functions of an `emit`.

An `emit` (see `Call.emit`) appends to a graph or computes at once; a value is what it gives.
Each function here returns the value(s) that it made. Axes count from the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from ..families import spec_of_value
from ..types import dtypes
from ..types.dims import Dim, product
from ..types.shapes import UnequalError
from .maker import Emit, Maker

Pads: TypeAlias = Sequence[tuple[Dim, Dim]]


def squeeze(emit: Emit, x: Any, axes: Sequence[int]) -> Any:
    """Drop axes of extent 1."""
    dims = spec_of_value(x).dims
    wide = [axis for axis in axes if dims[axis] != 1]
    if wide:
        text = f"axis {wide[0]} has {dims[wide[0]]} elements, expected 1"
        raise UnequalError(text, dims[wide[0]], 1)
    shape = tuple(d for axis, d in enumerate(dims) if axis not in axes)
    return Maker(emit).reshape(x, shape=shape)


def unsqueeze(emit: Emit, x: Any, axes: Sequence[int]) -> Any:
    """Insert axes of extent 1; `axes` are their places in the result."""
    rest = iter(spec_of_value(x).dims)
    rank = spec_of_value(x).rank + len(axes)
    if sorted(axes) != sorted({axis for axis in axes if 0 <= axis < rank}):
        raise TypeError(f"axes {tuple(axes)}, expected distinct ones below {rank}")
    shape = tuple(1 if axis in axes else next(rest) for axis in range(rank))
    return Maker(emit).reshape(x, shape=shape)


def flatten(emit: Emit, x: Any, axis: int) -> Any:
    """Make a matrix whose rows are the axes before `axis`."""
    dims = spec_of_value(x).dims
    return Maker(emit).reshape(x, shape=(product(dims[:axis]), product(dims[axis:])))


def move_axis(emit: Emit, x: Any, source: int, destination: int) -> Any:
    """Put one axis at another place; the others keep their order."""
    order = [axis for axis in range(spec_of_value(x).rank) if axis != source]
    order.insert(destination, source)
    if order == sorted(order):
        return x
    return Maker(emit).transpose(x, order=tuple(order))


def cut(emit: Emit, x: Any, axis: int, start: Dim, stop: Dim, step: int = 1) -> Any:
    """Take a range of one axis; with a negative step, as `gv.slice` reads it."""
    dims = spec_of_value(x).dims
    here = {axis: (start, stop, step)}
    rows = [here.get(i, (0, d, 1)) for i, d in enumerate(dims)]
    starts, stops, steps = zip(*rows, strict=True)
    return Maker(emit).slice(x, starts=starts, stops=stops, steps=steps)


def flip(emit: Emit, x: Any, axes: Sequence[int]) -> Any:
    """Reverse axes."""
    rows = [
        (d - 1, -1 - d, -1) if axis in axes else (0, d, 1)
        for axis, d in enumerate(spec_of_value(x).dims)
    ]
    if not axes:
        return x
    starts, stops, steps = zip(*rows, strict=True)
    return Maker(emit).slice(x, starts=starts, stops=stops, steps=steps)


def split(emit: Emit, x: Any, axis: int, sizes: Sequence[Dim]) -> list[Any]:
    """Cut an axis into parts of these sizes."""
    total: Dim = 0
    parts = []
    for size in sizes:
        parts.append((total, total + size))
        total = total + size
    extent = spec_of_value(x).dims[axis]
    if total != extent:
        message = f"parts of {total} elements in all, expected {extent}"
        raise UnequalError(message, total, extent)
    return [cut(emit, x, axis, start, stop) for start, stop in parts]


def stack(emit: Emit, xs: Sequence[Any], axis: int) -> Any:
    """Join values of one shape along a new axis."""
    return Maker(emit).concat(*(unsqueeze(emit, x, (axis,)) for x in xs), axis=axis)


def tile(emit: Emit, x: Any, repeats: Sequence[Dim]) -> Any:
    """Repeat the whole tensor along each axis."""
    dims = spec_of_value(x).dims
    split_dims = [(1, d) for d in dims]
    return _repeat(emit, x, split_dims, list(zip(repeats, dims, strict=True)))


def repeat(emit: Emit, x: Any, repeats: Sequence[Dim]) -> Any:
    """Repeat each element, so that equal ones are neighbours."""
    dims = spec_of_value(x).dims
    split_dims = [(d, 1) for d in dims]
    return _repeat(emit, x, split_dims, list(zip(dims, repeats, strict=True)))


def _repeat(
    emit: Emit, x: Any, before: Sequence[tuple[Dim, Dim]], after: Sequence[tuple[Dim, Dim]]
) -> Any:
    """Spread each axis over two, broadcast, and join them; axes that stay are left whole."""
    make = Maker(emit)
    narrow: list[Dim] = []
    wide: list[Dim] = []
    for old, new in zip(before, after, strict=True):
        narrow += [product(old)] if old == new else old
        wide += [product(new)] if old == new else new
    spread = make.broadcast_to(make.reshape(x, shape=tuple(narrow)), shape=tuple(wide))
    return make.reshape(spread, shape=tuple(product(new) for new in after))


def dilate(emit: Emit, x: Any, axis: int, step: int) -> Any:
    """Put `step - 1` zeros behind each element of an axis."""
    if step == 1:
        return x
    make, dims = Maker(emit), spec_of_value(x).dims
    apart = make.reshape(x, shape=(*dims[: axis + 1], 1, *dims[axis + 1 :]))
    pads = tuple((0, step - 1) if i == axis + 1 else (0, 0) for i in range(len(dims) + 1))
    shape = (*dims[:axis], dims[axis] * step, *dims[axis + 1 :])
    return make.reshape(make.pad(apart, pads=pads), shape=shape)


def resize_edges(emit: Emit, x: Any, pads: Pads) -> Any:
    """Pad with zeros; by a slice where all pads are known to crop, not at all where they are 0."""
    make = Maker(emit)
    if all(low == 0 and high == 0 for low, high in pads):
        return x
    if not all(isinstance(p, int) and p <= 0 for pair in pads for p in pair):
        return make.pad(x, pads=tuple(pads))
    dims = spec_of_value(x).dims
    starts = tuple(-low for low, _ in pads)
    stops = tuple(d + high for d, (_, high) in zip(dims, pads, strict=True))
    return make.slice(x, starts=starts, stops=stops, steps=(1,) * len(dims))


def pad_index(emit: Emit, extent: Dim, pads: tuple[Dim, Dim], mode: str) -> Any:
    """Return the index into an axis for each place of the axis padded by edge, reflect or wrap."""
    make = Maker(emit)
    low, high = pads
    place = make.iota(shape=(extent + low + high,), axis=0, dtype=dtypes.i64)
    place = make.sub(place, make.extent_of(low))
    zero = make.number(0, dtypes.i64)
    match mode:
        case "edge":
            return make.minimum(make.maximum(place, zero), make.extent_of(extent - 1))
        case "wrap":
            return make.mod(place, make.extent_of(extent))
        case "reflect":
            period = make.extent_of(extent * 2 - 2)
            there = make.mod(place, period)
            return make.minimum(there, make.sub(period, there))
        case _:
            raise TypeError(f"pad mode {mode!r}, expected edge, reflect or wrap")


def sum_along(emit: Emit, parts: Any, indices: Any, axis: int, extent: Dim) -> Any:
    """Add parts at indices of an axis: what `gather` along that axis undoes.

    The indices' axes stand in `parts` where the axis of this extent is to come.
    """
    make = Maker(emit)
    spec, index_rank = spec_of_value(parts), spec_of_value(indices).rank
    inner = range(axis, axis + index_rank)
    rest = [i for i in range(spec.rank) if i not in inner]
    order = (*inner, *rest)
    if order != tuple(range(spec.rank)):
        parts = make.transpose(parts, order=order)
    zeros = make.filled(0, spec.dtype, (extent, *(spec.dims[i] for i in rest)))
    column = unsqueeze(emit, indices, (index_rank,))
    total = make.scatter_nd(zeros, column, parts, reduction="add")
    return move_axis(emit, total, 0, axis)


def roll(emit: Emit, x: Any, axis: int, shift: int) -> Any:
    """Move the elements of an axis up by `shift`, those at the end to the front."""
    extent = spec_of_value(x).dims[axis]
    at = (extent - shift) % extent if extent != 0 else 0
    parts = (cut(emit, x, axis, at, extent), cut(emit, x, axis, 0, at))
    return Maker(emit).concat(*parts, axis=axis)


def triangle(emit: Emit, x: Any, offset: Any, *, upper: bool) -> Any:
    """Keep the part of each matrix above (or below) a diagonal, with it; the rest is 0.

    The offset of the diagonal is a number, or a value (i64, no axes).
    """
    make, spec = Maker(emit), spec_of_value(x)
    matrix = spec.dims[-2:]
    row = make.iota(shape=matrix, axis=0, dtype=dtypes.i64)
    column = make.iota(shape=matrix, axis=1, dtype=dtypes.i64)
    if isinstance(offset, int):
        offset = make.number(offset, dtypes.i64)
    else:  # far off is outside of the matrix: the sum with a row must not wrap around
        most = make.minimum(offset, make.extent_of(matrix[1]))
        offset = make.maximum(most, make.extent_of(matrix[0] * -1))
    diagonal = make.add(row, offset)
    inside = make.greater_equal(column, diagonal) if upper else make.less_equal(column, diagonal)
    return make.select(inside, x, make.number(0, spec.dtype))


HIDDEN = -1e30
"""Scores that are this low, or to which as much is added, weigh nothing beside any others."""


def seen_before(emit: Emit, steps: Dim, total: Dim) -> Any:
    """Make the truth [S, T] of which keys a query sees: the last one all, others one less each."""
    make = Maker(emit)
    row = make.iota(shape=(steps, 1), axis=0, dtype=dtypes.i64)
    last = make.add(row, make.extent_of(total - steps))
    column = make.iota(shape=(1, total), axis=1, dtype=dtypes.i64)
    return make.less_equal(column, last)


def causal_bias(emit: Emit, steps: Dim, total: Dim, low: float) -> Any:
    """Make the bias [S, T] that hides keys behind a query; the last query sees all of them."""
    make = Maker(emit)
    zero, hidden = (make.number(value, dtypes.f32) for value in (0, low))
    return make.select(seen_before(emit, steps, total), zero, hidden)


def channels_last(emit: Emit, x: Any) -> Any:
    """Turn [N, C, *S] into [N, *S, C]."""
    return move_axis(emit, x, 1, spec_of_value(x).rank - 1)


def channels_first(emit: Emit, x: Any) -> Any:
    """Turn [N, *S, C] into [N, C, *S]."""
    return move_axis(emit, x, spec_of_value(x).rank - 1, 1)


def depth_to_space(emit: Emit, x: Any, block: int, *, columns_first: bool = False) -> Any:
    """Spread the channels of [N, C, H, W] over blocks of the image.

    Channels are ordered (block row, block column, channel), or with `columns_first`
    (channel, block row, block column): DCR and CRD in ONNX.
    """
    make = Maker(emit)
    n, c, h, w = spec_of_value(x).dims
    depth = c // (block * block)
    if columns_first:
        parts = make.reshape(x, shape=(n, depth, block, block, h, w))
        spread = make.transpose(parts, order=(0, 1, 4, 2, 5, 3))
    else:
        parts = make.reshape(x, shape=(n, block, block, depth, h, w))
        spread = make.transpose(parts, order=(0, 3, 4, 1, 5, 2))
    return make.reshape(spread, shape=(n, depth, h * block, w * block))


def space_to_depth(emit: Emit, x: Any, block: int) -> Any:
    """Gather blocks of the image [N, C, H, W] into channels (block row, block column, channel)."""
    make = Maker(emit)
    n, c, h, w = spec_of_value(x).dims
    rows, columns = h // block, w // block
    parts = make.reshape(x, shape=(n, c, rows, block, columns, block))
    parts = make.transpose(parts, order=(0, 3, 5, 1, 2, 4))
    return make.reshape(parts, shape=(n, c * block * block, rows, columns))


def first_wrong(m: Maker, inside: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Return the place of the first element that is not true, and whether there is none."""
    count = prod(shape)
    if count == 1:
        return m.number(0, dtypes.i32), m.reshape(inside, shape=())
    none = m.number(count, dtypes.i32)
    places = m.iota(shape=(count,), axis=0, dtype=dtypes.i32)
    first = m.min(m.select(inside, none, places), axes=(0,))
    return m.minimum(first, m.number(count - 1, dtypes.i32)), m.equal(first, none)

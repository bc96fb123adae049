"""Rules of sampling an image at points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ....ir import Dim, DType
from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule

MODES = {"bilinear": "linear", "bicubic": "cubic"}


@dataclass(frozen=True)
class Axis:
    """One spatial axis: its extent, and where its border is."""

    extent: Dim
    low: float
    """Where the border is before the first element; it is as far behind the last."""
    padding: str

    def width(self, node: Node, dtype: DType) -> Value:
        """Return how far it is from border to border."""
        return node.make.extent_of(self.extent - 1 if self.low == 0 else self.extent, dtype)

    def last(self, node: Node, dtype: DType) -> Value:
        """Return the place of the last element."""
        return node.make.extent_of(self.extent - 1, dtype)


@rule("GridSample")
def grid_sample(node: Node, x: Value, grid: Value) -> Value:
    """Return the image at points between -1 and 1, interpolated."""
    make, rank = node.make, node.rank(x)
    mode = node.text("mode", "linear")
    mode = MODES.get(mode, mode)
    extents = node.shape(x)[2:]
    aligned = bool(node.integer("align_corners", 0))
    padding = node.text("padding_mode", "zeros")
    axes = [Axis(extent, 0.0 if aligned else -0.5, padding) for extent in extents]
    points = []
    for i, axis in enumerate(axes):
        last = c.cut(node.emit, grid, rank - 1, rank - 3 - i, rank - 2 - i)
        points.append(_placed(node, c.squeeze(node.emit, last, (rank - 1,)), axis, mode))
    image = c.channels_last(node.emit, x)
    batch, *_, channels = node.shape(image)
    flat = make.reshape(image, shape=(batch, dim_rules.product(extents), channels))
    steps = [dim_rules.product(extents[i + 1 :]) for i in range(len(extents))]
    rows = zip(points, axes, steps, strict=True)
    taps = [_taps(node, point, mode, axis, step) for point, axis, step in rows]
    return c.channels_first(node.emit, _summed(node, flat, taps, []))


@rule("AffineGrid")
def affine_grid(node: Node, theta: Value, size: Value) -> Value:
    """Return the points that matrices move those of a grid from -1 to 1 to, the last axis first.

    The function of the standard drops the batch where that is 1.
    """
    make, dtype = node.make, node.dtype(theta)
    extents = node.sizes(size, "size")[2:]
    rank = len(extents)
    if rank not in (2, 3) or node.rank(theta) != 3:
        node.fail(f"a size of {rank + 2} numbers, expected 4 or 5, and theta of rank 3")
    if node.shape(theta)[1:] != (rank, rank + 1):
        node.fail(f"theta is {node.spec(theta)}, expected [N, {rank}, {rank + 1}]")
    aligned = bool(node.integer("align_corners", 0))
    columns = [
        make.reshape(
            c.cut(node.emit, theta, 2, i, i + 1), shape=(node.shape(theta)[0], rank, *(1,) * rank)
        )
        for i in range(rank + 1)
    ]
    total = columns[-1]
    for axis, column in enumerate(reversed(columns[:-1]), 2):
        line = tuple(extents[axis - 2] if a == axis else 1 for a in range(rank + 2))
        place = make.iota(shape=line, axis=axis, dtype=dtype)
        along = _centred(node, place, extents[axis - 2], aligned=aligned)
        total = make.add(total, make.mul(column, along))
    # The coordinates are the last axis: each by itself is computed in long rows.
    return c.move_axis(node.emit, total, 1, rank + 1)


def _centred(node: Node, place: Value, extent: Dim, *, aligned: bool) -> Value:
    """Return places along an axis from -1 to 1: of its borders, or of its outermost elements."""
    make, dtype = node.make, node.dtype(place)
    one = make.number(1, dtype)
    count = make.extent_of(extent, dtype)
    if aligned:  # one element is the first
        count = make.maximum(make.sub(count, one), one)
    twice = make.add(place, place)
    return make.sub(make.div(twice if aligned else make.add(twice, one), count), one)


def _placed(node: Node, grid: Value, axis: Axis, mode: str) -> Value:
    """Return where on an axis points lie, counted in elements and moved inside of the border."""
    make, dtype = node.make, node.dtype(grid)
    half = make.mul(axis.width(node, dtype), make.number(0.5, dtype))
    place = make.mul(make.add(grid, make.number(1, dtype)), half)
    place = make.add(place, make.number(axis.low, dtype))
    if mode == "nearest":
        place = make.round(place)
    if mode == "cubic" and axis.padding == "border":
        return place  # of the elements around it, each is taken from the border by itself
    return _inside(node, place, axis)


def _inside(node: Node, place: Value, axis: Axis) -> Value:
    """Move what lies outside: to the border, or mirrored at it; zeros are dealt with later."""
    make, dtype = node.make, node.dtype(place)
    if axis.padding == "border":
        return make.clip(place, make.number(0, dtype), axis.last(node, dtype))
    if axis.padding == "reflection" and (axis.extent != 1 or axis.low != 0):
        width, low = axis.width(node, dtype), make.number(axis.low, dtype)
        double = make.add(width, width)
        if not isinstance(axis.extent, int):  # one element has no width: all places are it
            double = make.maximum(double, make.number(1, dtype))
        there = make.mod(make.sub(place, low), double)
        return make.add(low, make.minimum(there, make.sub(double, there)))
    return place


def _places(node: Node, point: Value, mode: str) -> list[tuple[Value, Value | None]]:
    """Return the elements, as place and weight, that a point of one axis is made of."""
    make, dtype = node.make, node.dtype(point)
    if mode == "nearest":
        return [(make.round(point), None)]
    low = make.floor(point)
    share = make.sub(point, low)
    one = make.number(1, dtype)
    if mode == "linear":
        return [(low, make.sub(one, share)), (make.add(low, one), share)]
    if mode != "cubic":
        node.refuse(f"mode {mode!r} is not supported")
    far, near = make.add(share, one), make.sub(one, share)
    distances = ((far, True), (share, False), (near, False), (make.add(near, one), True))
    weights = [_cubic(node, x, outer=outer) for x, outer in distances]
    places = [make.add(low, make.number(i, dtype)) for i in (-1, 0, 1, 2)]
    return list(zip(places, weights, strict=True))


def _cubic(node: Node, x: Value, *, outer: bool, a: float = -0.75) -> Value:
    """Return the weight of an element at this distance."""
    make, dtype = node.make, node.dtype(x)
    factors = (a, -5 * a, 8 * a, -4 * a) if outer else (a + 2, -(a + 3), 0.0, 1.0)
    total: Any = make.number(factors[0], dtype)
    for factor in factors[1:]:
        total = make.add(make.mul(total, x), make.number(factor, dtype))
    return total


@dataclass(frozen=True)
class Tap:
    """One of the elements along an axis that a point is made of."""

    offset: Value
    """How many elements of the image lie before it."""
    outside: Value | None
    """Where it is outside, if that makes it 0."""
    weight: Value | None


def _taps(node: Node, point: Value, mode: str, axis: Axis, step: Dim) -> list[Tap]:
    """Return the elements of an axis, `step` elements apart, that points are made of."""
    make, dtype, found = node.make, node.dtype(point), []
    low, high = make.number(0, dtype), axis.last(node, dtype)
    for place, weight in _places(node, point, mode):
        outside = None
        if axis.padding == "zeros":
            outside = make.logical_or(make.less(place, low), make.greater(place, high))
        moved = _inside(node, place, axis) if axis.padding == "reflection" else place
        number = make.to(make.clip(moved, low, high), d.i64)
        offset = make.mul(number, make.extent_of(step, d.i64))
        found.append(Tap(offset, outside, weight))
    return found


def _summed(node: Node, flat: Value, taps: Sequence[list[Tap]], before: Sequence[Tap]) -> Value:
    """Return what elements of the image that axes choose add up to, weighted axis by axis."""
    if not taps:
        return _picked(node, flat, before)
    make, total = node.make, None
    for tap in taps[0]:
        part = _summed(node, flat, taps[1:], [*before, tap])
        if tap.weight is not None:
            column = make.to(tap.weight, node.dtype(flat))
            part = make.mul(part, c.unsqueeze(node.emit, column, (node.rank(part) - 1,)))
        total = part if total is None else make.add(total, part)
    assert total is not None, "a point has taps"
    return total


def _picked(node: Node, flat: Value, taps: Sequence[Tap]) -> Value:
    """Return elements of the image, 0 where they are outside and that is asked for."""
    make = node.make
    place = reduce(make.add, [tap.offset for tap in taps])
    column = c.unsqueeze(node.emit, place, (node.rank(place),))
    found = make.gather_nd(flat, column, batch_dims=1)
    masks = [tap.outside for tap in taps if tap.outside is not None]
    if not masks:
        return found
    mask = c.unsqueeze(node.emit, reduce(make.logical_or, masks), (node.rank(place),))
    return make.select(mask, make.number(0, node.dtype(flat)), found)

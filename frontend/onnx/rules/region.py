"""Rules of operators that sample an image where other inputs say: RoiAlign and DeformConv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np

from ....ir import Dim, DType
from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from ..windows import Windows, windows_of
from ..within import require_within
from .window import along_channels


@dataclass(frozen=True)
class Line:
    """Points on one axis: the elements beside them, the weight of the upper one, and validity."""

    low: Value
    high: Value
    share: Value
    inside: Value

    def end(self, node: Node, which: int) -> tuple[Value, Value]:
        """Return the element below (0) or above (1), and its weight."""
        if which:
            return self.high, self.share
        return self.low, node.make.sub(node.make.number(1, node.dtype(self.share)), self.share)


def _number(node: Node, value: float, like: Value) -> Value:
    return node.make.number(value, node.dtype(like))


@rule("RoiAlign")
def roi_align(node: Node, x: Value, rois: Value, batch: Value) -> Value:
    """Return the mean (or largest) of points in each bin of each region of interest."""
    make = node.make
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    shift = 0.5 if node.text("coordinate_transformation_mode", default) == "half_pixel" else 0.0
    takes_largest = node.text("mode", "avg").lower() == "max"
    n, channels, height, width = node.shape(x)
    wide = d.f32 if node.dtype(x).size < 4 else node.dtype(x)
    scaled = make.mul(make.to(rois, wide), make.number(node.number("spatial_scale", 1.0), wide))
    scaled = make.sub(scaled, make.number(shift, wide))
    bins = node.integer("output_height", 1), node.integer("output_width", 1)
    grids = _grids(node, scaled, bins, forced=shift == 0)
    require_within(node, batch, 0, n, "image")
    first = make.reshape(make.mul(make.to(batch, d.i64), make.extent_of(height * width)),
                         shape=(*node.shape(batch), 1, 1))  # fmt: skip
    lines, masks = [], []
    for axis, (extent, count, grid) in enumerate(zip((height, width), bins, grids, strict=True)):
        ends = _ends(node, scaled, axis)
        line, used = _bins(node, ends, count, grid, extent, forced=shift == 0)
        lines.append(line)
        masks.append(used)
    image = make.reshape(c.channels_last(node.emit, make.to(x, wide)),
                         shape=(n * height * width, channels))  # fmt: skip
    corners = _corners(node, image, first, lines, width)
    sampled = reduce(make.maximum if takes_largest else make.add, corners)
    return make.to(_over_grid(node, sampled, bins, grids, masks, largest=takes_largest),
                   node.dtype(x))  # fmt: skip


def _grids(node: Node, scaled: Value, bins: Sequence[int], *, forced: bool) -> Sequence[Dim]:
    """Return how many points a bin has along each axis, at most."""
    given = node.integer("sampling_ratio", 0)
    if given > 0:
        return [given, given]
    make, one = node.make, _number(node, 1, scaled)
    most = []
    for axis, count in enumerate(bins):
        each = _width(node, _ends(node, scaled, axis), count, forced=forced)
        largest = make.max(make.ceil(each), axes=(0, 1))
        most.append(make.to(make.maximum(largest, one), d.i64))
    return node.sizes(c.stack(node.emit, most, 0), "the points of a bin")


def _ends(node: Node, scaled: Value, axis: int) -> tuple[Value, Value]:
    """Return where regions begin and end on an axis, which stand the other way round."""
    low, high = (c.cut(node.emit, scaled, 1, i, i + 1) for i in (1 - axis, 3 - axis))
    return low, high


def _width(node: Node, ends: tuple[Value, Value], count: int, *, forced: bool) -> Value:
    """Return how wide a bin is of each region."""
    size = node.make.sub(ends[1], ends[0])
    if forced:  # a region is at least one element large
        size = node.make.maximum(size, _number(node, 1, size))
    return node.make.div(size, _number(node, count, size))


def _bins(
    node: Node, ends: tuple[Value, Value], count: int, grid: Dim, extent: Dim, *, forced: bool
) -> tuple[Line, Value | None]:
    """Return the points of all bins on one axis, [R, count * grid], and which of them are used."""
    make, dtype = node.make, node.dtype(ends[0])
    each = _width(node, ends, count, forced=forced)
    points = make.iota(shape=(1, grid * count), axis=1, dtype=d.i64)
    which = make.to(make.floor_divide(points, make.extent_of(grid)), dtype)
    step = make.to(make.mod(points, make.extent_of(grid)), dtype)
    total, used = make.extent_of(grid, dtype), None
    if node.integer("sampling_ratio", 0) <= 0:
        total = make.maximum(make.ceil(each), make.number(0, dtype))
        used = make.less(step, total)
        total = make.maximum(total, make.number(1, dtype))
    inner = make.div(make.mul(make.add(step, make.number(0.5, dtype)), each), total)
    at = make.add(make.add(ends[0], make.mul(which, each)), inner)
    last = make.extent_of(extent, dtype)
    inside = make.logical_and(
        make.greater_equal(at, make.number(-1, dtype)), make.less_equal(at, last)
    )
    top = make.sub(last, make.number(1, dtype))
    return _line(node, make.clip(at, make.number(0, dtype), top), extent, inside), used


def _line(node: Node, at: Value, extent: Dim, inside: Value) -> Line:
    """Return the elements beside points that lie on the axis."""
    make, dtype = node.make, node.dtype(at)
    low = make.floor(at)
    top = make.sub(make.extent_of(extent, dtype), make.number(1, dtype))
    high = make.minimum(make.add(low, make.number(1, dtype)), top)
    return Line(make.to(low, d.i64), make.to(high, d.i64), make.sub(at, low), inside)


def _corners(
    node: Node, image: Value, first: Value, lines: Sequence[Line], width: Dim
) -> list[Value]:
    """Return the four neighbours of each point times their weights: [R, rows, columns, C]."""
    make, (rows, columns) = node.make, lines
    found = []
    inside = make.logical_and(
        c.unsqueeze(node.emit, rows.inside, (2,)), c.unsqueeze(node.emit, columns.inside, (1,))
    )
    for ends in product((0, 1), repeat=2):
        (row, by_row), (column, by_column) = rows.end(node, ends[0]), columns.end(node, ends[1])
        row = c.unsqueeze(node.emit, make.mul(row, make.extent_of(width)), (2,))
        index = make.add(make.add(first, row), c.unsqueeze(node.emit, column, (1,)))
        weight = make.mul(
            c.unsqueeze(node.emit, by_row, (2,)), c.unsqueeze(node.emit, by_column, (1,))
        )
        weight = make.select(inside, weight, _number(node, 0, weight))
        part = make.gather(image, index, axis=0)
        found.append(make.mul(part, c.unsqueeze(node.emit, weight, (3,))))
    return found


def _over_grid(
    node: Node, sampled: Value, bins: Sequence[int], grids: Sequence[Dim],
    masks: Sequence[Value | None], *, largest: bool,
) -> Value:  # fmt: skip
    """Put the points of each bin together, and the channels in front."""
    make = node.make
    regions, _, _, channels = node.shape(sampled)
    dtype = node.dtype(sampled)
    count: Value = make.extent_of(grids[0] * grids[1], dtype)
    if masks[0] is not None and masks[1] is not None:
        used = make.logical_and(
            c.unsqueeze(node.emit, masks[0], (2,)), c.unsqueeze(node.emit, masks[1], (1,))
        )
        neutral = make.number(-np.inf if largest else 0, dtype)
        sampled = make.select(c.unsqueeze(node.emit, used, (3,)), sampled, neutral)
        parts = make.reshape(make.to(used, dtype), shape=(regions, bins[0], grids[0], bins[1],
                                                          grids[1], 1))  # fmt: skip
        count = make.maximum(make.sum(parts, axes=(2, 4)), make.number(1, dtype))
    shape = (regions, bins[0], grids[0], bins[1], grids[1], channels)
    spread = make.reshape(sampled, shape=shape)
    if largest:
        made = make.max(spread, axes=(2, 4))
        made = make.select(make.equal(made, make.number(-np.inf, dtype)),
                           make.number(0, dtype), made)  # fmt: skip
    else:
        made = make.div(make.sum(spread, axes=(2, 4)), count)
    return c.channels_first(node.emit, made)


@rule("DeformConv")
def deform_conv(
    node: Node, x: Value, w: Value, offset: Value, bias: Value | None = None,
    mask: Value | None = None,
) -> Value:  # fmt: skip
    """Convolve with windows whose taps are each moved by an offset, and weighted by a mask."""
    make, rank = node.make, node.rank(x)
    if rank != 4:
        node.refuse(f"rank {rank}, expected 4")
    kernel = node.static_shape(w, "for the weights of a convolution")[2:]
    if (given := node.integers("kernel_shape")) not in (None, kernel):
        node.fail(f"kernel_shape {given}, expected {kernel} as the weights have")
    n, channels, height, width = node.shape(x)
    groups, parts = node.integer("group", 1), node.integer("offset_group", 1)
    windows, _ = windows_of(node, kernel, (height, width))
    taps, places = kernel[0] * kernel[1], node.shape(offset)[2:]
    moved = make.reshape(offset, shape=(n, parts, taps, 2, *places))
    lines = []
    for axis, extent in enumerate((height, width)):
        start = _starts(node, kernel, axis, places, windows, node.dtype(offset))
        delta = c.squeeze(node.emit, c.cut(node.emit, moved, 3, axis, axis + 1), (3,))
        lines.append((make.add(delta, start), extent))
    each = dim_rules.floor_divide(channels, parts)
    image = make.reshape(x, shape=(n * parts, each, height * width))
    image = make.reshape(make.transpose(image, order=(0, 2, 1)),
                         shape=(n * parts * height * width, each))  # fmt: skip
    columns = _sampled(node, image, lines, (n, parts))
    if mask is not None:
        weight = make.reshape(mask, shape=(n, parts, taps, *places, 1))
        columns = make.mul(columns, weight)
    columns = make.transpose(columns, order=(0, 1, 5, 2, 3, 4))
    inner = dim_rules.floor_divide(channels, groups) * taps
    columns = make.reshape(columns, shape=(n, groups, inner, places[0] * places[1]))
    filters = dim_rules.floor_divide(node.shape(w)[0], groups)
    made = make.matmul(make.reshape(w, shape=(groups, filters, inner)), columns)
    made = make.reshape(made, shape=(n, node.shape(w)[0], *places))
    return made if bias is None else make.add(made, along_channels(node, bias, rank))


def _starts(
    node: Node, kernel: Sequence[int], axis: int, places: Sequence[Dim], windows: Windows,
    dtype: DType,
) -> Value:  # fmt: skip
    """Return where each tap of each window is before it is moved: [taps, rows, columns]."""
    make = node.make
    stride, low = windows.strides[axis], windows.pads[axis][0]
    tap = np.indices(kernel)[axis].reshape(-1, 1, 1) * windows.dilations[axis] - low
    shape = tuple(places[i - 1] if i == axis + 1 else 1 for i in range(3))
    at = make.mul(make.iota(shape=shape, axis=axis + 1, dtype=dtype), make.number(stride, dtype))
    return make.add(at, node.constant(tap, dtype))


def _sampled(
    node: Node, image: Value, lines: Sequence[tuple[Value, Dim]], groups: tuple[Dim, int]
) -> Value:
    """Return the image between its elements, 0 outside: [N, parts, taps, rows, columns, C]."""
    make = node.make
    (rows, height), (columns, width) = lines
    batch = make.iota(shape=(*groups, 1, 1, 1), axis=0, dtype=d.i64)
    part = make.iota(shape=(*groups, 1, 1, 1), axis=1, dtype=d.i64)
    first = make.add(make.mul(batch, make.number(groups[1], d.i64)), part)
    first = make.mul(first, make.extent_of(height * width))
    total = None
    for up, right in product((0, 1), repeat=2):
        row, by_row = _neighbour(node, rows, height, up)
        column, by_column = _neighbour(node, columns, width, right)
        index = make.add(first, make.add(make.mul(row, make.extent_of(width)), column))
        weight = c.unsqueeze(node.emit, make.mul(by_row, by_column), (5,))
        found = make.mul(make.gather(image, index, axis=0), make.to(weight, node.dtype(image)))
        total = found if total is None else make.add(total, found)
    return total


def _neighbour(node: Node, at: Value, extent: Dim, which: int) -> tuple[Value, Value]:
    """Return the element below (0) or above (1) of points, and its weight, 0 where it is none."""
    make, dtype = node.make, node.dtype(at)
    low = make.floor(at)
    share = make.sub(at, low)
    place = make.add(low, make.number(which, dtype))
    weight = share if which else make.sub(make.number(1, dtype), share)
    zero, top = make.number(0, dtype), make.extent_of(extent - 1, dtype)
    inside = make.logical_and(make.greater_equal(place, zero), make.less_equal(place, top))
    index = make.to(make.clip(place, zero, top), d.i64)
    return index, make.select(inside, weight, zero)


@rule("MaxRoiPool")
def max_roi_pool(node: Node, x: Value, rois: Value) -> Value:
    """Return the largest element in each bin of each region [batch, x1, y1, x2, y2], 0 if empty."""
    make, dtype = node.make, node.dtype(x)
    bins = node.integers("pooled_shape") or ()
    if node.rank(x) != 4 or len(bins) != 2:
        node.fail(f"rank {node.rank(x)} and {len(bins)} bins, expected 4 and 2")
    wide = make.to(rois, d.f32)
    lowest = make.number(-np.inf, dtype)
    batch = make.to(c.squeeze(node.emit, c.cut(node.emit, rois, 1, 0, 1), (1,)), d.i64)
    require_within(node, batch, 0, node.shape(x)[0], "image")
    found = make.gather(x, batch, axis=0)
    for axis, count in enumerate(bins):
        extent = node.shape(x)[2 + axis]
        ends = [c.cut(node.emit, wide, 1, i, i + 1) for i in (2 - axis, 4 - axis)]
        inside = _inside_bins(node, ends, count, extent)  # [R, count, extent]
        places = (1, 4) if axis == 0 else (1, 2)
        mask = c.unsqueeze(node.emit, inside, places)
        spread = c.unsqueeze(node.emit, found, (2 + axis,))
        found = make.max(make.select(mask, spread, lowest), axes=(3 + axis,))
    return make.select(make.equal(found, lowest), make.number(0, dtype), found)


def _inside_bins(node: Node, ends: Sequence[Value], count: int, extent: Dim) -> Value:
    """Say which elements of an axis are in which bin of which region."""
    make = node.make
    scale = make.number(node.number("spatial_scale", 1.0), d.f32)
    half = make.number(0.5, d.f32)
    first, last = (make.floor(make.add(make.mul(end, scale), half)) for end in ends)
    one = make.number(1, d.f32)
    size = make.div(make.maximum(make.add(make.sub(last, first), one), one),
                    make.number(count, d.f32))  # fmt: skip
    index = make.iota(shape=(1, count), axis=1, dtype=d.f32)
    begin = make.add(make.floor(make.mul(index, size)), first)
    end = make.add(make.ceil(make.mul(make.add(index, one), size)), first)
    place = make.iota(shape=(1, 1, extent), axis=2, dtype=d.f32)
    begin, end = (c.unsqueeze(node.emit, v, (2,)) for v in (begin, end))
    return make.logical_and(make.greater_equal(place, begin), make.less(place, end))

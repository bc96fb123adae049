"""Rules of `com.microsoft` operators on images."""

from __future__ import annotations

from ....ir import Dim
from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from .microsoft import MICROSOFT


@rule("CropAndResize", domain=MICROSOFT)
def crop_and_resize(node: Node, x: Value, rois: Value, batch: Value, size: Value) -> Value:
    """Return parts of images, all of one size; beyond an image is the value of an attribute.

    Corners of the parts are given as y, x, y, x, of an image from 0 to 1.
    """
    make, dtype, mode = node.make, node.dtype(x), node.text("mode", "bilinear")
    if mode not in ("bilinear", "nearest"):
        node.refuse(f"mode {mode!r}, expected 'bilinear' or 'nearest'")
    (_, channels, *extents), count = node.shape(x), node.shape(rois)[0]
    target = node.sizes(size, "crop_size")
    image, number = c.channels_last(node.emit, x), make.to(batch, d.i64)
    number = make.reshape(number, shape=(count, 1, 1))
    lines = [
        make.reshape(
            _line(node, rois, axis, extents[axis], target[axis]),
            shape=(count, *(target[i] if i == axis else 1 for i in (0, 1))),
        )
        for axis in (0, 1)
    ]
    inside = [_inside(node, line, extent) for line, extent in zip(lines, extents, strict=True)]
    zero = make.number(0, dtype)
    # What lies outside is read at the edge, and not taken.
    lines = [make.select(among, line, zero) for among, line in zip(inside, lines, strict=True)]

    def read(rows: Value, columns: Value) -> Value:
        """Return the elements at whole places, [R, H, W, C]."""
        shape = (count, *target)
        places = [make.broadcast_to(make.to(v, d.i64), shape=shape) for v in (rows, columns)]
        every = [make.broadcast_to(number, shape=shape), *places]
        return make.gather_nd(image, c.stack(node.emit, every, 3))

    if mode == "nearest":  # the half that there is goes away from 0
        half = make.number(0.5, dtype)
        made = read(*(make.floor(make.add(line, half)) for line in lines))
    else:
        top, left = (make.floor(line) for line in lines)
        bottom, right = (make.ceil(line) for line in lines)
        down, across = (
            c.unsqueeze(node.emit, make.sub(line, first), (3,))
            for line, first in zip(lines, (top, left), strict=True)
        )
        above = _between(node, read(top, left), read(top, right), across)
        below = _between(node, read(bottom, left), read(bottom, right), across)
        made = _between(node, above, below, down)
    there = c.unsqueeze(node.emit, make.logical_and(*inside), (3,))
    fill = make.number(node.number("extrapolation_value", 0.0), dtype)
    made = make.reshape(make.select(there, made, fill), shape=(count, *target, channels))
    return make.transpose(made, order=(0, 3, 1, 2))


def _line(node: Node, rois: Value, axis: int, extent: Dim, count: Dim) -> Value:
    """Return where the points of each part lie on an axis, [R, count]."""
    make, dtype = node.make, node.dtype(rois)
    low, high = (c.cut(node.emit, rois, 1, i, i + 1) for i in (axis, axis + 2))
    last, points = make.extent_of(extent - 1, dtype), make.extent_of(count, dtype)
    one = make.number(1, dtype)
    step = make.div(make.mul(make.sub(high, low), last), make.maximum(make.sub(points, one), one))
    at = make.iota(shape=(1, count), axis=1, dtype=dtype)
    along = make.add(make.mul(low, last), make.mul(at, step))
    middle = make.mul(make.mul(make.number(0.5, dtype), make.add(low, high)), last)
    return make.select(make.greater(points, one), along, middle)


def _inside(node: Node, line: Value, extent: Dim) -> Value:
    """Say which points lie on an axis."""
    make, dtype = node.make, node.dtype(line)
    above = make.greater_equal(line, make.number(0, dtype))
    return make.logical_and(above, make.less_equal(line, make.extent_of(extent - 1, dtype)))


def _between(node: Node, a: Value, b: Value, share: Value) -> Value:
    """Return what lies between two values."""
    return node.make.add(a, node.make.mul(node.make.sub(b, a), share))

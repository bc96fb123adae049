"""Rules of operators that take or put elements by index."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ...dims.slices import Knowledge
from ..node import Node, Value
from ..registry import rule
from ..within import require_index, require_points, require_within


@rule("Gather")
def gather(node: Node, x: Value, indices: Value) -> Value:
    """Take slices along an axis; one slice at a place that is known is cut out."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    known, extent = node.known(indices), node.shape(x)[axis]
    if known is not None and known.dtype != object and not known.ndim:
        place = int(known)
        first = extent + place if place < 0 else place
        sure = Knowledge(node.emitter.ranges)
        if sure.at_least(first, 0) and sure.at_least(extent, first + 1):
            part = c.cut(node.emit, x, axis, first, first + 1)
            return c.squeeze(node.emit, part, (axis,))
    require_index(node, indices, extent)
    if extent == 0 and node.spec(indices).size != 0 and node.block is not node.emitter.entry:
        dims = node.shape(x)  # no run that comes here goes on
        dims = (*dims[:axis], *node.shape(indices), *dims[axis + 1 :])
        return node.make.filled(0, node.spec(x).dtype, dims)
    return node.make.gather(x, indices, axis=axis)


@rule("GatherElements")
def gather_elements(node: Node, x: Value, indices: Value) -> Value:
    """Take single elements along an axis."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    require_index(node, indices, node.shape(x)[axis])
    return node.make.gather_elements(x, indices, axis=axis)


@rule("GatherND")
def gather_nd(node: Node, x: Value, indices: Value) -> Value:
    """Take slices at points."""
    _expect_depth(node, indices)
    batch = node.integer("batch_dims", 0)
    require_points(node, indices, node.shape(x)[batch:])
    return node.make.gather_nd(x, indices, batch_dims=batch)


def _expect_depth(node: Node, points: Value) -> None:
    """Refuse points of a depth that is no number; a model for each may be made."""
    depth = node.shape(points)[-1] if node.rank(points) else 0
    if not isinstance(depth, int):
        node.refuse_sizes(f"points of {depth} indices, expected a known number of them", depth)


@rule("Scatter", "ScatterElements")
def scatter_elements(node: Node, x: Value, indices: Value, updates: Value) -> Value:
    """Put single elements along an axis."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    reduction = node.text("reduction", "none")
    require_index(node, indices, node.shape(x)[axis])
    return node.make.scatter_elements(x, indices, updates, axis=axis, reduction=reduction)


@rule("ScatterND")
def scatter_nd(node: Node, x: Value, indices: Value, updates: Value) -> Value:
    """Put slices at points."""
    _expect_depth(node, indices)
    require_points(node, indices, node.shape(x))
    return node.make.scatter_nd(x, indices, updates, reduction=node.text("reduction", "none"))


@rule("TensorScatter")
def tensor_scatter(node: Node, cache: Value, update: Value, at: Value | None = None) -> Value:
    """Write each sequence's update into its cache from its index on, round its end if asked."""
    make, shape = node.make, node.shape(update)
    axis = normalize_axis(node.integer("axis", -2), len(shape))
    place, extent = make.iota(shape=shape, axis=axis, dtype=d.i64), node.shape(cache)[axis]
    goes_round = node.text("mode", "linear") == "circular"
    if at is not None:
        first = make.reshape(make.to(at, d.i64), shape=(shape[0], *(1,) * (len(shape) - 1)))
        if goes_round:
            require_within(node, at, 0, d.i64.maximum, "index", other=d.i64.maximum)
            first = make.mod(first, make.extent_of(extent))  # a sum with a large one would overflow
        place = make.add(place, first)
    if goes_round:
        place = make.mod(place, make.extent_of(extent))
    else:
        require_within(node, place, 0, extent, "place")
    return make.scatter_elements(cache, place, update, axis=axis, reduction="none")


@rule("OneHot")
def one_hot(node: Node, indices: Value, depth: Value, values: Value) -> Value:
    """Return `on` where the place on a new axis is the index, `off` elsewhere."""
    make = node.make
    (count,) = node.sizes(make.to(make.reshape(depth, shape=()), d.i64), "depth")
    rank = node.rank(indices)
    axis = normalize_axis(node.integer("axis", -1), rank + 1)
    wide = make.to(indices, d.i64)
    extent = make.extent_of(count)
    wrapped = make.select(make.less(wide, make.number(0, d.i64)), make.add(wide, extent), wide)
    shape = node.shape(indices)
    column = make.reshape(wrapped, shape=(*shape[:axis], 1, *shape[axis:]))
    place = make.iota(shape=(*shape[:axis], count, *shape[axis:]), axis=axis, dtype=d.i64)
    off, on = (
        make.reshape(make.slice(values, starts=(i,), stops=(i + 1,), steps=(1,)), shape=())
        for i in (0, 1)
    )
    return make.select(make.equal(place, column), on, off)


@rule("TopK")
def top_k(node: Node, x: Value, k: Value | None = None) -> Sequence[Value]:
    """Return the largest or smallest elements along an axis, and where they are."""
    axis = normalize_axis(node.integer("axis", -1), node.rank(x))
    count = node.integer("k") if k is None else node.sizes(k, "K", node.shape(x)[axis])[0]
    made: Sequence[Value] = node.make.top_k(
        x,
        k=count,
        axis=axis,
        largest=bool(node.integer("largest", 1)),
        sorted=bool(node.integer("sorted", 1)),
    )
    return made

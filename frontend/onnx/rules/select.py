"""Rules of operators whose result's size depends on data: host steps, but for known operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.types import dtypes as d
from ....ir.types.dims import minimum
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule


@rule("NonZero")
def non_zero(node: Node, x: Value) -> Value:
    """Return the places of elements that are not 0."""
    known = node.known(x)
    if known is not None and known.dtype != object:
        return node.stored(f"{node.label}.places", np.array(np.nonzero(known), np.int64))
    return node.make.non_zero(x, sizes=node.unknown(high=node.spec(x).size))


@rule("Compress")
def compress(node: Node, x: Value, condition: Value) -> Value:
    """Take the slices for which a condition holds; what it says of others means nothing."""
    if node.has("axis"):
        axis = normalize_axis(node.integer("axis"), node.rank(x))
    else:
        x, axis = node.make.reshape(x, shape=(node.spec(x).size,)), 0
    dims = node.spec(x).dims
    known = node.known(condition)
    if known is not None and known.dtype != object:
        found = np.flatnonzero(known)
        if isinstance(extent := dims[axis], int):
            found = found[found < extent]
        elif found.size:  # a slice demands of the run that they are there
            stops = (*dims[:axis], int(found[-1]) + 1, *dims[axis + 1 :])
            x = node.make.slice(x, starts=(0,) * len(dims), stops=stops, steps=(1,) * len(dims))
        places = node.stored(f"{node.label}.places", found)
    else:
        count = minimum(node.spec(condition).dims[0], dims[axis])
        if count != node.spec(condition).dims[0]:
            condition = node.make.slice(condition, starts=(0,), stops=(count,), steps=(1,))
        sizes = node.unknown(high=count)
        places = node.make.reshape(node.make.non_zero(condition, sizes=sizes), shape=sizes)
    return node.make.gather(x, places, axis=axis)


@rule("Unique")
def unique(node: Node, x: Value) -> Sequence[Value]:
    """Return distinct slices, the places of the first, of all, and counts."""
    is_sorted = bool(node.integer("sorted", 1))
    if not node.has("axis"):
        sizes = node.unknown(high=node.spec(x).size)
        return list(node.make.unique(x, sizes=sizes, sorted=is_sorted))
    axis = normalize_axis(node.integer("axis"), node.rank(x))
    sizes = node.unknown(high=node.shape(x)[axis])
    return list(node.make.unique(x, sizes=sizes, axis=axis, sorted=is_sorted))


@rule("NonMaxSuppression")
def non_max_suppression(
    node: Node, boxes: Value, scores: Value, most: Value | None = None, iou: Value | None = None,
    score: Value | None = None,
) -> Value:  # fmt: skip
    """Return batch, class and box of the boxes that stand out."""
    make = node.make
    lowest = make.number(-np.inf, d.f32)
    given = [
        make.number(0, d.i64) if most is None else most,
        make.number(0, d.f32) if iou is None else iou,
        lowest if score is None else score,
    ]
    center = bool(node.integer("center_point_box", 0))
    sizes = node.unknown(high=node.spec(scores).size)
    return make.non_max_suppression(boxes, scores, *given, sizes=sizes, center=center)

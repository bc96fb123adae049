"""Rules of sequences, which exist only while a model is read: their parts are plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import compositions as c
from ...ir import dims as dim_rules
from ...ir.shapes import normalize_axis
from .node import Node, Parts, Value
from .rules import rule


@rule("SequenceConstruct")
def construct(node: Node, *xs: Value) -> Sequence[Any]:
    """Make a sequence of values."""
    return [Parts(xs)]


@rule("SequenceEmpty")
def empty(node: Node) -> Sequence[Any]:
    """Make a sequence without parts."""
    node.has("dtype")
    return [Parts(())]


@rule("SplitToSequence")
def split(node: Node, x: Value, sizes: Value | None = None) -> Sequence[Any]:
    """Cut an axis into parts, of 1 each if no size is given."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    keep = bool(node.integer("keepdims", 1)) or sizes is not None
    extent = node.shape(x)[axis]
    given: Sequence[Any] = (1,) if sizes is None else node.dims(sizes, "split")
    if sizes is None or node.rank(sizes) == 0:
        size = given[0]
        if not (isinstance(extent, int) and isinstance(size, int) and size > 0):
            node.refuse(f"{extent} elements in parts of {size} are not a known number of parts")
        given = [min(size, extent - at) for at in range(0, extent, size)]
    parts = c.split(node.emit, x, axis, given)
    return [Parts(tuple(p if keep else c.squeeze(node.emit, p, (axis,)) for p in parts))]


@rule("ConcatFromSequence", takes_parts=True)
def concat(node: Node, parts: Parts) -> Value:
    """Join the parts, along an axis of theirs or a new one."""
    if not parts.values:
        node.fail("the sequence is empty, expected a part")
    rank, is_new = node.rank(parts.values[0]), bool(node.integer("new_axis", 0))
    axis = normalize_axis(node.integer("axis"), rank + is_new)
    if is_new:
        return c.stack(node.emit, parts.values, axis)
    return node.make.concat(*parts.values, axis=axis)


@rule("SequenceAt", takes_parts=True)
def at(node: Node, parts: Parts, place: Value) -> Value:
    """Return one part."""
    return parts.values[_place(node, place, len(parts.values))]


@rule("SequenceErase", takes_parts=True)
def erase(node: Node, parts: Parts, place: Value | None = None) -> Sequence[Any]:
    """Leave out one part, the last by default."""
    count = len(parts.values)
    index = count - 1 if place is None else _place(node, place, count)
    return [Parts((*parts.values[:index], *parts.values[index + 1 :]))]


@rule("SequenceInsert", takes_parts=True)
def insert(node: Node, parts: Parts, x: Value, place: Value | None = None) -> Sequence[Any]:
    """Put in a part, at the end by default."""
    count = len(parts.values)
    index = count if place is None else _place(node, place, count, or_end=True)
    return [Parts((*parts.values[:index], x, *parts.values[index:]))]


@rule("SequenceLength", takes_parts=True)
def length(node: Node, parts: Parts) -> Value:
    """Return the number of parts."""
    return node.constant(np.array(len(parts.values), np.int64))


def _place(node: Node, place: Value, count: int, *, or_end: bool = False) -> int:
    index = node.integers_of(place, "position")[0]
    found = index + count if index < 0 else index
    if not 0 <= found < count + or_end:
        node.fail(f"position {index} of a sequence of {count}")
    return found


@rule("Col2Im")
def col2im(node: Node, x: Value, image: Value, block: Value) -> Value:
    """Add up the columns that windows were spread into: each tap is one channel of a filter."""
    extents, window = node.dims(image, "image_shape"), node.integers_of(block, "block_shape")
    rank = len(window)
    strides = node.integers("strides") or (1,) * rank
    dilations = node.integers("dilations") or (1,) * rank
    pads = node.integers("pads") or (0,) * (2 * rank)
    pairs = tuple(zip(pads[:rank], pads[rank:], strict=True))
    places, more = [], []
    rows = zip(extents, window, strides, dilations, pairs, strict=True)
    for extent, taps, stride, dilation, (low, high) in rows:
        room = extent + low + high - ((taps - 1) * dilation + 1)
        places.append(dim_rules.floor_divide(room, stride) + 1)
        more.append(room % stride)
    taps = int(np.prod(window))
    batch, columns, _ = node.shape(x)
    channels = columns // taps
    if not isinstance(channels, int):
        node.refuse(f"{columns} columns must be a number")
    one = np.eye(taps, dtype=node.dtype(x).numpy).reshape(taps, 1, *window)
    weights = node.constant(np.tile(one, (channels, *(1,) * (rank + 1))))
    spread = node.make.reshape(x, shape=(batch, columns, *places))
    return node.make.conv_transpose(
        spread, weights, strides=strides, pads=pairs, dilations=dilations,
        output_pads=tuple(more), groups=channels,
    )  # fmt: skip

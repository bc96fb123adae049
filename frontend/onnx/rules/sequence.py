"""Rules of sequences and optionals.

What is in a sequence is known while a model is read, most of the time: then its parts are plain
values, and nothing of it is left. Others become sequences of the program, for host steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto, TypeProto
from xdsl.ir import SSAValue

from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ....ir.types.values import ANY, OptionalSpec, SequenceSpec
from ..columns import FoldedAxis, added_up
from ..file.data import dtype_of
from ..lists import rows_of
from ..node import Node, Parts, Value
from ..registry import rule


@rule("SequenceConstruct")
def construct(node: Node, *xs: Value) -> Sequence[Parts]:
    """Make a sequence of values."""
    return [Parts(xs)]


@rule("SequenceEmpty")
def empty(node: Node) -> Sequence[Parts]:
    """Make a sequence without parts; the function of SequenceMap may not know of what."""
    if node.has("dtype") and node.integer("dtype") == TensorProto.UNDEFINED:
        return [Parts((), None)]
    return [Parts((), node.element_type("dtype", d.f32))]


@rule("SplitToSequence")
def split(node: Node, x: Value, sizes: Value | None = None) -> Sequence[Parts | SSAValue]:
    """Cut an axis into parts, of 1 each if no size is given."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    keep = bool(node.integer("keepdims", 1)) or sizes is not None
    extent = node.shape(x)[axis]
    given: Sequence[object] = (1,)
    if sizes is not None:
        known = node.known(sizes)
        given = () if known is None else known.ravel().tolist()
        if node.rank(sizes) == 1 and known is not None:
            return [Parts(tuple(c.split(node.emit, x, axis, given)))]
    if not (given and isinstance(given[0], int) and isinstance(extent, int)):
        parts = () if sizes is None else (sizes,)
        return [node.make.split_to_sequence(x, *parts, axis=axis, keep=keep)]
    size = given[0]
    if size < 1:
        node.fail(f"parts of {size} elements, expected 1 or more")
    counts = [min(size, extent - at) for at in range(0, extent, size)]
    cut = c.split(node.emit, x, axis, counts)
    return [Parts(tuple(p if keep else c.squeeze(node.emit, p, (axis,)) for p in cut))]


@rule("ConcatFromSequence", takes_parts=True)
def concat(node: Node, parts: Value) -> Value:
    """Join the parts, along an axis of theirs or a new one."""
    is_new = bool(node.integer("new_axis", 0))
    if not isinstance(parts, Parts):
        element = sequence_spec(node, parts).element
        axis = normalize_axis(node.integer("axis"), len(element.dims) + is_new)
        rows = rows_of(parts)
        if rows is not None and dim_rules.bounds(node.shape(rows)[0], node.emitter.ranges)[0] > 0:
            return _joined(node, rows, axis, is_new=is_new)  # else a run says that there are none
        shape = list(element.dims)
        shape[axis : axis + (not is_new)] = [ANY]
        sizes = node.opened(element.with_shape(shape))
        return node.make.sequence_concat(parts, axis=axis, sizes=sizes, new=is_new)
    if not parts.values:
        node.fail("the sequence is empty, expected a part")
    rank = node.rank(parts.values[0])
    axis = normalize_axis(node.integer("axis"), rank + is_new)
    if is_new:
        return c.stack(node.emit, parts.values, axis)
    return node.make.concat(*parts.values, axis=axis)


def _joined(node: Node, rows: Value, axis: int, *, is_new: bool) -> Value:
    """Return the rows of a tensor joined along an axis of theirs or a new one."""
    moved = c.move_axis(node.emit, rows, 0, axis)
    if is_new:
        return moved
    shape = [*node.shape(moved)]
    shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
    return node.make.reshape(moved, shape=tuple(shape))


@rule("SequenceAt", takes_parts=True)
def at(node: Node, parts: Value, place: Value) -> Value:
    """Return one part."""
    if isinstance(parts, Parts) and is_known(node, place):
        return parts.values[_place(node, place, len(parts.values))]
    held = node.value(parts)
    sizes = node.opened(sequence_spec(node, held).element)
    return node.make.sequence_at(held, place, sizes=sizes)


@rule("SequenceErase", takes_parts=True)
def erase(node: Node, parts: Value, place: Value | None = None) -> Sequence[Parts | SSAValue]:
    """Leave out one part, the last by default."""
    if not (isinstance(parts, Parts) and is_known(node, place)):
        return [node.make.sequence_erase(node.value(parts), *_given(place))]
    count = len(parts.values)
    index = count - 1 if place is None else _place(node, place, count)
    return [Parts((*parts.values[:index], *parts.values[index + 1 :]), parts.dtype)]


@rule("SequenceInsert", takes_parts=True)
def insert(
    node: Node, parts: Value, x: Value, place: Value | None = None
) -> Sequence[Parts | SSAValue]:
    """Put in a part, at the end by default."""
    if not (isinstance(parts, Parts) and is_known(node, place)):
        return [node.make.sequence_insert(node.value(parts), x, *_given(place))]
    count = len(parts.values)
    index = count if place is None else _place(node, place, count, or_end=True)
    return [Parts((*parts.values[:index], x, *parts.values[index:]))]


@rule("SequenceLength", takes_parts=True)
def length(node: Node, parts: Value) -> Value:
    """Return the number of parts."""
    if not isinstance(parts, Parts):
        rows = rows_of(parts)
        if rows is not None:
            return node.make.extent_of(node.shape(rows)[0])
        return node.make.sequence_length(parts)
    name = f"{node.label}.length"
    return node.stored(name, np.array(len(parts.values), np.int64))


@rule("Optional", takes_parts=True)
def optional(node: Node, x: Value | None = None) -> Sequence[Parts | SSAValue]:
    """Return the value, which may stand for an optional that has it; or nothing."""
    declared = node.type_of("type")
    if x is not None:
        return [x]
    if declared is None:
        node.fail("neither a value nor its type is given")
    inner: TypeProto = declared
    is_sequence = inner.WhichOneof("value") == "sequence_type"
    if is_sequence:
        inner = inner.sequence_type.elem_type
    if inner.WhichOneof("value") != "tensor_type":
        node.refuse("only optional tensors and sequences of tensors are supported")
    dtype = dtype_of(inner.tensor_type.elem_type, "attribute type")
    return [node.make.none(dtype=dtype, sequence=is_sequence)]


@rule("OptionalHasElement", takes_parts=True)
def has_element(node: Node, x: Value | None = None) -> Value:
    """Say whether there is a value; of what is no optional there is."""
    if x is not None and not isinstance(x, Parts) and isinstance(node.kind(x), OptionalSpec):
        return node.make.has_element(x)
    return node.stored(f"{node.label}.answer", np.array(x is not None))


@rule("OptionalGetElement", takes_parts=True)
def get_element(node: Node, x: Value) -> Sequence[Parts | SSAValue]:
    """Return the value."""
    if isinstance(x, Parts) or not isinstance(spec := node.kind(x), OptionalSpec):
        return [x]
    return [node.make.get_element(x, sizes=node.opened(spec.element))]


def sequence_spec(node: Node, value: Value) -> Any:
    """Return the spec of a sequence, or fail."""
    spec = node.kind(value)
    if not isinstance(spec, SequenceSpec):
        node.fail(f"{spec}, expected a sequence")
    return spec


def is_known(node: Node, place: Value | None) -> bool:
    """Say whether a position is a number while the model is read, or left out."""
    known = None if place is None else node.known(place)
    return place is None or (known is not None and known.dtype != object)


def _given(place: Value | None) -> tuple[Value, ...]:
    return () if place is None else (place,)


def _place(node: Node, place: Value, count: int, *, or_end: bool = False) -> int:
    index = node.integers_of(place, "position")[0]
    found = index + count if index < 0 else index
    if not 0 <= found < count + or_end:
        node.fail(f"position {index} of a sequence of {count}")
    return found


@rule("Col2Im")
def col2im(node: Node, x: Value, image: Value, block: Value) -> Value:
    """Add up the columns that windows were spread into.

    Where they are many each tap is one channel of a filter.
    """
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
    count = prod(window)
    batch, columns, _ = node.shape(x)
    channels = columns // count
    if not isinstance(channels, int):
        node.refuse(f"{columns} columns must be a number")
    lows = [low for low, _ in pairs]
    axes = [*map(FoldedAxis, extents, window, strides, dilations, lows, places)]
    made = added_up(node, x, axes)
    if made is not None:
        return made
    one = np.eye(count, dtype=node.dtype(x).numpy).reshape(count, 1, *window)
    weights = node.constant(np.tile(one, (channels, *(1,) * (rank + 1))))
    spread = node.make.reshape(x, shape=(batch, columns, *places))
    return node.make.conv_transpose(
        spread, weights, strides=strides, pads=pairs, dilations=dilations,
        output_pads=tuple(more), groups=channels,
    )  # fmt: skip

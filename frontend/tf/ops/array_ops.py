"""Shaping, joining, cutting and choosing by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.ops.selecting import NonZero, places
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, product
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ....ir.types.values import ANY
from ...dims.unknown import unknown_dim
from ...eager.remembered import LONGEST, remember_all, remembered
from ...eager.text_arrays import joined_texts, stacked_texts
from ...graph.graph import GraphTensor, spec_with_unknowns
from ...graph.inference import Abstract, is_unknown
from ...values.arrays import as_listed, taken_apart
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ..core import shape_rules as shapes_of
from ..core.bridge import OPERATORS, EagerTensor, TfTensor
from ..core.calls import op, perform, perform_all, rule, truths
from ..core.extents import read_extents
from ..core.required import demand
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import (
    InGraph,
    InvalidShapesError,
    array_of,
    at_once,
    axis_given,
    axis_in,
    convert,
    elements,
    graph_of,
    is_typed,
    many_joined,
    may_agree,
    same,
    static,
    whole,
)
from .creation import constant, ints, named_row


def _refuse_negative(dims: Sequence[object]) -> None:
    """Refuse sizes of a shape below 0, but for one -1."""
    if dims.count(-1) > 1:
        raise TypeError("only one size of a shape may be -1")
    for place, d in enumerate(dims):
        if isinstance(d, int) and d < -1:
            raise TypeError(f"size {place} of shape {[*dims]} must be non-negative, not {d}")


@op("Reshape", "tensor", "shape", strict=False, shapes=shapes_of.filled(1, 0))
def reshape(m: Maker, tensor: object, shape: object) -> object:
    """Give a tensor another shape; -1 stands for what is left."""
    spec = spec_of_value(tensor)
    if is_unknown(tensor) and spec.shape is None:
        wanted = [None if d == -1 else d for d in np.ravel(elements(shape)).tolist()]
        return Abstract(spec_with_unknowns(spec.dtype, tuple(wanted)))
    listed, size = ints(shape), spec.size
    dims = listed if isinstance(listed, list) else [listed]
    if is_unknown(tensor) and isinstance(size, int):
        dims = shapes_of.all_but_one_known(dims, size)
    known = product([d for d in dims if d != -1])
    _refuse_negative(dims)
    if is_unknown(tensor) and not isinstance(size, int) and -1 not in dims:
        return Abstract(spec.with_shape(tuple(dims)))  # the run says whether it fits
    if known == 0 and -1 in dims:  # what is left of the extents that are not 0
        size = product([d for d in spec.dims if d != 0])
        known = product([d for d in dims if d not in (0, -1)])
    if -1 in dims and isinstance(size, int) and isinstance(known, int) and known and size % known:
        raise TypeError(
            f"Input to reshape is a tensor with {size} values, but the requested shape {dims} "
            f"requires a number that must be evenly divisible by {known}"
        )
    full = [size // known if d == -1 else d for d in dims]
    size = spec.size
    total = product(full)
    if isinstance(total, int) and total > rows.i64.maximum:
        raise TypeError(f"a shape of {full} has too many elements")
    if isinstance(size, int) and isinstance(total, int) and total != size:
        start = "Cannot reshape a tensor" if is_unknown(tensor) else "Input to reshape is a tensor"
        what = f"elements to shape {full}:" if is_unknown(tensor) else "values, but"
        raise TypeError(f"{start} with {size} {what} the requested shape has {total}")
    if is_unknown(tensor) and not isinstance(size, int) and isinstance(total, int):
        return Abstract(spec.with_shape(tuple(full)))  # the run says whether it fits
    return m.reshape(tensor, shape=tuple(full))


@op("Transpose", "a", strict=False, label="transpose", shapes=shapes_of.transposed)
def transpose(m: Maker, a: object, perm: object = None, conjugate: bool = False) -> object:
    """Exchange the axes; all of them backwards if no order is given."""
    rank = spec_of_value(a).rank
    if conjugate and spec_of_value(a).dtype.kind == "c":
        a = m.conj(a)
    order = range(rank)[::-1] if perm is None else [axis_in(int(p), rank) for p in static(perm)]
    return m.transpose(a, order=tuple(order))


@rule("ConcatV2", label="concat", shapes=shapes_of.joined)
def _concat(m: Maker, *xs: object, axis: int) -> object:
    texts = joined_texts(xs, axis)
    if texts is not None:
        return texts
    if not spec_of_value(xs[0]).rank:
        raise TypeError("Can't concatenate scalars (use tf.stack instead)")
    at = axis_in(axis, spec_of_value(xs[0]).rank)
    shapes = [spec_of_value(x).dims for x in xs]
    if any(map(is_unknown, xs)) and all(len(s) == len(shapes[0]) for s in shapes):
        return Abstract(spec_of_value(xs[0]).with_shape(shapes_of.joined_dims(shapes, at)))
    return m.concat(*xs, axis=at)


@rule("Pack", label="stack", shapes=shapes_of.stacked)
def _stack(m: Maker, *xs: object, axis: int) -> object:
    shapes = [spec_of_value(x).dims for x in xs]
    if any(not may_agree(dims, shapes[0]) for dims in shapes):
        raise TypeError(f"Shapes of all inputs must match, got {shapes}")
    at = axis_in(axis, len(shapes[0]) + 1)
    texts = stacked_texts(xs, at)
    return c.stack(m.emit, xs, at) if texts is None else texts


def _of_one_shape(given: Sequence[object]) -> TfTensor:
    """Return Python values as one tensor: the type of numbers is that of all of them together."""
    try:
        return convert(given)
    except ValueError:
        shapes = [convert(x).shape.as_list() for x in given]
        if all(shape == shapes[0] for shape in shapes):
            raise
        raise InvalidShapesError(f"Shapes of all inputs must match, got {shapes}") from None


def _listed(type_: str) -> Callable[..., TfTensor]:
    @remembered
    def function(
        values: Sequence[object] | TfTensor, axis: object = 0, name: str | None = None
    ) -> TfTensor:
        """Join tensors along an axis."""
        if hasattr(values, "staged_length") and hasattr(values, "__gv_tensor__"):
            return _rows_joined(type_, convert(values), whole(axis))
        is_list = isinstance(values, list | tuple)
        given: list[object] = [*(values if is_list else iter(convert(values)))]
        if not given and type_ == "ConcatV2":
            raise ValueError("concat wants at least one tensor, got none")
        if len(given) > LONGEST and (made := many_joined(type_, given, axis)) is not None:
            return made
        with InGraph(graph_of(given)):
            if type_ == "Pack" and not any(map(is_typed, given)):
                found = _of_one_shape(given)
                if not given:
                    return found
                given = [convert(x, found.dtype) for x in given]
            tensors, at = same(*given), whole(axis)
            if type_ == "Pack" and isinstance(at, int) and tensors[0].shape.rank is not None:
                axis_given(at, tensors[0].shape.rank + 1)
            return perform(type_, tensors, name=name, axis=at)

    return function


def _rows_joined(type_: str, x: TfTensor, axis: int) -> TfTensor:
    """Return the rows of a tensor joined along an axis: a list that a loop has appended to."""
    rank = spec_of_value(x).rank
    if type_ == "Pack":
        at = axis_in(axis, rank)
        return transpose(x, [*range(1, at + 1), 0, *range(at + 1, rank)]) if at else x
    at = axis_in(axis, rank - 1)
    if at:
        order = [*range(1, at + 1), 0, *range(at + 1, rank)]
        x = transpose(x, order)
    dims = shape(x)
    joined = reshape(dims[at] * dims[at + 1], [1])
    return reshape(x, concat([dims[:at], joined, dims[at + 2 :]], 0))


concat, stack = _listed("ConcatV2"), _listed("Pack")
OPERATORS["stack"] = stack


@rule("Split", label="split", gives_list=True, shapes=shapes_of.split)
def _split(m: Maker, x: object, sizes: int | Sequence[int], axis: int) -> object:
    if isinstance(axis, list):
        raise TypeError(f"split_dim must have exactly one element, found {axis}")
    at = axis_in(axis, spec_of_value(x).rank)
    extent = spec_of_value(x).dims[at]
    if isinstance(sizes, int):
        if isinstance(extent, int) and extent % sizes:
            raise TypeError(f"Dimension size, given by scalar input {extent}, must be evenly "
                            f"divisible by {sizes}: num_split should evenly divide it")  # fmt: skip
        is_open = isinstance(x, Abstract) and not isinstance(extent, int)
        parts = [-1 if is_open else extent // sizes] * sizes
    else:
        parts = list(sizes)
    for place, count in enumerate(parts):
        if isinstance(count, int) and count < -1:
            raise TypeError(f"Split size at index {place} must be >= 0. Got: {count}")
    if isinstance(x, Abstract) and not isinstance(extent, int):  # the run says whether they fit
        rows_ = [unknown_dim() if p == -1 else p for p in parts]
        dims = spec_of_value(x).dims
        return tuple(Abstract(x.spec.with_shape((*dims[:at], p, *dims[at + 1 :]))) for p in rows_)
    if -1 in parts:
        parts[parts.index(-1)] = extent - sum(p for p in parts if p != -1)
    if isinstance(extent, int) and all(isinstance(p, int) for p in parts) and sum(parts) != extent:
        raise TypeError(
            f"Determined shape must either match input shape along split_dim exactly if fully "
            f"specified, or be less than it: parts {parts} of {extent}"
        )
    return tuple(c.split(m.emit, x, at, parts))


def split(
    value: object,
    num_or_size_splits: object,
    axis: object = 0,
    num: object = None,
    name: str | None = None,
) -> list[TfTensor]:
    """Cut an axis into equal parts, or into parts of given sizes."""
    with InGraph(graph_of([value, num_or_size_splits])):
        if getattr(num_or_size_splits, "ndim", 1) == 0 and hasattr(num_or_size_splits, "spec"):
            raise ValueError(
                "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
                f"Argument provided: {num_or_size_splits}"
            )
        sizes, x, at = static(num_or_size_splits), convert(value), whole(axis)
        if isinstance(sizes, int) and sizes < 1:
            raise ValueError(f"Value for attr 'num_split' of {sizes} must be at least minimum 1")
        if isinstance(sizes, list) and num is not None and static(num) != len(sizes):
            raise ValueError(f"num is {static(num)}, expected {len(sizes)}, as sizes are given")
        if isinstance(sizes, GraphTensor) or (
            isinstance(sizes, list | tuple) and any(isinstance(n, GraphTensor) for n in sizes)
        ):
            every = convert(sizes)
            count = every.shape.rank and every.shape.as_list()[0]
            if not count:
                raise ValueError(f"Cannot infer argument `num` from shape {every.shape}")
            given = [x, every]
            return perform_all("SplitV", given, name=name, sizes=[None] * count, axis=at)
        return perform_all("Split", [x], name=name, sizes=sizes, axis=at)


@rule("SplitV", label="split", gives_list=True, shapes=shapes_of.split)
def _split_computed(m: Maker, x: object, every: object, sizes: Sequence[None], axis: int) -> object:
    """Cut an axis into parts of sizes that a run computes."""
    if len(found := ints(every)) != len(sizes):
        raise TypeError(f"{len(found)} sizes of {len(sizes)} parts")
    return _split(m, x, found, axis)


@rule("Unpack", label="unstack", gives_list=True, shapes=shapes_of.unstacked)
def _unstack(m: Maker, x: object, num: int | None, axis: int) -> object:
    dims = spec_of_value(x).dims
    at = axis_in(axis, len(dims))
    extent = dims[at] if num is None else num
    if not isinstance(extent, int):
        raise TypeError("Cannot infer argument `num` from an unknown extent")
    if isinstance(dims[at], int) and dims[at] != extent:
        raise TypeError(f"Input shape axis {at} must equal {extent}, got shape {list(dims)}")
    if extent > LONGEST and isinstance(x, EagerTensor) and not STATE.recorders:
        return at_once(partial(taken_apart, axis=at), x)  # (else it compiles a step for each)
    cuts = [c.cut(m.emit, x, at, i, i + 1) for i in range(extent)]
    return tuple(c.squeeze(m.emit, each, (at,)) for each in cuts)


def unstack(
    value: object, num: int | None = None, axis: int = 0, name: str | None = None
) -> list[TfTensor]:
    """Return the slices along an axis."""
    with InGraph(graph_of([value])):
        x = convert(value)
        dims = x.shape._dims
        if dims is not None and isinstance(axis, int):
            axis_given(axis, len(dims))
        if num is None and (dims is None or dims[axis] is None):
            raise ValueError(f"Cannot infer argument `num` from shape {x.shape}")
        if num is None and dims is not None and dims[axis] == 0:
            return []
        return perform_all("Unpack", [x], name=name, num=num, axis=axis)


@op("ExpandDims", "input", strict=False, shapes=shapes_of.unranked)
def expand_dims(m: Maker, input: object, axis: object) -> object:
    """Insert an axis of extent 1."""
    rank = spec_of_value(input).rank
    place = np.asarray(static(axis))
    if place.size != 1:
        raise TypeError(f"'dim' input must be a tensor with a single value, not {place.tolist()}")
    return c.unsqueeze(m.emit, input, (axis_in(int(place.item()), rank + 1),))


@op("Squeeze", "input", strict=False, shapes=shapes_of.unranked)
def squeeze(m: Maker, input: object, axis: object = None) -> object:
    """Drop axes of extent 1: those named, or all, which are known when it is run."""
    dims = spec_of_value(input).dims
    if axis is None and is_unknown(input) and not all(isinstance(d, int) for d in dims):
        return Abstract(TensorSpec(spec_of_value(input).dtype, None))
    given = np.asarray(static(axis)).ravel().tolist() if axis is not None else []
    axes = [axis_in(a, len(dims)) for a in given] or [i for i, d in enumerate(dims) if d == 1]
    for axis_ in axes:
        if isinstance(dims[axis_], int) and dims[axis_] != 1:
            raise TypeError(
                f"Can not squeeze dim[{axis_}], expected a dimension of 1, got {dims[axis_]}"
            )
    return c.squeeze(m.emit, input, axes)


@op("Tile", "input", "multiples", strict=False, shapes=shapes_of.counted(1))
def tile(m: Maker, input: object, multiples: object) -> object:
    """Repeat the tensor along each axis."""
    return c.tile(m.emit, input, ints(multiples))


@op("Repeat", "input", "repeats", strict=False, shapes=shapes_of.repeated)
def _repeat(m: Maker, input: object, repeats: object, axis: int) -> object:
    counts = elements(repeats)
    axis = axis_in(axis, spec_of_value(input).rank)
    extent = spec_of_value(input).dims[axis]
    if not isinstance(extent, int):
        raise TypeError("an extent that is not known is not repeated")
    order = np.repeat(np.arange(extent), counts)
    return m.gather(input, m.constant(value=order), axis=axis)


def repeat(
    input: object, repeats: object, axis: int | None = None, name: str | None = None
) -> TfTensor:
    """Repeat each slice of an axis, or each element if no axis is given."""
    x = convert(input)
    empty = not is_typed(repeats) and not np.size(repeats)  # type: ignore[arg-type]
    counts = convert(repeats, "int32" if empty else None)
    if counts.shape.rank not in (0, 1, None):
        raise ValueError(f"Shape {counts.shape} must have rank at most 1")
    if axis is None or x.shape.rank == 0:
        x, at = reshape(x, [-1]), 0
    elif not isinstance(axis, int | np.integer):
        raise TypeError(f"axis must be an int, got {axis!r} of type {type(axis).__name__}")
    else:
        at = axis_known(int(axis), x.shape.rank)
    dims, sizes = x.shape._dims, counts.shape._dims
    if dims and sizes and sizes[0] not in (1, None) and dims[at] not in (sizes[0], None):
        raise ValueError(f"Dimensions {dims[at]} and {sizes[0]} are not compatible")
    return _repeat(x, counts, axis=at, name=name)


def axis_known(axis: int, rank: int | None) -> int:
    """Return an axis counted from the front, or raise as functions do before they compute."""
    if rank is None and axis < 0:
        raise ValueError(f"axis={axis} may only be negative if ndims is statically known.")
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis if rank is None else axis % rank


@op("ReverseV2", "tensor", strict=False)
def reverse(m: Maker, tensor: object, axis: object) -> object:
    """Turn axes around."""
    listed, rank = elements(static(axis)), spec_of_value(tensor).rank
    if listed.ndim != 1:
        raise TypeError(f"'dims' must be 1-dimension, not {listed.ndim}")
    axes = [axis_in(a, rank) for a in listed.tolist()]
    if len(set(axes)) != len(axes):
        raise TypeError(f"axis {axes[0]} specified more than once")
    return c.flip(m.emit, tensor, axes)


@op("Pad", "tensor", "paddings", strict=False, shapes=shapes_of.counted(1))
def pad(
    m: Maker, tensor: object, paddings: object, mode: str = "CONSTANT", constant_values: object = 0
) -> object:
    """Put elements around a tensor."""
    kind, dims, row = mode.upper(), spec_of_value(tensor).dims, spec_of_value(tensor).dtype.kind
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise TypeError(
            "Value of argument `mode` expected to be 'CONSTANT', 'REFLECT' or 'SYMMETRIC'. "
            f"Received `mode` = {kind}"
        )
    shaped = spec_of_value(paddings).dims == (0, 2)  # (a list of nothing does not say so)
    listed = np.zeros((0, 2), np.int64) if shaped else np.asarray(ints(paddings))
    if listed.ndim != 2 or listed.shape[1] != 2:
        raise TypeError(f"paddings must be a matrix with 2 columns: {listed.shape}")
    if len(listed) != len(dims):
        raise TypeError(
            f"The first dimension of paddings must be the rank of inputs: {listed.shape}, "
            f"{len(dims)}"
        )
    pads = tuple((int(a), int(b)) for a, b in listed)
    if any(p < 0 for pair in pads for p in pair):
        raise TypeError(f"Paddings must be non-negative: {pads}")
    _check_mirrored(kind, pads, dims)
    if kind == "SYMMETRIC" or (kind == "REFLECT" and row == "s"):
        return _mirrored(m, tensor, pads, edge=int(kind == "REFLECT"))
    if kind == "REFLECT":
        return m.pad(tensor, pads=pads, mode="reflect")
    value = static(constant_values)
    if row in "cs":
        return _padded(m, tensor, pads, array_of(value).item() if row == "s" else value)
    return m.pad(tensor, pads=pads, value=float(value))


def _check_mirrored(kind: str, pads: Iterable[tuple[int, int]], dims: Sequence[Dim]) -> None:
    """Raise where more elements are mirrored than there are."""
    for pair, extent in zip(pads, dims, strict=True):
        most = extent if kind == "SYMMETRIC" else extent - 1
        if kind != "CONSTANT" and isinstance(most, int) and max(pair) > most:
            raise TypeError(f"paddings must be no greater than the dimension size: {pair}, {most}")


def _padded(m: Maker, x: object, pads: Iterable[tuple[int, int]], value: float) -> object:
    """Put one number around complex numbers, or one text around texts, by axes."""
    for axis, counts in enumerate(pads):
        spec = spec_of_value(x)
        shapes = [[*spec.dims[:axis], count, *spec.dims[axis + 1 :]] for count in counts]
        if spec.dtype.kind == "s":
            low, high = (np.full(np.array(each, int), value or b"", object) for each in shapes)
        else:
            low, high = (m.filled(value, spec.dtype, shape) for shape in shapes)
        x = m.concat(low, x, high, axis=axis)
    return x


def _mirrored(m: Maker, x: object, pads: Iterable[tuple[int, int]], edge: int) -> object:
    """Put what is mirrored around a tensor, without so many elements at its edges."""
    for axis, (low, high) in enumerate(pads):
        turned = c.flip(m.emit, x, (axis,))
        count = spec_of_value(x).dims[axis]
        before = c.cut(m.emit, turned, axis, count - low - edge, count - edge)
        x = m.concat(before, x, c.cut(m.emit, turned, axis, edge, edge + high), axis=axis)
    return x


@rule("Shape", differentiable=False, shapes=shapes_of.extents)
def _shape(m: Maker, x: object, dtype: DType) -> object:
    dims = spec_of_value(x).dims
    if not all(isinstance(d, int) for d in dims):
        if isinstance(x, Abstract):
            return Abstract(x.spec.with_shape((len(dims),)).with_dtype(dtype))
        return m.to(m.extent(values=tuple(dims)), dtype)
    return m.constant(value=np.array(dims, dtype.numpy))


def shape(input: object, out_type: DTypeLike | None = "int32", name: str | None = None) -> TfTensor:
    """Return the extents as a tensor."""
    with InGraph(graph_of([input])):
        x, row = convert(input), named_row(out_type)
        if x.spec.shape is not None and x.spec.is_static:
            return constant(np.array(x.spec.static_shape, row.numpy), name=name or "Shape")
        return perform("Shape", [x], name=name, dtype=row)


@op("Rank", "input", strict=False, differentiable=False)
def rank(m: Maker, input: object) -> object:
    """Return the number of axes."""
    if is_unknown(input) and spec_of_value(input).shape is None:
        return Abstract(TensorSpec(named_row("int32"), ()))
    return m.number(spec_of_value(input).rank, named_row("int32"))


@op("Size", "input", strict=False, differentiable=False, shapes=shapes_of.count)
def _size(m: Maker, input: object, out_type: DTypeLike | None = "int32") -> object:
    count, row = spec_of_value(input).size, named_row(out_type)
    if not isinstance(count, int) and is_unknown(input):
        return Abstract(spec_of_value(input).with_shape(()).with_dtype(row))
    return m.extent_of(count, row)


def size(input: object, out_type: DTypeLike | None = "int32", name: str | None = None) -> TfTensor:
    """Return the number of elements, a constant where it is known."""
    with InGraph(graph_of([input])):
        x = convert(input)
        if x.spec.shape is not None and x.spec.is_static:
            count = np.array(x.spec.size, named_row(out_type).numpy)
            return constant(count, name=name or "Size")
        return _size(x, out_type, name=name)


@op("BroadcastTo", "input", "shape", strict=False, shapes=shapes_of.filled(1, 0))
def broadcast_to(m: Maker, input: object, shape: object) -> object:
    """Repeat along axes of extent 1."""
    wanted = tuple(read_extents(m, shape))
    if is_unknown(input) and all(isinstance(d, int) for d in wanted):
        have = spec_of_value(input).dims
        tail = wanted[len(wanted) - len(have) :] if len(have) <= len(wanted) else ()
        fits = all(not isinstance(a, int) or a in (1, b) for a, b in zip(have, tail, strict=False))
        if len(tail) == len(have) and fits:
            return Abstract(spec_of_value(input).with_shape(wanted))
    have = spec_of_value(input).dims
    if not may_agree([1] * (len(wanted) - len(have)) + [*have], wanted, stretches=True):
        raise TypeError(
            f"Unable to broadcast tensor of shape {as_listed(have)} to tensor of shape "
            f"{as_listed(wanted)}"
        )
    return m.broadcast_to(input, shape=wanted)


def broadcast_dynamic_shape(shape_x: object, shape_y: object) -> TfTensor:
    """Return the shape that two shapes broadcast to, as a tensor."""
    with InGraph(graph_of([shape_x, shape_y])):
        x, y = same(shape_x, shape_y)
        return perform("BroadcastArgs", [x, y])


@rule("BroadcastArgs", differentiable=False)
def _broadcast_args(m: Maker, x: object, y: object) -> object:
    if is_unknown(x) or is_unknown(y):
        counts = [n for v in (x, y) if isinstance(n := spec_of_value(v).dims[0], int)]
        rank = max(counts) if len(counts) == 2 else unknown_dim()
        return Abstract(spec_of_value(x).with_shape((rank,)))
    made = np.broadcast_shapes(tuple(ints(x)), tuple(ints(y)))
    return m.constant(value=np.array(made, spec_of_value(x).dtype.numpy))


@rule("Where", differentiable=False, shapes=shapes_of.places)
def _places(m: Maker, p: object) -> object:
    if is_unknown(p):
        return Abstract(TensorSpec(named_row("int64"), (unknown_dim(), spec_of_value(p).rank)))
    if isinstance(p, SSAValue) and spec_of_value(p).rank and spec_of_value(p).dtype.kind != "c":
        return m.transpose(m.emit(NonZero, p, sizes=(ANY,)), order=(1, 0))
    return at_once(places, p, is_open=True)


@rule("SelectV2")
def _select(m: Maker, p: object, a: object, b: object) -> object:
    return m.select(p, a, b)


def where(
    condition: object, x: object = None, y: object = None, name: str | None = None
) -> TfTensor:
    """Choose elements by a condition; with it alone, return where it holds."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    with InGraph(graph_of([condition, x, y])):
        if x is None:
            return perform("Where", [convert(condition)], name=name)
        return perform("SelectV2", [convert(truths(condition)), *same(x, y)], name=name)


@op("BooleanMask", "tensor", "mask", strict=False, label="boolean_mask")
def boolean_mask(m: Maker, tensor: object, mask: object, axis: object = 0) -> object:
    """Take the slices for which a mask holds."""
    dims, over, at = spec_of_value(tensor).dims, spec_of_value(mask).dims, int(static(axis) or 0)
    behind = at + len(over)
    if is_unknown(mask):
        return Abstract(
            spec_of_value(tensor).with_shape((*dims[:at], unknown_dim(), *dims[behind:]))
        )
    both = zip(dims[at:behind], over, strict=False)
    differ = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in both)
    if differ or not over or len(over) > len(dims[at:]):
        unlike = f"Shapes {tuple(dims[at:behind])} and {over} are incompatible"
        raise InvalidShapesError(unlike if over else "mask cannot be scalar.")
    count = product(dims[at:behind])
    flat = m.reshape(tensor, shape=(*dims[:at], count, *dims[behind:]))
    if isinstance(mask, SSAValue):
        found = m.emit(NonZero, m.reshape(mask, shape=(count,)), sizes=(ANY,))
        places = m.reshape(found, shape=(spec_of_value(found).dims[1],))
    else:
        places = m.constant(value=np.flatnonzero(elements(mask)))
    return m.gather(flat, places, axis=at)


def shape_n(
    input: Iterable[object], out_type: DTypeLike | None = "int32", name: str | None = None
) -> list[TfTensor]:
    """Return the extents of several tensors."""
    return [shape(x, out_type, name) for x in input]


def _require_lengths(m: Maker, lengths: object, extent: Dim) -> None:
    """Raise where sequences are longer than the axis that they lie along, or negative."""
    if not isinstance(extent, int):
        return
    row = spec_of_value(lengths).dtype
    zero, most = m.number(0, row), m.number(extent, row)
    demand(
        m,
        lengths,
        lambda x: m.logical_and(m.greater_equal(x, zero), m.less_equal(x, most)),
        lambda x: (x < 0) | (x > extent),
        f"seq_lengths{{at}} = {{value}} is not in [0, {extent}]",
    )


@op(
    "ReverseSequence", "input", "seq_lengths",
    strict=False, refuses=True, shapes=shapes_of.like(),
)  # fmt: skip
def reverse_sequence(
    m: Maker, input: object, seq_lengths: object, seq_axis: int = 0, batch_axis: int = 0
) -> object:
    """Turn the first elements of each sequence around."""
    spec = spec_of_value(input)
    at, batch = axis_in(seq_axis, spec.rank), axis_in(batch_axis, spec.rank)
    kept = (batch, at, *(i for i in range(spec.rank) if i not in (batch, at)))
    front = m.transpose(input, order=kept)
    count, extent = spec.dims[batch], spec.dims[at]
    found = spec_of_value(seq_lengths)
    if found.shape is not None and found.rank != 1:
        raise TypeError(f"seq_lengths must be 1-dim, not {found.rank}")
    if found.shape is not None and isinstance(count, int) and found.dims != (count,):
        raise TypeError(
            f"Length of seq_lengths != input.dims({batch}): they have shape {found.dims}, "
            f"expected ({count},)"
        )
    _require_lengths(m, seq_lengths, extent)
    place = m.iota(shape=(1, extent), axis=1, dtype=rows.i64)
    lengths = m.reshape(m.to(seq_lengths, rows.i64), shape=(count, 1))
    turned = m.sub(m.sub(lengths, m.number(1, rows.i64)), place)
    order = m.select(m.less(place, lengths), turned, place)
    column = c.unsqueeze(m.emit, order, (2,))
    taken = m.gather_nd(front, column, batch_dims=1)
    return m.transpose(taken, order=tuple(kept.index(i) for i in range(spec.rank)))


def ensure_shape(x: object, shape: ShapeLike, name: str | None = None) -> TfTensor:
    """Return the tensor, whose shape must be as stated."""
    value, wanted = convert(x), TensorShape(shape)
    if not value.shape.is_compatible_with(wanted):
        raise InvalidShapesError(
            f"Shape of tensor {value.shape} is not compatible with expected shape {wanted}"
        )
    made = perform("EnsureShape", [value], name=name, wanted=wanted._dims)
    if not made.eager and wanted._dims is not None:
        made.set_shape(wanted)
    return made


@rule("EnsureShape")
def _ensured(m: Maker, x: object, wanted: tuple[int | None, ...] | None) -> object:
    if wanted is None or is_unknown(x):
        return m.identity(x)
    dims = spec_of_value(x).dims
    message = f"Shape of tensor {dims} is not compatible with expected shape {wanted}"
    if len(dims) != len(wanted):
        raise InvalidShapesError(message)
    for have, want in zip(dims, wanted, strict=True):
        if isinstance(have, int) and want not in (None, have):
            raise InvalidShapesError(message)
        if not isinstance(have, int) and want is not None:
            extent = m.reshape(m.extent(values=(have,)), shape=())
            m.require(m.equal(extent, m.number(want, spec_of_value(extent).dtype)), message=message)
    return m.identity(x)


def strided_slice(
    input_: object,
    begin: object,
    end: object,
    strides: object = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: object = None,
    name: str | None = None,
) -> TfTensor:
    """Cut slices with steps out, as indexing does."""
    del name
    if var is not None:
        raise TypeError(
            "strided_slice: `var` is not taken, slices of a variable are given by indexing it"
        )
    starts, stops = static(begin), static(end)
    steps = [1] * len(starts) if strides is None else static(strides)
    keys: list[object] = []
    for i, (low, high, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            keys.append(Ellipsis)
        elif new_axis_mask & bit:
            keys.append(None)
        elif shrink_axis_mask & bit:
            keys.append(low)
        else:
            first = None if begin_mask & bit else low
            keys.append(slice(first, None if end_mask & bit else high, step))
    return OPERATORS["getitem"](convert(input_), tuple(keys))


remember_all(globals())

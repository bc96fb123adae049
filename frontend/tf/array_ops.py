"""Shaping, joining, cutting, gathering and ordering by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import compositions as c
from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.dims import product
from ...ir.ops.families import spec_of_value
from ..abstract import Abstract, UnknownValueError
from ..context import STATE
from ..graph import Graph, GraphTensor
from .core import (
    OPERATORS,
    EagerTensor,
    InGraph,
    array_of,
    convert,
    graph_of,
    op,
    perform,
    row_of,
    same,
    static,
)
from .shapes import TensorShape


def ints(value: Any) -> list[Any]:
    """Return a tensor of integers as Python numbers, nested as it is."""
    found: list[Any] = np.asarray(value).tolist()
    return found


def number(value: Any) -> int:
    """Return a tensor of one integer as a Python number."""
    return int(np.asarray(value))


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Make a tensor of known elements."""
    if isinstance(value, GraphTensor):
        raise TypeError("a symbolic tensor is no constant")
    if hasattr(value, "numpy"):
        value = value.numpy()
    array = array_of(value, row_of(dtype))
    if shape is not None:
        dims = TensorShape(shape).as_list()
        array = np.broadcast_to(array, dims).copy() if array.size == 1 else array.reshape(dims)  # type: ignore[arg-type]
    graph = STATE.context
    if isinstance(graph, Graph):
        return graph.constant(array, name)
    return EagerTensor(np.array(array))


@op("Reshape", "tensor", "shape", strict=False)
def reshape(m: Maker, tensor: Any, shape: Any) -> Any:
    """Give a tensor another shape; -1 stands for what is left."""
    dims, size = ints(shape), spec_of_value(tensor).size
    known = product([d for d in dims if d != -1])
    full = (
        [size // known if d == -1 else d for d in dims] if known != 0 else [max(d, 0) for d in dims]
    )
    total = product(full)
    if isinstance(size, int) and isinstance(total, int) and total != size:
        raise TypeError(
            f"Input to reshape is a tensor with {size} values, but the requested shape has {total}"
        )
    return m.reshape(tensor, shape=tuple(full))


@op("Transpose", "a", strict=False, label="transpose")
def transpose(m: Maker, a: Any, perm: Any = None) -> Any:
    """Exchange the axes; all of them backwards if no order is given."""
    rank = spec_of_value(a).rank
    order = (
        tuple(reversed(range(rank))) if perm is None else tuple(int(p) % rank for p in static(perm))
    )
    return m.transpose(a, order=order)


def _listed(type_: str, label: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    def function(values: Any, axis: Any = 0, name: str | None = None) -> Any:
        """Join tensors along an axis."""
        given = (
            list(values)
            if isinstance(values, list | tuple)
            else [convert(values)[i] for i in range(len(values))]
        )
        with InGraph(graph_of(given)):
            at = int(static(axis))
            return perform(
                type_, lambda m, *xs: rule(m, xs, at), same(*given), name=name, label=label
            )

    return function


def _concat(m: Maker, xs: Sequence[Any], axis: int) -> Any:
    return m.concat(*xs, axis=axis % spec_of_value(xs[0]).rank)


def _stack(m: Maker, xs: Sequence[Any], axis: int) -> Any:
    return c.stack(m.emit, xs, axis % (spec_of_value(xs[0]).rank + 1))


concat = _listed("ConcatV2", "concat", _concat)
stack = _listed("Pack", "stack", _stack)
OPERATORS["stack"] = stack


def _parts(type_: str, label: str, rule: Callable[..., Any], x: Any, name: Any) -> Any:
    rule.gives_list = True  # type: ignore[attr-defined]
    made = perform(type_, rule, [convert(x)], name=name, label=label)
    return list(made) if isinstance(made, list | tuple) else [made]


def split(value: Any, num_or_size_splits: Any, axis: int = 0, name: str | None = None) -> Any:
    """Cut an axis into equal parts, or into parts of given sizes."""
    sizes = static(num_or_size_splits)

    def rule(m: Maker, x: Any) -> Any:
        at = axis % spec_of_value(x).rank
        extent = spec_of_value(x).dims[at]
        parts = [extent // sizes] * sizes if isinstance(sizes, int) else list(sizes)
        if -1 in parts:
            parts[parts.index(-1)] = extent - sum(p for p in parts if p != -1)
        return tuple(c.split(m.emit, x, at, parts))

    with InGraph(graph_of([value])):
        return _parts("Split", "split", rule, value, name)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = None) -> Any:
    """Return the slices along an axis."""

    def rule(m: Maker, x: Any) -> Any:
        dims = spec_of_value(x).dims
        at = axis % len(dims)
        extent = dims[at] if num is None else num
        cuts = [c.cut(m.emit, x, at, i, i + 1) for i in range(int(extent))]  # type: ignore[arg-type]
        return tuple(c.squeeze(m.emit, each, (at,)) for each in cuts)

    with InGraph(graph_of([value])):
        return _parts("Unpack", "unstack", rule, value, name)


@op("Slice", "input_", "begin", "size", strict=False)
def slice_(m: Maker, input_: Any, begin: Any, size: Any) -> Any:
    """Cut a box out; a size of -1 goes to the end."""
    dims = spec_of_value(input_).dims
    starts = tuple(int(b) for b in ints(begin))
    stops = tuple(d if s == -1 else b + s for b, s, d in zip(starts, ints(size), dims, strict=True))
    return m.slice(input_, starts=starts, stops=stops, steps=(1,) * len(dims))


@op("ExpandDims", "input", strict=False)
def expand_dims(m: Maker, input: Any, axis: Any) -> Any:
    """Insert an axis of extent 1."""
    rank = spec_of_value(input).rank
    return c.unsqueeze(m.emit, input, (int(static(axis)) % (rank + 1),))


@op("Squeeze", "input", strict=False)
def squeeze(m: Maker, input: Any, axis: Any = None) -> Any:
    """Drop axes of extent 1."""
    dims = spec_of_value(input).dims
    given = np.asarray(static(axis)).ravel().tolist() if axis is not None else []
    axes = [a % len(dims) for a in given] or [i for i, d in enumerate(dims) if d == 1]
    return c.squeeze(m.emit, input, axes)


@op("Tile", "input", "multiples", strict=False)
def tile(m: Maker, input: Any, multiples: Any) -> Any:
    """Repeat the tensor along each axis."""
    return c.tile(m.emit, input, ints(multiples))


@op("ReverseV2", "tensor", strict=False)
def reverse(m: Maker, tensor: Any, axis: Any) -> Any:
    """Turn axes around."""
    rank = spec_of_value(tensor).rank
    return c.flip(m.emit, tensor, [a % rank for a in np.asarray(static(axis)).ravel().tolist()])


@op("Pad", "tensor", "paddings", strict=False)
def pad(
    m: Maker, tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0
) -> Any:
    """Put elements around a tensor."""
    pads = tuple((int(a), int(b)) for a, b in ints(paddings))
    if mode.upper() == "SYMMETRIC":
        return _symmetric(m, tensor, pads)
    if mode.upper() == "REFLECT":
        return m.pad(tensor, pads=pads, mode="reflect")
    return m.pad(tensor, pads=pads, value=float(static(constant_values)))


def _symmetric(m: Maker, x: Any, pads: Sequence[tuple[int, int]]) -> Any:
    for axis, (low, high) in enumerate(pads):
        extent = spec_of_value(x).dims[axis]
        count: Any = extent
        place: Any = np.arange(count)
        order = np.pad(place, (low, high), mode="symmetric")
        x = m.gather(x, m.constant(value=order), axis=axis)
    return x


@op("GatherV2", "params", "indices", strict=False)
def gather(
    m: Maker, params: Any, indices: Any, axis: Any = None, batch_dims: int = 0, **_: Any
) -> Any:
    """Take slices along an axis."""
    spec = spec_of_value(params)
    at = batch_dims if axis is None else int(static(axis)) % spec.rank
    check_indices(indices, spec.dims[at])
    if not batch_dims:
        return m.gather(params, indices, axis=at)
    inner = spec_of_value(indices)
    column = c.unsqueeze(m.emit, m.to(indices, rows.i64), (inner.rank,))
    return m.gather_nd(params, column, batch_dims=batch_dims)


def check_indices(indices: Any, extent: Any) -> None:
    """Raise where known indices are outside of an axis."""
    if isinstance(indices, Abstract) and indices.value is None:
        return
    try:
        found = np.asarray(indices)
    except (TypeError, UnknownValueError):
        return
    if found.dtype.kind not in "iu" or not found.size or not isinstance(extent, int):
        return
    if not (found.min() >= 0 and found.max() < extent):
        wrong = found.max() if found.max() >= extent else found.min()
        raise IndexError(f"indices = {wrong} is not in [0, {extent})")


@op("GatherNd", "params", "indices", strict=False)
def gather_nd(m: Maker, params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Take the slices that rows of indices name."""
    return m.gather_nd(params, m.to(indices, rows.i64), batch_dims=batch_dims)


@op("ScatterNd", "indices", "updates", "shape", strict=False)
def scatter_nd(m: Maker, indices: Any, updates: Any, shape: Any) -> Any:
    """Add slices into zeros."""
    zeros = m.filled(0, spec_of_value(updates).dtype, ints(shape))
    return m.scatter_nd(zeros, m.to(indices, rows.i64), updates, reduction="add")


def _scatter(type_: str, reduction: str) -> Callable[..., Any]:
    def rule(m: Maker, tensor: Any, indices: Any, updates: Any) -> Any:
        return m.scatter_nd(tensor, m.to(indices, rows.i64), updates, reduction=reduction)

    def function(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Return the tensor with slices changed."""
        with InGraph(graph_of([tensor, indices, updates])):
            x, u = same(tensor, updates)
            return perform(type_, rule, [x, convert(indices), u], name=name)

    return function


tensor_scatter_nd_update = _scatter("TensorScatterUpdate", "none")
tensor_scatter_nd_add = _scatter("TensorScatterAdd", "add")


@op("OneHot", "indices", strict=False)
def one_hot(
    m: Maker,
    indices: Any,
    depth: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: int = -1,
    dtype: Any = "float32",
) -> Any:
    """Return vectors that are one at an index; outside of the range none is."""
    count, row = int(static(depth)), row_of(dtype)
    assert row is not None, "a type was given"
    spec = spec_of_value(indices)
    at = axis % (spec.rank + 1)
    shape = tuple(count if i == at else 1 for i in range(spec.rank + 1))
    place = m.reshape(m.iota(shape=(count,), axis=0, dtype=spec.dtype), shape=shape)
    hit = m.equal(c.unsqueeze(m.emit, indices, (at,)), place)
    return m.select(
        hit, m.number(float(static(on_value)), row), m.number(float(static(off_value)), row)
    )


def shape(input: Any, out_type: Any = "int32", name: str | None = None) -> Any:
    """Return the extents as a tensor."""
    with InGraph(graph_of([input])):
        x = convert(input)
        row = row_of(out_type)
        assert row is not None, "a type was given"
        if x.spec.shape is not None and x.spec.is_static:
            return constant(np.array(x.spec.static_shape, row.numpy), name=name or "Shape")

        def rule(m: Maker, x: Any) -> Any:
            dims = spec_of_value(x).dims
            if isinstance(x, Abstract) and not all(isinstance(d, int) for d in dims):
                return Abstract(x.spec.with_shape((len(dims),)).with_dtype(row))
            return m.constant(value=np.array(dims, row.numpy))

        return perform("Shape", rule, [x], name=name, differentiable=False)


@op("Rank", "input", strict=False, differentiable=False)
def rank(m: Maker, input: Any) -> Any:
    """Return the number of axes."""
    return m.number(spec_of_value(input).rank, rows.i32)


@op("Size", "input", strict=False, differentiable=False)
def size(m: Maker, input: Any, out_type: Any = "int32") -> Any:
    """Return the number of elements."""
    count, row = spec_of_value(input).size, row_of(out_type)
    assert row is not None, "a type was given"
    if not isinstance(count, int):
        return Abstract(spec_of_value(input).with_shape(()).with_dtype(row))
    return m.number(count, row)


@op("Fill", "dims", "value", strict=False)
def fill(m: Maker, dims: Any, value: Any) -> Any:
    """Make a tensor of one element many times."""
    return m.broadcast_to(value, shape=tuple(ints(dims)))


@op("BroadcastTo", "input", "shape", strict=False)
def broadcast_to(m: Maker, input: Any, shape: Any) -> Any:
    """Repeat along axes of extent 1."""
    return m.broadcast_to(input, shape=tuple(ints(shape)))


def zeros(shape: Any, dtype: Any = "float32", name: str | None = None) -> Any:
    """Make zeros."""
    return _full(shape, 0, dtype, name or "zeros")


def ones(shape: Any, dtype: Any = "float32", name: str | None = None) -> Any:
    """Make ones."""
    return _full(shape, 1, dtype, name or "ones")


def _full(shape: Any, value: int, dtype: Any, name: str) -> Any:
    dims = static(shape)
    if isinstance(dims, int):
        dims = [dims]
    row = row_of(dtype)
    assert row is not None, "a type was given"
    if isinstance(dims, list | tuple) and all(isinstance(d, int) for d in dims):
        return constant(np.full(dims, value, row.numpy), name=name)
    return fill(
        stack(list(dims)) if isinstance(dims, list | tuple) else dims,
        constant(value, row),
        name=name,
    )


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Make zeros of a tensor's shape."""
    return _like(input, 0, dtype, name, "ZerosLike")


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Make ones of a tensor's shape."""
    return _like(input, 1, dtype, name, "OnesLike")


def _like(input: Any, value: int, dtype: Any, name: str | None, type_: str) -> Any:
    def rule(m: Maker, x: Any) -> Any:
        spec = spec_of_value(x)
        return m.filled(value, row_of(dtype) or spec.dtype, spec.dims)

    with InGraph(graph_of([input])):
        return perform(
            type_,
            rule,
            [convert(input)],
            name=name,
            label=type_.replace("Like", "_like").lower(),
            differentiable=False,
        )


def eye(
    num_rows: int,
    num_columns: int | None = None,
    dtype: Any = "float32",
    name: str | None = None,
    **_: Any,
) -> Any:
    """Make a matrix that is one on the diagonal."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return constant(np.eye(int(static(num_rows)), num_columns, dtype=row.numpy), name=name)


def range_(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Any:
    """Make numbers from start (0 if only one is given) up to the limit."""
    if limit is None:
        start, limit = 0, start
    row = row_of(dtype)
    with InGraph(graph_of([start, limit, delta])):
        typed = (
            same(start, limit, delta)
            if row is None
            else [
                convert(v, row) if not hasattr(v, "spec") else convert(v)
                for v in (start, limit, delta)
            ]
        )

        def rule(m: Maker, a: Any, b: Any, d: Any) -> Any:
            low, high, step = (np.asarray(x)[()] for x in (a, b, d))
            kind = np.asarray(a).dtype if row is None else row.numpy
            made: Any = np.arange
            return m.constant(value=made(low, high, step).astype(kind))

        return perform("Range", rule, typed, name=name, differentiable=False)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Make evenly spaced numbers, both ends included."""

    def rule(m: Maker, a: Any, b: Any) -> Any:
        count = int(static(num))
        row = spec_of_value(a).dtype
        place = m.constant(value=np.linspace(0.0, 1.0, count).astype(row.numpy))
        return m.add(a, m.mul(m.sub(b, a), place))

    return perform("LinSpace", rule, same(start, stop), name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose elements by a condition; with it alone, return where it holds."""
    with InGraph(graph_of([condition, x, y])):
        test = convert(condition)
        if x is None:

            def places(m: Maker, p: Any) -> Any:
                return np.argwhere(np.asarray(p)).astype(np.int64)

            return perform("Where", places, [test], name=name, differentiable=False)
        a, b = same(x, y)
        return perform("SelectV2", lambda m, p, a, b: m.select(p, a, b), [test, a, b], name=name)


def boolean_mask(tensor: Any, mask: Any, axis: int = 0, name: str | None = None) -> Any:
    """Take the slices for which a mask holds."""

    def rule(m: Maker, x: Any, p: Any) -> Any:
        found = np.asarray(p)
        dims = spec_of_value(x).dims
        flat = m.reshape(
            x,
            shape=(
                *dims[:axis],
                product(dims[axis : axis + found.ndim]),
                *dims[axis + found.ndim :],
            ),
        )
        return m.gather(flat, m.constant(value=np.flatnonzero(found)), axis=axis)

    with InGraph(graph_of([tensor, mask])):
        return perform("BooleanMask", rule, [convert(tensor), convert(mask)], name=name)


def meshgrid(*args: Any, indexing: str = "xy", **_: Any) -> list[Any]:
    """Spread vectors over a grid."""
    xs = same(*args)

    def rule(m: Maker, *xs: Any) -> Any:
        counts = [spec_of_value(x).dims[0] for x in xs]
        axes = list(range(len(xs)))
        if indexing == "xy" and len(xs) > 1:
            axes[0], axes[1] = 1, 0
        full = [counts[axes.index(i)] for i in range(len(xs))]
        made = []
        for x, axis in zip(xs, axes, strict=True):
            dims = tuple(full[i] if i == axis else 1 for i in range(len(xs)))
            made.append(m.broadcast_to(m.reshape(x, shape=dims), shape=tuple(full)))
        return tuple(made)

    return list(perform("Meshgrid", rule, xs))


@op("Roll", "input", strict=False)
def roll(m: Maker, input: Any, shift: Any, axis: Any) -> Any:
    """Move elements along axes, those at the end to the front."""
    shifts, axes = np.ravel(static(shift)).tolist(), np.ravel(static(axis)).tolist()
    moved, rank_ = input, spec_of_value(input).rank
    for by, at in zip(shifts, axes, strict=True):
        moved = c.roll(m.emit, moved, at % rank_, int(by))
    return moved

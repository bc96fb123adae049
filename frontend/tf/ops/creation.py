"""Making tensors of known elements, and tensors like others, by TensorFlow's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, SupportsInt

import numpy as np
from xdsl.ir import SSAValue

from ....codegen import single
from ....ir.compose.maker import Emit, Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse
from ....ir.types.dtypes import DType, of_numpy
from ....ir.types.tensor import Array, TensorSpec
from ...dims.unknown import unknown_dim
from ...eager.kernels import MANY, Kernel, by_need
from ...eager.remembered import remember_all
from ...graph.graph import Graph, GraphTensor
from ...graph.inference import Abstract, is_unknown
from ...values.arrays import as_listed
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ..core import shape_rules as shapes_of
from ..core.bridge import OPERATORS, TfTensor, dressed, made_here, row_of
from ..core.calls import as_places, in_whole_numbers, op, perform, perform_all, rule
from ..core.extents import read_extent, read_extents
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import (
    InGraph,
    InvalidShapesError,
    array_of,
    axis_in,
    convert,
    elements,
    graph_of,
    is_typed,
    own,
    refuse_mixture,
    same,
    static,
)


def ints(value: object) -> Any:
    """Return a tensor of integers as Python numbers, nested as it is."""
    return elements(value).tolist()


def named_row(dtype: DTypeLike | None) -> DType:
    """Return the row of a type that must be given."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return row


def constant(
    value: object, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str | None = None
) -> TfTensor:
    """Make a tensor of known elements."""
    if isinstance(value, GraphTensor):
        raise TypeError("a symbolic tensor is no constant")
    if hasattr(value, "numpy"):
        value = value.numpy()
    array = array_of(value, row_of(dtype))
    if shape is not None:
        dims = TensorShape(shape).known()
        if array.size == math.prod(dims):
            array = array.reshape(dims)
        elif array.size == 1 and array.ndim <= len(dims):
            array = np.broadcast_to(array, dims).copy()
        else:
            raise TypeError(
                f"Expected Tensor's shape {tuple(dims)}, found one of {array.size} elements"
            )
    refuse_mixture(value, array, row_of(dtype))
    graph = STATE.context
    array = own(value, array)
    return dressed(graph.constant(array, name)) if isinstance(graph, Graph) else made_here(array)


def constant_v1(
    value: object,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> TfTensor:
    """Make a tensor of known elements; fewer than there are places are followed by the last one.

    With `verify_shape` there must be as many.
    """
    dims = None if shape is None else TensorShape(shape).known()
    if dims is None or verify_shape or isinstance(value, GraphTensor):
        return constant(value, dtype, shape, name)
    given = array_of(value.numpy() if hasattr(value, "numpy") else value, row_of(dtype))
    count = math.prod(dims)
    if given.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {given.size}")
    if 1 < given.size < count:
        refuse_mixture(value, given, row_of(dtype))
        value = np.pad(given.ravel(), (0, count - given.size), mode="edge").reshape(dims)
    return constant(value, dtype, shape, name)


def _number(m: Maker, value: object, what: str) -> object:
    """Return an operand without axes; as in TensorFlow, a run takes a row of one element, too."""
    spec = spec_of_value(value)
    if spec.shape is None or not spec.rank:
        return value
    if isinstance(value, Abstract):
        raise TypeError(f"Shape must be rank 0 but is rank {spec.rank} for {what!r}")
    if spec.dims != (1,):
        raise TypeError(f"{what} must represent a scalar, got shape {as_listed(spec.dims)}")
    return m.reshape(value, shape=())


@op("Fill", "dims", "value", strict=False, shapes=shapes_of.filled(0, 1))
def fill(m: Maker, dims: object, value: object) -> object:
    """Make a tensor of one element many times."""
    value = _number(m, value, "value")
    wrong = "Dimension {value} must be >= 0"
    return m.broadcast_to(value, shape=tuple(read_extents(m, dims, what=wrong)))


def zeros(shape: object, dtype: Any = "float32", name: str | None = None) -> TfTensor:
    """Make zeros."""
    return _full(shape, 0, dtype, name or "zeros")


def ones(
    shape: ShapeLike, dtype: DTypeLike | None = "float32", name: str | None = None
) -> TfTensor:
    """Make ones."""
    return _full(shape, 1, dtype, name or "ones")


def _full(shape: object, value: int, dtype: DTypeLike | None, name: str) -> TfTensor:
    if isinstance(shape, np.ndarray | np.floating) and shape.dtype.kind == "f":
        shape = shape.astype(np.int32)
    dims = static(in_whole_numbers("shape", shape))
    if isinstance(dims, str | bytes):
        raise TypeError(f"Cannot convert {shape!r} to EagerTensor of dtype int32")
    if isinstance(dims, int):
        dims = [dims]
    if any(isinstance(d, float) for d in (dims if isinstance(dims, list | tuple) else [dims])):
        raise TypeError(f"Cannot convert {shape} to EagerTensor of dtype int32")
    row = named_row(dtype)
    if row.kind == "s" and value:
        raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
    if isinstance(dims, list | tuple) and all(isinstance(d, int) for d in dims):
        _refuse_negative(dims)
        if row.kind == "s":
            return constant(np.full(dims, b"", object), name=name)
        return constant(np.full(dims, value, row.numpy), name=name)
    lengths = OPERATORS["stack"](list(dims)) if isinstance(dims, list | tuple) else dims
    if isinstance(lengths, GraphTensor) and lengths.spec.shape == ():
        lengths = OPERATORS["stack"]([lengths])
    element = np.full((), b"" if row.kind == "s" else value, row.numpy)
    return fill(lengths, constant(element, row), name=name)


def _refuse_negative(dims: Iterable[int]) -> None:
    """Raise for an extent below zero."""
    wrong = [d for d in dims if d < 0]
    if wrong:
        raise InvalidShapesError(f"Dimension {wrong[0]} must be >= 0 [Op:Fill]")


def zeros_like(input: object, dtype: DTypeLike | None = None, name: str | None = None) -> TfTensor:
    """Make zeros of a tensor's shape."""
    return _like("ZerosLike", input, dtype, name)


def ones_like(input: object, dtype: DTypeLike | None = None, name: str | None = None) -> TfTensor:
    """Make ones of a tensor's shape."""
    return _like("OnesLike", input, dtype, name)


def _like(type_: str, input: object, dtype: DTypeLike | None, name: str | None) -> TfTensor:
    with InGraph(graph_of([input])):
        return perform(type_, [convert(input)], name=name, dtype=row_of(dtype))


def eye(
    num_rows: object,
    num_columns: object = None,
    batch_shape: object = None,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
) -> TfTensor:
    """Make matrices that are one on the diagonal."""
    height = static(num_rows)
    stated = [] if batch_shape is None else static(batch_shape)
    if not isinstance(stated, list | tuple) or not all(isinstance(n, int) for n in stated):
        with InGraph(graph_of([batch_shape])):
            batches = convert(batch_shape, "int32")
            single = eye(num_rows, num_columns, dtype=dtype)
            return perform("EyeBatch", [single, batches], name=name)
    batch = list(stated)
    width = height if num_columns is None else static(num_columns)
    row = named_row(dtype)
    if isinstance(height, int) and isinstance(width, int):
        _refuse_negative([height, width])
        one = np.eye(height, width, dtype=row.numpy)
        return constant(np.broadcast_to(one, (*batch, *one.shape)), name=name)
    with InGraph(graph_of([height, width])):
        sizes = [convert(height, "int32"), convert(width, "int32")]
        return perform("Eye", sizes, name=name, batch=batch, dtype=row)


@rule("Eye", label="eye", differentiable=False, shapes=shapes_of.square)
def _eye(m: Maker, height: object, width: object, batch: list[int], dtype: DType) -> object:
    n, k = read_extent(m, height), read_extent(m, width)
    down = m.reshape(m.iota(shape=(n,), axis=0, dtype=rows.i64), shape=(n, 1))
    right = m.reshape(m.iota(shape=(k,), axis=0, dtype=rows.i64), shape=(1, k))
    return m.broadcast_to(m.to(m.equal(down, right), dtype), shape=(*batch, n, k))


@rule("EyeBatch", label="eye", differentiable=False)
def _eyes(m: Maker, one: object, batches: object) -> object:
    """Repeat a matrix along axes in front."""
    return m.broadcast_to(one, shape=(*read_extents(m, batches), *spec_of_value(one).dims))


@rule("Range", label="range", differentiable=False)
def _range(m: Maker, start: object, limit: object, delta: object, dtype: DType | None) -> object:
    start, limit = _number(m, start, "start"), _number(m, limit, "limit")
    delta = _number(m, delta, "delta")
    if any(map(is_unknown, (start, limit, delta))):
        return Abstract(TensorSpec(dtype or spec_of_value(start).dtype, (unknown_dim(),)))
    if isinstance(limit, SSAValue) or isinstance(start, SSAValue):
        return _counted(m, start, limit, int(elements(delta)), dtype)
    low, high, step = (elements(x)[()] for x in (start, limit, delta))
    if step == 0:
        raise TypeError("Requires delta != 0: 0")
    if (high < low) if step > 0 else (high > low):
        raise TypeError(f"Requires start {'<=' if step > 0 else '>='} limit: {low}, {high}")
    kind = np.asarray(start).dtype if dtype is None else dtype.numpy
    made: Callable[..., Array] = np.arange  # arrays without axes are numbers here
    whole = kind.kind in "iu"  # floats are counted in the type that the bounds have
    if kind.kind == np.result_type(low, high, step).kind == "i":
        count = len(range(int(low), int(high), int(step)))
        if count >= MANY:
            ends = np.array(low, kind), np.array(step, kind)
            return m.constant(value=_counting(of_numpy(kind))(np.empty(count, np.bool_), *ends))
    if whole:  # numbers of Python's: their differences may be beyond the type
        return m.constant(value=made(int(low), int(high), int(step)).astype(kind, copy=False))
    return m.constant(value=made(low, high, step).astype(kind, copy=False))


@cache
def _counting(row: DType) -> Kernel:
    """Return what counts whole numbers: as many as an array has, from a number on, by a step."""
    size = parse("N")
    specs = [TensorSpec(rows.bool_, (size,)), TensorSpec(row, ()), TensorSpec(row, ())]

    def build(emit: Emit, _: object, start: object, step: object) -> object:
        m = Maker(emit)
        return m.add(m.mul(m.iota(shape=(size,), axis=0, dtype=row), step), start)

    def by_numpy(places: Array, start: Array, step: Array) -> Array:
        return np.arange(len(places), dtype=row.numpy) * step + start

    return by_need(by_numpy, partial(single.of_any_length, build, specs), is_simple=True)


def _counted(m: Maker, start: object, limit: object, step: int, dtype: DType | None) -> object:
    """Count between bounds of which only the run has one or both."""
    row = dtype or spec_of_value(limit).dtype
    if not (row.is_integer and step):
        return elements(limit if isinstance(limit, SSAValue) else start)  # says why it is unknown
    first, last = m.to(start, rows.i64), m.to(limit, rows.i64)
    room = m.add(m.sub(last, first), m.number(step - (1 if step > 0 else -1), rows.i64))
    what = f"Requires start {'<=' if step > 0 else '>='} limit"
    count = read_extent(m, m.floor_divide(room, m.number(step, rows.i64)), what=what)
    places = m.mul(m.iota(shape=(count,), axis=0, dtype=row), m.number(step, row))
    return m.add(places, m.to(start, row))


def range_(
    start: object,
    limit: object = None,
    delta: object = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> TfTensor:
    """Make numbers from start (0 if only one is given) up to the limit."""
    if limit is None:
        start, limit = 0, start
    row, given = row_of(dtype), (start, limit, delta)
    with InGraph(graph_of(given)):
        typed = [
            convert(v) if row is None or hasattr(v, "spec") else convert(v, row) for v in given
        ]
        if row is None:  # the widest of the three
            found = [x.spec.dtype for x in typed]
            row = next((r for r in (rows.f64, rows.f32, rows.i64) if r in found), found[0])
        return perform("Range", typed, name=name, dtype=row)


@rule("LinSpace")
def _linspace(m: Maker, start: object, stop: object, num: object, axis: int) -> object:
    spec, count = spec_of_value(start), read_extent(m, num)
    at = axis % (spec.rank + 1)
    shape = tuple(count if i == at else 1 for i in range(spec.rank + 1))
    if isinstance(count, int):
        place = m.constant(value=np.linspace(0.0, 1.0, count).astype(spec.dtype.numpy))
    else:
        last = m.maximum(m.extent_of(count - 1, rows.f64), m.number(1.0, rows.f64))
        part = m.div(m.iota(shape=(count,), axis=0, dtype=rows.f64), last)
        place = m.to(part, spec.dtype)
    place = m.reshape(place, shape=shape)
    dims = [*spec.dims[:at], 1, *spec.dims[at:]]
    low, high = (m.reshape(x, shape=tuple(dims)) for x in (start, stop))
    return m.add(low, m.mul(m.sub(high, low), place))


def linspace(
    start: object, stop: object, num: object, name: str | None = None, axis: int = 0
) -> TfTensor:
    """Make evenly spaced numbers, both ends included."""
    with InGraph(graph_of([start, stop])):
        values = same(start, stop)
        if values[0].dtype.kind not in "fc":
            values = [OPERATORS["cast"](x, rows.f64) for x in values]
        return perform("LinSpace", [*values, OPERATORS["cast"](num, "int32")], name=name, axis=axis)


@rule("Meshgrid", gives_list=True, shapes=shapes_of.grid)
def _meshgrid(m: Maker, *xs: object, indexing: str) -> object:
    counts = [spec_of_value(x).size for x in xs]
    axes = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        axes[0], axes[1] = 1, 0
    full = [counts[axes.index(i)] for i in range(len(xs))]
    made = []
    for x, axis in zip(xs, axes, strict=True):
        dims = tuple(full[i] if i == axis else 1 for i in range(len(xs)))
        made.append(m.broadcast_to(m.reshape(x, shape=dims), shape=tuple(full)))
    return tuple(made)


def meshgrid(*args: object, indexing: str = "xy", name: str | None = None) -> list[TfTensor]:
    """Spread vectors over a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got indexing={indexing!r}"
        )
    if not args:
        return []
    with InGraph(graph_of(args)):
        return perform_all("Meshgrid", same(*args), name=name, indexing=indexing)


@rule("OneHot", label="one_hot", differentiable=False, shapes=shapes_of.hot)
def _one_hot(
    m: Maker, indices: object, depth: object, on: float, off: float, axis: int, dtype: DType
) -> object:
    spec, count = spec_of_value(indices), read_extent(m, depth)
    if spec.dtype.kind not in "iu":
        raise TypeError(f"Value for attr 'TI' of {spec.dtype} is not in the list of allowed values")
    at = axis_in(axis, spec.rank + 1)
    shape = tuple(count if i == at else 1 for i in range(spec.rank + 1))
    place = m.reshape(m.iota(shape=(count,), axis=0, dtype=spec.dtype), shape=shape)
    dims = (*spec.dims[:at], 1, *spec.dims[at:])
    hit = m.equal(m.reshape(indices, shape=dims), place)
    if dtype.kind == "s":
        return (
            Abstract(TensorSpec(dtype, hit.spec.shape))
            if is_unknown(hit)
            else np.where(np.asarray(hit), np.array(on, object), np.array(off, object))
        )
    return m.select(hit, m.number(on, dtype), m.number(off, dtype))


def one_hot(
    indices: object,
    depth: object,
    on_value: object = None,
    off_value: object = None,
    axis: SupportsInt | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return vectors that are one at an index; outside of the range none is."""
    row = row_of(dtype)
    types = {x.dtype for x in (on_value, off_value) if isinstance(x, np.ndarray | np.generic)}
    if len(types) > 1:
        raise TypeError(
            f"dtype {np.asarray(on_value).dtype} of on_value does not match dtype "
            f"{np.asarray(off_value).dtype} of off_value"
        )
    for given in (on_value, off_value):
        if given is None:
            continue
        found = convert(given, row if not hasattr(given, "spec") else None).spec.dtype
        if row is not None and found != row:
            raise TypeError(f"dtype {found} of a value does not match dtype {row} of the other")
        row = found
    row = row or rows.f32
    ends = (1 if on_value is None else on_value, 0 if off_value is None else off_value)
    on, off = (static(convert(x) if row.kind == "s" else x) for x in ends)
    at = -1 if axis is None else int(axis)
    with InGraph(graph_of([indices, depth])):
        given = [
            convert(as_places(indices)),
            convert(depth, "int32" if not is_typed(depth) else None),
        ]
        return perform("OneHot", given, name=name, on=on, off=off, axis=at, dtype=row)


remember_all(globals())

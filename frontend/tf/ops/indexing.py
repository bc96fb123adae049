"""Indexing of tensors: numbers, slices, new axes, and numbers that are known only when run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from xdsl.ir import SSAValue

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, floor_divide, minimum
from ....ir.types.tensor import Array, TensorSpec
from ...dims.computed import distance, expressions
from ...dims.slices import FAR, Knowledge, bounds
from ...dims.unknown import unknown_dim
from ...eager.remembered import remembered
from ...eager.tensor import Tensor
from ...graph.inference import Given, is_unknown
from ..core import shape_rules as shapes_of
from ..core.bridge import OPERATORS, SymbolicTfTensor, TfTensor, dressed
from ..core.calls import op, perform, rule
from ..core.dimensions import Dimension
from ..core.extents import read_extent
from ..core.required import known, require, require_place
from ..core.values import InGraph, InvalidShapesError, convert, elements, graph_of


@dataclass(frozen=True)
class Place:
    """A number of an element that is known only when it is run; None where a shape is inferred."""

    value: object


def _partly(given: Given) -> Sequence[TensorSpec]:
    """Leave those sizes open that bounds cut which are not known."""
    spec, keys = given.specs[0], list(given.options["keys"])
    if spec.shape is None:
        return (TensorSpec(spec.dtype, None),)
    if Ellipsis not in keys:
        keys.append(Ellipsis)
    at, taken = keys.index(Ellipsis), sum(k is not None and k is not Ellipsis for k in keys)
    keys[at : at + 1] = [slice(None)] * (spec.rank - taken)
    left, dims = list(spec.dims), list[Dim]()
    for key in keys:
        extent = 1 if key is None else left.pop(0)
        if key is None or isinstance(key, slice):
            whole = isinstance(key, slice) and key == slice(None)
            dims.append(extent if key is None or whole else unknown_dim())
    return (spec.with_shape(tuple(dims)),)


@rule(
    "StridedSlice",
    label="strided_slice",
    shapes=_partly,
    refuses=lambda options: any(key == TENSOR or is_part(key) for key in options["keys"]),
)
def _strided_slice(m: Maker, x: object, *given: object, keys: tuple[object, ...]) -> object:
    if any(map(is_unknown, given)) and not any(isinstance(k, slice) and holds(k) for k in keys):
        return _index(m, x, tuple(Place(None) if k == TENSOR else k for k in keys))
    if any(isinstance(x, SSAValue) for x in given) and any(map(is_part, keys)):
        x, left, keys = _cut_by_operands(m, x, given, keys)
        given = tuple(left)
    rest = iter(given)

    def ready(key: object) -> object:
        if isinstance(key, slice):
            return slice(*map(ready, (key.start, key.stop, key.step)))
        return int(np.asarray(next(rest))) if key == TENSOR else key

    def placed(key: object) -> object:
        if isinstance(key, slice) or key != TENSOR:
            return ready(key)
        value = next(rest)
        if isinstance(value, Tensor) or known(value) is not None:
            return int(np.asarray(value))
        return Place(value)

    return _index(m, x, tuple(map(placed, keys)))


def is_part(key: object) -> bool:
    """Say whether a key is a slice of which a bound is an operand."""
    return isinstance(key, slice) and holds(key)


def _cut_by_operands(
    m: Maker, x: object, given: Sequence[object], keys: tuple[object, ...]
) -> tuple[object, list[object], tuple[object, ...]]:
    """Cut the axes whose bounds are operands; return the rest of the operands and keys."""
    left, kept = list(given), list[object]()
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    axis, made = 0, list(keys)
    for place, key in enumerate(keys):
        if key is None:
            continue
        if key is Ellipsis:
            axis += spec_of_value(x).rank - taken
            continue
        if isinstance(key, slice) and holds(key):
            bounds_ = [left.pop(0) if k == TENSOR else k for k in (key.start, key.stop, key.step)]
            x, made[place] = _part(m, x, axis, *bounds_), slice(None)
        elif key == TENSOR:
            kept.append(left.pop(0))
        axis += 1
    return x, kept, tuple(made)


def _part(m: Maker, x: object, axis: int, start: object, stop: object, step: object) -> object:
    """Cut an axis between bounds of which the run has one.

    As many elements as both are apart are likely to be there: not, where one is outside.
    """
    by = 1 if step is None else int(elements(step))
    if by == 0:
        raise ValueError("slice step cannot be zero")
    extent = spec_of_value(x).dims[axis]
    end, zero = m.extent_of(extent), m.number(0, rows.i64)
    first, last = (
        (zero, end) if by > 0 else (m.number(-1, rows.i64), m.sub(end, m.number(1, rows.i64)))
    )

    def inside(bound: object, other: object) -> object:
        if bound is None:
            return other
        if isinstance(bound, int):
            value = m.number(bound, rows.i64)
        else:
            value = m.to(m.reshape(bound, shape=()), rows.i64)
        value = m.select(m.less(value, zero), m.add(value, end), value)
        return m.minimum(m.maximum(value, first), last)

    low, high = inside(start, first if by > 0 else last), inside(stop, last if by > 0 else first)
    apart = m.sub(high, low) if by > 0 else m.sub(low, high)
    if abs(by) > 1:
        more, each = (m.number(n, rows.i64) for n in (abs(by) - 1, abs(by)))
        apart = m.floor_divide(m.add(m.maximum(apart, zero), more), each)
    likely = _likely_count(start, stop, by, extent)
    count = read_extent(m, m.maximum(apart, zero), most=extent, likely=likely)
    dims = spec_of_value(x).dims
    if by == 1 and (
        start is None or (not isinstance(start, SSAValue) and int(elements(start)) == 0)
    ):
        stops = tuple(count if n == axis else d for n, d in enumerate(dims))
        return m.slice(x, starts=(0,) * len(dims), stops=stops, steps=(1,) * len(dims))
    places = m.iota(shape=(count,), axis=0, dtype=rows.i64)
    places = places if by == 1 else m.mul(places, m.number(by, rows.i64))
    return m.gather(x, m.add(places, low), axis=axis)


def _likely_count(start: object, stop: object, by: int, extent: Dim) -> int | None:
    """Return how many elements are between bounds that are inside of an axis, None if not known.

    Where these are further apart than the axis is long, one is counted from its end.
    """
    apart = None if start is None or stop is None else distance(start, stop)
    if apart is None:
        return None
    apart = apart if by > 0 else -apart
    if isinstance(extent, int) and apart > extent:
        apart -= extent
    fits = apart >= 0 and (not isinstance(extent, int) or apart <= extent)
    return -(-apart // abs(by)) if fits else None


@op("Slice", "input_", "begin", "size", strict=False, refuses=True, shapes=shapes_of.sliced)
def slice_(m: Maker, input_: object, begin: object, size: object) -> object:
    """Cut a box out; a size of -1 goes to the end. Where it begins may be known only when run."""
    dims, sizes = spec_of_value(input_).dims, elements(size).tolist()
    found = expressions(begin) if isinstance(begin, SSAValue) else None
    open_ = [] if found is None else [axis for axis, low in enumerate(found) if low is None]
    if found is None or not open_:
        found = elements(begin)
    starts = [0 if low is None else int(low) for low in found.tolist()]
    rows_ = zip(starts, sizes, dims, strict=True)
    stops = [d if s == -1 or axis in open_ else b + s for axis, (b, s, d) in enumerate(rows_)]
    ends = [max(sizes[a], 0) if a in open_ else stop for a, stop in enumerate(stops)]
    for axis, (low, high, extent) in enumerate(zip(starts, ends, dims, strict=True)):
        if not (isinstance(extent, int) and isinstance(high, int)):
            continue
        if not 0 <= low <= high <= extent:
            raise TypeError(f"Expected size[{axis}] in [0, {extent - low}], but got {high - low}")
    made = m.slice(input_, starts=tuple(starts), stops=tuple(stops), steps=(1,) * len(dims))
    for axis in open_:
        made = _window(
            m, made, axis, m.gather(begin, m.number(axis, rows.i64), axis=0), sizes[axis]
        )
    return made


def _window(m: Maker, x: object, axis: int, start: object, size: int) -> object:
    """Cut elements of an axis out from one on that only the run has; -1: all that are left."""
    extent, place = spec_of_value(x).dims[axis], m.to(start, rows.i64)
    last, zero = m.extent_of(extent - max(size, 0)), m.number(0, rows.i64)
    told = f"Expected begin[{axis}] in [0, {extent - max(size, 0)}], but got {{value}}"
    require(
        m,
        place,
        lambda at: m.logical_and(m.greater_equal(at, zero), m.less_equal(at, last)),
        told.replace("{value}", "another"),
        told,
    )
    if size == -1:
        return _part(m, x, axis, m.maximum(place, zero), None, None)
    inside = m.minimum(m.maximum(place, zero), last)
    places = m.add(m.iota(shape=(size,), axis=0, dtype=rows.i64), inside)
    return m.gather(x, places, axis=axis)


def holds(key: slice) -> bool:
    """Say whether a bound of a slice is an operand."""
    return TENSOR in (key.start, key.stop, key.step)


@remembered
def getitem(x: object, key: object) -> TfTensor:
    """Index a tensor."""
    keys = tuple(key) if isinstance(key, tuple | list) else (key,)
    if len(keys) == 1 and isinstance(keys[0], np.ndarray) and keys[0].dtype == np.bool_:
        return _masked(x, keys[0])
    parts = [
        part for k in keys for part in ((k.start, k.stop, k.step) if isinstance(k, slice) else (k,))
    ]
    tensors = [part for part in parts if _is_tensor(part)]
    if sum(k is Ellipsis for k in keys) > 1:
        raise InvalidShapesError("Multiple ellipses in slice spec not allowed [Op:StridedSlice]")
    ranked = [t for t in tensors if t.spec.shape and len(keys) and not _is_mask(t)]
    if ranked:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {ranked[0]!r}"
        )
    if any(k is True or k is False for k in keys):
        raise ValueError("mask cannot be scalar.")
    if not keys or (len(keys) == 1 and _is_mask(keys[0])):
        return _masked(x, keys[0] if keys else Ellipsis)
    graph = graph_of([x, *tensors])
    with InGraph(graph):
        given = [convert(x), *map(convert, tensors)]
        first = given[0]
        if graph is not None and len(given) == 1 and _is_known(first):
            return dressed(graph.constant(_at(first.op.attributes["value"], keys), "strided_slice"))
        return perform("StridedSlice", given, keys=tuple(map(_fixed, keys)))


def _is_known(tensor: TfTensor) -> TypeGuard[SymbolicTfTensor]:
    """Say whether a tensor of a graph is a shape, or another few integers that are known."""
    if not isinstance(tensor, SymbolicTfTensor) or tensor.op.type != "Const":
        return False
    spec = tensor.spec
    return spec.dtype.kind in "iu" and spec.rank == 1 and 0 < spec.static_shape[0] < 64


def _at(array: Array, keys: tuple[Any, ...]) -> Array:
    try:
        return np.array(np.asarray(array)[keys])
    except IndexError as error:
        raise InvalidShapesError(f"slice {error} [Op:StridedSlice]") from None


def _is_tensor(value: object) -> bool:
    return hasattr(value, "spec")


def _is_mask(key: object) -> bool:
    return _is_tensor(key) and spec_of_value(key).dtype == rows.bool_


def _masked(x: object, key: object) -> TfTensor:
    from .array_ops import boolean_mask  # noqa: PLC0415

    return convert(x) if key is Ellipsis else boolean_mask(x, key)


TENSOR = "tensor"
"""Stands in keys for a number that is an operand."""


def _fixed(key: object) -> object:
    if isinstance(key, slice):
        return slice(*(None if v is None else _fixed(v) for v in (key.start, key.stop, key.step)))
    if _is_tensor(key):
        return TENSOR
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, int | np.integer):
        return int(key)
    if isinstance(key, Dimension):
        return key.value
    if isinstance(key, np.ndarray) and key.ndim == 0 and key.dtype.kind in "iu":
        return int(key)
    raise TypeError(
        f"Only integers, slices, ellipsis and scalar tensors are valid indices, got {key!r}"
    )


def _each_axis(keys: tuple[object, ...], rank: int) -> tuple[Any, ...]:
    """Return keys of which each but None is that of one axis."""
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > rank:
        what = "" if rank else "Attempting to slice scalar input. "
        raise TypeError(f"{what}Index out of range: {taken} indices for rank {rank}")
    if not any(k is Ellipsis for k in keys):
        keys = (*keys, Ellipsis)
    at = [k is Ellipsis for k in keys].index(True)
    left = [k for k in keys[at + 1 :] if k is not Ellipsis]
    return (*keys[:at], *[slice(None)] * (rank - taken), *left)


def _index(m: Maker, x: object, keys: tuple[Any, ...]) -> object:
    dims = spec_of_value(x).dims
    rows_: list[tuple[Dim, Dim, int]] = []
    shape_: list[Dim] = []
    places: list[tuple[int, object]] = []
    axis = 0
    for k in _each_axis(keys, len(dims)):
        if k is None:
            shape_.append(1)
            continue
        extent = dims[axis]
        axis += 1
        if isinstance(k, Place):
            if k.value is not None:
                require_place(m, k.value, extent, axis - 1)
            places.append((len(shape_), k.value))
            rows_.append((0, extent, 1))
            shape_.append(extent)
        elif isinstance(k, int):
            if isinstance(extent, int) and not -extent <= k < extent:
                raise TypeError(f"slice index {k} of dimension {axis - 1} out of bounds.")
            start = k + extent if k < 0 else k
            rows_.append((start, start + 1, 1))
        else:
            row, length = _range(k, extent)
            rows_.append(row)
            shape_.append(length)
    if not rows_:
        return m.reshape(x, shape=tuple(shape_))
    at_places = [place for place, _ in places]
    if places and (any(shape_[n] == 0 for n in at_places) or places[0][1] is None):
        left = tuple(d for n, d in enumerate(shape_) if n not in at_places)
        return m.filled(0, spec_of_value(x).dtype, left)  # of an axis of nothing no run has one
    starts, stops, steps = zip(*rows_, strict=True)
    cut = m.slice(x, starts=starts, stops=stops, steps=steps)
    made = m.reshape(cut, shape=tuple(shape_))
    for at, value in reversed(places):
        made = m.gather(made, value, axis=at)
    return made


def _range(key: slice, extent: Dim) -> tuple[tuple[Dim, Dim, int], Dim]:
    step = key.step or 1
    if isinstance(extent, int):
        start, stop, step = key.indices(extent)
        length = len(range(start, stop, step))
        if step < 0 and stop < 0:
            stop = -1 - extent
        if not length:
            start, stop, step = 0, 0, 1
        return (start, stop, step), length
    low, high, way = bounds(_end(key.start, extent, step), _end(key.stop, extent, -step), step,
                             extent, Knowledge())  # fmt: skip
    end = -1 if way < 0 and key.stop is None else high
    room = end - low + way - 1 if way > 0 else low - end - way - 1
    return (low, high, way), floor_divide(room, abs(way))


def _end(value: int | None, extent: Dim, way: int) -> Dim:
    """Return a bound of a slice; None is the end that is behind one who goes this way."""
    if value is None:
        return -FAR if way > 0 else FAR
    return extent - minimum(-value, extent) if value < 0 else value


OPERATORS["getitem"] = getitem

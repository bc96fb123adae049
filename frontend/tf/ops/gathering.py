"""Taking slices by indices, putting them at indices, and adding them up by TensorFlow's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from ....codegen import single
from ....ir.compose import functions as c
from ....ir.compose.maker import Emit, Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.ops.scatter import ScatterNd
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, parse
from ....ir.types.dtypes import DType, of_numpy
from ....ir.types.tensor import TensorSpec
from ...eager.kernels import Kernel, by_need, is_narrow, recast
from ...eager.remembered import notes_of, remember_all, remembered
from ...eager.tensor import Tensor, apply
from ...graph.frame import NotStageableError
from ...values.arrays import as_listed
from ...values.distinct import parted
from ...values.dtypes import finfo
from ...values.run_errors import InvalidArgumentError
from ...values.sums import TYPES, ends_of, extremes_of, fault_of_order, sums_of
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import op, perform, perform_all, rule
from ..core.extents import read_extent, read_extents
from ..core.required import refuse, require_below, require_rows, require_within
from ..core.values import (
    InGraph,
    at_once,
    axis_in,
    convert,
    elements,
    graph_of,
    may_agree,
    same,
    static,
    whole,
)


@rule("RowsWithin", differentiable=False)
def _rows_within(m: Maker, indices: object, updates: object, extents: Sequence[Dim]) -> object:
    """Return rows of indices, which must be inside of the first axes and fit the updates."""
    check_updates(indices, updates, extents)
    require_rows(m, indices, extents)
    return m.reshape(indices, shape=spec_of_value(indices).dims)


@remembered
def rows_within(indices: TfTensor, updates: TfTensor, extents: Sequence[int | None]) -> TfTensor:
    """Return rows of indices, which must be inside of axes of these sizes and fit the updates."""
    with InGraph(graph_of([indices, updates])):
        return perform("RowsWithin", [indices, updates], extents=extents)


@op("GatherV2", "params", "indices", strict=False, refuses=True)
def _gather(m: Maker, params: object, indices: object, axis: int, batch_dims: int) -> object:
    """Take slices along an axis."""
    rank, batch = spec_of_value(params).rank, batch_dims
    if not -rank <= axis < rank:
        least = axis + 1 if axis >= 0 else -axis
        raise TypeError(f"Shape must be at least rank {least} but is rank {rank}: axis {axis}")
    if not spec_of_value(indices).dtype.is_integer:
        raise TypeError(
            f"Value for attr 'Tindices' of {spec_of_value(indices).dtype.numpy.name} is not in "
            "the list of allowed values: int16, int32, int64"
        )
    at = axis_in(axis, rank)
    require_within(m, indices, spec_of_value(params).dims[at])
    if spec_of_value(params).dims[at] == 0 and not may_be_none(indices):
        dims, more = spec_of_value(params).dims, spec_of_value(indices).dims[batch:]
        return m.filled(0, spec_of_value(params).dtype, (*dims[:at], *more, *dims[at + 1 :]))
    if not batch:
        if axis < at == 0:  # counted from the end, rows have a dense gradient in TensorFlow
            params = m.reshape(params, shape=spec_of_value(params).dims)
        return m.gather(params, indices, axis=at)
    between = tuple(range(batch, at))
    rest = tuple(range(at + 1, rank))
    front = m.transpose(params, order=(*range(batch), at, *between, *rest))
    inner = spec_of_value(indices).rank
    column = c.unsqueeze(m.emit, m.to(indices, rows.i64), (inner,))
    taken = m.gather_nd(front, column, batch_dims=batch)
    new = tuple(range(batch, inner))
    order = (
        *range(batch),
        *(inner + i for i in range(len(between))),
        *new,
        *(inner + len(between) + i for i in range(len(rest))),
    )
    return m.transpose(taken, order=order)


def may_be_none(indices: object) -> bool:
    """Say whether there may be no indices."""
    size = spec_of_value(indices).size
    return not isinstance(size, int) or size == 0


def gather(
    params: object,
    indices: object,
    validate_indices: object = None,
    axis: object = None,
    batch_dims: int | None = 0,
    name: str | None = None,
) -> TfTensor:
    """Take slices along an axis."""
    del validate_indices
    batch = int(static(batch_dims) or 0)
    if batch < 0:
        with InGraph(graph_of([indices])):
            indices = convert(indices)
        if indices.shape.rank is None:
            raise ValueError(
                "Currently, it is unsupported to take the gradient of tf.gather, or to gather, "
                f"by batch_dims={batch} where the rank of indices is unknown"
            )
        batch += indices.ndim
    at = batch if axis is None else whole(axis)
    return _gather(params, indices, axis=at, batch_dims=batch, name=name)


@op("GatherNd", "params", "indices", strict=False, refuses=True, shapes=shapes_of.slices_at)
def gather_nd(
    m: Maker,
    params: object,
    indices: object,
    batch_dims: int = 0,
    *,
    bad_indices_policy: str = "",
) -> object:
    """Take the slices that rows of indices name.

    `bad_indices_policy` is `IGNORE` for zeros where a row is outside; otherwise that is an error.
    """
    batch_dims = int(static(batch_dims))
    dims = spec_of_value(params).dims[batch_dims:]
    places = m.to(indices, rows.i64)
    if not ignores(bad_indices_policy):
        spec = spec_of_value(indices)
        width = spec.dims[-1] if isinstance(spec.size, int) and spec.size else 0
        if isinstance(width, int) and 0 in dims[:width]:
            refuse(m, IndexError("Requested more than 0 entries, but params is empty."), params)
            shape = (*spec.dims[:-1], *dims[width:])
            return m.filled(0, spec_of_value(params).dtype, shape)
        require_rows(m, indices, dims, "param shape")
        return m.gather_nd(params, places, batch_dims=batch_dims)
    inside, places = _inside(m, places, dims)
    found = m.gather_nd(params, places, batch_dims=batch_dims)
    spec = spec_of_value(found)
    return m.select(_spread(m, inside, spec.dims), found, m.filled(0, spec.dtype, spec.dims))


POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def ignores(policy: str) -> bool:
    """Say whether indices that are outside are ignored, or raise `TypeError`."""
    if policy not in POLICIES:
        raise TypeError(f"bad_indices_policy is {policy!r}, expected one of {list(POLICIES)}")
    return policy == "IGNORE"


def _inside(m: Maker, places: object, dims: Sequence[Dim]) -> tuple[object, object]:
    """Return which rows of indices are inside of axes, and the rows with zeros for the others."""
    spec = spec_of_value(places)
    width = spec.dims[-1]
    if not isinstance(width, int):  # other sizes are tried where only runs tell it
        raise TypeError(f"rows of indices have an open length {width}, expected a number")
    zero, ends = m.number(0, rows.i64), m.extent(values=tuple(dims[:width]))
    fits = m.logical_and(m.greater_equal(places, zero), m.less(places, ends))
    inside = m.all(fits, axes=(spec.rank - 1,), keepdims=True)
    wide = m.broadcast_to(inside, shape=spec.dims)
    kept = m.select(wide, places, m.filled(0, rows.i64, spec.dims))
    return m.reshape(inside, shape=spec.dims[:-1]), kept


def _spread(m: Maker, inside: object, dims: Sequence[Dim]) -> object:
    """Return what is said of rows for all elements of the slices that they name."""
    have = spec_of_value(inside).dims
    column = m.reshape(inside, shape=(*have, *[1] * (len(dims) - len(have))))
    return m.broadcast_to(column, shape=tuple(dims))


def check_updates(indices: object, updates: object, dims: Sequence[Dim | None]) -> None:
    """Raise where updates are not one slice of a shape for each row of indices."""
    places, given = spec_of_value(indices), spec_of_value(updates)
    if places.shape is None or given.shape is None or not places.dims:
        return
    if not dims:
        raise TypeError("Output must be at least 1-D, got shape []")
    if 0 in dims and all(isinstance(n, int) and n for n in (places.size, given.size)):
        raise TypeError(f"Indices and updates specified for empty output of shape {list(dims)}")
    outer, width = len(places.dims) - 1, places.dims[-1]
    if not may_agree(places.dims[:-1], given.dims[:outer]):
        raise TypeError(
            f"Dimensions [0,{outer}) of indices[shape={as_listed(places.dims)}] must match "
            f"dimensions [0,{outer}) of updates[shape={as_listed(given.dims)}]"
        )
    if isinstance(width, int) and not may_agree(dims[width:], given.dims[outer:]):
        raise TypeError(
            f"Dimensions [{width},{len(dims)}) of input[shape={as_listed(dims)}] must match "
            f"dimensions [{outer},{len(given.dims)}) of updates[shape={as_listed(given.dims)}]"
        )


@op(
    "ScatterNd",
    *("indices", "updates", "shape"),
    strict=False,
    refuses=True,
    shapes=shapes_of.filled(2, 1),
)
def scatter_nd(
    m: Maker,
    indices: object,
    updates: object,
    shape: object,
    bad_indices_policy: str = "",
) -> object:
    """Add slices into zeros; with `bad_indices_policy="IGNORE"`, not those that are outside."""
    dims, row = read_extents(m, shape), spec_of_value(updates).dtype
    check_updates(indices, updates, dims)
    if ignores(bad_indices_policy):
        inside, indices = _inside(m, m.to(indices, rows.i64), dims)
        wide = spec_of_value(updates).dims
        updates = m.select(_spread(m, inside, wide), updates, m.filled(0, row, wide))
    require_rows(m, indices, dims)
    if row.kind == "s":
        return at_once(partial(_joined_at, dims), indices, updates)
    zeros = m.filled(0, row, dims)
    reduction = "max" if row.kind == "b" else "add"
    if row.kind == "b":
        zeros, updates = m.to(zeros, rows.u8), m.to(updates, rows.u8)
    made = m.scatter_nd(zeros, m.to(indices, rows.i64), updates, reduction=reduction)
    return m.to(made, row)


def _joined_at(dims: Sequence[Dim], indices: Array, texts: Array) -> Array:
    """Return texts at rows of indices, those at one place behind each other."""
    made: Array = np.full([n for n in dims if isinstance(n, int)], b"", object)
    rest = texts.shape[indices.ndim - 1 :]
    for place in np.ndindex(indices.shape[:-1]):
        at = tuple(indices[place])
        made[at] = made[at] + (texts[place] if rest else texts.item(place))
    return made


def _scatter(type_: str, reduction: str) -> Callable[..., TfTensor]:
    @rule(type_, refuses=True, shapes=shapes_of.like())
    def changed(
        m: Maker, tensor: object, indices: object, updates: object, policy: str = ""
    ) -> object:
        dims, kind = spec_of_value(tensor).dims, "add" if reduction == "sub" else reduction
        check_updates(indices, updates, dims)
        if ignores(policy):
            inside, indices = _inside(m, m.to(indices, rows.i64), dims)
            spec = spec_of_value(updates)
            none = m.filled(_least(kind, spec.dtype), spec.dtype, spec.dims)
            updates = m.select(_spread(m, inside, spec.dims), updates, none)
        require_rows(m, indices, dims)
        given = m.neg(updates) if reduction == "sub" else updates
        return m.scatter_nd(tensor, m.to(indices, rows.i64), given, reduction=kind)

    def function(
        tensor: object,
        indices: object,
        updates: object,
        bad_indices_policy: str = "",
        name: str | None = None,
    ) -> TfTensor:
        """Return the tensor with slices changed.

        With `bad_indices_policy="IGNORE"`, not those that are outside; otherwise that is an error.
        """
        more = {"policy": bad_indices_policy} if bad_indices_policy else {}
        with InGraph(graph_of([tensor, indices, updates])):
            x, u = same(tensor, updates)
            return perform(type_, [x, convert(indices), u], name=name, **more)

    return remembered(function)


_put = _scatter("TensorScatterUpdate", "none")


def tensor_scatter_nd_update(
    tensor: object, indices: object, updates: object, name: str | None = None
) -> TfTensor:
    """Return the tensor with other slices at indices."""
    return _put(tensor, indices, updates, name=name)


tensor_scatter_nd_add = _scatter("TensorScatterAdd", "add")
tensor_scatter_nd_sub = _scatter("TensorScatterSub", "sub")
tensor_scatter_nd_mul = _scatter("TensorScatterMul", "mul")
tensor_scatter_nd_max = _scatter("TensorScatterMax", "max")
tensor_scatter_nd_min = _scatter("TensorScatterMin", "min")


@rule("CheckedScatter", shapes=shapes_of.like())
def _put_in(m: Maker, tensor: object, indices: object, updates: object) -> object:
    return m.scatter_nd(tensor, indices, updates, reduction="none")


def put_in(
    tensor: TfTensor, indices: TfTensor, updates: TfTensor, name: str | None = None
) -> TfTensor:
    """Return the tensor with slices changed, at indices that somebody has looked at already."""
    with InGraph(graph_of([tensor, indices, updates])):
        return perform("CheckedScatter", [tensor, indices, updates], name=name)


def tensor_scatter_nd_div(tensor: object, indices: object, updates: object) -> object:
    """Return a tensor of which slices at indices are divided."""
    return tensor_scatter_nd_mul(tensor, indices, 1.0 / convert(updates))


@rule("DynamicPartition", gives_list=True, shapes=shapes_of.partitioned)
def _partition(m: Maker, x: object, p: object, count: int) -> object:
    if notes_of([v for v in (x, p) if isinstance(v, Tensor)]) is not None:
        return at_once(partial(_parts, count=count), x, p, is_open=True)
    ids, dims = elements(p), spec_of_value(x).dims
    wrong = np.flatnonzero((ids < 0) | (ids >= count))
    if len(wrong):
        found = ids.ravel()[wrong[0]]
        raise TypeError(f"partitions[{wrong[0]}] = {found} is not in [0, {count})")
    flat = m.reshape(x, shape=(ids.size, *dims[ids.ndim :]))
    places = [np.flatnonzero(ids.ravel() == i) for i in range(count)]
    return tuple(m.gather(flat, m.constant(value=at), axis=0) for at in places)


def _parts(x: Array, ids: Array, count: int) -> tuple[Array, ...]:
    """Return the rows of each number."""
    made = parted(x.reshape(ids.size, *x.shape[ids.ndim :]), ids.ravel(), count)
    if made is None:
        raise TypeError("a number is out of range")  # which one, is said where nothing is noted
    return tuple(made)


def dynamic_partition(
    data: object, partitions: object, num_partitions: int, name: str | None = None
) -> list[TfTensor]:
    """Part rows by numbers."""
    with InGraph(graph_of([data, partitions])):
        values = [convert(data), convert(partitions)]
        return perform_all("DynamicPartition", values, name=name, count=int(num_partitions))


@rule("DynamicStitch", shapes=shapes_of.stitched)
def _stitch(m: Maker, *xs: object) -> object:
    count = len(xs) // 2
    ids = [elements(i) for i in xs[:count]]
    flat = np.concatenate([i.ravel() for i in ids])
    if flat.min(initial=0) < 0:
        raise IndexError(f"indices hold {flat.min()}, which is out of range")
    rest = spec_of_value(xs[count]).dims[ids[0].ndim :]
    parts = [m.reshape(x, shape=(i.size, *rest)) for i, x in zip(ids, xs[count:], strict=True)]
    order = np.full(int(flat.max(initial=-1)) + 1, len(flat), np.int64)
    order[flat] = np.arange(len(flat))  # of equal ones the last is kept
    if len(flat) in order:  # rows that nobody gives are zero
        parts.append(m.filled(0, spec_of_value(xs[count]).dtype, (1, *rest)))
    joined = parts[0] if len(parts) == 1 else m.concat(*parts, axis=0)
    return m.gather(joined, m.constant(value=order), axis=0)


def dynamic_stitch(
    indices: Sequence[object], data: Sequence[object], name: str | None = None
) -> TfTensor:
    """Put rows where indices say; later ones win."""
    with InGraph(graph_of([*indices, *data])):
        return perform("DynamicStitch", [*map(convert, indices), *same(*data)], name=name)


def _column(m: Maker, ids: object, count: Dim) -> object:
    """Return indices for segments; what has a negative one goes behind the last."""
    at = m.to(ids, rows.i64)
    at = m.select(m.less(at, m.number(0, rows.i64)), m.extent_of(count), at)
    return c.unsqueeze(m.emit, at, (spec_of_value(ids).rank,))


def _neutral(how: str, row: DType) -> float:
    """Return what changes nothing when it is combined."""
    if how in ("add", "mul"):
        return int(how == "mul")
    if row.is_integer:
        return int(row.minimum if how == "max" else row.maximum)
    return float(finfo(row.numpy).min if how == "max" else finfo(row.numpy).max)


def _least(how: str, row: DType) -> float:
    """Return what changes nothing of segments in order: the largest of -inf is -inf there."""
    if how in ("max", "min") and not row.is_integer:
        return -math.inf if how == "max" else math.inf
    return _neutral(how, row)


def _segments(m: Maker, data: object, ids: object, count: Dim, how: str) -> object:
    """Combine rows by their segment; segments without rows get the neutral element."""
    spec = spec_of_value(data)
    dims = (count + 1, *spec.dims[spec_of_value(ids).rank :])
    row = spec.dtype
    start = m.filled(_neutral(how, row), spec.dtype, dims)
    total = m.scatter_nd(start, _column(m, ids, count), data, reduction=how)
    return c.cut(m.emit, total, 0, 0, count)


def _counts(m: Maker, data: object, ids: object, count: Dim) -> object:
    """Return how many rows each segment has, at least 1, to be divided by."""
    spec, rank = spec_of_value(data), spec_of_value(ids).rank
    one = m.filled(1, spec.dtype, spec_of_value(ids).dims)
    found = m.maximum(_segments(m, one, ids, count, "add"), m.number(1, spec.dtype))
    return m.reshape(found, shape=(count, *(1 for _ in spec.dims[rank:])))


def _in_order(m: Maker, data: object, ids: object, sizes: object, how: str) -> object:
    """Combine rows by their segment, none of which is negative; one of none is zero, or product 1.

    `sizes` are how many rows each has.
    """
    (count, *_), spec = spec_of_value(sizes).dims, spec_of_value(data)
    row, none, rank = spec.dtype, m.number(0, spec_of_value(sizes).dtype), spec_of_value(ids).rank
    combined, dims = "add" if how == "mean" else how, (count, *spec.dims[rank:])
    if how in ("max", "min"):
        start = m.select(m.greater(sizes, none), m.number(_least(how, row), row), m.number(0, row))
        start = m.broadcast_to(start, shape=dims)
    else:
        start = m.filled(_neutral(combined, row), row, dims)
    at = c.unsqueeze(m.emit, m.to(ids, rows.i64), (rank,))
    total = m.scatter_nd(start, at, data, reduction=combined)
    if how != "mean":
        return total
    least = m.maximum(sizes, m.number(1, spec_of_value(sizes).dtype))
    return m.div(total, m.to(least, row))


MOST_ELEMENTS = 1 << 63
LONG = 1 << 12
"""Of more numbers it pays to look first where each segment ends: a sum then stays in a register."""


def _fault_of_size(rest: Sequence[Dim], count: int) -> str:
    """Say that so many rows are more elements than there can be numbers for."""
    size = math.prod([n for n in rest if isinstance(n, int)])
    if count * size < MOST_ELEMENTS:
        return ""
    return f"Encountered overflow when multiplying {count} with {size}"


def _check_order(data: Sequence[Dim], ids: Array) -> None:
    """Raise for segments of rows that are none."""
    if isinstance(data[0], int) and data[0] != len(ids):
        raise InvalidArgumentError("segment_ids should be the same size as dimension 0 of input.")
    fault = fault_of_order(ids) or _fault_of_size(data[1:], int(ids[-1]) + 1 if ids.size else 0)
    if fault:
        raise InvalidArgumentError(fault)


def _rows_in_order(data: Array, ids: Array, how: str) -> Array:
    """Combine rows by their segment, as `_in_order` does."""
    _check_order(data.shape, ids)
    if is_narrow(data) and data.size and ids.ndim == 1 and ids[0] >= 0:
        return _halves_in_order(data, ids, how)
    if not data.size or ids.ndim != 1 or ids[0] < 0 or not _has_kernel(data.dtype, how):
        sizes = np.bincount(ids[ids >= 0])
        shape_ = (len(sizes), *[1] * (data.ndim - ids.ndim))
        counted = Tensor(sizes.reshape(shape_))
        return np.asarray(_in_order_at_once(Tensor(data), Tensor(ids), counted, how))
    table = data if data.ndim == 2 else data.reshape(len(ids), -1)
    count = int(ids[-1]) + 1
    if data.size == len(ids) > LONG and data.dtype in TYPES:
        ends = ends_of(ids, count)
        is_sum = how in ("add", "mean")
        total = sums_of(table, ends) if is_sum else extremes_of(table, ends, how)
        if how == "mean":
            total /= np.maximum(np.diff(ends, prepend=0), 1).astype(data.dtype)
        return total.reshape(-1, *data.shape[1:])
    combine = _combining_of(data.dtype, table.shape, ids.dtype, count, how)
    made: Array = combine(table, ids, np.empty(count, np.bool_))
    return made if data.ndim == 2 else made.reshape(-1, *data.shape[1:])


def _halves_in_order(data: Array, ids: Array, how: str) -> Array:
    """Combine rows of floats of 16 bits: as those of 32, and rounded once; so are quotients."""
    row = of_numpy(data.dtype)
    wide = _rows_in_order(recast(data, rows.f32), ids, "add" if how == "mean" else how)
    total = recast(wide, row)
    if how != "mean":
        return total
    counts = recast(np.maximum(np.bincount(ids), 1).astype(np.float32), row)
    least = recast(counts, rows.f32).reshape(-1, *[1] * (data.ndim - 1))
    return recast(recast(total, rows.f32) / least, row)


rows_in_order = _rows_in_order  # (of arrays: nothing of it can be remembered)
check_order = _check_order
fault_of_size = _fault_of_size


def _has_kernel(dtype: np.dtype[np.generic], how: str) -> bool:
    """Say whether compiled code combines elements of a type."""
    return (dtype.kind == "f" and dtype.itemsize > 2) or (dtype.kind in "iu" and how != "mean")


Type = np.dtype[np.generic]


@lru_cache(maxsize=512)
def _combining_of(
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    kind: np.dtype[np.generic],
    count: int,
    how: str,
) -> Kernel:
    """Return what combines the rows of a matrix of a shape by their segment."""
    most = [single.bound(size) if size != 1 else 1 for size in (*shape, count)]
    return _combining(of_numpy(dtype), of_numpy(kind), how, tuple(most))


@lru_cache(maxsize=512)
def _combining(row: DType, kind: DType, how: str, most: tuple[int, ...]) -> Kernel:
    """Return what combines the rows of a matrix by their segment, up to some sizes.

    Its operands are the matrix, the segments in order, and an array with an element for each.
    """
    n, count = map(parse, "NC")
    k = parse("K") if most[1] > 1 else 1
    specs = [TensorSpec(row, (n, k)), TensorSpec(kind, (n,)), TensorSpec(rows.bool_, (count,))]

    def build(emit: Emit, data: object, ids: object, _: object) -> object:
        m = Maker(emit)
        at = m.reshape(ids, shape=(n, 1))
        combined = "add" if how == "mean" else how
        start = m.filled(_least(combined, row), row, (count, k))
        if how in ("sum", "add", "mul"):
            return m.scatter_nd(start, at, data, reduction=combined)
        zeros, ones = m.filled(0, rows.i32, (count,)), m.filled(1, rows.i32, (n,))
        sizes = m.reshape(m.scatter_nd(zeros, at, ones, reduction="add"), shape=(count, 1))
        if how == "mean":
            least = m.to(m.maximum(sizes, m.number(1, rows.i32)), row)
            return m.div(m.scatter_nd(start, at, data, reduction="add"), least)
        there = m.greater(sizes, m.number(0, rows.i32))
        start = m.select(there, start, m.number(0, row))
        return m.scatter_nd(start, at, data, reduction=combined)

    ranges = {name: (1, size) for name, size in zip("NKC", most, strict=True)}
    return by_need(partial(_by_steps, how), lambda: single.of_sizes(build, specs, ranges))


def _by_steps(how: str, data: Array, ids: Array, places: Array) -> Array:
    """Combine the rows of a matrix by their segment, in order."""
    reduction = "add" if how == "mean" else how
    dims = (len(places), data.shape[1])
    total = np.full(dims, _least(reduction, of_numpy(data.dtype)), data.dtype)
    if how in ("mean", "max", "min"):
        sizes = np.bincount(ids)
    if how in ("max", "min") and not sizes.all():
        total[sizes == 0] = 0
    (total,) = ScatterNd.evaluate(total, ids[:, None], data, reduction=reduction)
    if how == "mean":
        counts = np.maximum(sizes, 1).astype(data.dtype).reshape(-1, 1)
        total = np.divide(total, counts, out=total)
    return total


@remembered
def _in_order_at_once(data: Tensor, ids: Tensor, sizes: Tensor, how: str) -> object:
    return _in_order(Maker(apply), data, ids, sizes, how)


def _computed_in_order(m: Maker, data: object, ids: object, how: str) -> object:
    """Combine rows by their segment, of which the run reads how many there are."""
    spec, numbers = spec_of_value(data), spec_of_value(ids)
    wide, (rows_given,) = m.to(ids, rows.i64), numbers.dims
    ends = [m.constant(value=np.array([end], np.int64)) for end in (-1, np.iinfo(np.int64).max)]
    before, after = m.concat(ends[0], wide, axis=0), m.concat(wide, ends[1], axis=0)
    for holds, message in (
        (m.greater_equal(wide, m.number(0, rows.i64)), "segment ids must be >= 0"),
        (m.less_equal(before, after), "segment ids are not increasing"),
    ):
        m.require(m.all(holds, axes=(0,), keepdims=False), message=message)
    last = m.max(before, axes=(0,), keepdims=False)
    count = read_extent(m, m.add(last, m.number(1, rows.i64)))
    ones = m.filled(1, rows.i64, (rows_given,))
    sizes = _segments(m, ones, ids, count, "add")
    counted = m.reshape(sizes, shape=(count, *[1] * (spec.rank - 1)))
    return _in_order(m, data, m.maximum(wide, m.number(0, rows.i64)), counted, how)


def _segment(type_: str, how: str) -> Callable[..., TfTensor]:
    @op(type_, "data", "segment_ids", strict=False, shapes=shapes_of.segments)
    def function(m: Maker, data: object, segment_ids: object) -> object:
        """Combine rows by their segment; the segments are in order."""
        spec, numbers = spec_of_value(data), spec_of_value(segment_ids)
        if not spec.rank:
            raise TypeError("Shape must be at least rank 1 but is rank 0")
        if numbers.rank != 1:
            raise TypeError(f"Shape must be rank 1 but is rank {numbers.rank}")
        tensors = [x for x in (data, segment_ids) if isinstance(x, Tensor)]
        is_known = all(isinstance(x, np.ndarray) for x in (data, segment_ids))
        if is_known or notes_of(tensors) is not None:
            return at_once(partial(_rows_in_order, how=how), data, segment_ids, is_open=True)
        try:
            found = elements(segment_ids)
        except NotStageableError:
            return _computed_in_order(m, data, segment_ids, how)
        try:
            _check_order(spec.dims, found)
        except InvalidArgumentError as error:
            refuse(m, error, data, segment_ids)
            return m.filled(0, spec.dtype, (0, *spec.dims[1:]))  # (the run ends before)
        count = int(found.max(initial=-1)) + 1
        sizes = np.bincount(found[found >= 0], minlength=count)
        shape_ = (count, *[1] * (spec.rank - found.ndim))
        if isinstance(data, Tensor) and isinstance(segment_ids, Tensor):
            return _in_order_at_once(data, segment_ids, Tensor(sizes.reshape(shape_)), how)
        return _in_order(m, data, segment_ids, m.constant(value=sizes.reshape(shape_)), how)

    return function


segment_sum, segment_prod = _segment("SegmentSum", "add"), _segment("SegmentProd", "mul")
segment_max, segment_min = _segment("SegmentMax", "max"), _segment("SegmentMin", "min")
segment_mean = _segment("SegmentMean", "mean")


SHORT = 2
"""The bytes of whole numbers whose quotients have 32 bits; those of others have 64."""


def _unsorted(type_: str, how: str) -> Callable[..., TfTensor]:
    @op(type_, "data", "segment_ids", strict=False, refuses=True)
    def counted(m: Maker, data: object, segment_ids: object, num_segments: int) -> object:
        """Combine rows by their segment; what has a negative one is left out."""
        return _out_of_order(m, data, segment_ids, num_segments, how)

    @op(f"{type_}Computed", "data", "segment_ids", "num_segments", strict=False, refuses=True)
    def computed(m: Maker, data: object, segment_ids: object, num_segments: object) -> object:
        """Combine rows by their segment, of which there are as many as a run computes."""
        return _out_of_order(m, data, segment_ids, read_extent(m, num_segments), how)

    @remembered
    def function(
        data: object, segment_ids: object, num_segments: object, name: str | None = None
    ) -> TfTensor:
        """Combine rows by their segment; what has a negative one is left out."""
        known = static(num_segments)
        if isinstance(known, TfTensor):
            return computed(data, segment_ids, known, name=name)
        return counted(data, segment_ids, int(known), name=name)

    return function


def _out_of_order(m: Maker, data: object, ids: object, count: Dim, how: str) -> object:
    """Combine rows by their segment, which may come in any order."""
    require_below(m, ids, count)
    if how in ("mean", "sqrt_n"):
        total = _segments(m, data, ids, count, "add")
        counts = _counts(m, data, ids, count)
        if (row := spec_of_value(data).dtype).is_integer:  # (a quotient of whole numbers is none)
            wide = rows.f32 if row.size <= SHORT else rows.f64
            total, counts = m.to(total, wide), m.to(counts, wide)
        return m.div(total, counts if how == "mean" else m.sqrt(counts))
    return _segments(m, data, ids, count, how)


unsorted_segment_sum = _unsorted("UnsortedSegmentSum", "add")
unsorted_segment_max = _unsorted("UnsortedSegmentMax", "max")
unsorted_segment_min = _unsorted("UnsortedSegmentMin", "min")
unsorted_segment_prod = _unsorted("UnsortedSegmentProd", "mul")
unsorted_segment_mean = _unsorted("UnsortedSegmentMean", "mean")
unsorted_segment_sqrt_n = _unsorted("UnsortedSegmentSqrtN", "sqrt_n")


remember_all(globals())

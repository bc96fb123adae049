"""Sparse tensors whose elements stand elsewhere: in order, cut, joined, turned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, wrap
from ..core.host_ops import host, unknown
from ..core.shapes import ShapeLike, TensorShape
from ..core.sizes import sizes_told
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..graph.flow import stop_gradient
from ..ops.array_ops import concat as joined
from .row_loops import order_of, reshaped, rows_filled, rows_inside, tight
from .sparse_at_once import are_here, taken_here
from .sparse_dense import listed, refuse_outside, taken
from .sparse_tensor import SparseTensor, sparse_of

LONG = np.dtype(np.int64)
Moved = tuple[Array, Array | None, Array]
"""The indices of what is left, where it stood among the elements, and the new shape.

None instead of the places: all elements are left, in their order.
"""


def moved(
    type_: str,
    sp: SparseTensor,
    function: Callable[..., Moved],
    more: Sequence[TfTensor] = (),
    *,
    rank: int | None,
    shape: ShapeLike = None,
    keeps: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Return the elements of a sparse tensor at other places.

    `function` is given the indices, the shape and further arrays; `rank` and `shape` are what is
    known of the result, which has as many elements if it `keeps` them.
    """
    given = [sp.indices, sp.dense_shape, *more]
    if are_here([sp.values, *given]):
        there, place, sizes = function(*[x._array for x in given])
        indices = sp.indices if there is sp.indices._array else wrap(there)
        return SparseTensor.of_parts(indices, taken_here(sp.values, place), wrap(sizes))
    with InGraph(graph_of([*sp.components(), *more])):
        count = _count_of(sp) if keeps else None
        told = unknown(rows.i64, rank)
        moves = _carried_out(type_, function, given, (count, rank), told, name)
        values = taken(sp.values, moves[1])
        made: SparseTensor = SparseTensor.stated(moves[0], values, moves[2], shape)
        return made


def _carried_out(
    type_: str,
    function: Callable[..., Moved],
    given: Sequence[TfTensor],
    known: tuple[int | None, int | None],
    more: TensorSpec,
    name: str | None,
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return what a function of arrays makes in a graph; its count and rank may be `known`.

    Indices and places are columns of one tensor: so a program knows that there are as many.
    """

    def compute(*arrays: Array) -> Sequence[Array]:
        there, place, last = function(*arrays)
        places = np.arange(len(there)) if place is None else place
        return np.concatenate([there, places[:, None]], axis=1), last

    count, rank = known
    both = unknown(rows.i64, count, None if rank is None else rank + 1)
    made, last = host(type_, compute, given, [both, more], name=name)
    return made[:, :-1], made[:, -1], last


def _count_of(sp: SparseTensor) -> int | None:
    """Return how many elements there are, if that is known."""
    rows_: int | None = sp.indices.shape.with_rank(2).as_list()[0]
    return sp.values.shape.num_elements() if rows_ is None else rows_


def reorder(sp_input: object, name: str | None = None) -> SparseTensor:
    """Return the elements in the order of their indices."""
    sp = sparse_of(sp_input)

    def compute(indices: Array, sizes: Array) -> Moved:
        order = order_of(indices)
        return indices if order is None else indices.take(order, axis=0), order, sizes

    known = sp.shape
    return moved("SparseReorder", sp, compute, rank=known.rank, shape=known, keeps=True, name=name)


def reshape(sp_input: object, shape: object, name: str | None = None) -> SparseTensor:
    """Return the elements in a tensor of as many elements and another shape."""
    sp = sparse_of(sp_input)
    with InGraph(graph_of([*sp.components(), shape])):
        wanted = convert(shape, None if hasattr(shape, "spec") else "int64")
    here = are_here([*sp.components(), wanted])
    stated = TensorShape(None) if here else _stated(wanted, sp.shape)

    def compute(indices: Array, sizes: Array, new: Array) -> Moved:
        target = _whole(new.astype(np.int64), sizes)
        quick = reshaped(indices, sizes.tolist(), target.tolist())
        if quick is not None:
            return quick, None, target
        if len(indices) and not (sizes.all() and target.all()):
            raise InvalidArgumentError(
                f"Input tensor has {len(indices)} non zero elements but input shape "
                f"({listed(sizes)}) or output shape ({listed(target)}) is empty"
            )
        return _renumbered(indices, sizes, target), None, target

    rank = stated.rank if stated.rank is not None else wanted.shape.num_elements()
    more = [wanted]
    return moved("SparseReshape", sp, compute, more, rank=rank, shape=stated, keeps=True, name=name)


def _renumbered(indices: Array, sizes: Array, target: Array) -> Array:
    """Return indices in another shape: by their numbers, also of those that are in no shape.

    What is below 0 is divided towards 0, as processors do.
    """
    flat = (indices * _strides(sizes)).sum(axis=1, dtype=np.int64)
    there = np.empty((len(indices), len(target)), np.int64)
    for axis, stride in enumerate(_strides(target).tolist()):
        there[:, axis] = np.sign(flat) * (np.abs(flat) // stride)
        flat = flat - there[:, axis] * stride
    return there


def _strides(sizes: Array) -> Array:
    """Return how many elements are behind each other along each axis."""
    return np.cumprod([1, *sizes[:0:-1].tolist()], dtype=np.int64)[::-1][: len(sizes)]


def _stated(wanted: TfTensor, shape: TensorShape) -> TensorShape:
    """Return what is known of a new shape, or raise if the elements of a shape do not fit it."""
    known = static(wanted)
    is_told = isinstance(known, list)
    dims = [None if n < 0 else n for n in known] if is_told else sizes_told(wanted)
    if dims is None or not shape.is_fully_defined():
        return TensorShape(dims)
    if is_told and known.count(-1) > 1:
        raise InvalidShapesError(f"At most one dimension can be inferred (-1). Found: {known}")
    total, count = math.prod(shape.known()), dims.count(None)
    if count > 1 or (count and 0 in dims):
        return TensorShape(dims)
    rest = math.prod(n for n in dims if n is not None)
    made = [total // rest if n is None else n for n in dims]
    if math.prod(made) != total:
        raise InvalidShapesError(
            f"Cannot reshape a tensor with {total} elements to shape {dims} ({math.prod(made)} "
            "elements)."
        )
    return TensorShape(made)


def _whole(wanted: Array, sizes: Array) -> Array:
    """Return a shape with the size that is left open, or raise if the sizes do not fit."""
    total = int(np.prod(sizes, dtype=np.int64))
    if (wanted == -1).sum() > 1:
        first, second = np.flatnonzero(wanted == -1)[:2].tolist()
        raise InvalidArgumentError(
            f"only one output dimension may be -1, not both {first} and {second}"
        )
    if (wanted < -1).any():
        raise InvalidArgumentError(f"size {wanted.min()} must be non-negative")
    made = wanted.copy()
    rest = int(np.prod(wanted[wanted != -1], dtype=np.int64))
    if (wanted == -1).any():
        if not rest:
            raise InvalidArgumentError(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero"
            )
        if total % rest:
            raise InvalidArgumentError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {rest}. input_shape={listed(sizes)} "
                f"output_shape={listed(wanted)}"
            )
        made[made == -1] = total // rest
    elif rest != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{rest}. input_shape={listed(sizes)} output_shape={listed(wanted)}"
        )
    return made


def transpose(sp_input: object, perm: object = None, name: str | None = None) -> SparseTensor:
    """Return a tensor with its axes in another order, backwards if none is given."""
    sp = sparse_of(sp_input)
    rank = sp.shape.rank
    order = None if perm is None else [int(i) for i in np.ravel(static(perm))]
    dims = sp.shape._dims
    if order is not None and dims is not None and len(order) != len(dims):
        raise InvalidArgumentError(f"perm {order} is no order of {len(dims)} axes")
    turned = None if dims is None else [dims[i] for i in order or range(len(dims) - 1, -1, -1)]

    def compute(indices: Array, sizes: Array) -> Moved:
        axes = list(range(len(sizes)))[::-1] if order is None else order
        there = np.ascontiguousarray(indices[:, axes])
        first = order_of(there)
        return there if first is None else there.take(first, axis=0), first, sizes[axes]

    return moved("SparseTranspose", sp, compute, rank=rank, shape=turned, name=name)


def slice_(sp_input: object, start: object, size: object, name: str | None = None) -> SparseTensor:
    """Return a part of a tensor, in so far as there is one."""
    sp = sparse_of(sp_input)
    with InGraph(graph_of([*sp.components(), start, size])):
        more = [convert(x, None if hasattr(x, "spec") else "int64") for x in (start, size)]
    for x in more:
        if x.shape.rank not in (1, None) or (
            None not in (sp.shape.rank, x.shape.num_elements())
            and x.shape.num_elements() != sp.shape.rank
        ):
            raise InvalidArgumentError(
                f"Expected start and size of {sp.shape.rank} elements, got shape {x.shape}"
            )

    def compute(indices: Array, sizes: Array, first: Array, count: Array) -> Moved:
        return cut(indices, sizes, first.astype(np.int64), count.astype(np.int64))

    return moved("SparseSlice", sp, compute, more, rank=sp.shape.rank, name=name)


def cut(indices: Array, sizes: Array, start: Array, count: Array) -> Moved:
    """Return what lies in a box; sizes are cut at the end of the tensor."""
    if (start < 0).any() or (count < 0).any():
        raise InvalidArgumentError("start and size must not be negative")
    left = np.where(start < sizes, np.minimum(count, sizes - start), 0)
    return *rows_inside(indices, start, left), left


def split(
    sp_input: object = None, num_split: object = None, axis: object = None, name: str | None = None
) -> list[SparseTensor]:
    """Return parts along an axis; the first ones have one more where it cannot be even."""
    for value, what in ((sp_input, "sp_input"), (num_split, "num_split"), (axis, "axis")):
        if value is None:
            raise ValueError(f"{what} is required")
    sp = sparse_of(sp_input)
    for value, what in ((num_split, "num_split"), (axis, "axis")):
        if np.ndim(static(value)):
            raise InvalidShapesError(f"{what} should be a scalar, got {static(value)}")
    parts, at = int(static(num_split)), int(static(axis))
    rank = sp.shape.rank
    if rank is not None and not -rank <= at < rank:
        raise InvalidArgumentError(f"Input axis should be in range [{-rank}, {rank}), got {at}")

    def part(number: int) -> Callable[..., Moved]:
        def compute(indices: Array, sizes: Array) -> Moved:
            refuse_outside(indices, sizes)
            extent = int(sizes[at])
            if parts > extent:
                raise InvalidArgumentError(
                    f"Input num_split should be between 1 and the splitting dimension size "
                    f"({extent}), got {parts}"
                )
            each, rest = divmod(extent, parts)
            begin = number * each + min(number, rest)
            start, count = np.zeros_like(sizes), sizes.copy()
            start[at], count[at] = begin, each + (number < rest)
            return cut(indices, sizes, start, count)

        return compute

    extent = None if sp.shape.rank is None else sp.shape.as_list()[at]
    if parts < 1 or (extent is not None and parts > extent):
        raise InvalidArgumentError(
            f"Input num_split should be between 1 and the splitting dimension size ({extent}), got "
            f"{parts}"
        )
    return [moved("SparseSplit", sp, part(i), rank=rank, name=name) for i in range(parts)]


def concat(
    axis: object,
    sp_inputs: Iterable[object],
    expand_nonconcat_dims: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Return tensors one behind the other along an axis, whose other sizes are alike.

    With `expand_nonconcat_dims` they may differ: the largest counts.
    """
    every = [sparse_of(x, "sp_inputs") for x in sp_inputs]
    if len(every) == 1:
        return every[0]
    at, ranks = int(static(axis)), [x.shape.rank for x in every if x.shape.rank]
    if len({*ranks}) > 1:
        raise InvalidShapesError(f"Ranks of all input tensors must match: {ranks}")
    rank = ranks[0] if ranks else None
    if rank is not None and not -rank <= at < rank:
        raise InvalidArgumentError(f"Concat dimension must be in range [{-rank}, {rank}), got {at}")
    row = every[0].values.spec.dtype
    if any(x.values.spec.dtype != row for x in every):
        raise InvalidArgumentError("sparse tensors of several types are joined, expected one type")

    def join(*arrays: Array) -> Moved:
        indices, sizes = arrays[::2], arrays[1::2]
        if any(len(s) != len(sizes[0]) for s in sizes):
            raise InvalidArgumentError("Ranks of all input tensors must match")
        here = at % len(sizes[0])
        whole = np.max(sizes, axis=0)
        others = [np.delete(s, here) for s in sizes]
        if not expand_nonconcat_dims and any((o != others[0]).any() for o in others):
            raise InvalidArgumentError(
                f"Input shapes must match along all dimensions except {here}: "
                f"{', '.join(map(listed, sizes))}"
            )
        whole[here] = sum(int(s[here]) for s in sizes)
        begins = np.cumsum([0, *(int(s[here]) for s in sizes[:-1])])
        shifted = [i.copy() for i in indices]
        for each, begin in zip(shifted, begins, strict=True):
            each[:, here] += begin
        places = np.concatenate(shifted)
        order = order_of(places)
        return places if order is None else places.take(order, axis=0), order, whole

    parts = [x for sp in every for x in (sp.indices, sp.dense_shape)]
    given = [stop_gradient(x.values) for x in every]  # TensorFlow's concatenation has no gradient
    if are_here([*parts, *given]):
        there, order, whole = join(*[x._array for x in parts])
        return SparseTensor.of_parts(wrap(there), taken_here(joined(given, 0), order), wrap(whole))
    with InGraph(graph_of([*parts, *given])):
        told = unknown(rows.i64, rank)
        moves = _carried_out("SparseConcat", join, parts, (None, rank), told, name)
        values = taken(joined(given, 0), moves[1])
        made: SparseTensor = SparseTensor.stated(moves[0], values, moves[2], _joined(every, at))
        return made


def _joined(every: Sequence[SparseTensor], at: int) -> TensorShape:
    """Return the shape of tensors one behind the other, as far as it is known."""
    shapes = [sp.shape for sp in every]
    if not all(shape.is_fully_defined() for shape in shapes):
        return TensorShape(next((x.rank and [None] * x.rank for x in shapes if x.rank), None))
    sizes = np.array([shape.known() for shape in shapes])
    whole = sizes.max(axis=0)
    whole[at] = sizes[:, at].sum()
    return TensorShape(whole.tolist())


def retain(sp_input: object, to_retain: object) -> SparseTensor:
    """Return the elements for which a truth value each says so."""
    sp = sparse_of(sp_input)
    with InGraph(graph_of([*sp.components(), to_retain])):
        kept = convert(to_retain, "bool")
    if kept.shape.rank not in (1, None):
        raise ValueError(f"Shape {kept.shape} must have rank 1")
    counts = kept.shape.num_elements(), sp.values.shape.num_elements()
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(f"Dimensions {counts[1]} and {counts[0]} are not compatible")

    def compute(indices: Array, sizes: Array, keep: Array) -> Moved:
        return indices[keep], np.flatnonzero(keep), sizes

    return moved("SparseRetain", sp, compute, [kept], rank=sp.shape.rank, shape=sp.shape)


def expand_dims(sp_input: object, axis: object = None, name: str | None = None) -> SparseTensor:
    """Return a tensor with a new axis of one element, the last one if none is named."""
    sp = sparse_of(sp_input)
    rank = sp.shape.rank
    at = -1 if axis is None else int(static(axis))
    if rank is not None and not -rank - 1 <= at <= rank:
        raise ValueError(f"axis {at} is not in [{-rank - 1}, {rank}]")
    dims = None
    if rank is not None:
        at = at % (rank + 1)
        dims = [*sp.shape.as_list()[:at], 1, *sp.shape.as_list()[at:]]

    def compute(indices: Array, sizes: Array) -> Moved:
        here = at % (len(sizes) + 1)
        there = np.insert(indices, here, 0, axis=1)
        return there, None, np.insert(sizes, here, 1)

    new = None if rank is None else rank + 1
    return moved("SparseExpandDims", sp, compute, rank=new, shape=dims, name=name)


def reset_shape(sp_input: object, new_shape: object = None) -> SparseTensor:
    """Return the same elements in a larger tensor, or in the smallest that holds them."""
    sp = sparse_of(sp_input)
    more: list[TfTensor] = []
    if new_shape is not None:
        with InGraph(graph_of([*sp.components(), new_shape])):
            more = [convert(new_shape, None if hasattr(new_shape, "spec") else "int64")]
        known = static(more[0])
        if isinstance(known, list) and sp.shape.is_fully_defined():
            old = sp.shape.known()
            if len(known) != len(old):
                raise ValueError(f"Dimensions {len(known)} and {len(old)} are not compatible")
            if any(a < b for a, b in zip(known, old, strict=True)):
                raise ValueError(
                    "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                    f"new_shape ({known}), sp_input.shape ({old})."
                )

    def compute(indices: Array, sizes: Array, *new: Array) -> Moved:
        if not new:
            return indices, None, tight(indices).reshape(sizes.shape)
        wanted = new[0].astype(np.int64)
        pair = f"x = {listed(sizes)}, y = {listed(wanted)}"
        if len(wanted) != len(sizes):
            raise InvalidArgumentError(
                f"Condition x == y did not hold element-wise: the ranks of {pair}"
            )
        if (wanted < sizes).any():
            raise InvalidArgumentError(f"Condition x <= y did not hold element-wise: {pair}")
        return indices, None, wanted

    stated = sizes_told(more[0]) if more else None
    rank = sp.shape.rank if stated is None else len(stated)
    return moved("SparseResetShape", sp, compute, more, rank=rank, shape=stated, keeps=True)


def fill_empty_rows(
    sp_input: object, default_value: object, name: str | None = None
) -> tuple[SparseTensor, TfTensor]:
    """Put a value into the first column of rows without elements; say which rows these are."""
    sp = sparse_of(sp_input)
    rank, count = sp.shape.rank, (sp.shape._dims or (None,))[0]
    with InGraph(graph_of([*sp.components(), default_value])):
        default = convert(default_value, sp.values.spec.dtype)

        parts = [sp.indices, sp.dense_shape]
        if are_here([*parts, sp.values, default]):
            there, place, empty = _filled(*[x._array for x in parts])
            every = sp.values if place is None else joined([sp.values, [default]], 0)
            indices = sp.indices if place is None else wrap(there)
            whole = SparseTensor.of_parts(indices, taken_here(every, place), sp.dense_shape)
            return whole, wrap(empty)
        told, known = unknown(rows.bool_, count), (None, rank)
        moves = _carried_out("SparseFillEmptyRows", _filled, parts, known, told, name)
        values = taken(joined([sp.values, [default]], 0), moves[1])
        return SparseTensor.stated(moves[0], values, sp.dense_shape, sp.shape), moves[2]


def _filled(indices: Array, sizes: Array) -> Moved:
    """Return indices with some in all rows, where they stood, and which rows had none."""
    if not len(sizes):
        raise InvalidArgumentError("Dense shape cannot be empty.")
    found = rows_filled(indices, int(sizes[0]))
    if isinstance(found, int):
        raise InvalidArgumentError(
            f"indices({found}, 0) is invalid: {indices[found, 0]} >= {sizes[0]}"
        )
    return found

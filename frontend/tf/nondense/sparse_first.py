"""Sparse tensors by the names of the first version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ...values.arrays import as_listed
from ...values.context import entered, executing_eagerly
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, row_of
from ..core.host_ops import host, unknown
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..graph.state import get_default_graph, placeholder, placeholder_with_default
from ..ops.array_ops import broadcast_to, reshape, shape
from ..ops.creation import constant
from ..ops.gathering import gather
from ..ops.indexed_slices import IndexedSlices
from ..ops.math_ops import cast
from . import sparse_dense as d
from . import sparse_functions as f
from . import sparse_math as m
from . import sparse_places as p
from .sparse_tensor import SparseTensor, SparseTensorValue, sparse_of


def convert_to_tensor_or_sparse_tensor(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> TfTensor | SparseTensor:
    """Return a value as a tensor, a sparse one as it is."""
    if isinstance(value, SparseTensorValue):
        value = sparse_of(value)
    if not isinstance(value, SparseTensor):
        return convert(value, dtype, name)
    _require_type(value.dtype, dtype, RuntimeError)
    return value


def convert_to_tensor_or_indexed_slices(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> TfTensor | SparseTensor | IndexedSlices:
    """Return a value as a tensor, one that is given by some of its rows as it is."""
    if not isinstance(value, SparseTensor | IndexedSlices):
        return convert(value, dtype, name)
    _require_type(value.dtype, dtype, ValueError)
    return value


def _require_type(found: DTypeLike, wanted: DTypeLike | None, error: type[Exception]) -> None:
    """Raise if a tensor that stays as it is has another element type than is asked for."""
    if wanted is not None and row_of(found) != row_of(wanted):
        raise error(f"Sparse dtype mismatch. Requested: {wanted},  Actual: {found}")


def sparse_placeholder(
    dtype: DTypeLike, shape: ShapeLike | TfTensor = None, name: str | None = None
) -> SparseTensor:
    """Make a sparse tensor that is fed; a shape that is known, or computed, need not be fed."""
    if executing_eagerly():
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    label = f"{name}/" if name else ""
    graph = get_default_graph()
    with entered(graph):
        known, default = _told_sizes(shape)
        rank = None if known is None else known.rank
        sizes: object = (
            placeholder("int64", [rank], f"{label}shape")
            if default is None
            else placeholder_with_default(default, [rank], f"{label}shape")
        )
        values = placeholder(dtype, [None], f"{label}values")
        indices = placeholder("int64", [None, rank], f"{label}indices")
        made: SparseTensor = SparseTensor.stated(indices, values, sizes, known)
        return made


def _told_sizes(shape: ShapeLike | TfTensor) -> tuple[TensorShape | None, TfTensor | None]:
    """Return what is known of a shape, and the sizes that stand where none are fed."""
    if shape is None:
        return None, None
    found = static(shape) if isinstance(shape, TfTensor) else shape
    if isinstance(found, TfTensor):
        return TensorShape([None] * found.shape.known()[0]), cast(found, "int64")
    known = TensorShape(found)
    if not known.is_fully_defined():
        return known, None
    return known, constant(np.array(known.known(), np.int64))


def sparse_to_dense(
    sparse_indices: object,
    output_shape: object,
    sparse_values: object,
    default_value: object = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return a tensor with values at places, and another value elsewhere."""
    with InGraph(graph_of([sparse_indices, output_shape, sparse_values])):
        sizes = convert(output_shape)
        places = _as_matrix(convert(sparse_indices), sizes.shape.num_elements())
        values = convert(sparse_values)
        if sizes.shape.rank not in (None, 1):
            raise InvalidShapesError(f"output_shape must be rank 1, got {sizes.shape}")
        if values.shape.rank and not values.shape.is_compatible_with(places.shape[:1]):
            raise InvalidShapesError(
                f"sparse_values has incorrect shape {as_listed(values.shape.as_list())}, should "
                f"be [] or {as_listed(places.shape[:1].as_list())}"
            )
        if values.shape.rank is None:
            values = broadcast_to(values, shape(places)[:1])
        elif values.ndim == 0:
            values = gather(reshape(values, [1]), places[:, 0] * 0)
        known = static(sizes)
        wanted = known if isinstance(known, list) else cast(sizes, "int64")
        row = values.spec.dtype
        default = b"" if row.kind == "s" and default_value == 0 else default_value
        given = bool(default) if row.kind == "b" and isinstance(default, int) else default
        return d.whole(cast(places, "int64"), wanted, values, given, validate_indices, name)


def _as_matrix(places: TfTensor, width: int | None) -> TfTensor:
    """Return indices as rows: one that is given alone, or several of one axis, are rows too."""
    rank = places.shape.rank
    text = "sparse_indices should be a scalar, vector, or matrix, got shape"
    if rank is not None and rank > 2:
        raise InvalidShapesError(f"{text} {as_listed(places.shape.as_list())}")
    if rank is not None:
        return reshape(places, [-1, 1]) if rank < 2 else places

    def compute(given: Array) -> Sequence[Array]:
        if given.ndim > 2:
            raise InvalidArgumentError(f"{text} {as_listed(given.shape)}")
        return (given if given.ndim == 2 else given.reshape(-1, 1),)

    spec = unknown(places.spec.dtype, None, width)
    return host("SparseIndices", compute, [places], [spec])[0]


def sparse_add(
    a: object, b: object, threshold: object = None, thresh: object = None, name: str | None = None
) -> object:
    """Add two tensors of which at least one is sparse."""
    limit = threshold if threshold is not None else thresh
    return m.add(a, b, 0 if limit is None else limit, name)


def sparse_concat(
    axis: object = None,
    sp_inputs: Iterable[object] = (),
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: object = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Return tensors one behind the other along an axis."""
    at = axis if axis is not None else concat_dim
    widened = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return p.concat(at, sp_inputs, widened, name)


def sparse_split(
    keyword_required: object = None,
    sp_input: object = None,
    num_split: object = None,
    axis: object = None,
    name: str | None = None,
    split_dim: object = None,
) -> list[SparseTensor]:
    """Return parts along an axis; all arguments are named."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    return p.split(sp_input, num_split, axis if axis is not None else split_dim, name)


def _reduction(function: Callable[..., object], *, sparse: bool) -> Callable[..., object]:
    def made(
        sp_input: object,
        axis: object = None,
        keepdims: bool | None = None,
        reduction_axes: object = None,
        keep_dims: bool | None = None,
    ) -> object:
        """Reduce along axes, all of them if none is given."""
        along = axis if axis is not None else reduction_axes
        kept = keepdims if keepdims is not None else keep_dims
        return function(sp_input, along, kept, output_is_sparse=sparse)

    return made


def sparse_merge(
    sp_ids: object,
    sp_values: object,
    vocab_size: object,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Return values at the places that ids name behind their own first axes."""
    ids = [sparse_of(x, "sp_ids") for x in (sp_ids if isinstance(sp_ids, list) else [sp_ids])]
    ends = vocab_size if isinstance(vocab_size, list) else [vocab_size]
    with InGraph(graph_of([x for each in ids for x in each.components()])):
        numbers = [cast(each.values, "int64") for each in ids]
        limits = [cast(convert(each), "int64") for each in ends]

        def compute(indices: Array, sizes: Array, *rest: Array) -> Sequence[Array]:
            columns, extents = rest[: len(numbers)], rest[len(numbers) :]
            there = np.concatenate([indices[:, :-1], np.stack(columns, axis=1)], axis=1)
            return there, np.array([*sizes[:-1], *map(int, extents)], np.int64)

        rank = None if ids[0].shape.rank is None else ids[0].shape.rank - 1 + len(ids)
        specs = [unknown(rows.i64, None, rank), unknown(rows.i64, rank)]
        given = [ids[0].indices, ids[0].dense_shape, *numbers, *limits]
        places, extents = host("SparseMerge", compute, given, specs, name=name)
        last = [n if isinstance(n, int) else None for n in map(static, map(convert, ends))]
        first = None if rank is None else [*ids[0].shape.as_list()[:-1], *last]
        found = sparse_of(sp_values, "sp_values").values
        made: SparseTensor = SparseTensor.stated(places, found, extents, first)
        return made if already_sorted else p.reorder(made)


NAMES: dict[str, object] = {
    "sparse_placeholder": sparse_placeholder,
    "sparse_tensor_to_dense": d.to_dense,
    "sparse_to_dense": sparse_to_dense,
    "sparse_tensor_dense_matmul": d.sparse_dense_matmul,
    "sparse_add": sparse_add,
    "sparse_concat": sparse_concat,
    "sparse_split": sparse_split,
    "convert_to_tensor_or_sparse_tensor": convert_to_tensor_or_sparse_tensor,
    "convert_to_tensor_or_indexed_slices": convert_to_tensor_or_indexed_slices,
    "sparse_merge": sparse_merge,
    "sparse_fill_empty_rows": p.fill_empty_rows,
    "sparse_reorder": p.reorder,
    "sparse_reset_shape": p.reset_shape,
    "sparse_reshape": p.reshape,
    "sparse_retain": p.retain,
    "sparse_slice": p.slice_,
    "sparse_transpose": p.transpose,
    "sparse_maximum": m.maximum,
    "sparse_minimum": m.minimum,
    "sparse_softmax": m.softmax,
    "sparse_to_indicator": m.to_indicator,
    "sparse_mask": f.mask,
    "sparse_reduce_sum": _reduction(m.reduce_sum, sparse=False),
    "sparse_reduce_sum_sparse": _reduction(m.reduce_sum, sparse=True),
    "sparse_reduce_max": _reduction(m.reduce_max, sparse=False),
    "sparse_reduce_max_sparse": _reduction(m.reduce_max, sparse=True),
    "sparse_segment_sum": f.segment_sum,
    "sparse_segment_mean": f.segment_mean,
    "sparse_segment_sqrt_n": f.segment_sqrt_n,
}

"""Sparse tensors from whole ones and back, and multiplied by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ...graph.graph import spec_with_unknowns
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import EagerTensor, TfTensor, wrap
from ..core.host_ops import host, of_elements, unknown
from ..core.values import InGraph, InvalidShapesError, convert, graph_of
from ..ops.array_ops import concat, expand_dims, reshape, shape, squeeze
from ..ops.creation import fill
from ..ops.gathering import gather, put_in, scatter_nd, tensor_scatter_nd_update
from ..ops.linear_ops import adjoint
from ..ops.math_ops import cast, complex_, conj, imag, real
from .numbering import is_inside, numbers_rising
from .row_loops import places_of
from .sparse_at_once import are_here, dense, product
from .sparse_tensor import SparseTensor, known_sizes, sparse_of


def checked(indices: TfTensor, sizes: object) -> TfTensor:
    """Return indices that must be within a shape, in order, each once."""

    def compute(places: Array, dims: Array) -> Sequence[Array]:
        check(places, dims)
        return (places,)

    spec = unknown(rows.i64, *indices.shape.with_rank(2).as_list())
    return host("SparseChecked", compute, [indices, convert(sizes, "int64")], [spec])[0]


def refuse_outside(indices: Array, sizes: Array) -> None:
    """Raise unless indices are within a shape."""
    if indices.shape[1] != len(sizes) or is_inside(indices, sizes.tolist()):
        return
    outside = np.asarray(((indices < 0) | (indices >= sizes)).any(axis=1))
    if outside.any():
        at = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"Sparse index tuple indices[{at}, :] = {listed(indices[at])} is out of bounds"
        )


def check(indices: Array, sizes: Array) -> None:
    """Raise unless indices are within a shape, in order, each once."""
    if numbers_rising(indices, sizes.tolist()) is not None:
        return
    outside = np.asarray(((indices < 0) | (indices >= sizes)).any(axis=1))
    strides = np.cumprod([1, *sizes[:0:-1].tolist()])[::-1]
    steps = np.diff((indices * strides[: indices.shape[1]]).sum(axis=1))
    bad = outside.copy()
    bad[1:] |= steps <= 0
    if not bad.any():
        return
    at = int(np.argmax(bad))
    row = listed(indices[at])
    if outside[at]:
        raise InvalidArgumentError(
            f"indices[{at}] = {row} is out of bounds: need 0 <= index < {listed(sizes)}"
        )
    if steps[at - 1] == 0:
        raise InvalidArgumentError(f"indices[{at}] = {row} is repeated")
    raise InvalidArgumentError(
        f"indices[{at}] = {row} is out of order. Many sparse ops require sorted indices.\n"
        "    Use `tf.sparse.reorder` to create a correctly ordered copy."
    )


def listed(numbers: Array) -> str:
    """Return integers as TensorFlow writes them in messages."""
    return "[" + ",".join(map(str, numbers.tolist())) + "]"


def to_dense(
    sp_input: SparseTensor,
    default_value: object = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return the whole tensor, with a value where nothing is given."""
    sp = sparse_of(sp_input)
    return whole(sp.indices, known_sizes(sp), sp.values, default_value, validate_indices, name)


def whole(
    indices: TfTensor,
    sizes: object,
    values: TfTensor,
    default_value: object,
    validates: bool,
    name: str | None = None,
) -> TfTensor:
    """Return a tensor of some values at places, and another one elsewhere."""
    row = values.spec.dtype
    with InGraph(graph_of([indices, values, sizes])):
        empty = b"" if row.kind == "s" else False if row.kind == "b" else 0
        default = convert(empty if default_value is None else default_value, row)
        if default.shape.rank not in (0, None):
            raise InvalidShapesError("default_value should be a scalar.")
        if are_here([indices, values, default]) and isinstance(sizes, list):
            found = dense(indices._array, sizes, values._array, default._array, validates=validates)
            if found is not None:
                return EagerTensor(found)
            if not validates:
                _refuse_outside(indices._array, np.array(sizes))
        places = checked(indices, sizes) if validates else indices
        if row.kind in "sb":
            return _whole_on_host(places, convert(sizes, "int64"), values, default, name)
        put = put_in if validates else tensor_scatter_nd_update
        return put(fill(sizes, default), places, values, name=name)


def _refuse_outside(places: Array, dims: Array) -> None:
    """Raise if a place is not one of a tensor of these sizes."""
    if ((places < 0) | (places >= dims)).any():
        raise InvalidArgumentError(f"Indices are not valid (out of bounds).  Shape: {listed(dims)}")


def _whole_on_host(
    indices: TfTensor, sizes: TfTensor, values: TfTensor, default: TfTensor, name: str | None
) -> TfTensor:
    """Put values that are not numbers at their places."""
    rank = sizes.shape.num_elements()

    def compute(places: Array, dims: Array, given: Array, rest: Array) -> Sequence[Array]:
        _refuse_outside(places, dims)
        made = np.empty(tuple(dims.tolist()), given.dtype)
        made[...] = rest
        made[tuple(places.T)] = given
        return (made,)

    dims = None if rank is None else [None] * rank
    specs = [spec_with_unknowns(values.spec.dtype, dims)]
    return host("SparseToDense", compute, [indices, sizes, values, default], specs, name=name)[0]


def from_dense(tensor: object, name: str | None = None) -> SparseTensor:
    """Return the elements of a tensor that are not zero."""
    with InGraph(graph_of([tensor])):
        x = convert(tensor)
        rank = x.shape.rank

        def compute(array: Array) -> Sequence[Array]:
            if not array.ndim:
                raise InvalidArgumentError("WhereOp : Unhandled input dimensions: 0")
            flat = np.flatnonzero(array != (b"" if array.dtype.kind == "O" else 0))
            return places_of(flat, array.shape), flat

        if are_here([x]):
            there, at = compute(x._array)
            some, sizes = x._array.reshape(-1).take(at), np.array(x._array.shape, np.int64)
            return SparseTensor.of_parts(wrap(there), wrap(some), wrap(sizes))
        specs = of_elements(rows.i64, rank)[:2]
        places, flat = host("DenseToSparse", compute, [x], specs, name=name)
        values = taken(reshape(x, [-1]), flat)
        made: SparseTensor = SparseTensor.stated(places, values, shape(x, "int64"), x.shape)
        return made


def sparse_dense_matmul(
    sp_a: object,
    b: object,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Multiply a sparse matrix and a whole one; either may stand first."""
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return adjoint(turned, name=name)
    a = sparse_of(sp_a, "sp_a")
    parts = a.components()
    if isinstance(b, EagerTensor) and are_here([*parts, b]):
        made = product([x._array for x in parts], b._array, adjoint_a, adjoint_b)
        if made is not None:
            return EagerTensor(made)
    with InGraph(graph_of([*parts, b])):
        other = convert(b)
        if are_here([*parts, other]):
            _refuse_products([x._array for x in parts], adjoint_a)
        if other.shape.rank not in (2, None):
            raise InvalidShapesError("Tensor 'b' is not a matrix")
        if a.shape.rank not in (2, None):
            raise InvalidShapesError("Tensor 'a_shape' must have 2 elements")
        factor = adjoint(other) if adjoint_b else other
        sizes = a.shape.with_rank(2).as_list()
        inner, outer = (sizes[0], 1) if adjoint_a else (sizes[1], 0)
        have = factor.shape.with_rank(2).as_list()[0]
        if None not in (inner, have) and inner != have:
            raise InvalidShapesError(
                "Dimensions must be equal: "
                f"cannot multiply A and B because inner dimension does not match: {inner} vs. "
                f"{have}.  Did you forget a transpose?  Dimensions of A: {a.shape}.  Dimensions "
                f"of B: {other.shape}"
            )
        count = sizes[outer]
        height = reshape(a.dense_shape, [2])[outer] if count is None else count
        left = a.indices[:, outer : outer + 1]
        found = taken(factor, a.indices[:, 1 - outer])
        turns = adjoint_a and a.values.spec.dtype.kind == "c"
        values = conj(a.values) if turns else a.values
        products = expand_dims(values, 1) * found
        known = factor.shape.with_rank(2).as_list()[1]
        width = shape(factor, "int64")[1] if known is None else known
        return added(left, products, sizes_of(height, width), name)


def _refuse_products(sparse: Sequence[Array], turns: bool) -> None:
    """Raise if an index of a sparse matrix that is multiplied is beyond its shape."""
    indices, _, sizes = sparse
    if indices.shape[1:] != (2,) or len(sizes) != 2 or is_inside(indices, sizes.tolist()):
        return
    first, second = (1, 0) if turns else (0, 1)
    for place, row in enumerate(indices.tolist()):
        for name, axis in (("k", second), ("m", first)):
            if not 0 <= row[axis] < sizes[axis]:
                raise InvalidArgumentError(
                    f"{name} ({row[axis]}) from index[{place},{axis}] out of bounds "
                    f"(>={sizes[axis]})"
                )


def added(indices: TfTensor, rows_: TfTensor, sizes: object, name: str | None = None) -> TfTensor:
    """Add slices into zeros; complex numbers in two parts."""
    if rows_.spec.dtype.kind != "c":
        return scatter_nd(indices, rows_, sizes, name=name)
    parts = [scatter_nd(indices, part, sizes) for part in (real(rows_), imag(rows_))]
    return complex_(*parts, name=name)


def taken(x: TfTensor, places: TfTensor) -> TfTensor:
    """Return slices along the first axis; the gradient is a whole tensor, not slices."""
    return squeeze(gather(expand_dims(x, 0), places, axis=1), [0])


def sizes_of(*sizes: object) -> object:
    """Return sizes as a list of numbers, or as a tensor if some are tensors."""
    if all(isinstance(each, int) for each in sizes):
        return list(sizes)
    return concat([expand_dims(convert(each, "int64"), 0) for each in sizes], 0)


def eye(
    num_rows: object,
    num_columns: object = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> SparseTensor:
    """Return a matrix with ones on its diagonal."""
    with InGraph(graph_of([num_rows, num_columns])):
        height = convert(num_rows)
        width = height if num_columns is None else convert(num_columns)
        sizes = [cast(height, "int64"), cast(width, "int64")]

        def compute(first: Array, second: Array) -> Sequence[Array]:
            count = np.arange(min(int(first), int(second)), dtype=np.int64)
            return (np.stack([count, count], axis=1),)

        places = host("SparseEye", compute, sizes, [unknown(rows.i64, None, 2)], name=name)[0]
        ones = fill(shape(places)[:1], convert(1, dtype))
        return SparseTensor(places, ones, sizes_of(*sizes))

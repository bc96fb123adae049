"""Matrices as products of triangles, their rows in another order: `lu`, and what is made of it."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from ....ir.op import Array
from ....ir.types.numerics import divide
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor, custom_gradient
from ..core.element_types import as_dtype
from ..core.values import InGraph, InvalidShapesError, convert, graph_of
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, concat, reshape
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, ones_like, zeros_like
from ..ops.gathering import gather
from ..ops.linear_ops import adjoint, diag_part, set_diag, triangular_solve
from ..ops.math_ops import cast, matmul
from ..ops.nn_ops import band_part
from ..ops.sorting import argsort
from .decompositions import Gradient
from .hosted import check_square, host, square_matrices

Lu = namedtuple("Lu", "lu p")


def _factors(a: Array) -> tuple[Array, Array]:
    """Return both triangles in one matrix, and which row of the matrix each of its rows is.

    A number is a better pivot than a NaN below it; the first pivot must be one.
    """
    check_square(a)
    n = a.shape[-1]
    made = np.array(a).reshape(math.prod(a.shape[:-2]), n, n)
    each = np.arange(len(made))
    order = np.tile(np.arange(n), (len(made), 1))
    for k in range(n):
        sizes = np.abs(made[:, k:, k])
        sizes[:, 1:][np.isnan(sizes[:, 1:])] = -1
        best = k + np.where(np.isnan(sizes[:, 0]), 0, sizes.argmax(axis=1))
        pivots = sizes[each, best - k]
        if not (pivots > 0 if k == 0 else pivots != 0).all():
            raise InvalidShapesError("Input is not invertible. [Op:Lu]")
        for x in (made, order):
            x[each, k], x[each, best] = x[each, best], x[each, k]
        made[:, k + 1 :, k] = divide(made[:, k + 1 :, k], made[:, k, None, k])
        made[:, k + 1 :, k + 1 :] -= made[:, k + 1 :, k, None] * made[:, k, None, k + 1 :]
    return made.reshape(a.shape), order.reshape(a.shape[:-1])


def _with_ones(x: TfTensor) -> TfTensor:
    return set_diag(band_part(x, -1, 0), ones_like(diag_part(x)))


def _of_rows(x: TfTensor, order: TfTensor) -> TfTensor:
    """Return matrices with the rows that are said, a list for each of a batch."""
    places = cast(order, "int32")
    if order.shape.rank is not None:
        return gather(x, places, axis=-2, batch_dims=order.shape.rank - 1)
    whole = tensor_shape(x)
    rows = reshape(x, concat([[-1], whole[-2:]], 0))
    each = reshape(places, concat([[-1], whole[-2:-1]], 0))
    return reshape(gather(rows, each, axis=1, batch_dims=1), whole)


def lu(input: object, output_idx_type: DTypeLike = "int32", name: str | None = None) -> Lu:
    """Return the triangles of matrices in one, the ones of the lower left out, and their rows."""
    return Lu(*_lu(square_matrices(input).tensor, kind=as_dtype(output_idx_type).name))


@custom_gradient
def _lu(a: TfTensor, kind: str) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = square_matrices(a)
    n = found.rows
    results = [(a.dtype.name, found.dims(n, n)), (kind, found.dims(n))]
    made, order = host("Lu", _factors, [a], results)

    def gradient(grad: TfTensor, _: object) -> TfTensor:
        """Solve with both triangles, then put the rows back."""
        lower, upper = _with_ones(made), band_part(made, 0, -1)
        left = matmul(lower, grad, adjoint_a=True)
        left = band_part(left, -1, 0)
        left = set_diag(left, zeros_like(diag_part(left)))
        inner = left + band_part(matmul(grad, upper, adjoint_b=True), 0, -1)
        half = triangular_solve(lower, inner, adjoint=True)
        whole = adjoint(triangular_solve(upper, adjoint(half), lower=False))
        return _of_rows(whole, argsort(order, axis=-1))

    return (made, order), gradient


def _checked(lower_upper: object, perm: object) -> tuple[TfTensor, TfTensor]:
    """Return the triangles of matrices and the order of their rows, which must fit."""
    both, order = square_matrices(lower_upper).tensor, convert(perm)
    ranks = both.shape.rank, order.shape.rank
    if None not in ranks and ranks[0] != (ranks[1] or 0) + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    return both, order


def _alike(right: TfTensor, order: TfTensor) -> tuple[TfTensor, TfTensor]:
    """Return matrices and orders of rows with the same batch."""
    if right.shape.is_fully_defined() and order.shape.is_fully_defined():
        sides, orders = right.shape.known(), order.shape.known()
        outer = [*np.broadcast_shapes(sides[:-2], orders[:-1])]
        return broadcast_to(right, outer + sides[-2:]), broadcast_to(order, outer + orders[-1:])
    batch = broadcast_dynamic_shape(tensor_shape(right)[:-2], tensor_shape(order)[:-1])
    right = broadcast_to(right, concat([batch, tensor_shape(right)[-2:]], 0))
    return right, broadcast_to(order, concat([batch, tensor_shape(order)[-1:]], 0))


def lu_solve(
    lower_upper: object,
    perm: object,
    rhs: object,
    validate_args: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Solve systems of linear equations whose matrices are given by their triangles."""
    with InGraph(graph_of([lower_upper, perm, rhs])):
        both, order = _checked(lower_upper, perm)
        right = convert(rhs, both.dtype)
        if right.shape.rank is not None and right.shape.rank < 2:
            raise ValueError("Input `rhs` must have at least 2 dimensions.")
        sizes = both.shape[-1:].as_list() + right.shape[-2:-1].as_list()
        if None not in sizes and sizes[0] != sizes[1]:
            raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
        if order.shape.rank == 1:
            right = gather(right, order, axis=-2)
        else:
            right = _of_rows(*_alike(right, order))
        inner = triangular_solve(_with_ones(both), right)
        return triangular_solve(both, inner, lower=False)


def lu_matrix_inverse(
    lower_upper: object, perm: object, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return the inverses of matrices that are given by their triangles."""
    with InGraph(graph_of([lower_upper, perm])):
        both = square_matrices(lower_upper)
        return lu_solve(both.tensor, perm, eye(both.size, dtype=both.tensor.dtype))


def lu_reconstruct(
    lower_upper: object, perm: object, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return the matrices that are given by their triangles."""
    with InGraph(graph_of([lower_upper, perm])):
        both, order = _checked(lower_upper, perm)
        made = matmul(_with_ones(both), band_part(both, 0, -1))
        return _of_rows(made, argsort(order, axis=-1))

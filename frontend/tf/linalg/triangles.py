"""Matrices as products of triangles, their rows in another order: `lu`, and what is made of it."""

from __future__ import annotations

from collections import namedtuple
from math import isnan

import numpy as np

from ....codegen.serial.function import F64s, I64s, serial
from ....ir.op import Array
from ....ir.ops import lu as lu_op
from ...eager.kernels import MUCH, computed
from ...eager.remembered import remember_all
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
SINGULAR = "Input is not invertible. [Op:Lu]"


def _factors(a: Array) -> tuple[Array, Array]:
    """Return both triangles in one matrix, and which row of the matrix each of its rows is.

    The first pivot must be a number, and none may be zero.
    """
    check_square(a)
    if a.size and a.dtype.kind == "f" and lu_op.steps(a.shape) < MUCH:
        return _of_few(a)
    is_real = a.size and a.dtype.kind == "f"
    made, order = computed(lu_op.Lu, [a], {}) if is_real else lu_op.triangles(a)
    if np.isnan(a[..., :1, :1]).any() or not np.diagonal(made, 0, -2, -1).all():
        raise InvalidShapesError(SINGULAR)
    return made, order


def _of_few(a: Array) -> tuple[Array, Array]:
    """Return the same of so few floats that what is compiled for their sizes does not pay."""
    made, order = a.astype(np.float64, order="C"), np.empty(a.shape[:-1], np.int64)
    if _eliminate(made, a.shape[-1], order) >= 0:
        raise InvalidShapesError(SINGULAR)
    return made.astype(a.dtype, copy=False), order


@serial
def _eliminate(a: F64s, n: int, order: I64s) -> int:
    """Return the number of the first matrix that has no triangles, or -1; they lie in its place."""
    for each in range(len(order) // n):
        top, first = each * n, each * n * n
        for row in range(n):
            order[top + row] = row
        for k in range(n):
            best = _pivot(a, first, n, k)
            if best < 0:
                return each
            if best > k:
                order[top + k], order[top + best] = order[top + best], order[top + k]
                _exchange(a, first + k * n, first + best * n, n)
            here = first + k * n
            for row in range(k + 1, n):
                at = first + row * n
                factor = a[at + k] / a[here + k]
                a[at + k] = factor
                for column in range(k + 1, n):
                    a[at + column] -= factor * a[here + column]
    return -1


def _pivot(a: F64s, first: int, n: int, k: int) -> int:
    """Return the row from the k-th on with the largest element of its column, or -1."""
    best, most = k, abs(a[first + k * n + k])
    for row in range(k + 1, n):
        size = abs(a[first + row * n + k])
        if size > most:
            best, most = row, size
    return -1 if most == 0.0 or (k == 0 and isnan(most)) else best


def _exchange(a: F64s, one: int, other: int, count: int) -> int:
    """Exchange so many elements from two places on."""
    for i in range(count):
        a[one + i], a[other + i] = a[other + i], a[one + i]
    return count


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

    def gradient(grad: TfTensor, _: object, *, results: tuple[TfTensor, TfTensor]) -> TfTensor:
        """Solve with both triangles, then put the rows back."""
        made, order = results
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
        sizes = [x.shape[-rows] if x.shape.rank else None for x, rows in ((both, 1), (right, 2))]
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
        both = square_matrices(lower_upper).tensor
        size = tensor_shape(both)[-1] if both.shape.rank is None else square_matrices(both).size
        return lu_solve(both, perm, eye(size, dtype=both.dtype))


def lu_reconstruct(
    lower_upper: object, perm: object, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return the matrices that are given by their triangles."""
    with InGraph(graph_of([lower_upper, perm])):
        both, order = _checked(lower_upper, perm)
        made = matmul(_with_ones(both), band_part(both, 0, -1))
        return _of_rows(made, argsort(order, axis=-1))


remember_all(globals())

"""Linear algebra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as _np
from keras.src import tree as _tree

from ...eager.tensor import Tensor
from ...graph.symbolic import SymbolicTensor as _Symbolic
from ...tf.graph.debugging import check_numerics as _checked
from ...tf.graph.functional import ForwardAccumulator as _Forward
from ...tf.linalg import decompositions as _de
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import linear_ops as _la
from ...tf.ops import math_ops as _m
from ...values.given import TensorLike
from .tensors import (
    Axes,
    axes_of,
    cast,
    convert_to_numpy,
    convert_to_tensor,
    floating,
    name_of,
    promoted,
    rank,
)

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS


def cholesky(a: TensorLike, upper: bool = False) -> Tensor:
    """Return the triangle of which the square is a matrix, which must be positive definite."""
    found = _la.cholesky(floating(a))
    if not name_of(found).startswith("complex"):
        found = _checked(found, "Cholesky")
    return _la.adjoint(found) if upper else found


def cholesky_inverse(a: TensorLike, upper: bool = False) -> Tensor:
    """Return the inverse of a matrix of which the triangle is given."""
    triangle = floating(a)
    ones = _made.eye(triangle.shape[-1], dtype=name_of(triangle))
    found = _la.triangular_solve(triangle, ones, lower=not upper)
    if upper:
        return _m.matmul(found, found, transpose_b=True)
    return _m.matmul(found, found, transpose_a=True)


def det(a: TensorLike) -> Tensor:
    """Return the determinant."""
    return _la.det(floating(a))


def eig(a: TensorLike) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and vectors of any square matrix, computed by numpy on the host."""
    tensor = floating(a)
    if isinstance(tensor, _Symbolic):
        raise ValueError("eig is not supported inside of compiled functions; eigh is")
    values, vectors = _np.linalg.eig(convert_to_numpy(tensor))
    kind = "complex128" if name_of(tensor) == "float64" else "complex64"
    return convert_to_tensor(values.astype(kind)), convert_to_tensor(vectors.astype(kind))


def eigh(a: TensorLike) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and vectors of a symmetric matrix."""
    values, vectors = _de.eigh(floating(a))
    return values, vectors


def inv(a: TensorLike) -> Tensor:
    """Return the inverse."""
    return _la.inv(floating(a))


def lu_factor(a: TensorLike) -> tuple[Tensor, Tensor]:
    """Return both triangles in one matrix, and which rows changed places; by numpy."""
    tensor = floating(a)
    if isinstance(tensor, _Symbolic):
        raise ValueError("lu_factor is not supported inside of compiled functions")
    whole = _np.array(convert_to_numpy(tensor))
    rows, columns = whole.shape[-2:]
    flat = whole.reshape(-1, rows, columns)
    turns = _np.zeros((len(flat), min(rows, columns)), _np.int32)
    for matrix, turn in zip(flat, turns, strict=True):
        for i in range(len(turn)):
            best = i + int(_np.argmax(_np.abs(matrix[i:, i])))
            turn[i] = best
            matrix[[i, best]] = matrix[[best, i]]
            if matrix[i, i]:
                matrix[i + 1 :, i] /= matrix[i, i]
                matrix[i + 1 :, i + 1 :] -= _np.outer(matrix[i + 1 :, i], matrix[i, i + 1 :])
    places = turns.reshape(*whole.shape[:-2], -1)
    return convert_to_tensor(whole), convert_to_tensor(places)


def norm(
    x: TensorLike, ord: TensorLike | None = None, axis: Axes = None, keepdims: bool = False
) -> Tensor:
    """Return the norm of vectors or matrices, as numpy's `norm`."""
    tensor = floating(x)
    many = axes_of(tensor, axis)
    if axis is None and ord is not None and len(many) not in (1, 2):
        raise ValueError(f"norm of {len(many)} axes needs `axis` where `ord` is {ord}")
    if ord is None or (len(many) == 2 and ord == "fro"):
        squares = _F["abs"](tensor) * _F["abs"](tensor)
        return _F["sqrt"](_R["reduce_sum"](squares, many, keepdims))
    if len(many) == 1:
        return _vector_norm(tensor, ord, many[0], keepdims=keepdims)
    return _matrix_norm(tensor, ord, many, keepdims=keepdims)


def _vector_norm(x: Tensor, order: TensorLike, axis: int, *, keepdims: bool) -> Tensor:
    if isinstance(order, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={order}")
    size = _F["abs"](x)
    if order == float("inf"):
        return _R["reduce_max"](size, axis, keepdims)
    if order == float("-inf"):
        return _R["reduce_min"](size, axis, keepdims)
    if order == 0:
        kept = _F["not_equal"](size, _made.zeros_like(size))
        return _R["reduce_sum"](cast(kept, name_of(size)), axis, keepdims)
    if order == 1:
        return _R["reduce_sum"](size, axis, keepdims)
    power = cast(order, name_of(size))
    return _F["pow"](_R["reduce_sum"](_F["pow"](size, power), axis, keepdims), 1.0 / power)


def _matrix_norm(x: Tensor, order: TensorLike, axes: list[int], *, keepdims: bool) -> Tensor:
    rows, columns = axes
    sums: dict[object, tuple[int, int]] = {1: (rows, columns), -1: (rows, columns)}
    sums |= {float("inf"): (columns, rows), float("-inf"): (columns, rows)}
    size = _F["abs"](x)
    if order in sums:
        first, second = sums[order]
        summed = _R["reduce_sum"](size, first, keepdims=True)
        best = "reduce_max" if float(str(order)) > 0 else "reduce_min"
        found = _R[best](summed, second, keepdims=True)
    elif order in ("nuc", 2, -2):
        turned = _a.transpose(x, [i for i in range(rank(x)) if i not in axes] + axes)
        values = svd(turned, compute_uv=False)
        assert isinstance(values, Tensor)
        how: dict[object, str] = {"nuc": "reduce_sum", 2: "reduce_max", -2: "reduce_min"}
        found = _R[how[order]](values, -1)
        for each in sorted(axes):
            found = _a.expand_dims(found, each)
    else:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={order!r}")
    return found if keepdims else _a.squeeze(found, axes)


def qr(x: TensorLike, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Return an orthogonal matrix and a triangle whose product is a matrix."""
    if mode not in ("reduced", "complete"):
        raise ValueError(
            "`mode` argument value not supported. Expected one of {'reduced', 'complete'}. "
            f"Received: mode={mode}"
        )
    matrix = floating(x)
    kind = name_of(matrix)
    wide = cast(matrix, "float32") if kind in ("float16", "bfloat16") else matrix
    q, r = _de.qr(wide, full_matrices=mode == "complete")
    return cast(q, kind), cast(r, kind)


def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the solution of linear equations."""
    matrix, right = promoted(a, b, least=float)
    if rank(right) == rank(matrix) - 1:
        return _a.squeeze(_la.solve(matrix, _a.expand_dims(right, -1)), [-1])
    return _la.solve(matrix, right)


def solve_triangular(a: TensorLike, b: TensorLike, lower: bool = False) -> Tensor:
    """Return the solution of linear equations of which the matrix is a triangle."""
    matrix, right = promoted(a, b, least=float)
    if rank(right) == rank(matrix) - 1:
        wide = _la.triangular_solve(matrix, _a.expand_dims(right, -1), lower=lower)
        return _a.squeeze(wide, [-1])
    return _la.triangular_solve(matrix, right, lower=lower)


def svd(
    x: TensorLike, full_matrices: bool = True, compute_uv: bool = True
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Return the singular values, and the vectors to the left and to the right of them."""
    tensor = floating(x)
    if not compute_uv:
        return _de.svd(tensor, compute_uv=False)
    values, left, right = _de.svd(tensor, full_matrices=full_matrices)
    return left, values, _la.matrix_transpose(right)


def lstsq(a: TensorLike, b: TensorLike, rcond: float | None = None) -> Tensor:
    """Return what solves linear equations best."""
    matrix, right = promoted(a, b, least=float)
    if rank(matrix) != 2:
        raise ValueError(f"lstsq needs a matrix, got {tuple(matrix.shape)}")
    flat = rank(right) == 1
    wide = _a.expand_dims(right, -1) if flat else right
    found = _m.matmul(pinv(matrix, _cut(matrix, rcond)), wide)
    return _a.squeeze(found, [-1]) if flat else found


def _cut(matrix: Tensor, rcond: float | None) -> float:
    if rcond is not None:
        return rcond
    return float(_np.finfo(name_of(matrix)).eps) * max(int(n) for n in matrix.shape[-2:])


def matrix_rank(x: TensorLike, tol: float | None = None) -> Tensor:
    """Return how many singular values are above a tolerance."""
    return cast(_de.matrix_rank(floating(x), tol), "int32")


def pinv(x: TensorLike, rcond: float | None = None) -> Tensor:
    """Return the pseudo-inverse."""
    tensor = floating(x)
    return _de.pinv(tensor, rcond)


def jvp(
    fun: Callable[..., object],
    primals: tuple[TensorLike, ...],
    tangents: tuple[TensorLike, ...],
    has_aux: bool = False,
) -> tuple[object, ...]:
    """Return what a function gives, and its derivative along tangents."""
    given = _tree.map_structure(convert_to_tensor, primals)
    along = _tree.map_structure(convert_to_tensor, tangents)
    with _Forward(given, along) as forward:
        made = fun(*given)
        value, rest = made if has_aux and isinstance(made, tuple) else (made, None)
    slopes = _tree.map_structure(
        lambda x: _made.zeros_like(x) if forward.jvp(x) is None else forward.jvp(x), value
    )
    return (value, slopes, rest) if has_aux else (value, slopes)

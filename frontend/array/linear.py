"""Products of vectors and matrices, of the array API standard's main namespace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types.dims import product
from ..eager.kernels import OperandError, host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, apply, as_tensor, promoted
from ..values.given import TensorLike
from .elementwise import conj
from .manipulation import axis_of, matrix_transpose, permute_dims, reshape

__all__ = ["einsum", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]

MAKE: Maker = Maker(apply)


def matmul(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return products of matrices; a vector stands for a row on the left, a column on the right."""
    a, b = promoted(as_tensor(x1), as_tensor(x2))
    if not a.ndim or not b.ndim:
        raise OperandError(f"matmul: operands {a.spec} and {b.spec}, expected at least one axis")
    if a.row.kind == "c":
        made: Tensor = apply(host("matmul", np.matmul), a, b)
        return made
    left = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    right = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    made = MAKE.matmul(left, right)
    if a.ndim > 1 and b.ndim > 1:
        return made
    shape = made.shape[: made.ndim - 2]
    rows = () if a.ndim == 1 else (made.shape[-2],)
    columns = () if b.ndim == 1 else (made.shape[-1],)
    return reshape(made, (*shape, *rows, *columns))


def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return the sums of products along an axis; of complex numbers, with the first conjugated."""
    a, b = promoted(as_tensor(x1), as_tensor(x2))
    if not -min(a.ndim, b.ndim) <= axis < 0:
        if a.ndim != b.ndim:
            raise OperandError(f"vecdot: axis {axis}, expected it counted from the end")
        axis = axis_of(axis, a.ndim) - a.ndim
    if a.shape[axis] != b.shape[axis]:
        raise OperandError(f"vecdot: {a.shape[axis]} and {b.shape[axis]} elements along the axis")
    products = conj(a) * b
    made: Tensor = MAKE.sum(products, axes=(products.ndim + axis,))
    return made


def tensordot(
    x1: TensorLike, x2: TensorLike, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:
    """Return the sums of products over some axes of both operands."""
    a, b = promoted(as_tensor(x1), as_tensor(x2))
    if isinstance(axes, int):
        if axes < 0 or axes > min(a.ndim, b.ndim):
            raise OperandError(f"tensordot: {axes} axes of {a.spec} and {b.spec}")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left = tuple(axis_of(i, a.ndim) for i in axes[0])
        right = tuple(axis_of(i, b.ndim) for i in axes[1])
    free_a = tuple(i for i in range(a.ndim) if i not in left)
    free_b = tuple(i for i in range(b.ndim) if i not in right)
    rows = tuple(a.shape[i] for i in free_a)
    columns = tuple(b.shape[i] for i in free_b)
    inner = product([a.shape[i] for i in left])
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise OperandError(f"tensordot: axes {axes} of {a.spec} and {b.spec} differ in extent")
    one = reshape(permute_dims(a, (*free_a, *left)), (product(rows), inner))
    two = reshape(permute_dims(b, (*right, *free_b)), (inner, product(columns)))
    return reshape(matmul(one, two), (*rows, *columns))


def einsum(equation: str, *operands: object) -> Tensor:
    """Return the sum of products that an equation like `bij,bjk->bik` states."""
    made: Tensor = MAKE.einsum(*promoted(*map(as_tensor, operands)), equation=equation)
    return made


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return all products of an element of one vector and one of another."""
    a, b = promoted(as_tensor(x1), as_tensor(x2))
    made: Tensor = reshape(a, (*a.shape, 1)) * reshape(b, (1, *b.shape))
    return made


remember_all(globals())

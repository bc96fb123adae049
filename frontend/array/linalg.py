"""The linear algebra extension of the array API standard.

Norms, traces, products, inverses, determinants, solutions and Cholesky's triangles are operations;
other decompositions are numpy's, on computed values only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY
from ...ir.types import dtypes as rows
from ..eager.kernels import OperandError, host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, apply, as_tensor, cast, computed, promoted
from ..values.dtypes import DTypeLike
from ..values.given import Axes, TensorLike
from . import reduction
from .elementwise import abs as absolute
from .elementwise import conj, real
from .linear import einsum, matmul, outer, tensordot, vecdot
from .manipulation import axis_of, broadcast_arrays, matrix_transpose, reshape

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "einsum",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

MAKE: Maker = Maker(apply)


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _host(
    name: str, *values: object, function: Callable[..., object] | None = None, **more: object
) -> Any:
    """Call numpy's function of this name."""
    op = host(f"linalg.{name}", function or getattr(np.linalg, name))
    tensors = [x if x.row.kind in "fc" else cast(x, rows.f32) for x in promoted(*values)]
    return apply(op, *tensors, **more)


def _applied(name: str, numpy_name: str, *values: object) -> Tensor:
    """Apply an operation; of complex numbers, numpy's function."""
    tensors = [x if x.row.kind in "fc" else cast(x, rows.f32) for x in promoted(*values)]
    if tensors[0].row.kind == "c":
        tensor: Tensor = _host(numpy_name, *tensors)
        return tensor
    made: Tensor = apply(REGISTRY[f"gv.{name}"], *tensors)
    return made


def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Return the triangular matrices whose product with themselves gives the matrices."""
    made = _applied("cholesky", "cholesky", as_tensor(x))
    return conj(matrix_transpose(made)) if upper else made


def det(x: TensorLike, /) -> Tensor:
    """Return determinants."""
    return _applied("determinant", "det", as_tensor(x))


def eigh(x: TensorLike, /) -> EighResult:
    """Return eigenvalues, in rising order, and eigenvectors of symmetric matrices."""
    return EighResult(*_host("eigh", x))


def eigvalsh(x: TensorLike, /) -> Tensor:
    """Return eigenvalues of symmetric matrices in rising order."""
    made: Tensor = _host("eigvalsh", x)
    return made


def inv(x: TensorLike, /) -> Tensor:
    """Return inverse matrices."""
    return _applied("inverse", "inv", as_tensor(x))


def pinv(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """Return pseudo-inverses; singular values up to `rtol` times the largest count as 0."""
    made: Tensor = _host("pinv", x, **_tolerance(rtol))
    return made


def matrix_rank(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """Return how many singular values are more than `rtol` times the largest."""
    made: Tensor = _host("matrix_rank", x, **_tolerance(rtol))
    return made


def _tolerance(rtol: TensorLike | None) -> dict[str, Any]:
    return {} if rtol is None else {"rtol": as_tensor(rtol).numpy()}


def qr(x: TensorLike, /, *, mode: str = "reduced") -> QRResult:
    """Return orthogonal and triangular factors."""
    return QRResult(*_host("qr", x, mode=mode))


def slogdet(x: TensorLike, /) -> SlogdetResult:
    """Return signs and logarithms of determinants."""
    x = as_tensor(x)
    if x.row.kind == "c" or computed(x):
        return SlogdetResult(*_host("slogdet", x))
    value = det(x)
    return SlogdetResult(MAKE.sign(value), MAKE.log(MAKE.abs(value)))


def solve(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the solutions of systems of equations; a vector on the right is one column."""
    a, b = as_tensor(x1), as_tensor(x2)
    if b.ndim == 1:
        solved = _applied("solve", "solve", a, reshape(b, (*b.shape, 1)))
        return reshape(solved, solved.shape[:-1])
    return _applied("solve", "solve", a, b)


def svd(x: TensorLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Return singular vectors and values."""
    return SVDResult(*_host("svd", x, full_matrices=full_matrices))


def svdvals(x: TensorLike, /) -> Tensor:
    """Return singular values in falling order."""
    made: Tensor = _host("svdvals", x)
    return made


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Tensor:
    """Return diagonals of matrices along the last axis."""
    x = as_tensor(x)
    *batch, height, width = x.shape
    count = max(min(height, width - offset) if offset >= 0 else min(height + offset, width), 0)
    first = offset if offset >= 0 else -offset * width
    flat = reshape(x, (*batch, height * width))
    last = min(first + count * (width + 1), height * width) if count else first
    return flat[..., first : max(last, first) : width + 1]


def trace(x: TensorLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sums of diagonals."""
    return reduction.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return cross products of vectors of three elements along an axis."""
    a, b = promoted(as_tensor(x1), as_tensor(x2))
    places = [axis_of(axis, x.ndim) for x in (a, b)]
    if [x.shape[p] for x, p in zip((a, b), places, strict=True)] != [3, 3]:
        raise OperandError(f"cross: {a.spec} and {b.spec}, expected 3 elements along axis {axis}")
    a, b = broadcast_arrays(a, b)
    place = axis_of(axis, a.ndim)
    ahead, behind = Tensor(np.array([1, 2, 0])), Tensor(np.array([2, 0, 1]))
    made: Tensor = MAKE.sub(
        MAKE.gather(a, ahead, axis=place) * MAKE.gather(b, behind, axis=place),
        MAKE.gather(a, behind, axis=place) * MAKE.gather(b, ahead, axis=place),
    )
    return made


def matrix_power(x: TensorLike, n: int, /) -> Tensor:
    """Return matrices multiplied by themselves; a negative power inverts first."""
    x = as_tensor(x)
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        identity = Tensor(np.eye(x.shape[-1]).astype(x.dtype.numpy))
        made: Tensor = MAKE.broadcast_to(identity, shape=x.shape)
        return made
    result: Tensor | None = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        x = matmul(x, x) if n else x
    assert result is not None, "a power of at least 1 has a factor"
    return result


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: object = "fro") -> Tensor:
    """Return norms of matrices."""
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    made: Tensor = _host("matrix_norm", x, keepdims=keepdims, ord=ord)
    return made


def vector_norm(
    x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Return norms along axes, of all elements if there is none."""
    x = as_tensor(x)
    x = x if x.row.kind in "fc" else cast(x, rows.f32)
    size = real(absolute(x)) if x.row.kind == "c" or ord != 2 else x
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if ord == np.inf:
        return reduction.max(size, **options)
    if ord == -np.inf:
        return reduction.min(size, **options)
    if ord == 0:
        return cast(reduction.count_nonzero(size, **options), size.row)
    if ord == 1:
        return reduction.sum(size, **options)
    if ord == 2:
        made: Tensor = MAKE.sqrt(reduction.sum(size * size, **options))
        return made
    total: Tensor = reduction.sum(size ** float(ord), **options)
    powered: Tensor = total ** (1.0 / float(ord))
    return powered


remember_all(globals())

"""Factors of matrices that LAPACK finds: eigenvalues, singular values, orthogonal factors.

They are computed on the host, in graphs too; their gradients are products and solutions, which
are operations. `pinv`, `lstsq` and `matrix_rank` are made of them.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from ....ir.op import Array
from ...graph.kinds import PyFunction
from ..core.bridge import TfTensor, custom_gradient, dressed, wrap
from ..core.shapes import TensorShape
from ..core.values import (
    InGraph,
    InvalidShapesError,
    InvalidTypesError,
    convert,
    graph_of,
    shape_spec,
)
from ..ops.array_ops import reshape, where
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, zeros_like
from ..ops.linear_ops import adjoint, diag, diag_part, set_diag, solve, triangular_solve
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, matmul
from ..ops.nn_ops import band_part
from ..ops.window_ops import norm
from .flow import stop_gradient
from .loops import while_loop

Gradient: TypeAlias = Callable[..., TfTensor]
Svd = namedtuple("Svd", "s u v")
Qr = namedtuple("Qr", "q r")
SelfAdjointEig = namedtuple("SelfAdjointEig", "e v")
TINY = 1e-20
"""What keeps the reciprocal of the distance of equal eigenvalues finite."""


def _host(
    type_: str,
    function: Callable[[Array], Sequence[Array]],
    x: TfTensor,
    shapes: Sequence[Sequence[int | None]],
) -> list[TfTensor]:
    """Carry out a function of an array, whose results have these shapes."""
    graph = graph_of([x])
    if graph is None:
        return [wrap(a) for a in function(np.asarray(convert(x)))]
    with InGraph(graph):
        specs = [shape_spec(convert(x).dtype, s) for s in shapes]
        kind = PyFunction(function, [s.dtype for s in specs], pure=True)
        kind.type = type_
        return [dressed(o) for o in graph.add(kind, [graph.owned(convert(x))], specs=specs).outputs]


def _matrices(x: object) -> tuple[TfTensor, list[int | None], int | None, int | None]:
    """Return matrices as a tensor, the extents before them, and theirs."""
    with InGraph(graph_of([x])):
        found = convert(x)
    dims = found.shape.as_list()
    if len(dims) < 2:
        raise InvalidShapesError(f"Input must have rank >= 2, got {len(dims)}")
    if found.dtype.is_integer:
        raise InvalidTypesError(f"Value for attr 'T' of {found.dtype.name} is not in the list")
    if found.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"matrices of {found.dtype.name} are not decomposed")
    return found, dims[:-2], dims[-2], dims[-1]


def _least(m: int | None, n: int | None) -> int | None:
    return None if m is None or n is None else min(m, n)


def _apart(values: TfTensor) -> TfTensor:
    """Return one over the differences of values, column minus row; 0 on the diagonal."""
    gaps = values[..., None, :] - values[..., :, None]
    return set_diag(gaps / (gaps * gaps + TINY), zeros_like(values))


@custom_gradient
def _eigh(a: object) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found, batch, n, _ = _matrices(a)
    shapes = [[*batch, n], [*batch, n, n]]
    e, v = _host("SelfAdjointEigV2", lambda x: tuple(np.linalg.eigh(x)), found, shapes)

    def gradient(grad_e: object, grad_v: object) -> TfTensor:
        inner = diag(grad_e) + _apart(e) * matmul(v, grad_v, transpose_a=True)
        whole = matmul(v, matmul(inner, v, transpose_b=True))
        lower = band_part(whole + adjoint(whole), -1, 0)
        return set_diag(lower, 0.5 * diag_part(lower))

    return (e, v), gradient


def eigh(tensor: object, name: str | None = None) -> SelfAdjointEig:
    """Return eigenvalues, in rising order, and eigenvectors of symmetric matrices."""
    return SelfAdjointEig(*_eigh(_matrices(tensor)[0]))


def eigvalsh(tensor: object, name: str | None = None) -> TfTensor:
    """Return the eigenvalues of symmetric matrices in rising order."""
    found: TfTensor = eigh(tensor).e
    return found


def _skew(x: object) -> TfTensor:
    return x - adjoint(x)


def _svd_gradient(
    s: TfTensor, u: TfTensor, v: TfTensor, gs: object, gu: TfTensor, gv: TfTensor
) -> TfTensor:
    """Return the gradient of matrices from those of their singular values and vectors."""
    apart = _apart(s * s)
    left = _skew(matmul(u, gu, transpose_a=True)) * apart * s[..., None, :]
    right = s[..., :, None] * (_skew(matmul(v, gv, transpose_a=True)) * apart)
    inner = matmul(matmul(u, left + right + diag(gs)), v, transpose_b=True)
    over = 1.0 / s[..., None, :]
    beside_u = (gu - matmul(u, matmul(u, gu, transpose_a=True))) * over
    beside_v = (gv - matmul(v, matmul(v, gv, transpose_a=True))) * over
    outer = matmul(beside_u, v, transpose_b=True) + matmul(u, beside_v, transpose_b=True)
    return inner + outer


def _singular(x: object, whole: bool = False) -> list[TfTensor]:
    found, batch, m, n = _matrices(x)
    k = _least(m, n)
    shapes = [[*batch, k], [*batch, m, m if whole else k], [*batch, n, n if whole else k]]

    def on_host(a: Array) -> Sequence[Array]:
        u, s, vh = np.linalg.svd(a, full_matrices=whole)
        return s, u, np.swapaxes(vh, -1, -2)

    return _host("Svd", on_host, found, shapes)


@custom_gradient
def _svd(a: object) -> tuple[tuple[TfTensor, ...], Gradient]:
    s, u, v = _singular(a)
    return (s, u, v), lambda *grads: _svd_gradient(s, u, v, *grads)


@custom_gradient
def _singular_values(a: object) -> tuple[TfTensor, Gradient]:
    s, u, v = _singular(a)
    return s, lambda grad: matmul(u * grad[..., None, :], v, transpose_b=True)


def svd(
    tensor: object, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> TfTensor | Svd:
    """Return singular values, falling, and if wanted the left and right singular vectors."""
    found = _matrices(tensor)[0]
    if not compute_uv:
        return _singular_values(found)
    if full_matrices and found.shape[-1] != found.shape[-2]:
        return Svd(*_singular(found, whole=True))
    return Svd(*_svd(found))


def _root(a: Array) -> Array:
    """Return the principal square root of a matrix, NaN where none is found of real numbers.

    That of a symmetric one comes from its eigenvalues, others by Denman and Beavers' products.
    """
    one, root, product = np.eye(len(a)), a, a
    try:
        if np.array_equal(a, a.T):
            values, vectors = np.linalg.eigh(a)
            found: Array = (vectors * np.sqrt(values)) @ vectors.T
            return found
        for _ in range(64):
            inverse = np.linalg.inv(product)
            root = 0.5 * (root + root @ inverse)
            product = 0.5 * (one + 0.5 * (product + inverse))
            if np.abs(product - one).max() < 1e-14:
                break
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)
    return np.full_like(a, np.nan) if np.abs(product - one).max() > 1e-3 else root


def _roots(a: Array) -> Array:
    """Return the principal square roots of matrices."""
    made = np.empty(a.shape, np.float64)
    with np.errstate(all="ignore"):
        for at in np.ndindex(a.shape[:-2]):
            made[at] = _root(a[at].astype(np.float64))
    return made.astype(a.dtype)


def sqrtm(input: object, name: str | None = None) -> TfTensor:
    """Return the matrix whose square is the given one: of real matrices the real one."""
    found, _, m, n = _matrices(input)
    if m != n:
        raise InvalidShapesError(f"input matrix must be square, got shape {found.shape}")
    return _sqrtm(found)


@custom_gradient
def _sqrtm(found: TfTensor) -> tuple[TfTensor, Gradient]:
    dims = found.shape.as_list()
    root = _host("MatrixSquareRoot", lambda a: (_roots(a),), found, [dims])[0]

    def gradient(grad: TfTensor) -> TfTensor:
        """Solve Sylvester's equation, rows of matrices below each other as one column."""
        n = found.shape.as_list()[-1]
        if n is None:
            raise NotImplementedError("the gradient of sqrtm needs to know how large matrices are")
        one = eye(n, dtype=found.dtype)
        left = adjoint(root)[..., :, None, :, None] * one[:, None, :]
        both = left + one[:, None, :, None] * root[..., None, :, None, :]
        outer = [size for size in dims[:-2] if size is not None]
        count = prod(outer) if len(outer) == len(dims) - 2 else -1
        column = reshape(grad, [count, n * n, 1])
        made = solve(reshape(both, [count, n * n, n * n]), column)
        return reshape(made, tensor_shape(grad) if None in dims else dims)

    return root, gradient


@custom_gradient
def _qr(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found, batch, rows, columns = _matrices(a)
    k = _least(rows, columns)
    shapes = [[*batch, rows, k], [*batch, k, columns]]
    q, r = _host("Qr", lambda x: tuple(np.linalg.qr(x)), found, shapes)

    def gradient(gq: object, gr: object) -> TfTensor:
        m, n = a.shape.as_list()[-2:]
        if m is None or n is None or m < n:
            raise NotImplementedError("the gradient of qr needs at least as many rows as columns")
        part = matmul(r, gr, transpose_b=True) - matmul(gq, q, transpose_a=True)
        lower = band_part(part, -1, 0)
        both = lower + adjoint(lower) - diag(diag_part(part))
        return adjoint(triangular_solve(r, adjoint(gq + matmul(q, both)), lower=False))

    return (q, r), gradient


def qr(input: object, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Return orthogonal and triangular factors."""
    found = _matrices(input)[0]
    _, batch, m, n = _matrices(found)
    if full_matrices and m != n:
        shapes = [[*batch, m, m], [*batch, m, n]]
        return Qr(*_host("Qr", lambda x: tuple(np.linalg.qr(x, "complete")), found, shapes))
    return Qr(*_qr(found))


PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""The coefficients of the 13th approximation of the exponential by a fraction."""
PADE_REACH = 5.37
"""Up to this norm it is exact."""


def expm(input: object, name: str | None = None) -> TfTensor:
    """Return the exponentials of matrices: a fraction of a small part, squared again and again."""
    found, _, m, n = _matrices(input)
    if m != n:
        raise InvalidShapesError(f"Input matrix must be squares, got {m} != {n}")
    with InGraph(graph_of([found])):
        wide = cast(found, "float64")
        size = REDUCTIONS["reduce_max"](REDUCTIONS["reduce_sum"](FUNCTIONS["abs"](wide), axis=-2))
        count = stop_gradient(FUNCTIONS["ceil"](FUNCTIONS["log"](size / PADE_REACH) / np.log(2.0)))
        count = FUNCTIONS["maximum"](count, 0.0)
        x = wide / FUNCTIONS["pow"](convert(2.0, "float64"), count)
        square = matmul(x, x)
        power: TfTensor = eye(n, dtype="float64")
        even: TfTensor = zeros_like(wide)
        odd = even
        for at in range(0, len(PADE), 2):
            even, odd = even + PADE[at] * power, odd + PADE[at + 1] * power
            power = matmul(square, power) if at else square
        odd = matmul(x, odd)
        made = solve(even - odd, even + odd)
        trips = cast(count, "int32")
        _, made = while_loop(lambda i, y: i < trips, lambda i, y: (i + 1, matmul(y, y)), (0, made))
        return cast(made, found.dtype)


def _cutoff(x: TfTensor, s: TfTensor, factor: float | TfTensor) -> TfTensor:
    """Return the size from which on singular values count."""
    largest = REDUCTIONS["reduce_max"](s, axis=-1, keepdims=True)
    longest = max(TensorShape(x.shape.as_list()[-2:]).known())
    return factor * longest * np.finfo(x.dtype.name).eps * largest


def pinv(
    a: object, rcond: object = None, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return pseudo-inverses; small singular values count as 0."""
    found = _matrices(a)[0]
    with InGraph(graph_of([found])):
        s, u, v = _svd(found)
        limit = (
            _cutoff(found, s, 10.0) if rcond is None else convert(rcond, found.dtype) * s[..., :1]
        )
        counts = s > limit
        inverse = where(counts, 1.0 / where(counts, s, 1.0), 0.0)
        return matmul(v * inverse[..., None, :], u, transpose_b=True)


def lstsq(
    matrix: object,
    rhs: object,
    l2_regularizer: object = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return the solutions of systems with the least squares of what is left over."""
    found, _, m, n = _matrices(matrix)
    if m is None or n is None:
        raise NotImplementedError("lstsq: how many rows and columns there are must be known")
    with InGraph(graph_of([found, rhs])):
        wanted = convert(rhs, found.dtype)
        if not fast:
            return matmul(pinv(found), wanted)
        tall = m >= n
        square = matmul(found, found, transpose_a=tall, transpose_b=not tall)
        square += l2_regularizer * eye(min(m, n), dtype=found.dtype)
        if tall:
            return solve(square, matmul(found, wanted, transpose_a=True))
        return matmul(found, solve(square, wanted), transpose_a=True)


def matrix_rank(
    a: object, tol: object = None, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return how many singular values of matrices are not small."""
    found = _matrices(a)[0]
    with InGraph(graph_of([found])):
        s = _singular_values(found)
        limit = _cutoff(found, s, 1.0) if tol is None else convert(tol, found.dtype)
        return REDUCTIONS["reduce_sum"](cast(s > limit, "int32"), axis=-1)


def normalize(
    tensor: object, ord: object = "euclidean", axis: object = None, name: str | None = None
) -> tuple[TfTensor, TfTensor]:
    """Return a tensor over its norm, and the norm."""
    x = convert(tensor)
    size = norm(x, ord, axis, keepdims=True)
    return x / size, size

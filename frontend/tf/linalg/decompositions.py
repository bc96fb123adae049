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
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor, custom_gradient
from ..core.shapes import TensorShape
from ..core.values import InGraph, convert, graph_of
from ..graph.flow import cond, stop_gradient
from ..graph.loops import while_loop
from ..ops.array_ops import concat, reshape, where
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, zeros_like
from ..ops.linear_ops import (
    adjoint,
    cholesky,
    cholesky_solve,
    diag,
    diag_part,
    inv,
    log_determinant,
    matrix_transpose,
    require_one_batch,
    set_diag,
    solve,
    triangular_solve,
)
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, conj, imag, matmul
from ..ops.nn_ops import band_part
from ..ops.window_ops import norm
from . import lapack
from .hosted import NARROW, Matrices, host, matrices, square_matrices
from .least_squares import shortest

Gradient: TypeAlias = Callable[..., TfTensor]
SolutionGradient: TypeAlias = Callable[..., tuple[TfTensor, TfTensor]]
Both: TypeAlias = tuple[TfTensor, TfTensor]
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", "sign log_abs_determinant")
Qr = namedtuple("Qr", "q r")
TINY = 1e-20
"""What keeps the reciprocal of the distance of equal eigenvalues finite."""


@custom_gradient
def _complex_log_determinant(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = square_matrices(a)
    kind = a.dtype.name
    results = [(kind, found.dims()), (kind, found.dims())]
    made = host("LogMatrixDeterminant", lambda x: tuple(np.linalg.slogdet(x)), [a], results)

    def gradient(_: TfTensor, grad: TfTensor) -> TfTensor:
        return grad[..., None, None] * inv(a, adjoint=True)

    return (made[0], made[1]), gradient


def slogdet(input: object, name: str | None = None) -> LogMatrixDeterminant:
    """Return signs of determinants, and logarithms of their absolute values."""
    with InGraph(graph_of([input])):
        found = convert(input)
    if found.dtype.is_complex:
        return LogMatrixDeterminant(*_complex_log_determinant(found))
    return LogMatrixDeterminant(*log_determinant(found, name=name))


def apart(values: TfTensor) -> TfTensor:
    """Return one over the differences of values, column minus row; 0 on the diagonal."""
    gaps = values[..., None, :] - values[..., :, None]
    return set_diag(gaps / (gaps * gaps + TINY), zeros_like(values))


WRONG = "Self-adjoint eigen decomposition was not successful. The input might not be valid."


def _symmetric(a: Array) -> tuple[Array, Array]:
    """Return eigenvalues and vectors, of finite numbers only."""
    values, vectors = lapack.symmetric(a)
    return _finite(values), vectors


def _finite(values: Array) -> Array:
    if not np.isfinite(values).all():
        raise np.linalg.LinAlgError(WRONG)
    return values


@custom_gradient
def _eigh(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = square_matrices(a)
    n, kind = found.rows, a.dtype.name
    specs = [(kind, found.dims(n)), (kind, found.dims(n, n))]
    e, v = host("SelfAdjointEigV2", _symmetric, [a], specs)

    def gradient(grad_e: TfTensor, grad_v: TfTensor, *, results: Both) -> TfTensor:
        e, v = results
        inner = diag(grad_e) + apart(e) * matmul(v, grad_v, adjoint_a=True)
        return _in_triangle(matmul(v, matmul(inner, v, adjoint_b=True)))

    return (e, v), gradient


def _in_triangle(whole: TfTensor) -> TfTensor:
    """Return gradients of symmetric matrices as those of their lower triangles."""
    lower = band_part(whole + adjoint(whole), -1, 0)
    return set_diag(lower, 0.5 * diag_part(lower))


@custom_gradient
def _eigenvalues(a: TfTensor) -> tuple[TfTensor, Gradient]:
    found = square_matrices(a)
    results = [(a.dtype.name, found.dims(found.rows))]
    (e,) = host("SelfAdjointEigV2", lambda x: (_finite(lapack.eigenvalues(x)),), [a], results)

    def gradient(grad: TfTensor) -> TfTensor:
        v = _eigh(a)[1]
        return _in_triangle(matmul(v, matmul(diag(grad), v, adjoint_b=True)))

    return e, gradient


def eigh(tensor: object, name: str | None = None) -> tuple[TfTensor, TfTensor]:
    """Return eigenvalues, in rising order, and eigenvectors of symmetric matrices."""
    values, vectors = _eigh(square_matrices(tensor).tensor)
    return values, vectors


def eigvalsh(tensor: object, name: str | None = None) -> TfTensor:
    """Return the eigenvalues of symmetric matrices in rising order."""
    return _eigenvalues(square_matrices(tensor).tensor)


def _skew(x: TfTensor) -> TfTensor:
    return x - adjoint(x)


Parts: TypeAlias = tuple[TfTensor, TfTensor, TfTensor]
"""Singular values, left and right vectors, or the gradients of these."""


def _svd_gradient(made: Parts, grads: Parts) -> TfTensor:
    """Return the gradient of matrices from those of their singular values and vectors.

    Vectors beyond the singular values are turned within what is beside them: there are none where
    it is not known how many values there are.
    """
    (s, u, v), (gs, gu, gv) = made, grads
    kind, n = u.dtype, None if s.shape.rank is None else s.shape.as_list()[-1]
    s, gs, left, right = cast(s, kind), cast(gs, kind), u[..., :n], v[..., :n]
    from_u, from_v = (matmul(x, g[..., :n], adjoint_a=True) for x, g in ((left, gu), (right, gv)))
    between = apart(s * s)
    inner = _skew(from_u) * between * s[..., None, :] + s[..., :, None] * (_skew(from_v) * between)
    inner += diag(gs)
    if kind.is_complex:  # how singular vectors are turned is theirs: only differences count
        turns = diag_part(from_v)
        inner += diag((conj(turns) - turns) / (2.0 * s))
    whole = matmul(matmul(left, inner), right, adjoint_b=True)
    over = 1.0 / s[..., None, :]
    beside_u = _beside(u, gu, n, from_u) * over
    beside_v = _beside(v, gv, n, from_v) * over
    return whole + matmul(beside_u, right, adjoint_b=True) + matmul(left, beside_v, adjoint_b=True)


def _beside(x: TfTensor, grad: TfTensor, n: int | None, within: TfTensor) -> TfTensor:
    """Return the part of the gradient of orthogonal vectors that leads out of their space."""
    found = grad[..., :n] - matmul(x[..., :n], within)
    if n is None or x.shape[-1] == n:
        return found
    across = matmul(x[..., :n], grad[..., n:], adjoint_a=True)
    return found - matmul(x[..., n:], across, adjoint_b=True)


def _singular(found: Matrices, whole: bool = False) -> list[TfTensor]:
    m, n, k = found.rows, found.columns, found.least
    kind = found.tensor.dtype.name
    shapes = [found.dims(k), found.dims(m, m if whole else k), found.dims(n, n if whole else k)]
    types = NARROW.get(kind, kind), kind, kind

    return host(
        "Svd",
        lambda a: _where_finite(lambda x: lapack.svd(x, whole), a),
        [found.tensor],
        list(zip(types, shapes, strict=True)),
    )


def _where_finite(function: Callable[[Array], Sequence[Array]], a: Array) -> Sequence[Array]:
    """Return what a function makes of matrices of finite numbers, NaN for others."""
    if np.isfinite(a).all():
        return function(a)
    is_finite = np.asarray(np.isfinite(a).all(axis=(-2, -1)))
    made = function(np.where(is_finite[..., None, None], a, 0))
    for part in made:
        part[~is_finite] = np.nan
    return made


@custom_gradient
def _svd(a: TfTensor) -> tuple[tuple[TfTensor, ...], Gradient]:
    def gradient(*grads: TfTensor, results: Parts) -> TfTensor:
        return _svd_gradient(results, grads)  # type: ignore[arg-type]

    return tuple(_singular(matrices(a))), gradient


@custom_gradient
def _whole_svd(a: TfTensor) -> tuple[tuple[TfTensor, ...], Gradient]:
    found = matrices(a)

    def gradient(*grads: TfTensor, results: Parts) -> TfTensor:
        if found.least is None or abs(found.size - (found.columns or 0)) > 1:
            raise NotImplementedError(
                "svd gradient is not supported for abs(m - n) > 1 when full_matrices is True"
            )
        return _svd_gradient(results, grads)  # type: ignore[arg-type]

    return tuple(_singular(found, whole=True)), gradient


def _singular_values(a: Array) -> Sequence[Array]:
    return (lapack.singular_values(a),)


@custom_gradient
def singular_values(a: TfTensor) -> tuple[TfTensor, Gradient]:
    """Return the singular values of matrices, falling."""
    found, kind = matrices(a), a.dtype.name
    results = [(NARROW.get(kind, kind), found.dims(found.least))]
    (s,) = host("Svd", lambda x: _where_finite(_singular_values, x), [a], results)

    def gradient(grad: TfTensor) -> TfTensor:
        _, u, v = _svd(a)
        return matmul(u * cast(grad, u.dtype)[..., None, :], v, adjoint_b=True)

    return s, gradient


def svd(
    tensor: object, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> TfTensor | tuple[TfTensor, TfTensor, TfTensor]:
    """Return singular values, falling, and if wanted the left and right singular vectors."""
    found = matrices(tensor)
    if not compute_uv:
        return singular_values(found.tensor)
    is_wider = full_matrices and (found.least is None or found.rows != found.columns)
    s, u, v = (_whole_svd if is_wider else _svd)(found.tensor)
    return s, u, v


def _is_hermitian(a: Array) -> bool:
    return not np.count_nonzero(a != (a.conj() if a.dtype.kind == "c" else a).T)


def _of_hermitian(a: Array, function: Callable[[Array], Array]) -> Array:
    values, vectors = lapack.symmetric(a)
    other = vectors.conj().T if a.dtype.kind == "c" else vectors.T
    found: Array = (vectors * function(values.astype(a.dtype, copy=False))) @ other
    return found


def of_eigenvalues(a: Array, function: Callable[[Array], Array]) -> Array:
    """Return a function of a matrix by those of its eigenvalues, NaN if it lacks eigenvectors."""
    if _is_hermitian(a):
        return _of_hermitian(a, function)
    values, vectors = lapack.eig(a)
    both = np.concatenate([vectors * function(values), vectors * values])
    solved: Array = np.linalg.solve(vectors.T, both.T).T
    made, back = solved[: len(a)], solved[len(a) :]
    right = np.abs(back - a).max(initial=0) <= CLOSE * np.abs(a).max(initial=0)
    return made if right else np.full_like(a, np.nan)


CLOSE = 1e-7
"""By so much a matrix may differ from what its eigenvalues and vectors make of it."""


def root_by_products(a: Array) -> tuple[Array, float]:
    """Return the square root of a matrix by Denman and Beavers, and how far from it that is."""
    one, root, product = np.eye(len(a)), a, a
    away = np.inf
    for _ in range(64):
        inverse = np.linalg.inv(product)
        root = 0.5 * (root + root @ inverse)
        product = 0.5 * (one + 0.5 * (product + inverse))
        away = float(np.abs(product - one).max())
        if away < 1e-14:
            break
    return root, away


def _root(a: Array) -> Array:
    """Return the principal square root of a matrix, NaN where none is found of its numbers.

    That of a Hermitian one comes from its eigenvalues, others by products.
    """
    try:
        if _is_hermitian(a):
            return _of_hermitian(a, np.sqrt)
        if a.dtype.kind == "c":
            return of_eigenvalues(a, np.sqrt)
        root, away = root_by_products(a)
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)
    return root if away <= 1e-3 else np.full_like(a, np.nan)


def _roots(a: Array) -> Array:
    """Return the principal square roots of matrices."""
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    if a.ndim == 2:
        return _root(wide)
    made = np.empty_like(wide)
    for at in np.ndindex(a.shape[:-2]):
        made[at] = _root(wide[at])
    return made


def sqrtm(input: object, name: str | None = None) -> TfTensor:
    """Return the matrix whose square is the given one: of real matrices the real one."""
    return _sqrtm(square_matrices(input).tensor)


@custom_gradient
def _sqrtm(found: TfTensor) -> tuple[TfTensor, Gradient]:
    given = square_matrices(found)
    specs = [(found.dtype.name, given.dims(given.rows, given.rows))]
    made = host("MatrixSquareRoot", lambda a: (_roots(a),), [found], specs)[0]

    def gradient(grad: TfTensor, *, results: TfTensor) -> TfTensor:
        """Solve Sylvester's equation, rows of matrices below each other as one column."""
        root = results
        n = tensor_shape(root)[-1] if given.rows is None else given.rows
        dims = given.dims(given.rows, given.rows)
        one = eye(n, dtype=found.dtype)
        left = matrix_transpose(root)[..., :, None, :, None] * one[:, None, :]
        both = left + one[:, None, :, None] * root[..., None, :, None, :]
        outer = [size for size in given.batch or [] if size is not None]
        count = prod(outer) if given.batch is not None and len(outer) == len(given.batch) else -1
        column = reshape(grad, [count, n * n, 1])
        solved = solve(reshape(both, [count, n * n, n * n]), column)
        return reshape(solved, tensor_shape(grad) if dims is None or None in dims else dims)

    return made, gradient


def _tall_qr_gradient(q: TfTensor, r: TfTensor, gq: TfTensor, gr: TfTensor) -> TfTensor:
    """Return the gradient of matrices that have at least as many rows as columns."""
    part = matmul(r, gr, adjoint_b=True) - matmul(gq, q, adjoint_a=True)
    lower = band_part(part, -1, 0)
    both = lower + adjoint(lower) - diag(diag_part(part))
    if q.dtype.is_complex:  # the diagonal of r is real: that no part of it turns is stated
        both += diag(cast(imag(diag_part(part)), q.dtype) * 1j)
    return adjoint(triangular_solve(r, adjoint(gq + matmul(q, both)), lower=False))


@custom_gradient
def _qr(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = matrices(a)
    m, n, k, kind = found.rows, found.columns, found.least, a.dtype.name
    specs = [(kind, found.dims(m, k)), (kind, found.dims(k, n))]
    made = host("Qr", lapack.qr, [a], specs)

    def gradient(gq: TfTensor, gr: TfTensor, *, results: Both) -> TfTensor:
        """Go back; of a wide matrix, what lies to the right is a product with q."""
        q, r = results
        if m is None or n is None:
            raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
        if m >= n:
            return _tall_qr_gradient(q, r, gq, gr)
        rest = matmul(a[..., m:], gr[..., m:], adjoint_b=True)
        first = _tall_qr_gradient(q, r[..., :m], gq + rest, gr[..., :m])
        return concat([first, matmul(q, gr[..., m:])], -1)

    return (made[0], made[1]), gradient


@custom_gradient
def _whole_qr(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = matrices(a)
    m, n, kind = found.rows, found.columns, a.dtype.name
    results = [(kind, found.dims(m, m)), (kind, found.dims(m, n))]
    q, r = host("Qr", lambda x: tuple(np.linalg.qr(x, "complete")), [a], results)

    def gradient(gq: TfTensor, gr: TfTensor) -> TfTensor:
        if found.least is None or found.size > (n or 0):
            raise NotImplementedError(
                "QrGrad not implemented when nrows > ncols and full_matrices is true."
            )
        raise NotImplementedError("the gradient of qr with full_matrices wants known sizes")

    return (q, r), gradient


def qr(input: object, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Return orthogonal and triangular factors."""
    found = matrices(input)
    wide = found.least is not None and found.rows == found.least
    return Qr(*(_whole_qr if full_matrices and not wide else _qr)(found.tensor))


PADE_13 = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
PADE_7 = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
PADE = {"float32": (PADE_7, 3.92), "float64": (PADE_13, 5.37)}
"""The coefficients of an approximation of the exponential by a fraction, and up to which norm it is
exact, by the type of real parts."""


def expm(input: object, name: str | None = None) -> TfTensor:
    """Return the exponentials of matrices: a fraction of a small part, squared again and again."""
    given = square_matrices(input)
    x = given.tensor
    kind = x.dtype.name
    real_kind = NARROW.get(kind, kind)
    factors, reach = PADE[real_kind]
    with InGraph(graph_of([x])):
        size = REDUCTIONS["reduce_max"](REDUCTIONS["reduce_sum"](FUNCTIONS["abs"](x), axis=-2))
        count = stop_gradient(FUNCTIONS["ceil"](FUNCTIONS["log"](size / reach) / np.log(2.0)))
        count = FUNCTIONS["maximum"](count, 0.0)
        x = x / cast(FUNCTIONS["pow"](convert(2.0, real_kind), count), kind)
        one = eye(tensor_shape(x)[-1] if given.rows is None else given.rows, dtype=kind)
        even, odd = _fraction(x, one, factors)
        is_some = FUNCTIONS["is_finite"](count)  # a matrix of NaN has no pivots
        made = solve(where(is_some, even - odd, one), even + odd)
        whole = where(is_some, count, zeros_like(count))
        trips = cast(whole, "int32")  # nothing is squared of what is infinite
        squared = while_loop(lambda i, y: i < trips, lambda i, y: (i + 1, matmul(y, y)), (0, made))
        result: TfTensor = squared[1]
        return result


def _fraction(x: TfTensor, one: TfTensor, factors: Sequence[float]) -> tuple[TfTensor, TfTensor]:
    """Return the even and the odd part of a polynomial of matrices."""
    square = matmul(x, x)
    powers = [square]
    while len(powers) < len(factors) // 2 - 1:
        powers.append(matmul(square, powers[-1]))
    even, odd = factors[0] * one, factors[1] * one
    for at, power in enumerate(powers, 1):
        even, odd = even + factors[2 * at] * power, odd + factors[2 * at + 1] * power
    return even, matmul(x, odd)


def _cutoff(x: TfTensor, s: TfTensor, factor: float | TfTensor) -> TfTensor:
    """Return the size from which on singular values count."""
    largest = REDUCTIONS["reduce_max"](s, axis=-1, keepdims=True)
    sizes: object = TensorShape(None if x.shape.rank is None else x.shape.as_list()[-2:])
    if isinstance(sizes, TensorShape) and not sizes.is_fully_defined():
        sizes = tensor_shape(x)[-2:]
    longest = cast(REDUCTIONS["reduce_max"](convert(sizes)), largest.dtype)
    return factor * longest * np.finfo(largest.dtype.name).eps * largest


def pinv(
    a: object, rcond: object = None, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return pseudo-inverses; small singular values count as 0."""
    return _pseudo_inverse(matrices(a, "f").tensor, rcond)


def _pseudo_inverse(found: TfTensor, rcond: object = None) -> TfTensor:
    with InGraph(graph_of([found])):
        s, u, v = _svd(found)
        limit = (
            _cutoff(found, s, 10.0)
            if rcond is None
            else convert(rcond, found.dtype)[..., None] * s[..., :1]
        )
        counts = s > limit
        inverse = cast(where(counts, 1.0 / where(counts, s, 1.0), 0.0), found.dtype)
        return matmul(v * inverse[..., None, :], u, adjoint_b=True)


def lstsq(
    matrix: object,
    rhs: object,
    l2_regularizer: object = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return the solutions of systems with the least squares of what is left over."""
    given = matrices(matrix)
    found, m, n = given.tensor, given.rows, given.columns
    with InGraph(graph_of([found, rhs])):
        wanted = convert(rhs, found.dtype)
        if not fast:
            require_one_batch(found, wanted, "MatrixSolveLs")
            return _complete_solution(found, wanted)
        wide = convert(l2_regularizer, None if isinstance(l2_regularizer, TfTensor) else "float64")
        more = cast(wide, found.dtype)  # (a number of Python's has all its digits)
        if m is not None and n is not None:
            return _fast_solution(found, wanted, more, m >= n)
        counts = tensor_shape(found)
        made = cond(
            counts[-2] >= counts[-1],
            lambda: _fast_solution(found, wanted, more, True),
            lambda: _fast_solution(found, wanted, more, False),
        )
        assert isinstance(made, TfTensor), "both ways give one tensor"
        return made


def _fast_solution(a: TfTensor, b: TfTensor, more: TfTensor, tall: bool) -> TfTensor:
    """Return solutions by a product of the matrices with themselves, and more on its diagonal."""
    square = matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    known = square.shape[-1]
    square += more * eye(tensor_shape(square)[-1] if known is None else known, dtype=a.dtype)
    triangle = cholesky(square)
    if tall:
        return cholesky_solve(triangle, matmul(a, b, adjoint_a=True))
    return matmul(a, cholesky_solve(triangle, b), adjoint_a=True)


@custom_gradient
def _complete_solution(a: TfTensor, b: TfTensor) -> tuple[TfTensor, SolutionGradient]:
    """Return the shortest solutions; of matrices that have no rank, 0."""
    batch = matrices(a)
    columns = None if b.shape.rank is None else b.shape.as_list()[-1]
    results = [(b.dtype.name, batch.dims(batch.columns, columns))]
    (found,) = host("MatrixSolveLs", lambda a, b: (shortest(a, b),), [a, b], results)

    def gradient(grad: TfTensor, *, results: TfTensor) -> tuple[TfTensor, TfTensor]:
        """Move what is left over, and what a shortest solution lacks, as the matrix moves."""
        x, inverse = results, _pseudo_inverse(a)
        for_b = matmul(inverse, grad, adjoint_a=True)
        left = b - matmul(a, x)
        for_a = matmul(left, matmul(inverse, for_b), adjoint_b=True)
        beside = grad - matmul(a, for_b, adjoint_a=True)
        for_a += matmul(matmul(inverse, x, adjoint_a=True), beside, adjoint_b=True)
        return for_a - matmul(for_b, x, adjoint_b=True), for_b

    return found, gradient


def matrix_rank(
    a: object, tol: object = None, validate_args: bool = False, name: str | None = None
) -> TfTensor:
    """Return how many singular values of matrices are not small."""
    found = matrices(a, "f").tensor
    with InGraph(graph_of([found])):
        s = singular_values(found)
        limit = _cutoff(found, s, 1.0) if tol is None else convert(tol, found.dtype)
        return REDUCTIONS["reduce_sum"](cast(s > limit, "int32"), axis=-1)


def normalize(
    tensor: object, ord: object = "euclidean", axis: object = None, name: str | None = None
) -> tuple[TfTensor, TfTensor]:
    """Return a tensor over its norm, and the norm."""
    x = convert(tensor)
    size = norm(x, ord, axis, keepdims=True)
    return x / cast(size, x.dtype), size


remember_all(globals())

"""Matrices by TensorFlow's names: inverses, determinants, systems, factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.ops.factor import factorised, inverted, solved, solved_triangle
from ....ir.types.dims import Dim, product
from ....ir.types.shapes import broadcast
from ....ir.types.tensor import Array
from ...eager.remembered import remember_all
from ...eager.tensor import Tensor, computed
from ...graph.inference import Abstract, is_unknown
from ...values.diagonals import of_diagonals, with_diagonals
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import op, op_of_several
from ..core.values import InGraph, InvalidShapesError, at_once, elements, graph_of, same, static
from .math_ops import FUNCTIONS, REDUCTIONS, by_parts, conj, real
from .nn_ops import band_part


def _transposed(m: Maker, x: object) -> object:
    rank = spec_of_value(x).rank
    if rank < 2:
        raise TypeError(
            f"Argument `a` should be a (batch) matrix with rank >= 2. Received rank {rank}"
        )
    return m.transpose(x, order=(*range(rank - 2), rank - 1, rank - 2))


def _is_complex(x: object) -> bool:
    return bool(spec_of_value(x).dtype.kind == "c")


def _of_complex(function: Callable[..., Array], dims: Sequence[Dim], *values: object) -> object:
    """Return what a function of numpy's gives for complex numbers: the host has them.

    The matrices must be square.
    """
    spec = spec_of_value(values[0])
    _check_square(values[0])
    if any(map(is_unknown, values)):
        return Abstract(spec.with_shape(tuple(dims)))
    made = function(*map(elements, values))
    return np.asarray(made).astype(spec.dtype.numpy)


def _turned(x: Array, adjoint: bool) -> Array:
    return np.conj(np.swapaxes(x, -1, -2)) if adjoint else x


@op("MatrixInverse", "input", strict=False)
def inv(m: Maker, input: object, adjoint: bool = False) -> object:
    """Return the inverses of matrices."""
    if _is_complex(input):
        dims = spec_of_value(input).dims
        return _of_complex(lambda x: inverted(_turned(x, adjoint)), dims, input)
    return m.inverse(_transposed(m, input) if adjoint else input)


@op("MatrixDeterminant", "input", strict=False)
def det(m: Maker, input: object) -> object:
    """Return the determinants of matrices."""
    if _is_complex(input):
        return _of_complex(np.linalg.det, spec_of_value(input).dims[:-2], input)
    return m.determinant(input)


@op_of_several("LogMatrixDeterminant", "input", strict=False)
def log_determinant(m: Maker, input: object) -> object:
    """Return signs and logarithms of the absolute values of determinants of real matrices."""
    return m.log_determinant(input)


@op("Cholesky", "input", strict=False)
def cholesky(m: Maker, input: object) -> object:
    """Return the lower triangles whose products with their transposes the matrices are."""
    if not _is_complex(input):
        return m.cholesky(input)
    return _of_complex(factorised, spec_of_value(input).dims, input)


def _check_square(x: object) -> None:
    """Raise unless matrices have as many rows as columns, so far as that is known."""
    dims = spec_of_value(x).dims
    if len(dims) < 2:
        raise TypeError(f"Input must have rank >= 2, got {len(dims)}")
    if dims[-1] != dims[-2] and isinstance(dims[-1], int) and isinstance(dims[-2], int):
        raise TypeError(f"Input matrix must be square, got shape {list(dims)}")


def _complex_solution(function: Callable[..., Array], matrix: object, rhs: object) -> object:
    """Return what solves systems of complex numbers."""
    a, b = spec_of_value(matrix).dims, spec_of_value(rhs).dims
    if len(b) < 2 or a[-1] != b[-2]:
        raise TypeError(f"a right side {spec_of_value(rhs)}, expected matrices of {a[-1]} rows")
    dims = (*broadcast(a[:-2], b[:-2]), *b[-2:])
    return _of_complex(function, dims, matrix, rhs)


@op("MatrixSolve", "matrix", "rhs")
def solve_each(m: Maker, matrix: object, rhs: object, adjoint: bool = False) -> object:
    """Solve linear equations, of which the batches broadcast."""
    if _is_complex(matrix):
        return _complex_solution(lambda x, y: solved(_turned(x, adjoint), y), matrix, rhs)
    return m.solve(_transposed(m, matrix) if adjoint else matrix, rhs)


def solve(matrix: object, rhs: object, adjoint: bool = False, name: str | None = None) -> TfTensor:
    """Solve linear equations of as many matrices as right sides."""
    with InGraph(graph_of([matrix, rhs])):
        a, b = same(matrix, rhs)
        require_one_batch(a, b, "MatrixSolve")
        return solve_each(a, b, adjoint=bool(adjoint), name=name)


def require_one_batch(a: TfTensor, b: TfTensor, type_: str) -> None:
    """Raise unless matrices and right sides come in the same batches, so far as that is known."""
    if a.shape.rank is None or b.shape.rank is None:
        return
    if a.shape.rank != b.shape.rank:
        raise InvalidShapesError(f"All input tensors must have the same rank. [Op:{type_}]")
    if not a.shape[:-2].is_compatible_with(b.shape[:-2]):
        raise InvalidShapesError(
            f"All input tensors must have the same outer dimensions. [Op:{type_}]"
        )


@op("MatrixTriangularSolve", "matrix", "rhs")
def _triangular(m: Maker, matrix: object, rhs: object, lower: bool, adjoint: bool) -> object:
    """Solve for a triangle; of complex matrices the rest is zero."""
    if _is_complex(matrix):
        solve_ = partial(solved_triangle, lower=lower != adjoint)
        return _complex_solution(lambda x, y: solve_(_turned(x, adjoint), y), matrix, rhs)
    return m.triangular_solve(matrix, rhs, lower=lower, transpose=adjoint)


def triangular_solve(
    matrix: object, rhs: object, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> TfTensor:
    """Solve linear equations of which only a triangle counts."""
    with InGraph(graph_of([matrix, rhs])):
        kept, right = same(matrix, rhs)
        if kept.dtype.is_complex:
            kept = band_part(kept, -1, 0) if lower else band_part(kept, 0, -1)
        return _triangular(kept, right, lower=bool(lower), adjoint=bool(adjoint), name=name)


def _ends(k: object) -> tuple[int, int]:
    """Return the lowest and the highest of some diagonals: one number, or both."""
    given = np.ravel(static(k)).tolist()
    if len(given) not in (1, 2):
        raise TypeError(f"diag_index must have only one or two elements, received {len(given)}")
    low, high = given[0], given[-1]
    if low > high:
        raise TypeError(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}"
        )
    return low, high


def _require_axes(what: str, value: object, least: int) -> tuple[Dim, ...]:
    """Return the sizes of a value, or raise if it has fewer axes than it must have."""
    spec = spec_of_value(value)
    if spec.rank < least:
        raise TypeError(
            f"{what} must be at least {least}-dim: its shape must be at least rank {least} but is "
            f"rank {spec.rank}"
        )
    return spec.dims


def _places(
    height: int, width: int, ends: tuple[int, int], align: str, *, inside: bool = True
) -> Array:
    """Return where in a matrix each element of diagonals is, the highest first; -1 is none.

    `align` says at which end those above and those below begin: `RIGHT_LEFT`. Where they need not
    be `inside`, those outside have no elements.
    """
    if align not in ("LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"):
        raise ValueError(f"Align must be LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT or RIGHT_RIGHT: {align}")
    for what, end in zip(("lower", "upper"), ends, strict=True):
        if inside and not (-height < end < width) and end != 0:
            raise TypeError(
                f"{what}_diag_index is out of bound: {end}, expected one between {-height} and "
                f"{width}"
            )
    low, high = ends
    sizes = [max(0, min(height + min(d, 0), width - max(d, 0))) for d in range(high, low - 1, -1)]
    made = np.full((len(sizes), max(sizes)), -1, np.int64)
    above, below = (side == "RIGHT" for side in align.split("_"))
    for row, (d, size) in enumerate(zip(range(high, low - 1, -1), sizes, strict=True)):
        right = (above and d >= 0) or (below and d <= 0)
        begin = made.shape[1] - size if right else 0
        place = np.arange(size)
        made[row, begin : begin + size] = (place - min(d, 0)) * width + place + max(d, 0)
    return made


def _inverted(places: Array, size: int) -> tuple[Array, Array]:
    """Return which element of diagonals is at each place of a matrix, and whether there is one."""
    order = np.zeros(size, np.int64)
    hit = np.zeros(size, np.bool_)
    there = places.ravel() >= 0
    order[places.ravel()[there]] = np.flatnonzero(there)
    hit[places.ravel()[there]] = True
    return order, hit


@op("DiagPart", "input", strict=False)
def diag_part(
    m: Maker,
    input: object,
    k: object = 0,
    padding_value: object = 0,
    align: str = "RIGHT_LEFT",
) -> object:
    """Return the diagonals of matrices, `k` above the main one, or those between two ends."""
    spec, ends = spec_of_value(input), _ends(k)
    dims = _require_axes("input", input, 2)
    height, width = (int(d) for d in dims[-2:])  # type: ignore[arg-type]
    places = _places(height, width, ends, align)
    places = places if len(places) > 1 else places[0]
    flat = m.reshape(input, shape=(*dims[:-2], height * width))
    made = m.gather(flat, m.constant(value=np.maximum(places, 0)), axis=len(dims) - 2)
    if (places >= 0).all():
        return made
    return m.select(
        m.constant(value=places >= 0), made, m.number(static(padding_value), spec.dtype)
    )


def _at_once(*values: object) -> bool:
    """Say whether numpy computes on values, and nobody records it."""
    return all(isinstance(x, Tensor) and computed(x) for x in values)


def _wanted(places: Array, dims: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the shape of diagonals with an element for each place, for a batch of matrices."""
    return (*dims[:-2], *(places.shape if len(places) > 1 else places.shape[1:]))


def _fits(diagonal: object, places: Array, dims: Sequence[Dim]) -> bool:
    """Say whether diagonals have that shape."""
    return tuple(spec_of_value(diagonal).dims) == _wanted(places, dims)


def _spread(
    m: Maker, diagonal: object, places: Array, dims: Sequence[Dim]
) -> tuple[object, object]:
    """Return matrices with diagonals at their places, and where these are."""
    batch, (height, width) = tuple(dims[:-2]), (int(d) for d in dims[-2:])  # type: ignore[arg-type]
    if not _fits(diagonal, places, dims):
        given, wanted = spec_of_value(diagonal).dims, _wanted(places, dims)
        raise TypeError(
            "either first dimensions of diagonal don't match those of the matrices, or it is not "
            f"as long as the longest one: diagonals {list(given)}, expected {[*wanted]} for "
            f"matrices {list(dims)}"
        )
    order, hit = _inverted(places, height * width)
    flat = m.reshape(diagonal, shape=(*batch, places.size))
    made = m.gather(flat, m.constant(value=order), axis=len(batch))
    hits = m.constant(value=hit.reshape(height, width))
    return m.reshape(made, shape=(*batch, height, width)), hits


@op("SetDiag", "input", "diagonal", shapes=shapes_of.like())
def set_diag(
    m: Maker, input: object, diagonal: object, k: object = 0, align: str = "RIGHT_LEFT"
) -> object:
    """Return matrices with other diagonals."""
    dims, ends = _require_axes("input", input, 2), _ends(k)
    _require_axes("diagonal", diagonal, 1)
    height, width = (int(d) for d in dims[-2:])  # type: ignore[arg-type]
    places = _places(height, width, ends, align)
    if _at_once(input, diagonal) and _fits(diagonal, places, dims):
        return at_once(partial(with_diagonals, places), input, diagonal)
    made, hits = _spread(m, diagonal, places, dims)
    return m.select(hits, made, input)


@op("Diag", "diagonal", strict=False)
def diag(
    m: Maker,
    diagonal: object,
    k: object = 0,
    num_rows: object = -1,
    num_cols: object = -1,
    padding_value: object = 0,
    align: str = "RIGHT_LEFT",
) -> object:
    """Matrices with a diagonal, `k` above the main one, or several, and one value elsewhere."""
    spec, (low, high) = spec_of_value(diagonal), _ends(k)
    _require_axes("diagonal", diagonal, 1 if low == high else 2)
    longest = int(spec.dims[-1])  # type: ignore[arg-type]
    height, width = (int(np.asarray(static(x)).item()) for x in (num_rows, num_cols))
    least = longest - min(high, 0), longest + max(low, 0)
    if height < 0 and width < 0:
        height = width = max(least)
    height, width = (least[0] if height < 0 else height), (least[1] if width < 0 else width)
    for what, found, enough in zip(("rows", "columns"), (height, width), least, strict=True):
        if found < enough:
            raise TypeError(f"The number of {what} is too small: {found}, expected {enough}")
    if height != least[0] and width != least[1]:
        raise TypeError(f"The number of rows or columns is not consistent: {height} x {width}")
    batch = spec.dims[: -1 if low == high else -2]
    dims = (*batch, height, width)
    places = _places(height, width, (low, high), align, inside=False)
    if _at_once(diagonal) and _fits(diagonal, places, dims):
        fill = np.asarray(static(padding_value), spec.dtype.numpy)
        shape = spec.with_shape(dims).static_shape
        return at_once(partial(of_diagonals, places, shape, fill), diagonal)
    made, hits = _spread(m, diagonal, places, dims)
    return m.select(hits, made, m.number(static(padding_value), spec.dtype))


@op("TensorDiag", "diagonal", strict=False)
def tensor_diag(m: Maker, diagonal: object) -> object:
    """Return a tensor of twice the axes whose diagonal a tensor is."""
    spec = spec_of_value(diagonal)
    _require_axes("diagonal", diagonal, 1)
    n = int(spec.size)  # type: ignore[arg-type]
    eye = m.constant(value=np.eye(n, dtype=np.bool_))
    spread = m.select(eye, m.reshape(diagonal, shape=(n, 1)), m.number(0, spec.dtype))
    return m.reshape(spread, shape=(*spec.dims, *spec.dims))


@op("TensorDiagPart", "input", strict=False)
def tensor_diag_part(m: Maker, input: object) -> object:
    """Return the diagonal of a tensor of twice its axes."""
    dims = _require_axes("input", input, 2)
    half = dims[: len(dims) // 2]
    if half != dims[len(half) :]:
        raise TypeError(
            f"input must have even rank, and be as large in each half of its axes: {list(dims)}"
        )
    n: Any = product(half)
    place = m.constant(value=np.arange(n) * (n + 1))
    return m.reshape(m.gather(m.reshape(input, shape=(n * n,)), place, axis=0), shape=half)


def cross(a: object, b: object, name: str | None = None) -> TfTensor:
    """Return the vector products along the last axis, which has three elements."""
    from .composed import roll  # noqa: PLC0415

    def turned(x: object, by: int) -> TfTensor:
        return roll(x, by, -1)

    multiply, subtract = FUNCTIONS["multiply"], FUNCTIONS["subtract"]
    left, right = multiply(turned(a, -1), turned(b, 1)), multiply(turned(a, 1), turned(b, -1))
    return subtract(left, right, name=name)


def cholesky_solve(chol: object, rhs: object, name: str | None = None) -> TfTensor:
    """Solve linear equations whose matrices are given by their Cholesky factors."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True, name=name)


@op("MatrixTranspose", "a", strict=False, label="matrix_transpose")
def matrix_transpose(m: Maker, a: object, conjugate: bool = False) -> object:
    """Exchange the last two axes."""
    return _transposed(m, m.conj(a) if conjugate and _is_complex(a) else a)


def adjoint(matrix: object, name: str | None = None) -> TfTensor:
    """Exchange the last two axes, and conjugate."""
    return matrix_transpose(matrix, conjugate=True, name=name)


def logdet(matrix: object, name: str | None = None) -> TfTensor:
    """Return the logarithm of the determinants of positive definite matrices."""
    diagonal = real(diag_part(cholesky(matrix)))
    log = FUNCTIONS["log"]
    return 2.0 * REDUCTIONS["reduce_sum"](log(diagonal), axis=[-1], name=name)


@op("Trace", "x", strict=False)
def trace(m: Maker, x: object) -> object:
    """Add up the diagonals of matrices."""
    spec = spec_of_value(x)
    n, k = spec.dims[-2:]
    place = m.constant(value=np.arange(min(int(n), int(k))) * (int(k) + 1))  # type: ignore[arg-type]
    flat = m.reshape(x, shape=(*spec.dims[:-2], n * k))
    return m.sum(m.gather(flat, place, axis=spec.rank - 2), axes=(spec.rank - 2,))


def matvec(
    a: object,
    b: object,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Multiply matrices by vectors."""
    with InGraph(graph_of([a, b])):
        matrix, vector = same(a, b)
        turned = transpose_a or adjoint_a
        if not matrix.dtype.is_complex:
            return _matvec(matrix, vector, turned=turned, name=name)
        matrix = conj(matrix) if adjoint_a else matrix
        return by_parts(lambda x, y: _matvec(x, y, turned=turned), [matrix, vector])


@op("MatVec", "a", "b")
def _matvec(m: Maker, a: object, b: object, turned: bool) -> object:
    rank = spec_of_value(b).rank
    column = c.unsqueeze(m.emit, b, (rank,))
    product_ = m.matmul(a, column, transpose_lhs=turned)
    return c.squeeze(m.emit, product_, (spec_of_value(product_).rank - 1,))


remember_all(globals())

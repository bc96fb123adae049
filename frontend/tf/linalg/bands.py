"""Matrices with few diagonals: three of them, those of a triangle, and their eigenvalues.

Three diagonals come in one of three formats. `compact` has a row for each: the one above, whose
last element does not count, the main one, and the one below, whose first does not. `sequence` is
a list of the three, which may leave out those elements; `matrix` is the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...eager.remembered import remembered
from ..core.bridge import TfTensor, custom_gradient
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..ops.array_ops import boolean_mask, concat, expand_dims, pad, squeeze, stack
from ..ops.creation import zeros_like
from ..ops.linear_ops import adjoint, diag, diag_part, matrix_transpose, triangular_solve
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, conj, real
from .decompositions import eigh
from .few_diagonals import filled, substituted
from .hosted import NARROW, WIDE, host
from .three_diagonals import solved

FORMATS = ("compact", "sequence", "matrix")


def _ends(x: TfTensor, before: int, after: int) -> TfTensor:
    """Return vectors with zeros put in front of them and behind."""
    return pad(x, [[0, 0]] * (len(x.shape) - 1) + [[before, after]])


def three(diagonals: object, how: str) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return the diagonals above, in and below the middle, each as long as the matrix."""
    if how not in FORMATS:
        raise ValueError(f"Unrecognized diagonals_format: {how}")
    if how == "matrix":
        x = convert(diagonals)
        if x.shape[-1] != x.shape[-2]:
            raise ValueError(f"Expected last two dimensions of diagonals to be equal: {x.shape}")
        above, below = (diag_part(x, k=k) for k in (1, -1))
        return _ends(above, 0, 1), diag_part(x), _ends(below, 1, 0)
    if how == "compact":
        x = convert(diagonals)
        if x.shape.rank is not None and (x.shape.rank < 2 or x.shape[-2] not in (3, None)):
            raise ValueError(f"Expected 3 diagonals got {x.shape}")
        return x[..., 0, :], x[..., 1, :], x[..., 2, :]
    return _three_of(diagonals)


def _three_of(diagonals: object) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return diagonals of a list; those beside the middle may be one element shorter."""
    if not isinstance(diagonals, Sequence) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, middle, below = (convert(x) for x in diagonals)
    if None in (x.shape.rank for x in (above, middle, below)):
        return above, middle, below
    n = middle.shape[-1]
    if above.shape[-1] != n:
        above = _ends(above, 0, 1)
    if below.shape[-1] != n:
        below = _ends(below, 1, 0)
    if above.shape[-1] != n or below.shape[-1] != n:
        raise InvalidShapesError(f"Invalid superdiagonal shape: beside a diagonal of {n} elements")
    return above, middle, below


@custom_gradient
def _solved(
    diagonals: TfTensor, rhs: TfTensor, pivots: bool
) -> tuple[TfTensor, Callable[..., tuple[TfTensor, TfTensor]]]:
    kind = rhs.dtype.name
    (found,) = host(
        "TridiagonalSolve",
        lambda a, b: (solved(a, b, pivots),),
        [diagonals, rhs],
        [(kind, rhs.shape.as_list())],
    )

    def gradient(grad: TfTensor, *, results: TfTensor) -> tuple[TfTensor, TfTensor]:
        """Solve the transposed system; of the diagonals, products with the result beside."""
        made = results
        above, middle, below = (diagonals[..., i, :] for i in range(3))
        turned = stack([_ends(below[..., 1:], 0, 1), middle, _ends(above[..., :-1], 1, 0)], -2)
        back = _solved(turned, grad, pivots=pivots)
        total = REDUCTIONS["reduce_sum"]
        upper = _ends(total(back[..., :-1, :] * made[..., 1:, :], -1), 0, 1)
        lower = _ends(total(back[..., 1:, :] * made[..., :-1, :], -1), 1, 0)
        return -stack([upper, total(back * made, -1), lower], -2), back

    return found, gradient


@remembered
def tridiagonal_solve(
    diagonals: object,
    rhs: object,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> TfTensor:
    """Solve systems of linear equations whose matrices have three diagonals."""
    if perturb_singular:
        raise ValueError("perturb_singular is not implemented on CPU.")
    with InGraph(graph_of([diagonals, rhs])):
        rows = stack(three(diagonals, diagonals_format), -2)
        right = convert(rhs, rows.dtype)
        is_vector = len(right.shape) == len(rows.shape) - 1
        if len(right.shape) not in (len(rows.shape), len(rows.shape) - 1):
            raise ValueError(
                f"Expected the rank of rhs to be either {len(rows.shape) - 1} or "
                f"{len(rows.shape)}, got {len(right.shape)}."
            )
        if conjugate_rhs:
            right = conj(right)
        if is_vector:
            right = expand_dims(right, -1)
        elif transpose_rhs:
            right = matrix_transpose(right)
        if right.shape[-2] != rows.shape[-1]:
            raise ValueError(
                f"Expected number of left-hand sided and right-hand side rows to be equal, got "
                f"{rows.shape[-1]} and {right.shape[-2]}"
            )
        made = _solved(rows, right, pivots=partial_pivoting)
        return squeeze(made, -1) if is_vector else made


@remembered
def tridiagonal_matmul(
    diagonals: object, rhs: object, diagonals_format: str = "compact", name: str | None = None
) -> TfTensor:
    """Multiply matrices that have three diagonals by others."""
    with InGraph(graph_of([diagonals, rhs])):
        rows = three(diagonals, diagonals_format)
        right = convert(rhs, rows[1].dtype)
        if len(right.shape) != len(rows[1].shape) + 1:
            raise InvalidShapesError("All input tensors must have the same rank.")
        above, middle, below = (x[..., None] for x in rows)
        made = middle * right
        if right.shape[-2] == 1:
            return made
        edge = zeros_like(right[..., :1, :])
        from_below = above[..., :-1, :] * right[..., 1:, :]
        from_above = below[..., 1:, :] * right[..., :-1, :]
        return made + _joined(from_below, edge) + _joined(edge, from_above)


def _joined(*parts: TfTensor) -> TfTensor:
    return concat(list(parts), -2)


@custom_gradient
def _triangle(bands: TfTensor, lower: bool) -> tuple[TfTensor, Callable[[TfTensor], TfTensor]]:
    """Return the matrices that bands are diagonals of."""
    outer, (count, n) = bands.shape.as_list()[:-2], bands.shape[-2:].known()
    kept = min(count, n)

    def gradient(grad: TfTensor) -> TfTensor:
        """Take the diagonals out; what a band has beside its own counts for nothing."""
        parts = [diag_part(grad, k=-i if lower else i) for i in range(kept)]
        rows = [_ends(x, *((i, 0) if lower else (0, i))) for i, x in enumerate(parts)]
        rows += [zeros_like(rows[0])] * (count - kept)
        return stack(rows if lower else rows[::-1], -2)

    results = [(bands.dtype.name, [*outer, n, n])]
    compute = partial(filled, lower=lower)
    return host("BandedTriangularSolve", compute, [bands], results)[0], gradient


@custom_gradient
def _substituted(
    bands: TfTensor, rhs: TfTensor, lower: bool, adjoint: bool
) -> tuple[TfTensor, Callable[..., tuple[TfTensor, TfTensor]]]:
    """Return the solutions for triangles of floats, without a matrix of theirs."""
    count, n = bands.shape[-2:].known()
    (found,) = host(
        "BandedTriangularSolve",
        partial(substituted, lower=lower, adjoint=adjoint),
        [bands, rhs],
        [(rhs.dtype.name, rhs.shape.as_list())],
    )

    def gradient(grad: TfTensor, *, results: TfTensor) -> tuple[TfTensor, TfTensor]:
        """Solve the turned system; of each band, products of rows that lie as far apart."""
        back = _substituted(bands, grad, lower=lower, adjoint=not adjoint)
        left, right = (results, back) if lower == adjoint else (back, results)
        parts = []
        for k in range(min(count, n)):
            products = REDUCTIONS["reduce_sum"](left[..., k:, :] * right[..., : n - k, :], -1)
            parts.append(-_ends(products, *((k, 0) if lower else (0, k))))
        parts += [zeros_like(parts[0])] * (count - len(parts))
        return stack(parts if lower else parts[::-1], -2), back

    return found, gradient


@remembered
def banded_triangular_solve(
    bands: object,
    rhs: object,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Solve systems whose matrices are triangles of few diagonals, one in each row of `bands`.

    Of a lower triangle the main one is the first, each starting at the first row; of an upper
    one it is the last, each starting at the first column that it has an element in.
    """
    with InGraph(graph_of([bands, rhs])):
        rows = convert(bands)
        right = convert(rhs, rows.dtype)
        if right.shape.rank is not None and right.shape.rank < 2:
            raise InvalidShapesError(f"In[1] ndims must be >= 2: {right.shape.rank}")
        if rows.shape.rank is not None and rows.shape.rank < 2:
            raise InvalidShapesError(f"In[0] ndims must be >= 2: {rows.shape.rank}")
        for i, x in enumerate((rows, right)):
            if 0 in x.shape.as_list():
                raise InvalidShapesError(f"In[{i}] must not be an empty tensor: {x.shape}")
        if _is_of_floats(rows, right):
            return _substituted(rows, right, lower=lower, adjoint=adjoint)
        whole = _triangle(rows, lower=lower)
        return triangular_solve(whole, right, lower=lower, adjoint=adjoint)


def _is_of_floats(bands: TfTensor, rhs: TfTensor) -> bool:
    """Say whether each matrix of bands has a right side of its own, of floats, as far as known."""
    if bands.shape.rank is None or rhs.shape.rank is None or bands.dtype.name not in WIDE:
        return False
    (*outer, count, n), (*others, rows, _) = bands.shape.as_list(), rhs.shape.as_list()
    return outer == others and rows == n and None not in (*outer, count, n)


def _from_three(alpha: TfTensor, beta: TfTensor) -> TfTensor:
    beside = diag(beta, k=-1)
    return diag(alpha) + beside + adjoint(beside)


def eigh_tridiagonal(
    alpha: object,
    beta: object,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: object = None,
    tol: object = None,
    name: str | None = None,
) -> TfTensor | tuple[TfTensor, TfTensor]:
    """Return eigenvalues of a Hermitian matrix with three diagonals, rising, and vectors."""
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    with InGraph(graph_of([alpha, beta])):
        main = convert(alpha)
        beside = convert(beta, main.dtype)
        if not (main.dtype.is_floating or main.dtype.is_complex):
            raise ValueError(f"data type {main.dtype.name} not inexact")
        if len(main.shape) != 1 or main.shape[:1].known()[0] != beside.shape[:1].known()[0] + 1:
            raise InvalidShapesError(
                f"Incompatible shapes: {main.shape} and {beside.shape}, expected one element less"
            )
        values, vectors = eigh(_from_three(main, beside) if beside.shape[0] else diag(main))
        values = real(values) if main.dtype.name in NARROW else values
        if select == "i":
            first, last = static(select_range)
            if not 0 <= first <= last < main.shape[0]:
                raise InvalidShapesError("select_range must have values between 0 and n - 1.")
            values, vectors = values[first : last + 1], vectors[:, first : last + 1]
        if select == "v":
            least, most = (convert(x, values.dtype) for x in static(select_range))
            inside = FUNCTIONS["logical_and"](values >= least, values <= most)
            values, vectors = boolean_mask(values, inside), boolean_mask(vectors, inside, axis=1)
        return values if eigvals_only else (values, vectors)

"""Matrices by TensorFlow's names: inverses, determinants, systems, factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from .calls import op
from .math_ops import FUNCTIONS, REDUCTIONS
from .nn_ops import band_part


def _known(x: Any) -> Any:
    """Return the array of a value that is computed now, None of one that is being staged."""
    if isinstance(x, np.ndarray):
        return x
    return x.numpy() if hasattr(x, "numpy") and getattr(x, "eager", False) else None


def _refuse_singular(x: Any) -> None:
    array = _known(x)
    if array is not None and array.size:
        spread = np.linalg.svd(array, compute_uv=False)
        if (spread[..., -1] == 0).any() or (np.linalg.det(array) == 0).any():
            raise TypeError("Input is not invertible.")


def _transposed(m: Maker, x: Any) -> Any:
    rank = spec_of_value(x).rank
    return m.transpose(x, order=(*range(rank - 2), rank - 1, rank - 2))


@op("MatrixInverse", "input", strict=False)
def inv(m: Maker, input: Any, adjoint: bool = False) -> Any:
    """Return the inverses of matrices."""
    _refuse_singular(input)
    return m.inverse(_transposed(m, input) if adjoint else input)


@op("MatrixDeterminant", "input", strict=False)
def det(m: Maker, input: Any) -> Any:
    """Return the determinants of matrices."""
    return m.determinant(input)


@op("Cholesky", "input", strict=False)
def cholesky(m: Maker, input: Any) -> Any:
    """Return the lower triangles whose products with their transposes the matrices are."""
    try:
        return m.cholesky(input)
    except np.linalg.LinAlgError:
        return np.full_like(np.asarray(input), np.nan)


@op("MatrixSolve", "matrix", "rhs")
def solve(m: Maker, matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Solve linear equations."""
    _refuse_singular(matrix)
    return m.solve(_transposed(m, matrix) if adjoint else matrix, rhs)


@op("MatrixTriangularSolve", "matrix", "rhs")
def _triangular(m: Maker, matrix: Any, rhs: Any, adjoint: bool) -> Any:
    return m.solve(_transposed(m, matrix) if adjoint else matrix, rhs)


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Solve linear equations of which only a triangle counts."""
    kept = band_part(matrix, -1, 0) if lower else band_part(matrix, 0, -1)
    return _triangular(kept, rhs, adjoint=adjoint, name=name)


@op("MatrixTranspose", "a", strict=False, label="matrix_transpose")
def matrix_transpose(m: Maker, a: Any, conjugate: bool = False) -> Any:
    """Exchange the last two axes."""
    return _transposed(m, a)


def logdet(matrix: Any, name: str | None = None) -> Any:
    """Return the logarithm of the determinants of positive definite matrices."""
    from .nn_ops import diag_part  # noqa: PLC0415

    diagonal = diag_part(cholesky(matrix))
    log: Callable[..., Any] = FUNCTIONS["log"]
    return 2.0 * REDUCTIONS["reduce_sum"](log(diagonal), axis=[-1], name=name)

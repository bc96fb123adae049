"""Triangles of few diagonals, each of which is a row of `bands`, as matrices and in equations."""

from __future__ import annotations

import numpy as np

from ....codegen.serial.function import F64s, serial
from ....ir.op import Array


def filled(bands: Array, lower: bool) -> tuple[Array]:
    """Put bands into matrices."""
    _require_inverse(bands, lower)
    *outer, count, n = bands.shape
    made = np.zeros((*outer, n * n), bands.dtype)
    for i in range(min(count, n)):
        if lower:
            made[..., i * n :: n + 1] = bands[..., i, i:]
        else:
            made[..., i : (n - i) * n : n + 1] = bands[..., count - 1 - i, : n - i]
    return (made.reshape(*outer, n, n),)


def substituted(bands: Array, rhs: Array, lower: bool, adjoint: bool) -> tuple[Array]:
    """Return the solutions of systems of floats, of a batch for each band of one.

    >>> substituted(np.array([[1.0, 2, 4], [0, 1, 1]]), np.ones((3, 1)), True, False)[0].tolist()
    [[1.0], [0.0], [0.25]]
    """
    _require_inverse(bands, lower)
    made, (count, n) = np.array(rhs, np.float64, order="C"), bands.shape[-2:]
    rows = np.ascontiguousarray(bands, np.float64)
    _substitute(rows, made, count, n, int(lower), int(adjoint))
    return (made.astype(rhs.dtype, copy=False),)


def _require_inverse(bands: Array, lower: bool) -> None:
    """Raise if the first main diagonal has none, which is the one that TensorFlow looks at."""
    count, n = bands.shape[-2:]
    first = bands.reshape(-1, count, n)[0, 0 if lower else count - 1]
    if first[0] != first[0] or np.count_nonzero(first) < n:  # (NaN differs from itself)
        raise np.linalg.LinAlgError("Input matrix is not invertible.")


@serial
def _substitute(bands: F64s, made: F64s, count: int, n: int, lower: int, turned: int) -> int:
    """Solve systems in the place of their right sides: those before are taken from each row."""
    batch = len(bands) // (count * n)
    columns = len(made) // (batch * n)
    for each in range(batch):
        top, first = each * count * n, each * n * columns
        for step in range(n):
            i = step if lower != turned else n - 1 - step
            here = first + i * columns
            for k in range(min(count - 1, step), 0, -1):
                j = i - k if lower != turned else i + k
                band = k if lower != 0 else count - 1 - k
                factor = bands[top + band * n + (j if turned != 0 else i)]
                there = first + j * columns
                for column in range(columns):
                    made[here + column] -= factor * made[there + column]
            diagonal = bands[top + (0 if lower != 0 else count - 1) * n + i]
            for column in range(columns):
                made[here + column] /= diagonal
    return batch

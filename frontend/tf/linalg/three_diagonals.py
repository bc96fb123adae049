"""Systems of equations whose matrices have three diagonals: elimination by Gauss, row after row.

With `pivots` the larger one of two rows leads; it may have a third element then. What has no pivot
is solved by NaN. Floats are gone through one by one, complex numbers by numpy.
"""

from __future__ import annotations

import numpy as np

from ....codegen.serial.function import F64s, Flags, serial, single
from ....ir.op import Array


def solved(diagonals: Array, rhs: Array, pivots: bool) -> Array:
    """Return the solutions of systems, whose batches broadcast, each from three diagonals.

    >>> three = np.array([[1.0, 1, 0], [2, 2, 2], [0, 1, 1]])
    >>> solved(three, np.array([[4.0], [8], [8]]), True).round(9).tolist()
    [[1.0], [2.0], [3.0]]
    """
    made = np.array(np.broadcast_to(rhs, (*diagonals.shape[:-2], *rhs.shape[-2:])), order="C")
    if not made.size or made.dtype.kind != "f":
        return _of_all(diagonals, made, pivots)
    n = diagonals.shape[-1]
    four = np.zeros((*diagonals.shape[:-2], 4, n))
    four[..., :3, :] = diagonals
    wide = made.astype(np.float64, copy=False)
    singular = np.empty(diagonals.shape[:-2], np.bool_)
    _solve(four, wide, n, int(pivots), int(made.dtype == np.float32), singular)
    made = wide.astype(made.dtype, copy=False)
    made[singular] = np.nan
    return made


@serial
def _solve(four: F64s, made: F64s, n: int, pivots: int, narrow: int, singular: Flags) -> int:
    """Solve systems in the place of their right sides; the fourth diagonal is for a pivot's row.

    `narrow` says whether all that is computed is rounded to 32 bits.
    """
    count = len(four) // (4 * n)
    columns = len(made) // (count * n)
    for each in range(count):
        top, first = each * 4 * n, each * n * columns
        four[top + n - 1] = four[top + 2 * n] = 0.0
        singular[each] = False
        for i in range(n - 1):
            here = top + i
            if pivots != 0 and abs(four[here + 2 * n + 1]) > abs(four[here + n]):
                _turn(four, here, n, made, first + i * columns, columns)
            if four[here + n] == 0.0:
                singular[each] = True
            part = _rounded(four[here + 2 * n + 1] / four[here + n], narrow)
            four[here + n + 1] = _less(four[here + n + 1], part, four[here], narrow)
            four[here + 1] = _less(four[here + 1], part, four[here + 3 * n], narrow)
            for at in range(first + i * columns, first + i * columns + columns):
                made[at + columns] = _less(made[at + columns], part, made[at], narrow)
        if four[top + 2 * n - 1] == 0.0:
            singular[each] = True
        _substitute(four, top, n, made, first, columns, narrow)
    return count


def _substitute(
    four: F64s, top: int, n: int, made: F64s, first: int, columns: int, narrow: int
) -> int:
    """Solve one system that has nothing below its diagonal, from the last row on."""
    for i in range(n - 1, -1, -1):
        here = top + i
        for at in range(first + i * columns, first + i * columns + columns):
            total = made[at]
            if i + 1 < n:
                total = _less(total, four[here], made[at + columns], narrow)
            if i + 2 < n:
                total = _less(total, four[here + 3 * n], made[at + 2 * columns], narrow)
            made[at] = _rounded(total / four[here + n], narrow)
    return n


def _turn(four: F64s, here: int, n: int, made: F64s, at: int, columns: int) -> int:
    """Exchange a row and the next one: middle, above and beyond for below, middle and above."""
    below = here + 2 * n + 1
    four[here + n], four[below] = four[below], four[here + n]
    four[here], four[here + n + 1] = four[here + n + 1], four[here]
    four[here + 3 * n], four[here + 1] = four[here + 1], four[here + 3 * n]
    for i in range(at, at + columns):
        made[i], made[i + columns] = made[i + columns], made[i]
    return columns


def _less(total: float, part: float, x: float, narrow: int) -> float:
    """Return a total less a product."""
    return _rounded(total - _rounded(part * x, narrow), narrow)


def _rounded(x: float, narrow: int) -> float:
    """Return a number, in 32 bits if it is to be narrow."""
    return single(x) if narrow != 0 else x


def _of_all(diagonals: Array, rhs: Array, pivots: bool) -> Array:
    """Solve systems of any numbers, all of a batch at once."""
    above, middle, below = (np.array(diagonals[..., i, :, None]) for i in range(3))
    made = np.array(np.broadcast_to(rhs, (*diagonals.shape[:-2], *rhs.shape[-2:])))
    n, beyond = middle.shape[-2], np.zeros_like(middle)
    if n:
        above[..., n - 1, :] = below[..., 0, :] = 0
    singular = np.zeros(np.broadcast_shapes(middle.shape[:-2], made.shape[:-2]), np.bool_)
    for i in range(n - 1):
        first = [middle[..., i, :], above[..., i, :], beyond[..., i, :], made[..., i, :]]
        other = [below[..., i + 1, :], middle[..., i + 1, :], above[..., i + 1, :]]
        other.append(made[..., i + 1, :])
        turn = (np.abs(other[0]) > np.abs(first[0])) & pivots
        lead = [np.where(turn, y, x) for x, y in zip(first, other, strict=True)]
        rest = [np.where(turn, x, y) for x, y in zip(first, other, strict=True)]
        middle[..., i, :], above[..., i, :], beyond[..., i, :], made[..., i, :] = lead
        singular |= (lead[0] == 0)[..., 0]
        part = rest[0] / lead[0]
        middle[..., i + 1, :] = rest[1] - part * lead[1]
        above[..., i + 1, :] = rest[2] - part * lead[2]
        made[..., i + 1, :] = rest[3] - part * lead[3]
    if n:
        singular |= (middle[..., n - 1, :] == 0)[..., 0]
    for i in reversed(range(n)):
        for step, beside in ((1, above), (2, beyond)):
            if i + step < n:
                made[..., i, :] -= beside[..., i, :] * made[..., i + step, :]
        made[..., i, :] /= middle[..., i, :]
    made[singular] = np.nan
    return made

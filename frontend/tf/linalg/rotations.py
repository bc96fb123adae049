"""Eigenvalues and singular values of small matrices, by reflections and rotations in loops.

    eigen      a row after another is reflected until three diagonals are left; rotations from the
               first row of what is not yet apart to its last make what is beside the last diagonal
               element small, again and again
    singular   two rows and two columns are rotated until what they share is diagonal, pair by
               pair, until all are

LAPACK takes longer for what is around each matrix than these take for it. The signs of vectors are
those of TensorFlow, which goes the same ways.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ....codegen.serial.function import F64s, serial
from ....ir.op import Array

ROUNDS = 30
"""So often at most rotations go over each row."""
NEXT = {np.dtype(kind): float(np.finfo(kind).eps) for kind in (np.float16, np.float32, np.float64)}
"""How far the next number is from one."""
LEAST = 2.2250738585072014e-308
"""What is smaller counts as zero."""


def symmetric(a: Array, *, vectors: bool = True) -> tuple[Array, Array]:
    """Return the eigenvalues of symmetric matrices, rising, and their vectors, if they are asked.

    What has no finite numbers gives NaN. Only the lower triangle counts.

    >>> symmetric(np.array([[2.0, 0], [0, 1]]))[0].tolist()
    [1.0, 2.0]
    """
    n = a.shape[-1]
    values = np.empty(a.shape[:-1])
    rows = np.empty(a.shape if vectors else (0,))
    eps = NEXT[a.dtype]
    _symmetric(a.astype(np.float64, order="C"), n, eps, values, rows, np.empty(3 * n))
    found = values.astype(a.dtype, copy=False)
    return found, np.swapaxes(rows, -1, -2).astype(a.dtype, copy=False) if vectors else rows


@serial
def _symmetric(a: F64s, n: int, eps: float, values: F64s, rows: F64s, work: F64s) -> int:
    """Find all values and, where there is room, vectors as rows. `a` is destroyed."""
    for each in range(len(values) // n):
        top, at = each * n * n, each * n
        scale = _largest(a, top, n)
        for i in range(n):
            for j in range(i + 1):
                a[top + i * n + j] /= scale
                a[top + j * n + i] = a[top + i * n + j]
        _reflect(a, top, n, work)
        for i in range(n):
            values[at + i] = a[top + i * n + i]
            work[i] = a[top + i * n + i + 1] if i + 1 < n else 0.0
        if len(rows) > 0:
            _unfold(a, top, n, rows, work)
        _diagonalise(values, at, n, eps, rows, top, work)
        _sort(values, at, n, rows, top)
        for i in range(n):
            values[at + i] *= scale
    return n


def _largest(a: F64s, top: int, n: int) -> float:
    """Return the size of the largest element below a diagonal or on it, or NaN; 1 for 0."""
    found, nothing = 0.0, 0.0
    for i in range(n):
        for j in range(i + 1):
            x = a[top + i * n + j]
            found, nothing = max(found, abs(x)), nothing + (x - x)
    return (found if found > 0.0 else 1.0) + nothing


def _reflect(a: F64s, top: int, n: int, work: F64s) -> int:
    """Leave three diagonals. Above them stand the reflections, and their sizes in the second half.

    A reflection is that by 1 - t v v', where v begins with 1. Both triangles are kept up to date.
    """
    for k in range(n - 1):
        row = top + k * n
        first = a[row + k + 1]
        rest = 0.0
        for i in range(row + k + 2, row + n):
            rest += a[i] * a[i]
        size = 0.0
        if rest > LEAST:
            turned = sqrt(first * first + rest)
            if first >= 0.0:
                turned = -turned
            over = 1.0 / (first - turned)
            for i in range(row + k + 2, row + n):
                a[i] *= over
            size, first = (turned - first) / turned, turned
        work[n + k] = size
        a[row + k + 1] = 1.0
        if size != 0.0:
            _both_sides(a, top, n, k, size, work)
        a[row + k + 1] = first
    return n


def _both_sides(a: F64s, top: int, n: int, k: int, size: float, work: F64s) -> int:
    """Reflect the rows and columns behind the k-th."""
    along, row = 0.0, top + k * n
    for j in range(k + 1, n):
        work[j] = 0.0
    for i in range(k + 1, n):  # (row by row: a sum along one would wait for each addition)
        x, here = a[row + i], top + i * n
        for j in range(k + 1, n):
            work[j] += a[here + j] * x
    for i in range(k + 1, n):
        work[i] = size * work[i]
        along += work[i] * a[row + i]
    for i in range(k + 1, n):
        work[i] -= 0.5 * size * along * a[row + i]
    for i in range(k + 1, n):
        x, y, here = a[row + i], work[i], top + i * n
        for j in range(k + 1, n):
            a[here + j] -= x * work[j] + y * a[row + j]
    return n


def _unfold(a: F64s, top: int, n: int, rows: F64s, work: F64s) -> int:
    """Write the product of all reflections, transposed."""
    _identity(rows, top, n)
    for k in range(n - 2, -1, -1):
        row, first, size = top + k * n, top + (k + 1) * n, work[n + k]
        for i in range(k + 1, n):
            work[2 * n + i] = rows[first + i]
        for j in range(k + 2, n):
            x, here = a[row + j], top + j * n
            for i in range(k + 1, n):
                work[2 * n + i] += rows[here + i] * x
        for i in range(k + 1, n):
            work[2 * n + i] *= size
            rows[first + i] -= work[2 * n + i]
        for j in range(k + 2, n):
            x, here = a[row + j], top + j * n
            for i in range(k + 1, n):
                rows[here + i] -= work[2 * n + i] * x
    for i in range(n):
        for j in range(i):
            one, other = top + i * n + j, top + j * n + i
            rows[one], rows[other] = rows[other], rows[one]
    return n


def _diagonalise(
    values: F64s, at: int, n: int, eps: float, rows: F64s, top: int, beside: F64s
) -> int:
    """Rotate until nothing is left beside a diagonal; NaN where that takes too long."""
    end, left = n - 1, ROUNDS * n
    while end > 0 and left > 0:
        for i in range(end):
            scaled = beside[i] / eps
            if scaled * scaled <= abs(values[at + i]) + abs(values[at + i + 1]):
                beside[i] = 0.0
        while end > 0 and beside[end - 1] == 0.0:
            end -= 1
        if end > 0:
            start = end - 1
            while start > 0 and beside[start - 1] != 0.0:
                start -= 1
            _chase(values, at, start, end, n, rows, top, beside)
            left -= 1
    if end > 0:
        for i in range(n):
            values[at + i] = LIMITLESS - LIMITLESS
    return end


LIMITLESS = 1e308 * 10


def _shift(values: F64s, at: int, end: int, beside: F64s) -> float:
    """Return the eigenvalue of the last two rows that is nearer to the last element."""
    half, e = (values[at + end - 1] - values[at + end]) * 0.5, beside[end - 1]
    away: float = abs(e)
    if half != 0.0:
        length = sqrt(half * half + e * e)
        away = e * (e / (half + (length if half > 0.0 else -length)))
    return float(values[at + end]) - away


def _chase(
    values: F64s, at: int, start: int, end: int, n: int, rows: F64s, top: int, beside: F64s
) -> int:
    """Rotate neighbouring rows from the first to the last, by a shift that is nearly a value."""
    x, z = values[at + start] - _shift(values, at, end, beside), beside[start]
    k = start
    while k < end and z != 0.0:
        c, s = 0.0, -1.0 if z > 0.0 else 1.0
        if abs(x) > abs(z):
            t = z / x
            u = sqrt(1.0 + t * t)
            c = 1.0 / (u if x > 0.0 else -u)
            s = -t * c
        elif x != 0.0:
            t = x / z
            u = sqrt(1.0 + t * t)
            s = -1.0 / (u if z > 0.0 else -u)
            c = -t * s
        one, other, e = values[at + k], values[at + k + 1], beside[k]
        left, right = s * one + c * e, s * e + c * other
        values[at + k] = c * (c * one - s * e) - s * (c * e - s * other)
        values[at + k + 1] = s * left + c * right
        beside[k] = c * left - s * right
        if k > start:
            beside[k - 1] = c * beside[k - 1] - s * z
        x = beside[k]
        if k < end - 1:
            z = -s * beside[k + 1]
            beside[k + 1] = c * beside[k + 1]
        if len(rows) > 0:
            _rotate_rows(rows, top + k * n, top + (k + 1) * n, n, c, -s)
        k += 1
    return k


def _rotate_rows(x: F64s, one: int, other: int, n: int, c: float, s: float) -> int:
    """Rotate two rows by their first elements: x' = c x + s y, y' = c y - s x."""
    for i in range(n):
        a, b = x[one + i], x[other + i]
        x[one + i], x[other + i] = c * a + s * b, c * b - s * a
    return n


def _rotate(x: F64s, one: int, other: int, step: int, n: int, c: float, s: float) -> int:
    """Rotate two columns likewise."""
    for i in range(n):
        a, b = x[one + i * step], x[other + i * step]
        x[one + i * step], x[other + i * step] = c * a + s * b, c * b - s * a
    return n


def _sort(values: F64s, at: int, n: int, rows: F64s, top: int) -> int:
    """Put values, and the rows of their vectors, in rising order."""
    for i in range(n - 1):
        best = _foremost(values, at, i, n, 1.0)
        if best != i:
            values[at + i], values[at + best] = values[at + best], values[at + i]
            _exchange(rows, top + i * n, top + best * n, n)
    return n


def _foremost(values: F64s, at: int, first: int, n: int, sign: float) -> int:
    """Return which of the values from one on is the least, times a sign."""
    best = first
    for j in range(first + 1, n):
        if sign * values[at + j] < sign * values[at + best]:
            best = j
    return best


def _exchange(rows: F64s, one: int, other: int, n: int) -> int:
    """Exchange two rows, if there are any."""
    if len(rows) > 0:
        for j in range(n):
            rows[one + j], rows[other + j] = rows[other + j], rows[one + j]
    return n


def singular(a: Array, *, vectors: bool = True) -> tuple[Array, Array, Array]:
    """Return the singular values of square matrices, falling, and if asked both kinds of vectors.

    The numbers must be finite.

    >>> singular(np.array([[0.0, 3], [2, 0]]))[0].tolist()
    [3.0, 2.0]
    """
    n = a.shape[-1]
    values = np.empty(a.shape[:-1])
    shape = a.shape if vectors else (0,)
    left, right = np.empty(shape), np.empty(shape)
    eps = NEXT[a.dtype]
    _singular(a.astype(np.float64, order="C"), n, eps, values, left, right, np.empty(4))
    if vectors:
        left, right = (np.swapaxes(x, -1, -2).astype(a.dtype) for x in (left, right))
    return values.astype(a.dtype), left, right


@serial
def _singular(
    a: F64s, n: int, eps: float, values: F64s, left: F64s, right: F64s, turn: F64s
) -> int:
    """Find all values and, where there is room, vectors as rows. `a` is destroyed."""
    for each in range(len(values) // n):
        top, at = each * n * n, each * n
        scale = 0.0
        for i in range(top, top + n * n):
            scale = max(scale, abs(a[i]))
        scale = scale if scale > 0.0 else 1.0
        for i in range(top, top + n * n):
            a[i] /= scale
        if len(left) > 0:
            _identity(left, top, n)
            _identity(right, top, n)
        _turn_all(a, top, n, 2.0 * eps, left, right, turn)
        for i in range(n):
            x = a[top + i * n + i]
            values[at + i] = abs(x) * scale
            if x < 0.0 and len(left) > 0:
                for j in range(top + i * n, top + i * n + n):
                    left[j] = -left[j]
        _sort_down(values, at, n, left, right, top)
    return n


def _identity(rows: F64s, top: int, n: int) -> int:
    for i in range(n * n):
        rows[top + i] = 0.0
    for i in range(n):
        rows[top + i * n + i] = 1.0
    return n


def _turn_all(a: F64s, top: int, n: int, near: float, left: F64s, right: F64s, turn: F64s) -> int:
    """Rotate pairs of rows and columns until nothing but the diagonal is left."""
    most, rounds, is_done = 0.0, 0, False
    for i in range(n):
        most = max(most, abs(a[top + i * n + i]))
    while not is_done and rounds < ROUNDS:
        is_done = True
        rounds += 1
        for p in range(1, n):
            for q in range(p):
                one, other = top + p * n, top + q * n
                limit = max(LEAST, near * most)
                if abs(a[one + q]) > limit or abs(a[other + p]) > limit:
                    is_done = False
                    _angles(a[one + p], a[one + q], a[other + p], a[other + q], turn)
                    _rotate_rows(a, one, other, n, turn[0], turn[1])
                    _rotate(a, top + p, top + q, n, n, turn[2], -turn[3])
                    if len(left) > 0:
                        _rotate_rows(left, one, other, n, turn[0], turn[1])
                        _rotate_rows(right, one, other, n, turn[2], -turn[3])
                    most = max(most, abs(a[one + p]))
                    most = max(most, abs(a[other + q]))
    return rounds


def _angles(a: float, b: float, c: float, d: float, turn: F64s) -> int:
    """Find the rotations of rows and of columns that make (a b, c d) diagonal.

    The first rotation makes it symmetric, the second is then that of both sides.
    """
    cosine, sine = 1.0, 0.0
    if abs(c - b) >= LEAST:
        u = (a + d) / (c - b)
        size = sqrt(1.0 + u * u)
        cosine, sine = u / size, 1.0 / size
    x, y, z = cosine * a + sine * c, cosine * b + sine * d, cosine * d - sine * b
    turn[2], turn[3] = 1.0, 0.0
    if 2.0 * abs(y) >= LEAST:
        tau = (x - z) / (2.0 * abs(y))
        w = sqrt(tau * tau + 1.0)
        t = 1.0 / (tau + w) if tau > 0.0 else 1.0 / (tau - w)
        size = 1.0 / sqrt(t * t + 1.0)
        turn[2], turn[3] = size, (-t if y > 0.0 else t) * size
    turn[0] = cosine * turn[2] + sine * turn[3]
    turn[1] = sine * turn[2] - cosine * turn[3]
    return 0


def _sort_down(values: F64s, at: int, n: int, left: F64s, right: F64s, top: int) -> int:
    """Put values, and the rows of their vectors, in falling order."""
    for i in range(n - 1):
        best = _foremost(values, at, i, n, -1.0)
        if best != i:
            values[at + i], values[at + best] = values[at + best], values[at + i]
            _exchange(left, top + i * n, top + best * n, n)
            _exchange(right, top + i * n, top + best * n, n)
    return n

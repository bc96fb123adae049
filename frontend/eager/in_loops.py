"""Operations on few elements that numpy takes many steps for, or does too much: written as loops.

`IN_LOOPS` says by operation what makes, of its attributes, a function of floats of 32 or 64 bits.
It is compiled once for all sizes; from some size on, operations have kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, log, sqrt
from typing import TypeVar

import numpy as np

from ...codegen.serial.function import F64s, serial
from ...ir.op import Array, Op
from ...ir.ops.factor import Cholesky, LogDeterminant, TriangularSolve, factorised

Kernel = Callable[..., "Array | tuple[Array, ...]"]
Make = TypeVar("Make", bound=Callable[..., Kernel])

IN_LOOPS: dict[type[Op], Callable[..., Kernel]] = {}
"""By operation: what is given attributes and returns the function."""


def _loops(op: type[Op]) -> Callable[[Make], Make]:
    """Enter a function for an operation."""

    def decorate(make: Make) -> Make:
        IN_LOOPS[op] = make
        return make

    return decorate


@_loops(TriangularSolve)
def triangle(*, lower: bool, transpose: bool) -> Callable[[Array, Array], Array]:
    """Return what solves systems for a triangle."""
    forwards = lower != transpose

    def solved(a: Array, b: Array) -> Array:
        """Return the solutions for a triangle; it is divided by zeros of the diagonal."""
        batch = a.shape[:-2]
        if batch != b.shape[:-2]:
            batch = np.broadcast_shapes(batch, b.shape[:-2])
            a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
        made = np.array(b, np.float64, order="C")
        wide = np.ascontiguousarray(a, np.float64)
        _substitute(wide, made, a.shape[-1], forwards, transpose)
        return made.astype(b.dtype, copy=False)

    return solved


@serial
def _substitute(a: F64s, made: F64s, n: int, forwards: int, turned: int) -> int:
    """Solve systems in the place of their right sides: each row is taken from those behind it."""
    count = len(a) // (n * n)
    columns = len(made) // (count * n)
    for each in range(count):
        top, first = each * n * n, each * n * columns
        for step in range(n):
            i = step if forwards != 0 else n - 1 - step
            here, diagonal = first + i * columns, a[top + i * n + i]
            for column in range(columns):
                made[here + column] /= diagonal
            for behind in range(step + 1, n):
                j = behind if forwards != 0 else n - 1 - behind
                factor = a[top + i * n + j] if turned != 0 else a[top + j * n + i]
                there = first + j * columns
                for column in range(columns):
                    made[there + column] -= factor * made[here + column]
    return count


@_loops(Cholesky)
def _root() -> Kernel:
    def root(a: Array) -> Array:
        """Return the lower triangles, NaN those of matrices that have none."""
        if not _is_little(a):
            return factorised(a)
        made = np.array(a, np.float64, order="C")
        _roots(made, a.shape[-1])
        return made.astype(a.dtype, copy=False)

    return root


def _is_little(a: Array) -> bool:
    """Say whether LAPACK takes longer around matrices than loops for them."""
    return bool(a.shape[-1] <= FEW or a.size <= LITTLE)


FEW = 16
"""Up to so many rows it does,"""
LITTLE = 1 << 10
"""and where there are up to so many elements."""


@serial
def _roots(a: F64s, n: int) -> int:
    """Leave lower triangles whose product with their transposes matrices were, row by row."""
    count = len(a) // (n * n)
    for each in range(count):
        top = each * n * n
        for i in range(n):
            row = top + i * n
            _finish_row(a, top, row, i, n)
            for j in range(i + 1, n):
                a[row + j] = 0.0
        if isnan(a[top + n * n - 1]):
            for i in range(n):
                for j in range(i + 1):
                    a[top + i * n + j] = NAN
    return count


def _finish_row(a: F64s, top: int, row: int, i: int, n: int) -> int:
    """Find a row of a triangle from those above it."""
    for j in range(i + 1):
        other, total = top + j * n, a[row + j]
        for k in range(j):
            total -= a[row + k] * a[other + k]
        if j < i:
            a[row + j] = total / a[other + j]
        else:
            a[row + i] = sqrt(total) if total > 0.0 else NAN
    return i


NAN = float("nan")


@_loops(LogDeterminant)
def _logarithm() -> Kernel:
    def logarithm(a: Array) -> tuple[Array, ...]:
        """Return signs of determinants and logarithms of their sizes."""
        if not _is_little(a):
            return tuple(LogDeterminant.evaluate(a))
        n, batch = a.shape[-1], a.shape[:-2]
        sign, size = np.empty(batch), np.empty(batch)
        _logarithms(np.array(a, np.float64, order="C"), n, sign, size)
        return sign.astype(a.dtype, copy=False), size.astype(a.dtype, copy=False)

    return logarithm


@serial
def _logarithms(a: F64s, n: int, signs: F64s, sizes: F64s) -> int:
    """Eliminate by the largest pivot of each column; behind one of zero nothing counts."""
    for each in range(len(signs)):
        top, sign, size = each * n * n, 1.0, 0.0
        for k in range(n):
            best, most = k, abs(a[top + k * n + k])
            for i in range(k + 1, n):
                if abs(a[top + i * n + k]) > most:
                    best, most = i, abs(a[top + i * n + k])
            if best != k:
                sign = -sign
                for j in range(k, n):
                    one, other = top + k * n + j, top + best * n + j
                    a[one], a[other] = a[other], a[one]
            here = top + k * n
            pivot = a[here + k]
            if sign != 0.0:
                size += log(abs(pivot)) if pivot != 0.0 else -INFINITE
                sign = sign * pivot / abs(pivot) if pivot != 0.0 else 0.0
            for i in range(k + 1, n):
                row = top + i * n
                factor = a[row + k] / pivot
                for j in range(k + 1, n):
                    a[row + j] -= factor * a[here + j]
        signs[each], sizes[each] = sign, size
    return n


INFINITE = float("inf")

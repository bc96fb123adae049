"""Shortest solutions with the least squares, on arrays: of full rank by triangles, else by SVD.

Matrices of 32 bits are squared in 64, whose square root is still finer than they are; those of 64
bits are reflected. Whether a matrix has its full rank for certain shows on the diagonals of the
triangle that comes of either.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ....ir.op import Array
from ....ir.ops.factor import solved_triangle
from ...eager import in_loops
from . import lapack

WIDE = {"f": "d", "d": "d", "F": "D", "D": "D"}
"""The types that matrices are solved in, by their own."""
LEAST = {letter: sqrt(float(np.finfo(letter).eps)) for letter in WIDE}
"""What part of the largest element of a diagonal is too small to tell its matrix's rank."""


def shortest(a: Array, b: Array) -> Array:
    """Return the shortest of the solutions x for which a x - b is smallest; 0 where a has no rank.

    >>> shortest(np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]])).round(6).tolist()
    [[2.0]]
    """
    if not a.size or not b.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], b.shape[-1]), b.dtype)
    made = (_by_squares if a.dtype.char in "fF" else _by_reflections)(a, b)
    if made is not None:
        return made.astype(b.dtype, copy=False)
    is_some = np.asarray(np.isfinite(a).all((-2, -1)) & a.any((-2, -1)))[..., None, None]
    return np.where(is_some, _by_values(np.where(is_some, a, 0), b), np.zeros((), b.dtype))


def _adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def _has_full_rank(triangle: Array, a: Array) -> bool:
    """Say whether a triangle shows that a matrix has its full rank."""
    sizes = np.abs(triangle.diagonal(0, -2, -1))
    return bool((sizes.min(-1) > LEAST[a.dtype.char] * sizes.max(-1)).all())


def _by_squares(a: Array, b: Array) -> Array | None:
    """Solve for the product of a matrix and itself, or give up."""
    wide, right = a.astype(WIDE[a.dtype.char]), b.astype(WIDE[a.dtype.char])
    is_tall = a.shape[-2] >= a.shape[-1]
    turned = _adjoint(wide)
    triangle = lapack.root(turned @ wide if is_tall else wide @ turned)
    if not _has_full_rank(triangle, a):
        return None
    half = _substituted(triangle, turned @ right if is_tall else right, lower=True)
    found = _substituted(triangle, half, lower=True, adjoint=True)
    return found if is_tall else turned @ found


def _by_reflections(a: Array, b: Array) -> Array | None:
    """Solve for the triangle that reflections leave, or give up."""
    is_tall = a.shape[-2] >= a.shape[-1]
    q, r = lapack.qr(a if is_tall else _adjoint(a))
    if not _has_full_rank(r, a):
        return None
    if is_tall:
        return _substituted(r, _adjoint(q) @ b, lower=False)
    return q @ _substituted(r, b, lower=False, adjoint=True)


def _substituted(triangle: Array, b: Array, *, lower: bool, adjoint: bool = False) -> Array:
    """Solve for a triangle."""
    if triangle.dtype.kind == "f":
        return in_loops.triangle(lower=lower, transpose=adjoint)(triangle, b)
    turned = _adjoint(triangle) if adjoint else triangle
    return solved_triangle(turned, b, lower=lower != adjoint)


def _by_values(a: Array, b: Array) -> Array:
    """Solve by singular values, of which those that are small count as 0."""
    s, u, v = lapack.svd(a)
    limit = 10 * max(a.shape[-2:]) * np.finfo(s.dtype).eps * s[..., :1]
    counts = s > limit
    over = np.where(counts, 1 / np.where(counts, s, 1), 0)[..., None]
    made: Array = v @ (over * (_adjoint(u) @ b))
    return made.astype(b.dtype, copy=False)

"""Functions of matrices that LAPACK has, without what `numpy.linalg` does around them.

That is most of the time for small matrices. Floats of 32 bits stay so where LAPACK has functions
for them, as in TensorFlow; `numpy.linalg` would widen them. Eigenvalues and singular values of
small matrices are found without LAPACK, by `rotations`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

import numpy as np

from ....ir.op import Array
from . import rotations

_LAPACK = import_module("numpy.linalg._umath_linalg")
_HAS_SVD = all(hasattr(_LAPACK, name) for name in ("svd", "svd_s", "svd_f"))
_HAS_QR = hasattr(_LAPACK, "qr_r_raw") and hasattr(_LAPACK, "qr_reduced")


def qr(a: Array) -> tuple[Array, Array]:
    """Return orthogonal and triangular factors, without the columns that r has zeros for.

    >>> q, r = qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> r.round(3).tolist()
    [[-5.0, -2.2], [0.0, 0.4]]
    """
    if not _HAS_QR or not a.size:
        made = np.linalg.qr(a)
        return made.Q, made.R
    is_complex = a.dtype.kind == "c"
    wide = a.astype(np.complex128 if is_complex else np.float64)
    tau = _LAPACK.qr_r_raw(wide, signature="D->D" if is_complex else "d->d")
    q = _LAPACK.qr_reduced(wide, tau, signature="DD->D" if is_complex else "dd->d")
    rows, columns = wide.shape[-2:]
    r = np.where(_upper(rows, columns), wide, 0)
    r = r if rows <= columns else r[..., :columns, :]
    return q.astype(a.dtype), r.astype(a.dtype)


@lru_cache(maxsize=64)
def _upper(rows: int, columns: int) -> Array:
    """Return where an upper triangle is."""
    return np.triu(np.ones((rows, columns), np.bool_))


def eig(a: Array) -> tuple[Array, Array]:
    """Return eigenvalues of finite matrices and their vectors, which are complex.

    >>> eig(np.array([[0.0, -1], [1, 0]]))[0].imag.round(6).tolist()
    [1.0, -1.0]
    """
    made: tuple[Array, Array] = _LAPACK.eig(a, signature=_EIG_TYPES[a.dtype.char])
    return made


def eigenvalues_of_any(a: Array) -> Array:
    """Return eigenvalues of finite matrices, which are complex.

    >>> eigenvalues_of_any(np.array([[0.0, -1], [1, 0]])).imag.round(6).tolist()
    [1.0, -1.0]
    """
    made: Array = _LAPACK.eigvals(a, signature=_EIG_TYPES[a.dtype.char][:4])
    return made


def root(a: Array) -> Array:
    """Return the lower triangles of Hermitian matrices; NaN of those that have none.

    >>> root(np.array([[4.0, 0], [2, 5]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    letter = a.dtype.char
    made: Array = _LAPACK.cholesky_lo(a, signature=f"{letter}->{letter}")
    return made


FEW = 32
"""Up to so many rows symmetric matrices are rotated in loops."""
FEWER = 15
"""Up to so many rows other square matrices are, as in TensorFlow."""
_EIG_TYPES = {"f": "f->FF", "d": "d->DD", "F": "D->DD", "D": "D->DD"}
_TYPES = {"f": "f->ff", "d": "d->dd", "F": "F->fF", "D": "D->dD"}
_SVD_TYPES = {"f": "f->fff", "d": "d->ddd", "F": "F->FfF", "D": "D->DdD"}


def symmetric(a: Array) -> tuple[Array, Array]:
    """Return eigenvalues of symmetric matrices, rising, and vectors; NaN where there are none.

    >>> symmetric(np.array([[2.0, 0], [0, 1]]))[0].tolist()
    [1.0, 2.0]
    """
    if not a.size:
        made = np.linalg.eigh(a)
        return made[0], made[1]
    if a.shape[-1] <= FEW and a.dtype.kind == "f":
        return rotations.symmetric(a)
    found: tuple[Array, Array] = _LAPACK.eigh_lo(a, signature=_TYPES[a.dtype.char])
    return found


def eigenvalues(a: Array) -> Array:
    """Return eigenvalues of symmetric matrices, rising; NaN where there are none.

    >>> eigenvalues(np.array([[2.0, 0], [0, 1]])).tolist()
    [1.0, 2.0]
    """
    if not a.size:
        return np.linalg.eigvalsh(a)
    if a.shape[-1] <= FEW and a.dtype.kind == "f":
        return rotations.symmetric(a, vectors=False)[0]
    found: Array = _LAPACK.eigvalsh_lo(a, signature=_TYPES[a.dtype.char][:4])
    return found


def svd(a: Array, whole: bool = False) -> tuple[Array, Array, Array]:
    """Return singular values of matrices of finite numbers, falling, and both kinds of vectors.

    >>> svd(np.array([[0.0, 3], [2, 0]]))[0].tolist()
    [3.0, 2.0]
    """
    if _is_rotated(a):
        return rotations.singular(a)
    if _HAS_SVD and a.size:
        function = _LAPACK.svd_f if whole else _LAPACK.svd_s
        u, s, vh = function(a, signature=_SVD_TYPES[a.dtype.char])
    else:
        u, s, vh = np.linalg.svd(a, full_matrices=whole)
    return s, u, np.conj(np.swapaxes(vh, -1, -2))


def singular_values(a: Array) -> Array:
    """Return singular values of matrices of finite numbers, falling.

    >>> singular_values(np.array([[0.0, 3], [2, 0]])).tolist()
    [3.0, 2.0]
    """
    if _is_rotated(a):
        return rotations.singular(a, vectors=False)[0]
    if _HAS_SVD and a.size:
        found: Array = _LAPACK.svd(a, signature=_TYPES[a.dtype.char][:4])
        return found
    return np.linalg.svd(a, compute_uv=False)


def _is_rotated(a: Array) -> bool:
    """Say whether singular values are found in loops."""
    rows, columns = a.shape[-2:]
    return rows == columns <= FEWER and a.dtype.kind == "f" and a.size > 0

"""numpy's functions of LAPACK without what `numpy.linalg` does around them for each call.

That is most of the time for small matrices. The bits are those of `numpy.linalg`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

import numpy as np

from ....ir.op import Array

_LAPACK = import_module("numpy.linalg._umath_linalg")
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

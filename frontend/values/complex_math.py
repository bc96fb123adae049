"""Functions of complex arrays where numpy's special cases are not the array API standard's."""

from __future__ import annotations

import numpy as np

from ...ir.types.tensor import Array


def expm1(z: Array) -> Array:
    """Return exp(z) - 1, without cancellation near 0.

    >>> expm1(np.array([complex(-np.inf, np.inf), 1e-20 + 0j]))
    array([-1.e+00+0.j,  1.e-20+0.j])
    """
    made = np.array(np.exp(z))
    with np.errstate(invalid="ignore"):
        small = np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2
    finite = np.isfinite(z.real) & np.isfinite(z.imag)
    made.real = np.where(finite, small, made.real - 1) + 0.0  # never -0
    return made


def tanh(z: Array) -> Array:
    """Return hyperbolic tangents; of infinite real parts, 1 with the sign of the imaginary part.

    >>> tanh(np.array(complex(np.inf, 2.0)))
    array(1.+0.j)
    """
    made = np.array(np.tanh(z))
    far = np.isinf(z.real) & np.isfinite(z.imag)
    made.imag = np.where(far, np.copysign(0.0, z.imag), made.imag)
    return made


FUNCTIONS = {"gv.expm1": expm1, "gv.tanh": tanh}
"""What stands in for numpy's function, by the operation."""

"""Eigenvalues and vectors of matrices that are not symmetric, and logarithms made of them."""

from __future__ import annotations

from collections import namedtuple
from functools import partial

import numpy as np

from ....ir.op import Array
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import refused
from ..core.values import InvalidTypesError
from ..ops.linear_ops import adjoint, diag, diag_part, solve
from ..ops.math_ops import cast, conj, matmul, real
from . import lapack
from .decompositions import Both, Gradient, apart, of_eigenvalues, root_by_products
from .hosted import WIDE, check_square, host, square_matrices

Eig = namedtuple("Eig", "e v")


def _check(a: Array) -> None:
    """Raise for what is no finite square matrix."""
    check_square(a)
    if a.size and not np.isfinite(a).all():
        raise np.linalg.LinAlgError(
            "Eigen decomposition was not successful. The input might not be valid."
        )


def _with_vectors(a: Array) -> tuple[Array, Array]:
    _check(a)
    return lapack.eig(a) if a.size else (np.zeros(a.shape[:-1]), np.zeros(a.shape))


def _without_vectors(a: Array) -> tuple[Array]:
    _check(a)
    return (lapack.eigenvalues_of_any(a) if a.size else np.zeros(a.shape[:-1]),)


@custom_gradient
def _eig(a: TfTensor) -> tuple[tuple[TfTensor, TfTensor], Gradient]:
    found = square_matrices(a)
    n, kind = found.rows, WIDE.get(a.dtype.name, a.dtype.name)
    e, v = host("Eig", _with_vectors, [a], [(kind, found.dims(n)), (kind, found.dims(n, n))])

    def gradient(grad_e: TfTensor, grad_v: TfTensor, *, results: Both) -> TfTensor:
        """Turn the vectors, but do not make them longer."""
        e, v = results
        turned = adjoint(v)
        within = matmul(turned, grad_v)
        kept = diag(cast(real(diag_part(within)), kind))
        inner = diag(grad_e) + conj(apart(e)) * (within - matmul(matmul(turned, v), kept))
        return cast(solve(turned, matmul(inner, turned)), a.dtype)

    return (e, v), gradient


def eig(tensor: object, name: str | None = None) -> Eig:
    """Return eigenvalues of matrices, and eigenvectors of length 1, which are complex."""
    return Eig(*_eig(square_matrices(tensor).tensor))


def eigvals(tensor: object, name: str | None = None) -> TfTensor:
    """Return the eigenvalues of matrices, which are complex."""
    return _eigvals(square_matrices(tensor).tensor)


@custom_gradient
def _eigvals(a: TfTensor) -> tuple[TfTensor, Gradient]:
    found = square_matrices(a)
    results = [(WIDE.get(a.dtype.name, a.dtype.name), found.dims(found.rows))]

    def gradient(grad: TfTensor) -> TfTensor:
        """Move each value as the matrix moves along its vectors, which only this asks for."""
        turned = adjoint(_eig(a)[1])
        return cast(solve(turned, matmul(diag(grad), turned)), a.dtype)

    return host("Eig", _without_vectors, [a], results)[0], gradient


NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Where the integral of a logarithm's derivative is looked at, and what counts how much."""
REACH = 0.25
"""Up to this distance from 1 it is exact."""


def _logarithm(a: Array) -> Array:
    """Return the principal logarithm: of the eigenvalues, or of a root that is nearly 1."""
    try:
        found = of_eigenvalues(a, np.log)
        if not np.isnan(found).any():
            return found
        one, roots = np.eye(len(a)), 0
        while np.abs(a - one).sum(0).max() > REACH and roots < 64:
            a, roots = root_by_products(a)[0], roots + 1
        left = a - one
        made = np.zeros_like(a)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            made += 0.5 * weight * np.linalg.solve(one + 0.5 * (node + 1) * left, left)
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)
    return made * 2.0**roots


def _logarithms(a: Array) -> tuple[Array]:
    check_square(a)
    wide = a.astype(np.complex128)
    made = np.empty_like(wide)
    for at in np.ndindex(a.shape[:-2]):
        made[at] = _logarithm(wide[at]) if wide[at].size else wide[at]
    return (made,)


def logm(input: object, name: str | None = None) -> TfTensor:
    """Return the principal logarithms of complex matrices."""
    found = square_matrices(input)
    kind = found.tensor.dtype.name
    if kind in WIDE:
        raise InvalidTypesError(
            f"Value for attr 'T' of {kind} is not in the list of allowed values: complex64, "
            "complex128"
        )
    return _logm(found.tensor)


@custom_gradient
def _logm(a: TfTensor) -> tuple[TfTensor, Gradient]:
    found = square_matrices(a)
    dims = found.dims(found.rows, found.rows)
    made = host("MatrixLogarithm", _logarithms, [a], [(a.dtype.name, dims)])[0]
    return made, partial(refused, "MatrixLogarithm")


remember_all(globals())

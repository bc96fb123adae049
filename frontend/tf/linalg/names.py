"""What `tf.linalg` has of this folder."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.space import Space
from . import (
    bands,
    circulants,
    decompositions,
    iterative,
    operator,
    operators,
    operators_of_diagonals,
    operators_of_operators,
    spectrum,
    triangles,
)

NAMES: Mapping[str, object] = {
    **{
        n: getattr(decompositions, n)
        for n in (
            *("eigh", "eigvalsh", "expm", "lstsq", "matrix_rank", "normalize", "pinv", "qr"),
            *("slogdet", "sqrtm", "svd"),
        )
    },
    **{n: getattr(spectrum, n) for n in ("eig", "eigvals", "logm")},
    **{n: getattr(triangles, n) for n in ("lu", "lu_matrix_inverse", "lu_reconstruct", "lu_solve")},
    **{
        n: getattr(bands, n)
        for n in (
            *("banded_triangular_solve", "eigh_tridiagonal", "tridiagonal_matmul"),
            "tridiagonal_solve",
        )
    },
    "experimental": Space("linalg.experimental", conjugate_gradient=iterative.conjugate_gradient),
    "LinearOperator": operator.LinearOperator,
    **{
        f"LinearOperator{n}": getattr(operators, f"LinearOperator{n}")
        for n in (
            *("Diag", "FullMatrix", "Householder", "Identity", "LowerTriangular"),
            *("Permutation", "ScaledIdentity", "Zeros"),
        )
    },
    **{
        f"LinearOperator{n}": getattr(circulants, f"LinearOperator{n}")
        for n in ("Circulant", "Circulant2D", "Circulant3D")
    },
    **{
        f"LinearOperator{n}": getattr(operators_of_diagonals, f"LinearOperator{n}")
        for n in ("Toeplitz", "Tridiag")
    },
    **{
        f"LinearOperator{n}": getattr(operators_of_operators, f"LinearOperator{n}")
        for n in (
            *("Adjoint", "BlockDiag", "BlockLowerTriangular", "Composition", "Inversion"),
            *("Kronecker", "LowRankUpdate"),
        )
    },
}

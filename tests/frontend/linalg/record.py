"""Record what TensorFlow gives for factors of matrices, with their gradients.

python tests/frontend/linalg/record.py    # in a Python that has TensorFlow
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(14)
REAL = RANDOM.normal(size=(4, 4)) + 5 * np.eye(4)
WHOLE = REAL + 1j * RANDOM.normal(size=(4, 4))
POSITIVE = WHOLE @ WHOLE.conj().T / 4
RIGHT = RANDOM.normal(size=(4, 3)) + 1j * RANDOM.normal(size=(4, 3))
WEIGHTS = RANDOM.normal(size=64) + 1j * RANDOM.normal(size=64)
BATCH = np.stack([REAL, REAL.T + 1])
MIXED = RANDOM.normal(size=(4, 4))
THREE = np.stack([RANDOM.normal(size=5), 4 + RANDOM.normal(size=5), RANDOM.normal(size=5)])
THREE[0, -1] = THREE[2, 0] = 0
BANDS = RANDOM.normal(size=(3, 5)) + 2


def weighted(tf: Any, y: Any) -> Any:
    """Return a real number that depends on each part of a tensor."""
    flat = tf.reshape(y, [-1])
    weights = tf.constant(WEIGHTS if y.dtype.is_complex else WEIGHTS.real)
    product = flat * tf.cast(weights[: flat.shape[0]], y.dtype)
    return tf.reduce_sum(tf.math.real(product) if y.dtype.is_complex else product)


def sloped(f: Callable[..., Any], *values: Any, shows: bool = True) -> Callable[[Any], Any]:
    """Return what gives the values of a function of tensors, and the gradients of all."""

    def run(tf: Any) -> Any:
        given = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(given)
            made = f(tf, *given)
            total = weighted(tf, made)
        return [*([made] if shows else []), *tape.gradient(total, given)]

    return run


def plain(f: Callable[..., Any], *values: Any) -> Callable[[Any], Any]:
    """Return what gives the values of a function of tensors."""
    return lambda tf: f(tf, *[tf.constant(value) for value in values])


def polar(tf: Any, x: Any) -> Any:
    """Return what singular vectors make together, whichever way they are turned."""
    _, u, v = tf.linalg.svd(x)
    return tf.matmul(u, v, adjoint_b=True)


def sizes_of_vectors(tf: Any, x: Any) -> Any:
    """Return how large the parts of eigenvectors are, the largest eigenvalue first."""
    e, v = tf.linalg.eig(x)
    order = tf.argsort(-tf.abs(e) - 1e-3 * tf.math.imag(e))
    return tf.gather(tf.abs(v), order, axis=1)


def eigenvalues(tf: Any, x: Any) -> Any:
    """Return eigenvalues, the largest first."""
    e = tf.linalg.eigvals(x)
    return tf.gather(e, tf.argsort(-tf.abs(e) - 1e-3 * tf.math.imag(e)))


CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        f"{name} of complex": sloped(lambda tf, x, n=name: getattr(tf.linalg, n)(x), given)
        for name, given in {
            **dict.fromkeys(("inv", "det", "expm", "sqrtm", "trace"), WHOLE),
            **dict.fromkeys(("diag_part", "adjoint"), WHOLE),
            **dict.fromkeys(("cholesky", "logdet", "eigvalsh"), POSITIVE),
        }.items()
    },
    "inv turned": sloped(lambda tf, x: tf.linalg.inv(x, adjoint=True), WHOLE),
    "inv of complex64": plain(lambda tf, x: tf.linalg.inv(x), WHOLE.astype(np.complex64)),
    "slogdet of complex": sloped(lambda tf, x: tf.linalg.slogdet(x)[1], WHOLE),
    "sign of slogdet": plain(lambda tf, x: tf.linalg.slogdet(x)[0], WHOLE),
    "slogdet of large": plain(lambda tf, x: tf.linalg.slogdet(x)[1], 1e30 * BATCH),
    "slogdet": sloped(lambda tf, x: tf.linalg.slogdet(x)[1], BATCH),
    "slogdet of singular": plain(lambda tf, x: tf.stack(tf.linalg.slogdet(x)), np.ones((2, 2))),
    "solve of complex": sloped(lambda tf, a, b: tf.linalg.solve(a, b), WHOLE, RIGHT),
    "solve turned": sloped(lambda tf, a, b: tf.linalg.solve(a, b, adjoint=True), WHOLE, RIGHT),
    "triangular of complex": sloped(
        lambda tf, a, b: tf.linalg.triangular_solve(a, b), WHOLE, RIGHT
    ),
    "triangular turned": sloped(
        lambda tf, a, b: tf.linalg.triangular_solve(a, b, lower=False, adjoint=True), WHOLE, RIGHT
    ),
    "lstsq of complex": sloped(lambda tf, a, b: tf.linalg.lstsq(a, b), RIGHT, WHOLE),
    "eigh of complex": sloped(lambda tf, x: tf.abs(tf.linalg.eigh(x)[1]), POSITIVE),
    "svd of complex": sloped(lambda tf, x: tf.linalg.svd(x, compute_uv=False), WHOLE),
    "polar of complex": sloped(polar, WHOLE),
    "polar of tall": sloped(polar, RIGHT),
    "polar of wide": sloped(polar, RIGHT.T),
    "whole svd": sloped(
        lambda tf, x: tf.abs(tf.linalg.svd(x, full_matrices=True)[1]), REAL[:, :3]
    ),
    **{
        f"qr {i} of {label}": sloped(lambda tf, x, i=i: tf.linalg.qr(x)[i], x, shows=False)
        for i in (0, 1)
        for label, x in {
            "square": WHOLE, "tall": RIGHT, "wide": RIGHT.T, "real wide": REAL[:3]
        }.items()
    },
    "einsum of complex": sloped(lambda tf, x, y: tf.einsum("ij,jk->ki", x, y), WHOLE, RIGHT),
    "matvec of complex": sloped(
        lambda tf, x, y: tf.linalg.matvec(x, y[:, 0], adjoint_a=True), WHOLE, RIGHT
    ),
    "tensordot of complex": sloped(lambda tf, x, y: tf.tensordot(x, y, 1), WHOLE, RIGHT),
    **{
        f"{n} of complex": sloped(lambda tf, x, n=n: getattr(tf.math, n)(x), WHOLE)
        for n in ("reduce_mean", "sign", "cumprod")
    },
    "where of complex": sloped(lambda tf, x: tf.where([True, False] * 2, x, 2 * x), WHOLE),
    "gather of complex": sloped(lambda tf, x: tf.gather(2 * x, [1, 1, 0]), WHOLE),
    "real of real": sloped(lambda tf, x: tf.math.real(x) * tf.math.conj(x), REAL),
    "lu": plain(lambda tf, x: tf.linalg.lu(x)[0], BATCH[:, ::-1]),
    "rows of lu": plain(lambda tf, x: tf.linalg.lu(x, output_idx_type=tf.int64)[1], MIXED),
    "lu of complex": plain(lambda tf, x: tf.linalg.lu(x)[0], WHOLE[::-1]),
    "lu_solve": sloped(lambda tf, x, y: tf.linalg.lu_solve(x, [2, 0, 1, 3], y), WHOLE, RIGHT),
    "lu_solve of a batch": sloped(
        lambda tf, x, y: tf.linalg.lu_solve(x, [[2, 0, 1, 3], [3, 1, 2, 0]], y), BATCH, RIGHT.real
    ),
    "lu_matrix_inverse": sloped(
        lambda tf, x: tf.linalg.lu_matrix_inverse(x, [2, 0, 1, 3]), MIXED
    ),
    "lu_reconstruct": sloped(lambda tf, x: tf.linalg.lu_reconstruct(x, [2, 0, 1, 3]), MIXED),
    "eigvals": sloped(eigenvalues, MIXED),
    "eigvals of complex": sloped(eigenvalues, WHOLE),
    "eig": sloped(sizes_of_vectors, MIXED),
    "eig of complex": sloped(sizes_of_vectors, WHOLE),
    "logm": plain(lambda tf, x: tf.linalg.logm(x), WHOLE),
    "logm of a block": plain(
        lambda tf, x: tf.linalg.logm(x), np.array([[2, 1, 0], [0, 2, 1], [0, 0, 2]], np.complex128)
    ),
    "tridiagonal_solve": sloped(
        lambda tf, x, y: tf.linalg.tridiagonal_solve(x, y), THREE, RANDOM.normal(size=(5, 2))
    ),
    "tridiagonal_solve of vectors": plain(
        lambda tf, x, y: tf.linalg.tridiagonal_solve(x, y),
        np.stack([THREE, THREE[::-1]]), RANDOM.normal(size=(2, 5)),
    ),
    "tridiagonal_solve of rows": plain(
        lambda tf, x, y: tf.linalg.tridiagonal_solve(x, y, transpose_rhs=True),
        THREE * (1 + 2j), RANDOM.normal(size=(2, 5)) + 1j,
    ),
    "tridiagonal_solve without pivots": plain(
        lambda tf, x, y: tf.linalg.tridiagonal_solve(x, y, partial_pivoting=False),
        THREE, RANDOM.normal(size=(5, 2)),
    ),
    "tridiagonal_matmul": sloped(
        lambda tf, x, y: tf.linalg.tridiagonal_matmul(x, y), THREE, RANDOM.normal(size=(5, 2))
    ),
    "tridiagonal_matmul of a matrix": plain(
        lambda tf, x, y: tf.linalg.tridiagonal_matmul(x, y, diagonals_format="matrix"), REAL, REAL
    ),
    **{
        f"banded_triangular_solve {lower} {turned}": sloped(
            lambda tf, x, y, a=lower, b=turned: tf.linalg.banded_triangular_solve(
                x, y, lower=a, adjoint=b
            ),
            BANDS, RANDOM.normal(size=(5, 2)),
        )
        for lower in (True, False)
        for turned in (True, False)
    },
    "eigh_tridiagonal": plain(
        lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b), THREE[1], THREE[0, :4]
    ),
    "eigh_tridiagonal, some": plain(
        lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, select="i", select_range=[1, 2]),
        THREE[1], THREE[0, :4],
    ),
    "eigh_tridiagonal within": plain(
        lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, select="v", select_range=[3.0, 4.5]),
        THREE[1], THREE[0, :4],
    ),
    "eigh_tridiagonal with vectors": plain(
        lambda tf, a, b: tf.abs(tf.linalg.eigh_tridiagonal(a, b, eigvals_only=False)[1]),
        THREE[1] + 0j, THREE[0, :4] * (1 + 1j),
    ),
}  # fmt: skip


def arrays(run: Callable[[Any], Any], tf: Any) -> list[Any]:
    """Return the results of a run as a list of arrays."""
    made = run(tf)
    return [np.asarray(x) for x in (made if isinstance(made, list | tuple) else [made])]


def listed(x: Any) -> Any:
    """Return the elements of an array as JSON has them: complex ones by their parts."""
    flat = x.ravel()
    return flat.view(flat.real.dtype).tolist() if flat.dtype.kind == "c" else flat.tolist()


if __name__ == "__main__":
    tensorflow = importlib.import_module("tensorflow")
    found = {
        name: [(str(x.dtype), list(x.shape), listed(x)) for x in arrays(run, tensorflow)]
        for name, run in CALLS.items()
    }
    Path(__file__).with_name("values.json").write_text(json.dumps(found))

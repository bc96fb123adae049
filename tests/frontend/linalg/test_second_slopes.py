"""Ways back that use what the way there gave depend on the matrix through it: seen by differences.

Gradients of gradients took factors for constants: numbers, and wrong ones, without a word.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

RANDOM = np.random.default_rng(0)
ANY = RANDOM.normal(size=(3, 3))
SYMMETRIC = ANY + ANY.T
POSITIVE = ANY @ ANY.T + np.eye(3)
WEIGHTS = RANDOM.normal(size=(3, 3))
STEP = 1e-5


def _complex(x: Any) -> Any:
    return tf.complex(x, x * x)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "q": (lambda x: tf.linalg.qr(x)[0], ANY),
    "r": (lambda x: tf.linalg.qr(x)[1], ANY),
    "r of wide": (lambda x: tf.linalg.qr(tf.concat([x, x * x], 1))[1], ANY),
    "r of complex": (lambda x: tf.math.real(tf.linalg.qr(_complex(x))[1]), ANY),
    "eigenvalues": (lambda x: tf.linalg.eigh(x)[0], SYMMETRIC),
    "eigenvalues alone": (tf.linalg.eigvalsh, SYMMETRIC),
    "eigenvectors": (lambda x: tf.abs(tf.linalg.eigh(x)[1]), SYMMETRIC),
    "singular values": (lambda x: tf.linalg.svd(x, compute_uv=False), ANY),
    "singular vectors": (lambda x: tf.abs(tf.linalg.svd(x)[1]), ANY),
    "singular vectors of tall": (
        lambda x: tf.abs(tf.linalg.svd(tf.concat([x, x * x], 0))[2]),
        ANY,
    ),
    "values of any": (lambda x: tf.math.real(tf.linalg.eigvals(x)), POSITIVE),
    "vectors of any": (lambda x: tf.abs(tf.linalg.eig(x)[1]), POSITIVE),
    "root": (tf.linalg.sqrtm, POSITIVE),
    "triangles": (lambda x: tf.linalg.lu(x)[0], POSITIVE),
    "three diagonals": (lambda x: tf.linalg.tridiagonal_solve(x, x[0]), ANY),
    "shortest solutions": (
        lambda x: tf.linalg.lstsq(tf.concat([x, x * x], 0), tf.ones([6, 2], x.dtype), fast=False),
        ANY,
    ),
    "fft": (lambda x: tf.math.real(tf.signal.fft(_complex(x))), ANY),
    "ifft2d": (lambda x: tf.math.imag(tf.signal.ifft2d(_complex(x))), ANY),
    "rfft": (lambda x: tf.abs(tf.signal.rfft(x)), ANY),
    "irfft": (lambda x: tf.signal.irfft(_complex(x)), ANY),
}


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.reduce_sum(tf.sin(function(x)))
    return tape.gradient(made, x)


def second(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(slope(function, x) * WEIGHTS)
    return tape.gradient(total, x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_of_slopes_are_differences_of_slopes(name: str) -> None:
    function, x = FUNCTIONS[name]
    wanted = np.zeros((3, 3))
    for at in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[at] = STEP
        ends = [
            (slope(function, tf.constant(x + s)) * WEIGHTS).numpy().sum() for s in (step, -step)
        ]
        wanted[at] = (ends[0] - ends[1]) / (2 * STEP)
    size = np.abs(wanted).max()
    for run in (second, tf.function(second)):
        found = run(function, tf.constant(x))
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * size)


def test_the_order_zero_has_a_slope() -> None:
    order, x = tf.constant([0.0, 1.0], tf.float64), tf.constant([2.0, 1.5], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.math.polygamma(order, x)
    np.testing.assert_allclose(tape.gradient(made, x), [np.pi**2 / 6 - 1, -0.8287966442343], 1e-9)

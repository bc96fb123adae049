"""Functions far below 0, where next to nothing is left of them: all digits are right there, too."""

import math
from typing import Any

import numpy as np
import pytest

from gravure import tf

X = np.linspace(-12, 5, 1000)
HALF = math.sqrt(0.5)
SHARES = np.array([0.5 * math.erfc(-x * HALF) for x in X])
SLOPES = np.exp(-X * X / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize(("kind", "error"), [("float32", 2e-5), ("float64", 1e-13)])
def test_gelu_keeps_its_digits(kind: str, error: float) -> None:
    x = tf.constant(X, kind)
    compiled = tf.function(tf.nn.gelu, autograph=False)
    np.testing.assert_allclose(tf.nn.gelu(x), X * SHARES, rtol=error)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), X * SHARES, rtol=error)
    with tf.GradientTape() as tape:
        tape.watch(x)
        made: Any = tf.nn.gelu(x)
    found = tape.gradient(made, x)
    wanted = SHARES + X * SLOPES
    np.testing.assert_allclose(found, wanted, rtol=3 * error, atol=error * 1e-2)
    below = X < -2
    np.testing.assert_allclose(found.numpy()[below], wanted[below], rtol=3 * error)

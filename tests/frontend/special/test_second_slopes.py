"""Slopes of slopes where a quotient that is not taken would be one by 0."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf

GELU = 2 / np.sqrt(2 * np.pi)


def slopes(function: Callable[[Any], Any], x: tf.Tensor) -> tuple[Any, Any]:
    """Return the gradient of a function's sum, and that of the gradient's sum."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = function(x)
        first = tape.gradient(made, x)
    return first, outer.gradient(first, x)


@pytest.mark.parametrize(
    ("function", "x", "first", "second"),
    [
        (
            tf.nn.gelu,
            [0.0, 1.0, -3.0],
            [0.5, 1.0833155, -0.01194562],
            [GELU, 0.2419707, -0.0310229],
        ),
        (tf.math.cumprod, [0.0, 2.0, 3.0], [0, 0, 0], [0, 0, 0]),
        (tf.math.cumprod, [3.0, 0.0, 2.0], [1, 0, 0], [0, 0, 0]),
    ],
)
def test_a_second_slope_at_zero(
    function: Callable[[Any], Any], x: list[float], first: list[float], second: list[float]
) -> None:
    for _ in range(3):
        found = slopes(function, tf.constant(x))
        np.testing.assert_allclose(found[0], first, atol=1e-6)
        np.testing.assert_allclose(found[1], second, atol=1e-6)


def test_the_slope_of_a_length_of_zero() -> None:
    x = tf.constant([0.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made: Any = gv.hypot(x, tf.constant([0.0, 4.0]))
    found = tape.gradient(made, x)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[1], 0.6, rtol=1e-6)

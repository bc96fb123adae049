"""Gradients of complex numbers where sizes or ranks are open are those of known ones."""

import numpy as np
import pytest

import gravure.tf as tf

ROW = tf.constant([[1.0, 2.0, 3.0]])
ROWS = tf.constant([[0.5, -1.0, 2.0], [1.5, 0.25, -3.0]])


def of_products(x, y):
    with tf.GradientTape() as tape:
        a, b = tf.complex(x, x), tf.complex(y, -y)
        tape.watch([a, b])
        made = a * b
    return tape.gradient(made, [a, b])


def of_sizes(x, y):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        made = tf.abs(tf.complex(x, x) / tf.complex(y, -y))
    return tape.gradient(made, [x, y])


def of_slopes(x, y):
    with tf.GradientTape() as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            made = tf.math.square(tf.complex(x, y)) + tf.complex(x * y, x)
        slopes = inner.gradient(made, [x, y])
    return outer.gradient(slopes, [x, y])


SIGNATURES = {
    "rank": lambda x: tf.TensorSpec(None),
    "sizes": lambda x: tf.TensorSpec([None] * len(x.shape)),
    "rows": lambda x: tf.TensorSpec([*x.shape[:-1], None]),
}


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("function", [of_products, of_sizes, of_slopes])
@pytest.mark.parametrize(
    ("x", "y"), [(ROW, ROWS), (ROWS, ROW), (ROW[0], ROWS), (ROWS, ROW[0]), (ROWS, -ROWS)]
)
def test_what_was_repeated_is_summed_up(function, signature, x, y):
    """It had the shape of the product, or was refused where nothing says how many axes it has."""
    if function is of_slopes:
        x, y = tf.broadcast_to(x, [2, 3]), tf.broadcast_to(y, [2, 3])
    wanted = function(x, y)
    staged = tf.function(function, input_signature=[SIGNATURES[signature](v) for v in (x, y)])
    for _ in range(2):
        for found, expected in zip(staged(x, y), wanted, strict=True):
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [of_products, of_sizes])
def test_a_spec_that_stands_twice_is_of_two_shapes(function):
    spec = tf.TensorSpec([None, None])
    staged = tf.function(function, input_signature=[spec, spec])
    for found, expected in zip(staged(ROW, ROWS), function(ROW, ROWS), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)

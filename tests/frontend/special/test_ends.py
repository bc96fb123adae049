"""What functions and their derivatives are where numbers are huge, endless or nothing."""

import math

import numpy as np
import pytest

import gravure.tf as tf


@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 1e35), (np.float64, 1e300)])
def test_the_logarithm_of_the_gamma_function_grows_to_its_end(dtype, large):
    x = np.array([1e29, 1e31, large, np.inf, -np.inf], dtype)
    wanted = [math.lgamma(float(each)) for each in x]
    np.testing.assert_allclose(tf.math.lgamma(x), wanted, rtol=1e-6)


def test_the_logarithm_of_the_gamma_function_has_no_slope_at_its_end():
    x = tf.constant([np.inf, 1e38, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.math.lgamma(x)
    wanted = [np.inf, math.log(1e38), 1 - np.euler_gamma]
    np.testing.assert_allclose(tape.gradient(made, x), wanted, rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at once", "in a function"])
def test_a_product_that_is_nothing_has_the_slope_of_a_product(wrap):
    x, y = tf.constant([-2.0, np.inf, 3.0]), tf.constant([0.0, 0.0, 2.0])

    def slopes(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            made = tf.math.multiply_no_nan(x, y)
        return made, *tape.gradient(made, [x, y])

    made, by_x, by_y = wrap(slopes)(x, y)
    np.testing.assert_array_equal(made, [0.0, 0.0, 6.0])
    assert not np.signbit(made).any()
    np.testing.assert_array_equal(by_x, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(by_y.numpy()[[0, 2]], [-2.0, 3.0])

"""Derivatives along directions, and by the weights of a gradient where these are nothing."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1

# A slope of each that is not 0 anywhere in between.
ROOTS = [
    (tf.sqrt, lambda x: 0.5 / np.sqrt(x)),
    (tf.math.rsqrt, lambda x: -0.5 * x**-1.5),
    (tf.math.reciprocal, lambda x: -1.0 / x**2),
]
NAMES = ["sqrt", "rsqrt", "reciprocal"]


@pytest.mark.parametrize(("function", "slope"), ROOTS, ids=NAMES)
def test_a_root_has_a_derivative_along_a_direction(function, slope):
    x = tf.constant([0.5, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 3.0])) as forward:
        made = function(x)
    expected = slope(np.array([0.5, 2.0])) * [1.0, 3.0]
    np.testing.assert_allclose(forward.jvp(made), expected, rtol=1e-6)


@pytest.mark.parametrize(("function", "slope"), ROOTS, ids=NAMES)
def test_a_gradient_of_a_root_is_derived_by_weights_of_0(function, slope):
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([0.5, 2.0])
        weights = tf.zeros_like(x)
        (back,) = v1.gradients(function(x), [x], grad_ys=[weights])
        (along,) = v1.gradients(back, [weights], grad_ys=[tf.constant([1.0, 3.0])])
        expected = slope(np.array([0.5, 2.0])) * [1.0, 3.0]
        np.testing.assert_allclose(session.run(along), expected, rtol=1e-6)


@pytest.mark.parametrize("function", [f for f, _ in ROOTS], ids=NAMES)
def test_nothing_comes_back_where_a_root_has_no_slope(function):
    for number in (0.0, -1.0, float("inf"), float("nan")):
        x = tf.constant([number])
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = function(x)
        assert tape.gradient(made, x, tf.zeros([1])).numpy() == 0.0


@pytest.mark.parametrize("function", [f for f, _ in ROOTS], ids=NAMES)
def test_along_a_direction_a_slope_has_no_end_where_there_is_none(function):
    steep = 1.0 if function is tf.sqrt else -1.0
    x = tf.constant([0.0, float("nan")])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([2.0, 2.0])) as forward:
        made = function(x)
    np.testing.assert_array_equal(forward.jvp(made), [steep * np.inf, np.nan])


def test_along_a_direction_a_root_of_less_than_nothing_is_no_number():
    for function in (tf.sqrt, tf.math.rsqrt):
        x = tf.constant(-1.0)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as forward:
            made = function(x)
        assert np.isnan(forward.jvp(made))

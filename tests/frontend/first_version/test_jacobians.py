"""Slopes of complex numbers: both parts of each are numbers of their own, as in TensorFlow."""

import numpy as np

import gravure.tf as tf

v1 = tf.compat.v1
AT = np.array([1 + 2j, 3.0])
SLOPES = [[11.302, 2.973, 0, 0], [-2.973, 11.302, 0, 0], [0, 0, -2.829, 0], [0, 0, 0, -2.829]]


def test_slopes_of_graphs_have_rows_for_real_and_imaginary_parts():
    with tf.Graph().as_default(), v1.Session():
        x = tf.constant(AT)
        exact, found = v1.test.compute_gradient(x, [2], x * tf.sin(x), [2], x_init_value=AT)
        np.testing.assert_allclose(exact, SLOPES, atol=1e-3)
        np.testing.assert_allclose(found, exact, atol=1e-5)
        sizes, _ = v1.test.compute_gradient(x, [2], tf.abs(x), [2], x_init_value=AT)
        assert sizes.shape == (4, 2)


def test_slopes_of_functions_have_a_row_for_each_number_of_the_result():
    (exact,), (found,) = tf.test.compute_gradient(lambda x: x * tf.sin(x), [AT])
    np.testing.assert_allclose(exact, np.transpose(SLOPES), atol=1e-3)
    np.testing.assert_allclose(found, exact, atol=1e-5)
    flat, _ = tf.test.compute_gradient(lambda x: tf.constant(1.0) + 0.0, [np.ones(2, np.float32)])
    assert flat[0].tolist() == [[0.0, 0.0]]

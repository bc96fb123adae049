"""Slopes of complex numbers: both parts of each are numbers of their own, as in TensorFlow."""

import numpy as np
import pytest

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


def test_second_derivatives_of_unknown_sizes_are_found_in_graphs_and_loops():
    with tf.Graph().as_default(), v1.Session() as session:
        x, any_ = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32)
        [matrix] = tf.hessians(tf.reduce_sum(x**3), x)
        [wide] = tf.hessians(tf.reduce_sum(any_**3), any_)

        def body(i, total):
            [found] = tf.hessians(tf.reduce_sum(x**3) * tf.cast(i, tf.float32), x)
            return i + 1, total + tf.reduce_sum(found)

        total = tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]
        for given in ([1.0, 2.0, 3.0], [1.0, 2.0]):
            found, summed = session.run([matrix, total], {x: given})
            np.testing.assert_allclose(found, 6 * np.diag(given))
            assert summed == 18 * sum(given)
        found = session.run(wide, {any_: [[1.0, 2.0], [3.0, 4.0]]})
        np.testing.assert_allclose(found.reshape(4, 4), np.diag([6.0, 12.0, 18.0, 24.0]))


def test_second_derivatives_of_unknown_sizes_are_found_in_functions():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def steps(x):
        for _ in tf.range(2):
            squares = x * x
            [found] = tf.hessians(tf.reduce_sum(squares * squares), x)
            x = x + 0.01 * tf.reduce_sum(found, 1)
        return x

    for given in ([1.0, 2.0, 3.0], [0.5]):
        x = np.array(given)
        for _ in range(2):
            x = x + 0.12 * x * x
        np.testing.assert_allclose(steps(tf.constant(given)), x, rtol=1e-5)


def test_slopes_of_nothing_are_none_of_each_source():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * tf.zeros([0, 3])
    assert tape.jacobian(y, x).shape == (0, 3, 3)


def test_parts_of_an_extent_that_a_run_tells_are_of_the_sizes_that_are_given():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        parts = tf.split(x, [1, 2])
        assert [p.shape.as_list() for p in parts] == [[1], [2]]
        return parts

    assert [p.numpy().tolist() for p in f([1.0, 2.0, 3.0])] == [[1.0], [2.0, 3.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Determined shape must either match"):
        f([1.0, 2.0])


def test_each_target_may_be_weighed_by_a_list_of_numbers():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        weights = [[1.0, 2.0], [3.0, 4.0]]
        found = tf.compat.v1.gradients([x * 2, x * x], [x], grad_ys=weights)
        assert session.run(found)[0].tolist() == [8, 20]
        listed = tf.TensorArray(tf.float32, 2, infer_shape=False).unstack(x)
        twice = [listed.read(0), listed.read(0)]
        found = tf.compat.v1.gradients(twice, [x], grad_ys=[1.0, 2.0])
        assert session.run([*twice, *found])[2].tolist() == [3, 0]

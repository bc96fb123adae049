"""Derivatives that go through calls, choices and methods: what they depend on, and how often."""

import math

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def derived(function):
    def derivative():
        with tf.GradientTape() as tape:
            made = function()
        (found,) = tape.gradient(made, tape.watched_variables())
        return found

    return derivative


def test_the_third_derivative_of_a_call_by_a_variable_inside_of_a_function():
    v = tf.Variable(2.0)
    function = tf.function(lambda: tf.cos(v))
    for expected in (math.cos(2), -math.sin(2), -math.cos(2), math.sin(2), math.cos(2)):
        assert float(function()) == pytest.approx(expected, 1e-5)
        assert float(tf.function(function)()) == pytest.approx(expected, 1e-5)
        function = derived(function)


def test_a_call_that_does_not_use_its_argument_has_no_gradient_by_it():
    with tf.Graph().as_default():
        x, v = tf.constant(3.0), tf.Variable(1.0)
        made = tf.function(lambda x, v: x * x + 0.0 * tf.cast(v > 0, tf.float32))(x, v)
        of_x, of_v = v1.gradients(made, [x, v])
        assert of_v is None
        with v1.Session() as session:
            session.run(v.initializer)
            assert session.run(of_x) == 6.0
        either = tf.cond(x > 1.0, lambda: x * 2.0, lambda: x + 0.0 * tf.stop_gradient(v))
        assert v1.gradients(either, [x, tf.constant(1.0)])[1] is None


def test_what_nobody_asks_for_is_not_gone_through_inside_of_a_loop():
    @tf.custom_gradient
    def trap(x):
        def gradient(grad):
            return tf.debugging.check_numerics(grad / 0.0, "trap")

        return tf.identity(x), gradient

    with tf.Graph().as_default():
        x, y = tf.constant(0.5), tf.constant(1.0)
        total = tf.while_loop(lambda s: s < 10.0, lambda s: (s + 2 * x + trap(y),), [0.0])
        (slope,) = v1.gradients(total, [x])
        with v1.Session() as session:
            assert session.run(slope) == 10.0


def test_forward_derivatives_of_variables_and_of_rows():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([0.1, -0.2, 0.3])) as along:
        np.testing.assert_allclose(along.jvp(v), [0.1, -0.2, 0.3])
        np.testing.assert_allclose(along.jvp(v * 2.0), [0.2, -0.4, 0.6], rtol=1e-6)
    x = tf.constant([1.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([3.0])) as along:
        made = tf.gather(x, 0)
    np.testing.assert_allclose(along.jvp(made), 3.0)


@pytest.mark.parametrize("staged", [False, True])
def test_a_forward_derivative_that_is_asked_for_later_has_one_of_its_own(staged):
    function = tf.function(lambda x: x**3.5) if staged else lambda x: x**3.5
    x = tf.constant(1.1)
    along = tf.autodiff.ForwardAccumulator
    with along(x, tf.constant(1.0)) as outer, along(x, tf.constant(1.0)) as inner:
        made = function(x)
    first = inner.jvp(made)
    np.testing.assert_allclose(first, 3.5 * 1.1**2.5, rtol=1e-5)
    np.testing.assert_allclose(outer.jvp(first), 3.5 * 2.5 * 1.1**1.5, rtol=1e-5)


def test_a_forward_derivative_of_what_ignores_the_argument_is_none():
    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, 11.0) as along:
        made = tf.function(lambda x: tf.constant(1.0))(x)
    assert along.jvp(made) is None


def test_a_method_with_a_gradient_of_its_own():
    class Model:
        factor = 2.0

        @tf.custom_gradient
        def product(self, a, b):
            return self.factor * a * b, lambda grad: (grad * b, grad * a)

    a, b = tf.constant(3.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        made = Model().product(a, b)
    assert float(made) == 30.0
    assert [float(x) for x in tape.gradient(made, [a, b])] == [5.0, 3.0]


def test_the_gradient_passes_what_assigns_a_variable():
    x, z = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        made = tf.grad_pass_through(x.assign)(z**2)
    assert float(tape.gradient(made, z)) == 6.0
    with tf.GradientTape() as tape:
        made = tf.grad_pass_through(lambda v: x * v)(z)
    assert tape.gradient(made, x) is None


def test_gradients_run_where_the_operations_do():
    with tf.Graph().as_default() as graph:
        w = tf.constant([[1.0]])
        with graph.device("/device:GPU:0"):
            made = tf.matmul(w, tf.constant([[1.0, 2.0]]))
        (found,) = v1.gradients(made, [w], colocate_gradients_with_ops=True)
        assert found.op.device == made.op.device


def test_options_of_gradients_and_choices_are_looked_at():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="unconnected_gradients"):
            v1.gradients(x, x, unconnected_gradients="nonsense")
        with pytest.raises(TypeError, match="true_fn"):
            v1.cond(x > 0, true_fn=lambda: x, fn1=lambda: x, false_fn=lambda: x)
        with pytest.raises(TypeError, match="Python `int`"):
            tf.switch_case(tf.constant(1), [(tf.constant(0), lambda: x)])


def test_a_vectorized_map_gives_other_types_than_it_takes():
    def both(i):
        return tf.cast(i, tf.float32) * 2.0, i

    spec = tf.TensorSpec([None], tf.int32)
    staged = tf.function(lambda x: tf.vectorized_map(both, x), input_signature=[spec])
    for function in (lambda x: tf.vectorized_map(both, x), staged):
        doubled, same = function(tf.range(3))
        assert doubled.numpy().tolist() == [0.0, 2.0, 4.0]
        assert same.numpy().tolist() == [0, 1, 2]

"""Tensors of the core in TensorFlow's functions: they keep their rules, and are known as one."""

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf


def test_a_tensor_that_tensorflows_function_took_keeps_the_rules_of_the_core():
    x = gv.asarray([1.0, 2.0])
    y = tf.add(x, 1.0)
    assert isinstance(y, tf.Tensor)
    assert not isinstance(x, tf.Tensor)
    assert x.shape == (2,)
    assert (x + gv.asarray(1)).dtype == gv.float32
    with pytest.raises(tf.errors.InvalidArgumentError):
        y + tf.constant(1)
    x[0] = 5.0
    assert np.array_equal(y, [2.0, 3.0])


@pytest.mark.parametrize("tape", [gv.GradientTape, tf.GradientTape])
def test_a_tape_knows_a_tensor_under_both_rules(tape):
    x = gv.asarray([1.0, 2.0])
    converted = tf.convert_to_tensor(x)
    with tape() as t:
        t.watch(x)
        y = gv.sum(x * 2.0) + tf.reduce_sum(tf.square(converted))
    assert np.array_equal(t.gradient(y, x), [4.0, 6.0])


def test_functions_of_the_core_take_tensorflows_operations():
    @gv.function
    def f(a, n):
        b = tf.exp(a)
        b.set_shape([3])
        with gv.GradientTape() as t:
            t.watch(a)
            z = gv.sum(tf.square(a) * b) + tf.reduce_sum(a)
        step = lambda i, s: (i + 1, s * a)  # noqa: E731
        powers = tf.while_loop(lambda i, s: i < n, step, [0, b])[1]
        chosen = tf.cond(tf.reduce_sum(a) > 1.0, lambda: a, lambda: b)
        return b, t.gradient(z, a), powers, chosen, a

    x = np.array([0.5, 1.0, 2.0], np.float32)
    b = np.exp(x)
    expected = b, 2 * x * b + 1, b * x**3, x, x
    for made, known in zip(f(gv.asarray(x), gv.asarray(3)), expected, strict=True):
        assert np.allclose(made, known, rtol=1e-5)

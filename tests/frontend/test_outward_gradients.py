"""Gradients that are asked for inside of branches and loops, for what was computed outside."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf


def test_a_branch_asks_for_the_gradient_of_what_its_function_computed() -> None:
    @tf.function
    def chosen(x: tf.Tensor, which: tf.Tensor) -> list[tf.Tensor]:
        m = x * x * 3.0
        k = tf.sin(m) + tf.reduce_sum(m)

        def first() -> list[tf.Tensor]:
            return tf.gradients(m * k + x, [x, m])

        def second() -> list[tf.Tensor]:
            return [tf.gradients(k * 2.0, x)[0], tf.zeros_like(m)]

        return tf.cond(which, first, second)

    x = np.float32([0.3, 0.7])
    m = 3 * x * x
    k = np.sin(m) + m.sum()
    of_m = k + m * np.cos(m) + m.sum()
    for _ in range(3):
        found = [y.numpy() for y in chosen(tf.constant(x), tf.constant(True))]
        np.testing.assert_allclose(found, [of_m * 6 * x + 1, of_m], rtol=1e-5)
        found = [y.numpy() for y in chosen(tf.constant(x), tf.constant(False))]
        wanted = 2 * (np.cos(m) + 2) * 6 * x
        np.testing.assert_allclose(found, [wanted, 0 * x], rtol=1e-5)


def test_a_loop_and_a_branch_within_a_branch_ask_for_it_in_sessions() -> None:
    graph = tf.compat.v1.Graph()
    with graph.as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [])
        v = x * 2.0
        w = v * v

        def body(i: tf.Tensor, s: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, s + tf.gradients(w * s, x)[0]

        _, s = tf.while_loop(lambda i, s: i < 3, body, [0, tf.constant(1.0)])

        def inner() -> tf.Tensor:
            e = w * 0.5
            return tf.cond(x > 1, lambda: tf.gradients(e * w, x)[0], lambda: tf.gradients(e, x)[0])

        z = tf.cond(x > 0, inner, lambda: tf.gradients(v, x)[0])
        for value, wanted in ((0.5, (125.0, 2.0)), (-0.5, (-27.0, 2.0)), (1.5, (2197.0, 108.0))):
            np.testing.assert_allclose(session.run([s, z], {x: value}), wanted, rtol=1e-5)


def test_what_python_did_outside_is_not_done_again() -> None:
    @tf.function
    def called(x: tf.Tensor) -> tf.Tensor:
        noise = tf.py_function(lambda a: a * 2.0, [x * 3.0], tf.float32)
        noise.set_shape([])
        return tf.cond(x > 0, lambda: tf.gradients(noise * 2.0, x)[0], lambda: x)

    with pytest.raises(LookupError, match=r"PyFunc.*inside of a branch"):
        called(tf.constant(1.0))


def test_they_run_beside_what_they_go_back_through_if_that_is_wished() -> None:
    v1 = tf.compat.v1
    graph = v1.Graph()
    with graph.as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        with tf.device("/cpu:0"):
            w = tf.exp(x * 2.0)

        def first() -> tf.Tensor:
            (found,) = v1.gradients(w * w, x, colocate_gradients_with_ops=True)
            groups = [op.colocation_groups() for op in found.graph.get_operations()]
            assert [w.op.name.encode()] in [[y.removeprefix(b"loc:@") for y in g] for g in groups]
            return found

        z = tf.cond(x > 0, first, lambda: w)
        np.testing.assert_allclose(session.run(z, {x: 0.5}), 4 * np.exp(2.0), rtol=1e-6)


def test_targets_of_graphs_around_have_gradients_inside_of_a_function():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(1.0)
        y = x * tf.constant(2.0)

        @tf.function
        def outer():
            around = tf.identity(x)

            @tf.function
            def inner():
                return tf.gradients([tf.identity(around), tf.identity(y), x], [x])

            return inner()

        assert session.run(outer()) == [4.0]


def test_the_gradient_of_a_program_asks_for_one_of_what_it_has_computed():
    @tf.custom_gradient
    def f(x):
        y = x * x * x
        return y, lambda grad: tf.gradients(y, x, grad_ys=grad)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(2.0)
        assert session.run(tf.gradients(f(x), x)) == [12.0]


def test_gradients_of_complex_numbers_are_of_what_is_given_for_them():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(3 + 4j)
        with pytest.raises(TypeError, match=r"Gradients of complex tensors .* must set grad_ys"):
            tf.gradients(x * x, x)
        one = tf.constant(1 + 0j)
        assert session.run(tf.gradients(x * x, x, grad_ys=one)) == [6 - 8j]

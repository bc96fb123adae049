"""Gradients of Python functions: each call is made once, and gone back through."""

import random
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1


def counted(calls: list[float]) -> Any:
    """Return a square that notes its arguments."""

    def square(x: Any) -> Any:
        calls.append(float(x))
        return x * x

    return square


@pytest.mark.parametrize("way", ["function", "inside", "session"])
def test_a_python_function_is_called_once_for_its_value_and_its_gradient(way: str) -> None:
    calls: list[float] = []
    square = counted(calls)

    def step(x: Any) -> Any:
        y = tf.py_function(square, [x * 2.0], tf.float32)
        y.set_shape([])
        return y

    def graded(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = step(x)
        return y, tape.gradient(y, x)

    if way == "session":
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [])
            y = step(x)
            grad = tf.gradients(y, x)[0]
            with v1.Session() as session:
                found = [session.run([y, grad], {x: n}) for n in (1.0, 2.0, 2.0, 3.0)]
    else:
        run = tf.function(graded) if way == "function" else tf.function(lambda x: graded(x * 1.0))
        found = [run(tf.constant(n)) for n in (1.0, 2.0, 2.0, 3.0)]
    assert [[float(a) for a in each] for each in found] == [[4, 8], [16, 16], [16, 16], [36, 24]]
    assert calls == [2.0, 4.0, 4.0, 6.0]


def test_the_gradient_is_of_the_call_that_was_made() -> None:
    chance = random.Random(3)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda v: v * chance.random(), [x], tf.float32)
        return y, tape.gradient(y, x)

    for _ in range(6):
        y, grad = step(tf.constant(2.0))
        np.testing.assert_allclose(y / 2.0, grad, rtol=1e-6)


def test_two_gradients_of_one_call_need_no_second_one() -> None:
    calls: list[float] = []
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        y = tf.py_function(counted(calls), [x], tf.float32)
        y.set_shape([])
        grads = [tf.gradients(y * n, x)[0] for n in (1.0, 3.0)]
        with v1.Session() as session:
            for n in (1.0, 5.0):
                assert session.run(grads, {x: n}) == [2 * n, 6 * n]
    assert calls == [1.0, 5.0]


def test_calls_in_a_loop_are_made_once_as_well() -> None:
    calls: list[float] = []
    square = counted(calls)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                y = tf.ensure_shape(tf.py_function(square, [y], tf.float32), [])
        return tape.gradient(y, x)

    for _ in range(3):
        calls.clear()
        assert float(step(tf.constant(1.5))) == pytest.approx(8 * 1.5**7)
        assert calls == [1.5, 1.5**2, 1.5**4]


def test_a_call_that_was_let_go_is_made_once_more() -> None:
    calls: list[float] = []
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        y = tf.py_function(counted(calls), [x], tf.float32)
        y.set_shape([])
        grad = tf.gradients(y, x)[0]
        with v1.Session() as session:
            assert session.run(grad, {x: 3.0, y: 9.0}) == 6.0
    assert calls == [3.0]


@pytest.mark.parametrize("kind", ["text", "int"])
def test_functions_of_other_arguments_have_gradients_as_well(kind: str) -> None:
    calls: list[object] = []

    @tf.function
    def step(x: Any) -> Any:
        other = tf.constant("3") if kind == "text" else tf.constant(3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(
                lambda n, v: (calls.append(n), v * float(n.numpy()))[1], [other, x], tf.float32
            )
        return tape.gradient(y, x)

    for _ in range(3):
        assert float(step(tf.constant(2.0))) == 3.0
    assert len(calls) == 3

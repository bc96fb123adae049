"""Jacobians in functions whose sizes only the run knows: a loop goes over the target's elements."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

OPEN = [tf.TensorSpec([None, None])]
X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)


@tf.custom_gradient
def five_fold(x: Any) -> Any:
    return x * x, lambda grad: grad * 5.0


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "running": lambda x: tf.cumsum(x**3, axis=1),
    "softmax": tf.nn.softmax,
    "own gradient": lambda x: five_fold(x) * x,
    "choice": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x * x),
    "loop": lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, z * x), [0, x])[1],
    "taken": lambda x: tf.gather(x, tf.argmax(x, 1), axis=1) * x[:, :1],
    "stopped": lambda x: x * tf.stop_gradient(x),
    "itself": lambda x: x,
    "drawn": lambda x: tf.random.uniform(tf.shape(x), seed=3) * 0.0 + x * x,
}


def by_gradients(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the jacobian, one element of the target after the other, of known sizes."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    rows = []
    for place in np.ndindex(*y.shape):
        one = np.zeros(y.shape, np.float32)
        one[place] = 1
        rows.append(tape.gradient(y, x, tf.constant(one), "zero"))
    return np.array([row.numpy() for row in rows]).reshape(*y.shape, *x.shape)


def derived(function: Callable[[Any], Any], how: str) -> Any:
    """Return a function of open sizes that gives what a method of a tape makes."""

    @tf.function(input_signature=OPEN)
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return getattr(tape, how)(y, x)

    return run


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_jacobian_of_open_sizes(name: str) -> None:
    function = FUNCTIONS[name]
    run = derived(function, "jacobian")
    want = by_gradients(function, tf.constant(X))
    np.testing.assert_allclose(run(tf.constant(X)).numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["running", "softmax", "own gradient", "stopped", "itself"])
def test_batch_jacobian_of_open_sizes(name: str) -> None:
    function = FUNCTIONS[name]
    run = derived(function, "batch_jacobian")
    whole = by_gradients(function, tf.constant(X))
    want = np.stack([whole[i, :, i] for i in range(2)])
    np.testing.assert_allclose(run(tf.constant(X)).numpy(), want, rtol=1e-5, atol=1e-6)
    assert run(tf.zeros([2, 0])).shape == (2, 0, 0)
    assert run(tf.zeros([0, 3])).shape == (0, 3, 3)


def test_second_derivatives_by_a_tensor_of_unknown_rank() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def run(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3) * tf.reduce_sum(x)
            first = tape.gradient(y, x)
        return outer.jacobian(first, [x, x])

    once, twice = run(tf.constant([0.0, 1.0, 2.0]))
    assert once.numpy().tolist() == [[0, 3, 12], [3, 24, 15], [12, 15, 60]]
    assert twice.numpy().tolist() == once.numpy().tolist()


def test_jacobians_by_variables_of_open_sizes() -> None:
    weights = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    shift = tf.Variable([1.0, 0.0, -1.0])

    def function(x: Any) -> Any:
        return tf.nn.tanh(x @ weights + shift) * tf.reduce_sum(weights)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = function(x)
        return tape.jacobian(y, {"weights": weights, "shift": shift})

    x = tf.constant([[0.1, -0.2], [0.3, 0.1], [0.0, 0.05]])
    with tf.GradientTape() as tape:
        y = function(x)
    want = tape.jacobian(y, {"weights": weights, "shift": shift})
    found = run(x)
    for key in want:
        np.testing.assert_allclose(found[key].numpy(), want[key].numpy(), rtol=1e-5, atol=1e-5)


def test_what_is_not_connected_is_none_or_zeros() -> None:
    seen: dict[str, Any] = {}

    @tf.function(input_signature=OPEN)
    def run(x: Any) -> Any:
        before = x * 2.0
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            ones = tf.ones_like(x)
        seen["none"] = [tape.jacobian(ones, x), tape.jacobian(before, x)]
        return tape.jacobian(before, x, unconnected_gradients="zero"), tape.batch_jacobian(ones, x)

    zeros, of_batches = run(tf.constant(X))
    assert seen["none"] == [None, None]
    assert zeros.numpy().tolist() == np.zeros([2, 3, 2, 3]).tolist()
    assert of_batches.numpy().tolist() == np.zeros([2, 3, 3]).tolist()


def test_known_sizes_stay_known_and_a_state_on_the_way_is_refused() -> None:
    seen: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[:, :2] * tf.reduce_sum(x)
        seen.append(tape.jacobian(y, x).shape.as_list())
        return x

    run(tf.constant(X))
    assert seen == [[None, 2, None, 3]]

    @tf.function(input_signature=OPEN)
    def in_python(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32)
        return tape.jacobian(y, x)

    with pytest.raises(NotImplementedError, match="which has a state"):
        in_python(tf.constant(X))

    weights = tf.Variable([1.0])

    @tf.function
    def inner(x: Any) -> Any:
        return x * weights

    @tf.function(input_signature=OPEN)
    def called(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = inner(x)
        return tape.jacobian(y, weights)

    with pytest.raises(NotImplementedError, match="reads the variable"):
        called(tf.constant(X))

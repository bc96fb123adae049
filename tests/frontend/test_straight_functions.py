"""Functions with calls of Python, and loops that grow, go straight on, with the same bits."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.frontend.models.pieces import SteppedModel
from gravure.runtime.tracing import Trace, listening


def stepped(function: Any, *arguments: Any) -> SteppedModel:
    """Call a function until it is compiled, and return its model."""
    for _ in range(60):
        function(*arguments)
    [made] = function.get_concrete_function(*arguments).graph.whole_plan().compiled.values()
    assert isinstance(made, Staged)
    assert isinstance(made.model, SteppedModel)
    return made.model


def in_python(x: Any, n: Any) -> Any:
    """Halve in Python, as often as wanted, and gather what comes."""
    total = tf.zeros([3])
    for _ in tf.range(n):
        x = tf.ensure_shape(tf.numpy_function(lambda a: a / np.float32(2), [x], tf.float32), [3])
        total += tf.sqrt(x)
    return total


def growing(x: Any, n: Any) -> Any:
    """Return the gradient of a list that grows while a number says so."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            made = made.write(i, x * x * tf.cast(i, tf.float32))
        loss = tf.reduce_sum(tf.sin(made.stack()))
    return tape.gradient(loss, x)


def texts(x: Any, n: Any) -> Any:
    """Say in Python what numbers are, and count what is said."""
    said = tf.py_function(tf.strings.as_string, [x], tf.string)
    return tf.strings.length(tf.strings.join([said, "x"])) + n


@pytest.mark.parametrize("body", [in_python, growing, texts])
def test_calls_of_python_and_sequences_go_straight_on(body: Callable[..., Any]) -> None:
    x, counts = tf.constant([0.5, 4.0, 9.0]), (2, 3, 5, 1)
    wanted = [body(x, tf.constant(n)).numpy() for n in counts]
    function = tf.function(body)
    assert stepped(function, x, tf.constant(3)).straight is not None
    for n, each in zip(counts, wanted, strict=True):
        found = function(x, tf.constant(n)).numpy()
        np.testing.assert_allclose(found, each, rtol=1e-6)
        with listening(Trace()):  # who looks on is told of each step
            np.testing.assert_array_equal(function(x, tf.constant(n)), found)


def test_numpy_warns_in_what_somebody_calls_and_nowhere_else() -> None:
    @tf.function
    def body(x: Any, n: Any) -> Any:
        y = tf.numpy_function(np.log, [x], tf.float32)
        y = tf.ensure_shape(y, [3])
        return y, tf.strings.to_number(tf.strings.as_string(x - n)), 1.0 / (y - y)

    x, one = tf.constant([1.0, 2.0, 0.5]), tf.constant(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stepped(body, x, one).straight is not None
        with pytest.raises(Exception, match="divide by zero"):
            body(tf.constant([1.0, 0.0, 0.5]), one)

"""`add` and `truediv` make a tensor of their first operand before they look at the second one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

FLOATS = tf.constant([1.5, 2.5])

UNLIKE: dict[str, tuple[object, object]] = {
    "number": (3, FLOATS),
    "list": ([3, 4], FLOATS),
    "list_with_a_tensor": ([tf.constant(1), 3], FLOATS),
    "array": (np.array([1.0, 2.0]), tf.constant([1, 2])),
    "variable": (3, tf.Variable([1.5])),
    "numpy_number": (np.int64(3), tf.constant([1, 2])),
}
ADDITIONS: list[Callable[..., object]] = [tf.add, tf.math.add, tf.compat.v1.add]


@pytest.mark.parametrize("name", UNLIKE)
def test_a_value_in_front_keeps_its_own_type(name: str) -> None:
    """It was taken for one of the tensor's type."""
    x, y = UNLIKE[name]
    for add in ADDITIONS:
        with pytest.raises(tf.errors.InvalidArgumentError):
            add(x, y)
    with pytest.raises(TypeError, match="same dtype"):
        tf.truediv(x, y)


def test_operators_and_values_behind_take_the_type_of_the_tensor() -> None:
    """Only a value in front of a function is made a tensor first."""
    assert (3 + FLOATS).numpy().tolist() == [4.5, 5.5]
    assert tf.add(FLOATS, 3).numpy().tolist() == [4.5, 5.5]
    assert tf.multiply(3, FLOATS).numpy().tolist() == [4.5, 7.5]
    assert tf.divide(3, FLOATS).numpy().tolist() == pytest.approx([2.0, 1.2])
    assert tf.add(3.0, FLOATS).numpy().tolist() == [4.5, 5.5]
    assert tf.add("a", tf.constant(["b"])).numpy().tolist() == [b"ab"]


def test_a_function_refuses_it_when_it_is_traced() -> None:
    """There the error is one of Python's in TensorFlow, and this one is both."""
    with pytest.raises(TypeError):
        tf.function(lambda x: tf.add(3, x))(FLOATS)


def test_divide_no_nan_of_integers_divides_floats() -> None:
    """It rounded the quotients down."""
    found = tf.math.divide_no_nan(tf.constant([3, 1]), tf.constant([2, 0]))
    assert found.dtype == tf.float64
    assert found.numpy().tolist() == [1.5, 0.0]
    small = tf.math.divide_no_nan(tf.constant([3], tf.uint8), 2)
    assert (small.dtype, small.numpy().tolist()) == (tf.float32, [1.5])

"""The facade beside TensorFlow 2.21: expressions with the values that it gave, three ways each."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

CASES = json.loads(Path(__file__).with_name("tensorflow_values.json").read_text())
REFUSALS = (tf.errors.InvalidArgumentError, ValueError, TypeError, IndexError)


def names():
    """Return what the expressions are about."""
    x = tf.reshape(tf.range(12), [3, 4])
    image = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
    return {
        "tf": tf,
        "np": np,
        "x": x,
        "f": tf.cast(x, tf.float32) / 3.0 - 1.5,
        "u": tf.constant([1, 2, 3], tf.uint8),
        "i64": tf.constant([5, -7, 9], tf.int64),
        "h": tf.constant([1.5, -2.25, 3.0], tf.float16),
        "d": tf.constant([1.5, -2.25, 3.0], tf.float64),
        "c": tf.constant([1 + 2j, 3 - 1j], tf.complex64),
        "b": tf.constant([True, False, True]),
        "m": tf.constant([[4.0, 1.0], [1.0, 3.0]]),
        "m2": tf.constant([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]]),
        "s": tf.constant(["abc", "de", ""]),
        "img": image / 10.0,
        "img5": tf.reshape(tf.range(50.0), [1, 5, 5, 2]) / 10.0,
        "k": tf.reshape(tf.range(24.0), [2, 3, 2, 2]) / 7.0 - 1.0,
        "seq": tf.reshape(tf.range(12.0), [1, 6, 2]),
        "slope": slope,
    }


def slope(function, value):
    """Return the gradient of the sum of a function of a value."""
    with tf.GradientTape() as tape:
        tape.watch(value)
        made = function(value)
    return tape.gradient(made, value)


def eager(expression):
    return eval(expression, names())


def in_a_function(expression):
    given = names()
    return tf.function(lambda: eval(expression, given))()


def in_a_session(expression):
    with tf.Graph().as_default():
        made = eval(expression, names())
        return tf.compat.v1.Session().run(made) if hasattr(made, "op") else made


@pytest.mark.parametrize("way", [eager, in_a_function, in_a_session])
def test_values_are_those_of_tensorflow(way):
    wrong = []
    for expression, (dtype, shape, values) in CASES["values"].items():
        try:
            found = way(expression)
        except Exception as error:
            wrong.append(f"{expression}: {error!r}"[:300])
            continue
        array = np.asarray(found.numpy() if hasattr(found, "numpy") else found)
        if dtype == "string":
            same = [v.decode() for v in array.ravel().tolist()] == values
        else:
            flat = np.ascontiguousarray(array).ravel()
            flat = flat.view(flat.real.dtype)  # a complex number is two
            same = array.dtype == dtype and np.allclose(flat, values, rtol=2e-5, atol=2e-6)
        if not same or list(array.shape) != shape:
            wrong.append(f"{expression}: {array.dtype}{array.shape} {array.ravel()[:4]}")
    assert not wrong


@pytest.mark.parametrize("way", [eager, in_a_function, in_a_session])
def test_what_tensorflow_refuses_is_refused(way):
    accepted = []
    for expression in CASES["errors"]:
        try:
            way(expression)
        except REFUSALS:
            continue
        accepted.append(expression)
    assert not accepted

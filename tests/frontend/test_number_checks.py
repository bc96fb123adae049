"""`tf.debugging.enable_check_numerics`: what gives NaN or infinity is named where it does (G7)."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.runtime.tracing import EARS

v1 = tf.compat.v1
InvalidArgumentError = tf.errors.InvalidArgumentError


@contextmanager
def checking() -> Iterator[None]:
    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


def test_g7_an_eager_operation_is_named_with_its_operands() -> None:
    with checking(), pytest.raises(InvalidArgumentError) as raised:
        tf.math.log(tf.constant([-1.0, 2.0]))
    text = str(raised.value)
    assert 'output 0 of eagerly-executing op "Log" (# of outputs: 1) !!!' in text
    assert "  shape: (2,)\n  # of +NaN elements: 1\n\n  Input tensor: [-1.  2.]" in text
    assert "Tensor had NaN values" in text


def test_g7_all_kinds_are_counted() -> None:
    with checking(), pytest.raises(InvalidArgumentError) as raised:
        tf.constant([1.0, 0.0, -2.0, 2.0]) / 0.0
    text = str(raised.value)
    assert "# of -Inf elements: 1\n  # of +Inf elements: 2\n  # of +NaN elements: 1" in text
    assert "  Input tensors (2):\n    0: [ 1.  0. -2.  2.]\n    1: 0.0" in text
    assert "Tensor had -Inf and +Inf and NaN values" in text


def test_g7_functions_gradients_and_remembered_operations_are_looked_at() -> None:
    @tf.function
    def staged(x: tf.Tensor) -> tf.Tensor:
        return tf.math.log(x) * 2.0

    good, bad = tf.constant([1.0]), tf.constant([-1.0])
    before = staged(bad)  # compiled, and remembered
    tf.nn.softmax(bad)
    with checking():
        np.testing.assert_array_equal(staged(good), [0.0])
        with pytest.raises(InvalidArgumentError, match='op "Log"'):
            staged(bad)
        with tf.GradientTape() as tape:
            tape.watch(good)
            y = tf.sqrt(good - 1.0)
        with pytest.raises(InvalidArgumentError):
            tape.gradient(y, good)
        np.testing.assert_allclose(tf.nn.softmax(tf.constant([1.0, 1.0])), [0.5, 0.5])
    assert np.isnan(before).all()
    assert np.isnan(staged(bad)).all()
    assert np.isnan(tf.math.log(bad)).all()


def test_g7_sessions_are_looked_at() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [1])
        y = tf.math.log(x, name="logarithm")
    session = v1.Session(graph=graph)
    assert np.isnan(session.run(y, {x: [-1.0]})).all()
    with checking(), pytest.raises(InvalidArgumentError, match="Detected Infinity or NaN"):
        session.run(y, {x: [-1.0]})
    assert np.isnan(session.run(y, {x: [-1.0]})).all()


def test_g7_what_only_moves_elements_and_integers_are_left_out() -> None:
    with checking():
        x = tf.constant([[np.nan, 1.0]])
        assert np.isnan(tf.transpose(x)[0]).all()
        assert np.isnan(tf.reshape(x, [2])[0])
        tf.constant([1, 2]) + tf.constant([3, 4])
        with pytest.raises(InvalidArgumentError, match="NaN"):
            x + 1.0


def test_g7_it_is_on_once_and_off_once() -> None:
    before = EARS.count
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert EARS.count == before
    assert np.isinf(tf.constant([1.0]) / 0.0).all()
    assert np.isinf(gv.divide(gv.ones(1), gv.zeros(1))._array).all()
    with pytest.raises(tf.errors.UnimplementedError, match="no stack is printed"):
        tf.debugging.enable_check_numerics(stack_height_limit=3)
    assert EARS.count == before

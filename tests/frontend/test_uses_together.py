"""Tapes see operations and functions of several steps as one use, which is noted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager import composed

RANDOM = np.random.default_rng(2)
X = RANDOM.random((2, 4, 5, 3), np.float32)
ROW = RANDOM.random(3, np.float32)
CALLS: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "an operation": lambda x, _: tf.nn.l2_loss(x),
    "of neighbours": lambda x, _: tf.nn.lrn(x, 1),
    "a function": lambda x, row: tf.compat.v1.nn.fused_batch_norm(x, row, row)[0] ** 2,
    "one operand twice": lambda x, _: tf.nn.sigmoid_cross_entropy_with_logits(x, x),
    "shared": lambda x, row: tf.nn.lrn(x, 1) * x + tf.nn.bias_add(x, row),
    "two convolutions": lambda x, row: tf.nn.separable_conv2d(
        x, x[0, :2, :2, :, None], row[None, None, :, None], [1] * 4, "SAME"
    ),
    "moved": lambda x, _: tf.image.resize(x, [7, 3], "nearest"),
    "checked": lambda x, _: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [[0, 1, 2, 0, 1]], x[:1, 0]
    ),
    "several results": lambda x, _: tf.add_n(tf.nn.moments(x, [0, 1])),
}


def _gradients(name: str) -> list[bytes]:
    x, row = tf.constant(X), tf.constant(ROW)
    with tf.GradientTape() as tape:
        tape.watch([x, row])
        made = CALLS[name](x, row)
    found = tape.gradient(made, [x, row], unconnected_gradients="zero")
    return [each.numpy().tobytes() for each in (made, *found)]


@pytest.mark.parametrize("name", CALLS)
def test_noted_uses_have_the_bits_of_the_first_time_and_of_a_session(name: str) -> None:
    first = _gradients(name)
    assert [_gradients(name) for _ in range(4)] == [first] * 4
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, row = tf.constant(X), tf.constant(ROW)
        made = CALLS[name](x, row)
        wanted = tf.gradients(made, [x, row], unconnected_gradients="zero")
        assert [each.tobytes() for each in session.run([made, *wanted])] == first


@pytest.mark.parametrize("name", CALLS)
def test_second_gradients_go_through_uses_together(name: str) -> None:
    def second() -> list[np.ndarray]:
        x, row = tf.constant(X), tf.constant(ROW)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                made = tf.reduce_sum(CALLS[name](x, row) ** 3)
            once = inner.gradient(made, x)
        found = outer.gradient(once, x)
        return [once.numpy(), found.numpy()]

    first = second()
    for _ in range(3):
        for one, other in zip(first, second(), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(X)
        [once] = tf.gradients(tf.reduce_sum(CALLS[name](x, tf.constant(ROW)) ** 3), x)
        wanted = session.run([once, tf.gradients(once, x)[0]])
    for one, other in zip(first, wanted, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_a_noted_function_is_one_use_on_the_tape() -> None:
    x, row = tf.constant(X), tf.constant(ROW)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            tf.compat.v1.nn.fused_batch_norm(x, row, row)
    [use] = tape.uses_of(x)[:1]
    assert isinstance(use.way, composed.Composed)
    assert {x.shape.rank for x in use.results if isinstance(x, tf.Tensor)} <= {1, 4}


def test_rows_that_are_taken_keep_gradients_of_rows() -> None:
    table, places = tf.Variable(X[0, 0]), tf.constant([1, 1, 0])
    for _ in range(4):
        with tf.GradientTape() as tape:
            made = tf.nn.embedding_lookup(table, places) * 2
        found = tape.gradient(made, table)
        assert isinstance(found, tf.IndexedSlices)
        np.testing.assert_array_equal(found.indices, [1, 1, 0])


def test_parts_of_variables_stay_connected() -> None:
    table = tf.Variable(X[0, 0])
    for _ in range(4):
        with tf.GradientTape() as tape:
            made = tf.nn.l2_loss(table[1])
        found = tf.convert_to_tensor(tape.gradient(made, table)).numpy()
        np.testing.assert_array_equal(found[1], X[0, 0, 1])
        assert not found[[0, 2, 3, 4]].any()


def test_what_is_not_watched_is_not_gone_through() -> None:
    x = tf.constant(X)
    for _ in range(4):
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = tf.nn.l2_loss(tf.stop_gradient(x)) + tf.reduce_sum(x)
        np.testing.assert_array_equal(tape.gradient(made, x), np.ones_like(X))


def test_functions_of_the_array_interface_are_uses_too() -> None:
    x = gv.asarray(X)
    found = []
    for _ in range(4):
        with gv.GradientTape() as tape:
            tape.watch(x)
            made = gv.std(x, axis=1)
        found.append(tape.gradient(made, x).numpy().tobytes())
    assert len({*found}) == 1

"""Ways back through compositions are remembered: they are not put together anew in each step."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.ir.gradient import tape as rules


def gradient(function, x):
    """Return the gradient of a function's results."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = function(x)
    return tape.gradient(made, x)


CALLS = {
    "resized": (lambda x: tf.image.resize(x, [4, 4]), (1, 9, 7, 3)),
    "large": (lambda x: tf.image.resize(x, [4, 4]), (1, 150, 160, 3)),
    "pooled": (lambda x: tf.nn.avg_pool(x, 3, 2, "SAME"), (2, 9, 7, 3)),
    "pooled to much": (lambda x: tf.nn.avg_pool(x, 3, 1, "SAME"), (1, 260, 250, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_way_back_is_put_together_twice(name, monkeypatch):
    function, shape = CALLS[name]
    x = tf.constant(np.random.default_rng(1).random(shape), tf.float32)
    first = gradient(function, x).numpy()
    gradient(function, x)

    def refuse(*_):
        raise AssertionError("the way back was put together once more")

    monkeypatch.setattr(rules, "gradient_through_decomposition", refuse)
    for _ in range(3):
        assert gradient(function, x).numpy().tobytes() == first.tobytes()


def test_a_second_gradient_goes_through_it():
    x = tf.constant(np.random.default_rng(1).random((1, 5, 4, 2)), tf.float32)
    for _ in range(4):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                made = tf.reduce_sum(tf.image.resize(x, [3, 3]) ** 3)
            found = inner.gradient(made, x)
        second = outer.gradient(found, x)
    function = tf.function(lambda x: tf.gradients(tf.gradients(
        tf.reduce_sum(tf.image.resize(x, [3, 3]) ** 3), x)[0], x)[0])  # fmt: skip
    np.testing.assert_allclose(second, function(x), rtol=1e-5)


RESIZED = {  # (method, size before and after): gradients that TensorFlow gives, of 1, 2, 3, ...
    ("bilinear", 2, 4): [3.25, 6.75],
    ("bilinear", 3, 2): [0.75, 0.75, 1.5],
    ("bicubic", 2, 4): [2.942436933517456, 7.057563781738281],
}


@pytest.mark.parametrize(("method", "before", "after"), RESIZED)
def test_elements_of_resized_images_get_what_places_made_of_them_get(method, before, after):
    x = tf.reshape(tf.range(before, dtype=tf.float32), [1, before, 1, 1])
    weights = tf.reshape(tf.range(1, after + 1, dtype=tf.float32), [1, after, 1, 1])
    for _ in range(4):  # remembered from some call on
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = tf.image.resize(x, [after, 1], method)
        found = tape.gradient(made, x, weights).numpy().ravel()
        np.testing.assert_allclose(found, RESIZED[method, before, after], rtol=1e-6)


def test_a_gradient_without_end_stays_with_the_elements_of_its_place():
    x, weights = tf.zeros([1, 3, 1, 1]), tf.constant([np.inf, 1, 1, 1, 1, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.image.resize(x, [6, 1])
    found = tape.gradient(made, x, tf.reshape(weights, [1, 6, 1, 1]))
    assert found.numpy().ravel().tolist() == [np.inf, 2.0, 2.0]

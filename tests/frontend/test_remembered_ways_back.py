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

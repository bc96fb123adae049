"""Values whose sizes only a run tells, and that several operations want with those they had."""

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.graph.tolls import Account


@pytest.mark.parametrize("times", [1, 2, 3])
def test_each_operation_has_its_own_way_back(times: int, monkeypatch: Any) -> None:
    """`found` has a rank that only runs tell; more than one difference of it has a gradient."""
    monkeypatch.setattr(Account, "is_due", lambda *_: True)
    factor = tf.Variable(2.0)

    @tf.function
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            scaled = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            found = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            for i in tf.range(2):
                scaled = scaled.write(i, x[i] * factor)
                made = tf.numpy_function(lambda s: s + np.float32(0.5), [x[i]], tf.float32)
                found = found.write(i, made)
            ours, theirs = scaled.stack(), found.stack()
            loss = tf.reduce_sum(ours * tf.stop_gradient(theirs - ours))
            for _ in range(times):
                loss += tf.reduce_sum((ours - theirs) ** 2)
        return tape.gradient(loss, factor)

    x = np.array([1.0, 2.0])
    gaps = 2 * x - (x + 0.5)
    wanted = np.sum(-x * gaps) + times * np.sum(2 * gaps * x)
    for _ in range(3):  # what is not seen yet is seen in the first
        np.testing.assert_allclose(step(tf.constant(x, tf.float32)), wanted, rtol=1e-6)

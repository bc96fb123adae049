"""A whole training step is one function: compiled, it does what it does eagerly."""

import numpy as np
import pytest

import gravure.tf as tf

OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "adam": lambda: tf.keras.optimizers.Adam(0.01),
    "adamw": lambda: tf.keras.optimizers.AdamW(0.01),
    "adagrad": lambda: tf.keras.optimizers.Adagrad(0.05),
    "rmsprop": lambda: tf.keras.optimizers.RMSprop(0.01, momentum=0.5),
}


def train(make, steps, *, staged):
    rng = np.random.default_rng(0)
    weights = [
        tf.Variable(rng.normal(size=(8, 6)).astype("f") * 0.3),
        tf.Variable(np.zeros(6, "f")),
        tf.Variable(rng.normal(size=(6, 3)).astype("f") * 0.3),
    ]
    optimizer = make()

    def step(x, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ weights[0] + weights[1])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ weights[2])
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    run = tf.function(step) if staged else step
    x = tf.constant(rng.normal(size=(5, 8)).astype("f"))
    labels = tf.constant(rng.integers(0, 3, 5).astype("i4"))
    losses = [float(run(x, labels)) for _ in range(steps)]
    return losses, [w.numpy() for w in weights], run


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_f8_a_compiled_step_trains_as_the_eager_one(name):
    expected, weights, _ = train(OPTIMIZERS[name], 6, staged=False)
    losses, found, run = train(OPTIMIZERS[name], 6, staged=True)
    [concrete] = run.cache.values()
    assert concrete.graph.refusal == ""
    assert np.allclose(losses, expected, rtol=1e-4)
    for a, b in zip(found, weights, strict=True):
        assert np.allclose(a, b, rtol=1e-3, atol=1e-5)
    assert losses[-1] < losses[0]

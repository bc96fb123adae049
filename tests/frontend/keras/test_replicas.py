"""Keras's `fit` on several replicas of one process: each has its rows of every batch."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE
from gravure.runtime.comm.local import run_ranks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    keras: Any = tf.keras

ROWS = np.random.default_rng(0)
X = ROWS.normal(size=(24, 6, 6, 3)).astype("float32")
Y = np.arange(24) % 2
RECORDED: dict[str, Any] = {
    "loss": [0.757389, 0.717528],
    "accuracy": [0.5, 0.5],
    "weights": [21.59345, 0.80925, 0.36065, 0.77716, 27.45134, 0.24526],
    "mean": -0.510635,
}
"""What TensorFlow 2.21 finds on two logical processors."""


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    keras.utils.clear_session()
    keras.utils.set_random_seed(3)
    yield
    MACHINE.__dict__.update(before.__dict__)


def network(*, synchronized: bool = False) -> Any:
    """Return a network that looks at whole batches, with weights that are the same everywhere."""
    given = keras.Input((6, 6, 3))
    x = keras.layers.Conv2D(4, 3)(given)
    x = keras.layers.BatchNormalization(synchronized=synchronized)(x)
    model = keras.Model(given, keras.layers.Dense(2)(keras.layers.Flatten()(x)))
    numbers = np.random.default_rng(1)
    model.set_weights([numbers.normal(size=w.shape) * 0.3 for w in model.get_weights()])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), loss, metrics=["accuracy"])
    return model


def trained(model: Any, rows: int = 16) -> Any:
    return model.fit(X[:rows], Y[:rows], batch_size=8, epochs=2, shuffle=False, verbose=0).history


@pytest.mark.parametrize("eagerly", [False, True])
def test_each_replica_normalises_its_rows(*, eagerly: bool) -> None:
    with tf.distribute.MirroredStrategy().scope():
        model = network()
    model.run_eagerly = eagerly
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = trained(model)
    np.testing.assert_allclose(found["loss"], RECORDED["loss"], rtol=2e-5)
    assert found["accuracy"] == RECORDED["accuracy"]
    names = ("kernel", "bias", "gamma", "beta")
    trainable = [np.abs(w.numpy()).sum() for w in model.trainable_weights]
    np.testing.assert_allclose(
        trainable[:4], RECORDED["weights"][:4], rtol=2e-5, err_msg=str(names)
    )
    # what each keeps of its rows is averaged: means of halves are the mean of all
    np.testing.assert_allclose(
        model.layers[2].moving_mean.numpy().sum(), RECORDED["mean"], rtol=2e-5
    )


def test_moments_of_all_replicas_are_those_of_the_whole_batch() -> None:
    alone = network()
    expected = trained(alone)
    with tf.distribute.MirroredStrategy().scope():
        model = network(synchronized=True)
    found = trained(model)
    assert found == {key: pytest.approx(row, rel=1e-4) for key, row in expected.items()}
    for a, b in zip(model.get_weights(), alone.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 7, 24])
def test_batches_of_any_size_train_as_one_replica_does(rows: int) -> None:
    def made() -> Any:
        model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy", keras.metrics.Mean()][:1])
        return model

    flat = X.reshape(24, -1)[:rows]
    alone = made()
    alone.build(flat.shape)
    with tf.distribute.MirroredStrategy().scope():
        model = made()
        model.build(flat.shape)
    model.set_weights(alone.get_weights())
    for each in (alone, model):
        for _ in range(3):
            each.train_on_batch(flat, Y[:rows])
    found, expected = (each.evaluate(flat, Y[:rows], verbose=0) for each in (model, alone))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    for a, b in zip(model.get_weights(), alone.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(
        model.predict(flat, verbose=0), alone.predict(flat, verbose=0), rtol=1e-3, atol=1e-5
    )


def test_several_replicas_of_several_ranks_share_the_rows() -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4)
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(2)])
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(keras.optimizers.SGD(0.1), loss)
            model.build((None, 108))
        model.set_weights([np.full((108, 2), 0.01), np.zeros(2)])
        model.train_on_batch(X.reshape(24, -1), Y)
        return model.get_weights()

    ranks = run_ranks(2, run)
    [alone] = run_ranks(1, run)
    for rank in ranks:
        for a, b in zip(rank, alone, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    # whole batches, by hand
    logits = X.reshape(24, -1) @ np.full((108, 2), 0.01)
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    gradient = X.reshape(24, -1).T @ (chances - np.eye(2)[Y]) / 24
    np.testing.assert_allclose(alone[0], 0.01 - 0.1 * gradient, rtol=1e-3, atol=1e-6)

"""What the first epochs cost: steps of recurrences, and batches of several sizes."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function import staged

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gravure.keras as keras

    layers = keras.layers

RANDOM = np.random.RandomState


def recurrent(cell: str, steps: int, **options: Any) -> Any:
    """Return a model of a recurrence over some steps."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(3)
    parts = [keras.Input((steps, 2)), layers.Masking(), getattr(layers, cell)(3, **options)]
    model = keras.Sequential([*parts, layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def series(steps: int, count: int = 4) -> tuple[Any, Any]:
    """Return sequences of which the last steps are masked, and what to learn of them."""
    x = RANDOM(0).randn(count, steps, 2).astype("f")
    x[:, -5:] = 0
    return x, np.ones((count, 1), "f")


def operations(model: Any, steps: int) -> int:
    """Return how many operations a step of training has."""
    x, y = series(steps)
    step = tf.function(model.train_step, autograph=False)
    return len(step.get_concrete_function((tf.constant(x), tf.constant(y))).graph.operations)


def test_a_long_recurrence_is_a_loop() -> None:
    short, long, longer = (operations(recurrent("LSTM", n), n) for n in (9, 20, 200))
    assert long == longer < short


@pytest.mark.parametrize(("cell", "options"), [("LSTM", {}), ("SimpleRNN", {"go_backwards": True})])
def test_a_long_recurrence_trains_as_one_step_after_the_other(cell: str, options: Any) -> None:
    steps = 43
    x, y = series(steps)
    made = []
    for eagerly in (False, True):
        model = recurrent(cell, steps, **options)
        model.run_eagerly = eagerly
        losses = model.fit(x, y, epochs=3, verbose=0, shuffle=False).history["loss"]
        made.append((losses, *model.get_weights()))
    for one, other in zip(*made, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.paying
def test_a_few_batches_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class CompiledError(Exception):
        """Something is compiled."""

    def refuse(*_: object) -> None:
        raise CompiledError

    monkeypatch.setattr(staged, "compiled_now", refuse)
    model = recurrent("LSTM", 6)
    x, y = series(6, 100)
    fit = partial(model.fit, x, y, batch_size=32, validation_split=0.2, verbose=0)
    assert len(fit(epochs=2).history["loss"]) == 2
    with pytest.raises(CompiledError):
        fit(epochs=100)

"""Arguments that are looked at before an image is changed do not keep the change from its notes."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager import kernels
from gravure.frontend.tf.image import colours

IMAGE = np.random.default_rng(2).random((1, 6, 5, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("change", "inner"), [("adjust_hue", "_turned"), ("adjust_gamma", "_powers")]
)
def test_tensors_are_noted(change, inner, monkeypatch):
    function, by = getattr(tf.image, change), tf.constant(0.25)
    wanted = function(IMAGE, 0.25).numpy()
    image = tf.constant(IMAGE)
    for _ in range(3):
        found = function(image, by)
    assert found.numpy().tobytes() == wanted.tobytes()

    def refuse(*_, **__):
        raise AssertionError(f"{inner} was run once more")

    monkeypatch.setattr(kernels, "computed", refuse)
    assert getattr(colours, inner)(image, by, *[1] * (inner == "_powers")) is not None


@pytest.mark.parametrize("delta", [1.5, -2.0])
def test_tensors_are_looked_at_each_time(delta):
    for _ in range(4):
        with pytest.raises(ValueError, match="delta must be in the interval"):
            tf.image.adjust_hue(IMAGE, tf.constant(delta))

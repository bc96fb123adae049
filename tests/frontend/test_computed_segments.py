"""Segments in order, of which only the run has the numbers: compiled, as many as the last says."""

import warnings
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

KINDS = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean, "prod": np.prod}
IDS = ([0, 0, 1, 1, 3, 3], [0, 1, 2, 3, 4, 5], [2, 2, 2, 2, 2, 2], [0] * 6)
X = np.random.default_rng(4).uniform(0.5, 2.0, (6, 2)).astype(np.float32)
OPEN = [tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32)]


def wanted(kind: str, ids: list[int]) -> Any:
    made = np.zeros((max(ids) + 1, 2), np.float32)
    if kind == "prod":
        made += 1
    for i in {*ids}:
        made[i] = KINDS[kind](X[np.array(ids) == i], axis=0)
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("signature", [None, OPEN], ids=["fixed", "open"])
def test_rows_are_combined_and_the_way_back_is_compiled(kind: str, signature: Any) -> None:
    combine = getattr(tf.math, f"segment_{kind}")

    @tf.function(input_signature=signature)
    def function(x, ids):
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = combine(x, ids)
            loss = tf.reduce_sum(made**2)
        return made, tape.gradient(loss, x)

    def at_once(x, ids):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(combine(x, ids) ** 2)
        return tape.gradient(loss, x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            for ids in IDS:
                x, numbers = tf.constant(X), tf.constant(ids)
                made, grad = function(x, numbers)
                np.testing.assert_allclose(made.numpy(), wanted(kind, ids), rtol=1e-6)
                np.testing.assert_allclose(grad.numpy(), at_once(x, numbers).numpy(), rtol=1e-5)
    assert "carried out by Python" not in "\n".join(map(str, function.explain()))


@pytest.mark.parametrize(
    ("ids", "said"),
    [([0, 2, 1], "not increasing"), ([-1, 0, 1], "Segment id -1|>= 0"), ([0, 1], "same size")],
)
def test_what_is_not_in_order_is_refused_in_every_call(ids: list[int], said: str) -> None:
    function = tf.function(lambda x, i: tf.math.segment_sum(x, i) * 2.0, input_signature=OPEN)
    for _ in range(4):
        function(X, np.array(IDS[0], np.int32))
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            function(X[:3], np.array(ids, np.int32))


def test_of_no_rows_there_are_no_segments() -> None:
    function = tf.function(lambda x, i: tf.math.segment_max(x, i) * 2.0, input_signature=OPEN)
    for _ in range(4):
        assert function(X[:0], np.zeros(0, np.int32)).shape == (0, 2)
        assert function(X, np.array(IDS[0], np.int32)).shape == (4, 2)

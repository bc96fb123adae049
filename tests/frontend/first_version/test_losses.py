"""Losses of the first version give TensorFlow's numbers, by all ways to weigh and to sum."""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

losses = tf.compat.v1.losses
RANDOM = np.random.RandomState(0)
FOUND, TRUTH = (RANDOM.rand(2, 3, 2).astype("f") for _ in range(2))
FIRST_ROW = np.array([[[1.0]], [[0.0]]], "f")
EACH = RANDOM.rand(2, 3, 2).astype("f") * FIRST_ROW
LOSSES: dict[str, tuple[Callable[[object], object], list[float]]] = {
    "pairwise": (
        lambda w: losses.mean_pairwise_squared_error(TRUTH, FOUND, w),
        [0.19626393914222717, 0.23023930191993713],
    ),
    "cosine": (
        lambda w: losses.cosine_distance(TRUTH, FOUND, 2, w),
        [0.20759892463684082, 0.4632098376750946],
    ),
    "difference": (
        lambda w: losses.absolute_difference(TRUTH, FOUND, w),
        [0.26534703373908997, 0.30154693126678467],
    ),
    "log": (lambda w: losses.log_loss(TRUTH, FOUND, w), [0.6327677965164185, 0.6414049863815308]),
    "huber": (
        lambda w: losses.huber_loss(TRUTH, FOUND, w, 0.3),
        [0.04546643793582916, 0.05377151072025299],
    ),
    "hinge": (
        lambda w: losses.hinge_loss(np.round(TRUTH), FOUND, w),
        [0.7706474661827087, 0.9435674548149109],
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_weighed_as_in_tensorflow(name: str) -> None:
    loss, expected = LOSSES[name]
    np.testing.assert_allclose([loss(1.0), loss(FIRST_ROW)], expected, rtol=3e-6)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    {
        "weighted_sum": 1.612628698348999,
        "weighted_mean": 0.5795136094093323,
        "weighted_sum_over_batch_size": 0.13438571989536285,
        "weighted_sum_by_nonzero_weights": 0.2687714397907257,
    }.items(),
)
def test_each_reduction_divides_by_another_count(reduction: str, expected: float) -> None:
    assert reduction in losses.Reduction.all()
    found = losses.compute_weighted_loss(FOUND, EACH, reduction=reduction)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid Reduction Key most"):
        losses.compute_weighted_loss(FOUND, reduction="most")


def test_whole_numbers_are_compared_as_floats() -> None:
    assert losses.absolute_difference(tf.constant([1, 5]), tf.constant([2, 3])).dtype == tf.float32
    assert losses.compute_weighted_loss(tf.constant([1, 5]), 0.5).dtype == tf.int32


def test_labels_and_weights_may_have_an_axis_too_many() -> None:
    found = losses.sparse_softmax_cross_entropy([[1], [0]], FOUND[0, :2], [[1.0], [0.5]])
    np.testing.assert_allclose(found, 0.47286415, rtol=1e-6)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = [tf.compat.v1.placeholder(t) for t in (tf.int32, tf.float32, tf.float32)]
        loss = losses.sparse_softmax_cross_entropy(*given)
        values = [[1], [0]], FOUND[0, :2], [[1.0], [0.5]]
        np.testing.assert_allclose(
            session.run(loss, dict(zip(given, values, strict=True))), 0.47286415, rtol=1e-6
        )


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0], np.ones((2, 1)), np.ones((2, 2, 2))])
def test_weights_that_do_not_fit_are_refused(weights: object) -> None:
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        losses.absolute_difference(TRUTH, FOUND, weights)


def test_weights_that_do_not_fit_are_refused_in_the_run() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        weights = tf.compat.v1.placeholder(tf.float32)
        loss = losses.absolute_difference(TRUTH, FOUND, weights)
        assert session.run(loss, {weights: FIRST_ROW}) == pytest.approx(0.30154693)
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast"):
            session.run(loss, {weights: [1.0, 2.0, 3.0]})


def test_a_graph_keeps_its_losses_by_their_names() -> None:
    with tf.Graph().as_default():
        first = losses.sigmoid_cross_entropy([[1.0]], [[2.0]])
        second = losses.softmax_cross_entropy([[1.0, 0.0]], [[2.0, 1.0]], label_smoothing=0.1)
        losses.log_loss([1.0], [0.5], loss_collection=None)
        assert first.op.name == "sigmoid_cross_entropy_loss/value"
        assert second.op.name == "softmax_cross_entropy_loss/value"
        assert losses.get_losses() == [first, second]
        assert losses.get_losses("soft") == [second]

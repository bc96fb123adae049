"""Metrics of the first version over two batches give TensorFlow's numbers."""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
metrics = v1.metrics
RANDOM = np.random.RandomState(1)
BATCHES = [
    (RANDOM.randint(0, 2, (3, 2)), RANDOM.rand(3, 2).astype("f"), RANDOM.rand(3, 1).astype("f"))
    for _ in range(2)
]
LIMITS = [0.2, 0.5, 0.7]
METRICS: dict[str, tuple[Callable[[object, object, object], object], list[object]]] = {
    "auc PR": (
        lambda y, p, w: metrics.auc(y, p, w, curve="PR"),
        [0.9640980958938599, 0.47674867510795593],
    ),
    "auc careful": (
        lambda y, p, w: metrics.auc(y, p, w, curve="PR", summation_method="careful_interpolation"),
        [0.9643564224243164, 0.49782294034957886],
    ),
    "auc minoring": (
        lambda y, p, w: metrics.auc(y, p, w, 20, summation_method="minoring"),
        [0.8899497985839844, 0.41177892684936523],
    ),
    "auc majoring": (
        lambda y, p, w: metrics.auc(y, p, w, 20, summation_method="majoring"),
        [0.8899497985839844, 0.49918633699417114],
    ),
    "auc thresholds": (
        lambda y, p, w: metrics.auc(y, p, w, thresholds=[0.7, 0.2, 0.5]),
        [0.8899497985839844, 0.4700627326965332],
    ),
    "precision_at": (
        lambda y, p, w: metrics.precision_at_thresholds(y, p, LIMITS, w),
        [[0.9999999403953552, 0.0, 0.0], [0.5931159257888794, 0.49050527811050415, 0.0]],
    ),
    "recall_at": (
        lambda y, p, w: metrics.recall_at_thresholds(y, p, LIMITS, w),
        [[0.7799016833305359, 0.0, 0.0], [0.7003546953201294, 0.2356637716293335, 0.0]],
    ),
    "fn_at": (
        lambda y, p, w: metrics.false_negatives_at_thresholds(y, p, LIMITS, w),
        [
            [0.5388167500495911, 2.4480724334716797, 2.4480724334716797],
            [1.2311394214630127, 3.140395164489746, 4.108656883239746],
        ],
    ),
    "sens": (
        lambda y, p, w: metrics.sensitivity_at_specificity(y, p, 0.6, w),
        [1.0, 0.2356637716293335],
    ),
    "spec": (
        lambda y, p, w: metrics.specificity_at_sensitivity(y, p, 0.6, w),
        [0.9999998807907104, 0.3684833347797394],
    ),
    "cos": (
        lambda y, p, w: metrics.mean_cosine_distance(tf.cast(y, tf.float32), p, 1, w),
        [0.5431962013244629, 0.5750979781150818],
    ),
    "rel": (
        lambda y, p, w: metrics.mean_relative_error(tf.cast(y, tf.float32), p, p * 2.0, w),
        [1.1492540836334229, 0.9067519307136536],
    ),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_goes_on_over_batches(name: str) -> None:
    metric, expected = METRICS[name]
    with tf.Graph().as_default(), v1.Session() as session:
        shapes = ((tf.int32, [3, 2]), (tf.float32, [3, 2]), (tf.float32, [3, 1]))
        given = [v1.placeholder(*each) for each in shapes]
        value, step = metric(*given)
        session.run(v1.local_variables_initializer())
        for batch, wanted in zip(BATCHES, expected, strict=True):
            found = session.run(step, dict(zip(given, batch, strict=True)))
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
            np.testing.assert_allclose(session.run(value), wanted, rtol=1e-6)


def test_predictions_are_shares() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        _, step = metrics.auc([0, 1], v1.placeholder_with_default([0.5, 1.5], [2]))
        session.run(v1.local_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"
        ):
            session.run(step)


@pytest.mark.parametrize("shape", [(3, 3), (2, 1), (5,)])
def test_weights_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    wrong = pytest.raises(ValueError, match="weights can not be broadcast to values")
    with tf.Graph().as_default(), wrong:
        metrics.mean(np.ones((3, 2, 4, 1)), weights=np.ones(shape))


def test_weights_may_have_an_axis_more_or_fewer() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        values = np.arange(6.0).reshape(3, 2)
        made = [
            metrics.mean(values, weights=weights)[1]
            for weights in (
                np.ones((1, 1, 1)),
                np.array([1.0, 0, 1])[:, None],
                np.array([1.0, 0, 1]),
            )
        ]
        session.run(v1.local_variables_initializer())
        assert session.run(made) == [2.5, 2.5, 2.5]


def test_an_unknown_curve_is_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="curve must be either ROC or PR, X unknown"):
            metrics.auc([0, 1], [0.5, 1.0], curve="X")
        with pytest.raises(ValueError, match=r"in the range \[0, 1\]"):
            metrics.specificity_at_sensitivity([0, 1], [0.5, 1.0], 1.5)

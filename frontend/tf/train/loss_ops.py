"""Losses of predictions: `compat.v1.losses`, and the functions and classes of Keras."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...eager.remembered import remember_all
from ...graph.graph import GraphTensor
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.space import Space
from ..core.values import convert, static
from ..ops.array_ops import shape, squeeze
from ..ops.creation import one_hot
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, reduce_mean, square
from ..ops.nn_ops import (
    clip_by_value,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ..ops.special import divide_no_nan
from ..ops.window_ops import l2_normalize

EPSILON = 1e-7
_sum = REDUCTIONS["reduce_sum"]
_max, _abs, _log = FUNCTIONS["maximum"], FUNCTIONS["abs"], FUNCTIONS["log"]


def _same(y_true: object, y_pred: object) -> tuple[TfTensor, TfTensor]:
    found = convert(y_pred)
    return cast(y_true, found.dtype), found


def mean_squared_error(y_true: object, y_pred: object) -> TfTensor:
    """Return the mean of squared differences along the last axis."""
    truth, found = _same(y_true, y_pred)
    return reduce_mean(square(found - truth), axis=-1)


def mean_absolute_error(y_true: object, y_pred: object) -> TfTensor:
    """Return the mean of differences without sign along the last axis."""
    truth, found = _same(y_true, y_pred)
    return reduce_mean(_abs(found - truth), axis=-1)


def huber(y_true: object, y_pred: object, delta: float = 1.0) -> TfTensor:
    """Return squares of small differences, and the size of large ones."""
    from ..ops.array_ops import where  # noqa: PLC0415

    truth, found = _same(y_true, y_pred)
    error = _abs(found - truth)
    large = error * delta - 0.5 * delta * delta
    return reduce_mean(where(error <= delta, 0.5 * square(error), large), axis=-1)


def hinge(y_true: object, y_pred: object) -> TfTensor:
    """Return how far predictions are from being beyond 1 on the right side."""
    truth, found = _same(y_true, y_pred)
    sign = truth * 2.0 - 1.0 if _is_binary(truth) else truth
    return reduce_mean(_max(1.0 - sign * found, 0.0), axis=-1)


def _is_binary(truth: TfTensor) -> bool:
    return bool(truth.eager and set(np.asarray(truth).ravel().tolist()) <= {0.0, 1.0})


def categorical_crossentropy(
    y_true: object, y_pred: object, from_logits: bool = False, label_smoothing: float = 0.0
) -> TfTensor:
    """Return the cross entropy of labels and predictions along the last axis."""
    truth, found = _same(y_true, y_pred)
    if label_smoothing:
        truth = truth * (1.0 - label_smoothing) + label_smoothing / truth.shape[-1:].known()[0]
    if from_logits:
        return softmax_cross_entropy_with_logits(labels=truth, logits=found)
    found = found / _sum(found, axis=-1, keepdims=True)
    return -_sum(truth * _log(clip_by_value(found, EPSILON, 1.0 - EPSILON)), axis=-1)


def sparse_categorical_crossentropy(
    y_true: object, y_pred: object, from_logits: bool = False
) -> TfTensor:
    """Return the cross entropy of numbered classes and predictions along the last axis."""
    labels, found = convert(y_true), convert(y_pred)
    if len(labels.shape) == len(found.shape):
        labels = squeeze(labels, [-1])
    if from_logits:
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=found)
    found = found / _sum(found, axis=-1, keepdims=True)
    hits = one_hot(cast(labels, "int32"), found.shape.as_list()[-1], dtype=found.dtype)
    return -_sum(hits * _log(clip_by_value(found, EPSILON, 1.0 - EPSILON)), axis=-1)


def binary_crossentropy(
    y_true: object, y_pred: object, from_logits: bool = False, label_smoothing: float = 0.0
) -> TfTensor:
    """Return the mean cross entropy of yes and no along the last axis."""
    truth, found = _same(y_true, y_pred)
    if label_smoothing:
        truth = truth * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        each = sigmoid_cross_entropy_with_logits(labels=truth, logits=found)
    else:
        found = clip_by_value(found, EPSILON, 1.0 - EPSILON)
        each = -(truth * _log(found) + (1.0 - truth) * _log(1.0 - found))
    return reduce_mean(each, axis=-1)


def kl_divergence(y_true: object, y_pred: object) -> TfTensor:
    """Return how much predictions differ from a distribution."""
    truth, found = _same(y_true, y_pred)
    truth = clip_by_value(truth, EPSILON, 1.0)
    found = clip_by_value(found, EPSILON, 1.0)
    return _sum(truth * _log(truth / found), axis=-1)


def log_cosh(y_true: object, y_pred: object) -> TfTensor:
    """Return the mean logarithm of the hyperbolic cosine of the differences."""
    truth, found = _same(y_true, y_pred)
    error = found - truth
    softplus = FUNCTIONS["softplus"]
    return reduce_mean(error + softplus(error * -2.0) - math.log(2.0), axis=-1)


def poisson(y_true: object, y_pred: object) -> TfTensor:
    """Return the mean loss of predicted counts."""
    truth, found = _same(y_true, y_pred)
    return reduce_mean(found - truth * _log(found + EPSILON), axis=-1)


def cosine_similarity(y_true: object, y_pred: object, axis: int = -1) -> TfTensor:
    """Return the negated cosine of the angle between labels and predictions."""
    truth, found = _same(y_true, y_pred)
    return -_sum(l2_normalize(truth, axis) * l2_normalize(found, axis), axis=axis)


def _as_class(function: Callable[..., TfTensor]) -> type:
    class Loss:
        def __init__(
            self, reduction: str = "sum_over_batch_size", name: object = None, **options: object
        ):
            self.reduction, self.name, self.options = reduction, name, options

        def __call__(
            self, y_true: object, y_pred: object, sample_weight: object = None
        ) -> TfTensor:
            each = function(y_true, y_pred, **self.options)
            if sample_weight is not None:
                each = each * cast(sample_weight, each.dtype)
            if self.reduction in (None, "none"):
                return each
            return _sum(each) if self.reduction == "sum" else reduce_mean(each)

    Loss.__doc__ = function.__doc__
    return Loss


KERAS = Space(
    "losses",
    MeanSquaredError=_as_class(mean_squared_error),
    MeanAbsoluteError=_as_class(mean_absolute_error),
    Huber=_as_class(huber),
    Hinge=_as_class(hinge),
    CategoricalCrossentropy=_as_class(categorical_crossentropy),
    SparseCategoricalCrossentropy=_as_class(sparse_categorical_crossentropy),
    BinaryCrossentropy=_as_class(binary_crossentropy),
    KLDivergence=_as_class(kl_divergence),
    LogCosh=_as_class(log_cosh),
    Poisson=_as_class(poisson),
    CosineSimilarity=_as_class(cosine_similarity),
    mse=mean_squared_error,
    MSE=mean_squared_error,
    mae=mean_absolute_error,
    MAE=mean_absolute_error,
    log_cosh=log_cosh,
    poisson=poisson,
    cosine_similarity=cosine_similarity,
    mean_squared_error=mean_squared_error,
    mean_absolute_error=mean_absolute_error,
    huber=huber,
    hinge=hinge,
    categorical_crossentropy=categorical_crossentropy,
    sparse_categorical_crossentropy=sparse_categorical_crossentropy,
    binary_crossentropy=binary_crossentropy,
    kl_divergence=kl_divergence,
)


def compute_average_loss(
    per_example_loss: object,
    sample_weight: object = None,
    global_batch_size: object = None,
) -> TfTensor:
    """Return the sum of the losses of examples over how many there are; 0 of none."""
    loss = convert(per_example_loss)
    if loss.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={per_example_loss} with rank 0"
        )
    if sample_weight is not None:
        loss *= convert(sample_weight, loss.dtype)
    count = shape(loss)[0] if global_batch_size is None else convert(global_batch_size)
    if count.shape.rank not in (0, None):
        raise ValueError(f"global_batch_size must be scalar, found shape {count.shape}")
    if not count.dtype.is_integer:
        raise TypeError(f"global_batch_size must be an integer, found {count.dtype.name}")
    most = static(count)
    if not isinstance(most, GraphTensor) and most < 0:
        raise InvalidArgumentError(f"global_batch_size must be non-negative, found {most}")
    return divide_no_nan(_sum(loss), cast(count, loss.dtype))


def scale_regularization_loss(regularization_loss: object) -> TfTensor:
    """Return the sum of what a replica adds to its loss."""
    return _sum(regularization_loss)


remember_all(globals())

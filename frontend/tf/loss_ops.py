"""Losses of predictions: `compat.v1.losses`, and the functions and classes of Keras."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..planned import remember_all
from .array_ops import squeeze
from .creation import one_hot
from .math_ops import FUNCTIONS, REDUCTIONS, add_n, cast, reduce_mean, square
from .nn_ops import (
    clip_by_value,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from .state import get_default_graph
from .values import convert

EPSILON = 1e-7
_sum: Callable[..., Any] = REDUCTIONS["reduce_sum"]
_max, _abs, _log = FUNCTIONS["maximum"], FUNCTIONS["abs"], FUNCTIONS["log"]


def _same(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    found = convert(y_pred)
    return cast(y_true, found.dtype), found


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of squared differences along the last axis."""
    truth, found = _same(y_true, y_pred)
    return reduce_mean(square(found - truth), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of differences without sign along the last axis."""
    truth, found = _same(y_true, y_pred)
    return reduce_mean(_abs(found - truth), axis=-1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Return squares of small differences, and the size of large ones."""
    from .array_ops import where  # noqa: PLC0415

    truth, found = _same(y_true, y_pred)
    error = _abs(found - truth)
    large = error * delta - 0.5 * delta * delta
    return reduce_mean(where(error <= delta, 0.5 * square(error), large), axis=-1)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """Return how far predictions are from being beyond 1 on the right side."""
    truth, found = _same(y_true, y_pred)
    sign = truth * 2.0 - 1.0 if _is_binary(truth) else truth
    return reduce_mean(_max(1.0 - sign * found, 0.0), axis=-1)


def _is_binary(truth: Any) -> bool:
    return bool(truth.eager and set(truth.numpy().ravel().tolist()) <= {0.0, 1.0})


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return the cross entropy of labels and predictions along the last axis."""
    truth, found = _same(y_true, y_pred)
    if from_logits:
        return softmax_cross_entropy_with_logits(labels=truth, logits=found)
    found = found / _sum(found, axis=-1, keepdims=True)
    return -_sum(truth * _log(clip_by_value(found, EPSILON, 1.0 - EPSILON)), axis=-1)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return the cross entropy of numbered classes and predictions along the last axis."""
    labels, found = convert(y_true), convert(y_pred)
    if len(labels.shape) == len(found.shape):
        labels = squeeze(labels, [-1])
    if from_logits:
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=found)
    found = found / _sum(found, axis=-1, keepdims=True)
    hits = one_hot(cast(labels, "int32"), found.shape[-1], dtype=found.dtype)
    return -_sum(hits * _log(clip_by_value(found, EPSILON, 1.0 - EPSILON)), axis=-1)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return the mean cross entropy of yes and no along the last axis."""
    truth, found = _same(y_true, y_pred)
    if from_logits:
        each = sigmoid_cross_entropy_with_logits(labels=truth, logits=found)
    else:
        found = clip_by_value(found, EPSILON, 1.0 - EPSILON)
        each = -(truth * _log(found) + (1.0 - truth) * _log(1.0 - found))
    return reduce_mean(each, axis=-1)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """Return how much predictions differ from a distribution."""
    truth, found = _same(y_true, y_pred)
    truth = clip_by_value(truth, EPSILON, 1.0)
    found = clip_by_value(found, EPSILON, 1.0)
    return _sum(truth * _log(truth / found), axis=-1)


def _as_class(function: Callable[..., Any]) -> type:
    class Loss:
        def __init__(
            self, reduction: str = "sum_over_batch_size", name: Any = None, **options: Any
        ):
            self.reduction, self.name, self.options = reduction, name, options

        def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
            each = function(y_true, y_pred, **self.options)
            if sample_weight is not None:
                each = each * cast(sample_weight, each.dtype)
            if self.reduction in (None, "none"):
                return each
            return _sum(each) if self.reduction == "sum" else reduce_mean(each)

    Loss.__doc__ = function.__doc__
    return Loss


KERAS = SimpleNamespace(
    MeanSquaredError=_as_class(mean_squared_error),
    MeanAbsoluteError=_as_class(mean_absolute_error),
    Huber=_as_class(huber),
    Hinge=_as_class(hinge),
    CategoricalCrossentropy=_as_class(categorical_crossentropy),
    SparseCategoricalCrossentropy=_as_class(sparse_categorical_crossentropy),
    BinaryCrossentropy=_as_class(binary_crossentropy),
    KLDivergence=_as_class(kl_divergence),
    mean_squared_error=mean_squared_error,
    mean_absolute_error=mean_absolute_error,
    huber=huber,
    hinge=hinge,
    categorical_crossentropy=categorical_crossentropy,
    sparse_categorical_crossentropy=sparse_categorical_crossentropy,
    binary_crossentropy=binary_crossentropy,
    kl_divergence=kl_divergence,
)


def _collected(each: Any, weights: Any) -> Any:
    """Return the mean of what has a weight, and put it into the graph's losses."""
    weight = cast(weights, each.dtype)
    total = _sum(each * weight)
    present = _sum(cast(weight != 0.0, each.dtype) + each * 0.0)
    made = total / _max(present, 1.0)
    get_default_graph().add_to_collection("losses", made)
    return made


def _v1_softmax(onehot_labels: Any, logits: Any, weights: Any = 1.0, **_: Any) -> Any:
    truth, found = _same(onehot_labels, logits)
    return _collected(softmax_cross_entropy_with_logits(labels=truth, logits=found), weights)


def _v1_sparse(labels: Any, logits: Any, weights: Any = 1.0, **_: Any) -> Any:
    each = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return _collected(each, weights)


def _v1_sigmoid(multi_class_labels: Any, logits: Any, weights: Any = 1.0, **_: Any) -> Any:
    truth, found = _same(multi_class_labels, logits)
    return _collected(sigmoid_cross_entropy_with_logits(labels=truth, logits=found), weights)


def _v1_squares(labels: Any, predictions: Any, weights: Any = 1.0, **_: Any) -> Any:
    truth, found = _same(labels, predictions)
    return _collected(square(found - truth), weights)


def _v1_sizes(labels: Any, predictions: Any, weights: Any = 1.0, **_: Any) -> Any:
    truth, found = _same(labels, predictions)
    return _collected(_abs(found - truth), weights)


def _losses(scope: str | None = None) -> list[Any]:
    """Return the losses of the default graph; of those with names that begin with the scope."""
    found = get_default_graph().get_collection("losses")
    return [x for x in found if scope is None or x.name.startswith(scope)]


V1 = SimpleNamespace(
    mean_squared_error=_v1_squares,
    absolute_difference=_v1_sizes,
    softmax_cross_entropy=_v1_softmax,
    sparse_softmax_cross_entropy=_v1_sparse,
    sigmoid_cross_entropy=_v1_sigmoid,
    get_losses=_losses,
    add_loss=lambda loss: get_default_graph().add_to_collection("losses", loss),
    get_total_loss=lambda *_, name="total_loss", **__: add_n(_losses(), name=name),
)


remember_all(globals())

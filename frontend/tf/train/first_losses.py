"""`compat.v1.losses`: losses of elements by weights, kept in a collection of the graph.

A weight is one number, or has as many axes as the losses, each of the same extent or of 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.types.tensor import Array
from ...eager.remembered import remember_all
from ...values.context import executing_eagerly
from ..core.bridge import TfTensor
from ..core.names import name_scope
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from ..graph.assertions import node
from ..graph.flow import stop_gradient
from ..graph.state import control_dependencies, get_default_graph
from ..ops.array_ops import rank, reshape, shape, size, squeeze, where
from ..ops.creation import ones_like, range_, zeros_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, add_n, cast, square
from ..ops.nn_ops import (
    relu,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ..ops.special import divide_no_nan

LOSSES, PENALTIES = "losses", "regularization_losses"
_sum = REDUCTIONS["reduce_sum"]
_max, _min, _abs, _log = (FUNCTIONS[name] for name in ("maximum", "minimum", "abs", "log"))


class Reduction:
    """How the losses of elements become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Return all ways."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE,
                cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise unless there is such a way."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def _fits(weights: Sequence[int | None], values: Sequence[int | None]) -> bool:
    """Say whether weights of a shape are for values of a shape, as far as both are known."""
    if not len(weights):
        return True
    if len(weights) != len(values):
        return False
    return all(w in (1, v) or w is None or v is None for w, v in zip(weights, values, strict=True))


def fitting(weights: TfTensor, values: TfTensor) -> list[object]:
    """Raise where weights are not for values; return the check that is for the run."""
    one, other = weights.shape, values.shape
    say = "weights can not be broadcast to values."
    if one.rank is not None and (not one.rank or other.rank is not None):
        if not _fits(one.as_list(), [] if other.rank is None else other.as_list()):
            raise ValueError(
                f"{say} values.rank={other.rank}. weights.rank={one.rank}. "
                f"values.shape={other}. weights.shape={one}."
            )
        if one.is_fully_defined() and (not one.rank or other.is_fully_defined()):
            return []
    if graph_of([weights, values]) is None:
        return []

    def holds(first: Array, second: Array) -> bool:
        return _fits(first.tolist(), second.tolist())

    sizes = shape(weights), shape(values)
    return [node(holds, sizes, [say, "weights.shape=", sizes[0], "values.shape=", sizes[1]])]


def _present(each: TfTensor, weight: TfTensor, *, rows: bool = False) -> TfTensor:
    """Return how many elements have a weight, in all or of each row.

    Eagerly one weight for all counts all elements for each row, as in TensorFlow.
    """
    if each.eager and not weight.shape.rank and float(weight.numpy()):
        return cast(size(each), "float32")
    there = cast(FUNCTIONS["not_equal"](weight, 0.0), "float32") * ones_like(each)
    return _sum(there, axis=_behind_first(there), keepdims=True) if rows else _sum(there)


def _behind_first(value: TfTensor) -> object:
    """Return the axes behind the first one."""
    known = value.shape.rank
    return range_(1, rank(value)) if known is None else list(range(1, known))


def _add(loss: TfTensor, collection: str | None) -> None:
    if collection and not executing_eagerly():
        get_default_graph().add_to_collection(collection, loss)


def compute_weighted_loss(
    losses: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return what has a weight as one number, and put it into the graph's losses."""
    Reduction.validate(reduction)
    with InGraph(graph_of([losses, weights])), name_scope(scope or "weighted_loss"):
        given = convert(losses)
        weight = cast(weights, "float32")
        with control_dependencies(fitting(weight, given)):
            each = cast(given, "float32")
            made = each * weight
            if reduction != Reduction.NONE:
                made = _sum(made)
            if reduction == Reduction.MEAN:
                made = divide_no_nan(made, _sum(ones_like(each) * weight), name="value")
            elif reduction == BY_WEIGHTS:
                made = divide_no_nan(made, _present(each, weight), name="value")
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                made = divide_no_nan(made, cast(size(each), "float32"), name="value")
            loss = cast(made, given.dtype)
            _add(loss, loss_collection)
            return loss


def _both(labels: object, found: object, names: tuple[str, str]) -> tuple[TfTensor, TfTensor]:
    """Return labels and predictions as floats, which must have one shape."""
    for value, name in zip((labels, found), names, strict=True):
        if value is None:
            raise ValueError(f"{name} must not be None.")
    truth, predicted = cast(labels, "float32"), cast(found, "float32")
    predicted.shape.assert_is_compatible_with(truth.shape)
    return truth, predicted


PREDICTED = ("labels", "predictions")


def absolute_difference(
    labels: object,
    predictions: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the differences without sign as one number."""
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "absolute_difference") as inner,
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        each = _abs(found - truth)
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def cosine_distance(
    labels: object,
    predictions: object,
    axis: int | None = None,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
    dim: int | None = None,
) -> TfTensor:
    """Return one less the products along an axis, of vectors of length 1."""
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("You must specify 'axis'.")
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "cosine_distance_loss") as inner,
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        each = 1.0 - _sum(found * truth, axis=(along,), keepdims=True)
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def hinge_loss(
    labels: object,
    logits: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return how far logits are from being beyond 1 on the right side."""
    with InGraph(graph_of([labels, logits, weights])), name_scope(scope or "hinge_loss") as inner:
        truth, found = _both(labels, logits, ("labels", "logits"))
        each = relu(1.0 - (2.0 * truth - 1.0) * found)
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def huber_loss(
    labels: object,
    predictions: object,
    weights: object = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return squares of small differences, and the size of large ones."""
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "huber_loss") as inner,
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        error = _abs(found - truth)
        small = _min(error, delta)
        each = 0.5 * square(small) + delta * (error - small)
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def log_loss(
    labels: object,
    predictions: object,
    weights: object = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the cross entropy of yes and no."""
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "log_loss") as inner,
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        no = (1.0 - truth) * _log(1.0 - found + epsilon)
        each = -(truth * _log(found + epsilon)) - no
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: object,
    predictions: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
) -> TfTensor:
    """Return how much differences within a row differ from one another, the sum of all rows."""
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "mean_pairwise_squared_error"),
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        weight = cast(weights, "float32")
        with control_dependencies(fitting(weight, truth)):
            error = found - truth
            axes = _behind_first(error)
            count = _present(error, weight, rows=True)
            squares = _sum(square(error), axis=axes, keepdims=True)
            whole = _sum(error, axis=axes, keepdims=True)
            spread = 2.0 * divide_no_nan(squares, _max(count - 1.0, 0.0)) - 2.0 * divide_no_nan(
                square(whole), _max(count * (count - 1.0), 0.0)
            )
            summed = _sum(spread * weight)
            loss = where(_sum(count) > 0.0, summed, zeros_like(summed), name="value")
            _add(loss, loss_collection)
            return loss


def mean_squared_error(
    labels: object,
    predictions: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the squares of differences as one number."""
    with (
        InGraph(graph_of([labels, predictions, weights])),
        name_scope(scope or "mean_squared_error") as inner,
    ):
        truth, found = _both(labels, predictions, PREDICTED)
        each = square(found - truth)
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def _labelled(labels: object, logits: object, name: str) -> tuple[TfTensor, TfTensor]:
    """Return labels of the type of logits, and those, which must have one shape."""
    for value, what in ((labels, name), (logits, "logits")):
        if value is None:
            raise ValueError(f"{what} must not be None.")
    found = convert(logits)
    truth = cast(labels, found.dtype)
    found.shape.assert_is_compatible_with(truth.shape)
    return truth, found


def sigmoid_cross_entropy(
    multi_class_labels: object,
    logits: object,
    weights: object = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the cross entropy of yes and no, of logits."""
    with (
        InGraph(graph_of([multi_class_labels, logits, weights])),
        name_scope(scope or "sigmoid_cross_entropy_loss") as inner,
    ):
        truth, found = _labelled(multi_class_labels, logits, "multi_class_labels")
        if label_smoothing > 0:
            truth = truth * (1 - label_smoothing) + 0.5 * label_smoothing
        each = sigmoid_cross_entropy_with_logits(labels=truth, logits=found, name="xentropy")
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: object,
    logits: object,
    weights: object = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the cross entropy of distributions over classes, of logits."""
    with (
        InGraph(graph_of([onehot_labels, logits, weights])),
        name_scope(scope or "softmax_cross_entropy_loss") as inner,
    ):
        truth, found = _labelled(onehot_labels, logits, "onehot_labels")
        if label_smoothing > 0:
            classes = cast(shape(truth)[-1], found.dtype)
            truth = truth * (1 - label_smoothing) + label_smoothing / classes
        each = softmax_cross_entropy_with_logits(
            labels=stop_gradient(truth), logits=found, name="xentropy"
        )
        return compute_weighted_loss(each, weights, inner, loss_collection, reduction)


def _without_last(value: TfTensor, wanted: int | None, other: TfTensor) -> TfTensor:
    """Return a tensor without its last axis where that is of extent 1 and one too many."""
    extents = value.shape
    if extents.rank is not None and wanted is not None:
        is_more = extents.rank - wanted == 1 and extents.as_list()[-1] in (1, None)
        return squeeze(value, [-1]) if is_more else value
    if extents.rank == 0:
        return value
    sizes = shape(value)
    more = cast(FUNCTIONS["equal"](rank(value) - other, 1), "int32")
    return reshape(value, sizes[: rank(value) - more])


def sparse_softmax_cross_entropy(
    labels: object,
    logits: object,
    weights: object = 1.0,
    scope: str | None = None,
    loss_collection: str | None = LOSSES,
    reduction: str = BY_WEIGHTS,
) -> TfTensor:
    """Return the cross entropy of numbered classes, of logits."""
    for value, name in ((labels, "labels"), (logits, "logits")):
        if value is None:
            raise ValueError(f"{name} must not be None.")
    with (
        InGraph(graph_of([labels, logits, weights])),
        name_scope(scope or "sparse_softmax_cross_entropy_loss") as inner,
    ):
        found = convert(logits)
        depth = None if found.shape.rank is None else found.shape.rank - 1
        truth = _without_last(convert(labels), depth, rank(found) - 1)
        weight = _without_last(cast(weights, found.dtype), truth.shape.rank, rank(truth))
        each = sparse_softmax_cross_entropy_with_logits(labels=truth, logits=found, name="xentropy")
        return compute_weighted_loss(each, weight, inner, loss_collection, reduction)


def _of(collection: str, scope: str | None) -> list[TfTensor]:
    """Return what a collection has, of names that begin with the scope if one is given."""
    found = get_default_graph().get_collection(collection)
    return [x for x in found if scope is None or x.name.startswith(scope)]


def add_loss(loss: TfTensor, loss_collection: str | None = LOSSES) -> None:
    """Put a loss into the graph's losses."""
    _add(loss, loss_collection)


def get_losses(scope: str | None = None, loss_collection: str = LOSSES) -> list[TfTensor]:
    """Return the losses of the default graph; of those with names that begin with the scope."""
    return _of(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[TfTensor]:
    """Return what regularisers gave in the default graph."""
    return _of(PENALTIES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> TfTensor:
    """Return the sum of what regularisers gave."""
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else convert(np.float32(0))


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> TfTensor:
    """Return the sum of all losses."""
    found = get_losses(scope)
    if add_regularization_losses:
        found = [*found, *get_regularization_losses(scope)]
    return add_n(found, name=name)


SPACE = Space(
    "compat.v1.losses",
    Reduction=Reduction,
    compute_weighted_loss=compute_weighted_loss,
    absolute_difference=absolute_difference,
    cosine_distance=cosine_distance,
    hinge_loss=hinge_loss,
    huber_loss=huber_loss,
    log_loss=log_loss,
    mean_pairwise_squared_error=mean_pairwise_squared_error,
    mean_squared_error=mean_squared_error,
    sigmoid_cross_entropy=sigmoid_cross_entropy,
    softmax_cross_entropy=softmax_cross_entropy,
    sparse_softmax_cross_entropy=sparse_softmax_cross_entropy,
    add_loss=add_loss,
    get_losses=get_losses,
    get_regularization_losses=get_regularization_losses,
    get_regularization_loss=get_regularization_loss,
    get_total_loss=get_total_loss,
)

remember_all(globals())

"""Metrics that go on over batches: each gives its value, and the operation that adds a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import convert, same
from ..graph.graph_lists import LOCAL
from ..graph.state import Variable, control_dependencies, get_default_graph
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops.creation import one_hot, zeros
from ..ops.special import divide_no_nan
from ..train.first_losses import fitting
from ..variables.scopes import variable_scope

METRICS = "metric_variables"
total = _m.REDUCTIONS["reduce_sum"]
Pair = tuple[TfTensor, TfTensor]


def kept(name: str, shape: Sequence[int] = (), dtype: str = "float32") -> Variable:
    """Return a local variable that begins with zeros."""
    return Variable(
        lambda: zeros(list(shape), dtype),
        trainable=False,
        name=name,
        dtype=dtype,
        collections=[LOCAL, METRICS],
    )


def weighed(values: TfTensor, weights: object) -> TfTensor:
    """Return weights for each value: of as many axes, or of one more or fewer at the end."""
    if weights is None:
        return _m.cast(_a.broadcast_to(convert(1.0), _a.shape(values)), "float32")
    found = _m.cast(convert(weights), "float32")
    ranks = found.shape.rank, values.shape.rank
    if ranks[0] is None or (ranks[0] and ranks[1] is None):
        found = _fitted(found, values)
    elif ranks[0] and ranks[1] is not None:
        if ranks[0] == ranks[1] + 1:
            found = _a.squeeze(found, [-1])
        elif ranks[0] == ranks[1] - 1:
            found = _a.expand_dims(found, -1)
    with control_dependencies(fitting(found, values)):
        return _a.broadcast_to(found, _a.shape(values))


def _fitted(weights: TfTensor, values: TfTensor) -> TfTensor:
    """Return weights of which the run knows the rank with one axis more or fewer at the end."""

    def compute(sizes: Array, wanted: Array) -> Sequence[Array]:
        rank = len(wanted)
        if len(sizes) == rank + 1 and sizes[-1] == 1:
            return (sizes[:-1],)
        return (np.append(sizes, 1) if len(sizes) and len(sizes) == rank - 1 else sizes,)

    given = [_a.shape(weights, "int64"), _a.shape(values, "int64")]
    (sizes,) = host("WeightSizes", compute, given, [unknown(rows.i64, None)])
    return _a.reshape(weights, sizes)


def alike(labels: object, predictions: object) -> Pair:
    """Return both with one shape: an axis of extent 1 behind is dropped."""
    x, y = convert(labels), convert(predictions)
    ranks = x.shape.rank, y.shape.rank
    if ranks[0] is not None and ranks[1] is not None:
        if ranks[0] == ranks[1] + 1:
            x = _a.squeeze(x, [-1])
        elif ranks[1] == ranks[0] + 1:
            y = _a.squeeze(y, [-1])
    return x, y


def listed(made: Pair, metrics: Any, updates: Any) -> Pair:
    """Put value and operation into the graph's lists that are asked for."""
    for names, value in ((metrics, made[0]), (updates, made[1])):
        for name in [names] if isinstance(names, str) else names or ():
            get_default_graph().add_to_collection(name, value)
    return made


def mean(
    values: object,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean of all values so far."""
    with variable_scope(name, "mean"):
        return listed(_mean(values, weights), metrics_collections, updates_collections)


def _mean(values: object, weights: object) -> Pair:
    each = _m.cast(convert(values), "float32")
    weight = weighed(each, weights)
    above, below = kept("total"), kept("count")
    steps = [above.assign_add(total(each * weight)), below.assign_add(total(weight))]
    return divide_no_nan(above.read_value(), below.read_value()), divide_no_nan(*steps)


def compared(label: str) -> Callable[[Callable[[object, object, object], Pair]], object]:
    """Make a metric of a function of labels, predictions and weights: with a scope and lists."""

    def decorate(function: Callable[[object, object, object], Pair]) -> object:
        def metric(
            labels: object,
            predictions: object,
            weights: object = None,
            metrics_collections: object = None,
            updates_collections: object = None,
            name: str | None = None,
        ) -> Pair:
            """Return the value over all batches so far, and the operation that adds a batch."""
            with variable_scope(name, label):
                made = function(labels, predictions, weights)
                return listed(made, metrics_collections, updates_collections)

        return metric

    return decorate


def _of(function: Callable[[object, object], object], label: str, *, root: bool = False) -> object:
    """Return the metric that is the mean of a function of labels and predictions."""

    @compared(label)
    def metric(labels: object, predictions: object, weights: object) -> Pair:
        made = _mean(function(*alike(labels, predictions)), weights)
        sqrt = _m.FUNCTIONS["sqrt"]
        return (sqrt(made[0]), sqrt(made[1])) if root else made

    return metric


def _hit(labels: Any, predictions: Any) -> TfTensor:
    x, y = labels, predictions
    if x.dtype != y.dtype:
        y = _m.cast(y, x.dtype)
    return _m.cast(_m.FUNCTIONS["equal"](x, y), "float32")


def _error(labels: object, predictions: Any) -> TfTensor:
    x, y = same(predictions, _m.cast(labels, predictions.dtype))
    return x - y


accuracy = _of(_hit, "accuracy")
mean_squared_error = _of(lambda x, y: _m.square(_error(x, y)), "mean_squared_error")
root_mean_squared_error = _of(
    lambda x, y: _m.square(_error(x, y)), "root_mean_squared_error", root=True
)
mean_absolute_error = _of(lambda x, y: _m.FUNCTIONS["abs"](_error(x, y)), "mean_absolute_error")


def mean_tensor(
    values: object,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean of each element so far."""
    with variable_scope(name, "mean"):
        each = _m.cast(convert(values), "float32")
        weight = weighed(each, weights)
        shape = each.shape.known()
        above, below = kept("total_tensor", shape), kept("count_tensor", shape)
        steps = [above.assign_add(each * weight), below.assign_add(weight)]
        made = divide_no_nan(above.read_value(), below.read_value())
        return listed((made, divide_no_nan(*steps)), metrics_collections, updates_collections)


def percentage_below(
    values: object, threshold: object, weights: object = None, **more: Any
) -> Pair:
    """Return which part of all values is below a number."""
    below = _m.cast(_m.FUNCTIONS["less"](convert(values), threshold), "float32")
    return mean(below, weights, **{"name": "percentage_below_threshold", **more})


def _cells(labels: object, predictions: object, weights: object, cell: str) -> TfTensor:
    """Return the weight of what is in a cell of the table of truth and finding."""
    truth, found = (_m.cast(x, "bool") for x in alike(labels, predictions))
    no = _m.FUNCTIONS["logical_not"]
    both = _m.FUNCTIONS["logical_and"](
        truth if cell in ("true_positives", "false_negatives") else no(truth),
        found if cell in ("true_positives", "false_positives") else no(found),
    )
    each = _m.cast(both, "float32")
    return total(each * weighed(each, weights))


def _counted(cell: str) -> Any:
    """Return the metric that counts a cell."""

    @compared(cell)
    def metric(labels: object, predictions: object, weights: object) -> Pair:
        count = kept("count")
        step = count.assign_add(_cells(labels, predictions, weights, cell))
        return count.read_value(), step

    return metric


CELLS = ("true_positives", "false_positives", "true_negatives", "false_negatives")
COUNTS = {cell: _counted(cell) for cell in CELLS}


def _share(label: str, other: str) -> object:
    """Return the share of true positives among them and another cell."""

    @compared(label)
    def metric(labels: object, predictions: object, weights: object) -> Pair:
        hits, hit = COUNTS["true_positives"](labels, predictions, weights)
        rest, miss = COUNTS[other](labels, predictions, weights)
        return divide_no_nan(hits, hits + rest), divide_no_nan(hit, hit + miss)

    return metric


precision, recall = _share("precision", "false_positives"), _share("recall", "false_negatives")


def _table(labels: object, predictions: object, count: int, weights: object) -> Pair:
    """Return the table of truth and finding so far, and the operation that adds a batch."""
    truth, found = (_a.reshape(_m.cast(convert(x), "int64"), [-1]) for x in (labels, predictions))
    rows = one_hot(truth, count)
    if weights is not None:
        rows = rows * _a.reshape(_m.cast(convert(weights), "float32"), [-1, 1])
    table = kept("total_confusion_matrix", [count, count])
    step = table.assign_add(_m.matmul(rows, one_hot(found, count), transpose_a=True))
    return table.read_value(), step


def mean_iou(
    labels: object,
    predictions: object,
    num_classes: int,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean over classes of what truth and finding share over what either has."""
    with variable_scope(name, "mean_iou"):
        table, step = _table(labels, predictions, num_classes, weights)
        made = _shared(table), step
        return listed(made, metrics_collections, updates_collections)


def _shared(table: Any) -> TfTensor:
    both = total(table * np.eye(table.shape.as_list()[0], dtype=np.float32), 1)
    either = total(table, 0) + total(table, 1) - both
    seen = total(_m.cast(_m.FUNCTIONS["not_equal"](either, 0.0), "float32"))
    return divide_no_nan(total(divide_no_nan(both, either)), seen)


def mean_per_class_accuracy(
    labels: object,
    predictions: object,
    num_classes: int,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean over classes of the share of each that is found."""
    with variable_scope(name, "mean_accuracy"):
        truth = _a.reshape(_m.cast(convert(labels), "int64"), [-1])
        found = _a.reshape(_m.cast(convert(predictions), "int64"), [-1])
        rows = one_hot(truth, num_classes)
        if weights is not None:
            rows = rows * _a.reshape(_m.cast(convert(weights), "float32"), [-1, 1])
        hits = _m.cast(_m.FUNCTIONS["equal"](truth, found), "float32")
        every, right = kept("total", [num_classes]), kept("count", [num_classes])
        steps = [
            right.assign_add(total(rows * _a.expand_dims(hits, 1), 0)),
            every.assign_add(total(rows, 0)),
        ]
        made = _m.reduce_mean(divide_no_nan(right.read_value(), every.read_value()))
        return listed((made, divide_no_nan(*steps)), metrics_collections, updates_collections)


def mean_relative_error(
    labels: object,
    predictions: object,
    normalizer: object,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean of the differences over a norm of each; 0 where that is 0."""
    x, y = alike(labels, predictions)
    norm = _m.cast(convert(normalizer), y.dtype)
    error = divide_no_nan(_m.FUNCTIONS["abs"](_error(x, y)), norm)
    more = metrics_collections, updates_collections, name or "mean_relative_error"
    return mean(error, weights, *more)


def mean_cosine_distance(
    labels: object,
    predictions: object,
    dim: int,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return one less the mean product along an axis, of vectors of length 1."""
    with variable_scope(name, "mean_cosine_distance"):
        x, y = alike(labels, predictions)
        each = total(_m.cast(x, y.dtype) * y, axis=[dim], keepdims=True)
        value, step = _mean(each, weights)
        return listed((1.0 - value, 1.0 - step), metrics_collections, updates_collections)


BY_NAME: dict[str, object] = {
    "accuracy": accuracy,
    "mean": mean,
    "mean_cosine_distance": mean_cosine_distance,
    "mean_relative_error": mean_relative_error,
    "mean_absolute_error": mean_absolute_error,
    "mean_iou": mean_iou,
    "mean_per_class_accuracy": mean_per_class_accuracy,
    "mean_squared_error": mean_squared_error,
    "mean_tensor": mean_tensor,
    "percentage_below": percentage_below,
    "precision": precision,
    "recall": recall,
    "root_mean_squared_error": root_mean_squared_error,
    **COUNTS,
}

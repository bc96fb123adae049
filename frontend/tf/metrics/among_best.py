"""Metrics of the k best classes of each row against those that are true: "at k".

Labels are [..., labels], dense or sparse, or [...] where each row has one; the k best classes are
[..., k]. Each row is a set: what stands there twice counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import InGraph, convert, graph_of
from ..graph.state import control_dependencies
from ..nondense.sparse_tensor import SparseTensor, SparseTensorValue
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops.creation import ones_like
from ..ops.sorting import top_k
from ..ops.special import divide_no_nan
from ..train.first_losses import fitting
from ..variables.scopes import variable_scope
from .streaming import Pair, kept, listed, total

Rows = dict[tuple[int, ...], set[int]]
Counts = dict[tuple[int, ...], int]
Judge = Callable[[set[int], list[int], int], Sequence[float]]


def _named(name: str, k: int | None, class_id: int | None) -> str:
    """Return the name that a metric has where none is given."""
    chosen = "" if class_id is None else f"_class{class_id}"
    return f"{name}_at_{'k' if k is None else k}{chosen}"


class Truth:
    """The labels of a metric."""

    def __init__(self, labels: object) -> None:
        self.is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)
        if self.is_sparse:
            sparse = SparseTensor.from_value(labels)
            self.tensors = list(sparse.components())
        else:
            self.tensors = [_m.cast(convert(labels), "int64")]

    def sets(self, arrays: Sequence[Array], rank: int) -> tuple[Rows, Counts]:
        """Return the labels by rows, and how many there are in each that are none below 0."""
        made: Rows = {}
        counts: Counts = {}
        if self.is_sparse:
            places, values, extents = arrays
            ends = len(extents) == rank
            for place, value in zip(places.tolist(), values.tolist(), strict=True):
                made.setdefault(tuple(place[:-1] if ends else place), set()).add(value)
            return made, {at: len(found) for at, found in made.items()}
        (whole,) = arrays
        full = whole[..., None] if whole.ndim == rank - 1 else whole
        for at in np.ndindex(full.shape[:-1]):
            made[at] = set(full[at].tolist())
            counts[at] = int((full[at] >= 0).sum())
        return made, counts

    def check(self, found: TfTensor) -> None:
        """Raise unless labels have as many axes as what was found, or one less."""
        ranks = self.tensors[0].shape.rank, found.shape.rank
        if self.is_sparse or ranks[0] is None or ranks[1] is None:
            return
        if ranks[0] not in (ranks[1], ranks[1] - 1):
            raise ValueError(
                f"Unexpected labels shape {self.tensors[0].shape} for predictions shape "
                f"{found.shape}."
            )


def _by_row(labels: object, best: object, count: int, judge: Judge) -> list[TfTensor]:
    """Return `count` numbers for each row that a function of its labels and best classes gives."""
    found = _m.cast(convert(best), "int64")
    truth = Truth(labels)
    truth.check(found)

    def compute(classes: Array, *arrays: Array) -> Sequence[Array]:
        known, counts = truth.sets(arrays, classes.ndim)
        made = np.zeros((*classes.shape[:-1], count), np.float64)
        for at in np.ndindex(classes.shape[:-1]):
            made[at] = judge(known.get(at, set()), classes[at].tolist(), counts.get(at, 0))
        return [made[..., i] for i in range(count)]

    dims = found.shape._dims
    outer = None if dims is None else dims[:-1]
    spec = TensorSpec(rows.f64, None) if outer is None else unknown(rows.f64, *outer)
    return host("RowsAtK", compute, [found, *truth.tensors], [spec] * count)


def _weighed(each: TfTensor, weights: object) -> TfTensor:
    """Return numbers of rows times their weights."""
    if weights is None:
        return each
    given = _m.cast(convert(weights), "float64")
    with control_dependencies(fitting(given, each)):
        return each * _a.broadcast_to(given, _a.shape(each))


def _share(other: str, label: str, place: int) -> Callable[..., Pair]:
    """Return the metric of true positives among them and another cell: `place` says which."""

    def metric(
        labels: object,
        predictions_idx: object,
        k: int | None = None,
        class_id: int | None = None,
        weights: object = None,
        metrics_collections: object = None,
        updates_collections: object = None,
        name: str | None = None,
    ) -> Pair:
        """Return the share over all batches so far, and the operation that adds a batch."""

        def judge(true: set[int], best: list[int], _: int) -> list[int]:
            chosen = set(best)
            if class_id is not None:
                true, chosen = true & {class_id}, chosen & {class_id}
            return [len(true & chosen), len(chosen - true), len(true - chosen)]

        with (
            InGraph(graph_of([labels, predictions_idx, weights])),
            variable_scope(name, _named(label, k, class_id)),
        ):
            cells = _by_row(labels, predictions_idx, 3, judge)
            hits = kept(_named("true_positive", k, class_id), dtype="float64")
            rest = kept(_named(other, k, class_id), dtype="float64")
            hit = hits.assign_add(total(_weighed(cells[0], weights)))
            miss = rest.assign_add(total(_weighed(cells[place], weights)))
            right, wrong = hits.read_value(), rest.read_value()
            made = right / (right + wrong), hit / (hit + miss)
            return listed(made, metrics_collections, updates_collections)

    return metric


precision_at_top_k = _share("false_positive", "precision", 1)
recall_at_top_k = _share("false_negative", "recall", 2)


def _of_scores(metric: Callable[..., Pair], label: str) -> Callable[..., Pair]:
    """Return a metric that is given scores of all classes, of which the best are taken."""

    def function(
        labels: object,
        predictions: object,
        k: int,
        class_id: int | None = None,
        weights: object = None,
        metrics_collections: object = None,
        updates_collections: object = None,
        name: str | None = None,
    ) -> Pair:
        """Return the value over all batches so far, and the operation that adds a batch."""
        best = top_k(predictions, k).indices
        more = metrics_collections, updates_collections, name or _named(label, k, class_id)
        return metric(labels, best, k, class_id, weights, *more)

    return function


precision_at_k = _of_scores(precision_at_top_k, "precision")
recall_at_k = _of_scores(recall_at_top_k, "recall")


def average_precision_at_k(
    labels: object,
    predictions: object,
    k: int,
    weights: object = None,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the mean over rows of the precision at each true class among the k best."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")

    def judge(true: set[int], best: list[int], count: int) -> list[float]:
        true = {each if classes is None or each < classes else -1 for each in true}
        hits = np.array([each in true for each in best], np.float64)
        shares = np.cumsum(hits) / np.arange(1, len(best) + 1)
        relevant = min(count, k)
        return [float((shares * hits).sum()) / relevant if relevant else np.nan]

    dims = convert(predictions).shape._dims
    classes = None if dims is None else dims[-1]
    with (
        InGraph(graph_of([labels, predictions, weights])),
        variable_scope(name, _named("average_precision", k, None)),
    ):
        (each,) = _by_row(labels, top_k(predictions, k).indices, 1, judge)
        above, below = kept("total", dtype="float64"), kept("max", dtype="float64")
        steps = [
            above.assign_add(total(_weighed(each, weights))),
            below.assign_add(total(_weighed(ones_like(each), weights))),
        ]
        made = divide_no_nan(above.read_value(), below.read_value()), divide_no_nan(*steps)
        return listed(made, metrics_collections, updates_collections)


BY_NAME: dict[str, object] = {
    "average_precision_at_k": average_precision_at_k,
    "precision_at_k": precision_at_k,
    "precision_at_top_k": precision_at_top_k,
    "recall_at_k": recall_at_k,
    "recall_at_top_k": recall_at_top_k,
    "sparse_average_precision_at_k": average_precision_at_k,
    "sparse_precision_at_k": precision_at_k,
}
"""The metrics of this file by their names."""

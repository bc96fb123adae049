"""Metrics over thresholds: what is found where a prediction above a threshold is a yes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.bridge import TfTensor
from ..graph.debugging import assert_greater_equal, assert_less_equal
from ..graph.state import control_dependencies
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops.creation import ones_like
from ..ops.gathering import gather
from ..ops.special import divide_no_nan
from ..variables.scopes import variable_scope
from .streaming import CELLS, Pair, alike, kept, listed, total, weighed

Cells = dict[str, TfTensor]
SMALL = 1e-7
"""How far the outermost thresholds are beyond 0 and 1, and what keeps shares from 0 over 0."""
_max, _min, _log = (_m.FUNCTIONS[name] for name in ("maximum", "minimum", "log"))
_abs = _m.FUNCTIONS["abs"]


def even(count: int) -> list[float]:
    """Return evenly spaced thresholds, the outermost ones just beyond 0 and 1."""
    inner = [(i + 1) / (count - 1) for i in range(count - 2)]
    return [-SMALL, *inner, 1.0 + SMALL]


def cells(
    labels: object,
    predictions: object,
    thresholds: Sequence[float],
    weights: object,
    names: Sequence[str] = CELLS,
) -> tuple[Cells, Cells]:
    """Return the counts by thresholds so far, and the operations that add a batch."""
    truth, found = alike(labels, predictions)
    zero, one = (np.asarray(x, found.dtype.as_numpy_dtype) for x in (0, 1))
    say = "predictions must be in [0, 1]"
    checks = [
        assert_greater_equal(found, zero, message=say),
        assert_less_equal(found, one, message=say),
    ]
    values = _m.cast(found, "float32")
    with control_dependencies(checks):
        flat = _a.reshape(values, [1, -1])
    weight = _a.reshape(weighed(values, weights), [1, -1])
    yes = _m.cast(_a.reshape(_m.cast(truth, "bool"), [1, -1]), "float32")
    limits = np.asarray(thresholds, np.float32)[:, None]
    above = _m.cast(_m.FUNCTIONS["greater"](flat, limits), "float32")
    each = {
        "true_positives": lambda: above * yes,
        "false_negatives": lambda: (1.0 - above) * yes,
        "true_negatives": lambda: (1.0 - above) * (1.0 - yes),
        "false_positives": lambda: above * (1.0 - yes),
    }
    counts = {name: kept(name, [len(thresholds)]) for name in names}
    steps = {name: counts[name].assign_add(total(each[name]() * weight, 1)) for name in names}
    return {name: count.read_value() for name, count in counts.items()}, steps


def _counted(cell: str) -> Callable[..., Pair]:
    """Return the metric that counts a cell of the table by thresholds."""

    def metric(
        labels: object,
        predictions: object,
        thresholds: Sequence[float],
        weights: object = None,
        metrics_collections: object = None,
        updates_collections: object = None,
        name: str | None = None,
    ) -> Pair:
        """Return how many there are so far, and the operation that adds a batch."""
        with variable_scope(name, cell):
            values, steps = cells(labels, predictions, thresholds, weights, [cell])
            made = values[cell], steps[cell]
            return listed(made, metrics_collections, updates_collections)

    return metric


def _share(label: str, other: str) -> Callable[..., Pair]:
    """Return the metric of the share of hits among them and another cell, by thresholds."""

    def metric(
        labels: object,
        predictions: object,
        thresholds: Sequence[float],
        weights: object = None,
        metrics_collections: object = None,
        updates_collections: object = None,
        name: str | None = None,
    ) -> Pair:
        """Return the shares over all batches so far, and the operation that adds a batch."""
        with variable_scope(name, label):
            both = cells(labels, predictions, thresholds, weights, ["true_positives", other])
            shares = [x["true_positives"] / (SMALL + x["true_positives"] + x[other]) for x in both]
            return listed((shares[0], shares[1]), metrics_collections, updates_collections)

    return metric


def _sensitivity(found: Cells, wanted: float) -> TfTensor:
    """Return the sensitivity at the first threshold with a specificity as near as can be."""
    hits, misses = found["true_positives"], found["false_negatives"]
    calm, alarms = found["true_negatives"], found["false_positives"]
    place = _m.argmin(_abs(calm / (calm + alarms + SMALL) - wanted), 0)
    hit, miss = (gather(x, place) for x in (hits, misses))
    return hit / (hit + miss + SMALL)


def _specificity(found: Cells, wanted: float) -> TfTensor:
    """Return the specificity at the last threshold with a sensitivity as near as can be."""
    hits, misses = found["true_positives"], found["false_negatives"]
    calm, alarms = found["true_negatives"], found["false_positives"]
    away = _a.reverse(_abs(hits / (hits + misses + SMALL) - wanted), [0])
    place = away.shape.known()[0] - 1 - _m.argmin(away, 0)
    quiet, loud = (gather(x, place) for x in (calm, alarms))
    return quiet / (quiet + loud + SMALL)


def sensitivity_at_specificity(
    labels: object,
    predictions: object,
    specificity: float,
    weights: object = None,
    num_thresholds: int = 200,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the share of true yeses that is found, where so many of the noes are."""
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope(name, "sensitivity_at_specificity"):
        both = cells(labels, predictions, even(num_thresholds), weights)
        made = _sensitivity(both[0], specificity), _sensitivity(both[1], specificity)
        return listed(made, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: object,
    predictions: object,
    sensitivity: float,
    weights: object = None,
    num_thresholds: int = 200,
    metrics_collections: object = None,
    updates_collections: object = None,
    name: str | None = None,
) -> Pair:
    """Return the share of true noes that is found, where so many of the yeses are."""
    if not 0 <= sensitivity <= 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope(name, "specificity_at_sensitivity"):
        both = cells(labels, predictions, even(num_thresholds), weights)
        made = _specificity(both[0], sensitivity), _specificity(both[1], sensitivity)
        return listed(made, metrics_collections, updates_collections)


SUMS: dict[str, Callable[[TfTensor], TfTensor]] = {
    "trapezoidal": lambda y: (y[:-1] + y[1:]) / 2.0,
    "minoring": lambda y: _min(y[:-1], y[1:]),
    "majoring": lambda y: _max(y[:-1], y[1:]),
}
"""How high a piece of the area under a curve is."""


def auc(
    labels: object,
    predictions: object,
    weights: object = None,
    num_thresholds: int = 200,
    metrics_collections: object = None,
    updates_collections: object = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Pair:
    """Return the area under a curve over thresholds: hits over false alarms, or precision."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in (*SUMS, "careful_interpolation"):
        raise ValueError(f"Invalid summation_method: {summation_method}")
    limits = even(num_thresholds)
    if thresholds is not None:
        if any(not 0 <= x <= 1 for x in thresholds):
            raise ValueError("Threshold values must be in [0, 1].")
        limits = [-SMALL, *sorted(thresholds), 1.0 + SMALL]
    with variable_scope(name, "auc"):
        both = cells(labels, predictions, limits, weights)
        area = [_area(x, curve, summation_method) for x in both]
        return listed((area[0], area[1]), metrics_collections, updates_collections)


def _area(found: Cells, curve: str, method: str) -> TfTensor:
    """Return the area under the curve that counts by thresholds make."""
    hits, misses = found["true_positives"], found["false_negatives"]
    alarms, calm = found["false_positives"], found["true_negatives"]
    if method == "careful_interpolation":
        if curve == "PR":
            return _interpolated(hits, misses, alarms)
        method = "trapezoidal"
    share = (hits + 1e-6) / (hits + misses + 1e-6)
    if curve == "ROC":
        x, y = alarms / (alarms + calm + 1e-6), share
    else:
        x, y = share, (hits + 1e-6) / (hits + alarms + 1e-6)
    return total((x[:-1] - x[1:]) * SUMS[method](y))


def _interpolated(hits: TfTensor, misses: TfTensor, alarms: TfTensor) -> TfTensor:
    """Return the area under precision over recall: hits grow evenly with what is found between."""
    every = hits + alarms
    more = hits[:-1] - hits[1:]
    slope = divide_no_nan(more, _max(every[:-1] - every[1:], 0.0))
    start = hits[1:] - slope * every[1:]
    some = _m.FUNCTIONS["logical_and"](every[:-1] > 0.0, every[1:] > 0.0)
    ratio = divide_no_nan(every[:-1], _max(every[1:], 0.0))
    safe = _a.where(some, ratio, ones_like(every[1:]))
    parts = slope * (more + start * _log(safe))
    return total(divide_no_nan(parts, _max(hits[1:] + misses[1:], 0.0)))


BY_NAME = {
    **{f"{cell}_at_thresholds": _counted(cell) for cell in CELLS},
    "precision_at_thresholds": _share("precision_at_thresholds", "false_positives"),
    "recall_at_thresholds": _share("recall_at_thresholds", "false_negatives"),
    "sensitivity_at_specificity": sensitivity_at_specificity,
    "specificity_at_sensitivity": specificity_at_sensitivity,
    "auc": auc,
}

"""Gradients of graphs beside differences: `compat.v1.test.compute_gradient`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.types.tensor import Array
from ...graph.graph import GraphTensor
from ...values.context import default_session, entered
from ..graph.flow import gradients
from ..graph.sessions import Session
from ..graph.state import placeholder


def compute_gradient(
    x: Any,
    x_shape: Sequence[Any],
    y: GraphTensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: object = None,
    extra_feed_dict: Mapping[object, object] | None = None,
) -> Any:
    """Return slopes [elements of x, elements of y], by gradients and by differences.

    Of a list of tensors: the list of pairs. The default session runs the graph.
    """
    session = default_session()
    if not isinstance(session, Session):
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        session.run(init_targets)
    several = isinstance(x, list)
    listed = x if several else [x]
    shapes = x_shape if several else [x_shape]
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(listed)
    values = {
        each: np.random.random_sample(shape).astype(each.dtype.as_numpy_dtype)
        if start is None
        else np.asarray(start, each.dtype.as_numpy_dtype)
        for each, shape, start in zip(listed, shapes, starts, strict=True)
    }
    feeds = {**(extra_feed_dict or {}), **values}
    found = [
        (_exact(session, each, y, y_shape, feeds), _differences(session, each, y, feeds, delta))
        for each in listed
    ]
    return found if several else found[0]


def compute_gradient_error(
    x: Any,
    x_shape: Sequence[Any],
    y: GraphTensor,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: object = None,
    extra_feed_dict: Mapping[object, object] | None = None,
) -> float:
    """Return by how much gradients and differences differ at most."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(x, list) else [found]
    return max(float(np.abs(a - b).max(initial=0)) for a, b in pairs)


def _exact(
    session: Session,
    x: GraphTensor,
    y: GraphTensor,
    shape: Sequence[int],
    feeds: Mapping[Any, Any],
) -> Array:
    """Return the slopes by gradients: each column is that of one element of y."""
    with entered(session.graph):
        weight = placeholder(y.dtype, shape)
        (slope,) = gradients(y, [x], grad_ys=[weight])
    size = feeds[x].size
    columns = []
    for at in range(int(np.prod(shape))):
        row = np.zeros(shape, feeds[x].dtype)
        row.ravel()[at] = 1
        made = None if slope is None else session.run(slope, {**feeds, weight: row})
        columns.append(np.zeros(size) if made is None else _dense(made, feeds[x].shape).ravel())
    return np.stack(columns, 1) if columns else np.zeros((size, 0))


def _dense(value: Any, shape: Sequence[int]) -> Array:
    """Return a gradient as an array, also if it is of slices."""
    if not hasattr(value, "indices"):
        return np.asarray(value)
    made = np.zeros(shape, value.values.dtype)
    np.add.at(made, value.indices, value.values)
    return made


def _differences(
    session: Session, x: GraphTensor, y: GraphTensor, feeds: Mapping[Any, Any], delta: float
) -> Array:
    """Return the slopes by differences: each row is that of one element of x."""
    rows = []
    for at in range(feeds[x].size):
        ends = []
        for sign in (1, -1):
            moved = feeds[x].copy()
            moved.ravel()[at] += sign * delta
            ends.append(np.ravel(session.run(y, {**feeds, x: moved})))
        rows.append((ends[0] - ends[1]) / (2 * delta))
    return np.stack(rows) if rows else np.zeros((0, int(np.prod(y.spec.static_shape))))

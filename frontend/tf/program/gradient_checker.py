"""Gradients of graphs beside differences: `compat.v1.test.compute_gradient`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from ....ir.types.tensor import Array
from ...graph.graph import GraphTensor
from ...values.context import default_session, entered
from ..graph.flow import gradients
from ..graph.sessions import Session
from ..graph.state import placeholder
from ..ops.indexed_slices import IndexedSlicesValue

Pair: TypeAlias = tuple[Array, Array]
Feeds: TypeAlias = Mapping[object, object]


def compute_gradient(
    x: GraphTensor | list[GraphTensor],
    x_shape: Sequence[object],
    y: GraphTensor,
    y_shape: Sequence[int],
    x_init_value: object = None,
    delta: float = 1e-3,
    init_targets: object = None,
    extra_feed_dict: Feeds | None = None,
) -> Pair | list[Pair]:
    """Return slopes [elements of x, elements of y], by gradients and by differences.

    Real and imaginary part of a complex number are two of them. Of a list of tensors: the
    list of pairs. The default session runs the graph.
    """
    session = default_session()
    if not isinstance(session, Session):
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        session.run(init_targets)
    listed = x if isinstance(x, list) else [x]
    shapes = x_shape if isinstance(x, list) else [x_shape]
    given = x_init_value if isinstance(x, list) and x_init_value is not None else None
    starts = list(given) if isinstance(given, Sequence) else [x_init_value] * len(listed)
    values = {
        each: _start(each, shape, start)
        for each, shape, start in zip(listed, shapes, starts, strict=True)
    }
    feeds: dict[object, object] = dict(extra_feed_dict or {})
    feeds.update(values.items())
    found = []
    for each, start in values.items():
        at = Point(session, each, start, feeds)
        found.append((at.exact(y, y_shape), at.differences(y, y_shape, delta)))
    return found if isinstance(x, list) else found[0]


def numbers(array: Array) -> Array:
    """Return the elements in one row: of complex ones, real and imaginary part in turn."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def check_empty(start: Array, slope: Array) -> None:
    """Raise unless the gradient of a result without elements is zeros of the shape of a start."""
    if start.shape != slope.shape:
        raise ValueError(
            f"Empty gradient has wrong shape: expected {start.shape}, got {slope.shape}"
        )
    if slope.any():
        raise ValueError("Empty tensor with nonzero gradients")


def _start(x: GraphTensor, shape: object, value: object) -> Array:
    """Return the elements at which slopes are wanted: by chance where none are given."""
    dtype = x.spec.dtype.numpy
    if value is None:
        sizes = np.ravel(np.asarray(shape, int)).tolist()
        made = np.random.random_sample(sizes).astype(dtype)
        if x.spec.dtype.kind == "c":
            made += (1j * np.random.random_sample(sizes)).astype(dtype)
        return made
    return np.array(value, dtype, order="C")


def compute_gradient_error(
    x: GraphTensor | list[GraphTensor],
    x_shape: Sequence[object],
    y: GraphTensor,
    y_shape: Sequence[int],
    x_init_value: object = None,
    delta: float = 1e-3,
    init_targets: object = None,
    extra_feed_dict: Feeds | None = None,
) -> float:
    """Return by how much gradients and differences differ at most."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(found, list) else [found]
    return max(float(np.abs(a - b).max(initial=0)) for a, b in pairs)


class Point:
    """Where a tensor is, and what runs its graph."""

    def __init__(self, session: Session, x: GraphTensor, start: Array, feeds: Feeds) -> None:
        self.session, self.x, self.start, self.feeds = session, x, start, feeds

    def exact(self, y: GraphTensor, shape: Sequence[int]) -> Array:
        """Return the slopes by gradients: each column is that of one number of y."""
        with entered(self.session.graph):
            weight = placeholder(y.spec.dtype, shape)
            (slope,) = gradients(y, [self.x], grad_ys=[weight])
        row = np.zeros(shape, y.spec.dtype.numpy)
        parts = numbers(self.start)
        made = np.zeros((parts.size, numbers(row).size), parts.dtype)
        if slope is not None and not row.size:
            found = self.session.run(slope, {**self.feeds, weight: row})
            if not isinstance(found, IndexedSlicesValue):
                check_empty(self.start, np.asarray(found))
        for at in range(numbers(row).size if slope is not None else 0):
            numbers(row)[at] = 1
            made[:, at] = self.dense(self.session.run(slope, {**self.feeds, weight: row}))
            numbers(row)[at] = 0
        return made

    def dense(self, value: object) -> Array:
        """Return a gradient as a vector, also if it is of slices."""
        if not isinstance(value, IndexedSlicesValue):
            return numbers(np.asarray(value))
        made = np.zeros_like(self.start)
        np.add.at(made, value.indices, value.values)
        return numbers(made)

    def differences(self, y: GraphTensor, shape: Sequence[int], delta: float) -> Array:
        """Return the slopes by differences: each row is that of one number of x."""
        count = prod(shape) * (2 if y.spec.dtype.kind == "c" else 1)
        made = np.zeros((numbers(self.start).size, count))
        for at in range(len(made)):
            for sign in (1, -1):
                moved = self.start.copy()
                numbers(moved)[at] += sign * delta
                found = np.asarray(self.session.run(y, {**self.feeds, self.x: moved}))
                made[at] += sign * numbers(found).astype(np.float64) / (2 * delta)
        return made.astype(numbers(self.start).dtype)

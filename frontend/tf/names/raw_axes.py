"""Along which axes the gradients of operands are summed that were broadcast."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types.tensor import TensorSpec
from ...graph.graph import GraphTensor, spec_with_unknowns
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.values import InGraph, graph_of, same, static
from ..ops.creation import constant

BroadcastGradientArgs = namedtuple("BroadcastGradientArgs", ["r0", "r1"])


def summed_axes(s0: Array, s1: Array) -> tuple[Array, Array]:
    """Return the axes that each of two shapes is made larger along; those of 1 in both, too.

    >>> [x.tolist() for x in summed_axes(np.array([3, 1, 1]), np.array([5, 1]))]
    [[1, 2], [0, 2]]
    """
    if np.array_equal(s0, s1):
        return s0[:0], s1[:0]
    rank = max(len(s0), len(s1))
    a, b = (np.concatenate([np.ones(rank - len(s), s.dtype), s]) for s in (s0, s1))
    if ((a != b) & (a != 1) & (b != 1)).any():
        raise InvalidArgumentError(
            f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()} [Op:BroadcastGradientArgs]"
        )
    first, second = (np.flatnonzero(x == 1).astype(s0.dtype) for x in (a, b))
    return first, second


def broadcast_gradient_args(
    s0: object, s1: object, name: str | None = None
) -> BroadcastGradientArgs:
    """Return the axes that gradients of operands of two shapes are summed along."""
    with InGraph(graph_of([s0, s1])):
        shapes = same(s0, s1)
        known = [static(x) for x in shapes]
        if not any(isinstance(x, GraphTensor) for x in known):
            dtype = shapes[0].dtype.as_numpy_dtype
            found = summed_axes(*(np.asarray(x, dtype).reshape(-1) for x in known))
            return BroadcastGradientArgs(*map(constant, found))

        def infer(specs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
            return [spec_with_unknowns(specs[0].dtype, [None]) for _ in specs]

        made: list[TfTensor] = host("BroadcastGradientArgs", summed_axes, shapes, infer, name=name)
        return BroadcastGradientArgs(*made)

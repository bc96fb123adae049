"""Accumulators of gradients by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...eager.tensor import Tensor
from ...graph.accumulator_ops import AccumulatorKind, AccumulatorSpec
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import entered
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.state import get_default_graph

_NUMBERS = count()


class ConditionalAccumulator:
    """A sum of gradients that is taken when there are enough; those of steps gone by are dropped.

    One of a `shared_name` is the same for all sessions of a task.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        if reduction_type.upper() not in ("MEAN", "SUM"):
            raise ValueError(f"reduction_type {reduction_type!r}, expected 'MEAN' or 'SUM'")
        self._graph: Graph = get_default_graph()
        self.dtype, self.name = as_dtype(dtype), f"{name}_{next(_NUMBERS)}"
        dims = None if shape is None else TensorShape(shape)._dims
        self._spec = AccumulatorSpec(
            self.name, self.dtype.row, dims, shared_name or "", reduction_type.upper()
        )
        self.device = ""
        """Where its operations run: with the first of them."""
        self._first: Operation | None = None

    def _add(self, what: str, values: Sequence[Tensor], name: str | None) -> Operation:
        with entered(self._graph):
            inputs = [self._graph.owned(x) for x in values]
            kind = AccumulatorKind(f"Accumulator{what}", self._spec)
            if self._first is None:
                self._first = self._graph.add(kind, inputs, name=name)
                return self._first
            with self._graph.beside(self._first):
                return self._graph.add(kind, inputs, name=name)

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Add a gradient, which was computed in a step."""
        given = [convert(local_step, "int64"), convert(grad, self.dtype)]
        return self._add("ApplyGradient", given, name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> GraphTensor:
        """Return the mean (or sum) of at least so many gradients; wait till there are."""
        return self._add("TakeGradient", [convert(num_required, "int32")], name).outputs[0]

    def num_accumulated(self, name: str | None = None) -> GraphTensor:
        """Return how many gradients there are."""
        return self._add("NumAccumulated", (), name).outputs[0]

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """Drop gradients of earlier steps from now on."""
        return self._add("SetGlobalStep", [convert(new_global_step, "int64")], name)

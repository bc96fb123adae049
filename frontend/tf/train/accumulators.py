"""Accumulators of gradients by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from ...eager.tensor import Tensor
from ...graph.accumulator_ops import AccumulatorKind, AccumulatorSpec
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import entered
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, dressed
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.state import get_default_graph
from ..ops.indexed_slices import IndexedSlices
from ..ops.math_ops import cast

_NUMBERS = count()


class ConditionalAccumulatorBase:
    """A sum of gradients that is taken when there are enough; those of steps gone by are dropped.

    One of a `shared_name` is the same for all sessions of a task.
    """

    NAME, TYPE = "conditional_accumulator", "ConditionalAccumulator"

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str | None = None,
        reduction_type: str = "MEAN",
    ) -> None:
        if reduction_type not in ("MEAN", "SUM"):
            raise ValueError(f"reduction_type {reduction_type!r}, expected 'MEAN' or 'SUM'")
        row = as_dtype(dtype).row
        if row.kind != "f":
            wrong = InvalidArgumentError if row.kind in "iuc" else TypeError
            raise wrong(f"an accumulator of {row.name}, expected a type of floating numbers")
        self._graph: Graph = get_default_graph()
        self.dtype, self.name = as_dtype(dtype), self._graph.unique_name(name or self.NAME)
        dims = None if shape is None else TensorShape(shape)._dims
        self._spec = AccumulatorSpec(
            f"_{next(_NUMBERS)}_{self.name}", self.dtype.row, dims, shared_name or "",
            reduction_type, self._graph.container_name,
        )  # fmt: skip
        kind = AccumulatorKind(self.TYPE, self._spec)
        self._op = self._graph.add(kind, [], name=f"{self.name}/")

    @property
    def accumulator_ref(self) -> GraphTensor:
        """Return what stands for it in its graph: all that uses it runs there."""
        return self._op.outputs[0]

    def _add(self, what: str, values: Sequence[Tensor], name: str | None) -> Operation:
        with entered(self._graph):
            inputs = [self._graph.owned(x) for x in values]
            with self._graph.beside(self._op):
                return self._graph.add(AccumulatorKind(what, self._spec), inputs, name=name)

    def num_accumulated(self, name: str | None = None) -> GraphTensor:
        """Return how many gradients there are."""
        return self._add("AccumulatorNumAccumulated", (), name).outputs[0]

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """Drop gradients of earlier steps from now on."""
        return self._add("AccumulatorSetGlobalStep", [cast(new_global_step, "int64")], name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """A sum of whole gradients."""

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Add a gradient, which was computed in a step."""
        given = [cast(local_step, "int64"), convert(grad, self.dtype)]
        if not TensorShape(given[1].shape).is_compatible_with(TensorShape(self._spec.shape)):
            raise ValueError(
                f"accumulator {self.name!r}: shapes {given[1].shape} and "
                f"{TensorShape(self._spec.shape)} are incompatible"
            )
        return self._add("AccumulatorApplyGradient", given, name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> GraphTensor:
        """Return the mean (or sum) of at least so many gradients; wait till there are."""
        return self._add("AccumulatorTakeGradient", [convert(num_required, "int32")], name).outputs[
            0
        ]


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """A sum of rows by their indices: each index has the mean of the gradients that had it.

    What is taken is in the order of the indices, each of them once.
    """

    NAME, TYPE = "sparse_conditional_accumulator", "SparseConditionalAccumulator"

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """Add rows of a gradient, which was computed in a step."""
        given = [cast(local_step, "int64"), cast(grad_indices, "int64")]
        whole: TensorLike = np.zeros(0, np.int64) if grad_shape is None else grad_shape
        values = [convert(grad_values, self.dtype), cast(whole, "int64")]
        return self._add("SparseAccumulatorApplyGradient", [*given, *values], name)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Add slices of a gradient, which were computed in a step."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> list[TfTensor]:
        """Return indices, rows and shape of at least so many gradients; wait till there are."""
        wanted = [convert(num_required, "int32")]
        return [
            dressed(x) for x in self._add("SparseAccumulatorTakeGradient", wanted, name).outputs
        ]

    def take_indexed_slices_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> IndexedSlices:
        """Return slices of at least so many gradients; wait till there are."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)

"""Accumulators of gradients by TensorFlow's names, and the optimiser that waits for replicas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...graph.accumulator_ops import AccumulatorKind, AccumulatorSpec
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import entered
from ...values.dtypes import DTypeLike, as_dtype
from ...values.given import TensorLike
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.graph_lists import LOCAL
from ..graph.queues import FIFOQueue
from ..graph.state import Variable, get_default_graph, group
from ..ops.creation import fill
from .coordinator import QueueRunner

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


class SyncReplicasOptimizer:
    """Changes variables by the mean of the first gradients of a step; replicas wait for it.

    Of `total_num_replicas`, `replicas_to_aggregate` are waited for: the others are backups.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        self._opt, self._wanted = opt, replicas_to_aggregate
        self._total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._tokens = max(self._total, self._wanted)
        self._name = name
        self._runner: QueueRunner | None = None
        self._queue: FIFOQueue | None = None
        self._step: Variable | None = None
        self.local_step_init_op: object = None

    def compute_gradients(
        self, *args: object, **kwargs: object
    ) -> list[tuple[Tensor | None, Variable]]:
        """Return pairs of gradient and variable."""
        found: list[tuple[Tensor | None, Variable]] = self._opt.compute_gradients(*args, **kwargs)
        return found

    def minimize(
        self, loss: Tensor, global_step: Variable | None = None, var_list: object = None
    ) -> Operation | None:
        """Make one step downhill, together with the other replicas."""
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Tensor | None, Variable]],
        global_step: Variable | None = None,
    ) -> Operation | None:
        """Give gradients; return what waits until the variables were changed."""
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        graph = pairs[0][1].graph or get_default_graph()
        self._step = global_step
        with entered(graph):
            local = Variable(
                np.int64(0), trainable=False, name="sync_rep_local_step", collections=[LOCAL]
            )
            self.local_step_init_op = local.assign(convert(global_step, "int64"))
            given, taken = [], []
            for number, (grad, variable) in enumerate(pairs):
                with graph.beside(variable.op):
                    shared = f"{variable.state.name}/grad_accum"
                    kept = ConditionalAccumulator(
                        variable.dtype, variable.shape, shared, f"{self._name}_{number}"
                    )
                    given.append(kept.apply_grad(grad, local.read_value()))
                    taken.append((kept.take_grad(self._wanted), variable))
            with graph.beside(global_step.op):
                self._queue = FIFOQueue(
                    -1, "int64", shapes=[[]], shared_name=f"{self._name}_token_q"
                )
                with graph.control_dependencies(given):
                    token = self._queue.dequeue()
            train = local.assign(token)
            changed = self._opt.apply_gradients(taken, global_step)
            with graph.beside(global_step.op), graph.control_dependencies([changed]):
                told = fill([self._tokens], convert(global_step.read_value(), "int64"))
                self._runner = QueueRunner(self._queue, [self._queue.enqueue_many([told])])
            return group(train)

    def get_chief_queue_runner(self) -> QueueRunner:
        """Return what the chief runs: it takes gradients, and tells replicas of the next step."""
        if self._runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation | None:
        """Return what lets so many replicas begin beyond the gradients that are waited for."""
        if self._queue is None or self._step is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        wanted = self._total - self._wanted if num_tokens == -1 else num_tokens
        graph = self._step.graph or get_default_graph()
        with entered(graph), graph.beside(self._step.op):
            if wanted <= 0:
                return group()
            return self._queue.enqueue_many(
                [fill([wanted], convert(self._step.read_value(), "int64"))]
            )

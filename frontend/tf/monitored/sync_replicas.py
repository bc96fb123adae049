"""The optimiser that waits for the gradients of replicas, and what starts it in a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...graph.graph import GraphTensor, Operation
from ...values.context import entered
from ..graph.graph_lists import LOCAL, global_variables
from ..graph.queues import FIFOQueue
from ..graph.sessions import Session
from ..graph.state import Variable, get_default_graph, group
from ..ops.creation import fill
from ..ops.indexed_slices import IndexedSlices
from ..ops.math_ops import cast
from ..train.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from ..train.averages import ExponentialMovingAverage
from ..train.coordinator import Coordinator, QueueRunner
from ..train.reports import report_uninitialized_variables
from .hooks import SessionRunHook


class SyncReplicasOptimizer:
    """Changes variables by the mean of the first gradients of a step; replicas wait for it.

    Of `total_num_replicas`, `replicas_to_aggregate` are waited for: the others are backups.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        self._averages, self._averaged = variable_averages, variables_to_average
        self._opt, self._wanted = opt, replicas_to_aggregate
        self._total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._tokens = max(self._total, self._wanted)
        self._name = name
        self._runner: QueueRunner | None = None
        self._queue: FIFOQueue | None = None
        self._step: Variable | None = None
        self._kept: list[ConditionalAccumulatorBase] = []
        self.local_step_init_op: Operation | None = None
        """Lets a replica begin with the step that all are at."""
        self.chief_init_op: Operation | None = None
        """Lets the chief begin so, and drops gradients of earlier steps."""
        self.ready_for_local_init_op: GraphTensor | None = None
        """The names of global variables that have no value."""

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
        name: str | None = None,
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
            self.local_step_init_op = local.assign(cast(global_step, "int64"))
            given, taken = [], []
            for number, (grad, variable) in enumerate(pairs):
                with graph.beside(variable.op):
                    shared = f"{variable.state.name}/grad_accum"
                    kept, give = self._accumulated(
                        variable, grad, local.read_value(), (shared, f"{self._name}_{number}")
                    )
                    self._kept.append(kept)
                    given.append(give)
                    taken.append((take(kept, self._wanted), variable))
            now = cast(global_step, "int64")
            drop = [kept.set_global_step(now) for kept in self._kept]
            self.chief_init_op = group(self.local_step_init_op, *drop)
            with graph.beside(global_step.op):
                self._queue = FIFOQueue(
                    -1, "int64", shapes=[[]], shared_name=f"{self._name}_token_q"
                )
                with graph.control_dependencies(given):
                    token = self._queue.dequeue()
            train = local.assign(token)
            changed = self._opt.apply_gradients(taken, global_step)
            if self._averages is not None:
                with graph.control_dependencies([changed]):
                    changed = self._averages.apply(self._averaged)
            self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
            with graph.beside(global_step.op), graph.control_dependencies([changed]):
                told = fill([self._tokens], cast(global_step.read_value(), "int64"))
                self._runner = QueueRunner(self._queue, [self._queue.enqueue_many([told])])
                self._runner.endless = True  # (behind the last step nobody gives gradients)
            return group(train)

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return what the optimiser keeps for a variable under a name."""
        found: Variable | None = self._opt.get_slot(var, name)
        return found

    def get_slot_names(self) -> list[str]:
        """Return the names of what the optimiser keeps for each variable."""
        found: list[str] = self._opt.get_slot_names()
        return found

    def variables(self) -> list[Variable]:
        """Return what the optimiser keeps."""
        found: list[Variable] = self._opt.variables()
        return found

    @staticmethod
    def _accumulated(
        variable: Variable, grad: Tensor | IndexedSlices, step: Tensor, names: tuple[str, str]
    ) -> tuple[ConditionalAccumulatorBase, Operation]:
        """Return what adds up the gradients of a variable, and what gives it one."""
        if isinstance(grad, IndexedSlices):
            rows = SparseConditionalAccumulator(variable.dtype, variable.shape, *names)
            return rows, rows.apply_indexed_slices_grad(grad, step)
        whole = ConditionalAccumulator(variable.dtype, variable.shape, *names)
        return whole, whole.apply_grad(grad, step)

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SyncReplicasHook:
        """Return what makes a monitored session ready to train together with others."""
        return SyncReplicasHook(self, is_chief, num_tokens)

    def get_chief_queue_runner(self) -> QueueRunner:
        """Return what the chief runs: it takes gradients, and tells replicas of the next step."""
        if self._runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation | None:
        """Return what lets replicas give so many more gradients than one each in the first step.

        By default as many as are waited for, or as there are replicas beyond that.
        """
        if self._queue is None or self._step is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._wanted - self._total
        wanted = abs(needed) if num_tokens == -1 else num_tokens
        if wanted < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {wanted} (given) vs {needed} (needed)"
            )
        graph = self._step.graph or get_default_graph()
        with entered(graph), graph.beside(self._step.op):
            if wanted <= 0:
                return group()
            return self._queue.enqueue_many(
                [fill([wanted], cast(self._step.read_value(), "int64"))]
            )


def take(kept: ConditionalAccumulatorBase, wanted: int) -> GraphTensor | IndexedSlices:
    """Return the mean of so many gradients."""
    if isinstance(kept, SparseConditionalAccumulator):
        return kept.take_indexed_slices_grad(wanted)
    assert isinstance(kept, ConditionalAccumulator), "there are two kinds"
    return kept.take_grad(wanted)


class SyncReplicasHook(SessionRunHook):
    """Starts a replica at the step that all are at; the chief gives out the first tokens."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer, self._is_chief, self._tokens = optimizer, is_chief, num_tokens
        self._init: Operation | None = None
        self._first: Operation | None = None

    def begin(self) -> None:
        """Add what the session is to run at first."""
        optimizer = self._optimizer
        if optimizer.local_step_init_op is None:
            raise ValueError(
                "apply_gradient should be called before the hook of make_session_run_hook begins"
            )
        self._init = optimizer.local_step_init_op
        if self._is_chief:
            self._init = optimizer.chief_init_op
            self._first = optimizer.get_init_tokens_op(self._tokens)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Start from the present step; at the chief let the others go on as steps end."""
        session.run(self._init)
        if self._is_chief:
            session.run(self._first)
            runner = self._optimizer.get_chief_queue_runner()
            runner.create_threads(session, coord=coord, daemon=True, start=True)

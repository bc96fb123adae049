"""Keras's steps on several replicas, in a process or in many: each takes its rows of every batch.

All ranks go over the same batches, in the same order. A replica's loss counts as its rows do, so
that the sum of all gradients is the gradient of the whole batch. What a step adds to the state of
metrics is added up, and so is, by its part in the batch, what it changes of other state (moving
averages): behind each step all ranks have the same variables and the same logs. What is predicted
is computed in equal parts by the ranks, and collected, so that each has the rows of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.callbacks import (
    BackupAndRestore,
    Callback,
    CSVLogger,
    ModelCheckpoint,
    TensorBoard,
)
from keras.src.metrics import Metric

from ...ir.types.tensor import Array
from ..distributed import collectives
from ..eager.tensor import Tensor
from ..tf.distribute.replicas import ReplicaContext, mapped, regrouped
from ..tf.distribute.strategy import Strategy
from ..tf.ops.gathering import gather
from ..values.context import STATE
from .backend.core import LayerVariable
from .backend.tensors import cast, convert_to_tensor, shape

Tree: TypeAlias = object


class Trained(Protocol):
    """What a step needs to know of its model."""

    metrics: Sequence[Metric]
    non_trainable_variables: Sequence[LayerVariable]

    def get_metrics_result(self) -> Mapping[str, object]:
        """Return what the metrics say."""


class Shares:
    """Which part of each batch each replica has, of a model that was made under a strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.rank, self.ranks = strategy.comm.rank, strategy.comm.size
        self.weights: dict[int, Tensor] = {}
        """By replica of this process: its part of all rows, in a step that is being made."""

    @contextmanager
    def of(self, weight: Tensor) -> Iterator[None]:
        """Let the losses of the replica that runs count by a weight."""
        number = running()
        self.weights[number] = weight
        try:
            yield
        finally:
            del self.weights[number]

    @property
    def weight(self) -> Tensor | None:
        """Return by what the losses of the replica that runs count."""
        return self.weights.get(running())

    def weighed(self, loss: Tensor) -> Tensor:
        """Return a loss as it counts among those of all replicas."""
        weight = self.weight
        return loss if weight is None else loss * weight

    def plain(self, loss: Tensor) -> Tensor:
        """Return the loss that was weighed."""
        weight = self.weight
        return loss if weight is None else loss / weight

    def rows(self, data: Tree) -> tuple[Tree, Tree, Tree]:
        """Return the rows of a batch that each replica of this process has, each one's part.

        Third, how much each one's metrics count: where there are fewer rows than replicas, each
        takes all of them, for a part of the sum.
        """
        numbers = range(len(self.strategy.devices))
        found = [self.rows_of(data, self.strategy.first_replica + number) for number in numbers]
        mine, weights, times = (regrouped(list(column)) for column in zip(*found, strict=True))
        return mine, weights, times

    def rows_of(self, data: Tree, replica: int) -> tuple[Tree, Tensor, Tensor]:
        """Return a replica's rows of a batch, their part in it, and how much metrics count."""
        first = next(each for each in tree.flatten(data) if each is not None)
        count, every = int(shape(first)[0]), self.strategy.num_replicas_in_sync
        start, stop = (count * n // every for n in (replica, replica + 1))
        part, times = (stop - start) / count, 1.0
        if count < every:
            start, stop, part, times = 0, count, 1 / every, 1 / every
        mine = tree.map_structure(
            lambda x: None if x is None else convert_to_tensor(x[start:stop]), data
        )
        return mine, convert_to_tensor(np.float32(part)), convert_to_tensor(np.float32(times))

    def even(self, data: Tree) -> tuple[Tree, Array]:
        """Return as many rows as any rank has, and which of all of them make the whole batch.

        Where the rows cannot be shared out evenly, neighbours have some in common.
        """
        first = next(each for each in tree.flatten(data) if each is not None)
        count = int(shape(first)[0])
        each = -(-count // self.ranks)
        starts = [min(n * each, count - each) for n in range(self.ranks)]
        start = starts[self.rank]
        mine = tree.map_structure(lambda x: None if x is None else x[start : start + each], data)
        of_rank = [min(row // each, self.ranks - 1) for row in range(count)]
        return mine, np.array([n * each + row - starts[n] for row, n in enumerate(of_rank)])

    def callbacks(self, given: Tree) -> Tree:
        """Return what listens to this rank: files are written by the first one only.

        What all ranks begin again from is read by each.
        """
        if self.rank == 0 or not given:
            return given
        return [
            Restoring(each) if isinstance(each, BackupAndRestore) else each
            for each in tree.flatten(given)
            if not isinstance(each, ModelCheckpoint | CSVLogger | TensorBoard)
        ]

    def meet(self, where: str) -> None:
        """Wait for the other ranks: what the first one has written is there for all."""
        self.strategy.comm.exchange(None, where)

    def agree(self) -> None:
        """Let the orders of rows that are drawn from now on be those of the first rank."""
        state = np.random.get_state()  # (what Keras's own data sets draw by)
        np.random.set_state(self.strategy.comm.exchange(state, "the order of rows")[0])

    def agreed(self, order: list[Array]) -> list[Array]:
        """Return the first rank's order of rows."""
        found: list[Array] = self.strategy.comm.exchange(order, "the order of rows")[0]
        return found


class Restoring(Callback):
    """What a rank that writes nothing does of `BackupAndRestore`."""

    def __init__(self, whole: BackupAndRestore) -> None:
        super().__init__()
        self.whole = whole

    def on_train_begin(self, logs: Tree = None) -> None:
        """Begin again from what the first rank has written, if it has."""
        self.whole.set_model(self.model)
        self.whole.on_train_begin(logs)


def running() -> int:
    """Return the number of the replica of this process that runs; -1 between them."""
    return STATE.replica.number if isinstance(STATE.replica, ReplicaContext) else -1


def over_replicas(
    model: Trained, shares: Shares, step: Callable[[Tree], Tree]
) -> Callable[..., Tree]:
    """Return a step of all replicas: it takes their rows, their weights, and those of metrics."""

    def whole(data: Tree, weight: Tree, times: Tree) -> Tree:
        counted = [v for metric in model.metrics for v in metric.variables]
        kept = {id(v) for v in counted}
        other = [v for v in model.non_trainable_variables if id(v) not in kept]
        rows = [(v, times) for v in counted if not is_own(v)] + [(v, weight) for v in other]
        weights = {v.state: by for v, by in rows if "float" in v.dtype}

        def mine(data: Tree, weight: Tensor, times: Tensor) -> Tree:
            own = [v for v in counted if is_own(v) and "float" in v.dtype]
            held = [convert_to_tensor(v) + 0.0 for v in own]
            with shares.of(weight):
                logs = step(data)
            for v, old in zip(own, held, strict=True):
                v.assign(old + (convert_to_tensor(v) - old) * cast(times, v.dtype))
            return logs

        with shares.strategy.weighing(weights):
            logs = shares.strategy.run(mine, (data, weight, times))
        return told(model, logs, shares.strategy, weight)

    return whole


def is_own(variable: KerasVariable) -> bool:
    """Say whether each rank has a value of its own, which are added up when they are read."""
    return isinstance(variable, LayerVariable) and variable.spread is not None


def predicted(shares: Shares, step: Callable[[Tree], Tree]) -> Callable[..., Tree]:
    """Return a step that gives what all ranks predict: it takes a rank's rows, and which count."""

    def whole(data: Tree, wanted: Tensor) -> Tree:
        rows = next(shape(each)[0] for each in tree.flatten(data) if each is not None)

        def collected(made: Tensor) -> Tensor:
            dims = made.spec.shape
            if dims is not None and (not dims or (isinstance(dims[0], int) and dims[0] != rows)):
                raise ValueError(
                    f"a prediction of shape {made.shape} for {rows} rows, expected a row for each: "
                    "ranks share the rows of a batch (`predict_step` says what they make of them)"
                )
            return gather(collectives.all_gather(made), wanted)

        return tree.map_structure(collected, step(data))

    return whole


def told(model: Trained, logs: Tree, strategy: Strategy, weight: Tree) -> Tree:
    """Return what a step tells: metrics of all replicas, and means of what else there is."""
    metrics = model.get_metrics_result()
    if isinstance(logs, Mapping) and logs.keys() == metrics.keys():
        return metrics
    return mapped(lambda x: strategy.weighed(x, weight), logs)

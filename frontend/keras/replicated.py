"""Keras's steps over several ranks: each takes its rows of every batch.

All ranks go over the same batches, in the same order. A rank's loss counts as its rows do, so that
the sum of all gradients is the gradient of the whole batch. What a step adds to the state of
metrics is added up, and so is, by its part in the batch, what it changes of other state (moving
averages): behind each step all ranks have the same variables and the same logs. What is predicted
is computed in equal parts, and collected, so that each rank has the rows of all.
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
from ..tf.distribute.strategy import Strategy
from ..tf.ops.gathering import gather
from .backend.core import LayerVariable
from .backend.tensors import cast, convert_to_tensor, shape

Tree: TypeAlias = object


class Trained(Protocol):
    """What a step needs to know of its model."""

    metrics: Sequence[Metric]
    non_trainable_variables: Sequence[KerasVariable]

    def get_metrics_result(self) -> Mapping[str, object]:
        """Return what the metrics say."""


class Shares:
    """Which part of each batch this rank has, of a model that was made under a strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.rank, self.ranks = strategy.comm.rank, strategy.comm.size
        self.weight: Tensor | None = None
        """The part of the rows of this rank among all, in a step that is being made."""

    @contextmanager
    def of(self, weight: Tensor) -> Iterator[None]:
        """Let losses count by a weight."""
        before, self.weight = self.weight, weight
        try:
            yield
        finally:
            self.weight = before

    def weighed(self, loss: Tensor) -> Tensor:
        """Return a loss as it counts among those of all ranks."""
        return loss if self.weight is None else loss * self.weight

    def plain(self, loss: Tensor) -> Tensor:
        """Return the loss that was weighed."""
        return loss if self.weight is None else loss / self.weight

    def rows(self, data: Tree) -> tuple[Tree, np.float32, np.float32]:
        """Return this rank's rows of a batch, their part in it, and how much metrics count.

        Where there are fewer rows than ranks, each takes all of them, for a part of the sum.
        """
        first = next(each for each in tree.flatten(data) if each is not None)
        count = int(shape(first)[0])
        if count < self.ranks:
            part = np.float32(1 / self.ranks)
            return data, part, part
        start, stop = (count * n // self.ranks for n in (self.rank, self.rank + 1))
        mine = tree.map_structure(lambda x: None if x is None else x[start:stop], data)
        return mine, np.float32((stop - start) / count), np.float32(1)

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
        state = np.random.get_state()  # (what Keras's iterators draw by)
        np.random.set_state(self.strategy.comm.exchange(state, "the order of rows")[0])


class Restoring(Callback):
    """What a rank that writes nothing does of `BackupAndRestore`."""

    def __init__(self, whole: BackupAndRestore) -> None:
        super().__init__()
        self.whole = whole

    def on_train_begin(self, logs: Tree = None) -> None:
        """Begin again from what the first rank has written, if it has."""
        self.whole.set_model(self.model)
        self.whole.on_train_begin(logs)


def over_ranks(model: Trained, shares: Shares, step: Callable[[Tree], Tree]) -> Callable[..., Tree]:
    """Return a step of all ranks: it takes a rank's rows, their weight, and that of metrics."""

    def whole(data: Tree, weight: Tensor, times: Tensor) -> Tree:
        counted = [v for metric in model.metrics for v in metric.variables]
        kept = {id(v) for v in counted}
        other = [v for v in model.non_trainable_variables if id(v) not in kept]
        rows = [(v, times) for v in counted if not is_own(v)] + [(v, weight) for v in other]
        rows = [(v, by) for v, by in rows if "float" in v.dtype]
        before = [convert_to_tensor(v) + 0.0 for v, _ in rows]

        def mine(data: Tree) -> Tree:
            own = [v for v in counted if is_own(v) and "float" in v.dtype]
            held = [convert_to_tensor(v) + 0.0 for v in own]
            logs = step(data)
            for v, old in zip(own, held, strict=True):
                v.assign(old + (convert_to_tensor(v) - old) * cast(times, v.dtype))
            return logs

        with shares.of(weight):
            logs = shares.strategy.run(mine, (data,))
        together(rows, before)
        return told(model, logs, weight)

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


def together(rows: Sequence[tuple[KerasVariable, Tensor]], before: Sequence[Tensor]) -> None:
    """Let variables have the changes of all ranks, each as much as it counts."""
    changes = [
        collectives.all_reduce((convert_to_tensor(v) - old) * cast(by, v.dtype))
        for (v, by), old in zip(rows, before, strict=True)
    ]
    for (v, _), old, change in zip(rows, before, changes, strict=True):
        v.assign(old + change)


def told(model: Trained, logs: Tree, weight: Tensor) -> Tree:
    """Return what a step tells: metrics of all ranks, and means of what else there is."""
    metrics = model.get_metrics_result()
    if isinstance(logs, Mapping) and logs.keys() == metrics.keys():
        return metrics
    return tree.map_structure(
        lambda x: collectives.all_reduce(convert_to_tensor(x) * cast(weight, x.dtype)), logs
    )

"""Strategies: which replicas there are, and how their values become one.

    strategy = tf.distribute.MultiWorkerMirroredStrategy()     # under `gravure launch -n 4`
    with strategy.scope():
        w = tf.Variable(...)                                   # the value of rank 0, on all
    for batch in strategy.experimental_distribute_dataset(dataset):
        losses = strategy.run(step, (batch,))

With `replicas=8, ordered=True` there are eight replicas, whatever the number of ranks, and sums
over them are made in their order: training gives the same weights, bit for bit, on 1, 2, 4 and 8
ranks. Without, sums are made in the order that MPI likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from ....ir.op import Array
from ....runtime.comm import protocol
from ....runtime.comm.local import alone
from ....runtime.comm.world import world
from ...distributed import collectives
from ...function.function import Function, Settings
from ...function.variable import Variable
from ...graph.func_graph import FuncGraph
from ...graph.variables import VariableState
from ...values import nest
from ...values.context import STATE
from ...values.devices import MACHINE, processors
from ...values.run_errors import UnimplementedError
from ..core.bridge import TfTensor, dressed
from ..core.creators import VariableAggregation
from ..core.names import device
from ..core.shapes import TensorShape
from ..core.values import convert
from ..draws.generator import Generator
from ..graph.state import TfFunction
from ..ops.math_ops import REDUCTIONS, cast
from ..runs.seeds import Seeds
from .cluster import cluster_of
from .extended import StrategyExtended
from .inputs import DistributedDataset, InputContext
from .lockstep import Lockstep
from .on_read import OnRead, of_each
from .options import CommunicationOptions, CrossDeviceOps
from .positions import DrawsState
from .replicas import (
    CONTEXTS,
    PerReplica,
    ReduceOp,
    ReplicaContext,
    being,
    chosen,
    is_zero,
    joined,
    local_sum,
    mapped,
    one_value,
    over_ranks,
    regrouped,
)
from .scopes import StrategyScope


class InReplica:
    """What variables are made in while a replica runs: they are its strategy's, too."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    def first(self, array: Array) -> Array:
        """Return the value that a variable begins with: the replica's own."""
        return array

    def spread(
        self, variable: object, synchronization: object, aggregation: object
    ) -> OnRead | None:
        """Return the values that replicas have of a variable; None if they share one."""
        return self.strategy.spread(variable, synchronization, aggregation)


class Strategy(StrategyExtended):
    """Replicas of this process and of others, which make each step together."""

    def __init__(
        self, devices: Sequence[str], comm: protocol.Comm, *, ordered: bool = False
    ) -> None:
        self.devices, self.comm, self.ordered = list(devices), comm, ordered
        if ordered:
            Seeds.ordered.add(self)
        self.steps = 0
        self.made = WeakSet()
        self.wholes: WeakKeyDictionary[Function, Function] = WeakKeyDictionary()
        """Functions that run one on all replicas in one trace."""
        self.weights: Mapping[VariableState, object] = {}
        """By variable: how much what replicas of this process assign to it counts."""

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, in all processes."""
        return len(self.devices) * self.comm.size

    @property
    def first_replica(self) -> int:
        """Return the number of the first replica of this process."""
        return len(self.devices) * self.comm.rank

    @property
    def extended(self) -> Strategy:
        """Return what has the further functions: here they are the strategy's."""
        return self

    def scope(self) -> StrategyScope[Strategy]:
        """Let variables be made that all replicas have; on every rank with the value of rank 0."""
        return StrategyScope(self)

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what a checkpoint keeps: how far replicas have drawn, where all is in order."""
        return {"DRAWS": DrawsState(self)} if self.ordered else {}

    def first(self, array: Any) -> Any:
        """Return the value that a variable begins with: that of the first rank."""
        return protocol.broadcast(self.comm, array) if self.comm.size > 1 else array

    def spread(
        self, variable: object, synchronization: object, aggregation: object
    ) -> OnRead | None:
        """Return the values that replicas have of a variable; None if they share one."""
        assert isinstance(variable, Variable), "only variables are spread"
        self.made.add(variable.state)
        return of_each(self, variable, synchronization, aggregation)

    def run(
        self, fn: Callable[..., object], args: Any = (), kwargs: Any = None, options: object = None
    ) -> object:
        """Call a function on each replica, with its part of values that replicas have."""
        if CONTEXTS.replica is not None:
            raise RuntimeError("a replica is running: `run` is called between the replicas")
        if isinstance(fn, Function) and not Settings.run_eagerly:
            if STATE.context is None:
                return self._whole(fn)(tuple(args), dict(kwargs or {}))
            fn = fn.to_trace()
        steps = Lockstep(len(self.devices))
        self.steps += 1
        graph = STATE.context
        while self.ordered and isinstance(graph, FuncGraph):
            graph.is_exact = True  # so that steps behind a restart are as all others are
            graph = graph.outer

        def replica(number: int) -> Callable[[], object]:
            context = ReplicaContext(self, number, steps)
            given, named = chosen(tuple(args), number), chosen(dict(kwargs or {}), number)

            def call() -> object:
                with self._entered(context), device(self.devices[number]):
                    return fn(*given, **named)

            return call

        with protocol.in_step(self.steps):
            made = steps.run([replica(n) for n in range(len(self.devices))])
            return regrouped(made, apart=False)

    def _whole(self, fn: Function) -> Function:
        """Return what runs a function on all replicas, in one trace: there they can meet."""
        if fn not in self.wholes:
            inner = fn.to_trace()
            self.wholes[fn] = TfFunction(lambda args, kwargs: self.run(inner, args, kwargs))
        return self.wholes[fn]

    @contextmanager
    def _entered(self, context: ReplicaContext) -> Iterator[None]:
        CONTEXTS.strategies.append(self)
        before, STATE.creating = STATE.creating, STATE.creating or InReplica(self)
        try:
            with being(context):
                yield
        finally:
            STATE.creating = before
            CONTEXTS.strategies.pop()

    @contextmanager
    def weighing(self, weights: Mapping[VariableState, object]) -> Iterator[None]:
        """Let variables change by the sums of replicas' changes, each as much as it counts."""
        before, self.weights = self.weights, weights
        try:
            yield
        finally:
            self.weights = before

    def weighed(self, value: object, weight: object) -> TfTensor:
        """Return the sum of all replicas' values, each as much as it counts."""
        parts = [
            convert(chosen(value, n)) * cast(chosen(weight, n), convert(chosen(value, n)).dtype)
            for n in range(len(self.devices))
        ]
        total: TfTensor
        [total] = self.reduced(ReduceOp.SUM, [PerReplica(parts) if len(parts) > 1 else parts[0]])
        return total

    def rows_of_all(self, variable: Any, columns: Sequence[object]) -> Sequence[object]:
        """Return the indices and the slices of all replicas behind each other; each counts."""
        count = len(self.devices)
        indices, updates = [[convert(chosen(x, n)) for n in range(count)] for x in columns]
        if (weight := self.weights.get(variable.state)) is not None:
            updates = [x * cast(chosen(weight, n), x.dtype) for n, x in enumerate(updates)]
        elif variable.aggregation is VariableAggregation.MEAN:
            updates = [x / convert(self.num_replicas_in_sync, x.dtype) for x in updates]
        return [self.gather(PerReplica(x), 0) for x in (indices, updates)]

    def reduced(self, way: ReduceOp, values: Sequence[object]) -> list[Any]:
        """Return sums or means of values over the replicas of all processes."""
        totals = [self._ordered(x) if self.ordered else self._total(x) for x in values]
        if way is ReduceOp.SUM:
            return totals
        return [x / convert(self.num_replicas_in_sync, x.dtype) for x in totals]

    def _total(self, value: object) -> TfTensor:
        return over_ranks(local_sum(value), self.comm)

    def _ordered(self, value: object) -> TfTensor:
        parts = value.values if isinstance(value, PerReplica) else (value,)
        parts = parts * len(self.devices) if len(parts) == 1 else parts
        return dressed(collectives.ordered_sum(parts)) if self.comm.size > 1 else local_sum(value)

    def reduce(self, reduce_op: object, value: object, axis: object = None) -> object:
        """Return what the replicas' values add up to, or their mean; over an axis too, if given."""
        way = ReduceOp.of(reduce_op)
        if CONTEXTS.replica is not None:
            raise RuntimeError("a replica is running: `reduce` is called between the replicas")
        return mapped(lambda x: self._reduced(way, x, axis), value)

    def _reduced(self, way: ReduceOp, value: object, axis: Any) -> object:
        count = len(self.devices)
        if isinstance(value, Variable) and value.spread is not None:
            value = PerReplica(value.spread.values(value))
        if not isinstance(value, PerReplica) and axis is None and count > 1:
            if way is ReduceOp.SUM and not is_zero(value):
                raise one_value(value, count)
            return np.zeros_like(value) if way is ReduceOp.SUM else value
        parts = [convert(x) for x in (value.values if isinstance(value, PerReplica) else (value,))]
        if axis is None:
            return self.reduced(way, [PerReplica(parts) if len(parts) > 1 else parts[0]])[0]
        parts *= count if len(parts) == 1 else 1  # (each replica has all of it)
        sums = [REDUCTIONS["reduce_sum"](part, axis) for part in parts]
        [total] = self.reduced(ReduceOp.SUM, [PerReplica(sums) if len(sums) > 1 else sums[0]])
        if way is ReduceOp.SUM:
            return total
        axes = axis if isinstance(axis, list | tuple) else [axis]
        sizes = [TensorShape(part.shape).known() for part in parts]
        rows = np.int64(sum(prod([dims[each] for each in axes]) for dims in sizes))
        every = int(self.comm.all_reduce(np.asarray(rows))) if self.comm.size > 1 else int(rows)
        return total / convert(every, total.dtype)

    def gather(self, value: object, axis: int) -> object:
        """Return the values of all replicas behind each other, on an axis."""
        return joined(value, axis, self.comm)

    def experimental_local_results(self, value: object) -> Sequence[object]:
        """Return the values of this process's replicas: of what is nested, a structure of each."""
        if isinstance(value, Variable) and value.spread is not None:
            return value.spread.values(value)
        if isinstance(value, PerReplica):
            return value.values
        if nest.is_nested(value):
            return [chosen(value, number) for number in range(len(self.devices))]
        return (value,)

    unwrap = experimental_local_results

    def group(self, value: object, name: object = None) -> Sequence[object]:
        """Return the values of this process's replicas: they are computed."""
        return self.experimental_local_results(value)

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[..., object]
    ) -> object:
        """Return what a function gives for each replica of this process."""
        contexts = [ReplicaContext(self, n, Lockstep(1)) for n in range(len(self.devices))]
        return regrouped([value_fn(context) for context in contexts])

    def experimental_distribute_dataset(
        self, dataset: object, options: object = None
    ) -> DistributedDataset:
        """Return a dataset of global batches as one of this process's parts of them."""
        return DistributedDataset(self, dataset)

    def distribute_datasets_from_function(
        self, dataset_fn: Any, options: object = None
    ) -> DistributedDataset:
        """Return what a function makes for this rank: a dataset of batches of one replica."""
        made = dataset_fn(InputContext(self))
        return DistributedDataset(self, made, split=False)


class DefaultStrategy(Strategy):
    """What there is outside of all scopes: one replica."""

    def __init__(self) -> None:
        super().__init__([processors(1)[0]], alone())


class OneDeviceStrategy(Strategy):
    """One replica on a device."""

    def __init__(self, device: str) -> None:  # (TensorFlow's name of the argument)
        super().__init__([str(device)], alone())

    def scope(self) -> StrategyScope[Strategy]:
        """Let variables be made on the device."""
        return StrategyScope(self, self.devices[0])


class MirroredStrategy(Strategy):
    """A replica on each device of this process."""

    def __init__(
        self, devices: Sequence[str] | None = None, cross_device_ops: object = None
    ) -> None:
        if not isinstance(cross_device_ops, CrossDeviceOps | None):
            raise TypeError(
                f"cross_device_ops is a {type(cross_device_ops).__name__}, expected a "
                "tf.distribute.CrossDeviceOps"
            )
        found = list(devices) if devices else processors(MACHINE.processors)
        if not found or len(set(found)) < len(found):
            raise ValueError(f"devices {found}, expected different ones")
        super().__init__(found, alone())


class CentralStorageStrategy(MirroredStrategy):
    """A replica on each device of this process, and variables that are there once: as always."""

    def __init__(
        self, compute_devices: Sequence[str] | None = None, parameter_device: object = None
    ) -> None:
        super().__init__(compute_devices)
        if parameter_device is not None:
            raise UnimplementedError(
                f"parameter_device={parameter_device!r}: variables are where `tf.device` says"
            )


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on all ranks: one on each, or as many in all as `replicas` says."""

    def __init__(
        self,
        cluster_resolver: object = None,
        communication_options: object = None,
        *,
        replicas: int | None = None,
        ordered: bool = False,
    ) -> None:
        if not isinstance(communication_options, CommunicationOptions | None):
            raise TypeError(
                f"communication_options is a {type(communication_options).__name__}, expected "
                "tf.distribute.experimental.CommunicationOptions"
            )
        if communication_options is not None and communication_options.timeout_seconds:
            protocol.wait_for(communication_options.timeout_seconds)
        comm = world()
        every = comm.size if replicas is None else replicas
        if every < 1 or every % comm.size:
            raise ValueError(f"{every} replicas on {comm.size} ranks, expected a multiple")
        self.cluster_resolver = cluster_resolver or cluster_of(comm)
        own = [processors(1)[0]] * (every // comm.size)
        super().__init__(own, comm, ordered=ordered)


REFUSED: dict[str, str] = {
    "TPUStrategy": "there is no backend for TPUs",
    "ParameterServerStrategy": "parameter servers are programmed with tf.distribute.Server and "
    "tf.compat.v1.train.replica_device_setter",
}


def refused(name: str) -> type:
    """Return a class that refuses to be made, by its name."""

    class Refused:
        def __init__(self, *_: object, **__: object) -> None:
            raise UnimplementedError(f"tf.distribute.{name}: {REFUSED[name]}")

    Refused.__name__ = name
    return Refused


class Default:
    """The strategy outside of all scopes, made when it is asked for."""

    made: ClassVar[list[Strategy]] = []


def get_strategy() -> Strategy:
    """Return the strategy whose scope this is."""
    if CONTEXTS.strategies:
        found: Strategy = CONTEXTS.strategies[-1]
        return found
    if not Default.made:
        Default.made.append(DefaultStrategy())
    return Default.made[0]


def has_strategy() -> bool:
    """Say whether this is in the scope of a strategy."""
    return bool(CONTEXTS.strategies)


def get_replica_context() -> ReplicaContext | None:
    """Return the replica that runs; between replicas None."""
    if CONTEXTS.replica is not None or CONTEXTS.strategies:
        return CONTEXTS.replica
    return ReplicaContext(get_strategy(), 0, Lockstep(1))


def number_of_replica() -> object:
    """Return the number of the replica that runs; between replicas None."""
    replica = get_replica_context()
    return None if replica is None else replica.replica_id_in_sync_group


Generator.IS_SHARED = staticmethod(has_strategy)
Generator.REPLICA = staticmethod(number_of_replica)


def in_cross_replica_context() -> bool:
    """Say whether this is between replicas."""
    return get_replica_context() is None

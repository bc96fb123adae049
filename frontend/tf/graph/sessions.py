"""Sessions by TensorFlow's names, and whether operations go to the default graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from ....ir.types.tensor import Array
from ....runtime.deadline import DEADLINE, LateError
from ....runtime.tracing import Trace, listening
from ...distributed.client import TASKS, client_for, explained, reset
from ...distributed.micro_batches import is_of_part
from ...distributed.simulate import CostModel, reasons, simulated
from ...formats.messages import RunMetadata
from ...function.session import Session as CoreSession
from ...function.session import fetched
from ...graph.execute import Plan
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation, op_of
from ...graph.kinds import DEAD, MissingFeedError
from ...graph.partition import Partition, partition
from ...graph.placement import devices_of
from ...graph.symbolic import ForeignTensorError
from ...graph.transfers import hops
from ...graph.variables import AssignVariable, ReadVariable
from ...models.later import ReadyQueue
from ...values import nest
from ...values.context import STATE, entered, stack
from ...values.devices import parse_device
from ...values.dtypes import DTypeLike
from ...values.run_errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
)
from ..core.bridge import TfTensor
from ..core.dimensions import Behaviour
from ..core.element_types import of_row
from ..runs.cut_graphs import cut_graphs
from ..runs.kept import Keep, TensorHandle, forgotten, held, value_of
from ..runs.metadata import largest, metadata_of
from ..runs.options import Asked, asked_of, config_of
from ..runs.partial import PartialRun
from .configuration import LogicalDevice, processors_of
from .graph_def import GraphDef
from .state import DEFAULT, Variable, get_default_graph, new_default


class Session(CoreSession):
    """Runs a graph; `strict=False` initialises variables that were not."""

    def __init__(
        self, target: str = "", graph: object = None, config: object = None, strict: bool = True
    ) -> None:
        if not isinstance(graph, Graph | None):
            raise TypeError(
                f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"'
            )
        super().__init__(graph if graph is not None else get_default_graph(), strict=strict)
        if config is None and target in TASKS:
            config = TASKS[target].config
        self.config = config_of(config)
        self.soft_placement, self.wishes = self.config.soft_placement, self.config.wishes
        self.over = False
        """Whether it was closed because containers were reset."""
        self.processors = processors_of(config)
        self.client = client_for(target, isolated=self.config.isolated) if target else None
        """What begins steps over the tasks of a cluster."""
        if self.client is None:
            LOCAL.add(self)
            if self.config.isolated:
                self.store.containers = {}
        else:
            self.client.bits, self.client.filters = self.config.bits, [*self.config.filters]
        self.costs: CostModel | None = None
        """By what operations are placed that ask for nothing; None: all on the first device."""
        self._queues: dict[str, ReadyQueue] = {}
        """By the names of devices: the calls of Python that are ready there."""
        self._places: dict[Plan, Mapping[Operation, str]] = {}
        self._late: dict[tuple[int, ...], object] = {}
        """By a variable and what is fetched with it: how it is read behind that."""
        self._partial: dict[str, PartialRun] = {}
        """By their handles: the steps that are carried out in parts."""

    @property
    def graph_def(self) -> GraphDef:
        """Return the graph as data."""
        return GraphDef(self.graph)

    def close(self) -> None:
        """Run nothing any more; what still runs on tasks of a cluster is given up."""
        super().close()
        if self.client is not None:
            self.client.close()

    def list_devices(self) -> list[LogicalDevice]:
        """Return the devices that operations can be put on, by their full names."""
        return [LogicalDevice(n, parse_device(n).kind or "") for n in self.available()]

    def available(self) -> list[str]:
        """Return the full names of the devices that operations can be put on."""
        return super().available() if self.client is None else self.client.devices()

    def run_plan(self, plan: Plan, values: list[Any]) -> list[object]:
        """Run a plan: here, or on the tasks of a cluster."""
        if self.client is None:
            return super().run_plan(plan, values)
        return self.client.run(plan, self._places[plan], values)

    def _placed(self, plan: Plan, found: Mapping[Operation, str]) -> None:
        if self.costs is not None:
            soft = self.soft_placement
            found = simulated(plan, self.available(), self.costs, soft=soft)
        self._places[plan] = found
        if any(is_of_part(op) for op in plan.ops) and plan.wishes.at_once is False:
            # Its numbers are those of one process, however the work is cut: compiled code's.
            plan.wishes = replace(plan.wishes, at_once=True)
        if self.client is not None and self.config.delays:
            self.client.costs = self.costs or CostModel()
        if self.client is None:
            self._queue(plan, found)
            plan.hops = hops(plan.ops, plan.fed, found, self.config.bits)
            if plan.hops and plan.structured != plan.ops:
                plan.wishes = replace(plan.wishes, at_once=None)  # (ways are those of single nodes)
        if self.config.log_placement:
            for op, name in found.items():
                print(f"{op.name}: ({op.type}): {name}", file=sys.stderr)

    def _queue(self, plan: Plan, places: Mapping[Operation, str]) -> None:
        """Let calls of Python wait in the queue of their device, where threads are counted.

        One thread for each of several devices is several threads.
        """
        threads = self.wishes.threads_each
        homes = {op: places[op] for op in plan.beside}
        if not threads or len(homes) < 2:
            return
        for name in homes.values():
            self._queues.setdefault(name, ReadyQueue(threads))
        plan.queues = {op: self._queues[name] for op, name in homes.items()}
        if len({*homes.values()}) > 1:
            plan.wishes = replace(plan.wishes, overlap=True)

    def element(self, value: object) -> GraphTensor | Operation:
        """Return the tensor or operation that a fetch names, which must not be forbidden."""
        found = super().element(value.decode() if isinstance(value, bytes) else value)
        if op_of(found) in getattr(self.graph, "unfetchable", ()):
            raise ForeignTensorError(f"{found!r} has been marked as not fetchable.")
        return found

    def _flatten(
        self, fetches: object, wanted: list[GraphTensor | Operation]
    ) -> Callable[[Iterator[object]], object]:
        """Collect fetches; a handle of a value that stays here is an object of its own."""
        build = super()._flatten(fetches, wanted)
        node = op_of(wanted[-1]) if build is next else None
        if node is None or type(node.kind) is not Keep:
            return build
        dtype = of_row(node.inputs[0].spec.dtype)
        return lambda found: TensorHandle(next(found), dtype, self.store)

    def _feed_value(self, tensor: GraphTensor, value: object) -> Array:
        if isinstance(value, TensorHandle):
            return super()._feed_value(tensor, value_of(self.store, value.handle))
        return super()._feed_value(tensor, value)

    def _feed_key(self, key: object) -> GraphTensor:
        found = super()._feed_key(key)
        if found in getattr(self.graph, "unfeedable", ()):
            raise ValueError(f"Tensor {key} may not be fed.")
        return found

    @staticmethod
    def reset(
        target: str = "", containers: Sequence[str] | None = None, config: object = None
    ) -> None:
        """Forget what is in containers; None means what was made outside of all of them.

        All sessions of the target are over.
        """
        told = config_of(config)
        if target:
            reset(target, containers, told.timeout)
            return
        for session in [*LOCAL]:
            session.reset_values(containers)

    def reset_values(self, containers: Sequence[str] | None) -> None:
        """Forget what is in containers, and be over."""
        self.over = self.over or not self._closed
        Session.close(self)
        self.store.reset(containers)

    def run(
        self,
        fetches: object,
        feed_dict: Mapping[object, object] | None = None,
        options: object = None,
        run_metadata: object = None,
    ) -> Any:
        """Return what the fetches are; say in `run_metadata` what `options` ask for.

        Raises `DeadlineExceededError` where it takes longer than it may.
        """
        if self.over:
            raise CancelledError("Session has been closed: containers were reset")
        if options is None and run_metadata is None and not self.config.timeout:
            found = self.at_once(fetches, feed_dict, calls=False)
            if found is not None:
                return found[0]
        if feed_dict and any(isinstance(key, nest.TensorGroup | tuple) for key in feed_dict):
            feed_dict = _in_parts(feed_dict)
        if Behaviour.references and isinstance(fetches, list | tuple | dict):
            fetches = self._behind(fetches)
        if Behaviour.references and feed_dict:
            feed_dict = self._everywhere(feed_dict)
        asked = asked_of(options, self.config)
        if run_metadata is not None and not isinstance(run_metadata, RunMetadata):
            raise TypeError(f"run_metadata must be a RunMetadata, but got {type(run_metadata)}")
        with entered(None):
            if run_metadata is not None and (asked.traced or asked.partitions or self.config.costs):
                return self._watched(fetches, feed_dict, asked, run_metadata)
            if run_metadata is not None:
                run_metadata.Clear()
            return self._run_in_time(fetches, feed_dict, asked)

    def partial_run_setup(self, fetches: object, feeds: Sequence[object] | None = None) -> str:
        """Return the handle of a step that is carried out in parts: all that will be asked for."""
        if self.client is not None:
            raise UnimplementedError("partial_run_setup of a session over the tasks of a cluster")
        wanted: list[GraphTensor | Operation] = []
        self._flatten(fetches, wanted)
        if not wanted:
            raise InvalidArgumentError("specify at least one target to fetch or execute.")
        keys = [part for key in feeds or () for part in _keys(key)]
        plan = self._plan(wanted, [self._feed_key(key) for key in keys])
        handle = f"partial run {len(self._partial)}"
        self._partial[handle] = PartialRun(plan, self.store)
        return handle

    def partial_run(
        self, handle: str, fetches: object, feed_dict: Mapping[object, object] | None = None
    ) -> object:
        """Return what some fetches of a step are; what was fed and computed before stays so.

        The parts run operation by operation.
        """
        if handle not in self._partial:
            raise InvalidArgumentError("Must run 'setup' before performing partial runs!")
        wanted: list[GraphTensor | Operation] = []
        rebuild = self._flatten(fetches, wanted)
        feeds = {self._feed_key(key): value for key, value in _in_parts(feed_dict or {}).items()}
        given = {tensor: self._feed_value(tensor, value) for tensor, value in feeds.items()}
        with entered(None):
            try:
                values = self._partial[handle].go_on(wanted, given)
            except MissingFeedError as error:
                raise self._missing(error.op) from None
        if any(value is DEAD for value in values):
            raise InvalidArgumentError(f"{fetches} is on a way that was not taken")
        return rebuild(iter(fetched(values)))

    def _run_in_time(self, fetches: object, feeds: Any, asked: Asked) -> object:
        """Run, within the time that is given; name what is large where memory does not do."""
        try:
            with DEADLINE.within(asked.timeout):
                values = super().run(fetches, feeds)
                DEADLINE.check()
                return values
        except LateError:
            raise DeadlineExceededError(
                "Timed out waiting for notification: the step did not end within "
                f"{asked.timeout * 1000:.0f} ms"
            ) from None
        except MemoryError as error:
            if not asked.tells_memory:
                raise
            text = f"{error}\n{largest(self._plan_of(fetches, feeds))}"
            raise ResourceExhaustedError(text) from error

    def _watched(
        self, fetches: object, feeds: Mapping[object, object] | None, asked: Asked, message: Any
    ) -> Any:
        """Run, and say in a message how it went."""
        watches = asked.traced or self.config.costs
        if self.client is not None and watches:
            raise UnimplementedError(
                "trace_level and build_cost_model of a session over the tasks of a cluster: how "
                "long its tasks take is not told"
            )
        trace = Trace()
        with listening(trace, everywhere=False) if watches else nullcontext():
            values = self._run_in_time(fetches, feeds, asked)
        plan = self._plan_of(fetches, feeds)
        if self.client is not None:
            parts = cut_graphs(self.client.cuts[plan])
            message.CopyFrom(RunMetadata(partition_graphs=parts))
            return values
        places = devices_of(plan.ops, "cpu:0", soft=self.soft_placement, more=self.processors)
        found = metadata_of(
            plan, places, trace, steps=asked.traced, costs=watches, partitions=asked.partitions
        )
        message.CopyFrom(found)
        return values

    def explain_placement(self, fetches: object, feeds: Sequence[object] = ()) -> Partition:
        """Return which devices the operations are on that fetches need, why, and what is sent.

        Raises `PlacementError` that names the first operation which can be nowhere.
        """
        plan = self._plan_of(fetches, dict.fromkeys(feeds))
        places, known = self._places[plan], self.available()
        why = {} if self.costs is None else reasons(plan, places, known)
        if self.client is not None:
            return explained(plan, places, known, why, self.config.bits)
        return partition(plan, places, known, why, self.config.bits)

    def _plan_of(self, fetches: object, feeds: Mapping[object, object] | None) -> Plan:
        """Return the plan of fetches with feeds."""
        wanted: list[GraphTensor | Operation] = []
        self._flatten(fetches, wanted)
        return self._plan(wanted, [self._feed_key(key) for key in feeds or {}])

    def _everywhere(self, feeds: Mapping[object, object]) -> dict[object, object]:
        """Feed a variable wherever it is read; its writes get no reference then, but a value."""
        found: dict[object, object] = {}
        for key, value in feeds.items():
            found[key] = value
            tensor = self._feed_key(key)
            if not isinstance(tensor.op.kind, ReadVariable):
                continue
            state = tensor.op.attributes["variable"]()
            owner = state.owner()
            if owner is not None and owner.snapshot is tensor:
                reads = [op for op in self.graph.operations if isinstance(op.kind, ReadVariable)]
                reads = [op for op in reads if op.attributes["variable"]() is state]
                found |= {op.outputs[0]: value for op in reads if op is not tensor.op}
        return found

    def _behind(self, fetches: object) -> object:
        """Let variables that are fetched be read behind everything else that is fetched."""
        flat = nest.flatten(fetches)
        others = [self.element(x) for x in flat if not isinstance(x, Variable) and x is not None]
        if len(others) == len(flat) or not others:
            return fetches
        for variable in flat:
            key = (id(variable), *map(id, others))
            if isinstance(variable, Variable) and key not in self._late:
                after = self.graph.control_dependencies(others)
                with entered(self.graph), after, self.graph.reopened():
                    self._late[key] = variable.read_value()
        return nest.map_structure(lambda x: self._late.get((id(x), *map(id, others)), x), fetches)

    def _plan(
        self, fetches: Sequence[GraphTensor | Operation], feeds: Sequence[GraphTensor]
    ) -> Plan:
        plan = super()._plan(fetches, feeds)
        reads = [x.op for x in feeds if isinstance(x.op.kind, ReadVariable)]
        fed = {op.attributes["variable"]() for op in reads} if Behaviour.references else set()
        for op in plan.ops if fed else ():
            if isinstance(op.kind, AssignVariable) and op.attributes["variable"]() in fed:
                raise InvalidArgumentError(
                    f"Input 0 of node {op.name} was passed {op.outputs[0].spec.dtype} from a feed, "
                    "expected the variable",
                    location=op.source,
                )
        return plan

    def make_callable(
        self, fetches: object, feed_list: Sequence[object] = ()
    ) -> Callable[..., object]:
        """Return a function of the fed values."""
        return lambda *values: self.run(fetches, dict(zip(feed_list, values, strict=True)))

    def __enter__(self) -> Session:
        super().__enter__()
        self._before.append((STATE.context, STATE.recorders))
        STATE.set(self.graph, ())
        return self

    def __exit__(self, *error: object) -> None:
        STATE.set(*self._before.pop())
        super().__exit__(*error)

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Let `eval` and `run` use this session."""
        stack().append(self)
        try:
            yield self
        finally:
            stack().pop()


LOCAL: WeakSet[Session] = WeakSet()
"""The sessions of this process whose steps stay in it."""


class InitialisingSession(Session):
    """The white paper's session: variables have their initial value at first use."""

    def __init__(
        self, target: str = "", graph: object = None, config: object = None, strict: bool = False
    ) -> None:
        super().__init__(target, graph, config, strict)


class InteractiveSession(Session):
    """A session that is the default one from the start."""

    def __init__(self, target: str = "", graph: object = None, config: object = None) -> None:
        super().__init__(target, graph, config)
        stack().append(self)

    def close(self) -> None:
        """Run nothing any more, and be no default."""
        if self in stack():
            stack().remove(self)
        super().close()


def disable_eager_execution() -> None:
    """Let operations go to the default graph from now on."""
    STATE.set(get_default_graph(), ())


def disable_v2_behavior() -> None:
    """Let everything be as in the first version: graphs, dimensions, references to variables."""
    disable_eager_execution()
    Behaviour.dimensions = Behaviour.references = Behaviour.one_graph = True


def enable_v2_behavior() -> None:
    """Let everything be as in the second version."""
    enable_eager_execution()
    Behaviour.dimensions = Behaviour.references = Behaviour.one_graph = False


def reset_default_graph() -> None:
    """Begin the default graph anew, also where operations go to it."""
    before, DEFAULT[0] = DEFAULT[0], new_default()
    if STATE.context is before:
        STATE.set(DEFAULT[0], ())


def enable_eager_execution() -> None:
    """Let operations run at once again."""
    STATE.set(None, ())


def executing_eagerly_outside_functions() -> bool:
    """Say whether what is outside of all functions runs at once."""
    context: object = STATE.context
    while isinstance(context, FuncGraph):
        context = context.outer
    return context is None


def get_session_tensor(
    handle: object, dtype: DTypeLike, name: str | None = None
) -> tuple[GraphTensor, TfTensor]:
    """Return what the text of a handle is fed for, and the value that stays by that handle."""
    return held(get_default_graph(), dtype, name)


def delete_session_tensor(handle: object, name: str | None = None) -> tuple[GraphTensor, Operation]:
    """Return what the text of a handle is fed for, and what lets its value go."""
    return forgotten(get_default_graph(), name)


def _keys(key: object) -> Sequence[object]:
    """Return the tensors that something is fed for."""
    return key.components() if isinstance(key, nest.TensorGroup) else [key]


def _in_parts(feeds: Mapping[object, object]) -> dict[object, object]:
    """Return what is fed for tensors, where something is fed for values made of several."""
    made: dict[object, object] = {}
    for key, value in feeds.items():
        if isinstance(key, nest.TensorGroup):
            made.update(zip(key.components(), key.fed(value), strict=True))
        elif isinstance(key, tuple):  # like the state of a cell
            keys, values = nest.flatten(key), nest.flatten(value)
            if len(keys) != len(values):
                raise ValueError(
                    f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                    f"{len(values)} elements. Key: {keys}, value: {values}."
                )
            made.update(zip(keys, values, strict=True))
        else:
            made[key] = value
    return made

"""Run parts of a graph: which operations that takes (`Plan`), and running them (`Frame`).

Operations run in the order they were made, which every data and control edge agrees with. What
a frame gives is the meaning of a graph; `staged.py` compiles whole plans to the same results.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..ir.dims import DimExpr
from ..ir.dtypes import DType
from ..ir.op import Array
from ..ir.ops.families import spec_of_value
from ..ir.ops.random import drawn_key
from ..runtime.queues import CHANGES, WouldWaitError
from .graph import Graph, GraphTensor, Operation
from .kinds import DEAD, MissingFeedError
from .placement import asks
from .recorded import EMIT, Box, Recorded
from .run_errors import InvalidArgumentError


class RunError(InvalidArgumentError, ValueError):
    """An operation of a graph failed on the values that it was given."""

    code = "GV2320"


class Store:
    """Where the values of variables are: a session's, or that of the process."""

    def __init__(self) -> None:
        self.values: dict[Any, Array] = {}
        self.queues: dict[Any, Any] = {}
        self.lock = threading.RLock()
        """Held while a variable is changed, and by steps that need not wait for others."""
        self.draws: dict[Any, int] = {}
        """How many counters each random operation has used."""
        self.initialise = False
        """Whether a variable that has no value is initialised when it is read."""


@dataclass
class Frame:
    """One run: how operations are carried out, and what has been computed."""

    store: Store
    emit: Callable[..., Any] = EMIT
    symbols: dict[str, int] = field(default_factory=dict)
    records: dict[Operation, Recorded] = field(default_factory=dict)
    """Of operations whose gradient is taken in the same run: what was recorded."""
    recorded: Recorded | None = None
    """What records this frame, if anything does."""

    is_staging: ClassVar[bool] = False
    """Whether values are those of a program that is being made."""

    def choose(self, branches: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        """Append a choice to the program."""
        raise NotImplementedError("only a program that is being made holds choices")

    def loop(self, test: Any, body: Any, count: int, inputs: Sequence[Any]) -> Sequence[Any]:
        """Append a loop to the program."""
        raise NotImplementedError("only a program that is being made holds loops")

    def placed(self, ops: Sequence[Operation]) -> dict[Operation, str]:
        """Return the devices of operations, where there are others than the processor."""
        return {}

    def key(self, op: Operation, seeds: tuple[int, int], count: int) -> Any:
        """Return the key of a random draw of so many counters, which are used up."""
        return self.outside(op, lambda frame: frame.next_key(op, seeds, count))

    def next_key(self, op: Operation, seeds: tuple[int, int], count: int) -> Any:
        """Return the key of a random draw by the counters that were used before."""
        used = self.store.draws.get(op, 0)
        self.store.draws[op] = used + count
        return drawn_key(seeds, used)

    def constant(self, value: Array) -> Any:
        """Return a value of a graph as a value of the run."""
        return value

    def host(
        self, function: Callable[..., Any], inputs: Sequence[Any], dtypes: Sequence[DType]
    ) -> Sequence[Any]:
        """Call a Python function with arrays."""
        made = function(*[np.asarray(x) for x in inputs])
        listed = made if isinstance(made, tuple | list) else (made,)
        if len(dtypes) == 0:
            return ()
        return tuple(np.asarray(r, d.numpy) for r, d in zip(listed, dtypes, strict=True))

    def detached(self, value: Any) -> Any:
        """Return a value that is the same, but not known to what records the run."""
        return Box(value.array) if isinstance(value, Box) else value

    replay: list[Any] | None = None
    """Values that were read when the same was run before, while it is run once more."""
    order: Callable[[int], int] | None = None
    """Chooses among the operations that are ready, by their count; None: as they were made."""
    patient: bool = True
    """Whether an operation on a queue waits, or raises a `WouldWaitError`."""
    device: str = ""
    """Where operations run that are carried out now; nothing for the processor."""

    outer: Frame | None = None
    """The frame that this one records an operation of: what it reads, that one reads."""

    def read(self, variable: Any) -> Any:
        """Return the value that a variable has now."""
        return self.outside(variable, lambda frame: frame.present(variable))

    def present(self, variable: Any) -> Any:
        """Return the value that a variable has in the store."""
        return variable.value_in(self.store)

    def outside(self, source: Any, present: Callable[[Frame], Any]) -> Any:
        """Return a value from outside, the same as before if the run is repeated."""
        if self.replay is not None:
            value = self.replay.pop(0)
        elif self.outer is not None:
            value = self.outer.outside(source, present)
        else:
            value = present(self)
        return value if self.recorded is None else self.recorded.read(source, value)

    def write(self, variable: Any, value: Any) -> None:
        """Give a variable a value."""
        if self.replay is None:
            variable.put_in(self.store, np.asarray(value))

    def recording(self, op: Operation) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run so that its gradient can be taken."""
        record = Recorded(self.emit)
        self.records[op] = record
        inner = Frame(self.store, record.emit, self.symbols, self.records, record, outer=self)
        return inner, record

    def again(self, reads: Sequence[Any]) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run once more, with the values that it read."""
        record = Recorded(self.emit)
        return Frame(self.store, record.emit, self.symbols, self.records, record, [*reads]), record

    def bind(self, tensor: GraphTensor, value: Any) -> None:
        """Learn the sizes that stand as symbols in a tensor's shape."""
        shape = tensor.spec.shape
        if shape and not tensor.spec.is_static:
            known = value.shape if isinstance(value, np.ndarray) else spec_of_value(value).shape
            found = known or ()
            for dim, size in zip(shape, found, strict=False):
                if isinstance(dim, DimExpr) and isinstance(size, int):
                    self.symbols.setdefault(str(dim), size)


class Plan:
    """The operations that given fetches need when given tensors are fed, in order."""

    def __init__(
        self,
        fetches: Sequence[GraphTensor | Operation],
        feeds: Sequence[GraphTensor],
        effects: Sequence[Operation] = (),
    ) -> None:
        self.fetches, self.feeds = list(fetches), list(feeds)
        self.ops = recovered(needed(fetches, feeds, effects), fetches)
        self.to_record = {
            forward for op in self.ops if (forward := op.attributes.get("forward")) is not None
        }
        self.fed = set(feeds)
        self.waits = any(may_wait(op.kind) for op in self.ops)
        """Whether it may wait for another step: a lock must not be held meanwhile."""
        self.refusal = ""
        """Why the plan is not compiled, if it was tried."""
        self.compiled: dict[Any, Any] = {}
        """By shapes: the compiled plan, how often it was run before that, or None."""

    @cached_property
    def size(self) -> int:
        """Return how many elements the operations make, as far as that is known."""
        specs = (out.spec for op in self.ops for out in op.outputs)
        return sum(prod(spec.static_shape) for spec in specs if spec.is_static)

    def run(self, frame: Frame, values: Sequence[Any]) -> list[Any]:
        """Return what the fetches are; None for operations."""
        env: dict[GraphTensor, Any] = {}
        for tensor, value in zip(self.feeds, values, strict=True):
            env[tensor] = value
            frame.bind(tensor, value)
        ops = self.structured if frame.is_staging else self.ops
        outer, devices = frame.device, frame.placed(ops)
        if self.waits and frame.order is None and ops[0].graph.is_open:
            self.run_waiting(frame, env, devices)
        else:
            for op in ops if frame.order is None else by_counts(ops, frame.order):
                if devices:
                    frame.device = devices[op]
                self.step(frame, op, env)
        frame.device = outer
        return [None if isinstance(f, Operation) else env[f] for f in self.fetches]

    def run_waiting(
        self, frame: Frame, env: dict[GraphTensor, Any], devices: dict[Operation, str]
    ) -> None:
        """Run operations of which some wait for others, in this plan or elsewhere.

        None holds the thread while another one can be carried out.
        """
        held = self.ops
        while held:
            seen, before, late, lines = CHANGES.count, held, set[Operation](), set[Any]()
            for op in before:
                if op.kind.line not in lines and late.isdisjoint(self.makers(op)):
                    frame.patient = len(before) == 1
                    frame.device = devices.get(op, frame.device)
                    try:
                        self.step(frame, op, env)
                        continue
                    except WouldWaitError:
                        lines.add(op.kind.line)
                late.add(op)
            held = [op for op in before if op in late]
            if len(held) == len(before):
                CHANGES.wait(seen)
        frame.patient = True

    def makers(self, op: Operation) -> list[Operation]:
        """Return the operations that must be carried out before another one."""
        made = [tensor.op for tensor in op.inputs if tensor not in self.fed]
        forward = op.attributes.get("forward")
        return [*made, *op.control_inputs, *([] if forward is None else [forward])]

    @cached_property
    def asks_for_gpu(self) -> bool:
        """Say whether an operation is to run on a GPU, also in what is called."""
        return any(map(asks, self.ops))

    @cached_property
    def structured(self) -> list[Operation]:
        """Return the operations with choices for Switches and Merges."""
        from .recover import recover_choices  # noqa: PLC0415  (recover -> control_flow -> execute)

        return recover_choices(self.ops, self.fetches)

    def is_dead(self, op: Operation, inputs: Sequence[Any], env: dict[GraphTensor, Any]) -> bool:
        """Say whether the operation is on a way that was not taken."""
        if any(value is DEAD for value in inputs):
            return True
        return any(
            op.control_inputs and t in env and env[t] is DEAD
            for before in op.control_inputs
            for t in before.outputs[:1]
        )

    def step(self, frame: Frame, op: Operation, env: dict[GraphTensor, Any]) -> None:
        """Run one operation."""
        inputs = [env[tensor] for tensor in op.inputs]
        if not op.kind.takes_dead and self.is_dead(op, inputs, env):
            env.update((tensor, DEAD) for tensor in op.outputs)
            return
        try:
            if op in self.to_record:
                inner, record = frame.recording(op)
                inputs = record.watch(inputs)
                results: Sequence[Any] = record.results(op.kind.run(inner, op, inputs))
            else:
                results = op.kind.run(frame, op, inputs)
        except (RunError, MissingFeedError):
            raise
        except (TypeError, ValueError, ArithmeticError, IndexError, AssertionError) as error:
            raise failure(op, error) from error
        for tensor, value in zip(op.outputs, results, strict=True):
            if tensor not in self.fed:
                env[tensor] = value
                if value is not DEAD and not is_static(tensor):
                    frame.bind(tensor, value)


def may_wait(kind: Any) -> bool:
    """Say whether a kind, or what it calls, may wait for another step."""
    if kind.waits:
        return True
    parts = [getattr(kind, name, None) for name in ("graph", "test", "body")]
    graphs = [*(part for part in parts if part is not None), *getattr(kind, "branches", ())]
    return any(may_wait(op.kind) for graph in graphs for op in graph.operations)


def by_counts(ops: Sequence[Operation], choose: Callable[[int], int]) -> Iterator[Operation]:
    """Give operations as they get ready: each waits for as many others as its count says.

    `choose` says which of the operations that are ready is next.
    """
    members = set(ops)
    waiting: dict[Operation, int] = {}
    behind: dict[Operation, list[Operation]] = {}
    for op in ops:
        before = {t.op for t in op.inputs} | set(op.control_inputs)
        forward = op.attributes.get("forward")
        found = (before | ({forward} if forward is not None else set())) & members
        waiting[op] = len(found)
        for each in found:
            behind.setdefault(each, []).append(op)
    ready = [op for op in ops if not waiting[op]]
    while ready:
        op = ready.pop(choose(len(ready)))
        yield op
        for each in behind.get(op, ()):
            waiting[each] -= 1
            if not waiting[each]:
                ready.append(each)


def is_static(tensor: GraphTensor) -> bool:
    """Say whether all sizes are known."""
    return tensor.spec.shape is not None and tensor.spec.is_static


def failure(op: Operation, error: Exception) -> Exception:
    """Return the error of a run, which names the operation and the line that made it."""
    known = getattr(error, "is_of_run", False)
    if known:
        return error
    return RunError(f"Detected at node '{op.name}': {error}", location=op.source)


def needed(
    fetches: Sequence[GraphTensor | Operation],
    feeds: Sequence[GraphTensor],
    effects: Sequence[Operation] = (),
) -> list[Operation]:
    """Return the operations to run, in the order they were made."""
    fed = set(feeds)
    waiting: list[Operation] = [*effects]
    for fetch in fetches:
        if isinstance(fetch, Operation):
            waiting.append(fetch)
        elif fetch not in fed:
            waiting.append(fetch.op)
    found: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found.add(op)
        waiting += [c for c in op.control_inputs if not (c.outputs and fed.issuperset(c.outputs))]
        waiting += [tensor.op for tensor in op.inputs if tensor not in fed]
        forward = op.attributes.get("forward")
        if forward is not None:
            waiting.append(forward)
    return sorted(found, key=lambda op: op.index)


def recovered(ops: list[Operation], fetches: Sequence[GraphTensor | Operation]) -> list[Operation]:
    """Return operations with loops for those that are made of single nodes."""
    from .recover import recover_loops  # noqa: PLC0415  (recover -> control_flow -> execute)

    return recover_loops(ops, fetches)


def run_graph(
    graph: Graph, frame: Frame, inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor]
) -> Plan:
    """Return the plan of a function's graph: its outputs, and all its effects in order."""
    effects = [op for op in graph.operations if op.kind.stateful]
    return Plan(outputs, inputs, effects)

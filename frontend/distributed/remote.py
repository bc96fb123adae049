"""Devices of other tasks, where this process carries operations out eagerly.

    connect(task)                                   # its devices are among those of this process
    with device("/job:worker/task:1"): y = x + 1.0  # computed there, and kept there
    y.numpy()                                       # comes here

One message goes there and one comes back for each operation; operands of this process go along,
those of a third task by way of this one. A task that is gone is an error within the deadline.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...ir.op import Array, Op
from ...ir.types.tensor import TensorSpec
from ...runtime.comm.protocol import LateError
from ..eager.kernels import explain
from ..eager.tensor import Tensor
from ..function.graph_data import SINGLE, NodeReader, VariableData, Writer, empty_data
from ..function.on_device import RemoteDevice, RemoteState, RemoteTensor, RemoteValue
from ..function.traces import ConcreteFunction
from ..graph.graph import GraphTensor, Kind
from ..graph.placement import check_placement
from ..values.devices import MACHINE, PlacementError
from ..values.origin import short, user_line
from ..values.run_errors import AbortedError
from .client import Client
from .kept import Operand, Told, spec_of
from .places import device_of
from .tasks import Task, raised

NUMBERS = itertools.count(1)
"""Of the variables that this process has on other tasks."""


class RemoteWork:
    """What a task does for this one, operation by operation."""

    def __init__(self, task: Task, name: str) -> None:
        self.task, self.name, self.rank = task, name, task.ranks[name]
        self.place = RemoteDevice("remote", 0, device_of(name), self)
        self.client = Client(task, name)
        """Functions begin there."""
        self.gone: deque[int | str] = deque()
        """What nobody here has any more: told with the next message, as it may be any thread."""

    def ask(self, what: str, *given: object) -> Any:
        """Let the task do something; return what it says of it."""
        task, step = self.task, (self.task.comm.rank, next(self.task.numbers))
        if self.gone:
            count = len(self.gone)
            task.box.send(("drop", step), [self.gone.popleft() for _ in range(count)], self.rank)
        task.box.send(("eager", step), (what, given), self.rank)
        try:
            (wrong, found), _ = task.received(("done", step, self.name), step, [self.name])
        except LateError as error:
            raise AbortedError(error.message, location=here(), hint=error.hint) from None
        if wrong is not None:
            failed = raised(self.name, wrong)
            failed.location = failed.location or here()
            raise failed
        return found

    def apply(
        self, op: type[Op], values: Sequence[Tensor], attributes: dict[str, object]
    ) -> Sequence[Tensor]:
        """Carry an operation out; its results stay there. What does not fit is seen here."""
        explain(op, [type_of(x) for x in values], attributes)
        plain = Writer().value(attributes)
        return self.made(self.ask("apply", op.name, plain, [self.operand(x) for x in values]))

    def operand(self, x: Tensor) -> Operand:
        """Return what is sent for an operand: its number, if it is there already."""
        if isinstance(x, RemoteTensor) and x.held.place == self.place:
            return ("kept", x.held.number)
        return ("value", np.asarray(x.numpy()))

    def made(self, found: Sequence[Told]) -> list[RemoteTensor]:
        """Return what stands here for results that are there."""
        read = NodeReader(empty_data(), self.task.bind)
        values = [RemoteValue(self.place, number, read.spec(spec)) for number, spec in found]
        return [RemoteTensor(value) for value in values]

    def keep(self, array: object) -> RemoteTensor:
        """Bring an array there."""
        [made] = self.made(self.ask("keep", np.array(array)))
        return made

    def fetch(self, number: int) -> Array:
        """Return a value that is kept there as an array."""
        return np.array(self.ask("fetch", number))

    def drop(self, number: int) -> None:
        """Let a value go that is kept there."""
        self.gone.append(number)

    def variable(self, name: str, spec: TensorSpec, value: Array) -> RemoteState:
        """Return the state of a variable whose value is there."""
        container = f"eager variable {next(NUMBERS)} of {self.task.name}"
        entry: VariableData = {
            "name": name, "spec": Writer().spec(spec), "container": container, "initial": None,
        }  # fmt: skip

        def read() -> RemoteTensor:
            [made] = self.made(self.ask("read", name, entry))
            return made

        def change(kind: Kind, values: Sequence[Tensor]) -> None:
            [label] = [label for label, each in SINGLE.items() if each is kind]
            self.ask("change", name, entry, label, [self.operand(x) for x in values])

        state = RemoteState(name, spec, container, read, change)
        state.put_in(self.task.store, value)
        weakref.finalize(state, self.gone.append, container)
        return state

    def call(self, trace: ConcreteFunction, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Run a traced function there; its results stay, if no other task takes part."""
        plan = trace.graph.whole_plan()
        places = check_placement(plan.ops, soft=MACHINE.soft, available=self.client.devices())
        for state in trace.graph.states_read():
            there = isinstance(state, RemoteState) and state.read().held.place == self.place
            if not there:
                raise PlacementError(
                    f"function {trace.graph.name!r} uses variable {state.name!r}, which is not on "
                    f"{self.place}: functions run where their variables are",
                    location=here(),
                )
        cut = self.client.cuts.get(plan) or self.client.cut(plan, places)
        names = [tensor.name for tensor in plan.fetches if isinstance(tensor, GraphTensor)]
        if set(cut.parts) - {self.name}:
            return self.client.run(plan, places, [np.asarray(x.numpy()) for x in inputs])
        fed = cut.parts[self.name].fed if self.name in cut.parts else []
        wanted = {*fed, *names}
        given = {
            tensor.name: self.operand(x)
            for tensor, x in zip(plan.feeds, inputs, strict=True)
            if tensor.name in wanted
        }
        key = self.client.key(plan) if cut.parts else None
        return self.made(self.ask("call", key, given, names))


def here() -> str:
    """Return the user's line."""
    return short(user_line())


def type_of(x: Tensor) -> TensorSpec:
    """Return the type of an operand, without its elements."""
    return x.spec if isinstance(x, RemoteTensor) else spec_of(np.asarray(x.numpy()))


def connect(task: Task, names: Iterable[str]) -> Callable[[], None]:
    """Let the devices of other tasks be among those of this process; return what ends that."""
    added = {}
    for name in names:
        if name != task.name and device_of(name) not in MACHINE.others:
            work = RemoteWork(task, name)
            added[work.place.full] = work.place
    MACHINE.others |= added
    MACHINE.task = device_of(task.name).rpartition("/")[0]

    def disconnect() -> None:
        for name in added:
            MACHINE.others.pop(name, None)
        MACHINE.task = ""

    return disconnect

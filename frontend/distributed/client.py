"""Steps over several tasks, begun by this one: cut, registered once, and run by one message each.

client = Client(task, "worker:0")
client.run(plan, places, values)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.op import Array
from ...runtime.comm.protocol import LateError
from ...runtime.deadline import LateError as TimeOverError
from ..function.graph_data import GraphData, NotSerialisableError
from ..function.graph_text import graph_data
from ..graph.execute import Plan
from ..graph.graph import Graph, Operation
from ..graph.placement import graphs_in, place
from ..graph.variables import VariableState
from ..values.devices import PlacementError, parse_device
from ..values.run_errors import AbortedError, NotFoundError
from .cut import Cut, TaskPart
from .tasks import RunningPart, Step, Task, raised


def device_of(task: str) -> str:
    """Return the full name of the device that a task has.

    >>> device_of("worker:1")
    '/job:worker/replica:0/task:1/device:CPU:0'
    """
    job, _, number = task.rpartition(":")
    return f"/job:{job}/replica:0/task:{number}/device:CPU:0"


def task_of(device: str) -> str:
    """Return the task that a full name of a device says.

    >>> task_of("/job:worker/replica:0/task:1/device:CPU:0")
    'worker:1'
    """
    name = parse_device(device)
    return f"{name.job}:{name.task or 0}"


class Client:
    """Begins the steps of one session."""

    def __init__(self, task: Task, master: str) -> None:
        self.task, self.master = task, master
        self.cuts: dict[Plan, Cut] = {}
        self.own: dict[Plan, RunningPart] = {}
        """This task's own part of each plan."""

    def devices(self) -> list[str]:
        """Return the full names of the devices of all tasks, that of the session's first."""
        names = [self.master, *(name for name in self.task.names if name != self.master)]
        return [device_of(name) for name in names]

    def cut(self, plan: Plan, places: Mapping[Operation, str]) -> Cut:
        """Return a plan cut between tasks; tell each of its part."""
        tasks = {op: self.place(op, task_of(name)) for op, name in places.items()}
        made = Cut(plan, tasks)
        key = (self.task.comm.rank, id(self), id(plan))
        for part in made.parts.values():
            data, refused = graph_data(part.graph)
            if part.task == self.task.name:
                self.own[plan] = self.running(part, None if refused else data)
                continue
            if refused:
                raise NotSerialisableError(
                    f"{'; '.join(refused)}: it cannot run on {part.task}, only where the session is"
                )
            segments = (data, sources_of(part.graph), part.segments, part.fetched)
            self.task.box.send(("register", key), segments, self.task.ranks[part.task])
        self.cuts[plan] = made
        return made

    def place(self, op: Operation, task: str) -> str:
        """Return the task of an operation: of a choice or a loop, where its variables are."""
        states = [each for each in op.kind.touched() if isinstance(each, VariableState)]
        homes = [state.home for state in states if state.home is not None]
        found = place(homes, self.devices())
        tasks = list(dict.fromkeys(task_of(found[home]) for home in homes)) or [task]
        inner = [each for graph in graphs_in(op) for each in graph.operations if each.device]
        strange = [each for each in inner if not parse_device(each.device).is_at(
            parse_device(device_of(tasks[0])))]  # fmt: skip
        if len(tasks) > 1 or strange:
            what = ", ".join(tasks) if len(tasks) > 1 else strange[0].device
            raise PlacementError(
                f"'{op.name}' ({op.type}) runs on one task as a whole, and asks for {what}",
                location=op.source,
            )
        return tasks[0]

    def running(self, part: TaskPart, data: GraphData | None) -> RunningPart:
        """Return this task's own part, which may call Python of this process."""
        graph = part.graph
        if data is not None:
            graph = self.task.graph(data, sources_of(graph))
        return RunningPart(self.task.store, graph, part.segments, part.fetched)

    def run(
        self, plan: Plan, places: Mapping[Operation, str], values: Sequence[Array]
    ) -> list[object]:
        """Return what the fetches of a plan are; None for operations."""
        cut = self.cuts.get(plan) or self.cut(plan, places)
        given = dict(zip([tensor.name for tensor in plan.feeds], values, strict=True))
        step = (self.task.comm.rank, next(self.task.numbers))
        key = (self.task.comm.rank, id(self), id(plan))
        others = [name for name in cut.parts if name != self.task.name]
        for name in others:
            fed = {each: given[each] for each in cut.parts[name].fed}
            self.task.box.send(("run", step), (key, fed), self.task.ranks[name])
        try:
            found = self.finished(cut, plan, step, given, others)
        except BaseException as error:
            self.task.abort(step, others, f"{type(error).__name__}: {error}")
            self.task.forget(step, "value", "done")
            if isinstance(error, LateError):
                raise AbortedError(error.message, hint=error.hint) from None
            raise
        return [
            None if isinstance(f, Operation) else given.get(f.name, found.get(f.name))
            for f in plan.fetches
        ]

    def finished(
        self, cut: Cut, plan: Plan, step: Step, given: Mapping[str, Array], others: Sequence[str]
    ) -> dict[str, object]:
        """Carry out this task's part, wait for the others; return all that was fetched."""
        found: dict[str, object] = {}
        try:
            if self.task.name in cut.parts:
                part = cut.parts[self.task.name]
                fed = {name: given[name] for name in part.fed}
                made = self.task.carry_out(self.own[plan], step, fed)
                found |= zip(part.fetched, made, strict=True)
        except (AbortedError, LateError, TimeOverError):
            self.why(step, others)
            raise
        for name in others:
            (wrong, values), _ = self.task.received(("done", step, name), step, [name])
            if wrong is not None:
                raise raised(name, wrong)
            found |= zip(cut.parts[name].fetched, values, strict=True)
        return found

    def why(self, step: Step, others: Sequence[str]) -> None:
        """Raise the error of another task, if one has told of one: it is why this one waits."""
        for name in others:
            told = self.task.box.found(("done", step, name))
            if told is not None and told[1][0] is not None:
                raise raised(name, told[1][0])


def sources_of(graph: Graph) -> dict[str, str]:
    """Return the line that each operation comes from, by its name."""
    return {op.name: op.source for op in graph.operations}


TASKS: dict[str, Task] = {}
"""The tasks that this process is, by the targets of sessions."""


def client_for(target: str) -> Client:
    """Return what begins the steps of a session with a target, or say that there is no such."""
    task = TASKS.get(target)
    if task is None:
        known = ", ".join(TASKS) or "none: make a tf.distribute.Server first"
        raise NotFoundError(
            f"No session factory registered for the target {target!r}: there is no such server "
            f"in this process, known are {known}"
        )
    return Client(task, task.name)

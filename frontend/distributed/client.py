"""Steps over several tasks, begun by this one: cut, registered once, and run by one message each.

client = Client(task, "worker:0")
client.run(plan, places, values)
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from weakref import WeakSet

from ...ir.op import Array
from ...runtime.comm.protocol import LateError
from ...runtime.deadline import GivenUpError
from ...runtime.deadline import LateError as TimeOverError
from ..function.graph_data import NotSerialisableError
from ..function.graph_text import graph_data
from ..graph.execute import Plan
from ..graph.frame import DRAWN_AS
from ..graph.graph import Graph, Operation
from ..graph.partition import Partition, partition
from ..values.devices import DeviceName, parse_device
from ..values.run_errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    NotFoundError,
)
from .closed import inside
from .cut import Cut, Inner, TaskPart, ToldGraph
from .delays import delayed
from .places import TaskPlaces, device_of, task_of
from .running import RunningPart
from .simulate import CostModel
from .tasks import Step, Task, raised

NUMBERS = count(1)
"""Of random operations."""


class Client:
    """Begins the steps of one session."""

    def __init__(self, task: Task, master: str, *, isolated: bool = False) -> None:
        self.task, self.master, self.isolated = task, master, isolated
        self.number = next(task.numbers)
        self.session = task.comm.rank, self.number
        self.store = task.store_of(self.session, isolated=isolated)
        self.told: set[str] = set()
        """The other tasks that have parts of its plans."""
        self.leave = weakref.finalize(self, task.gone.append, (self.session, self.told))
        self.cuts: dict[Plan, Cut] = {}
        self.own: dict[Plan, RunningPart] = {}
        """This task's own part of each plan."""
        self.going: dict[Step, list[str]] = {}
        """The steps that have not ended, and what other tasks take part in them."""
        self.closed = False
        self.was_reset = False
        """Whether it was closed because containers were reset."""
        self.filters: list[DeviceName] = []
        """Of which other tasks it sees the devices; nothing: of all."""
        self.bits = 32
        """In how many bits `float32` values are sent."""
        self.costs: CostModel | None = None
        """By what receives are delayed; None: they are not."""

    def devices(self) -> list[str]:
        """Return the full names of the devices of all tasks, that of the session's first."""
        here, *others = sorted(map(device_of, self.task.names), key=device_of(self.master).__ne__)
        return [here, *(name for name in others if self.sees(parse_device(name)))]

    def sees(self, device: DeviceName) -> bool:
        """Say whether its steps may use a device of another task."""
        return not self.filters or any(each.is_within(device) for each in self.filters)

    def key(self, plan: Plan) -> tuple[int, int, int]:
        """Return what all tasks call their parts of a plan."""
        return *self.session, id(plan)

    def cut(self, plan: Plan, places: Mapping[Operation, str]) -> Cut:
        """Return a plan cut between tasks; tell each of its part."""
        tell_gone(self.task)
        found = tasks_of(plan, places, self.devices())
        number_draws(plan.ops)
        closed = found.closed()
        made = Cut(plan, found.tasks, closed, self.bits)
        if made.again:
            found.note(made.again)
            closed = found.closed()
            made = Cut(plan, found.tasks, closed, self.bits)
        delays = None if self.costs is None else delayed(made, self.costs)
        if delays is not None and delays != made.delays:
            made = Cut(plan, found.tasks, closed, self.bits, delays)
        key = self.key(plan)
        make = self.task.maker_of(self.session)
        for each in made.parts.values():
            part = replace(each, isolated=self.isolated, wishes=plan.wishes)
            if part.task == self.task.name:
                self.own[plan] = RunningPart(self.store, told_part(part, here=True), make)
            else:
                message = told_part(part, here=False)
                self.told.add(part.task)
                self.task.box.send(("register", key), message, self.task.ranks[part.task])
        self.cuts[plan] = made
        return made

    def run(
        self, plan: Plan, places: Mapping[Operation, str], values: Sequence[Array]
    ) -> list[object]:
        """Return what the fetches of a plan are; None for operations."""
        cut = self.cuts.get(plan) or self.cut(plan, places)
        given = dict(zip([tensor.name for tensor in plan.feeds], values, strict=True))
        step = (self.task.comm.rank, next(self.task.numbers))
        key = self.key(plan)
        others = [name for name in cut.parts if name != self.task.name]
        self.going[step] = others
        try:
            if self.closed:  # (since the plan was made)
                raise AbortedError(WAS_RESET if self.was_reset else "the session is closed")
            for name in others:
                fed = {each: given[each] for each in cut.parts[name].fed}
                self.task.box.send(("run", step), (key, fed), self.task.ranks[name])
            found = self.finished(cut, plan, step, given, others)
        except BaseException as error:
            self.task.abort(step, others, f"{type(error).__name__}: {error}")
            self.task.forget(step, "value", "done")
            named = self.named(step, error)
            if named is not error:
                raise named from None
            raise
        finally:
            del self.going[step]
        return [
            None if isinstance(f, Operation) else given.get(f.name, found.get(f.name))
            for f in plan.fetches
        ]

    def named(self, step: Step, error: BaseException) -> BaseException:
        """Return the error that a user gets for one that has ended a step."""
        if self.was_reset and isinstance(error, GivenUpError):
            return AbortedError(WAS_RESET)
        if self.closed and not self.was_reset and isinstance(error, AbortedError | GivenUpError):
            return CancelledError("Session has been closed.")
        if isinstance(error, GivenUpError):
            return AbortedError(f"the step was given up: {self.task.aborted[step]}")
        if isinstance(error, LateError):
            return AbortedError(error.message, hint=error.hint)
        return error

    def finished(
        self, cut: Cut, plan: Plan, step: Step, given: Mapping[str, Array], others: Sequence[str]
    ) -> dict[str, object]:
        """Carry out this task's part, wait for the others; return all that was fetched."""
        found: dict[str, object] = {}
        try:
            if self.task.name in cut.parts:
                part = cut.parts[self.task.name]
                fed = {name: given[name] for name in part.fed}
                found |= self.task.carry_out(self.own[plan], step, fed)
        except (AbortedError, GivenUpError, LateError, TimeOverError):
            self.why(step, others)
            raise
        for name in others:
            (wrong, values), _ = self.task.received(("done", step, name), step, [name])
            if wrong is not None:
                raise raised(name, wrong)
            found |= values
        return found

    def close(self) -> None:
        """Let all tasks give up the steps that have not ended."""
        self.closed = True
        for step, others in [*self.going.items()]:
            self.task.abort(step, others, "its session was closed")
        self.leave()
        tell_gone(self.task)

    def why(self, step: Step, others: Sequence[str]) -> None:
        """Raise the error of another task, if one has told of one: it is why this one waits."""
        for name in others:
            told = self.task.box.found(("done", step, name))
            if told is not None and told[1][0] is not None:
                raise raised(name, told[1][0])


def tell_gone(task: Task) -> None:
    """Let all tasks let go what belongs to sessions that nobody here has any more."""
    while task.gone:
        session, told = task.gone.popleft()
        task.forget_session(session)
        for name in sorted(told):
            task.box.send(("leave", session), session, task.ranks[name])


def number_draws(ops: Iterable[Operation]) -> None:
    """Give random operations numbers by which their copies in parts of plans count on."""
    for op in ops:
        for each in (op, *inside(op)):
            if each.kind.draws:
                each.attributes.setdefault(DRAWN_AS, next(NUMBERS))


def tasks_of(plan: Plan, places: Mapping[Operation, str], devices: Sequence[str]) -> TaskPlaces:
    """Return the tasks of the operations of a plan, also of those inside of others."""
    found = TaskPlaces(devices)
    found.add(plan, {op: task_of(name) for op, name in places.items()})
    return found


def explained(
    plan: Plan,
    places: Mapping[Operation, str],
    devices: Sequence[str],
    reasons: Mapping[Operation, str] | None = None,
    bits: int = 32,
) -> Partition:
    """Return where the operations of a plan run on the tasks of a cluster, why, and what is sent.

    `devices` are those of all tasks, that of the session's first.
    """
    found, why = tasks_of(plan, places, devices), {**(reasons or {})}
    for op in plan.ops:
        if op in found.split:
            tasks = [device_of(found.tasks[op]), *map(device_of, found.asked(op, found.tasks[op]))]
            why[op] = f"is carried out together by {', '.join(dict.fromkeys(tasks))}"
        elif device_of(found.tasks[op]) != places[op]:
            why[op] = "is where its variables are, or what is inside of it"
    where = {op: device_of(found.tasks[op]) for op in plan.ops}
    return partition(plan, where, devices, why, bits)


def told_part(part: TaskPart, *, here: bool) -> TaskPart:
    """Return a part with its graphs as data; `here` they may call Python, and are left as they are.

    Raises `NotSerialisableError` for what only the process can do that has the session.
    """

    def inner(each: Inner) -> Inner:
        return each if each.part is None else replace(each, part=told_part(each.part, here=here))

    graph = part.graph
    assert isinstance(graph, Graph), "it was just made"
    data, refused = graph_data(graph)
    if refused and not here:
        raise NotSerialisableError(
            f"{'; '.join(refused)}: it cannot run on {part.task}, only where the session is"
        )
    segments = [
        replace(each, splits=[
            replace(split, inners=[inner(x) for x in split.inners]) for split in each.splits
        ])
        for each in part.segments
    ]  # fmt: skip
    sources = {op.name: op.source for op in graph.operations}
    return replace(part, graph=graph if refused else ToldGraph(data, sources), segments=segments)


TASKS: dict[str, Task] = {}
"""The tasks that this process is, by the targets of sessions."""
CLIENTS: WeakSet[Client] = WeakSet()
"""Those that begin steps."""
WAS_RESET = "the session is over: containers of its target were reset"


def reset(target: str, containers: Sequence[str] | None, patience: float = 0.0) -> None:
    """Forget what is in containers of all tasks; the sessions of the target are over.

    A server that is not here is waited for in vain for so many seconds.
    """
    if patience and target not in TASKS and target.startswith("grpc://"):
        raise DeadlineExceededError(f"no server of target {target!r} within {patience} s")
    task = task_for(target)
    for client in [each for each in CLIENTS if each.task is task]:
        client.was_reset = True
        client.close()
    task.reset(containers)


def task_for(target: str) -> Task:
    """Return the task of a target, or say that there is no such."""
    task = TASKS.get(target)
    if task is None:
        known = ", ".join(TASKS) or "none: make a tf.distribute.Server first"
        raise NotFoundError(
            f"No session factory registered for the target {target!r}: there is no such server "
            f"in this process, known are {known}"
        )
    return task


def client_for(target: str, *, isolated: bool = False) -> Client:
    """Return what begins the steps of a session with a target, or say that there is no such.

    One that is isolated shares no variables and queues with other sessions.
    """
    task = task_for(target)
    made = Client(task, task.name, isolated=isolated)
    CLIENTS.add(made)
    return made

"""On which tasks operations run: where they are asked to, or where their variables are.

A choice, a call or a loop that asks for several tasks inside is split between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..graph.execute import Plan
from ..graph.gradients import Backward
from ..graph.graph import Operation
from ..graph.placement import place
from ..graph.variables import VariableState
from ..values.devices import PlacementError, parse_device
from .closed import Closed, inside, unrepeatable
from .cut import inner_graphs


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


def users_of_queue(op: Operation) -> list[Operation]:
    """Return all operations on the queue that one is on, whose task is that of the queue."""
    queue = getattr(op.kind, "queue", None)
    if queue is None:
        return []
    return [each for each in op.graph.operations if getattr(each.kind, "queue", None) is queue]


class TaskPlaces:
    """The tasks of operations, also of those inside of others."""

    def __init__(self, devices: Sequence[str]) -> None:
        self.devices = list(devices)
        """The full names of the devices of all tasks."""
        self.tasks: dict[Operation, str] = {}
        self.split: set[Operation] = set()
        """Those that several tasks carry out, or one whose inside is noted."""
        self.recorded: set[Operation] = set()
        """Those that are run once more, as their gradients are taken."""

    def closed(self) -> Closed:
        """Return what is split, with the reads that go before it, on tasks as well."""
        made = Closed(frozenset(self.split), self.recorded)
        for op, reads in made.reads.items():
            for read in reads.values():
                self.tasks[read] = self.place(read, self.tasks[op])
        return made

    def add(self, plan: Plan, wanted: Mapping[Operation, str]) -> None:
        """Place the operations of a plan, of which each is wanted on a task."""
        self.recorded |= {op.kind.forward for op in plan.ops if isinstance(op.kind, Backward)}
        self.recorded |= {f for op in plan.ops if (f := op.attributes.get("forward")) is not None}
        for op in plan.ops:
            self.tasks[op] = self.place(op, wanted[op])

    def place(self, op: Operation, task: str) -> str:
        """Return the task of an operation: where its variables are, or where it has its operands.

        What asks for several tasks inside is split; refuse what cannot be.
        """
        asked = self.asked(op, task)
        if len(asked) == 1:
            return asked[0]
        if not asked:
            return task
        inner = inner_graphs(op)
        why = "" if inner else "as a whole"
        if op in self.recorded and (effects := unrepeatable(op)):
            why = f"as its gradient is taken and it {effects}"
        if why:
            tasks = ", ".join(sorted(asked))
            raise PlacementError(
                f"'{op.name}' ({op.type}) runs on one task {why}, and asks for {tasks}",
                location=op.source,
            )
        self.share(op, task)
        return task

    def share(self, op: Operation, task: str) -> None:
        """Let an operation be carried out by the tasks that what is inside of it is on."""
        self.split.add(op)
        for graph in inner_graphs(op):
            plan = graph.whole_plan()
            first = sorted(self.devices, key=lambda name: task_of(name) != task)
            found = place(plan.ops, first)
            self.add(plan, {each: task_of(name) for each, name in found.items()})

    def note(self, ops: Iterable[Operation]) -> None:
        """Let what is read inside of operations of one task be noted: they are run once more."""
        for op in ops:
            if effects := unrepeatable(op):
                raise PlacementError(
                    f"'{op.name}' ({op.type}) would run once more on {self.tasks[op]}, as its "
                    f"gradient is taken in a later stage and it {effects}",
                    location=op.source,
                )
            self.share(op, self.tasks[op])

    def asked(self, op: Operation, task: str) -> list[str]:
        """Return the tasks that an operation has to do with: by its variables, by what is inside.

        Those that ask for nothing inside ask for where the operation is.
        """
        handle = op.attributes.get("variable")
        own = [] if handle is None else [handle()]
        states = [x for x in (*own, *op.kind.touched()) if isinstance(x, VariableState)]
        homes = [state.home for state in states if state.home is not None]
        homes += users_of_queue(op)
        found = [task_of(name) for name in place(homes, self.devices).values()]
        inner = [each for each in inside(op) if each.device]
        found += [task_of(name) for name in place(inner, self.devices).values()]
        if op.device and inner:
            found = [task, *found]
        return list(dict.fromkeys(found))

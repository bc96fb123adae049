"""Let values of other tasks come just before they are needed, not as soon as they are made.

    ps:0      big = ...  ----------------.             big = ...  - - - - - - .
    worker:0  recv big | a | b | c = f(big)     =>     a | b | recv big | c = f(big)
              ^ takes room while a and b are at work       ^ waits for a, by a control edge

(White paper, section 5.2.) Each operation starts as soon as its operands and its device allow
(ASAP), and may start as late as nothing else would end later for it (ALAP). A receive is made to
wait for the last operation of its task that ends so early that the value still comes in time. The
operations of a task are put in another order where less is kept then (list scheduling: of those
that are ready, the one that frees most). Each of these is kept only if less room is taken, and
the step does not end later, by the cost model. Needs a plan that is cut between tasks; leaves what
is computed as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ..graph.graph import GraphTensor, Operation
from ..graph.kinds import Const
from ..graph.partition import bytes_of
from .cut import Cut, Delays, touched_by
from .places import device_of
from .simulate import CostModel

SLACK = 1e-9
"""Seconds that are none: sums of times are rounded."""
EFFECTS = "effects"
"""What all operations touch that have an effect outside of the graph."""


@dataclass
class Timetable:
    """When the operations of a plan run, and how much room each task takes at most, in bytes."""

    starts: dict[Operation, float] = field(default_factory=dict)
    ends: dict[Operation, float] = field(default_factory=dict)
    receives: dict[tuple[GraphTensor, str], tuple[float, float]] = field(default_factory=dict)
    """From when to when a value is on its way to a task."""
    makespan: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)

    @property
    def peak(self) -> int:
        """Return the bytes of all tasks, each at its most."""
        return sum(self.peaks.values())

    def __str__(self) -> str:
        """Return a line for each operation and receive, in the order of their beginnings."""
        rows = [(start, self.ends[op], op.name) for op, start in self.starts.items()]
        rows += [(a, b, f"recv {t.name} on {task}") for (t, task), (a, b) in self.receives.items()]
        lines = [f"{start:g} to {end:g}: {name}" for start, end, name in sorted(rows)]
        room = ", ".join(f"{task} {count}" for task, count in sorted(self.peaks.items()))
        return "\n".join([*lines, f"room: {room}"])


class TimedCut:
    """A plan that is cut, for trying what it takes in some order with some delays."""

    def __init__(self, cut: Cut, costs: CostModel) -> None:
        self.cut, self.costs = cut, costs
        self.ops = [op for op in cut.in_order(Delays()) if not isinstance(op.kind, Const)]
        self.seconds = {op: costs.seconds(op, device_of(cut.places[op])) for op in self.ops}
        fetched = {f for f in cut.plan.fetches if isinstance(f, GraphTensor)}
        self.users = {tensor: self.users_of(tensor) for op in self.ops for tensor in op.outputs}
        self.kept = {tensor for tensor in self.users if tensor in fetched}

    def users_of(self, tensor: GraphTensor) -> list[Operation]:
        """Return the operations of the plan that use a value."""
        return [op for op in dict.fromkeys(tensor.users) if op in self.cut.places]

    def operands(self, op: Operation) -> list[GraphTensor]:
        """Return what an operation takes that the plan makes, each once."""
        return [t for t in dict.fromkeys(op.inputs) if t in self.users]

    def before(self, op: Operation) -> list[Operation]:
        """Return the operations that one waits for."""
        forward = op.attributes.get("forward")
        made = [t.op for t in self.operands(op)]
        found = [*made, *op.control_inputs, *([] if forward is None else [forward])]
        return [each for each in found if each in self.seconds]

    def timetable(self, delays: Delays) -> Timetable:
        """Return when everything runs as soon as it can (ASAP), one operation a task at a time."""
        made, free, places = Timetable(), dict[str, float](), self.cut.places
        for op in self.in_order(delays):
            task = places[op]
            start = free.get(task, 0.0)
            for tensor in self.operands(op):
                start = max(start, self.comes(tensor, task, made, delays))
            for other in op.control_inputs:
                if other in made.ends:
                    message = 0.0 if places[other] == task else self.costs.latency
                    start = max(start, made.ends[other] + message)
            made.starts[op] = start
            made.ends[op] = free[task] = start + self.seconds[op]
        made.makespan = max(made.ends.values(), default=0.0)
        made.peaks = self.peaks(made)
        return made

    def in_order(self, delays: Delays) -> list[Operation]:
        """Return the operations in the order in which the tasks carry them out."""
        return [op for op in self.cut.in_order(delays) if op in self.seconds]

    def comes(self, tensor: GraphTensor, task: str, made: Timetable, delays: Delays) -> float:
        """Return when a value is on a task, to which it is sent once."""
        ready = made.ends[tensor.op]
        if self.cut.places[tensor.op] == task:
            return ready
        if (tensor, task) not in made.receives:
            after = delays.receives.get((tensor, task))
            start = ready if after is None else max(ready, made.ends[after] + self.costs.latency)
            made.receives[tensor, task] = start, start + self.costs.transfer(tensor)
        return made.receives[tensor, task][1]

    def peaks(self, made: Timetable) -> dict[str, int]:
        """Return how many bytes of values live on each task at most."""
        changes: dict[str, list[tuple[float, int]]] = {}
        for tensor, users in self.users.items():
            size, home = bytes_of(tensor) or 0, self.cut.places[tensor.op]
            lives = {home: (made.starts[tensor.op], made.ends[tensor.op])}
            for (sent, task), (start, end) in made.receives.items():
                if sent is tensor:
                    lives[task] = start, end
                    lives[home] = lives[home][0], max(lives[home][1], end)
            for user in users:
                task = self.cut.places[user]
                lives[task] = lives[task][0], max(lives[task][1], made.ends[user])
            for task, (start, end) in lives.items():
                last = made.makespan if tensor in self.kept else end
                changes.setdefault(task, []).extend([(start, size), (last, -size)])
        return {task: most(found) for task, found in changes.items()}

    def latest(self, made: Timetable, delays: Delays) -> dict[Operation, float]:
        """Return when each operation may start at the latest so that nothing ends later (ALAP)."""
        ends = dict.fromkeys(self.ops, made.makespan)
        nexts: dict[str, float] = {}
        found: dict[Operation, float] = {}
        for op in reversed(self.in_order(delays)):
            task = self.cut.places[op]
            end = min(ends[op], nexts.get(task, made.makespan))
            found[op] = nexts[task] = end - self.seconds[op]
            for tensor in self.operands(op):
                way = 0.0 if self.cut.places[tensor.op] == task else self.costs.transfer(tensor)
                ends[tensor.op] = min(ends[tensor.op], found[op] - way)
            for other in op.control_inputs:
                if other in ends:
                    ends[other] = min(ends[other], found[op])
        return found

    def waits(self) -> dict[Operation, set[Operation]]:
        """Return what each operation waits for, whatever the order.

        Those that touch the same variable or queue stay in their order, and those with effects.
        """
        found = {op: set(self.before(op)) for op in self.ops}
        touched: dict[object, Operation] = {}
        for op in self.ops:
            effects = [EFFECTS] if op.kind.stateful or op.kind.is_python else []
            for thing in (*effects, *chain(*touched_by(op))):
                if thing in touched and touched[thing] is not op:
                    found[op].add(touched[thing])
                touched[thing] = op
        return found

    def by_memory(self) -> list[Operation]:
        """Return the operations by list scheduling: of those that are ready, what frees most."""
        waits = self.waits()
        left = {t: len(users) + (t in self.kept) for t, users in self.users.items()}
        places = {op: place for place, op in enumerate(self.ops)}
        behind: dict[Operation, list[Operation]] = {op: [] for op in self.ops}
        for op, others in waits.items():
            for other in others:
                behind[other].append(op)

        def cost(op: Operation) -> tuple[int, int]:
            taken = sum(bytes_of(t) or 0 for t in self.operands(op) if left[t] == 1)
            return sum(bytes_of(t) or 0 for t in op.outputs) - taken, places[op]

        ready, found = [op for op in self.ops if not waits[op]], list[Operation]()
        while ready:
            op = min(ready, key=cost)
            ready.remove(op)
            found.append(op)
            for tensor in self.operands(op):
                left[tensor] -= 1
            for other in behind[op]:
                waits[other].discard(op)
                if not waits[other]:
                    ready.append(other)
        return found


def most(changes: Sequence[tuple[float, int]]) -> int:
    """Return the largest sum of changes, in the order of their times; what ends goes first."""
    total = highest = 0
    for _, change in sorted(changes):
        total += change
        highest = max(highest, total)
    return highest


def is_better(new: Timetable, old: Timetable) -> bool:
    """Say whether less room is taken, and the step ends no later."""
    least = max(new.peaks.values(), default=0) <= max(old.peaks.values(), default=0)
    return new.peak < old.peak and least and new.makespan <= old.makespan + SLACK


def delayed(cut: Cut, costs: CostModel) -> Delays:
    """Return in which order the tasks of a plan work, and which receives wait for what."""
    steps, found = TimedCut(cut, costs), Delays()
    best = steps.timetable(found)
    order = Delays({op: place for place, op in enumerate(steps.by_memory())})
    timetable = steps.timetable(order)
    if is_better(timetable, best):
        found, best = order, timetable
    ways = sorted(best.receives, key=lambda way: -(bytes_of(way[0]) or 0))
    for tensor, task in ways:
        after = steps_before(steps, best, found, (tensor, task))
        if after is None:
            continue
        tried = replace(found, receives={**found.receives, (tensor, task): after})
        timetable = steps.timetable(tried)
        if is_better(timetable, best):
            found, best = tried, timetable
    return found


def steps_before(
    steps: TimedCut, made: Timetable, delays: Delays, way: tuple[GraphTensor, str]
) -> Operation | None:
    """Return the last operation that a receive can wait for, None if it should not wait."""
    tensor, task = way
    places, latest = steps.cut.places, steps.latest(made, delays)
    here = [op for op in steps.in_order(delays) if places[op] == task]
    first = next(op for op in here if tensor in op.inputs)
    if first in steps.cut.split or made.receives[way][1] >= latest[first]:
        return None
    needed = latest[first] - steps.costs.transfer(tensor) - steps.costs.latency
    earlier = here[: here.index(first)]
    fitting = [
        op for op in earlier if made.ends[op] <= needed + SLACK and op not in steps.cut.split
    ]
    return fitting[-1] if fitting else None

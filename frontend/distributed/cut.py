"""Cut a plan between tasks: what each is to carry out, in stages, and what is sent when.

    worker:  x = ...            stage 0        ps:  w (read)                stage 0
             y = x * w          stage 1             w -= y                  stage 2

An operation is in the stage that counts over how many edges between tasks its operands have come,
so that all that a stage needs from others was made in earlier stages: tasks that go through their
stages in order never wait for each other in a circle. Constants are copied to who uses them; a
value is sent once to each task that uses it, and a control edge is a message without a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..graph.execute import Plan
from ..graph.gradients import Backward
from ..graph.graph import Graph, GraphTensor, Operation
from ..graph.kinds import Const, Placeholder

PLACEHOLDER = Placeholder()


@dataclass
class TaskSegment:
    """What one task does in one stage; tensors are called by their names in the whole graph."""

    stage: int
    ops: list[str] = field(default_factory=list)
    """The operations of the part's graph."""
    feeds: dict[str, str] = field(default_factory=dict)
    """By name: the tensor of the part's graph that stands for a value made before."""
    fetches: dict[str, str] = field(default_factory=dict)
    """By name: the tensor of the part's graph that is used elsewhere or later."""
    receives: dict[str, str] = field(default_factory=dict)
    """By name: the task that a value comes from, which this segment is the first to need."""
    sends: list[tuple[str, str]] = field(default_factory=list)
    """Names, and the tasks that they go to."""


@dataclass
class TaskPart:
    """What one task does in a step."""

    task: str
    graph: Graph
    segments: list[TaskSegment] = field(default_factory=list)
    fed: list[str] = field(default_factory=list)
    """What the caller gives, by name."""
    fetched: list[str] = field(default_factory=list)
    """What the caller gets, by name."""


class Cut:
    """A plan that is cut between tasks."""

    def __init__(self, plan: Plan, places: Mapping[Operation, str]) -> None:
        self.plan = plan
        self.places = {op: places[self.follows(op)] for op in plan.ops}
        self.makers = {tensor: op for op in plan.ops for tensor in op.outputs}
        self.stages = self.staged()
        self.parts: dict[str, TaskPart] = {}
        self.known: dict[tuple[str, object], Any] = {}
        """By task: what stands there for a tensor or an operation."""
        self.segments: dict[tuple[str, int], TaskSegment] = {}
        for op in sorted(plan.ops, key=lambda op: (self.stages[op], op.index)):
            if not isinstance(op.kind, Const):
                self.copy(op, self.places[op], self.stages[op])
        for fetch in plan.fetches:
            if isinstance(fetch, GraphTensor) and fetch not in plan.fed:
                self.fetch(fetch)
        for part in self.parts.values():
            part.segments.sort(key=lambda segment: segment.stage)

    @staticmethod
    def follows(op: Operation) -> Operation:
        """Return the operation whose task this one runs on: of a gradient, what it is of."""
        return op.kind.forward if isinstance(op.kind, Backward) else op

    def staged(self) -> dict[Operation, int]:
        """Return the stage of each operation.

        What uses a variable or a queue stays in the order in which it was made.
        """
        found: dict[Operation, int] = {}
        written: dict[object, int] = {}
        used: dict[object, int] = {}
        for op in self.plan.ops:
            before = [self.makers[t] for t in op.inputs if t not in self.plan.fed]
            forward = op.attributes.get("forward")
            before += [*op.control_inputs, *([] if forward is None else [forward])]
            steps = [
                found[each] + (self.places[each] != self.places[op])
                for each in before
                if each in found and not isinstance(each.kind, Const)
            ]
            writes, reads = touched_by(op)
            steps += [used[x] for x in writes if x in used]
            steps += [written[x] for x in reads if x in written]
            found[op] = stage = max(steps, default=0)
            written |= dict.fromkeys(writes, stage)
            used |= {x: max(stage, used.get(x, 0)) for x in (*writes, *reads)}
        return found

    def segment(self, task: str, stage: int) -> TaskSegment:
        """Return what a task does in a stage."""
        if (task, stage) not in self.segments:
            made = self.segments[task, stage] = TaskSegment(stage)
            self.part(task).segments.append(made)
        return self.segments[task, stage]

    def part(self, task: str) -> TaskPart:
        """Return what a task does."""
        return self.parts.setdefault(task, TaskPart(task, Graph()))

    def copy(self, op: Operation, task: str, stage: int) -> Operation:
        """Add an operation to the graph of a task."""
        segment, graph = self.segment(task, stage), self.part(task).graph
        inputs = [self.operand(tensor, task, stage) for tensor in op.inputs]
        skipped = ("draws", "forward")
        attributes = {name: value for name, value in op.attributes.items() if name not in skipped}
        kind = op.kind
        forward = op.attributes.get("forward")
        if isinstance(kind, Backward) and forward is not None:
            again = self.known.get((task, forward))
            if again is None or self.stages[forward] != stage:
                again = self.copy(forward, task, stage)
            kind = Backward(again, kind.wanted, kind.of_variables)
            attributes["forward"] = again
        specs = [tensor.spec for tensor in op.outputs]
        made = graph.add(kind, inputs, attributes, specs=specs, name=op.name)
        made.source = op.source
        made.device = ""
        for before in op.control_inputs:
            self.wait(made, before, task, stage)
        if (task, op) not in self.known:
            self.known[task, op] = made
            self.known |= {(task, a): b for a, b in zip(op.outputs, made.outputs, strict=True)}
        segment.ops.append(made.name)
        return made

    def wait(self, made: Operation, before: Operation, task: str, stage: int) -> None:
        """Let an operation wait for another one, by an edge, its stage, or a message."""
        source = self.places.get(before)
        if source is None or isinstance(before.kind, Const):
            return  # all of it is fed
        if source != task:
            self.send(f"^{before.name}", before, task, stage)
        elif self.stages[before] == stage:
            made.control_inputs.append(self.known[task, before])

    def operand(self, tensor: GraphTensor, task: str, stage: int) -> GraphTensor:
        """Return what stands for a tensor in a segment: made there, earlier, elsewhere, or fed."""
        key, op = (task, tensor), self.makers.get(tensor)
        found: GraphTensor
        if op is not None and isinstance(op.kind, Const) and tensor not in self.plan.fed:
            if key not in self.known:
                self.copy(op, task, stage)
            found = self.known[key]  # (a constant is found again by whoever needs it)
            return found
        if tensor in self.plan.fed or op is None or self.places[op] != task:
            if key not in self.known:
                graph = self.part(task).graph
                name = f"{tensor.op.name}/_{tensor.value_index}"
                made = graph.add(PLACEHOLDER, (), {"spec": tensor.spec}, name=name)
                made.device = ""
                self.known[key] = made.outputs[0]
                if op is None or tensor in self.plan.fed:
                    self.part(task).fed.append(tensor.name)
                else:
                    self.send(tensor.name, op, task, stage)
                    self.give(tensor, self.segment(self.places[op], self.stages[op]))
            self.segment(task, stage).feeds[tensor.name] = self.known[key].name
        elif self.stages[op] != stage:
            self.segment(task, stage).feeds[tensor.name] = self.known[key].name
            self.give(tensor, self.segment(task, self.stages[op]))
        found = self.known[key]
        return found

    def give(self, tensor: GraphTensor, segment: TaskSegment) -> None:
        """Let a segment that has made a tensor give it to others."""
        task = self.places[self.makers[tensor]]
        segment.fetches[tensor.name] = self.known[task, tensor].name

    def send(self, name: str, op: Operation, task: str, stage: int) -> None:
        """Let what an operation gives be sent to a task, once, before a stage of that."""
        source = self.segment(self.places[op], self.stages[op])
        if (name, task) not in source.sends:
            source.sends.append((name, task))
            self.segment(task, stage).receives[name] = self.places[op]

    def fetch(self, tensor: GraphTensor) -> None:
        """Let the caller get a tensor."""
        op = self.makers[tensor]
        task = self.places[op]
        if isinstance(op.kind, Const):
            self.operand(tensor, task, 0)
        segment = self.segment(task, self.stages[op])
        self.give(tensor, segment)
        if tensor.name not in self.part(task).fetched:
            self.part(task).fetched.append(tensor.name)

    @property
    def sent(self) -> list[tuple[str, str, str]]:
        """Return what is sent in a step: name, from which task, to which."""
        return [
            (name, part.task, task)
            for part in self.parts.values()
            for segment in part.segments
            for name, task in segment.sends
        ]


def touched_by(op: Operation) -> tuple[list[object], list[object]]:
    """Return what an operation changes, and what it reads: variables and queues."""
    queue = getattr(op.kind, "queue", None)
    if queue is not None:
        return [queue], []
    handle = op.attributes.get("variable")
    inner = [x for x in op.kind.touched() if hasattr(x, "turn")]
    own = [] if handle is None else [handle()]
    changes = bool(op.kind.changed(op)) or (op.kind.stateful and bool(inner))
    return ([*own, *inner], []) if changes else ([], [*own, *inner])

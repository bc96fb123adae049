"""Cut a plan between tasks: what each is to carry out, in stages, and what is sent when.

    worker:  x = ...            stage 0        ps:  w (read)                stage 0
             y = x * w          stage 1             w -= y                  stage 2

An operation is in the stage that counts over how many edges between tasks its operands have come,
so that all that a stage needs from others was made in earlier stages: tasks that go through their
stages in order never wait for each other in a circle; parts of a batch that follow each other begin
in stages that do (`micro_batches`). Constants are copied to who uses them; a
value is sent once to each task that uses it, and a control edge is a message without a value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..function.graph_data import GraphData
from ..graph.control_flow import GraphChoice, GraphLoop
from ..graph.execute import Plan, Wishes
from ..graph.func_graph import CallGraph, FuncGraph
from ..graph.gradients import Backward
from ..graph.graph import Graph, GraphTensor, Operation
from ..graph.kinds import Const, Placeholder
from ..graph.transfers import ATTRIBUTE, BITS, is_cut, sent_to
from .closed import Closed, inside, is_noted
from .micro_batches import first_stage

PLACEHOLDER = Placeholder()


@dataclass(frozen=True)
class Delays:
    """In which order tasks work, and what they wait for before they let a value come."""

    order: Mapping[Operation, int] = field(default_factory=dict)
    """Places of operations, where they are not those in which they were made."""
    receives: Mapping[tuple[GraphTensor, str], Operation] = field(default_factory=dict)
    """By a value and the task that gets it: what is to end there before it is sent."""


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
    cut: set[tuple[str, str]] = field(default_factory=set)
    """Those of them that are sent as the upper 16 bits of their numbers."""
    held: set[tuple[str, str]] = field(default_factory=set)
    """Those of them that are sent when they are asked for."""
    notes: set[Hashable] = field(default_factory=set)
    """What reads in it are of that are noted if an operation around it is run once more."""
    tells: dict[str, str] = field(default_factory=dict)
    """Operations that run once more, and whose notes tell what they have read."""
    asks: list[tuple[str, str]] = field(default_factory=list)
    """What is asked for behind the segment: names, and the tasks that have them."""
    splits: list[Split] = field(default_factory=list)
    """Choices and loops that other tasks take part in, which follow the operations."""


@dataclass
class ToldGraph:
    """A graph as data, with the line that each operation comes from."""

    data: GraphData
    sources: dict[str, str]


@dataclass
class TaskPart:
    """What one task does in a step."""

    task: str
    graph: Graph | ToldGraph
    segments: list[TaskSegment] = field(default_factory=list)
    fed: list[str] = field(default_factory=list)
    """What the caller gives, by name."""
    fetched: list[str] = field(default_factory=list)
    """What the caller gets, by name."""
    isolated: bool = False
    """Whether the session shares no variables and queues with others."""
    wishes: Wishes = field(default_factory=Wishes)
    """How the session wants its plans compiled."""


@dataclass
class Inner:
    """A graph inside of an operation that is split: who uses its inputs, and makes its outputs."""

    inputs: list[str]
    users: list[list[str]]
    outputs: list[tuple[str, str]]
    """Each by its name in the graph, and the task that has it."""
    part: TaskPart | None = None
    """What the task does whose segment it is, if anything."""


@dataclass
class Split:
    """A choice, a call or a loop that several tasks carry out together."""

    name: str
    home: str
    """The task that has the operands, and gets the results."""
    tasks: list[str]
    operands: list[str]
    results: list[str]
    inners: list[Inner]
    indexed: bool = False
    """Whether the first operand says which of the graphs is carried out."""
    carried: int | None = None
    """How many values a loop carries; its graphs are the test and the body."""
    notes: bool = False
    """Whether what is read inside is noted for its home."""
    is_cut: bool = False
    """Whether its operands, what it carries and its results are sent in 16 bits."""


class Cut:
    """A plan that is cut between tasks; of operations that are split each graph inside, too."""

    def __init__(
        self,
        plan: Plan,
        places: Mapping[Operation, str],
        closed: Closed | None = None,
        bits: int = 32,
        delays: Delays | None = None,
    ) -> None:
        self.plan, self.whole, self.bits = plan, places, bits
        self.closed = closed or Closed(frozenset())
        self.split = self.closed.split
        self.delays = delays or Delays()
        self.ops = self.closed.with_reads(plan.ops)
        self.places = {op: places[self.follows(op)] for op in self.ops}
        self.makers = {tensor: op for op in self.ops for tensor in op.outputs}
        self.stages = self.staged()
        self.stages = self.divided()
        self.users = sent_to(self.ops, plan.fed, self.places)
        """What is sent to which task, with the operations that use it there."""
        self.again = list(self.run_again())
        """Those that would be run once more by their task, and give something else then."""
        self.parts: dict[str, TaskPart] = {}
        self.known: dict[tuple[str, object], Any] = {}
        """By task: what stands there for a tensor or an operation."""
        self.segments: dict[tuple[str, int], TaskSegment] = {}
        for op in self.in_order(self.delays):
            if op in self.split:
                self.cut_inside(op, self.places[op], self.stages[op])
            elif not isinstance(op.kind, Const):
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
        for op in self.ops:
            before = [self.makers[t] for t in op.inputs if t not in self.plan.fed]
            forward = op.attributes.get("forward")
            before += [*op.control_inputs, *([] if forward is None else [forward])]
            steps = [
                found[each] + (self.places[each] != self.places[op] or each in self.split)
                for each in before
                if each in found and not isinstance(each.kind, Const)
            ]
            writes, reads = touched_by(op)
            steps += [used[x] for x in writes if x in used]
            steps += [written[x] for x in reads if x in written]
            found[op] = stage = max([first_stage(op), *steps]) + (op in self.split)
            behind = stage + (op in self.split)  # (what is split follows all else of its stage)
            written |= dict.fromkeys(writes, behind)
            used |= {x: max(behind, used.get(x, 0)) for x in (*writes, *reads)}
        return found

    def run_again(self) -> Iterator[Operation]:
        """Give the operations of one task whose gradients are taken in a later stage of it."""
        late: dict[Operation, None] = {}
        for op in self.ops:
            forward = op.attributes.get("forward")
            while forward is not None:
                if self.stages.get(forward) != self.stages[op] and forward not in self.split:
                    late[forward] = None
                forward = forward.attributes.get("forward")
        for op in late:
            if inner_graphs(op) and any(map(gives_others, (op, *inside(op)))):
                yield op

    def in_order(self, delays: Delays) -> list[Operation]:
        """Return the operations in the order in which tasks carry them out."""
        order = delays.order
        return sorted(self.ops, key=lambda op: (self.stages[op], order.get(op, op.index)))

    def divided(self) -> dict[Operation, int]:
        """Return stages so that one ends where a value is asked for, or begins where it is needed.

        What is split stays behind all else of its stage.
        """
        receives = self.delays.receives
        if not receives:
            return self.stages
        ends, starts = set(receives.values()), set[Operation]()
        for tensor, task in receives:
            users = [op for op in self.in_order(self.delays) if self.places[op] == task]
            starts.add(next(op for op in users if tensor in op.inputs))
        found: dict[Operation, int] = {}
        parts: dict[tuple[str, int], int] = {}
        most = 2 * len(receives) + 2
        for op in self.in_order(self.delays):
            key = self.places[op], self.stages[op]
            part = parts.get(key, 0) + (op in starts)
            found[op] = key[1] * most + (most - 1 if op in self.split else part)
            parts[key] = part + (op in ends)
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

    def graph(self, task: str) -> Graph:
        """Return the graph of what a task does."""
        found = self.part(task).graph
        assert isinstance(found, Graph), "it is being made"
        return found

    def cut_inside(self, op: Operation, home: str, stage: int) -> None:
        """Let several tasks carry an operation out: each graph inside of it is cut between them."""
        inside = [self.inner(graph, home) for graph in inner_graphs(op)]
        tasks = list(dict.fromkeys([home, *(task for _, parts in inside for task in parts)]))
        operands = [self.handed(tensor, home, stage) for tensor in op.inputs]
        results = [tensor.name for tensor in op.outputs]
        loop = isinstance(op.kind, GraphLoop)
        for task in tasks:
            inners = [replace(inner, part=parts.get(task)) for inner, parts in inside]
            made = Split(op.name, home, tasks, operands, results, inners)
            made.carried = len(results) if loop else None
            made.notes = op in self.closed.noted
            made.indexed = isinstance(op.kind, GraphChoice)
            made.is_cut = op.attributes.get(ATTRIBUTE, self.bits) == min(BITS)
            self.segment(task, stage).splits.append(made)
            for before in op.control_inputs:
                source = self.places.get(before)
                if source not in (None, task) and not isinstance(before.kind, Const):
                    self.send(f"^{before.name}", before, task, stage)
        for tensor in op.outputs:
            self.known[home, tensor] = self.slot(tensor, home)

    def inner(self, graph: FuncGraph, home: str) -> tuple[Inner, dict[str, TaskPart]]:
        """Return who uses and makes what of a graph inside, and what each task does of it.

        An output that is an input is passed on by the home.
        """
        cut = Cut(graph.whole_plan(), self.whole, self.closed, self.bits)
        self.again += cut.again
        given = {tensor.name for tensor in graph.all_inputs}
        outputs = [
            (t.name, home if t.name in given else cut.places[t.op])
            for t in map(edge, graph.outputs)
        ]
        passed = {name for name, _ in outputs if name in given}
        users = []
        for name in (tensor.name for tensor in graph.all_inputs):
            found = [task for task, part in cut.parts.items() if name in part.fed]
            users.append(list(dict.fromkeys([*found, *([home] if name in passed else [])])))
        inputs = [tensor.name for tensor in graph.all_inputs]
        return Inner(inputs, users, outputs), cut.parts

    def handed(self, tensor: GraphTensor, task: str, stage: int) -> str:
        """See that a task knows a value before what is split in a stage; return its name."""
        found = self.operand(tensor, task, stage)
        if tensor.name not in self.segment(task, stage).feeds:
            self.segment(task, stage).fetches[tensor.name] = found.name
        return tensor.name

    def slot(self, tensor: GraphTensor, task: str) -> GraphTensor:
        """Return what stands in the graph of a task for a value that it does not make."""
        name = f"{tensor.op.name}/_{tensor.value_index}"
        made = self.graph(task).add(PLACEHOLDER, (), {"spec": tensor.spec}, name=name)
        made.device = ""
        found: GraphTensor = made.outputs[0]
        return found

    def copy(self, op: Operation, task: str, stage: int) -> Operation:
        """Add an operation to the graph of a task."""
        segment, graph = self.segment(task, stage), self.graph(task)
        inputs = [self.operand(tensor, task, stage) for tensor in self.closed.taken(op).inputs]
        skipped = ("draws", "forward")
        attributes = {name: value for name, value in op.attributes.items() if name not in skipped}
        kind, order = self.closed.kind(op), [*range(len(op.outputs))]
        segment.notes |= self.closed.notes_of(op)
        forward = op.attributes.get("forward")
        if isinstance(kind, Backward) and forward is not None:
            again = self.known.get((task, forward))
            if again is None or self.stages[forward] != stage:
                again = self.copy(forward, task, stage)
            kind, order = self.closed.backward(kind, again)
            attributes["forward"] = again
        specs = [op.outputs[order.index(place)].spec for place in range(len(order))]
        made = graph.add(kind, inputs, attributes, specs=specs, name=op.name)
        if op in self.closed.noted:
            segment.tells[made.name] = op.name
        made.source = op.source
        made.device = ""
        for before in op.control_inputs:
            self.wait(made, before, task, stage)
        if (task, op) not in self.known and op not in self.split:
            self.known[task, op] = made
            self.known |= {(task, op.outputs[i]): made.outputs[n] for i, n in enumerate(order)}
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
                self.known[key] = self.slot(tensor, task)
                if op is None or tensor in self.plan.fed:
                    self.part(task).fed.append(tensor.name)
                else:
                    self.send(tensor.name, op, task, stage)
                    source = self.segment(self.places[op], self.stages[op])
                    if is_cut(tensor, self.users.get((tensor, task), ()), self.bits):
                        source.cut.add((tensor.name, task))
                    after = self.delays.receives.get((tensor, task))
                    if after is not None:
                        source.held.add((tensor.name, task))
                        asks = self.segment(task, self.stages[after]).asks
                        asks.append((tensor.name, self.places[op]))
                    self.give(tensor, source)
            self.segment(task, stage).feeds[tensor.name] = self.known[key].name
        elif self.stages[op] != stage:
            self.segment(task, stage).feeds[tensor.name] = self.known[key].name
            self.give(tensor, self.segment(task, self.stages[op]))
        found = self.known[key]
        return found

    def give(self, tensor: GraphTensor, segment: TaskSegment) -> None:
        """Let a segment that has made a tensor give it to others."""
        if self.makers[tensor] in self.split:
            return  # it is given by its name anyway
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


def inner_graphs(op: Operation) -> list[FuncGraph]:
    """Return the graphs of an operation that tasks can share out, nothing if they cannot."""
    match op.kind:
        case GraphChoice(branches=branches):
            return list(branches)
        case GraphLoop(test=test, body=body):
            return [test, body]
        case CallGraph(graph=graph):
            return [graph]
    return []


def gives_others(op: Operation) -> bool:
    """Say whether an operation that runs once more gives something else, or does it twice."""
    return op.kind.waits or is_noted(op) or (op.kind.is_python and op.kind.stateful)


def edge(tensor: GraphTensor) -> GraphTensor:
    """Return the operation's own output, of which a tensor may be a view."""
    return tensor.edge


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

"""Operations as functions of the variables that they read, to be run once more elsewhere.

    while(x):  y * v  on ps                    r = v                        (before the loop, on ps)
               y + 1  on worker         ->     call(x, r):  while(x):  y * r;  y + 1

A choice, a call or a loop that several tasks carry out is run once more, by one of them, where its
gradient is taken. That task has not got the variables of the others: they are read before, where
they are, and handed in, and their gradients are those of what was handed in. One that draws random
numbers or changes variables does not do so again: what it drew and read is noted while it runs, and
told to that task, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from ..graph.control_flow import GraphChoice, GraphLoop
from ..graph.frame import Stateful, source_key
from ..graph.func_graph import CallGraph, FuncGraph
from ..graph.gradients import Backward, states_of
from ..graph.graph import Graph, GraphTensor, Kind, Operation
from ..graph.placement import graphs_in
from ..graph.variables import READ, AssignVariable, Handle, VariableState, state_in


def unrepeatable(op: Operation) -> str:
    """Return why an operation cannot be run once more from what it has read; or nothing."""
    graphs: set[Graph] = set()
    for each in [op, *inside(op)]:
        if is_noted(each) or each.type == READ.type:
            continue
        if graphs_in(each) and not each.kind.is_python:
            twice = [graph.name for graph in graphs_in(each) if graph in graphs and notes(each)]
            if twice:
                return f"calls {twice[0]!r}, which draws or changes variables, more than once"
            graphs.update(graphs_in(each))
            continue
        own = "variable" in each.attributes or each.kind.touched()
        if own or each.kind.stateful or each.kind.is_python:
            return f"has effects inside: '{each.name}' ({each.type})"
        if isinstance(each.kind, Backward) and states_of(each.kind.forward):
            return "takes gradients of variables"
    return ""


def is_noted(op: Operation) -> bool:
    """Say whether an operation gives something else when it is run once more: that is noted."""
    return op.kind.draws or isinstance(op.kind, AssignVariable)


def notes(op: Operation) -> bool:
    """Say whether what an operation reads is to be noted, if it is to be run once more."""
    return any(map(is_noted, [op, *inside(op)]))


def changed_in(op: Operation) -> set[VariableState]:
    """Return the variables that are changed inside of an operation."""
    found = [each for each in inside(op) if isinstance(each.kind, AssignVariable)]
    return {state_in(each.attributes) for each in found}


def inside(op: Operation) -> list[Operation]:
    """Return all operations inside of one, also those inside of these."""
    direct = [each for graph in graphs_in(op) for each in graph.operations]
    return [*direct, *(deeper for each in direct for deeper in inside(each))]


@dataclass
class Taken:
    """What an operation takes when variables are handed in: where its operands have come to be."""

    inputs: list[GraphTensor]
    places: list[int]
    """By the place of an operand: its place now."""
    variables: dict[Stateful, int]
    """The places of what was handed in."""


class Closed:
    """The operations of a plan that take the values of variables in the place of variables."""

    def __init__(self, split: frozenset[Operation], recorded: Set[Operation] = frozenset()) -> None:
        self.split = split
        """The operations that several tasks carry out, or one whose inside is noted."""
        self.noted = frozenset(op for op in split & recorded if notes(op))
        """Those of which is noted what they read, for they are run once more."""
        self.changed = {state for op in self.noted for state in changed_in(op)}
        """The variables that are changed inside of these."""
        self.reads = {op: reads for op in split & recorded if (reads := read_before(op))}
        """What reads the variables of an operation that is run once more, before it."""
        self.kinds: dict[Operation, CallGraph] = {}

    def notes_of(self, op: Operation) -> set[Hashable]:
        """Return what an operation reads that is noted: draws, and variables that are changed."""
        found: set[Hashable] = set()
        for each in (op, *inside(op)):
            if each.kind.draws:
                found.add(source_key(each))
            elif "variable" in each.attributes and state_in(each.attributes) in self.changed:
                found.add(source_key(state_in(each.attributes)))
        return found

    def with_reads(self, ops: Iterable[Operation]) -> list[Operation]:
        """Return operations in order, with the reads that go before some."""
        return [each for op in ops for each in (*self.reads.get(op, {}).values(), op)]

    def taken(self, op: Operation) -> Taken:
        """Return what an operation, or what goes back over one, takes."""
        count = len(op.inputs)
        if op in self.reads:
            reads = [each.outputs[0] for each in self.reads[op].values()]
            states: dict[Stateful, int] = {v: count + i for i, v in enumerate(self.reads[op])}
            return Taken([*op.inputs, *reads], list(range(count)), states)
        if not isinstance(op.kind, Backward):
            return Taken(op.inputs, list(range(count)), {})
        inner = self.taken(op.kind.forward)
        own = op.inputs[len(inner.places) :]
        first = len(inner.inputs)
        places = [*inner.places, *range(first, first + len(own))]
        return Taken([*inner.inputs, *own], places, inner.variables)

    def kind(self, op: Operation) -> Kind:
        """Return what an operation does with the values of its variables."""
        if op not in self.reads:
            return op.kind
        if op not in self.kinds:
            self.kinds[op] = call_of(op, list(self.reads[op]))
        return self.kinds[op]

    def backward(self, kind: Backward, again: Operation) -> tuple[Backward, list[int]]:
        """Return what goes back over an operation that was made anew, and its results in order."""
        taken = self.taken(kind.forward)
        wanted = [taken.places[i] for i in kind.wanted]
        handed = [v for v in kind.of_variables if v in taken.variables]
        others = [v for v in kind.of_variables if v not in taken.variables]
        count = len(wanted)
        places = {v: count + i for i, v in enumerate([*handed, *others])}
        order = [*range(count), *(places[v] for v in kind.of_variables)]
        return Backward(again, [*wanted, *(taken.variables[v] for v in handed)], others), order


def read_before(op: Operation) -> dict[VariableState, Operation]:
    """Return reads of the variables that are read, and not changed, inside of an operation."""
    found: dict[VariableState, Operation] = {}
    changed = changed_in(op)
    reader = Graph()
    for each in inside(op):
        if each.type == READ.type:
            handle: Handle[VariableState] = each.attributes["variable"]
            state = handle()
            if state not in found and state not in changed:
                name = f"{op.name}/_reads_{len(found)}"
                made = found[state] = reader.add(READ, (), {"variable": handle}, name=name)
                made.device = each.device if state.home is None else state.home.device
                made.index, made.source = op.index, each.source
    return found


def call_of(op: Operation, states: Sequence[VariableState]) -> CallGraph:
    """Return a call that takes what an operation takes, then the values of variables."""
    graph = FuncGraph(f"{op.name} of its variables", None, op.graph.tensor_class)
    given = [graph.argument(tensor.spec, "given") for tensor in op.inputs]
    reads = {state: graph.argument(state.spec, "read") for state in states}
    copier = Copier(graph, reads)
    made = copier.copy(op, given)
    graph.finish(made.outputs)
    return CallGraph(graph)


class Copier:
    """Copies operations into a graph where values stand for variables."""

    def __init__(self, into: FuncGraph, reads: Mapping[VariableState, GraphTensor]) -> None:
        self.into, self.reads = into, reads
        self.known: dict[GraphTensor, GraphTensor] = {}
        self.ops: dict[Operation, Operation] = {}

    def copy(self, op: Operation, given: Sequence[GraphTensor]) -> Operation:
        """Add an operation that takes what is given."""
        kind, inputs = self.closed(op, given)
        attributes = {k: v for k, v in op.attributes.items() if k != "forward"}
        if isinstance(op.kind, Backward):
            again = attributes["forward"] = self.ops[op.kind.forward]
            kind = Backward(again, op.kind.wanted, op.kind.of_variables)
        specs = [tensor.spec for tensor in op.outputs]
        made = self.into.add(kind, inputs, attributes, specs=specs, name=op.name)
        made.source, made.device = op.source, ""
        made.control_inputs = [self.ops[each] for each in op.control_inputs if each in self.ops]
        self.ops[op] = made
        self.known.update(zip(op.outputs, made.outputs, strict=True))
        return made

    def closed(
        self, op: Operation, inputs: Sequence[GraphTensor]
    ) -> tuple[Kind, Sequence[GraphTensor]]:
        """Return what an operation does, and takes, where values stand for variables."""
        match op.kind:
            case GraphLoop(test=test, body=body, specs=specs):
                carried, fixed = inputs[: len(specs)], inputs[len(specs) :]
                tested = self.graph(test, fixed[: len(test.captured)])
                inner = self.graph(body, fixed[len(test.captured) :])
                taken = [*carried, *owned(tested), *owned(inner)]
                return GraphLoop(tested, inner, specs), taken
            case GraphChoice(branches=branches):
                rest = iter(inputs[1:])
                made = [self.graph(b, [next(rest) for _ in b.captured]) for b in branches]
                taken = [inputs[0], *(tensor for each in made for tensor in owned(each))]
                return GraphChoice(made, op.type), taken
            case CallGraph(graph=called):
                count = len(called.inputs)
                whole = self.graph(called, inputs[count:])
                return CallGraph(whole), [*inputs[:count], *owned(whole)]
        return op.kind, inputs

    def graph(self, graph: FuncGraph, given: Sequence[GraphTensor]) -> FuncGraph:
        """Return a graph inside of an operation anew, which takes what is given from outside."""
        made = FuncGraph(graph.name, self.into, graph.tensor_class)
        made.runs_effects = graph.runs_effects
        inner = Copier(made, {})
        for tensor in graph.inputs:
            inner.known[tensor] = made.argument(tensor.spec, "arg")
        for (_, slot), outside in zip(graph.captured.values(), given, strict=True):
            inner.known[slot] = made.capture(outside)
        used = {state for op in graph.operations for state in states_of(op)}
        inner.reads = {v: made.capture(x) for v, x in self.reads.items() if v in used}
        for op in graph.operations:
            if op.type == READ.type and op.attributes["variable"]() in inner.reads:
                inner.known[op.outputs[0]] = inner.reads[op.attributes["variable"]()]
            elif not (op.outputs and op.outputs[0] in inner.known):
                inner.copy(op, [inner.known[tensor.edge] for tensor in op.inputs])
        made.finish([inner.known[tensor.edge] for tensor in graph.outputs])
        return made


def owned(graph: FuncGraph) -> list[GraphTensor]:
    """Return what a graph takes from the one outside."""
    return [tensor for tensor in graph.captures if isinstance(tensor, GraphTensor)]

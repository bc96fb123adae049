"""The graph that a Python function is traced into, and calling it.

Tensors from outside become silent inputs; variables are reached by reference. All operations
with effects run, in the order of the program, whether or not something is returned from them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import replace
from weakref import WeakValueDictionary

import numpy as np

from ...ir.op import Array
from ...ir.types.dtypes import i64
from ...ir.types.tensor import TensorSpec
from ..eager.backward import key_of
from ..eager.tensor import Tensor
from ..values.context import STATE, Context
from .execute import Plan, Wishes
from .frame import Frame, Guard, Guarded, Stateful, Store, Touched, Turn, counter_of
from .graph import EVERYWHERE, STANDARD, Graph, GraphTensor, Kind, Operation
from .inference import Abstract, is_small, together
from .kinds import CONSTANT, MissingFeedError, Placeholder
from .symbolic import leaked

PLACEHOLDER = Placeholder()
OF_VARIABLES = ("variables", "local_variables", "trainable_variables")
"""The collections that functions have in common with what is around them."""


class FuncGraph(Graph):
    """A graph with inputs, outputs, and what it takes from outside."""

    is_open = False
    runs_effects = True
    """Whether operations with effects run although nothing asks for them."""
    lists_variables = False
    """Whether its collections have the variables that are made in it."""
    is_exact = False
    """Whether all its calls are to compute the same bits: it is compiled at its first call."""

    def __init__(self, label: str, outer: Graph | None, tensor_class: type[GraphTensor]) -> None:
        super().__init__()
        self.name = self.counted_by = label
        """How it is called in errors, and by what its random operations count in all processes."""
        self.outer = outer
        self.branch: tuple[int, str] | None = None
        """The number of the choice that it is a branch of, and how it is called there."""
        self.part_of: Graph | None = None
        """The graph of the choice or the loop that it is a part of."""
        self.tensor_class = tensor_class
        self.inputs: list[GraphTensor] = []
        self.outputs: list[GraphTensor] = []
        self.captured: dict[int, tuple[Tensor, GraphTensor]] = {}
        self.may_create: bool | None = None
        """Whether variables may be made now, if the function itself says so."""
        self.created: list[object] = []
        self.values: list[object] | None = None
        """The inputs of the call for which this is traced, for initialisers that use them."""
        self.plan: Plan | None = None
        self._smooth: Set[Hashable] | None = None
        self.structured: Callable[[], object] | None = None
        """Gives the outputs in the structure that a function returns."""
        self.control_outputs: list[Operation] = []
        """Operations that are run although nothing uses a result of theirs."""
        self.wishes = Wishes()
        self.call_times: dict[Hashable, tuple[object, object]] = {}
        """What is taken from outside anew at each call, and what stands for it, by its key."""
        self.stated: dict[str, str] = {}
        """What is said of the function to other programs."""
        self.held: object = None
        """What is to live as long as the graph: a graph itself keeps no variables."""
        self.waits: list[Operation] = []
        """The operations outside that something inside waits for."""
        if outer is not None:
            self.seed = outer.seed
            self.collections = outer.collections  # (code inside finds what code outside has put in)

    @property
    def enclosing(self) -> Graph:
        """Return the graph that it is a part of, through choices and loops; else itself."""
        found: Graph = self
        while isinstance(found, FuncGraph) and found.part_of is not None:
            found = found.part_of
        return found

    @property
    def structured_outputs(self) -> object:
        """Return the outputs in the structure that a function returns, None for a branch."""
        return None if self.structured is None else self.structured()

    def shown_outputs(self) -> list[GraphTensor]:
        """Return the outputs as those find them who look at the graph."""
        return self.outputs

    def outermost(self) -> FuncGraph:
        """Return the graph of the function that is traced: itself, or what is around it."""
        return self.outer.outermost() if isinstance(self.outer, FuncGraph) else self

    def keep_apart(self) -> None:
        """Let what is put into collections stay inside, but for variables."""
        outside = self.collections
        for name in OF_VARIABLES:
            outside.setdefault(name, [])
        self.collections = {k: v if k in OF_VARIABLES else [*v] for k, v in outside.items()}

    def argument(self, spec: TensorSpec, name: str) -> GraphTensor:
        """Add an input."""
        made = self.add(PLACEHOLDER, (), {"spec": spec}, name=name).outputs[0]
        self.inputs.append(made)
        return made

    def capture(self, tensor: Tensor) -> GraphTensor:
        """Return the silent input for a tensor from outside."""
        known = self.captured.get(id(tensor))
        if known is not None:
            return known[1]
        if isinstance(tensor, GraphTensor):
            if not self.is_inside(tensor.graph):
                raise leaked(tensor, self.elsewhere(tensor))
        elif tensor.direct and np.asarray(tensor).dtype.kind == "O":
            return self.constant(np.asarray(tensor))
        made = self.add(PLACEHOLDER, (), {"spec": tensor.spec}, name="captured").outputs[0]
        made._key = key_of(tensor)  # tapes that watch one know the other
        self.captured[id(tensor)] = (tensor, made)
        return made

    def outside(self, silent: GraphTensor) -> Tensor | None:
        """Return the tensor that a silent input stands for, None if it is no such input."""
        return next((x for x, made in self.captured.values() if made is silent), None)

    def elsewhere(self, tensor: GraphTensor) -> str:
        """Return in which other branch of a choice around this graph a tensor was made, if so."""
        there = dict(_choices(tensor.graph))
        return next(
            (
                f"Tensor {tensor.name} in {there[choice]} is accessed from {called}. "
                for choice, called in _choices(self)
                if there.get(choice, called) != called
            ),
            "",
        )

    def is_inside(self, graph: Graph) -> bool:
        """Say whether this graph was begun inside another one, which goes on."""
        outer = self.outer
        while outer is not None and outer is not graph:
            outer = outer.outer
        return outer is not None and not graph.is_finished

    def wait_for(self, others: Sequence[Operation]) -> None:
        """Wait for operations of the graphs that this one is inside of."""
        self.waits += [op for op in others if op not in self.waits and self.is_inside(op.graph)]

    @property
    def refusal(self) -> str:
        """Return why the graph is not compiled, if it was tried."""
        return self.whole_plan().refusal

    def output(self, value: object) -> GraphTensor:
        """Return a result of the function as a tensor of the graph that is not an input."""
        return self.owned(self.convert(value))

    def finish(self, outputs: Sequence[GraphTensor]) -> None:
        """End the trace; values that nobody else knows become constants."""
        self.outputs = list(outputs)
        for key in list(self.captured):
            tensor, made = self.captured[key]
            if tensor.eager and sys.getrefcount(tensor) <= 3:
                made.op.kind = CONSTANT
                made.op.attributes["value"] = tensor.numpy()
                del self.captured[key]
        self.is_finished = True

    @property
    def captures(self) -> list[Tensor]:
        """Return what is taken from outside."""
        return [tensor for tensor, _ in self.captured.values()]

    @property
    def all_inputs(self) -> list[GraphTensor]:
        """Return the inputs, the silent ones last."""
        return [*self.inputs, *(made for _, made in self.captured.values())]

    def forget_plan(self) -> None:
        """Forget what was found out about the outputs: there are others now."""
        self.plan = self._smooth = None

    def whole_plan(self) -> Plan:
        """Return the plan of all outputs and effects."""
        if self.plan is None:
            effects = [op for op in self.operations if must_run(op)] if self.runs_effects else []
            self.plan = Plan(self.outputs, self.all_inputs, [*effects, *self.control_outputs])
            self.plan.wishes = self.wishes
        return self.plan

    def run(self, frame: Frame, values: Sequence[object]) -> list[object]:
        """Return the outputs for values of all inputs, in a frame of its own inside `frame`."""
        if frame.is_staging:
            return self.whole_plan().run(frame, values)
        inner = replace(frame, symbols={}, records={}, again_by=None)
        return self.whole_plan().run(inner, values)

    def followed(self, given: Sequence[Abstract]) -> list[Abstract]:
        """Return what is known of the outputs where this is known of all inputs.

        Nothing is followed where the outputs have known sizes anyhow.
        """
        if all(tensor.spec.is_static for tensor in self.outputs):
            return [Abstract(tensor.spec) for tensor in self.outputs]
        found: dict[GraphTensor, Abstract] = {}
        for tensor, each in zip(self.all_inputs, given, strict=True):
            (spec,) = together([each.spec], [tensor.spec])
            found[tensor.edge] = Abstract(spec, each.value)
        for op in self.whole_plan().ops:
            if all(tensor in found for tensor in op.outputs):
                continue
            values = [found.get(x) or Abstract(x.spec) for x in op.inputs]
            made = op.kind.followed(op, values)
            for tensor, each in zip(op.outputs, made, strict=True):
                (spec,) = together([each.spec], [tensor.spec])
                found[tensor] = Abstract(spec, each.value)
        return [found[tensor.edge] for tensor in self.outputs]

    def smooth_sources(self) -> Set[Hashable]:
        """Return by what the results may change smoothly: inputs, and the ids of variables."""
        if self._smooth is not None and STATE.passed is None:
            return self._smooth
        reached: set[Hashable] = {t.edge for t in self.outputs}
        for op in reversed(self.operations):
            if any(t in reached and t.spec.dtype.kind in "fc" for t in op.outputs):
                reached.update(op.kind.smooth_operands(op))
        if STATE.passed is None:  # (else by the ids of variables of this call)
            self._smooth = reached
        return reached

    def states_read(self) -> list[Stateful]:
        """Return the states of the variables that are read inside."""
        found: dict[Stateful, None] = {}
        for op in self.operations:
            found.update(dict.fromkeys(op.kind.variables(op)))
        return list(found)


def _choices(graph: Graph | None) -> Iterator[tuple[int, str]]:
    """Yield in which branches of which choices a graph is, the innermost first."""
    while isinstance(graph, FuncGraph):
        if graph.branch is not None:
            yield graph.branch
        graph = graph.outer


def graph_around(context: Context | None) -> Graph | None:
    """Return the graph of sessions that branches, loops and functions belong to, if they do."""
    while isinstance(context, FuncGraph):
        context = context.outer
    return context if isinstance(context, Graph) else None


def listing_around(context: Context | None) -> Graph | None:
    """Return the graph of a function around that lists the variables which are made in it."""
    while isinstance(context, FuncGraph) and not context.lists_variables:
        context = context.outer
    return context if isinstance(context, FuncGraph) else None


def has_effect(op: Operation) -> bool:
    """Say whether an operation is run for its effect."""
    return op.kind.stateful and op.type != "ReadVariableOp"


def must_run(op: Operation) -> bool:
    """Say whether an operation is run even if nothing uses its result."""
    return op.kind.checks or has_effect(op)


def touched_by(graphs: Sequence[FuncGraph]) -> list[Touched]:
    """Return the variables that graphs read or write, in the order they come."""
    return touched_in([op for graph in graphs for op in graph.operations])


def touched_in(ops: Sequence[Operation]) -> list[Touched]:
    """Return the variables that operations read or write, in the order they come."""
    found: dict[Touched, None] = {}
    for op in ops:
        handle = op.attributes.get("variable")
        if handle is not None:
            found[handle()] = None
        if op.kind.draws:
            found[draws_of(op)] = None
        if op.kind.refuses:
            found[Guard.FAULT] = None
        found.update(dict.fromkeys(op.kind.touched()))
    return list(found)


class Draws(Guarded):
    """How many counters a random operation has used, as a variable of programs that run it."""

    is_eager = False
    spec = TensorSpec(i64, ())

    def __init__(self, op: Operation) -> None:
        self.op, self.name = op, f"draws of {op.name}"
        self.turn = Turn()

    def owner(self) -> None:
        """Say that there is no object for it."""

    def value_in(self, store: Store) -> Array:
        """Return the count."""
        return np.array(store.draws.get(counter_of(self.op), 0), np.int64)

    def put_in(self, store: Store, value: Array) -> None:
        """Change the count."""
        store.draws[counter_of(self.op)] = int(value)


def draws_of(op: Operation) -> Draws:
    """Return the count of a random operation; those that are counted together have one."""
    found: Draws | None = op.attributes.get("draws")
    if found is None:
        counter = counter_of(op)
        shared = isinstance(counter, tuple)
        found = SHARED_DRAWS.setdefault(counter, Draws(op)) if shared else Draws(op)
        op.attributes["draws"] = found
    return found


SHARED_DRAWS: WeakValueDictionary[object, Draws] = WeakValueDictionary()
"""The counts that several operations have, by what they are counted as."""


class CallGraph(Kind):
    """A call of a traced function."""

    devices = EVERYWHERE

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.stateful = any(has_effect(op) for op in graph.operations)
        self.checks = any(op.kind.checks for op in graph.operations)
        self.type = "StatefulPartitionedCall" if self.stateful else "PartitionedCall"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the outputs' specs."""
        return [tensor.spec for tensor in self.graph.outputs]

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Follow what is known through the graph."""
        return self.graph.followed(values)

    def touched(self) -> Sequence[Touched]:
        """Return the variables read or written inside."""
        return touched_by([self.graph])

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Run the graph."""
        return self.graph.run(frame, inputs)

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variables read inside."""
        return self.graph.states_read()

    def smooth_operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs and variables that the results of the graph depend on."""
        return smooth_operands_of([self.graph], op.inputs)


def smooth_operands_of(
    graphs: Sequence[FuncGraph], inputs: Sequence[GraphTensor]
) -> Sequence[Hashable]:
    """Return the inputs and the ids of variables that the results of some graph depend on.

    `inputs` are those of all graphs, one behind the other.
    """
    inside = [(g, x) for g in graphs for x in g.all_inputs]
    found: list[Hashable] = [
        given
        for given, (graph, x) in zip(inputs, inside, strict=True)
        if x.edge in graph.smooth_sources()
    ]
    read = [(g, id(v)) for g in graphs for v in g.states_read()]
    return [*found, *(key for g, key in read if key in g.smooth_sources())]


LOOKED_THROUGH = 8
"""So many operations are looked through for a value that is known before the run."""


def known_of(tensor: Tensor, depth: int = LOOKED_THROUGH) -> Abstract:
    """Return what is known of a tensor before the run: of few integers, the elements too."""
    spec = tensor.spec
    if spec.dtype.kind not in "iub" or not is_small(spec):
        return Abstract(spec)
    if not isinstance(tensor, GraphTensor):
        return Abstract(spec, tensor.numpy() if tensor.direct else None)
    op = tensor.op
    if isinstance(op.kind, Placeholder):
        outer = op.graph.outside(tensor) if isinstance(op.graph, FuncGraph) else None
        return Abstract(spec) if outer is None else known_of(outer, depth)
    if not depth:
        return Abstract(spec)
    values = [known_of(x, depth - 1) for x in op.inputs]
    return op.kind.followed(op, values)[tensor.value_index]


def lifted(tensor: Tensor, graph: Graph) -> GraphTensor:
    """Return a tensor of a function in a graph around it, where all that makes it is made, too.

    Raises `MissingFeedError` if that is made of an argument of the function.
    """
    if not isinstance(tensor, GraphTensor) or not isinstance(tensor.graph, FuncGraph):
        return graph.owned(tensor)
    inner, needed = tensor.graph, {tensor.op}
    for op in reversed(inner.operations):
        if op in needed:
            needed.update(x.op for x in op.inputs)
    made: dict[GraphTensor, GraphTensor] = {}
    for op in (op for op in inner.operations if op in needed):
        first = op.outputs[0]
        outer = inner.outside(first)
        if first in inner.inputs:
            raise MissingFeedError(op)
        if outer is not None:
            made[first] = lifted(outer, graph)
            continue
        specs = [x.spec for x in op.outputs]
        node = graph.add(
            op.kind, [made[x] for x in op.inputs], op.attributes, specs=specs, name=op.name
        )
        made.update(zip(op.outputs, node.outputs, strict=True))
    return made[tensor.edge]


STANDARD.inner = FuncGraph

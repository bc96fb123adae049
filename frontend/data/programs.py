"""Functions of elements: a graph, of which compiled code does what it can.

What only the host can do (text, files, pictures) is carried out node by node; what is between is
compiled once it has taken so much time that compiling pays.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...forks import renewed
from ...ir.types.tensor import Array, spec_of_array
from ..function.staged import Staged, staged
from ..graph.execute import Plan, Wishes
from ..graph.frame import Frame, Store
from ..graph.func_graph import FuncGraph, has_effect
from ..graph.graph import GraphTensor, Operation
from ..graph.kinds import Merge, Placeholder, PyFunction, Switch
from ..values.context import STATE, entered
from ..values.run_errors import InvalidArgumentError, OpError, OutOfRangeError
from ..values.texts import as_objects
from .host import ArrayKind
from .stages import UNKNOWN, Apply, Element, Rows, Run, Stream, Write

PATIENCE = 0.1
"""Seconds that a piece runs node by node before it is compiled: about what compiling takes."""
TOO_LONG = 2e-3
"""Seconds from which on threads share the work of a piece: below that elements are for threads."""
SHAPES = 8
"""For so many shapes of its inputs is a piece compiled; for others it runs node by node."""

ALONE = Wishes(threads=1)

Places = dict[GraphTensor, int]
"""Where in a list the values of tensors are."""
Steps = Callable[[list[object], Store], None]


def is_host(op: Operation) -> bool:
    """Say whether a node is for the host: text, files, Python, pipelines."""
    tensors = (*op.inputs, *op.outputs)
    text = any(tensor.spec.dtype.kind == "s" for tensor in tensors)
    return text or op.kind.waits or isinstance(op.kind, ArrayKind | PyFunction)


class HostNode:
    """One node that the host carries out."""

    def __init__(self, op: Operation, places: Places) -> None:
        self.op = op
        self.inputs = [places[x] for x in op.inputs]
        self.outputs = [places[x] for x in op.outputs]
        self.compute: Callable[..., Sequence[object]] | None = None
        """What needs arrays only, if it is that."""
        if isinstance(op.kind, ArrayKind) and not op.kind.waits:
            self.compute = op.kind.compute

    def __call__(self, env: list[object], store: Store) -> None:
        """Carry it out."""
        try:
            made = self.results([env[i] for i in self.inputs], store)
        except (TypeError, ValueError, ArithmeticError, IndexError, AssertionError) as error:
            raise failure(self.op, error) from error
        for place, value in zip(self.outputs, made, strict=True):
            env[place] = value

    def results(self, inputs: list[object], store: Store) -> Sequence[object]:
        """Return what it gives for arrays."""
        if self.compute is None:
            return self.op.kind.run(Frame(store), self.op, inputs)
        return self.compute(*inputs)


def failure(op: Operation, error: Exception) -> Exception:
    """Return the error of a node by TensorFlow's name, with its place."""
    if getattr(error, "is_of_run", False) or isinstance(error, OpError):
        return error
    text = f"{type(error).__name__}: {error}" if isinstance(op.kind, PyFunction) else str(error)
    return InvalidArgumentError(f"Detected at node '{op.name}': {text}", location=op.source)


class Piece:
    """Nodes that can be compiled together."""

    compiled: ClassVar[int] = 0
    """How many were compiled in this process: who measures leaves out the time that it took."""

    def __init__(self, ops: Sequence[Operation], later: set[GraphTensor], places: Places) -> None:
        own = {tensor for op in ops for tensor in op.outputs}
        self.feeds = list(dict.fromkeys(x for op in ops for x in op.inputs if x not in own))
        self.fetches = [x for op in ops for x in op.outputs if x in later]
        effects = [op for op in ops if has_effect(op)]
        self.plan = Plan(self.fetches, self.feeds, effects)
        self.plan.wishes = ALONE
        self.inputs = [places[x] for x in self.feeds]
        self.outputs = [places[x] for x in self.fetches]
        self.spent, self.slow = 0.0, 0
        self.lock = renewed(threading.Lock())
        self.known: dict[object, Staged | None] = {}

    def __call__(self, env: list[Any], store: Store) -> None:
        """Carry them out; `env` has rows where results are to be written."""
        arrays = [env[i] for i in self.inputs]
        rows = [env[i] for i in self.outputs]
        key = tuple([None if x is None else x.shape for x in (*arrays, *rows)])
        native = self.known.get(key)
        start = time.perf_counter()
        if native is not None:
            made = [*map(as_objects, native.run(store, arrays, rows))]
            self.slow = self.slow + 1 if time.perf_counter() - start > TOO_LONG else 0
            if self.slow > 2 and self.plan.wishes is ALONE:
                self.share()
        else:
            made = self.plan.run(Frame(store), arrays)
            self.spent += time.perf_counter() - start
            if self.spent > PATIENCE:
                self.compile(key, arrays, rows)
        for place, value in zip(self.outputs, made, strict=False):  # effects are behind
            env[place] = value

    def share(self) -> None:
        """Compile anew what takes long, for threads that share the work of a run."""
        self.plan.wishes, self.spent = Wishes(), PATIENCE
        self.known.clear()

    def compile(self, key: object, arrays: Sequence[Array], rows: Rows) -> None:
        """Compile for shapes that are new, unless there are many already."""
        with self.lock:
            if key not in self.known and len(self.known) < SHAPES:
                self.known[key] = staged(
                    self.plan,
                    [spec_of_array(x) for x in arrays],
                    [None if x is None else spec_of_array(x) for x in rows],
                )
                self.spent = 0.0
                Piece.compiled += 1


class GraphProgram:
    """A traced function as one of elements."""

    def __init__(self, graph: FuncGraph) -> None:
        self.graph, self.tensors = graph, graph.captures
        inputs = graph.all_inputs
        fed = set(inputs)
        made = [x for op in graph.operations for x in op.outputs if x not in fed]
        places = {tensor: place for place, tensor in enumerate([*inputs, *made])}
        self.steps = pieces(graph, places)
        self.rest: list[object] = [None] * len(made)
        self.outputs = [places[x] for x in graph.outputs]

    def bound(self, run: Run) -> Write:
        """Return the function of elements only."""
        outer = [as_array(run.value(tensor)) for tensor in self.tensors]

        def apply(element: Element, rows: Rows = ()) -> Element:
            return tuple(self.results((*element, *outer), run.store, rows))

        return apply

    def results(self, values: Sequence[object], store: Store, rows: Rows = ()) -> list[object]:
        """Return the outputs for values of all inputs, in `rows` where code writes them there."""
        env = [*values, *self.rest]
        for i, row in zip(self.outputs, rows, strict=bool(rows)):
            if i >= len(values):
                env[i] = row
        try:
            if STATE.busy:
                with entered(None):
                    self.carry_out(env, store)
            else:
                self.carry_out(env, store)
        except StopIteration as error:
            raise OutOfRangeError("a function of elements raised StopIteration") from error
        return [env[i] for i in self.outputs]

    def carry_out(self, env: list[object], store: Store) -> None:
        """Fill in what the nodes give."""
        for step in self.steps:
            step(env, store)


def opening(function: Apply, run: Run) -> Callable[[Element], Stream]:
    """Return a function that opens the pipeline that another function gives for an element."""
    return lambda element: run.open(function(element)[0].item())


class Opening(GraphProgram):
    """A function that gives a pipeline: called with an element it opens the pipeline."""

    count = UNKNOWN
    """How many elements each pipeline has."""

    def bound(self, run: Run) -> Any:
        """Return the function that opens."""
        return opening(super().bound(run), run)


def as_array(value: object) -> Array:
    """Return a value as an array."""
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def pieces(graph: FuncGraph, places: Places) -> list[Steps]:
    """Return what a graph does, in order: constants, nodes of the host, and pieces between."""
    plan = graph.whole_plan()
    fed = set(plan.feeds)
    ops = [op for op in plan.ops if not (isinstance(op.kind, Placeholder) and op.outputs[0] in fed)]
    if any(isinstance(op.kind, Switch | Merge) for op in ops):
        return [Whole(plan, places)]
    level: dict[Operation, int] = {}
    last_effect = 0
    for op in ops:
        mine = is_host(op)
        before = [level[t.op] + (is_host(t.op) != mine) for t in op.inputs if t.op in level]
        before += [level[c] + (is_host(c) != mine) for c in op.control_inputs if c in level]
        found = max([0 if mine else 1, *before])
        if op.kind.stateful and not op.kind.draws:
            found = max(found, last_effect + (last_effect % 2 == int(mine)))
            last_effect = found
        level[op] = found
    return in_levels(ops, level, set(graph.outputs), places)


class Whole:
    """A graph that is run as it is: its choices are of single nodes."""

    def __init__(self, plan: Plan, places: Places) -> None:
        self.plan, self.inputs = plan, [places[x] for x in plan.feeds]
        self.outputs = [places[x] for x in plan.fetches if isinstance(x, GraphTensor)]

    def __call__(self, env: list[object], store: Store) -> None:
        """Run it."""
        made = self.plan.run(Frame(store), [env[i] for i in self.inputs])
        for place, value in zip(self.outputs, made, strict=False):  # effects are behind
            env[place] = value


def in_levels(
    ops: Sequence[Operation],
    level: dict[Operation, int],
    outputs: set[GraphTensor],
    places: Places,
) -> list[Steps]:
    """Return the steps of operations, level by level: those of one level can go together."""
    steps: list[Steps] = []
    for number in sorted(set(level.values())):
        here = [op for op in ops if level[op] == number]
        if number % 2 == 0:
            steps += [HostNode(op, places) for op in here]
            continue
        inside = set(here)
        later = {
            tensor
            for op in here
            for tensor in op.outputs
            if tensor in outputs or any(user not in inside for user in tensor.users)
        }
        steps.append(Piece(here, later, places))
    return steps

"""Choices and loops of graphs: each branch and body is a graph of its own.

Eagerly they are Python's `if` and `while`. In a graph, what a branch takes from outside is an
input of the operation, so that it is computed whichever branch is taken; what is made inside a
branch runs only if that branch is taken, effects included.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import count, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...errors import GraphError
from ...ir.types.tensor import TensorSpec
from ...lazy import cached_property
from ..dims.unknown import unknown_dim
from ..eager.tensor import Tensor
from ..values import nest
from ..values.context import STATE, entered, record
from .frame import Frame, Stateful, Touched
from .func_graph import FuncGraph, has_effect, smooth_operands_of, touched_by
from .gradients import node_backward
from .graph import EVERYWHERE, Graph, GraphTensor, Kind, Operation, dims_or_none, within
from .tolls import LEAST, TALLY, Countdown


class ControlFlowError(GraphError, TypeError, ValueError):
    """Branches give different things, or a loop changes what it carries."""

    code = "GV2330"


class PartOf(NamedTuple):
    """What a graph is a part of: the name of a choice or a loop, and which branch it is."""

    name: str
    branch: tuple[int, str] | None = None
    counts_alone: bool = False
    """Whether it counts its draws by itself, as functions do: so do choices by number."""


def traced(
    label: str,
    graph: Graph,
    function: Callable[..., object],
    specs: Sequence[TensorSpec],
    tree: object,
    part: PartOf | None = None,
) -> tuple[FuncGraph, Any]:
    """Return a function of no or some arguments as a graph, and the structure that it returns.

    In a graph that runs only what is asked for, it is such a graph, too. In a function, what is
    made in it is named by what it is a part of.
    """
    name, branch, alone = part or PartOf("", counts_alone=True)
    inner: FuncGraph = graph.inner_class()(label, graph, graph.tensor_class)
    inner.runs_effects = isinstance(graph, FuncGraph) and graph.runs_effects
    inner.branch, inner.part_of = branch, None if alone else graph
    outside = graph.unique_name(name, mark=False) if isinstance(graph, FuncGraph) and name else ""
    with entered(inner), inner.name_scope(outside and f"{outside}/"):
        given = [inner.argument(spec, "arg") for spec in specs]
        made = function(*nest.pack(tree, given)) if specs else function()
        outputs = [inner.output(x) for x in nest.flatten(made) if x is not None]
    inner.finish(outputs)
    return inner, made


class GraphChoice(Kind):
    """One of several graphs, chosen by an index (bool: 0 is the graph for false)."""

    devices = EVERYWHERE

    def __init__(self, branches: Sequence[FuncGraph], label: str) -> None:
        self.branches = list(branches)
        self.type = label
        self.stateful = any(has_effect(op) for b in self.branches for op in b.operations)
        self.checks = any(op.kind.checks for b in self.branches for op in b.operations)

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return what all branches agree on."""
        columns = zip(*([t.spec for t in b.outputs] for b in self.branches), strict=True)
        return [merged(column) for column in columns]

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Run one branch."""
        if frame.is_staging:
            return frame.choose(self.branches, inputs)
        chosen = int(np.asarray(inputs[0]))
        last = len(self.branches) - 1
        chosen = chosen if 0 <= chosen <= last else last
        counts = [len(b.captured) for b in self.branches]
        start = 1 + sum(counts[:chosen])
        return self.branches[chosen].run(frame, inputs[start : start + counts[chosen]])

    def touched(self) -> Sequence[Touched]:
        """Return the variables read or written in any branch."""
        return touched_by(self.branches)

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variables read in any branch."""
        return [v for b in self.branches for v in b.states_read()]

    def smooth_operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs and variables that the results of some branch depend on."""
        return smooth_operands_of(self.branches, op.inputs[1:])


def merged(specs: Sequence[TensorSpec]) -> TensorSpec:
    """Return a spec that all of them are within."""
    shapes = {dims_or_none(s.shape) for s in specs}
    if len(shapes) == 1:
        return specs[0]
    ranks = {None if s is None else len(s) for s in shapes}
    if len(ranks) > 1 or None in ranks:
        return TensorSpec(specs[0].dtype, None)
    dims = [set(column) for column in zip(*(s.dims for s in specs), strict=True)]
    return specs[0].with_shape(tuple(d.pop() if len(d) == 1 else unknown_dim() for d in dims))


def add(
    graph: Graph,
    kind: Kind,
    inputs: Sequence[object],
    name: str | None,
    inner: Sequence[FuncGraph] = (),
) -> list[GraphTensor]:
    """Add an operation, which waits for what its graphs wait for, and show it to tapes."""
    waits = [op for each in inner for op in each.waits]
    with graph.control_dependencies(waits):
        op = graph.add(kind, [graph.owned(x) for x in inputs], name=name)
    if STATE.recorders:
        backward, variables = node_backward(op)
        record(op.type, [*inputs, *variables], op.outputs, backward)
    return op.outputs


Made = TypeVar("Made")
CHOICES = count()
"""The numbers of choices."""


def choose(
    graph: Graph,
    index: Tensor,
    functions: Sequence[Callable[[], Made]],
    name: str | None,
    type_: str,
) -> Made:
    """Add a choice between functions to a graph.

    They are in the order of the index. Of an `If`, what runs where it holds is traced first, as
    it may make what the other one asks for.
    """
    turns, number = slice(None, None, -1 if type_ == "If" else 1), next(CHOICES)
    called = ["false_fn", "true_fn"] if type_ == "If" else map("branch {}".format, count())
    named = islice(called, len(functions))
    parts = [PartOf(name or "", (number, each), type_ == "Case") for each in named]
    pairs = [*zip(functions, parts, strict=True)][turns]
    made = [traced("a branch", graph, f, (), (), part) for f, part in pairs][turns]
    structure = made[0][1]
    rows = [[t.spec.dtype for t in b.outputs] for b, _ in made]
    if any(row != rows[0] for row in rows):
        raise ControlFlowError(
            f"branches of {type_} give different types: {' and '.join(map(str, rows))}"
        )
    for other, given in made[1:]:
        try:
            nest.assert_same(structure, given, check_types=False)
        except (TypeError, ValueError) as error:
            raise ControlFlowError(
                f"branches of {type_} must give values of one structure: {error} ({other.name})"
            ) from None
    inputs = [index, *(x for b, _ in made for x in b.captures)]
    branches = [b for b, _ in made]
    found = iter(add(graph, GraphChoice(branches, type_), inputs, name, branches))
    results: Made = nest.pack(
        structure, [None if x is None else next(found) for x in nest.flatten(structure)]
    )
    return results


class GraphLoop(Kind):
    """A graph run again and again as long as another one says so."""

    devices = EVERYWHERE

    type = "While"
    alone: FuncGraph | None = None
    """The loop as a graph of its own, once that was asked for."""

    def __init__(self, test: FuncGraph, body: FuncGraph, specs: Sequence[TensorSpec]) -> None:
        self.test, self.body, self.specs = test, body, list(specs)
        self.stateful = any(has_effect(op) for g in (test, body) for op in g.operations)
        self.checks = any(op.kind.checks for g in (test, body) for op in g.operations)

    @cached_property
    def turns(self) -> Countdown:
        """Return what tells how many turns there are to come."""
        return Countdown(self.test.all_inputs, self.test.outputs[0])

    @property
    def label(self) -> str:
        """Return the default name."""
        return "while"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the specs of what is carried; sizes that change are of their own in the end."""
        made = [tensor.spec for tensor in self.body.outputs]
        return [self.behind(*pair) for pair in zip(self.specs, made, strict=True)]

    @staticmethod
    def behind(before: TensorSpec, after: TensorSpec) -> TensorSpec:
        """Return what is known of a value in the end, from those before and behind a turn."""
        if before.shape is None or after.shape is None:
            return before
        pairs = zip(before.dims, after.dims, strict=True)
        return before.with_shape(
            [a if isinstance(a, int) or a == b else unknown_dim() for a, b in pairs]
        )

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Go round."""
        if frame.is_staging:
            return frame.loop(self.test, self.body, len(self.specs), inputs)
        count, first = len(self.specs), len(self.test.captured)
        now = list(inputs[:count])
        fixed, others = inputs[count : count + first], inputs[count + first :]
        before, start = TALLY.spent, self.turns.gaps([*now, *fixed])
        while True:
            spent = TALLY.spent - before
            if spent >= LEAST and frame.run_rest is not None and frame.recorded is None:
                way = self.turns.way(start, self.turns.gaps([*now, *fixed]), spent)
                made = frame.run_rest(self.rest(op).whole_plan(), [*now, *fixed, *others], way)
                if made is not None:
                    return made
            if not bool(np.asarray(self.test.run(frame, [*now, *fixed])[0])):
                return now
            now = self.body.run(frame, [*now, *others])

    def rest(self, op: Operation) -> FuncGraph:
        """Return the loop as a graph of its own, which begins with what is carried by now."""
        if self.alone is None:
            made = FuncGraph(f"the loop {op.name!r}", None, op.graph.tensor_class)
            others = [x.spec for x in op.inputs[len(self.specs) :]]
            with entered(made):
                given = [made.argument(spec, "carried") for spec in (*self.specs, *others)]
                made.finish(made.add(self, given).outputs)
            self.alone = made
        return self.alone

    def touched(self) -> Sequence[Touched]:
        """Return the variables read or written inside."""
        return touched_by([self.test, self.body])

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variables read inside."""
        return [*self.test.states_read(), *self.body.states_read()]


def loop(  # noqa: PLR0913, PLR0917  (a loop has as many parts)
    graph: Graph,
    test: Callable[..., object],
    body: Callable[..., object],
    values: Sequence[Tensor],
    tree: object,
    invariants: Sequence[TensorSpec] | None = None,
    name: str | None = None,
) -> list[GraphTensor]:
    """Add a loop to a graph; return what it carries in the end."""
    specs = list(invariants or [value.spec for value in values])
    part = PartOf(name or "")
    tested, _ = traced("a loop's test", graph, test, specs, tree, part)
    inner, _ = traced("a loop's body", graph, body, specs, tree, part)
    if len(inner.outputs) != len(specs):
        raise ControlFlowError(
            f"the body gives {len(inner.outputs)} values, the loop carries {len(specs)}"
        )
    for place, (given, wanted) in enumerate(zip(inner.outputs, specs, strict=True)):
        if given.spec.dtype != wanted.dtype:
            raise ControlFlowError(
                f"the body turns {wanted} into {given.spec}, loop variable {place}"
            )
        if not within(given.spec, wanted) or (
            dims_or_none(given.spec.shape) != dims_or_none(wanted.shape) and wanted.is_static
        ):
            raise ControlFlowError(
                f"loop variable {place} enters with shape {dims_or_none(wanted.shape)} but has "
                f"shape {dims_or_none(given.spec.shape)} after one iteration. To allow the shape "
                "to vary across iterations, use the `shape_invariants` argument of tf.while_loop "
                "to specify a less-specific shape.",
            )
    kind = GraphLoop(tested, inner, specs)
    taken = [*values, *tested.captures, *inner.captures]
    return add(graph, kind, taken, name, (tested, inner))

"""Gradients on graphs: walk back from results to sources, adding operations to the graph.

An operation of the IR has a rule; of everything else (functions of several operations, calls,
choices, loops) the run is recorded, and a `Backward` operation goes back through the recording,
so that nothing is computed twice and state is as it was when the operation ran.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...ir import REGISTRY
from ...ir.compose.maker import Maker
from ...ir.families import spec_of_value
from ...ir.gradient.walk import walk_back
from ...ir.op import Array, Op
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..eager.backward import Slices, dense
from ..eager.recorded import Looked, Recorded
from ..eager.tensor import apply
from ..values.context import STATE, AsReceived, Emitter, accessed, record
from ..values.context import Backward as BackwardRule
from ..values.texts import Text, Texts
from .frame import Frame, Owner, Stateful, Store
from .func_graph import FuncGraph
from .graph import EVERYWHERE, STANDARD, Graph, GraphTensor, Kind, Operation
from .inference import Abstract, UnknownValueError, emit_abstract, is_unknown
from .kinds import (
    CONSTANT,
    Composite,
    Primitive,
    Rule,
    is_symbolic,
    primitive,
    register_rule,
)
from .variables import now

Override = Callable[..., object]
OVERRIDES: dict[str, Override] = {}
"""Gradient functions by the name that `gradient_overrides` of a graph gives a type."""


class Backward(Kind):
    """The gradients of another operation's inputs, from what was recorded when it ran."""

    devices = EVERYWHERE
    stateful = False
    goes_back = True

    def __init__(
        self, forward: Operation, wanted: Sequence[int], variables: Sequence[Stateful]
    ) -> None:
        self.type = f"{forward.type}Grad"
        self.forward, self.wanted, self.of_variables = forward, list(wanted), list(variables)

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the specs of the inputs and variables."""
        of_inputs = [self.forward.inputs[i].spec for i in self.wanted]
        return [*of_inputs, *(variable.spec for variable in self.of_variables)]

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variables that the other operation reads."""
        return self.forward.kind.variables(self.forward)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Go back through the recording."""
        count = len(self.forward.inputs)
        variables = [*map(now, self.of_variables)]
        record = self.recording(frame, inputs[:count])
        given = iter(inputs[count:])
        grads = [next(given) if there else None for there in op.attributes["has"]]
        of_inputs, of_variables = record.backward(grads, variables, self.wanted)
        values = [record.inputs[i] for i in self.wanted]
        found = [of_inputs[i] for i in self.wanted]
        return [
            *(zeros_like(frame, v) if g is None else g for v, g in zip(values, found, strict=True)),
            *(
                zeros_of(frame, v) if g is None else g
                for v, g in zip(variables, of_variables, strict=True)
            ),
        ]

    def recording(self, frame: Frame, inputs: Sequence[object]) -> Recorded:
        """Return what was recorded; where this run is recorded itself, run once more for it."""
        record = frame.records[self.forward]
        if frame.recorded is None:
            return record
        for each in record.deeper:
            frame.recorded.source(*each)
        inner, again = frame.again([frame.recorded.source(*read) for read in record.reads])
        again.results(self.forward.kind.run(inner, self.forward, again.watch(inputs)))
        return again


def zeros_of(frame: Frame, variable: Stateful) -> object:
    """Return zeros like a variable, whose value may be elsewhere."""
    spec = variable.spec
    if not spec.is_static:
        return zeros_like(frame, variable.value_in(frame.store))
    return Maker(frame.emit).filled(0, spec.dtype, spec.dims)


def zeros_like(frame: Frame, value: object) -> object:
    """Return zeros of the shape of a value of the run."""
    spec = spec_of_value(value)
    return Maker(frame.emit).filled(0, spec.dtype, spec.dims)


def _filled(make: Maker, x: object, value: float, dtype: DType | None = None) -> object:
    spec = spec_of_value(x)
    return make.filled(value, dtype or spec.dtype, spec.dims)


def no_texts(x: Array | Abstract | Text) -> Array | Text:
    """Return as many empty texts as there are texts, known ones of a trace among them."""
    if not isinstance(x, Text) or not x.is_long:
        return np.full(np.shape(x), b"", object)
    return x.with_row(Texts(np.empty(0, np.uint8), np.zeros(math.prod(x.dims), np.int64)))


def _like(type_: str, label: str, value: float) -> Rule:
    def function(make: Maker, x: Any, dtype: DType | None = None) -> object:
        if spec_of_value(x).dtype.kind == "s" and dtype is None and not value:
            return Abstract(x.spec) if is_unknown(x) else no_texts(x)
        return _filled(make, x, value, dtype)

    return register_rule(Rule(type_, function, label, differentiable=False))


ZEROS = Composite(_like("ZerosLike", "zeros_like", 0.0))
ONES = Composite(_like("OnesLike", "ones_like", 1.0))
STANDARD.zeros, STANDARD.ones = ZEROS, ONES


def add_op(
    graph: Graph, kind: Kind, inputs: Sequence[GraphTensor], **attributes: object
) -> GraphTensor | tuple[GraphTensor, ...]:
    """Add an operation of a kind; return its output or the tuple of several."""
    op = graph.add(kind, inputs, attributes)
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


def graph_emit(graph: Graph) -> Emitter:
    """Return what adds operations of the IR to a graph."""

    def emit(
        op: type[Op], *operands: object, **attributes: object
    ) -> GraphTensor | tuple[GraphTensor, ...]:
        if op.name == "gv.constant":
            return add_op(graph, CONSTANT, (), value=np.asarray(attributes["value"]))
        inputs = [
            x
            if isinstance(x, GraphTensor)
            else graph.add(CONSTANT, (), {"value": np.asarray(x)}).outputs[0]
            for x in operands
        ]
        return add_op(graph, primitive(op), inputs, **attributes)

    return emit


def gradients(  # noqa: PLR0913  (each is an option of its own)
    ys: Sequence[GraphTensor],
    xs: Sequence[object],
    grad_ys: Sequence[GraphTensor | Slices | None] | None = None,
    stop: Sequence[GraphTensor] = (),
    within: set[Operation] | None = None,
    name: str | None = None,
    *,
    colocate: bool = False,
) -> list[object]:
    """Return the gradient of the sum of `ys` for each of `xs` (tensors or variables), or None.

    With `colocate`, what goes back through an operation runs on the device of that one.
    """
    if not ys:
        return [None for _ in xs]
    graph = ys[0].graph
    nodes = GraphNodes(graph_emit(graph), colocate)
    order = sorted(graph.operations if within is None else within, key=lambda op: op.index)
    if isinstance(graph, FuncGraph) and within is None and any(_is_outside(graph, x) for x in xs):
        nodes = OutwardNodes(nodes.emit, colocate, graph=graph)
        order = [*_operations_around(graph), *order]
    else:
        xs = [known_in(graph, x) for x in xs]
    given = _given(ys, grad_ys or [None] * len(ys))
    with graph.name_scope(name or "gradients"), graph.control_dependencies(None):
        return walk_back(nodes, order, given, [key_of(x) for x in xs], {x.edge for x in stop})


def _is_outside(graph: FuncGraph, x: object) -> bool:
    return isinstance(x, GraphTensor) and graph.is_inside(x.graph)


def _operations_around(graph: FuncGraph) -> list[Operation]:
    """Return the operations of the graphs that one is inside of, the outermost ones first."""
    found: list[Operation] = []
    outer = graph.outer
    while outer is not None:
        found[:0] = sorted(outer.operations, key=lambda op: op.index)
        outer = outer.outer if isinstance(outer, FuncGraph) else None
    return found


def known_in(graph: Graph, x: object) -> object:
    """Return what a tensor from outside of a branch, a body or a function is inside of it."""
    outer: Graph | None = getattr(graph, "outer", None)
    captured: dict[int, tuple[object, GraphTensor]] = getattr(graph, "captured", {})
    if isinstance(x, GraphTensor) and (x.graph is graph or outer is None):
        return x
    there = known_in(outer, x) if isinstance(x, GraphTensor) and outer is not None else x
    for tensor, inside in captured.values():
        if tensor is there or (isinstance(tensor, GraphTensor) and isinstance(there, GraphTensor)
                               and tensor.edge is there.edge):  # fmt: skip
            return inside
    return x


def _given(
    ys: Sequence[GraphTensor], grads: Sequence[GraphTensor | Slices | None]
) -> Iterator[tuple[GraphTensor, object]]:
    """Give the gradients of the results: ones where there are none."""
    for y, grad in zip(ys, grads, strict=True):
        if y.spec.dtype.kind in "fc":
            yield y.edge, _ones(y) if grad is None else grad


def _ones(y: GraphTensor) -> object:
    """Return ones like a result: of a number, without asking for its value."""
    if y.spec.shape == ():
        return y.graph.constant(np.ones((), y.spec.dtype.numpy))
    return add_op(y.graph, ONES, [y])


def node_backward(op: Operation) -> tuple[BackwardRule, list[Owner | None]]:
    """Return the backward function of one operation in its graph, and the variables it reads.

    It gives the gradients of the operation's inputs, then of the variables. What an operation gives
    back to one input twice stays two parts: the tape adds them up in its order, as at once.
    """
    states = states_of(op)
    owners = [state.owner() for state in states]
    for owner in owners:
        if owner is not None:
            accessed(owner)

    def backward(*grads: object) -> Sequence[object]:
        node = _run_again(op)
        graph = node.graph
        nodes = GraphNodes(apply if STATE.recorders else graph_emit(graph))
        wanted = [True for _ in nodes.operands(node)]
        given = [g if g is None or isinstance(g, Slices) else graph.owned(g) for g in grads]
        if all(g is None for g in given):
            return [None for _ in wanted]
        return nodes.gradients(node, given, wanted)

    # At once each step back is one of its own, and only those are gone through that come in.
    return AsReceived(backward) if isinstance(op.kind, Backward) else backward, owners


def _run_again(op: Operation) -> Operation:
    """Return an operation, once more if its gradient is asked for in a branch or loop behind it.

    What the run outside has recorded is not to be had in there, so that the same is computed
    again; what changes, draws or reads something cannot be, and is left where it is.
    """
    here = STATE.context
    if not isinstance(here, FuncGraph) or not here.is_inside(op.graph):
        return op
    return _once_more(here, op) or op


def _once_more(graph: FuncGraph, op: Operation) -> Operation | None:
    """Add an operation from outside to a graph; None if it changes, draws or reads something."""
    if op.kind.stateful or states_of(op):
        return None
    return graph.add(op.kind, [graph.owned(x) for x in op.inputs], op.attributes)


def _of_inputs(op: Operation) -> BackwardRule:
    return node_backward(op)[0]


STANDARD.backward = _of_inputs


def states_of(op: Operation) -> list[Stateful]:
    """Return the variables that an operation reads, each once."""
    return list(dict.fromkeys(op.kind.variables(op)))


def key_of(x: object) -> Hashable:
    """Return what a tensor or a variable of a graph is known by on the way back."""
    return x.edge if isinstance(x, GraphTensor) else id(x)


@dataclass(frozen=True)
class GraphNodes:
    """Operations of a graph as nodes of the walk back: they depend on inputs and variables."""

    SUMS_AT_ONCE: ClassVar[bool] = False
    emit: Emitter
    colocates: bool = False
    """Whether what goes back through an operation runs on the device of that one."""

    def operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs, and the keys of the variables that are read."""
        return [*op.inputs, *map(id, states_of(op))]

    def results(self, op: Operation) -> Sequence[Hashable]:
        """Return the outputs."""
        return op.outputs

    def smooth(self, op: Operation) -> Sequence[Hashable]:
        """Return the outputs that have gradients."""
        return [t for t in op.outputs if t.spec.dtype.kind in "fc"]

    def gradients(
        self, op: Operation, received: Sequence[object], wanted: Sequence[bool]
    ) -> Sequence[object]:
        """Return the gradients of the inputs and of the variables.

        They are what replaces the operation's rule, rows with indices, its kind's rule, or those
        of a recorded run.
        """
        if op.type == "ReadVariableOp":
            return received
        if op.type == "Identity" and op.graph.override_of(op) is None:
            return received  # rows stay rows, also those of a tensor of unknown shape
        with op.graph.colocate_with(op) if self.colocates else nullcontext():
            return self._through(op, list(map(dense, received)), wanted)

    def _through(
        self, op: Operation, grads: Sequence[object], wanted: Sequence[bool]
    ) -> Sequence[object]:
        override = op.graph.override_of(op)
        if override is not None:
            made = OVERRIDES[override](op, *grads)
            found: Sequence[object] | None = made if isinstance(made, tuple | list) else (made,)
        else:
            found = op.graph.sparse_gradient(op, grads)
            if found is None:
                kind: Kind = op.attributes.get("gradient_with", op.kind)
                found = kind.gradient(op, grads, self.emit)
        if found is None:
            return recorded(op, grads, wanted)
        if len(found) != len(op.inputs):
            raise ValueError(
                f"the gradient of node {op.name!r} ({op.type}) gives {len(found)} values, "
                f"expected {len(op.inputs)}"
            )
        return [*found, *[None] * (len(wanted) - len(found))]

    def added(self, a: object, b: object) -> object:
        """Return the sum of two gradients; slices with indices are joined."""
        if isinstance(a, Slices) and isinstance(b, Slices):
            return a.joined(b)
        return self.emit(REGISTRY["gv.add"], dense(a), dense(b))


@dataclass(frozen=True)
class OutwardNodes(GraphNodes):
    """Operations of a branch, a body or a function, and of the graphs that it is inside of.

    What came in for a captured tensor goes on outside of it. What the run outside has recorded is
    not to be had in there, so that the same is computed again.
    """

    graph: FuncGraph = field(kw_only=True)

    def operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs, and the keys of the variables; of a captured tensor itself."""
        outside = self.outside(op)
        return super().operands(op) if outside is None else [outside.edge]

    def outside(self, op: Operation) -> GraphTensor | None:
        """Return the tensor that an operation stands for inside of a graph."""
        if op.inputs or not isinstance(op.graph, FuncGraph) or not op.outputs:
            return None
        found = op.graph.outside(op.outputs[0])
        return found if isinstance(found, GraphTensor) else None

    def gradients(
        self, op: Operation, received: Sequence[object], wanted: Sequence[bool]
    ) -> Sequence[object]:
        """Return the gradients of the inputs and of the variables.

        Raises `LookupError` for an operation outside that draws, reads or changes something.
        """
        if self.outside(op) is not None:
            return received
        if op.graph is self.graph or op.type == "ReadVariableOp":
            return super().gradients(op, received, wanted)
        with self.graph.colocate_with(op) if self.colocates else nullcontext():
            again = _once_more(self.graph, op)
        if again is None:
            raise LookupError(
                f"the gradient of node {op.name!r} ({op.type}) is asked for inside of a branch, a "
                "loop or a function, and it is outside: what it drew or read is not known there"
            )
        return super().gradients(again, received, wanted)


class Followed(Looked):
    """A recording that refuses values of which it does not know where they come from.

    Functions that are told types and shapes alone may give those of their results alone: what these
    depend on cannot be seen then.
    """

    def __init__(self, emit: Emitter, known: set[int] | None = None) -> None:
        super().__init__(emit)
        self.known: set[int] = set() if known is None else known

    @property
    def emit(self) -> Emitter:
        """Carry out an operation on what is known, and record it."""
        return self._carry_out

    def _carry_out(self, op: type[Op], *operands: object, **attributes: object) -> object:
        self._check(operands)
        made: object = super().emit(op, *operands, **attributes)
        self.known.update(map(id, made if isinstance(made, tuple) else (made,)))
        return made

    def watch(self, values: Sequence[object]) -> list[object]:
        """Return values that are told apart from all others."""
        made = super().watch(values)
        self.known.update(map(id, made))
        return made

    def results(self, values: Sequence[object]) -> Sequence[object]:
        """Take note of the results."""
        self._check(values)
        return super().results(values)

    def _check(self, values: Sequence[object]) -> None:
        if any(is_unknown(value) and id(value) not in self.known for value in values):
            raise UnknownValueError("where a value comes from is not known before it is run")


class LookedFrame(Frame):
    """A run on types and shapes alone, which is looked at for what depends on what."""

    def again(self, reads: Sequence[object]) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run once more."""
        assert isinstance(self.recorded, Followed)
        record = Followed(self.emit, self.recorded.known)
        made = LookedFrame(self.store, record.emit, self.symbols, self.records, record, [*reads])
        return made, record


def smooth_through(op: Operation, has: tuple[bool, ...]) -> Set[Hashable]:
    """Return by what those results may change smoothly that `has` says gradients come in for.

    What goes back through an operation is gone through itself on types and shapes alone: so what
    its results do not depend on has no gradient, as at once, and not zeros. Choices, loops and
    calls say themselves what they depend on.
    """
    forward = op
    while isinstance(forward.kind, Backward):
        forward = forward.kind.forward
    every = {*op.kind.smooth_operands(op)}
    sizes = any(map(is_symbolic, forward.attributes.values()))
    specs = [tensor.spec for tensor in (*op.inputs, *op.outputs)]
    plain = isinstance(forward.kind, Composite | Primitive) and not states_of(op) and not sizes
    if forward is op or not plain or any(spec.shape is None for spec in specs):
        return every
    if all(spec.is_static for spec in specs):
        found = _reached(op, has, [x.spec for x in op.inputs])
        return every if found is None else every & found
    for size in TRIED:
        try:
            found = _reached(op, has, [_put_in(x.spec, size) for x in op.inputs])
        except (TypeError, ValueError, IndexError, ArithmeticError):
            continue  # there cannot be as many of everything that is not counted
        return every if found is None else every & found
    return every


TRIED = (8, 9, 4, 1)
"""Sizes that are put in for those that are not known."""


def _put_in(spec: TensorSpec, size: int) -> TensorSpec:
    return spec.with_shape(tuple(d if isinstance(d, int) else size for d in spec.dims))


def _reached(
    op: Operation, has: tuple[bool, ...], specs: Sequence[TensorSpec]
) -> Set[Hashable] | None:
    """Return what has gradients of what goes back through an operation; None if values say that."""
    record = Followed(emit_abstract)
    frame = LookedFrame(Store(), record.emit, recorded=record)
    inner: Operation = op
    while isinstance(inner.kind, Backward):
        inner = inner.kind.forward
        frame.records[inner] = Looked(emit_abstract)
    values = [Abstract(s, known_value(x)) for s, x in zip(specs, op.inputs, strict=True)]
    given = record.watch(values)
    try:
        made = record.results(op.kind.run(frame, op, given))
        make = Maker(emit_abstract)
        grads = [_filled(make, x, 1) if there else None for x, there in zip(made, has, strict=True)]
        found, _ = record.backward(grads, [])
    except UnknownValueError:
        return None
    return {x.edge for x, grad in zip(op.inputs, found, strict=True) if grad is not None}


def known_value(tensor: GraphTensor) -> Array | None:
    """Return the elements of a constant that slopes do not go by."""
    of_none = tensor.op.kind is CONSTANT and tensor.spec.dtype.kind not in "fc"
    return np.asarray(tensor.op.attributes["value"]) if of_none else None


def recorded(op: Operation, grads: Sequence[object], wanted: Sequence[bool]) -> list[object]:
    """Add the operation that goes back through a recorded run; return what it gives."""
    count, states = len(op.inputs), states_of(op)
    reached = smooth_through(op, tuple(grad is not None for grad in grads))
    places = [
        i
        for i, t in enumerate(op.inputs)
        if wanted[i] and t.spec.dtype.kind in "fc" and t.edge in reached
    ]
    read = [i for i in range(count, len(wanted)) if wanted[i] and id(states[i - count]) in reached]
    if not (places or read):
        return [None] * len(wanted)
    kind = Backward(op, places, [states[i - count] for i in read])
    node = op.graph.add(
        kind,
        [*op.inputs, *(op.graph.owned(g) for g in grads if g is not None)],
        {"forward": op, "has": tuple(g is not None for g in grads)},
    )
    if STATE.recorders:
        backward, variables = node_backward(node)
        record(node.type, [*node.inputs, *variables], node.outputs, backward)
    found: list[object] = [None] * len(wanted)
    for place, grad in zip([*places, *read], node.outputs, strict=True):
        found[place] = grad
    return found

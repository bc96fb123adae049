"""Gradients on graphs: walk back from results to sources, adding operations to the graph.

An operation of the IR has a rule; of everything else (functions of several operations, calls,
choices, loops) the run is recorded, and a `Backward` operation goes back through the recording,
so that nothing is computed twice and state is as it was when the operation ran.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir import REGISTRY
from ..ir.compositions import Maker
from ..ir.dtypes import DType
from ..ir.op import Op
from ..ir.ops.families import spec_of_value
from ..ir.tensor import TensorSpec
from .abstract import Abstract, is_unknown
from .context import STATE, accessed, record
from .differentiate import dense
from .execute import Frame
from .graph import Graph, GraphTensor, Operation
from .kinds import CONSTANT, EVERYWHERE, Composite, Kind, Rule, primitive, register_rule
from .recorded import Recorded
from .tensor import apply

Override = Callable[..., Any]
OVERRIDES: dict[str, Override] = {}
"""Gradient functions by the name that `gradient_overrides` of a graph gives a type."""


class Backward(Kind):
    """The gradients of another operation's inputs, from what was recorded when it ran."""

    devices = EVERYWHERE
    stateful = False

    def __init__(self, forward: Operation, wanted: Sequence[int], variables: Sequence[Any]) -> None:
        self.type = f"{forward.type}Grad"
        self.forward, self.wanted, self.of_variables = forward, list(wanted), list(variables)

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return the specs of the inputs and variables."""
        of_inputs = [self.forward.inputs[i].spec for i in self.wanted]
        return [*of_inputs, *(variable.spec for variable in self.of_variables)]

    def variables(self, op: Operation) -> Sequence[Any]:
        """Return the variables that the other operation reads."""
        return self.forward.kind.variables(self.forward)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[Any]) -> Sequence[Any]:
        """Go back through the recording."""
        count = len(self.forward.inputs)
        record = self.recording(frame, inputs[:count])
        given = iter(inputs[count:])
        grads = [next(given) if there else None for there in op.attributes["has"]]
        of_inputs, of_variables = record.backward(grads, self.of_variables)
        values = [record.inputs[i] for i in self.wanted]
        found = [of_inputs[i] for i in self.wanted]
        return [
            *(zeros_like(frame, v) if g is None else g for v, g in zip(values, found, strict=True)),
            *(
                zeros_like(frame, v.value_in(frame.store)) if g is None else g
                for v, g in zip(self.of_variables, of_variables, strict=True)
            ),
        ]

    def recording(self, frame: Frame, inputs: Sequence[Any]) -> Recorded:
        """Return what was recorded; where this run is recorded itself, run once more for it."""
        record = frame.records[self.forward]
        if frame.recorded is None:
            return record
        inner, again = frame.again([frame.recorded.source(*read) for read in record.reads])
        again.results(self.forward.kind.run(inner, self.forward, again.watch(inputs)))
        return again


def zeros_like(frame: Frame, value: Any) -> Any:
    """Return zeros of the shape of a value of the run."""
    spec = spec_of_value(value)
    return Maker(frame.emit).filled(0, spec.dtype, spec.dims)


def _filled(make: Maker, x: Any, value: float, dtype: DType | None = None) -> Any:
    spec = spec_of_value(x)
    return make.filled(value, dtype or spec.dtype, spec.dims)


def _like(type_: str, label: str, value: float) -> Rule:
    def function(make: Maker, x: Any, dtype: DType | None = None) -> Any:
        if spec_of_value(x).dtype.kind == "s" and dtype is None and not value:
            return Abstract(x.spec) if is_unknown(x) else np.full(np.asarray(x).shape, b"", object)
        return _filled(make, x, value, dtype)

    return register_rule(Rule(type_, function, label, differentiable=False))


ZEROS = Composite(_like("ZerosLike", "zeros_like", 0.0))
ONES = Composite(_like("OnesLike", "ones_like", 1.0))


def add_op(graph: Graph, kind: Kind, inputs: Sequence[GraphTensor], **attributes: Any) -> Any:
    """Add an operation of a kind; return its output or the tuple of several."""
    op = graph.add(kind, inputs, attributes)
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


def graph_emit(graph: Graph) -> Callable[..., Any]:
    """Return what adds operations of the IR to a graph."""

    def emit(op: type[Op], *operands: Any, **attributes: Any) -> Any:
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


def gradients(
    ys: Sequence[GraphTensor],
    xs: Sequence[Any],
    grad_ys: Sequence[GraphTensor | None] | None = None,
    stop: Sequence[GraphTensor] = (),
    within: set[Operation] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Return the gradient of the sum of `ys` for each of `xs` (tensors or variables), or None."""
    if not ys:
        return [None for _ in xs]
    walk = Walk(ys[0].graph, xs, stop, within)
    with walk.graph.name_scope(name or "gradients"), walk.graph.control_dependencies(None):
        walk.start(ys, grad_ys or [None] * len(ys))
        walk.back()
        return [walk.total(x) for x in xs]


def node_backward(op: Operation) -> tuple[Callable[..., Sequence[Any]], list[Any]]:
    """Return the backward function of one operation in its graph, and the variables it reads.

    It gives the gradients of the operation's inputs, then of the variables.
    """
    states = list(dict.fromkeys(op.kind.variables(op)))
    owners = [state.owner() for state in states]
    for owner in owners:
        if owner is not None:
            accessed(owner)

    def backward(*grads: Any) -> Sequence[Any]:
        walk = Walk(op.graph, [*op.inputs, *states], (), {op})
        if STATE.recorders:
            walk.emit = apply
        walk.visit(op, [None if g is None else op.graph.owned(g) for g in grads])
        found = {id(x): walk.total(x) for x in (*op.inputs, *states)}
        seen: set[int] = set()
        made = []
        for x in (*op.inputs, *states):
            made.append(None if id(x) in seen else found[id(x)])
            seen.add(id(x))
        return made

    return backward, owners


class Walk:
    """The way back through a graph."""

    def __init__(
        self,
        graph: Graph,
        xs: Sequence[Any],
        stop: Sequence[GraphTensor],
        within: set[Operation] | None,
    ) -> None:
        self.graph = graph
        self.emit = graph_emit(graph)
        self.sources = {x for x in xs if isinstance(x, GraphTensor)}
        self.variables = [x for x in xs if not isinstance(x, GraphTensor)]
        self.stopped = set(stop)
        self.within = within
        self.parts: dict[Any, list[Any]] = {}
        self.active: set[GraphTensor] = set(self.sources)
        self.order: list[Operation] = []
        self.find_active()

    def find_active(self) -> None:
        """Find the operations whose outputs depend on the sources."""
        every = self.graph.operations if self.within is None else self.within
        for op in sorted(every, key=lambda op: op.index):
            reads = any(v in self.variables for v in op.kind.variables(op))
            if reads or any(t in self.active and self.passes(t) for t in op.inputs):
                self.order.append(op)
                self.active |= {t for t in op.outputs if t.spec.dtype.kind in "fc"}

    def start(self, ys: Sequence[GraphTensor], grads: Sequence[Any]) -> None:
        """Give the results their gradients: ones where none are given."""
        for y, grad in zip(ys, grads, strict=True):
            if y.spec.dtype.kind in "fc":
                given = self.ones(y) if grad is None else grad
                self.parts.setdefault(y, []).append(given)

    def ones(self, y: GraphTensor) -> Any:
        """Return ones like a result: of a number, without asking for its value."""
        if y.spec.shape == ():
            return self.graph.constant(np.ones((), y.spec.dtype.numpy))
        return add_op(self.graph, ONES, [y])

    def back(self) -> None:
        """Visit the operations from the last to the first."""
        for op in reversed(self.order):
            grads = [
                self.total(t) if t in self.parts and t not in self.stopped else None
                for t in op.outputs
            ]
            if any(g is not None for g in grads):
                self.visit(op, grads)

    def visit(self, op: Operation, grads: Sequence[Any]) -> None:
        """Pass gradients through one operation."""
        if op.type != "ReadVariableOp":
            grads = list(map(dense, grads))
        override = self.graph.override_of(op)
        rows = None if override is not None else self.graph.sparse_gradient(op, grads)
        if override is not None:
            made = OVERRIDES[override](op, *grads)
            found: Any = made if isinstance(made, tuple | list) else (made,)
        elif rows is not None:
            found = rows
        else:
            wanted = op.attributes.get("gradient_with", op.kind).gradient(op, grads, self.emit)
            found = self.recorded(op, grads) if wanted is None else wanted
        for tensor, grad in zip(op.inputs, found, strict=True):
            if grad is not None and tensor in self.active and self.passes(tensor):
                self.parts.setdefault(tensor, []).append(grad)
        if op.type == "ReadVariableOp":
            self.parts.setdefault(id(op.attributes["variable"]()), []).extend(
                g for g in grads if g is not None
            )

    def passes(self, tensor: GraphTensor) -> bool:
        """Say whether gradients come to a tensor: to sources even where they go no further."""
        return tensor not in self.stopped or tensor in self.sources

    def recorded(self, op: Operation, grads: Sequence[Any]) -> list[Any]:
        """Add the operation that goes back through a recorded run."""
        wanted = [
            i for i, t in enumerate(op.inputs) if t in self.active and t.spec.dtype.kind in "fc"
        ]
        read = [v for v in dict.fromkeys(op.kind.variables(op)) if v in self.variables]
        kind = Backward(op, wanted, read)
        node = self.graph.add(
            kind,
            [*op.inputs, *(g for g in grads if g is not None)],
            {"forward": op, "has": tuple(g is not None for g in grads)},
        )
        made = node.outputs
        if STATE.recorders:
            backward, variables = node_backward(node)
            record(node.type, [*node.inputs, *variables], made, backward)
        for variable, grad in zip(read, made[len(wanted) :], strict=True):
            self.parts.setdefault(id(variable), []).append(grad)
        found: list[Any] = [None] * len(op.inputs)
        for place, grad in zip(wanted, made, strict=False):
            found[place] = grad
        return found

    def total(self, x: Any) -> Any:
        """Return the sum of what has come in for a tensor or a variable, or None."""
        key = x if isinstance(x, GraphTensor) else id(x)
        parts = self.parts.get(key)
        if not parts:
            return None
        while len(parts) > 1:
            a, b = parts[:2]
            if hasattr(a, "to_dense") and hasattr(b, "to_dense"):
                parts[:2] = [a.joined(b)]
            else:
                parts[:2] = [self.emit(REGISTRY["gv.add"], dense(a), dense(b))]
        return parts[0]

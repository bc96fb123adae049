"""Runs that tapes see, and going back through complex numbers where a run is recorded.

numpy computes some of what is done with them, which a recording does not see. So an operation of a
graph on them is entered in the recording as a whole. Its gradient is the one that graphs give it:
worked out in a graph of its own, which is made once for each combination of types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ...ir.families import spec_of_value
from ...ir.op import Array, Call, Op
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..eager.recorded import Box, unboxed
from ..eager.tensor import Tensor, apply, as_tensor
from ..graph.execute import Plan
from ..graph.frame import Frame, Stateful, Store
from ..graph.func_graph import FuncGraph
from ..graph.gradients import gradients
from ..graph.graph import Operation
from ..graph.kinds import Composite, complex_gradient
from ..graph.variables import VariableState
from ..values.context import STATE, Passing, entered, record, unrecorded


class GraphRule(Op):
    """An operation of a graph in a recording."""

    name = "gv.of_graph"

    @classmethod
    def infer(cls, *xs: TensorSpec, **attributes: object) -> Sequence[TensorSpec]:
        """Refuse: what it gives is there when it is entered."""
        raise TypeError(f"{cls.name} is entered in a recording, and never inferred")

    @classmethod
    def evaluate(cls, *xs: Array, op: Operation) -> Sequence[Array]:
        """Carry the operation out."""
        return [np.asarray(x) for x in op.kind.run(Frame(Store()), op, xs)]

    @classmethod
    def gradient(cls, call: Call, *grads: object) -> Sequence[object]:
        """Return what the operation's rule in graphs gives."""
        op = call.attributes["op"]
        has = tuple(grad is not None for grad in grads)
        plan, places = way_back(op, tuple(call.specs), tuple(call.result_specs), has)
        given = [unboxed(x) for x in (*call.operands, *(g for g in grads if g is not None))]
        found: list[object] = [None] * len(call.operands)
        for place, grad in zip(places, plan.run(Frame(Store()), given), strict=True):
            found[place] = Box(unboxed(grad))
        return found


@lru_cache(maxsize=256)
def way_back(
    op: Operation,
    specs: tuple[TensorSpec, ...],
    results: tuple[TensorSpec, ...],
    has: tuple[bool, ...],
) -> tuple[Plan, list[int]]:
    """Return what gives gradients of inputs, from these and those of results; and of which."""
    graph = FuncGraph(f"gradient of {op.name}", None, type(op.outputs[0]))
    xs = [graph.argument(spec, f"x{i}") for i, spec in enumerate(specs)]
    ys = graph.add(op.kind, xs, op.attributes, specs=results).outputs
    pairs = [(y, graph.argument(y.spec, "grad")) for y, there in zip(ys, has, strict=True) if there]
    with entered(graph):
        found = gradients([y for y, _ in pairs], xs, [grad for _, grad in pairs])
    made = {i: graph.owned(x) for i, x in enumerate(found) if x is not None}
    return Plan([*made.values()], [*xs, *(grad for _, grad in pairs)]), [*made]


def is_hidden(op: Operation) -> bool:
    """Say whether a recording would not see what makes the results of an operation."""
    is_rule = isinstance(op.kind, Composite)
    return is_rule and complex_gradient(op.kind.type, op.inputs, op.outputs) is not None


def carried_out(frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
    """Return the results of an operation in a frame that is recorded, which knows of it."""
    if frame.is_staging or not is_hidden(op):
        made: Sequence[object] = op.kind.run(frame, op, inputs)
        return made
    boxes = [Box(x) for x in GraphRule.evaluate(*map(unboxed, inputs), op=op)]
    specs, given = [*map(spec_of_value, inputs)], [box.spec for box in boxes]
    assert frame.recorded is not None, "the frame is recorded"
    call = Call(GraphRule, inputs, boxes, {"op": op}, specs, frame.recorded.start, given)
    frame.recorded.tape.remember(call)
    return boxes


Frame.recorded_rule = carried_out


class TapeFrame(Frame):
    """A run in which tapes see every operation, and every variable that is read."""

    def present(self, variable: Stateful) -> object:
        """Read through the Python object, which tapes know."""
        owner = variable.owner()
        return super().present(variable) if owner is None else owner.read_value()

    def host(
        self, function: Callable[..., object], inputs: Sequence[object], dtypes: Sequence[DType]
    ) -> Sequence[object]:
        """Call a Python function with tensors, so that tapes see what it does."""
        seen = getattr(function, "on_tensors", None)
        if seen is None:
            return super().host(function, inputs, dtypes)
        return [as_tensor(x) for x in seen(*map(as_tensor, inputs))]

    def carry_out(self, op: Any, inputs: Sequence[object]) -> Sequence[object]:
        """Return the results of an operation; tapes see one on complex numbers as a whole."""
        if not STATE.recorders or not is_hidden(op):
            return super().carry_out(op, inputs)
        with unrecorded():
            made = [as_tensor(x) for x in super().carry_out(op, inputs)]
        given = [as_tensor(x) for x in inputs]
        specs = tuple(map(spec_of_value, given)), tuple(map(spec_of_value, made))

        def backward(*grads: Tensor | None) -> Sequence[object]:
            plan, places = way_back(op, *specs, tuple(grad is not None for grad in grads))
            values = [*given, *(grad for grad in grads if grad is not None)]
            found = plan.run(TapeFrame(Store(), apply), values)
            by_place = dict(zip(places, found, strict=True))
            return [by_place.get(place) for place in range(len(given))]

        record(op.type, given, made, backward)
        return made

    def detached(self, value: object) -> Tensor:
        """Return the same value as a tensor that tapes do not know."""
        return as_tensor(value).alias()


@dataclass
class AgainFrame(TapeFrame):
    """A run of what was run before, for tapes: it reads what there was, and changes nothing."""

    values: dict[Stateful, Array] = field(default_factory=dict)
    """The values that variables had."""

    def present(self, variable: Stateful) -> object:
        """Read the value of then as that of the Python object, which tapes know."""
        made, owner = as_tensor(self.values[variable]).alias(), variable.owner()
        if owner is not None:
            record("ReadVariableOp", (owner,), (made,), lambda grad: (grad,))
        return made

    def write(self, variable: Stateful, value: object) -> None:
        """Take note of the value that the variable had from here on."""
        self.values[variable] = np.asarray(value)


@dataclass
class WatchedCall:
    """A call that a tape sees, and what there was before it."""

    store: Store
    inputs: Sequence[Tensor]
    variables: Sequence[VariableState]
    values: dict[Stateful, Array]
    draws: dict[object, int]
    passed: Passing | None
    """The variables that were passed."""

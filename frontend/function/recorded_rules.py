"""Go back through complex numbers where a run is recorded.

numpy computes some of what is done with them, which a recording does not see. So an operation of a
graph on them is entered in the recording as a whole. Its gradient is the one that graphs give it:
worked out in a graph of its own, which is made once for each combination of types.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...ir.families import spec_of_value
from ...ir.op import Array, Call, Op
from ...ir.types.tensor import TensorSpec
from ..eager.recorded import Box, unboxed
from ..graph.execute import Plan
from ..graph.frame import Frame, Store
from ..graph.func_graph import FuncGraph
from ..graph.gradients import gradients
from ..graph.graph import Operation
from ..graph.kinds import Composite, complex_gradient
from ..values.context import entered


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

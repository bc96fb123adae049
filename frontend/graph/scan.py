"""A function carried out on each slice along the first axis: as one loop where there are many.

The function is traced once, and called in each trip. What it gives is written into tensors that
the loop carries, at the place of the trip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types.tensor import TensorSpec
from ..eager.tensor import apply, as_tensor
from ..values import nest
from .control_flow import ControlFlowError, add, loop, traced
from .func_graph import CallGraph, FuncGraph
from .graph import Graph, GraphTensor

UNROLLED = 8
"""As many slices are rather written out."""

Made = TypeVar("Made")
Carried = TypeVar("Carried")


def scanned(
    graph: Graph,
    step: Callable[..., tuple[Carried, Made]],
    initial: Carried,
    xs: Sequence[object],
    count: int,
) -> tuple[Carried, Made]:
    """Return the last state, and the outputs stacked.

    The step takes the state and slices; it gives the next state and an output.
    """
    make = Maker(apply)
    states = [graph.owned(as_tensor(x)) for x in nest.flatten(initial)]
    slices = [graph.owned(as_tensor(x)) for x in xs]
    parts = [TensorSpec(x.spec.dtype, x.spec.dims[1:]) for x in slices]
    specs = [*(x.spec for x in states), *parts]

    def one(*leaves: object) -> tuple[Carried, Made]:
        return step(nest.pack(initial, leaves[: len(states)]), *leaves[len(states) :])

    inner, shape = traced("a step of a scan", graph, one, specs, [None] * len(specs))
    given = [x.spec for x in inner.outputs]
    for before, after in zip(specs, given[: len(states)], strict=False):
        if before != after:
            raise ControlFlowError(f"a step turns a state of {before} into {after}")
    outputs = given[len(states) :]
    if not all(spec.shape is not None and spec.is_static for spec in outputs):
        raise ControlFlowError(f"a step gives {outputs}, expected sizes that are known")
    stacks = [graph.owned(make.filled(0, s.dtype, (count, *s.dims))) for s in outputs]

    def body(trip: GraphTensor, *carried: GraphTensor) -> list[object]:
        now, kept = carried[: len(states)], carried[len(states) :]
        taken = [make.gather(x, trip, axis=0) for x in slices]
        made = call(trip.graph, inner, [*now, *taken])
        place = make.reshape(trip, shape=(1, 1))
        rows = [make.reshape(x, shape=(1, *x.spec.dims)) for x in made[len(states) :]]
        pushed = [
            make.scatter_nd(stack, place, row, reduction="none")
            for stack, row in zip(kept, rows, strict=True)
        ]
        return [trip + 1, *made[: len(states)], *pushed]

    start = graph.constant(np.array(0, np.int64))
    values = [start, *states, *stacks]
    found = loop(graph, lambda trip, *_: trip < count, body, values, [None] * len(values))[1:]
    return nest.pack(initial, found[: len(states)]), nest.pack(shape[1], found[len(states) :])


def call(graph: Graph, inner: FuncGraph, inputs: Sequence[GraphTensor]) -> list[GraphTensor]:
    """Call a traced step in the graph of a loop's body."""
    return add(graph, CallGraph(inner), [*inputs, *inner.captures], None)

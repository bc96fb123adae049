"""Taking back what was added to a graph.

A loop's condition is evaluated once to see whether it is a tensor; where it is, the loop traces
it again inside, and what the first time added must not run.
"""

from __future__ import annotations

from collections.abc import Callable

from ..graph.func_graph import FuncGraph
from ..graph.graph import Graph
from ..values.context import STATE
from .conditional import State
from .state import is_tensor


def tried(state: State, evaluate: Callable[[], object]) -> object:
    """Return what a condition gives; if that is a tensor, nothing of it remains."""
    graph = STATE.context
    if not isinstance(graph, Graph):
        return evaluate()
    before, count = state.get(), len(graph.operations)
    value = evaluate()
    if is_tensor(value):
        take_back(graph, count)
        state.put(before)
    return value


def take_back(graph: Graph, count: int) -> None:
    """Let a graph have its first operations only."""
    gone = dict.fromkeys(graph.operations[count:])
    del graph.operations[count:]
    for op in gone:
        graph.by_name.pop(op.name, None)
        for tensor in op.inputs:
            tensor.users[:] = [user for user in tensor.users if user not in gone]
    if isinstance(graph, FuncGraph):
        for key in [k for k, (_, made) in graph.captured.items() if made.op in gone]:
            del graph.captured[key]

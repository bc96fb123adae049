"""Functions that build a graph as the first version did, and parts of their graphs as functions.

What such a function makes is kept as a graph of the first version's kind: a call runs what its
results need and nothing else, and variables are made the one time that it is traced. `prune`
gives other results of the same graph, from other inputs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import wraps

from ...function.arguments import Bound
from ...function.traces import ConcreteFunction
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor, Operation
from ...values import nest
from ...values.context import entered
from ..graph.state import TfFuncGraph, TfFunction
from . import scopes as _sc


class WrappedGraph(TfFuncGraph):
    """A graph of which a call runs what its results need."""

    lists_variables = True
    runs_effects = False

    def cut(
        self, inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor | Operation]
    ) -> WrappedGraph:
        """Return the same graph with other inputs and outputs."""
        made = copy.copy(self)
        made.forget_plan()
        made.inputs = list(inputs)
        made.captured = {k: v for k, v in self.captured.items() if v[1] not in inputs}
        made.outputs = [x.edge for x in outputs if isinstance(x, GraphTensor)]
        made.control_outputs = [x for x in outputs if isinstance(x, Operation)]
        return made


class WrappedFunction(ConcreteFunction):
    """The one trace of a function that builds a graph."""

    TAKES_INPUTS = True
    graph: WrappedGraph

    def prune(
        self,
        feeds: object,
        fetches: object,
        name: str | None = None,
        input_signature: object = None,
    ) -> WrappedFunction:
        """Return a function of other tensors of the graph that gives others: `fetches`.

        These may be given by name; of an operation it is None, and it runs.
        """
        if input_signature is not None:
            raise NotImplementedError("prune: input_signature is not supported")
        inputs = [self._element(x) for x in nest.flatten(feeds)]
        edges = [x.edge for x in inputs if isinstance(x, GraphTensor)]
        if len(edges) < len(inputs):
            raise ValueError(f"Feeds must be tensors: {inputs!r}")
        structure = nest.map_structure(self._element, fetches)
        found = nest.flatten(structure)
        graph = self.graph.cut(edges, found)
        slots = [x if isinstance(x, GraphTensor) else None for x in found]
        return WrappedFunction(self.function, self.bound, graph, structure, slots)

    def _element(self, given: object) -> GraphTensor | Operation:
        """Return the tensor or operation that a name or a message says."""
        if isinstance(given, GraphTensor | Operation):
            return given
        name = given if isinstance(given, str) else getattr(given, "name", None)
        return self.graph.as_graph_element(given if name is None else name)


class Wrapping(TfFunction):
    """A function that is traced once, for arguments of a signature."""

    graph_class = WrappedGraph
    concrete_class = WrappedFunction

    def trace(self, bound: Bound) -> ConcreteFunction:
        """Trace; variables are made while that is done."""
        return self._trace(bound, may_create=True)

    def _output(self, graph: FuncGraph, value: object) -> GraphTensor | None:
        """Return a result; of an operation, which is run for it, none."""
        if isinstance(value, Operation):
            graph.control_outputs.append(value)
            return None
        return super()._output(graph, value)


def wrap_function(
    fn: Callable[..., object], signature: Sequence[object], name: str | None = None
) -> ConcreteFunction:
    """Return the trace of a function that builds a graph, for arguments of a signature."""
    kept = _sc.Scopes({})

    @wraps(fn)
    def shared(*args: object) -> object:
        with _sc.scopes_are(kept):
            return fn(*args)

    function = Wrapping(shared, autograph=False)
    with entered(None):
        return function.get_concrete_function(*signature)

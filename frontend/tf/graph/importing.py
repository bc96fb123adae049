"""Graphs as data, as they are written here, into the default graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...function.graph_data import GraphData, NodeReader
from ...function.graph_text import fresh_variable, text_of
from ...graph.graph import GraphTensor, Operation
from ..core.values import InGraph, convert
from .graph_def import GraphDef
from .state import get_default_graph


def _given(input_map: Mapping[str, object], data: GraphData) -> dict[str, GraphTensor]:
    """Return what stands in for tensors of the text, by their full names."""
    known = {f"{n['name']}:{i}" for n in data["nodes"] for i in range(len(n["specs"]))}
    full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
    refuse_missing([k for k in full if k not in known])
    types = {f"{n['name']}:{i}": s for n in data["nodes"] for i, s in enumerate(n["specs"])}
    graph = get_default_graph()
    given = {k: graph.owned(convert(v)) for k, v in full.items()}
    for key, tensor in given.items():
        expected, _dims = types[key]
        if str(tensor.spec.dtype) != expected:
            raise ValueError(
                f"Input of '{key}' was passed {tensor.spec.dtype} incompatible with expected "
                f"{expected}."
            )
    return given


def refuse_missing(missing: Sequence[str]) -> None:
    """Raise an error if tensors that are to be replaced are not there."""
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )


def scope_for(graph_def: GraphDef, name: str | None) -> str:
    """Return the prefix of what is imported; without one, no name may be taken."""
    prefix = "import" if name is None else name
    graph = get_default_graph()
    taken = [n.name for n in graph_def.node if n.name in graph.by_name]
    if not prefix and taken:
        raise ValueError(f"Node name '{taken[0]}' already exists in the Graph")
    return prefix


def import_own(
    graph_def: GraphDef, input_map: Mapping[str, object] | None = None, name: str | None = None
) -> dict[str, Operation]:
    """Add the nodes of a graph as it is written here, and return them by their names there."""
    text_of({}, graph_def.refused)
    graph, data = get_default_graph(), graph_def.data
    with InGraph(graph):
        given = _given(input_map or {}, data)
        with graph.name_scope(scope_for(graph_def, name) or None) as scope:
            return NodeReader(data, fresh_variable(scope)).add(graph, data["nodes"], given)

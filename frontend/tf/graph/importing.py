"""Graphs as data into the default graph: `import_graph_def`."""

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
    missing = [k for k in full if k not in known]
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )
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


def import_graph_def(
    graph_def: object,
    input_map: Mapping[str, object] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    **_: object,
) -> list[Operation | GraphTensor] | None:
    """Add the nodes of a graph as data to the default graph, under a name.

    `input_map` gives tensors that stand in for those of the data; `return_elements` names
    tensors and operations of the data that are wanted.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a GraphDef proto.")
    text_of({}, graph_def.refused)
    graph, data = get_default_graph(), graph_def.data
    prefix = "import" if name is None else name
    with InGraph(graph):
        given = _given(input_map or {}, data)
        taken = [n["name"] for n in data["nodes"] if n["name"] in graph.by_name]
        if not prefix and taken:
            raise ValueError(f"Node name '{taken[0]}' already exists in the Graph")
        with graph.name_scope(prefix or None) as scope:
            ops = NodeReader(data, fresh_variable(scope)).add(graph, data["nodes"], given)
    if return_elements is None:
        return None
    return [_element(ops, each) for each in return_elements]


def _element(ops: Mapping[str, Operation], name: str) -> Operation | GraphTensor:
    stem, _, port = name.partition(":")
    op = ops.get(stem)
    if op is None or (port and int(port) >= len(op.outputs)):
        raise ValueError(f"Requested return_element '{name}' not found in graph_def.")
    return op.outputs[int(port)] if port else op

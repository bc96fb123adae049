"""Graphs as data into the default graph: `import_graph_def`, of ours and of TensorFlow's files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...function.graph_data import GraphData, NodeReader
from ...function.graph_text import fresh_variable, text_of
from ...graph.graph import GraphTensor, Operation
from ..core.values import InGraph, convert
from ..graph.graph_def import GraphDef
from ..graph.state import get_default_graph
from .foreign import Adding


def _given(input_map: Mapping[str, object], data: GraphData) -> dict[str, GraphTensor]:
    """Return what stands in for tensors of the text, by their full names."""
    known = {f"{n['name']}:{i}" for n in data["nodes"] for i in range(len(n["specs"]))}
    full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
    _refuse_missing([k for k in full if k not in known])
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
        taken = [n.name for n in graph_def.node if n.name in graph.by_name]
        if not prefix and taken:
            raise ValueError(f"Node name '{taken[0]}' already exists in the Graph")
        made: dict[str, Sequence[GraphTensor]] = {}
        if graph_def.foreign is not None:
            given = _mapped(input_map or {}, {n.name for n in graph_def.node})
            with graph.name_scope(prefix or None) as scope:
                adding = Adding(graph, graph_def.foreign, given, scope)
                ops = adding.add()
            made.update(adding.made)
        else:
            given = _given(input_map or {}, data)
            with graph.name_scope(prefix or None) as scope:
                ops = NodeReader(data, fresh_variable(scope)).add(graph, data["nodes"], given)
            made.update((label, op.outputs) for label, op in ops.items())
    if return_elements is None:
        return None
    return [_element(ops, made, each) for each in return_elements]


def _mapped(input_map: Mapping[str, object], nodes: Collection[str]) -> dict[str, GraphTensor]:
    """Return what stands in for tensors of a graph file, by their full names."""
    graph = get_default_graph()
    full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
    _refuse_missing([k for k in full if k.partition(":")[0] not in nodes])
    return {k: graph.owned(convert(v)) for k, v in full.items()}


def _refuse_missing(missing: Sequence[str]) -> None:
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )


def _element(
    ops: Mapping[str, Operation], made: Mapping[str, Sequence[GraphTensor]], name: str
) -> Operation | GraphTensor:
    stem, _, port = name.partition(":")
    if stem not in ops or (port and int(port) >= len(made[stem])):
        raise ValueError(f"Requested return_element '{name}' not found in graph_def.")
    return made[stem][int(port)] if port else ops[stem]

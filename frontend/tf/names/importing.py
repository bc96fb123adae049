"""Graphs as data into the default graph: `import_graph_def`, of ours and of TensorFlow's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph.graph import GraphTensor, Operation
from ..core.space import Space
from ..core.values import InGraph, convert
from ..graph.graph_def import GraphDef
from ..graph.importing import import_own, refuse_missing, scope_for
from ..graph.state import get_default_graph
from .foreign import Adding


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
    if not (input_map is None or isinstance(input_map, Mapping)):
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {input_map!r}")
    if return_elements is not None and not all(isinstance(x, str) for x in return_elements):
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Obtained {return_elements!r}"
        )
    if graph_def.foreign is None:
        ops = import_own(graph_def, input_map, name)
        made: Mapping[str, Sequence[GraphTensor]] = {n: op.outputs for n, op in ops.items()}
    else:
        adding = _import_file(graph_def, input_map or {}, name)
        ops, made = adding.ops, adding.made
    if return_elements is None:
        return None
    return [_element(ops, made, each) for each in return_elements]


def _import_file(graph_def: GraphDef, input_map: Mapping[str, object], name: str | None) -> Adding:
    """Add the nodes of a file of TensorFlow's."""
    graph = get_default_graph()
    with InGraph(graph):
        full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
        nodes = {node.name for node in graph_def.node}
        refuse_missing([k for k in full if k.partition(":")[0] not in nodes])
        given = {k: graph.owned(convert(v)) for k, v in full.items()}
        with graph.name_scope(scope_for(graph_def, name) or None) as scope:
            adding = Adding(graph, graph_def.foreign, given, scope)
            adding.add()
    return adding


def _element(
    ops: Mapping[str, Operation], made: Mapping[str, Sequence[GraphTensor]], name: str
) -> Operation | GraphTensor:
    stem, _, port = name.partition(":")
    if stem not in ops or (port and int(port) >= len(made[stem])):
        raise ValueError(f"Requested return_element '{name}' not found in graph_def.")
    return made[stem][int(port)] if port else ops[stem]


graph_util = Space("graph_util", import_graph_def=import_graph_def)

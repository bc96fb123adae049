"""Graphs as data into the default graph: `import_graph_def`, of ours and of TensorFlow's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...eager.tensor import Tensor
from ...formats.messages import AttrValue
from ...formats.messages import GraphDef as Message
from ...graph.graph import Graph, GraphTensor, Operation
from ..core.space import Space
from ..core.values import InGraph, convert
from ..graph.graph_def import GraphDef
from ..graph.importing import import_own, refuse_missing, scope_for
from ..graph.state import TfGraph, get_default_graph
from ..runs.operations import BY_TYPE
from .foreign import Adding, FileNode, value_of

NEWEST = 2**31
"""The version of nodes that no file of an older one holds."""


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
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    if not (input_map is None or isinstance(input_map, Mapping)):
        found = type(input_map).__name__
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {found}")
    wanted = None if return_elements is None else list(map(_text, return_elements))
    if wanted is not None and None in wanted:
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Obtained {return_elements!r}."
        )
    input_map = {str(_text(key)): value for key, value in (input_map or {}).items()}
    if name == "" and not all(isinstance(value, Tensor) for value in input_map.values()):
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
            "values."
        )
    if graph_def.foreign is None:
        ops = import_own(graph_def, input_map, name)
        made: Mapping[str, Sequence[GraphTensor]] = {n: op.outputs for n, op in ops.items()}
    else:
        adding = _import_file(graph_def, input_map, name)
        ops, made = adding.ops, adding.made
    if wanted is None:
        return None
    return [_element(ops, made, each) for each in wanted if each is not None]


def _text(name: object) -> str | None:
    """Return a name as text, None if it is none."""
    if isinstance(name, bytes):
        return name.decode()
    return name if isinstance(name, str) else None


def _import_file(graph_def: GraphDef, input_map: Mapping[str, object], name: str | None) -> Adding:
    """Add the nodes of a file of TensorFlow's."""
    graph = get_default_graph()
    with InGraph(graph):
        full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
        nodes = {node.name for node in graph_def.node}
        taken = {x if ":" in x else f"{x}:0" for node in graph_def.node for x in node.input}
        there = nodes | {k.partition(":")[0] for k in taken & full.keys()}
        refuse_missing([k for k in full if k.partition(":")[0] not in there])
        given = {k: graph.owned(convert(v)) for k, v in full.items()}
        with graph.name_scope(scope_for(graph_def, name) or None) as scope:
            adding = Adding(graph, graph_def.foreign, given, scope)
            adding.add()
    return adding


def _element(
    ops: Mapping[str, Operation], made: Mapping[str, Sequence[GraphTensor]], name: str
) -> Operation | GraphTensor:
    stem, *ports = name.split(":")
    if len(ports) > 1:
        raise ValueError(
            f"Cannot convert '{name}' to a tensor name. Tensor names should not contain more than "
            f"1 `:`. Obtained {len(ports)}"
        )
    port = ports[0] if ports else ""
    if stem not in ops:
        raise ValueError(f"Requested return node '{stem}' not found in graph def")
    if port and not (port.isdigit() and int(port) < len(made[stem])):
        raise ValueError(
            f"Invalid return output {port} of node '{stem}', which has {len(made[stem])} output(s)"
        )
    return made[stem][int(port)] if port else ops[stem]


def create_op(
    graph: Graph,
    op_type: str,
    inputs: Sequence[object],
    name: str | None,
    attrs: Mapping[str, AttrValue],
) -> Operation:
    """Add one node to a graph, as if it stood in a file of TensorFlow's."""
    assert isinstance(graph, TfGraph), "others have no method that comes here"
    given = [x for x in inputs if isinstance(x, GraphTensor)]
    for place, each in enumerate(inputs):
        if not isinstance(each, GraphTensor):
            raise TypeError(f"Input #{place} is not a tensor: {each}")
    full = graph.unique_name(op_type if name is None else name, mark=False)
    values = {key: value_of(value) for key, value in attrs.items()}
    node = FileNode(full, op_type, (), values, NEWEST, "of create_op")
    with InGraph(graph), graph.name_scope(None):
        adding = Adding(graph, Message(), {}, "")
        adding.add_node(node, [graph.owned(x) for x in given])
    return adding.ops[full]


BY_TYPE.append(create_op)
graph_util = Space("graph_util", import_graph_def=import_graph_def)

"""`graph_util`: parts of graphs as data, and graphs whose variables have become constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import numpy as np

from ...function.graph_data import BodyData, GraphData, NodeData, Plain, array_data
from ..graph.graph_def import GraphDef
from ..graph.sessions import Session


def _reached(inputs: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> set[str]:
    """Return the names of nodes that others need, these included."""
    for name in wanted:
        assert name in inputs, f"{name} is not in graph"
    found, left = set(wanted), list(wanted)
    while left:
        for each in inputs[left.pop()]:
            name = each.removeprefix("^").partition(":")[0]
            if name not in found:
                found.add(name)
                left.append(name)
    return found


def extract_sub_graph(graph_def: GraphDef, dest_nodes: Sequence[str]) -> GraphDef:
    """Return what of a graph some of its nodes need."""
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings.")
    if graph_def.foreign is not None:
        message = graph_def.foreign
        kept = _reached({n.name: n.input for n in message.node}, dest_nodes)
        return GraphDef(
            node=[node for node in message.node if node.name in kept],
            library=message.library,
            versions=message.versions,
        )
    data = deepcopy(graph_def.data)
    kept = _reached({n["name"]: n["input"] for n in data["nodes"]}, dest_nodes)
    data["nodes"] = [n for n in data["nodes"] if n["name"] in kept]
    return _graph_of(data)


def _graph_of(data: GraphData) -> GraphDef:
    """Return a graph that is written as here."""
    made = GraphDef()
    made.foreign, made.data = None, data
    return made


def _variable_of(node: NodeData) -> str | None:
    """Return by what name in the data a node knows its variable, None if it has none."""
    form = node["attr"].get("variable")
    found = form.get("variable") if isinstance(form, dict) else None
    return found if isinstance(found, str) else None


def _constant(node: NodeData, value: object) -> None:
    """Make a node of a variable a constant."""
    number: Plain = {"array": array_data(np.asarray(value))}
    node["op"], node["kind"], node["attr"] = "Const", {"codec": "constant"}, {"value": number}


IDENTITY = {"codec": "rule", "type": "Identity", "options": {"dict": []}}


def _read(node: NodeData, name: str) -> None:
    """Make a node that reads a variable one that hands on the constant."""
    kind: NodeData = {**node, "op": "Identity", "input": [f"{name}:0", *node["input"]]}
    kind["kind"], kind["attr"] = deepcopy(IDENTITY), {}  # type: ignore[typeddict-item]
    node.update(kind)


def convert_variables_to_constants(
    sess: Session,
    input_graph_def: GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Sequence[str] | None = None,
    variable_names_blacklist: Sequence[str] | None = None,
) -> GraphDef:
    """Return what of a graph some nodes need, with the values that variables have in a session."""
    if input_graph_def.foreign is not None:
        raise NotImplementedError(
            "convert_variables_to_constants: a graph of a file of TensorFlow's; import it first"
        )
    data = deepcopy(input_graph_def.data)
    frozen = {
        key: each["name"]
        for key, each in data["variables"].items()
        if (variable_names_whitelist is None or each["name"] in variable_names_whitelist)
        and each["name"] not in (variable_names_blacklist or ())
    }
    for node in data["nodes"]:
        name = frozen.get(_variable_of(node) or "")
        if name is not None and node["kind"]["codec"] == "read":
            _read(node, name)
    made = extract_sub_graph(_graph_of(data), output_node_names).data
    found = {n["name"]: n for n in made["nodes"] if n["name"] in frozen.values()}
    for name, value in zip(found, sess.run([f"{n}:0" for n in found]), strict=True):
        _constant(found[name], value)
    _refuse_others(made["nodes"], made["functions"], frozen)
    made["variables"] = {k: v for k, v in made["variables"].items() if k not in frozen}
    return _graph_of(made)


def _refuse_others(
    nodes: Sequence[NodeData], functions: Mapping[str, BodyData], frozen: Mapping[str, str]
) -> None:
    """Refuse what does with a variable what is not done with a constant, also in branches."""
    left, called = [*nodes], set[str]()
    while left:
        node = left.pop()
        name = frozen.get(_variable_of(node) or "")
        if name is not None:
            raise NotImplementedError(
                f"convert_variables_to_constants: {node['op']} {node['name']!r} uses {name!r}"
            )
        said = [x for each in node["kind"].values() for x in _listed(each)]
        fresh = {x for x in said if isinstance(x, str) and x in functions} - called
        called |= fresh
        left += [inner for key in sorted(fresh) for inner in functions[key]["nodes"]]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]

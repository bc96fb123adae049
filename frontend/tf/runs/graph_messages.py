"""Graphs as `GraphDef` messages: what other programs draw and read of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...formats.messages import AttrValue, GraphDef, TensorShapeProto
from ...formats.tensors import NUMBERS, to_message
from ...function.variable import VARIABLE
from ...graph.frame import SharedByName
from ...graph.func_graph import CallGraph, FuncGraph
from ...graph.graph import Graph, Operation, dims_or_none
from ...graph.variables import state_in

TENSORFLOW = {"keepdims": "keep_dims", "spec": "shape"}
"""Names of options that are others in TensorFlow."""
FEW = 64
"""Constants of so many elements are shown."""


def shape_message(spec: TensorSpec) -> TensorShapeProto:
    """Return a shape; -1 stands for extents that are not known."""
    dims = dims_or_none(spec.shape)
    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    made = TensorShapeProto()
    for dim in dims:
        made.dim.add(size=-1 if dim is None else dim)
    return made


def graph_message(graph: Graph) -> GraphDef:
    """Return a graph with the functions that it calls."""
    made = GraphDef()
    made.versions.producer = 1
    functions: dict[FuncGraph, str] = {}
    for op in graph.operations:
        add_node(made.node.add(), op, functions)
    done: set[str] = set()
    while left := [(g, n) for g, n in functions.items() if n not in done]:
        for inner, name in left:
            done.add(name)
            add_function(made.library.function.add(), inner, name, functions)
    return made


def add_node(node: Any, op: Operation, functions: dict[FuncGraph, str]) -> None:
    """Fill in a node."""
    node.name, node.op, node.device = op.name, op.type, op.device or ""
    if isinstance(op.kind, CallGraph):
        node.op = functions.setdefault(op.kind.graph, function_name(op.kind.graph, functions))
    for tensor in op.inputs:
        port = f":{tensor.value_index}" if tensor.value_index else ""
        node.input.append(f"{tensor.op.name}{port}")
    node.input.extend(f"^{each.name}" for each in op.control_inputs)
    specs = [tensor.spec for tensor in op.outputs]
    if specs:
        shapes = node.attr["_output_shapes"].list.shape
        for spec in specs:
            shapes.append(shape_message(spec))
        number = NUMBERS.get(str(specs[0].dtype))
        if number is not None and not op.kind.stated():
            node.attr["dtype" if not op.inputs else "T"].type = number
    shared = shared_by(op)
    if shared is not None:
        node.attr["container"].s, node.attr["shared_name"].s = map(str.encode, shared)
    options: dict[str, Any] = getattr(op.kind, "options", {})
    for name, value in {**op.kind.stated(), **options, **op.attributes}.items():
        attribute = attribute_message(value)
        if attribute is not None:
            node.attr[TENSORFLOW.get(name, name)].CopyFrom(attribute)


def shared_by(op: Operation) -> tuple[str, str] | None:
    """Return container and shared name of a variable or a queue, where an operation uses one."""
    queue = getattr(op.kind, "queue", None)
    if isinstance(queue, SharedByName):
        return queue.container, queue.shared
    if op.kind is VARIABLE:
        state = state_in(op.attributes)
        return state.container, state.name
    return None


def attribute_message(value: object) -> AttrValue | None:
    """Return an attribute, None of what has no form that others know."""
    if isinstance(value, list | tuple):
        return list_message(value)
    if isinstance(value, DType):
        return AttrValue(type=NUMBERS[str(value)]) if str(value) in NUMBERS else None
    if isinstance(value, bool | np.bool_):
        return AttrValue(b=bool(value))
    if isinstance(value, int):
        return AttrValue(i=value) if -(2**63) <= value < 2**63 else None
    if isinstance(value, float):
        return AttrValue(f=value)
    if isinstance(value, str | bytes):
        return AttrValue(s=value.encode() if isinstance(value, str) else value)
    if isinstance(value, TensorSpec):
        return AttrValue(shape=shape_message(value))
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufc" or value.size > FEW:
        return None
    return AttrValue(tensor=to_message(value))


def list_message(values: Sequence[object]) -> AttrValue | None:
    """Return a list of numbers or texts as an attribute, None of others."""
    made = AttrValue()
    made.list.SetInParent()
    types = [NUMBERS.get(str(x)) for x in values if isinstance(x, DType)]
    shapes = [shape_message(x) for x in values if isinstance(x, TensorSpec)]
    if values and len(types) == len(values) and None not in types:
        made.list.type.extend(types)
    elif values and len(shapes) == len(values):
        made.list.shape.extend(shapes)
    elif all(isinstance(x, int) and not isinstance(x, bool) for x in values):
        made.list.i.extend(values)
    elif all(isinstance(x, float) for x in values):
        made.list.f.extend(values)
    elif all(isinstance(x, str) for x in values):
        made.list.s.extend(str(x).encode() for x in values)
    else:
        return None
    return made


def function_name(graph: FuncGraph, functions: dict[FuncGraph, str]) -> str:
    """Return a name for a function's graph."""
    words = "".join(c if c.isalnum() else "_" for c in graph.name)
    return f"{words}_{len(functions)}"


def add_function(made: Any, graph: FuncGraph, name: str, functions: dict[FuncGraph, str]) -> None:
    """Fill in a function."""
    made.signature.name = name
    for key, text in graph.stated.items():
        made.attr[key].s = text.encode()
    inputs = {tensor: tensor.op.name for tensor in graph.all_inputs}
    for tensor, label in inputs.items():
        number = NUMBERS.get(str(tensor.spec.dtype), 0)
        made.signature.input_arg.add(name=label, type=number)
    given = {tensor.op for tensor in graph.all_inputs}
    for op in graph.operations:
        if op not in given:
            add_node(made.node_def.add(), op, functions)
    for i, tensor in enumerate(graph.outputs):
        number = NUMBERS.get(str(tensor.spec.dtype), 0)
        made.signature.output_arg.add(name=f"y{i}", type=number)
        made.ret[f"y{i}"] = f"{tensor.op.name}:{tensor.value_index}"

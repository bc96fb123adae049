"""Check a model's names, and a node against what the standard says of its operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import cast

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, checker, defs

from ....errors import ParseError
from ..node import Node
from .read import Model

_UNCHECKED = frozenset({"Constant"})
"""Operators whose attributes are large; their rule checks them."""

_OPTIONAL = defs.OpSchema.FormalParameterOption.Optional
_VARIADIC = defs.OpSchema.FormalParameterOption.Variadic


def check_node(node: Node, has_function: Callable[[Node], bool]) -> None:
    """Fail with the first line of what onnx's own checker says."""
    proto = node.proto
    _check_inputs(node)
    if node.op_type in _UNCHECKED or any(a.HasField("g") for a in proto.attribute):
        return
    if not defs.has(node.op_type, node.domain):
        return  # onnxruntime has operators of its own in the standard's domain
    if _is_given_up(node) and has_function(node):
        return  # the standard says still what it is
    context = checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {node.domain: node.version}
    try:
        checker.check_node(proto, context)
    except checker.ValidationError as error:
        message = str(error).splitlines()[0].rstrip(".")
        node.fail(message[:1].lower() + message[1:])


def _is_given_up(node: Node) -> bool:
    """Say whether the standard took an operator out at this version."""
    if not defs.has(node.op_type, node.version, node.domain):
        return False
    return bool(defs.get_schema(node.op_type, node.version, node.domain).deprecated)


def _check_inputs(node: Node) -> None:
    """Fail where an input is left out that must be given."""
    given = [bool(name) for name in node.proto.input]
    needed = _needed(node.op_type, node.version, node.domain)
    if needed is None:
        return
    required, is_variadic = needed
    for index, is_required in enumerate(required):
        if is_required and not (index < len(given) and given[index]):
            node.fail(f"input {index} is missing")
    if is_variadic and not all(given[len(required) :]):
        node.fail(f"input {given.index(False, len(required))} is missing")


@cache
def _needed(op_type: str, version: int, domain: str) -> tuple[tuple[bool, ...], bool] | None:
    """Return which inputs an operator needs, and whether there may be any number behind."""
    if not defs.has(op_type, version, domain):
        return None
    inputs = list(defs.get_schema(op_type, version, domain).inputs)
    is_variadic = bool(inputs) and inputs[-1].option == _VARIADIC
    fixed = inputs[:-1] if is_variadic else inputs
    return tuple(each.option != _OPTIONAL for each in fixed), is_variadic


def check_names(model: Model) -> None:
    """Raise `ParseError` where a name is not UTF-8: protobuf hands it out as bytes."""
    names = _names(model)
    try:
        "".join(cast("list[str]", names))
    except TypeError:
        text = next(name for name in names if isinstance(name, bytes))
        message = f"not an ONNX model: the name {text[:40]!r} is not UTF-8"
        raise ParseError(message, location=model.name) from None


def _names(model: Model) -> list[object]:
    """Return every name in a model."""
    proto = model.proto
    found: list[object] = [entry.domain for entry in proto.opset_import]
    graphs: list[GraphProto] = []
    for function in proto.functions:
        found += (function.name, function.domain, *function.input, *function.output)
        found += [entry.domain for entry in function.opset_import]
        for node in function.node:
            found += _node_names(node, graphs)
    found += _graph_names(model.graph)
    kinds, domains, inputs, outputs = zip(*model.names, strict=True) if model.names else ((),) * 4
    found += {*kinds, *domains}
    found += chain.from_iterable(inputs)
    found += chain.from_iterable(outputs)
    found += [node.name for node in model.nodes]
    for attribute in [each for node in model.nodes for each in node.attribute]:
        found += _attribute_names(attribute, graphs)
    while graphs:
        graph = graphs.pop()
        found += _graph_names(graph)
        for node in graph.node:
            found += _node_names(node, graphs)
    return found


def _graph_names(graph: GraphProto) -> Iterator[object]:
    yield from [tensor.name for tensor in graph.initializer]
    for entry in [each for tensor in graph.initializer for each in tensor.external_data]:
        yield from (entry.key, entry.value)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)


def _node_names(node: NodeProto, graphs: list[GraphProto]) -> Iterator[object]:
    yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
    for attribute in node.attribute:
        yield from _attribute_names(attribute, graphs)


def _attribute_names(attribute: AttributeProto, graphs: list[GraphProto]) -> Iterator[object]:
    yield from (attribute.name, attribute.ref_attr_name)
    if attribute.HasField("t"):
        yield attribute.t.name
    graphs.extend([attribute.g] if attribute.HasField("g") else attribute.graphs)

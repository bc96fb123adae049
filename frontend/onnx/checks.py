"""Check a node against what the standard says of its operator: numbers and kinds of things."""

from __future__ import annotations

import onnx
from onnx import checker

from .node import Node

_UNCHECKED = frozenset({"Constant"})
"""Operators whose attributes are large; their rule checks them."""


def check_node(node: Node) -> None:
    """Fail with the first line of what onnx's own checker says."""
    proto = node.proto
    if node.op_type in _UNCHECKED or any(a.HasField("g") for a in proto.attribute):
        return
    context = checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {node.domain: node.version}
    try:
        checker.check_node(proto, context)
    except checker.ValidationError as error:
        node.fail(str(error).splitlines()[0].rstrip("."))

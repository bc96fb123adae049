"""Let an ONNX model compute in 16 bits: its tensors of f32 become f16 or bf16.

Arguments and results keep their type: casts stand behind and before them. What an operator wants in
f32 whatever it computes in (the scales of `Resize`) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from ..export.model import converted
from .surgery import Surgery, graphs_of

KINDS: dict[str, tuple[int, Any]] = {
    "f16": (TensorProto.FLOAT16, np.float16),
    "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
}
"""ONNX's number and numpy's type by name."""
OLDEST = {"f16": 1, "bf16": 22}
"""The first version of the operator set in which convolutions take the type."""
KEEP = {"Resize": (1, 2), "Upsample": (1,), "QuantizeLinear": (1,), "DequantizeLinear": (1,)}
"""Operands that stay in f32, by operator."""


def narrow(surgery: Surgery, dtype: str) -> int:
    """Change a model; return how many stored tensors were narrowed."""
    number, kind = KINDS[dtype]
    version = max((o.version for o in surgery.proto.opset_import if not o.domain), default=1)
    if version < OLDEST[dtype]:
        surgery.proto = converted(surgery.proto, OLDEST[dtype])
    kept = {n.input[i] for n in _nodes(surgery.graph) for i in KEEP.get(n.op_type, ())
            if i < len(n.input)}  # fmt: skip
    count = 0
    for graph in graphs_of(surgery.graph):
        for tensor in graph.initializer:
            if tensor.data_type == TensorProto.FLOAT and tensor.name not in kept:
                tensor.CopyFrom(_narrowed(tensor, kind))
                count += 1
        del graph.value_info[:]
        for node in graph.node:
            _narrow_attributes(node, number, kind, kept)
    _cast_ends(surgery.graph, number)
    return count


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for inner in graphs_of(graph):
        yield from inner.node


def _narrowed(tensor: TensorProto, kind: Any) -> TensorProto:
    with np.errstate(over="ignore"):
        array = numpy_helper.to_array(tensor).astype(kind)
    return numpy_helper.from_array(array, tensor.name)


def _narrow_attributes(node: NodeProto, number: int, kind: Any, kept: set[str]) -> None:
    """Narrow constants, and what is cast to f32."""
    if node.output and node.output[0] in kept:
        return
    for attribute in node.attribute:
        if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
            attribute.t.CopyFrom(_narrowed(attribute.t, kind))
        if attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
            attribute.i = number


def _cast_ends(graph: GraphProto, number: int) -> None:
    """Put casts behind arguments and before results that are f32."""
    stored = {tensor.name for tensor in graph.initializer}
    names: dict[str, str] = {}
    first, last = [], []
    for value in graph.input:
        if value.name not in stored and value.type.tensor_type.elem_type == TensorProto.FLOAT:
            inner = names[value.name] = f"{value.name}_narrow"
            first.append(helper.make_node("Cast", [value.name], [inner], inner, to=number))
    for value in graph.output:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            inner = names.setdefault(value.name, f"{value.name}_narrow")
            last.append(
                helper.make_node("Cast", [inner], [value.name], f"{value.name}_wide",
                                 to=TensorProto.FLOAT)
            )  # fmt: skip
    for node in _nodes(graph):
        for row in (node.input, node.output):
            for index, name in enumerate(row):
                row[index] = names.get(name, name)
    nodes = []
    for node in graph.node:
        copy = NodeProto()
        copy.CopyFrom(node)
        nodes.append(copy)
    del graph.node[:]
    graph.node.extend([*first, *nodes, *last])

"""What an ONNX file says of itself, also where it cannot be compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnx import AttributeProto, NodeProto, TensorProto, ValueInfoProto, defs

from ...files.beside import Bytes
from ..registry import find_rule
from .data import DTYPES
from .read import OWN_DOMAINS, Model, read_model

Row = tuple[str, str, tuple[int | str, ...]]
"""Name, element type and shape of a tensor."""


@dataclass(frozen=True)
class OnnxSummary:
    """The parts of a model that need no shapes to be known."""

    ir_version: int
    producer: str
    opsets: Mapping[str, int]
    operators: Mapping[str, int]
    """How many nodes there are of each operator, those of inner graphs included."""
    unsupported: Mapping[str, int]
    """The same for operators that cannot be compiled at all."""
    stored: tuple[Row, ...]
    """Name, element type and shape of every tensor in the file."""
    inputs: tuple[Row, ...]
    outputs: tuple[Row, ...]


def summarise(data: Bytes, name: str, directory: Path | None) -> OnnxSummary:
    """Return what a serialised model says of itself."""
    model = read_model(data, name, directory)
    nodes = list(every_node(model.graph.node))
    inner = [node for f in model.functions.values() for node in every_node(f.node)]
    unsupported = [node for node in (*nodes, *inner) if not _is_supported(model, node)]
    proto, stored = model.proto, {tensor.name for tensor in model.graph.initializer}
    return OnnxSummary(
        ir_version=proto.ir_version,
        producer=f"{proto.producer_name} {proto.producer_version}".strip(),
        opsets=dict(model.opsets),
        operators=_counted(nodes),
        unsupported=_counted(unsupported),
        stored=tuple(_stored(tensor) for tensor in model.graph.initializer),
        inputs=tuple(_declared(v) for v in model.graph.input if v.name not in stored),
        outputs=tuple(_declared(v) for v in model.graph.output),
    )


def every_node(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Give nodes and those of the graphs inside of them."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                waiting.extend(attribute.g.node)
            for graph in attribute.graphs:
                waiting.extend(graph.node)


def _counted(nodes: Iterable[NodeProto]) -> dict[str, int]:
    counts = Counter(_label(node) for node in nodes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _label(node: NodeProto) -> str:
    domain = OWN_DOMAINS.get(node.domain, node.domain)
    return f"{domain}.{node.op_type}" if domain else node.op_type


def _is_supported(model: Model, node: NodeProto) -> bool:
    """Say whether there is a way to read the operator, by a rule or as a function."""
    domain = OWN_DOMAINS.get(node.domain, node.domain)
    version = model.opsets.get(domain, 0)
    if (domain, node.op_type) in model.functions or find_rule(domain, node.op_type, version):
        return True
    if not defs.has(node.op_type, version, domain):
        return False
    schema: Any = defs.get_schema(node.op_type, version, domain)
    return bool(schema.has_function or schema.has_context_dependent_function)


def _stored(tensor: TensorProto) -> Row:
    return tensor.name, _dtype(tensor.data_type), tuple(tensor.dims)


def _declared(value: ValueInfoProto) -> Row:
    if not value.type.HasField("tensor_type"):
        return value.name, value.type.WhichOneof("value") or "nothing", ()
    tensor = value.type.tensor_type
    dims = tuple(
        d.dim_param or (d.dim_value if d.HasField("dim_value") else "?") for d in tensor.shape.dim
    )
    return value.name, _dtype(tensor.elem_type), dims


def _dtype(code: int) -> str:
    """Return the name of an element type, also of one that gravure has not."""
    if code in DTYPES:
        return DTYPES[code].name
    known = code in TensorProto.DataType.values()
    return TensorProto.DataType.Name(code).lower() if known else f"type {code}"

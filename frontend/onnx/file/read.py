"""An ONNX model as it comes out of its file: parsed, with its weights left where they lie."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import onnx
from google.protobuf.message import DecodeError
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, defs

from ....errors import ParseError, UnsupportedOp
from ....lazy import cached_property
from ...files.beside import Bytes
from .columns import Integers
from .data import Tensors
from .sparse import dense
from .wire import NO_FIELDS, Outline, outlines, split

MAX_NODES = 1_000_000
NodeNames: TypeAlias = tuple[str, str, list[str], list[str]]
"""Operator, domain, inputs and outputs of a node."""
OWN_DOMAINS = {"": "", "ai.onnx": "", "ai.onnx.ml": "ai.onnx.ml"}
"""Names of the standard's domains, each with the one name we use."""


@dataclass(frozen=True)
class Model:
    """A parsed model."""

    proto: ModelProto
    """Without the bytes of large initializers."""
    payloads: Mapping[int, Bytes]
    """The bytes left out, by position of the initializer."""
    plain: Collection[int]
    """Positions of those that have but a type, a shape and names besides."""
    tensors: Tensors
    opsets: Mapping[str, int]
    """The version of each domain that is imported."""
    functions: Mapping[tuple[str, str], FunctionProto]
    """The model's own functions by domain and name."""
    name: str

    @property
    def graph(self) -> GraphProto:
        """Return the main graph."""
        return self.proto.graph

    @cached_property
    def nodes(self) -> list[NodeProto]:
        """Return the nodes of the main graph."""
        return list(self.graph.node)

    @cached_property
    def names(self) -> list[NodeNames]:
        """Return the names of each of them: protobuf makes them anew each time it is asked."""
        return [(n.op_type, n.domain, list(n.input), list(n.output)) for n in self.nodes]


def graphs_of(data: Bytes, name: str) -> list[Outline]:
    """Return where the fields of the graph in some bytes lie."""
    try:
        return outlines(data)
    except ParseError as error:
        raise ParseError(error.message, location=name) from error


def read_model(
    data: Bytes,
    name: str,
    directory: Path | None,
    graphs: Sequence[Outline] | None = None,
    without: Integers = NO_FIELDS,
) -> Model:
    """Return the model in some bytes; external data is looked for in `directory`.

    Where the fields of its graph lie may be known, and some of them be left out.
    """
    try:
        parts = split(data, outlines(data) if graphs is None else graphs, without)
        proto = ModelProto()
        proto.ParseFromString(parts.structure)
    except ParseError as error:
        raise ParseError(error.message, location=name) from error
    except (DecodeError, RuntimeError) as error:
        reason = "malformed, or nested deeper than protobuf reads"
        raise ParseError(f"not an ONNX model: {reason}", location=name) from error
    _check_header(proto, name)
    return Model(
        proto,
        parts.payloads,
        parts.plain,
        Tensors(directory),
        _opsets(proto, name),
        {(_domain(f.domain), f.name): f for f in proto.functions},
        name,
    )


def _check_header(proto: ModelProto, name: str) -> None:
    if not proto.HasField("graph") or not proto.graph.ByteSize():
        raise ParseError("not an ONNX model: it has no graph", location=name)
    if not 1 <= proto.ir_version <= onnx.IR_VERSION:
        known = f"expected 1 to {onnx.IR_VERSION}"
        raise ParseError(f"the file format's version is {proto.ir_version}, {known}", location=name)
    if len(proto.graph.node) > MAX_NODES:
        raise ParseError(f"{len(proto.graph.node)} nodes, expected at most {MAX_NODES}")


def _opsets(proto: ModelProto, name: str) -> dict[str, int]:
    """Return the version of each domain, or refuse one that onnx does not know yet."""
    if not proto.opset_import and proto.ir_version < 3:
        return {"": 1}
    found = {_domain(entry.domain): entry.version for entry in proto.opset_import}
    if not found:
        raise ParseError("the model imports no operator set", location=name)
    newest = defs.onnx_opset_version()
    if not 1 <= (version := found.setdefault("", newest)) <= newest:
        raise UnsupportedOp(
            f"operator set {version} is not known, expected 1 to {newest}",
            location=name,
            hint=f"export the model with opset {newest} or lower",
        )
    return found


def _domain(name: str) -> str:
    return OWN_DOMAINS.get(name, name)


class Stored(NamedTuple):
    """A tensor that a graph holds."""

    tensor: TensorProto
    payload: Bytes | None = None
    """Its raw bytes, where they were left out."""
    is_plain: bool = False
    """Whether it has but a type, a shape and names besides these."""


def initializers(model: Model) -> dict[str, Stored]:
    """Return the tensors that the graph holds, by name, or raise on doubled names."""
    found: dict[str, Stored] = {}
    payloads, plain = model.payloads, model.plain
    for index, tensor in enumerate(model.graph.initializer):
        name = tensor.name
        if not name:
            raise ParseError(f"initializer {index} has no name", location=model.name)
        if name in found:
            raise ParseError(f"initializer {name!r} is given twice", location=model.name)
        found[name] = Stored(tensor, payloads.get(index), index in plain)
    for sparse in model.graph.sparse_initializer:
        if sparse.values.name in found or not sparse.values.name:
            raise ParseError(
                f"initializer {sparse.values.name!r} is given twice, or has no name",
                location=model.name,
            )
        found[sparse.values.name] = Stored(dense(sparse, model.tensors))
    return found


def node_label(node: NodeProto, index: int) -> str:
    """Return the node's name, or its operator and position where it has none."""
    return node.name or f"{node.op_type}_{index}"

"""`GraphDef`: a graph as data that is sent, stored, looked at, and imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ..graph import Graph, GraphTensor
from ..graph_data import VERSION, Codec, Reader, register_codec, row
from ..graph_text import data_of, fresh_variable, graph_data, text_of
from .random_ops import Draw
from .state import get_default_graph
from .values import InGraph, convert

register_codec(
    Draw,
    Codec(
        "draw",
        lambda kind, writer: {
            "type": kind.type,
            "dtype": str(kind.row),
            "seeds": writer.value(kind.seeds),
            "options": writer.value(kind.options),
        },
        lambda data, reader: Draw(
            data["type"], row(data["dtype"]), reader.value(data["seeds"]),
            reader.value(data["options"]),
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class NodeDef:
    """One node: its name, its type, and what it takes (`^name`: what it waits for)."""

    name: str
    op: str
    input: list[str]
    device: str
    attr: dict[str, Any]


class GraphDef:
    """A graph as data."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.data: dict[str, Any] = {
            "version": VERSION, "nodes": [], "functions": {}, "variables": {},
        }  # fmt: skip
        self.refused: list[str] = []
        if graph is not None:
            self.data, self.refused = graph_data(graph)

    @property
    def node(self) -> list[NodeDef]:
        """Return the nodes in their order."""
        return [
            NodeDef(n["name"], n["op"], [x.removesuffix(":0") for x in n["input"]], n["device"],
                    n["attr"])
            for n in self.data["nodes"]
        ]  # fmt: skip

    @property
    def versions(self) -> Any:
        """Return the version of the form."""
        return SimpleNamespace(producer=self.data["version"])

    @property
    def library(self) -> Any:
        """Return the functions that are called."""
        named = [SimpleNamespace(signature=SimpleNamespace(name=n)) for n in self.data["functions"]]
        return SimpleNamespace(function=named)

    def SerializeToString(self, deterministic: bool = True) -> bytes:  # noqa: N802
        """Return the graph as bytes, or raise an error that names what has no form."""
        return text_of(self.data, self.refused).encode()

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Become the graph of the bytes."""
        self.data, self.refused = data_of(serialized), []
        return len(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> GraphDef:  # noqa: N802
        """Return the graph of the bytes."""
        made = cls()
        made.ParseFromString(serialized)
        return made

    def CopyFrom(self, other: GraphDef) -> None:  # noqa: N802
        """Become the same as another one."""
        self.data, self.refused = other.data, list(other.refused)

    def ByteSize(self) -> int:  # noqa: N802
        """Return the number of bytes."""
        return len(self.SerializeToString())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphDef) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]


def _given(input_map: Mapping[str, Any], data: dict[str, Any]) -> dict[str, GraphTensor]:
    """Return what stands in for tensors of the text, by their full names."""
    known = {f"{n['name']}:{i}" for n in data["nodes"] for i in range(len(n["specs"]))}
    full = {(k if ":" in k else f"{k}:0"): v for k, v in input_map.items()}
    missing = [k for k in full if k not in known]
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )
    types = {f"{n['name']}:{i}": s for n in data["nodes"] for i, s in enumerate(n["specs"])}
    given = {k: convert(v) for k, v in full.items()}
    for key, tensor in given.items():
        expected, _dims = types[key]
        if str(tensor.spec.dtype) != expected:
            raise ValueError(
                f"Input of '{key}' was passed {tensor.spec.dtype} incompatible with expected "
                f"{expected}."
            )
    return given


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    **_: Any,
) -> Any:
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
        given = _given(input_map or {}, data)
        taken = [n["name"] for n in data["nodes"] if n["name"] in graph.by_name]
        if not prefix and taken:
            raise ValueError(f"Node name '{taken[0]}' already exists in the Graph")
        with graph.name_scope(prefix or None) as scope:
            ops = Reader(data, fresh_variable(scope)).add(graph, data["nodes"], given)
    if return_elements is None:
        return None
    return [_element(ops, each) for each in return_elements]


def _element(ops: Mapping[str, Any], name: str) -> Any:
    stem, _, port = name.partition(":")
    op = ops.get(stem)
    if op is None or (port and int(port) >= len(op.outputs)):
        raise ValueError(f"Requested return_element '{name}' not found in graph_def.")
    return op.outputs[int(port)] if port else op


__all__ = ["GraphDef", "NodeDef", "import_graph_def"]

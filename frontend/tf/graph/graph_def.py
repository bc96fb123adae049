"""`GraphDef`: a graph as data that is sent, stored, looked at, and imported."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TypedDict

from ...formats.messages import GraphDef as Message
from ...formats.messages import parsed_graph
from ...function.graph_data import (
    Codec,
    GraphTextError,
    NodeReader,
    Plain,
    empty_data,
    register_codec,
    row,
)
from ...function.graph_text import data_of, graph_data, text_of
from ...graph.graph import Graph, Kind
from ..ops.random_ops import Draw, KeyDraw


class DrawData(TypedDict):
    """A random operation: its type, what it gives, and what it is told."""

    type: str
    dtype: str
    seeds: Plain
    options: Plain


def _draws(name: str, made: type[Draw]) -> Codec[Draw, DrawData]:
    """Return how draws are written and read."""

    def read(data: DrawData, reader: NodeReader) -> Kind:
        seeds = reader.value(data["seeds"])
        if not isinstance(seeds, tuple):
            raise GraphTextError(f"seeds {seeds!r}, expected two numbers")
        return made(data["type"], row(data["dtype"]), seeds, reader.options(data["options"]))

    return Codec[Draw, DrawData](
        name,
        lambda kind, writer: {
            "type": kind.type,
            "dtype": str(kind.row),
            "seeds": writer.value(kind.seeds),
            "options": writer.value(kind.options),
        },
        read,
    )


register_codec(Draw, _draws("draw", Draw))
register_codec(KeyDraw, _draws("key", KeyDraw))


@dataclass(frozen=True)
class NodeDef:
    """One node: its name, its type, and what it takes (`^name`: what it waits for)."""

    name: str
    op: str
    input: list[str]
    device: str
    attr: dict[str, Plain]


class GraphDef:
    """A graph as data."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.data = empty_data()
        self.refused: list[str] = []
        self.foreign: Message | None = None
        """The message of a file that TensorFlow wrote, if it is that."""
        if graph is not None:
            self.data, self.refused = graph_data(graph)

    @property
    def node(self) -> list[NodeDef]:
        """Return the nodes in their order."""
        if self.foreign is not None:
            return list(self.foreign.node)
        return [
            NodeDef(n["name"], n["op"], [x.removesuffix(":0") for x in n["input"]], n["device"],
                    n["attr"])
            for n in self.data["nodes"]
        ]  # fmt: skip

    @property
    def versions(self) -> SimpleNamespace:
        """Return the version of the form."""
        if self.foreign is not None:
            return SimpleNamespace(producer=self.foreign.versions.producer)
        return SimpleNamespace(producer=self.data["version"])

    @property
    def library(self) -> SimpleNamespace:
        """Return the functions that are called."""
        if self.foreign is not None:
            return SimpleNamespace(function=list(self.foreign.library.function))
        named = [SimpleNamespace(signature=SimpleNamespace(name=n)) for n in self.data["functions"]]
        return SimpleNamespace(function=named)

    def SerializeToString(self, deterministic: bool = True) -> bytes:  # noqa: N802
        """Return the graph as bytes, or raise an error that names what has no form."""
        if self.foreign is not None:
            written: bytes = self.foreign.SerializeToString(deterministic=deterministic)
            return written
        return text_of(self.data, self.refused).encode()

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Become the graph of the bytes: of ours, which is text, or of a file of TensorFlow's."""
        self.data, self.refused, self.foreign = empty_data(), [], None
        if serialized[:1] == b"{":
            self.data = data_of(serialized)
        else:
            self.foreign = parsed_graph(serialized)
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
        self.foreign = other.foreign

    def ByteSize(self) -> int:  # noqa: N802
        """Return the number of bytes."""
        return len(self.SerializeToString())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GraphDef)
            and self.data == other.data
            and self.foreign == other.foreign
        )

    __hash__ = None  # type: ignore[assignment]


__all__ = ["GraphDef", "NodeDef"]

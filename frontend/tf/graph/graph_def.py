"""`GraphDef`: a graph as data that is sent, stored, looked at, and imported."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import zip_longest
from types import SimpleNamespace
from typing import NotRequired, TypedDict

from ...formats.messages import GraphDef as Message
from ...formats.messages import NodeDef, parsed_graph
from ...function.graph_data import (
    Codec,
    GraphData,
    GraphTextError,
    NodeReader,
    Plain,
    empty_data,
    register_codec,
    row,
)
from ...function.graph_text import data_of, fresh_variable, graph_data, text_of
from ...graph.graph import Graph, Kind
from ..ops.random_ops import Draw, KeyDraw
from ..runs.graph_messages import graph_message
from ..runs.turns import ALONE


class DrawData(TypedDict):
    """A random operation: its type, what it gives, and what it is told."""

    type: str
    dtype: str
    seeds: Plain
    options: Plain
    turn: NotRequired[list[int]]


def _draws(name: str, made: type[Draw]) -> Codec[Draw, DrawData]:
    """Return how draws are written and read."""

    def read(data: DrawData, reader: NodeReader) -> Kind:
        seeds = reader.value(data["seeds"])
        if not isinstance(seeds, tuple):
            raise GraphTextError(f"seeds {seeds!r}, expected two numbers")
        turn = data.get("turn", [*ALONE])
        if not (len(turn) == 2 and all(type(x) is int for x in turn) and 0 <= turn[0] < turn[1]):
            raise GraphTextError(f"turn {turn!r}, expected a place and a larger number")
        options = reader.options(data["options"])
        return made(data["type"], row(data["dtype"]), seeds, options, (turn[0], turn[1]))

    return Codec[Draw, DrawData](
        name,
        lambda kind, writer: {
            "type": kind.type,
            "dtype": str(kind.row),
            "seeds": writer.value(kind.seeds),
            "options": writer.value(kind.options),
            "turn": list(kind.turn),
        },
        read,
    )


register_codec(Draw, _draws("draw", Draw))
register_codec(KeyDraw, _draws("key", KeyDraw))


class GraphDef:
    """A graph as data."""

    DESCRIPTOR = Message.DESCRIPTOR
    """By this, text becomes one: `google.protobuf.text_format.Parse`."""

    def __init__(self, graph: Graph | None = None, **fields: object) -> None:
        self._data = empty_data()
        self.refused: list[str] = []
        self.foreign: Message | None = None if graph is not None else Message(**fields)
        """The message of a file that TensorFlow wrote, or that is put together by hand."""
        self._shown: Shown | None = None
        if graph is not None:
            self._data, self.refused = graph_data(graph)
            self._shown = Shown(graph)

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Say whether a part is there: text is read into what asks this."""
        return bool(self.message.HasField(field_name))

    def ListFields(self) -> Sequence[tuple[object, object]]:  # noqa: N802
        """Return the parts that are there: text is made of what has this."""
        found: Sequence[tuple[object, object]] = self.message.ListFields()
        return found

    def IsInitialized(self) -> bool:  # noqa: N802
        """Say whether all is there that has to be."""
        return True

    @property
    def data(self) -> GraphData:
        """Return the graph as it is written here, with what was changed in its nodes."""
        if self._shown is not None:
            self._shown.settle(self._data)
        return self._data

    @data.setter
    def data(self, data: GraphData) -> None:
        self._data, self._shown = data, None

    @property
    def node(self) -> Sequence[NodeDef]:
        """Return the nodes in their order, as messages, whose devices may be changed.

        Where the graph is a message itself, they may be changed in any way, and others put in.
        """
        found: Sequence[NodeDef] = self.message.node
        return found if self.foreign is not None else list(found)

    @property
    def message(self) -> Message:
        """Return the graph as a message."""
        if self.foreign is not None:
            return self.foreign
        if self._shown is None:
            graph = Graph()
            NodeReader(self._data, fresh_variable("")).add(graph, self._data["nodes"])
            self._shown = Shown(graph)
        return self._shown.message

    @property
    def versions(self) -> SimpleNamespace | Message:
        """Return the version of the form."""
        if self.foreign is not None:
            return self.foreign.versions
        return SimpleNamespace(producer=self.data["version"])

    @property
    def library(self) -> SimpleNamespace | Message:
        """Return the functions that are called."""
        if self.foreign is not None:
            return self.foreign.library
        return SimpleNamespace(function=list(self.message.library.function))

    def SerializeToString(self, deterministic: bool = True) -> bytes:  # noqa: N802
        """Return the graph as bytes, or raise an error that names what has no form."""
        if self.foreign is not None:
            written: bytes = self.foreign.SerializeToString(deterministic=deterministic)
            return written
        return text_of(self.data, self.refused).encode()

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Become the graph of the bytes: of ours, which is text, or of a file of TensorFlow's."""
        self._data, self.refused, self.foreign = empty_data(), [], None
        self._shown = None
        if serialized[:1] == b"{":
            self._data = data_of(serialized)
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
        self._data, self.refused = deepcopy(other.data), list(other.refused)
        self.foreign, self._shown = deepcopy(other.foreign), None

    def MergeFrom(self, other: GraphDef) -> None:  # noqa: N802
        """Take the nodes of another one behind its own, all as a message."""
        merged = Message()
        merged.CopyFrom(self.message)
        merged.MergeFrom(other.message)
        self._data, self.refused, self.foreign, self._shown = empty_data(), [], merged, None

    def Clear(self) -> None:  # noqa: N802
        """Become a graph without nodes."""
        self._data, self.refused, self.foreign, self._shown = empty_data(), [], Message(), None

    def ByteSize(self) -> int:  # noqa: N802
        """Return the number of bytes."""
        return len(self.SerializeToString())

    def __str__(self) -> str:
        """Return the nodes as TensorFlow prints them, without what is said of each beside."""
        shown = Message() if self.foreign is None else self.foreign
        if self.foreign is None:
            for node in self.node:
                shown.node.add(name=node.name, op=node.op, input=node.input, device=node.device)
        return str(shown)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GraphDef)
            and self.data == other.data
            and self.foreign == other.foreign
        )

    __hash__ = None  # type: ignore[assignment]


class Shown:
    """The nodes of a graph as messages, which may be looked at, and given other devices."""

    def __init__(self, graph: Graph) -> None:
        self.message, self.before = graph_message(graph), Message()
        for node in self.message.node:
            if "_output_shapes" in node.attr:
                del node.attr["_output_shapes"]
        self.before.CopyFrom(self.message)

    def settle(self, data: GraphData) -> None:
        """Give the nodes of a graph the devices that were set; refuse other changes by name."""
        rows = {row["name"]: row for row in data["nodes"]}
        for node, before in zip_longest(self.message.node, self.before.node):
            if node is not None and before is not None and node.name in rows:
                rows[node.name]["device"] = before.device = node.device
            if node != before:
                raise NotImplementedError(
                    f"GraphDef: node {(node or before).name!r} was changed in more than its device"
                )


__all__ = ["GraphDef"]

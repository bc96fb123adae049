"""`MetaGraphDef`: a graph as data with its lists, in a file beside a checkpoint.

A list holds variables, tensors, operations and what fills queues by their names, and texts and
numbers; what else a program put there stays behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict

from ....runtime.files import replacing
from ...formats.messages import QueueRunnerDef, shown
from ...function.graph_data import (
    Codec,
    GraphTextError,
    NodeReader,
    NotSerialisableError,
    Writer,
    register_codec,
)
from ...function.graph_text import fresh_variable
from ...graph.checkpoint_ops import Files, RestoreVariables, SaveShards, SaveVariables
from ...graph.frame import Frame, OutsideError
from ...graph.graph import Graph, GraphTensor, Kind, Operation
from ...graph.variables import VariableState
from ...values.run_errors import UnimplementedError
from ..core.values import InGraph, path_of
from ..graph.graph_def import GraphDef
from ..graph.state import Variable, get_default_graph
from ..runs.graph_messages import graph_message
from .coordinator import QueueRunner


class Unwritten(Kind):
    """A node that has no form as data: it is there, but cannot be run."""

    stateful = True

    def __init__(self, type_: str, why: str) -> None:
        self.type, self.why = type_, why

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Refuse."""
        if frame.is_staging:
            raise OutsideError("a node that was not written")
        raise UnimplementedError(
            f"{op.name} ({self.type}) has no form in the file of its graph: {self.why}"
        )


register_codec(
    Unwritten,
    Codec(
        "refused",
        lambda kind, writer: {"type": kind.type, "why": kind.why},
        lambda data, reader: Unwritten(data["type"], data["why"]),
    ),
)


class FilesData(TypedDict):
    """A node that saves or restores: the variables by their names in the file."""

    of: dict[str, str]
    shard: list[int]
    """Which shard it is, of how many; nothing where there are none."""
    reshape: bool
    """Whether a value may have other axes than its variable."""


def _write_files(kind: Files, writer: Writer) -> FilesData:
    shard = [kind.number, kind.count] if isinstance(kind, SaveVariables) and kind.count else []
    reshape = isinstance(kind, RestoreVariables) and kind.reshape
    if any(type(s) is not VariableState for s in kind.states.values()):
        raise NotSerialisableError("tables are in the process that has made them")
    of = {n: writer.variable(s) for n, s in kind.states.items()}
    return {"of": of, "shard": shard, "reshape": reshape}


def _files(data: FilesData, reader: NodeReader) -> dict[str, VariableState]:
    return {n: reader.variable(v) for n, v in data["of"].items()}


register_codec(
    SaveVariables,
    Codec("save", _write_files, lambda data, reader: SaveVariables(_files(data, reader),
                                                                   *data.get("shard", []))),
)  # fmt: skip
register_codec(
    RestoreVariables,
    Codec(
        "restore",
        _write_files,
        lambda data, reader: RestoreVariables(
            _files(data, reader), reshape=bool(data.get("reshape"))
        ),
    ),
)
register_codec(
    SaveShards,
    Codec("shards", lambda kind, writer: {"count": kind.count},
          lambda data, reader: SaveShards(int(data["count"]))),
)  # fmt: skip
KIND = "gravure.MetaGraphDef"


class VariableData(TypedDict):
    """A variable as data: the name of its operation, and what the program said of it."""

    op: str
    initial: str
    trainable: bool


class SaverData(TypedDict):
    """What a saver of the same variables is made from: their operations by names in the file."""

    variables: dict[str, str]
    keep: int | None
    name: str | None


class MetaGraphFileError(GraphTextError, OSError):
    """A file is not that of a graph."""

    code = "GV2391"


class MetaGraphDef:
    """A graph as data, its lists, and the name of the nodes that save it."""

    def __init__(self) -> None:
        self.graph_def = GraphDef()
        self.collection_def: dict[str, list[object]] = {}
        self.variables: list[VariableData] = []
        """By variable: the name of its operation, and what the program said of it."""
        self.saver: SaverData | None = None
        self.meta_info_def = SimpleNamespace(tags=[])
        self.signature_def: dict[str, Any] = {}
        """How what was loaded of a folder is called."""

    def data(self) -> dict[str, object]:
        """Return all as plain data."""
        return {
            "kind": KIND, "graph": self.graph_def.data, "refused": self.graph_def.refused,
            "lists": self.collection_def, "variables": self.variables, "saver": self.saver,
        }  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetaGraphDef) and self.data() == other.data()

    __hash__ = None  # type: ignore[assignment]

    def SerializeToString(self, deterministic: bool = True) -> bytes:  # noqa: N802
        """Return it as bytes."""
        return json.dumps(self.data(), sort_keys=True).encode()

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Become what the bytes say."""
        try:
            found: dict[str, Any] = json.loads(serialized)
        except (ValueError, RecursionError) as error:
            raise GraphTextError(f"this is no {KIND}: {error}") from None
        if not isinstance(found, dict) or found.get("kind") != KIND:
            raise GraphTextError(f"this is no {KIND}")
        self.graph_def.data, self.graph_def.refused = found["graph"], found["refused"]
        self.collection_def, self.variables = found["lists"], found["variables"]
        self.saver = found["saver"]
        return len(serialized)

    def without_devices(self) -> MetaGraphDef:
        """Return the same, of which no operation says where it runs."""
        made = MetaGraphDef.FromString(self.SerializeToString())
        data = made.graph_def.data
        for part in (data, *data["functions"].values()):
            for node in part["nodes"]:
                node["device"] = ""
        return made

    @classmethod
    def FromString(cls, serialized: bytes) -> MetaGraphDef:  # noqa: N802
        """Return what the bytes say."""
        made = cls()
        made.ParseFromString(serialized)
        return made


def write_graph(graph_or_graph_def: object, logdir: object, name: str, as_text: bool = True) -> str:
    """Write a graph into a file of a folder; return the path.

    As text a graph is that of TensorFlow's message, which other programs show; as bytes, and
    where it is given as data (`as_graph_def()`), it has the form that can be read again. Messages
    are written as they are.
    """
    path = Path(path_of(logdir, "write_graph")) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(graph_or_graph_def, Graph) and as_text:
        data = shown(graph_message(graph_or_graph_def)).encode()
    elif isinstance(graph_or_graph_def, Graph):
        data = GraphDef(graph_or_graph_def).SerializeToString()
    elif isinstance(graph_or_graph_def, GraphDef | MetaGraphDef):
        data = graph_or_graph_def.SerializeToString()
    elif (serialised := getattr(graph_or_graph_def, "SerializeToString", None)) is not None:
        data = shown(graph_or_graph_def).encode() if as_text else serialised()
    else:
        raise TypeError(f"write_graph: a graph was expected, got {graph_or_graph_def!r}")
    with replacing(path) as file:
        file.write(data)
    return str(path)


def _entry(value: object, places: Mapping[int, int]) -> object:
    """Return an element of a list as data, None if it has no form."""
    if isinstance(value, Variable):
        return {"variable": places[id(value)]} if id(value) in places else None
    if isinstance(value, GraphTensor):
        return {"tensor": f"{value.op.name}:{value.op.outputs.index(value)}"}
    if isinstance(value, Operation):
        return {"operation": value.name}
    if isinstance(value, QueueRunner):
        said = value.to_proto()
        return None if said is None else {"runner": said.SerializeToString().hex()}
    return value if isinstance(value, str | int | float | bool) else None


def export_meta_graph(
    filename: str | None = None,
    graph: Graph | None = None,
    saver_data: SaverData | None = None,
    collection_list: Sequence[str] | None = None,
    clear_devices: bool = False,
    **others: object,
) -> MetaGraphDef:
    """Return a graph as data with its lists; write it to a file if one is named."""
    for option in ("meta_info_def", "export_scope", "clear_extraneous_savers"):
        if others.pop(option, None):
            raise NotImplementedError(f"export_meta_graph: {option} is not supported")
    for option in ("strip_default_attrs", "save_debug_info", "as_text"):
        others.pop(option, None)  # there is nothing of it here: the form is one of text
    home, given = graph or get_default_graph(), others.pop("graph_def", None)
    if others:
        raise TypeError(f"export_meta_graph() has no argument {next(iter(others))!r}")
    if not isinstance(given, GraphDef | None):
        raise TypeError(f"export_meta_graph: a graph as data was expected, got {given!r}")
    made = MetaGraphDef()
    made.graph_def = GraphDef(home) if given is None else given
    known: dict[int, Variable] = {}
    for values in home.collections.values():
        known |= {id(v): v for v in values if isinstance(v, Variable) and v.graph is home}
    places = {key: i for i, key in enumerate(known)}
    made.variables = [
        {"op": v.op.name, "initial": v.initializer.name, "trainable": v.trainable}
        for v in known.values()
        if v.initializer is not None
    ]
    for key in home.collections if collection_list is None else collection_list:
        entries = [_entry(v, places) for v in home.collections.get(key, [])]
        made.collection_def[str(key)] = [e for e in entries if e is not None]
    made.saver = saver_data
    if clear_devices:
        made = made.without_devices()
    if filename is not None:
        Path(filename).parent.mkdir(parents=True, exist_ok=True)
        with replacing(Path(filename)) as file:
            file.write(made.SerializeToString())
    return made


def read_meta_graph(meta_graph_or_file: object) -> MetaGraphDef:
    """Return the data of a graph, or of the file of one."""
    if isinstance(meta_graph_or_file, MetaGraphDef):
        return meta_graph_or_file
    path = Path(str(meta_graph_or_file))
    if not path.exists():
        raise OSError(f"File {path} does not exist.")
    try:
        return MetaGraphDef.FromString(path.read_bytes())
    except GraphTextError as error:
        raise MetaGraphFileError(f"Cannot parse file {path}: {error.message}") from None


def add_meta_graph(found: MetaGraphDef, scope: str | None) -> dict[str, Variable]:
    """Add a graph as data to the default graph, with its lists; return the variables by name."""
    graph, data = get_default_graph(), found.graph_def.data
    inner = graph.name_scope(scope) if scope else nullcontext(graph.scope)
    with InGraph(graph), inner as prefix:
        ops = NodeReader(data, fresh_variable(prefix or "")).add(graph, data["nodes"], {})
    variables = [
        Variable.of_operation(ops[v["op"]], ops[v["initial"]], trainable=v["trainable"])
        for v in found.variables
    ]
    for key, entries in found.collection_def.items():
        for each in entries:
            graph.add_to_collection(key, _element(each, scope, ops, variables))
    return {each["op"]: variable for each, variable in zip(found.variables, variables, strict=True)}


def _element(
    entry: object, scope: str | None, ops: Mapping[str, Operation], variables: list[Variable]
) -> object:
    """Return an element of a list."""
    if not isinstance(entry, dict):
        return entry
    [(form, value)] = entry.items()
    if form == "variable":
        return variables[value]
    if form == "operation":
        return ops[value]
    if form == "runner":
        return QueueRunner.from_proto(QueueRunnerDef.FromString(bytes.fromhex(value)), scope)
    stem, _, port = value.rpartition(":")
    return ops[stem].outputs[int(port)]

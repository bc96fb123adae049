"""Protobuf messages of examples, graphs and events, made from `schema`.

The protobuf library (onnx brings it) reads and writes them: it is compiled code, knows the text
and JSON forms, and gives programs the objects that they expect of `tf.train.Example`. The messages
are in a pool of their own, so that other packages may have theirs of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError, Message

from ..values.run_errors import InvalidArgumentError
from . import run_schema as runs
from .profile_schema import PROFILES
from .schema import ENUMS as OTHER_ENUMS
from .schema import EVENTS, EXAMPLES, GRAPHS
from .schema import INSIDE as OTHERS_INSIDE

Proto: TypeAlias = Message
"""A message of any kind."""
PACKAGE = "tensorflow"
ENUMS = {**OTHER_ENUMS, **runs.ENUMS}
INSIDE = {**OTHERS_INSIDE, **runs.INSIDE}
KEYS = {"map": "string", "intmap": "int32", "uintmap": "uint32", "longmap": "int64"}
"""What a map of the schema is from."""
Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    "bytes": Field.TYPE_BYTES, "string": Field.TYPE_STRING, "float": Field.TYPE_FLOAT,
    "double": Field.TYPE_DOUBLE, "int32": Field.TYPE_INT32, "int64": Field.TYPE_INT64,
    "uint32": Field.TYPE_UINT32, "uint64": Field.TYPE_UINT64, "bool": Field.TYPE_BOOL,
    "fixed32": Field.TYPE_FIXED32,
}  # fmt: skip


def _full(name: str) -> str:
    """Return the name of a type with those that it is declared in."""
    return f"{_full(INSIDE[name])}.{name}" if name in INSIDE else f".{PACKAGE}.{name}"


def depth(name: str) -> int:
    """Return in how many others a type is declared."""
    return 1 + depth(INSIDE[name]) if name in INSIDE else 0


def _typed(field: Any, type_: str) -> None:
    if type_ in SCALARS:
        field.type = SCALARS[type_]
    else:
        field.type = Field.TYPE_ENUM if type_ in ENUMS else Field.TYPE_MESSAGE
        field.type_name = _full(type_)


def _add_map(message: Any, field: Any, key: str, type_: str, owner: str) -> None:
    """Let a field be a map: a list of entries."""
    entry = message.nested_type.add()
    entry.name = "".join(w.capitalize() for w in field.name.split("_")) + "Entry"
    entry.options.map_entry = True
    for name, number, kind in (("key", 1, key), ("value", 2, type_)):
        part = entry.field.add(name=name, number=number, label=Field.LABEL_OPTIONAL)
        _typed(part, kind)
    field.label, field.type = Field.LABEL_REPEATED, Field.TYPE_MESSAGE
    field.type_name = f"{_full(owner)}.{entry.name}"


def _add_field(message: Any, owner: str, line: str) -> None:
    """Add the field that a line of the schema describes."""
    *way, type_, name, number = line.split()
    field = message.field.add(name=name, number=int(number), label=Field.LABEL_OPTIONAL)
    if way and way[0] in KEYS:
        _add_map(message, field, KEYS[way[0]], type_, owner)
        return
    _typed(field, type_)
    if way == ["repeated"]:
        field.label = Field.LABEL_REPEATED
    elif way:
        choice = way[0].removeprefix("oneof:")
        known = [each.name for each in message.oneof_decl]
        if choice not in known:
            message.oneof_decl.add(name=choice)
        field.oneof_index = [*known, choice].index(choice)


def _file() -> object:
    """Return the description of all messages."""
    file = descriptor_pb2.FileDescriptorProto(
        name="gravure/formats.proto", package=PACKAGE, syntax="proto3"
    )
    tables = {**EXAMPLES, **GRAPHS, **EVENTS, **runs.OPTIONS, **runs.STATISTICS, **PROFILES}
    made: dict[str, Any] = {}
    for name in sorted(tables, key=depth):
        home = made[INSIDE[name]].nested_type if name in INSIDE else file.message_type
        made[name] = home.add(name=name)
        for line in tables[name]:
            _add_field(made[name], name, line)
    for name, values in ENUMS.items():
        enum = (made[INSIDE[name]] if name in INSIDE else file).enum_type.add(name=name)
        for value, number in values.items():
            enum.value.add(name=value, number=number)
    return file


POOL = descriptor_pool.DescriptorPool()
POOL.Add(_file())


def shown(message: Any) -> str:
    """Return a message as text for people."""
    made: str = text_format.MessageToString(message)
    return made


def parsed(text: str | bytes, kind: type[Message]) -> Message:
    """Return the message of a class that a text describes, or raise `text_format.ParseError`."""
    return text_format.Parse(text, kind())


def alike(one: object, other: object, tolerance: float) -> bool:
    """Say whether messages differ in floats alone, and those by no more than a share."""
    if not isinstance(one, Message) or not isinstance(other, Message):
        if not isinstance(one, float) or not isinstance(other, float):
            return one == other
        return one == other or abs(one - other) <= tolerance * abs(one)
    fields, others = dict(one.ListFields()), dict(other.ListFields())
    return fields.keys() == others.keys() and all(
        _alike_parts(value, others[field], tolerance) for field, value in fields.items()
    )


def _alike_parts(one: object, other: object, tolerance: float) -> bool:
    """Say the same of the values of a field: one, a list, or a map."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[k], other[k], tolerance) for k in one)
    plain = isinstance(one, Message | str | bytes)
    if plain or not isinstance(one, Sequence) or not isinstance(other, Sequence):
        return alike(one, other, tolerance)
    return len(one) == len(other) and all(map(alike, one, other, repeat(tolerance)))


def parsed_graph(data: bytes) -> Any:
    """Return the graph of a file that TensorFlow wrote, or raise `InvalidArgumentError`."""
    try:
        found = GraphDef.FromString(data)
    except DecodeError:
        found = GraphDef()
    if data and not found.node:
        raise InvalidArgumentError("the bytes are not those of a graph: no nodes were found")
    return found


def add_bytes(message: Message, data: bytes) -> bool:
    """Add what bytes hold to a message; say whether they are those of one."""
    try:
        message.MergeFromString(data)
    except DecodeError:
        return False
    return True


def message_class(name: str) -> Any:
    """Return the class of a message."""
    found = POOL.FindMessageTypeByName(_full(name).removeprefix("."))
    return message_factory.GetMessageClass(found)


BytesList, FloatList, Int64List = map(message_class, ("BytesList", "FloatList", "Int64List"))
Feature, Features = message_class("Feature"), message_class("Features")
FeatureList, FeatureLists = message_class("FeatureList"), message_class("FeatureLists")
Example, SequenceExample = message_class("Example"), message_class("SequenceExample")
TensorProto, AttrValue, NodeDef = map(message_class, ("TensorProto", "AttrValue", "NodeDef"))
TensorShapeProto, GraphDef = message_class("TensorShapeProto"), message_class("GraphDef")
Summary, SummaryMetadata = message_class("Summary"), message_class("SummaryMetadata")
SummaryDescription, Event = message_class("SummaryDescription"), message_class("Event")
SessionLog, TaggedRunMetadata = message_class("SessionLog"), message_class("TaggedRunMetadata")
HistogramProto = message_class("HistogramProto")
RunMetadata, FunctionDef = message_class("RunMetadata"), message_class("FunctionDef")
OpDef, SaverDef = message_class("OpDef"), message_class("SaverDef")
VariableDef, SaveSliceInfoDef = message_class("VariableDef"), message_class("SaveSliceInfoDef")
QueueRunnerDef = message_class("QueueRunnerDef")
MetaGraph, SignatureDef = message_class("MetaGraphDef"), message_class("SignatureDef")
TensorInfo, SparseTensorInfo = message_class("TensorInfo"), message_class("CooSparse")
ClusterDef, JobDef, ServerDef = map(message_class, ("ClusterDef", "JobDef", "ServerDef"))
RunOptions, ConfigProto = message_class("RunOptions"), message_class("ConfigProto")
GPUOptions, GraphOptions = message_class("GPUOptions"), message_class("GraphOptions")
OptimizerOptions, RewriterConfig = (
    message_class("OptimizerOptions"),
    message_class("RewriterConfig"),
)
StepStats, NodeExecStats = message_class("StepStats"), message_class("NodeExecStats")
CostGraphDef, XSpace = message_class("CostGraphDef"), message_class("XSpace")
BundleHeaderProto, BundleEntryProto = (
    message_class("BundleHeaderProto"),
    message_class("BundleEntryProto"),
)
TrackableObjectGraph = message_class("TrackableObjectGraph")

"""Graphs as text and back (`graph_data`): the kinds of operations, and the text itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NotRequired, TypedDict

from ...ir import find_op
from ..graph.accumulator_ops import USES, AccumulatorKind, AccumulatorSpec
from ..graph.control_flow import GraphChoice, GraphLoop
from ..graph.func_graph import CallGraph
from ..graph.gradients import Backward
from ..graph.graph import Graph, Kind, Operation
from ..graph.kinds import (
    CONSTANT,
    ENTER,
    EXIT,
    LOOP_CONDITION,
    NEXT_ITERATION,
    STOP,
    Composite,
    Const,
    Merge,
    NoOp,
    Placeholder,
    PlaceholderWithDefault,
    Primitive,
    Stop,
    Switch,
    find_rule,
    primitive,
)
from ..graph.queue_ops import MAKERS, QueueKind, QueueSpec
from ..graph.variables import (
    ASSIGN,
    ASSIGN_ADD,
    ASSIGN_SUB,
    IS_INITIALIZED,
    READ,
    SCATTER,
    SCATTER_ADD,
    SCATTER_SUB,
    VariableState,
)
from ..values.texts import TEXT
from .graph_data import (
    PLAIN,
    SINGLE,
    Codec,
    GraphData,
    GraphTextError,
    NodeReader,
    NotSerialisableError,
    Plain,
    SpecData,
    VariableData,
    Writer,
    check_version,
    empty_data,
    register_codec,
    row,
)
from .variable import VARIABLE

SINGLE.update({

    "constant": CONSTANT, "stop": STOP, "no_op": NoOp(), "switch": Switch(), "merge": Merge(),
    "placeholder": Placeholder(), "default": PlaceholderWithDefault(), "variable": VARIABLE,
    "read": READ, "assign": ASSIGN, "assign_add": ASSIGN_ADD, "assign_sub": ASSIGN_SUB,
    "scatter": SCATTER, "scatter_add": SCATTER_ADD, "scatter_sub": SCATTER_SUB,
    "is_initialized": IS_INITIALIZED, "enter": ENTER, "exit": EXIT, "next": NEXT_ITERATION,
    "loop_condition": LOOP_CONDITION,
})  # fmt: skip
PLAIN += [Const, Stop, NoOp, Switch, Merge, Placeholder, PlaceholderWithDefault]


class OperationData(TypedDict):
    """An operation of the IR by its name."""

    name: str


class RuleData(TypedDict):
    """A rule by its type, with its options."""

    type: str
    options: Plain


class CallData(TypedDict):
    """A call of a function."""

    function: str


class ChoiceData(TypedDict):
    """A choice among functions."""

    label: str
    branches: list[str]


class LoopData(TypedDict):
    """A loop: the functions that test and that change what goes around."""

    test: str
    body: str
    specs: list[SpecData]


class BackwardData(TypedDict):
    """The way back over an operation: which gradients of inputs, and of which variables."""

    forward: str
    wanted: list[int]
    variables: list[str]


class OrderData(TypedDict):
    """In which order a queue gives its elements."""

    least: int
    shuffled: bool
    seed: int | None
    ranked: NotRequired[bool]
    padded: NotRequired[bool]


class QueueData(TypedDict):
    """What is done with a queue, and the queue."""

    type: str
    options: Plain
    name: str
    shared: str
    container: NotRequired[str]
    capacity: int
    dtypes: list[str]
    shapes: Plain
    more: OrderData


class AccumulatorData(TypedDict):
    """What is done with an accumulator, and the accumulator."""

    type: str
    shape: Plain
    name: str
    dtype: str
    shared: str
    container: NotRequired[str]
    way: str


def _primitive(data: OperationData, reader: NodeReader) -> Kind:
    op = find_op(str(data["name"]))
    if op is None:
        raise GraphTextError(f"there is no operation {data['name']!r}")
    return primitive(op)


def _composite(data: RuleData, reader: NodeReader) -> Kind:
    rule = find_rule(data["type"])
    if rule is None:
        raise GraphTextError(f"there is no operation of type {data['type']!r}")
    return Composite(rule, reader.options(data["options"]))


def _write_composite(kind: Composite, writer: Writer) -> RuleData:
    if find_rule(kind.type) is not kind.rule:
        raise NotSerialisableError("its rule is known to this process only")
    return {"type": kind.type, "options": writer.value(kind.options)}


def _backward(data: BackwardData, reader: NodeReader) -> Kind:
    variables = [reader.variable(n) for n in data["variables"]]
    return Backward(reader.ops[data["forward"]], data["wanted"], variables)


register_codec(
    Primitive,
    Codec[Primitive, OperationData](
        "operation", lambda kind, writer: {"name": kind.op.name}, _primitive
    ),
)
register_codec(Composite, Codec("rule", _write_composite, _composite))
register_codec(
    CallGraph,
    Codec[CallGraph, CallData](
        "call",
        lambda kind, writer: {"function": writer.function(kind.graph)},
        lambda data, reader: CallGraph(reader.function(data["function"])),
    ),
)
register_codec(
    GraphChoice,
    Codec[GraphChoice, ChoiceData](
        "choice",
        lambda kind, writer: {
            "label": kind.type,
            "branches": [writer.function(b) for b in kind.branches],
        },
        lambda data, reader: GraphChoice(
            [reader.function(n) for n in data["branches"]], data["label"]
        ),
    ),
)
register_codec(
    GraphLoop,
    Codec[GraphLoop, LoopData](
        "loop",
        lambda kind, writer: {
            "test": writer.function(kind.test),
            "body": writer.function(kind.body),
            "specs": [writer.spec(s) for s in kind.specs],
        },
        lambda data, reader: GraphLoop(
            reader.function(data["test"]),
            reader.function(data["body"]),
            [reader.spec(s) for s in data["specs"]],
        ),
    ),
)
register_codec(
    Backward,
    Codec[Backward, BackwardData](
        "backward",
        lambda kind, writer: {
            "forward": kind.forward.name,
            "wanted": kind.wanted,
            "variables": [writer.variable(v) for v in kind.of_variables],
        },
        _backward,
    ),
)


def _write_queue(kind: QueueKind, writer: Writer) -> QueueData:
    queue = kind.queue
    if MAKERS.get(kind.type) is None:
        raise NotSerialisableError("what it does with a queue is known to this process only")
    return {
        "type": kind.type,
        "options": writer.value(kind.options),
        "name": queue.name,
        "shared": queue.shared,
        "container": queue.container,
        "capacity": queue.capacity,
        "dtypes": [str(dtype) for dtype in queue.dtypes],
        "shapes": None if queue.shapes is None else writer.value([*queue.shapes]),
        "more": {
            "least": queue.least,
            "shuffled": queue.shuffled,
            "seed": queue.seed,
            "ranked": queue.ranked,
            "padded": queue.padded,
        },
    }


def _shape(value: object) -> Sequence[int | None] | None:
    """Return a shape that was read, None if it is not known."""
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise GraphTextError(f"a shape {value!r}, expected sizes")
    return value


def _queue(data: QueueData, reader: NodeReader) -> Kind:
    if data["type"] not in MAKERS:
        raise GraphTextError(f"there is no operation of type {data['type']!r}")
    dtypes = [TEXT if name == TEXT.name else row(name) for name in data["dtypes"]]
    listed = reader.value(data["shapes"])
    shapes = [_shape(each) for each in listed] if isinstance(listed, list) else None
    queue = QueueSpec(data["name"], data["capacity"], dtypes, shapes, shared=data["shared"],
                      container=data.get("container", ""), **data["more"])  # fmt: skip
    queue = reader.queues.setdefault(queue.name, queue)
    return MAKERS[data["type"]](queue, **reader.options(data["options"]))


register_codec(QueueKind, Codec("queue", _write_queue, _queue))


def _write_accumulator(kind: AccumulatorKind, writer: Writer) -> AccumulatorData:
    spec = kind.queue
    return {
        "type": kind.type,
        "shape": None if spec.shape is None else writer.value([*spec.shape]),
        "name": spec.name,
        "dtype": str(spec.dtype),
        "shared": spec.shared,
        "container": spec.container,
        "way": spec.way,
    }


def _accumulator(data: AccumulatorData, reader: NodeReader) -> Kind:
    shape = _shape(reader.value(data["shape"]))
    spec = AccumulatorSpec(data["name"], row(data["dtype"]), shape, data["shared"], data["way"],
                           data.get("container", ""))  # fmt: skip
    if data["type"] not in USES:
        raise GraphTextError(f"there is no operation of type {data['type']!r}")
    return AccumulatorKind(data["type"], reader.accumulators.setdefault(spec.name, spec))


register_codec(AccumulatorKind, Codec("accumulator", _write_accumulator, _accumulator))


def graph_data(graph: Graph) -> tuple[GraphData, list[str]]:
    """Return a graph as plain data, and which nodes have no form in it."""
    writer = Writer()
    return writer.graph(graph), writer.refused


def graph_text(graph: Graph) -> str:
    """Return a graph as text, or raise `NotSerialisableError` that names the nodes."""
    data, refused = graph_data(graph)
    return text_of(data, refused)


def text_of(data: Mapping[str, object], refused: list[str]) -> str:
    """Return plain data as text."""
    if refused:
        raise NotSerialisableError("; ".join(refused))
    return json.dumps(data, indent=1, sort_keys=True)


def data_of(text: str | bytes) -> GraphData:
    """Return the plain data of a text."""
    try:
        found: GraphData = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraphTextError(f"the text is not that of a graph: {error}") from None
    check_version(found)
    return found


def fresh_variable(prefix: str) -> Callable[[str, VariableData], VariableState]:
    """Return what makes the variables of a text anew, under a prefix."""

    def bind(name: str, entry: VariableData) -> VariableState:
        reader = NodeReader(empty_data(), bind)
        return VariableState(
            prefix + entry["name"], reader.spec(entry["spec"]), container=entry["container"]
        )

    return bind


def read_graph(text: str | bytes, graph: Graph) -> dict[str, Operation]:
    """Add the graph of a text to another one; return the operations by name."""
    data = data_of(text)
    return NodeReader(data, fresh_variable("")).add(graph, data["nodes"])

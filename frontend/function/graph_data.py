"""Graphs as text and back: nodes with what they take, the functions they call, the variables.

The text is JSON, the same for the same graph: sizes that are not known are numbered as they
come. A file of it is data: kinds are found by name in tables (`CODECS`, `RULES`, the operations
of the IR), and what only Python can do is refused by the name of the node.
"""

from __future__ import annotations

import base64
import re
from collections import namedtuple
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import (
    Any,
    ClassVar,
    Generic,
    NotRequired,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    final,
)

import numpy as np

from ...errors import GraphError
from ...ir.types.attributes import Symbol
from ...ir.types.dims import Dim, DimExpr, parse, substitute, symbol, symbols
from ...ir.types.dtypes import DTYPES, DType
from ...ir.types.tensor import Array, TensorSpec
from ..dims.unknown import unknown_dim
from ..graph.accumulator_ops import AccumulatorSpec
from ..graph.frame import Stateful
from ..graph.func_graph import FuncGraph
from ..graph.graph import Graph, GraphTensor, Kind, Operation
from ..graph.kinds import Composite
from ..graph.queue_ops import QueueSpec
from ..graph.variables import Handle, VariableState
from ..values import dtypes
from ..values.texts import TEXT

VERSION = 1


class NotSerialisableError(GraphError, ValueError):
    """A graph holds what has no form outside of this process: a Python function, for one."""

    code = "GV2331"


class GraphTextError(GraphError, ValueError):
    """A text is not that of a graph, or does not fit what it is to be used for."""

    code = "GV2332"


Plain: TypeAlias = (
    "bool | int | float | str | Sequence[Plain] | Mapping[str, Plain] | ArrayData | None"
)
"""What JSON holds."""
SizesData: TypeAlias = list[int | str]
"""Sizes: numbers, and expressions of numbered symbols."""
SpecData: TypeAlias = list[str | SizesData | None]
"""The name of an element type, and the sizes, None if the rank is not known."""


class KindData(TypedDict):
    """What an operation does: the name of its codec, beside the fields that the codec writes."""

    codec: str


class RefusedData(KindData):
    """What an operation is that has no form, and why it has none."""

    type: str
    why: str


class NodeData(TypedDict):
    """An operation: what it takes (`name:0`, `^name` to wait for), does and gives."""

    name: str
    op: str
    input: list[str]
    device: str
    kind: KindData
    attr: dict[str, Plain]
    specs: list[SpecData]
    forward: NotRequired[str]


class BodyData(TypedDict):
    """The graph of a function, with the names of its arguments and results."""

    label: str
    nodes: list[NodeData]
    inputs: list[str]
    captured: list[str]
    outputs: list[str]
    is_pruned: NotRequired[bool]
    """Whether what has effects runs only where it is asked for, as in branches of sessions."""


class VariableData(TypedDict):
    """A variable, with the name of the operation that gives it its first value."""

    name: str
    spec: SpecData
    container: str
    initial: str | None


class GraphData(TypedDict):
    """A graph, with the functions that it calls and the variables that it uses by their names."""

    version: int
    nodes: list[NodeData]
    functions: dict[str, BodyData]
    variables: dict[str, VariableData]
    resources: NotRequired[dict[str, Plain]]
    """The kinds and the forms of what steps of the host have together, by their names."""


def empty_data() -> GraphData:
    """Return the data of a graph without operations."""
    return {"version": VERSION, "nodes": [], "functions": {}, "variables": {}}


@final
class NumbersData(TypedDict):
    """An array of numbers: the bytes of its elements, row by row, in base 64."""

    dtype: str
    shape: list[int]
    data: str


@final
class TextsData(TypedDict):
    """An array of text: each element in base 64."""

    shape: list[int]
    texts: list[str]


ArrayData: TypeAlias = NumbersData | TextsData
K = TypeVar("K", bound=Kind)
D = TypeVar("D", bound=Mapping[str, object])


@dataclass(frozen=True)
class Codec(Generic[K, D]):
    """How operations of a kind are written and read."""

    name: str
    write: Callable[[K, Writer], D]
    read: Callable[[D, NodeReader], Kind]


CODECS: dict[type[Kind], Codec[Any, Any]] = {}
BY_NAME: dict[str, Codec[Any, Any]] = {}


def register_codec(kind: type[K], codec: Codec[K, D]) -> None:
    """Let operations of a kind be written and read."""
    CODECS[kind] = BY_NAME[codec.name] = codec


SINGLE: dict[str, Kind] = {}
"""Kinds of which there is one, by the name in the text."""
PLAIN: list[type[Kind]] = []
"""Kinds whose instances are all the same."""


class CompositeForm(Protocol):
    """What a value is like that is made of several tensors: made anew of its form."""

    def form(self) -> Hashable:
        """Return the arguments that it is made of."""


class WrittenForm(Protocol):
    """The same, of a kind that is written by another name."""

    def written_form(self) -> tuple[str, Hashable]:
        """Return the name, and the arguments that it is made of."""


COMPOSITES: dict[str, type[CompositeForm]] = {}
"""The classes of these by their names, which register themselves."""


WRITTEN: list[type[WrittenForm]] = []
"""The classes of these that are written by another name."""


class Resource:
    """What steps of the host have together and change, such as a table; equal to itself alone."""

    kind: ClassVar[str]
    """The name in `RESOURCES` of what makes another one of its form."""

    def form(self) -> Mapping[str, object]:
        """Return what makes one that is as this one is now."""
        raise NotImplementedError


RESOURCES: dict[str, Callable[..., Resource]] = {}
"""What makes resources of their forms, by their kinds."""


class Writer:
    """Turns a graph, and what it calls and uses, into plain data.

    With `copies` what steps have together is written as it is now; else it is refused, for those
    who read the graph would change another one.
    """

    def __init__(self, *, copies: bool = False) -> None:
        self.copies = copies
        self.named: dict[Resource, str] = {}
        self.resources: dict[str, Plain] = {}
        """The kinds and the forms of what steps have together, by name, each written once."""
        self.functions: dict[FuncGraph, str] = {}
        self.bodies: dict[str, BodyData] = {}
        self.variables: dict[VariableState, str] = {}
        self.sizes: dict[str, str] = {}
        self.refused: list[str] = []
        """What cannot be written, node by node."""

    def graph(self, graph: Graph) -> GraphData:
        """Return a graph and all it needs."""
        nodes = [self.node(op) for op in graph.operations]
        return {
            "version": VERSION,
            "nodes": nodes,
            "functions": self.bodies,
            "variables": {n: self.state(v) for v, n in self.variables.items()},
        }

    def state(self, state: VariableState) -> VariableData:
        """Return what is known of a variable."""
        return {
            "name": state.name,
            "spec": self.spec(state.spec),
            "container": state.container,
            "initial": None if state.initial is None else state.initial.name,
        }

    def function(self, graph: FuncGraph) -> str:
        """Return the name of a function's graph, which is written once."""
        if graph not in self.functions:
            self.functions[graph] = name = f"f{len(self.functions)}"
            body: BodyData = {
                "label": graph.name,
                "nodes": [],
                "inputs": [x.op.name for x in graph.inputs],
                "captured": [x.op.name for _, x in graph.captured.values()],
                "outputs": [x.name for x in graph.outputs],
            }
            if not graph.runs_effects:
                body["is_pruned"] = True
            self.bodies[name] = body
            body["nodes"] += map(self.node, graph.operations)
        return self.functions[graph]

    def node(self, op: Operation) -> NodeData:
        """Return one operation."""
        skipped = ("known", "forward", "draws")  # (the last is of this process)
        taken = [*(x.name for x in op.inputs), *(f"^{c.name}" for c in op.control_inputs)]
        try:
            kind = self.kind(op.kind)
            attributes = {k: self.value(v) for k, v in op.attributes.items() if k not in skipped}
        except NotSerialisableError as error:
            self.refused.append(f"{op.name} ({op.type}): {error.args[0]}")
            kind = RefusedData(codec="refused", type=op.type, why=error.args[0])
            attributes = {}
        made: NodeData = {
            "name": op.name,
            "op": op.type,
            "input": taken,
            "device": op.device,
            "kind": kind,
            "attr": attributes,
            "specs": [self.spec(x.spec) for x in op.outputs],
        }
        forward = op.attributes.get("forward")
        if forward is not None:
            made["forward"] = forward.name
        return made

    def kind(self, kind: Kind) -> KindData:
        """Return what an operation does."""
        for name, each in SINGLE.items():
            if kind is each or (type(kind) is type(each) and type(kind) in PLAIN):
                return {"codec": name}
        codec = CODECS.get(type(kind))
        if codec is None:
            raise NotSerialisableError("what it does is known to this process only")
        return {"codec": codec.name, **codec.write(kind, self)}

    def spec(self, spec: TensorSpec) -> SpecData:
        """Return type and shape."""
        dims = None if spec.shape is None else [self.dim(d) for d in spec.shape]
        return [str(spec.dtype), dims]

    def dim(self, dim: Dim) -> int | str:
        """Return a size: a number, or an expression of numbered symbols."""
        if isinstance(dim, int):
            return dim
        for name in sorted(symbols(dim)):
            self.sizes.setdefault(name, f"s{len(self.sizes)}")
        return str(substitute(dim, {n: symbol(self.sizes[n]) for n in symbols(dim)}))

    def value(self, value: object) -> Plain:
        """Return an attribute."""
        if value is None or (
            isinstance(value, bool | int | float | str) and type(value) is not Symbol
        ):
            return value
        if isinstance(value, np.generic):
            return self.value(value.item())
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            named = [type(value).__name__, [*value._fields], [self.value(x) for x in value]]
            return {"named tuple": named}
        for kinds, name, write in self.forms():
            if isinstance(value, kinds):
                return {name: write(value)}
        raise NotSerialisableError(f"it holds a {type(value).__name__}")

    def forms(self) -> list[tuple[type | tuple[type, ...], str, Callable[[Any], Plain]]]:
        """Return by type the name of the form, and what writes it."""
        return [
            (Symbol, "symbol", str),
            (bytes, "bytes", lambda x: base64.b64encode(x).decode()),
            (tuple, "tuple", lambda x: [self.value(v) for v in x]),
            (list, "list", lambda x: [self.value(v) for v in x]),
            (dict, "dict", lambda x: [[self.value(k), self.value(v)] for k, v in x.items()]),
            (np.ndarray, "array", array_data),
            (DType, "dtype", str),
            (dtypes.DataType, "type", lambda x: x.name),
            (slice, "slice", lambda x: [self.value(v) for v in (x.start, x.stop, x.step)]),
            (type(Ellipsis), "ellipsis", lambda x: True),
            (re.Pattern, "pattern", lambda x: [self.value(x.pattern), x.flags]),
            (TensorSpec, "spec", self.spec),
            (DimExpr, "dim", self.dim),
            (Handle, "variable", lambda x: self.variable(x())),
            (Resource, "resource", self.resource),
            (tuple(COMPOSITES.values()), "composite", self.composite),
            (tuple(WRITTEN), "composite", lambda x: [*map(self.value, x.written_form())]),
        ]

    def composite(self, value: CompositeForm) -> Plain:
        """Return what a value of several tensors is like."""
        return [type(value).__name__, self.value(value.form())]

    def resource(self, value: Resource) -> Plain:
        """Return the name of what steps have together."""
        if not self.copies:
            raise NotSerialisableError(f"it holds a {type(value).__name__}")
        if value not in self.named:
            self.named[value] = name = f"r{len(self.named)}"
            self.resources[name] = [value.kind, self.value(dict(value.form()))]
        return self.named[value]

    def variable(self, state: Stateful) -> str:
        """Return the name of a variable in the text."""
        if not isinstance(state, VariableState):
            raise NotSerialisableError(f"it holds the state of {state.name}")
        return self.variables.setdefault(state, f"v{len(self.variables)}")


def array_data(array: Array) -> ArrayData:
    """Return the elements of an array as text."""
    if array.dtype.kind == "O":
        strange = next((x for x in array.ravel().tolist() if not isinstance(x, bytes)), b"")
        if strange:
            raise NotSerialisableError(f"it holds a {type(strange).__name__} as an element")
        texts = [base64.b64encode(x).decode() for x in array.ravel().tolist()]
        return {"shape": list(array.shape), "texts": texts}
    data = base64.b64encode(np.asarray(array, order="C").tobytes()).decode()
    return {"dtype": dtypes.as_dtype(array.dtype).name, "shape": list(array.shape), "data": data}


def array_from(data: ArrayData) -> Array:
    """Return the array of a text."""
    if "texts" in data:
        made: Array = np.empty(len(data["texts"]), object)
        made[:] = [base64.b64decode(x) for x in data["texts"]]
        return made.reshape(data["shape"])
    raw = base64.b64decode(data["data"])
    kind = dtypes.as_dtype(data["dtype"]).numpy
    return np.frombuffer(raw, kind).reshape(data["shape"]).copy()


def check_version(data: object) -> None:
    """Raise `GraphTextError` for what is not the data of a graph as it is written here."""
    if not isinstance(data, dict) or data.get("version") != VERSION or "nodes" not in data:
        raise GraphTextError(f"this is no graph of version {VERSION}")


class NodeReader:
    """Adds nodes to a graph."""

    def __init__(self, data: GraphData, bind: Callable[[str, VariableData], VariableState]) -> None:
        check_version(data)
        self.data, self.bind = data, bind
        self.classes: tuple[type[FuncGraph], type[GraphTensor]] = FuncGraph, GraphTensor
        """What graphs of functions are made of."""
        self.functions: dict[str, FuncGraph] = {}
        self.variables: dict[str, VariableState] = {}
        self.sizes: dict[str, Dim] = {}
        self.queues: dict[str, QueueSpec] = {}
        self.accumulators: dict[str, AccumulatorSpec] = {}
        self.resources: dict[str, Resource] = {}
        """By name: what several nodes use."""
        self.specs: list[TensorSpec] = []
        """What the node that is being read gives."""
        self.ops: dict[str, Operation] = {}
        """The operations of the graph that is being read, by their name in the text."""

    def add(
        self,
        graph: Graph,
        nodes: Sequence[NodeData],
        given: Mapping[str, GraphTensor] | None = None,
    ) -> dict[str, Operation]:
        """Add nodes; `given` stands in for tensors of the text. Return operations by name."""
        before, self.ops = self.ops, {}
        given = given or {}
        later: list[tuple[Operation, int, str]] = []
        for node in nodes:
            inputs, waits = self.inputs(node, given)
            self.specs = [self.spec(s) for s in node["specs"]]
            kind = self.kind(node["kind"], node)
            attributes = {k: self.value(v, graph) for k, v in node["attr"].items()}
            if "forward" in node:
                attributes["forward"] = self.ops[node["forward"]]
            specs = [self.spec(s) for s in node["specs"]]
            if isinstance(kind, Composite):
                attributes["known"] = {
                    i: x.op.attributes["value"]
                    for i, x in enumerate(inputs)
                    if x.op.type == "Const"
                }
            op = graph.add(kind, inputs, attributes, specs=specs, name=node["name"])
            op.control_inputs = [self.ops[n[1:]] for n in node["input"] if n[0] == "^"]
            op.device = node["device"] or op.device
            self.ops[node["name"]] = op
            later += [(op, index, name) for index, name in waits]
        for op, index, name in later:
            op.update_input(index, self.tensor(name))
        made, self.ops = self.ops, before
        for state, entry in self.bound():
            initial = made.get(entry["initial"] or "")
            if initial is not None:
                state.initial = initial
        return made

    def inputs(
        self, node: NodeData, given: Mapping[str, GraphTensor]
    ) -> tuple[list[GraphTensor], list[tuple[int, str]]]:
        """Return the inputs of a node, and which are still to be made: a loop's way back.

        Another input of the node stands for those until then.
        """
        taken = [n for n in node["input"] if n[0] != "^"]
        made = {i for i, n in enumerate(taken) if n in given or n.rpartition(":")[0] in self.ops}
        waits: list[tuple[int, str]] = []
        if made and node["kind"]["codec"] == "merge":
            waits = [(i, n) for i, n in enumerate(taken) if i not in made]
        stand_in = taken[min(made, default=0)] if waits else ""
        names = [stand_in if (i, n) in waits else n for i, n in enumerate(taken)]
        return [given[n] if n in given else self.tensor(n) for n in names], waits

    def bound(self) -> list[tuple[VariableState, VariableData]]:
        """Return the variables that were met, with what the text says of them."""
        return [(state, self.data["variables"][n]) for n, state in self.variables.items()]

    def tensor(self, name: str) -> GraphTensor:
        """Return a tensor by its name in the text."""
        stem, _, port = name.rpartition(":")
        op = self.ops.get(stem)
        if op is None or int(port) >= len(op.outputs):
            raise GraphTextError(f"node {name!r} is used before it is made")
        return op.outputs[int(port)]

    def kind(self, data: KindData, node: NodeData) -> Kind:
        """Return what an operation does."""
        name = data["codec"]
        if name in SINGLE:
            return SINGLE[name]
        if name not in BY_NAME:
            raise GraphTextError(f"node {node['name']!r} of kind {node['op']!r} cannot be read")
        return BY_NAME[name].read(data, self)

    def function(self, name: str) -> FuncGraph:
        """Return a function's graph, which is made once."""
        if name not in self.functions:
            body = self.data["functions"][name]
            graph_class, tensor_class = self.classes
            graph = graph_class(body["label"], None, tensor_class)
            graph.runs_effects = not body.get("is_pruned")
            self.functions[name] = graph
            ops = self.add(graph, body["nodes"])
            graph.inputs = [ops[n].outputs[0] for n in body["inputs"]]
            for n in body["captured"]:
                slot = ops[n].outputs[0]
                graph.captured[id(slot)] = (slot, slot)
            outer, self.ops = self.ops, ops
            graph.outputs = [self.tensor(n) for n in body["outputs"]]
            self.ops = outer
            graph.is_finished = True
        return self.functions[name]

    def spec(self, data: SpecData) -> TensorSpec:
        """Return type and shape."""
        name, dims = data
        if not isinstance(name, str) or isinstance(dims, str):
            raise GraphTextError(f"a type {name!r} of shape {dims!r}")
        dtype = TEXT if name == TEXT.name else row(name)
        return TensorSpec(dtype, None if dims is None else tuple(map(self.dim, dims)))

    def dim(self, data: int | str) -> Dim:
        """Return a size; symbols are new ones for each text that is read."""
        if isinstance(data, int):
            return data
        made = parse(data)
        if isinstance(made, int):
            return made
        names = symbols(made)
        return substitute(made, {n: self.sizes.setdefault(n, unknown_dim()) for n in names})

    def value(self, data: Plain, graph: Graph | None = None) -> object:
        """Return an attribute."""
        if not isinstance(data, dict):
            return data
        [(form, inside)] = data.items()
        if form == "variable" and isinstance(inside, str):
            return Handle(self.variable(inside), weak=isinstance(graph, FuncGraph))
        if form not in READERS:
            raise GraphTextError(f"an attribute of form {form!r}")
        return READERS[form](self, inside)

    def options(self, data: Plain) -> dict[str, object]:
        """Return options by name."""
        made = self.value(data)
        if not isinstance(made, dict):
            raise GraphTextError(f"options {made!r}, expected a dictionary")
        return made

    def resource(self, name: str) -> Resource:
        """Return what steps have together, the same each time."""
        if name not in self.resources:
            match self.data.get("resources", {}).get(name):
                case [str(kind), form] if kind in RESOURCES:
                    self.resources[name] = RESOURCES[kind](**self.options(form))
                case found:
                    raise GraphTextError(f"a resource {name!r} is {found!r}")
        return self.resources[name]

    def variable(self, name: str) -> VariableState:
        """Return a variable, the same one each time."""
        if name not in self.variables:
            self.variables[name] = self.bind(name, self.data["variables"][name])
        return self.variables[name]


def composite_of(name: object, form: object) -> object:
    """Return what a value of several tensors is like."""
    made: Callable[..., object] | None = COMPOSITES.get(str(name))
    if made is None or not isinstance(form, tuple):
        raise GraphTextError(f"a composite {name!r} of {form!r}")
    try:
        return made(*form)
    except (TypeError, ValueError) as error:
        raise GraphTextError(f"a {name} of {form!r}: {error}") from None


@cache
def fields_of(name: str, fields: tuple[str, ...]) -> Callable[..., object]:
    """Return the class of tuples with named fields, the same one each time."""
    return namedtuple(name, fields)


def pattern_of(text: object, flags: int) -> re.Pattern[str] | re.Pattern[bytes]:
    """Return the pattern of a text."""
    if isinstance(text, bytes):
        return re.compile(text, flags)
    if isinstance(text, str):
        return re.compile(text, flags)
    raise GraphTextError(f"a pattern {text!r}")


READERS: dict[str, Callable[[NodeReader, Any], object]] = {
    "symbol": lambda r, x: Symbol(x),
    "bytes": lambda r, x: base64.b64decode(x),
    "tuple": lambda r, x: tuple(map(r.value, x)),
    "list": lambda r, x: list(map(r.value, x)),
    "named tuple": lambda r, x: fields_of(x[0], tuple(x[1]))(*map(r.value, x[2])),
    "dict": lambda r, x: {r.value(k): r.value(v) for k, v in x},
    "array": lambda r, x: array_from(x),
    "dtype": lambda r, x: row(x),
    "type": lambda r, x: dtypes.as_dtype(x),
    "slice": lambda r, x: slice(*map(r.value, x)),
    "ellipsis": lambda r, x: Ellipsis,
    "pattern": lambda r, x: pattern_of(r.value(x[0]), x[1]),
    "composite": lambda r, x: composite_of(x[0], r.value(x[1])),
    "resource": NodeReader.resource,
    "spec": NodeReader.spec,
    "dim": NodeReader.dim,
}


def row(name: str) -> DType:
    """Return the element type of a name."""
    found = TEXT if name == str(TEXT) else DTYPES.get(name)
    if found is None:
        raise GraphTextError(f"element type {name!r}")
    return found

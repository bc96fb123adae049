"""Modules as files: their variables, the traces of their functions, and their structure.

A folder holds `graph.json` (graphs as text, objects by attribute) and the values that it names,
`values-*.safetensors`. Both are of one time: a new pair counts from when `graph.json` is replaced.
What is loaded runs without the program that made it; Python functions have no form in it.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn, NotRequired, TypeAlias, TypedDict

import numpy as np

from ....errors import GravureError, ParseError
from ....ir.types.tensor import Array
from ....runtime.files import replacing
from ...eager.tensor import Tensor
from ...files.beside import map_beside
from ...files.weights import digest_of_weights, read_safetensors, write_safetensors
from ...function.arguments import Bound, spec_for
from ...function.function import Function
from ...function.graph_data import (
    BodyData,
    GraphTextError,
    NodeData,
    NodeReader,
    NotSerialisableError,
    Plain,
    SpecData,
    VariableData,
    Writer,
)
from ...function.traces import ACTIVE, ConcreteFunction
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor
from ...graph.variables import VariableState
from ...values import nest
from ...values.context import STATE
from ..core.bridge import SymbolicTfTensor, TfTensor, wrap
from ..core.creators import VariableAggregation, VariableSynchronization
from ..core.specs import TensorSpec
from ..graph.state import TRAINABLE, TfFuncGraph, Variable
from ..variables.assets import Asset, Assets, place_marked, place_of
from .checkpoint_state import GRAPH, LoadOptions, SaveOptions, is_module_folder
from .checkpoints import value_of
from .modules import Loaded, LoadedCallable, Module, Restored, SavedSignature

VALUES = "values-{}.safetensors"
DEFAULT_SIGNATURE = "serving_default"
LOG = logging.getLogger("absl")
"""Where TensorFlow writes what it says of saved modules."""
SHOWN = 5
"""How many functions are named that have no traces."""


class LeafData(TypedDict):
    """An argument of a trace: the type and name of a tensor, or a value of Python's."""

    spec: NotRequired[SpecData]
    name: NotRequired[str | None]
    value: NotRequired[Plain]


class TraceData(TypedDict):
    """A trace: its graph, its arguments and the structure of its results."""

    function: str
    label: str
    arguments: Plain
    leaves: list[LeafData]
    results: Plain


class SignatureData(TypedDict):
    """The declared arguments of a function: their structure, and the types of the tensors."""

    tree: Plain
    specs: list[SpecData]


class SavedVariable(TypedDict):
    """An object that is a variable."""

    kind: Literal["variable"]
    name: str


class SavedFunction(TypedDict):
    """An object that is a function: name, kind and default of its parameters, and its traces."""

    kind: Literal["function"]
    parameters: list[tuple[str, int, bool, Plain]]
    traces: list[TraceData]
    signature: SignatureData | None


class SavedTrace(TypedDict):
    """An object that is one trace."""

    kind: Literal["trace"]
    trace: TraceData
    parameters: NotRequired[list[tuple[str, int, bool, Plain]]]
    """Those of its function; older files have none."""


class SavedParts(TypedDict):
    """An object, or a dictionary, with the numbers of its parts by their names."""

    kind: Literal["dict", "object"]
    children: dict[str, int]


class SavedList(TypedDict):
    """A list with the numbers of its parts."""

    kind: Literal["list"]
    children: list[int]


class SavedAsset(TypedDict):
    """An object that is a file, by its name in the folder of them."""

    kind: Literal["asset"]
    file: str


ObjectData: TypeAlias = (
    SavedVariable | SavedFunction | SavedTrace | SavedParts | SavedList | SavedAsset
)


class StateData(VariableData):
    """A variable, whether it is among what optimisers change, and how replicas share it."""

    trainable: bool
    shared: dict[str, int]
    """Nothing in older files."""


class SavedData(TypedDict):
    """A module: the graphs of its functions, its variables, and all objects by their numbers."""

    version: int
    nodes: list[NodeData]
    functions: dict[str, BodyData]
    variables: dict[str, StateData]
    objects: list[ObjectData]
    signatures: dict[str, TraceData]
    resources: NotRequired[dict[str, Plain]]
    aliases: NotRequired[dict[str, int]]
    """Other names of functions, by their numbers."""
    order: NotRequired[list[str]]
    """The names of the signatures as they were given; those of older files are in theirs."""
    values: NotRequired[str]


def save(
    obj: object, export_dir: str, signatures: object = None, options: SaveOptions | None = None
) -> None:
    """Write a module: its variables, its functions as traced so far, and signatures."""
    if not isinstance(options, SaveOptions | None):
        raise TypeError(f"options is {options!r}, expected a tf.saved_model.SaveOptions")
    if not hasattr(obj, "__dict__"):
        raise ValueError(
            f"Expected an object of type `Trackable`, such as `tf.Module`, for export. Got {obj!r}"
        )
    if isinstance(STATE.context, FuncGraph):
        raise AssertionError("tf.saved_model.save is not supported inside of a tf.function")
    held = vars(obj).get("signatures")
    if held is not None and not (isinstance(obj, Loaded) and obj.has_own_signatures()):
        raise ValueError(
            f"the attribute 'signatures' of what is saved is {held!r}, but it is that of what is "
            "loaded, expected none: del obj.signatures"
        )
    saver = _Saver()
    named = _named(obj, signatures)
    aliases = {} if options is None else options.function_aliases or {}
    data, values = saver.module(obj, named, aliases)
    saver.tell(named)
    folder = Path(export_dir)
    folder.mkdir(parents=True, exist_ok=True)
    saver.assets.copy(folder)
    data["values"] = VALUES.format(digest_of_weights(values)[:16])
    write_safetensors(folder / data["values"], values)
    with replacing(str(folder / GRAPH)) as file:
        file.write(json.dumps(data, indent=1, sort_keys=True).encode())
    for path in folder.glob(VALUES.format("*")):
        if path.name != data["values"]:
            path.unlink(missing_ok=True)


def _named(obj: object, signatures: object) -> dict[str, ConcreteFunction]:
    """Return the signatures by name; a function by itself is the default one."""
    if signatures is None:
        found = [f for _, f in children(obj) if isinstance(f, Function)]
        fixed = [f for f in found if f.input_signature is not None]
        return {DEFAULT_SIGNATURE: fixed[0].get_concrete_function()} if len(fixed) == 1 else {}
    listed = signatures if isinstance(signatures, Mapping) else {DEFAULT_SIGNATURE: signatures}
    made = {}
    for name, each in listed.items():
        if isinstance(each, Function) and each.input_signature is None and len(each.cache) != 1:
            raise ValueError(
                f"the signature {name!r} is a function with {len(each.cache)} traces, expected "
                "an input_signature, or one trace"
            )
        if isinstance(each, Function):
            known = list(each.cache.values())
            made[name] = known[0] if len(known) == 1 else each.get_concrete_function()
        elif isinstance(each, ConcreteFunction):
            made[name] = each
        elif isinstance(each, SavedSignature):
            made[name] = each.function
        else:
            raise ValueError(
                "Expected a TensorFlow function for which to generate a signature, but got "
                f"{each!r}. Only `tf.functions` with an input signature or concrete functions "
                "can be used as a signature."
            )
        _refuse_nested(made[name].structured_outputs)
    return made


def _refuse_nested(results: object) -> None:
    """Raise `ValueError` if the results of a signature are not tensors by name, or in a row."""
    parts = results.items() if isinstance(results, dict) else enumerate(
        results if isinstance(results, list | tuple) else [results]
    )  # fmt: skip
    for key, each in parts:
        if isinstance(each, dict | list | tuple):
            label = key if isinstance(key, str) else f"output_{key}"
            raise ValueError(
                f"Got a non-Tensor value {each!r} for key {label!r} in the output of a function "
                "that is used to generate a SavedModel signature"
            )


class _Saver:
    """Turns objects into plain data, each once."""

    def __init__(self) -> None:
        self.writer = Writer(copies=True)
        self.values: dict[str, Array] = {}
        self.numbers: dict[int, int] = {}
        self.nodes: dict[int, ObjectData] = {}
        self.kept: list[object] = []
        self.untraced: list[str] = []
        """The names of functions of which there is nothing to save."""
        self.assets = Assets()

    def module(
        self,
        obj: object,
        signatures: Mapping[str, ConcreteFunction],
        aliases: Mapping[str, object],
    ) -> tuple[SavedData, dict[str, Array]]:
        """Return the data of a module and all it leads to, and the values."""
        self.node(obj)
        others = {name: self.node(self.aliased(name, each)) for name, each in aliases.items()}
        named = {name: self.concrete(each) for name, each in signatures.items()}
        if self.writer.refused:
            raise NotSerialisableError("; ".join(self.writer.refused))
        for state, name in self.writer.variables.items():
            owner = state.owner()
            value = state.value_in(ACTIVE[-1]) if owner is None else value_of(owner)
            self.values[name] = np.array(value, order="C")
        self.assets.mark(self.writer.bodies)
        data: SavedData = {
            "version": 1,
            "nodes": [],
            "functions": self.writer.bodies,
            "variables": {n: self.variable(v) for v, n in self.writer.variables.items()},
            "objects": [self.nodes[number] for number in range(len(self.nodes))],
            "signatures": named,
            "order": list(named),
            "aliases": others,
        }
        if self.writer.resources:
            data["resources"] = self.writer.resources
        return data, self.values

    def aliased(self, name: str, value: object) -> object:
        """Return what has another name: a function of the module, or traces."""
        if isinstance(value, Function):
            return value if id(value) in self.numbers else list(value.cache.values())
        if isinstance(value, ConcreteFunction):
            return [value]
        if isinstance(value, list) and all(isinstance(x, ConcreteFunction) for x in value):
            return value
        raise TypeError(
            f"Unsupported type {type(value).__name__} of function_aliases[{name!r}], expected a "
            "tf.function, or traces of one"
        )

    def tell(self, signatures: Mapping[str, ConcreteFunction]) -> None:
        """Log what will be otherwise in what is loaded, in TensorFlow's words."""
        for each in signatures.values():
            names = [x.op.name for x in each.graph.inputs]
            changed = [name for name in names if _plain_name(name) != name]
            if changed:
                LOG.info(
                    "Function `%s` contains input name(s) %s with unsupported characters which "
                    "will be renamed to %s in the SavedModel.",
                    each.function.label, ", ".join(changed), ", ".join(map(_plain_name, changed)),
                )  # fmt: skip
        count, shown = len(self.untraced), self.untraced[:SHOWN]
        if count:
            LOG.info(
                "Found untraced functions such as %s while saving (showing %d of %d). These "
                "functions will not be directly callable after loading.",
                ", ".join(shown), len(shown), count,
            )  # fmt: skip

    def variable(self, state: VariableState) -> StateData:
        """Return what is known of a variable."""
        owner = state.owner()
        made = self.writer.state(state)
        if not isinstance(owner, Variable):
            return {**made, "trainable": True, "shared": {}}
        shared = {k: getattr(owner, k) for k in ("synchronization", "aggregation")}
        numbers = {k: x.value for k, x in shared.items() if isinstance(x, Enum)}
        return {**made, "trainable": owner.trainable, "shared": numbers}

    def node(self, value: object) -> int:
        """Return the number of an object, which is written once."""
        if id(value) in self.numbers:
            return self.numbers[id(value)]
        self.kept.append(value)
        number = self.numbers[id(value)] = len(self.numbers)
        self.nodes[number] = self.data(value)
        return number

    def data(self, value: object) -> ObjectData:
        """Return an object as plain data."""
        if hasattr(value, "state") and hasattr(value, "assign"):
            return {"kind": "variable", "name": self.writer.variable(value.state)}
        if isinstance(value, Function):
            traces = value.traces if isinstance(value, Restored) else list(value.cache.values())
            if not traces and value.input_signature is not None:
                traces = [value.get_concrete_function()]
            if not traces:
                self.untraced.append(value.label)
            return {
                "kind": "function",
                "parameters": self.parameters(value.signature),
                "traces": [self.concrete(c) for c in traces if not c.bound.variables],
                "signature": self.signature(value),
            }
        if isinstance(value, ConcreteFunction):
            parameters = self.parameters(value.function.signature)
            return {"kind": "trace", "trace": self.concrete(value), "parameters": parameters}
        if isinstance(value, Asset):
            return {"kind": "asset", "file": self.assets.name(value)}
        if isinstance(value, dict):
            pairs = {str(k): self.node(v) for k, v in value.items() if _is_tracked(v)}
            return {"kind": "dict", "children": pairs}
        if isinstance(value, list | tuple):
            return {"kind": "list", "children": [self.node(v) for v in value if _is_tracked(v)]}
        return {"kind": "object", "children": {k: self.node(v) for k, v in children(value)}}

    def signature(self, function: Function) -> SignatureData | None:
        """Return the declared arguments, None if there is no declaration."""
        if function.input_signature is None:
            return None
        specs = [spec_for(s) for s in nest.flatten(list(function.input_signature))]
        numbers = _numbered(list(function.input_signature))
        return {
            "tree": self.writer.value(numbers),
            "specs": [self.writer.spec(s) for s in specs if s is not None],
        }

    def parameters(self, signature: inspect.Signature) -> list[tuple[str, int, bool, Plain]]:
        """Return name, kind and default of each parameter."""
        made = []
        for p in signature.parameters.values():
            given = p.default is not p.empty
            value = nest.map_structure(_without_tensor, p.default)
            plain = self.writer.value(value) if given else None
            made.append((p.name, int(p.kind), given, plain))
        return made

    def concrete(self, function: ConcreteFunction) -> TraceData:
        """Return a trace: its graph, its arguments and the structure of its results."""
        name = self.writer.function(function.graph)
        for i, tensor in enumerate(function.graph.captures):
            if isinstance(tensor, GraphTensor) and tensor.op.type == "Const":
                self.values[f"{name}/{i}"] = np.array(tensor.op.attributes["value"], order="C")
                continue
            if not tensor.eager:
                raise NotSerialisableError(f"{function.function.label}: a tensor of another graph")
            self.values[f"{name}/{i}"] = np.array(tensor.numpy(), order="C")
        bound = function.bound
        leaves: list[LeafData] = [
            {"spec": self.writer.spec(bound.specs[i]), "name": getattr(x, "argument_name", None)}
            if i in bound.specs
            else {"value": self.writer.value(x)}
            for i, x in enumerate(bound.leaves)
        ]
        numbers = iter(range(len(function.slots)))
        slots = [None if s is None else next(numbers) for s in function.slots]
        return {
            "function": name,
            "label": function.function.label,
            "arguments": self.writer.value(_numbered(bound.arguments)),
            "leaves": leaves,
            "results": self.writer.value(nest.pack(_plain(function.structure), slots)),
        }


def _without_tensor(value: object) -> object:
    """Return the elements of a tensor, and other values as they are."""
    return value.numpy() if isinstance(value, TfTensor) else value


def _numbered(tree: object) -> object:
    """Return a structure with the number of each leaf in its place."""
    plain = _plain(tree)
    return nest.pack(plain, list(range(len(nest.flatten(plain)))))


def _plain(tree: object) -> object:
    """Return a structure of plain lists, tuples, of fields by name or not, and dictionaries."""
    if isinstance(tree, dict):
        return {k: _plain(v) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        made = [_plain(v) for v in tree]
        if hasattr(tree, "_fields"):
            return nest.pack_level(tree, made)
        return made if isinstance(tree, list) else tuple(made)
    return tree


def _plain_name(name: str) -> str:
    """Return what an argument is called in what is loaded: small letters and underscores."""
    return re.sub(r"\W", "_", name).lower()


def _is_tracked(value: object) -> bool:
    """Say whether a value is a part of what is saved."""
    if isinstance(value, Function | ConcreteFunction | Module | Variable | Asset):
        return True
    if isinstance(value, dict):
        return any(map(_is_tracked, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_tracked, value))


def children(value: object) -> list[tuple[str, object]]:
    """Return the parts of an object by attribute, decorated methods included."""
    found = {k: v for k, v in vars(value).items() if _is_tracked(v)}
    for kind in type(value).__mro__:
        for name, each in vars(kind).items():
            if isinstance(each, Function) and name not in found:
                found[name] = getattr(value, name)
    return sorted(found.items())


def variables_of(module: Loaded) -> list[Variable]:
    """Return the variables of what was loaded: of a graph, if it was loaded in one."""
    return list(module._held)


def signatures_of(module: Loaded) -> dict[str, SavedSignature]:
    """Return the signatures of what was loaded, by name."""
    return {n: x for n, x in module.signatures.items() if isinstance(x, SavedSignature)}


class _Loader:
    """Makes objects of plain data."""

    def __init__(self, folder: Path) -> None:
        try:
            self.data: SavedData = json.loads((folder / GRAPH).read_text())
        except FileNotFoundError:
            raise OSError(f"SavedModel file does not exist at: {folder}") from None
        except ValueError as error:
            raise GraphTextError(f"{folder / GRAPH}: {error}") from None
        self.values, self.folder = self.read_values(folder), folder
        place_marked(folder, self.data["functions"])
        self.owners: dict[str, Variable] = {}
        self.reader = NodeReader(self.data, self.bind)
        self.reader.classes = TfFuncGraph, SymbolicTfTensor
        self.made: dict[int, object] = {}
        self.aliases: dict[str, object] = {}
        """Functions by their other names."""

    def read_values(self, folder: Path) -> dict[str, Array]:
        """Return the arrays that the folder holds."""
        name = self.data.get("values") if isinstance(self.data, dict) else None
        if not isinstance(name, str):
            raise GraphTextError(f"{folder / GRAPH}: it names no file of values")
        try:
            found = read_safetensors(np.array(map_beside(folder, name)), name)
        except ParseError as error:
            raise GraphTextError(f"{folder / GRAPH}: {error.message}") from error
        if name != VALUES.format(digest_of_weights(found)[:16]):
            raise GraphTextError(f"{folder / name}: the values are not those that were saved")
        return found

    def bind(self, name: str, entry: VariableData) -> VariableState:
        """Return the state of a variable with its saved value."""
        data = self.data["variables"][name]
        shared = data.get("shared", {})
        made = Variable(
            self.values[name],
            name=entry["name"],
            trainable=data["trainable"],
            synchronization=VariableSynchronization(shared.get("synchronization", 0)),
            aggregation=VariableAggregation(shared.get("aggregation", 0)),
        )
        if data["trainable"] and made.graph is not None:  # who loads says what is trained there
            made.graph.collections[TRAINABLE].pop()
        self.owners[name] = made
        return made.state

    def module(self) -> Loaded:
        """Return the first object, with all others behind it."""
        root = self.node(0)
        if not isinstance(root, Loaded):
            raise GraphTextError("the first object is no module")
        saved = self.data["signatures"]
        order = self.data.get("order", saved)
        root.signatures = MappingProxyType({n: self.signature(saved[n]) for n in order})
        root.note_signatures()
        root._held = list(self.owners.values())
        self.aliases = {name: self.node(n) for name, n in self.data.get("aliases", {}).items()}
        del self.reader  # which knows this loader: what is loaded goes with its last user
        return root

    def signature(self, data: TraceData) -> SavedSignature:
        """Return a signature: its arguments are named by letters, digits and underscores."""
        given = self.data["functions"][data["function"]]["inputs"]
        return SavedSignature(
            self.concrete(data, None), [re.sub(r"\W", "_", name) for name in given]
        )

    def node(self, number: int) -> object:
        """Return an object by its number."""
        if number not in self.made:
            self.make(number, self.data["objects"][number])
        return self.made[number]

    def make(self, number: int, data: ObjectData) -> None:
        """Make an object of its data."""
        if data["kind"] == "variable":
            self.variable(number, data)
        elif data["kind"] == "function":
            self.function(number, data)
        elif data["kind"] == "trace":
            self.made[number] = self.trace(data)
        elif data["kind"] == "asset":
            self.made[number] = Asset(place_of(self.folder, data["file"]))
        elif data["kind"] == "list":
            self.listed(number, data)
        elif data["kind"] == "dict":
            self.dictionary(number, data)
        elif data["kind"] == "object":
            self.object(number, data)
        else:
            raise LookupError(f"an object of kind {data['kind']!r}")

    def variable(self, number: int, data: SavedVariable) -> None:
        """Make a variable."""
        self.reader.variable(data["name"])
        self.made[number] = self.owners[data["name"]]

    def parameters(self, data: Sequence[tuple[str, int, bool, Plain]]) -> inspect.Signature:
        """Return the parameters of a function."""
        made = [
            inspect.Parameter(
                n,
                list(inspect._ParameterKind)[kind],
                default=self.reader.value(default) if given else inspect.Parameter.empty,
            )
            for n, kind, given, default in data
        ]
        return inspect.Signature(made)

    def trace(self, data: SavedTrace) -> ConcreteFunction:
        """Return a trace by itself."""
        if "parameters" not in data:
            return self.concrete(data["trace"], None)
        owner = self.restored(self.parameters(data["parameters"]), [data["trace"]])
        return self.concrete(data["trace"], owner)

    def function(self, number: int, data: SavedFunction) -> None:
        """Make a function of its traces."""
        made = self.restored(self.parameters(data["parameters"]), data["traces"])
        made.traces = [self.concrete(t, made) for t in data["traces"]]
        stated = data["signature"]
        if stated is not None:
            specs = [self.leaf({"spec": x, "name": None}) for x in stated["specs"]]
            made.input_signature = nest.pack(self.reader.value(stated["tree"]), specs)
        self.made[number] = made

    def restored(self, signature: inspect.Signature, traces: Sequence[TraceData]) -> Restored:
        """Return a function without its Python."""

        def gone(*_: object, **__: object) -> NoReturn:
            raise ValueError("the Python of a function that was loaded is not there")

        gone.__name__ = traces[0]["label"] if traces else "loaded"
        gone.__signature__ = signature  # type: ignore[attr-defined]
        made = Restored(gone)
        made.traces = []
        made.held = self.owners  # type: ignore[attr-defined]
        return made

    def concrete(self, data: TraceData, function: Restored | None) -> ConcreteFunction:
        """Return a trace."""
        graph = self.reader.function(data["function"])
        for given in graph.inputs:
            name = _plain_name(given.op.name)
            if name not in graph.by_name:
                graph.by_name[name] = graph.by_name.pop(given.op.name)
                given.op.name = name
        slots = list(graph.captured.values())
        graph.captured = {}
        for i, (_, slot) in enumerate(slots):
            tensor: Tensor = wrap(self.values[f"{data['function']}/{i}"])
            graph.captured[id(tensor)] = (tensor, slot)
        arguments = self.reader.value(data["arguments"])
        leaves = [self.leaf(x) for x in data["leaves"]]
        owner = function or self.restored(inspect.Signature(), [data])
        bound = Bound(owner, nest.pack(arguments, leaves))
        results = self.reader.value(data["results"])
        outputs = iter(graph.outputs)  # (tensors of composites have no numbers of their own)
        chosen = [None if i is None else next(outputs) for i in nest.flatten(results)]
        made = ConcreteFunction(owner, bound, graph, results, chosen)
        made.held = self.owners  # type: ignore[attr-defined]
        return made

    def leaf(self, data: LeafData) -> object:
        """Return an argument: what it was traced by."""
        if "value" in data:
            return self.reader.value(data["value"])
        spec = self.reader.spec(data["spec"])
        dims = (
            None if spec.shape is None else [d if isinstance(d, int) else None for d in spec.dims]
        )
        return TensorSpec(dims, spec.dtype.name, data["name"])

    def dictionary(self, number: int, data: SavedParts) -> None:
        """Make a dictionary."""
        made: dict[str, object] = {}
        self.made[number] = made
        made.update({k: self.node(n) for k, n in data["children"].items()})

    def listed(self, number: int, data: SavedList) -> None:
        """Make a list."""
        made: list[object] = []
        self.made[number] = made
        made.extend(self.node(n) for n in data["children"])

    def object(self, number: int, data: SavedParts) -> None:
        """Make an object."""
        is_called = "__call__" in data["children"]
        made = self.made[number] = LoadedCallable() if is_called else Loaded()
        for name, child in data["children"].items():
            vars(made)[name] = self.node(child)


def contains_saved_model(export_dir: str) -> bool:
    """Say whether a folder is one that `save` wrote."""
    return is_module_folder(export_dir)


def load(export_dir: str, tags: object = None, options: LoadOptions | None = None) -> Loaded:
    """Return the module of a folder."""
    if not isinstance(options, LoadOptions | None):
        raise TypeError(f"options is {options!r}, expected a tf.saved_model.LoadOptions")
    try:
        loader = _Loader(Path(export_dir))
        root = loader.module()
    except GravureError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise GraphTextError(f"{Path(export_dir) / GRAPH} is damaged: {reason}") from error
    if options is not None and options.experimental_load_function_aliases:
        if "function_aliases" in vars(root):
            raise ValueError(
                "Could not load with experimental_load_function_aliases option: the first object "
                "has an attribute of the name 'function_aliases'"
            )
        vars(root)["function_aliases"] = loader.aliases
    return root

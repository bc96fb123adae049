"""The arguments of a function that is traced: what they are traced by."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, cast

import numpy as np

from ...ir.types.dims import Dim, symbols
from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array, TensorSpec
from ..dims.unknown import unknown_dim
from ..eager.tensor import Tensor
from ..graph.func_graph import PLACEHOLDER, FuncGraph
from ..graph.graph import GraphTensor, dims_or_none, within
from ..graph.variables import VariableState
from ..values import nest

if TYPE_CHECKING:
    from collections import OrderedDict


class Surface(Protocol):
    """A function as its traces see it."""

    signature: inspect.Signature

    @property
    def graph_class(self) -> type[FuncGraph]:
        """Return the class of its graphs."""

    @property
    def tensor_class(self) -> type[GraphTensor]:
        """Return the class of their tensors."""

    @property
    def label(self) -> str:
        """Return its name for messages."""

    def to_tensor(self, value: object, dtype: DType | None = None) -> Tensor:
        """Return an argument as a tensor."""

    def spec_of(self, tensor: GraphTensor, name: str) -> object:
        """Return the spec of an argument of a trace, as users see it: with its name."""

    def spec_of_variable(self, variable: VariableArgument) -> object:
        """Return what a trace takes where it is given variables, as users see it."""

    def seen(self, spec: TensorSpec) -> object:
        """Return a spec as users see it."""

    def wrap(self, array: object) -> Tensor:
        """Return a result as a tensor."""

    def printed(self, trace: object, *, long: bool) -> str | None:
        """Return a trace as users see it, None for the usual text."""

    def type_of(self, trace: object) -> object:
        """Return what a trace takes and gives."""

    def message_of(self, trace: object) -> object:
        """Return a trace as data that other programs read."""

    def inner(self, trace: object) -> object:
        """Return the function without gradients that a trace is."""

    def concrete(self, bound: Bound) -> object:
        """Return the trace for arguments."""

    def bind(self, args: Sequence[object], kwargs: dict[str, object]) -> Any:
        """Return the arguments of a call."""


def describe(key: object) -> str:
    """Return one part of a key in words."""
    if isinstance(key, tuple) and key and key[0] == "tensor":
        return f"{key[1]}{list(key[2]) if key[2] is not None else '[*]'}"
    if isinstance(key, tuple) and key and key[0] == "variable":
        return f"variable {describe(('tensor', *key[1:3]))}"
    if isinstance(key, tuple) and key and key[0] == "object":
        return f"another object of {key[1]}"
    return repr(key[-1]) if isinstance(key, tuple) else repr(key)


class Passable(Protocol):
    """A variable as an argument."""

    @property
    def trainable(self) -> bool:
        """Say whether it is among what optimisers change."""


@dataclass(frozen=True)
class VariableArgument:
    """What variables have in common that one trace takes in one place."""

    spec: TensorSpec
    trainable: bool
    alias_id: int
    """The variable's number among those of the call: it may be given in several places."""

    @property
    def key(self) -> Hashable:
        """Return what a trace is known by."""
        _, dtype, shape = spec_key(self.spec)
        return ("variable", dtype, shape, self.trainable, self.alias_id)


def passed_state(value: object) -> VariableState | None:
    """Return the state of a variable that another one may be passed in the stead of, else None."""
    found = getattr(type(value), "passed_state", None)
    state: VariableState | None = None if found is None else found(value)
    return state


class Bound:
    """Arguments of one call: their leaves, of which tensors are traced by spec."""

    def __init__(self, function: Surface, arguments: dict[str, object]) -> None:
        self.function = function
        self.given: Mapping[str, object] = arguments
        """The arguments as they came: the function itself sees dictionaries in their order."""
        self.arguments = {name: in_order(value) for name, value in arguments.items()}
        self.leaves = [self.leaf(x) for x in nest.flatten(self.arguments)]
        self.described = nest.described(self.arguments)
        """The arguments with descriptions of what is made of several tensors."""
        described = nest.flatten(self.described)
        specs = {
            i: spec_for(x if isinstance(d, np.ndarray | np.generic) else d)
            for i, (x, d) in enumerate(zip(self.leaves, described, strict=True))
        }
        self.specs: dict[int, TensorSpec] = {i: s for i, s in specs.items() if s is not None}
        """The specs of the leaves that are traced by spec."""
        self.labels = {i: _label(x) for i, x in enumerate(self.leaves)}
        """How the inputs of leaves are called where specs say so."""
        self.variables: dict[int, VariableArgument] = {}
        """What is said of the leaves that are variables."""
        numbers: dict[VariableState, int] = {}
        for place, leaf in enumerate(self.leaves):
            if place not in self.specs and (state := passed_state(leaf)) is not None:
                number = numbers.setdefault(state, len(numbers))
                trainable = cast("Passable", leaf).trainable
                self.variables[place] = VariableArgument(state.spec, trainable, number)

    @property
    def passed(self) -> list[VariableState]:
        """Return the variables among the leaves, each once."""
        found = [passed_state(self.leaves[place]) for place in self.variables]
        return [state for state in dict.fromkeys(found) if state is not None]

    def as_given(self, leaves: Sequence[object]) -> dict[str, object]:
        """Return the arguments with other leaves, dictionaries in the order that they came in."""
        return self._ordered(dict(nest.pack(self.described, leaves)))

    def _ordered(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return structures of the arguments' forms with keys as they came, names sorted."""
        made = {name: _as_given(self.given[name], value) for name, value in arguments.items()}
        for name, parameter in self.function.signature.parameters.items():
            found = made.get(name)
            if parameter.kind is inspect.Parameter.VAR_KEYWORD and isinstance(found, dict):
                made[name] = {key: found[key] for key in sorted(found)}
        return made

    def _as_they_came(self) -> list[int]:
        """Return the places of the leaves in the order in which arguments hold them."""
        places = iter(range(len(self.leaves)))
        numbered = {name: _numbered(value, places) for name, value in self.described.items()}
        return nest.flatten(self._ordered(numbered))

    def leaf(self, value: object) -> object:
        """Return a leaf: arrays become tensors."""
        if isinstance(value, np.ndarray | np.generic):
            return self.function.to_tensor(value)
        return value

    def take_signature(self, signature: Mapping[str, object]) -> None:
        """Convert the arguments to a signature, by parameter, or raise `TypeError`."""
        declared = [*map(in_order, signature.values())]
        wanted = nest.flatten(declared)
        given = [self.arguments[name] for name in signature]
        values = nest.flatten(given)
        if len(wanted) != len(values):
            refuse(self.function, f"{len(values)} values, expected {len(wanted)}")
        try:
            nest.assert_same(declared, given, check_types=False)
        except ValueError as error:
            refuse(self.function, error)
        for place, (value, each) in enumerate(zip(values, wanted, strict=True)):
            spec = spec_for(each)
            if each is None and value is None:
                continue
            if spec is None:
                raise TypeError(
                    "input_signature must be a possibly nested sequence of specs of tensors, got "
                    f"{each!r}"
                )
            if not isinstance(value, Tensor) and spec_for(value) is None:
                convert = self.function.to_tensor
                value = convert(value, spec.dtype)  # noqa: PLW2901  (is the same argument)
            found = spec_for(value)
            assert found is not None, "the value was converted"
            if not within(found, spec):
                seen = self.function.seen
                refuse(self.function, f"Can not cast {seen(found)} to {seen(spec)}")
            self.leaves[place] = value
            self.specs[place] = spec
            self.variables.pop(place, None)
            self.labels[place] = _label(each) or self.labels[place]
        for name, stated in signature.items():
            self.described[name] = _as_declared(in_order(stated), self.described[name])

    def without_values(self, function: Surface) -> Bound:
        """Return the same arguments for a trace to keep: specs for tensors, which are not kept."""
        made = copy(self)
        made.function = function
        kept: dict[int, object] = dict(self.variables)
        kept |= {i: WithoutValue(spec, self.labels[i]) for i, spec in self.specs.items()}
        places = iter(range(len(self.leaves)))
        made.arguments = {
            name: _without_values(value, places, kept) for name, value in self.arguments.items()
        }
        made.given = {name: _levels(value) for name, value in self.given.items()}
        made.leaves = nest.flatten(made.arguments)
        made.described = nest.described(made.arguments)
        return made

    def relax(self, other: Bound) -> None:
        """Leave sizes open that differ from those of earlier arguments."""
        for place, spec in self.specs.items():
            old = other.specs.get(place)
            if old is None or old.shape is None or spec is None or spec.shape is None:
                continue
            if len(old.shape) == len(spec.shape):
                dims = tuple(
                    a if a == b and isinstance(a, int) else unknown_dim()
                    for a, b in zip(spec.shape, old.shape, strict=True)
                )
                self.specs[place] = spec.with_shape(dims)

    def keys(self) -> list[Hashable]:
        """Return what each leaf is traced by."""
        return [*map(self.key_of, range(len(self.leaves)))]

    def key_of(self, place: int) -> Hashable:
        """Return what a leaf is traced by."""
        if place in self.specs:
            return spec_key(self.specs[place])
        known = self.variables.get(place)
        return value_key(self.leaves[place]) if known is None else known.key

    def named(self) -> tuple[tuple[int, str], ...]:
        """Return the places of the inputs that specs give names, and these."""
        return tuple((i, name) for i, name in self.labels.items() if name and i in self.specs)

    def key(self) -> Hashable:
        """Return what the arguments are traced by."""
        return structure_key(self.described), tuple(self.keys())

    def compared(self, other: Bound) -> list[tuple[str, object, object]]:
        """Return name, own key and the other's key of each argument."""
        mine, theirs = self.keys(), other.keys()
        names = [n for n, v in self.arguments.items() for _ in nest.flatten(v)]
        return list(zip(names, mine, theirs, strict=False))

    def names(self) -> list[str]:
        """Return the name that each leaf's input is given: as TensorFlow gives them."""
        return [label for label, each in self.parts() for _ in nest.flatten(each)]

    def paths(self) -> list[str]:
        """Return the name that each leaf's spec has: where it is in its argument."""
        found = [path for label, each in self.parts() for path in _paths(label, each)]
        return [self.labels[place] or path for place, path in enumerate(found)]

    def parts(self) -> list[tuple[str, object]]:
        """Return names and values of arguments, each of those that one parameter takes."""
        made: list[tuple[str, object]] = []
        for name, value in self.arguments.items():
            kind = self.function.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL and isinstance(value, tuple):
                parts = [(f"{name}_{i}", each) for i, each in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD and isinstance(value, dict):
                parts = [(f"arg_{k}" if k[0] == "_" else k, each) for k, each in value.items()]
            else:
                parts = [("Placeholder" if name[0] == "_" else name, value)]
            refuse_alike([label for label, _ in parts])
            made.extend(parts)
        return made

    def enter(self, graph: FuncGraph) -> dict[str, object]:
        """Return the arguments for the trace: inputs of the graph for tensors."""
        names, inputs = self.names(), dict[int, GraphTensor]()
        for place in self._as_they_came():
            if place in self.specs:
                label = self.labels[place] or names[place]
                inputs[place] = graph.argument(self.specs[place], label)
        places = sorted(inputs)
        graph.inputs[:] = [inputs[place] for place in places]
        graph.values = [
            value.numpy() if isinstance(value, Tensor) and value.eager else None
            for value in (self.leaves[place] for place in places)
        ]
        return self.as_given([inputs.get(place, x) for place, x in enumerate(self.leaves)])


def refuse_alike(labels: Sequence[str]) -> None:
    """Raise where names of arguments are not to be told apart by letters and numbers."""
    plain = [re.sub(r"\W", "_", label) for label in labels]
    for place, name in enumerate(plain):
        first = plain.index(name)
        if first != place:
            raise ValueError(
                f"Name collision after sanitization. Arguments {labels[first]!r} and "
                f"{labels[place]!r} are both {name!r}: rename one of them"
            )


class CallTime:
    """Values that a function takes from outside anew at each call: what a closure gives then."""

    def __init__(
        self,
        closure: Callable[[], object],
        described: object,
        to_tensor: Callable[[object, DType | None], Tensor],
    ) -> None:
        self.closure, self.described, self.to_tensor = closure, described, to_tensor
        found = [spec_for(each) for each in nest.flatten(described)]
        if None in found:
            raise TypeError(f"a spec of tensors is expected for a value of a call: {described!r}")
        self.specs = [spec for spec in found if spec is not None]
        self.values = [CallTimeValue(self, place) for place in range(len(self.specs))]

    def enter(self, graph: FuncGraph) -> object:
        """Return what stands for the values in the graph of a function, as they are described."""
        made = []
        for value in self.values:
            slot = graph.add(PLACEHOLDER, (), {"spec": value.spec}, name="captured").outputs[0]
            graph.captured[id(value)] = (value, slot)
            made.append(slot)
        return nest.pack(self.described, made)

    def now(self) -> list[Tensor]:
        """Return the values of a call."""
        found = self.closure()
        nest.assert_same(self.described, found, check_types=False)
        return [*map(self._fitting, nest.flatten(found), self.specs)]

    def _fitting(self, value: object, spec: TensorSpec) -> Tensor:
        """Return a value as a tensor, or raise `TypeError` if it is not what was said."""
        made = value if isinstance(value, Tensor) else self.to_tensor(value, spec.dtype)
        if made.spec.dtype != spec.dtype:
            raise TypeError(f"Can not cast Tensor of type {made.spec.dtype} to {spec.dtype}")
        if not within(made.spec, spec):
            raise TypeError(f"Can not cast Tensor of {made.spec} to {spec}, which was said")
        return made


class CallTimeValue(Tensor):
    """A value that is another one at each call."""

    __slots__ = ("of", "place")
    direct: ClassVar[bool] = False

    def __init__(self, of: CallTime, place: int) -> None:
        self.of, self.place = of, place

    @property
    def spec(self) -> TensorSpec:
        """Return what is said of it."""
        return self.of.specs[self.place]

    @property
    def _array(self) -> Array:  # type: ignore[override]
        """Return the elements of now."""
        return self.of.now()[self.place].numpy()


def of_this_call(values: Sequence[Tensor]) -> list[Tensor]:
    """Return values as they are now: each closure is asked once."""
    asked = dict.fromkeys(x.of for x in values if isinstance(x, CallTimeValue))
    found = {each: each.now() for each in asked}
    return [found[x.of][x.place] if isinstance(x, CallTimeValue) else x for x in values]


def _label(value: object) -> str | None:
    """Return the name that a spec gives to what it is for, None if there is none."""
    return getattr(value, "argument_name", None)


@dataclass(frozen=True)
class WithoutValue:
    """What a tensor was like that is not kept."""

    spec: TensorSpec
    argument_name: str | None

    def traced_spec(self) -> TensorSpec:
        """Return its spec."""
        return self.spec


def _without_values(tree: object, places: Iterator[int], kept: Mapping[int, object]) -> object:
    """Return a structure with what is kept of leaves in their place; composites stay whole."""
    if isinstance(tree, nest.TensorGroup):
        for _ in tree.components():
            next(places)
        return tree
    if isinstance(tree, Mapping):
        made = {key: _without_values(value, places, kept) for key, value in tree.items()}
        return made if type(tree) is dict else type(tree)(made)  # type: ignore[call-arg]
    if isinstance(tree, list | tuple):
        return nest.pack_level(tree, [_without_values(x, places, kept) for x in tree])
    if nest.is_own(tree):
        parts = [_without_values(x, places, kept) for x in nest.own_parts(tree)]
        return nest.with_own_parts(tree, parts)
    place = next(places)
    return kept.get(place, tree)


def _as_declared(declared: object, tree: object) -> object:
    """Return a structure with the composites that a signature declares instead of its own."""
    if isinstance(tree, nest.TensorGroup):
        return declared
    if isinstance(tree, dict) and isinstance(declared, dict):
        return {key: _as_declared(declared[key], value) for key, value in tree.items()}
    if isinstance(tree, list | tuple) and isinstance(declared, list | tuple):
        return nest.pack_level(tree, list(map(_as_declared, declared, tree)))
    if nest.is_own(tree) and nest.is_own(declared):
        parts = zip(nest.own_parts(declared), nest.own_parts(tree), strict=True)
        return nest.with_own_parts(tree, [_as_declared(*pair) for pair in parts])
    return tree


def in_order(tree: object) -> object:
    """Return a structure whose dictionaries have their keys in order, however they were made."""
    if type(tree) is dict:
        plain = any(all(isinstance(key, kind) for key in tree) for kind in (str, int))
        return {key: in_order(tree[key]) for key in (sorted(tree) if plain else tree)}
    if isinstance(tree, list | tuple):
        return nest.pack_level(tree, list(map(in_order, tree)))
    return tree


def _numbered(tree: object, places: Iterator[int]) -> object:
    """Return a structure with the places of its leaves in their stead, of a composite several."""
    if isinstance(tree, Mapping):
        return {key: _numbered(value, places) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_numbered(value, places) for value in tree]
    return [next(places) for _ in nest.flatten(tree)]


def _paths(label: str, tree: object) -> Iterator[str]:
    """Give a name for each leaf of an argument: its label, and where the leaf is in it."""
    if isinstance(tree, Mapping):
        rows = list(tree.items())
    elif isinstance(tree, list | tuple):
        rows = list(zip(getattr(tree, "_fields", range(len(tree))), tree, strict=True))
    else:
        yield from [label] * len(nest.flatten(tree))
        return
    for key, value in rows:
        yield from _paths(f"{label}_{re.sub(r'[^A-Za-z0-9._]', '_', str(key))}", value)


def _levels(tree: object) -> object:
    """Return the dictionaries and lists of a structure, without what they hold."""
    if type(tree) is dict:
        return {key: _levels(value) for key, value in tree.items()}
    return [*map(_levels, tree)] if isinstance(tree, list | tuple) else None


def _as_given(given: object, tree: object) -> object:
    """Return a structure whose dictionaries have their keys in the order of another."""
    if type(given) is dict and type(tree) is dict:
        return {key: _as_given(value, tree[key]) for key, value in given.items()}
    if isinstance(given, list | tuple) and isinstance(tree, list | tuple):
        return nest.pack_level(tree, list(map(_as_given, given, tree)))
    return tree


def spec_for(value: object) -> TensorSpec | None:
    """Return the spec that a value is traced by, None where its value counts."""
    if isinstance(value, Tensor):
        return value.spec
    found = getattr(value, "traced_spec", None)
    return found() if found is not None else None


def fit(pairs: Sequence[tuple[TensorSpec, TensorSpec]]) -> bool:
    """Say whether specs are narrower than others, or the same: given one, and what it is to be.

    A size that has a name in several places is one size there.
    """
    sizes: dict[Dim, Dim] = {}
    for found, wanted in pairs:
        if found.dtype != wanted.dtype:
            return False
        if wanted.shape is None:
            continue
        if found.shape is None or len(found.shape) != len(wanted.shape):
            return False
        for size, name in zip(found.shape, wanted.shape, strict=True):
            is_one = isinstance(name, int) or symbols(name) != {str(name)}
            if size != (name if is_one else sizes.setdefault(name, size)):
                return False
    return True


def spec_key(spec: TensorSpec) -> tuple[Hashable, Hashable, Hashable]:
    """Return what tensors of one trace have in common."""
    return ("tensor", str(spec.dtype), dims_or_none(spec.shape))


def value_key(value: object) -> Hashable:
    """Return what Python values of one trace have in common."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return ("value", type(value).__name__, value)
    if type(value).__hash__ is None:
        raise TypeError(
            f"Could not generate a generic TraceType for {value!r}: it has no hash, and a function "
            "is traced by what an argument is; give it one, or `__tf_flatten__`"
        )
    return ("object", type(value).__name__, ByIdentity(value))


class ByIdentity:
    """An object by its identity, held weakly where that is possible."""

    def __init__(self, value: object) -> None:
        self.number = id(value)
        try:
            self.ref: Callable[[], object] = weakref.ref(value)
        except TypeError:
            self.ref = lambda: value

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByIdentity) or self.number != other.number:
            return False
        mine = self.ref()
        return mine is not None and mine is other.ref()


def of_themselves(values: Sequence[object]) -> Hashable:
    """Return what a trace of just these objects is known by."""
    return ("objects", *map(ByIdentity, values))


class ByEquality:
    """What is said of an object by what it is equal to: it need not have a hash."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return hash(type(self.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByEquality) and bool(self.value == other.value)


def structure_key(tree: object) -> Hashable:
    """Return what nested structures of one form have in common."""
    if isinstance(tree, dict):
        return ("dict", *((key, structure_key(value)) for key, value in tree.items()))
    if isinstance(tree, list | tuple):
        return (type(tree).__name__, *map(structure_key, tree))
    if isinstance(tree, nest.TensorGroup):
        return (type(tree).__name__, tree.form())
    if nest.is_own(tree):
        parts = map(structure_key, nest.own_parts(tree))
        return (type(tree), ByEquality(nest.own_rest(tree)), *parts)
    return None


def call_with(
    function: Callable[..., object], signature: inspect.Signature, arguments: dict[str, object]
) -> object:
    """Call a function with arguments by the names of its parameters."""
    bound = inspect.BoundArguments(signature, cast("OrderedDict[str, Any]", arguments))
    return function(*bound.args, **bound.kwargs)


def arguments_of_trace(
    function: Surface, trace: Bound, args: Sequence[object], kwargs: dict[str, object]
) -> Bound:
    """Return the arguments of a call of a trace; raise `TypeError` if it has others.

    A trace fixes more than its function's parameters say: how many `*args` there are, which names
    `**kwargs` has, and that what was a tensor is given: a default of the function would be another
    value than the one that was traced.
    """
    try:
        found = function.signature.bind(*args, **kwargs)
    except TypeError as error:
        refuse(function, error)
    for name, parameter in function.signature.parameters.items():
        _check_given(function, trace, parameter, name in found.arguments, found.arguments.get(name))
    given: Bound = function.bind(args, kwargs)
    found.apply_defaults()
    for name, wanted in trace.described.items():
        value = given.described[name]
        if structure_key(value) != structure_key(wanted):
            refuse(function, _difference(found.arguments[name], value, wanted))
    for place, (value, known) in enumerate(zip(given.leaves, trace.leaves, strict=True)):
        if place not in trace.specs and given.key_of(place) != trace.key_of(place):
            wanted = repr(known) if place in trace.variables else f"Literal[{known!r}]"
            refuse(function, f"Can not cast {value!r} to {wanted}")
    return given


def refuse(function: Surface, reason: object) -> NoReturn:
    """Raise `TypeError`: arguments do not fit a function or a trace."""
    raise TypeError(
        f"Binding inputs to tf.function failed due to `{reason}`, of function {function.label!r}"
    ) from None


def _check_given(
    function: Surface, trace: Bound, parameter: inspect.Parameter, is_given: bool, value: object
) -> None:
    """Raise unless a parameter has as many values, and of the names, as the trace was made for."""
    name = parameter.name
    known = trace.arguments[name]
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        have, want = len(_values(value)), len(_values(known))
        if have < want:
            refuse(function, f"missing a required argument: '{name}_{have}'")
        if have > want:
            refuse(function, "too many positional arguments")
    elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
        have_names, want_names = _names(value), _names(known)
        for each in want_names:
            if each not in have_names:
                refuse(function, f"missing a required argument: {each!r}")
        for each in have_names:
            if each not in want_names:
                refuse(function, f"got an unexpected keyword argument {each!r}")
    elif not is_given and _has_inputs(trace, name):
        refuse(function, f"missing a required argument: {name!r}")


def _values(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _names(value: object) -> list[str]:
    return [*value] if isinstance(value, Mapping) else []


def _has_inputs(trace: Bound, name: str) -> bool:
    """Say whether a part of an argument is an input of the trace."""
    start = 0
    for each, value in trace.arguments.items():
        count = len(nest.flatten(value))
        if each == name:
            return any(place in trace.specs for place in range(start, start + count))
        start += count
    return False


def _difference(value: object, described: object, wanted: object) -> str:
    """Return why a value is not of the structure that was traced."""
    mine, theirs = nest.flatten(described), nest.flatten(wanted)
    alike = type(described) is type(wanted) and len(mine) == len(theirs)
    if isinstance(wanted, nest.TensorGroup) and alike:
        pairs = zip(mine, theirs, strict=True)
        found, other = next((p for p in pairs if repr(p[0]) != repr(p[1])), (described, wanted))
        return f"Can not cast {found!r} to {other!r}"
    if isinstance(wanted, Mapping):
        return f"Can not cast {value!r} to a Dict of {[*wanted]}"
    if isinstance(wanted, list | tuple):
        return f"Can not cast {value!r} to {type(wanted).__name__} of {len(wanted)}"
    return f"{value!r} and {wanted!r} don't have the same nested structure"

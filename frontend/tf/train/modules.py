"""`Module`: an object that knows the variables and modules in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from ...eager.tensor import Tensor
from ...function.arguments import Bound, structure_key, value_key
from ...function.traces import ConcreteFunction
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor, within
from ...values import nest
from ..core.bridge import TfTensor, dressed
from ..core.names import name_scope
from ..core.specs import TensorSpec
from ..graph.state import TfFunction, Variable
from .checkpoints import is_part, parts_of, settle
from .tracking import TRACKED, Trackable

Path: TypeAlias = tuple[object, ...]
"""Where something is in a module: names of attributes, keys and places in lists."""


def _leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Give what is in lists and dictionaries, those by sorted keys, and where it is."""
    if isinstance(value, dict):
        keys = sorted(value) if all(isinstance(k, str) for k in value) else list(value)
        for key in keys:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list | tuple):
        for i, each in enumerate(value):
            yield from _leaves(each, (*path, i))
    else:
        yield path, value


def _is_variable(value: object) -> bool:
    return hasattr(value, "state") and hasattr(value, "assign")


def snake(name: str) -> str:
    """Return the name of a class in lower case with underscores.

    >>> snake("MyDense2D")
    'my_dense2_d'
    """
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=.)([A-Z])(?=[a-z])", r"_\g<0>", name).lower()


class Module(Trackable):
    """An object that knows the variables and modules in its attributes.

    `_flatten`, `_name_scope` and `_TF_MODULE_IGNORED_PROPERTIES` have TensorFlow's names, by
    which libraries of modules extend the class.
    """

    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()
    """Attributes that are not looked into."""

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name: it is no identifier of Python")
        self._name = name or snake(type(self).__name__)
        with name_scope(self._name) as scope:
            self._name_scope = name_scope(scope)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        object.__setattr__(self, name, value)
        settle()

    def _parts(self) -> dict[str, object]:
        found = parts_of(self)
        return {n: x for n, x in found if is_part(x) and not isinstance(x, name_scope)}

    @property
    def name(self) -> str:
        """Return the name."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """Return the scope under the module's name, where the module was made."""
        return self._name_scope

    @classmethod
    def with_name_scope(cls, method: Callable[..., object]) -> Callable[..., object]:
        """Let a method put operations under the module's name."""

        @functools.wraps(method)
        def scoped(self: Module, *args: object, **kwargs: object) -> object:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[object], bool] | None = None,
        attribute_traversal_key: Callable[[str], str | int] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """Give what is in the attributes, then what is in the modules among it, each once.

        With paths, a value is given for each place that it is at.
        """
        wanted = predicate or (lambda _: True)
        seen: set[int] = {id(self)}

        def visit(module: Module, way: Path, above: tuple[Module, ...]) -> Iterator[object]:
            inner: list[tuple[Path, Module]] = []
            for path, value in _held(module, attribute_traversal_key):
                if not with_path and id(value) in seen:
                    continue
                seen.add(id(value))
                if wanted(value):
                    yield ((*way, *path), value) if with_path else value
                if recursive and isinstance(value, Module) and not any(value is x for x in above):
                    inner.append(((*way, *path), value))
            for place, each in inner:
                yield from visit(each, place, (*above, each))

        return visit(self, (), (self,))

    @property
    def variables(self) -> tuple[object, ...]:
        """Return all variables inside."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[object, ...]:
        """Return the trainable variables inside."""
        return tuple(v for v in self._flatten(predicate=_is_variable) if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[object, ...]:
        """Return the variables inside that are not trainable."""
        return tuple(v for v in self._flatten(predicate=_is_variable) if not v.trainable)

    @property
    def submodules(self) -> tuple[object, ...]:
        """Return all modules inside."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Module)))


class Loaded(Module):
    """An object that was loaded: what it leads to stands in its attributes."""

    tensorflow_version = "2.21.0"
    """The version of TensorFlow whose names the program that saved it had."""

    def __init__(self) -> None:
        super().__init__("loaded")
        self.signatures: Mapping[str, object] = {}
        self._held: list[Variable] = []
        self.note_signatures()

    def note_signatures(self) -> None:
        """Note that the signatures are those that were loaded."""
        self._signatures = self.signatures

    def has_own_signatures(self) -> bool:
        """Say whether the signatures are those that were loaded."""
        return self.signatures is self._signatures


class LoadedCallable(Loaded):
    """An object that was saved with a `__call__`."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call what was saved as `__call__`."""
        return vars(self)["__call__"](*args, **kwargs)


class Restored(TfFunction):
    """A function of which there are the traces that were saved, and no others."""

    traces: list[ConcreteFunction]
    has_python = False

    def concrete(self, bound: Bound) -> ConcreteFunction:
        """Return the trace that takes the arguments."""
        if self.input_signature is not None:
            bound.take_signature(self.declared)
        for each in self.traces:
            if each.accepts(bound):
                return each
        for each in self.traces:
            if self._converted(each.bound, bound):
                return each
        if not self.traces:
            raise ValueError("Found zero restored functions for caller function.")
        known = "\n".join(str(c) for c in self.traces)
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got: "
            f"{bound.keys()}. Expected one of:\n{known}"
        )

    def _converted(self, wanted: Bound, bound: Bound) -> bool:
        """Make tensors of Python's numbers and texts where a trace takes some, if it fits then."""
        if structure_key(wanted.described) != structure_key(bound.described):
            return False
        made: dict[int, Tensor] = {}
        for place, (mine, given) in enumerate(zip(wanted.leaves, bound.leaves, strict=True)):
            spec, other = wanted.specs.get(place), bound.specs.get(place)
            if spec is None:
                fits = other is None and value_key(mine) == value_key(given)
            elif other is not None:
                fits = within(other, spec)
            else:
                fits = (spec.shape or ()) == () and spec.dtype.kind in KINDS.get(type(given), "")
                if fits:
                    made[place] = self.to_tensor(given, spec.dtype)
            if not fits:
                return False
        for place, tensor in made.items():
            bound.leaves[place], bound.specs[place] = tensor, wanted.specs[place]
        return True


KINDS: dict[type, str] = {bool: "b", int: "iufc", float: "fc", complex: "c", str: "s", bytes: "s"}
"""The kinds of element types that Python's values may be converted to."""


class SavedSignature:
    """A trace that takes its arguments by name and gives its results by name."""

    def __init__(self, function: ConcreteFunction, names: Sequence[str]) -> None:
        self.function, self.names = function, list(names)

    @property
    def structured_outputs(self) -> dict[str, object]:
        """Return what the results are like, by name."""
        found = self._by_name(self.function.structured_outputs).items()
        made = [(n, dressed(x)) for n, x in found if isinstance(x, GraphTensor)]
        return {n: TensorSpec(x.shape, x.dtype, n) for n, x in made}

    @property
    def graph(self) -> FuncGraph:
        """Return the graph."""
        return self.function.graph

    @property
    def inputs(self) -> list[GraphTensor]:
        """Return the inputs."""
        return self.function.inputs

    @property
    def outputs(self) -> list[TfTensor]:
        """Return the results, in the order of their names."""
        found = self._by_name(self.function.structured_outputs).values()
        return [dressed(x) for x in found if isinstance(x, GraphTensor)]

    @property
    def structured_input_signature(self) -> tuple[tuple[()], dict[str, TensorSpec]]:
        """Return what the arguments are like, by name."""
        given = [(dressed(x), x.op.name) for x in self.function.graph.inputs]
        specs = [TensorSpec(x.shape, x.dtype, name) for x, name in given]
        return (), dict(zip(self.names, specs, strict=True))

    @property
    def variables(self) -> tuple[object, ...]:
        """Return the variables that are read or changed."""
        return self.function.variables

    @property
    def trainable_variables(self) -> tuple[object, ...]:
        """Return those of the variables that are trained."""
        return self.function.trainable_variables

    def _by_name(self, made: object) -> dict[str, object]:
        if isinstance(made, dict):
            return {name: made[name] for name in sorted(made)}
        return {f"output_{i}": x for i, x in enumerate(nest.flatten(made))}

    def __call__(self, *args: object, **kwargs: object) -> dict[str, object]:
        """Return the results for arguments."""
        if len(args) > 1 or (args and (kwargs or len(self.names) > 1)):
            raise TypeError("a signature takes its arguments by name")
        known = dict(zip(self.names, self.function.graph.inputs, strict=True))
        given = {known[k].op.name if k in known else k: x for k, x in kwargs.items()}
        return self._by_name(self.function(*args, **given))


def _held(module: Module, key: Callable[[str], str | int] | None) -> Iterator[tuple[Path, object]]:
    """Give what is in the attributes of a module themselves, and where."""
    held = vars(module)
    for name in sorted(held, key=key):
        if name != TRACKED and name not in module._TF_MODULE_IGNORED_PROPERTIES:
            yield from _leaves(held[name], (name,))

"""`Module`: an object that knows the variables and modules in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

from ..core.names import name_scope
from ..graph.state import Variable
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
    'my_dense2d'
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

    def __init__(self) -> None:
        super().__init__("loaded")
        self.signatures: dict[str, object] = {}
        self._held: list[Variable] = []

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call what was saved as `__call__`."""
        found = vars(self).get("__call__")
        if found is None:
            raise TypeError("the object that was saved is not callable")
        return found(*args, **kwargs)


def _held(module: Module, key: Callable[[str], str | int] | None) -> Iterator[tuple[Path, object]]:
    """Give what is in the attributes of a module themselves, and where."""
    held = vars(module)
    for name in sorted(held, key=key):
        if name != TRACKED and name not in module._TF_MODULE_IGNORED_PROPERTIES:
            yield from _leaves(held[name], (name,))

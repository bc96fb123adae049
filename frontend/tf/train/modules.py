"""`Module`: an object that knows the variables and modules in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..core.names import name_scope
from .checkpoints import settle


def _leaves(value: object) -> Iterator[object]:
    """Give what is in lists and dictionaries, those by sorted keys."""
    if isinstance(value, dict):
        keys = sorted(value) if all(isinstance(k, str) for k in value) else list(value)
        value = [value[k] for k in keys]
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def snake(name: str) -> str:
    """Return the name of a class in lower case with underscores.

    >>> snake("MyDense2D")
    'my_dense2d'
    """
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=.)([A-Z])(?=[a-z])", r"_\g<0>", name).lower()


class Module:
    """An object that knows the variables and modules in its attributes."""

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name: it is no identifier of Python")
        self._name = name or snake(type(self).__name__)
        with name_scope(self._name) as scope:
            self._scope = scope

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        object.__setattr__(self, name, value)
        settle()

    @property
    def name(self) -> str:
        """Return the name."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """Return the scope under the module's name, where the module was made."""
        return name_scope(self._scope)

    @classmethod
    def with_name_scope(cls, method: Callable[..., object]) -> Callable[..., object]:
        """Let a method put operations under the module's name."""

        @functools.wraps(method)
        def scoped(self: Module, *args: object, **kwargs: object) -> object:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _walk(self) -> tuple[list[Any], list[object]]:
        variables: list[object] = []
        modules: list[object] = []
        seen: set[int] = {id(self)}

        def visit(module: Module) -> None:
            inner = []
            for value in (x for k in sorted(vars(module)) for x in _leaves(vars(module)[k])):
                if id(value) in seen:
                    continue
                seen.add(id(value))
                if isinstance(value, Module):
                    modules.append(value)
                    inner.append(value)
                elif hasattr(value, "state") and hasattr(value, "assign"):
                    variables.append(value)
            for each in inner:
                visit(each)

        visit(self)
        return variables, modules

    @property
    def variables(self) -> tuple[object, ...]:
        """Return all variables inside."""
        return tuple(self._walk()[0])

    @property
    def trainable_variables(self) -> tuple[object, ...]:
        """Return the trainable variables inside."""
        return tuple(v for v in self._walk()[0] if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[object, ...]:
        """Return the variables inside that are not trainable."""
        return tuple(v for v in self._walk()[0] if not v.trainable)

    @property
    def submodules(self) -> tuple[object, ...]:
        """Return all modules inside."""
        return tuple(self._walk()[1])

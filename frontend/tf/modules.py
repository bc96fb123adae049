"""`Module`: an object that knows the variables and modules in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from .checkpoints import settle
from .state import name_scope


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

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        object.__setattr__(self, name, value)
        settle()

    @property
    def name(self) -> str:
        """Return the name."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """Return the scope under the module's name."""
        return name_scope(self._name)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Let a method put operations under the module's name."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _walk(self) -> tuple[list[Any], list[Any]]:
        variables: list[Any] = []
        modules: list[Any] = []
        seen: set[int] = {id(self)}
        waiting: list[Any] = [vars(self)[k] for k in sorted(vars(self))]
        while waiting:
            value = waiting.pop(0)
            if id(value) in seen:
                continue
            if isinstance(value, dict):
                waiting[:0] = list(value.values())
            elif isinstance(value, list | tuple):
                waiting[:0] = list(value)
            elif isinstance(value, Module):
                seen.add(id(value))
                modules.append(value)
                waiting[:0] = [vars(value)[k] for k in sorted(vars(value))]
            elif hasattr(value, "state") and hasattr(value, "assign"):
                seen.add(id(value))
                variables.append(value)
        return variables, modules

    @property
    def variables(self) -> tuple[Any, ...]:
        """Return all variables inside."""
        return tuple(self._walk()[0])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Return the trainable variables inside."""
        return tuple(v for v in self._walk()[0] if v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """Return all modules inside."""
        return tuple(self._walk()[1])

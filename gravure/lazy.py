"""`cached_property` without the lock that Python has before 3.12.

That lock is one for all objects of a class: while it is held for one, no other thread reads the
property of another object, and after a fork nobody ever does (Note [Fork]).
"""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801  (as Python's)
    """A property that is computed once for each object; by two threads at once, twice perhaps."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | Value:
        """Compute the property, which is found in the object from then on."""
        if instance is None:
            return self
        assert self.attrname is not None, "a property has a name"
        made = instance.__dict__[self.attrname] = self.func(instance)
        return made

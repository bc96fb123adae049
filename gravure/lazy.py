"""`cached_property` without the lock that Python has before 3.12.

That lock is one for all objects of a class: while it is held for one, no other thread reads the
property of another object, and after a fork nobody ever does (Note [Fork]).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801  (as Python's)
    """A property that is computed once for each object; by two threads at once, twice perhaps."""

    def __init__(self, func: Callable[[Any], Value]) -> None:
        super().__init__(func)
        self.lock = nullcontext()

"""How far something is that takes long: told by who does it, shown by who wants to know.

    with counted(print):
        ...
            tell("kernels", 3, 40)

Nobody listens outside of the context, and telling costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int, int], None]
"""Takes what is counted, how many are done, and how many there are (0 where nobody knows)."""
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def counted(listener: Listener) -> Iterator[None]:
    """Let a function hear what is told while the context is open, in this thread."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def tell(what: str, done: int, whole: int = 0) -> None:
    """Say that so many are done."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, whole)


def heard() -> Listener | None:
    """Return who listens."""
    return _LISTENER.get()


def is_counted() -> bool:
    """Say whether somebody listens."""
    return _LISTENER.get() is not None

"""Python's collector of cycles, paused while very many objects are made that all stay alive.

    with paused():
        ...

The collector walks through all objects each time their number has grown by a part: a program of
ten thousand operations takes twice as long to compile with it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_inside = 0
_was_on = False


@contextmanager
def paused() -> Iterator[None]:
    """Collect nothing; any number of threads may be inside."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _was_on  # noqa: PLW0603  (the collector is the process's)
    with _LOCK:
        if not _inside:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _LOCK:
        _inside -= 1
        if not _inside and _was_on:
            gc.enable()

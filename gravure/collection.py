"""Python's collector of cycles, paused while very many objects are made that all stay alive.

    with paused():
        ...

The collector walks through all objects each time their number has grown by a part: a program of
ten thousand operations takes twice as long to compile with it. What is imported stays: to look
through it once, when all is there, takes a sixth of the time of importing.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_inside = 0
_was_on = False


class Own(threading.local):
    """How often a thread is inside."""

    depth: int = 0


_OWN = Own()


@contextmanager
def paused() -> Iterator[None]:
    """Collect nothing; any number of threads may be inside."""
    _enter()
    try:
        yield
    finally:
        _leave()


@contextmanager
def kept() -> Iterator[None]:
    """Collect nothing, and look through nothing afterwards of what was made: all of it stays."""
    with paused():
        yield
        if not gc.get_freeze_count():  # what a program has put aside is not for us to take back
            gc.freeze()
            gc.unfreeze()


def _enter() -> None:
    global _inside, _was_on  # noqa: PLW0603  (the collector is the process's)
    with _LOCK:
        if not _inside:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
        _OWN.depth += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _LOCK:
        _inside -= 1
        _OWN.depth -= 1
        if not _inside and _was_on:
            gc.enable()


def _in_child() -> None:
    """Count in a child process the thread that it has: the others have not left there."""
    global _LOCK, _inside
    were, _LOCK, _inside = _inside, Lock(), _OWN.depth
    if were and not _inside and _was_on:
        gc.enable()


os.register_at_fork(after_in_child=_in_child)

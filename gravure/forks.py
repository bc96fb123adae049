"""What becomes of locks in a child process.

Note [Fork]: a child has the thread that forked, and copies of all locks as they were then: one
that another thread held is held for ever. So those are `renewed` in the child. What they guard is
as that thread left it, in the middle of a change perhaps: where this matters (code that LLVM is
making, variables that are changed in place) the lock is held `across` the fork instead, which
waits for whoever has it; not for longer than `PATIENCE`, for the holder may wait for the thread
that forks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar
from weakref import WeakSet


class Holdable(Protocol):
    """A lock that is waited for."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it, if it gets free in time."""

    def release(self) -> None:
        """Give it back."""


LockT = TypeVar("LockT")

PATIENCE = 10.0
"""Seconds that a fork waits for locks that it holds."""
_RENEWED: WeakSet[Any] = WeakSet()
_HELD: list[Callable[[], Sequence[Holdable]]] = []


class Forking(threading.local):
    """The locks that a thread holds while it forks."""

    locks: Sequence[Holdable] = ()


_FORKING = Forking()


def renewed(lock: LockT) -> LockT:
    """Let a lock be free in a child process, unless the thread that forks has it."""
    _RENEWED.add(lock)
    return lock


def across(locks: Callable[[], Sequence[Holdable]]) -> None:
    """Let locks be held over forks; `locks` gives them in the order in which all take them."""
    _HELD.append(locks)


def _before() -> None:
    until = time.monotonic() + PATIENCE
    wanted = [lock for locks in _HELD for lock in locks()]
    _FORKING.locks = [
        lock for lock in wanted if lock.acquire(timeout=max(until - time.monotonic(), 0.0))
    ]


def _after() -> None:
    for lock in reversed(_FORKING.locks):
        lock.release()
    _FORKING.locks = ()


def _in_child() -> None:
    _after()
    for lock in list(_RENEWED):
        is_owned = getattr(lock, "_is_owned", None)  # (a plain lock does not know by whom)
        if is_owned is None or not is_owned():
            lock._at_fork_reinit()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)

"""Messages by key: whoever waits for one takes in all that come, and keeps those of others.

So no thread is needed that only listens, and one that does is as quick.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from .protocol import Comm, Wait


class Mailbox:
    """The messages of a rank."""

    def __init__(self, comm: Comm) -> None:
        self.comm = comm
        self.kept: dict[Hashable, deque[tuple[int, Any]]] = {}
        self.lock = threading.Lock()
        """Held while `kept` is changed."""
        self.taking = threading.Lock()
        """Held by the thread that looks whether a message has come."""
        self.handlers: dict[str, Callable[[int, Any], None]] = {}
        """What is done at once with messages whose key begins with a word."""
        self.waiting = 0
        """How many threads wait for a message, and look for it themselves."""
        self.counted = 0
        """How many bytes of arrays were sent."""

    def send(self, key: Hashable, value: Any, to: int) -> None:
        """Send a value under a key."""
        self.counted += bytes_of(value)
        self.comm.post((key, value), to)

    def take_in(self) -> bool:
        """Keep a message that has come, if one has; say whether."""
        if not self.taking.acquire(blocking=False):
            return False
        try:
            found = self.comm.poll()
            if found is None:
                return False
            source, (key, value) = found
            handler = self.handlers.get(key[0]) if isinstance(key, tuple) else None
            if handler is None:
                with self.lock:
                    self.kept.setdefault(key, deque()).append((source, value))
        finally:
            self.taking.release()
        if handler is not None:
            handler(source, (key, value))
        return True

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Let others know that a thread takes in messages itself, for as long as it waits."""
        with self.lock:
            self.waiting += 1
        try:
            yield
        finally:
            with self.lock:
                self.waiting -= 1

    def receive(self, key: Hashable, operation: str, peer: int) -> Any:
        """Return the next value that was sent under a key; wait for it."""
        return self.received(key, Wait(operation, f"rank {peer}", self.comm.rank))[1]

    def received(self, key: Hashable, wait: Wait) -> tuple[int, Any]:
        """Return the next value that was sent under a key, and who sent it."""

        def look() -> tuple[int, Any] | None:
            found = self.found(key)
            if found is None and self.take_in():
                found = self.found(key)
            return found

        with self.looking():
            return wait.until(look)

    def found(self, key: Hashable) -> tuple[int, Any] | None:
        """Return a value that has come under a key already, and who sent it."""
        with self.lock:
            line = self.kept.get(key)
            if line is None:
                return None
            first = line.popleft()
            if not line:
                del self.kept[key]
            return first


def bytes_of(value: object) -> int:
    """Return how many bytes of arrays a message has."""
    if isinstance(value, dict):
        return sum(map(bytes_of, value.values()))
    return int(getattr(value, "nbytes", 0))

"""Until when a thread may go on with what it does: whoever waits asks here for how long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic


class LateError(Exception):
    """The time that something may take is over."""


class GivenUpError(Exception):
    """Nobody wants what is waited for any more."""


class Cancellation:
    """Whether something is given up that threads may wait in."""

    def __init__(self) -> None:
        self.is_given_up = False
        self._waited: list[threading.Condition] = []
        """By what threads wait now."""

    def give_up(self) -> None:
        """Let nobody wait in it any more."""
        self.is_given_up = True
        for condition in [*self._waited]:
            with condition:
                condition.notify_all()

    def wait_for(
        self, condition: threading.Condition, ready: Callable[[], bool], seconds: float | None
    ) -> bool:
        """Wait as the condition, which is held, does; raise if this is given up."""
        self._waited.append(condition)
        try:
            found = condition.wait_for(lambda: self.is_given_up or ready(), seconds)
        finally:
            self._waited.remove(condition)
        if self.is_given_up:
            raise GivenUpError
        return found


class Deadline(threading.local):
    """The moment until which the present thread may work; 0: it may go on for ever."""

    at: float = 0.0
    cancellation: Cancellation | None = None
    """What the thread works for may be given up."""

    def left(self) -> float | None:
        """Return the seconds that are left, None if there is no end."""
        return max(0.0, self.at - monotonic()) if self.at else None

    def check(self) -> None:
        """Raise if the time is over."""
        if self.at and monotonic() > self.at:
            raise LateError

    def wait_for(self, condition: threading.Condition, ready: Callable[[], bool]) -> None:
        """Wait, while holding a condition, until something is so.

        Raises `LateError` when the time is over, and `GivenUpError`.
        """
        if self.cancellation is None:
            found = condition.wait_for(ready, self.left())
        else:
            found = self.cancellation.wait_for(condition, ready, self.left())
        if not found:
            raise LateError

    @contextmanager
    def working_for(self, cancellation: Cancellation) -> Iterator[None]:
        """Let what is inside wait no longer than until something is given up."""
        before, self.cancellation = self.cancellation, cancellation
        try:
            yield
        finally:
            self.cancellation = before

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Let what is inside take no longer than so many seconds; 0: as long as it likes."""
        before = self.at
        if seconds:
            end = monotonic() + seconds
            self.at = min(before, end) if before else end
        try:
            yield
        finally:
            self.at = before


DEADLINE = Deadline()

"""Until when a thread may go on with what it does: whoever waits asks here for how long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class LateError(Exception):
    """The time that something may take is over."""


class Deadline(threading.local):
    """The moment until which the present thread may work; 0: it may go on for ever."""

    at: float = 0.0

    def left(self) -> float | None:
        """Return the seconds that are left, None if there is no end."""
        return max(0.0, self.at - monotonic()) if self.at else None

    def check(self) -> None:
        """Raise if the time is over."""
        if self.at and monotonic() > self.at:
            raise LateError

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

"""Calls of Python that go on beside others: each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ...runtime.deadline import DEADLINE
from ...runtime.tracing import OWN

T = TypeVar("T")


class Later(Generic[T]):
    """What a function gives, which was called in another thread just now.

    The thread has the deadline, and the listeners, of the one that called.
    """

    def __init__(self, function: Callable[[], T], then: Callable[[], None] | None = None) -> None:
        """Call a function; and another one when it has ended, well or not."""
        self._function, self._then = function, then
        self._until, self._traces = DEADLINE.at, OWN.traces
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        DEADLINE.at, OWN.traces = self._until, self._traces
        try:
            self._value.append(self._function())
        except BaseException as error:  # (raised by `result`)
            self._error = error
        finally:
            if self._then is not None:
                self._then()

    def wait(self) -> None:
        """Return when it has ended."""
        self._thread.join()

    def result(self) -> T:
        """Return what the function gave, or raise what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value[0]

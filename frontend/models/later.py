"""Calls of Python that go on beside others: each in a thread of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from ...forks import renewed
from ...runtime.deadline import DEADLINE
from ...runtime.tracing import OWN

T = TypeVar("T")


class ReadyQueue:
    """The calls of one device that are ready: so many go on at once, others wait in their order."""

    def __init__(self, threads: int) -> None:
        self.free = threads
        """How many more may go on now."""
        self.waiting: deque[Callable[[], None]] = deque()
        self.lock = renewed(threading.Lock())

    def add(self, start: Callable[[], None]) -> None:
        """Let a call be started as soon as it may go on."""
        with self.lock:
            if not self.free:
                self.waiting.append(start)
                return
            self.free -= 1
        start()

    def done(self) -> None:
        """Take note that a call has ended; start the next."""
        with self.lock:
            if not self.waiting:
                self.free += 1
                return
            start = self.waiting.popleft()
        start()


class Later(Generic[T]):
    """What a function gives, which was called in another thread just now.

    The thread has the deadline, and the listeners, of the one that called.
    """

    def __init__(
        self,
        function: Callable[[], T],
        then: Callable[[], None] | None = None,
        queue: ReadyQueue | None = None,
    ) -> None:
        """Call a function; and another one when it has ended, well or not.

        It waits for its turn in a queue, if there is one.
        """
        self._function, self._then = function, then
        self._until, self._traces = DEADLINE.at, OWN.traces
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._queue, self._ended = queue, threading.Event()
        thread = threading.Thread(target=self._run, daemon=True)
        if queue is None:
            thread.start()
        else:
            queue.add(thread.start)

    def _run(self) -> None:
        DEADLINE.at, OWN.traces = self._until, self._traces
        try:
            self._value.append(self._function())
        except BaseException as error:  # (raised by `result`)
            self._error = error
        finally:
            if self._queue is not None:
                self._queue.done()
            self._ended.set()
            if self._then is not None:
                self._then()

    def wait(self) -> None:
        """Return when it has ended."""
        self._ended.wait()

    def result(self) -> T:
        """Return what the function gave, or raise what it raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value[0]

"""Calls of Python that go on beside others: each in a thread that has nothing else to do.

Threads are kept for a while when a call has ended: to make one takes longer than most calls.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from ...forks import renewed
from ...runtime.deadline import DEADLINE
from ...runtime.tracing import OWN

T = TypeVar("T")
KEPT = 5.0
"""Seconds that a thread waits for another call."""


class Threads:
    """Threads that wait for something to do; as many are made as are needed at once."""

    def __init__(self) -> None:
        self.idle: list[SimpleQueue[Callable[[], None]]] = []
        """What each of those that wait is given its next call by."""
        self.lock = renewed(threading.Lock())
        os.register_at_fork(after_in_child=self.idle.clear)  # a child has none of them

    def start(self, call: Callable[[], None]) -> None:
        """Let a thread make a call."""
        with self.lock:
            calls = self.idle.pop() if self.idle else None
        if calls is not None:
            calls.put(call)
        else:
            threading.Thread(target=self._work, args=(call,), daemon=True).start()

    def _work(self, call: Callable[[], None]) -> None:
        calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        while True:
            call()
            del call  # what it holds is let go meanwhile
            with self.lock:
                self.idle.append(calls)
            try:
                call = calls.get(timeout=KEPT)
            except Empty:
                with self.lock:
                    if calls in self.idle:
                        self.idle.remove(calls)
                        return
                call = calls.get()  # it was just chosen


THREADS = Threads()


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
        if queue is None:
            THREADS.start(self._run)
        else:
            queue.add(lambda: THREADS.start(self._run))

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

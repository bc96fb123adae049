"""Calls of Python that go on beside others: each in a thread that has nothing else to do.

Threads are kept for a while when a call has ended: to make one takes longer than most calls.

To hand a call to another thread takes longer than a short call. So those of functions that were
short of late are put off: who needs the result makes the call. It may wait for something by now,
perhaps for another one that was put off; so all that have waited for `LOOK` get their threads.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from ...forks import renewed
from ...runtime.deadline import DEADLINE
from ...runtime.tracing import OWN

T = TypeVar("T")
KEPT = 5.0
"""Seconds that a thread waits for another call."""
SHORT = 2e-4
"""Seconds below which a call is not worth another thread."""
LOOK = 2e-3
"""Seconds between looks for calls that were put off and nobody has made."""
LOOKS = 50
"""After so many looks that found nothing the next one waits for something to be put off."""


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


class Pace:
    """How long calls of a function take: the shortest of late, for others use the processor too."""

    def __init__(self) -> None:
        self.seconds = float("inf")

    def note(self, seconds: float) -> None:
        """Take note of a call; those before it count less and less."""
        self.seconds = min(seconds, 2 * self.seconds)

    @property
    def is_short(self) -> bool:
        """Say whether a call is not worth another thread."""
        return self.seconds < SHORT


class Startable(Protocol):
    """A call that another thread can be let make."""

    @property
    def is_begun(self) -> bool:
        """Say whether a thread has begun to make it."""

    def start(self) -> None:
        """Let another thread make it, unless one has begun to."""


class Later(Generic[T]):
    """What a function gives, which is called in another thread just now, or by who needs it.

    The thread has the deadline, and the listeners, of the one that called.
    """

    def __init__(
        self,
        function: Callable[[], T],
        then: Callable[[], None] | None = None,
        queue: ReadyQueue | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Call a function; and another one when it has ended, well or not.

        It waits for its turn in a queue, if there is one; else it is put off if it is short.
        """
        self._to_do, self._then, self._pace = [function], then, pace
        self._until, self._traces = DEADLINE.at, OWN.traces
        self._cancellation = DEADLINE.cancellation
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._queue, self._ended = queue, threading.Lock()
        self._ended.acquire()
        if queue is not None:
            queue.add(self.start)
        elif pace is not None and pace.is_short:
            PUT_OFF.add(self)
        else:
            self.start()

    @property
    def is_begun(self) -> bool:
        """Say whether a thread has begun to call the function."""
        return not self._to_do

    def start(self) -> None:
        """Let another thread call the function, unless one has begun to."""
        if self._to_do:
            THREADS.start(self._run)

    def begin(self) -> None:
        """Call the function in this thread, if it was put off and none has begun to."""
        if self._queue is None and self._pace is not None and self._to_do:
            self._run()

    def _run(self) -> None:
        try:
            function = self._to_do.pop()  # (which one thread can)
        except IndexError:
            return
        DEADLINE.at, OWN.traces = self._until, self._traces
        DEADLINE.cancellation = self._cancellation
        begin = perf_counter()
        try:
            self._value.append(function())
        except BaseException as error:  # (raised by `result`)
            self._error = error
        finally:
            if self._pace is not None:
                self._pace.note(perf_counter() - begin)
            if self._queue is not None:
                self._queue.done()
            self._ended.release()
            if self._then is not None:
                self._then()

    def wait(self) -> None:
        """Return when it has ended."""
        self.begin()
        with self._ended:
            return

    def result(self) -> T:
        """Return what the function gave, or raise what it raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._value[0]


class PutOff:
    """Calls that who needs them makes, or a thread when they have waited for long."""

    def __init__(self) -> None:
        self.calls: deque[tuple[float, Startable]] = deque()
        """Since when they wait; some have been made."""
        self.is_looking = False
        self.lock = renewed(threading.Lock())
        os.register_at_fork(after_in_child=self._forget)  # a child does not have the thread

    def _forget(self) -> None:
        self.calls.clear()
        self.is_looking = False

    def add(self, call: Startable) -> None:
        """Let a call wait for who needs it."""
        self.calls.append((perf_counter(), call))
        if not self.is_looking:
            with self.lock:
                if not self.is_looking:
                    self.is_looking = True
                    THREADS.start(self._look)

    def _look(self) -> None:
        """Give threads to calls that nobody has made in time; end when there are none for long."""
        looks = 0
        while looks < LOOKS:
            time.sleep(LOOK)
            looks = 0 if self.calls else looks + 1
            late = perf_counter() - LOOK
            while self.calls and (self.calls[0][0] < late or self.calls[0][1].is_begun):
                self.calls.popleft()[1].start()
        with self.lock:
            self.is_looking = False
        if self.calls:  # (put off in between)
            self.add(self.calls.pop()[1])


PUT_OFF = PutOff()

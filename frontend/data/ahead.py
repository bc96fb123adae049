"""Elements that are computed on other threads, several at once or before they are asked for.

What is done to each element has no influence on another one, so the elements and their order are
the same as without threads. A step that takes less than handing its result over costs is done on
the thread that asks for it.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from ...forks import renewed
from ..values.context import entered
from ..values.run_errors import InvalidArgumentError
from .programs import Piece
from .stages import Element, Rows, Run, Stage, State, Stream, Write, integer, known
from .steps import Mapped

DEAR = 2e-4
"""Seconds from which on handing over to another thread may pay."""
LONG = 0.02
"""An element that takes so long goes to threads without being measured further."""
TRIAL = 0.1
"""Seconds for which a way is tried."""
AGAIN, LATEST = 1.0, 30.0
"""Seconds after which it is measured anew: the first time, and each twice as late up to this."""
GAIN = 0.9
"""The share of the time without threads that must not be exceeded with them."""
WORTH = 2e-3
"""Seconds of work that are handed over at a time: handing over takes about a tenth of that."""
MOST = 16
"""Elements that are handed over at a time, at the most."""
AUTOTUNE = -1

Outcome = Element | BaseException
"""An element, or what was raised instead of it."""


def workers(asked: int) -> int:
    """Return how many threads are used: as many as there are cores, where that is left open."""
    return asked if asked > 0 else (os.cpu_count() or 1)


class Judge:
    """Decides by measuring whether threads pay: without them, with them, and without again.

    What is measured first does not count: functions are not compiled yet, and neither does a turn
    in which one was compiled. What was found holds for all streams of a stage, an epoch may be
    over before it is; but not for ever, as other work may have disturbed what was measured.
    """

    TURNS = ("warm", "alone", "threads", "alone")

    def __init__(self, calls: int) -> None:
        self.settled, self.threads = calls < 2, False
        self.turn, self.slow = 0, 0
        self.taken: dict[str, float] = {}
        """Seconds for each element, by the way."""
        self.last, self.passed, self.count = time.perf_counter(), 0.0, 0
        self.compiled, self.since = Piece.compiled, self.last
        self.patience = AGAIN

    def begin(self) -> Judge:
        """Go on with another stream: what passed between does not count."""
        self.last = time.perf_counter()
        return self

    def doubt(self) -> None:
        """Measure anew what was settled by measuring long ago."""
        now = time.perf_counter()
        if self.turn == len(self.TURNS) and now - self.since > self.patience:
            self.settled, self.threads, self.turn, self.last = False, False, 1, now
            self.patience = min(2 * self.patience, LATEST)

    @property
    def group(self) -> int:
        """Return how many elements are handed over at a time."""
        return max(1, min(MOST, int(WORTH / self.taken.get("alone", WORTH))))

    def seen(self, seconds: float) -> None:
        """Take note of an element; `seconds` is what it took where no other thread did it."""
        self.slow = self.slow + 1 if seconds > LONG else 0
        if self.slow > 1:
            self.threads = self.settled = True
        now = time.perf_counter()
        self.count, self.passed, self.last = self.count + 1, self.passed + now - self.last, now
        if self.passed < TRIAL * (2 if not self.turn else 1) or self.count < 8 or self.settled:
            return
        if self.compiled == Piece.compiled:
            self.taken[self.TURNS[self.turn]] = self.passed / self.count
            self.turn += 1
        self.settled = self.turn == len(self.TURNS) or self.taken.get("alone", DEAR) < DEAR
        self.threads = not self.settled and self.TURNS[self.turn] == "threads"
        if self.turn == len(self.TURNS):
            self.threads = self.taken["threads"] < GAIN * self.taken["alone"]
        self.passed, self.count, self.compiled, self.since = 0.0, 0, Piece.compiled, now


class MappedAhead(Mapped):
    """What a function gives for each element, for several at once."""

    KEEPS = ("ready",)

    def __init__(self, run: Run, stage: Stage, function: Write, calls: object) -> None:
        super().__init__(run, stage, function)
        self.calls = workers(integer(calls))
        self.pending: deque[Future[list[Outcome]]] = deque()
        self.done: deque[Outcome] = deque()
        """What threads gave, in order."""
        self.ready: list[Element] = []
        """Results that were computed before the state was saved."""
        self.ended = False
        known: dict[int, Judge] = run.memory(stage).setdefault("judges", {})
        self.judge = known.setdefault(self.calls, Judge(self.calls)).begin()
        self.pool: ThreadPoolExecutor | None = None

    def __next__(self) -> Element:
        if self.ready:
            return self.ready.pop(0)
        judge = self.judge
        if judge.settled:
            judge.doubt()
        if not self.done:
            if not judge.threads and not self.pending:
                return super().__next__() if judge.settled else self._measured()
            if judge.threads:
                self._fill()
            if not self.pending:
                raise StopIteration
            self.done.extend(self.pending.popleft().result())
        if not judge.settled:
            judge.seen(0.0)
        return self.learn(opened(self.done.popleft()))

    def _measured(self) -> Element:
        """Compute one now, and say how long that took."""
        element = self.take()
        start = time.perf_counter()
        made = self.learn(self.function(element, self.rows_of_next()))
        self.judge.seen(time.perf_counter() - start)
        return made

    def _fill(self) -> None:
        """Keep as many groups under way as there are threads, and one for each to come."""
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.calls, "gravure-map")
        size = self.judge.group
        while not self.ended and len(self.pending) < 2 * self.calls:
            group: list[tuple[Element, Rows]] = []
            try:
                while len(group) < size:
                    group.append((self.take(), self.rows_of_next()))
            except StopIteration:
                self.ended = True
            if group:
                self.pending.append(self.pool.submit(apart, self.function, group))

    def save(self) -> State:
        """Wait for what is under way, and keep it."""
        while self.pending:
            self.done.extend(self.pending.popleft().result())
        while self.done:
            self.ready.append(opened(self.done.popleft()))
        return {**super().save(), "ready": list(self.ready)}

    def restore(self, state: State) -> None:
        """Go on."""
        self.pending.clear()
        self.done.clear()
        super().restore(state)
        self.ready, self.ended = list(state["ready"]), False


def apart(function: Write, group: Sequence[tuple[Element, Rows]]) -> list[Outcome]:
    """Return what a function gives for some, on a thread that has no context of its own."""
    made: list[Outcome] = []
    with entered(None):
        for element, rows in group:
            try:
                made.append(function(element, rows))
            except StopIteration:  # a future must not end the stream that waits for it
                made.append(RuntimeError("a function of elements raised StopIteration"))
            except BaseException as error:
                made.append(error)
    return made


def opened(outcome: Outcome) -> Element:
    """Return an element, or raise what came instead of it."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


class Shelf:
    """Elements between a thread that makes them and one that takes them."""

    def __init__(self, source: Stream, size: int) -> None:
        self.source, self.size = source, size
        self.items: deque[tuple[Element | None, BaseException | None]] = deque()
        self.changed = renewed(threading.Condition())
        self.closed = self.busy = False

    def work(self) -> None:
        """Put elements in until there are no more, or nobody wants them."""
        ended = False
        while not ended:
            with self.changed:
                self.changed.wait_for(lambda: self.closed or len(self.items) < self.size)
                if self.closed:
                    return
                self.busy = True
            item, ended = self._next()
            with self.changed:
                self.items.append(item)
                self.busy = False
                self.changed.notify_all()

    def _next(self) -> tuple[tuple[Element | None, BaseException | None], bool]:
        """Return an element or what was raised instead, and whether it was the end."""
        with entered(None):
            try:
                return (self.source.__next__(), None), False
            except StopIteration:
                return (None, None), True
            except BaseException as error:
                return (None, error), False

    def take(self) -> Element:
        """Return the next element, or raise what was raised for it."""
        with self.changed:
            self.changed.wait_for(lambda: self.items)
            element, error = self.items[0]
            if element is not None or error is not None:
                self.items.popleft()
                self.changed.notify_all()
        if error is not None:
            raise error
        if element is None:
            raise StopIteration
        return element

    def close(self) -> None:
        """Let the thread end."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class Prefetched(Stream):
    """Elements that are made before they are asked for, as many as there is room for."""

    KEEPS = ("ready",)

    def __init__(self, run: Run, stage: Stage, size: object) -> None:
        super().__init__(run, stage)
        asked = integer(size)
        self.size = 4 if asked == AUTOTUNE else asked
        self.slow = 0
        self.ready: list[Element] = []
        self.shelf: Shelf | None = None

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse room for fewer than no elements."""
        size = known(options["size"])
        if size is not None and size < AUTOTUNE:
            raise InvalidArgumentError(f"buffer_size must be >= 0 or set to be {AUTOTUNE}: {size}")

    def __next__(self) -> Element:
        if self.ready:
            return self.ready.pop(0)
        if self.shelf is not None:
            return self.shelf.take()
        start = time.perf_counter()
        made = self.take()
        self.slow = self.slow + 1 if time.perf_counter() - start > DEAR else 0
        if self.slow > 1 and self.size > 0:
            self._start()
        return made

    def _start(self) -> None:
        """Begin to make elements on a thread, which ends when nobody holds this any more."""
        assert self.upstream is not None, "it reads a stream"
        self.shelf = shelf = Shelf(self.upstream, self.size)
        weakref.finalize(self, shelf.close)
        threading.Thread(target=shelf.work, name="gravure-prefetch", daemon=True).start()

    def _stop(self) -> None:
        """End the thread, and take what it made."""
        shelf, self.shelf, self.slow = self.shelf, None, 0
        if shelf is None:
            return
        shelf.close()
        with shelf.changed:
            shelf.changed.wait_for(lambda: not shelf.busy)
        self.ready += [element for element, _ in shelf.items if element is not None]

    def save(self) -> State:
        """Return what is made already, too; the thread begins anew."""
        self._stop()
        return {**super().save(), "ready": list(self.ready)}

    def restore(self, state: State) -> None:
        """Go on."""
        self._stop()
        super().restore(state)
        self.ready = list(state["ready"])

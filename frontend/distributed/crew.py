"""The threads of a task: one listens, and carries out itself what it hears of.

    listens -> hears of a step -> carries it out -> listens again
    waits   -> nobody listens for a while -> listens

So a short step costs no change of threads, and a long one lets another thread listen. There are
as many threads as steps that go on at once, and one more; they are kept.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count

from ...runtime.comm.mailbox import Mailbox
from ...runtime.comm.protocol import NAPS, SPINS, CommError

CREW = "gravure task"
"""How the names of the threads begin."""
NUMBERS = count(1)
LEND = 0.005
"""Seconds that nobody listens, at most, while the thread that did carries something out."""
LONGEST = 5 * NAPS[1]
"""Seconds between looks where nothing has come for long."""


def nothing() -> None:
    """Do nothing: another thread was quicker."""


class Crew:
    """Threads that listen to a mailbox, and do what its handlers ask for by `add`."""

    def __init__(self, box: Mailbox) -> None:
        self.box = box
        self.jobs: deque[Callable[[], None]] = deque()
        self.changed = threading.Condition()
        self.listens = False
        """Whether a thread listens."""
        self.idle = 0
        """How many threads wait for something to do."""
        self.serving = False
        """Whether the process does nothing else: then a wait may look without a sleep."""
        self.ended = threading.Event()
        self.fault: CommError | None = None
        """Why it listens no more, if the world has given up."""

    def start(self) -> None:
        """Begin to listen."""
        for _ in range(2):
            self._start()

    def add(self, job: Callable[[], None]) -> None:
        """Let a thread do something: the one that listens, if it has heard of it."""
        with self.changed:
            self.jobs.append(job)
            if not self.listens or self.box.waiting:
                self.changed.notify()

    def close(self) -> None:
        """Listen no more; what is carried out goes on to its end."""
        self.ended.set()
        with self.changed:
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.listens and not self.idle)

    def _start(self) -> None:
        name = f"{CREW} {next(NUMBERS)}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        """Do one thing after the other."""
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], None] | None:
        """Return what is to be done next, None at the end; listen for it if nobody else does."""
        with self.changed:
            self.idle += 1
            try:
                while self.listens and not self.jobs and not self.ended.is_set():
                    self.changed.wait(LEND)
            finally:
                self.idle -= 1
            if self.ended.is_set() or self.fault is not None:
                self.changed.notify_all()
                return None
            if self.jobs:
                return self._taken()
            self.listens = True
        try:
            self._listen()
        except CommError as error:
            self.fault = error
        finally:
            with self.changed:
                self.listens = False
        with self.changed:
            if self.ended.is_set() or self.fault is not None:
                self.changed.notify_all()
                return None
            return self._taken() if self.jobs else nothing

    def _taken(self) -> Callable[[], None]:
        """Take a job; see that there is a thread to listen meanwhile."""
        if not self.idle:
            self._start()
        return self.jobs.popleft()

    def _listen(self) -> None:
        """Take in messages until there is something to do, or the end."""
        nap, looks = NAPS[0], 0
        while not self.jobs and not self.ended.is_set():
            looks += 1
            if not self.box.waiting and self.box.take_in():
                nap, looks = NAPS[0], 0
            elif self.serving and looks < SPINS:
                if not looks & 63:
                    os.sched_yield()
            else:
                time.sleep(nap)
                nap = min(2 * nap, LONGEST)

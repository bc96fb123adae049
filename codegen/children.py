"""Children of this process that share work with it: each takes what comes next, and sends it back.

    children = Children(1, 3, work)         forks; the child sends work(numbers it takes) and ends
    made = work(children.numbers())         the numbers below 3 that it has not taken
    children.sent()                         what the child sent

The numbers lie in a pipe that all read from, so each is taken once, by who is free. Of a child that
ended early nothing comes: the caller does what is missing itself, where an error is seen with its
cause.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, TypeAlias

Work: TypeAlias = Callable[[Iterator[int]], bytes]

BYTES = 2
"""What a number takes in the pipe."""
MOST = 2048
"""How many numbers there may be: as many as every pipe holds while nobody reads."""
HEAD = 8
"""Bytes in front of what a child sends, which say how long it is."""


def processes(jobs: int = 0) -> int:
    """Return how many processes may work: `jobs`, or two where there are two processors.

    A process with threads is not forked: a lock that one of them holds would stay locked.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    alone = threading.active_count() == 1 and hasattr(os, "fork")
    return (jobs or min(2, processors)) if alone else 1


class Children:
    """Some children at work; to be stopped, whatever happens."""

    def __init__(self, children: int, count: int, work: Work) -> None:
        assert count <= MOST, f"{count} numbers: expected {MOST} at most"
        self.running: list[tuple[int, BinaryIO]] = []
        self.pipe, writing = os.pipe()
        os.write(writing, b"".join(number.to_bytes(BYTES, "little") for number in range(count)))
        os.close(writing)
        for _ in range(children):
            self.start(work)

    def start(self, work: Work) -> None:
        """Start a child."""
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:  # there is no room for one more: the others do its work
            os.close(reading)
            os.close(writing)
            return
        if child:
            os.close(writing)
            self.running.append((child, os.fdopen(reading, "rb")))
            return
        status = 1
        try:
            with os.fdopen(writing, "wb") as pipe:
                content = work(self.numbers())
                pipe.write(len(content).to_bytes(HEAD, "little"))
                pipe.write(content)
            status = 0
        finally:
            os._exit(status)

    def numbers(self) -> Iterator[int]:
        """Take one number after the other, until all are taken."""
        while found := os.read(self.pipe, BYTES):
            yield int.from_bytes(found, "little")

    def sent(self) -> list[bytes]:
        """Wait for the children, and return what those sent that came to their end."""
        contents = [pipe.read() for _, pipe in self.running]
        self.stop()
        return [
            content[HEAD:]
            for content in contents
            if len(content) == HEAD + int.from_bytes(content[:HEAD], "little")
        ]

    def stop(self) -> None:
        """End the children that have not ended."""
        while self.running:
            child, pipe = self.running.pop()
            pipe.close()
            with suppress(ProcessLookupError, ChildProcessError):  # who waits for any child had it
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if self.pipe >= 0:
            os.close(self.pipe)
            self.pipe = -1

"""What ranks print, line by line: from a pipe of each, else from `mpiexec`.

    rank 0 ── 0.lines ──────┐
    rank 1 ── 1.lines ──────┼── one thread ── [0] a line
    rank 2 (elsewhere) ── mpiexec ──┘         [2] another one

A rank of this machine writes into its own pipe: `mpiexec` ends the job when a rank fails, and what
it has not passed on by then would be lost.
"""

from __future__ import annotations

import io
import os
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Thread

from ...runtime.comm.progress import lines_of

TAGS = re.compile(r"^\[(?:\d+,)?(\d+)\](?:<std\w+>:)? ?")
"""What MPICH and Open MPI put before a line of a rank."""
MOST = 1 << 16
"""Bytes that are read at once."""


class Printed:
    """Makes lines of the pieces that are read of a pipe, each with the name of its task."""

    def __init__(self, named: Callable[[str], str]) -> None:
        self.named = named
        decode = getincrementaldecoder("utf-8")("replace")
        self.decode = io.IncrementalNewlineDecoder(decode, translate=True)
        self.rest = ""

    def take(self, piece: bytes) -> list[str]:
        """Return the lines that end in a piece; no bytes are the end, which ends a line too."""
        text = self.rest + self.decode.decode(piece, final=not piece)
        *lines, self.rest = text.split("\n")
        if not piece and self.rest:
            lines, self.rest = [*lines, self.rest], ""
        return [self.named(line.rstrip()) for line in lines]


class Lines:
    """Hands on the lines of all ranks, each with the name of its task, in the order of a rank."""

    def __init__(self, notes: Path, names: Sequence[str], write: Callable[[str], None]) -> None:
        self.names, self.write = names, write
        self.selector = DefaultSelector()
        self.open: list[int] = []
        for rank, name in enumerate(names):
            path = lines_of(notes, rank)
            os.mkfifo(path)
            self._listen(
                os.open(path, os.O_RDONLY | os.O_NONBLOCK), partial("[{}] {}".format, name)
            )
            self.open.append(os.open(path, os.O_WRONLY))  # no end as long as a rank may yet begin
        self.wakes, wake = os.pipe()
        self.open.append(wake)
        self.selector.register(self.wakes, EVENT_READ)
        self.thread = Thread(target=self._run, daemon=True)

    def begin(self, mpiexec: int) -> None:
        """Begin to read, also what `mpiexec` says itself and of ranks on other machines."""
        os.set_blocking(mpiexec, False)
        self._listen(os.dup(mpiexec), lambda line: tagged(line, self.names))
        self.thread.start()

    def finish(self) -> None:
        """Hand on what is left of ranks that have ended."""
        while self.open:
            os.close(self.open.pop())
        self.thread.join()

    def _listen(self, file: int, named: Callable[[str], str]) -> None:
        self.selector.register(file, EVENT_READ, Printed(named))

    def _run(self) -> None:
        over = False
        while True:
            ready = self.selector.select(0 if over else None)
            if over and not ready:
                break
            for key, _ in ready:
                if key.fd == self.wakes:
                    over = True
                    self._leave(key.fd)
                else:
                    self._take(key.fd, key.data, os.read(key.fd, MOST))
        for key in list(self.selector.get_map().values()):
            self._take(key.fd, key.data, b"")
        self.selector.close()

    def _take(self, file: int, source: Printed, piece: bytes) -> None:
        """Hand on the lines that end in what was read of a file; nothing is its end."""
        for line in source.take(piece):
            self.write(line)
        if not piece:
            self._leave(file)

    def _leave(self, file: int) -> None:
        self.selector.unregister(file)
        os.close(file)


def tagged(line: str, names: Sequence[str]) -> str:
    """Return a line of `mpiexec` with the name of the task that it is of, if it is of one.

    >>> tagged("[1,0]<stdout>: two", ["ps:0", "worker:0"])
    '[ps:0] two'
    """
    match = TAGS.match(line)
    rank = int(match[1]) if match else -1
    if match and 0 <= rank < len(names):
        return f"[{names[rank]}] {line[match.end() :]}"
    return line

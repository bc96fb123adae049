"""Run cases in children of this process: a crash, a hang, or too much memory is one case's fault.

A child does one case after the other and says in a pipe which one it does, and how it went. When
it dies, or hangs, the case that it was at is to blame, and another child goes on behind it. It
hangs when a case has had its time of the processor, or waits for nothing: beside other work the
clock says little.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OUTCOME = struct.Struct("<qbI")
BEGUN, READ, REFUSED, FAULT = range(4)
NO_LIMIT = 0
"""Of memory."""


@dataclass(frozen=True)
class Outcome:
    """How one case went."""

    number: int
    kind: int
    text: str = ""
    """Of a fault: what it was."""


Judge = Callable[[int], tuple[int, str]]
"""Does a case by its number; returns `READ`, `REFUSED` or `FAULT`, and a text."""


def outcomes(
    judge: Judge, first: int, count: int, *, seconds: float, memory: int
) -> Iterator[Outcome]:
    """Give the outcomes of cases: each may compute or wait for so long, a child hold so much."""
    number = first
    while number < first + count:
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.close(reading)
            _child(judge, range(number, first + count), writing, memory)
        os.close(writing)
        try:
            for outcome in _watched(reading, process, number, seconds):
                yield outcome
                number = outcome.number + 1
        finally:
            os.close(reading)
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def processor_seconds() -> float:
    """Return the processor's time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _child(judge: Judge, numbers: range, writing: int, memory: int) -> None:
    """Do cases and tell of them; never return."""
    if memory != NO_LIMIT:
        _limit_memory(memory)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    for number in numbers:
        os.write(writing, OUTCOME.pack(number, BEGUN, 0))
        try:
            kind, text = judge(number)
        except BaseException:
            kind, text = FAULT, "".join(traceback.format_exception(*sys.exc_info())[-12:])
        data = text.encode(errors="replace")[:20000]
        _write(writing, OUTCOME.pack(number, kind, len(data)) + data)
        if kind == FAULT:
            break  # what it left behind, a GPU that gave up above all, is not the next case's
    os._exit(0)


def _limit_memory(memory: int) -> None:
    """Let this process map so many bytes more; what it has mapped already is not the case's."""
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit, most = memory + there, resource.getrlimit(resource.RLIMIT_AS)[1]
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)  # whoever started it may have allowed less
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


def _watched(reading: int, process: int, first: int, seconds: float) -> Iterator[Outcome]:
    """Give what a child says; the last one is a fault if it dies or hangs."""
    at, limit = first, Limit(process, seconds)
    while True:
        head = _read(reading, OUTCOME.size, limit)
        if head is None:
            yield Outcome(at, FAULT, f"hang: more than {seconds:g} seconds")
            return
        if not head:
            with suppress(ChildProcessError):
                found = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
                if found is not None and found.si_status:
                    yield Outcome(at, FAULT, f"crash: {_name(found.si_status)}")
            return
        at, kind, size = OUTCOME.unpack(head)
        text = _read(reading, size, limit) or b""
        if kind == BEGUN:
            limit.begin()
        else:
            yield Outcome(at, kind, text.decode(errors="replace"))


class Limit:
    """How long a process may be silent: so many seconds of the processor, or of waiting."""

    def __init__(self, process: int, seconds: float) -> None:
        self.folder = Path(f"/proc/{process}")
        self.seconds = seconds
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self.begun = self.seen = self._processor()

    def is_over(self) -> bool:
        """Return whether a process hangs that was silent for so many seconds of the clock."""
        before, self.seen = self.seen, self._processor()
        waits = self.seen == before and not self._may_run()
        return waits or self.seen - self.begun >= self.seconds

    def _processor(self) -> float:
        times = _fields(self.folder)[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def _may_run(self) -> bool:
        """Return whether a thread computes, would if the processor were free, or reads a disk."""
        return any(_fields(thread)[0] in "RD" for thread in (self.folder / "task").iterdir())


def _fields(folder: Path) -> list[str]:
    """Return what the kernel says of a process or thread behind its name: first its state."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _name(status: int) -> str:
    with suppress(ValueError):
        return signal.Signals(status).name
    return f"exit {status}"


def _read(pipe: int, size: int, limit: Limit) -> bytes | None:
    """Return so many bytes, fewer at the end, None if they do not come within a limit."""
    data = b""
    while len(data) < size:
        while not select.select([pipe], [], [], limit.seconds)[0]:
            if limit.is_over():
                return None
        more = os.read(pipe, size - len(data))
        if not more:
            return b""
        data += more
    return data

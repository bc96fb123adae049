"""Start a rank in a process of its own, and say how that ends: it cannot, if it is killed.

    mpiexec ── guard ── rank    killed from outside: the guard notes how, and ends in the same way
                                killed by mpiexec: that takes the guard first, nothing is noted

    mpiexec -n 2 python -m gravure.runtime.comm.guard NOTES program.py [arguments]

What starts ranks learns of an end only by that of the guard, when it has been noted. So of several
ranks that are killed only those have a note that were not killed because another one was.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import NoReturn

from .progress import PROGRESS, lines_of, rank_told

DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that are meant for the rank."""


def main(arguments: list[str]) -> None:
    """Run the program that the arguments name, in a child of this process."""
    die_with_parent()
    notes, rank = Path(arguments[0]), rank_told()
    if rank is not None:
        write_into(lines_of(notes, rank))
    PROGRESS.starter = os.getppid()
    guard(notes, rank)
    from .rank import main as run  # noqa: PLC0415  (numpy begins threads, which no fork takes along)

    run(arguments)


def die_with_parent() -> None:
    """Let this process be killed when the one that has started it ends."""
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


def write_into(lines: Path) -> None:
    """Write to the launcher itself, where that is on this machine: nothing is lost on the way."""
    if lines.is_fifo():
        pipe = os.open(lines, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(pipe, stream.fileno())
        os.close(pipe)


def guard(notes: Path, rank: int | None) -> None:
    """Return in a child; this process waits for its end, tells it, and ends as it did."""
    parent, passed_on = os.getpid(), list[int]()

    def pass_on(number: int, frame: object) -> None:
        passed_on.append(number)
        os.kill(child, number)

    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    child = os.fork()
    if child == 0:
        die_with_parent()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        if os.getppid() == parent:
            return
        os._exit(75)
    for number in PASSED_ON:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    is_over = code == 0 and (notes / f"{rank}.done").exists()
    if rank is not None and not passed_on and not is_over:
        tell(notes, rank, code)
    end_as(code, is_over)


def tell(notes: Path, rank: int, code: int) -> None:
    """Tell the launcher how a rank has ended, unless that has said by itself why."""
    how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
    if code == 0:
        how += ", and not at the end of its program"
    if (notes / f"{rank}.failed").exists():
        return
    if lines_of(notes, rank).is_fifo():
        PROGRESS.folder, PROGRESS.rank = notes, rank
        PROGRESS.note("ended", how)
    else:
        print(f"gravure: rank {rank} {how}", file=sys.stderr, flush=True)


def end_as(code: int, is_over: bool) -> NoReturn:
    """End as a child has, so that what has started this process sees to the other ranks."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # that of the child is enough
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code > 0 or is_over else 75)


if __name__ == "__main__":
    main(sys.argv[1:])

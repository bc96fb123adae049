"""How far this process is: for who has to say why a job has failed, also when it was killed.

A rank of `gravure launch` keeps it in files of the job's folder:

    3.pid       its number as a process     3.doing       in what it was last, in a mapping
    3.failed    why it has given up         3.checkpoint  the last checkpoint that was complete
    3.done      nothing: the program has ended
    3.ended     how it has, where that was not at the end of the program (noted by its guard)
    3.lines     a pipe, in which what it prints goes to the launcher
    3.shared    files of memory that MPI shares between ranks: one that is killed leaves them
"""

from __future__ import annotations

import mmap
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

MAPS = Path("/proc/self/maps")
SHARED = re.compile(r" /dev/shm/(mpich|sm_segment|vader_segment|osc_)[^ ]*$")
"""The files of MPICH and Open MPI in memory, among all that a process has mapped."""
RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Where launchers of MPI tell a process its rank."""
ROOM = 512
"""Bytes of the mapping."""


class Progress:
    """What is known of this process."""

    def __init__(self) -> None:
        self.checkpoint = ""
        """The path of the last complete checkpoint, as far as this process has seen one."""
        self.when = 0.0
        """When that was, in seconds since 1970."""
        self.changed: Callable[[], None] | None = None
        """What is to be done when there is a new one here."""
        self.folder: Path | None = None
        self.rank = 0
        self.starter = os.getppid()
        """The process by which MPI has started this rank."""
        self._room: mmap.mmap | None = None

    def keep_in(self, folder: Path, rank: int) -> None:
        """Keep it in a folder from now on; that is made, if it is on another machine."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.rank = folder, rank
        path = folder / f"{rank}.doing"
        path.write_bytes(bytes(ROOM))
        with open(path, "r+b") as file:
            self._room = mmap.mmap(file.fileno(), ROOM)
        self.note("pid", str(os.getpid()))

    def note(self, what: str, text: str = "") -> None:
        """Write a note, if there is a folder; only the first of its kind counts, but for paths."""
        if self.folder is None:
            return
        path = self.folder / f"{self.rank}.{what}"
        if what != "failed" or not path.exists():
            new = self.folder / f"new {self.rank} {threading.get_ident()}"
            new.write_text(text)
            os.replace(new, path)

    def shares(self) -> None:
        """Take note of the memory that MPI shares with other ranks by now."""
        if self.folder is not None:
            lines = MAPS.read_text().splitlines() if MAPS.exists() else []
            paths = {line.split()[-1] for line in lines if SHARED.search(line)}
            self.note("shared", "\n".join(sorted(paths)))

    @property
    def kept(self) -> bool:
        """Say whether anybody will read what this process does."""
        return self._room is not None

    def does(self, text: str) -> None:
        """Take note of what this process does: costs less than a microsecond."""
        if self._room is not None:
            data = text.encode()[: ROOM - 1] + b"\0"
            self._room[: len(data)] = data

    def saved(self, path: str) -> None:
        """Take note of a checkpoint that is complete."""
        path = os.path.abspath(path)
        if path != self.checkpoint:
            self.heard(path, time.time())
            if self.changed is not None:
                self.changed()

    def heard(self, path: str, when: float) -> None:
        """Take note of a checkpoint that another rank has seen, if it is newer."""
        if when > self.when:
            self.checkpoint, self.when = path, when
            self.note("checkpoint", path)

    def at(self) -> str:
        """Return a part of a sentence about the last checkpoint."""
        return said_of(self.checkpoint)

    def why(self, reason: str) -> str:
        """Return why this process gives up, with what it did last and the last checkpoint."""
        if self.at() in reason:
            return reason
        doing = "" if self.folder is None else doing_of(self.folder, self.rank)
        return f"{reason}{f' (in {doing})' if doing else ''}; {self.at()}"


def rank_told() -> int | None:
    """Return the rank that a launcher of MPI has told this process, if one has started it."""
    told = [os.environ[name] for name in RANKS if name in os.environ]
    return int(told[0]) if told else None


def lines_of(folder: Path, rank: int) -> Path:
    """Return where the pipe is for what a rank prints; none is there on other machines."""
    return folder / f"{rank}.lines"


def said_of(checkpoint: str) -> str:
    """Return a part of a sentence about a checkpoint; none: there is none.

    >>> said_of("/runs/ckpt-3")
    'the last complete checkpoint is /runs/ckpt-3'
    """
    return f"the last complete checkpoint is {checkpoint}" if checkpoint else "no checkpoint yet"


def doing_of(folder: Path, rank: int) -> str:
    """Return in what a rank was last, as it has noted; nothing, if it has not."""
    path = folder / f"{rank}.doing"
    return path.read_bytes().partition(b"\0")[0].decode(errors="replace") if path.exists() else ""


def checkpoint_of(folder: Path) -> str:
    """Return the last checkpoint that ranks have noted."""
    notes = sorted(folder.glob("*.checkpoint"), key=lambda note: note.stat().st_mtime_ns)
    return notes[-1].read_text() if notes else ""


PROGRESS = Progress()

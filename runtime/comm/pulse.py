"""Signs of life: each rank says from time to time that it is there, and hears who is not.

    rank 0   there .  there .  there .            a thread of its own, four times in a deadline
    rank 1   there .  there .  x                  killed, stopped, cut off
    rank 0   has heard nothing from rank 1 for D s: ends the job

A wait says by itself that it takes too long. But who computes, serves, waits for a queue, or has
come to the end of the program asks nobody: the thread sees for all of them that a rank is gone.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from typing import Protocol

from .progress import PROGRESS
from .protocol import patience

PARTS = 4
"""How often there is a sign of life within a deadline, at least."""
OFTEN = 1.0
"""Seconds between two signs, at most."""
MARGIN = 0.5
"""Seconds behind the deadline: who waits for a rank says more than who has not heard of it."""
THERE, OVER = 0, 1
HEAD = struct.Struct("<Bd")
"""Of a sign: its kind, and when the checkpoint was complete whose path follows."""


class Wire(Protocol):
    """Carries signs of life."""

    rank: int
    size: int

    def send_sign(self, sign: bytes, to: int) -> bool:
        """Begin to send a sign; return whether it is on its way: the last one may still be."""

    def next_sign(self) -> tuple[int, bytes] | None:
        """Return the next sign that has come: from whom, and what; None if none has."""


class Pulse:
    """The signs of life of a rank."""

    def __init__(
        self,
        wire: Wire,
        lost: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.wire, self.lost, self.clock = wire, lost, clock
        self.others = [rank for rank in range(wire.size) if rank != wire.rank]
        self.heard = dict.fromkeys(self.others, clock())
        self.over: set[int] = set()
        """The ranks whose programs have ended."""
        self.told: set[int] = set()
        """The ranks to which is on its way that the program here has ended."""
        self.ending = False
        self.sent, self.looked = 0.0, clock()
        self.woken = threading.Event()
        self.thread = threading.Thread(target=self._run, name="signs of life", daemon=True)

    def silent(self) -> list[int]:
        """Return the ranks of which a sign of life is missing."""
        late = self.clock() - 2 * patience() / PARTS
        return [rank for rank in self.others if rank not in self.over and self.heard[rank] < late]

    def beat(self) -> str:
        """Send a sign, if it is time; take in those of others; return what is wrong, if it is."""
        now, limit = self.clock(), patience()
        if now >= self.sent + min(OFTEN, limit / PARTS):
            self.sent = now
            kind = OVER if self.ending else THERE
            sign = HEAD.pack(kind, PROGRESS.when) + PROGRESS.checkpoint.encode()
            for rank in self.others:
                if self.wire.send_sign(sign, rank) and kind == OVER:
                    self.told.add(rank)
        while (found := self.wire.next_sign()) is not None:
            source, sign = found
            self.heard[source] = now
            kind, when = HEAD.unpack_from(sign)
            PROGRESS.heard(sign[HEAD.size :].decode(), when)
            if kind == OVER:
                self.over.add(source)
        if now - self.looked > limit / 2:  # this process itself has stood still
            self.heard = dict.fromkeys(self.others, now)
        self.looked = now
        left = [rank for rank in self.others if rank not in self.over]
        gone = [rank for rank in left if now > self.heard[rank] + limit + MARGIN]
        if not gone:
            return ""
        names = ", ".join(f"rank {rank}" for rank in gone)
        return f"rank {self.wire.rank} has heard nothing from {names} for {limit:g} s"

    def _run(self) -> None:
        while True:
            wrong = self.beat()
            if wrong:
                self.lost(wrong)
                return
            # The program may have ended since the beat: the others wait for the sign of it.
            if len(self.told) == len(self.over) == len(self.others):
                return
            soon = 0.002 if self.ending else min(0.1, patience() / PARTS / 2)
            self.woken.wait(soon)
            self.woken.clear()

    def start(self) -> None:
        """Begin; tell the others at once of each checkpoint."""
        PROGRESS.changed = self.hurry
        self.thread.start()

    def hurry(self) -> None:
        """Send a sign now."""
        self.sent = 0.0
        self.woken.set()

    def leave(self) -> None:
        """Tell the others that the program has ended here; return when it has everywhere."""
        self.ending = True
        self.hurry()
        self.thread.join()

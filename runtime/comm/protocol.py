"""What a world of ranks can do, and how long one waits for another.

Every wait has a deadline: a rank that is gone, stopped or cut off says nothing by itself. An error
of a wait names this rank, the other one, the operation and the step.
"""

from __future__ import annotations

import math
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any, Protocol, TypeVar

import numpy as np

from ... import knobs
from ...errors import GravureError
from .progress import PROGRESS

Array = np.ndarray[Any, Any]
Found = TypeVar("Found")

PATIENCE = 60.0
"""Seconds that a wait may take where nothing else is said (`GRAVURE_TIMEOUT`)."""
SPINS = 2000
"""How often a wait looks again at once, before it sleeps in between."""
NAPS = (50e-6, 200e-6)
"""Seconds of sleep between looks: at first, and at most."""
BESIDE = 2e-3
"""At most, where something else goes on meanwhile, which each look would take time from."""
LOOKS = 64
"""After so many looks others may run."""
MANY = 8
"""How many shapes an error shows."""


class CommError(GravureError):
    """Ranks that work together do not go on: one is gone, late, or does something else.

    The message names this rank, the other one, the operation and the step. The whole step is
    given up; start again from the last checkpoint, which `gravure launch --restarts` does.
    """

    code = "GV6200"
    exit_status = 75


class LateError(CommError):
    """Another rank was waited for, and said nothing before the deadline.

    It is gone, stopped, cut off, or does something that takes longer than `GRAVURE_TIMEOUT`
    (`gravure launch --timeout`).
    """

    code = "GV6210"


class AbortedWorldError(CommError):
    """Another rank has given up, so that this one does too.

    The message says which rank it was and why; its own output says more.
    """

    code = "GV6220"


class WorldError(CommError):
    """The ranks that there are, are not those that were asked for.

    A launcher of one MPI with the library of another starts worlds of one rank each; a cluster
    has as many tasks as its world has ranks; ranks of one collective operation give it the same
    shapes and types.
    """

    code = "GV6230"
    exit_status = 69


class CurrentStep(local):
    """The step that a thread is in, for messages."""

    number: int | None = None
    is_beside: bool = False
    """Whether other threads work meanwhile, which a wait should let do so."""


STEP = CurrentStep()


@contextmanager
def in_step(number: int) -> Any:
    """Let errors of waits say which step it is."""
    before, STEP.number = STEP.number, number
    PROGRESS.does(f"step {number}")
    try:
        yield
    finally:
        STEP.number = before


@contextmanager
def beside(number: int | None) -> Iterator[None]:
    """Let waits of this thread, which goes on beside others, sleep soon."""
    before, STEP.number, STEP.is_beside = STEP.number, number, True
    try:
        yield
    finally:
        STEP.number, STEP.is_beside = before, False


def in_which() -> str:
    """Return in which step this is, as the end of a sentence."""
    return "" if STEP.number is None else f" of step {STEP.number}"


class Limit:
    """How long waits may take as the program has said it."""

    seconds: float | None = None


def wait_for(seconds: float) -> None:
    """Let a wait take so many seconds at most from now on, whatever the environment says."""
    Limit.seconds = float(seconds)


def patience() -> float:
    """Return the seconds that a wait may take."""
    if Limit.seconds is not None:
        return Limit.seconds
    text = knobs.TIMEOUT.text()
    try:
        found = float(text) if text else PATIENCE
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise WorldError(f"{knobs.TIMEOUT.name}={text!r}, expected a number of seconds above 0")
    return found


def transfer_bits() -> int:
    """Return in how many bits `float32` values are sent where a program does not say."""
    text = knobs.TRANSFER_BITS.text() or "32"
    if text not in ("16", "32"):
        raise WorldError(f"{knobs.TRANSFER_BITS.name}={text!r}, expected 16 or 32")
    return int(text)


@dataclass
class Wait:
    """What is waited for, and until when."""

    operation: str
    peer: str
    rank: int = 0
    seconds: float = field(default_factory=patience)
    busy: float = 0.0
    """Seconds without a sleep between looks: where each look does a part of the work."""

    def until(self, look: Callable[[], Found | None]) -> Found:
        """Return what a look gives, once it gives something; raise behind the deadline."""
        if PROGRESS.kept:
            PROGRESS.does(f"{self.operation}{in_which()}, with {self.peer}")
        begin, spins = time.monotonic(), 0 if STEP.is_beside else SPINS
        while spins:
            for _ in range(LOOKS):
                if (found := look()) is not None:
                    return found
            os.sched_yield()
            spins = max(0, spins - LOOKS) or (time.monotonic() < begin + self.busy)
        longest = BESIDE if STEP.is_beside else NAPS[1]
        end, nap = time.monotonic() + self.seconds, NAPS[0]
        while (found := look()) is None:
            if time.monotonic() > end:
                raise self.late()
            time.sleep(nap)
            nap = min(2 * nap, longest)
        return found

    def late(self) -> LateError:
        """Return the error of a wait that took too long."""
        return LateError(
            f"rank {self.rank} has waited {self.seconds:g} s for {self.peer} in "
            f"{self.operation}{in_which()}; {PROGRESS.at()}",
            hint=f"{knobs.TIMEOUT.name} sets how long a wait may take",
        )


class Comm(Protocol):
    """A world of ranks, of which this is one."""

    rank: int
    size: int
    kind: str
    """What it is made of, for messages."""
    has_threads: bool
    """Whether other threads of a rank may take part while its first one works."""

    def post(self, message: Any, to: int) -> None:
        """Send a message, which can be pickled, to a rank; it is there in the order sent."""

    def poll(self) -> tuple[int, Any] | None:
        """Return the next message to this rank and who sent it, None if none has come."""

    def exchange(self, value: Any, operation: str) -> list[Any]:
        """Return what each rank gave, in order of the ranks."""

    def all_reduce(self, array: Array, how: str = "sum") -> Array:
        """Return the sum, product, least or greatest of the arrays of all ranks."""

    def all_reduce_each(self, arrays: Sequence[Array], how: str) -> Sequence[Array]:
        """Do that for each of several arrays of one type, which go together."""

    def abort(self, reason: str) -> None:
        """Let all ranks give up."""


HOW: dict[str, Callable[..., Any]] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
"""The ways to reduce, by name."""


def all_gather(comm: Comm, array: Array) -> list[Array]:
    """Return the arrays of all ranks in their order; those of equal rank and type."""
    found = comm.exchange(np.asarray(array), "all_gather")
    agreed(found, "all_gather", lambda x: (x.dtype, x.shape[1:]))
    return found


def broadcast(comm: Comm, array: Array | None, root: int = 0) -> Array:
    """Return the array of one rank."""
    if not 0 <= root < comm.size:
        raise WorldError(f"broadcast from rank {root}, there are {comm.size} ranks")
    given = np.asarray(array) if comm.rank == root else None
    found: Array = comm.exchange(given, "broadcast")[root]
    return found


def barrier(comm: Comm) -> None:
    """Wait until all ranks are here."""
    comm.exchange(None, "barrier")


def reduced(arrays: Sequence[Array], how: str) -> Array:
    """Return arrays reduced in their order, so that the result is always the same."""
    if how not in HOW:
        raise WorldError(f"reduction {how!r}, expected one of {', '.join(HOW)}")
    agreed(arrays, "all_reduce", lambda x: (x.dtype, x.shape))
    total = arrays[0].copy()
    for array in arrays[1:]:
        total = HOW[how](total, array)
    return np.asarray(total, arrays[0].dtype)


def check_sum(arrays: Sequence[Array]) -> int:
    """Return a number that arrays of other types or shapes, as good as surely, have not got."""
    return zlib.crc32(repr([(x.dtype.char, x.shape) for x in arrays]).encode())


def other_shapes(other: int, arrays: Sequence[Array], rank: int) -> WorldError:
    """Return the error for ranks whose arrays have other shapes; each says which are its own."""
    shapes = [list(x.shape) for x in arrays[:MANY]]
    more = ", ..." if len(arrays) > MANY else ""
    which = "another rank" if other == rank else f"rank {other}"
    return WorldError(
        f"all_reduce: {which} gives other types or shapes; rank {rank} gives "
        f"{arrays[0].dtype} {', '.join(map(str, shapes))}{more}"
    )


def agreed(arrays: Sequence[Array], operation: str, of: Callable[[Array], Any]) -> None:
    """Raise unless all ranks gave arrays that fit each other."""
    rows = [of(array) for array in arrays]
    other = next((rank for rank, row in enumerate(rows) if row != rows[0]), None)
    if other is not None:
        first, last = arrays[0], arrays[other]
        raise WorldError(
            f"{operation}: rank 0 gives {first.dtype}{list(first.shape)}, rank {other} gives "
            f"{last.dtype}{list(last.shape)}"
        )

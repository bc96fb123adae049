"""The world that `mpiexec` started.

No call waits inside of MPI: operations are begun, and asked for until they are done or the
deadline has passed (`Wait`). What MPI has no type for (bfloat16, text) goes as bytes, and is
reduced here, in order of the ranks.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from ..buffer import keep_pages
from ..tracing import EARS, span
from .progress import PROGRESS
from .protocol import (
    HOW,
    Array,
    LateError,
    Wait,
    WorldError,
    check_sum,
    other_shapes,
    patience,
    reduced,
)
from .pulse import Pulse
from .shared import SharedRooms

TAG = 0x6772
"""The tag of our messages, so that a program may use MPI beside us."""
SIGN = TAG + 1
"""The tag of signs of life."""
LARGE = TAG + 2
"""The tag of what does not fit into a message."""
FITS = 8192
"""Bytes of a message: room for it is there before it comes, so that it is found by one question."""
HEAD = struct.Struct("<Bq")
"""What stands for a message that does not fit: a zero, with which no other begins, and its size."""
QUIET = nullcontext()
PIECE = 1 << 16
"""Bytes that MPI moves by one look, about."""
LARGEST = 1 << 18
"""Bytes from which an array goes by itself, where there is no memory that all see."""
SLOW = 200e6
"""Bytes a second that a reduction surely moves, while all ranks look after it."""
SOON = 0.01
"""Seconds that the others may take to come to the next piece, while nobody sleeps."""
HANGS = 0.5
"""Seconds that MPI has to end a job, before this process ends itself."""
AGENTS = ("hydra", "pmi_proxy", "prte", "orte")
"""How the names begin of what starts ranks on a machine."""
NATIVE = frozenset("bhilqBHILQfdFD")
"""The numpy types that MPI knows."""
OPS = {"sum": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX}


def library() -> str:
    """Return which MPI it is."""
    return MPI.Get_library_version().splitlines()[0].strip().rstrip("\0")


class MpiComm:
    """One rank of `MPI.COMM_WORLD`."""

    kind = "MPI"

    def __init__(self) -> None:
        keep_pages()
        self.world = MPI.COMM_WORLD
        self.rank, self.size = self.world.Get_rank(), self.world.Get_size()
        self.sending: list[tuple[MPI.Request, bytes]] = []
        self.lock = threading.Lock()
        self.status = MPI.Status()
        """What is filled in by the next message."""
        self.room = bytearray(FITS)
        self.coming: MPI.Prequest | None = self.world.Recv_init(
            [self.room, MPI.BYTE], MPI.ANY_SOURCE, TAG
        )
        """What the next message comes into, until the end."""
        self.coming.Start()
        self.lane = f"messages of rank {self.rank}"
        """Where traces show it."""
        self.signs: dict[int, tuple[MPI.Request, bytes]] = {}
        """The last sign of life to each rank, and its bytes as long as they are being sent."""
        self.pulse = Pulse(self, self.abort)
        self.has_threads = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        if self.size > 1 and self.has_threads:
            self.pulse.start()
        PROGRESS.shares()
        atexit.register(self.leave)

    def send_sign(self, sign: bytes, to: int) -> bool:
        """Begin to send a sign of life, unless the last one is still on its way."""
        before = self.signs.get(to)
        if before is not None and not before[0].Test():
            return False
        self.signs[to] = self.world.Isend([sign, MPI.BYTE], to, SIGN), sign
        return True

    def next_sign(self) -> tuple[int, bytes] | None:
        """Return the next sign of life that has come."""
        status = MPI.Status()
        found = self.world.Improbe(MPI.ANY_SOURCE, SIGN, status)
        if found is None:
            return None
        data = bytearray(status.Get_count(MPI.BYTE))
        found.Recv([data, MPI.BYTE])  # (it comes in one piece with its head)
        return status.Get_source(), bytes(data)

    def leave(self) -> None:
        """Wait for the ends of all programs, so that MPI ends where all are there."""
        if hasattr(sys, "last_value"):  # this program ends by an error, which the others must know
            self.abort(f"{type(sys.last_value).__name__}: {sys.last_value}")
        if self.pulse.thread.is_alive():
            self.pulse.leave()
        with self.lock:
            coming, self.coming = self.coming, None
            if coming is not None:
                coming.Cancel()
                coming.Wait()
                coming.Free()
        PROGRESS.does("MPI_Finalize")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # no thread of Python's is left by then
        signal.setitimer(signal.ITIMER_REAL, patience())
        rooms = self.__dict__.get("rooms")
        if rooms is not None:
            rooms.free()

    def post(self, message: Any, to: int) -> None:
        """Begin to send a message; its bytes are kept until it is sent."""
        data = pickle.dumps(message, protocol=5)
        size = len(data)
        noted = span("message", f"to rank {to}", self.lane, bytes=size) if EARS.count else QUIET
        with noted, self.lock:
            if self.sending:
                self.sending = [row for row in self.sending if not row[0].Test()]
            if size > FITS:
                self._send(HEAD.pack(0, size), to, TAG)
                self._send(data, to, LARGE)
            else:
                self._send(data, to, TAG)

    def _send(self, data: bytes, to: int, tag: int) -> None:
        request = self.world.Isend([data, MPI.BYTE], to, tag)
        if not request.Test():  # (short messages are gone at once)
            self.sending.append((request, data))

    def poll(self) -> tuple[int, Any] | None:
        """Return the next message and who sent it."""
        with self.lock:
            coming, status = self.coming, self.status
            if coming is None or not coming.Test(status):
                return None
            source = status.Get_source()
            if self.room[0]:
                if EARS.count:
                    bytes_of = status.Get_count(MPI.BYTE)
                    with span("message", f"from rank {source}", self.lane, bytes=bytes_of):
                        found = pickle.loads(self.room)
                else:
                    found = pickle.loads(self.room)
                coming.Start()
                return source, found
            size = HEAD.unpack_from(self.room)[1]
            data = bytearray(size)
            request = self.world.Irecv([data, MPI.BYTE], source, LARGE)
            coming.Start()
        with span("message", f"from rank {source}", self.lane, bytes=size):
            if not request.Test():
                self._wait(request, "a message", f"rank {source}")
        return source, pickle.loads(data)

    def exchange(self, value: Any, operation: str) -> list[Any]:
        """Return what each rank gave: first how long that is, then the bytes."""
        with span("message", operation, self.lane):
            return self._exchange(value, operation)

    def _exchange(self, value: Any, operation: str) -> list[Any]:
        data = np.frombuffer(pickle.dumps((operation, value), protocol=5), np.uint8)
        counts = np.zeros(self.size, np.int64)
        mine = np.array([data.size], np.int64)
        self._wait(self.world.Iallgather(mine, counts), operation)
        whole = np.empty(int(counts.sum()), np.uint8)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        into = [whole, counts.tolist(), starts.tolist(), MPI.BYTE]
        self._wait(self.world.Iallgatherv([data, MPI.BYTE], into), operation)
        ends = starts + counts
        found = [pickle.loads(whole.data[a:b]) for a, b in zip(starts, ends, strict=True)]
        if any(name != operation for name, _ in found):
            said = ", ".join(f"rank {rank} in {name}" for rank, (name, _) in enumerate(found))
            raise WorldError(f"ranks do not do the same: {said}")
        return [given for _, given in found]

    def all_reduce(self, array: Array, how: str = "sum") -> Array:
        """Return the arrays of all ranks reduced: by MPI where it knows their type."""
        return self.all_reduce_each([np.asarray(array)], how)[0]

    def all_reduce_each(self, arrays: Sequence[Array], how: str) -> Sequence[Array]:
        """Return each of several arrays reduced: in memory that all see, where there is one."""
        dtype, size = arrays[0].dtype, sum(x.nbytes for x in arrays)
        if how not in HOW or dtype.char not in NATIVE or not dtype.isnative:
            return [reduced(self.exchange(x, "all_reduce"), how) for x in arrays]
        with span("message", "all_reduce", self.lane, bytes=size):
            rooms = self.rooms
            if rooms is None:
                return self._sent(arrays, how)
            return rooms.reduce(arrays, how, self._met)

    @cached_property
    def rooms(self) -> SharedRooms | None:
        """Return memory that all ranks see; all ask for it at the same time."""
        found = SharedRooms.of(self.world)
        PROGRESS.shares()
        return found

    def _met(self, soon: bool, look: Callable[[], bool | None]) -> None:
        self._until(look, Wait("all_reduce", self.others(), self.rank, busy=SOON if soon else 0.0))

    def _sent(self, arrays: Sequence[Array], how: str) -> Sequence[Array]:
        """Reduce large arrays by themselves, for to copy them takes longer than a message more."""
        self._check(arrays)
        found = [x if x.nbytes < LARGEST else self._reduced(x, how) for x in arrays]
        small = [x for x in arrays if x.nbytes < LARGEST]
        if small:
            whole = self._reduced(np.concatenate([x.ravel() for x in small]), how, own=True)
            ends = np.cumsum([x.size for x in small])[:-1]
            made = iter(np.split(whole, ends))
            found = [next(made).reshape(x.shape) if x.nbytes < LARGEST else x for x in found]
        return found

    def _check(self, arrays: Sequence[Array]) -> None:
        """Raise unless all ranks give the same shapes: MPI would write what does not fit."""
        mine = check_sum(arrays)
        ends = np.array([mine, -mine], np.int64)  # the largest, and the smallest, of all ranks
        self._wait(self.world.Iallreduce(MPI.IN_PLACE, ends, MPI.MAX), "all_reduce")
        if ends[0] != -ends[1]:
            sums = self.exchange(mine, "all_reduce")
            other = next(n for n, each in enumerate(sums) if each != sums[0])
            raise other_shapes(other, arrays, self.rank)

    def _reduced(self, array: Array, how: str, *, own: bool = False) -> Array:
        """Return an array reduced by MPI; one that is ours alone may hold the result."""
        result: Array = np.ascontiguousarray(array).reshape(array.shape)
        given: Any = result
        busy = 0.0
        if own:
            given = MPI.IN_PLACE
        else:
            result = np.empty_like(given)
        if result.nbytes > PIECE:  # see Note [Looks that work]
            self._wait(self.world.Ibarrier(), "all_reduce")
            busy = result.nbytes / SLOW
        self._wait(self.world.Iallreduce(given, result, OPS[how]), "all_reduce", busy=busy)
        return result

    def abort(self, reason: str) -> None:
        """End all processes of the world; this one, if MPI cannot reach the others."""
        reason = PROGRESS.why(reason)
        PROGRESS.note("failed", reason)
        print(f"rank {self.rank} ends the job: {reason}", file=sys.stderr, flush=True)
        watch = threading.Timer(HANGS, end_here)
        watch.daemon = True
        watch.start()
        self.world.Abort(75)

    def _wait(
        self, request: MPI.Request, operation: str, peer: str = "", busy: float = 0.0
    ) -> None:
        wait = Wait(operation, peer or self.others(), self.rank, busy=busy)
        self._until(lambda: request.Test() or None, wait, one=bool(peer))

    def _until(self, look: Callable[[], bool | None], wait: Wait, *, one: bool = False) -> None:
        """Wait; if it is in vain and not for a certain rank, say which ones are silent."""
        try:
            wait.until(look)
        except LateError:
            silent = ", ".join(f"rank {rank}" for rank in self.pulse.silent())
            if one or not silent:
                raise
            wait.peer = silent
            raise wait.late() from None

    def others(self) -> str:
        """Return whom a collective operation waits for."""
        return f"rank {1 - self.rank}" if self.size == 2 else "the other ranks"


def end_here() -> None:
    """End this process, and what has started it: that cannot be told any more."""
    parent = PROGRESS.starter
    with suppress(OSError):
        if Path(f"/proc/{parent}/comm").read_text().startswith(AGENTS):
            os.kill(parent, signal.SIGTERM)
    os._exit(75)


# Note [Looks that work]
# MPI moves a large array in pieces, each when both sides look: a sleep of 200 us between looks
# makes 15 ms of what takes 1. So all ranks are waited for first, with sleeps, and while they are
# all there nobody sleeps, for as long as a slow machine takes.

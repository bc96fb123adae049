"""The world that `mpiexec` started.

No call waits inside of MPI: operations are begun, and asked for until they are done or the
deadline has passed (`Wait`). What MPI has no type for (bfloat16, text) goes as bytes, and is
reduced here, in order of the ranks.
"""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import numpy as np
from mpi4py import MPI

from ..tracing import span
from .protocol import HOW, Array, Wait, WorldError, reduced

TAG = 0x6772
"""The tag of our messages, so that a program may use MPI beside us."""
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
        self.world = MPI.COMM_WORLD
        self.rank, self.size = self.world.Get_rank(), self.world.Get_size()
        self.sending: list[tuple[MPI.Request, bytes]] = []
        self.lock = threading.Lock()
        self.status = MPI.Status()
        """What is filled in by the next message that is found."""
        self.lane = f"messages of rank {self.rank}"
        """Where traces show it."""

    def post(self, message: Any, to: int) -> None:
        """Begin to send a message; its bytes are kept until it is sent."""
        data = pickle.dumps(message, protocol=5)
        with span("message", f"to rank {to}", self.lane, bytes=len(data)), self.lock:
            if self.sending:
                self.sending = [row for row in self.sending if not row[0].Test()]
            request = self.world.Isend([data, MPI.BYTE], to, TAG)
            if not request.Test():  # (short messages are gone at once)
                self.sending.append((request, data))

    def poll(self) -> tuple[int, Any] | None:
        """Return the next message and who sent it."""
        with self.lock:
            status = self.status
            found = self.world.Improbe(MPI.ANY_SOURCE, TAG, status)
            if found is None:
                return None
            self.status = MPI.Status()
        source = status.Get_source()
        data = bytearray(status.Get_count(MPI.BYTE))
        request = found.Irecv([data, MPI.BYTE])
        with span("message", f"from rank {source}", self.lane, bytes=len(data)):
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
        array = np.ascontiguousarray(array).reshape(array.shape)
        if how not in HOW or array.dtype.char not in NATIVE or not array.dtype.isnative:
            return reduced(self.exchange(array, "all_reduce"), how)
        result = np.empty_like(array)
        with span("message", "all_reduce", self.lane, bytes=array.nbytes):
            self._wait(self.world.Iallreduce(array, result, OPS[how]), "all_reduce")
        return result

    def abort(self, reason: str) -> None:
        """End all processes of the world."""
        print(f"rank {self.rank} ends the job: {reason}", file=sys.stderr, flush=True)
        self.world.Abort(75)

    def _wait(self, request: MPI.Request, operation: str, peer: str = "") -> None:
        wait = Wait(operation, peer or "the other ranks", self.rank)
        wait.until(lambda: request.Test() or None)

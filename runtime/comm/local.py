"""A world of threads: what several processes do, without processes, and always the same way.

found = run_ranks(4, lambda comm: comm.all_reduce(np.ones(2)))
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..tracing import span
from .protocol import AbortedWorldError, Array, Comm, Wait, reduced


class Board:
    """What the ranks of a world of threads share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.boxes: list[deque[tuple[int, Any]]] = [deque() for _ in range(size)]
        self.rounds: dict[int, dict[int, Any]] = {}
        """What ranks have given to each collective operation, by its number."""
        self.left: dict[int, int] = {}
        """How many ranks have taken it."""
        self.changed = threading.Condition()
        self.fault = ""
        """Why the ranks give up."""


class LocalComm:
    """One rank of a world of threads."""

    kind = "threads"
    has_threads = True

    def __init__(self, board: Board, rank: int) -> None:
        self.board, self.rank, self.size = board, rank, board.size
        self.calls = 0

    def post(self, message: Any, to: int) -> None:
        """Send a message."""
        with span("message", f"to rank {to}", f"messages of rank {self.rank}"), self.board.changed:
            self.board.boxes[to].append((self.rank, message))
            self.board.changed.notify_all()

    def poll(self) -> tuple[int, Any] | None:
        """Return the next message and who sent it."""
        self._check()
        box = self.board.boxes[self.rank]
        with self.board.changed:
            if not box:
                self.board.changed.wait(2e-4)  # others may run meanwhile
            return box.popleft() if box else None

    def exchange(self, value: Any, operation: str) -> list[Any]:
        """Return what each rank gave."""
        with span("message", operation, f"messages of rank {self.rank}"):
            return self._exchange(value, operation)

    def _exchange(self, value: Any, operation: str) -> list[Any]:
        number, self.calls = self.calls, self.calls + 1
        board, wait = self.board, Wait(operation, "", self.rank)
        with board.changed:
            given = board.rounds.setdefault(number, {})
            given[self.rank] = (operation, value)
            board.changed.notify_all()
            whole = board.changed.wait_for(
                lambda: len(given) == self.size or board.fault, wait.seconds
            )
            self._check()
            if not whole:
                late = [str(rank) for rank in range(self.size) if rank not in given]
                wait.peer = f"rank {', '.join(late)}"
                raise wait.late()
            board.left[number] = board.left.get(number, 0) + 1
            if board.left[number] == self.size:
                del board.rounds[number], board.left[number]
        names = [given[rank][0] for rank in range(self.size)]
        if len(set(names)) > 1:
            said = ", ".join(f"rank {rank} in {name}" for rank, name in enumerate(names))
            raise AbortedWorldError(f"ranks do not do the same: {said}")
        return [given[rank][1] for rank in range(self.size)]

    def all_reduce(self, array: Array, how: str = "sum") -> Array:
        """Return the arrays of all ranks reduced, in order of the ranks."""
        return reduced(self.exchange(array, "all_reduce"), how)

    def all_reduce_each(self, arrays: Sequence[Array], how: str) -> Sequence[Array]:
        """Return each of several arrays reduced, in order of the ranks."""
        found = self.exchange(list(arrays), "all_reduce")
        return [reduced(row, how) for row in zip(*found, strict=True)]

    def abort(self, reason: str) -> None:
        """Let all ranks give up."""
        with self.board.changed:
            self.board.fault = self.board.fault or f"rank {self.rank}: {reason}"
            self.board.changed.notify_all()

    def _check(self) -> None:
        if self.board.fault:
            raise AbortedWorldError(f"rank {self.rank} gives up because of {self.board.fault}")


class Standing(threading.local):
    """The world that a thread stands in, where it is not that of the process."""

    comm: Comm | None = None


STANDING = Standing()


@contextmanager
def standing(comm: Comm) -> Iterator[Comm]:
    """Let a thread be a rank of another world."""
    before, STANDING.comm = STANDING.comm, comm
    try:
        yield comm
    finally:
        STANDING.comm = before


def alone() -> LocalComm:
    """Return the world of one."""
    return LocalComm(Board(1), 0)


def run_ranks(size: int, function: Callable[[Any], Any]) -> list[Any]:
    """Return what a function gives on each rank of a world of threads; raise its first error.

    `world()` is the rank's own within the function.
    """
    board = Board(size)
    results: list[Any] = [None] * size
    errors: list[tuple[bool, int, BaseException]] = []

    def run(rank: int) -> None:
        comm = LocalComm(board, rank)
        try:
            with standing(comm):
                results[rank] = function(comm)
        except BaseException as error:
            errors.append((isinstance(error, AbortedWorldError), rank, error))
            comm.abort(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda row: row[:2])[2]
    return results

"""Memory that all ranks of one machine see: they reduce there what they have, in order.

Each rank has two rooms, used by turns. What ranks reduce goes through them in pieces: each copies
its piece into its own room and says which number that has, waits until all have said so, and then
adds up what is in the rooms of all. Who comes to the next piece uses the other room, so that nobody
writes where another still reads.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby
from typing import Any

import numpy as np
from mpi4py import MPI

from ..artifact import ALIGNMENT
from ..buffer import RecycledBytes
from .protocol import HOW, Array, WorldError, check_sum, other_shapes

ROOM = 2 << 20
"""Bytes of a room: what all ranks have in theirs fits into a processor's cache."""
HEAD = 64
"""Bytes before it, in which a rank says the number of its piece and of what it is."""
MOST = 4
"""Of more ranks, each would read too much that others have read too."""
Look = Callable[[], bool | None]
"""Says whether all are there; None: not yet."""


class SharedRooms:
    """The rooms of all ranks of a machine; made by all of them together."""

    def __init__(self, world: MPI.Intracomm) -> None:
        self.world = world
        self.window = MPI.Win.Allocate_shared(2 * (HEAD + ROOM), 1, comm=world)
        self.window.Lock_all(MPI.MODE_NOCHECK)
        every: Sequence[Any] = [self.window.Shared_query(n)[0] for n in range(world.Get_size())]
        self.rooms = [np.frombuffer(room, np.uint8).reshape(2, HEAD + ROOM) for room in every]
        self.heads = [[x[n, :HEAD].data.cast("q") for x in self.rooms] for n in (0, 1)]
        """By turn and rank: the number of the piece, its bytes, and of its arrays: how many, of
        which type, reduced how, the check sum of their shapes."""
        self.number = 0
        self.results = RecycledBytes()
        for heads in self.heads:
            heads[world.Get_rank()][0] = 0
        self.window.Sync()
        world.Barrier()

    @classmethod
    def of(cls, world: MPI.Intracomm) -> SharedRooms | None:
        """Return the rooms of a world, if all of it is on one machine and has few ranks."""
        if world.Get_size() > MOST:
            return None
        here = world.Split_type(MPI.COMM_TYPE_SHARED)
        count = here.Get_size()
        here.Free()
        alone = np.array(count < world.Get_size(), np.int32)
        world.Allreduce(MPI.IN_PLACE, alone, MPI.MAX)
        return None if alone else cls(world)

    def reduce(
        self, arrays: Sequence[Array], how: str, wait: Callable[[bool, Look], object]
    ) -> Sequence[Array]:
        """Return arrays of one type reduced; `wait` looks until all are there.

        It is told whether all were there a moment ago, so that they will be here soon.
        """
        dtype, rank = arrays[0].dtype, self.world.Get_rank()
        given = [np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in arrays]
        rows = [-(-x.size // ALIGNMENT) * ALIGNMENT for x in given]
        starts = [*accumulate(rows, initial=0)]
        found = self.results.take(starts[-1])
        said = (starts[-1], len(arrays), ord(dtype.char), [*HOW].index(how), check_sum(arrays))
        pieces = parts(starts, [x.size for x in given])
        for chunk, here in groupby(pieces, operator.itemgetter(0)):
            base, turn = chunk * ROOM, self.number % 2
            self.number += 1
            for _, number, start, stop in here:
                place = HEAD + starts[number] + start - base
                self.rooms[rank][turn, place : place + stop - start] = given[number][start:stop]
            self.meet(turn, said, partial(wait, chunk > 0))
            if not chunk:
                self.agreed(self.heads[turn], arrays)
            size = min(starts[-1] - base, ROOM)
            self.add([x[turn, HEAD : HEAD + size] for x in self.rooms], dtype, how, found[base:])
        return [
            found[start : start + x.nbytes].view(dtype).reshape(x.shape)
            for start, x in zip(starts, arrays, strict=False)
        ]

    def meet(self, turn: int, said: Sequence[int], wait: Callable[[Look], object]) -> None:
        """Say that a piece is in the own room, and wait until those of all others are."""
        heads, number = self.heads[turn], self.number
        mine = heads[self.world.Get_rank()]
        for place, word in enumerate(said, 1):
            mine[place] = word
        self.window.Sync()  # what the number stands for is there before it
        mine[0] = number
        wait(lambda: all(head[0] >= number for head in heads) or None)
        self.window.Sync()

    def add(self, rooms: Sequence[Array], dtype: np.dtype, how: str, into: Array) -> None:
        """Reduce what is in rooms, in order of the ranks."""
        first, *more = (room.view(dtype) for room in rooms)
        total = into[: rooms[0].size].view(dtype)
        with np.errstate(all="ignore"):  # between arrays lies anything
            for other in more:
                HOW[how](first, other, out=total)
                first = total

    def agreed(self, heads: Sequence[memoryview[int]], arrays: Sequence[Array]) -> None:
        """Raise unless all ranks say that they give the same."""
        rows = [head[1:6].tolist() for head in heads]
        for rank, row in enumerate(rows):
            if row[:-1] != rows[0][:-1]:
                raise WorldError(
                    f"all_reduce: rank 0 gives {words(rows[0])}, rank {rank} gives {words(row)}"
                )
            if row != rows[0]:
                raise other_shapes(rank, arrays, self.world.Get_rank())

    def free(self) -> None:
        """Give the rooms back; all ranks do it together."""
        self.rooms, self.heads = [], []
        self.window.Unlock_all()
        self.window.Free()


def parts(starts: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Give room, array, and from which byte to which of it: what lies in each room, in order.

    Something lies in the first one, if only nothing of the first array.

    >>> [*parts([0, 64, ROOM + 64], [8, ROOM, 0])]
    [(0, 0, 0, 8), (0, 1, 0, 2097088), (1, 1, 2097088, 2097152)]
    """
    yield 0, 0, 0, min(sizes[0], ROOM)
    for number, (start, size) in enumerate(zip(starts, sizes, strict=False)):
        done = 0 if number else min(size, ROOM)
        while done < size:
            room = (start + done) // ROOM
            stop = min(size, (room + 1) * ROOM - start)
            yield room, number, done, stop
            done = stop


def words(said: Sequence[int]) -> str:
    """Return what a rank has said that it gives, for people."""
    size, count, char, how, _ = said
    return f"{count} arrays of {np.dtype(chr(char))} in {size} bytes by {[*HOW][how]}"

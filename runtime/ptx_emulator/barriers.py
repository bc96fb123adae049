"""Where threads of a block wait for each other: the 16 barriers, and barriers with phases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .faults import KernelFault
from .lanes import Lanes
from .memory import Array

RUNS, PARKED, AT_BARRIER, WAITS, LEFT = range(5)
"""What lanes do: run, wait for their warp, for a barrier, for a phase; or they have left."""
BARRIERS = 16
"""How many barriers a block has."""


MOST_BYTES = (1 << 20) - 1
"""What a barrier with phases can wait for at a time."""


class BlockBarriers:
    """The barriers of `bar.sync` and `bar.arrive`, for each block."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.threads = threads
        self.arrived = np.zeros((blocks, BARRIERS), np.int64)
        self.expected = np.zeros((blocks, BARRIERS), np.int64)
        """How many must come; 0 if all threads that have not left."""
        self.number = np.zeros(0, np.int64)
        """For each lane, the barrier that it waits at."""

    def is_trivial(self, machine: Lanes, count: Array | None) -> bool:
        """Say whether all lanes come to a barrier at the same time, and nobody came before."""
        whole = machine.lanes is None and machine.threads == machine.lanes_per_block
        return whole and count is None and not self.arrived.any()

    def come(self, machine: Lanes, numbers: Array, count: Array | None) -> None:
        """Count the active lanes as arrived, whether they wait or not."""
        lanes = machine.active()
        if self.number.size == 0:
            self.number = np.zeros(machine.count, np.int64)
        if (numbers >= BARRIERS).any():
            raise KernelFault(f"barrier {int(numbers.max())}: there are {BARRIERS}")
        self.number[lanes] = numbers
        wanted = np.broadcast_to(0 if count is None else count.astype(np.int64), lanes.shape)
        if (wanted % 32).any():
            raise KernelFault("a barrier for a number of threads that is not a multiple of 32")
        blocks, ids = machine.block_of[lanes], self.number[lanes]
        open_ones = self.arrived[blocks, ids] > 0
        if (open_ones & (self.expected[blocks, ids] != wanted)).any():
            raise KernelFault("a barrier is used with different numbers of threads at a time")
        self.expected[blocks, ids] = wanted
        np.add.at(self.arrived, (blocks, ids), 1)
        if machine.races is not None:
            rows = np.stack([blocks, ids, machine.warp_of[lanes]], axis=1)
            for block, number, warp in np.unique(rows, axis=0):
                machine.races.arrive((int(block), int(number)), int(block), int(warp))

    def release(self, machine: Lanes) -> Array:
        """Let all go on whose barrier is complete; return these lanes."""
        left = (machine.state.reshape(len(self.arrived), -1) == LEFT).sum(axis=1)
        here = machine.lanes_per_block - left
        wanted = np.where(self.expected > 0, self.expected, here[:, None])
        if ((self.arrived > wanted) & (self.arrived > 0) & (self.expected > 0)).any():
            raise KernelFault("more threads come to a barrier than it is for")
        complete = (self.arrived > 0) & (self.arrived >= wanted)
        if not complete.any():
            return np.zeros(0, np.int64)
        waiting = machine.state == AT_BARRIER
        freed = np.nonzero(waiting & complete[machine.block_of, self.number])[0]
        self._check_places(machine, freed)
        if machine.races is not None:
            for block, number in zip(*np.nonzero(complete), strict=True):
                mine = freed[(machine.block_of[freed] == block) & (self.number[freed] == number)]
                key = int(block), int(number)
                machine.races.complete(key)
                for warp in np.unique(machine.warp_of[mine]):
                    machine.races.passed(key, int(block), int(warp))
        self.arrived[complete] = 0
        machine.state[freed] = RUNS
        machine.pc[freed] += 1
        return freed

    def _check_places(self, machine: Lanes, freed: Array) -> None:
        """Refuse a barrier of the whole block that threads reach at different instructions."""
        blocks, numbers = machine.block_of[freed], self.number[freed]
        whole = freed[self.expected[blocks, numbers] == 0]
        keys = machine.block_of[whole] * BARRIERS + self.number[whole]
        pcs = machine.pc[whole]
        for key in np.unique(keys):
            mine = np.unique(pcs[keys == key])
            if mine.size > 1:
                steps = machine.program.steps
                lines = " and ".join(str(steps[int(pc)].instruction.line) for pc in mine)
                raise KernelFault(
                    f"threads of one block meet at barrier {key % BARRIERS} in lines {lines}"
                )


class ClusterBarriers:
    """The barrier of each cluster, which all its threads come to before they wait for it."""

    def __init__(self, blocks: int, cluster: int, lanes_per_block: int, threads: int) -> None:
        self.lanes = cluster * lanes_per_block
        self.threads = cluster * threads
        self.arrived = np.zeros(blocks // cluster, np.int64)
        self.number = np.zeros(blocks // cluster, np.int64)
        """How many phases are over."""
        self.awaited = np.full(blocks * lanes_per_block, -1, np.int64)
        """For each lane, the phase that it came to."""

    def come(self, machine: Lanes, lane: int) -> None:
        """Count a lane as arrived."""
        cluster = lane // self.lanes
        if self.awaited[lane] == self.number[cluster]:
            raise KernelFault("a thread comes to the barrier of its cluster twice")
        self.awaited[lane] = self.number[cluster]
        self.arrived[cluster] += 1
        key = ("cluster", cluster)
        races = machine.races
        if races is not None:
            races.arrive(key, int(machine.block_of[lane]), int(machine.warp_of[lane]))
        if self.arrived[cluster] == self.threads:
            self.arrived[cluster] = 0
            self.number[cluster] += 1
            if races is not None:
                races.complete(key)
            machine.wake()

    def is_over(self, machine: Lanes, lanes: Array) -> Array:
        """Say for which lanes the phase is over that they came to."""
        if (self.awaited[lanes] < 0).any():
            raise KernelFault("a thread waits for its cluster and did not come to the barrier")
        clusters = lanes // self.lanes
        over: Array = self.awaited[lanes] < self.number[clusters]
        if machine.races is not None:
            for lane in lanes[over].tolist():
                key = ("cluster", lane // self.lanes)
                block, warp = int(machine.block_of[lane]), int(machine.warp_of[lane])
                machine.races.passed(key, block, warp)
        return over


@dataclass
class Phase:
    """A barrier with phases (`mbarrier`): arrivals and bytes that the phase still lacks."""

    expected: int
    arrivals: int
    bytes: int = 0
    number: int = 0
    """How many phases are over."""
    is_fresh: bool = True
    """Whether no fence followed that lets copies see it."""


class PhaseBarriers:
    """The `mbarrier` objects, by where they lie in the shared memory of all blocks."""

    def __init__(self) -> None:
        self.at: dict[int, Phase] = {}

    def make(self, places: Iterable[int], counts: Iterable[int]) -> None:
        """Begin barriers at places, each for a number of arrivals."""
        for place, count in zip(places, counts, strict=True):
            if count < 1:
                raise KernelFault(f"an mbarrier for {count} arrivals")
            self.at[place] = Phase(count, count)

    def find(self, place: int) -> Phase:
        """Return the barrier at a place."""
        found = self.at.get(place)
        if found is None:
            raise KernelFault(f"no mbarrier was initialised at {place} of shared memory")
        return found

    def fence(self, machine: Lanes) -> None:
        """Let copies see the barriers of the active lanes' blocks."""
        blocks = set(machine.block_of[machine.active()].tolist())
        for place, phase in self.at.items():
            if place // machine.shared.stride in blocks:
                phase.is_fresh = False

    def arrive(self, machine: Lanes, place: int, count: int, transfer: int = 0) -> int:
        """Count arrivals, and bytes to wait for; return the phase they belong to."""
        phase = self.find(place)
        number = phase.number
        phase.bytes += transfer
        if phase.bytes > MOST_BYTES:
            raise KernelFault(f"an mbarrier for {phase.bytes} bytes, {MOST_BYTES} are the most")
        phase.arrivals -= count
        if phase.arrivals < 0:
            raise KernelFault(f"more arrivals at an mbarrier than the {phase.expected} of a phase")
        self._complete(machine, place, phase)
        return number

    def transferred(self, machine: Lanes, place: int, count: int) -> None:
        """Count bytes that a copy has written."""
        phase = self.find(place)
        phase.bytes -= count
        self._complete(machine, place, phase)

    def _complete(self, machine: Lanes, place: int, phase: Phase) -> None:
        """Begin the next phase if nothing is lacking."""
        if phase.arrivals == 0 and phase.bytes == 0:
            phase.arrivals = phase.expected
            phase.number += 1
            if machine.races is not None:
                machine.races.complete(place)
            machine.wake()

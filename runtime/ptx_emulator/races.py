"""Which accesses to shared memory are not ordered, by vector clocks of warps.

Each warp counts its own steps between synchronisations, and knows how far of the others' steps
have been before: a barrier makes all that meet there know what each of them knew. Of each piece
of shared memory it is kept which warp wrote it when, and when each warp read it. An access is a
race if another warp's write (or, for a write, read) is not among what this warp knows.

The threads of a warp count as one, and atomic operations are not looked at. Copies that run by
themselves (TMA) count as one more warp, and so do the products of warpgroups. These two go to
shared memory by another way (the async proxy): what threads wrote they find only behind a
`fence.proxy.async`, of who wrote it or of who knows that it is written.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from .faults import KernelFault
from .lanes import Lanes
from .memory import Array

NOBODY = 255


def unfenced() -> KernelFault:
    """Return the fault of copies and products that may not see what threads wrote."""
    return KernelFault(
        "a copy or a product of warpgroups meets what threads wrote to shared memory",
        hint="a fence.proxy.async between the two is missing",
    )


class Races:
    """The clocks of all warps, and the last accesses to all pieces of shared memory."""

    def __init__(self, machine: Lanes, access: int) -> None:
        self.machine = machine
        blocks = max(1, machine.count // machine.lanes_per_block)
        self.copier = machine.lanes_per_block // 32
        """The number of the warp that stands for copies."""
        self.multiplier = self.copier + 1
        """The number of the warp that stands for products of warpgroups."""
        self.warps = self.multiplier + 1
        """Of one block."""
        self.cluster = machine.cluster
        warps = self.warps * self.cluster
        self.access = access
        self.clock = np.zeros((blocks // self.cluster, warps, warps), np.int32)
        self.clock[:, np.arange(warps), np.arange(warps)] = 1
        units = machine.shared.data.size // access
        self.writer = np.full(units, NOBODY, np.uint8)
        self.written = np.zeros(units, np.int32)
        self.was_read = np.zeros((units, warps), np.int32)
        self.unfenced = np.zeros(units, np.bool_)
        """What threads wrote, and no fence let copies and products see."""
        self.arrived: dict[Hashable, Array] = {}
        self.completed: dict[Hashable, Array] = {}

    def read(self, places: Array, size: int, warps: Array | None = None) -> None:
        """Note that the active lanes (or `warps`) read, and find out if that is in order."""
        for units, blocks, mine in self._units(places, size, warps):
            self._check(units, blocks, mine, "reads what")
            self.was_read[units, mine] = self.clock[blocks, mine, mine]

    def write(self, places: Array, size: int, warps: Array | None = None) -> None:
        """Note that the active lanes (or `warps`) write, and find out if that is in order."""
        for units, blocks, mine in self._units(places, size, warps):
            self._check(units, blocks, mine, "writes where")
            known = self.clock[blocks, mine]
            late = self.was_read[units] > known
            late[np.arange(len(mine)), mine] = False
            if late.any():
                lane = int(np.nonzero(late.any(axis=1))[0][0])
                other = int(np.nonzero(late[lane])[0][0])
                raise self._race(units[lane], mine[lane], other, "writes what", "still reads")
            if (self.unfenced[units] & (mine % self.warps == self.copier)).any():
                raise unfenced()
            self.unfenced[units] = mine % self.warps < self.copier
            self.writer[units] = mine
            self.written[units] = self.clock[blocks, mine, mine]
            clash = self.writer[units] != mine
            if clash.any():
                lane = int(np.nonzero(clash)[0][0])
                other = int(self.writer[units[lane]])
                raise self._race(units[lane], mine[lane], other, "writes where", "writes too")

    def _units(
        self, places: Array, size: int, warps: Array | None
    ) -> list[tuple[Array, Array, Array]]:
        """Return pieces of memory, their clusters, and the warps that use them."""
        machine = self.machine
        if warps is None:
            warps = machine.of_lanes(machine.warp_of)
        blocks = places // machine.shared.stride
        mine = np.broadcast_to(warps, places.shape).astype(np.int64)
        mine = mine + blocks % self.cluster * self.warps
        clusters = blocks // self.cluster
        first = places // self.access
        return [(first + number, clusters, mine) for number in range(max(1, size // self.access))]

    def _check(self, units: Array, blocks: Array, mine: Array, does: str) -> None:
        """Refuse the access if another warp's write is not known to be before."""
        writers = self.writer[units]
        other = (writers != NOBODY) & (writers != mine)
        if not other.any():
            return
        whose = np.where(other, writers, 0)
        late = other & (self.written[units] > self.clock[blocks, mine, whose])
        if late.any():
            lane = int(np.nonzero(late)[0][0])
            raise self._race(units[lane], mine[lane], int(writers[lane]), does, "writes")

    def _race(self, unit: int, mine: int, other: int, does: str, they: str) -> KernelFault:
        others = {self.copier: "the copy", self.multiplier: "a product"}
        pair = [int(warp) % self.warps for warp in (mine, other)]
        names = [others.get(warp, f"warp {warp}") for warp in pair]
        at = int(unit) * self.access % self.machine.shared.stride
        return KernelFault(
            f"race: {names[0]} {does} {names[1]} {they} at {at} of shared memory",
            hint="a barrier between the two is missing",
        )

    def meet_all(self) -> None:
        """Let all warps of every block know all that any of them knows."""
        for rank in range(self.cluster):
            warps = np.arange(self.copier) + rank * self.warps
            self.clock[:, warps] = self.clock[:, warps].max(axis=1, keepdims=True)
            self.clock[:, warps, warps] += 1

    def _whose(self, block: int, warp: int) -> tuple[int, int]:
        """Return the cluster of a block, and the number of its warp in there."""
        return block // self.cluster, block % self.cluster * self.warps + warp

    def arrive(self, barrier: Hashable, block: int, warp: int) -> None:
        """Note that a warp arrives at a barrier, knowing what it knows."""
        cluster, mine = self._whose(block, warp)
        known = self.clock[cluster, mine].copy()
        before = self.arrived.get(barrier)
        self.arrived[barrier] = known if before is None else np.maximum(known, before)
        self.clock[cluster, mine, mine] += 1

    def complete(self, barrier: Hashable) -> None:
        """Note that a phase is over: what arrived is there for those who wait."""
        found = self.arrived.pop(barrier, None)
        if found is not None:
            before = self.completed.get(barrier)
            self.completed[barrier] = found if before is None else np.maximum(found, before)

    def passed(self, barrier: Hashable, block: int, warp: int) -> None:
        """Let a warp know what was known at the end of the phase that it waited for."""
        found = self.completed.get(barrier)
        if found is not None:
            whose = self._whose(block, warp)
            self.clock[whose] = np.maximum(self.clock[whose], found)

    def copy_starts(self, block: int, warp: int, into: int) -> None:
        """Let a copy into a block know what the warp of a block knows that starts it."""
        cluster, mine = self._whose(block, warp)
        _, copier = self._whose(into, self.copier)
        known = np.maximum(self.clock[cluster, copier], self.clock[cluster, mine])
        known[copier] += 1
        self.clock[cluster, copier] = known
        self.clock[cluster, mine, mine] += 1

    def copy_out(self, block: int, warp: int, places: Array) -> None:
        """Note that a warp begins a copy out of shared memory."""
        self.copy_starts(block, warp, block)
        self._read_async(places, self.copier)

    def copies_done(self, block: int, warp: int) -> None:
        """Let a warp know what copies did."""
        whose = self._whose(block, warp)
        copier = self._whose(block, self.copier)
        self.clock[whose] = np.maximum(self.clock[whose], self.clock[copier])

    def _read_async(self, places: Array, reader: int) -> None:
        for units, _, _ in self._units(places, 16, np.full(len(places), reader)):
            if self.unfenced[units].any():
                raise unfenced()
        self.read(places, 16, np.full(len(places), reader))

    def fence(self) -> None:
        """Let copies and products see what the active warps know that threads wrote."""
        machine = self.machine
        active = machine.active()
        size = machine.shared.stride // self.access
        rows = np.stack([machine.block_of[active], machine.warp_of[active]], axis=1)
        for block, warp in np.unique(rows, axis=0).tolist():
            units = block * size + np.nonzero(self.unfenced[block * size : (block + 1) * size])[0]
            known = self.written[units] <= self.clock[self._whose(block, warp)][self.writer[units]]
            self.unfenced[units[known]] = False

    def multiply(self, block: int, warps: Array, places: Array) -> None:
        """Note that a product of some warps reads, which knows what all of them know."""
        cluster, mine = self._whose(block, self.multiplier)
        warps = warps + block % self.cluster * self.warps
        known = np.maximum(self.clock[cluster, warps].min(axis=0), self.clock[cluster, mine])
        known[mine] += 1
        self.clock[cluster, mine] = known
        self._read_async(places, self.multiplier)
        self.clock[cluster, warps, mine] = known[mine]

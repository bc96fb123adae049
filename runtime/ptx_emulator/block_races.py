"""Which accesses to global memory of different blocks are not ordered: none are, in a launch.

Blocks run in any order, so what one writes no other may read or write in the same launch. Atomic
operations are not looked at; of blocks that wait for each other by these, nothing is known here.
"""

from __future__ import annotations

import numpy as np

from .faults import KernelFault
from .lanes import Lanes
from .memory import HEAP_START, Array, Heap

NOBODY, SEVERAL = -1, -2


class BlockRaces:
    """The block that wrote each piece of global memory in a launch, and the one that read it."""

    def __init__(self, heap: Heap, access: int) -> None:
        self.access = access
        units = heap.data.size // access + 1
        self.writer = np.full(units, NOBODY, np.int32)
        self.reader = np.full(units, NOBODY, np.int32)

    def read(self, m: Lanes, places: Array, size: int, lanes: Array | None = None) -> None:
        """Note that lanes (the active ones) read `size` bytes at places."""
        for units, mine in self._units(m, places, size, lanes):
            self._check(self.writer[units], units, mine, "reads what", "writes")
            before = self.reader[units]
            own = (before == NOBODY) | (before == mine)
            self.reader[units] = np.where(own, mine, SEVERAL)
            others = self.reader[units] != mine
            self.reader[units[others]] = SEVERAL

    def unchanged(self, places: Array, size: int) -> None:
        """Refuse what a load takes for constant, and this launch has written."""
        for number in range(max(1, size // self.access)):
            if (self.writer[places // self.access + number] != NOBODY).any():
                raise KernelFault("ld.global.nc reads what this launch wrote")

    def write(self, m: Lanes, places: Array, size: int, lanes: Array | None = None) -> None:
        """Note that lanes (the active ones) write `size` bytes at places."""
        for units, mine in self._units(m, places, size, lanes):
            self._check(self.writer[units], units, mine, "writes where", "writes too")
            self._check(self.reader[units], units, mine, "writes what", "reads")
            self.writer[units] = mine
            self._check(self.writer[units], units, mine, "writes where", "writes too")

    def _units(
        self, m: Lanes, places: Array, size: int, lanes: Array | None
    ) -> list[tuple[Array, Array]]:
        """Return pieces of memory, and the blocks that use them."""
        owners = (
            m.block_of
            if lanes is None and m.lanes is None
            else m.block_of[m.lanes if lanes is None else lanes]
        )
        mine = np.broadcast_to(m.blocks[owners], places.shape).astype(np.int32)
        first = places // self.access
        return [(first + number, mine) for number in range(max(1, size // self.access))]

    def _check(self, found: Array, units: Array, mine: Array, does: str, they: str) -> None:
        """Refuse an access where another block was before."""
        wrong = (found != NOBODY) & (found != mine)
        if wrong.any():
            lane = int(np.nonzero(wrong)[0][0])
            other = int(found[lane])
            name = "another block" if other == SEVERAL else f"block {other}"
            at = HEAP_START + int(units[lane]) * self.access
            raise KernelFault(
                f"race: block {int(mine[lane])} {does} {name} {they} at {at:#x} of global memory",
                hint="blocks of one launch run in any order",
            )

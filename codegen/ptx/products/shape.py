"""How large the tile of a block is, and how its threads share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ....ir.types.dims import Dim
from ....ir.types.dtypes import DType

LANES = 4
"""Elements that a thread loads, multiplies and stores at a time."""

ENOUGH_BLOCKS = 2 * 108
"""Two for each processor of an A100: fewer leave some of it idle."""


@dataclass(frozen=True)
class Tile:
    """A tile of the result and a stretch of depth; the part of one thread, in elements.

    A thread has rows in runs of four and columns in vectors; the runs, and the vectors, of one
    thread lie as far apart as all threads' first ones reach, so that neighbours read neighbours.
    """

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int

    def __post_init__(self) -> None:
        for width in (self.rows, self.columns):
            assert width * self.depth % (LANES * self.threads) == 0, f"{self}: uneven parts"

    @property
    def threads(self) -> int:
        """Return the threads of a block."""
        return self.rows * self.columns // (self.thread_rows * self.thread_columns)

    @property
    def thread_vectors(self) -> int:
        """Return the vectors of columns of one thread."""
        return self.thread_columns // LANES

    @property
    def across(self) -> int:
        """Return how many threads stand along the columns."""
        return self.columns // self.thread_columns

    @property
    def run(self) -> int:
        """Return the rows of a thread that lie next to each other."""
        return min(LANES, self.thread_rows)

    @property
    def row_places(self) -> list[int]:
        """Return where the rows of a thread lie, beyond its first."""
        apart = self.run * self.rows // self.thread_rows
        return [i // self.run * apart + i % self.run for i in range(self.thread_rows)]

    @property
    def column_places(self) -> list[int]:
        """Return where the vectors of a thread lie, beyond its first."""
        return [j * LANES * self.across for j in range(self.thread_vectors)]


LARGE = Tile(128, 128, 16, 8, 8)
MIDDLE = Tile(64, 64, 16, 8, 4)
SMALL = Tile(32, 32, 16, 4, 4)
TILES = (LARGE, MIDDLE, SMALL)


def choose_tile(batch: Dim, rows: Dim, columns: Dim, dtype: DType) -> Tile:
    """Return the largest tile of which there are enough."""
    if not (isinstance(batch, int) and isinstance(rows, int) and isinstance(columns, int)):
        return MIDDLE
    for tile in (LARGE, MIDDLE):
        blocks = batch * -(-rows // tile.rows) * -(-columns // tile.columns)
        fits = rows > tile.rows // 2 and columns > tile.columns // 2
        if fits and blocks >= ENOUGH_BLOCKS and (tile is MIDDLE or dtype.size <= LANES):
            return tile
    return SMALL


@dataclass(frozen=True)
class WarpTile:
    """A tile of the result that warps share, each a part of it, by products of 16x8 elements."""

    rows: int
    columns: int
    depth_bytes: int
    down: int
    """Warps below each other."""
    across: int
    """Warps beside each other."""
    size: int = 2
    """Bytes of an element."""

    def __post_init__(self) -> None:
        assert self.rows % (16 * self.down) == 0, f"{self}: uneven rows"
        assert self.columns % (16 * self.across) == 0, f"{self}: uneven columns"
        for width in (self.rows, self.columns):
            assert width * self.depth_bytes % (VECTOR * self.threads) == 0, f"{self}: uneven parts"

    @property
    def depth(self) -> int:
        """Return the depths that are in shared memory at a time."""
        return self.depth_bytes // self.size

    @property
    def threads(self) -> int:
        """Return the threads of a block."""
        return 32 * self.down * self.across

    @property
    def warp_rows(self) -> int:
        """Return the rows of one warp."""
        return self.rows // self.down

    @property
    def warp_columns(self) -> int:
        """Return the columns of one warp."""
        return self.columns // self.across


class AnyTile(Protocol):
    """What all tiles have: their sizes, and the threads that compute one."""

    @property
    def rows(self) -> int:
        """Return the rows of the result."""

    @property
    def columns(self) -> int:
        """Return the columns of the result."""

    @property
    def depth(self) -> int:
        """Return the depths that are in shared memory at a time."""

    @property
    def threads(self) -> int:
        """Return the threads of a block."""


VECTOR = 16
"""Bytes that a thread loads or copies at a time."""

LARGE_WARPS = WarpTile(128, 128, 64, 2, 4)
MIDDLE_WARPS = WarpTile(64, 64, 64, 2, 2)
FLAT_WARPS = WarpTile(16, 64, 128, 1, 4)
TALL_WARPS = WarpTile(128, 64, 64, 4, 2)
BROAD_WARPS = WarpTile(64, 128, 64, 2, 4)
WARP_TILES = (LARGE_WARPS, MIDDLE_WARPS, FLAT_WARPS, TALL_WARPS, BROAD_WARPS)


def choose_warp_tile(batch: Dim, rows: Dim, columns: Dim) -> WarpTile:
    """Return the largest tile of which there are enough."""
    if not (isinstance(batch, int) and isinstance(rows, int) and isinstance(columns, int)):
        return MIDDLE_WARPS
    if rows <= FLAT_WARPS.rows:
        return FLAT_WARPS
    tile = LARGE_WARPS
    blocks = batch * -(-rows // tile.rows) * -(-columns // tile.columns)
    fits = rows > tile.rows // 2 and columns > tile.columns // 2
    return tile if fits and blocks >= ENOUGH_BLOCKS else MIDDLE_WARPS

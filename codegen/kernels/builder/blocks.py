"""How the rows of a product are cut: into blocks, the units of work, and these into tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType

from ....ir.types.dims import Dim, ceil_divide
from .loops import Index, Loops

LINE = 64
"""Bytes of a cache line."""
CLASH = 8
"""Lines that rows are apart of which a tile has several in one set of L1, or multiples of them."""
MOST_LINES = 4
"""The most lines that a tile asks for in two steps: more, and what is multiplied would wait."""
BLOCK_ROWS = 192
"""Rows of which A and a part of a panel of B stay in L2 together."""


@dataclass(frozen=True)
class Asks:
    """What the tiles of a product ask memory for: parts of B that come next, then what is behind B.

    All sizes are in elements of B. Behind B lie the weights of what is launched next.
    """

    lines: int
    """Cache lines that a tile asks for in two steps of k."""
    chunk: int
    """What a tile asks for in all."""
    part: int
    """Of a panel, what is multiplied at a time."""
    tiles: int
    """Tiles that read a part one after the other; the first `own` ask for the next one."""
    own: int
    all: int
    """The size of B."""
    behind: int

    @classmethod
    def plan(cls, part: tuple[int, int], tiles: int, panels: int, size: int, *, behind: int,
             next_part: bool) -> Asks | None:  # fmt: skip
        """Return the fewest lines that do; None if nothing is to be asked for.

        A part has so many rows and columns of `size` bytes; `behind` is in bytes.
        """
        depth, width = part
        for lines in range(1, MOST_LINES + 1):
            chunk = lines * (LINE // size) * (depth // 2)
            own = -(-depth * width // max(chunk, 1)) if next_part else 0
            if own <= tiles and (tiles - own) * panels * chunk * size >= behind:
                break
        own = min(own, tiles)
        most = (tiles - own) * panels * chunk
        behind = min(behind // size, most)
        if not chunk or not (next_part or behind):
            return None
        return cls(lines, chunk, depth * width, tiles, own, panels * depth * width, behind)

    def place(self, loops: Loops, panel: Index, tile: Index) -> Index:
        """Return how far behind the part in hand the lines lie that a tile asks for."""
        near = loops.add(loops.multiply(tile, self.chunk), self.part)
        if not self.behind:
            return near
        number = loops.add(
            loops.multiply(panel, self.tiles - self.own), loops.subtract(tile, self.own)
        )
        far = loops.minimum(loops.multiply(number, self.chunk), max(0, self.behind - self.chunk))
        far = loops.add(far, loops.subtract(self.all, loops.multiply(panel, self.part)))
        if not self.own:
            return far
        is_near = loops.compare("slt", tile, self.own)
        pair = (is_near, loops.index(near), loops.index(far))
        return loops.pure(arith.SelectOp, pair, IndexType())


def lines_ahead(width: int, size: int, tiles: int) -> int:
    """Return the cache lines to ask for in two steps of k, so that `tiles` tiles ask for all.

    A step reads `width` elements of `size` bytes, and each tile reads them again.
    """
    return -(-2 * width * size // (LINE * tiles))


def odd_lines(count: int, line: int) -> int:
    """Return at least so many elements that are an odd number of lines: each in another set."""
    lines = -(-count // line)
    return (lines + 1 - lines % 2) * line


def apart(count: int, line: int) -> int:
    """Return how far rows of so many elements are to be apart: no two of a tile in one set.

    Only rows whose length is a large power of two, or several of them, are made longer.
    """
    return odd_lines(count, line) if count % (CLASH * line) == 0 else count


THREADS = (2, 2, 4)
"""The numbers of threads whose shares are to be equal; two count twice."""
EVEN = 1.02
"""So near to the most equal shares, blocks are rather large than small."""


def tiles_alike(rows: int, tall: int) -> int:
    """Return the least number of tiles of one height, if that is more than half of `tall`.

    >>> tiles_alike(64, 13), tiles_alike(64, 6), tiles_alike(50, 14), tiles_alike(31, 14)
    (8, 16, 5, 3)
    """
    heights = [height for height in range(tall, tall // 2, -1) if rows % height == 0]
    return max(1, rows // heights[0] if heights else -(-rows // tall))


class RowBlocks:
    """Cuts rows into blocks, and blocks into tiles of nearly equal height."""

    def __init__(
        self, rows: Dim, tall: int, block_rows: int = BLOCK_ROWS, *, alike: bool = False
    ) -> None:
        self.rows, self.tall = rows, tall
        self.count: Dim
        if isinstance(rows, int):
            self.tiles = tiles_alike(rows, tall) if alike else max(1, -(-rows // tall))
            self.height, self.higher = rows // self.tiles, rows % self.tiles
            blocks = max(1, -(-rows // block_rows))
            self.per_block = -(-self.tiles // blocks)
            self.count = -(-self.tiles // self.per_block)
        else:
            self.per_block = max(1, block_rows // tall)
            self.count = ceil_divide(rows, self.per_block * tall)

    def cut(self, enough: int, others: Dim) -> None:
        """Make blocks of fewer tiles until they and what else there is are enough units."""
        if not isinstance(self.rows, int) or not isinstance(others, int):
            return
        while self.per_block > 1 and -(-self.tiles // self.per_block) * others < enough:
            self.per_block = -(-self.per_block // 2)
        self.count = -(-self.tiles // self.per_block)

    def share(self, others: Dim, *, least: int, inner: bool) -> None:
        """Make blocks of fewer tiles, `least` or more, if threads get more equal shares then.

        There are so many others of each block, which follow each other unless blocks are `inner`.
        """
        if not isinstance(self.rows, int) or not isinstance(others, int) or not others:
            return
        waste = {
            tiles: sum(self.largest(tiles, others, threads, inner=inner) for threads in THREADS)
            for tiles in range(self.per_block, max(1, least) - 1, -1)
        }
        enough = EVEN * min(waste.values(), default=0)
        self.per_block = next((n for n, each in waste.items() if each <= enough), self.per_block)
        self.count = -(-self.tiles // self.per_block)

    def largest(self, tiles: int, others: int, threads: int, *, inner: bool) -> float:
        """Return the largest share of so many threads, of blocks of so many tiles; 1 is equal."""
        blocks = -(-self.tiles // tiles)
        outer, rest = (others, blocks) if inner else (blocks, others)
        units = outer * rest
        size, longer = divmod(units, min(threads, units))
        ends = [i * size + min(i, longer) for i in range(min(threads, units) + 1)]

        def work(end: int) -> int:
            group, part = divmod(end, rest)
            if inner:
                return group * self.tiles + min(part * tiles, self.tiles)
            done = min(group * tiles, self.tiles)
            return done * rest + part * (min(done + tiles, self.tiles) - done)

        shares = [work(end) - work(start) for start, end in pairwise(ends)]
        return max(shares) * threads / (self.tiles * others)

    @property
    def most(self) -> int:
        """Return the most rows that a block can have."""
        return self.per_block * self.tall

    def first(self, loops: Loops, block: Index) -> Index:
        """Return the first row of a block."""
        if not isinstance(self.rows, int):
            return loops.multiply(block, self.per_block * self.tall)
        low = loops.multiply(block, self.per_block)
        return loops.add(loops.multiply(low, self.height), loops.minimum(low, self.higher))

    def walk(self, loops: Loops, block: Index, tile: Callable[[int, Index], None]) -> None:
        """Call `tile(rows, start)` for each tile of a block."""
        if isinstance(self.rows, int):
            self._walk_static(loops, block, tile)
        else:
            self._walk_symbolic(loops, block, tile)

    def _walk_static(self, loops: Loops, block: Index, tile: Callable[[int, Index], None]) -> None:
        """Tiles of `height + 1` rows come first, then those of `height`."""
        if self.tiles == 1:
            tile(self.height, 0)
            return
        low = loops.multiply(block, self.per_block)
        high = loops.minimum(loops.add(low, self.per_block), self.tiles)
        if self.higher:
            with loops.loop(low, loops.minimum(high, self.higher)) as one:
                tile(self.height + 1, loops.multiply(one.index, self.height + 1))
        with loops.loop(loops.maximum(low, self.higher), high) as one:
            start = loops.add(loops.multiply(one.index, self.height), self.higher)
            tile(self.height, start)

    def _walk_symbolic(
        self, loops: Loops, block: Index, tile: Callable[[int, Index], None]
    ) -> None:
        """Walk the rows of a block."""
        low = loops.multiply(block, self.per_block * self.tall)
        high = loops.minimum(loops.add(low, self.per_block * self.tall), loops.index(self.rows))
        walk_heights(loops, (low, high), self.tall, tile)


def walk_heights(
    loops: Loops, span: tuple[Index, Index], tall: int, tile: Callable[[int, Index], None]
) -> None:
    """Call `tile(rows, start)` for full tiles of a span, then for the rest by halving heights."""
    start, high = span
    rest = loops.subtract(high, loops.index(start))
    height = tall
    while height:
        whole = loops.multiply(loops.divide(rest, height), height)
        stop = loops.add(start, whole)
        with loops.loop(start, stop, height) as one:
            tile(height, one.index)
        rest = loops.subtract(rest, loops.index(whole))
        start = stop
        height = (1 << (height - 1).bit_length()) >> 1


def walk_equal(
    loops: Loops, count: int, tall: int, tile: Callable[[int, Index, Index], None]
) -> None:
    """Call `tile(rows, start, number)` for the fewest tiles, which are nearly equally high."""
    tiles = -(-count // tall)
    height, higher = divmod(count, tiles)
    for low, high, rows, first in ((0, higher, height + 1, 0), (higher, tiles, height, higher)):
        if low < high:
            with loops.loop(low, high) as one:
                tile(rows, loops.add(loops.multiply(one.index, rows), first), one.index)

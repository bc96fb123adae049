"""Products of few rows on a GPU: each element of the right operand is read once, by many threads.

    block: batch x some columns
      each thread: every n-th depth         acc[rows] += A[row, k] * B[k, its columns]
      sums of the threads of a column       in shared memory; or, where depths are neighbours in
      out[row, column] = epilogue(sum)      memory and a warp has a column, by shuffles

The rows are so few that all of them stay in registers, and nothing is worth keeping in shared
memory: the time is that of reading the right operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....ir.dialects.gpu import WARP, Barrier, Shuffle
from ....ir.types.dims import Dim, remainder
from ...kernels.builder.combine import across_lanes
from ...kernels.builder.elements import Element, computed
from ...kernels.builder.loops import Index
from .nest import Side
from .shape import LANES
from .tile import Contraction, Line, Part, shared

MOST_ROWS = 8
THREADS = 256
COLUMNS = 32
"""Of a block, where columns are neighbours."""


@dataclass(frozen=True)
class ThinTile:
    """All rows and some columns, whose depths are shared by `threads // across` threads."""

    rows: int
    columns: int
    across: int
    """Threads that begin at the same depth."""
    depth: int = 1
    threads: int = THREADS

    @property
    def along(self) -> int:
        """Return how many threads share the depths of a column."""
        return self.threads // self.across


class ThinContraction(Contraction):
    """Builds one kernel, if it `fits`."""

    @property
    def fits(self) -> bool:
        """Say whether there are few rows, and enough columns for it to matter."""
        few = isinstance(self.rows, int) and self.rows <= MOST_ROWS
        return few and (not isinstance(self.columns, int) or self.columns > MOST_ROWS)

    def open_sides(self) -> None:
        """Let threads read vectors of the right operand, along which of its dims they lie."""
        left, right = self.sides
        right.open(self.column_tokens, self.depth_tokens, self.batch, LANES)
        left.open(self.row_tokens, self.depth_tokens, self.batch, LANES)
        self.by_depth = right.along == "depth"
        if self.by_depth and right.lanes and not (left.along == "depth" and left.lanes):
            right.open(self.column_tokens, self.depth_tokens, self.batch, 0)
        if not (self.by_depth and right.lanes):
            left.open(self.row_tokens, self.depth_tokens, self.batch, 0)
        self.lanes = right.lanes
        self.STORED = 1 if self.by_depth else max(1, self.lanes)

    def choose(self, batch: Dim) -> ThinTile:
        """Return the part of a block."""
        rows = self.rows if isinstance(self.rows, int) else MOST_ROWS
        if self.by_depth:
            return ThinTile(rows, THREADS // WARP, THREADS // WARP)
        return ThinTile(rows, COLUMNS, COLUMNS // max(1, self.lanes))

    @property
    def thin(self) -> ThinTile:
        """Return the part of a block."""
        assert isinstance(self.tile, ThinTile), f"{self.tile} is for many rows"
        return self.tile

    def part(self, side: Side, width: int, extent: Dim) -> Part:
        """Return an operand's part, which threads do not bring."""
        return Part(side, width, extent, self)

    # -- loops ----------------------------------------------------------------------------

    def block(self, row: Index, column: Index) -> None:
        """Compute some columns of all rows."""
        loops, tile = self.loops, self.thin
        step = max(1, self.lanes) if self.by_depth else 1
        if self.by_depth:
            mine, first = loops.divide(loops.slot, WARP), loops.remainder(loops.slot, WARP)
            at = loops.add(column, mine)
        else:
            mine = loops.remainder(loops.slot, tile.across)
            first = loops.divide(loops.slot, tile.across)
            at = loops.add(column, loops.multiply(mine, max(1, self.lanes)))
        sums = self.own_sums(at, loops.multiply(first, step), step * self.team)
        if self.by_depth:
            sums = [self.over_warp(total) for total in sums]
            with loops.when(loops.compare("eq", first, 0)):
                self.results.store(iter(self.rows_of(sums, row, at)))
            return
        self.share(sums, row, column)

    @property
    def team(self) -> int:
        """Return how many threads share the depths of a column."""
        return WARP if self.by_depth else self.thin.along

    def own_sums(self, column: Index, first: Index, step: int) -> list[Element]:
        """Return the sums over the depths of this thread, of each row."""
        loops, math = self.loops, self.results.math
        left, right = self.sides
        lanes = max(1, self.lanes)
        if remainder(self.columns, self.thin.columns) != 0:
            last = loops.subtract(loops.index(self.columns), 1 if self.by_depth else lanes)
            column = loops.minimum(column, last)
        zero = math.spread(math.constant(0, self.dtype), self.lanes)
        count = self.thin.rows
        high = loops.index(self.depth)
        with loops.loop(first, high, step, [zero.value] * count) as one:
            b = right.element(column, one.index)
            totals = []
            for row, value in enumerate(one.values):
                a = math.spread(left.element(row, one.index), self.lanes)
                total = Element(value, self.dtype, self.lanes)
                totals.append(self.added(total, a, b).value)
            one.carry(*totals)
        return [Element(value, self.dtype, self.lanes) for value in one.results]

    def over_warp(self, total: Element) -> Element:
        """Return the sum over the lanes of a vector and the threads of a warp."""
        loops, math = self.loops, self.results.math
        total = across_lanes(loops, "add", total)
        distance = WARP // 2
        while distance:
            other = loops.here(Shuffle(total.value, distance))[0]
            total = math.add(total, Element(other, total.dtype, 0))
            distance //= 2
        return total

    def rows_of(self, sums: Sequence[Element], row: Index, column: Index) -> Iterator[Line]:
        """Give the rows of one column."""
        for number, total in enumerate(sums):
            yield self.loops.add(row, number), [(column, total.value)]

    def share(self, sums: Sequence[Element], row: Index, column: Index) -> None:
        """Add what all threads have of a column, and store it."""
        loops, tile, math = self.loops, self.thin, self.results.math
        lanes = max(1, self.lanes)
        buffer = shared(loops, computed(self.dtype), tile.rows * tile.threads * lanes)
        mine = loops.multiply(loops.slot, lanes)
        pitch = tile.threads * lanes
        for number, total in enumerate(sums):
            loops.store(total.value, buffer, loops.add(mine, number * pitch))
        loops.here(Barrier())
        with loops.loop(loops.slot, tile.rows * tile.across, tile.threads) as one:
            line, beside = (
                loops.divide(one.index, tile.across),
                loops.remainder(one.index, tile.across),
            )
            beside = loops.multiply(beside, lanes)
            start = loops.add(loops.multiply(line, pitch), beside)
            zero = math.spread(math.constant(0, self.dtype), self.lanes)
            with loops.loop(0, pitch, tile.across * lanes, [zero.value]) as part:
                at = loops.add(start, part.index)
                value = loops.load(buffer, at, self.lanes, constant=False)
                more = Element(value, self.dtype, self.lanes)
                total = Element(part.values[0], self.dtype, self.lanes)
                part.carry(math.add(total, more).value)
            made: SSAValue = part.results[0]
            place = loops.add(column, beside)
            self.results.store(iter([(loops.add(row, line), [(place, made)])]))

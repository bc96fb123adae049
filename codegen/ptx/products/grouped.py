"""Products of groups of rows with a matrix each, all in one launch; sizes of groups are data.

    block: tiles of rows, of all groups x tiles of columns
      walk the sizes to the group that has this tile     tiles of a group begin with its rows
      the tile as of a plain product                     its matrix is that of the group
      rows of other groups are not stored

There are as many blocks as there can be tiles: those of the rows, and one more for each group,
whose last tile may not be full, and for the rows behind the last group, which become 0. Blocks that
find nothing to do take one step of depth. What a block computes depends on nothing but its number
and the sizes, so that results are the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ....ir import Op
from ....ir.dialects.warpgroup import WarpgroupTile
from ....ir.iteration import Iteration, dim
from ....ir.types.dims import Dim, ceil_divide, floor_divide
from ...kernels.builder.elements import Element
from ...kernels.builder.loops import INDEX, Index
from ...kernels.builder.space import Group
from .matrix import MatrixContraction
from .nest import Nest, Side
from .tile import Contraction
from .warpgroup import WarpgroupContraction


class GroupedNest(Nest):
    """The loop dims of a grouped product: the group counts as depth, until it is found."""

    def space_of(self, anchor: Op) -> Iteration:
        """Return the iteration space: rows, columns, groups, depths."""
        x, weights, _ = anchor.specs
        row, column, group, depth = map(dim, range(4))
        return Iteration(
            parallel=(x.dims[0], weights.dims[2]),
            reduce=(weights.dims[0], x.dims[1]),
            reads=((row, depth), (group, depth, column)),
            write=(row, column),
            combiner="add",
            body=lambda math, a, b: math.mul(a, b),
        )


class Grouped(Contraction):
    """Builds one kernel, by elements; with another template as second base, by that."""

    NEST = GroupedNest
    is_real: SSAValue
    """Whether the rows of a tile are of a group."""
    end: Index

    def sort_tokens(self) -> None:
        """Find which tokens are rows, columns and depth; the batch is the group."""
        super().sort_tokens()
        group = [token for token in self.nest.inner[0].tokens if token.extent != 1]
        self.depth_tokens = [token for token in self.depth_tokens if token not in group]
        self.batch = [Group((token,)) for token in group]

    @property
    def group_count(self) -> Dim:
        """Return how many groups there are."""
        return self.nest.anchor.specs[1].dims[0]

    @property
    def tall(self) -> Dim:
        """Return the rows of a group where all have as many."""
        groups = self.group_count
        return ceil_divide(self.rows, groups) if isinstance(groups, int) else self.rows

    def decided(self, template: str, batch: Dim, candidates: Sequence[int], usual: int) -> int:
        """Return which of a template's tiles was measured to be best for groups of such sizes."""
        return super().decided(f"grouped_{template}", batch, candidates, usual)

    @property
    def row_tiles(self) -> Dim:
        """Return how many tiles of all groups there may be, and of rows behind them."""
        return floor_divide(self.rows, self.tile.rows) + self.group_count + 1

    @property
    def units(self) -> Dim:
        """Return how many tiles there may be in all."""
        return self.row_tiles * self.column_tiles

    def enter(self, unit: Index) -> tuple[Index, Index]:
        """Go to the group of a tile; return its first row and column."""
        column = self.loops.remainder(unit, self.column_tiles)
        row = self.find(self.loops.divide(unit, self.column_tiles))
        return row, self.loops.multiply(column, self.tile.columns)

    def find(self, number: Index) -> Index:
        """Go to the group that has a tile; return its first row."""
        loops, tall = self.loops, self.tile.rows
        state = [loops.index(0)] * 5
        with loops.loop(0, loops.index(self.group_count), 1, state) as one:
            before, start, *found = one.values
            size = self.size(one.index, start)
            tiles = loops.divide(loops.add(size, tall - 1), tall)
            after, end = loops.add(before, tiles), loops.add(start, size)
            row = loops.add(start, loops.multiply(loops.subtract(number, before), tall))
            inside = [loops.compare("sle", before, number), loops.compare("slt", number, after)]
            here = loops.pure(arith.AndIOp, inside, i1)
            pairs = zip((one.index, row, end), found, strict=True)
            mine = [self.either(here, *pair) for pair in pairs]
            one.carry(*map(loops.index, (after, end, *mine)))
        before, start, group, row, end = one.results
        self.is_real = loops.compare("slt", number, before)
        last = loops.add(start, loops.multiply(loops.subtract(number, before), tall))
        rows = loops.index(self.rows)
        self.end = loops.minimum(self.either(self.is_real, end, rows), rows)
        for each in self.batch:
            each.value = group
        return loops.maximum(self.either(self.is_real, row, last), 0)

    def size(self, group: Index, start: Index) -> Index:
        """Return how many rows a group has."""
        loops, reader = self.loops, self.results.reader
        value = self.nest.anchor.operands[2]
        kind = self.nest.anchor.specs[2].dtype
        found = Element(loops.load(reader.buffers[value], group, 0), kind, 0)
        size = loops.maximum(reader.math.to_index(found), 0)
        return loops.minimum(size, loops.subtract(loops.index(self.rows), start))

    def either(self, condition: SSAValue, one: Index, other: Index) -> SSAValue:
        """Return one of two numbers."""
        values = (condition, self.loops.index(one), self.loops.index(other))
        return self.loops.pure(arith.SelectOp, values, INDEX)

    def turns(self) -> Index:
        """Return how many tiles of depth there are."""
        return self.either(self.is_real, super().turns(), 1)

    def beyond(self, side: Side) -> bool:
        """Say whether tiles may reach beyond the rows, or columns, of an operand."""
        return side is self.sides[0] or super().beyond(side)

    def row_end(self) -> Index:
        """Return the end of the rows that a tile is stored to."""
        return self.end

    def finished(self, total: Element) -> Element:
        """Return what the sums of a place come to: 0 behind the last group."""
        math = self.results.math
        zero = math.spread(math.constant(0, total.dtype), total.lanes)
        kind = total.value.type
        made = self.loops.pure(arith.SelectOp, (self.is_real, total.value, zero.value), kind)
        return Element(made, total.dtype, total.lanes)


class GroupedMatrices(Grouped, MatrixContraction):
    """Builds one kernel, on tensor cores."""


class GroupedWarpgroups(Grouped, WarpgroupContraction):
    """Builds one kernel, by warpgroups, if it `fits`."""

    by_map = False  # rows of another group lie below

    def fits_tile(self, tile: WarpgroupTile, columns: int) -> bool:
        """Say whether a tile may be measured: tiles below each other are of different groups."""
        return tile.cluster == 1 and super().fits_tile(tile, columns)

    def choose(self, batch: Dim) -> WarpgroupTile:
        """Return the tile of a block: rows are not of a group."""
        return replace(super().choose(batch), left_alone=1)

    def places(self, number: Index) -> list[Index]:
        """Return row, column, and group of a tile."""
        row, column = self.enter(number)
        return [row, column, *(each.value or 0 for each in self.batch)]

"""Products of 16-bit floats on Hopper: warpgroups multiply what one more brings by tensor maps.

    block: as many as processors; each takes every so many-th tile of the result
      one thread of the first warpgroup               two others, of 64 rows each
        for tile                                        for tile
          for k in depth step 64                          for k in depth step 64
            wait for a free stage                           wait for a full stage
            A[128, 64], B[256, 64] = stage                  acc[64, 256] += A B        wgmma
                                                            give back the stage before
                                                          for each 64 columns
                                                            panel[64, 64] = epilogue(acc)
                                                            out = panel, by a tensor map

While the last products of a tile are finished and stored, stages of the next one fill: blocks stay,
so that there is no end of a block to wait for. Four stages of 48 KiB are what shared memory holds;
256 columns are 128 sums a thread, and the most that one instruction takes. The first warpgroup
gives most of its registers to the others. A result of 16 bits that lies as matrices is stored by a
tensor map, in whole lines of memory, from two panels that each warpgroup has for it; another one
from registers. Tiles that run at the same time are 16 below each other,
and neighbours: then what they read in common stays in L2.

With tiles in pairs (where a record of `tools.tune_gpu` says so, for nobody measured it yet) two
blocks are a cluster: their tiles lie below each other, each brings half of the right operand's tile
to both, and a stage is free when the warpgroups of both gave it back. A third less is read from L2.

It takes operands that lie in memory as matrices, so that a tensor map can say where tiles are: rows
of depth, or depths of rows, which come in panels of 64 that the instruction turns. What is computed
on the way, or is small, goes by `matrix`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ....ir.dialects.gpu import CLUSTER, MAPS, MOST_BLOCKS, SHARED_BYTES, THREADS, WARP, Shared
from ....ir.dialects.warpgroup import (
    MOST_BATCH,
    AwaitStores,
    BeginStages,
    Blocks,
    BringTiles,
    MeetCluster,
    SetRegisters,
    StoreTile,
    WarpgroupProduct,
    WarpgroupTile,
)
from ....ir.types.dims import Dim
from ....ir.types.indices import Token
from ....ir.types.tensor import spec_of
from ...kernels.builder.loops import INDEX, Index, storage
from ...llvm.emit.warpgroup import PANEL
from .matrix import HALVES, MatrixContraction
from .nest import Side, source_of
from .tile import Line, Part, Results

WIDE = WarpgroupTile(128, 256, 64, 4)
NARROW = WarpgroupTile(128, 128, 64, 6)
TILES = (WIDE, NARROW, replace(WIDE, cluster=2), replace(NARROW, cluster=2))
"""The last ones in pairs, whose blocks bring half of the right operand each to both."""
PROCESSORS = 132
"""Of an H100: each has one block. Of fewer tiles than these, smaller ones keep more of it busy."""
BELOW = 16
"""Tiles below each other that run at the same time."""
GIVEN, TAKEN = 40, 232
"""Registers of each thread that brings, and that multiplies: together no more than there are."""
LEAST = (65, 64, 64)
"""Rows, columns and depth from which it pays."""


@dataclass(frozen=True)
class MapRow:
    """A tensor map of an operand, as the kernel's attribute says it; see `gpu_plan.TensorMap`."""

    buffer: int
    offset: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]


class WarpgroupResults(Results):
    """What becomes of sums: written to a panel in shared memory, if `into` says where."""

    into: tuple[SSAValue, Index] | None = None

    def write(self, value: SSAValue) -> None:
        """Write what is finished."""
        if self.into is None:
            super().write(value)
        else:
            self.loops.store(value, *self.into)

    @property
    def tokens(self) -> list[Token]:
        """Return what a result is walked by, the innermost first."""
        return [t for group in (*self.batch, *self.rows, *self.columns) for t in group.tokens][::-1]

    @property
    def lies_right(self) -> bool:
        """Say whether a tensor map can say where panels are."""
        first, *others = steps = [self.offset.coefficient(token) for token in self.tokens]
        known = all(isinstance(step, int) and step > 0 for step in steps)
        return (
            (len(self.rows), len(self.columns)) == (1, 1)
            and len(steps) == len(self.batch) + 2
            and known and first == 1
            and all(number_of(step) % HALVES == 0 for step in (*others, self.offset.constant))
            and spec_of(self.nest.root.type).dtype.size == 2
        )  # fmt: skip


class WarpgroupContraction(MatrixContraction):
    """Builds one kernel, if it `fits`."""

    RESULTS = WarpgroupResults
    by_map = True
    """Whether a tile of the result may be stored whole."""

    @property
    def fits(self) -> bool:
        """Say whether operands are large enough, and lie as they must."""
        sizes = (self.tall, self.columns, self.depth)
        large = all(
            isinstance(size, int) and size >= least
            for size, least in zip(sizes, LEAST, strict=True)
        )
        return (
            large
            and len(self.batch) <= MOST_BATCH
            and all(isinstance(token.extent, int) for token in self.batch_tokens)
            and all(self.lies_right(side) for side in self.sides)
        )

    @property
    def batch_tokens(self) -> list[Token]:
        """Return what both operands walk, the innermost last."""
        return [token for group in self.batch for token in group.tokens]

    def batch_of(self, side: Side) -> list[Token]:
        """Return what an operand walks of it: of groups of rows only the right one."""
        return [token for token in self.batch_tokens if side.walks(token)]

    def lies_right(self, side: Side) -> bool:
        """Say whether an operand is matrices aligned to 16 bytes, either way round."""
        if side.guarded or not isinstance(source_of(side.value), BlockArgument):
            return False
        if len(side.rows) != 1 or len(side.depth) != 1 or len(side.offsets) != 1:
            return False
        (offset,) = side.offsets
        along, across = walked(side)
        if offset.coefficient(along) != 1:
            return False
        steps = [offset.coefficient(t) for t in (across, *self.batch_of(side))]
        return all(
            isinstance(step, int) and step % HALVES == 0 for step in (*steps, offset.constant)
        ) and all(isinstance(step, int) and step > 0 for step in steps)

    def choose(self, batch: Dim) -> WarpgroupTile:
        """Return the tile of a block, and which operands are turned."""
        left, right = (int(side.along == "rows") for side in self.sides)
        return replace(self.chosen(batch), left_turned=left, right_turned=right)

    def chosen(self, batch: Dim) -> WarpgroupTile:
        """Return the sizes of the tile of a block."""
        rows, columns = self.tall, self.columns
        if not (isinstance(rows, int) and isinstance(columns, int) and isinstance(batch, int)):
            return NARROW
        tiles = batch * -(-rows // WIDE.rows) * -(-columns // WIDE.columns)
        fit = [n for n, t in enumerate(TILES) if self.fits_tile(t, columns)]
        usual = 0 if 0 in fit and tiles >= PROCESSORS else 1
        return TILES[self.decided("warpgroups", batch, fit, usual)]

    def fits_tile(self, tile: WarpgroupTile, columns: int) -> bool:
        """Say whether a tile may be measured."""
        return tile.columns == NARROW.columns or columns > NARROW.columns

    @property
    def groups(self) -> WarpgroupTile:
        """Return the tile."""
        assert isinstance(self.tile, WarpgroupTile), f"{self.tile} is not shared by warpgroups"
        return self.tile

    def part(self, side: Side, width: int, extent: Dim) -> Part:
        """Return an operand's part, which threads do not bring themselves."""
        return Part(side, width, extent, self)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, tile = self.loops, self.groups
        loops.here(BeginStages(tile))
        (blocks,) = loops.here(Blocks())
        # The blocks of a cluster go from tiles below each other to the next ones.
        low, high, step = (
            loops.index(loops.divide(x, tile.cluster)) for x in (loops.lo, loops.hi, blocks)
        )
        self.rank = loops.remainder(loops.lo, tile.cluster)
        state = [loops.index(0), loops.index(0)]
        group = loops.divide(loops.slot, 4 * WARP)
        with loops.when(loops.compare("eq", group, 0)):
            loops.here(SetRegisters(GIVEN, "dec"))
            with (
                loops.when(loops.compare("eq", loops.slot, 0)),
                loops.loop(low, high, step, state) as one,
            ):
                places = [loops.index(place) for place in self.places(one.index)]
                turns = loops.index(self.turns())
                one.carry(*loops.here(BringTiles(turns, one.values, places, tile)))
        with loops.when(loops.compare("ne", group, 0)):
            loops.here(SetRegisters(TAKEN, "inc"))
            with loops.loop(low, high, step, state) as one:
                row, column, *batch = self.places(one.index)
                turns = loops.index(self.turns())
                made = WarpgroupProduct(turns, one.values, tile, self.sides[0].dtype.name)
                stage, parity, *sums = loops.here(made)
                if self.stores_panels:
                    self.store_panels(sums, [column, row, *batch])
                else:
                    self.results.store(self.lines(sums, row, column))
                one.carry(stage, parity)
            if self.stores_panels:
                loops.here(AwaitStores(0))
        if tile.cluster > 1:
            loops.here(MeetCluster())  # no block ends while others fill its stages
        return self.finish()

    @property
    def stores_panels(self) -> bool:
        """Say whether results are stored by a tensor map."""
        assert isinstance(self.results, WarpgroupResults), "results of another template"
        return self.by_map and self.results.lies_right

    def store_panels(self, sums: Sequence[SSAValue], places: Sequence[Index]) -> None:
        """Finish 64 columns after the other in shared memory, and begin to store them."""
        loops, results = self.loops, self.results
        assert isinstance(results, WarpgroupResults), "results of another template"
        kind = MemRefType(storage(spec_of(self.nest.root.type).dtype), [self.panel_bytes // 2])
        (memory,) = loops.here(Shared(kind, self.panels_at))
        group = loops.subtract(loops.divide(loops.slot, 4 * WARP), 1)
        column, row, *batch = places
        own = loops.add(row, loops.multiply(group, 64))
        for number in range(0, self.groups.columns, PANEL):
            which = loops.add(loops.multiply(group, 2), number // PANEL % 2)
            base = loops.multiply(which, PANEL * 64)
            loops.here(AwaitStores(1))
            results.store(
                self.panel(sums, (own, loops.add(column, number)), (memory, base), number)
            )
            results.into = None
            at = [loops.index(each) for each in (loops.add(column, number), own, *batch)]
            loops.here(StoreTile(memory, loops.index(base), at))

    def panel(
        self, sums: Sequence[SSAValue], place: tuple[Index, Index], into: tuple[SSAValue, Index],
        first: int,
    ) -> Iterator[Line]:  # fmt: skip
        """Give the sums of a thread in 64 columns, and say where in the panel each pair goes.

        Sixteenths of a row change places by the row, as the tensor map has it.
        """
        loops, (memory, base) = self.loops, into
        assert isinstance(self.results, WarpgroupResults), "results of another template"
        warp = loops.remainder(loops.divide(loops.slot, WARP), 4)
        lane = loops.remainder(loops.slot, WARP)
        beside = loops.multiply(loops.remainder(lane, 4), 2)
        for half in range(2):
            own = loops.add(loops.multiply(warp, 16), loops.divide(lane, 4))
            own = loops.add(own, 8 * half)
            start = loops.add(base, loops.add(loops.multiply(own, PANEL), beside))
            for number in range(PANEL // 8):
                values = (loops.index(number), loops.index(loops.divide(lane, 4)))
                piece = loops.pure(arith.XOrIOp, values, INDEX)
                self.results.into = memory, loops.add(start, loops.multiply(piece, HALVES))
                column = loops.add(place[1], loops.add(beside, 8 * number))
                pair = self.pair(sums[first // 8 + number], half)
                yield loops.add(place[0], own), [(column, pair)]

    @property
    def panels_at(self) -> int:
        """Return where panels of the result begin in shared memory."""
        return -(-self.groups.shared_bytes // 1024) * 1024

    @property
    def panel_bytes(self) -> int:
        """Return the bytes of two panels of each warpgroup."""
        return self.groups.rows // 64 * 2 * PANEL * 64 * 2

    def finish(self) -> FuncOp:
        """Close the function, and say what a launch needs."""
        tile = self.groups
        function = self.loops.finish(self.units)
        if tile.cluster > 1:
            function.attributes[CLUSTER] = IntegerAttr(tile.cluster, 64)
        rows = [self.map_row(part) for part in self.parts]
        shared_bytes = tile.shared_bytes
        if self.stores_panels:
            rows.append(self.result_row())
            shared_bytes = self.panels_at + self.panel_bytes
        function.attributes[MAPS] = StringAttr(json.dumps([asdict(row) for row in rows]))
        blocks = PROCESSORS // tile.cluster * tile.cluster
        numbers = {THREADS: tile.threads, SHARED_BYTES: shared_bytes, MOST_BLOCKS: blocks}
        for name, number in numbers.items():
            function.attributes[name] = IntegerAttr(number, 64)
        return function

    @property
    def across(self) -> tuple[int, int]:
        """Return how often a cluster's tiles are below each other, and tiles beside each other."""
        tile, rows, columns = self.groups, self.rows, self.columns
        assert isinstance(rows, int), "rows are known"
        assert isinstance(columns, int), "columns are known"
        return -(-rows // (tile.rows * tile.cluster)), -(-columns // tile.columns)

    @property
    def row_tiles(self) -> Dim:
        """Return how many tiles there are below each other, also such that clusters come out."""
        return self.across[0] * self.groups.cluster

    def places(self, number: Index) -> list[Index]:
        """Return row, column, and batch (the innermost first) of a tile.

        They go down `BELOW` tiles, then to the next column; and the same again below.
        """
        loops, tile = self.loops, self.groups
        (tall, wide), below = self.across, BELOW // tile.cluster
        rest = loops.divide(number, tall * wide)
        number = loops.remainder(number, tall * wide)
        batch: list[Index] = []
        for group in reversed(self.batch):
            group.value = rest if group is self.batch[0] else loops.remainder(rest, group.extent)
            rest = loops.divide(rest, group.extent)
            batch.append(group.value)
        first = loops.multiply(loops.divide(number, below * wide), below)
        inside = loops.remainder(number, below * wide)
        height = loops.minimum(loops.subtract(loops.index(tall), first), below)
        row = loops.add(first, loops.remainder(inside, height))
        row = loops.add(loops.multiply(row, tile.cluster), self.rank)
        column = loops.divide(inside, height)
        return [loops.multiply(row, tile.rows), loops.multiply(column, tile.columns), *batch]

    def map_row(self, part: Part) -> MapRow:
        """Return the map by which tiles of an operand are brought."""
        side = part.side
        (offset,) = side.offsets
        argument = source_of(side.value)
        assert isinstance(argument, BlockArgument), "an operand lies in memory"
        size = side.dtype.size
        tokens = [walked(side)[1], *reversed(self.batch_of(side))]
        steps = [offset.coefficient(token) for token in tokens]
        width = part.width if part is self.parts[0] else part.width // self.groups.cluster
        pair, box = (self.depth, part.extent), (self.groups.depth, width)
        if side.along == "rows":
            pair, box = (part.extent, self.depth), (PANEL, self.groups.depth)
        extents = [*pair, *(token.extent for token in tokens[1:])]
        return MapRow(
            argument.index, number_of(offset.constant) * size, side.dtype.name,
            tuple(map(number_of, extents)), tuple(number_of(step) * size for step in steps),
            (*box, *(1 for _ in tokens[1:])),
        )  # fmt: skip

    def result_row(self) -> MapRow:
        """Return the map by which panels of the result are stored."""
        results, dtype = self.results, spec_of(self.nest.root.type).dtype
        assert isinstance(results, WarpgroupResults), "results of another template"
        _, *others = tokens = results.tokens
        steps = [number_of(results.offset.coefficient(token)) * dtype.size for token in others]
        return MapRow(
            len(self.nest.arguments), number_of(results.offset.constant) * dtype.size, dtype.name,
            tuple(number_of(token.extent) for token in tokens), tuple(steps),
            (PANEL, 64, *(1 for _ in others[1:])),
        )  # fmt: skip

    def lines(self, totals: Sequence[SSAValue], row: Index, column: Index) -> Iterator[Line]:
        """Give the sums of a thread row by row: a warp has 16 rows, and all columns."""
        loops = self.loops
        warp = loops.divide(loops.subtract(loops.slot, 4 * WARP), WARP)
        lane = loops.remainder(loops.slot, WARP)
        row = loops.add(loops.add(row, loops.multiply(warp, 16)), loops.divide(lane, 4))
        column = loops.add(column, loops.multiply(loops.remainder(lane, 4), 2))
        for half in range(2):
            yield (
                loops.add(row, 8 * half),
                [
                    (loops.add(column, 8 * j), self.pair(total, half))
                    for j, total in enumerate(totals)
                ],
            )


def walked(side: Side) -> tuple[Token, Token]:
    """Return the token of neighbours, and that of what lies a stride apart."""
    row, depth = side.rows[0].tokens[-1], side.depth[0].tokens[-1]
    return (row, depth) if side.along == "rows" else (depth, row)


def number_of(size: Dim) -> int:
    """Return a size that is known."""
    assert isinstance(size, int), f"{size} is not known"
    return size

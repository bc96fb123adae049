"""Products of 16-bit floats on Hopper: warpgroups multiply what one more brings by tensor maps.

    block: tiles of rows x tiles of columns
      gvk.warpgroup_product                 stages of A[BM, 64] and B[BN, 64] in shared memory
      out[row, column] = epilogue(acc)      by the warpgroups that multiplied

It takes operands that lie in memory as rows of depth, so that a tensor map can say where tiles are;
what lies otherwise, is computed on the way, or is small, goes by `matrix`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir.dims import Dim, ceil_divide
from ...ir.gpu_ops import MAPS, SHARED_BYTES, WARP, WarpgroupProduct, WarpgroupTile
from ..kernels.loops import Index
from .matrix import HALVES, MatrixContraction
from .nest import Side, source_of
from .tile import Line, Part

WIDE = WarpgroupTile(128, 256, 64, 4)
NARROW = WarpgroupTile(128, 128, 64, 6)
PROCESSORS = 132
"""Of an H100: with fewer blocks than these, smaller ones keep more of it busy."""
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


class WarpgroupContraction(MatrixContraction):
    """Builds one kernel, if it `fits`."""

    @property
    def fits(self) -> bool:
        """Say whether operands are large enough, and lie as they must."""
        sizes = (self.rows, self.columns, self.depth)
        large = all(
            isinstance(size, int) and size >= least
            for size, least in zip(sizes, LEAST, strict=True)
        )
        return large and not self.batch and all(self.lies_right(side) for side in self.sides)

    def lies_right(self, side: Side) -> bool:
        """Say whether an operand is a matrix whose rows are depth, aligned to 16 bytes."""
        if side.guarded or not isinstance(source_of(side.value), BlockArgument):
            return False
        if len(side.rows) != 1 or len(side.depth) != 1 or len(side.offsets) != 1:
            return False
        (offset,) = side.offsets
        stride, start = offset.coefficient(side.rows[0].tokens[-1]), offset.constant
        if offset.coefficient(side.depth[0].tokens[-1]) != 1 or not isinstance(stride, int):
            return False
        return stride > 0 and stride % HALVES == 0 and isinstance(start, int) and not start % HALVES

    def choose(self, batch: Dim) -> WarpgroupTile:
        """Return the tile of a block."""
        rows, columns = self.rows, self.columns
        if not (isinstance(rows, int) and isinstance(columns, int)):
            return NARROW
        blocks = -(-rows // WIDE.rows) * -(-columns // WIDE.columns)
        return WIDE if columns > NARROW.columns and blocks >= PROCESSORS else NARROW

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
        function = super().build()
        rows = [asdict(self.map_row(part)) for part in self.parts]
        function.attributes[MAPS] = StringAttr(json.dumps(rows))
        function.attributes[SHARED_BYTES] = IntegerAttr(self.groups.shared_bytes, 64)
        return function

    def map_row(self, part: Part) -> MapRow:
        """Return the map by which tiles of an operand are brought."""
        side = part.side
        (offset,) = side.offsets
        argument = source_of(side.value)
        assert isinstance(argument, BlockArgument), "an operand lies in memory"
        stride = offset.coefficient(side.rows[0].tokens[-1])
        numbers = (offset.constant, stride, self.depth, part.extent)
        start, step, depth, extent = (n for n in numbers if isinstance(n, int))
        size = side.dtype.size
        return MapRow(
            argument.index, start * size, side.dtype.name, (depth, extent), (step * size,),
            (self.groups.depth, part.width),
        )  # fmt: skip

    def block(self, row: Index, column: Index) -> None:
        """Compute one tile of the result."""
        loops = self.loops
        turns = loops.index(ceil_divide(self.depth, self.groups.depth))
        place = (loops.index(row), loops.index(column))
        name = self.sides[0].dtype.name
        made = loops.here(WarpgroupProduct(place, turns, self.groups, name))
        self.results.store(self.lines(made, row, column))

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

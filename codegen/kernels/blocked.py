"""Products with weights of 4 bits that share a scale by blocks of the depth.

    for unit in lo..hi                       parallel: row block x panel
      for tile of MR rows in the block
        C[MR, NR] = 0
        for block of the depth               32 of k
          S[MR, NR] = sum over the block     gvk.gemm_tile of words, in scratch
          C += (S + offset of the row) * factor of the row * scale of the column
        epilogue

The numbers are taken out of their words in registers. Rows of a tile share that.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir.dialects import kernel as gvk
from ...ir.ops.laid_out.blocked import BLOCK, WORD
from ...ir.types.dtypes import f32, i32
from ...ir.types.indices import flatten
from ...target import Target
from .builder.blocks import Asks, RowBlocks
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .gemm import Gemm, How


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a product with blocked weights."""
    return Blocked(kernel, target).build()


class Blocked(Gemm):
    """Builds one kernel."""

    def prepare_panels(self) -> None:
        """Take scratch for the sums of one tile."""
        self.in_chunks = False
        result = self.anchor.result_specs[0].dims[:-1]
        self.number_of_row = flatten(self.index[:-1], result)
        assert isinstance(self.depth, int), "blocks of a known depth"
        self.blocks = self.depth // BLOCK
        self.scratch, self.scratch_base = self.loops.scratch(i32, self.tall * self.width)

    def parts(self, blocks: RowBlocks) -> int:
        """Return 1: a tile stays where it is over the whole depth."""
        return 1

    def asks_for(self, blocks: RowBlocks) -> Asks | None:
        """Return None: the words of a block are few."""
        return None

    def panel_of_b(self, panel: Index, left: Index) -> gvk.Strided:
        """Return where the words of a panel lie."""
        self.number = panel
        base = self.loops.multiply(panel, self.blocks * (BLOCK // WORD) * self.width)
        return self.argument(1), self.loops.index(base), self.loops.index(self.width)

    def argument(self, position: int) -> SSAValue:
        """Return the buffer of an operand."""
        value = self.anchor.operands[position]
        assert isinstance(value, BlockArgument), "an operand lies in a buffer"
        return self.loops.buffers[value.index]

    def tile(self, rows: int, start: Index, b: gvk.Strided, how: How) -> None:
        """Compute one register tile block by block, and its epilogue."""
        loops, left = self.loops, how[0]
        self.rows.value = start
        self.epilogue.zero(rows, left)
        with loops.loop(0, self.blocks) as block:
            self.sums(rows, b, block.index)
            self.scale(rows, block.index, left)
            self.rows.value = start
        self.epilogue.finish(rows, start, left)

    def sums(self, rows: int, b: gvk.Strided, block: Index) -> None:
        """Append the sums of integers of one block, into scratch."""
        loops, number = self.loops, self.loops.index
        buffer, base, stride = self.strided(self.a, self.rows)
        at = loops.add(base, loops.multiply(block, BLOCK))
        a = (buffer, loops.index(at), loops.index(loops.divide(stride, WORD)))
        words = BLOCK // WORD
        first = loops.add(b[1], loops.multiply(block, words * self.width))
        c = (self.scratch, loops.index(self.scratch_base), number(self.width))
        sizes = gvk.GemmSizes(
            number(words), number(1), number(0), number(0), number(self.width), number(1)
        )
        shape = gvk.Tile(rows, self.vectors, self.lanes, dots=WORD)
        loops.here(gvk.GemmTile(a, (b[0], loops.index(first), b[2]), c, sizes, shape))

    def scale(self, rows: int, block: Index, left: Index | None) -> None:
        """Add the scaled sums of one block onto the tile."""
        loops, math, lanes = self.loops, LoopsMath(self.loops), self.lanes
        out, base, stride = self.epilogue.tile()
        row_0, _, _ = self.space.split(loops, self.number_of_row)
        panel = loops.add(loops.multiply(self.number, self.blocks), block)
        with loops.loop(0, rows) as row:
            at = loops.add(loops.multiply(loops.add(row_0, row.index), self.blocks), block)
            factor, offset = (
                Element(loops.load(self.argument(n), at, 0), dtype, 0)
                for n, dtype in ((2, f32), (3, i32))
            )
            for vector in range(self.vectors):
                place = loops.add(loops.multiply(row.index, self.width), vector * lanes)
                raw = loops.load(
                    self.scratch, loops.add(self.scratch_base, place), lanes, constant=False
                )
                here = loops.add(loops.multiply(panel, self.width), vector * lanes)
                scale = Element(loops.load(self.argument(4), here, lanes), f32, lanes)
                mask = self.epilogue.mask(left, vector)
                to = loops.add(loops.add(base, loops.multiply(row.index, stride)), vector * lanes)
                total = Element(loops.load(out, to, lanes, mask, constant=False), f32, lanes)
                summed = math.cast(math.add(Element(raw, i32, lanes), offset), f32)
                made = math.fma(math.mul(summed, factor), scale, total)
                loops.store(made.value, out, to, mask)


__all__ = ["lower"]

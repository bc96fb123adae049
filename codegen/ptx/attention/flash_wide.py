"""Attention of 16-bit floats on Hopper: as `flash`, by the products of warpgroups.

    block: 8 warps x 16 queries, of one batch
      as in `flash`, but of a tile of 128 keys each warpgroup has
        S[64, 128] = Q K'                              wgmma: Q in registers, K in shared memory
        O[64, E] += S V                                the same, V turned by the instruction

Tiles lie in panels of 64 columns, 128 bytes a row, whose sixteenths change places by the row, as
the instruction wants them; so do threads copy them. While one warpgroup takes the exponentials of
its scores the other multiplies: they wait for each other once a tile. Queries are loaded once, and
stay in registers; a block of 128 reads keys half as often as one of 64. With 64 scores, 64 sums and
32 registers of queries a thread has nearly all that it can have.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32 as float_type
from xdsl.ir import SSAValue

from ....ir.dialects.gpu import AwaitCopies, Barrier
from ....ir.dialects.warpgroup import FenceShared, WarpgroupMultiply
from ...kernels.builder.elements import Element
from ...kernels.builder.loops import INDEX, Index, vector_type
from ..products.matrix import HALVES
from ..products.nest import Side
from .base import MATRICES
from .flash import STAGES, Flash, SharedRows

PANEL = 64
"""Columns of a panel: 128 bytes."""


class PanelTile(SharedRows):
    """Rows of an operand in shared memory, as warpgroups want them: it begins at 1024 bytes."""

    apart = 0

    def __init__(self, whole: Flash, side: Side, rows: int, width: int, stages: int) -> None:
        assert whole.shared_bytes % 1024 == 0, "panels begin at multiples of 1024"
        super().__init__(whole, side, rows, width, stages)

    def at(self, line: Index, column: Index) -> Index:
        """Return where a vector of 16 bytes lies in a stage."""
        loops = self.loops
        panel, inside = loops.divide(column, PANEL), loops.remainder(column, PANEL)
        values = (loops.divide(inside, HALVES), loops.remainder(line, 8))
        sixteenth = loops.pure(arith.XOrIOp, tuple(map(loops.index, values)), INDEX)
        start = loops.multiply(loops.add(loops.multiply(panel, self.rows), line), PANEL)
        return loops.add(start, loops.multiply(sixteenth, HALVES))


class FlashWide(Flash):
    """Builds one kernel, if it `fits`."""

    TEMPLATE = "flash_wide"
    FORMS = ((8, 128), (8, 64), (4, 128))

    @property
    def fits(self) -> bool:
        """Say whether warpgroups take these operands, and there are enough queries."""
        many = not isinstance(self.rows, int) or self.rows > 64
        return super().fits and many and self.depth % PANEL == 0 and self.width % PANEL == 0

    def lay_out(self) -> None:
        """Take the shared memory."""
        q, k, v = self.sides[:MATRICES]
        self.k = PanelTile(self, k, self.at_once, self.depth, STAGES)
        self.v = PanelTile(self, v, self.at_once, self.width, STAGES)
        self.q = SharedRows(self, q, self.height, self.depth, 1)

    def await_tile(self) -> None:
        """Wait until a tile is there, and nobody uses the one before."""
        self.loops.here(AwaitCopies(0))
        self.loops.here(FenceShared())
        self.loops.here(Barrier())

    def products(self, stage: Index) -> list[SSAValue]:
        """Return the products of the queries and a tile of keys, 8 keys after the other."""
        zero = self.loops.constant(0.0, vector_type(float_type, 4))
        return self.multiply(
            self.k, stage, self.queries_there, [zero] * (self.at_once // 8), turned=False
        )

    def weighed(
        self, values: list[SSAValue], scores: list[list[Element]], stage: Index
    ) -> list[SSAValue]:
        """Add the values of a tile, each times its weight."""
        return self.multiply(self.v, stage, self.weights(scores), values, turned=True)

    def multiply(
        self, tile: SharedRows, stage: Index, left: Sequence[SSAValue], before: Sequence[SSAValue],
        *, turned: bool,
    ) -> list[SSAValue]:  # fmt: skip
        """Return sums and the product of a matrix in registers and a tile."""
        loops = self.loops
        right = tile.buffer, loops.index(loops.multiply(stage, tile.size))
        made = WarpgroupMultiply(
            right, left, before, tile.rows, turned=turned, element=self.dtype.name
        )
        return list(loops.here(made))

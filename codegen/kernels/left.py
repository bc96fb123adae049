"""A of a product, where its rows lie beside each other and its columns far apart: it is copied.

    for k in the depth
      scratch[k, rows] = A[k, rows]          a block of rows: a run of memory

A tile takes a few elements of each k. Where A lies those are pages apart, all in one set of the
cache; in the copy they are one row of the block apart. It is made once for all panels of B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...ir.dialects import kernel as gvk
from ...ir.types.dims import Dim
from ...ir.types.dtypes import DType
from .builder.blocks import LINE, RowBlocks, apart, odd_lines
from .builder.loops import Index, Loops
from .builder.space import Group

SHORT = 256
"""The least depth for which copying pays."""
MOST = 1 << 18
"""Elements of the largest copy."""
ROWS = 256
"""The most rows of a block."""
AHEAD = 6
"""Steps of k before memory is read that it is asked for: runs are too short to be foreseen."""


def block_rows(depth: Dim, step: Dim, size: int) -> int:
    """Return how many rows of elements of `size` bytes to copy at a time, 0 for none.

    `step` is from one k to the next.
    """
    if not isinstance(depth, int) or not isinstance(step, int) or depth < SHORT:
        return 0
    return min(ROWS, MOST // depth) if apart(step, LINE // size) != step else 0


@dataclass
class LeftBlock:
    """A block of A in scratch."""

    loops: Loops
    rows: Group
    k: Group
    copy: tuple[SSAValue, Index, int]
    """Its buffer, where it begins, and how far it is from one k to the next."""
    first: Index = 0
    """The row of A that the block begins with."""

    @classmethod
    def make(
        cls, loops: Loops, rows: Group, k: Group, blocks: RowBlocks, dtype: DType
    ) -> LeftBlock:
        """Take scratch for a block; each k begins on an odd number of lines, in sets of its own."""
        line = LINE // dtype.size
        pitch = odd_lines(blocks.most, line)
        assert isinstance(k.extent, int), "a known depth"
        return cls(loops, rows, k, (*loops.scratch(dtype, k.extent * pitch), pitch))

    def tile(self, row: Index) -> gvk.Strided:
        """Return where a tile begins, at the present k, and the stride of its rows."""
        loops, (buffer, base, pitch) = self.loops, self.copy
        assert self.k.value is not None, "the part of the depth is known"
        at = loops.add(loops.multiply(self.k.value, pitch), base)
        place = loops.add(at, loops.subtract(row, loops.index(self.first)))
        return buffer, loops.index(place), loops.index(1)

    def fill(self, count: int, source: Callable[[], gvk.Strided], lanes: int) -> None:
        """Copy `count` rows, or as many as there are; `source` says where to find the present k."""
        loops = self.loops
        stop = loops.index(loops.add(self.first, count))
        end = loops.minimum(stop, loops.index(self.rows.extent))
        bounds = (self.first, end, lanes)
        with loops.loop(0, loops.index(self.k.extent)) as k, loops.loop(*bounds) as row:
            self.k.value, self.rows.value = k.index, row.index
            buffer, base, step = source()
            ahead = loops.add(base, loops.multiply(AHEAD, step))
            loops.here(gvk.Prefetch(buffer, loops.index(ahead)))
            mask = loops.mask(loops.subtract(end, row.index), lanes)
            value = loops.load(buffer, base, lanes, mask)
            loops.store(value, *self.tile(row.index)[:2], mask)
        self.k.value = 0

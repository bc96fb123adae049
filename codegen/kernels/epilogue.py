"""What stands behind a register tile: the raw tile is read back row by row, and finished.

A loop over the stored tile is faster than the same work on all accumulators at once, and its
code is a tenth: the tile is still in L1, and registers are free again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dtypes import DType
from .elements import Element
from .index import Linear
from .loops import Index, Loops
from .read import Indices, Reader, Tracer
from .space import Group, Space


@dataclass
class Epilogue:
    """Finishes tiles of one kernel."""

    loops: Loops
    arguments: Sequence[SSAValue]
    space: Space
    root: SSAValue
    anchor: Op
    index: Indices
    """The index of the root."""
    offset: Linear
    """The flat offset of the root's element, where the raw tile was stored."""
    out: SSAValue
    rows: Group
    columns: Group
    vectors: int

    @property
    def is_empty(self) -> bool:
        """Say whether nothing but moves stands behind the tile."""
        value = self.root
        while isinstance(value.owner, Op) and value.owner.name in ("gv.reshape", "gv.transpose"):
            value = value.owner.operands[0]
        return value is self.anchor.results[0]

    @property
    def dtype(self) -> DType:
        """Return the element type of the tile."""
        return self.anchor.result_specs[0].dtype

    def finish(self, rows: int, start: Index, left: Index | None) -> None:
        """Finish a tile of `rows` rows from row `start`; `left` columns are valid if given."""
        if self.is_empty:
            return
        loops = self.loops
        reader = Reader(loops, self.arguments, self.space)
        reader.given[self.anchor.results[0]] = lambda _: self.raw(reader)
        panel = self.columns.value
        assert panel is not None, "the panel is known"
        with loops.loop(0, rows) as row:
            self.rows.value = loops.add(start, row.index)
            for vector in range(self.vectors):
                self.columns.value = loops.add(panel, vector * self.space.lanes)
                reader.mask = self.mask(left, vector)
                reader.fresh()
                self.vector(reader)
        self.columns.value, self.rows.value = panel, start

    @cached_property
    def beside(self) -> tuple[SSAValue, ...]:
        """Return a buffer that is read behind a tile just where the results lie, if there is one.

        It is asked for with them: rows of a tile are too short for the processor to see.
        """
        tracer = Tracer()
        tracer.stops[self.anchor.results[0]] = []
        tracer.visit(self.root, self.index)
        found = [a.argument for a in tracer.accesses if a.offset == self.offset]
        return tuple(self.loops.buffers[a.index] for a in found[:1] if isinstance(a, BlockArgument))

    def mask(self, left: Index | None, vector: int) -> SSAValue | None:
        """Return the mask of the valid lanes of one vector of the panel."""
        if left is None:
            return None
        loops, lanes = self.loops, self.space.lanes
        return loops.mask(loops.maximum(loops.subtract(left, vector * lanes), 0), lanes)

    def vector(self, reader: Reader) -> None:
        """Finish one vector."""
        lanes = self.space.lanes
        element = reader.element(self.root, self.index)
        base, _, _ = self.space.split(self.loops, self.offset)
        value = reader.math.narrow(reader.math.spread(element, lanes))
        self.loops.store(value, self.out, base, reader.mask)

    def raw(self, reader: Reader) -> Element:
        """Return the raw elements at the current row and vector."""
        base, _, _ = self.space.split(self.loops, self.offset)
        lanes = self.space.lanes
        value = self.loops.load(self.out, base, lanes, reader.mask, constant=False)
        return Element(value, self.dtype, lanes)

    def zero(self, rows: int, left: Index | None) -> None:
        """Store zeros into a tile."""
        loops, lanes = self.loops, self.space.lanes
        reader = Reader(loops, self.arguments, self.space)
        zero = reader.math.spread(reader.math.constant(0, self.dtype), lanes)
        panel, start = self.columns.value, self.rows.value
        assert panel is not None, "the panel is known"
        assert start is not None, "the row is known"
        with loops.loop(0, rows) as row:
            self.rows.value = loops.add(start, row.index)
            for vector in range(self.vectors):
                self.columns.value = loops.add(panel, vector * lanes)
                base, _, _ = self.space.split(loops, self.offset)
                loops.store(zero.value, self.out, base, self.mask(left, vector))
        self.columns.value, self.rows.value = panel, start

"""What stands behind a register tile: the raw tile is read back row by row, and finished.

A loop over the stored tile is faster than the same work on all accumulators at once, and its
code is a tenth: the tile is still in L1, and registers are free again. The raw tile lies where
the finished one will; if that has another element type, in scratch. Only what takes an instruction
or two, as the sum with a bias and with a tensor of the same place kept between bounds, is done
before the tile is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import BlockArgument, SSAValue

from ....ir import Op
from ....ir.dialects import kernel as gvk
from ....ir.types.dtypes import DType
from ....ir.types.indices import Indices, Linear
from ....ir.types.tensor import spec_of
from ....lazy import cached_property
from ....passes.analysis.kernels.short import Short, short_of
from ....passes.analysis.kernels.tiles import TALLEST
from .elements import Element
from .loops import Index, Loops
from .read import ElementReader, Tracer
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

    def __post_init__(self) -> None:
        self.aside: tuple[SSAValue, Index] | None = None
        if spec_of(self.root.type).dtype != self.dtype:
            self.aside = self.loops.scratch(self.dtype, TALLEST * self.vectors * self.space.lanes)

    def tile(self) -> gvk.Strided:
        """Return where the raw tile at the current rows and panel lies: buffer, offset, stride."""
        loops = self.loops
        if self.aside is not None:
            buffer, start = self.aside
            return buffer, loops.index(start), loops.index(self.vectors * self.space.lanes)
        base, _, extra = self.space.split(loops, self.offset)
        assert extra is None, "the result of a product is walked in strides"
        tokens = self.rows.tokens
        stride = self.offset.coefficient(tokens[-1]) if tokens else 0
        return self.out, loops.index(base), loops.index(stride)

    def product(self, a: gvk.Strided, b: gvk.Strided, sizes: gvk.GemmSizes, tile: gvk.Tile) -> bool:
        """Append the product of the tile at the current rows and panel; say if it is finished."""
        loops, short = self.loops, self.short
        bias: tuple[SSAValue, ...] = ()
        if short is not None:
            tile = replace(tile, added=short.beside is not None, low=short.low, high=short.high)
            if short.bias is not None:
                assert self.columns.value is not None, "the panel is known"
                buffer = self.loops.buffers[short.bias.index]
                bias = (buffer, loops.index(self.columns.value))
        behind = gvk.Behind(self.beside, bias)
        loops.here(gvk.GemmTile(a, b, self.tile(), sizes, tile, behind))
        return short is not None

    @cached_property
    def short(self) -> Short | None:
        """Return the epilogue as the tile can do it itself, if it can."""
        return short_of(self.root, self.anchor)

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
        reader = ElementReader(loops, self.arguments, self.space)
        panel = self.columns.value
        assert panel is not None, "the panel is known"
        with loops.loop(0, rows) as row:
            self.rows.value = loops.add(start, row.index)
            for vector in range(self.vectors):
                self.columns.value = loops.add(panel, vector * self.space.lanes)
                reader.mask = self.mask(left, vector)
                reader.fresh()
                raw = self.raw(reader, row.index, vector)
                reader.given[self.anchor.results[0]] = lambda _, raw=raw: raw  # type: ignore[misc]
                self.vector(reader)
        self.columns.value, self.rows.value = panel, start

    @cached_property
    def beside(self) -> tuple[SSAValue, ...]:
        """Return a buffer that is read behind a tile just where the results lie, if there is one.

        It is asked for with them: rows of a tile are too short for the processor to see.
        """
        if self.aside is not None:
            return ()
        tracer = Tracer()
        tracer.stops[self.anchor.results[0]] = []
        tracer.visit(self.root, self.index)
        near = [a.argument for a in tracer.accesses if a.offset == self.offset]
        found = [a for a in near if spec_of(a.type).dtype == self.dtype]
        return tuple(self.loops.buffers[a.index] for a in found[:1] if isinstance(a, BlockArgument))

    def mask(self, left: Index | None, vector: int) -> SSAValue | None:
        """Return the mask of the valid lanes of one vector of the panel."""
        if left is None:
            return None
        loops, lanes = self.loops, self.space.lanes
        return loops.mask(loops.maximum(loops.subtract(left, vector * lanes), 0), lanes)

    def vector(self, reader: ElementReader) -> None:
        """Finish one vector."""
        lanes = self.space.lanes
        element = reader.element(self.root, self.index)
        base, _, _ = self.space.split(self.loops, self.offset)
        value = reader.math.narrow(reader.math.spread(element, lanes))
        self.loops.store(value, self.out, base, reader.mask)

    def raw(self, reader: ElementReader, row: Index, vector: int) -> Element:
        """Return the raw elements at the current row and vector, which are numbered in the tile."""
        loops, lanes = self.loops, self.space.lanes
        if self.aside is None:
            base, _, _ = self.space.split(loops, self.offset)
            value = loops.load(self.out, base, lanes, reader.mask, constant=False)
        else:
            buffer, start = self.aside
            base = loops.add(start, loops.multiply(row, self.vectors * lanes))
            base = loops.add(base, vector * lanes)
            value = loops.load(buffer, base, lanes, constant=False)
        return Element(value, self.dtype, lanes)

    def zero(self, rows: int, left: Index | None) -> None:
        """Store zeros into the tile at the current rows."""
        loops, lanes = self.loops, self.space.lanes
        reader = ElementReader(loops, self.arguments, self.space)
        zero = reader.math.spread(reader.math.constant(0, self.dtype), lanes)
        buffer, base, stride = self.tile()
        with loops.loop(0, rows) as row:
            at = loops.add(base, loops.multiply(row.index, stride))
            for vector in range(self.vectors):
                mask = None if self.aside is not None else self.mask(left, vector)
                loops.store(zero.value, buffer, loops.add(at, vector * lanes), mask)

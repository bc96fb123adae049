"""The gradient of a convolution's weights: for each tap, image transposed times gradient.

    for unit in lo..hi                         parallel: taps x blocks of channels x panels
      C[channels, NR] = 0                      the block stays in L1
      for image, for block of result rows      about BLOCK places: their B stays in L1
        for tile of MR channels in the block   gvk.gemm_tile, added onto C: rows are channels,
                                               the depth is places, a segment one row of places

Places whose tap lies outside of the image are left out by the ranges of rows and of places in a
row. With few channels the rows of a tile are the channels of all taps along a row, which lie next
to each other in memory; the image is padded along its rows then (see `pack_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir import kernel_ops as gvk
from ...passes.analysis.tiles import is_joined, lanes_of, rows_for
from ...target import Target
from .blocks import RowBlocks
from .loops import Index, Loops
from .plan import open_kernel, returned_values
from .window import Window

BLOCK = 96
"""About how many places are added up before the next tile."""
BLOCK_ROWS = 64
"""Rows of C in one unit."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a gradient."""
    return ConvWeights(kernel, target).build()


@dataclass(frozen=True)
class Panel:
    """Columns of one unit: where they begin, and how many vectors."""

    start: Index
    vectors: int


class ConvWeights:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        assert isinstance(root.owner, Op), "the root is the gradient"
        self.anchor, self.target = root.owner, target
        self.dtype = self.anchor.specs[0].dtype
        self.lanes = lanes_of(target, self.dtype)
        self.loops, _, (self.out,) = open_kernel(kernel, target)
        self.image, self.grad = (self.buffer(v) for v in self.anchor.operands)
        flags = self.anchor.plain_attributes()
        x, grad = self.anchor.specs[0].static_shape, self.anchor.specs[1].static_shape
        self.batch, self.height, self.width, self.channels = x
        self.down_places, self.along_places, self.filters = grad[1:]
        lows = (low for low, _ in flags["pads"])
        rows = zip(
            x[1:3], grad[1:3], flags["window"], flags["strides"], flags["dilations"], lows,
            strict=True,
        )  # fmt: skip
        self.down, self.along = (Window(*row) for row in rows)
        self.joined = is_joined(self.channels, flags)
        self.rows = self.channels * (self.along.taps if self.joined else 1)
        self.widest = 4 if target.registers >= 32 else 2

    def buffer(self, value: SSAValue) -> SSAValue:
        """Return the buffer of an operand."""
        assert isinstance(value, BlockArgument), "an operand lies in a buffer"
        return self.loops.buffers[value.index]

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        count, left = divmod(self.filters // self.lanes, self.widest)
        panels = count + (left > 0)
        blocks = -(-self.rows // BLOCK_ROWS)
        taps = self.down.taps * (1 if self.joined else self.along.taps)
        with loops.loop(loops.lo, loops.hi) as unit:
            panel = loops.remainder(unit.index, panels)
            rest = loops.divide(unit.index, panels)
            block, tap = loops.remainder(rest, blocks), loops.divide(rest, blocks)
            start = loops.multiply(panel, self.widest * self.lanes)
            if not left:
                self.unit(tap, block, Panel(start, self.widest))
            elif not count:
                self.unit(tap, block, Panel(start, left))
            else:
                for sign, vectors in (("slt", self.widest), ("eq", left)):
                    with loops.when(loops.compare(sign, panel, count)):
                        self.unit(tap, block, Panel(start, vectors))
        return loops.finish(taps * blocks * panels)

    def unit(self, tap: Index, block: Index, panel: Panel) -> None:
        """Compute one block of channels of one tap, against one panel."""
        loops = self.loops
        tall = rows_for(self.target, panel.vectors)
        tiles = RowBlocks(self.rows, tall, BLOCK_ROWS)
        first = loops.add(loops.multiply(tap, self.rows * self.filters), panel.start)
        tiles.walk(loops, block, lambda rows, start: self.zero(rows, start, first, panel))
        each = 1 if self.joined else self.along.taps
        down, along = loops.divide(tap, each), loops.remainder(tap, each)
        low, high = places(loops, self.along, along)
        top, bottom = places(loops, self.down, down)
        step = max(1, BLOCK // self.along_places)
        with loops.loop(0, self.batch) as number, loops.loop(top, bottom, step) as row:
            segments = loops.minimum(loops.subtract(bottom, row.index), step)
            wide = self.along_places > 2 * BLOCK
            with loops.loop(low, high, BLOCK if wide else self.along_places) as place:
                count = loops.subtract(high, place.index)
                count = loops.minimum(count, BLOCK) if wide else count
                a = self.image_at(number.index, (row.index, down), (place.index, along))
                b = self.grad_at(number.index, row.index, place.index, panel)
                tiles.walk(
                    loops,
                    block,
                    lambda rows, start: self.tile(
                        rows, start, (a, b, first), (count, segments), panel.vectors
                    ),
                )

    def image_at(
        self, number: Index, row: tuple[Index, Index], place: tuple[Index, Index]
    ) -> Index:
        """Return the offset of what a tap sees at a place of the result."""
        loops = self.loops
        total = loops.multiply(number, self.height)
        for window, (at, tap), extent in (
            (self.down, row, self.width),
            (self.along, place, self.channels),
        ):
            seen = loops.add(window.first(loops, at), loops.multiply(tap, window.dilation))
            total = loops.multiply(loops.add(total, seen), extent)
        return total

    def grad_at(self, number: Index, row: Index, place: Index, panel: Panel) -> Index:
        """Return the offset of the gradient at a place."""
        loops = self.loops
        total = loops.add(loops.multiply(number, self.down_places), row)
        total = loops.add(loops.multiply(total, self.along_places), place)
        return loops.add(loops.multiply(total, self.filters), panel.start)

    # -- tiles ----------------------------------------------------------------------------

    def zero(self, rows: int, start: Index, first: Index, panel: Panel) -> None:
        """Store zeros into a tile of C."""
        loops, lanes = self.loops, self.lanes
        zero = loops.broadcast(loops.constant(0.0, self.dtype.element), lanes)
        at = loops.add(first, loops.multiply(start, self.filters))
        with loops.loop(0, rows) as row:
            here = loops.add(at, loops.multiply(row.index, self.filters))
            for vector in range(panel.vectors):
                loops.store(zero, self.out, loops.add(here, vector * lanes))

    def tile(
        self,
        rows: int,
        start: Index,
        at: tuple[Index, Index, Index],
        sizes: tuple[Index, Index],
        vectors: int,
    ) -> None:
        """Append one register tile."""
        loops = self.loops
        first, grad, made = at
        count, segments = sizes
        a = (self.image, loops.index(loops.add(first, start)), loops.index(1))
        b = (self.grad, loops.index(grad), loops.index(self.filters))
        to = loops.add(made, loops.multiply(start, self.filters))
        c = (self.out, loops.index(to), loops.index(self.filters))
        numbers = gvk.GemmSizes(
            loops.index(count),
            loops.index(segments),
            loops.index(self.down.stride * self.width * self.channels),
            loops.index(self.along_places * self.filters),
            loops.index(vectors * self.lanes),
            loops.index(self.along.stride * self.channels),
        )
        loops.here(gvk.GemmTile(a, b, c, numbers, gvk.Tile(rows, vectors, self.lanes, True, False)))


def places(loops: Loops, window: Window, tap: Index) -> tuple[SSAValue, SSAValue]:
    """Return the range of places of the result where a tap lies inside of the image."""
    assert isinstance(window.source, int), "the image has a known size"
    assert isinstance(window.result, int), "the result has a known size"
    reach = loops.multiply(tap, window.dilation)
    below = loops.maximum(loops.subtract(window.before, loops.index(reach)), 0)
    low = loops.divide(loops.add(below, window.stride - 1), window.stride)
    room = loops.subtract(window.source + window.before, loops.index(reach))
    room = loops.maximum(room, 0)
    high = loops.divide(loops.add(room, window.stride - 1), window.stride)
    high = loops.minimum(high, window.result)
    return loops.index(loops.minimum(low, high)), loops.index(high)

"""The gradient of a convolution's weights: for each tap, image transposed times gradient.

    for group of units in lo..hi               parallel: taps x blocks of channels x panels
      C[channels, NR] = 0                      for each unit: those of a group stay in L2
      for image, for block of result rows      about BLOCK places: their B stays in L1
        for unit in the group
          for tile of MR channels              gvk.gemm_tile, added onto C: rows are channels,
                                               the depth is places, a segment one row of places

Image and gradient are read once for a group, not for each tap. Places whose tap lies outside of the
image are left out by the ranges of rows and of places in a row. With few channels the rows of a
tile are the channels of all taps along a row, which lie next to each other in memory; the image is
padded along its rows then (see `pack_weights`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...passes.analysis.kernels.tiles import TALLEST, is_joined, lanes_of, rows_for
from ...target import Target
from .builder.blocks import RowBlocks
from .builder.loops import Index, Loops
from .builder.plan import open_kernel, returned_values
from .builder.window import Window

BLOCK = 112
"""About how many places are added up before the next tile."""
BLOCK_ROWS = 64
"""Rows of C in one unit, if there are then so many units that threads have equal shares."""
ENOUGH = 16
"""Units that there are to be, with fewer rows each."""
GROUP = 1 << 16
"""Elements of C in one group."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a gradient."""
    return ConvWeights(kernel, target).build()


@dataclass(frozen=True)
class Panel:
    """Columns of one unit: where they begin, and how many vectors."""

    start: Index
    vectors: int


@dataclass(frozen=True)
class Where:
    """Places of the result that are added up: of an image some rows, and of these some places."""

    number: Index
    row: Index
    rows: int
    place: Index
    width: int


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
        self.is_whole = not any(sum(pad) for pad in flags["pads"])
        """Whether all taps lie inside of the image at all places."""
        self.widest = 4 if target.registers >= 32 else 2

    def buffer(self, value: SSAValue) -> SSAValue:
        """Return the buffer of an operand."""
        assert isinstance(value, BlockArgument), "an operand lies in a buffer"
        return self.loops.buffers[value.index]

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        self.panels = -(-self.filters // (self.widest * self.lanes))
        taps = self.down.taps * (1 if self.joined else self.along.taps)
        self.block_rows = BLOCK_ROWS
        while taps * self.panels * self.blocks < ENOUGH and self.block_rows >= 2 * TALLEST:
            self.block_rows //= 2
        units = taps * self.blocks * self.panels
        size = min(self.rows, self.block_rows) * min(self.filters, self.widest * self.lanes)
        group = min(units, max(1, GROUP // size))
        with loops.loop(loops.lo, loops.hi, group) as first:
            stop = loops.minimum(loops.add(first.index, group), loops.index(loops.hi))
            with loops.loop(first.index, stop) as unit:
                self.each_panel(unit.index, self.clear)
            self.add(first.index, stop)
        return loops.finish(units)

    @property
    def blocks(self) -> int:
        """Return how many blocks the rows of C are cut into."""
        return -(-self.rows // self.block_rows)

    def add(self, first: Index, stop: Index) -> None:
        """Add what all places give onto the C of some units."""
        loops = self.loops
        step = max(1, BLOCK // self.along_places)
        width = BLOCK if self.along_places > 2 * BLOCK else self.along_places
        with (
            loops.loop(0, self.batch) as number,
            loops.loop(0, self.down_places, step) as row,
            loops.loop(0, self.along_places, width) as place,
            loops.loop(first, stop) as unit,
        ):
            where = Where(number.index, row.index, step, place.index, width)
            self.each_panel(unit.index, partial(self.unit, where=where))

    def each_panel(self, unit: Index, build: Callable[[Index, Index, Panel], None]) -> None:
        """Call `build` with tap, block and panel of a unit; the last panel may be narrower."""
        loops = self.loops
        number = loops.remainder(unit, self.panels)
        rest = loops.divide(unit, self.panels)
        block, tap = loops.remainder(rest, self.blocks), loops.divide(rest, self.blocks)
        start = loops.multiply(number, self.widest * self.lanes)
        count, left = divmod(self.filters // self.lanes, self.widest)
        if not left:
            build(tap, block, Panel(start, self.widest))
        elif not count:
            build(tap, block, Panel(start, left))
        else:
            for sign, vectors in (("slt", self.widest), ("eq", left)):
                with loops.when(loops.compare(sign, number, count)):
                    build(tap, block, Panel(start, vectors))

    def tiles(self, panel: Panel) -> RowBlocks:
        """Return how the rows of C are cut."""
        return RowBlocks(self.rows, rows_for(self.target, panel.vectors), self.block_rows)

    def place_of(self, tap: Index, panel: Panel) -> Index:
        """Return where the C of a tap and a panel begins."""
        loops = self.loops
        return loops.add(loops.multiply(tap, self.rows * self.filters), panel.start)

    def clear(self, tap: Index, block: Index, panel: Panel) -> None:
        """Store zeros into the C of a unit."""
        first = self.place_of(tap, panel)
        walk = partial(self.zero, first=first, panel=panel)
        self.tiles(panel).walk(self.loops, block, walk)

    def unit(self, tap: Index, block: Index, panel: Panel, where: Where) -> None:
        """Add what some places give onto one block of channels of one tap, for one panel."""
        loops = self.loops
        each = 1 if self.joined else self.along.taps
        down, along = loops.divide(tap, each), loops.remainder(tap, each)
        top, bottom = clipped(loops, places(loops, self.down, down), where.row, where.rows)
        low, high = clipped(loops, places(loops, self.along, along), where.place, where.width)
        segments, count = loops.subtract(bottom, top), loops.subtract(high, low)
        a = self.image_at(where.number, (top, down), (low, along))
        b = self.grad_at(where.number, top, low, panel)
        at, sizes = (a, b, self.place_of(tap, panel)), (count, segments)
        walk = partial(self.tile, at=at, sizes=sizes, vectors=panel.vectors)
        if self.is_whole:
            self.tiles(panel).walk(loops, block, walk)
            return
        some = loops.compare("sgt", loops.minimum(segments, count), 0)
        with loops.when(some):
            self.tiles(panel).walk(loops, block, walk)

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

    def zero(self, rows: int, start: Index, *, first: Index, panel: Panel) -> None:
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
        *,
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


def clipped(
    loops: Loops, span: tuple[SSAValue, SSAValue], first: Index, count: int
) -> tuple[Index, Index]:
    """Return the part of a range that lies in `first` and as many places behind it."""
    low, high = span
    low = loops.index(loops.maximum(low, first))
    return low, loops.minimum(high, loops.add(first, count))

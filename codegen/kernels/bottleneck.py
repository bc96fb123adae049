"""An expansion, the windows that slide over it and its projection, an output row at a time.

    for unit in lo..hi                        parallel: image x output row
      for vector of channels
        for source row that is new            all the windows see, where this call begins
          for tile of pixels                  E[v][row % R][pixel] = epilogue(x U), or of a conv
        for tile of pixels                    by the template of sliding windows
          D[pixel][v] = epilogue(sum over taps of E)
      for panel: for tile of pixels           out = epilogue(D P)

Each tensor in between has many more channels than what goes in and comes out. E is a ring of the
rows that the windows see, for each vector of channels, and D is one row: they lie in this slot's
scratch and stay in L2. What the windows see of a vector's new rows is still in L1. A row of E is
computed once, but for those at the beginning of a call, which the call before has too. Without a
projection, D is the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.types.dims import product
from ...ir.types.indices import Indices, Linear, Opaque, flatten, of
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import lanes_in, rows_for
from ...target import Target
from .builder.blocks import LINE, apart, odd_lines, walk_equal
from .builder.elements import Element
from .builder.epilogue import Epilogue
from .builder.loops import Index
from .builder.plan import Opened, open_kernel, plan, returned_values
from .builder.read import Tracer
from .builder.space import Group, Space
from .conv import Conv, Panel
from .sliding import PixelTile, Sliding

PRODUCTS = ("gv.matmul_packed", "gv.conv_packed")


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an expansion, windows, and a projection if there is one."""
    return Bottleneck(kernel, target).build()


class Bottleneck:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        ops = [op for op in kernel.body.block.ops if isinstance(op, Op)]
        expansion, *projections = [op for op in ops if op.name in PRODUCTS]
        (windows,) = [op for op in ops if op.name == "gv.depthwise_packed"]
        opened = open_kernel(kernel, target)
        self.loops, _, (self.out,) = opened
        inner = projections[0].operands[0] if projections else root
        source = windows.operands[0]
        self.expand = (
            RowConv(opened, source, expansion, target)
            if expansion.name == "gv.conv_packed"
            else RowProduct(opened, source, expansion, target, vectors=1)
        )
        self.slide = RingWindows(opened, inner, windows, target)
        self.project = RowProduct(opened, root, projections[0], target) if projections else None
        self.lay_out()

    def lay_out(self) -> None:
        """Place the ring of source rows and the row of results in scratch."""
        loops, slide = self.loops, self.slide
        width, channels = (int(d) for d in slide.anchor.specs[0].dims[2:])  # type: ignore[arg-type]
        pitch = apart(channels, max(slide.lanes, LINE // slide.dtype.size))
        self.ring = 1 << (slide.rows.taps - 1).bit_length()
        self.ring_row = odd_lines(width * slide.lanes, LINE // slide.dtype.size)
        rings = channels // slide.lanes * self.ring * self.ring_row
        after = int(slide.pixel.extent) * pitch if self.project else 0  # type: ignore[arg-type]
        self.scratch, self.start = self.loops.scratch(slide.dtype, rings + after)
        slide.ring, slide.apart = self.scratch, slide.lanes
        if self.project:
            row = loops.index(loops.add(self.start, rings))
            self.between = PixelRow(self.scratch, row, pitch)
            slide.out, slide.offset = self.scratch, self.between.offset(slide.plan.index)

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, slide = self.loops, self.slide
        with loops.loop(loops.lo, loops.hi) as unit:
            row = loops.remainder(unit.index, slide.row.extent)
            image = loops.divide(unit.index, slide.row.extent)
            slide.row.value, slide.image.value = row, image
            before = loops.minimum(row, loops.subtract(unit.index, loops.lo))
            first = slide.rows.first(loops, row)
            taps = [loops.add(first, tap) for tap in range(slide.rows.taps)]
            with loops.loop(0, loops.index(slide.channel.extent), slide.lanes) as one:
                self.fill((image, row), one.index, before)
                slide.bases = [self.ring_at(tap, one.index) for tap in taps]
                slide.over_row((one.index, slide.lanes))
            if self.project:
                self.project.compute((image, row), self.between)
        return loops.finish(product((slide.image.extent, slide.row.extent)))

    def fill(self, at: tuple[Index, Index], channel: SSAValue, before: Index) -> None:
        """Compute a vector of the source rows that are not in the ring.

        `before` rows of results were made.
        """
        loops, rows = self.loops, self.slide.rows
        image, row = at
        first = rows.first(loops, row)
        kept = loops.multiply(loops.minimum(before, 1), rows.taps - rows.stride)
        low = loops.maximum(loops.add(first, kept), 0)
        assert isinstance(rows.source, int), "the image is known"
        high = loops.minimum(loops.add(first, rows.taps), rows.source)
        with loops.loop(low, high) as one:
            into = PixelRow(self.scratch, self.ring_at(one.index, channel), self.slide.apart)
            self.expand.vector((image, one.index), channel, into)

    def ring_at(self, row: Index, channel: SSAValue) -> SSAValue:
        """Return where a source row of a vector lies, without what its first channel adds."""
        loops = self.loops
        ring = loops.multiply(loops.divide(channel, self.slide.lanes), self.ring * self.ring_row)
        place = loops.multiply(loops.remainder(row, self.ring), self.ring_row)
        start = loops.add(self.start, loops.subtract(loops.index(ring), channel))
        return loops.index(loops.add(start, place))


@dataclass(frozen=True)
class PixelRow:
    """A row of pixels in a buffer: where it begins, and how far its pixels are apart."""

    buffer: SSAValue
    at: SSAValue
    apart: int

    def offset(self, index: Indices) -> Linear:
        """Return where an element of the row lies, by its index in an image."""
        return index[2] * self.apart + index[3] + of(Opaque(self.at, 1))


class RingWindows(Sliding):
    """Windows that slide over rows in a ring."""

    ring: SSAValue
    apart: int
    bases: list[SSAValue]
    """Where the row of each kernel row begins."""

    def tile(self, rows: tuple[int, int], tile: PixelTile) -> None:
        """Compute and store neighbouring pixels; they share what they see."""
        self.loaded: dict[tuple[int, Linear], Element] = {}
        super().tile(rows, tile)

    def seen(self, row: int, pixel: int, column: Linear) -> Element:
        """Return what a pixel of the tile sees at a tap, from the ring."""
        columns = self.columns
        image, y, x, channel = self.plan.index
        x = x * columns.stride + column * columns.dilation
        x = x + (pixel * columns.stride - columns.before)
        if (row, x) not in self.loaded:
            offset = PixelRow(self.ring, self.bases[row], self.apart).offset((image, y, x, channel))
            base, _, _ = self.space.split(self.loops, offset)
            value = self.loops.load(self.ring, base, self.lanes, self.reader.mask, constant=False)
            self.loaded[row, x] = Element(value, self.dtype, self.lanes)
        return self.loaded[row, x]


class RowConv(Conv):
    """A convolution of which a vector of a row at a time is computed."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        super().__init__(opened, root, anchor, target)
        self.vectors, self.tall = 1, rows_for(target, 1)

    def vector(self, at: tuple[Index, Index], channel: SSAValue, into: PixelRow) -> None:
        """Compute a vector of channels of a row."""
        loops = self.loops
        self.axes[0].value, self.axes[1].value = at
        offset = into.offset(self.plan.index)
        self.epilogue = replace(self.epilogue, offset=offset, out=into.buffer, vectors=1)
        self.columns.value = channel
        panel = loops.divide(channel, self.width)
        start = loops.multiply(panel, self.depth * self.width)
        self.row(Panel(panel, 0, loops.add(start, loops.remainder(channel, self.width))), None)


class RowProduct:
    """Multiplies the pixels of a row by packed weights, up to the value `root`.

    `vectors` are those of a register tile, by default of a whole panel.
    """

    def __init__(
        self, opened: Opened, root: SSAValue, anchor: Op, target: Target, vectors: int = 0
    ) -> None:
        self.loops, self.arguments, (self.out,) = opened
        self.root, self.anchor = root, anchor
        result, panels = anchor.result_specs[0], anchor.specs[1]
        self.panels, self.depth, self.wide = (int(d) for d in panels.dims)  # type: ignore[arg-type]
        self.lanes = lanes_in(target, result.dtype, self.wide)
        self.vectors = vectors or self.wide // self.lanes
        self.tall = rows_for(target, self.vectors)
        self.filters = int(result.dims[-1])  # type: ignore[arg-type]

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.stops[anchor.results[0]] = []
            tracer.visit(root, index)

        self.plan = plan(result.dims, visit)
        self.axes = [Group(tuple(axis.tokens)) for axis in self.plan.axes]
        self.image, self.row, self.pixel, self.channel = self.axes
        self.space = Space(self.axes, self.channel, self.lanes)

    def compute(self, at: tuple[Index, Index], source: PixelRow) -> None:
        """Compute a row of the result from one that lies elsewhere."""
        loops = self.loops
        self.begin(at, self.out, flatten(self.plan.index, spec_of(self.root.type).dims))
        whole = self.filters // self.wide
        with loops.loop(0, whole) as panel:
            self.tiles(loops.multiply(panel.index, self.wide), source, None)
        if whole < self.panels:
            self.tiles(whole * self.wide, source, self.filters - whole * self.wide)

    def vector(self, at: tuple[Index, Index], channel: SSAValue, into: PixelRow) -> None:
        """Compute a vector of channels of a row from the operand's."""
        self.begin(at, into.buffer, into.offset(self.plan.index))
        self.tiles(channel, self.operand_row(at), None)

    def begin(self, at: tuple[Index, Index], out: SSAValue, offset: Linear) -> None:
        """Say which row is computed, and where it is written."""
        self.image.value, self.row.value = at
        self.epilogue = Epilogue(
            self.loops, self.arguments, self.space, self.root, self.anchor, self.plan.index,
            offset, out, self.pixel, self.channel, self.vectors,
        )  # fmt: skip

    def operand_row(self, at: tuple[Index, Index]) -> PixelRow:
        """Return the row of the operand that a row of the result is made of."""
        loops, x = self.loops, self.anchor.operands[0]
        assert isinstance(x, BlockArgument), "an operand lies in a buffer"
        _, height, width, channels = (int(d) for d in spec_of(x.type).dims)  # type: ignore[arg-type]
        row = loops.add(loops.multiply(at[0], height), at[1])
        start = loops.index(loops.multiply(row, width * channels))
        return PixelRow(loops.buffers[x.index], start, channels)

    def tiles(self, start: Index, source: PixelRow, left: int | None) -> None:
        """Multiply the pixels by the columns from one on, of which `left` are there if given."""
        loops = self.loops
        panel = loops.multiply(loops.divide(start, self.wide), self.depth * self.wide)
        weights = loops.index(loops.add(panel, loops.remainder(start, self.wide)))
        count = self.pixel.extent
        assert isinstance(count, int), "the row is known"

        def tile(rows: int, first: Index, _: Index) -> None:
            self.channel.value, self.pixel.value = start, first
            if not self.product(rows, source, weights, left):
                self.epilogue.finish(rows, first, left)

        walk_equal(loops, count, self.tall, tile)

    def product(self, rows: int, source: PixelRow, weights: SSAValue, left: int | None) -> bool:
        """Append one register tile; say if it is finished."""
        loops = self.loops
        first = self.pixel.value
        assert first is not None, "the pixel is known"
        operand = self.anchor.operands[1]
        assert isinstance(operand, BlockArgument), "panels are an argument"
        at = loops.add(source.at, loops.multiply(first, source.apart))
        a = (source.buffer, loops.index(at), loops.index(source.apart))
        b = (loops.buffers[operand.index], weights, loops.index(self.wide))
        zero, one = loops.index(0), loops.index(1)
        columns = loops.index(self.wide if left is None else left)
        sizes = gvk.GemmSizes(loops.index(self.depth), one, zero, zero, columns, one)
        shape = gvk.Tile(rows, self.vectors, self.lanes, False, left is not None)
        return self.epilogue.product(a, b, sizes, shape)


__all__ = ["lower"]

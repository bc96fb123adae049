"""An expansion, the windows that slide over it and its projection, an output row at a time.

    for unit in lo..hi                        parallel: image x output row
      for source row that is new              all the windows see, where this call begins
        for panel: for tile of pixels         E[row % R][pixel][C] = epilogue(x U), or of a conv
      for vector of channels                  by the template of sliding windows
        for tile of pixels                    D[pixel][C] = epilogue(sum over taps of E)
      for panel: for tile of pixels           out = epilogue(D P)

Each tensor in between has many more channels than what goes in and comes out. E is a ring of the
rows that the windows see, and D is one row: they lie in this slot's scratch and stay in L2. A row
of E is computed once, but for those at the beginning of a call, which the call before has too.
Without a projection, D is the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir import kernel_ops as gvk
from ...ir.dims import product
from ...ir.tensor import spec_of
from ...passes.analysis.tiles import lanes_in, rows_for
from ...target import Target
from .blocks import LINE, apart, walk_equal
from .conv import Conv
from .elements import Element
from .epilogue import Epilogue
from .index import Linear, Opaque, flatten, of
from .loops import Index
from .plan import Opened, open_kernel, plan, returned_values
from .read import Indices, Tracer
from .sliding import Sliding, Tile
from .space import Group, Space

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
        expand = RowConv if expansion.name == "gv.conv_packed" else RowProduct
        self.expand = expand(opened, windows.operands[0], expansion, target)
        self.slide = RingWindows(opened, inner, windows, target)
        self.project = RowProduct(opened, root, projections[0], target) if projections else None
        self.lay_out()

    def lay_out(self) -> None:
        """Place the ring of source rows and the row of results in scratch."""
        loops, slide = self.loops, self.slide
        width, channels = (int(d) for d in slide.anchor.specs[0].dims[2:])  # type: ignore[arg-type]
        pitch = apart(channels, max(slide.lanes, LINE // slide.dtype.size))
        self.ring = 1 << (slide.rows.taps - 1).bit_length()
        self.ring_row = width * pitch
        after = int(slide.pixel.extent) * pitch if self.project else 0  # type: ignore[arg-type]
        size = self.ring * self.ring_row + after
        self.scratch, self.start = self.loops.scratch(slide.dtype, size)
        slide.ring, slide.apart = self.scratch, pitch
        if self.project:
            row = loops.index(loops.add(self.start, self.ring * self.ring_row))
            self.between = Row(self.scratch, row, pitch)
            slide.out, slide.offset = self.scratch, self.between.offset(slide.plan.index)

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, slide = self.loops, self.slide
        with loops.loop(loops.lo, loops.hi) as unit:
            row = loops.remainder(unit.index, slide.row.extent)
            image = loops.divide(unit.index, slide.row.extent)
            slide.row.value, slide.image.value = row, image
            self.fill(image, row, loops.minimum(row, loops.subtract(unit.index, loops.lo)))
            first = slide.rows.first(loops, row)
            slide.bases = [
                loops.index(self.ring_at(loops.add(first, tap))) for tap in range(slide.rows.taps)
            ]
            slide.over_row((0, int(slide.channel.extent)))  # type: ignore[arg-type]
            if self.project:
                self.project.compute((image, row), self.between, None)
        return loops.finish(product((slide.image.extent, slide.row.extent)))

    def fill(self, image: Index, row: Index, before: Index) -> None:
        """Compute the source rows that are not in the ring; `before` rows of results were made."""
        loops, rows = self.loops, self.slide.rows
        first = rows.first(loops, row)
        kept = loops.multiply(loops.minimum(before, 1), rows.taps - rows.stride)
        low = loops.maximum(loops.add(first, kept), 0)
        assert isinstance(rows.source, int), "the image is known"
        high = loops.minimum(loops.add(first, rows.taps), rows.source)
        with loops.loop(low, high) as one:
            into = Row(self.scratch, loops.index(self.ring_at(one.index)), self.slide.apart)
            self.expand.compute((image, one.index), None, into)

    def ring_at(self, row: Index) -> Index:
        """Return where a source row lies."""
        loops = self.loops
        place = loops.multiply(loops.remainder(row, self.ring), self.ring_row)
        return loops.add(self.start, place)


@dataclass(frozen=True)
class Row:
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

    def tile(self, rows: tuple[int, int], tile: Tile) -> None:
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
            offset = Row(self.ring, self.bases[row], self.apart).offset((image, y, x, channel))
            base, _, _ = self.space.split(self.loops, offset)
            value = self.loops.load(self.ring, base, self.lanes, self.reader.mask, constant=False)
            self.loaded[row, x] = Element(value, self.dtype, self.lanes)
        return self.loaded[row, x]


class RowConv(Conv):
    """A convolution of which a row at a time is computed."""

    def compute(self, at: tuple[Index, Index], _: Row | None, into: Row) -> None:
        """Compute a row of an image."""
        self.axes[0].value, self.axes[1].value = at
        offset = into.offset(self.plan.index)
        self.epilogue = replace(self.epilogue, offset=offset, out=into.buffer)
        with self.loops.loop(0, self.per_group) as panel:
            self.panel(panel.index)


class RowProduct:
    """Multiplies the pixels of a row by packed weights, up to the value `root`."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        self.loops, self.arguments, (self.out,) = opened
        self.root, self.anchor = root, anchor
        result, panels = anchor.result_specs[0], anchor.specs[1]
        self.panels, self.depth, self.wide = (int(d) for d in panels.dims)  # type: ignore[arg-type]
        self.lanes = lanes_in(target, result.dtype, self.wide)
        self.vectors = self.wide // self.lanes
        self.tall = rows_for(target, self.vectors)
        self.filters = int(result.dims[-1])  # type: ignore[arg-type]

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.stops[anchor.results[0]] = []
            tracer.visit(root, index)

        self.plan = plan(result.dims, visit)
        self.axes = [Group(tuple(axis.tokens)) for axis in self.plan.axes]
        self.image, self.row, self.pixel, self.channel = self.axes
        self.space = Space(self.axes, self.channel, self.lanes)

    def compute(self, at: tuple[Index, Index], source: Row | None, into: Row | None) -> None:
        """Compute a row of an image from one, by default the operand's, into one or the result."""
        loops, index = self.loops, self.plan.index
        source = source or self.operand_row(at)
        self.image.value, self.row.value = at
        offset = into.offset(index) if into else flatten(index, spec_of(self.root.type).dims)
        self.epilogue = Epilogue(
            loops, self.arguments, self.space, self.root, self.anchor, index, offset,
            into.buffer if into else self.out, self.pixel, self.channel, self.vectors,
        )  # fmt: skip
        whole = self.filters // self.wide
        with loops.loop(0, whole) as panel:
            self.panel(panel.index, source, None)
        if whole < self.panels:
            self.panel(loops.index(whole), source, self.filters - whole * self.wide)

    def operand_row(self, at: tuple[Index, Index]) -> Row:
        """Return the row of the operand that a row of the result is made of."""
        loops, x = self.loops, self.anchor.operands[0]
        assert isinstance(x, BlockArgument), "an operand lies in a buffer"
        _, height, width, channels = (int(d) for d in spec_of(x.type).dims)  # type: ignore[arg-type]
        row = loops.add(loops.multiply(at[0], height), at[1])
        start = loops.index(loops.multiply(row, width * channels))
        return Row(loops.buffers[x.index], start, channels)

    def panel(self, panel: SSAValue, source: Row, left: int | None) -> None:
        """Multiply the pixels by one panel, of which `left` columns are there if given."""
        start = self.loops.multiply(panel, self.wide)
        weights = self.loops.index(self.loops.multiply(start, self.depth))
        count = self.pixel.extent
        assert isinstance(count, int), "the row is known"

        def tile(rows: int, first: Index, _: Index) -> None:
            self.channel.value, self.pixel.value = start, first
            if not self.product(rows, source, weights, left):
                self.epilogue.finish(rows, first, left)

        walk_equal(self.loops, count, self.tall, tile)

    def product(self, rows: int, source: Row, weights: SSAValue, left: int | None) -> bool:
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

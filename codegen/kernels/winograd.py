"""Winograd's 3x3 convolution: transform tiles of the image, multiply, transform back.

    for unit in lo..hi                       parallel: block of tiles x panel of output channels
      if the block is new                    V stays for the panels that follow in this call
        for tile: for v in channels          V[places][tile][C] = Bt d B
      for plane of weights
        for place that shares it
          for tile of MR rows                M[places][tile][NR] = V U, by gvk.gemm_tile
      for tile: for v in panel               Y[m][m][NR] = At M A
        for pixel that lies inside           out = epilogue(Y)

The matrices are data (`ir/ops/laid_out/winograd.py`): of windows that move by 1 each place has
weights of its own, of those that move by 2 some share. V, M and Y lie in this slot's scratch: a
block has so many tiles that V and M take half of L2. Tiles at the border of the image are first
copied into a patch with zeros around. While a panel of a plane is multiplied, the next one is asked
for.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.ops.laid_out.winograd import form_of
from ...ir.types.dims import Dim, ceil_divide
from ...ir.types.indices import Indices, flatten
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import lanes_of, rows_for
from ...target import Target
from .builder.blocks import LINE, apart, lines_ahead, odd_lines, walk_equal, walk_heights
from .builder.combination import combine
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import open_kernel, plan, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space

BLOCK_BYTES = 600 << 10
"""Bytes of V and M of a block."""
WHOLE_BYTES = 768 << 10
"""Bytes up to which all tiles are one block: then the weights are read once."""
MAX_TILES = 96


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a convolution by tiles."""
    return Winograd(kernel, target).build()


class Winograd:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (self.root,) = returned_values(kernel)
        anchor = next(op for op in kernel.body.block.ops if op.name == "gv.winograd_packed")
        assert isinstance(anchor, Op), "a convolution is an operation"
        self.anchor = anchor
        self.dtype = anchor.specs[0].dtype
        self.lanes = lanes_of(target, self.dtype)
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.stops[anchor.results[0]] = []
            tracer.visit(self.root, index)

        self.plan = plan(anchor.result_specs[0].dims, visit)
        self.axes = [Group(tuple(axis.tokens)) for axis in self.plan.axes]
        self.space = Space(self.axes, self.axes[-1], self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        self.math = self.reader.math
        self.offset = flatten(self.plan.index, spec_of(self.root.type).dims)
        self.sizes(target)

    def sizes(self, target: Target) -> None:
        """Read sizes off the operands, and lay out scratch."""
        x, panels = self.anchor.specs
        result = self.anchor.result_specs[0].dims
        flags = self.anchor.plain_attributes()
        self.form = form_of(flags["tile"], flags["stride"])
        self.top, self.left = (low for low, _ in flags["pads"])
        self.columns: int = flags["columns"]
        self.height, self.width = x.dims[1:3]
        self.rows_out, self.columns_out = result[1:3]
        self.panels, _, self.channels, self.tile_width = panels.static_shape
        self.vectors = self.tile_width // self.lanes
        self.down, self.across = (ceil_divide(size, self.form.tile) for size in result[1:3])
        self.tiles = result[0] * self.down * self.across
        self.tall = rows_for(target, self.vectors)
        line = max(self.lanes, LINE // self.dtype.size)
        self.row = apart(self.channels, line)
        places = self.form.seen**2
        each = places * (self.row + self.tile_width) * self.dtype.size
        self.block = max(1, min(MAX_TILES, BLOCK_BYTES // each))
        if isinstance(self.tiles, int):
            blocks = -(-self.tiles // self.block)
            blocks = 1 if self.tiles * each <= WHOLE_BYTES else blocks
            self.block = -(-self.tiles // blocks)
        self.blocks = ceil_divide(self.tiles, self.block)
        self.image_place = odd_lines(self.block * self.row, line)
        self.product_place = odd_lines(self.block * self.tile_width, line)
        image, products = places * self.image_place, places * self.product_place
        ready = self.form.tile**2 * self.tile_width
        self.scratch, start = self.loops.scratch(
            self.dtype, image + products + ready + places * self.channels
        )
        self.image_at = start
        self.products_at = self.loops.add(start, image)
        self.ready_at = self.loops.add(self.products_at, products)
        self.patch_at = self.loops.add(self.ready_at, ready)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        with loops.loop(loops.lo, loops.hi) as unit:
            panel = loops.remainder(unit.index, self.panels)
            first = loops.multiply(loops.divide(unit.index, self.panels), self.block)
            left = loops.subtract(loops.index(self.tiles), loops.index(first))
            count = loops.minimum(left, self.block)
            new = loops.compare("eq", panel, 0)
            begins = loops.compare("eq", unit.index, loops.lo)
            must = loops.pure(arith.OrIOp, (new, begins), i1)
            with loops.when(must), loops.loop(0, count) as tile:
                self.transform_image(tile.index, loops.add(first, tile.index))
            self.multiply(panel, count)
            with loops.loop(0, count) as tile:
                self.transform_back(tile.index)
                self.finish(panel, loops.add(first, tile.index))
        return loops.finish(self.blocks * self.panels)

    def place(self, tile: Index) -> tuple[Index, Index, Index]:
        """Return image, first row and first column of a tile."""
        loops = self.loops
        rest = loops.remainder(tile, self.down * self.across)
        row = loops.multiply(loops.divide(rest, self.across), self.form.tile)
        column = loops.multiply(loops.remainder(rest, self.across), self.form.tile)
        return loops.divide(tile, self.down * self.across), row, column

    # -- the image ------------------------------------------------------------------------

    def transform_image(self, number: Index, tile: Index) -> None:
        """Write the transformed rows of channels of one tile."""
        loops, seen, stride = self.loops, self.form.seen, self.form.stride
        image, row, column = self.place(tile)
        row = loops.add(loops.multiply(row, stride), -self.top)
        column = loops.add(loops.multiply(column, stride), -self.left)
        source = self.buffer(self.anchor.operands[0])
        at = loops.add(loops.multiply(image, self.height), row)
        at = loops.add(loops.multiply(at, self.width), column)
        at = loops.multiply(at, self.channels)
        inside = self.both(
            self.between(row, self.height - seen + 1), self.between(column, self.width - seen + 1)
        )
        true = loops.constant(1, i1)
        outside = loops.pure(arith.XOrIOp, (inside, true), i1)
        with loops.when(inside):
            self.transform_tile(number, (source, at, self.width * self.channels), constant=True)
        with loops.when(outside):
            with loops.loop(0, seen) as i, loops.loop(0, seen) as j:
                pixel = loops.add(loops.multiply(i.index, self.width), j.index)
                here = loops.add(at, loops.multiply(pixel, self.channels))
                valid = self.both(
                    self.between(loops.add(row, i.index), self.height),
                    self.between(loops.add(column, j.index), self.width),
                )
                to = loops.add(loops.multiply(i.index, seen), j.index)
                to = loops.add(self.patch_at, loops.multiply(to, self.channels))
                self.copy_pixel(source, here, to, valid)
            patch = (self.scratch, self.patch_at, seen * self.channels)
            self.transform_tile(number, patch, constant=False)

    def copy_pixel(self, source: SSAValue, at: Index, to: Index, valid: SSAValue) -> None:
        """Copy the channels of a pixel into the patch, or zeros."""
        loops = self.loops
        zero = self.math.spread(self.math.constant(0, self.dtype), self.lanes).value
        missing = loops.pure(arith.XOrIOp, (valid, loops.constant(1, i1)), i1)
        with loops.when(valid), loops.loop(0, self.channels, self.lanes) as one:
            value = loops.load(source, loops.add(at, one.index), self.lanes)
            loops.store(value, self.scratch, loops.add(to, one.index))
        with loops.when(missing), loops.loop(0, self.channels, self.lanes) as one:
            loops.store(zero, self.scratch, loops.add(to, one.index))

    def transform_tile(
        self, number: Index, source: tuple[SSAValue, Index, Dim], *, constant: bool
    ) -> None:
        """Transform a tile of pixels that lies somewhere, vector by vector."""
        loops, matrix, seen = self.loops, self.form.image, range(self.form.seen)
        buffer, at, stride = source
        to = loops.add(self.image_at, loops.multiply(number, self.row))
        with loops.loop(0, self.channels, self.lanes) as one:
            here = loops.add(at, one.index)
            half: list[list[Element]] = []
            for j in seen:
                steps = [loops.index(i * stride + j * self.channels) for i in seen]
                places = [loops.add(here, step) for step in steps]
                half.append(
                    combine(self.math, matrix, [self.load(buffer, p, constant) for p in places])
                )
            there = loops.add(to, one.index)
            for i in seen:
                made = combine(self.math, matrix, [column[i] for column in half])
                for j, value in enumerate(made):
                    place = (i * self.form.seen + j) * self.image_place
                    loops.store(value.value, self.scratch, loops.add(there, place))

    # -- the products ---------------------------------------------------------------------

    def multiply(self, panel: Index, count: Index) -> None:
        """Multiply each place of the block by its panel of weights."""
        loops, runs = self.loops, self.form.runs
        size = self.channels * self.tile_width
        panel = loops.multiply(panel, self.form.planes**2)
        for first, last, down in runs:
            for start, stop, across in runs:
                with loops.loop(first, last) as i, loops.loop(start, stop) as j:
                    plane = loops.add(loops.multiply(i.index, self.form.planes), j.index)
                    weights = loops.multiply(loops.add(panel, plane), size)
                    place = loops.add(loops.multiply(i.index, self.form.seen), j.index)
                    with loops.loop(0, down) as m, loops.loop(0, across) as n:
                        shift = loops.add(loops.multiply(m.index, self.form.seen), n.index)
                        self.multiply_place(loops.add(place, shift), weights, count)

    def multiply_place(self, place: Index, weights: Index, count: Index) -> None:
        """Multiply the rows of one place by a panel."""

        def tile(rows: int, start: Index, number: Index) -> None:
            self.product((place, start, number), rows, weights)

        if isinstance(self.tiles, int):
            walk_equal(self.loops, self.block, self.tall, tile)
            return
        walk_heights(
            self.loops, (0, count), self.tall,
            lambda rows, row: tile(rows, row, self.loops.divide(row, self.tall)),
        )  # fmt: skip

    def product(self, at: tuple[Index, Index, Index], rows: int, weights: Index) -> None:
        """Append one register tile; `at` is its place, its first row and its number."""
        loops = self.loops
        place, row, number = at
        a = loops.add(loops.multiply(place, self.image_place), loops.multiply(row, self.row))
        c = loops.multiply(place, self.product_place)
        c = loops.add(c, loops.multiply(row, self.tile_width))
        a, c = loops.add(self.image_at, a), loops.add(self.products_at, c)
        wide, line = loops.index(self.tile_width), LINE // self.dtype.size
        zero, one = loops.index(0), loops.index(1)
        lines = lines_ahead(self.tile_width, self.dtype.size, -(-self.block // self.tall))
        share = loops.multiply(number, lines * line * (self.channels // 2))
        ahead = loops.add(share, self.channels * self.tile_width)
        sizes = gvk.GemmSizes(
            loops.index(self.channels), one, zero, zero, wide, one, (loops.index(ahead),)
        )
        shape = gvk.Tile(rows, self.vectors, self.lanes, False, False, ahead=lines)
        strided = (self.scratch, loops.index(a), loops.index(self.row))
        panel = (self.buffer(self.anchor.operands[1]), loops.index(weights), wide)
        loops.here(gvk.GemmTile(strided, panel, (self.scratch, loops.index(c), wide), sizes, shape))

    # -- the results ----------------------------------------------------------------------

    def transform_back(self, number: Index) -> None:
        """Write the results of one tile, for the channels of the panel."""
        loops, matrix, seen = self.loops, self.form.result, range(self.form.seen)
        start = loops.add(self.products_at, loops.multiply(number, self.tile_width))
        with loops.loop(0, self.tile_width, self.lanes) as one:
            here = loops.add(start, one.index)
            half: list[list[Element]] = []
            for j in seen:
                places = [(i * self.form.seen + j) * self.product_place for i in seen]
                found = [self.load(self.scratch, loops.add(here, at), False) for at in places]
                half.append(combine(self.math, matrix, found))
            there = loops.add(self.ready_at, one.index)
            for i in range(self.form.tile):
                made = combine(self.math, matrix, [column[i] for column in half])
                for j, value in enumerate(made):
                    place = (i * self.form.tile + j) * self.tile_width
                    loops.store(value.value, self.scratch, loops.add(there, place))

    def finish(self, panel: Index, tile: Index) -> None:
        """Store the results that lie inside, through what stands behind them."""
        loops, reader = self.loops, self.reader
        image, row, column = self.place(tile)
        images, rows, columns, channels = self.axes
        images.value = image
        start = loops.multiply(panel, self.tile_width)
        down, across = (
            loops.minimum(loops.subtract(loops.index(size), loops.index(at)), self.form.tile)
            for size, at in ((self.rows_out, row), (self.columns_out, column))
        )
        with loops.loop(0, down) as i, loops.loop(0, across) as j:
            rows.value = loops.add(row, i.index)
            columns.value = loops.add(column, j.index)
            pixel = loops.add(loops.multiply(i.index, self.form.tile), j.index)
            at = loops.add(self.ready_at, loops.multiply(pixel, self.tile_width))
            for first in range(0, self.tile_width, self.lanes):
                channels.value = loops.add(start, first)
                reader.mask = self.column_mask(channels.value)
                raw = self.load(self.scratch, loops.add(at, first), False)
                self.store(raw)
        reader.mask = None

    def column_mask(self, start: Index) -> SSAValue | None:
        """Return the mask of the output channels that exist from `start` on."""
        if self.columns % self.tile_width == 0:
            return None
        left = self.loops.subtract(self.columns, self.loops.index(start))
        return self.loops.mask(self.loops.maximum(left, 0), self.lanes)

    def store(self, raw: Element) -> None:
        """Finish and store one vector."""
        reader = self.reader
        reader.given = {self.anchor.results[0]: lambda _: raw}
        reader.fresh()
        element = reader.element(self.root, self.plan.index)
        base, _, _ = self.space.split(self.loops, self.offset)
        value = self.math.narrow(self.math.spread(element, self.lanes))
        self.loops.store(value, self.out, base, reader.mask)

    # -- values ---------------------------------------------------------------------------

    def load(self, buffer: SSAValue, at: Index, constant: bool) -> Element:
        """Return a vector that lies in a buffer."""
        value = self.loops.load(buffer, at, self.lanes, constant=constant)
        return Element(value, self.dtype, self.lanes)

    def between(self, at: Index, extent: Dim) -> SSAValue:
        """Say whether 0 <= at < extent."""
        loops = self.loops
        return self.both(loops.compare("sge", at, 0), loops.compare("slt", at, loops.index(extent)))

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Say whether both hold."""
        return self.loops.pure(arith.AndIOp, (a, b), i1)

    def buffer(self, value: SSAValue) -> SSAValue:
        """Return the buffer of an operand."""
        assert isinstance(value, BlockArgument), "an operand lies in a buffer"
        return self.loops.buffers[value.index]

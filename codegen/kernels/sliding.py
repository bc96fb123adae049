"""Windows that slide over channels-last images, each channel for itself: depthwise and pooling.

    for unit in lo..hi                   parallel: image x rows' group x channel block x output row
      for v in channels step L           taps' weights are loaded once and stay in registers
        left tile                        whole row if it is short
        for tiles of T pixels            T accumulators; nothing is tested inside
        right tile

An output row sees a range of kernel rows that only few rows at the top and the bottom have for
themselves: code is made for each such range, as it is for each pixel at the left and the right.
So no tap outside of the image is read or masked. A source vector that several pixels of a tile
see is loaded once. Rows follow each other within a block of channels, so that what they share is
still in L1. Where sizes are symbols, code is made for each range of kernel rows that there may be,
and pixels at the left and the right run over the taps that they have. Windows that would be too
much code so go the way of `sliding_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, floor_divide, product
from ...ir.types.indices import Indices, Linear, Opaque, flatten, number, of
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import lanes_of
from ...target import Target
from .builder.blocks import walk_heights
from .builder.combine import COMBINERS, identity
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import Opened, plan
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space
from .builder.window import Window
from .map import Body, fitting_lanes, walk_vectors

TYPES = ("f32", "f64", "i32", "u8", "i8")
MAX_CODE = 32
"""Taps times distinct ranges of kernel rows: beyond, the code would not pay."""
BLOCK = 4
"""Vectors of a channel block."""
GROUPS = 4
"""The most groups of rows."""


def is_plane(anchor: Op) -> bool:
    """Say whether the windows slide over the two axes of an image of known channels."""
    source, result = anchor.specs[0], anchor.result_specs[0]
    flags = anchor.plain_attributes()
    if source.rank != 4 or result.dtype.name not in TYPES or not flags.get("channels_last", True):
        return False
    pads = [size for pair in flags["pads"] for size in pair]
    if not all(isinstance(d, int) for d in (source.dims[3], result.dims[3], *pads)):
        return False
    return isinstance(anchor.operands[0], BlockArgument)


def is_short(anchor: Op) -> bool:
    """Say whether the code for all taps is short enough to stand one after the other."""
    pads = [size for pair in anchor.plain_attributes()["pads"] for size in pair]
    rows, columns = windows_of(anchor)
    ranges = row_ranges(rows, pads[1])
    seen = rows.taps * len(ranges) if rows.is_known else sum(high - low for low, high in ranges)
    return seen * columns.taps <= MAX_CODE


def row_ranges(rows: Window, behind: int) -> Sequence[tuple[int, int]]:
    """Return the ranges of kernel rows that an output row may see."""
    if rows.is_known:
        return [taps for _, _, taps in rows.ranges()]
    most = -(-rows.before // rows.dilation)
    least = max(0, rows.taps - 1 - (behind - 1) // rows.dilation)
    highs = range(rows.taps, least - 1, -1)
    return [(low, high) for high in highs for low in range(min(most, high) + 1)]


def windows_of(anchor: Op, taps: Sequence[int] | None = None) -> list[Window]:
    """Return how the windows move along rows and columns; weights say their size first."""
    flags = anchor.plain_attributes()
    if taps is None:
        taps = flags["window"] if "window" in flags else anchor.specs[1].static_shape[:-1]
    source, result = anchor.specs[0].dims, anchor.result_specs[0].dims
    lows = [low for low, _ in flags["pads"]]
    each = zip(taps, flags["strides"], flags["dilations"], lows, strict=True)
    return [Window(source[i], result[i], *row) for i, row in enumerate(each, 1)]


@dataclass(frozen=True)
class PixelTile:
    """Neighbouring pixels, by the taps along the row that each of them has."""

    start: Index
    taps: Sequence[tuple[int, int]]


class Sliding:
    """Builds sliding windows, up to the value `root`, in a kernel that is open."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        self.root, self.anchor = root, anchor
        made = None
        if anchor.has("iteration"):
            made = type(anchor).iteration(*anchor.specs, **anchor.plain_attributes())
        self.combiner = made.combiner if made is not None else "add"
        self.finish = made.finish if made is not None else None
        self.dtype = anchor.result_specs[0].dtype
        self.loops, self.arguments, (self.out,) = opened
        self.rows, self.columns = self.windows()

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.stops[anchor.results[0]] = []
            tracer.visit(self.root, index)

        self.plan = plan(anchor.result_specs[0].dims, visit)
        self.axes = [Group(tuple(axis.tokens)) for axis in self.plan.axes]
        self.image, self.row, self.pixel, self.channel = self.axes
        self.lanes = self.fit(lanes_of(target, self.dtype))
        self.space = Space(self.axes, self.channel, self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        self.offset = flatten(self.plan.index, spec_of(self.root.type).dims)
        self.wide = max(1, target.registers // 4)

    def windows(self) -> list[Window]:
        """Return how the windows move along rows and columns."""
        return windows_of(self.anchor)

    def fit(self, lanes: int) -> int:
        """Return the lanes to walk channels with, of those that a register has."""
        return fitting_lanes(self.channel.extent, lanes)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        channels = self.channel.extent
        assert isinstance(channels, int), "the channels are known"
        block = self.block(channels)
        blocks, groups = channels // block, row_groups(self.row.extent)
        rows = floor_divide(self.row.extent, groups)
        with loops.loop(loops.lo, loops.hi) as unit:
            row, rest = loops.remainder(unit.index, rows), loops.divide(unit.index, rows)
            start, rest = loops.remainder(rest, blocks), loops.divide(rest, blocks)
            group, self.image.value = loops.remainder(rest, groups), loops.divide(rest, groups)
            self.row.value = loops.add(loops.multiply(group, rows), row)
            self.over_row((loops.multiply(start, block), block))
        return loops.finish(product((blocks, self.image.extent, self.row.extent)))

    def block(self, channels: int) -> int:
        """Return the channels of a block."""
        return channel_block(channels, max(1, self.lanes))

    def over_row(self, channels: tuple[Index, int]) -> None:
        """Compute the current output row, for a block of channels."""
        if not self.rows.is_known:
            self.when_seen(channels)
            return
        for first, last, taps in self.rows.ranges():
            self.when_between(first, last, taps, channels)

    def when_between(self, first: int, last: int, taps: tuple[int, int],
                     channels: tuple[Index, int]) -> None:  # fmt: skip
        """Compute the output row with these kernel rows if it is one of `first..last`."""
        loops, row = self.loops, self.row.value
        assert row is not None, "the output row is known"
        if first > 0:
            with loops.when(loops.compare("sge", row, first)):
                self.when_between(0, last, taps, channels)
            return
        if last != self.row.extent:
            with loops.when(loops.compare("slt", row, last)):
                self.over_channels(partial(self.over_pixels, taps), channels)
            return
        self.over_channels(partial(self.over_pixels, taps), channels)

    def when_seen(self, channels: tuple[Index, int]) -> None:
        """Compute the output row with the kernel rows that it turns out to see."""
        loops, row = self.loops, self.row.value
        assert row is not None, "the output row is known"
        (_, behind), _ = self.anchor.plain_attributes()["pads"]
        low, high = self.rows.valid(loops, row)
        for taps in row_ranges(self.rows, behind):
            with (
                loops.when(loops.compare("eq", low, taps[0])),
                loops.when(loops.compare("eq", high, taps[1])),
            ):
                self.over_channels(partial(self.over_pixels, taps), channels)

    def over_channels(self, pixels: Body, channels: tuple[Index, int]) -> None:
        """Compute pixels for the channels of a block by vectors."""
        start, block = channels
        if block == self.channel.extent or not self.lanes:
            walk_vectors(self.loops, self.reader, self.channel, (0, block), pixels)
            return
        with self.loops.loop(start, self.loops.add(start, block), self.lanes) as one:
            self.channel.value = one.index
            self.reader.fresh()
            pixels()

    def over_pixels(self, rows: tuple[int, int]) -> None:
        """Compute an output row: its edges as they are, the middle in equal tiles."""
        loops = self.loops
        # Few output rows lack kernel rows: for those, short code counts for more than speed.
        wide = self.wide if rows == (0, self.rows.taps) else max(2, self.wide // 4)
        if not self.columns.is_known:
            self.over_any_pixels(rows)
            return
        low, high = self.columns.middle()
        count = self.columns.result
        assert isinstance(count, int), "the row is known"
        taps = [self.columns.taps_of(x) for x in range(count)]
        tiles = (high - low) // wide if count > wide + wide // 2 else 0
        if not tiles:
            low = high = 0
        stop = low + tiles * wide
        for start in range(0, low, wide):
            self.tile(rows, PixelTile(start, taps[start : min(low, start + wide)]))
        if tiles:
            with loops.loop(low, stop, wide) as one:
                self.tile(rows, PixelTile(one.index, taps[low : low + wide]))
        for start in range(stop, count, wide):
            self.tile(rows, PixelTile(start, taps[start : start + wide]))

    def over_any_pixels(self, rows: tuple[int, int]) -> None:
        """Compute an output row of any length: its middle in tiles, its edges pixel by pixel."""
        result = self.loops.index(self.columns.result)
        if rows != (0, self.rows.taps):
            self.edge(rows, 0, result)
            return
        low, high = self.columns.span(self.loops)
        taps = (0, self.columns.taps)
        self.edge(rows, 0, low)
        walk_heights(
            self.loops, (low, high), self.wide,
            lambda count, start: self.tile(rows, PixelTile(start, [taps] * count)),
        )  # fmt: skip
        self.edge(rows, high, result)

    def edge(self, rows: tuple[int, int], low: Index, high: Index) -> None:
        """Compute pixels by a loop over the taps along the row that each has."""
        loops, math = self.loops, self.reader.math
        zero = math.constant(identity(self.combiner, self.dtype), self.dtype)
        zero = math.spread(zero, self.lanes)
        with loops.loop(low, high) as one:
            self.pixel.value = one.index
            first, last = self.columns.valid(loops, one.index)
            with loops.loop(first, last, 1, [zero.value]) as tap:
                self.reader.fresh()
                total = Element(tap.values[0], zero.dtype, zero.lanes)
                column = of(Opaque(tap.index, self.columns.taps))
                for row in range(*rows):
                    total = self.combined(total, self.seen(row, 0, column), number(row), column)
                tap.carry(total.value)
            self.store(Element(tap.results[0], zero.dtype, zero.lanes))

    # -- tiles ----------------------------------------------------------------------------

    def tile(self, rows: tuple[int, int], tile: PixelTile) -> None:
        """Compute and store neighbouring pixels."""
        reader = self.reader
        totals: list[Element | None] = [None] * len(tile.taps)
        reader.fresh()
        for i in range(*rows):
            for j in range(self.columns.taps):
                for number_, (low, high) in enumerate(tile.taps):
                    if low <= j < high:
                        self.pixel.value = tile.start
                        seen = self.seen(i, number_, number(j))
                        totals[number_] = self.combined(totals[number_], seen, number(i), number(j))
        for number_, total in enumerate(totals):
            self.pixel.value = self.loops.add(tile.start, number_)
            self.store(total)

    def seen(self, row: int, pixel: int, column: Linear) -> Element:
        """Return what a pixel of the tile sees at a tap."""
        image, y, x, channel = self.plan.index
        rows, columns = self.rows, self.columns
        y = y * rows.stride + (row * rows.dilation - rows.before)
        x = x * columns.stride + column * columns.dilation
        x = x + (pixel * columns.stride - columns.before)
        seen = self.reader.load(self.anchor.operands[0], (image, y, x, channel))
        return self.reader.math.cast(seen, self.dtype)

    def combined(
        self, total: Element | None, seen: Element, row: Linear, column: Linear
    ) -> Element:
        """Return the total with one more tap."""
        math = self.reader.math
        weight = self.weight(row, column)
        if weight is None:
            return seen if total is None else COMBINERS[self.combiner](math, total, seen)
        return math.mul(seen, weight) if total is None else math.fma(seen, weight, total)

    def weight(self, row: Linear, column: Linear) -> Element | None:
        """Return what a tap is multiplied with; None where taps are combined as they are."""
        if self.anchor.name != "gv.depthwise_packed":
            return None
        index = (row, column, self.plan.index[-1])
        found = self.reader.element(self.anchor.operands[1], index)
        return self.reader.math.cast(found, self.dtype)

    def store(self, total: Element | None) -> None:
        """Finish and store one vector; `None` has seen nothing."""
        reader, math = self.reader, self.reader.math
        if total is None:
            total = math.constant(identity(self.combiner, self.dtype), self.dtype)
        made = math.spread(total, self.lanes)
        if self.finish is not None:
            made = self.finish(math, made)
        reader.given = {self.anchor.results[0]: lambda _: made}
        reader.fresh()
        element = reader.element(self.root, self.plan.index)
        reader.given = {}
        base, _, _ = self.space.split(self.loops, self.offset)
        value = math.narrow(math.spread(element, self.lanes))
        self.loops.store(value, self.out, base, reader.mask)


def row_groups(rows: Dim) -> int:
    """Return how many groups rows are cut into, of which each is walked for all channels.

    So threads share images by rows, as products of many rows do: what one of them wrote, it reads.
    """
    if not isinstance(rows, int):
        return 1
    return next(groups for groups in range(GROUPS, 0, -1) if rows % groups == 0)


def channel_block(channels: int, lanes: int) -> int:
    """Return the channels of a block: all, or at most `BLOCK` vectors where that cuts evenly."""
    vectors, rest = divmod(channels, lanes)
    if rest or not vectors:
        return max(1, channels)
    return lanes * max(d for d in range(1, BLOCK + 1) if vectors % d == 0)


__all__ = ["PixelTile", "Sliding", "is_plane", "is_short", "windows_of"]

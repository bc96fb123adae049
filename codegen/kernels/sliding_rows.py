"""Windows that slide over channels-last images, large ones too: a loop over their rows.

    for unit in lo..hi                   parallel: image x rows' group x channel block x output row
      for v in channels step L
        for each tile of T pixels        of nearly equal width; T sums stay in registers
          for row in the rows seen       of the window: how many may be known in the run only
            taps along the row           each source vector is loaded once for all that see it
          store T pixels

Where all rows of a window stand one after the other (`sliding`), windows are faster than that loop
while they are small, and too much code beyond: then this is taken, which has the code of one row
of the window for each tile that lies at an edge, and once for those between. What is no image, or
has very long windows, goes the way of `reduce`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.levels import KIND
from ...ir.types.indices import Indices, Linear, Opaque, number, of
from ...target import Target
from . import reduce
from .builder.blocks import walk_heights
from .builder.combine import identity
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import Opened, open_kernel, returned_values
from .sliding import PixelTile, Sliding, is_plane, is_short, windows_of

Seen: TypeAlias = dict[Linear, list[tuple[int, Linear]]]
"""For places along a row, the pixels that see them, and by which tap."""
MOST_TAPS = 64
"""Taps along a row: beyond, the code of a tile would be too much."""
MOST_EDGES = 6
"""Tiles at the edges of a row that have code of their own."""
WIDEST = 10
"""The most pixels of a tile: more hide no more of the latency of a multiply-add."""
LEAST = 8
"""The fewest: with less, sums wait for each other, which costs more than weights that are read
again where the taps of a row fill the registers."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a depthwise convolution or a pooling."""
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    ops = [op for op in kernel.body.block.ops if isinstance(op, Op)]
    anchor = next(op for op in ops if op.KERNEL is not None and op.KERNEL.kind == kind.data)
    way = way_of(anchor) if target.can.walk_vectors else None
    if way is None:
        return reduce.lower(kernel, target)
    (root,) = returned_values(kernel)
    return way(open_kernel(kernel, target), root, anchor, target).build()


def way_of(anchor: Op) -> type[Sliding] | None:
    """Return how windows are walked that slide over an image; None for others."""
    if not is_plane(anchor):
        return None
    if is_short(anchor):
        return Sliding
    _, columns = windows_of(anchor)
    return SlidingRows if columns.taps <= MOST_TAPS else None


class SlidingRows(Sliding):
    """Builds sliding windows by a loop over their rows."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        super().__init__(opened, root, anchor, target)
        spare = target.registers - self.columns.taps - 1
        self.wide = max(LEAST, min(WIDEST, spare))

    def over_row(self, channels: tuple[Index, int]) -> None:
        """Compute the current output row, for a block of channels."""
        row = self.row.value
        assert row is not None, "the output row is known"
        rows = self.rows.valid(self.loops, row)
        self.over_channels(partial(self.over_tiles, rows), channels)

    def over_tiles(self, rows: tuple[Index, Index]) -> None:
        """Compute an output row in tiles; edges that are long or unknown pixel by pixel."""
        if not self.columns.is_known or self.columns.result == 0:
            self.over_open_row(rows)
            return
        low, high = self.columns.middle()
        count = self.columns.result
        assert isinstance(count, int), "the row is known"
        spans = tile_spans(count, self.wide)
        edges = [start for start, stop in spans if start < low or stop > high]
        if len(edges) > MOST_EDGES:
            self.over_open_row(rows)
            return
        taps = [self.columns.taps_of(x) for x in range(count)]
        for start, stop, length in runs(spans, low, high):
            if length == stop - start:
                self.row_tile(rows, PixelTile(start, taps[start:stop]))
                continue
            with self.loops.loop(start, stop, length) as one:
                self.row_tile(rows, PixelTile(one.index, taps[start : start + length]))

    def over_open_row(self, rows: tuple[Index, Index]) -> None:
        """Compute an output row whose edges have no code of their own."""
        result = self.loops.index(self.columns.result)
        low, high = self.columns.span(self.loops)
        self.open_edge(rows, 0, low)
        taps = (0, self.columns.taps)
        # A row that ends before its first whole window has no middle, wherever that would begin.
        first = -(-self.columns.before // self.columns.stride)
        walk_heights(
            self.loops, (first, self.loops.maximum(high, first)), self.wide,
            lambda count, start: self.row_tile(rows, PixelTile(start, [taps] * count)),
        )  # fmt: skip
        self.open_edge(rows, high, result)

    def open_edge(self, rows: tuple[Index, Index], low: Index, high: Index) -> None:
        """Compute pixels by loops over the taps that each has."""
        loops = self.loops
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return
        with loops.loop(low, high) as one:
            taps = self.columns.valid(loops, one.index)
            self.pixel.value = one.index
            with loops.loop(*rows, 1, [self.nothing().value]) as row:
                with loops.loop(*taps, 1, row.values) as tap:
                    column = of(Opaque(tap.index, self.columns.taps))
                    seen = {column * self.columns.dilation: [(0, column)]}
                    at = of(Opaque(row.index, self.rows.taps))
                    (made,) = self.over_parts(at, seen, [self.element(tap.values[0])])
                    tap.carry(made.value)
                row.carry(tap.results[0])
            self.store(self.element(row.results[0]))

    # -- tiles ----------------------------------------------------------------------------

    def row_tile(self, rows: tuple[Index, Index], tile: PixelTile) -> None:
        """Compute and store neighbouring pixels."""
        self.pixel.value = tile.start
        seen: Seen = {}
        for place, pixel, tap in sorted(self.places(tile)):
            seen.setdefault(number(place), []).append((pixel, number(tap)))
        first = [self.nothing().value for _ in tile.taps]
        with self.loops.loop(*rows, 1, first) as row:
            at = of(Opaque(row.index, self.rows.taps))
            totals = self.over_parts(at, seen, [self.element(x) for x in row.values])
            row.carry(*(total.value for total in totals))
        for pixel, total in enumerate(row.results):
            self.pixel.value = self.loops.add(tile.start, pixel)
            self.store(self.element(total))

    def places(self, tile: PixelTile) -> Iterator[tuple[int, int, int]]:
        """Give how far each tap of each pixel lies from the first tap of the first."""
        columns = self.columns
        for pixel, (low, high) in enumerate(tile.taps):
            for tap in range(low, high):
                yield pixel * columns.stride + tap * columns.dilation, pixel, tap

    def over_parts(self, row: Linear, seen: Seen, totals: list[Element]) -> list[Element]:
        """Return the totals of pixels with one more row of the window.

        Places are counted in pixels of the source, from the first tap of the first pixel.
        """
        self.reader.fresh()
        for place, users in seen.items():
            value = self.at(row, place)
            for pixel, tap in users:
                totals[pixel] = self.combined(totals[pixel], value, row, tap)
        return totals

    def at(self, row: Linear, place: Linear) -> Element:
        """Return what lies at a row of the window and a place along it."""
        index = self.source_index(row, place)
        seen = self.reader.load(self.anchor.operands[0], (*index, self.plan.index[-1]))
        return self.reader.math.cast(seen, self.dtype)

    def source_index(self, row: Linear, place: Linear) -> Indices:
        """Return the pixel of the source at a row of the window and a place along it."""
        image, y, x, _ = self.plan.index
        rows, columns = self.rows, self.columns
        y = y * rows.stride + row * rows.dilation + -rows.before
        return image, y, x * columns.stride + place + -columns.before

    def nothing(self) -> Element:
        """Return the total of no taps."""
        math = self.reader.math
        zero = math.constant(identity(self.combiner, self.dtype), self.dtype)
        return math.spread(zero, self.lanes)

    def element(self, value: SSAValue) -> Element:
        """Return a value as what totals are."""
        return Element(value, self.dtype, self.lanes)


def tile_spans(count: int, wide: int) -> list[tuple[int, int]]:
    """Return the fewest tiles of so many pixels at the most, nearly equally wide.

    >>> tile_spans(9, 4)
    [(0, 3), (3, 6), (6, 9)]
    """
    tiles = -(-count // wide)
    width, wider = divmod(count, tiles)
    ends = [i * width + min(i, wider) for i in range(tiles + 1)]
    return list(pairwise(ends))


def runs(spans: Sequence[tuple[int, int]], low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Give tiles as they are walked: start, stop and width, which is less where there are several.

    Those inside of `low..high` that are equally wide are one where they follow each other.

    >>> list(runs([(0, 3), (3, 6), (6, 9), (9, 12)], 1, 11))
    [(0, 3, 3), (3, 9, 3), (9, 12, 3)]
    """

    def form(span: tuple[int, int]) -> tuple[int, int]:
        start, stop = span
        return (stop - start, -1 if low <= start and stop <= high else start)

    for (length, _), alike in groupby(spans, form):
        each = list(alike)
        yield each[0][0], each[-1][1], length


__all__ = ["SlidingRows", "lower", "way_of"]

"""Convolution of channels-last images in groups of few channels.

    for unit in lo..hi                 parallel, as in `sliding_rows`
      for v in channels step L         channels of the result
        for each tile of T pixels
          for row in the rows seen of the window
            for i in a group's channels                unrolled where a vector has several groups'
              weights of the taps along the row        a vector each
              for each place that is seen              one for all taps that see it
                several groups fill a vector           its channels, the i-th of each group spread
                a group fills vectors                  one element in all lanes
                T sums += place * weight

A product of matrices for each group would be too narrow for the registers' tile, and too short.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.ops.laid_out.conv_groups import has_several
from ...ir.types.indices import Linear, Opaque, flatten, number, of
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import Opened, open_kernel, returned_values
from .builder.window import Window
from .map import Body, masked_vector
from .sliding import windows_of
from .sliding_rows import Seen, SlidingRows


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a convolution in groups."""
    (root,) = returned_values(kernel)
    anchor = next(op for op in kernel.body.block.ops if op.name == "gv.conv_groups_packed")
    assert isinstance(anchor, Op), "a convolution is an operation"
    return ConvGroups(open_kernel(kernel, target), root, anchor, target).build()


class ConvGroups(SlidingRows):
    """Builds a convolution in groups, up to the value `root`, in a kernel that is open."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        flags = anchor.plain_attributes()
        _, _, depth, _, width = anchor.specs[1].static_shape
        self.depth, self.filters = depth, flags["columns"] // flags["groups"]
        """The channels of a group, of the source and of the result."""
        self.width = width
        self.several = has_several(self.filters, width)
        """Whether several groups fill a vector."""
        self.rest = 0 if self.several else self.filters % width
        """The channels of a group that do not fill a vector."""
        self.part = number(0)
        """The channel of each group that is multiplied."""
        super().__init__(opened, root, anchor, target)

    def windows(self) -> list[Window]:
        """Return how the windows move along rows and columns."""
        _, rows, _, across, _ = self.anchor.specs[1].static_shape
        return windows_of(self.anchor, (rows, across))

    def fit(self, lanes: int) -> int:
        """Return the lanes of a panel; none where those are one."""
        return self.width if self.width > 1 else 0

    # -- channels -------------------------------------------------------------------------

    def block(self, channels: int) -> int:
        """Return the channels of a block: those of one group if they do not fill vectors."""
        return self.filters if self.rest else super().block(channels)

    def over_channels(self, pixels: Body, channels: tuple[Index, int]) -> None:
        """Compute pixels for the channels of a block by vectors."""
        if not self.rest:
            super().over_channels(pixels, channels)
            return
        loops, (start, _) = self.loops, channels
        end = loops.add(start, self.filters - self.rest)
        if self.rest < self.filters:
            with loops.loop(start, end, self.lanes) as one:
                self.channel.value = one.index
                self.reader.fresh()
                pixels()
        masked_vector(loops, self.reader, self.channel, (end, self.rest), pixels)

    @property
    def is_gathered(self) -> bool:
        """Whether the channels that lanes are multiplied with are no vector of the source's."""
        count = self.lanes // self.filters * self.depth
        return self.several and (count > 2 * self.lanes or count.bit_count() != 1)

    # -- sums -----------------------------------------------------------------------------

    def over_parts(self, row: Linear, seen: Seen, totals: list[Element]) -> list[Element]:
        """Return the totals of pixels with one more row of the window, of all channels."""
        if self.several and not self.is_gathered:
            for part in range(self.depth):
                self.part = number(part)
                totals = super().over_parts(row, seen, totals)
            return totals
        with self.loops.loop(0, self.depth, 1, [total.value for total in totals]) as one:
            self.part = of(Opaque(one.index, self.depth))
            totals = super().over_parts(row, seen, [self.element(x) for x in one.values])
            one.carry(*(total.value for total in totals))
        return [self.element(x) for x in one.results]

    def weight(self, row: Linear, column: Linear) -> Element:
        """Return what a channel at a tap is multiplied with."""
        operand, spec = self.anchor.operands[1], self.anchor.specs[1]
        index = (number(0), row, self.part, column, number(0))
        offset, _, _ = self.space.split(self.loops, flatten(index, spec.dims))
        panel = self.loops.multiply(self.panel(), prod(spec.static_shape[1:]))
        buffer = self.reader.buffers[operand]
        found = self.loops.load(buffer, self.loops.add(panel, offset), self.lanes)
        return self.reader.math.cast(
            self.reader.math.widen(found, spec.dtype, self.lanes), self.dtype
        )

    def panel(self) -> Index:
        """Return the panel of the current channel."""
        loops, channel = self.loops, self.channel.value
        assert channel is not None, "the channel is known"
        if not self.rest:
            return loops.divide(channel, self.width)
        inside = loops.divide(loops.remainder(channel, self.filters), self.width)
        each = -(-self.filters // self.width)
        return loops.add(loops.multiply(loops.divide(channel, self.filters), each), inside)

    def at(self, row: Linear, place: Linear) -> Element:
        """Return a channel of each group at a place, in the lanes that it is multiplied in."""
        loops, math = self.loops, self.reader.math
        source, spec = self.anchor.operands[0], self.anchor.specs[0]
        channel = self.part if self.is_gathered or not self.several else number(0)
        pixel = (*self.source_index(row, place), channel)
        offset, _, _ = self.space.split(loops, flatten(pixel, spec.dims))
        offset = loops.add(offset, self.first_of_group())
        buffer = self.reader.buffers[source]
        if not self.several:
            one = math.widen(loops.load(buffer, offset, 0), spec.dtype, 0)
            return math.spread(one, self.lanes)
        if self.is_gathered:
            return self.one_of_each(source, offset)
        count = self.lanes // self.filters * self.depth
        mask = self.reader.mask if count == self.lanes else None
        value = loops.load(buffer, offset, count, mask)
        part = self.part.constant
        assert isinstance(part, int), "parts are known where several groups fill a vector"
        lanes = [lane // self.filters * self.depth + part for lane in range(self.lanes)]
        return math.widen(loops.shuffle(value, value, lanes), spec.dtype, self.lanes)

    def one_of_each(self, source: SSAValue, offset: Index) -> Element:
        """Return a channel of each group, each loaded by itself from the first one's place on."""
        loops, math, lanes = self.loops, self.reader.math, self.lanes
        spec, buffer = self.anchor.specs[0], self.reader.buffers[source]
        found: SSAValue | None = None
        for group in range(lanes // self.filters):
            at = loops.add(offset, group * self.depth)
            one = math.spread(math.widen(loops.load(buffer, at, 0), spec.dtype, 0), lanes).value
            own = range(group * self.filters, lanes)
            mixed = [lanes + lane if lane in own else lane for lane in range(lanes)]
            found = one if found is None else loops.shuffle(found, one, mixed)
        assert found is not None, "a vector has channels of a group"
        return self.element(found)

    def first_of_group(self) -> Index:
        """Return the source's first channel of the group of the current channel."""
        channel = self.channel.value
        assert channel is not None, "the channel is known"
        if self.several and self.depth == self.filters:
            return channel
        return self.loops.multiply(self.loops.divide(channel, self.filters), self.depth)

"""Convolution of channels-last images with packed weights, without padding the image.

    for unit in lo..hi                         parallel: panel x image x output rows
      for group of pixels in the output row    left edge, middle, right edge
        C[MR pixels, NR] = sum over taps       gvk.gemm_tile: rows are pixels
        epilogue                               bias, residual, activation: the tile is in L1

With channels last, the taps along a kernel row lie next to each other in memory: the inner sum
runs over kw*C elements at once, and a segment is one kernel row. Kernel rows outside of the
image are left out by the range of segments; pixels at the left and right edges, where taps
along the row are outside, are computed one by one with the taps that they have. Dilation
along the row and channel groups break the run: then a segment is one tap, and kernel rows
are added onto the stored tile. Where panels hold groups of neighbours (u8 by i8), the inner sum
runs over groups.

The panel of weights (K x NR) is the outermost loop so that it stays in L2 over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.types.dims import Dim, floor_divide, product
from ...ir.types.indices import Indices, flatten, strides
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import lanes_in, rows_for
from ...target import Target
from .builder.blocks import walk_equal, walk_heights
from .builder.epilogue import Epilogue
from .builder.loops import Index
from .builder.plan import Opened, open_kernel, plan, returned_values
from .builder.read import Tracer
from .builder.space import Group, Space
from .builder.window import Window
from .gemm import group_of


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a convolution."""
    (root,) = returned_values(kernel)
    anchor = next(op for op in kernel.body.block.ops if op.name == "gv.conv_packed")
    assert isinstance(anchor, Op), "a convolution is an operation"
    return Conv(open_kernel(kernel, target), root, anchor, target).build()


class Conv:
    """Builds a convolution, up to the value `root`, in a kernel that is open."""

    def __init__(self, opened: Opened, root: SSAValue, anchor: Op, target: Target) -> None:
        self.root, self.anchor = root, anchor
        self.flags = self.anchor.plain_attributes()
        self.dtype = self.anchor.result_specs[0].dtype
        self.dots = group_of(self.anchor.specs[1])
        panels = self.anchor.specs[1]
        self.lanes = lanes_in(target, self.dtype, int(panels.dims[2]))  # type: ignore[arg-type]
        self.loops, self.arguments, (self.out,) = opened
        self.sizes()
        self.tall = rows_for(target, self.vectors)
        result = self.anchor.result_specs[0].dims

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.stops[self.anchor.results[0]] = []
            tracer.visit(self.root, index)

        self.plan = plan(result, visit)
        self.axes = [Group(tuple(axis.tokens)) for axis in self.plan.axes]
        self.rows, self.columns = self.axes[-2], self.axes[-1]
        self.space = Space(self.axes, self.columns, self.lanes)
        self.epilogue = Epilogue(
            self.loops, self.arguments, self.space, self.root, self.anchor, self.plan.index,
            flatten(self.plan.index, spec_of(self.root.type).dims), self.out,
            self.rows, self.columns, self.vectors,
        )  # fmt: skip

    def sizes(self) -> None:
        """Read sizes off the operands."""
        source, panels = self.anchor.specs
        result = self.anchor.result_specs[0]
        flags = self.flags
        self.windows = [
            Window(source.dims[i + 1], result.dims[i + 1], *row)
            for i, row in enumerate(
                zip(
                    flags["window"], flags["strides"], flags["dilations"],
                    (low for low, _ in flags["pads"]), strict=True,
                )
            )
        ]  # fmt: skip
        self.groups: int = flags["groups"]
        self.channels = int(source.dims[-1])  # type: ignore[arg-type]
        self.inner = self.channels // self.groups
        self.width = int(panels.dims[2])  # type: ignore[arg-type]
        self.vectors = self.width // self.lanes
        self.depth = int(panels.dims[1]) * self.dots  # type: ignore[arg-type]
        self.per_group = int(panels.dims[0]) // self.groups  # type: ignore[arg-type]
        self.group_columns = flags["columns"] // self.groups
        self.whole = self.group_columns % self.width == 0
        self.strides = strides(source.dims)
        self.joined = self.groups == 1 and self.windows[-1].dilation == 1
        """Whether the taps along a row are one run of memory."""

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        outer = self.axes[:-2]
        with loops.loop(loops.lo, loops.hi) as unit:
            rest: Index = unit.index
            for group in reversed(outer):
                group.value = loops.remainder(rest, group.extent)
                rest = loops.divide(rest, group.extent)
            self.panel(rest)
        every = product(tuple(g.extent for g in outer))
        return loops.finish(every * self.groups * self.per_group)

    def panel(self, panel: Index) -> None:
        """Compute one row of pixels against one panel."""
        loops = self.loops
        inside = loops.remainder(panel, self.per_group)
        group = loops.divide(panel, self.per_group)
        start = loops.add(
            loops.multiply(group, self.group_columns), loops.multiply(inside, self.width)
        )
        weights = loops.multiply(panel, self.depth * self.width)
        at = Panel(panel, group, weights)
        left = loops.subtract(self.group_columns, loops.index(loops.multiply(inside, self.width)))
        if self.whole or self.per_group == 1:
            self.columns.value = start
            self.row(at, None if self.whole else left)
            return
        last = self.per_group - 1
        for predicate, rest in (("slt", None), ("eq", left)):
            with loops.when(loops.compare(predicate, inside, last)):
                self.columns.value = start
                self.row(at, rest)

    def row(self, at: Panel, left: Index | None) -> None:
        """Compute one row of pixels: left edge, middle, right edge."""
        window = self.windows[-1]
        low, high = window.span(self.loops)
        self.edge(0, low, at, left)
        if not isinstance(low, int) or not isinstance(high, int):
            whole = (0, window.taps)
            walk_heights(
                self.loops, (low, high), self.tall,
                lambda rows, start: self.tile(rows, start, whole, (at, left)),
            )  # fmt: skip
        elif high > low:
            self.middle(low, high, at, left)
        result = window.result
        self.edge(high, result if isinstance(result, int) else self.loops.index(result), at, left)

    def edge(self, low: Index, high: Index, at: Panel, left: Index | None) -> None:
        """Compute pixels whose taps lie partly outside, one by one."""
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return
        with self.loops.loop(low, high) as pixel:
            taps = self.windows[-1].valid(self.loops, pixel.index)
            self.tile(1, pixel.index, taps, (at, left))

    def middle(self, low: int, high: int, at: Panel, left: Index | None) -> None:
        """Compute pixels whose taps all lie inside, in tiles of nearly equal height."""
        taps = (0, self.windows[-1].taps)

        def tile(rows: int, start: Index, _: Index) -> None:
            self.tile(rows, self.loops.add(start, low), taps, (at, left))

        walk_equal(self.loops, high - low, self.tall, tile)

    def tile(self, rows: int, pixel: Index, taps: tuple[Index, Index],
             at: tuple[Panel, Index | None]) -> None:  # fmt: skip
        """Compute one tile over all kernel rows that lie inside, and finish it."""
        place, left = at
        self.rows.value = pixel
        outer = self.windows[:-2] if self.joined else self.windows[:-1]
        if self.joined and len(self.windows) == 1:
            outer = []
        if outer:
            self.epilogue.zero(rows, left)
        if not self.over_taps(outer, [], rows, (taps, place, left)):
            self.epilogue.finish(rows, pixel, left)

    def over_taps(self, outer: Sequence[Window], done: list[Index], rows: int,
                  state: tuple[tuple[Index, Index], Panel, Index | None]) -> bool:  # fmt: skip
        """Open the loops over outer kernel dims; say if the tile is finished."""
        if not outer:
            return self.product(done, rows, state)
        position = self.axes[1 + len(done)].value
        assert position is not None, "the output position is known"
        low, high = outer[0].valid(self.loops, position)
        with self.loops.loop(low, high) as tap:
            self.over_taps(outer[1:], [*done, tap.index], rows, state)
        return False

    def product(self, done: list[Index], rows: int,
                state: tuple[tuple[Index, Index], Panel, Index | None]) -> bool:  # fmt: skip
        """Add the product of one stretch of taps onto the tile; say if it is finished."""
        loops = self.loops
        (low, high), place, left = state
        count = loops.subtract(high, loops.index(low)) if low != 0 else high
        window = self.windows[-1]
        pixel = self.rows.value
        assert pixel is not None, "the pixel is known"
        a = self.image(done, place)
        first = loops.add(window.first(loops, pixel), loops.multiply(low, window.dilation))
        a = loops.add(a, loops.multiply(first, self.channels))
        b = loops.add(place.weights, loops.multiply(self.tap_rows(done), self.width))
        b = loops.add(b, loops.multiply(low, self.inner * self.width))
        if self.joined:
            k, segments = loops.multiply(count, self.channels), loops.known(1)
            a_segment: Dim = 0
            b_segment: Dim = 0
            if len(self.windows) > 1:
                a, b, segments, a_segment, b_segment = self.kernel_rows(a, b)
        else:
            k, segments = loops.known(self.inner), count
            a_segment, b_segment = self.channels * window.dilation, self.inner * self.width
        return self.emit(rows, (a, b), (k, segments, a_segment, b_segment), (left, bool(done)))

    def kernel_rows(self, a: Index, b: Index) -> tuple[Index, Index, Index, Dim, int]:
        """Return offsets and segments when a segment is one kernel row."""
        loops = self.loops
        window, position = self.windows[-2], self.axes[-3].value
        assert position is not None, "the output row is known"
        low, high = window.valid(loops, position)
        first = loops.add(window.first(loops, position), loops.multiply(low, window.dilation))
        stride = self.strides[len(self.windows) - 1]
        a = loops.add(a, loops.multiply(first, stride))
        step = self.windows[-1].taps * self.inner * self.width
        b = loops.add(b, loops.multiply(low, step))
        count = loops.subtract(high, loops.index(low)) if low != 0 else high
        return a, b, count, stride * window.dilation, step

    def image(self, done: list[Index], place: Panel) -> Index:
        """Return the offset of the image, the outer taps and the channel group."""
        loops = self.loops
        total: Index = loops.multiply(place.group, self.inner)
        number = self.axes[0].value
        assert number is not None, "the image is known"
        total = loops.add(total, loops.multiply(number, self.strides[0]))
        for axis, tap in enumerate(done):
            window, position = self.windows[axis], self.axes[1 + axis].value
            assert position is not None, "the output position is known"
            at = loops.add(window.first(loops, position), loops.multiply(tap, window.dilation))
            total = loops.add(total, loops.multiply(at, self.strides[1 + axis]))
        return total

    def tap_rows(self, done: list[Index]) -> Index:
        """Return the row of the panel where the taps of the outer kernel dims begin."""
        loops = self.loops
        total: Index = 0
        for axis, tap in enumerate(done):
            inner = product(tuple(w.taps for w in self.windows[axis + 1 :])) * self.inner
            total = loops.add(total, loops.multiply(tap, inner))
        return total

    def emit(self, rows: int, at: tuple[Index, Index], sizes: tuple[Index, Index, Dim, Dim],
             how: tuple[Index | None, bool]) -> bool:  # fmt: skip
        """Append the register tile; say if it is finished."""
        loops, dots = self.loops, self.dots
        left, accumulate = how
        source, panels = (self.buffer(v) for v in self.anchor.operands)
        step = floor_divide(self.windows[-1].stride * self.channels, dots)
        a = (source, loops.index(at[0]), loops.index(step))
        b = (panels, loops.index(at[1]), loops.index(self.width))
        k, segments, a_segment, b_segment = sizes
        valid = loops.index(left if left is not None else self.width)
        numbers = gvk.GemmSizes(
            loops.index(loops.divide(k, dots)), loops.index(segments),
            loops.index(floor_divide(a_segment, dots)), loops.index(floor_divide(b_segment, dots)),
            valid, loops.index(1),
        )  # fmt: skip
        masked = left is not None and self.epilogue.aside is None
        tile = gvk.Tile(rows, self.vectors, self.lanes, accumulate, masked, dots)
        if not accumulate:
            return self.epilogue.product(a, b, numbers, tile)
        loops.here(gvk.GemmTile(a, b, self.epilogue.tile(), numbers, tile))
        return False

    def buffer(self, value: SSAValue) -> SSAValue:
        """Return the buffer of an operand."""
        assert isinstance(value, BlockArgument), "an operand lies in a buffer"
        return self.loops.buffers[value.index]


@dataclass(frozen=True)
class Panel:
    """Which panel: its number, its channel group, and where it starts."""

    panel: Index
    group: Index
    weights: Index

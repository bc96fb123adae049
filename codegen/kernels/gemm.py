"""Products: register tiles over packed or row-major operands, with an epilogue.

    for unit in lo..hi                       parallel: batch x row block x panel
      [copy the block of A into scratch]     where its rows lie side by side: see `left`
      [pack the panel of B into scratch]     where B is transposed, large, or ends inside a panel:
                                             once for all row blocks that a thread has of it
      for part of the depth                  about 1024 of k, so that a part of a panel fits L2
        for tile of MR rows in the block     the part of B stays in L2, the tile of A in L1
          C[MR, NR] (+)= sum over k          gvk.gemm_tile: MR*NV accumulators in registers
          for row in tile                    behind the last part
            for vector in panel              unrolled, NV of them
              C = epilogue(C, ...)           the raw tile is still in L1

NR = NV vectors; MR and NV fill the registers (see `passes/analysis/kernels/tiles.py`): 6x64 for
AVX-512. Rows are cut into nearly equal tiles instead of full ones and a rest. A row block
has about 192 rows, so that the block of A and the panel of B stay in a 1 MiB L2 together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.levels import BEHIND
from ...ir.types.dims import Dim, ceil_divide, floor_divide, product
from ...ir.types.dtypes import DType
from ...ir.types.indices import Indices, Linear, Token, flatten, is_walked_as_one, tokens_of
from ...ir.types.tensor import TensorSpec, spec_of
from ...passes.analysis.kernels.kinds import strides_of
from ...passes.analysis.kernels.tiles import DEEP, lanes_in, rows_for, vectors_for
from ...passes.analysis.walks import Axis, index_of_product
from ...target import Target
from .builder.blocks import BLOCK_ROWS, Asks, RowBlocks
from .builder.epilogue import Epilogue
from .builder.loops import Index
from .builder.plan import open_kernel, plan_axes, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .left import LeftBlock, block_rows

LARGE = 64
"""Depth and columns, in vectors, from which B is packed although it could be used in place: the
narrower the panels, the fewer sets of the cache do their rows lie in."""
STREAMED = 256 << 10
"""Bytes of packed B from which the next part is asked for while one is used."""
MANY = 32
"""Rows from which multiplying takes longer than reading B: there is time to ask for more."""
LITTLE = 1 << 18
"""Multiplications so few that tiles of one height take no longer, though they are less tall: each
height is a function of its own, which takes LLVM ten milliseconds."""
SHALLOW, FAR = 8, 4 << 20
"""Depth up to which, and bytes from which on, a product is bounded by what is written."""
FLAT_ROWS = 12
"""Rows of a block of such a product."""
CHUNK = 256
"""Rows of a panel that are packed at a time where the depth is a symbol."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a product."""
    return Gemm(kernel, target).build()


How: TypeAlias = "tuple[Index | None, Index | Dim, bool]"
"""Of a register tile: the valid columns, the length of a segment, whether to add onto C."""


@dataclass
class Operand:
    """How an operand of the product is walked: its buffer and the flat offset of an element."""

    buffer: SSAValue
    offset: Linear


class Gemm:
    """Builds one product kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        self.target = target
        (self.root,) = returned_values(kernel)
        self.anchor = next(op for op in kernel.body.block.ops if strides_of(op))
        assert isinstance(self.anchor, Op), "a product is an operation"
        self.packed = self.anchor.name != "gv.matmul"
        self.dtype: DType = self.anchor.result_specs[0].dtype
        self.dots = group_of(self.anchor.specs[1]) if self.packed else 1
        panels = self.anchor.specs[1]
        width = int(panels.dims[2]) if self.packed else 0  # type: ignore[arg-type]
        self.lanes = lanes_in(target, self.dtype, width)
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        self.left: LeftBlock | None = None
        behind = kernel.attributes.get(BEHIND)
        self.behind = behind.value.data if isinstance(behind, IntegerAttr) else 0
        self.plan_dims()

    # -- dims -----------------------------------------------------------------------------

    def plan_dims(self) -> None:
        """Find rows, columns and depth, and how each operand is walked."""
        flags = self.anchor.plain_attributes()
        left = self.anchor.specs[0].dims
        self.depth: Dim = left[-2] if flags.get("transpose_lhs") else left[-1]
        root = spec_of(self.root.type)
        axes = [Axis([Token(d)]) for d in root.dims]
        self.k_axis = Axis([Token(self.depth)])
        self.plan = plan_axes([*axes, self.k_axis], lambda t, i: self.trace(t, i[:-1]))
        result = self.anchor.results[0]
        (index,) = set(self.plan.tracer.stops[result])
        self.index = index
        self.a = self.operand(0, self.left_index(index))
        if not self.packed:
            self.b = self.operand(1, self.right_index(index))
        self.c = Operand(self.out, flatten(self.plan.index[:-1], root.dims))
        self.columns = self.anchor.result_specs[0].dims[-1]
        self.group()

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what the epilogue and the operands read."""
        result = self.anchor.results[0]
        tracer.stops[result] = []
        tracer.visit(self.root, index)
        at = tracer.stops[result][0]
        tracer.visit(self.anchor.operands[0], self.left_index(at))
        if not self.packed:
            tracer.visit(self.anchor.operands[1], self.right_index(at))

    def left_index(self, index: Indices) -> Indices:
        """Return the index of A for an index of the product."""
        return index_of_product(self.anchor, 0, index, self.k_axis.index)

    def right_index(self, index: Indices) -> Indices:
        """Return the index of B for an index of the product."""
        return index_of_product(self.anchor, 1, index, self.k_axis.index)

    def operand(self, position: int, index: Indices) -> Operand:
        """Return how an operand is walked, through the moves before it."""
        tracer = Tracer()
        tracer.visit(self.anchor.operands[position], index)
        (access,) = tracer.accesses
        assert isinstance(access.argument, BlockArgument), "an operand lies in a buffer"
        return Operand(self.loops.buffers[access.argument.index], access.offset)

    def group(self) -> None:
        """Merge tokens into batch groups, the rows, the columns, and the depth.

        Rows are whatever B is the same for: pixels of an image too. Columns that B walks in
        several strides are `scattered`: B is gathered into panels.
        """
        n_tokens = tokens_of(self.index[-1])
        k_tokens = self.k_axis.tokens
        others = [t for t in self.plan.tokens if t not in n_tokens and t not in k_tokens]
        accesses = [*self.plan.offsets, self.c.offset]
        columns = merge(n_tokens, accesses, self.plan.alone)
        self.scattered = len(columns) > 1
        if self.scattered:
            tokens = tuple(t for t in n_tokens if t.extent != 1)
            assert is_walked_as_one(tokens, self.c.offset), "columns are written as one"
            columns = [Group(tokens)]
        self.columns_group = one_group(columns, "columns")
        self.k_groups = merge(k_tokens, [self.a.offset, *self.b_offsets()], set())
        self.k_groups = self.k_groups or [Group(tuple(k_tokens[-1:]))]
        assert len(self.k_groups) <= 2, "the depth of A is walked in more than two strides"
        groups = merge(others, accesses, self.plan.alone)
        shared = [
            g for g in groups if all(b.coefficient(g.tokens[-1]) == 0 for b in self.b_offsets())
        ]
        self.rows = shared[-1] if shared else Group(())
        self.batch = [g for g in groups if g is not self.rows]
        every = [*self.batch, self.rows, self.columns_group, *self.k_groups]
        self.space = Space(every, self.columns_group, self.lanes)
        for group in self.k_groups:
            group.value = 0

    def b_offsets(self) -> list[Linear]:
        """Return the offset of B if it is walked where it lies."""
        return [] if self.packed else [self.b.offset]

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, rows = self.loops, self.rows.extent
        self.vectors = self.panel_vectors(rows)
        self.width = self.vectors * self.lanes
        self.epilogue = Epilogue(
            loops, self.arguments, self.space, self.root, self.anchor, self.plan.index[:-1],
            self.c.offset, self.out, self.rows, self.columns_group, self.vectors,
        )  # fmt: skip
        self.tall = rows_for(self.target, self.vectors)
        self.panels: Dim = ceil_divide(self.columns, self.width)
        self.whole = isinstance(self.columns, int) and self.columns % self.width == 0
        self.prepare_panels()
        copied = self.copied_rows()
        self.flat = not self.packed and not copied and self.is_flat()
        most = copied or (FLAT_ROWS if self.flat else BLOCK_ROWS)
        blocks = RowBlocks(rows, self.tall, most, alike=self.is_little(rows))
        batch = product(tuple(g.extent for g in self.batch))
        if copied:
            self.left = LeftBlock.make(loops, self.rows, self.k_groups[0], blocks, self.dtype)
        self.asks = self.asks_for(blocks)
        panel_first = self.is_panel_first(blocks, copied)
        if self.packed or self.in_place:
            least = blocks.per_block // 2 if panel_first and not self.is_near() else 1
            blocks.share(batch * self.panels, least=least, inner=not panel_first)
        inner, outer = (self.panels, blocks.count)[:: 1 if panel_first else -1]
        with loops.loop(loops.lo, loops.hi) as unit:
            rest: Index = unit.index
            first = loops.remainder(rest, inner)
            rest = loops.divide(rest, inner)
            second = loops.remainder(rest, outer)
            rest = loops.divide(rest, outer)
            panel, block = (first, second) if panel_first else (second, first)
            if self.left is not None or not panel_first:
                came = loops.minimum(first, loops.subtract(unit.index, loops.index(loops.lo)))
                self.comes = loops.compare("eq", came, 0)
            for group in reversed(self.batch):
                group.value = loops.remainder(rest, group.extent)
                rest = loops.divide(rest, group.extent)
            if self.left is not None:
                self.left.first = blocks.first(loops, block)
                with loops.when(self.comes):
                    source = partial(self.strided, self.a, self.k_groups[0])
                    self.left.fill(blocks.most, source, self.lanes)
            self.panel(panel, block, blocks)
        return loops.finish(batch * blocks.count * self.panels)

    def is_near(self) -> bool:
        """Say whether all of B stays in L2, from where blocks of few rows can read it again."""
        size = product((self.depth, self.columns))
        return isinstance(size, int) and size * self.anchor.specs[1].dtype.size < STREAMED

    def is_panel_first(self, blocks: RowBlocks, copied: int) -> bool:
        """Say whether a block of rows goes through all panels before the next one does."""
        again = self.packed or self.in_place or self.flat
        return again and (copied > 0 or blocks.count != 1)

    def is_flat(self) -> bool:
        """Say whether writing takes longer than multiplying: rows are written to their ends then.

        What is written a panel at a time lies on as many pages as a block has rows. Panels are
        packed again for each block, which is nothing beside its rows.
        """
        size, depth = product((self.rows.extent, self.columns)), self.depth
        if not (isinstance(depth, int) and isinstance(size, int)):
            return False
        return depth <= SHALLOW and size * self.dtype.size >= FAR

    def asks_for(self, blocks: RowBlocks) -> Asks | None:
        """Return what tiles ask memory for, if anything.

        For the next part of B: one tile alone reads it as fast as it comes. For what lies
        behind B where tiles are tall enough to be slower.
        """
        depth, rows, panels = self.depth, self.rows.extent, self.panels
        if not (self.packed and isinstance(depth, int) and isinstance(rows, int)) or self.dots > 1:
            return None
        assert isinstance(panels, int), "the columns of packed panels are known"
        tiles, parts = min(blocks.tiles, blocks.per_block), self.parts(blocks)
        own = tiles >= 2 and int(self.anchor.specs[1].nbytes) >= STREAMED
        behind = self.behind if parts == 1 and rows >= MANY else 0
        part = (-(-depth // parts), self.width)
        size = self.anchor.specs[1].dtype.size
        return Asks.plan(part, blocks.tiles, panels, size, behind=behind, next_part=own)

    def is_little(self, rows: Dim) -> bool:
        """Say whether a matrix takes few multiplications."""
        work = product((rows, self.columns, self.depth))
        return isinstance(work, int) and work <= LITTLE

    def panel_vectors(self, rows: Dim) -> int:
        """Return the vectors of a panel: as packed, or as the sizes ask for."""
        if self.packed:
            return int(self.anchor.specs[1].dims[2]) // self.lanes
        columns = self.columns if isinstance(self.columns, int) else 4 * self.lanes
        return vectors_for(self.target, rows if rows != 1 else 2, columns, self.dtype)

    def panel(self, panel: Index, block: Index, blocks: RowBlocks) -> None:
        """Compute one block of rows against one panel."""
        loops = self.loops
        self.number = panel
        self.columns_group.value = loops.multiply(panel, self.width)
        left = loops.subtract(loops.index(self.columns), self.columns_group.value)
        if self.in_chunks:
            self.chunks(left, block, blocks)
            return
        b = self.panel_of_b(panel, left)
        last = loops.subtract(loops.index(self.panels), 1)
        if self.whole:
            self.rows_of(b, None, block, blocks)
            return
        if self.panels == 1:
            self.rows_of(b, left, block, blocks)
            return
        with loops.when(loops.compare("slt", panel, last)):
            self.rows_of(b, None, block, blocks)
        with loops.when(loops.compare("eq", panel, last)):
            self.rows_of(b, left, block, blocks)

    def rows_of(self, b: gvk.Strided, left: Index | None, block: Index, blocks: RowBlocks) -> None:
        """Walk the tiles of a block, once for each part of the depth."""
        loops = self.loops
        parts = self.parts(blocks)
        if parts == 1:
            length = self.k_groups[-1].extent
            blocks.walk(loops, block, lambda r, s: self.tile(r, s, b, (left, length, False)))
            return
        assert isinstance(self.depth, int), "parts of a known depth"
        (group,) = self.k_groups
        length = -(-self.depth // (parts * self.dots)) * self.dots
        buffer, base, stride = b
        group.value = 0
        blocks.walk(loops, block, lambda r, s: self.part(r, s, b, (left, length, False)))

        def part(number: Index) -> gvk.Strided:
            group.value = loops.multiply(number, length)
            return buffer, loops.index(loops.add(base, loops.multiply(group.value, stride))), stride

        with loops.loop(1, parts - 1) as one:
            here = part(one.index)
            blocks.walk(loops, block, lambda r, s: self.part(r, s, here, (left, length, True)))
        last, rest = part(parts - 1), self.depth - (parts - 1) * length
        blocks.walk(loops, block, lambda r, s: self.tile(r, s, last, (left, rest, True)))
        group.value = 0

    def parts(self, blocks: RowBlocks) -> int:
        """Return how many parts the depth is summed in: several only if a panel is read again."""
        several = not isinstance(self.rows.extent, int) or blocks.tiles > 1
        if not isinstance(self.depth, int) or len(self.k_groups) != 1 or not several:
            return 1
        if self.epilogue.aside is not None:
            return 1  # scratch holds one tile
        return max(1, -(-self.depth // DEEP))

    def chunks(self, left: Index, block: Index, blocks: RowBlocks) -> None:
        """Compute one block of rows against a panel of unknown depth, chunk by chunk."""
        loops = self.loops
        valid = loops.minimum(left, self.width)
        blocks.walk(loops, block, lambda rows, start: self.zero(rows, start, valid))
        (group,) = self.k_groups
        depth = loops.index(self.depth)
        with loops.loop(0, depth, CHUNK) as chunk:
            count = loops.minimum(loops.subtract(depth, chunk.index), CHUNK)
            self.pack(valid, (chunk.index, count))
            group.value = chunk.index
            b = (self.scratch, loops.index(self.scratch_base), loops.index(self.width))
            blocks.walk(
                loops, block, lambda rows, start: self.part(rows, start, b, (valid, count, True))
            )
        group.value = 0
        blocks.walk(loops, block, lambda rows, start: self.epilogue.finish(rows, start, valid))

    def zero(self, rows: int, start: Index, left: Index) -> None:
        """Store zeros into one tile."""
        self.rows.value = start
        self.epilogue.zero(rows, left)

    def tile(self, rows: int, start: Index, b: gvk.Strided, how: How) -> None:
        """Compute one register tile and its epilogue."""
        if not self.epilogue.product(*self.operands(rows, start, b, how)):
            self.epilogue.finish(rows, start, how[0])

    def part(self, rows: int, start: Index, b: gvk.Strided, how: How) -> None:
        """Compute a part of the depth of one register tile."""
        a, b, sizes, shape = self.operands(rows, start, b, how)
        self.loops.here(gvk.GemmTile(a, b, self.epilogue.tile(), sizes, shape))

    def operands(
        self, rows: int, start: Index, b: gvk.Strided, how: How
    ) -> tuple[gvk.Strided, gvk.Strided, gvk.GemmSizes, gvk.Tile]:
        """Return what a register tile is made of, but where it is stored."""
        loops = self.loops
        left, length, accumulate = how
        self.rows.value = start
        if self.left is None:
            a, step = self.strided(self.a, self.rows), self.step(self.a, self.k_groups[-1])
        else:
            a, step = self.left.tile(start), self.left.copy[2]
        inner, outer = self.k_groups[-1], (self.k_groups[0] if len(self.k_groups) == 2 else None)
        if self.dots > 1:
            assert self.step(self.a, inner) == 1, "groups of neighbours lie beside each other"
            a = (a[0], a[1], loops.index(floor_divide(self.step(self.a, self.rows), self.dots)))
            length = loops.divide(loops.index(length), self.dots)
        sizes = gvk.GemmSizes(
            loops.index(length),
            loops.index(outer.extent if outer else 1),
            loops.index(self.step(self.a, outer) if outer else 0),
            loops.index(self.b_segment(outer)),
            loops.index(left if left is not None else self.width),
            loops.index(step),
            self.ahead(start),
        )
        masked = left is not None and self.epilogue.aside is None
        lines = self.asks.lines if self.asks else 0
        shape = gvk.Tile(rows, self.vectors, self.lanes, accumulate, masked, self.dots, lines)
        return a, b, sizes, shape

    def ahead(self, start: Index) -> tuple[SSAValue, ...]:
        """Return how far behind B the lines lie that the tile from row `start` on asks for."""
        if self.asks is None:
            return ()
        loops, rows = self.loops, self.rows.extent
        assert isinstance(rows, int), "rows of a known number"
        tile = loops.divide(loops.multiply(start, self.asks.tiles), rows)
        return (loops.index(self.asks.place(loops, self.number, tile)),)

    def strided(self, operand: Operand, walked: Group) -> gvk.Strided:
        """Return buffer, offset and row stride of an operand at the current position."""
        loops = self.loops
        base, _, extra = self.space.split(loops, operand.offset)
        assert extra is None, "an operand of a product is walked in strides"
        stride = loops.index(self.step(operand, walked))
        return operand.buffer, loops.index(base), stride

    def step(self, operand: Operand, group: Group | None) -> Dim:
        """Return how far one step of a group goes in an operand."""
        if group is None or not group.tokens:
            return 0
        return operand.offset.coefficient(group.tokens[-1])

    # -- A ----------------------------------------------------------------------------------

    def copied_rows(self) -> int:
        """Return the rows of A that are copied at a time, 0 if it is used where it lies."""
        plain = not self.packed and self.anchor.specs[0].dtype == self.dtype
        if (
            not plain
            or not self.in_place
            or len(self.k_groups) != 1
            or self.step(self.a, self.rows) != 1
        ):
            return 0
        return block_rows(self.depth, self.step(self.a, self.k_groups[0]), self.dtype.size)

    # -- B --------------------------------------------------------------------------------

    def prepare_panels(self) -> None:
        """Decide whether B is used where it lies or packed into scratch."""
        self.in_chunks = False
        if self.packed:
            return
        contiguous = self.step(self.b, self.columns_group) == 1
        self.in_place = contiguous and self.whole and not self.scattered and not self.is_large()
        if self.in_place:
            return
        self.in_chunks = not isinstance(self.depth, int)
        depth = self.depth if isinstance(self.depth, int) else CHUNK
        assert not self.in_chunks or len(self.k_groups) == 1, "chunks of two strides of depth"
        self.scratch, self.scratch_base = self.loops.scratch(self.dtype, depth * self.width)

    def is_large(self) -> bool:
        """Say whether walking B in place would miss the TLB in every row block."""
        if isinstance(self.rows.extent, int) and self.rows.extent <= self.tall:
            return False  # one tile of rows: B is read once, and to pack it would read it, too
        return all(
            isinstance(d, int) and d >= LARGE * self.target.lanes
            for d in (self.depth, self.columns)
        )

    def panel_of_b(self, panel: Index, left: Index) -> gvk.Strided:
        """Return where the panel lies, packing it if it must be."""
        loops = self.loops
        width = loops.index(self.width)
        if self.packed:
            argument = self.anchor.operands[1]
            assert isinstance(argument, BlockArgument), "panels are an argument"
            base = loops.multiply(loops.multiply(panel, self.depth), self.width)
            return loops.buffers[argument.index], loops.index(base), width
        if self.in_place:
            base, _, _ = self.space.split(loops, self.b.offset)
            inner = self.k_groups[-1]
            return self.b.buffer, loops.index(base), loops.index(self.step(self.b, inner))
        if self.flat:
            self.pack(left)
        else:
            with loops.when(self.comes):
                self.pack(left)
        return self.scratch, loops.index(self.scratch_base), width

    def b_segment(self, outer: Group | None) -> Dim:
        """Return how far a segment of the depth goes in B."""
        if outer is None:
            return 0
        if self.packed or not self.in_place:
            return product((self.k_groups[-1].extent, self.width))
        return self.step(self.b, outer)

    def pack(self, left: Index, span: tuple[Index, Index] | None = None) -> None:
        """Copy one panel of B (or `span`, first row and count) into scratch."""
        loops = self.loops
        first, count = span or (0, loops.index(self.depth))
        start = self.columns_group.value
        assert start is not None, "the panel is known"
        if self.is_transposed():
            self.pack_transposed(left, first, count)
            return
        reader = ElementReader(loops, self.arguments, self.space)
        places = [1] if len(self.k_groups) == 1 else [self.k_groups[-1].extent, 1]
        with loops.loop(0, count) as k:
            rest: Index = loops.add(k.index, first)
            for group, place in zip(self.k_groups, places, strict=True):
                group.value = loops.divide(rest, place)
                rest = loops.remainder(rest, place) if place != 1 else rest
            row = loops.add(self.scratch_base, loops.multiply(k.index, self.width))
            for vector in range(self.vectors):
                self.columns_group.value = loops.add(start, vector * self.lanes)
                valid = loops.maximum(loops.subtract(left, vector * self.lanes), 0)
                reader.mask = None if self.whole else loops.mask(valid, self.lanes)
                reader.fresh()
                element = reader.load_flat(self.b.buffer, self.dtype, self.b.offset)
                value = reader.math.narrow(reader.math.spread(element, self.lanes))
                loops.store(value, self.scratch, loops.add(row, vector * self.lanes))
        self.columns_group.value = start
        for group in self.k_groups:
            group.value = 0

    def is_transposed(self) -> bool:
        """Say whether the columns of B are runs of memory that blocks can be transposed from."""
        one_stride = len(self.k_groups) == 1 and not self.scattered
        moved = self.dtype.name in ("f32", "f64")
        return one_stride and moved and self.step(self.b, self.k_groups[0]) == 1

    def pack_transposed(self, left: Index, first: Index, count: Index) -> None:
        """Copy a panel by square blocks; what stands behind the last column is left as it is."""
        loops, lanes = self.loops, self.lanes
        start, (group,) = self.columns_group.value, self.k_groups
        assert start is not None, "the panel is known"
        for vector in range(self.vectors):
            self.columns_group.value = loops.add(start, vector * lanes)
            valid = loops.maximum(loops.subtract(left, vector * lanes), 0)
            rows = loops.index(lanes if self.whole else loops.minimum(valid, lanes))
            with loops.loop(0, count, lanes) as k:
                group.value = loops.add(k.index, first)
                columns = loops.index(loops.minimum(loops.subtract(count, k.index), lanes))
                row = loops.add(self.scratch_base, loops.multiply(k.index, self.width))
                to = loops.index(loops.add(row, vector * lanes))
                block = (self.scratch, to, loops.index(self.width))
                source = self.strided(self.b, self.columns_group)
                made = gvk.TransposeTile(source, block, rows, columns, lanes=lanes)
                loops.here(made)
        self.columns_group.value, group.value = start, 0


def group_of(panels: TensorSpec) -> int:
    """Return how many rows of panels lie beside each other."""
    return int(panels.static_shape[3]) if panels.rank == 4 else 1


def one_group(groups: list[Group], what: str) -> Group:
    """Return the only group, or one without tokens."""
    assert len(groups) <= 1, f"the {what} of a product are not walked as one"
    return groups[0] if groups else Group(())

"""Attention: for a few queries at a time, keys block by block, without a matrix of scores.

    for unit in lo..hi                       parallel: batch x blocks of queries
      for block of keys                      all that stay in L2, else half of that at a time
        pack the keys into panels [D, NR]    squares of them are transposed
        for tile of MR queries
          scores[MR, keys] = Q K'            gvk.gemm_tile, in scratch that stays in L1
          for query
            scores = scale, cap, bias        and the largest of them, so far
            scores = exp(score - largest)    sums of before are scaled to the new largest
          out[MR, E] (+)= scores V           gvk.gemm_tile
      for query: out /= sum

Each query is computed by itself, in the order of the keys: blocks of queries change no bit. Where
attention is causal, a tile ends with the last key that one of its queries sees. Single queries
that share keys are rows of a tile, as queries of one head are. Where the number of queries is a
symbol, there is a way of its own for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ...ir import REGISTRY, Op
from ...ir.compose.functions import HIDDEN
from ...ir.dialects import kernel as gvk
from ...ir.types.dims import Dim, product
from ...ir.types.dtypes import bool_, f32
from ...ir.types.indices import Indices, Term, Token, flatten, is_walked_as_one, tokens_of
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import rows_for
from ...passes.analysis.walks import Axis, index_of_attention
from ...target import Target
from .builder.blocks import LINE, RowBlocks
from .builder.combine import LoopReduction, accumulate, across_lanes
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .builder.plan import open_kernel, plan_axes, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .gemm import Operand
from .map import walk_vectors

LOG2_E = 1.4426950408889634
MOST = 1024
"""Keys whose scores for a tile stay near L1."""
QUERIES = 768
"""Queries that a block of keys is packed for: it is read from afar once for all of them."""
ENOUGH = 8
"""Units that there are to be if there can be."""
MANY = 64
"""Queries from which values that lie apart are copied, if they are many blocks: each tile reads
them again."""
FEW = 4
"""Queries up to which a key is multiplied where it lies: turning it would take longer."""
Span: TypeAlias = "tuple[Index, Index]"
"""The first key of a block, and how many there are."""


class AttentionKernel:
    """Builds one kernel."""

    NAME = "gv.attention"

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (self.root,) = returned_values(kernel)
        anchor = next(op for op in kernel.body.block.ops if op.name == self.NAME)
        assert isinstance(anchor, Op), "attention is an operation"
        self.anchor, self.target, self.lanes = anchor, target, target.lanes
        flags = self.anchor.plain_attributes()
        self.scale, self.softcap = float(flags["scale"]), float(flags["softcap"])
        self.causal, self.zeros = bool(flags["causal"]), bool(flags.get("zeros"))
        self.hiding = bool(flags["hiding"])
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        self.plan_dims()
        self.math = self.reader.math

    # -- dims -----------------------------------------------------------------------------

    def plan_dims(self) -> None:
        """Find how queries, keys, values and results are walked."""
        q, k, v = self.anchor.specs[:3]
        result = self.anchor.result_specs[0]
        self.keys: Dim = k.dims[-2]
        self.scores = result.with_shape((*result.dims[:-1], self.keys))
        self.depth, self.width = int(q.dims[-1]), int(v.dims[-1])  # type: ignore[arg-type]
        extents = (*spec_of(self.root.type).dims, self.keys, self.depth)
        self.plan = plan_axes([Axis([Token(d)]) for d in extents], self.trace)
        (self.index,) = set(self.plan.tracer.stops[self.anchor.results[0]])
        self.q, self.k, self.v = map(self.operand, range(3))
        self.c = Operand(self.out, flatten(self.plan.index[:-2], extents[:-2]))
        self.rows, self.of_width = (Group(tuple(tokens_of(at))) for at in self.index[-2:])
        self.of_keys, self.of_depth = (Group(tuple(a.tokens)) for a in self.plan.axes[-2:])
        self.group()

    def group(self) -> None:
        """Merge what is left into groups of the batch, and say what vectors walk."""
        walked = {
            self.rows: (self.q, self.c), self.of_keys: (self.k, self.v),
            self.of_depth: (self.q, self.k), self.of_width: (self.v, self.c),
        }  # fmt: skip
        for group, operands in walked.items():
            group.value = 0
            for each in operands:
                assert is_walked_as_one(group.tokens, each.offset), "an axis is walked as one"
        own = {token for group in walked for token in group.tokens}
        tokens = [t for t in self.plan.tokens if t not in own]
        alone = self.plan.alone | self.apart
        self.batch = merge(tokens, [*self.plan.offsets, self.c.offset], alone)
        groups = [*self.batch, *walked]
        if self.rows.extent == 1:
            self.share_keys()
        self.reader, self.wide, self.deep = (
            ElementReader(self.loops, self.arguments, Space(groups, vector, self.lanes))
            for vector in (self.of_keys, self.of_width, self.of_depth)
        )

    @property
    def apart(self) -> set[Term]:
        """Return what are no heads, though keys are the same for it."""
        return set()

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what is read."""
        result = self.anchor.results[0]
        tracer.stops[result] = []
        tracer.visit(self.root, index[:-2])
        at = (*tracer.stops[result][0], *index[-2:])
        for position, operand in enumerate(self.anchor.operands):
            tracer.visit(operand, self.index_of(position, at))

    def index_of(self, position: int, index: Indices) -> Indices:
        """Return the index into the queries, keys, values or bias."""
        *at, key, depth = index
        return index_of_attention(self.anchor, position, tuple(at), (key, depth))

    @property
    def place(self) -> Indices:
        """Return the index of a result, and those of a key and of an element of it."""
        return (*self.index, *self.plan.index[-2:])

    def operand(self, position: int) -> Operand:
        """Return how an operand is walked, through the moves before it."""
        tracer = Tracer()
        tracer.visit(self.anchor.operands[position], self.index_of(position, self.place))
        (access,) = tracer.accesses
        assert isinstance(access.argument, BlockArgument), "an operand lies in a buffer"
        return Operand(self.loops.buffers[access.argument.index], access.offset)

    def share_keys(self) -> None:
        """Take as rows what the keys and values of single queries are the same for."""
        self.causal = False
        shared = [
            g for g in self.batch
            if not self.apart & set(g.tokens) and all(step(x, g) == 0 for x in (self.k, self.v))
        ]  # fmt: skip
        if shared:
            self.rows = shared[-1]
            self.rows.value = 0
            self.batch.remove(self.rows)

    # -- sizes ----------------------------------------------------------------------------

    def plan_tiles(self) -> None:
        """Decide blocks and tiles, and lay out the scratch."""
        rows, registers = self.rows.extent, self.target.registers
        widest = 4 if registers >= 32 else 2
        lies = self.depth > 1 and all(step(x, self.of_depth) == 1 for x in (self.q, self.k))
        self.vectors, self.few = widest, lies and isinstance(rows, int) and rows <= FEW
        self.is_open = lies and not isinstance(rows, int)
        self.tall = rows_for(self.target, self.vectors)
        self.panel = self.vectors * self.lanes
        most = keys_for(self.target, self.depth + self.width)
        self.at_once = self.keys_at_once(most)
        self.block = int(self.keys) if self.at_once else most // 2  # type: ignore[arg-type]
        block = -(-self.block // self.lanes) * self.lanes
        self.blocks = RowBlocks(rows, self.tall, QUERIES)
        self.blocks.cut(ENOUGH, product(tuple(g.extent for g in self.batch)))
        padded = -(-block // self.panel) * self.panel
        self.line = padded + self.lanes
        vectors = -(-self.width // self.lanes)
        count = -(-vectors // widest)
        self.parts = [vectors * i // count for i in range(count + 1)]
        self.in_rows = step(self.v, self.of_width) == 1 and self.width % self.lanes == 0
        apart = step(self.v, self.of_keys) != self.width
        long = isinstance(self.keys, int) and not self.at_once
        many = not isinstance(rows, int) or rows >= MANY
        self.copied = not self.in_rows or (apart and long and many)
        self.padded_width = vectors * self.lanes
        sizes = {
            "panels": 0 if self.few else padded * self.depth,
            "scores": self.tall * self.line,
            "values": block * self.padded_width if self.copied else 0,
            "most": self.blocks.most,
            "total": self.blocks.most,
        }
        self.scratch, place = self.loops.scratch(f32, sum(sizes.values()))
        self.at: dict[str, Index] = {}
        for name, size in sizes.items():
            self.at[name], place = place, self.loops.add(place, size)

    def keys_at_once(self, most: int) -> bool:
        """Say whether there are so few keys that they are one block."""
        return isinstance(self.keys, int) and 0 < self.keys <= most

    @property
    def in_place(self) -> bool:
        """Say whether the values are multiplied where they lie."""
        return self.in_rows and (self.few or not self.copied)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        batch = product(tuple(g.extent for g in self.batch))
        if 0 in (self.rows.extent, batch, self.width):
            return loops.finish(0)
        self.plan_tiles()
        with loops.loop(loops.lo, loops.hi) as unit:
            block = self.balanced(loops.remainder(unit.index, self.blocks.count))
            rest = loops.divide(unit.index, self.blocks.count)
            for group in reversed(self.batch):
                group.value = loops.remainder(rest, group.extent)
                rest = loops.divide(rest, group.extent)
            self.first = self.blocks.first(loops, block)
            if self.is_open:
                self.by_number(block)
            else:
                self.compute(block)
        return loops.finish(batch * self.blocks.count)

    def by_number(self, block: Index) -> None:
        """Compute a block of so many queries as there turn out to be."""
        loops = self.loops
        for relation, self.few in (("eq", True), ("ne", False)):
            with loops.when(loops.compare(relation, loops.index(self.rows.extent), 1)):
                self.compute(block)

    def compute(self, block: Index) -> None:
        """Compute a block of queries."""
        if self.at_once:
            seen = self.seen(self.last_row(), (0, self.block))
            self.prepare((0, self.loops.maximum(seen, 1) if self.causal else seen))
            self.walk(block, lambda rows, start: self.tile(rows, start, (0, self.block)))
        else:
            self.by_blocks(block)

    def balanced(self, block: Index) -> Index:
        """Return the block of queries for a number: one of little work, then one of much."""
        loops, count = self.loops, self.loops.index(self.blocks.count)
        if not self.causal or self.blocks.count == 1:
            return block
        half = loops.divide(block, 2)
        last = loops.subtract(loops.subtract(count, 1), half)
        odd = loops.remainder(block, 2)
        return loops.add(half, loops.multiply(odd, loops.subtract(last, loops.index(half))))

    def by_blocks(self, block: Index) -> None:
        """Go through the keys block by block."""
        loops = self.loops
        self.walk(block, self.begin)
        low, high = self.ends()
        last = self.seen(self.last_row(), (0, loops.index(high)))
        with loops.loop(low, last, self.block) as one:
            count = loops.minimum(loops.subtract(last, one.index), self.block)
            span = one.index, count
            self.prepare(span)
            self.walk(block, lambda rows, start: self.tile(rows, start, span))
        self.walk(block, self.finish)

    def ends(self) -> tuple[Index, Index]:
        """Return the first key, and the one behind the last."""
        return 0, self.loops.index(self.keys)

    def walk(self, block: Index, tile: Callable[[int, Index], None]) -> None:
        """Call `tile(rows, start)` for each tile of a block: of a single one if it is open."""
        if self.few and self.is_open:
            tile(1, 0)
        else:
            self.blocks.walk(self.loops, block, tile)

    def last_row(self) -> Index:
        """Return the row behind the last of this block."""
        loops = self.loops
        if self.blocks.count == 1:
            return loops.index(self.rows.extent)
        return loops.minimum(loops.add(self.first, self.blocks.most), loops.index(self.rows.extent))

    def seen(self, rows: Index, span: Span) -> Index:
        """Return how many keys of a span the row before this one sees."""
        loops = self.loops
        if not self.causal:
            return span[1]
        low, count = span
        visible = loops.add(rows, loops.index(self.keys - self.rows.extent))
        return loops.minimum(loops.subtract(visible, loops.index(low)), count)

    def each_row(self, rows: int, start: Index, body: Callable[[Index], None]) -> None:
        """Run `body(row)` for each row of a tile."""
        if rows == 1:
            self.rows.value = start
            body(0)
            return
        with self.loops.loop(0, rows) as one:
            self.rows.value = self.loops.add(start, one.index)
            body(one.index)

    # -- keys and values ------------------------------------------------------------------

    def prepare(self, span: Span) -> None:
        """Pack the panels of a block of keys, and its values where they do not lie in rows."""
        loops, (low, count) = self.loops, span
        if not self.few:
            self.pack_panels(span)
        if not self.in_place:
            with loops.loop(0, count) as one:
                self.of_keys.value = loops.add(low, one.index)
                self.ask(self.v, (self.of_width, self.width), self.lanes)
                line = loops.multiply(one.index, self.padded_width)
                self.copy_values(loops.add(self.at["values"], line))
        self.of_keys.value = self.of_width.value = 0

    def pack_panels(self, span: Span) -> None:
        """Pack the panels of a block of keys."""
        loops, (low, count) = self.loops, span
        panels = loops.divide(loops.add(count, self.panel - 1), self.panel)
        with loops.loop(0, panels) as one:
            at = loops.multiply(one.index, self.panel)
            to = loops.add(self.at["panels"], loops.multiply(at, self.depth))
            for vector in range(self.vectors):
                column = loops.add(at, vector * self.lanes)
                self.of_keys.value = loops.add(low, column)
                valid = loops.maximum(loops.subtract(count, loops.index(column)), 0)
                self.pack(valid, loops.add(to, vector * self.lanes))

    def pack(self, valid: Index, to: Index) -> None:
        """Write the first of as many keys as a vector has lanes as columns."""
        loops, lanes = self.loops, self.lanes
        width = loops.index(self.panel)
        if step(self.k, self.of_depth) == 1:
            rows = loops.index(loops.minimum(valid, lanes))
            with loops.loop(lanes, 2 * lanes) as one:
                self.ask(self.k, (self.of_depth, self.depth), one.index)
            with loops.loop(0, self.depth, lanes) as one:
                self.of_depth.value = one.index
                columns = loops.subtract(loops.index(self.depth), one.index)
                columns = loops.index(loops.minimum(columns, lanes))
                place = loops.add(to, loops.multiply(one.index, self.panel))
                source = self.strided(self.k, self.of_keys)
                target = self.scratch, loops.index(place), width
                loops.here(gvk.TransposeTile(source, target, rows, columns, lanes=lanes))
            self.of_depth.value = 0
            return
        self.reader.mask = loops.mask(valid, lanes)
        with loops.loop(0, self.depth) as one:
            self.of_depth.value = one.index
            self.reader.fresh()
            element = self.reader.load_flat(self.k.buffer, f32, self.k.offset)
            value = self.math.spread(element, lanes).value
            place = loops.add(to, loops.multiply(one.index, self.panel))
            loops.store(value, self.scratch, place)
        self.of_depth.value, self.reader.mask = 0, None

    def ask(self, operand: Operand, inner: tuple[Group, int], ahead: Index) -> None:
        """Ask for a row of keys or values that comes later, if rows lie apart.

        The processor does not see far enough what is walked in such steps.
        """
        loops, (group, width) = self.loops, inner
        if step(operand, group) != 1 or step(operand, self.of_keys) == width:
            return
        buffer, base, stride = self.strided(operand, self.of_keys)
        row = loops.add(base, loops.multiply(ahead, stride))
        for at in range(0, width, LINE // f32.size):
            loops.here(gvk.Prefetch(buffer, loops.index(loops.add(row, at))))

    def copy_values(self, to: Index) -> None:
        """Copy a row of the values."""

        def copy() -> None:
            element = self.wide.load_flat(self.v.buffer, f32, self.v.offset)
            value = self.wide.math.spread(element, self.lanes).value
            assert self.of_width.value is not None, "the width is walked"
            self.loops.store(value, self.scratch, self.loops.add(to, self.of_width.value))

        walk_vectors(self.loops, self.wide, self.of_width, (0, self.width), copy)

    def strided(self, operand: Operand, walked: Group) -> gvk.Strided:
        """Return buffer, offset and distance of rows of an operand at the current position."""
        base, _, extra = self.reader.space.split(self.loops, operand.offset)
        assert extra is None, "an operand is walked in strides"
        return operand.buffer, self.loops.index(base), self.loops.index(step(operand, walked))

    # -- tiles ----------------------------------------------------------------------------

    def tile(self, rows: int, start: Index, span: Span) -> None:
        """Compute what a block of keys gives to a few rows."""
        loops, (low, _) = self.loops, span
        count = self.seen(loops.add(start, rows), span)
        if self.causal and not self.at_once:
            with loops.when(loops.compare("sgt", count, 0)):
                self.seen_tile(rows, start, (low, count))
            return
        count = loops.maximum(count, 1) if self.causal else count  # tiles add one product or more
        self.seen_tile(rows, start, (low, count))

    def seen_tile(self, rows: int, start: Index, span: Span) -> None:
        """Compute what the keys of a span give to rows of which the last sees all of them."""
        self.rows.value = start
        if self.few:
            self.multiply_lying(rows, start, span)
        else:
            self.multiply_keys(rows, span[1])
        self.each_row(rows, start, lambda row: self.weigh(row, span))
        self.rows.value = start
        self.multiply_values(rows, span)
        if self.at_once:
            self.finish(rows, start)

    def multiply_keys(self, rows: int, count: Index) -> None:
        """Compute the raw scores of a tile; what lies behind the last key is not used."""
        loops, known = self.loops, self.loops.known(count)
        left = known % self.panel if isinstance(known, int) else 0
        panels = loops.divide(loops.add(count, 0 if left else self.panel - 1), self.panel)
        with loops.loop(0, panels) as one:
            self.panel_of_scores(rows, one.index, self.vectors)
        if left:
            self.panel_of_scores(rows, panels, -(-left // self.lanes))

    def panel_of_scores(self, rows: int, panel: Index, vectors: int) -> None:
        """Compute the raw scores of a tile for one panel of keys."""
        loops = self.loops
        at = loops.multiply(panel, self.panel)
        b = loops.add(self.at["panels"], loops.multiply(at, self.depth))
        c = loops.add(self.at["scores"], at)
        zero, one = loops.index(0), loops.index(1)
        sizes = gvk.GemmSizes(
            loops.index(self.depth), one, zero, zero, loops.index(vectors * self.lanes),
            loops.index(step(self.q, self.of_depth)),
        )  # fmt: skip
        loops.here(
            gvk.GemmTile(
                self.strided(self.q, self.rows),
                (self.scratch, loops.index(b), loops.index(self.panel)),
                (self.scratch, loops.index(c), loops.index(self.line)),
                sizes,
                gvk.Tile(rows, vectors, self.lanes),
            )
        )

    def multiply_lying(self, rows: int, start: Index, span: Span) -> None:
        """Compute the raw scores of a few queries, key by key."""
        loops, reader, (low, count) = self.loops, self.deep, span
        with loops.loop(0, count) as one:
            self.of_keys.value = loops.add(low, one.index)
            for row in range(rows):
                self.rows.value = loops.add(start, row)
                total = reader.math.spread(reader.math.constant(0, f32), self.lanes)
                for at in range(0, self.depth, self.lanes):
                    self.of_depth.value = at
                    rest = self.depth - at
                    reader.mask = loops.mask(rest, self.lanes) if rest < self.lanes else None
                    reader.fresh()
                    q, k = (reader.load_flat(x.buffer, f32, x.offset) for x in (self.q, self.k))
                    total = reader.math.fma(q, k, total)
                place = loops.add(self.at["scores"], row * self.line)
                score = across_lanes(loops, "add", total)
                loops.store(score.value, self.scratch, loops.add(place, one.index))
        self.of_keys.value = self.of_depth.value = 0

    def multiply_values(self, rows: int, span: Span) -> None:
        """Add the weighed values to the result, or make them its first."""
        loops, (low, count) = self.loops, span
        zero, one = loops.index(0), loops.index(1)
        for first, last in zip(self.parts, self.parts[1:], strict=False):
            at = first * self.lanes
            left = min(self.width - at, (last - first) * self.lanes)
            sizes = gvk.GemmSizes(
                loops.index(count), one, zero, zero, loops.index(left), loops.index(1)
            )
            self.of_keys.value, self.of_width.value = low, at
            if self.in_place:
                b = self.strided(self.v, self.of_keys)
            else:
                place = loops.index(loops.add(self.at["values"], at))
                b = self.scratch, place, loops.index(self.padded_width)
            c = self.strided(self.c, self.rows)
            a = self.scratch, loops.index(self.at["scores"]), loops.index(self.line)
            masked = left % self.lanes != 0
            shape = gvk.Tile(rows, last - first, self.lanes, not self.at_once, masked)
            loops.here(gvk.GemmTile(a, b, c, sizes, shape))
        self.of_keys.value = self.of_width.value = 0

    # -- rows -----------------------------------------------------------------------------

    def weigh(self, row: Index, span: Span) -> None:
        """Turn the scores of a row into weights, which are not yet divided by their sum."""
        loops, math, (low, count) = self.loops, self.math, span
        line = loops.add(self.at["scores"], loops.multiply(row, self.line))
        high = count
        if self.causal:
            assert self.rows.value is not None, "the rows are walked"
            high = loops.maximum(self.seen(loops.add(self.rows.value, 1), span), 0)
        lowest = math.constant(-float("inf"), f32)
        wide = math.spread(lowest, self.lanes)

        def score(at: Index) -> Element:
            self.of_keys.value = loops.add(low, at)
            return self.score(loops.add(line, at))

        (most,) = accumulate(
            self.reader, high, [LoopReduction(wide, wide, LoopsMath.greater, score)]
        )
        most = across_lanes(loops, "max", most)
        if not self.at_once:
            most = math.greater(most, self.load("most"))
        shift = most
        if self.zeros or not self.at_once:
            empty = math.compare("eq", most, lowest)
            shift = math.select(empty, math.constant(0, f32), most)

        def weight(at: Index) -> Element:
            self.reader.fresh()
            return self.weight(loops.add(line, at), shift)

        nothing = math.spread(math.constant(0, f32), self.lanes)
        (total,) = accumulate(
            self.reader, high, [LoopReduction(nothing, nothing, LoopsMath.add, weight)]
        )
        total = across_lanes(loops, "add", total)
        if self.causal:
            begin = loops.multiply(
                loops.divide(loops.add(high, self.lanes - 1), self.lanes), self.lanes
            )
            with loops.loop(begin, count, self.lanes) as one:
                loops.store(nothing.value, self.scratch, loops.add(line, one.index))
        if not self.at_once:
            self.rescale(most, shift, total)
            return
        self.keep("total", total)

    def rescale(self, most: Element, shift: Element, total: Element) -> None:
        """Bring what was summed before to the new largest score."""
        loops, math = self.loops, self.math
        by = self.power(math.sub(self.load("most"), shift))
        self.keep("total", math.add(math.mul(self.load("total"), by), total))
        self.keep("most", most)
        with loops.when(math.compare("ne", by, math.constant(1, f32)).value):
            self.over_result(lambda x: math.mul(x, by))

    @property
    def plain(self) -> bool:
        """Say whether the largest score is that of the largest product."""
        return self.scale > 0 and not self.softcap and len(self.anchor.operands) == 3

    def score(self, place: Index) -> Element:
        """Return a vector of scores for one of products, and keep it; products if that will do."""
        loops, math, lanes = self.loops, self.math, self.lanes
        x = Element(loops.load(self.scratch, place, lanes, constant=False), f32, lanes)
        if self.plain:
            return x
        self.reader.fresh()
        x = math.mul(x, math.constant(self.scale, f32)) if self.scale != 1 else x
        if self.softcap:
            cap = math.constant(self.softcap, f32)
            capped = REGISTRY["gv.tanh"].scalar(math, math.div(x, cap))
            assert isinstance(capped, Element), "a rule gives an element"
            x = math.mul(capped, cap)
        for bias in self.anchor.operands[3:]:
            added = self.reader.element(bias, self.index_of(3, self.place))
            x = with_bias(math, x, added, hiding=self.hiding)
        loops.store(x.value, self.scratch, place)
        return x

    def weight(self, place: Index, shift: Element) -> Element:
        """Return e to the power of a vector of scores, and keep it; 0 where there is none."""
        loops, math, lanes = self.loops, self.math, self.lanes
        x = Element(loops.load(self.scratch, place, lanes, constant=False), f32, lanes)
        made = self.power(math.sub(x, shift))
        if self.reader.mask is not None:
            zero = math.spread(math.constant(0, f32), lanes)
            value = loops.pure(
                arith.SelectOp, (self.reader.mask, made.value, zero.value), made.value.type
            )
            made = Element(value, f32, lanes)
        loops.store(made.value, self.scratch, place)
        return made

    def power(self, x: Element) -> Element:
        """Return e to the power of a score that is not positive."""
        factor = LOG2_E * self.scale if self.plain else LOG2_E
        return self.math.exp2_near(self.math.mul(x, self.math.constant(factor, f32)))

    # -- the state of a row ---------------------------------------------------------------

    def state(self, name: str) -> Index:
        """Return where a number of the current row is kept."""
        assert self.rows.value is not None, "the rows are walked"
        loops = self.loops
        return loops.add(self.at[name], loops.subtract(self.rows.value, loops.index(self.first)))

    def load(self, name: str) -> Element:
        """Return a number of the current row."""
        return Element(self.loops.load(self.scratch, self.state(name), 0, constant=False), f32, 0)

    def keep(self, name: str, element: Element) -> None:
        """Keep a number of the current row."""
        self.loops.store(element.value, self.scratch, self.state(name))

    def begin(self, rows: int, start: Index) -> None:
        """Begin with nothing."""
        math = self.math

        def row(_: Index) -> None:
            self.keep("most", math.constant(-float("inf"), f32))
            self.keep("total", math.constant(0, f32))
            self.over_result(lambda _: math.spread(math.constant(0, f32), self.lanes))

        self.each_row(rows, start, row)

    def finish(self, rows: int, start: Index) -> None:
        """Divide rows by their sums."""
        math = self.math

        def row(_: Index) -> None:
            total, zero = self.load("total"), math.constant(0, f32)
            by = math.div(math.constant(1, f32), total)
            if self.zeros:
                by = math.select(math.compare("eq", total, zero), zero, by)
            elif not self.at_once:
                none = self.loops.compare("eq", self.loops.index(self.keys), 0)
                by = math.select(Element(none, bool_, 0), zero, by)
            self.over_result(lambda x: math.mul(x, by))

        self.each_row(rows, start, row)

    def over_result(self, change: Callable[[Element], Element]) -> None:
        """Change the current row of the result."""
        loops, reader = self.loops, self.wide

        def vector() -> None:
            base, _, _ = reader.space.split(loops, self.c.offset)
            old = loops.load(self.out, base, self.lanes, reader.mask, constant=False)
            made = change(Element(old, f32, self.lanes))
            loops.store(made.value, self.out, base, reader.mask)

        walk_vectors(loops, reader, self.of_width, (0, self.width), vector)
        self.of_width.value = 0


def with_bias(math: LoopsMath, x: Element, bias: Element, *, hiding: bool) -> Element:
    """Return a score with its bias; the bias alone where that is so low that it hides."""
    total = math.add(x, bias)
    if not hiding:
        return total
    return math.select(math.compare("le", bias, math.constant(HIDDEN, f32)), bias, total)


def keys_for(target: Target, width: int) -> int:
    """Return how many keys and values, so wide together, take half of L2: a power of two."""
    most = min(MOST, target.l2 // (2 * width * f32.size))
    return max(64, 1 << (most.bit_length() - 1))


def step(operand: Operand, group: Group) -> Dim:
    """Return how far one step of a group goes in an operand."""
    return operand.offset.coefficient(group.tokens[-1]) if group.tokens else 0

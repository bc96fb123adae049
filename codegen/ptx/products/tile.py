"""Products and convolutions: a block of threads computes a tile of the result from shared memory.

    block: batch x tiles of rows x tiles of columns
      for k in depth step BK
        A[BK, BM], B[BK, BN] = shared        each thread brings its part, read a turn before
        for kk in BK                         unrolled
          acc[TM, TN] += A[kk, ..] * B[kk, ..]    registers of one thread
      out[row, column] = epilogue(acc)

What is computed is read off the operation's iteration space: rows are the loop dims that only the
left operand walks, columns those of the right one, and what both walk is a batch. So one template
has products of any layout, channel groups, and convolutions of any rank, padded or not: operands
are read element by element, through what makes them. Beyond the depth both operands are 0; rows
and columns beyond the last are read as the last and not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ....ir import Op
from ....ir.dialects.gpu import THREADS, Barrier, Shared
from ....ir.types.dims import Dim, ceil_divide, product, remainder
from ....ir.types.dtypes import DType
from ....ir.types.indices import Token
from ....passes.analysis.kernels.choices import decide, shape_class
from ....target import Target
from ...kernels.builder.elements import Element, computed
from ...kernels.builder.loops import Index, Loops
from ...kernels.builder.read import ElementReader
from ...kernels.builder.space import Group, Space, merge
from ...kernels.map import place
from .nest import Nest, Side
from .shape import LANES, LARGE, TILES, AnyTile, Tile, choose_tile

Line: TypeAlias = tuple[Index, list[tuple[Index, SSAValue]]]
"""A row, and its columns with the vectors that begin there."""


class Contraction:
    """Builds one kernel."""

    LOADED = LANES
    """Elements that a thread loads at a time where they are neighbours."""
    STORED = LANES
    """Neighbours along a row that one thread has."""
    NEST = Nest
    RESULTS: type[Results]

    def __init__(self, kernel: FuncOp, anchor: Op, target: Target) -> None:
        self.target = target
        self.nest = nest = self.NEST(kernel, anchor, target)
        self.loops: Loops = nest.loops
        self.sides = [Side(nest, 0), Side(nest, 1)]
        self.dtype: DType = anchor.result_specs[0].dtype
        self.sort_tokens()
        rows, columns, depth = (
            product(tuple(t.extent for t in tokens))
            for tokens in (self.row_tokens, self.column_tokens, self.depth_tokens)
        )
        self.rows, self.columns, self.depth = rows, columns, depth
        batch = product(tuple(g.extent for g in self.batch))
        self.open_sides()
        self.tile = self.choose(batch)
        self.results = self.RESULTS(self)
        self.parts = [
            self.part(side, width, extent)
            for side, width, extent in zip(
                self.sides, (self.tile.rows, self.tile.columns), (rows, columns), strict=True
            )
        ]

    def open_sides(self) -> None:
        """Find along what vectors of the operands lie."""
        for side, tokens in zip(self.sides, (self.row_tokens, self.column_tokens), strict=True):
            side.open(tokens, self.depth_tokens, self.batch, self.LOADED)

    def choose(self, batch: Dim) -> AnyTile:
        """Return the tile of a block."""
        usual = choose_tile(batch, self.tall, self.columns, self.dtype)
        fit = [n for n, t in enumerate(TILES) if t is not LARGE or self.dtype.size <= LANES]
        return TILES[self.decided("threads", batch, fit, TILES.index(usual))]

    @property
    def tall(self) -> Dim:
        """Return the rows of one product."""
        return self.rows

    def decided(self, template: str, batch: Dim, candidates: Sequence[int], usual: int) -> int:
        """Return which of a template's tiles was measured to be best for such sizes."""
        sizes = shape_class(batch, self.tall, self.columns, self.depth)
        name = f"{template}_{self.sides[0].dtype}_{sizes}"
        return decide(self.target, name, candidates, usual)

    def part(self, side: Side, width: int, extent: Dim) -> Part:
        """Return how the threads bring a part of one operand."""
        return SimplePart(side, width, extent, self)

    def sort_tokens(self) -> None:
        """Find which tokens are rows, columns, batch and depth."""
        nest, (left, right) = self.nest, self.sides
        inner = {t for axis in nest.inner for t in axis.tokens}
        self.row_tokens: list[Token] = []
        self.column_tokens: list[Token] = []
        batch: list[Token] = []
        for token in nest.plan.tokens:
            if token in inner or token.extent == 1:
                continue
            where = (left.walks(token), right.walks(token))
            lists = {(True, True): batch, (False, True): self.column_tokens}
            lists.get(where, self.row_tokens).append(token)
        self.batch = [Group((t,)) for t in batch]
        depth = [t for axis in nest.inner for t in axis.tokens if t.extent != 1]
        steps = {t: left.step(t) for t in depth}
        if all(isinstance(step, int) for step in steps.values()):
            depth.sort(key=lambda t: -int(steps[t]))  # type: ignore[arg-type]
        self.depth_tokens = depth

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        with self.loops.loop(self.loops.lo, self.loops.hi) as unit:
            self.block_or_zeros(*self.enter(unit.index))
        function = self.loops.finish(self.units)
        function.attributes[THREADS] = IntegerAttr(self.tile.threads, 64)
        return function

    @property
    def row_tiles(self) -> Dim:
        """Return how many tiles there are below each other."""
        return ceil_divide(self.rows, self.tile.rows)

    @property
    def column_tiles(self) -> Dim:
        """Return how many tiles there are beside each other."""
        return ceil_divide(self.columns, self.tile.columns)

    @property
    def units(self) -> Dim:
        """Return how many tiles there are in all."""
        batch = product(tuple(g.extent for g in self.batch))
        return batch * self.row_tiles * self.column_tiles

    def enter(self, unit: Index) -> tuple[Index, Index]:
        """Go to the batch of a tile; return its first row and column."""
        loops, tile = self.loops, self.tile
        column = loops.remainder(unit, self.column_tiles)
        rest = loops.divide(unit, self.column_tiles)
        row = loops.remainder(rest, self.row_tiles)
        rest = loops.divide(rest, self.row_tiles)
        for group in reversed(self.batch):
            group.value = loops.remainder(rest, group.extent)
            rest = loops.divide(rest, group.extent)
        return loops.multiply(row, tile.rows), loops.multiply(column, tile.columns)

    def turns(self) -> Index:
        """Return how many tiles of depth there are."""
        return self.loops.index(ceil_divide(self.depth, self.tile.depth))

    def beyond(self, side: Side) -> bool:
        """Say whether tiles may reach beyond the rows, or columns, of an operand."""
        left = side is self.sides[0]
        extent, width = (self.rows, self.tile.rows) if left else (self.columns, self.tile.columns)
        return remainder(extent, width) != 0

    def row_end(self) -> Index:
        """Return the end of the rows that a tile is stored to."""
        return self.loops.index(self.rows)

    def finished(self, total: Element) -> Element:
        """Return what the sums of a place come to."""
        return total

    def block_or_zeros(self, row: Index, column: Index) -> None:
        """Compute one tile of the result, for which nothing is read where there is no depth."""
        loops, depth = self.loops, self.depth
        if isinstance(depth, int):
            (self.block if depth else self.zero)(row, column)
            return
        with loops.when(loops.compare("slt", 0, loops.index(depth))):
            self.block(row, column)
        with loops.when(loops.compare("eq", 0, loops.index(depth))):
            self.zero(row, column)

    def zero(self, row: Index, column: Index) -> None:
        """Store one tile of sums of nothing."""
        self.results.store(self.lines(self.zeros(), row, column))

    def block(self, row: Index, column: Index) -> None:
        """Compute one tile of the result."""
        loops, tile = self.loops, self.tile
        starts = (row, column)
        zeros = self.zeros()
        count = len(zeros)
        first = [part.fetch(start, 0) for part, start in zip(self.parts, starts, strict=True)]
        carried = [*zeros] + [v for values in first for v in values]
        with loops.loop(0, self.turns(), 1, carried) as one:
            totals, rest = one.values[:count], one.values[count:]
            loops.here(Barrier())
            brought = (rest[: len(first[0])], rest[len(first[0]) :])
            for part, values in zip(self.parts, brought, strict=True):
                part.put(values)
            loops.here(Barrier())
            following = loops.multiply(loops.add(one.index, 1), tile.depth)
            fetched = [
                part.fetch(start, following) for part, start in zip(self.parts, starts, strict=True)
            ]
            totals = self.multiply(totals)
            one.carry(*totals, *(v for values in fetched for v in values))
        self.results.store(self.lines(one.results[:count], row, column))

    # -- what a thread has --------------------------------------------------------------------

    def zeros(self) -> list[SSAValue]:
        """Return the sums of a thread at the beginning."""
        tile, math = self.simple, self.results.math
        zero = math.spread(math.constant(0, self.dtype), LANES)
        return [zero.value] * (tile.thread_rows * tile.thread_vectors)

    @property
    def simple(self) -> Tile:
        """Return the tile as threads share it one by one."""
        assert isinstance(self.tile, Tile), f"{self.tile} is shared by warps"
        return self.tile

    def lines(self, totals: Sequence[SSAValue], row: Index, column: Index) -> Iterator[Line]:
        """Give the sums of a thread row by row."""
        loops, tile = self.loops, self.simple
        row, column = loops.add(row, self.thread_row()), loops.add(column, self.thread_column())
        columns = [loops.add(column, beside) for beside in tile.column_places]
        for i, below in enumerate(tile.row_places):
            own = totals[i * len(columns) : (i + 1) * len(columns)]
            yield loops.add(row, below), list(zip(columns, own, strict=True))

    def multiply(self, totals: Sequence[SSAValue]) -> list[SSAValue]:
        """Add the products of what is in shared memory."""
        tile = self.simple
        first, second = self.parts
        assert isinstance(first, SimplePart), "threads read elements"
        assert isinstance(second, SimplePart), "threads read elements"
        made = [Element(v, self.dtype, LANES) for v in totals]
        for k in range(tile.depth):
            left = first.scalars(k, self.thread_row(), tile)
            right = second.vectors(k, self.thread_column(), tile.column_places)
            for i, a in enumerate(left):
                for j, b in enumerate(right):
                    at = i * len(right) + j
                    made[at] = self.added(made[at], a, b)
        return [each.value for each in made]

    def added(self, total: Element, a: Element, b: Element) -> Element:
        """Return total + a * b, for floats rounded once."""
        math = self.results.math
        a, b = (x if x.dtype is self.dtype else math.cast(x, self.dtype) for x in (a, b))
        if self.dtype.is_float:
            return math.fma(a, b, total)
        return math.add(total, math.mul(a, b))

    def thread_row(self) -> Index:
        """Return the first row of this thread in the tile."""
        tile = self.simple
        return self.loops.multiply(self.loops.divide(self.loops.slot, tile.across), tile.run)

    def thread_column(self) -> Index:
        """Return the first column of this thread in the tile."""
        return self.loops.multiply(self.loops.remainder(self.loops.slot, self.simple.across), LANES)


def shared(loops: Loops, element: Attribute, count: int) -> SSAValue:
    """Return memory of the block."""
    return loops.here(Shared(MemRefType(element, [count])))[0]


class Part:
    """What the threads bring of one operand to shared memory."""

    def __init__(self, side: Side, width: int, extent: Dim, whole: Contraction) -> None:
        self.loops, self.side = whole.loops, side
        self.width, self.extent = width, extent
        self.tile, self.depth = whole.tile, whole.depth
        self.beyond = whole.beyond(side)
        self.lanes = max(1, side.lanes)

    def places(self) -> list[tuple[Index, Index]]:
        """Return row and depth in the tile of each load of this thread."""
        loops, tile, lanes = self.loops, self.tile, self.lanes
        by_rows = self.side.along == "rows"
        inner = (self.width if by_rows else tile.depth) // lanes
        found: list[tuple[Index, Index]] = []
        for number in range(self.width * tile.depth // (lanes * tile.threads)):
            at = loops.add(loops.slot, number * tile.threads)
            fast = loops.multiply(loops.remainder(at, inner), lanes)
            slow = loops.divide(at, inner)
            found.append((fast, slow) if by_rows else (slow, fast))
        return found

    def fetch(self, start: Index, depth: Index) -> list[SSAValue]:
        """Read this thread's part of the tile that begins at a row and a depth."""
        made: list[SSAValue] = []
        math = self.side.reader.math
        for row, inner in self.places():
            at, deep = self.loops.add(start, row), self.loops.add(depth, inner)
            if self.beyond:
                at = self.clamped(at, self.extent, "rows")
            element = self.side.element(at, self.clamped(deep, self.depth, "depth"))
            if remainder(self.depth, self.tile.depth) != 0:
                inside = self.loops.compare("slt", deep, self.loops.index(self.depth))
                zero = math.spread(math.constant(0, element.dtype), element.lanes)
                kind = element.value.type
                chosen = self.loops.pure(arith.SelectOp, (inside, element.value, zero.value), kind)
                element = Element(chosen, element.dtype, element.lanes)
            made.append(self.stored(element))
        return made

    def stored(self, element: Element) -> SSAValue:
        """Return an element, or vector, as it lies in shared memory."""
        return element.value

    def clamped(self, at: Index, extent: Dim, along: str) -> Index:
        """Return a position along rows or depth, or the last one there is."""
        lanes = self.lanes if self.side.along == along else 1
        return self.loops.minimum(at, self.loops.subtract(self.loops.index(extent), lanes))

    def put(self, values: Sequence[SSAValue]) -> None:
        """Write this thread's part to shared memory."""
        raise NotImplementedError(f"{type(self).__name__} has no layout")


class SimplePart(Part):
    """A part whose rows, at each depth, are neighbours in shared memory, in the computed type."""

    def __init__(self, side: Side, width: int, extent: Dim, whole: Contraction) -> None:
        super().__init__(side, width, extent, whole)
        self.pitch = width + LANES
        """From one depth to the next: neighbours in depth lie in different banks."""
        size = self.tile.depth * self.pitch
        self.buffer = shared(self.loops, computed(side.dtype), size)

    def put(self, values: Sequence[SSAValue]) -> None:
        """Write this thread's part to shared memory."""
        loops = self.loops
        for (row, inner), value in zip(self.places(), values, strict=True):
            at = loops.add(loops.multiply(inner, self.pitch), row)
            if self.side.along == "rows" or not self.side.lanes:
                loops.store(value, self.buffer, at)
                continue
            for lane in range(self.lanes):
                one = extracted(loops, value, lane)
                loops.store(one, self.buffer, loops.add(at, lane * self.pitch))

    def vectors(self, depth: int, first: Index, places: Sequence[int]) -> list[Element]:
        """Return vectors of one depth."""
        loops = self.loops
        start = loops.add(first, depth * self.pitch)
        dtype = self.side.dtype
        return [
            Element(
                loops.load(self.buffer, loops.add(start, at), LANES, constant=False), dtype, LANES
            )
            for at in places
        ]

    def scalars(self, depth: int, first: Index, tile: Tile) -> list[Element]:
        """Return the rows of this thread at one depth, each in all lanes."""
        loops, dtype = self.loops, self.side.dtype
        if tile.run == LANES:
            runs = self.vectors(depth, first, tile.row_places[::LANES])
            values = [extracted(loops, run.value, lane) for run in runs for lane in range(LANES)]
        else:
            start = loops.add(first, depth * self.pitch)
            values = [
                loops.load(self.buffer, loops.add(start, at), 0, constant=False)
                for at in tile.row_places
            ]
        return [Element(loops.broadcast(value, LANES), dtype, LANES) for value in values]


def extracted(loops: Loops, value: SSAValue, lane: int) -> SSAValue:
    """Return one lane of a vector."""
    kind = value.type
    assert isinstance(kind, VectorType), f"{kind} has no lanes"
    return loops.here(vector.ExtractOp(value, [lane], kind.element_type))[0]


class Results:
    """What becomes of the sums of a thread."""

    def __init__(self, whole: Contraction) -> None:
        lanes = whole.STORED
        self.whole, self.nest, self.loops = whole, whole.nest, whole.loops
        plan = self.nest.plan
        self.offset = self.nest.offset
        accesses = [*plan.offsets, self.offset]
        self.batch = [Group(g.tokens) for g in whole.batch]
        self.rows = merge(whole.row_tokens, accesses, plan.alone)
        self.columns = merge(whole.column_tokens, accesses, plan.alone)
        last = self.columns[-1] if self.columns else Group(())
        even = bool(last.tokens) and remainder(last.extent, lanes) == 0
        straight = even and lanes > 1 and self.offset.coefficient(last.tokens[-1]) == 1
        self.lanes = lanes if straight else 0
        every = [*self.batch, *self.rows, *self.columns]
        self.space = Space(every, last if self.lanes else None, self.lanes)
        self.reader = ElementReader(self.loops, self.nest.arguments, self.space)
        self.math = self.reader.math

    def store(self, lines: Iterator[Line]) -> None:
        """Finish and store the sums of this thread."""
        whole = self.whole
        for mine, theirs in zip(self.batch, whole.batch, strict=True):
            mine.value = theirs.value
        for row, vectors in lines:
            place(self.loops, self.rows, row)
            for column, total in vectors:
                self.vector(total, row, column)

    def only_inside(self, row: Index, column: Index) -> AbstractContextManager[None]:
        """Open what only happens at a place that exists: one branch, for nested ones cost more."""
        whole, loops = self.whole, self.loops
        left, right = whole.sides
        inside = [loops.compare("slt", row, whole.row_end())] if whole.beyond(left) else []
        if whole.beyond(right):
            inside.append(loops.compare("slt", column, loops.index(whole.columns)))
        if not inside:
            return nullcontext()
        both = loops.pure(arith.AndIOp, inside, i1) if len(inside) > 1 else inside[0]
        return loops.when(both)

    def vector(self, total: SSAValue, row: Index, column: Index) -> None:
        """Finish and store a vector of columns."""
        if self.lanes:
            with self.only_inside(row, column):
                self.finish(total, column)
            return
        if not isinstance(total.type, VectorType):
            with self.only_inside(row, column):
                self.finish(total, column)
            return
        for lane in range(self.whole.STORED):
            at = self.loops.add(column, lane)
            with self.only_inside(row, at):
                self.finish(extracted(self.loops, total, lane), at)

    def finish(self, total: SSAValue, column: Index) -> None:
        """Finish and store one vector or element."""
        nest, reader = self.nest, self.reader
        place(self.loops, self.columns, column)
        element = self.whole.finished(Element(total, self.whole.dtype, self.lanes))
        reader.given = {nest.anchor.results[0]: lambda _: element}
        reader.fresh()
        made = reader.element(nest.root, nest.root_index(nest.plan.index))
        self.write(self.math.narrow(self.math.spread(made, self.lanes)))

    def write(self, value: SSAValue) -> None:
        """Write what is finished."""
        base, _, extra = self.space.split(self.loops, self.offset)
        assert extra is None, "a result is written in strides"
        self.loops.store(value, self.nest.out, base)


Contraction.RESULTS = Results

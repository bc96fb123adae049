"""Products on tensor cores: the warps of a block multiply small matrices at once.

    block: batch x tiles of rows x tiles of columns
      copies of A, B at depths 0, BK, 2 BK begin              STAGES - 1 of them
      for k in depth step BK
        the copies at k are there                             all but the last STAGES - 2 groups
        copies at k + (STAGES - 1) BK begin                   to where k - BK was
        for kk in BK step 32 bytes
          each warp: its 16-row parts of A, its 8-column parts of B, by `gvk.load_matrix`
          acc += A * B                                        gvk.mma, in f32 or i32
      out[row, column] = epilogue(acc)

An operand that lies in memory is copied by `gvk.copy_async` while others are multiplied: four
stages of 64 bytes of depth are what two blocks of 128x128 can have on one processor, and enough to
wait for memory. What is computed on the way goes through registers instead, a turn ahead.

It lies in shared memory as it does outside: where neighbours are along the depth, row after row,
and else depth after depth; then matrices of 16 bits are transposed when they are loaded, and
elements of 32 bits loaded one by one; those of 8 bits are transposed when they are brought. Rows
are 16 bytes apart more than they are long (32 where elements are loaded one by one), so that the
eight rows of a matrix lie in different banks. A warp of 64x32 has 64 sums a thread: more would
leave no registers for operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, f32, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ....ir import Op
from ....ir.dialects.gpu import (
    MATRIX_BYTES,
    SHARED_BYTES,
    WARP,
    AwaitCopies,
    Barrier,
    CloseCopies,
    CopyAsync,
    LoadMatrix,
    MultiplyMatrices,
    Shared,
)
from ....ir.types.dims import Dim
from ...kernels.builder.elements import Element, computed
from ...kernels.builder.loops import Index, Loops, storage, vector_type
from .nest import Side
from .shape import VECTOR, WARP_TILES, AnyTile, WarpTile, choose_warp_tile
from .tile import Contraction, Line, Part, extracted, shared

HALVES = 8
"""Elements of 16 bits in 16 bytes."""
STAGES = 4
"""Tiles of both operands that are on their way or in use."""
DEPTH_BYTES = 32
"""What one `gvk.mma` sums over."""
KINDS = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8", "u8": "u8"}
"""What tensor cores call the types of operands."""


def multiplies_matrices(anchor: Op) -> bool:
    """Say whether tensor cores compute a product: of 16-bit floats, or one with wide sums."""
    if anchor.name == "gv.matmul_wide":
        return True
    kinds = {spec.dtype.name for spec in (*anchor.specs[:2], *anchor.result_specs)}
    return kinds in ({"f16"}, {"bf16"})


class MatrixContraction(Contraction):
    """Builds one kernel."""

    STORED = 2
    is_staged = False
    """Whether both operands are copied while others are multiplied."""
    shared_bytes = 0

    def open_sides(self) -> None:
        """Find along what vectors of the operands lie."""
        for side, tokens in zip(self.sides, (self.row_tokens, self.column_tokens), strict=True):
            side.open(tokens, self.depth_tokens, self.batch, VECTOR // side.dtype.size)
        self.is_staged = all(
            side.copied() and (side.along == "depth" or side.dtype.size > 1) for side in self.sides
        )

    def choose(self, batch: Dim) -> AnyTile:
        """Return the tile of a block."""
        usual = WARP_TILES.index(choose_warp_tile(batch, self.tall, self.columns))
        chosen = self.decided("warps", batch, range(len(WARP_TILES)), usual)
        return replace(WARP_TILES[chosen], size=self.sides[0].dtype.size)

    @property
    def warps(self) -> WarpTile:
        """Return the tile."""
        assert isinstance(self.tile, WarpTile), f"{self.tile} is shared by threads"
        return self.tile

    def part(self, side: Side, width: int, extent: Dim) -> Part:
        """Return how the threads bring a part of one operand."""
        return MatrixPart(side, width, extent, self)

    def zeros(self) -> list[SSAValue]:
        """Return the sums of a thread: of each 16x8 product four."""
        tile = self.warps
        zero = self.loops.constant(0, vector_type(computed(self.dtype), 4))
        return [zero] * (tile.warp_rows // 16 * (tile.warp_columns // 8))

    def corner(self) -> tuple[Index, Index]:
        """Return the first row and column of this warp in the tile."""
        loops, tile = self.loops, self.warps
        warp = loops.divide(loops.slot, WARP)
        return (
            loops.multiply(loops.divide(warp, tile.across), tile.warp_rows),
            loops.multiply(loops.remainder(warp, tile.across), tile.warp_columns),
        )

    def build(self) -> FuncOp:
        """Fill the function."""
        function = super().build()
        if self.shared_bytes:
            function.attributes[SHARED_BYTES] = IntegerAttr(self.shared_bytes, 64)
        return function

    def block(self, row: Index, column: Index) -> None:
        """Compute one tile of the result."""
        if not self.is_staged:
            super().block(row, column)
            return
        loops = self.loops
        for stage in range(STAGES - 1):
            self.bring((row, column), stage, stage)
        with loops.loop(0, self.turns(), 1, self.zeros()) as one:
            loops.here(AwaitCopies(STAGES - 2))
            loops.here(Barrier())
            ahead = loops.add(one.index, STAGES - 1)
            self.bring((row, column), ahead, loops.remainder(ahead, STAGES))
            one.carry(*self.multiply(one.values, loops.remainder(one.index, STAGES)))
        self.results.store(self.lines(one.results, row, column))

    def bring(self, starts: tuple[Index, Index], turn: Index, stage: Index) -> None:
        """Begin to copy both parts of a turn to a stage."""
        depth = self.loops.multiply(turn, self.tile.depth)
        for part, start in zip(self.parts, starts, strict=True):
            assert isinstance(part, MatrixPart), "warps read matrices"
            part.copy(start, depth, stage)
        self.loops.here(CloseCopies())

    def memory(self, element: Attribute, count: int) -> SSAValue:
        """Return memory of the block, for all stages of a part."""
        if not self.is_staged:
            return shared(self.loops, element, count)
        at = self.shared_bytes
        self.shared_bytes += count * STAGES * MATRIX_BYTES[element]
        return self.loops.here(Shared(MemRefType(element, [count * STAGES]), at))[0]

    def multiply(self, totals: Sequence[SSAValue], stage: Index = 0) -> list[SSAValue]:
        """Add the products of what is in shared memory."""
        tile, made = self.warps, list(totals)
        left, right = self.parts
        assert isinstance(left, MatrixPart), "warps read matrices"
        assert isinstance(right, MatrixPart), "warps read matrices"
        for part in (left, right):
            part.base = self.loops.multiply(stage, part.size)
        row, column = self.corner()
        kinds = f"{KINDS[left.side.dtype.name]}.{KINDS[right.side.dtype.name]}"
        for depth in range(0, tile.depth, DEPTH_BYTES // tile.size):
            tall = [left.rows(row, i, depth) for i in range(0, tile.warp_rows, 16)]
            wide = [
                half
                for j in range(0, tile.warp_columns, 16)
                for half in right.columns(column, j, depth)
            ]
            for i, a in enumerate(tall):
                for j, b in enumerate(wide):
                    at = i * len(wide) + j
                    made[at] = self.loops.here(MultiplyMatrices((a, b, made[at]), kinds))[0]
        return made

    def lines(self, totals: Sequence[SSAValue], row: Index, column: Index) -> Iterator[Line]:
        """Give the sums of a thread row by row."""
        loops, tile = self.loops, self.warps
        mine, beside = self.corner()
        lane = loops.remainder(loops.slot, WARP)
        row = loops.add(loops.add(row, mine), loops.divide(lane, 4))
        column = loops.add(loops.add(column, beside), loops.multiply(loops.remainder(lane, 4), 2))
        count = tile.warp_columns // 8
        for i in range(tile.warp_rows // 16):
            for half in range(2):
                yield (
                    loops.add(row, 16 * i + 8 * half),
                    [
                        (loops.add(column, 8 * j), self.pair(totals[i * count + j], half))
                        for j in range(count)
                    ],
                )

    def pair(self, total: SSAValue, half: int) -> SSAValue:
        """Return two neighbours of the sums."""
        return picked(self, total, [2 * half, 2 * half + 1])


def picked(whole: Contraction, value: SSAValue, lanes: Sequence[int]) -> SSAValue:
    """Return some lanes of a vector."""
    return whole.loops.shuffle(value, value, lanes)


def load_matrices(
    loops: Loops,
    memory: tuple[SSAValue, Callable[[Index, Index], Index]],
    place: tuple[Index, Index],
    *,
    rows_first: bool,
    by_rows: bool = False,
) -> SSAValue:
    """Load four matrices from memory, which says where a row and a depth lie.

    The second one lies below the first if `rows_first`, else behind it; `by_rows` if rows are
    neighbours.
    """
    (buffer, at), (row, deep) = memory, place
    kind = buffer.type
    assert isinstance(kind, MemRefType), f"{kind} is no memory"
    lane = loops.remainder(loops.slot, WARP)
    inside, number = loops.remainder(lane, 8), loops.divide(lane, 8)
    one, two = loops.remainder(number, 2), loops.divide(number, 2)
    below, behind = (one, two) if rows_first else (two, one)
    row = loops.add(row, loops.multiply(below, 8))
    deep = loops.add(deep, loops.multiply(behind, VECTOR // MATRIX_BYTES[kind.element_type]))
    if by_rows:
        deep = loops.add(deep, inside)
    else:
        row = loops.add(row, inside)
    return loops.here(LoadMatrix(buffer, loops.index(at(row, deep)), transposed=by_rows))[0]


class MatrixPart(Part):
    """A part as matrices: rows of depth, or depths of rows, whichever neighbours outside are."""

    def __init__(self, side: Side, width: int, extent: Dim, whole: MatrixContraction) -> None:
        super().__init__(side, width, extent, whole)
        self.whole = whole
        self.vector = VECTOR // side.dtype.size
        """Elements of 16 bytes."""
        self.by_rows = side.along == "rows" and self.vector < VECTOR
        inner, outer = (width, self.tile.depth) if self.by_rows else (self.tile.depth, width)
        self.pitch = inner + (HALVES if self.by_rows else self.vector)
        self.size = outer * self.pitch
        self.buffer = whole.memory(storage(side.dtype), self.size)
        self.base: Index = 0
        """Where the stage begins that is read."""

    def stored(self, element: Element) -> SSAValue:
        """Return an element, or vector, as it lies in memory."""
        return self.side.reader.math.narrow(element)

    def put(self, values: Sequence[SSAValue]) -> None:
        """Write this thread's part to shared memory."""
        loops = self.loops
        turned = self.side.along == "rows" and not self.by_rows and self.side.lanes
        for (row, depth), value in zip(self.places(), values, strict=True):
            at = self.at(row, depth)
            if not turned:
                loops.store(value, self.buffer, at)
                continue
            for lane in range(self.lanes):
                one = extracted(loops, value, lane)
                loops.store(one, self.buffer, loops.add(at, lane * self.pitch))

    def copy(self, start: Index, depth: Index, stage: Index) -> None:
        """Begin to copy this thread's part of the tile that begins at a row and a depth."""
        loops = self.loops
        base = loops.multiply(stage, self.size)
        for row, inner in self.places():
            at, deep = loops.add(start, row), loops.add(depth, inner)
            if self.beyond:
                at = self.clamped(at, self.extent, "rows")
            there = loops.compare("slt", deep, loops.index(self.depth))
            buffer, place, conditions = self.side.address(
                at, self.clamped(deep, self.depth, "depth")
            )
            for condition in conditions:
                there = loops.pure(arith.AndIOp, (there, condition.value), i1)
            values = (there, loops.index(VECTOR), loops.index(0))
            given = loops.pure(arith.SelectOp, values, IndexType())
            into = loops.index(loops.add(base, self.at(row, inner)))
            loops.here(CopyAsync((buffer, loops.index(place)), (self.buffer, into), given))

    def at(self, row: Index, depth: Index) -> Index:
        """Return where an element lies in a stage."""
        slow, fast = (depth, row) if self.by_rows else (row, depth)
        return self.loops.add(self.loops.multiply(slow, self.pitch), fast)

    def rows(self, first: Index, below: int, depth: int) -> SSAValue:
        """Return 16 rows at 32 bytes of depth: the low depths of both halves come first."""
        return self.load(first, below, depth, rows_first=True)

    def columns(self, first: Index, beside: int, depth: int) -> list[SSAValue]:
        """Return twice 8 columns at 32 bytes of depth."""
        both = self.load(first, beside, depth, rows_first=False)
        half = self.vector // 2
        return [picked(self.whole, both, range(half * i, half * (i + 1))) for i in range(2)]

    def load(self, first: Index, further: int, depth: int, *, rows_first: bool) -> SSAValue:
        """Load four matrices; `rows_first` if the second one lies below the first, not behind."""
        if self.by_rows and self.vector != HALVES:
            return self.load_words(self.loops.add(first, further), depth, rows_first)
        loops = self.loops
        return load_matrices(
            loops, (self.buffer, lambda r, d: loops.add(self.base, self.at(r, d))),
            (loops.add(first, further), depth), rows_first=rows_first, by_rows=self.by_rows,
        )  # fmt: skip

    def load_words(self, first: Index, depth: int, rows_first: bool) -> SSAValue:
        """Load the same word by word: each is a column of depths in four banks."""
        loops = self.loops
        lane = loops.remainder(loops.slot, WARP)
        row = loops.add(first, loops.divide(lane, 4))
        deep = loops.add(depth, loops.remainder(lane, 4))
        made = loops.constant(0.0, vector_type(f32, 4))
        for number in range(4):
            below, behind = (number % 2, number // 2) if rows_first else (number // 2, number % 2)
            place = self.at(loops.add(row, 8 * below), loops.add(deep, 4 * behind))
            word = loops.load(self.buffer, loops.add(self.base, place), 0, constant=False)
            made = loops.here(vector.InsertOp(word, made, [number]))[0]
        return made

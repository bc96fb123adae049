"""Products of 16-bit floats on a GPU: the warps of a block multiply small matrices at once.

    block: batch x tiles of rows x tiles of columns
      for k in depth step BK
        A, B = shared                          as in `tile`, in 16 bits
        for kk in BK step 16
          each warp: its 16-row parts of A, its 8-column parts of B, by `gvk.load_matrix`
          acc += A * B                         gvk.mma, in f32
      out[row, column] = epilogue(acc)

An operand lies in shared memory as it does outside: where neighbours are along the depth, row
after row, and else depth after depth; then matrices are transposed when they are loaded. Rows are 8
elements apart more than they are long, so that the eight rows of a matrix lie in different banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.dims import Dim
from ...ir.gpu_ops import WARP, LoadMatrix, MultiplyMatrices
from ..kernels.elements import Element
from ..kernels.loops import Index, storage, vector_type
from ..kernels.scan import shuffle
from .nest import Side
from .shape import HALVES, AnyTile, WarpTile, choose_warp_tile
from .tile import Contraction, Line, Part, shared

DEPTH = 16
"""What one `gvk.mma` sums over."""


def multiplies_matrices(anchor: Op) -> bool:
    """Say whether warps can multiply the operands: both of one 16-bit type."""
    return {spec.dtype.name for spec in (*anchor.specs, *anchor.result_specs)} in (
        {"f16"},
        {"bf16"},
    )


class MatrixContraction(Contraction):
    """Builds one kernel."""

    LOADED = HALVES
    STORED = 2

    def choose(self, batch: Dim) -> AnyTile:
        """Return the tile of a block."""
        return choose_warp_tile(batch, self.rows, self.columns)

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
        zero = self.loops.constant(0.0, vector_type(f32, 4))
        return [zero] * (tile.warp_rows // 16 * (tile.warp_columns // 8))

    def corner(self) -> tuple[Index, Index]:
        """Return the first row and column of this warp in the tile."""
        loops, tile = self.loops, self.warps
        warp = loops.divide(loops.slot, WARP)
        return (
            loops.multiply(loops.divide(warp, tile.across), tile.warp_rows),
            loops.multiply(loops.remainder(warp, tile.across), tile.warp_columns),
        )

    def multiply(self, totals: Sequence[SSAValue]) -> list[SSAValue]:
        """Add the products of what is in shared memory."""
        tile, made = self.warps, list(totals)
        left, right = self.parts
        assert isinstance(left, MatrixPart), "warps read matrices"
        assert isinstance(right, MatrixPart), "warps read matrices"
        row, column = self.corner()
        for depth in range(0, tile.depth, DEPTH):
            tall = [left.rows(row, i, depth) for i in range(0, tile.warp_rows, 16)]
            wide = [
                half
                for j in range(0, tile.warp_columns, 16)
                for half in right.columns(column, j, depth)
            ]
            for i, a in enumerate(tall):
                for j, b in enumerate(wide):
                    at = i * len(wide) + j
                    made[at] = self.loops.here(MultiplyMatrices(a, b, made[at]))[0]
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
    return shuffle(whole.loops, value, value, lanes)


class MatrixPart(Part):
    """A part in 16 bits: rows of depth, or depths of rows, whichever neighbours outside are."""

    def __init__(self, side: Side, width: int, extent: Dim, whole: MatrixContraction) -> None:
        super().__init__(side, width, extent, whole)
        self.whole = whole
        self.by_rows = side.along == "rows"
        inner, outer = (width, self.tile.depth) if self.by_rows else (self.tile.depth, width)
        self.pitch = inner + HALVES
        self.buffer = shared(self.loops, storage(side.dtype), outer * self.pitch)

    def stored(self, element: Element) -> SSAValue:
        """Return an element, or vector, in 16 bits."""
        return self.side.reader.math.narrow(element)

    def put(self, values: Sequence[SSAValue]) -> None:
        """Write this thread's part to shared memory."""
        loops = self.loops
        for (row, depth), value in zip(self.places(), values, strict=True):
            slow, fast = (depth, row) if self.by_rows else (row, depth)
            loops.store(value, self.buffer, loops.add(loops.multiply(slow, self.pitch), fast))

    def rows(self, first: Index, below: int, depth: int) -> SSAValue:
        """Return 16 rows at 16 depths: the low depths of both halves come first."""
        return self.load(first, below, depth, rows_first=True)

    def columns(self, first: Index, beside: int, depth: int) -> list[SSAValue]:
        """Return twice 8 columns at 16 depths."""
        both = self.load(first, beside, depth, rows_first=False)
        return [picked(self.whole, both, range(4 * i, 4 * i + 4)) for i in range(2)]

    def load(self, first: Index, further: int, depth: int, *, rows_first: bool) -> SSAValue:
        """Load four matrices; `rows_first` if the second one lies below the first, not behind."""
        loops = self.loops
        lane = loops.remainder(loops.slot, WARP)
        inside, number = loops.remainder(lane, 8), loops.divide(lane, 8)
        one, two = loops.remainder(number, 2), loops.divide(number, 2)
        below, behind = (one, two) if rows_first else (two, one)
        row = loops.add(loops.add(first, further), loops.multiply(below, 8))
        deep = loops.add(depth, loops.multiply(behind, 8))
        if self.by_rows:
            deep = loops.add(deep, inside)
            at = loops.add(loops.multiply(deep, self.pitch), row)
        else:
            row = loops.add(row, inside)
            at = loops.add(loops.multiply(row, self.pitch), deep)
        made = LoadMatrix(self.buffer, loops.index(at), transposed=self.by_rows)
        return loops.here(made)[0]

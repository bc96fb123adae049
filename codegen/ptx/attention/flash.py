"""Attention of 16-bit floats on tensor cores.

    block: 4 warps x 16 queries, of one batch
      copies of Q[64, D], and of K[64, D], V[64, E] of the first keys, begin
      for keys, 64 at a time                           those that nobody masks, then the others
        the copies are there; those of the next 64 keys begin
        each warp: S[16, 64] = Q K'                    gvk.mma, Q in registers
          largest of each row so far                   in four threads: two shuffles
          S = 2^(c S - c largest)                      one fma and one ex2 an element
          O[16, E] = O * 2^(c before - c largest) + S V
      out = O / sums

What a thread has of a product of queries and keys is what it must have of a left operand, so that
weights go from one product to the next in registers. A tile of 64 keys gives each thread 32 scores;
with 64 sums (128 columns) and 32 registers of queries that is what a thread can hold. Only the last
tile, and where attention is causal those on the diagonal, look at each score's key.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.builtin import f32 as float_type
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ....ir.dialects.gpu import WARP, AwaitCopies, Barrier, CloseCopies, CopyAsync, MultiplyMatrices
from ....ir.types.dims import Dim, ceil_divide
from ....ir.types.dtypes import f32
from ....target import Target
from ...kernels.builder.elements import Element
from ...kernels.builder.loops import Index, storage, vector_type
from ..products.matrix import HALVES, KINDS, load_matrices
from ..products.nest import Side
from ..products.shape import VECTOR
from ..products.tile import extracted
from .base import LOG2_E, MATRICES, AttentionTemplate

WARPS = 4
"""Of a block: each has 16 queries."""
KEYS = 64
"""Keys of a tile."""
STAGES = 2
WIDEST = 128
QUAD = (2, 1)
"""Distances of the threads that have a row together."""


class SharedRows:
    """Rows of an operand in shared memory, 16 bytes further apart than they are long."""

    apart = HALVES

    def __init__(self, whole: Flash, side: Side, rows: int, width: int, stages: int) -> None:
        self.whole, self.side, self.loops = whole, side, whole.loops
        self.rows, self.width, self.pitch = rows, width, width + self.apart
        self.size = rows * self.pitch
        element = storage(side.dtype)
        self.buffer = whole.memory(element, self.size * stages, side.dtype.size)

    def copy(self, start: Index, extent: Dim, stage: Index) -> None:
        """Begin to copy rows from one on; those that there are not become zero."""
        loops, across = self.loops, self.width // HALVES
        base = loops.multiply(stage, self.size)
        threads = self.whole.warps * WARP
        for number in range(self.rows * across // threads):
            at = loops.add(loops.slot, number * threads)
            line = loops.divide(at, across)
            column = loops.multiply(loops.remainder(at, across), HALVES)
            row = loops.add(start, line)
            inside = loops.compare("slt", row, loops.index(extent))
            row = loops.minimum(row, loops.subtract(loops.index(extent), 1))
            buffer, place, _ = self.side.address(row, column)
            values = (inside, loops.index(VECTOR), loops.index(0))
            given = loops.pure(arith.SelectOp, values, IndexType())
            into = loops.add(base, self.at(line, column))
            source, target = (buffer, loops.index(place)), (self.buffer, loops.index(into))
            loops.here(CopyAsync(source, target, given))

    def at(self, line: Index, column: Index) -> Index:
        """Return where an element lies in a stage."""
        return self.loops.add(self.loops.multiply(line, self.pitch), column)

    def load(self, stage: Index, row: Index, column: Index, *, first: bool) -> SSAValue:
        """Load 16 rows of 16 columns; `first` if the second matrix of four lies below."""
        base = self.loops.multiply(stage, self.size)

        def at(line: Index, along: Index) -> Index:
            return self.loops.add(base, self.at(line, along))

        return load_matrices(self.loops, (self.buffer, at), (row, column), rows_first=first)

    def load_turned(self, stage: Index, row: Index, column: Index) -> SSAValue:
        """Load 16 rows of 16 columns as columns of what is multiplied from the right."""
        base = self.loops.multiply(stage, self.size)

        def at(along: Index, line: Index) -> Index:
            return self.loops.add(base, self.at(line, along))

        return load_matrices(
            self.loops, (self.buffer, at), (column, row), rows_first=False, by_rows=True
        )


class Flash(AttentionTemplate):
    """Builds one kernel, if it `fits`."""

    TEMPLATE = "flash"
    FORMS = ((WARPS, KEYS), (2 * WARPS, KEYS), (WARPS, KEYS // 2))
    """Warps of a block, and keys of a tile: the usual ones first."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target)
        self.open_sides((HALVES, HALVES, HALVES), written=2)
        flags = len(self.anchor.operands) > MATRICES or self.softcap != 0 or self.scale <= 0
        self.is_plain = not flags
        """Whether the largest score is that of the largest product."""
        self.factor = LOG2_E * self.scale if self.is_plain else LOG2_E

    @property
    def fits(self) -> bool:
        """Say whether tensor cores take these operands, and there are enough queries."""
        sizes = (self.depth, self.width)
        even = all(size % HALVES == 0 and size % 16 == 0 and size <= WIDEST for size in sizes)
        many = not isinstance(self.rows, int) or self.rows > 16
        copied = all(side.copied() and side.along == "depth" for side in self.sides[:MATRICES])
        whole = not self.part_keys
        return whole and self.dtype.name in ("f16", "bf16") and even and many and copied

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        even = all(self.shares_evenly(*form) for form in self.FORMS)
        chosen = self.decided(self.TEMPLATE, range(len(self.FORMS)), 0) if even else 0
        self.warps, self.at_once = self.FORMS[chosen]
        self.height = 16 * self.warps
        self.lay_out()
        blocks = ceil_divide(self.rows, self.height)
        with loops.loop(loops.lo, loops.hi) as unit:
            self.first = loops.multiply(self.enter(unit.index, blocks), self.height)
            self.block()
        return self.finish(blocks, self.warps * WARP)

    def shares_evenly(self, warps: int, keys: int) -> bool:
        """Say whether all threads of a block bring as many vectors of a tile."""
        widths = (self.depth, self.width)
        return all(keys * width // HALVES % (warps * WARP) == 0 for width in widths)

    def lay_out(self) -> None:
        """Take the shared memory."""
        q, k, v = self.sides[:MATRICES]
        self.k = SharedRows(self, k, self.at_once, self.depth, STAGES)
        self.v = SharedRows(self, v, self.at_once, self.width, STAGES)
        self.q = SharedRows(self, q, self.height, self.depth, 1)

    def block(self) -> None:
        """Compute some queries."""
        loops = self.loops
        self.q.copy(self.first, self.rows, 0)
        self.bring(0, 0)
        last = loops.minimum(loops.add(self.first, self.height), loops.index(self.rows))
        high = self.seen(loops.subtract(last, 1))
        tiles = loops.divide(loops.add(high, self.at_once - 1), self.at_once)
        whole = loops.divide(self.seen(self.first), self.at_once)
        # Wherever the queries are read, their copies are awaited: in the first tile, or here.
        loops.here(AwaitCopies(0))
        loops.here(Barrier())
        row = loops.multiply(self.warp, 16)
        self.queries_there = [
            self.q.load(0, row, column, first=True) for column in range(0, self.depth, 16)
        ]
        state = self.begin()
        state = self.walk((0, whole), state, masked=False)
        if self.causal or not isinstance(self.keys, int) or self.keys % self.at_once:
            state = self.walk((whole, tiles), state, masked=True)
        self.store(state)

    def bring(self, tile: Index, stage: Index) -> None:
        """Begin to copy the keys and values of a tile."""
        start = self.loops.multiply(tile, self.at_once)
        self.k.copy(start, self.keys, stage)
        self.v.copy(start, self.keys, stage)
        self.loops.here(CloseCopies())

    def walk(
        self, span: tuple[Index, Index], state: Sequence[SSAValue], *, masked: bool
    ) -> list[SSAValue]:
        """Take in tiles of keys; return the state of this thread's queries."""
        loops = self.loops
        with loops.loop(*span, 1, state) as one:
            self.await_tile()
            ahead = loops.add(one.index, 1)
            self.bring(ahead, loops.remainder(ahead, STAGES))
            stage = loops.remainder(one.index, STAGES)
            low = loops.multiply(one.index, self.at_once)
            one.carry(*self.weigh(one.values, self.scores(stage, low, masked=masked), stage))
        return list(one.results)

    def await_tile(self) -> None:
        """Wait until a tile is there, and nobody uses the one before."""
        self.loops.here(AwaitCopies(0))
        self.loops.here(Barrier())

    def begin(self) -> list[SSAValue]:
        """Return the state of queries that saw nothing: largest, sums, and weighed values."""
        loops, math = self.loops, self.math
        most, zero = math.constant(-float("inf"), f32), math.constant(0, f32)
        wide = loops.constant(0.0, vector_type(float_type, 4))
        return [most.value] * 2 + [zero.value] * 2 + [wide] * (self.width // 8)

    # -- one tile of keys ---------------------------------------------------------------------

    def multiplied(self, a: SSAValue, b: SSAValue, total: SSAValue) -> SSAValue:
        """Return a sum and the product of two matrices of this warp."""
        kind = KINDS[self.dtype.name]
        return self.loops.here(MultiplyMatrices((a, b, total), f"{kind}.{kind}"))[0]

    def halves(self, both: SSAValue) -> list[SSAValue]:
        """Return twice 8 columns of 16."""
        return [self.loops.shuffle(both, both, range(4 * i, 4 * i + 4)) for i in range(2)]

    def scores(self, stage: Index, low: Index, *, masked: bool) -> list[list[Element]]:
        """Return the scores of this thread, of each 8 keys two in each of its two rows."""
        found: list[list[Element]] = []
        for number, total in enumerate(self.products(stage)):
            key = self.loops.add(low, 8 * number)
            found.append(self.shaped(total, key, masked=masked))
        return found

    def products(self, stage: Index) -> list[SSAValue]:
        """Return the products of the queries and a tile of keys, 8 keys after the other."""
        loops = self.loops
        found: list[SSAValue] = []
        for beside in range(0, self.at_once, 16):
            sums = [loops.constant(0.0, vector_type(float_type, 4))] * 2
            for number, queries in enumerate(self.queries_there):
                both = self.k.load(stage, beside, 16 * number, first=False)
                for half, keys in enumerate(self.halves(both)):
                    sums[half] = self.multiplied(queries, keys, sums[half])
            found += sums
        return found

    def shaped(self, total: SSAValue, key: Index, *, masked: bool) -> list[Element]:
        """Return four scores of products."""
        loops = self.loops
        key = loops.add(key, loops.multiply(loops.remainder(self.lane, 4), 2))
        made = []
        for number in range(4):
            x = Element(extracted(loops, total, number), f32, 0)
            at = loops.add(key, number % 2)
            row = loops.minimum(self.row(number // 2), loops.subtract(loops.index(self.rows), 1))
            made.append(self.score(x, row, at, plain=self.is_plain, masked=masked))
        return made

    def row(self, half: int) -> Index:
        """Return one of the two rows of this thread."""
        loops = self.loops
        own = loops.add(loops.multiply(self.warp, 16), loops.divide(self.lane, 4))
        return loops.add(self.first, loops.add(own, 8 * half))

    def weigh(
        self, state: Sequence[SSAValue], scores: list[list[Element]], stage: Index
    ) -> list[SSAValue]:
        """Take in the scores of a tile."""
        math = self.math
        factor = math.constant(self.factor, f32)
        most: list[Element] = []
        total: list[Element] = []
        by: list[Element] = []
        for half in range(2):
            before = Element(state[half], f32, 0)
            largest = before
            for four in scores:
                for x in four[2 * half : 2 * half + 2]:
                    largest = math.greater(largest, x)
            largest = self.over_warp("max", largest, QUAD)
            shift = math.neg(math.mul(self.shift(largest), factor))
            by.append(math.exp2_near(math.fma(before, factor, shift)))
            sums = math.mul(Element(state[2 + half], f32, 0), by[half])
            for four in scores:
                for at in (2 * half, 2 * half + 1):
                    four[at] = math.exp2_near(math.fma(four[at], factor, shift))
                    sums = math.add(sums, four[at])
            most.append(largest)
            total.append(sums)
        values = self.weighed(self.scaled(state[4:], by), scores, stage)
        return [*(x.value for x in (*most, *total)), *values]

    def scaled(self, values: Sequence[SSAValue], by: Sequence[Element]) -> list[SSAValue]:
        """Return the weighed values, those of each row times a number."""
        math = self.math
        wide = self.packed([by[0], by[0], by[1], by[1]])
        return [math.mul(Element(x, f32, 4), Element(wide, f32, 4)).value for x in values]

    def packed(self, four: Sequence[Element]) -> SSAValue:
        """Return elements as the lanes of a vector."""
        made = self.loops.constant(0.0, vector_type(float_type, len(four)))
        for number, one in enumerate(four):
            made = self.loops.here(vector.InsertOp(one.value, made, [number]))[0]
        return made

    def weighed(
        self, values: list[SSAValue], scores: list[list[Element]], stage: Index
    ) -> list[SSAValue]:
        """Add the values of a tile, each times its weight."""
        made = list(values)
        for number, weights in enumerate(self.weights(scores)):
            for beside in range(0, self.width, 16):
                found = self.v.load_turned(stage, 16 * number, beside)
                for half, columns in enumerate(self.halves(found)):
                    at = beside // 8 + half
                    made[at] = self.multiplied(weights, columns, made[at])
        return made

    def weights(self, scores: list[list[Element]]) -> list[SSAValue]:
        """Return the scores of each 16 keys as what is multiplied from the left."""
        loops, found = self.loops, []
        narrow = vector_type(storage(self.dtype), 8)
        for number in range(self.at_once // 16):
            first, second = (self.packed(scores[2 * number + i]) for i in range(2))
            both = loops.shuffle(first, second, range(8))
            found.append(loops.pure(arith.TruncFOp, (both,), narrow))
        return found

    def store(self, state: Sequence[SSAValue]) -> None:
        """Divide by the sums of weights, and write."""
        loops, math = self.loops, self.math
        column = loops.multiply(loops.remainder(self.lane, 4), 2)
        for half in range(2):
            total = self.over_warp("add", Element(state[2 + half], f32, 0), QUAD)
            by = math.spread(self.quotient(total), 2)
            row = self.row(half)
            with loops.when(loops.compare("slt", row, loops.index(self.rows))):
                for number, values in enumerate(state[4:]):
                    pair = loops.shuffle(values, values, (2 * half, 2 * half + 1))
                    made = math.mul(Element(pair, f32, 2), by)
                    self.results.store(made, row, loops.add(column, 8 * number))

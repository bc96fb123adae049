"""Rows: reductions over trailing axes, with element-wise work before, between and behind.

`rows` has them one by one. Results written past the caches come as fast as memory takes them, and
memory idles while a row is computed: there, three rows are under way at once.

    first reduction of row lo
    for row in lo..hi                       parallel
      the reductions between the first and the last
      for v in row step 4*L
        last reduction of row at v; first reduction of row + 1 at v
        out[row - 1, w] = element(w)        w is elsewhere in the row
    out[hi - 1] = element(v)

Loads wait for stores under way that lie as far into a page as they, in part. So `w`, and where a
row is kept, are far from `v` there, and a row is kept apart from the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...ir.levels import STREAMED
from ...ir.types.dims import product
from ...ir.types.tensor import spec_of
from ...lazy import cached_property
from ...target import Target
from .builder.combine import ACCUMULATORS, accumulate
from .builder.elements import Element
from .builder.loops import Index
from .map import place
from .rows import Rows

PAGE = 1024
"""Elements of a page."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a row kernel."""
    if STREAMED in kernel.attributes:
        found = OverlappingRows(kernel, target)
        if found.overlaps:
            return found.build()
    return Rows(kernel, target).build()


class OverlappingRows(Rows):
    """Builds a row kernel that writes one row while it reads the next."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target)
        self.cache = target.l1

    @property
    def overlaps(self) -> bool:
        """Say whether it can be done: what is written was kept, all of it by the last pass.

        Rows are whole vectors: each can be written past the caches. Two rows and what is kept of
        two must lie in half of L1.
        """
        last, extent = len(self.reductions) - 1, self.walked.extent
        rows = self.outer and self.lanes and len(self.inner) == 1 and isinstance(extent, int)
        if not (rows and last and self.is_full) or extent % self.lanes:
            return False
        kept = self.kept.get(last, ())
        small = 4 * self.kept_length * 4 <= self.cache // 2
        return small and self.kept.keys() == {last} and len(kept) == 1 and self.is_made_of(kept)

    def is_made_of(self, kept: Sequence[SSAValue]) -> bool:
        """Say whether the result follows from values and totals of the row alone."""
        stack = [self.root]
        while stack:
            one = stack.pop()
            if one in kept or one.owner in self.reductions:
                continue
            if not isinstance(one.owner, Operation):
                return False
            stack.extend(one.owner.operands)
        return True

    def build(self) -> FuncOp:
        """Fill the function."""
        self.apart = (-(-self.kept_length // PAGE) + 1) * PAGE
        self.make_room(2 * self.apart)
        with self.loops.when(self.loops.compare("slt", self.loops.lo, self.loops.hi)):
            self.overlapping()
        return self.loops.finish(product(tuple(g.extent for g in self.outer)))

    def overlapping(self) -> None:
        """Write one row, reduce the next and begin the one behind it, all in one loop."""
        loops, ops = self.loops, self.reductions
        last, end = len(ops) - 1, loops.subtract(loops.hi, 1)
        self.know(loops.lo, ())
        first = self.reduce(ops[0], 0)
        none = [self.reader.math.constant(0, op.result_specs[0].dtype) for op in ops]
        with loops.loop(loops.lo, loops.hi, 1, [e.value for e in (first, *none)]) as one:
            now, *before = each_alike(one.values, (first, *none))
            row, totals = one.index, [now]
            self.know(row, totals)
            for number in range(1, last):
                totals.append(self.reduce(ops[number], number))
                self.settle(number, totals[-1])
            parts = [
                self.part(last, lambda: self.know(row, totals)),
                self.part(0, lambda: self.know(loops.minimum(loops.add(row, 1), end), ())),
            ]
            made = accumulate(
                self.reader, self.high, parts, lambda places: self.write(row, before, places)
            )
            done, after = (self.total(ops[n], v) for n, v in zip((last, 0), made, strict=True))
            one.carry(*(e.value for e in (after, *totals, done)))
        self.know(end, each_alike(one.results[1:], none))
        self.over_inner(self.store)

    def write(self, row: Index, totals: Sequence[Element], places: Sequence[Index]) -> None:
        """Write some vectors of the row before a row, if there is one, while others are read."""
        loops = self.loops
        self.know(loops.maximum(loops.subtract(row, 1), loops.lo), totals)
        with loops.when(loops.compare("sgt", row, loops.lo)):
            for at in self.elsewhere(places):
                self.walked.value = at
                self.reader.fresh()
                self.store()

    def elsewhere(self, places: Sequence[Index]) -> Sequence[Index]:
        """Return where to write while vectors at some places are read: all, in the end."""
        if len(places) == 1:
            return places
        turn, extent = self.lanes * ACCUMULATORS, self.extent
        far = self.loops.add(places[0], apart(extent, turn))
        first = self.loops.remainder(far, extent - extent % turn)
        return [self.loops.add(first, i * self.lanes) for i in range(len(places))]

    def know(self, row: Index, totals: Sequence[Element]) -> None:
        """Go to a row of which these totals are known."""
        place(self.loops, self.outer, row)
        self.kept_base = self.keeping_place(row)
        self.reader.given = {}
        self.reader.fresh()
        for number, total in enumerate(totals):
            self.settle(number, total)

    def keeping_place(self, row: Index) -> Index:
        """Return where in scratch a row is kept: half a page further into one than it lies."""
        loops = self.loops
        begin = loops.remainder(loops.add(self.ahead, loops.multiply(row, self.extent)), PAGE)
        begin = loops.subtract(begin, loops.remainder(begin, self.lanes))
        turn = loops.multiply(loops.remainder(row, 2), self.apart)
        return loops.add(self.scratch_base, loops.add(turn, begin))

    @cached_property
    def ahead(self) -> Index:
        """Return what the first row is ahead of scratch in a page, and half a page."""
        loops = self.loops
        read = next((b for a, b in zip(self.arguments, loops.buffers, strict=False)
                     if spec_of(a.type).dims == self.shape), loops.buffers[0])  # fmt: skip
        rows, scratch = (loops.divide(loops.address(b), 4) for b in (read, self.scratch))
        scratch = loops.remainder(loops.add(scratch, self.scratch_base), PAGE)
        return loops.subtract(loops.add(rows, PAGE + PAGE // 2), loops.index(scratch))

    @property
    def extent(self) -> int:
        """Return the elements of a row."""
        extent = self.walked.extent
        assert isinstance(extent, int), "rows that overlap are of a known length"
        return extent


def each_alike(values: Sequence[SSAValue], like: Sequence[Element]) -> list[Element]:
    """Return values as elements of the types of others."""
    return [Element(v, e.dtype, e.lanes) for v, e in zip(values, like, strict=True)]


def apart(extent: int, step: int) -> int:
    """Return how far, in steps, a row is written from where the next two are read.

    It is chosen for rows of f32 that lie one behind the other, from the same place of a page on.
    """

    def distance(far: int) -> int:
        ways = [rows * extent - far for rows in (1, 2)]
        return min(min(way % PAGE, -way % PAGE) for way in ways)

    return max(range(0, extent - extent % step, step), key=distance)

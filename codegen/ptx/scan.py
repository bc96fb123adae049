"""Scans on a GPU: a warp, or a block of threads, scans one row together.

    block: row, or eight short ones
      for 256 elements (a short row: 32)
        each lane: what comes before it in its warp     five shuffles
        each warp: what comes before it                 all totals in shared memory, of two turns
        out = total so far, then both, then the element

Rows that lie across memory have a thread each: neighbours read neighbours, and there is nothing to
share. The order in which elements are combined is the same in every run.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.dialects.gpu import THREADS, WARP, Barrier, Shuffle
from ...ir.types.dims import Dim, ceil_divide, product
from ...target import Target
from ..kernels.builder.elements import Element, computed
from ..kernels.builder.loops import Index
from ..kernels.map import place
from ..kernels.scan import Scan
from .products.tile import shared

BLOCK = 256
SHORT = 128
"""Elements of a row that a warp takes four turns for."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a scan."""
    made = GpuScan(kernel, target)
    return made.build_rows() if made.is_innermost else made.build()


class GpuScan(Scan):
    """Builds one kernel."""

    def build_rows(self) -> FuncOp:
        """Fill the function where neighbours are of one row."""
        loops = self.loops
        self.extent: Dim = self.axis_group.extent
        rows = product(tuple(group.extent for group in self.outer))
        self.team = WARP if isinstance(self.extent, int) and self.extent <= SHORT else BLOCK
        together = BLOCK // self.team
        self.member = loops.remainder(loops.slot, self.team)
        if self.team > WARP:
            self.totals = shared(loops, computed(self.spec.dtype), 2 * BLOCK // WARP)
        with loops.loop(loops.lo, loops.hi) as unit:
            row = loops.divide(loops.slot, self.team)
            row = loops.add(loops.multiply(unit.index, together), row)
            self.exists = loops.compare("slt", row, loops.index(rows))
            row = loops.minimum(row, loops.subtract(loops.index(rows), 1))
            place(loops, self.outer, row)
            self.row()
        function = loops.finish(ceil_divide(rows, together))
        function.attributes[THREADS] = IntegerAttr(BLOCK, 64)
        return function

    def row(self) -> None:
        """Scan one row."""
        loops, last = self.loops, self.loops.subtract(self.loops.index(self.extent), 1)
        high = loops.index(self.extent)
        with loops.loop(0, high, self.team, [self.start.value]) as one:
            at = loops.add(one.index, self.member)
            inside = loops.compare("slt", at, high)
            at = loops.minimum(at, last)
            x = self.element(loops.subtract(last, at) if self.reverse else at)
            x = self.chosen(inside, x, self.start)
            before, total = self.over_warp(x)
            if self.team > WARP:
                warps_before, total = self.over_block(total, one.index)
                before = self.combine(warps_before, before)
            so_far = self.like(one.values[0])
            before = self.combine(so_far, before)
            made = before if self.exclusive else self.combine(before, x)
            with loops.when(loops.pure(arith.AndIOp, (inside, self.exists), i1)):
                self.store([made])
            one.carry(self.combine(so_far, total).value)

    def over_warp(self, x: Element) -> tuple[Element, Element]:
        """Return what the lanes before this one come to, and what all come to."""
        loops, before, total = self.loops, self.start, x
        lane = loops.remainder(loops.slot, WARP)
        distance = 1
        while distance < WARP:
            other = self.like(loops.here(Shuffle(total.value, distance))[0])
            upper = loops.remainder(loops.divide(lane, distance), 2)
            behind = loops.compare("ne", upper, 0)
            before = self.chosen(behind, self.combine(other, before), before)
            pair = self.chosen(behind, other, total), self.chosen(behind, total, other)
            total = self.combine(*pair)
            distance *= 2
        return before, total

    def over_block(self, total: Element, turn: Index) -> tuple[Element, Element]:
        """Return what the warps before this one come to, and what all come to."""
        loops, count = self.loops, BLOCK // WARP
        warp = loops.divide(loops.slot, WARP)
        # The totals of the turn before may still be read.
        half = loops.multiply(loops.remainder(loops.divide(turn, BLOCK), 2), count)
        with loops.when(loops.compare("eq", loops.remainder(loops.slot, WARP), 0)):
            loops.store(total.value, self.totals, loops.add(half, warp))
        loops.here(Barrier())
        before = whole = self.start
        for number in range(count):
            at = loops.add(half, number)
            one = self.like(loops.load(self.totals, at, 0, constant=False))
            whole = self.combine(whole, one)
            earlier = loops.compare("slt", number, warp)
            before = self.combine(before, self.chosen(earlier, one, self.start))
        return before, whole

    def chosen(self, condition: SSAValue, a: Element, b: Element) -> Element:
        """Return one of two elements."""
        kind = a.value.type
        return self.like(self.loops.pure(arith.SelectOp, (condition, a.value, b.value), kind))

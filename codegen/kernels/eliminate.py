"""Matrices in scratch whose rows are taken from each other: what systems and factors share.

    for panel in 0..n, a vector of columns
      for k in panel
        at = the row from k on whose element k is largest
        swap rows k and at
        for i in k+1..n
          factor[i, k] = a[i, k] / a[k, k]
          a[i, panel] -= factor[i, k] * a[k, panel]
      for i in panel+1..n
        for columns right of the panel, up to four vectors
          a[i, columns] -= sum of factor[i, k] * a[k, columns]   k in panel, below i

Rows of scratch are filled up to whole vectors. What is left of the diagonal is changed too, and not
read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, remainder
from ...ir.types.dtypes import bool_, f32
from ...target import Target
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .builder.plan import open_kernel, returned_values

WIDE = 4
"""How many vectors of a row are computed at a time, so that no sum waits for the one before it."""
Body: TypeAlias = Callable[[Index, SSAValue | None], None]
"""What is done to one vector at a place, under a mask."""
Swap: TypeAlias = Callable[[SSAValue, SSAValue], None]
"""What else is exchanged where two rows are."""
Follow: TypeAlias = Callable[[Sequence[SSAValue], "Element"], Sequence["Element"]]
"""What is carried on behind a pivot."""


class Elimination:
    """Builds one kernel on square matrices, the first operand of its operation."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        roots = returned_values(kernel)
        anchor = roots[0].owner
        assert isinstance(anchor, Op), "the root is an operation"
        self.anchor, self.flags = anchor, anchor.plain_attributes()
        self.loops, _, outs = open_kernel(kernel, target)
        self.outs = dict(zip(roots, outs, strict=True))
        """Where each result that is asked for goes."""
        self.math = LoopsMath(self.loops)
        given = kernel.body.block.args
        self.operands = [self.loops.buffers[given.index(v)] for v in anchor.operands]
        self.dtype = anchor.specs[0].dtype
        self.lanes = target.lanes if self.dtype is f32 else max(target.lanes // 2, 1)
        rows = anchor.specs[0].dims[-1]
        assert isinstance(rows, int), "the number of rows is known"
        self.rows = rows
        self.row = -(-rows // self.lanes) * self.lanes
        """How far the rows of scratch are apart."""
        self.scratch: SSAValue

    def over(self, extent: Dim, body: Body) -> None:
        """Run a body for each vector up to an extent, the last one under a mask."""
        loops, rest = self.loops, remainder(extent, self.lanes)
        whole = loops.index(extent - rest)
        with loops.loop(0, whole, self.lanes) as one:
            body(one.index, None)
        self.over_rest(whole, rest, body)

    def over_rest(self, at: Index, rest: Dim, body: Body) -> None:
        """Run a body for the elements that fill no vector, if there are any."""
        loops = self.loops
        if rest == 0:
            return
        if isinstance(rest, int):
            body(at, loops.mask(rest, self.lanes))
            return
        count = loops.index(rest)
        with loops.when(loops.compare("sgt", count, 0)):
            body(at, loops.mask(count, self.lanes))

    # -- rows of scratch ------------------------------------------------------------------

    def fill(self, a: Index, top: Index) -> None:
        """Copy a matrix of the first operand to scratch."""
        loops = self.loops
        with loops.loop(0, self.rows) as one:
            source = loops.add(a, loops.multiply(one.index, self.rows))
            place = self.place(top, one.index)

            def body(at: Index, mask: SSAValue | None) -> None:
                x = loops.load(self.operands[0], loops.add(source, at), self.lanes, mask)
                loops.store(x, self.scratch, loops.add(place, at))

            self.over(self.rows, body)

    def place(self, top: Index, row: Index, column: Index = 0) -> Index:
        """Return where an element of a matrix in scratch is."""
        loops = self.loops
        return loops.add(loops.add(top, loops.multiply(row, self.row)), column)

    def pivot(self, k: SSAValue, top: Index) -> SSAValue:
        """Return the row from k on whose element k is largest, the first of several."""
        loops, math = self.loops, self.math

        def size(row: Index) -> Element:
            return math.abs(self.load(self.scratch, self.place(top, row, k), 0))

        with loops.loop(loops.add(k, 1), self.rows, 1, [size(k).value, k]) as one:
            best, place = one.values
            x = size(one.index)
            better = math.compare("gt", x, Element(best, self.dtype, 0)).value
            one.carry(
                loops.pure(arith.SelectOp, (better, x.value, best), best.type),
                loops.pure(arith.SelectOp, (better, one.index, place), IndexType()),
            )
        return loops.index(loops.minimum(loops.maximum(one.results[1], 0), self.rows - 1))

    def swap_in_scratch(self, k: SSAValue, best: SSAValue, tops: Sequence[Index]) -> None:
        """Exchange two rows of matrices in scratch."""
        loops = self.loops
        for top in tops:
            one, other = (self.place(top, i) for i in (k, best))
            with loops.loop(0, self.row, self.lanes) as each:
                at = each.index
                self.exchange(self.scratch, loops.add(one, at), loops.add(other, at), None)

    def exchange(self, buffer: SSAValue, one: Index, other: Index, mask: SSAValue | None) -> None:
        """Exchange two vectors."""
        a, b = (self.load(buffer, at, self.lanes, mask).value for at in (one, other))
        self.loops.store(b, buffer, one, mask)
        self.loops.store(a, buffer, other, mask)

    def eliminate(
        self, upper: Index, factors: Index, swap: Swap,
        start: Sequence[SSAValue] = (), follow: Follow = lambda values, pivot: (),
    ) -> Sequence[SSAValue]:  # fmt: skip
        """Take multiples of rows from those below them, until only an upper triangle is left.

        What rows were multiplied by goes to another matrix in scratch. Values are carried from
        column to column: `follow` gives them from those before and the pivot, whose sign is turned
        where rows were exchanged.
        """
        loops = self.loops
        with loops.loop(0, self.row, self.lanes, start) as panel:
            end = loops.minimum(loops.add(panel.index, self.lanes), self.rows)
            with loops.loop(panel.index, end, 1, panel.values) as one:
                pivot = self.clear(one.index, panel.index, (upper, factors), swap)
                one.carry(*(x.value for x in follow(one.values, pivot)))
            self.take(panel.index, end, upper, factors)
            panel.carry(*one.results)
        return panel.results

    def clear(self, k: SSAValue, first: SSAValue, tops: tuple[Index, Index], swap: Swap) -> Element:
        """Clear column k below the diagonal, in those vectors alone that it is in."""
        loops, math, (upper, factors) = self.loops, self.math, tops
        best = self.pivot(k, upper)
        moved = loops.compare("ne", best, k)
        with loops.when(moved):
            self.swap_in_scratch(k, best, tops)
            swap(k, best)
        pivot = self.load(self.scratch, self.place(upper, k, k), 0)
        x = self.load(self.scratch, self.place(upper, k, first), self.lanes)
        with loops.loop(loops.add(k, 1), self.rows) as one:
            factor = math.div(self.load(self.scratch, self.place(upper, one.index, k), 0), pivot)
            loops.store(factor.value, self.scratch, self.place(factors, one.index, k))
            at = self.place(upper, one.index, first)
            left = self.less(self.load(self.scratch, at, self.lanes), factor, x)
            loops.store(left.value, self.scratch, at)
        return math.select(Element(moved, bool_, 0), math.neg(pivot), pivot)

    def take(self, first: SSAValue, end: Index, upper: Index, factors: Index) -> None:
        """Take the multiples of some rows from all below them, right of their own vector."""
        loops, step = self.loops, self.lanes * WIDE
        right = loops.add(first, self.lanes)
        count = loops.multiply(loops.divide(loops.subtract(self.row, right), step), step)
        whole = loops.add(right, count)
        with loops.loop(loops.add(first, 1), self.rows) as row:
            last = loops.minimum(row.index, end)

            def block(column: SSAValue, vectors: int) -> None:
                places = [loops.add(column, number * self.lanes) for number in range(vectors)]
                here = [self.place(upper, row.index, at) for at in places]
                start = [self.load(self.scratch, at, self.lanes).value for at in here]
                with loops.loop(first, last, 1, start) as one:
                    factor = self.load(self.scratch, self.place(factors, row.index, one.index), 0)
                    above = [self.place(upper, one.index, at) for at in places]
                    rows = [self.load(self.scratch, at, self.lanes) for at in above]
                    one.carry(*self.less_each(one.values, factor, rows))
                for value, at in zip(one.results, here, strict=True):
                    loops.store(value, self.scratch, at)

            with loops.loop(right, whole, step) as column:
                block(column.index, WIDE)
            with loops.loop(whole, self.row, self.lanes) as column:
                block(column.index, 1)

    def less_each(
        self, totals: Sequence[SSAValue], factor: Element, rows: Sequence[Element]
    ) -> list[SSAValue]:
        """Return vectors less the same multiple of others."""
        return [
            self.less(Element(total, self.dtype, self.lanes), factor, x).value
            for total, x in zip(totals, rows, strict=True)
        ]

    def vector_of(self, column: Index) -> Index:
        """Return the first column of the vector that a column is in."""
        return self.loops.multiply(self.loops.divide(column, self.lanes), self.lanes)

    # -- elements -------------------------------------------------------------------------

    def load(
        self, buffer: SSAValue, at: Index, lanes: int, mask: SSAValue | None = None
    ) -> Element:
        """Read what may have been written meanwhile."""
        value = self.loops.load(buffer, at, lanes, mask, constant=False)
        return Element(value, self.dtype, lanes)

    def less(self, total: Element, factor: Element, x: Element) -> Element:
        """Return a total less a product."""
        factor = self.math.spread(factor, total.lanes)
        if self.loops.fuses:
            return self.math.fma(self.math.neg(factor), x, total)
        return self.math.sub(total, self.math.mul(factor, x))

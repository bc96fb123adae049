"""Systems of linear equations: elimination with pivots, and substitution.

    for unit in lo..hi                     parallel: the matrices
      out = b
      for k in 0..n                        gv.solve: the upper triangle is made in scratch of a
        at = the row from k on whose element k is largest
        swap rows k and at of the upper triangle, the factors and out
        for i in k+1..n                    factor[i, k] = upper[i, k] / upper[k, k]
          upper[i, ..] -= factor[i, k] * upper[k, ..]
      substitute the factors, which have ones on their diagonal, then the upper triangle

    to substitute a triangle t, for each block of columns of out
      for i in 0..n                        from the end where t is an upper one
        out[i, block] = (out[i, block] - sum of t[i, j] * out[j, block]) / t[i, i]

A block is up to four vectors wide, so that one sum need not wait for the one before it. Rows of
scratch are filled up to whole vectors. What is left of the diagonal is changed too, and not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, product, remainder
from ...ir.types.dtypes import f32
from ...target import Target
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .builder.plan import open_kernel, returned_values
from .library import offset, split

Body: TypeAlias = Callable[[Index, SSAValue | None], None]
"""What is done to one vector at a place, under a mask."""

WIDE = 4
"""How many vectors of a row are computed at a time."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a solution."""
    return Solution(kernel, target).build()


@dataclass(frozen=True)
class Triangle:
    """Rows of which the elements on one side of the diagonal count."""

    buffer: SSAValue
    first: Index
    """Where the matrix begins."""
    row: int
    """How far its rows are apart, or its columns where it is `turned`."""
    lower: bool
    has_ones: bool = False
    """Whether ones stand on the diagonal, whatever is in memory."""
    turned: bool = False
    """Whether its rows are the columns of what is in memory; `lower` says what it is then."""


class Solution:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        assert isinstance(root.owner, Op), "the root is an operation"
        self.anchor, self.flags = root.owner, root.owner.plain_attributes()
        self.loops, _, (self.out,) = open_kernel(kernel, target)
        self.math = LoopsMath(self.loops)
        given = kernel.body.block.args
        self.a, self.b = (self.loops.buffers[given.index(v)] for v in self.anchor.operands)
        self.dtype = self.anchor.specs[0].dtype
        self.lanes = target.lanes if self.dtype is f32 else max(target.lanes // 2, 1)
        self.dims = self.anchor.result_specs[0].dims
        self.columns = self.dims[-1]
        rows = self.dims[-2]
        assert isinstance(rows, int), "the number of rows is known"
        self.rows = rows
        self.row = -(-rows // self.lanes) * self.lanes
        """How far the rows of scratch are apart."""

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, batch = self.loops, self.dims[:-2]
        left, right = (spec.dims for spec in self.anchor.specs)
        upper: Index = 0
        if self.factorises:
            self.scratch, upper = loops.scratch(self.dtype, 2 * self.rows * self.row)
        with loops.loop(loops.lo, loops.hi) as unit:
            index = split(loops, unit.index, batch)
            a, b, self.base = (offset(loops, index, dims) for dims in (left, right, self.dims))
            self.copy(b)
            if self.factorises:
                factors = loops.add(upper, self.rows * self.row)
                self.fill(a, upper)
                with loops.loop(0, self.rows) as one:
                    self.eliminate(one.index, upper, factors)
                self.substitute(Triangle(self.scratch, factors, self.row, True, has_ones=True))
                self.substitute(Triangle(self.scratch, upper, self.row, False))
            else:
                lower, turned = self.flags["lower"], self.flags["transpose"]
                self.substitute(Triangle(self.a, a, self.rows, lower != turned, turned=turned))
        return loops.finish(product(batch))

    @property
    def factorises(self) -> bool:
        """Whether the matrix is not a triangle yet."""
        return self.anchor.name == "gv.solve"

    def copy(self, b: Index) -> None:
        """Copy a right side to the result."""

        def body(at: Index, mask: SSAValue | None) -> None:
            x = self.loops.load(self.b, self.loops.add(b, at), self.lanes, mask)
            self.loops.store(x, self.out, self.loops.add(self.base, at), mask)

        self.over(product((self.rows, self.columns)), body)

    def fill(self, a: Index, upper: Index) -> None:
        """Copy a matrix to scratch."""
        loops = self.loops
        with loops.loop(0, self.rows) as one:
            source = loops.add(a, loops.multiply(one.index, self.rows))
            place = loops.add(upper, loops.multiply(one.index, self.row))

            def body(at: Index, mask: SSAValue | None) -> None:
                x = loops.load(self.a, loops.add(source, at), self.lanes, mask)
                loops.store(x, self.scratch, loops.add(place, at))

            self.over(self.rows, body)

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

    # -- elimination ----------------------------------------------------------------------

    def eliminate(self, k: SSAValue, upper: Index, factors: Index) -> None:
        """Take a multiple of a row from those below it, so that their elements of a column go."""
        loops, math = self.loops, self.math
        best = self.pivot(k, upper)
        with loops.when(loops.compare("ne", best, k)):
            self.swap(k, best, (upper, factors))
        row = loops.add(upper, loops.multiply(k, self.row))
        pivot = self.load(self.scratch, loops.add(row, k), 0)
        first = loops.multiply(loops.divide(k, self.lanes), self.lanes)
        with loops.loop(loops.add(k, 1), self.rows) as one:
            below = loops.multiply(one.index, self.row)
            here = loops.add(upper, below)
            factor = math.div(self.load(self.scratch, loops.add(here, k), 0), pivot)
            loops.store(factor.value, self.scratch, loops.add(loops.add(factors, below), k))
            wide = math.spread(factor, self.lanes)
            with loops.loop(first, self.row, self.lanes) as column:
                x = self.load(self.scratch, loops.add(row, column.index), self.lanes)
                at = loops.add(here, column.index)
                left = self.less(self.load(self.scratch, at, self.lanes), wide, x)
                loops.store(left.value, self.scratch, at)

    def pivot(self, k: SSAValue, upper: Index) -> SSAValue:
        """Return the row from k on whose element k is largest, the first of several."""
        loops, math = self.loops, self.math

        def size(row: Index) -> Element:
            at = loops.add(loops.add(upper, loops.multiply(row, self.row)), k)
            return math.abs(self.load(self.scratch, at, 0))

        with loops.loop(loops.add(k, 1), self.rows, 1, [size(k).value, k]) as one:
            best, place = one.values
            x = size(one.index)
            better = math.compare("gt", x, Element(best, self.dtype, 0)).value
            one.carry(
                loops.pure(arith.SelectOp, (better, x.value, best), best.type),
                loops.pure(arith.SelectOp, (better, one.index, place), IndexType()),
            )
        return loops.index(loops.minimum(loops.maximum(one.results[1], 0), self.rows - 1))

    def swap(self, k: SSAValue, best: SSAValue, areas: Sequence[Index]) -> None:
        """Exchange two rows of everything."""
        loops = self.loops

        def exchange(buffer: SSAValue, one: Index, other: Index, mask: SSAValue | None) -> None:
            a, b = (self.load(buffer, at, self.lanes, mask).value for at in (one, other))
            loops.store(b, buffer, one, mask)
            loops.store(a, buffer, other, mask)

        def of_result(at: Index, mask: SSAValue | None) -> None:
            one, other = (loops.add(self.in_result(i), at) for i in (k, best))
            exchange(self.out, one, other, mask)

        for area in areas:
            one, other = (loops.add(area, loops.multiply(i, self.row)) for i in (k, best))
            with loops.loop(0, self.row, self.lanes) as each:
                at = each.index
                exchange(self.scratch, loops.add(one, at), loops.add(other, at), None)
        self.over(self.columns, of_result)

    # -- substitution ---------------------------------------------------------------------

    def substitute(self, triangle: Triangle) -> None:
        """Solve the result for a triangle, block by block of its columns."""
        loops, step = self.loops, self.lanes * WIDE
        rest = remainder(self.columns, step)
        whole = loops.index(self.columns - rest)
        with loops.loop(0, whole, step) as one:
            self.block(triangle, one.index, [None] * WIDE)
        last = remainder(rest, self.lanes)
        if isinstance(rest, int) and isinstance(last, int):
            masks: list[SSAValue | None] = [None] * (rest // self.lanes)
            masks += [loops.mask(last, self.lanes)] if last else []
            if masks:
                self.block(triangle, whole, masks)
            return
        end = loops.index(self.columns - last)
        with loops.loop(whole, end, self.lanes) as one:
            self.block(triangle, one.index, [None])
        self.over_rest(end, last, lambda at, mask: self.block(triangle, at, [mask]))

    def block(self, triangle: Triangle, column: Index, masks: Sequence[SSAValue | None]) -> None:
        """Solve neighbouring vectors of columns, each under a mask."""
        loops = self.loops

        def vectors(row: Index) -> list[Index]:
            first = loops.add(self.in_result(row), column)
            return [loops.add(first, number * self.lanes) for number in range(len(masks))]

        def place(row: SSAValue) -> Index:
            return row if triangle.lower else loops.subtract(self.rows - 1, row)

        with loops.loop(0, self.rows) as outer:
            row = place(outer.index)
            start = [
                self.load(self.out, at, self.lanes, mask).value
                for at, mask in zip(vectors(row), masks, strict=True)
            ]
            with loops.loop(0, outer.index, 1, start) as inner:
                other = place(inner.index)
                factor = self.math.spread(self.element(triangle, row, other), self.lanes)
                inner.carry(
                    *(
                        self.less(
                            Element(sum_, self.dtype, self.lanes),
                            factor,
                            self.load(self.out, at, self.lanes, mask),
                        ).value
                        for sum_, at, mask in zip(inner.values, vectors(other), masks, strict=True)
                    )
                )
            self.finish_row(triangle, row, inner.results, (vectors(row), masks))

    def finish_row(
        self, triangle: Triangle, row: Index, sums: Sequence[SSAValue],
        where: tuple[Sequence[Index], Sequence[SSAValue | None]],
    ) -> None:  # fmt: skip
        """Divide what is left of a row by the element of the diagonal, and store it."""
        for value, at, mask in zip(sums, *where, strict=True):
            made = Element(value, self.dtype, self.lanes)
            if not triangle.has_ones:
                diagonal = self.element(triangle, row, row)
                made = self.math.div(made, self.math.spread(diagonal, self.lanes))
            self.loops.store(made.value, self.out, at, mask)

    # -- elements -------------------------------------------------------------------------

    def element(self, triangle: Triangle, row: Index, column: Index) -> Element:
        """Return an element of a triangle."""
        loops = self.loops
        row, column = (column, row) if triangle.turned else (row, column)
        at = loops.add(loops.multiply(row, triangle.row), column)
        return self.load(triangle.buffer, loops.add(triangle.first, at), 0)

    def in_result(self, row: Index) -> Index:
        """Return where a row of the result begins."""
        return self.loops.add(self.base, self.loops.multiply(row, self.columns))

    def load(
        self, buffer: SSAValue, at: Index, lanes: int, mask: SSAValue | None = None
    ) -> Element:
        """Read what may have been written meanwhile."""
        value = self.loops.load(buffer, at, lanes, mask, constant=False)
        return Element(value, self.dtype, lanes)

    def less(self, total: Element, factor: Element, x: Element) -> Element:
        """Return a total less a product."""
        if self.loops.fuses:
            return self.math.fma(self.math.neg(factor), x, total)
        return self.math.sub(total, self.math.mul(factor, x))

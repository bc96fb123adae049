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

A block is up to four vectors wide, and of a narrower one the sum is several, so that none need
wait for the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.types.dims import product, remainder
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .eliminate import WIDE, Elimination
from .library import offset, split


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


class Solution(Elimination):
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target)
        (self.out,) = self.outs.values()
        self.a, self.b = self.operands
        self.dims = self.anchor.result_specs[0].dims
        self.columns = self.dims[-1]

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
                self.eliminate(upper, factors, self.swap_in_result)
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

    def swap_in_result(self, k: SSAValue, best: SSAValue) -> None:
        """Exchange two rows of the result."""
        one, other = (self.in_result(i) for i in (k, best))

        def body(at: Index, mask: SSAValue | None) -> None:
            self.exchange(self.out, self.loops.add(one, at), self.loops.add(other, at), mask)

        self.over(self.columns, body)

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
            chains = WIDE // len(masks)
            whole = loops.multiply(loops.divide(outer.index, chains), chains)

            def less(total: Sequence[SSAValue], behind: Index) -> list[SSAValue]:
                other = place(loops.index(behind))
                factor = self.element(triangle, row, other)
                rows = [
                    self.load(self.out, at, self.lanes, mask)
                    for at, mask in zip(vectors(other), masks, strict=True)
                ]
                return self.less_each(total, factor, rows)

            sums = self.several(start, chains, whole, less)
            with loops.loop(whole, outer.index, 1, sums) as inner:
                inner.carry(*less(inner.values, inner.index))
            self.finish_row(triangle, row, inner.results, (vectors(row), masks))

    def several(
        self, start: Sequence[SSAValue], chains: int, end: Index,
        less: Callable[[Sequence[SSAValue], Index], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:  # fmt: skip
        """Take what stands before an end from some sums, in chains that do not wait for others."""
        loops, math, count = self.loops, self.math, len(start)
        zero = math.spread(math.constant(0.0, self.dtype), self.lanes).value
        with loops.loop(0, end, chains, [*start, *[zero] * (count * (chains - 1))]) as inner:
            made: list[SSAValue] = []
            for chain in range(chains):
                own = inner.values[chain * count : chain * count + count]
                made += less(own, loops.add(inner.index, chain))
            inner.carry(*made)
        sums = [Element(x, self.dtype, self.lanes) for x in inner.results]
        while len(sums) > count:
            half = len(sums) // 2
            sums = [math.add(x, y) for x, y in zip(sums[:half], sums[half:], strict=True)]
        return [x.value for x in sums]

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

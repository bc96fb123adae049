"""Determinants of matrices, their logarithms, and square roots of symmetric ones: Cholesky's.

    for unit in lo..hi                     parallel: the matrices
      a = the matrix, in scratch
      for k in 0..n                        determinants
        eliminate column k by the row with the largest element (`eliminate`)
        multiply by that element, its sign turned if rows were swapped

      for k in 0..n                        triangles: a is the transposed lower part
        a[k, ..] /= sqrt(a[k, k])
        for i in k+1..n
          a[i, i..] -= a[k, i] * a[k, i..]
      out = a transposed, NaN if one of the roots is not of a positive number

Behind a pivot of zero nothing counts: that is the determinant.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.types.dims import product
from ...ir.types.dtypes import bool_
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import returned_values
from .eliminate import Elimination
from .library import offset, split


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a factorisation."""
    names = {value.owner.name for value in returned_values(kernel)}  # type: ignore[union-attr]
    kind = Triangle if names == {"gv.cholesky"} else Determinant
    return kind(kernel, target).build()


class Factorisation(Elimination):
    """Builds a kernel that has nothing but matrices."""

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, dims = self.loops, self.anchor.specs[0].dims
        self.scratch, top = loops.scratch(self.dtype, self.rows * self.row)
        with loops.loop(loops.lo, loops.hi) as unit:
            a = offset(loops, split(loops, unit.index, dims[:-2]), dims)
            self.unit(unit.index, a, top)
        return loops.finish(product(dims[:-2]))

    def unit(self, number: SSAValue, a: Index, top: Index) -> None:
        """Do one matrix, by its number and where it begins."""
        raise NotImplementedError

    def number(self, value: float) -> Element:
        """Return a number."""
        return self.math.constant(value, self.dtype)


class Determinant(Factorisation):
    """Builds a kernel of determinants, or of their signs and logarithms."""

    def unit(self, number: SSAValue, a: Index, top: Index) -> None:
        """Multiply the pivots of one matrix."""
        loops, results = self.loops, self.anchor.results
        self.fill(a, top)
        start = [self.number(1.0).value, self.number(0.0).value][: len(results)]
        with loops.loop(0, self.rows, 1, start) as one:
            pivot = self.eliminated(one.index, top)
            one.carry(*(x.value for x in self.with_pivot(one.values, pivot)))
        for value, made in zip(results, one.results, strict=True):
            if value in self.outs:
                loops.store(made, self.outs[value], number)

    def eliminated(self, k: SSAValue, top: Index) -> Element:
        """Take rows from those below them, and return the pivot, its sign turned by a swap."""
        loops, math = self.loops, self.math
        best = self.pivot(k, top)
        moved = loops.compare("ne", best, k)
        with loops.when(moved):
            self.swap_in_scratch(k, best, (top,))
        row, first = self.place(top, k), self.vector_of(k)
        pivot = self.load(self.scratch, loops.add(row, k), 0)
        with (
            loops.when(math.compare("ne", pivot, self.number(0.0)).value),
            loops.loop(loops.add(k, 1), self.rows) as one,
        ):
            here = self.place(top, one.index)
            factor = math.div(self.load(self.scratch, loops.add(here, k), 0), pivot)
            self.take(here, factor, row, first)
        return math.select(Element(moved, bool_, 0), math.neg(pivot), pivot)

    def with_pivot(self, values: Sequence[SSAValue], pivot: Element) -> list[Element]:
        """Return what a pivot makes of what those before it have made."""
        math, zero = self.math, self.number(0.0)
        before = Element(values[0], self.dtype, 0)
        is_over = math.compare("eq", before, zero)
        if len(values) == 1:
            return [math.select(is_over, before, math.mul(before, pivot))]
        is_less, is_more = (math.compare(how, pivot, zero) for how in ("lt", "gt"))
        sign = math.select(
            is_less, self.number(-1.0), math.select(is_more, self.number(1.0), pivot)
        )
        size = Element(values[1], self.dtype, 0)
        found = math.add(size, math.log(math.abs(pivot)))
        return [
            math.select(is_over, before, math.mul(before, sign)),
            math.select(is_over, size, found),
        ]


class Triangle(Factorisation):
    """Builds a kernel of lower triangles."""

    def unit(self, number: SSAValue, a: Index, top: Index) -> None:
        """Make the triangle of one matrix."""
        loops, math = self.loops, self.math
        self.turn(a, top)
        with loops.loop(0, self.rows, 1, [self.number(1.0).value]) as one:
            size = self.root(one.index, top)
            is_right = math.compare("gt", size, self.number(0.0))
            before = Element(one.values[0], self.dtype, 0)
            one.carry(math.select(is_right, before, self.number(float("nan"))).value)
        self.put(a, top, Element(one.results[0], self.dtype, 0))

    def turn(self, a: Index, top: Index) -> None:
        """Put the lower part of a matrix into scratch, transposed."""
        loops, zero = self.loops, self.math.spread(self.number(0.0), self.lanes).value
        with loops.loop(0, self.rows) as one:
            with loops.loop(0, self.row, self.lanes) as each:
                loops.store(zero, self.scratch, self.place(top, one.index, each.index))
            with loops.loop(one.index, self.rows) as below:
                at = loops.add(loops.multiply(below.index, self.rows), one.index)
                x = loops.load(self.operands[0], loops.add(a, at), 0)
                loops.store(x, self.scratch, self.place(top, one.index, below.index))

    def root(self, k: SSAValue, top: Index) -> Element:
        """Finish row k, take its multiples from those below, and return what its root is of."""
        loops, math = self.loops, self.math
        row, first = self.place(top, k), self.vector_of(k)
        size = self.load(self.scratch, loops.add(row, k), 0)
        root = math.sqrt(size)
        wide = math.spread(root, self.lanes)
        with loops.loop(first, self.row, self.lanes) as column:
            at = loops.add(row, column.index)
            x = math.div(self.load(self.scratch, at, self.lanes), wide)
            loops.store(x.value, self.scratch, at)
        loops.store(root.value, self.scratch, loops.add(row, k))
        with loops.loop(loops.add(k, 1), self.rows) as one:
            factor = self.load(self.scratch, loops.add(row, one.index), 0)
            self.take(self.place(top, one.index), factor, row, self.vector_of(one.index))
        return size

    def put(self, a: Index, top: Index, is_right: Element) -> None:
        """Write a triangle, NaN where `is_right` is not 1, and zeros beside it."""
        loops, math, zero = self.loops, self.math, self.number(0.0)
        (out,) = self.outs.values()
        with loops.loop(0, self.rows) as one:
            here, end = loops.add(a, loops.multiply(one.index, self.rows)), loops.add(one.index, 1)
            with loops.loop(0, end) as left:
                x = self.load(self.scratch, self.place(top, left.index, one.index), 0)
                loops.store(math.mul(x, is_right).value, out, loops.add(here, left.index))
            with loops.loop(end, self.rows) as right:
                loops.store(zero.value, out, loops.add(here, right.index))

"""Triangles of matrices, determinants, their logarithms, and Cholesky's roots of symmetric ones.

    for unit in lo..hi                     parallel: the matrices
      a = the matrix, in scratch
      for k in 0..n                        determinants
        eliminate column k by the row with the largest element (`eliminate`)
        multiply by that element, its sign turned if rows were swapped

      for k in 0..n                        triangles whose product is the matrix, rows exchanged
        eliminate column k, and keep what rows were multiplied by
      out = the factors below the diagonal, what is left of a elsewhere

      for k in 0..n                        roots: a is the transposed lower part
        a[k, ..] /= sqrt(a[k, k])
        for i in k+1..n
          a[i, i..] -= a[k, i] * a[k, i..]
      out = a transposed, NaN if one of the roots is not of a positive number

Behind a pivot of zero nothing counts: that is the determinant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir.types.dims import product
from ...ir.types.dtypes import i32, i64
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import returned_values
from .eliminate import Elimination
from .library import offset, split


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a factorisation."""
    names = {value.owner.name for value in returned_values(kernel)}  # type: ignore[union-attr]
    (name,) = names
    return KINDS.get(name, Determinant)(kernel, target).build()


class Factorisation(Elimination):
    """Builds a kernel that has nothing but matrices."""

    MATRICES: ClassVar = 1
    """How many of them lie in scratch."""

    def build(self) -> FuncOp:
        """Fill the function."""
        loops, dims = self.loops, self.anchor.specs[0].dims
        size = self.MATRICES * self.rows * self.row
        self.scratch, top = loops.scratch(self.dtype, size)
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

    MATRICES: ClassVar = 2

    def unit(self, number: SSAValue, a: Index, top: Index) -> None:
        """Multiply the pivots of one matrix."""
        loops, results = self.loops, self.anchor.results
        self.fill(a, top)
        start = [self.number(1.0).value, self.number(0.0).value][: len(results)]
        factors = loops.add(top, self.rows * self.row)
        found = self.eliminate(top, factors, lambda k, best: None, start, self.with_pivot)
        for value, made in zip(results, found, strict=True):
            if value in self.outs:
                loops.store(made, self.outs[value], number)

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


class Triangles(Factorisation):
    """Builds a kernel of both triangles in one matrix, and which row each of theirs was."""

    MATRICES: ClassVar = 2

    def unit(self, number: SSAValue, a: Index, top: Index) -> None:
        """Take one matrix apart."""
        loops, (both, order) = self.loops, self.anchor.results
        factors = loops.add(top, self.rows * self.row)
        self.fill(a, top)
        places, first = self.outs.get(order), loops.multiply(number, self.rows)

        def swap(k: SSAValue, best: SSAValue) -> None:
            if places is not None:
                one, other = (loops.add(first, i) for i in (k, best))
                x, y = (loops.load(places, at, 0, constant=False) for at in (one, other))
                loops.store(y, places, one)
                loops.store(x, places, other)

        if places is not None:
            with loops.loop(0, self.rows) as one:
                place = self.math.from_index(one.index, i64, 0).value
                loops.store(place, places, loops.add(first, one.index))
        self.eliminate(top, factors, swap)
        if both in self.outs:
            self.put(self.outs[both], a, top, factors)

    def put(self, out: SSAValue, a: Index, top: Index, factors: Index) -> None:
        """Write what is left and, below the diagonal, what rows were multiplied by."""
        loops, math = self.loops, self.math
        with loops.loop(0, self.rows) as one:
            here = loops.add(a, loops.multiply(one.index, self.rows))
            diagonal = math.from_index(one.index, i32, 0)

            def body(at: Index, mask: SSAValue | None) -> None:
                lower, upper = (
                    self.load(self.scratch, self.place(matrix, one.index, at), self.lanes)
                    for matrix in (factors, top)
                )
                lane = math.from_index(loops.step(self.lanes), i32, self.lanes)
                column = math.add(math.from_index(loops.index(at), i32, 0), lane)
                x = math.select(math.compare("lt", column, diagonal), lower, upper)
                loops.store(x.value, out, loops.add(here, at), mask)

            self.over(self.rows, body)


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
            self.less_row(self.place(top, one.index), factor, row, self.vector_of(one.index))
        return size

    def less_row(self, here: Index, factor: Element, row: Index, first: Index) -> None:
        """Take a multiple of one row from another, both given by where they begin, from a vector.

        `first` is the column of its first element.
        """
        loops = self.loops
        with loops.loop(first, self.row, self.lanes) as column:
            x = self.load(self.scratch, loops.add(row, column.index), self.lanes)
            at = loops.add(here, column.index)
            left = self.less(self.load(self.scratch, at, self.lanes), factor, x)
            loops.store(left.value, self.scratch, at)

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


KINDS: dict[str, type[Factorisation]] = {"gv.cholesky": Triangle, "gv.lu": Triangles}
"""What builds the kernel of an operation, where that is not one of pivots alone."""

"""Fourier transforms of many rows: each lane has a row of its own.

    for unit in lo..hi                     parallel: blocks of L rows
      here = x[rows of the block], turned  numbers lie one behind the other, their rows side by side
      for each stage (radix r)             done: product of radices before; rest: of those behind
        for p in 0..rest
          for k in 0..done
            there[.., k, p] = butterfly of here[k, .., p], times what the table has for p
                              (in the first, of what it is divided by the parts)
        here and there change places
      for k in 0..n + 1                    of a half: even and odd places told apart
        there[k] = here[k] and here[n - k] put together; here and there change places
      out[rows of the block] = here, turned back

Stages are in Stockham's form, which needs no bit reversal. Of a block that is not full the lanes
without a row compute what nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.compose.fourier import BUTTERFLIES, factors
from ...ir.dialects import kernel as gvk
from ...ir.ops.fourier import turns
from ...ir.types.dims import ceil_divide, product
from ...ir.types.dtypes import f32
from ...target import Target
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .builder.plan import open_kernel, returned_values


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of transforms."""
    return Transforms(kernel, target).build()


@dataclass(frozen=True)
class Number:
    """A complex number in each lane."""

    math: LoopsMath
    real: Element
    imag: Element

    def __add__(self, other: Number) -> Number:
        math = self.math
        return Number(math, math.add(self.real, other.real), math.add(self.imag, other.imag))

    def __sub__(self, other: Number) -> Number:
        math = self.math
        return Number(math, math.sub(self.real, other.real), math.sub(self.imag, other.imag))

    def scaled(self, factor: float) -> Number:
        """Multiply by a real number."""
        math = self.math
        number = math.constant(factor, self.real.dtype)
        return Number(math, math.mul(self.real, number), math.mul(self.imag, number))

    def turned(self) -> Number:
        """Multiply by the imaginary unit."""
        return Number(self.math, self.math.neg(self.imag), self.real)

    def times(self, other: Number) -> Number:
        """Multiply by a complex number."""
        math = self.math
        real = math.sub(math.mul(self.real, other.real), math.mul(self.imag, other.imag))
        imag = math.add(math.mul(self.real, other.imag), math.mul(self.imag, other.real))
        return Number(math, real, imag)


Butterfly: TypeAlias = Callable[[Sequence[Number], int], Sequence[Number]]
"""A transform of few numbers, of which the sign of the exponent is said."""


@dataclass(frozen=True)
class Stage:
    """One stage: its radix, what is done before it and is left behind it, where its table is."""

    radix: int
    done: int
    rest: int
    table: int


def stages(count: int) -> list[Stage]:
    """Return the stages of a length."""
    found, done, table = [], 1, 0
    for radix in factors(count):
        rest = count // (done * radix)
        found.append(Stage(radix, done, rest, table))
        done *= radix
        table += 2 * rest * (radix - 1)
    return found


class Transforms:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        assert isinstance(root.owner, Op), "the root is an operation"
        self.anchor = root.owner
        self.loops, _, (self.out,) = open_kernel(kernel, target)
        self.math = LoopsMath(self.loops)
        given = kernel.body.block.args
        self.x, self.table = (self.loops.buffers[given.index(v)] for v in self.anchor.operands)
        spec = self.anchor.specs[0]
        self.dtype = spec.dtype
        self.lanes = target.lanes if self.dtype is f32 else max(target.lanes // 2, 1)
        self.rows = product(spec.dims[:-2])
        count = spec.dims[-2]
        assert isinstance(count, int), "the length is known"
        self.count = count
        attributes = self.anchor.plain_attributes()
        self.sign = 1 if attributes["inverse"] else -1
        self.half: bool = attributes["half"]
        self.parts: int = attributes["parts"]

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        area = 2 * (self.count + self.half) * self.lanes
        self.scratch, start = loops.scratch(self.dtype, 2 * area)
        with loops.loop(loops.lo, loops.hi) as unit:
            first = loops.multiply(unit.index, self.lanes)
            left = loops.subtract(loops.index(self.rows), first)
            rows = loops.index(loops.minimum(left, self.lanes))
            here, there = start, loops.add(start, area)
            self.turn(first, here, rows, back=False)
            for stage in stages(self.count):
                self.stage(stage, here, there)
                here, there = there, here
            if self.half:
                self.tell_apart(here, there)
                here = there
            self.turn(first, here, rows, back=True)
        return loops.finish(ceil_divide(self.rows, self.lanes))

    def turn(self, first: Index, scratch: Index, count: SSAValue, *, back: bool) -> None:
        """Bring rows from the first one on to scratch, or back from there."""
        loops, width = self.loops, 2 * (self.count + (self.half and back))
        begin = loops.multiply(first, width)
        with loops.loop(0, width, self.lanes) as one:
            columns = loops.index(loops.minimum(loops.subtract(width, one.index), self.lanes))
            at = loops.index(loops.add(begin, one.index))
            outside = (self.out if back else self.x, at, loops.index(width))
            place = loops.add(scratch, loops.multiply(one.index, self.lanes))
            inside = (self.scratch, loops.index(place), loops.index(self.lanes))
            if back:
                made = gvk.TransposeTile(inside, outside, columns, count, lanes=self.lanes)
            else:
                made = gvk.TransposeTile(outside, inside, count, columns, lanes=self.lanes)
            loops.here(made)

    def tell_apart(self, here: Index, there: Index) -> None:
        """Make half the transform of a row of that of its pairs of neighbours."""
        loops, math, count = self.loops, self.math, self.count
        table = 2 * (len(turns(count, half=True)) - count - 1)
        with loops.loop(0, count + 1) as one:
            ends = (one.index, loops.subtract(count, one.index))
            forward, back = (
                self.load(here, loops.remainder(place, count), 1, 0).scaled(0.5) for place in ends
            )
            at = loops.add(loops.multiply(one.index, 2), table)
            turn = self.turned_by(at)
            mirrored = Number(math, back.real, math.neg(back.imag))
            odd = (forward - mirrored).times(turn).turned()
            self.store(forward + mirrored - odd, there, one.index, 1, 0)

    def stage(self, stage: Stage, here: Index, there: Index) -> None:
        """Carry out one stage."""
        loops, butterfly = self.loops, cast("Butterfly", BUTTERFLIES[stage.radix])
        with loops.loop(0, stage.rest) as rest:
            factors_ = self.factors(stage, rest.index) if stage.rest > 1 else []
            with loops.loop(0, stage.done) as done:
                first = loops.multiply(done.index, stage.radix)
                given = [
                    self.load(here, loops.add(first, i), stage.rest, rest.index)
                    for i in range(stage.radix)
                ]
                if stage.done == 1 and self.parts > 1:
                    given = [number.scaled(1 / self.parts) for number in given]
                made = butterfly(given, self.sign)
                for i, number in enumerate(made):
                    whole = number.times(factors_[i - 1]) if i and factors_ else number
                    row = loops.add(done.index, i * stage.done)
                    self.store(whole, there, row, stage.rest, rest.index)

    def factors(self, stage: Stage, place: Index) -> Sequence[Number]:
        """Return what the results of a butterfly are multiplied by, but for the first."""
        loops, width = self.loops, 2 * (stage.radix - 1)
        at = loops.add(loops.multiply(place, width), stage.table)
        return [self.turned_by(loops.add(at, i)) for i in range(0, width, 2)]

    def turned_by(self, at: Index) -> Number:
        """Return a number of the table for every lane."""
        loops = self.loops
        parts = [
            Element(loops.load(self.table, loops.add(at, i), 0), self.dtype, 0) for i in (0, 1)
        ]
        return Number(self.math, *(self.math.spread(x, self.lanes) for x in parts))

    def place(self, area: Index, row: Index, rest: int, column: Index) -> Index:
        """Return where a number of scratch is, of rows of so many."""
        loops = self.loops
        number = loops.add(loops.multiply(row, rest), column)
        return loops.add(area, loops.multiply(number, 2 * self.lanes))

    def load(self, area: Index, row: Index, rest: int, column: Index) -> Number:
        """Read a number of each lane."""
        loops, at = self.loops, self.place(area, row, rest, column)
        parts = [
            Element(
                loops.load(self.scratch, loops.add(at, i * self.lanes), self.lanes, constant=False),
                self.dtype, self.lanes,
            )
            for i in range(2)
        ]  # fmt: skip
        return Number(self.math, *parts)

    def store(self, number: Number, area: Index, row: Index, rest: int, column: Index) -> None:
        """Write a number of each lane."""
        loops, at = self.loops, self.place(area, row, rest, column)
        loops.store(number.real.value, self.scratch, at)
        loops.store(number.imag.value, self.scratch, loops.add(at, self.lanes))

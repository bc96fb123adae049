"""Attention for any type, by products of elements in f32.

    block: 4 warps x 8 queries, of one batch               many queries
      for keys, 32 at a time
        K[32, D], V[32, E] = shared                        brought by all threads
        each lane, of one key: score[8] = Q . K[lane]      Q in shared memory
        weights = exp(score - largest so far)              to shared memory, for the lanes
        each lane, of some columns: out[8] += weights V

    block: up to 4 queries, of one batch                   few queries: decoding
      each of 8 warps: every eighth 32 keys                K and V from memory, each read once
      the parts of the warps are put together              through shared memory

A key has a lane, so that the 8 queries of a warp use what is loaded of it, and a largest score
takes five shuffles for 32 keys. Eight queries of 128 columns are 32 sums a thread. Few queries
have no use for shared memory: nothing is read twice. What shares keys and values (heads of a group)
counts as queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32 as float_type
from xdsl.dialects.builtin import i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ....ir.dialects.gpu import WARP, Barrier, WarpBarrier
from ....ir.types.dims import Dim, ceil_divide, remainder
from ....ir.types.dtypes import f32
from ....target import Target
from ...kernels.builder.combine import across_lanes
from ...kernels.builder.elements import Element
from ...kernels.builder.loops import Index
from ..products.nest import Side
from ..products.tile import extracted
from .base import MATRICES, AttentionTemplate

LANES = 4
"""Elements of a vector along the depth."""
FEW = 4
"""Queries whose block shares the keys among its warps."""
TALL = 8
"""Queries of a warp where there are many."""
DISTANCES = (16, 8, 4, 2, 1)
"""Of threads whose values are put together over a warp."""


class Attend(AttentionTemplate):
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        super().__init__(kernel, target)
        self.few = isinstance(self.rows, int) and self.rows <= FEW
        self.warps = 8 if self.few else 4
        self.tall = int(self.rows) if self.few else TALL  # type: ignore[arg-type]
        self.step = max(
            n for n in (4, 2, 1) if (self.width % n == 0 and self.width >= n * WARP) or n == 1
        )
        self.open_sides((LANES, LANES, self.step))
        q, k, v = self.sides[:MATRICES]
        if self.few and q.lanes != k.lanes:
            self.open_sides((0, 0, self.step))
        if self.few and max(1, v.lanes) != self.step:
            self.step = 1
            self.open_sides((q.lanes, k.lanes, 0))
        self.lanes = LANES if not self.few or k.lanes else 1
        self.chunks = -(-self.width // (WARP * self.step))

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        height = self.tall if self.few else self.tall * self.warps
        blocks = ceil_divide(self.rows, height)
        self.lay_out()
        with loops.loop(loops.lo, loops.hi) as unit:
            self.first = loops.multiply(self.enter(unit.index, blocks), height)
            self.mine: Index = 0 if self.few else loops.multiply(self.warp, self.tall)
            state = self.own_keys() if self.few else self.all_keys(height)
            self.put_together(state) if self.few else self.store(state)
        return self.finish(blocks, self.warps * WARP)

    def lay_out(self) -> None:
        """Take the shared memory."""
        lines = self.warps * self.tall
        self.weights = self.memory(float_type, lines * WARP, 4)
        if self.few:
            self.states = self.memory(float_type, 2 * lines, 4)
            self.sums = self.memory(float_type, lines * self.width, 4)
            return
        self.padded = -(-self.depth // LANES) * LANES
        self.pitch = self.padded + LANES
        self.wide = self.chunks * WARP * self.step
        self.q = self.memory(float_type, lines * self.pitch, 4)
        self.k = self.memory(float_type, WARP * self.pitch, 4)
        self.v = self.memory(float_type, WARP * self.wide, 4)

    def all_keys(self, height: int) -> list[SSAValue]:
        """Walk the keys, which all warps share; return the state of this warp's queries."""
        loops = self.loops
        q, k, v = self.sides[:MATRICES]
        self.bring(q, self.q, (self.first, self.rows, height), (self.depth, self.pitch))
        last = loops.minimum(loops.add(self.first, height), loops.index(self.rows))
        high = self.seen(loops.subtract(last, 1))
        with loops.loop(*self.span(high), WARP, self.begin()) as one:
            loops.here(Barrier())
            self.bring(k, self.k, (one.index, self.keys, WARP), (self.depth, self.pitch))
            self.bring(v, self.v, (one.index, self.keys, WARP), (self.width, self.wide))
            loops.here(Barrier())
            one.carry(*self.weigh(one.values, one.index))
        return list(one.results)

    def own_keys(self) -> list[SSAValue]:
        """Walk the keys of this warp; return its part of the state."""
        loops = self.loops
        low, high = self.span(self.seen(loops.subtract(loops.index(self.rows), 1)))
        low = loops.add(low, loops.multiply(self.warp, WARP))
        with loops.loop(low, high, WARP * self.warps, self.begin()) as one:
            one.carry(*self.weigh(one.values, one.index))
        return list(one.results)

    def bring(
        self, side: Side, buffer: SSAValue, rows: tuple[Index, Dim, int], columns: tuple[int, int]
    ) -> None:
        """Write rows of an operand to shared memory as f32, zero where it has none."""
        loops, lanes = self.loops, max(1, side.lanes)
        start, extent, count = rows
        width, pitch = columns
        across = -(-(pitch if side is self.sides[2] else self.padded) // lanes)
        zero = self.math.spread(self.math.constant(0, f32), side.lanes)
        with loops.loop(loops.slot, count * across, self.warps * WARP) as one:
            line = loops.divide(one.index, across)
            column = loops.multiply(loops.remainder(one.index, across), lanes)
            row = loops.add(start, line)
            inside = [loops.compare("slt", row, loops.index(extent))]
            if across * lanes != width:
                inside.append(loops.compare("slt", column, width))
            row = loops.minimum(row, loops.subtract(loops.index(extent), 1))
            element = side.element(row, loops.minimum(column, width - lanes))
            element = self.math.cast(element, f32)
            for condition in inside:
                element = self.chosen(condition, element, zero)
            at = loops.add(loops.multiply(line, pitch), column)
            loops.store(element.value, buffer, at)

    # -- one tile of keys ---------------------------------------------------------------------

    def begin(self) -> list[SSAValue]:
        """Return the state of queries that saw nothing: largest, sums, and weighed values."""
        math = self.math
        most, zero = math.constant(-float("inf"), f32), math.constant(0, f32)
        wide = math.spread(zero, self.step if self.step > 1 else 0)
        return (
            [most.value] * self.tall
            + [zero.value] * self.tall
            + [wide.value] * (self.tall * self.chunks)
        )

    def weigh(self, state: Sequence[SSAValue], low: Index) -> list[SSAValue]:
        """Take in 32 keys."""
        loops, math, tall = self.loops, self.math, self.tall
        key = loops.add(low, self.lane)
        most, total = ([Element(x, f32, 0) for x in part] for part in (state[:tall], state[tall:]))
        made: list[SSAValue] = []
        sums: list[SSAValue] = []
        loops.here(WarpBarrier())
        parts: list[tuple[Element, Element]] = []
        for number, product in enumerate(self.products(key)):
            row = loops.minimum(self.row(number), loops.subtract(loops.index(self.rows), 1))
            x = self.score(product, row, key)
            largest = math.greater(most[number], self.over_warp("max", x, DISTANCES))
            shift = self.shift(largest)
            by = self.power(math.sub(most[number], shift))
            weight = self.power(math.sub(x, shift))
            loops.store(weight.value, self.weights, loops.add(self.line(number), self.lane))
            made.append(largest.value)
            sums.append(math.fma(total[number], by, weight).value)
            parts.append((weight, by))
        loops.here(WarpBarrier())
        values = self.scaled(state[2 * tall :], [by for _, by in parts])
        return [*made, *sums, *self.weighed(values, low)]

    def row(self, number: int) -> Index:
        """Return one of the queries of this warp."""
        return self.loops.add(self.first, self.loops.add(self.mine, number))

    def line(self, number: int) -> Index:
        """Return where the weights of a query are."""
        own = self.loops.multiply(self.warp, self.tall)
        return self.loops.multiply(self.loops.add(own, number), WARP)

    def products(self, key: Index) -> list[Element]:
        """Return the products of all queries of this warp and the key of this lane."""
        loops, math = self.loops, self.math
        last = loops.subtract(loops.index(self.keys), 1)
        q, k = self.sides[:2]
        lanes = self.lanes if self.lanes > 1 else 0
        zero = math.spread(math.constant(0, f32), lanes)
        depth = self.depth if self.few else self.padded
        with loops.loop(0, depth, self.lanes, [zero.value] * self.tall) as one:
            if self.few:
                there = math.cast(k.element(loops.minimum(key, last), one.index), f32)
            else:
                there = self.loaded(self.k, self.lane, one.index)
            sums = []
            for number, value in enumerate(one.values):
                if self.few:
                    here = math.cast(q.element(self.row(number), one.index), f32)
                else:
                    here = self.loaded(self.q, loops.add(self.mine, number), one.index)
                sums.append(math.fma(here, there, Element(value, f32, lanes)).value)
            one.carry(*sums)
        return [across_lanes(loops, "add", Element(x, f32, lanes)) for x in one.results]

    def loaded(self, buffer: SSAValue, line: Index, depth: Index) -> Element:
        """Return a vector of queries or keys in shared memory."""
        at = self.loops.add(self.loops.multiply(line, self.pitch), depth)
        return Element(self.loops.load(buffer, at, LANES, constant=False), f32, LANES)

    def scaled(self, values: Sequence[SSAValue], by: Sequence[Element]) -> list[SSAValue]:
        """Return the weighed values of all queries, each times a number of its query."""
        math, lanes = self.math, self.step if self.step > 1 else 0
        return [
            math.mul(Element(value, f32, lanes), math.spread(by[i // self.chunks], lanes)).value
            for i, value in enumerate(values)
        ]

    def weighed(self, values: Sequence[SSAValue], low: Index) -> list[SSAValue]:
        """Add 32 values, each times its weight."""
        loops, math, chunks = self.loops, self.math, self.chunks
        lanes = self.step if self.step > 1 else 0
        with loops.loop(0, WARP, LANES, values) as one:
            sums = list(one.values)
            weights = [
                loops.load(self.weights, loops.add(self.line(n), one.index), LANES, constant=False)
                for n in range(self.tall)
            ]
            for number in range(LANES):
                found = [self.value(low, loops.add(one.index, number), c) for c in range(chunks)]
                for line, some in enumerate(weights):
                    weight = Element(extracted(loops, some, number), f32, 0)
                    for c, value in enumerate(found):
                        at = line * chunks + c
                        total = Element(sums[at], f32, lanes)
                        sums[at] = math.fma(math.spread(weight, lanes), value, total).value
            one.carry(*sums)
        return list(one.results)

    def column(self, chunk: int) -> Index:
        """Return the first column of a vector of this lane."""
        return self.loops.multiply(self.loops.add(self.lane, chunk * WARP), self.step)

    def value(self, low: Index, key: Index, chunk: int) -> Element:
        """Return a vector of a value, for the key of a number from the first of the tile."""
        loops, lanes = self.loops, self.step if self.step > 1 else 0
        if not self.few:
            at = loops.add(loops.multiply(key, self.wide), self.column(chunk))
            return Element(loops.load(self.v, at, lanes, constant=False), f32, lanes)
        last = loops.subtract(loops.index(self.keys), 1)
        row = loops.minimum(loops.add(low, key), last)
        column = loops.minimum(self.column(chunk), self.width - self.step)
        return self.math.cast(self.sides[2].element(row, column), f32)

    # -- results ------------------------------------------------------------------------------

    def store(self, state: Sequence[SSAValue]) -> None:
        """Divide by the sums of weights, and write."""
        math, tall = self.math, self.tall
        lanes = self.step if self.step > 1 else 0
        for number in range(tall):
            total = self.over_warp("add", Element(state[tall + number], f32, 0), DISTANCES)
            row = self.row(number)
            if self.part_keys:
                with self.only_inside(row, self.lane), self.by_first(self.lane):
                    self.store_state(Element(state[number], f32, 0), total, row)
            by = math.spread(self.quotient(total), lanes)
            for chunk in range(self.chunks):
                value = Element(state[2 * tall + number * self.chunks + chunk], f32, lanes)
                value = value if self.part_keys else math.mul(value, by)
                with self.only_inside(row, self.column(chunk)):
                    self.store_columns(value, row, self.column(chunk))

    def store_columns(self, value: Element, row: Index, column: Index) -> None:
        """Write a vector; rows of parts are not as long as whole vectors."""
        if not (self.part_keys and value.lanes):
            self.results.store(value, row, column)
            return
        for number in range(value.lanes):
            one = Element(extracted(self.loops, value.value, number), f32, 0)
            self.results.store(one, row, self.loops.add(column, number))

    def store_state(self, most: Element, total: Element, row: Index) -> None:
        """Write the largest score and the sum of weights of a part, behind its values."""
        self.results.store(most, row, self.width)
        self.results.store(total, row, self.width + 1)

    def by_first(self, number: Index) -> AbstractContextManager[None]:
        """Open what only the first of some threads does."""
        return self.loops.when(self.loops.compare("eq", number, 0))

    def only_inside(self, row: Index, column: Index) -> AbstractContextManager[None]:
        """Open what only happens where there is a query and a column."""
        loops = self.loops
        inside = []
        if not self.few and remainder(self.rows, self.tall * self.warps) != 0:
            inside.append(loops.compare("slt", row, loops.index(self.rows)))
        if self.chunks * WARP * self.step != self.width:
            inside.append(loops.compare("slt", column, self.width))
        if not inside:
            return nullcontext()
        both = loops.pure(arith.AndIOp, inside, i1) if len(inside) > 1 else inside[0]
        return loops.when(both)

    def put_together(self, state: Sequence[SSAValue]) -> None:
        """Put together what the warps have of each query, and write."""
        loops, tall = self.loops, self.tall
        lines = self.warps * tall
        for number in range(tall):
            line = loops.add(loops.multiply(self.warp, tall), number)
            total = self.over_warp("add", Element(state[tall + number], f32, 0), DISTANCES)
            with self.by_first(self.lane):
                loops.store(state[number], self.states, line)
                loops.store(total.value, self.states, loops.add(line, lines))
            for chunk in range(self.chunks):
                at = loops.add(loops.multiply(line, self.width), self.column(chunk))
                with self.only_inside(0, self.column(chunk)):
                    value = state[2 * tall + number * self.chunks + chunk]
                    loops.store(value, self.sums, at)
        loops.here(Barrier())
        with loops.loop(loops.slot, tall * self.width, lines // tall * WARP) as one:
            row = loops.divide(one.index, self.width)
            self.combined(row, loops.remainder(one.index, self.width))

    def combined(self, row: Index, column: Index) -> None:
        """Put together and write one element."""
        loops, math = self.loops, self.math
        lines = [loops.add(row, warp * self.tall) for warp in range(self.warps)]
        count = self.warps * self.tall
        most = [self.read(self.states, line) for line in lines]
        largest = most[0]
        for one in most[1:]:
            largest = math.greater(largest, one)
        shift = self.shift(largest)
        total = value = math.constant(0, f32)
        for line, one in zip(lines, most, strict=True):
            by = self.power(math.sub(one, shift))
            total = math.fma(by, self.read(self.states, loops.add(line, count)), total)
            at = loops.add(loops.multiply(line, self.width), column)
            value = math.fma(by, self.read(self.sums, at), value)
        if not self.part_keys:
            self.results.store(math.mul(value, self.quotient(total)), row, column)
            return
        self.results.store(value, row, column)
        with self.by_first(column):
            self.store_state(largest, total, row)

    def read(self, buffer: SSAValue, at: Index) -> Element:
        """Return an element of shared memory."""
        return Element(self.loops.load(buffer, at, 0, constant=False), f32, 0)

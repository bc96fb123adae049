"""Rows on a GPU: a warp, or a block of threads, walks one row together.

    block: row, or as many rows as there are warps; 32 rows that lie across memory
      for each reduction, in order          softmax: max; sum of exp
        each thread: its vectors of the row   in registers if they are few, else a loop
        threads of a warp by shuffles, warps through shared memory
      each thread: its vectors of the result, where it is as long as the row

What a thread computed of its vectors in one pass it still has in the next one, where they are in
registers: then the row is read once, and nothing is computed twice. The order of a sum is the same
in every run. Where neighbours in memory are of different rows, each thread of a warp has a row of
its own, and the warps of a block share them: a warp reads 32 neighbours at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.dialects.gpu import THREADS, WARP, Barrier, Shuffle
from ...ir.iteration import Iteration
from ...ir.types.dims import Dim, ceil_divide, product
from ...passes.analysis.kernels.choices import decide, shape_class
from ..kernels.builder.combine import COMBINERS, across_lanes, identity
from ..kernels.builder.elements import Element, computed
from ..kernels.builder.loops import Index
from ..kernels.builder.read import ElementReader
from ..kernels.builder.space import Group, Space, merge
from ..kernels.map import fitting_lanes, place
from ..kernels.rows import Rows, always
from .products.tile import shared

KEPT = 8
"""Vectors of a row that one thread keeps in registers."""
MEMBERS = 8
"""Warps that share 32 rows that lie across memory."""
WARPS = 4
"""Rows of a block whose warps have one each."""
FEW_ROWS = 1024
"""Below, a row has a block: warps alone would leave most of the device idle."""
LARGEST = 512
"""Threads of a block for rows that do not stay in registers."""


class GpuRows(Rows):
    """Builds one row kernel."""

    def group(self) -> None:
        """Merge the kept axes and the reduced ones apart; choose how many threads have a row."""
        accesses = [*self.plan.offsets, self.offset]
        inner = [t for a in self.axes for t in self.plan.axes[a].tokens]
        outer = [t for t in self.plan.tokens if t not in inner]
        self.outer = merge(outer, accesses, self.plan.alone)
        self.inner = merge(inner, accesses, self.plan.alone) or [Group(())]
        self.walked = self.inner[-1]
        self.lanes = fitting_lanes(self.walked.extent, self.lanes, even=True)
        self.space = Space([*self.outer, *self.inner], self.walked, self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        self.count = product(tuple(g.extent for g in self.outer))
        self.extent = product(tuple(g.extent for g in self.inner))
        self.across = self.lies_across()
        if self.across:
            self.vector_off()
            self.lanes = 0
            self.team = self.decided("columns", (4, MEMBERS, 16), MEMBERS)
        else:
            usual = team_size(self.count, self.extent, max(1, self.lanes))
            self.team = self.decided("rows", teams(self.extent, max(1, self.lanes)), usual)
        self.threads = WARP * WARPS if self.team == WARP else self.team
        if self.across:
            self.threads = WARP * self.team
        stride = self.team * max(1, self.lanes)
        turns = -(-self.extent // stride) if isinstance(self.extent, int) else None
        self.turns = turns if turns is not None and turns <= KEPT else None
        """How often a thread gets to its next vector, if all of them stay in registers."""
        self.kept_elements: list[dict[Any, Element]] = [{} for _ in range(self.turns or 0)]

    def decided(self, which: str, candidates: Sequence[int], usual: int) -> int:
        """Return how many threads, or warps, were measured to be best for such rows."""
        dtype = self.reductions[0].specs[0].dtype
        name = f"{which}_{dtype}_{shape_class(self.count, self.extent)}"
        return decide(self.target, name, candidates, usual)

    def lies_across(self) -> bool:
        """Say whether neighbours in memory are of different rows."""
        kept = [a for a, d in enumerate(self.shape) if a not in self.axes and d != 1]
        return bool(kept) and max(kept) > min(a for a in self.axes if self.shape[a] != 1)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        together = self.threads // self.team
        if self.across:
            self.member, own = loops.divide(loops.slot, WARP), loops.remainder(loops.slot, WARP)
        else:
            self.member = loops.remainder(loops.slot, self.team)
            own = loops.divide(loops.slot, self.team)
        with loops.loop(loops.lo, loops.hi) as unit:
            row = loops.add(loops.multiply(unit.index, together), own)
            spare = together > 1 and self.count % together != 0
            self.exists = loops.compare("slt", row, loops.index(self.count)) if spare else None
            if self.across:
                # All wait for each other: threads without a row take the last, and do not write.
                row = loops.minimum(row, loops.subtract(loops.index(self.count), 1))
                place(loops, self.outer, row)
                self.row()
            else:
                with self.only_if(self.exists):
                    self.exists = None
                    place(loops, self.outer, row)
                    self.row()
        blocks = ceil_divide(self.count, together)
        function = loops.finish(blocks)
        function.attributes[THREADS] = IntegerAttr(self.threads, 64)
        return function

    def row(self) -> None:
        """Walk one row as often as there are reductions, then write."""
        reader = self.reader
        reader.given = {}
        for op in self.reductions:
            total = self.reduced(op)
            reader.given[op.results[0]] = always(total)
            self.divide_once(op, total)
        if self.is_full:
            for _ in self.positions():
                with self.only_if(self.inside, self.exists):
                    self.store()
            return
        self.vector_off()
        with self.only_if(self.loops.compare("eq", self.member, 0), self.exists):
            self.store()

    def positions(self) -> Iterator[None]:
        """Go to each vector of this thread: `self.inside` says whether there is one, if unsure."""
        lanes = max(1, self.lanes)
        stride = self.team * lanes
        start = self.loops.multiply(self.member, lanes)
        if self.turns is None:
            with self.loops.loop(start, self.loops.index(self.extent), stride) as one:
                self.at(one.index)
                self.inside = None
                self.reader.fresh()
                yield
            return
        for turn in range(self.turns):
            at = self.loops.add(start, turn * stride)
            self.inside = None
            if (turn + 1) * stride > int(self.extent):  # type: ignore[arg-type]
                self.inside = self.loops.compare("slt", at, self.loops.index(self.extent))
                last = self.loops.subtract(self.loops.index(self.extent), lanes)
                at = self.loops.minimum(at, last)
            self.at(at)
            self.reader.known = self.kept_elements[turn]
            yield

    def at(self, position: Index) -> None:
        """Go to a position of the row."""
        place(self.loops, self.inner, position)

    def only_if(self, *conditions: SSAValue | None) -> AbstractContextManager[None]:
        """Open what only happens where all conditions hold that there are."""
        known = [each for each in conditions if each is not None]
        if not known:
            return nullcontext()
        return self.loops.when(
            known[0] if len(known) == 1 else self.loops.pure(arith.AndIOp, known, i1)
        )

    # -- reductions -----------------------------------------------------------------------

    def reduced(self, op: Op) -> Element:
        """Return the reduction of the current row, in every thread."""
        found = type(op).iteration(*op.specs, **op.plain_attributes())
        assert isinstance(found, Iteration), f"{op.name} has an iteration space"
        total = self.over_team(found.combiner, self.own(op, found.combiner))
        if found.finish is not None:
            finished = found.finish(self.reader.math, total)
            assert isinstance(finished, Element), f"{op.name}: finish gave {finished}"
            return finished
        return total

    def own(self, op: Op, combiner: str) -> Element:
        """Return what this thread's vectors combine to."""
        dtype = op.result_specs[0].dtype
        math = self.reader.math
        start = math.spread(math.constant(identity(combiner, dtype), dtype), self.lanes)
        if self.turns is None:
            return across_lanes(self.loops, combiner, self.looped(op, combiner, start))
        total: Element | None = None
        for _ in self.positions():
            element = self.one(op, start)
            total = element if total is None else COMBINERS[combiner](math, total, element)
        return across_lanes(self.loops, combiner, total or start)

    def one(self, op: Op, start: Element) -> Element:
        """Return the vector that a reduction takes in here, or what changes nothing."""
        element = self.reader.element(op.operands[0], self.plan.index)
        element = self.reader.math.cast(element, start.dtype)
        element = self.reader.math.spread(element, self.lanes)
        if self.inside is None:
            return element
        kind = start.value.type
        chosen = self.loops.pure(arith.SelectOp, (self.inside, element.value, start.value), kind)
        return Element(chosen, element.dtype, self.lanes)

    def looped(self, op: Op, combiner: str, start: Element) -> Element:
        """Return the same for rows that do not stay in registers."""
        loops, lanes = self.loops, max(1, self.lanes)
        low = loops.multiply(self.member, lanes)
        with loops.loop(low, loops.index(self.extent), self.team * lanes, [start.value]) as one:
            self.at(one.index)
            self.inside = None
            self.reader.fresh()
            total = Element(one.values[0], start.dtype, self.lanes)
            element = self.one(op, start)
            one.carry(COMBINERS[combiner](self.reader.math, total, element).value)
        return Element(one.results[0], start.dtype, self.lanes)

    def over_team(self, combiner: str, total: Element) -> Element:
        """Return the combination over the threads of a row."""
        loops, math = self.loops, self.reader.math
        if self.across:
            return self.over_warps(combiner, total)
        distance = min(self.team, WARP) // 2
        while distance:
            other = loops.here(Shuffle(total.value, distance))[0]
            total = COMBINERS[combiner](math, total, Element(other, total.dtype, 0))
            distance //= 2
        warps = self.team // WARP
        if warps <= 1:
            return total
        buffer = shared(loops, computed(total.dtype), warps)
        warp = loops.divide(loops.slot, WARP)
        with loops.when(loops.compare("eq", loops.remainder(loops.slot, WARP), 0)):
            loops.store(total.value, buffer, warp)
        loops.here(Barrier())
        return self.combined(combiner, total, buffer, range(warps))

    def over_warps(self, combiner: str, total: Element) -> Element:
        """Return the combination over the threads of a row, one of each warp."""
        loops = self.loops
        buffer = shared(loops, computed(total.dtype), self.threads)
        loops.store(total.value, buffer, loops.slot)
        loops.here(Barrier())
        own = loops.remainder(loops.slot, WARP)
        places = [loops.add(own, WARP * warp) for warp in range(self.team)]
        return self.combined(combiner, total, buffer, places)

    def combined(
        self, combiner: str, like: Element, buffer: SSAValue, places: Sequence[Index]
    ) -> Element:
        """Return the combination of what is in shared memory."""
        loops, math = self.loops, self.reader.math
        parts = [Element(loops.load(buffer, at, 0, constant=False), like.dtype, 0) for at in places]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [COMBINERS[combiner](math, a, b) for a, b in pairs]
        return parts[0]


def teams(length: Dim, lanes: int) -> Sequence[int]:
    """Return the teams whose threads have something of a row each, but for a last few."""
    most = -(-length // lanes) if isinstance(length, int) else LARGEST
    return [team for team in (32, 64, 128, 256, 512, 1024) if team < max(2 * most, 2 * WARP)]


def team_size(rows: Dim, length: Dim, lanes: int) -> int:
    """Return how many threads walk a row together: a warp, or a power of two of warps."""
    if not isinstance(length, int):
        return WARP * WARPS
    vectors = -(-length // lanes)
    few = isinstance(rows, int) and rows < FEW_ROWS
    team = WARP
    while team < 1024 and vectors > team * (1 if few and team < WARP * WARPS * 2 else KEPT):
        team *= 2
    return team if vectors <= team * KEPT else LARGEST

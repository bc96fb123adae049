"""Concatenation: each operand is written into its stretch of the result.

    for unit in lo..hi                     the dims before the axis; or, where those are one,
      for each operand                     the positions along the axis: each operand takes
        for v in its elements step L       the part of lo..hi that is its own, in runs that are
          out[.., start + v] = element(v)  as long as they are walked as one

Operands are read element by element, so that what makes them is fused in. A few elements side by
side have a file of their own: `by_turns`.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, product
from ...ir.types.indices import Indices, flatten
from ...ir.types.tensor import spec_of
from ...target import Target
from .builder.loops import Index
from .builder.plan import open_kernel, plan, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, join_repeats, merge
from .by_turns import ByTurns
from .map import fitting_lanes, over_vectors, place, walk_vectors


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a concatenation."""
    return Concat(kernel, target).build()


class Concat:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (root,) = returned_values(kernel)
        assert isinstance(root.owner, Op), "the root is an operation"
        assert root.owner.name == "gv.concat", f"{root.owner.name} is no concatenation"
        self.anchor, self.target = root.owner, target
        self.axis: int = self.anchor.plain_attributes()["axis"]
        self.result = spec_of(root.type).dims
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        self.before: Dim = product(self.result[: self.axis])

    def build(self) -> FuncOp:
        """Fill the function."""
        turns = ByTurns.of(self.anchor, self.loops, self.arguments, self.out)
        if turns is not None:
            return self.loops.finish(turns.build(self.result[: self.axis], self.target.lanes))
        start: Dim = 0
        units: Dim = 0
        for operand in self.anchor.operands:
            extent = spec_of(operand.type).dims[self.axis]
            if spec_of(operand.type).size != 0:
                units = OperandNest(self, operand, start).build(units)
            start = start + extent
        if self.loops.fine:
            return self.loops.finish(units)
        return self.loops.finish(self.result[self.axis] if self.before == 1 else self.before)


class OperandNest:
    """The nest of one operand."""

    def __init__(self, whole: Concat, operand: SSAValue, start: Dim) -> None:
        self.whole, self.operand, self.start = whole, operand, start
        self.loops = whole.loops
        self.dims = spec_of(operand.type).dims

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.visit(operand, index)

        self.plan = plan(self.dims, visit)
        index = self.plan.index
        axis = whole.axis
        moved = (*index[:axis], index[axis] + start, *index[axis + 1 :])
        self.offset = flatten(moved, whole.result)
        self.group()

    def group(self) -> None:
        """Merge the dims before the axis, the axis, and those behind it apart where needed."""
        accesses = [*self.plan.offsets, self.offset]
        axes, axis = self.plan.axes, self.whole.axis
        alone = self.plan.alone
        before = [t for a in axes[:axis] for t in a.tokens]
        rest = [t for a in axes[axis:] for t in a.tokens]
        self.before = merge(before, accesses, alone)
        self.is_row = False
        if self.whole.before == 1:
            self.is_row = not self.loops.fine and len(merge(rest, accesses, alone)) == 1
        self.along: list[Group] = []
        if self.whole.before == 1 and not self.is_row:
            self.along = merge(list(axes[axis].tokens), accesses, alone)
            rest = [t for a in axes[axis + 1 :] for t in a.tokens]
        self.inner = merge(rest, accesses, alone)
        if not self.loops.fine:
            self.inner = join_repeats(self.inner, self.plan.offsets, self.offset, alone)
        self.in_runs = not self.loops.fine and not self.inner and bool(self.along)
        rows = self.along if self.in_runs else self.inner
        self.walked = rows.pop() if rows else Group(())
        lanes = self.lanes()
        every = [*self.before, *self.along, *self.inner, self.walked]
        self.space = Space(every, self.walked, lanes)
        self.reader = ElementReader(self.loops, self.whole.arguments, self.space)

    def lanes(self) -> int:
        """Return the lanes to walk by: of a GPU, such that they never cross into a neighbour."""
        lanes = self.whole.target.lanes
        if not self.loops.fine:
            return fitting_lanes(self.walked.extent, lanes)
        return fitting_lanes(self.walked.extent, lanes, even=True)

    def build(self, units: Dim) -> Dim:
        """Open the loops of this operand's share of the units; return where the next one's begin.

        Where units are whole rows, all operands share them.
        """
        loops = self.loops
        if loops.fine:
            groups = [*self.before, *self.along, *self.inner]
            return over_vectors(loops, self.reader, groups, self.walked, self.store, units)
        low: Index = loops.lo
        high: Index = loops.hi
        if self.whole.before == 1:
            behind = product(self.dims[self.whole.axis + 1 :]) if self.is_row else 1
            extent, start = self.dims[self.whole.axis] * behind, self.start * behind
            given = loops.multiply(low, behind), loops.multiply(high, behind)
            low, high = self.within(given, loops.index(start), extent)
        if self.is_row:
            walk_vectors(loops, self.reader, self.walked, (low, high), self.store)
            return units
        if self.in_runs:
            self.runs(low, high)
            return units
        with loops.loop(low, high) as unit:
            place(loops, [*self.before, *self.along], unit.index)
            self.nest(0)
        return units

    def runs(self, low: Index, high: Index) -> None:
        """Walk a part of the axis, of which nothing lies behind, in runs that are walked as one."""
        loops, length = self.loops, self.walked.extent
        last = loops.divide(loops.add(high, loops.index(length - 1)), length)
        with loops.loop(loops.divide(loops.index(low), length), last) as run:
            place(loops, self.along, run.index)
            span = self.within((low, high), loops.multiply(run.index, length), length)
            walk_vectors(loops, self.reader, self.walked, span, self.store)

    def within(self, span: tuple[Index, Index], begin: Index, extent: Dim) -> tuple[Index, Index]:
        """Return what lies between two places of so many behind `begin`, counted from there."""
        loops, most = self.loops, self.loops.index(extent)
        first, last = (loops.subtract(loops.index(at), loops.index(begin)) for at in span)
        low = loops.minimum(loops.maximum(first, 0), most)
        return low, loops.maximum(low, loops.minimum(last, most))

    def nest(self, depth: int) -> None:
        """Open the loops behind the units."""
        if depth == len(self.inner):
            extent = self.walked.extent
            high = extent if isinstance(extent, int) else self.loops.index(extent)
            walk_vectors(self.loops, self.reader, self.walked, (0, high), self.store)
            return
        with self.loops.loop(0, self.loops.index(self.inner[depth].extent)) as one:
            self.inner[depth].value = one.index
            self.nest(depth + 1)

    def store(self) -> None:
        """Write one vector."""
        lanes = self.space.lanes
        element = self.reader.element(self.operand, self.plan.index)
        base, _, _ = self.space.split(self.loops, self.offset)
        value = self.reader.math.narrow(self.reader.math.spread(element, lanes))
        self.loops.store(value, self.whole.out, base, self.reader.mask)

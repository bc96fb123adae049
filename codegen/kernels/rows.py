"""Rows one by one: reductions over trailing axes, with work before, between and behind them.

    for row in lo..hi                       parallel: the kept axes, flattened
      for each reduction, in order          softmax: max; sum of exp. layer norm: mean; variance
        for v in row step 4*L               4 accumulators hide the latency of the combiner
          acc[0..3] = combine(acc, element)
        rest of the row, masked; combine the accumulators, then the lanes
      for v in row step 4*L                 the result, where it is as long as the row
        out[row, v] = element(v)

What is dear to compute (exp, division, ...) and needed by more than one pass over the row is
kept in scratch, which stays in L1, the first time it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...ir import Op
from ...ir.iteration import Iteration
from ...ir.types.dims import product
from ...ir.types.dtypes import f32
from ...ir.types.indices import Indices, Linear, flatten
from ...ir.types.shapes import normalize_axes
from ...ir.types.tensor import spec_of
from ...lazy import cached_property
from ...passes.analysis.kernels.kinds import is_row_reduction
from ...passes.analysis.kernels.reads import is_dear, is_elementwise
from ...target import Target
from .builder.combine import (
    COMBINERS,
    Combine,
    LoopReduction,
    accumulate,
    across_lanes,
    alike,
    identity,
)
from .builder.elements import Element, LoopsMath
from .builder.loops import Index
from .builder.plan import open_kernel, plan, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .map import Body, fitting_lanes, over_units, walk_vectors

UNROLL = 4
"""Vectors of the result at a time."""
CACHED_BYTES = 64 << 10
"""Rows longer than this are computed again instead of kept: they would not stay in L1."""


class Rows:
    """Builds one row kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        self.target, self.lanes = target, target.lanes
        (self.root,) = returned_values(kernel)
        ops = [op for op in kernel.body.block.ops if isinstance(op, Op)]
        self.reductions = [op for op in ops if is_row_reduction(op)]
        self.ops: list[Op] = ops
        first = self.reductions[0]
        self.shape = first.specs[0].dims
        self.axes = normalize_axes(first.plain_attributes()["axes"], len(self.shape))
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        self.plan = plan(self.shape, self.trace)
        self.group()
        self.kept = self.what_to_keep()

    # -- dims -----------------------------------------------------------------------------

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what the reductions and the root read."""
        for op in self.reductions:
            tracer.stops[op.results[0]] = []
        for op in self.reductions:
            tracer.visit(op.operands[0], index)
        tracer.visit(self.root, self.root_index(index))

    def root_index(self, index: Indices) -> Indices:
        """Return the index of the result: the row's, or that of its kept axes."""
        dims = spec_of(self.root.type).dims
        if dims == self.shape:
            return index
        kept = [i for a, (i, d) in enumerate(zip(index, self.shape, strict=True))
                if a not in self.axes and d != 1]  # fmt: skip
        rest = iter(kept)
        return tuple(Linear() if d == 1 else next(rest) for d in dims)

    def group(self) -> None:
        """Merge the kept axes and the reduced ones apart."""
        accesses = [*self.plan.offsets, self.offset]
        inner = [t for a in self.axes for t in self.plan.axes[a].tokens]
        outer = [t for t in self.plan.tokens if t not in inner]
        alone = self.plan.alone
        self.outer = merge(outer, accesses, alone)
        self.inner = merge(inner, accesses, alone) or [Group(())]
        self.walked = self.inner[-1]
        self.lanes = fitting_lanes(self.walked.extent, self.lanes)
        self.space = Space([*self.outer, *self.inner], self.walked, self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)

    @property
    def offset(self) -> Linear:
        """Return the flat offset of the result's element."""
        return flatten(self.root_index(self.plan.index), spec_of(self.root.type).dims)

    @property
    def is_full(self) -> bool:
        """Say whether the result is as long as the row."""
        return spec_of(self.root.type).dims == self.shape

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        self.make_room(sum(map(len, self.kept.values())) * self.kept_length)
        return self.loops.finish(over_units(self.loops, self.outer, self.row))

    def row(self) -> None:
        """Walk one row as often as there are reductions, then write."""
        self.reader.given = {}
        for number, op in enumerate(self.reductions):
            self.settle(number, self.reduce(op, number))
        self.reader.fresh()
        if self.is_full:
            self.over_inner(self.store)
            return
        self.vector_off()
        self.store()

    def settle(self, number: int, total: Element) -> None:
        """Let later passes know the total of a reduction, and what was kept on the way."""
        op = self.reductions[number]
        self.reader.given[op.results[0]] = always(total)
        self.power(op)
        self.use_cache(number)
        self.divide_once(op, total)

    def divide_once(self, op: Op, total: Element) -> None:
        """Multiply by the reciprocal of a total of exponentials that is at least 1."""
        if not is_total_of_softmax(op):
            return
        math = self.reader.math
        reciprocal = math.div(math.constant(1, total.dtype), total)
        for use in op.results[0].uses:
            user = use.operation
            if user.name == "gv.div" and use.index == 1 and self.is_row(user.operands[0]):
                self.reader.given[user.results[0]] = self.scaled(user.operands[0], reciprocal)

    @cached_property
    def shifts(self) -> dict[Op, SSAValue]:
        """Return the maxima that only exponentials are shifted by, each with the exponential."""
        found: dict[Op, SSAValue] = {}
        for total in filter(is_total_of_softmax, self.reductions):
            most = operand_of(operand_of(total.operands[0], 0), 1)
            if isinstance(most.owner, Op) and most.has_one_use() and total.specs[0].dtype is f32:
                found[most.owner] = total.operands[0]
        return found

    def power(self, op: Op) -> None:
        """Compute exp(x - max(x)) for exponents that are not large."""
        exponential = self.shifts.get(op)
        if exponential is not None:
            shifted = operand_of(exponential, 0)
            math, reader = self.reader.math, self.reader
            reader.given[exponential] = lambda index: math.exp_near(reader.element(shifted, index))

    def is_row(self, value: SSAValue) -> bool:
        """Say whether a value is as long as the row."""
        return spec_of(value.type).dims == self.shape

    def scaled(self, value: SSAValue, factor: Element) -> Callable[[Indices], Element]:
        """Return the rule that multiplies a value by a number of the row."""
        return lambda index: self.reader.math.mul(self.reader.element(value, index), factor)

    def vector_off(self) -> None:
        """Compute single elements from here on."""
        self.space.vector, self.space.lanes = None, 0
        self.reader.fresh()

    def over_inner(self, body: Body) -> None:
        """Open the loops over the reduced axes around vectors of the last."""
        self._over(self.inner[:-1], body)

    def _over(self, groups: Sequence[Group], body: Body) -> None:
        if not groups:
            walk_vectors(self.loops, self.reader, self.walked, (0, self.high), body, UNROLL)
            return
        with self.loops.loop(0, self.loops.index(groups[0].extent)) as one:
            groups[0].value = one.index
            self._over(groups[1:], body)

    @property
    def high(self) -> Index:
        """Return where the innermost group ends."""
        extent = self.walked.extent
        return extent if isinstance(extent, int) else self.loops.index(extent)

    def store(self) -> None:
        """Write one vector of the result."""
        self.space.vector = self.walked if self.space.lanes else None
        element = self.reader.element(self.root, self.root_index(self.plan.index))
        base, _, _ = self.space.split(self.loops, self.offset)
        lanes = self.space.lanes
        value = self.reader.math.narrow(self.reader.math.spread(element, lanes))
        past = self.loops.streams
        self.loops.store(value, self.out, base, self.reader.mask, nontemporal=past)

    # -- reductions -----------------------------------------------------------------------

    def reduce(self, op: Op, number: int) -> Element:
        """Return the reduction of the current row."""
        part = self.part(number, lambda: None)
        return self.total(op, self._nested(self.inner[:-1], part))

    def total(self, op: Op, lanes: Element) -> Element:
        """Return the reduction that the lanes of a vector combine to."""
        found = iteration_of(op)
        total = across_lanes(self.loops, found.combiner, lanes)
        if found.finish is None:
            return total
        finished = found.finish(self.reader.math, total)
        assert isinstance(finished, Element), f"{op.name}: finish gave {finished}"
        return finished

    def part(self, number: int, enter: Callable[[], None]) -> LoopReduction:
        """Return a reduction along the innermost group; `enter` goes to its row."""
        op, math = self.reductions[number], self.reader.math
        combiner, dtype = iteration_of(op).combiner, op.result_specs[0].dtype
        start = math.spread(math.constant(identity(combiner, dtype), dtype), self.lanes)

        def element(at: Index) -> Element:
            enter()
            return self.element(op, at, number)

        return LoopReduction(start, start, self.combiner(op, combiner), element)

    def _nested(self, groups: Sequence[Group], part: LoopReduction) -> Element:
        if not groups:
            return accumulate(self.reader, self.high, [part])[0]
        with self.loops.loop(0, self.loops.index(groups[0].extent), 1, [part.total.value]) as one:
            groups[0].value = one.index
            (inside,) = alike(one.values, part.total)
            one.carry(self._nested(groups[1:], replace(part, total=inside)).value)
        return alike(one.results, part.total)[0]

    def combiner(self, op: Op, name: str) -> Combine:
        """Return how elements are combined; the largest of a softmax may miss NaN: its total is."""
        return LoopsMath.greater if op in self.shifts else COMBINERS[name]

    def element(self, op: Op, at: Index, number: int) -> Element:
        """Return the vector that a reduction takes in at a place of the row."""
        self.walked.value = at
        self.reader.fresh()
        element = self.reader.element(op.operands[0], self.plan.index)
        element = self.reader.math.spread(element, self.lanes)
        self.keep(number)
        return element

    # -- keeping dear values --------------------------------------------------------------

    def what_to_keep(self) -> dict[int, list[SSAValue]]:
        """Return what each reduction keeps: dear, as long as the row, needed in a later pass."""
        kept: dict[int, list[SSAValue]] = {}
        passes: list[SSAValue] = [op.operands[0] for op in self.reductions]
        if self.is_full:
            passes.append(self.root)
        done: set[SSAValue] = set()
        moved = self.moved_values()
        for number, found in enumerate(passes[:-1]):
            for value in self.dear_values([found], done):
                if value not in moved and value in self.dear_values(passes[number + 1 :], done):
                    done.add(value)
                    kept.setdefault(number, []).append(value)
        length = product(tuple(g.extent for g in self.inner))
        fits = isinstance(length, int) and length * 4 * len(done) <= CACHED_BYTES
        return kept if fits and not self.loops.fine else {}

    def moved_values(self) -> set[SSAValue]:
        """Return what is read elsewhere than at the place in hand, through what moves elements.

        A kept value is one of this place.
        """
        moves = [op for op in self.ops if op not in self.reductions and not is_elementwise(op)]
        found: set[SSAValue] = set()
        stack = [operand for op in moves for operand in op.operands]
        while stack:
            one = stack.pop()
            if one not in found and isinstance(one.owner, Op) and one.owner not in self.reductions:
                found.add(one)
                stack.extend(one.owner.operands)
        return found

    @property
    def kept_length(self) -> int:
        """Return the elements of scratch that a kept value takes: whole vectors."""
        length = product(tuple(g.extent for g in self.inner))
        return -(-length // 16) * 16 if isinstance(length, int) else 0

    def make_room(self, space: int) -> None:
        """Reserve scratch for what is kept."""
        if not self.kept:
            return
        self.scratch, self.scratch_base = self.loops.scratch(f32, space)
        self.kept_base = self.scratch_base
        every = [v for values in self.kept.values() for v in values]
        self.places = {v: i * self.kept_length for i, v in enumerate(every)}

    def dear_values(self, values: Sequence[SSAValue], kept: set[SSAValue]) -> list[SSAValue]:
        """Return the dear values that have to be computed for elements of `values`."""
        found: list[SSAValue] = []
        seen: set[SSAValue] = set(kept)
        stack = list(values)
        while stack:
            one = stack.pop()
            owner = one.owner
            if one in seen or not isinstance(owner, Operation) or owner in self.reductions:
                continue
            seen.add(one)
            spec = spec_of(one.type)
            if spec.dims == self.shape and spec.dtype.name == "f32" and is_dear(owner):
                found.append(one)
            stack.extend(owner.operands)
        return found

    def position(self) -> Index:
        """Return where in the row the current vector stands."""
        total: Index = 0
        for group in self.inner:
            assert group.value is not None, "the row is walked"
            place = product(tuple(g.extent for g in self.inner[self.inner.index(group) + 1 :]))
            total = self.loops.add(total, self.loops.multiply(group.value, place))
        return self.loops.add(total, self.kept_base)

    def keep(self, number: int) -> None:
        """Store what later passes need of the vector just computed."""
        for value in self.kept.get(number, ()):
            element = self.reader.element(value, self.plan.index)
            offset = self.loops.add(self.position(), self.places[value])
            spread = self.reader.math.spread(element, self.lanes)
            self.loops.store(spread.value, self.scratch, offset, self.reader.mask)

    def use_cache(self, number: int) -> None:
        """Read kept values from scratch from here on."""
        for value in self.kept.get(number, ()):
            self.reader.given[value] = self.loader(value)

    def loader(self, value: SSAValue) -> Callable[[Indices], Element]:
        """Return the rule by which a kept value is read."""
        return lambda _: self.load(value)

    def load(self, value: SSAValue) -> Element:
        """Return a kept vector."""
        offset = self.loops.add(self.position(), self.places[value])
        read = self.loops.load(self.scratch, offset, self.lanes, self.reader.mask, constant=False)
        return Element(read, spec_of(value.type).dtype, self.lanes)


def operand_of(value: SSAValue, number: int) -> SSAValue:
    """Return an operand of what makes a value."""
    assert isinstance(value.owner, Operation), "the value of an operation"
    return value.owner.operands[number]


def is_total_of_softmax(op: Op) -> bool:
    """Say whether the operation is sum(exp(x - max(x))): at least 1."""
    exponential = op.operands[0].owner
    if op.name != "gv.sum" or not isinstance(exponential, Op) or exponential.name != "gv.exp":
        return False
    shifted = exponential.operands[0].owner
    if not isinstance(shifted, Op) or shifted.name != "gv.sub":
        return False
    most = shifted.operands[1].owner
    return (
        isinstance(most, Op) and most.name == "gv.max" and most.operands[0] is shifted.operands[0]
    )


def always(element: Element) -> Callable[[Indices], Element]:
    """Return the rule that gives one element for every index."""
    return lambda _: element


def iteration_of(op: Op) -> Iteration:
    """Return the iteration space of a reduction."""
    found = type(op).iteration(*op.specs, **op.plain_attributes())
    assert isinstance(found, Iteration), f"{op.name} has an iteration space"
    return found

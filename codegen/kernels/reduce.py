"""Any iteration space: reductions over any axes, windows, and products without a fast form.

    for unit in lo..hi                      parallel: result dims but the walked one, or its bands
      for v in 0..n step L                  the result's innermost dim, by vectors, some at a time
        for r in the reduced dims           as many loops
          acc = combine(acc, body(x[..], y[..]))
        out[.., v] = finish(acc), then the element-wise rest

Rows of 2, 4 or 8 elements lie in one vector, several of them, and of 16, if their order is free:

      for r in the reduced dim and the innermost one, by vectors
        parts = combine(parts, body(x[..]))
        out[..] = finish(one half of parts combined with the other, down to one row)

Of a contraction, vectors of several results are made at a time: those of the last result dims, if
they are short. They share what is read, and no one waits for the other.

Where rows that are added up lie far apart in memory, a few are read side by side in long pieces:

      for piece of the innermost dim        some KiB
        for r in the reduced dim step 8     parts[v] = combine(parts[v], 8 bodies), for each v
        out[.., v] = finish(parts[v])

Reads outside of an operand (padding) are masked or moved inside and replaced. Sums longer
than 512 are added in blocks of 512, so that the error does not grow with the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.facts import KernelForm
from ...ir.iteration import Affine, Iteration
from ...ir.types import dtypes
from ...ir.types.dims import Dim, ceil_divide
from ...ir.types.indices import Indices, Linear, Opaque, Token, flatten, of
from ...ir.types.tensor import spec_of
from ...lazy import cached_property
from ...passes.analysis.walks import Axis
from ...target import Target
from .builder.combine import ACCUMULATORS, COMBINERS, LoopReduction, accumulate, halved, identity
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import open_kernel, plan_axes, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .map import fitting_lanes, over_units, over_vectors, walk_vectors

BLOCK = 512
PAGE = 4096
"""Bytes from one row to the next from which on rows are read in stretches, not in bands."""
STRETCH = 4096
"""Elements of a row that are read at a time, ..."""
ROWS = 8
"""... of so many rows: what they come to lies in L1 meanwhile."""
WIDEST = 8
"""Vectors of the result that are made at a time, so that more of a row is read at a time."""
SPARE = 6
"""Registers that are left for what is read where several results are made at a time."""

Place = tuple[Sequence[int], Index]
"""Where a vector of results lies: along the short dims that are not walked, and the walked one."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an iteration space."""
    return Reduce(kernel, target).build()


class Reduce:
    """Builds one kernel from an operation's iteration space."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (self.root,) = returned_values(kernel)
        ops = [op for op in kernel.body.block.ops if isinstance(op, Op)]
        self.anchor = next(op for op in ops if op.has("iteration"))
        made = type(self.anchor).iteration(*self.anchor.specs, **self.anchor.plain_attributes())
        assert isinstance(made, Iteration), f"{self.anchor.name} has an iteration space"
        self.space_of = made
        self.guarded = made.guarded or (False,) * len(made.reads)
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        axes = [Axis([Token(d)]) for d in (*made.parallel, *made.reduce)]
        self.plan = plan_axes(axes, self.trace)
        self.group(target)

    # -- dims -----------------------------------------------------------------------------

    def read_index(self, operand: int, index: Indices) -> Indices:
        """Return the index of an operand's element."""
        return tuple(_linear(a, index) for a in self.space_of.reads[operand])

    def write_index(self, index: Indices) -> Indices:
        """Return the index of the result's element."""
        return tuple(_linear(a, index) for a in self.space_of.write)

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what the body and the epilogue read."""
        tracer.stops[self.anchor.results[0]] = []
        for position, operand in enumerate(self.anchor.operands):
            at = self.read_index(position, index)
            if self.guarded[position]:
                tracer.use_alone(*(p for p in at if len(p.terms) > 1 or p.constant != 0))
            tracer.visit(operand, at)
        tracer.visit(self.root, self.write_index(index))

    def group(self, target: Target) -> None:
        """Merge dims; walk the one along which the result is contiguous."""
        count = len(self.space_of.parallel)
        self.offset = flatten(self.write_index(self.plan.index), spec_of(self.root.type).dims)
        accesses = [*self.plan.offsets, self.offset]
        outer = [t for axis in self.plan.axes[:count] for t in axis.tokens]
        inner = [t for axis in self.plan.axes[count:] for t in axis.tokens]
        groups = merge(outer, accesses, self.plan.alone)
        walked = [g for g in groups if self.offset.coefficient(g.tokens[-1]) == 1]
        self.walked = walked[-1] if walked else Group(())
        self.outer = [g for g in groups if g is not self.walked]
        self.inner = merge(inner, accesses, self.plan.alone)
        self.lanes = fitting_lanes(self.walked.extent, target.lanes, even=self.loops.fine)
        every = [*self.outer, self.walked, *self.inner]
        self.space = Space(every, self.walked, self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        self.several = self.short(self.outer, target)
        self.outer = self.outer[: len(self.outer) - len(self.several)]

        self.most = target.lanes
        self.rows = None if self.several else self.short_rows()

    def short_rows(self) -> Group | None:
        """Return the reduced dim and the innermost one as one, if a vector is of several rows.

        Floats but for pairs, which are complex numbers, are added up one row after the other: what
        is read besides may lie so that they have to be, and a sum has the same bits with and
        without it.
        """
        few, kind = self.walked.extent, self.anchor.result_specs[0].dtype.kind
        if kind == "f" and few != 2 and self.space_of.combiner in ("add", "mul"):
            return None
        if self.loops.fine or any(self.guarded) or len(self.inner) != 1 or kind not in "fiu":
            return None
        if not isinstance(few, int) or not 1 < few <= self.most or self.most % few:
            return None
        tracer = Tracer()
        for position, operand in enumerate(self.anchor.operands):
            tracer.visit(operand, self.read_index(position, self.plan.index))
        offsets = [access.offset for access in tracer.accesses]
        tokens = [*self.inner[0].tokens, *self.walked.tokens]
        found = merge(tokens, offsets, tracer.alone)
        is_one = len(found) == 1 and all(o.coefficient(tokens[-1]) == 1 for o in offsets)
        return found[0] if is_one else None

    def short(self, groups: Sequence[Group], target: Target) -> Sequence[Group]:
        """Return the last groups, of whose results there are few enough for the registers."""
        if self.loops.fine or KernelForm("contract") != self.anchor.KERNEL or any(self.guarded):
            return ()
        along = self.walked.extent
        if not isinstance(along, int) or along < self.lanes:
            return ()  # what is read by halves of vectors is read for each result
        size, first = self.anchor.result_specs[0].dtype.size, len(groups)
        taken = self.wide * -(-max(1, self.lanes) * size // (4 * target.lanes))
        for group in reversed(groups[1:]):
            extent = group.extent
            if not isinstance(extent, int) or taken * extent > target.registers - SPARE:
                break
            taken, first = taken * extent, first - 1
        return groups[first:]

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        if self.loops.fine:
            one = partial(self.result, 1)
            units = over_vectors(self.loops, self.reader, self.outer, self.walked, one)
        elif self.rows is not None:
            units = over_units(self.loops, self.outer, partial(self.along_rows, self.rows))
        elif self.wide > 1 and not self.outer:
            units = self.over_bands()
        else:
            units = over_units(self.loops, self.outer, self.vectors)
        return self.loops.finish(units)

    @property
    def wide(self) -> int:
        """Return how many vectors of the result are made at a time, where rows are added up."""
        extent = self.walked.extent
        if not self.lanes or not self.inner or any(self.guarded):
            return 1
        return min(WIDEST, extent // self.lanes) if isinstance(extent, int) else WIDEST

    def over_bands(self) -> Dim:
        """Make bands of the result the units; return how many."""
        loops, extent = self.loops, self.walked.extent
        band = STRETCH if self.is_far else self.wide * self.lanes
        with loops.loop(loops.lo, loops.hi) as unit:
            start = loops.multiply(unit.index, band)
            self.span(start, loops.minimum(loops.add(start, band), loops.index(extent)))
        return ceil_divide(extent, band)

    def vectors(self) -> None:
        """Walk the innermost dim of the result."""
        extent = self.walked.extent
        self.span(0, extent if isinstance(extent, int) else self.loops.index(extent))

    def along_rows(self, rows: Group) -> None:
        """Make the only vector of the result: from vectors of several rows, which are folded."""
        loops, few, before = self.loops, self.lanes, self.reader
        space = Space([*self.outer, rows], rows, self.most)
        self.reader, self.lanes = ElementReader(loops, self.arguments, space), self.most
        total, high = self.start(), loops.multiply(loops.index(self.inner[0].extent), few)
        longest, end = BLOCK * ACCUMULATORS * self.lanes, loops.known(high)
        if self.is_added() and isinstance(end, int) and end > longest:
            with loops.loop(0, high, longest, [total.value]) as block:
                last = loops.minimum(loops.add(block.index, longest), high)
                (so_far,) = _like([total], block.values)
                block.carry(self.combine(so_far, self.of_rows(rows, block.index, last)).value)
            (total,) = _like([total], block.results)
        else:
            total = self.of_rows(rows, 0, high)
        self.reader, self.lanes, self.walked.value = before, few, 0
        self.store(halved(loops, total, few, self.combine))

    def of_rows(self, rows: Group, low: Index, high: Index) -> Element:
        """Return what vectors of several rows come to, lane by lane."""

        def element(at: Index) -> Element:
            rows.value = self.loops.add(low, at)
            return self.made()

        combine = COMBINERS[self.space_of.combiner]
        part = LoopReduction(self.start(), self.start(), combine, element)
        return accumulate(self.reader, self.loops.subtract(high, low), [part])[0]

    def combine(self, x: Element, y: Element) -> Element:
        """Return two elements put together."""
        return COMBINERS[self.space_of.combiner](self.reader.math, x, y)

    def span(self, low: Index, high: Index) -> None:
        """Walk a part of the innermost dim of the result."""
        if self.is_far:
            self.stretches(low, high)
            return
        loops, band = self.loops, self.wide * self.lanes
        first = low
        if self.wide > 1:
            count = loops.divide(loops.subtract(high, loops.index(low)), band)
            first = loops.add(low, loops.multiply(count, band))
            with loops.loop(low, first, band) as one:
                self.walked.value = one.index
                self.result(self.wide)
            extent = self.walked.extent
            if isinstance(extent, int) and extent % band == 0:
                return
        walk_vectors(loops, self.reader, self.walked, (first, high), partial(self.result, 1))

    @cached_property
    def is_far(self) -> bool:
        """Say whether the rows that are added up are long, and far from each other in memory.

        Those of an open size may be.
        """
        rows = self.inner[-1].extent if len(self.inner) == 1 else 0
        kept = self.anchor.result_specs[0].dtype in (dtypes.f32, dtypes.f64, dtypes.i32, dtypes.i64)
        if not kept or self.wide < WIDEST or (isinstance(rows, int) and rows < 2 * ROWS):
            return False
        steps = [
            read.offset.coefficient(self.inner[-1].tokens[-1])
            * spec_of(read.argument.type).dtype.size
            for read in self.plan.tracer.accesses
            if read.offset.coefficient(self.walked.tokens[-1]) == 1
        ]
        return bool(steps) and all(not isinstance(s, int) or s >= PAGE for s in steps)

    def stretches(self, low: Index, high: Index) -> None:
        """Walk a part of the innermost dim of the result in pieces, a few rows at a time."""
        loops, (group,) = self.loops, self.inner
        rows = group.extent
        several = loops.divide(loops.index(rows), ROWS)
        block = loops.index(BLOCK // ROWS if self.is_added() else loops.maximum(several, 1))
        self.parts, base = loops.scratch(self.start().dtype, 2 * STRETCH)
        with loops.loop(low, high, STRETCH) as piece:
            self.begin = loops.subtract(piece.index, base)
            end = loops.minimum(loops.add(piece.index, STRETCH), loops.index(high))
            walk = partial(walk_vectors, loops, self.reader, self.walked, (piece.index, end))
            walk(lambda: self.keep(self.start(), STRETCH))
            with loops.loop(0, several, block) as outer:
                walk(lambda: self.keep(self.start()))
                last = loops.minimum(loops.add(outer.index, block), several)
                with loops.loop(outer.index, last) as inner:
                    walk(partial(self.some, loops.multiply(inner.index, ROWS), ROWS))
                walk(self.add_up)
            walk(lambda: self.keep(self.start()))
            with loops.loop(loops.multiply(several, ROWS), loops.index(rows)) as one:
                walk(partial(self.some, one.index, 1))
            walk(self.add_up)
            walk(lambda: self.store(self.kept(STRETCH)))

    def some(self, first: Index, count: int) -> None:
        """Combine a vector of parts with some rows."""
        place, total = self.walked.value, self.kept()
        assert place is not None, "the vector is known"
        for number in range(count):
            self.inner[0].value = self.loops.add(first, number)
            total = self.step(total, ((), place))
        self.keep(total)

    def add_up(self) -> None:
        """Combine a vector of what there was before with the parts."""
        self.keep(self.combine(self.kept(STRETCH), self.kept()), STRETCH)

    def kept(self, behind: int = 0) -> Element:
        """Return the vector of parts, or of what lies behind them."""
        value = self.loops.load(
            self.parts, self.place(behind), self.lanes, self.reader.mask, constant=False
        )
        return Element(value, self.start().dtype, self.lanes)

    def keep(self, total: Element, behind: int = 0) -> None:
        """Keep a vector of parts, or behind them."""
        self.loops.store(total.value, self.parts, self.place(behind), self.reader.mask)

    def place(self, behind: int) -> Index:
        """Return where the vector's part lies."""
        assert self.walked.value is not None, "the vector is known"
        return self.loops.add(self.loops.subtract(self.walked.value, self.begin), behind)

    def start(self) -> Element:
        """Return what sums begin with."""
        math, dtype = self.reader.math, self.anchor.result_specs[0].dtype
        return math.spread(
            math.constant(identity(self.space_of.combiner, dtype), dtype), self.lanes
        )

    def result(self, wide: int) -> None:
        """Compute and store some vectors of the result."""
        loops, first = self.loops, self.walked.value
        assert first is not None, "the vector is known"
        along = [first if not n else loops.add(first, n * self.lanes) for n in range(wide)]
        sizes = [n for n in (group.extent for group in self.several) if isinstance(n, int)]
        places = list(product(product(*map(range, sizes)), along))
        totals = self.reduced(self.inner, [self.start()] * len(places), places)
        for place, total in zip(places, totals, strict=True):
            self.move(place)
            self.store(total)

    def move(self, place: Place) -> None:
        """Have a vector of results be the one that is spoken of."""
        for group, at in zip(self.several, place[0], strict=True):
            group.value = at
        self.walked.value = place[1]

    def store(self, total: Element) -> None:
        """Store one vector of the result, finished."""
        reader, math = self.reader, self.reader.math
        if self.space_of.finish is not None:
            total = self.space_of.finish(math, total)
        reader.given = {self.anchor.results[0]: lambda _: total}
        reader.fresh()
        element = reader.element(self.root, self.write_index(self.plan.index))
        reader.given = {}
        base, _, _ = self.space.split(self.loops, self.offset)
        value = math.narrow(math.spread(element, self.lanes))
        self.loops.store(value, self.out, base, reader.mask)

    def reduced(
        self, groups: Sequence[Group], totals: Sequence[Element], places: Sequence[Place]
    ) -> Sequence[Element]:
        """Return the combinations over loop groups for some vectors, starting from `totals`."""
        if not groups:
            return [self.step(total, place) for total, place in zip(totals, places, strict=True)]
        group, extent = groups[0], groups[0].extent
        if self.is_long(extent) and len(groups) == 1:
            return self.blocks(group, totals, places)
        with self.loops.loop(0, self.loops.index(extent), 1, _values(totals)) as one:
            group.value = one.index
            inside = self.reduced(groups[1:], _like(totals, one.values), places)
            one.carry(*_values(inside))
        return _like(totals, one.results)

    def is_long(self, extent: Dim) -> bool:
        """Say whether a float sum is so long that it is added in blocks."""
        return self.is_added() and isinstance(extent, int) and extent > BLOCK

    def is_added(self) -> bool:
        """Say whether floats are added, whose roundings grow with the length."""
        return self.start().dtype.is_float and self.space_of.combiner == "add"

    def blocks(
        self, group: Group, totals: Sequence[Element], places: Sequence[Place]
    ) -> Sequence[Element]:
        """Return the sums over a long dim, block by block."""
        loops, math = self.loops, self.reader.math
        extent = loops.index(group.extent)
        zero = math.spread(math.constant(0, totals[0].dtype), self.lanes)
        with loops.loop(0, extent, BLOCK, _values(totals)) as outer:
            high = loops.minimum(loops.add(outer.index, BLOCK), extent)
            with loops.loop(outer.index, high, 1, [zero.value] * len(totals)) as inner:
                group.value = inner.index
                inner.carry(*_values(self.reduced((), _like(totals, inner.values), places)))
            parts = _like(totals, inner.results)
            sums = zip(_like(totals, outer.values), parts, strict=True)
            outer.carry(*(math.add(total, part).value for total, part in sums))
        return _like(totals, outer.results)

    def step(self, total: Element, place: Place) -> Element:
        """Return the total of the vector at a place combined with one more body."""
        self.move(place)
        return self.combine(total, self.made())

    def made(self) -> Element:
        """Return one more body."""
        reader = self.reader
        reader.fresh()
        elements = [self.read(i) for i in range(len(self.anchor.operands))]
        made = self.space_of.body(reader.math, *elements)
        made = reader.math.cast(made, self.anchor.result_specs[0].dtype)
        return reader.math.spread(made, self.lanes)

    def read(self, operand: int) -> Element:
        """Return an operand's element, or what stands outside of it."""
        index = self.read_index(operand, self.plan.index)
        value = self.anchor.operands[operand]
        if not self.guarded[operand]:
            return self.reader.element(value, index)
        reader, spec = self.reader, spec_of(value.type)
        moved: list[Linear] = []
        conditions: list[Element] = []
        extents: list[Dim] = []
        saved = reader.mask
        for part, extent in zip(index, spec.dims, strict=True):
            if len(part.terms) <= 1 and part.constant == 0:
                moved.append(part)
                continue
            at, lanes, inside = reader.inside(part, extent)
            extents.append(extent)
            conditions.append(Element(inside, dtypes.bool_, lanes))
            if lanes and self.space.is_contiguous(part):
                reader.mask = (
                    inside
                    if reader.mask is None
                    else reader.loops.pure(arith.AndIOp, (reader.mask, inside), inside.type)
                )
                moved.append(part)
            else:
                moved.append(of(Opaque(reader.clamp(at, lanes, extent), extent, lanes)))
        combiner = self.space_of.combiner
        fill = 0 if self.space_of.outside == "zero" else identity(combiner, spec.dtype)
        element = reader.unless_empty(extents, value, tuple(moved), fill)
        reader.mask = saved
        other = reader.math.constant(fill, spec.dtype)
        for condition in conditions:
            element = reader.math.select(condition, element, other)
        return element


def _linear(affine: Affine, index: Indices) -> Linear:
    total = Linear((), affine.offset)
    for number, coefficient in affine.terms:
        total = total + index[number] * coefficient
    return total


def _values(elements: Sequence[Element]) -> list[SSAValue]:
    return [element.value for element in elements]


def _like(elements: Sequence[Element], values: Sequence[SSAValue]) -> list[Element]:
    pairs = zip(elements, values, strict=True)
    return [Element(value, element.dtype, element.lanes) for element, value in pairs]

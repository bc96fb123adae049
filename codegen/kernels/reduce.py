"""Any iteration space: reductions over any axes, windows, and products without a fast form.

    for unit in lo..hi                      parallel: result dims but the walked one
      for v in 0..n step L                  the result's innermost dim, by vectors
        for r in the reduced dims           as many loops
          acc = combine(acc, body(x[..], y[..]))
        out[.., v] = finish(acc), then the element-wise rest

Reads outside of an operand (padding) are masked or moved inside and replaced. Sums longer
than 512 are added in blocks of 512, so that the error does not grow with the length.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op, dtypes
from ...ir.dims import Dim
from ...ir.iteration import Affine, Iteration
from ...ir.tensor import spec_of
from ...target import Target
from .combine import COMBINERS, identity
from .elements import Element
from .index import Linear, Opaque, Token, flatten, of
from .map import fitting_lanes, over_units, over_vectors, walk_vectors
from .plan import Axis, open_kernel, plan_axes, returned_values
from .read import Indices, Reader, Tracer
from .space import Group, Space, merge

BLOCK = 512


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
        self.group(target.lanes)

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

    def group(self, lanes: int) -> None:
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
        self.lanes = fitting_lanes(self.walked.extent, lanes, even=self.loops.fine)
        every = [*self.outer, self.walked, *self.inner]
        self.space = Space(every, self.walked, self.lanes)
        self.reader = Reader(self.loops, self.arguments, self.space)

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        if self.loops.fine:
            units = over_vectors(self.loops, self.reader, self.outer, self.walked, self.result)
        else:
            units = over_units(self.loops, self.outer, self.vectors)
        return self.loops.finish(units)

    def vectors(self) -> None:
        """Walk the innermost dim of the result."""
        extent = self.walked.extent
        high = extent if isinstance(extent, int) else self.loops.index(extent)
        walk_vectors(self.loops, self.reader, self.walked, (0, high), self.result)

    def result(self) -> None:
        """Compute and store one vector of the result."""
        reader, math = self.reader, self.reader.math
        dtype = self.anchor.result_specs[0].dtype
        start = math.constant(identity(self.space_of.combiner, dtype), dtype)
        total = self.reduced(self.inner, math.spread(start, self.lanes))
        if self.space_of.finish is not None:
            total = self.space_of.finish(math, total)
        reader.given = {self.anchor.results[0]: lambda _: total}
        reader.fresh()
        element = reader.element(self.root, self.write_index(self.plan.index))
        reader.given = {}
        base, _, _ = self.space.split(self.loops, self.offset)
        value = math.narrow(math.spread(element, self.lanes))
        self.loops.store(value, self.out, base, reader.mask)

    def reduced(self, groups: Sequence[Group], total: Element) -> Element:
        """Return the combination over loop groups, starting from `total`."""
        if not groups:
            return self.step(total)
        group, extent = groups[0], groups[0].extent
        if self.is_long(extent, total) and len(groups) == 1:
            return self.blocks(group, total)
        with self.loops.loop(0, self.loops.index(extent), 1, [total.value]) as one:
            group.value = one.index
            inside = self.reduced(groups[1:], _like(total, one.values[0]))
            one.carry(inside.value)
        return _like(total, one.results[0])

    def is_long(self, extent: Dim, total: Element) -> bool:
        """Say whether a float sum is so long that it is added in blocks."""
        floats = total.dtype.is_float and self.space_of.combiner == "add"
        return floats and isinstance(extent, int) and extent > BLOCK

    def blocks(self, group: Group, total: Element) -> Element:
        """Return the sum over a long dim, block by block."""
        loops, math = self.loops, self.reader.math
        extent = loops.index(group.extent)
        zero = math.spread(math.constant(0, total.dtype), self.lanes)
        with loops.loop(0, extent, BLOCK, [total.value]) as outer:
            high = loops.minimum(loops.add(outer.index, BLOCK), extent)
            with loops.loop(outer.index, high, 1, [zero.value]) as inner:
                group.value = inner.index
                inner.carry(self.step(_like(total, inner.values[0])).value)
            part = _like(total, inner.results[0])
            outer.carry(math.add(_like(total, outer.values[0]), part).value)
        return _like(total, outer.results[0])

    def step(self, total: Element) -> Element:
        """Return the total combined with one more body."""
        reader = self.reader
        reader.fresh()
        elements = [self.read(i) for i in range(len(self.anchor.operands))]
        made = self.space_of.body(reader.math, *elements)
        made = reader.math.cast(made, total.dtype)
        made = reader.math.spread(made, self.lanes)
        return COMBINERS[self.space_of.combiner](reader.math, total, made)

    def read(self, operand: int) -> Element:
        """Return an operand's element, or what stands outside of it."""
        index = self.read_index(operand, self.plan.index)
        value = self.anchor.operands[operand]
        if not self.guarded[operand]:
            return self.reader.element(value, index)
        reader, spec = self.reader, spec_of(value.type)
        moved: list[Linear] = []
        conditions: list[Element] = []
        saved = reader.mask
        for part, extent in zip(index, spec.dims, strict=True):
            if len(part.terms) <= 1 and part.constant == 0:
                moved.append(part)
                continue
            at, lanes, inside = reader.inside(part, extent)
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
        element = reader.element(value, tuple(moved))
        reader.mask = saved
        combiner = self.space_of.combiner
        fill = 0 if self.space_of.outside == "zero" else identity(combiner, spec.dtype)
        other = reader.math.constant(fill, spec.dtype)
        for condition in conditions:
            element = reader.math.select(condition, element, other)
        return element


def _linear(affine: Affine, index: Indices) -> Linear:
    total = Linear((), affine.offset)
    for number, coefficient in affine.terms:
        total = total + index[number] * coefficient
    return total


def _like(element: Element, value: SSAValue) -> Element:
    return Element(value, element.dtype, element.lanes)

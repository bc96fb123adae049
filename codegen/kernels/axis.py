"""What kernels that walk one axis in order have in common: scans, searches, sorting.

for unit in lo..hi                     parallel: the dims beside the axis
  for v in 0..n step L                 the innermost dim, by vectors: `across`
    for i along the axis ...
  or, where the axis is innermost
    for i along the axis ...           `along`, by vectors or elements
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from ...ir import Op
from ...ir.types.indices import Indices, Linear
from ...ir.types.shapes import normalize_axis
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import open_kernel, plan, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .map import fitting_lanes, over_units, walk_vectors


class AlongAxis:
    """Builds one kernel around an operation with one operand and the attribute `axis`."""

    def __init__(self, kernel: FuncOp, target: Target, lanes: int) -> None:
        """Plan the loops; without lanes, elements are visited one by one, as by GPU threads."""
        root = returned_values(kernel)[0].owner
        assert isinstance(root, Op), "the root is an operation"
        self.anchor, self.attributes = root, root.plain_attributes()
        self.spec = root.specs[0]
        self.axis = normalize_axis(self.attributes["axis"], self.spec.rank)
        self.loops, self.arguments, self.outputs = open_kernel(kernel, target)
        self.plan = plan(self.spec.dims, self.trace)
        self.offset = self.write_offset(self.plan.index)
        self.group(lanes if target.can.walk_vectors else 0)

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what the operand reads."""
        tracer.visit(self.anchor.operands[0], index)

    def write_offset(self, index: Indices) -> Linear:
        """Return the flat offset of what is written at an index of the operand."""
        raise NotImplementedError(f"{type(self).__name__} writes nothing")

    def group(self, lanes: int) -> None:
        """Merge the dims before and behind the axis; choose which one vectors walk."""
        accesses = [*self.plan.offsets, self.offset]
        axes = self.plan.axes
        before = [t for a in axes[: self.axis] for t in a.tokens]
        behind = [t for a in axes[self.axis + 1 :] for t in a.tokens]
        self.axis_group = Group(tuple(axes[self.axis].tokens))
        self.outer = merge(before, accesses, self.plan.alone)
        inner = merge(behind, accesses, self.plan.alone)
        self.is_innermost = not inner
        self.walked = inner.pop() if inner and lanes else self.axis_group
        self.outer += inner
        self.lanes = fitting_lanes(self.walked.extent, lanes) if lanes else 0
        groups = [*self.outer, self.axis_group, self.walked][: len(self.outer) + 2]
        self.space = Space(groups, self.walked, self.lanes)
        self.reader = ElementReader(self.loops, self.arguments, self.space)
        self.math = self.reader.math

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        units = over_units(self.loops, self.outer, self.unit)
        return self.loops.finish(units)

    def unit(self) -> None:
        """Do what one unit has."""
        if self.walked is self.axis_group:
            self.along()
            return
        extent = self.walked.extent
        high = extent if isinstance(extent, int) else self.loops.index(extent)
        walk_vectors(self.loops, self.reader, self.walked, (0, high), self.across)

    def along(self) -> None:
        """Walk the axis where it is innermost."""
        raise NotImplementedError(f"{type(self).__name__} does not go along an axis")

    def across(self) -> None:
        """Walk the axis for one vector of neighbours."""
        raise NotImplementedError(f"{type(self).__name__} does not go across an axis")

    def vectors(self) -> tuple[Index, Index]:
        """Return how many elements of the axis fill vectors, and how many are left."""
        extent = self.loops.index(self.axis_group.extent)
        rest = self.loops.remainder(extent, self.lanes)
        return self.loops.subtract(extent, self.loops.index(rest)), rest

    # -- elements -------------------------------------------------------------------------

    def element(self, place: Index) -> Element:
        """Return the operand's element, or vector, at a place of the axis."""
        self.axis_group.value = place
        self.reader.fresh()
        x = self.reader.element(self.anchor.operands[0], self.plan.index)
        return self.math.spread(x, self.lanes)

    def store(self, elements: Sequence[Element]) -> None:
        """Write to the results at the current place."""
        base, _, _ = self.space.split(self.loops, self.offset)
        for element, buffer in zip(elements, self.outputs, strict=True):
            self.loops.store(self.math.narrow(element), buffer, base, self.reader.mask)

"""Writing at indices: a copy, into which updates are put one after the other.

    for unit in lo..hi                     parallel: the dims before the axis, if there are any
      for v step L                         out[unit, v] = x[unit, v]
      for each update of the unit          in their order, so that of equal indices
        out[unit, index] (+)= update       the last one wins

Where the result lies in the memory of x itself, nothing is copied. Vectors walk dims behind the
axis, in which no two updates of a vector meet; those of `gv.scatter_nd` walk the slices that its
updates are. Those may all go to one place, so that there is one unit. Operands are read in place.
Floats of 16 bits are rounded after each update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, product
from ...ir.types.dtypes import DType
from ...ir.types.indices import Indices, Linear, Opaque, flatten, of
from ...target import Target
from .builder.combine import COMBINERS
from .builder.elements import Element
from .builder.loops import Index, Loops
from .builder.plan import AccessPlan, open_kernel, plan, returned_values
from .builder.read import ElementReader, Tracer
from .builder.space import Group, Space, merge
from .map import fitting_lanes, walk_vectors


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a scatter."""
    return ScatterKernel(kernel, target).build()


@dataclass
class Nest:
    """Loops over dims: those before are set from outside, the last one is walked by vectors."""

    loops: Loops
    fixed: list[Group]
    inner: list[Group]
    reader: ElementReader

    @classmethod
    def of(
        cls, loops: Loops, arguments: Sequence[SSAValue], made: AccessPlan, fixed: int,
        accesses: Sequence[Linear], lanes: int,
    ) -> Nest:  # fmt: skip
        """Plan the loops of a plan, of which the first axes are `fixed`."""
        before = [Group(tuple(axis.tokens)) for axis in made.axes[:fixed]]
        rest = [t for axis in made.axes[fixed:] for t in axis.tokens]
        inner = merge(rest, [*made.offsets, *accesses], made.alone) or [Group(())]
        walked = inner[-1]
        contiguous = bool(walked.tokens) and all(a.coefficient(walked.tokens[-1]) == 1
                                                 for a in accesses)  # fmt: skip
        lanes = fitting_lanes(walked.extent, lanes, even=loops.fine) if contiguous else 0
        space = Space([*before, *inner], walked, lanes)
        return cls(loops, before, inner, ElementReader(loops, arguments, space))

    def run(self, body: Callable[[], None], depth: int = 0) -> None:
        """Open the loops around a body."""
        group = self.inner[depth]
        high = self.loops.index(group.extent)
        if depth == len(self.inner) - 1:
            known = self.loops.known(high)
            walk_vectors(self.loops, self.reader, group, (0, known), body)
            return
        with self.loops.loop(0, high) as one:
            group.value = one.index
            self.run(body, depth + 1)

    def place(self, offset: Linear) -> tuple[Index, SSAValue | None]:
        """Return a flat offset; with that of each lane beyond it where they lie apart."""
        base, stride, extra = self.reader.space.split(self.loops, offset)
        if extra is None:
            return base, None
        return base, self.reader.offsets(stride, extra, self.reader.space.lanes)

    def load(self, buffer: SSAValue, dtype: DType, offset: Linear) -> Element:
        """Read one vector of what this kernel writes."""
        base, apart = self.place(offset)
        lanes, mask = self.reader.space.lanes, self.reader.mask
        if apart is None:
            value = self.loops.load(buffer, base, lanes, mask, constant=False)
        else:
            value = self.loops.gather(buffer, base, apart, mask, constant=False)
        return self.reader.math.widen(value, dtype, lanes)

    def store(self, element: Element, buffer: SSAValue, offset: Linear) -> None:
        """Write one vector."""
        base, apart = self.place(offset)
        spread = self.reader.math.spread(element, self.reader.space.lanes)
        value, mask = self.reader.math.narrow(spread), self.reader.mask
        if apart is None:
            self.loops.store(value, buffer, base, mask)
        else:
            self.loops.scatter(value, buffer, base, apart, mask)


class ScatterKernel:
    """Builds one kernel."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        root = returned_values(kernel)[0].owner
        assert isinstance(root, Op), "the root is an operation"
        self.anchor, self.lanes = root, target.lanes
        self.attributes = root.plain_attributes()
        self.x, self.indices, self.updates = root.operands
        self.dims, self.index_dims, self.update_dims = (spec.dims for spec in root.specs)
        self.dtype = root.specs[0].dtype
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        given = self.x in self.arguments
        self.given = self.loops.buffers[self.arguments.index(self.x)] if given else None
        """The buffer of x, if it is one: the result may lie in it."""
        self.axis: int | None = self.attributes.get("axis")
        self.fixed = self.axis or 0
        """How many dims in front no update leaves."""

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        with loops.loop(loops.lo, loops.hi) as unit:
            places: list[Index] = []
            rest: Index = unit.index
            for extent in reversed(self.dims[: self.fixed]):
                places.insert(0, loops.remainder(rest, extent))
                rest = loops.divide(rest, extent)
            if self.given is None:
                self.copy(places)
            else:
                with loops.when(loops.lie_apart(self.given, self.out)):
                    self.copy(places)
            self.guarded(places, self.dims, self.index_dims, lambda: self.update(places))
        return loops.finish(product(self.dims[: self.fixed]))

    def guarded(
        self, places: Sequence[Index], dims: Sequence[Dim], limits: Sequence[Dim],
        body: Callable[[], None],
    ) -> None:  # fmt: skip
        """Run a body where all places are below limits that may be smaller than the dims."""
        if not places:
            body()
            return
        if dims[0] == limits[0]:
            self.guarded(places[1:], dims[1:], limits[1:], body)
            return
        limit = self.loops.index(limits[0])
        with self.loops.when(self.loops.compare("slt", places[0], limit)):
            self.guarded(places[1:], dims[1:], limits[1:], body)

    def copy(self, places: Sequence[Index]) -> None:
        """Copy what one unit has."""

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.visit(self.x, index)

        made = plan(self.dims, visit)
        offset = flatten(made.index, self.dims)
        nest = self.nest(made, [offset], places)

        def body() -> None:
            nest.store(nest.reader.element(self.x, made.index), self.out, offset)

        nest.run(body)

    def update(self, places: Sequence[Index]) -> None:
        """Put in the updates of one unit."""

        def visit(tracer: Tracer, index: Indices) -> None:
            tracer.visit(self.updates, index)
            for at in self.index_reads(index):
                tracer.visit(self.indices, at)

        made = plan(self.update_dims, visit)
        nest = self.nest(made, [self.target(made.index, self.unknown())], places)

        def body() -> None:
            picked = [self.picked(nest.reader, at, extent) for at, extent in
                      zip(self.index_reads(made.index), self.picked_dims, strict=True)]  # fmt: skip
            offset = self.target(made.index, picked)
            self.put(nest, nest.reader.element(self.updates, made.index), offset)

        nest.run(body)

    def nest(self, made: AccessPlan, accesses: Sequence[Linear], places: Sequence[Index]) -> Nest:
        """Return the loops of a plan, at a unit."""
        nest = Nest.of(self.loops, self.arguments, made, self.fixed, accesses, self.lanes)
        for group, place in zip(nest.fixed, places, strict=True):
            group.value = place
        return nest

    def put(self, nest: Nest, update: Element, offset: Linear) -> None:
        """Put one vector of updates into the result."""
        reduction = self.attributes["reduction"]
        if reduction != "none":
            value = nest.load(self.out, self.dtype, offset)
            update = COMBINERS[reduction](nest.reader.math, value, update)
        nest.store(update, self.out, offset)

    # -- indices --------------------------------------------------------------------------

    @property
    def picked_dims(self) -> Sequence[Dim]:
        """Return the dims that indices are into."""
        if self.axis is not None:
            return (self.dims[self.axis],)
        depth = int(self.index_dims[-1])  # type: ignore[arg-type]
        return self.dims[:depth]

    def index_reads(self, index: Indices) -> list[Indices]:
        """Return where the indices are read for an update."""
        if self.axis is not None:
            return [index]
        lead = index[: len(self.index_dims) - 1]
        return [(*lead, Linear((), number)) for number in range(len(self.picked_dims))]

    def picked(self, reader: ElementReader, at: Indices, extent: Dim) -> Linear:
        """Return an index that is data, counted from the front and clamped."""
        found = reader.element(self.indices, at)
        return reader.picked(found, extent)

    def unknown(self) -> list[Linear]:
        """Return what stands for indices before there are loops."""
        return [of(Opaque(None, extent)) for extent in self.picked_dims]

    def target(self, index: Indices, picked: Sequence[Linear]) -> Linear:
        """Return the flat offset that an update is written to."""
        if self.axis is None:
            behind = index[len(self.index_dims) - 1 :]
            return flatten((*picked, *behind), self.dims)
        return flatten((*index[: self.axis], *picked, *index[self.axis + 1 :]), self.dims)

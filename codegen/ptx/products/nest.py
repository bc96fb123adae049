"""The loop dims of a contraction: two operands as matrices, by the loop dims that each walks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ....ir import Op
from ....ir.iteration import Affine, Iteration
from ....ir.types import dtypes
from ....ir.types.dims import Dim, remainder
from ....ir.types.indices import Indices, Linear, Opaque, Token, flatten, of, strides
from ....ir.types.tensor import spec_of
from ....passes.analysis.walks import Axis, is_move
from ....target import Target
from ...kernels.builder.elements import Element
from ...kernels.builder.loops import Index
from ...kernels.builder.plan import open_kernel, plan_axes, returned_values
from ...kernels.builder.read import ElementReader, Tracer
from ...kernels.builder.space import Group, Space, merge
from ...kernels.map import place


def anchor_of(kernel: FuncOp) -> Op | None:
    """Return the operation of a kernel that this template computes; None if there is none."""
    for op in kernel.body.block.ops:
        if isinstance(op, Op) and op.CONTRACTS:
            return op
    return None


def linear(affine: Affine, index: Sequence[Linear]) -> Linear:
    """Return an affine index of loop dims as one of tokens."""
    total = Linear((), affine.offset)
    for number, coefficient in affine.terms:
        total = total + index[number] * coefficient
    return total


class Nest:
    """The loop dims of a contraction: how operands and result are indexed by tokens."""

    def __init__(self, kernel: FuncOp, anchor: Op, target: Target) -> None:
        (self.root,) = returned_values(kernel)
        self.anchor = anchor
        self.iteration = made = self.space_of(anchor)
        self.guarded = made.guarded or (False,) * len(made.reads)
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        outer = spec_of(self.root.type).dims if self.follows_root else made.parallel
        self.outer = [Axis([Token(d)]) for d in outer]
        self.inner = [Axis([Token(d)]) for d in made.reduce]
        self.plan = plan_axes([*self.outer, *self.inner], self.trace)
        self.index = self.loop_dims(self.plan.tracer, self.plan.index)

    def space_of(self, anchor: Op) -> Iteration:
        """Return the iteration space of the product."""
        made = type(anchor).iteration(*anchor.specs, **anchor.plain_attributes())
        assert isinstance(made, Iteration), f"{anchor.name} has an iteration space"
        return made

    @property
    def follows_root(self) -> bool:
        """Say whether the loop dims are those of the root, and the product's follow from them."""
        return self.anchor.CONTRACTS and not self.anchor.SLIDES

    def root_index(self, index: Indices) -> Indices:
        """Return the index of the root."""
        if self.follows_root:
            return index[: len(self.outer)]
        return tuple(linear(a, index) for a in self.iteration.write)

    def loop_dims(self, tracer: Tracer, index: Indices) -> Indices:
        """Return the loop dims of the iteration space, parallel ones first."""
        if not self.follows_root:
            return index
        found = tracer.stops[self.anchor.results[0]][0]
        return (*found, *index[len(self.outer) :])

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what operands and epilogue read."""
        tracer.stops[self.anchor.results[0]] = []
        tracer.visit(self.root, self.root_index(index))
        dims = self.loop_dims(tracer, index)
        for position in range(2):
            self.trace_operand(tracer, position, dims)

    def trace_operand(self, tracer: Tracer, position: int, dims: Indices) -> None:
        """Record what one operand reads."""
        at = tuple(linear(a, dims) for a in self.iteration.reads[position])
        if self.guarded[position]:
            dims_there = spec_of(self.anchor.operands[position].type).dims
            parts = zip(at, dims_there, strict=True)
            tracer.use_alone(*(part for part, extent in parts if is_guarded(part, extent)))
        tracer.visit(self.anchor.operands[position], at)

    @property
    def offset(self) -> Linear:
        """Return the flat offset of the root's element."""
        return flatten(self.root_index(self.plan.index), spec_of(self.root.type).dims)


def is_guarded(index: Linear, extent: Dim) -> bool:
    """Say whether an index may lie outside of an extent, as far as that is known."""
    if len(index.terms) <= 1 and index.constant == 0:
        return False
    steps = [index.constant, *(step for _, step in index.terms)]
    if not all(isinstance(step, int) and step >= 0 for step in steps):
        return True
    highest = index.highest()
    room = None if highest is None else extent - 1 - highest
    return not isinstance(room, int) or room < 0


class Side:
    """One operand as a matrix of rows (or columns) and depth."""

    def __init__(self, nest: Nest, position: int) -> None:
        self.nest, self.position, self.loops = nest, position, nest.loops
        tracer = Tracer()
        nest.trace_operand(tracer, position, nest.index)
        self.offsets = [access.offset for access in tracer.accesses]
        self.alone = tracer.alone
        self.dtype = nest.anchor.specs[position].dtype
        self.value = nest.anchor.operands[position]
        self.guarded = nest.guarded[position]

    def walks(self, token: Token) -> bool:
        """Say whether the operand depends on a token."""
        return token in self.alone or any(o.coefficient(token) != 0 for o in self.offsets)

    def step(self, token: Token) -> Dim:
        """Return how far a step of a token goes in the first buffer that is read."""
        return self.offsets[0].coefficient(token) if self.offsets else 0

    def open(
        self, rows: Sequence[Token], depth: Sequence[Token], batch: Sequence[Group], lanes: int
    ) -> None:
        """Merge the tokens as this operand walks them, and find along which vectors lie."""
        self.batch = [Group(g.tokens) for g in batch]
        self.shared = list(batch)
        self.rows = merge(rows, self.offsets, self.alone)
        self.depth = merge(depth, self.offsets, self.alone)
        self.along: str = ""
        """`rows` or `depth`: what neighbours in memory are; nothing if neither."""
        for name, groups in (("depth", self.depth), ("rows", self.rows)):
            if groups and not self.along and self.contiguous(groups[-1]):
                self.along = name
        walked = {"depth": self.depth, "rows": self.rows}.get(self.along, [Group(())])[-1]
        even = bool(walked.tokens) and lanes > 1 and remainder(walked.extent, lanes) == 0
        self.lanes = lanes if even and not any(t in self.alone for t in walked.tokens) else 0
        every = [*self.batch, *self.rows, *self.depth]
        self.space = Space(every, walked if self.lanes else None, self.lanes)
        self.reader = ElementReader(self.loops, self.nest.arguments, self.space)

    def contiguous(self, group: Group) -> bool:
        """Say whether neighbours along a group are neighbours in memory, wherever it is read."""
        steps = {str(o.coefficient(group.tokens[-1])) for o in self.offsets}
        return steps <= {"0", "1"} and "1" in steps

    def copied(self) -> bool:
        """Say whether vectors can be copied as they lie: from one buffer, at whole vectors."""
        source = source_of(self.value)
        if not isinstance(source, BlockArgument) or not self.lanes or len(self.offsets) != 1:
            return False
        if self.guarded and source is not self.value:
            return False
        (offset,) = self.offsets
        steps = [c for _, c in offset.terms if c != 1] + [offset.constant]
        if self.guarded:
            steps = strides(spec_of(source.type).dims)[:-1]
        return all(remainder(step, self.lanes) == 0 for step in steps)

    def go(self, row: Index, depth: Index) -> None:
        """Go to a row and a depth."""
        for mine, theirs in zip(self.batch, self.shared, strict=True):
            mine.value = theirs.value
        place(self.loops, self.rows, row)
        place(self.loops, self.depth, depth)
        self.reader.fresh()

    def address(self, row: Index, depth: Index) -> tuple[SSAValue, Index, list[Element]]:
        """Return where a vector that can be copied lies, and what must hold for it to be there."""
        self.go(row, depth)
        source = source_of(self.value)
        index = self.offsets[0]
        conditions: list[Element] = []
        if self.guarded:
            moved, conditions = self.moved_inside()
            index = flatten(moved, spec_of(source.type).dims)
        base, _, extra = self.space.split(self.loops, index)
        assert extra is None, "a vector lies without gaps"
        return self.reader.buffers[source], base, conditions

    def element(self, row: Index, depth: Index) -> Element:
        """Return the element, or vector, at a row and a depth."""
        self.go(row, depth)
        return self.reader.math.spread(self.read(), self.lanes)

    def read(self) -> Element:
        """Return the element at the current place, or 0 outside of the operand."""
        nest, reader = self.nest, self.reader
        value = nest.anchor.operands[self.position]
        if not nest.guarded[self.position]:
            return reader.element(value, self.index())
        moved, conditions = self.moved_inside()
        pairs = zip(self.index(), spec_of(value.type).dims, strict=True)
        extents = [extent for part, extent in pairs if is_guarded(part, extent)]
        element = reader.unless_empty(extents, value, moved, 0)
        for condition in conditions:
            zero = reader.math.constant(0, element.dtype)
            element = reader.math.select(condition, element, zero)
        return element

    def index(self) -> Indices:
        """Return the index into the operand."""
        nest = self.nest
        return tuple(linear(a, nest.index) for a in nest.iteration.reads[self.position])

    def moved_inside(self) -> tuple[Indices, list[Element]]:
        """Return an index that is inside of the operand, and what holds where it was before."""
        reader = self.reader
        moved: list[Linear] = []
        conditions: list[Element] = []
        extents = spec_of(self.value.type).dims
        for part, extent in zip(self.index(), extents, strict=True):
            if not is_guarded(part, extent):
                moved.append(part)
                continue
            at, lanes, inside = reader.inside(part, extent)
            conditions.append(Element(inside, dtypes.bool_, lanes))
            moved.append(of(Opaque(reader.clamp(at, lanes, extent), extent, lanes)))
        return tuple(moved), conditions


def source_of(value: SSAValue) -> SSAValue:
    """Return what a value is moved from."""
    while isinstance(value.owner, Op) and is_move(value.owner):
        value = value.owner.operands[0]
    return value

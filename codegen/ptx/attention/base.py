"""Attention on a GPU: what all its templates know of queries, keys, values and scores.

Each template walks the keys tile by tile and keeps, for every query, the largest score so far, the
sum of the weights, and the weighed values; what was summed before is scaled where a larger score
comes. Scores are never in memory. Templates are `flash` (tensor cores) and `attend` (any type).
Of few queries with many keys blocks have a part of the keys each, and write these three as they
are (`gv.attention_parts`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ....ir import REGISTRY, Op
from ....ir.dialects.gpu import SHARED_BYTES, THREADS, WARP, Shared, Shuffle
from ....ir.iteration import Affine, Iteration, dim
from ....ir.ops.attention import Attention, AttentionParts
from ....ir.types.dims import Dim, product
from ....ir.types.dtypes import f32
from ....ir.types.indices import Indices, Linear, Token, tokens_of
from ....ir.types.tensor import TensorSpec, spec_of
from ....passes.analysis.kernels.choices import decide, shape_class
from ....passes.analysis.walks import Axis
from ....target import Target
from ...kernels.attention_blocks import with_bias
from ...kernels.builder.elements import Element, LoopsMath
from ...kernels.builder.loops import Index
from ...kernels.builder.plan import open_kernel, plan_axes, returned_values
from ...kernels.builder.read import ElementReader, Tracer
from ...kernels.builder.space import Group, Space, merge
from ...kernels.map import place
from ..products.nest import Nest, Side

LOG2_E = 1.4426950408889634
MATRICES = 3
"""Operands that are matrices: queries, keys and values. A bias is read as elements."""


class AttentionNest(Nest):
    """The loop dims of an attention: batch, queries S, keys T, depth D, width E.

    Batch, queries and width follow from the root, which may be moved behind the attention.
    """

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        (self.root,) = returned_values(kernel)
        self.anchor = next(
            op for op in kernel.body.block.ops if isinstance(op, Attention | AttentionParts)
        )
        self.iteration = iteration(self.anchor)
        self.guarded = (False,) * len(self.anchor.operands)
        self.loops, self.arguments, (self.out,) = open_kernel(kernel, target)
        inner = (self.anchor.specs[1].dims[-2], self.anchor.specs[0].dims[-1])
        self.outer = [Axis([Token(d)]) for d in spec_of(self.root.type).dims]
        self.inner = [Axis([Token(d)]) for d in inner]
        self.plan = plan_axes([*self.outer, *self.inner], self.trace)
        self.index = self.loop_dims(self.plan.tracer, self.plan.index)

    @property
    def follows_root(self) -> bool:
        """Say that the loop dims are those of the root."""
        return True

    def loop_dims(self, tracer: Tracer, index: Indices) -> Indices:
        """Return the loop dims of the attention."""
        *before, width = tracer.stops[self.anchor.results[0]][0]
        return (*before, *index[len(self.outer) :], width)

    def trace(self, tracer: Tracer, index: Indices) -> None:
        """Record what all operands read."""
        tracer.stops[self.anchor.results[0]] = []
        tracer.visit(self.root, self.root_index(index))
        dims = self.loop_dims(tracer, index)
        for position in range(len(self.anchor.operands)):
            self.trace_operand(tracer, position, dims)

    def tokens(self, number: int) -> list[Token]:
        """Return the tokens of S, T, D or E, which are counted from the end: -4 to -1."""
        return wide_tokens(self.index[number])

    @property
    def batch_tokens(self) -> list[Token]:
        """Return the tokens of all axes before."""
        return [token for index in self.index[:-4] for token in wide_tokens(index)]


def wide_tokens(index: Linear) -> list[Token]:
    """Return the tokens of an index that have more than one value."""
    return [token for token in tokens_of(index) if token.extent != 1]


def iteration(op: Op) -> Iteration:
    """Return how the operands of an attention are indexed; what it computes is no combination."""
    result, (q, k) = op.result_specs[0], op.specs[:2]
    rank = result.rank - 2
    s, t, d, e = (dim(rank + i) for i in range(4))
    tails = ((s, d), (t, d), (t, e), (s, t))
    reads = tuple(
        broadcast(spec, (*result.dims[:-2], result.dims[-2], k.dims[-2]), (*axes(rank), *tail))
        for spec, tail in zip(op.specs, tails, strict=False)
    )
    return Iteration(
        parallel=(*result.dims[:-1], k.dims[-2], q.dims[-1], op.specs[2].dims[-1]),
        reduce=(),
        reads=reads,
        write=(*axes(rank), s, e),
        combiner="add",
        body=lambda math, *elements: elements[0],
    )


def axes(count: int) -> list[Affine]:
    """Return the indices of the first loop dims."""
    return [dim(number) for number in range(count)]


def broadcast(spec: TensorSpec, dims: Sequence[Dim], index: Sequence[Affine]) -> tuple[Affine, ...]:
    """Return the index into an operand: 0 where it has one element and others have more."""
    tail = index[len(index) - spec.rank :]
    wide = dims[len(dims) - spec.rank :]
    return tuple(
        Affine(()) if own == 1 and there != 1 else at
        for own, there, at in zip(spec.dims, wide, tail, strict=True)
    )


class AttentionTemplate:
    """What the templates share."""

    def __init__(self, kernel: FuncOp, target: Target) -> None:
        self.nest = nest = AttentionNest(kernel, target)
        self.target, self.loops, self.anchor = target, nest.loops, nest.anchor
        flags = self.anchor.plain_attributes()
        self.scale, self.softcap = float(flags["scale"]), float(flags["softcap"])
        self.causal, self.zeros = bool(flags["causal"]), bool(flags.get("zeros"))
        self.hiding = bool(flags["hiding"])
        self.part_keys = flags.get("step")
        """Keys of a part, where blocks have a part each; else None."""
        self.parts = [t for t in nest.outer[0].tokens if t.extent != 1] if self.part_keys else []
        q, k, v = self.anchor.specs[:MATRICES]
        self.keys: Dim = k.dims[-2]
        self.queries: Dim = q.dims[-2]
        self.depth, self.width = int(q.dims[-1]), int(v.dims[-1])  # type: ignore[arg-type]
        self.dtype = q.dtype
        self.sides = [Side(nest, i) for i in range(len(self.anchor.operands))]
        self.math = LoopsMath(self.loops)
        self.shared_bytes = 0
        self.sort_rows()

    def sort_rows(self) -> None:
        """Find what the rows are: queries, or single ones that share their keys and values."""
        row_tokens, batch = self.nest.tokens(-4), self.nest.batch_tokens
        if self.queries == 1:
            self.causal = False
            own = [token for token in batch if token not in self.parts]
            shared = [t for t in own if not any(s.walks(t) for s in self.sides[1:MATRICES])]
            row_tokens = shared
            batch = [t for t in batch if t not in shared]
        self.row_tokens = row_tokens
        self.batch = [Group((token,)) for token in batch]
        self.rows = product(tuple(t.extent for t in row_tokens))

    def decided(self, template: str, candidates: Sequence[int], usual: int) -> int:
        """Return which form of a template was measured to be best for such sizes."""
        batch = product(tuple(group.extent for group in self.batch))
        sizes = shape_class(batch, self.rows, self.keys, self.depth)
        return decide(self.target, f"{template}_{self.dtype}_{sizes}", candidates, usual)

    def open_sides(self, lanes: tuple[int, int, int], written: int = 0) -> None:
        """Let vectors of queries, keys and values have so many lanes, where they can."""
        keys, depth, width = (self.nest.tokens(number) for number in (-3, -2, -1))
        pairs = ((self.row_tokens, depth), (keys, depth), (keys, width))
        for side, (down, along), count in zip(self.sides, pairs, lanes, strict=False):
            side.open(down, along, self.batch, count)
            if side.along != "depth":
                side.open(down, along, self.batch, 0)
        for side in self.sides[MATRICES:]:
            side.open(self.row_tokens, keys, self.batch, 0)
        self.results = Results(self, 0 if self.part_keys else written or lanes[2])

    def memory(self, element: Attribute, count: int, size: int) -> SSAValue:
        """Return memory of the block."""
        at = self.shared_bytes
        self.shared_bytes += -(-count * size // 16) * 16
        return self.loops.here(Shared(MemRefType(element, [count]), at))[0]

    def finish(self, blocks: Dim, threads: int) -> FuncOp:
        """Close the function."""
        batch = product(tuple(group.extent for group in self.batch))
        function = self.loops.finish(batch * blocks)
        function.attributes[THREADS] = IntegerAttr(threads, 64)
        if self.shared_bytes:
            function.attributes[SHARED_BYTES] = IntegerAttr(self.shared_bytes, 64)
        return function

    def enter(self, unit: Index, blocks: Dim) -> Index:
        """Go to the batch of a unit; return the block of rows in it."""
        loops = self.loops
        block, rest = loops.remainder(unit, blocks), loops.divide(unit, blocks)
        for group in reversed(self.batch):
            group.value = loops.remainder(rest, group.extent)
            rest = loops.divide(rest, group.extent)
        return block

    def span(self, high: Index) -> tuple[Index, Index]:
        """Return the first key that a block walks, and the end of those below a number."""
        if not self.part_keys:
            return 0, high
        part = next((g.value for g in self.batch if g.tokens[0] in self.parts), 0)
        assert part is not None, "the unit is known"
        low = self.loops.multiply(part, self.part_keys)
        return low, self.loops.minimum(high, self.loops.add(low, self.part_keys))

    # -- scores ---------------------------------------------------------------------------

    def seen(self, row: Index) -> Index:
        """Return how many keys a query sees."""
        loops = self.loops
        keys = loops.index(self.keys)
        if not self.causal:
            return keys
        ahead = loops.subtract(keys, loops.index(self.queries))
        last = loops.add(loops.add(row, 1), ahead)
        return loops.maximum(loops.minimum(last, keys), 0)

    def score(
        self, x: Element, row: Index, key: Index, *, plain: bool = False, masked: bool = True
    ) -> Element:
        """Return the score for the product of a query and a key, -inf where it sees no such key.

        The product itself if `plain`; every key is seen if not `masked`.
        """
        loops, math = self.loops, self.math
        if self.scale != 1 and not plain:
            x = math.mul(x, math.constant(self.scale, f32))
        if self.softcap:
            cap = math.constant(self.softcap, f32)
            capped = REGISTRY["gv.tanh"].scalar(math, math.div(x, cap))
            assert isinstance(capped, Element), "a rule gives an element"
            x = math.mul(capped, cap)
        last = loops.subtract(loops.index(self.keys), 1)
        for bias in self.sides[MATRICES:]:
            added = math.cast(bias.element(row, loops.minimum(key, last)), f32)
            x = with_bias(math, x, added, hiding=self.hiding)
        if not masked:
            return x
        inside = loops.compare("slt", key, self.seen(row))
        return self.chosen(inside, x, math.constant(-float("inf"), f32))

    def chosen(self, condition: SSAValue, a: Element, b: Element) -> Element:
        """Return one of two elements."""
        value = self.loops.pure(arith.SelectOp, (condition, a.value, b.value), a.value.type)
        return Element(value, a.dtype, a.lanes)

    def power(self, x: Element) -> Element:
        """Return e to the power of a score that is not positive."""
        return self.math.exp2_near(self.math.mul(x, self.math.constant(LOG2_E, f32)))

    def shift(self, most: Element) -> Element:
        """Return what scores are shifted by: the largest, unless there is none yet."""
        lowest = self.math.constant(-float("inf"), f32)
        empty = self.math.compare("eq", most, lowest)
        return self.math.select(empty, self.math.constant(0, f32), most)

    def quotient(self, total: Element) -> Element:
        """Return what the weighed values of a row are multiplied by in the end."""
        math = self.math
        made, zero = math.div(math.constant(1, f32), total), math.constant(0, f32)
        if self.zeros:
            return math.select(math.compare("eq", total, zero), zero, made)
        if isinstance(self.keys, int):
            return made
        none = self.loops.compare("eq", self.loops.index(self.keys), 0)
        return self.chosen(none, zero, made)

    def over_warp(self, combine: str, x: Element, distances: Sequence[int]) -> Element:
        """Return the combination of the values of threads whose numbers differ in these bits."""
        rule = {"max": LoopsMath.greater, "add": LoopsMath.add}[combine]
        for distance in distances:
            other = self.loops.here(Shuffle(x.value, distance))[0]
            x = rule(self.math, x, Element(other, f32, 0))
        return x

    @property
    def lane(self) -> Index:
        """Return the number of the thread in its warp."""
        return self.loops.remainder(self.loops.slot, WARP)

    @property
    def warp(self) -> Index:
        """Return the number of the warp in its block."""
        return self.loops.divide(self.loops.slot, WARP)


class Results:
    """Where the result of a row lies."""

    def __init__(self, whole: AttentionTemplate, lanes: int) -> None:
        nest = whole.nest
        self.whole, self.loops, self.out = whole, whole.loops, nest.out
        self.dtype = whole.anchor.result_specs[0].dtype
        self.offset = nest.offset
        accesses = [self.offset]
        self.batch = [Group(g.tokens) for g in whole.batch]
        self.rows = merge(whole.row_tokens, accesses, set())
        self.columns = merge(nest.tokens(-1), accesses, set())
        self.lanes = lanes if lanes > 1 and whole.width % lanes == 0 else 0
        last = self.columns[-1] if self.columns and self.lanes else None
        self.space = Space([*self.batch, *self.rows, *self.columns], last, self.lanes)
        self.reader = ElementReader(self.loops, nest.arguments, self.space)

    def store(self, element: Element, row: Index, column: Index) -> None:
        """Write a vector, or element, of a row."""
        for mine, theirs in zip(self.batch, self.whole.batch, strict=True):
            mine.value = theirs.value
        place(self.loops, self.rows, row)
        place(self.loops, self.columns, column)
        math = self.reader.math
        base, _, extra = self.space.split(self.loops, self.offset)
        assert extra is None, "a result is written in strides"
        self.loops.store(math.narrow(math.cast(element, self.dtype)), self.out, base)

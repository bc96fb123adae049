"""Maps that only move elements, and across memory: square blocks are turned in registers.

    for unit in lo..hi                    parallel: the other groups x blocks of the group `across`
      for i in 0..n step L                the innermost group of the result
        out[.., j, .., i] = in[.., i, .., j] for a block of L x L

`across` is what the source walks by one. Element by element, each vector of the result would be
gathered from as many lines of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.types.dims import Dim, ceil_divide, product
from ...ir.types.dtypes import DType
from ...ir.types.indices import Linear, tokens_of
from ...passes.analysis.walks import is_move
from .builder.loops import Index, Loops
from .builder.plan import AccessPlan
from .builder.space import Group, Space

LEAST = 4
"""Shorter groups fill too little of a block, but where they lie without gaps on both sides."""
CHUNK = 4096
"""Elements of the innermost group that are a unit."""
SQUARES = {1: 16, 2: 8}
"""The lanes of blocks of narrow elements, by their bytes: more would not stay in registers."""
MOVED = "fiub"
"""Kinds of elements that are moved so."""


def lanes_for(dtype: DType, lanes: int) -> int:
    """Return the lanes of a block, by those of a register of f32; 0 if there are no blocks."""
    if dtype.kind not in MOVED or dtype.size > 8:
        return 0
    return SQUARES.get(dtype.size, max(2, lanes * 4 // dtype.size))


@dataclass
class Turned:
    """Builds the loops of one move."""

    loops: Loops
    source: SSAValue
    out: SSAValue
    groups: Sequence[Group]
    across: Group
    read: Linear
    write: Linear
    lanes: int

    @classmethod
    def of(
        cls,
        loops: Loops,
        buffers: tuple[Sequence[SSAValue], Sequence[SSAValue]],
        plan: AccessPlan,
        groups: Sequence[Group],
        offsets: tuple[Linear, int],
    ) -> Turned | None:
        """Return the builder where there is something to turn."""
        values, outputs = buffers
        write, lanes = offsets[0], lanes_for(loops.dtypes[-1], offsets[1])
        argument = moved_argument(values)
        if not lanes or argument is None or len(plan.tracer.accesses) != 1 or len(groups) < 2:
            return None
        (access,) = plan.tracer.accesses
        inner = groups[-1]
        is_linear = len(tokens_of(access.offset)) == len(access.offset.terms)
        if not is_linear or step(access.offset, inner) in (0, 1):
            return None
        for group in groups[:-1]:
            fits = fills(inner, group, write) and fills(group, inner, access.offset)
            if fits and step(access.offset, group) == 1 and step(write, group) not in (0, 1):
                source = loops.buffers[argument.index]
                rest = [g for g in groups[:-1] if g is not group]
                found = (*rest, group, inner)
                return cls(loops, source, outputs[0], found, group, access.offset, write, lanes)
        return None

    def build(self) -> Dim:
        """Fill the function; return its parallel extent."""
        loops, lanes = self.loops, self.lanes
        *rest, across, inner = self.groups
        space = Space(list(self.groups))
        wide = is_short(across.extent, lanes)
        blocks, chunks = ceil_divide(across.extent, lanes), ceil_divide(inner.extent, CHUNK)
        with loops.loop(loops.lo, loops.hi) as unit:
            number: Index = unit.index
            across.value = loops.multiply(loops.remainder(number, blocks), lanes)
            number = loops.divide(number, blocks)
            first = loops.multiply(loops.remainder(number, chunks), CHUNK)
            number = loops.divide(number, chunks)
            for group in reversed(rest):
                group.value = loops.remainder(number, group.extent)
                number = loops.divide(number, group.extent)
            left = loops.subtract(loops.index(across.extent), across.value)
            columns = loops.index(across.extent if wide else loops.minimum(left, lanes))
            if is_short(inner.extent, lanes):
                self.block(space, 0, loops.index(inner.extent), columns)
            else:
                extent = loops.index(inner.extent)
                end = extent if chunks == 1 else loops.minimum(loops.add(first, CHUNK), extent)
                with loops.loop(first, end, lanes) as one:
                    rows = loops.index(loops.minimum(loops.subtract(end, one.index), lanes))
                    self.block(space, one.index, rows, columns)
        return blocks * chunks * product(tuple(group.extent for group in rest))

    def block(self, space: Space, row: Index, rows: SSAValue, columns: SSAValue) -> None:
        """Turn one block."""
        loops = self.loops
        *_, across, inner = self.groups
        inner.value = row
        read, write = (space.split(loops, x)[0] for x in (self.read, self.write))
        source = self.source, loops.index(read), loops.index(step(self.read, inner))
        to = self.out, loops.index(write), loops.index(step(self.write, across))
        loops.here(gvk.TransposeTile(source, to, rows, columns, lanes=self.lanes))


def is_short(extent: Dim, most: int) -> bool:
    """Say whether a group is known to have no more than so many steps."""
    return isinstance(extent, int) and extent <= most


def fills(group: Group, other: Group, offset: Linear) -> bool:
    """Say whether a group fills a block, or its few steps lie without gaps beside each other."""
    extent = group.extent
    return not is_short(extent, LEAST - 1) or (extent != 1 and step(offset, other) == extent)


def step(offset: Linear, group: Group) -> Dim:
    """Return how far one step of a group goes; 0 if it does not always go as far."""
    found = offset.coefficient(group.tokens[-1])
    places = zip(group.tokens, group.places(), strict=True)
    even = all(offset.coefficient(token) == place * found for token, place in places)
    return found if even else 0


def moved_argument(values: Sequence[SSAValue]) -> BlockArgument | None:
    """Return the argument whose elements a kernel moves, if it does nothing else."""
    if len(values) != 1:
        return None
    value = values[0]
    while isinstance(value.owner, Op) and is_move(value.owner):
        value = value.owner.operands[0]
    return value if isinstance(value, BlockArgument) else None

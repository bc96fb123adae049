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
from ...ir.types.indices import Linear
from ...passes.analysis.walks import is_move
from .builder.loops import Index, Loops
from .builder.plan import AccessPlan
from .builder.space import Group, Space

LEAST = 4
"""Shorter groups fill too little of a block, but where its columns lie without gaps."""


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
        write, lanes = offsets
        argument = moved_argument(values)
        if argument is None or len(plan.tracer.accesses) != 1 or len(groups) < 2:
            return None
        (access,) = plan.tracer.accesses
        inner = groups[-1]
        if step(access.offset, inner) <= 1 or not isinstance(inner.extent, int):
            return None
        for group in groups[:-1]:
            long = isinstance(group.extent, int) and group.extent >= LEAST
            fills = inner.extent >= LEAST or step(write, group) == inner.extent > 1
            if long and fills and step(access.offset, group) == 1 and step(write, group) > 1:
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
        blocks = ceil_divide(across.extent, lanes)
        with loops.loop(loops.lo, loops.hi) as unit:
            across.value = loops.multiply(loops.remainder(unit.index, blocks), lanes)
            number = loops.divide(unit.index, blocks)
            for group in reversed(rest):
                group.value = loops.remainder(number, group.extent)
                number = loops.divide(number, group.extent)
            left = loops.subtract(loops.index(across.extent), across.value)
            columns = loops.index(loops.minimum(left, lanes))
            assert isinstance(inner.extent, int), "blocks have known rows"
            if inner.extent <= lanes:
                self.block(space, 0, loops.index(inner.extent), columns)
            else:
                with loops.loop(0, inner.extent, lanes) as one:
                    left = loops.subtract(inner.extent, one.index)
                    rows = loops.index(loops.minimum(left, lanes))
                    self.block(space, one.index, rows, columns)
        return blocks * product(tuple(group.extent for group in rest))

    def block(self, space: Space, row: Index, rows: SSAValue, columns: SSAValue) -> None:
        """Turn one block."""
        loops = self.loops
        *_, across, inner = self.groups
        inner.value = row
        read, write = (space.split(loops, x)[0] for x in (self.read, self.write))
        source = self.source, loops.index(read), loops.index(step(self.read, inner))
        to = self.out, loops.index(write), loops.index(step(self.write, across))
        loops.here(gvk.TransposeTile(source, to, rows, columns, lanes=self.lanes))


def step(offset: Linear, group: Group) -> int:
    """Return how far one step of a group goes; 0 if that is no number."""
    found = offset.coefficient(group.tokens[-1])
    places = zip(group.tokens, group.places(), strict=True)
    even = all(offset.coefficient(token) == place * found for token, place in places)
    return found if isinstance(found, int) and even else 0


def moved_argument(values: Sequence[SSAValue]) -> BlockArgument | None:
    """Return the argument whose elements a kernel moves, if it does nothing else."""
    if len(values) != 1:
        return None
    value = values[0]
    while isinstance(value.owner, Op) and is_move(value.owner):
        value = value.owner.operands[0]
    return value if isinstance(value, BlockArgument) else None

"""Concatenations that put a few elements of each operand side by side, as colours of pixels.

    for unit in lo..hi                     rows of the result, as `map` walks them
      for v in 0..n step L
        out[v * count ..] = the elements of L rows of each column, by turns

Column by column, each element would be stored by itself. Here L rows of each are computed as
vectors, whose lanes are mixed into as many vectors of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, product
from ...ir.types.indices import Indices, Linear
from ...ir.types.tensor import spec_of
from .builder.loops import Loops
from .builder.plan import plan
from .builder.read import NEAR, Tracer
from .map import MapNest

LEAST = 4
"""Rows that are fewer, where they are walked by themselves, do not fill a vector."""


@dataclass
class ByTurns(MapNest):
    """Builds the loops of one concatenation."""

    columns: Sequence[tuple[SSAValue, Indices]] = field(default_factory=list)
    """Where the elements of each row come from, and at which place behind the row."""

    @classmethod
    def of(
        cls, anchor: Op, loops: Loops, arguments: Sequence[SSAValue], out: SSAValue
    ) -> ByTurns | None:
        """Return the builder where a row has a few elements of several operands."""
        axis: int = anchor.plain_attributes()["axis"]
        dims = spec_of(anchor.results[0].type).dims
        count = dims[axis]
        few = isinstance(count, int) and len(anchor.operands) > 1 and count <= NEAR
        if loops.fine or not few or product(dims[axis + 1 :]) != 1 or product(dims[:axis]) == 1:
            return None
        columns = list(_columns(anchor, axis))

        def visit(tracer: Tracer, index: Indices) -> None:
            for operand, behind in columns:
                tracer.visit(operand, (*index, *behind))

        values = [operand for operand, _ in columns]
        made = cls(loops, arguments, [out], values, plan(dims[:axis], visit), columns)
        inner = made.groups(dims[:axis])[-1:]
        short = any(isinstance(each.extent, int) and each.extent < LEAST for each in inner)
        return None if short or not inner else made

    def build(self, shape: Sequence[Dim], lanes: int) -> Dim:
        """Fill the function; return its parallel extent."""
        return self.walk(self.groups(shape), lanes)

    def store(self) -> None:
        """Compute and store some rows."""
        loops, reader, lanes = self.loops, self.reader, self.space.lanes
        base, _, _ = self.space.split(loops, self.offset)
        rows = []
        for operand, behind in self.columns:
            element = reader.element(operand, (*self.plan.index, *behind))
            rows.append(reader.math.narrow(reader.math.spread(element, lanes)))
        (out,), first = self.outputs, loops.multiply(base, len(rows))
        for number, vector in enumerate(by_turns(loops, rows, lanes) if lanes else rows):
            at, mask = number * (lanes or 1), None
            if reader.tail is not None:
                left = loops.subtract(loops.multiply(reader.tail[1], len(rows)), at)
                mask = loops.mask(left, lanes)
            loops.store(vector, out, loops.add(first, at), mask, nontemporal=loops.streams)


def _columns(anchor: Op, axis: int) -> Sequence[tuple[SSAValue, Indices]]:
    """Return operand and place of each element of a row."""
    behind = (Linear(),) * (len(spec_of(anchor.results[0].type).dims) - axis - 1)
    extents = [spec_of(operand.type).dims[axis] for operand in anchor.operands]
    return [
        (operand, (Linear(constant=place), *behind))
        for operand, extent in zip(anchor.operands, extents, strict=True)
        if isinstance(extent, int)
        for place in range(extent)
    ]


def by_turns(loops: Loops, rows: Sequence[SSAValue], lanes: int) -> list[SSAValue]:
    """Return vectors that have the first lanes of all, one after the other, then the second."""
    made = []
    for number in range(len(rows)):
        places = [divmod(number * lanes + lane, len(rows)) for lane in range(lanes)]
        vector = rows[0]
        for column in range(1, len(rows)):
            chosen = [
                lanes + lane if c == column else lane if column == 1 else own
                for own, (lane, c) in enumerate(places)
            ]
            vector = loops.shuffle(vector, rows[column], chosen)
        made.append(vector)
    return made

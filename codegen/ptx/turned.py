"""Moves across memory on a GPU: a block turns a square by shared memory.

    block: the other groups x squares of 32 x 32
      for 4 lines                                     a warp reads 32 neighbours of the source
        square[line, lane] = in[.., line, .., lane]
      for 4 lines                                     and writes 32 neighbours of the result
        out[.., line, .., lane] = square[lane, line]

Lines of the square are one element apart more than they are long, so that the lanes of a warp find
its columns in different banks. Element by element, each warp would read, or write, 32 lines.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, i1
from xdsl.dialects.func import FuncOp

from ...ir.dialects.gpu import THREADS, WARP, Barrier
from ...ir.program import result_specs
from ...ir.types.dims import Dim, ceil_divide, product
from ...ir.types.indices import Indices
from ...target import Target
from .. import kernels
from ..kernels.builder.loops import Index
from ..kernels.builder.plan import open_kernel, plan, returned_values, write_offset
from ..kernels.builder.read import Tracer
from ..kernels.builder.space import Group, Space, merge
from ..kernels.turned import Turned, moved_argument
from .products.tile import shared

LEAST = 16
"""Narrower moves would leave most of a square empty."""
LINES = 8
"""Of a square that the warps of a block bring at a time."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an element-wise kernel: by blocks if it only turns something."""
    values = returned_values(kernel)
    if moved_argument(values) is None:
        return kernels.lower(kernel, target)

    def visit(tracer: Tracer, index: Indices) -> None:
        tracer.visit(values[0], index)

    shape = result_specs(kernel)[0].dims
    made = plan(shape, visit)
    loops, _, outputs = open_kernel(kernel, target)
    offset = write_offset(made.index, shape)
    groups = merge(made.tokens, [*made.offsets, offset], made.alone)
    turned = BlockTurned.of(loops, (values, outputs), made, groups, (offset, WARP))
    if turned is None or min(map(known_extent, turned.groups[-2:])) < LEAST:
        return kernels.lower(kernel, target)
    function = loops.finish(turned.build())
    function.attributes[THREADS] = IntegerAttr(WARP * LINES, 64)
    return function


def known_extent(group: Group) -> int:
    """Return the extent of a group; many if it is a symbol."""
    return group.extent if isinstance(group.extent, int) else WARP


class BlockTurned(Turned):
    """Builds the loops of one move."""

    def build(self) -> Dim:
        """Fill the function; return how many blocks there are."""
        loops = self.loops
        *rest, across, inner = self.groups
        space = Space(list(self.groups))
        kind = self.source.type
        assert isinstance(kind, MemRefType), f"{kind} is no memory"
        pitch = WARP + 1
        square = shared(loops, kind.element_type, WARP * pitch)
        wide, tall = (ceil_divide(group.extent, WARP) for group in (across, inner))
        lane, line = loops.remainder(loops.slot, WARP), loops.divide(loops.slot, WARP)
        with loops.loop(loops.lo, loops.hi) as unit:
            number: Index = unit.index
            corner = loops.multiply(loops.remainder(number, wide), WARP)
            number = loops.divide(number, wide)
            edge = loops.multiply(loops.remainder(number, tall), WARP)
            number = loops.divide(number, tall)
            for group in reversed(rest):
                group.value = loops.remainder(number, group.extent)
                number = loops.divide(number, group.extent)
            for further in range(0, WARP, LINES):
                own = loops.add(line, further)
                across.value = self.inside(loops.add(corner, lane), across)
                inner.value = self.inside(loops.add(edge, own), inner)
                place = space.split(loops, self.read)[0]
                value = loops.load(self.source, place, 0)
                loops.store(value, square, loops.add(loops.multiply(own, pitch), lane))
            loops.here(Barrier())
            for further in range(0, WARP, LINES):
                own = loops.add(line, further)
                places = loops.add(corner, own), loops.add(edge, lane)
                across.value, inner.value = places
                there = [
                    loops.compare("slt", at, loops.index(group.extent))
                    for at, group in zip(places, (across, inner), strict=True)
                ]
                with loops.when(loops.pure(arith.AndIOp, there, i1)):
                    place = space.split(loops, self.write)[0]
                    at = loops.add(loops.multiply(lane, pitch), own)
                    loops.store(loops.load(square, at, 0, constant=False), self.out, place)
        return wide * tall * product(tuple(group.extent for group in rest))

    def inside(self, at: Index, group: Group) -> Index:
        """Return a position of a group, or its last one."""
        loops = self.loops
        return loops.minimum(at, loops.subtract(loops.index(group.extent), 1))

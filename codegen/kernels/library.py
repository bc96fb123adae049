"""Products that a library computes: one call for each pair of matrices.

for unit in lo..hi          parallel: the matrices of the result
  gvk.library_gemm          threads beyond those of a run are the library's own
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.types.dims import Dim, product
from ...target import Target
from .builder.loops import Index, Loops
from .builder.plan import open_kernel, returned_values


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the calls of a product."""
    (root,) = returned_values(kernel)
    anchor = root.owner
    assert isinstance(anchor, Op), "the root is an operation"
    flags = anchor.plain_attributes()
    loops, _, (out,) = open_kernel(kernel, target)
    left, right = (spec.dims for spec in anchor.specs)
    made = anchor.result_specs[0].dims
    *batch, m, n = made
    k = left[-2] if flags["transpose_lhs"] else left[-1]
    given = kernel.body.block.args
    left_at, right_at = (loops.buffers[given.index(v)] for v in anchor.operands)
    with loops.loop(loops.lo, loops.hi) as unit:
        index = split(loops, unit.index, batch)
        places = []
        for buffer, dims in zip((left_at, right_at, out), (left, right, made), strict=True):
            places += [buffer, loops.index(offset(loops, index, dims))]
        sizes = [loops.index(each) for each in (m, n, k)]
        transposed = (flags["transpose_lhs"], flags["transpose_rhs"])
        loops.here(gvk.LibraryGemm(places, sizes, flags["function"], transposed=transposed))
    return loops.finish(product(batch))


def split(loops: Loops, unit: Index, batch: Sequence[Dim]) -> list[Index]:
    """Return which matrix a unit is, along each axis."""
    index: list[Index] = []
    for extent in reversed(batch):
        index.insert(0, loops.remainder(unit, extent))
        unit = loops.divide(unit, extent)
    return index


def offset(loops: Loops, index: Sequence[Index], dims: Sequence[Dim]) -> Index:
    """Return where a matrix begins in an operand, which may have one for several of the result."""
    place: Index = 0
    stride = product(tuple(dims[-2:]))
    own = dims[:-2]
    for extent, at in zip(reversed(own), reversed(index), strict=False):
        if extent != 1:
            place = loops.add(place, loops.multiply(at, stride))
        stride = product((stride, extent))
    return place

"""Compute 3x3 convolutions by Winograd's tiles.

    %y = gv.conv %x, %w {3x3}    =>    %u = transform(%w)                     (to @prepare)
                                       %y = gv.winograd_packed %x, %u {columns = 64}

Convolutions that move by 1, with enough channels that the 2.25 to 4 times fewer products outweigh
the transforms, and images so large that few tiles stick out of them. Results differ from the
direct sum by about 1e-5 of the largest. Needs `choose-layout`; stands before `pack-weights`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program, replace
from ..ir.ops.winograd import TILE, WinogradPacked, transform_weights
from ..ir.program import functions
from .analysis.blocks import operations_of
from .analysis.tiles import panel_width
from .base import Pass
from .pack_weights import is_packed, is_weighted, mark_fixed, target_of

WASTE = 1.5
"""Results of whole tiles over results that are wanted, at most."""

MANY_TILES = 64
"""The products have as many rows as a block has tiles."""

MANY_PLACES = 1024
"""Results of one filter that outweigh transforming weights that are given in a run."""


@dataclass(frozen=True)
class Winograd(Pass):
    """Compute 3x3 convolutions by Winograd's tiles."""

    NUMERICS = "approximate"
    LEVEL = "graph"
    channels: int = 32
    """The fewest channels, of source and result."""

    def apply(self, program: Program) -> None:
        """Rewrite in every function."""
        target = target_of(program)
        if target.is_gpu:
            return
        for function in functions(program.module):
            fixed: dict[SSAValue, bool] = {}
            for op in list(operations_of(function)):
                mark_fixed(op, fixed)
                if isinstance(op, Op) and op.name == "gv.conv" and is_packed(op, fixed):
                    if not self.pays(op, is_fixed=is_weighted(op, fixed)):
                        continue
                    emit = GraphEmit.before(op)
                    weight = op.specs[1]
                    columns = int(weight.dims[0])  # type: ignore[arg-type]
                    tile = panel_width(target, MANY_TILES, columns, weight.dtype)
                    panels = transform_weights(emit, op.operands[1], weight, tile)
                    pads = op.plain_attributes()["pads"]
                    made = emit(WinogradPacked, op.operands[0], panels, columns=columns, pads=pads)
                    replace(op, made)
                    self.count("convolutions")

    def pays(self, op: Op, *, is_fixed: bool) -> bool:
        """Say whether there is a tiled form, and it is faster."""
        flags = op.plain_attributes()
        source, weight = op.specs
        result = op.result_specs[0]
        if not flags["channels_last"] or weight.dims[2:] != (3, 3) or source.dtype.name != "f32":
            return False
        if flags["groups"] != 1 or flags["strides"] != (1, 1) or flags["dilations"] != (1, 1):
            return False
        sizes = (*source.dims, *weight.dims, *result.dims)
        if not all(isinstance(d, int) for d in sizes):
            return False
        inputs, outputs = int(source.dims[3]), int(result.dims[3])  # type: ignore[arg-type]
        if min(inputs, outputs) < self.channels or inputs % 16:
            return False
        rows, columns = (int(d) for d in result.dims[1:3])  # type: ignore[arg-type]
        if not is_fixed and int(source.dims[0]) * rows * columns < MANY_PLACES:  # type: ignore[arg-type]
            return False
        whole = (-(-rows // TILE) * TILE) * (-(-columns // TILE) * TILE)
        return whole <= WASTE * rows * columns and rows * columns >= TILE**3

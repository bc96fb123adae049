"""Compute 3x3 convolutions by Winograd's tiles.

    %y = gv.conv %x, %w {3x3}    =>    %u = transform(%w)                     (to @prepare)
                                       %y = gv.winograd_packed %x, %u {tile = 4, stride = 1}

Tiles of 4x4 or of 2x2 results, of windows that move by 1 or by 2: what costs least of products,
transforms, and weights that come from memory. Large tiles need fewer products, but stick out of
small images and have more weights. Results of 4x4 tiles differ from the direct sum by about 1e-5
of the largest. Of a convolution in groups of many channels each group is one, if that is faster,
beside the others. Needs `choose-layout`; stands before `pack-weights`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program, replace
from ..ir.compose.functions import split
from ..ir.op import REGISTRY
from ..ir.ops.conv import Conv
from ..ir.ops.laid_out.winograd import Form, WinogradPacked, form_of, transform_weights
from ..ir.types.dims import Dim, Range, evaluate, symbols
from ..ir.types.tensor import spec_of
from ..target import Target
from .analysis.kernels.choices import decide
from .analysis.kernels.tiles import panel_width
from .analysis.targets import target_of
from .base import Pass
from .pack_weights import is_packed, is_weighted, with_fixed

TILES = (2, 4)
LESS = 0.85
"""A form is taken if it costs so much less than the one before it: the direct sum, small tiles."""

TRANSFORM = 10
"""Products that moving and transforming a value costs, of a place of a tile."""
FETCH = 12
"""Products that are done while a weight comes from memory."""
GIVEN = 100
"""Products that transforming a weight costs where that is done in each run."""

MANY_TILES = 64
"""The products have as many rows as a block has tiles."""


def middle(size: Dim, ranges: Mapping[str, Range]) -> int:
    """Return a size in the middle of its range: as many times the lowest as below the highest."""
    middles = {}
    for name in symbols(size):
        low, high = ranges.get(name, (1, None))
        middles[name] = isqrt(max(low, 1) * max(high or low, 1))
    return max(1, evaluate(size, middles))


@dataclass(frozen=True)
class Winograd(Pass):
    """Compute 3x3 convolutions by Winograd's tiles."""

    NUMERICS = "approximate"
    LEVEL = "graph"
    FOR = (Conv,)
    channels: int = 32
    """The fewest channels, of source and result."""
    largest: int = 4
    """The most results along an axis of a tile: with 2 they are as near as the direct sum's."""

    def apply(self, program: Program) -> None:
        """Rewrite in every function."""
        target = target_of(program)
        if not target.can.pack_panels:
            return
        for op, fixed in with_fixed(program):
            if op.name != "gv.conv" or not is_packed(op, fixed):
                continue
            is_fixed = is_weighted(op, fixed)
            form = self.form(op, target, program.ranges, is_fixed=is_fixed)
            if form is None:
                continue
            replace(op, transformed(op, form, target))
            self.count(f"tiles of {form.tile}x{form.tile}")

    def form(
        self, op: Op, target: Target, ranges: Mapping[str, Range], *, is_fixed: bool
    ) -> Form | None:
        """Return the form that is fastest, if there is one and it is faster than the sum.

        For symbols that is decided in the middle of their ranges.
        """
        flags = op.plain_attributes()
        source, weight = op.specs
        result, groups = op.result_specs[0], flags["groups"]
        stride = flags["strides"]
        if not flags["channels_last"] or weight.dims[2:] != (3, 3) or source.dtype.name != "f32":
            return None
        if stride not in ((1, 1), (2, 2)) or flags["dilations"] != (1, 1):
            return None
        pads = [size for pair in flags["pads"] for size in pair]
        inputs, outputs = source.dims[3], result.dims[3]
        if not all(isinstance(d, int) for d in (inputs, outputs, *weight.dims, *pads)):
            return None
        assert isinstance(inputs, int), "it is one of those that were asked"
        assert isinstance(outputs, int), "it is one of those that were asked"
        inputs, outputs = inputs // groups, outputs // groups
        if min(inputs, outputs) < self.channels or inputs % 16:
            return None
        images, rows, columns = (middle(size, ranges) for size in result.dims[:3])
        best, least = None, max(images * rows * columns, FETCH) * 9 * inputs * outputs
        forms = {tile: form_of(tile, stride[0]) for tile in TILES if tile <= self.largest}
        for form in forms.values():
            tiles = images * -(-rows // form.tile) * -(-columns // form.tile)
            moved = tiles * form.seen**2 * TRANSFORM * (inputs + outputs)
            weights = form.planes**2 * inputs * outputs
            work = max(tiles * form.seen**2 * inputs * outputs, FETCH * weights)
            cost = work + moved + (0 if is_fixed else GIVEN * weights)
            if cost < LESS * least:
                best, least = form, cost
        name = f"winograd_{images}x{rows}x{columns}_{inputs}x{outputs}_stride{stride[0]}"
        return forms.get(decide(target, name, (0, *forms), best.tile if best else 0))


def transformed(op: Op, form: Form, target: Target) -> SSAValue:
    """Return a convolution by tiles: those of all groups beside each other."""
    emit, (x, w), flags = GraphEmit.before(op), op.operands, op.plain_attributes()
    groups, channels = flags["groups"], op.specs[0].rank - 1
    kept = {"pads": flags["pads"], "tile": form.tile, "stride": form.stride}
    parts: list[SSAValue] = []
    for image, weight in zip(
        apart(emit, x, channels, groups), apart(emit, w, 0, groups), strict=True
    ):
        spec = spec_of(weight.type)
        columns = spec.static_shape[0]
        width = panel_width(target, MANY_TILES, columns, spec.dtype)
        panels = transform_weights(emit, weight, spec, width, form)
        parts.append(emit(WinogradPacked, image, panels, columns=columns, **kept))
    return parts[0] if groups == 1 else emit(REGISTRY["gv.concat"], *parts, axis=channels)


def apart(emit: GraphEmit, x: SSAValue, axis: int, groups: int) -> list[SSAValue]:
    """Return the parts of a value that groups have along an axis."""
    if groups == 1:
        return [x]
    extent = spec_of(x.type).dims[axis]
    assert isinstance(extent, int), "channels are known"
    return split(emit, x, axis, [extent // groups] * groups)

"""Take apart pads that repeat elements, where they would be gathered along a row.

    %y = gv.pad %x {pads = [[1, 1], [2, 2]],        %l = gv.slice %x (columns 2, 1)
                    mode = "reflect"}          =>   %r = gv.slice %x (the last but one, but two)
                                                    %y = gv.concat (gv.pad %l), (gv.pad %x), ...

Which element a padded axis repeats is computed for each, and neighbours need not be neighbours in
memory: along the last axis every element is loaded by itself, and along one behind which are but a
few elements, as an image's columns lie that has three channels. What stands before, in and behind
the axis is a piece in which they are. Pads of the other axes stay, they take whole rows. Small
tensors are not worth the loops; a GPU's threads take one element anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.compose.functions import cut
from ..ir.types.dims import Dim
from .analysis.rewrite import Rewriter, spec
from .analysis.targets import target_of
from .base import Pass

Place: TypeAlias = "tuple[int, int, int]"
"""Where columns begin and end, and the step from one to the next."""
LEAST = 4096
"""Elements from which on a pad is taken apart; of an open size there may be many."""
SHORT = 16
"""Elements up to which a row is one that is not worth to be taken as a whole."""
REST = {"reflect": 1, "wrap": 0}
"""How many elements more than a pad an axis must have, that none is repeated twice there."""


@dataclass(frozen=True)
class SplitPads(Pass):
    """Take apart pads that repeat elements along the last axis."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every pad that gathers."""
        if not target_of(program).can.walk_vectors:
            return
        rewriter = Rewriter({"gv.pad": (split,)})
        rewriter.run(program)
        self.count("split", rewriter.hits.get("split", 0))


def split(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Join what stands before, in and behind the axis, each padded along the others."""
    found = last_axis(op)
    if found is None:
        return None
    axis, extent, low, high = found
    x, pads, mode = op.operands[0], op.plain_attributes()["pads"], op.plain_attributes()["mode"]
    if not isinstance(extent, int):
        return split_open(op, rewriter, axis)
    before, behind = places(mode, extent, low, high)
    parts = [columns(rewriter, x, axis, (max(0, -low), extent - max(0, -high), 1))]
    for place, count, at in ((before, low, 0), (behind, high, 2)):
        if count > 0:
            made = columns(rewriter, x, axis, place)
            if mode == "edge":
                dims = spec(made).dims
                shape = (*dims[:axis], count, *dims[axis + 1 :])
                made = rewriter("broadcast_to", made, shape=shape)
            parts.insert(at, made)
    rest = (*pads[:axis], (0, 0), *pads[axis + 1 :])
    if any(pair != (0, 0) for pair in rest):
        parts = [rewriter("pad", part, pads=rest, mode=mode) for part in parts]
    return parts[0] if len(parts) == 1 else rewriter("concat", *parts, axis=axis)


def split_open(op: Op, rewriter: Rewriter, axis: int) -> SSAValue | None:
    """Join the same of an axis of an open size, where more may be repeated than there is.

    What stands before and behind is what is left of the pad where all that is inside is cropped.
    """
    x, extent = op.operands[0], op.specs[0].dims[axis]
    pads = op.plain_attributes()["pads"]
    rest, (low, high), behind = pads[:axis], pads[axis], pads[axis + 1 :]
    pairs = [(low, -extent)] * (low > 0) + [(0, 0)] + [(-extent, high)] * (high > 0)
    mode = op.plain_attributes()["mode"]
    parts = [
        x if pair == (0, 0) and not any(map(any, rest)) else
        rewriter("pad", x, pads=(*rest, pair, *behind), mode=mode)
        for pair in pairs
    ]  # fmt: skip
    return rewriter("concat", *parts, axis=axis)


def last_axis(op: Op) -> tuple[int, Dim, int, int] | None:
    """Return which axis is taken apart, its extent and its pads; None where all stays as it is.

    That is the last one, or one behind which are a few elements: these are a short row.
    """
    mode, pads = op.plain_attributes()["mode"], op.plain_attributes()["pads"]
    if mode == "constant" or not pads:
        return None
    dims, result, axis = op.specs[0].dims, op.result_specs[0], len(pads) - 1
    while axis and pads[axis] == (0, 0) and few(dims[axis:]):
        axis -= 1
    extent, (low, high) = dims[axis], pads[axis]
    if not (isinstance(low, int) and isinstance(high, int)):
        return None
    if not isinstance(extent, int):
        return (axis, extent, low, high) if min(low, high) >= 0 and low + high > 0 else None
    if low == high == 0 or (result.is_static and prod(result.static_shape) < LEAST):
        return None
    if mode != "edge" and max(low, high) + REST[mode] > extent:
        return None  # some are repeated more than once
    return axis, extent, low, high


def few(dims: Sequence[Dim]) -> bool:
    """Say whether a row of the last axes has few elements."""
    known = [d for d in dims if isinstance(d, int)]
    return len(known) == len(dims) and prod(known) <= SHORT


def places(mode: str, extent: int, low: int, high: int) -> tuple[Place, Place]:
    """Return which columns stand before the first one, and which behind the last one."""
    if mode == "edge":  # each again and again
        return (0, 1, 1), (extent - 1, extent, 1)
    if mode == "wrap":
        return (extent - low, extent, 1), (0, high, 1)
    stop = extent - 2 - high
    return (low, 0, -1), (extent - 2, stop if stop >= 0 else -1 - extent, -1)


def columns(rewriter: Rewriter, x: SSAValue, axis: int, place: Place) -> SSAValue:
    """Take columns."""
    if place == (0, spec(x).dims[axis], 1):
        return x
    made: SSAValue = cut(rewriter.make, x, axis, *place)
    return made

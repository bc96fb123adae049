"""Which template a kernel goes by on a GPU: one of blocks, or that of processors with small units.

Convolutions of one channel a group are no products worth a tile; their windows are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ...ir import Op
from ...ir.levels import KIND
from ...target import Target
from .. import kernels
from . import recurrent, scan, turned
from .attention.elements import Attend
from .attention.flash import Flash
from .attention.flash_wide import FlashWide
from .products.grouped import Grouped, GroupedMatrices, GroupedWarpgroups
from .products.matrix import MatrixContraction, multiplies_matrices
from .products.nest import anchor_of
from .products.thin import ThinContraction
from .products.tile import Contraction
from .products.warpgroup import WarpgroupContraction
from .rows import GpuRows

HOPPER = "sm_90a"
"""The architecture whose warpgroups multiply."""

FEWEST_FILTERS = 8
"""Of one channel group: with fewer, most of a tile would be left over."""


def attention(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an attention."""
    for template in (FlashWide, Flash) if target.cpu == HOPPER else (Flash,):
        made = template(kernel, target)
        if made.fits:
            return made.build()
    return Attend(kernel, target).build()


TEMPLATES: Mapping[str, Callable[[FuncOp, Target], FuncOp]] = {
    "row": lambda kernel, target: GpuRows(kernel, target).build(),
    "rnn": recurrent.lower,
    "scan": scan.lower,
    "map": turned.lower,
    "attention": attention,
}
"""Kinds whose kernels are always run by blocks."""


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a kernel function for a GPU."""
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    anchor = anchor_of(kernel)
    if anchor is not None and not is_narrow(anchor):
        made = contracted(kernel, anchor, target)
    else:
        made = TEMPLATES.get(kind.data, kernels.lower)(kernel, target)
    made.attributes[KIND] = kind
    return made


def contracted(kernel: FuncOp, anchor: Op, target: Target) -> FuncOp:
    """Return the loops of a product, by the largest unit that can multiply its elements."""
    grouped = anchor.name == "gv.matmul_grouped"
    thin = ThinContraction(kernel, anchor, target) if not grouped else None
    is_empty = (anchor.specs[0].dims[1] if thin is None else thin.depth) == 0
    if thin is not None and thin.fits and not is_empty:
        return thin.build()
    if is_empty or not multiplies_matrices(anchor):
        return (Grouped if grouped else Contraction)(kernel, anchor, target).build()
    if target.cpu == HOPPER and anchor.specs[0].dtype.size == 2:
        kind = GroupedWarpgroups if grouped else WarpgroupContraction
        made = kind(kernel, anchor, target)
        if made.fits:
            return made.build()
    return (GroupedMatrices if grouped else MatrixContraction)(kernel, anchor, target).build()


def is_narrow(anchor: Op) -> bool:
    """Say whether a convolution has few filters a group: depthwise ones have one."""
    if anchor.name != "gv.conv":
        return False
    filters, groups = anchor.specs[1].dims[0], anchor.plain_attributes()["groups"]
    return groups > 1 and isinstance(filters, int) and filters // groups < FEWEST_FILTERS

"""Which template a kernel goes by on a GPU."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ...ir.levels import KIND
from ...ir.target import Target
from .. import kernels
from .nest import anchor_of
from .tile import Contraction


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a kernel function for a GPU."""
    anchor = anchor_of(kernel)
    if anchor is None:
        return kernels.lower(kernel, target)
    made = Contraction(kernel, anchor, target).build()
    made.attributes[KIND] = kernel.attributes[KIND]
    return made

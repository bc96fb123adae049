"""Which template a kernel goes by on a GPU."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ...ir.levels import KIND
from ...ir.target import Target
from .. import kernels


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a kernel function for a GPU."""
    made = kernels.lower(kernel, target)
    made.attributes[KIND] = kernel.attributes[KIND]
    return made

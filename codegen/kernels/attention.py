"""Attention: the whole of it, or what parts of the keys give to one."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ...target import Target
from .attention_blocks import AttentionKernel
from .attention_parts import Parts


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of an attention, or of what parts of the keys give to one."""
    is_part = any(op.name == Parts.NAME for op in kernel.body.block.ops)
    return (Parts if is_part else AttentionKernel)(kernel, target).build()

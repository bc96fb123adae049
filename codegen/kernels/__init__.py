"""Kernel templates: from a kernel function on tensors to its loops.

A template is a file named after its kind, with `lower(kernel, target) -> FuncOp`. Read
`loops` (the builder), `index` and `space` (loop dims), `read` (fusion by reading), then
`map` (the simplest template).
"""

from __future__ import annotations

from importlib import import_module

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ...ir.levels import KIND
from ...ir.target import Target


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a kernel function by the template of its kind."""
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    template = import_module(f"{__name__}.{kind.data}")
    made = template.lower(kernel, target)
    assert isinstance(made, FuncOp), f"template {kind.data} gave {made}"
    made.attributes[KIND] = kind
    return made

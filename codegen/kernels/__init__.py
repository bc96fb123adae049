"""Kernel templates: from a kernel function on tensors to its loops.

A template is a file named after its kind, with `lower(kernel, target) -> FuncOp`. Read
`builder/` (the builder of loops, loop dims, fusion by reading), then `map` (the simplest template).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ...errors import CompileError
from ...ir.levels import KIND
from ...target import Target


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a kernel function by the template of its kind."""
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    template = template_of(kind.data)
    if template is None:
        raise CompileError(f"kernel @{kernel.sym_name.data} is of the unknown kind {kind.data!r}")
    made = template(kernel, target)
    assert isinstance(made, FuncOp), f"template {kind.data} gave {made}"
    made.attributes[KIND] = kind
    return made


def template_of(kind: str) -> Callable[[FuncOp, Target], FuncOp] | None:
    """Return the function that lowers kernels of a kind; None if there is no such kind."""
    name = f"{__name__}.{kind}"
    if not kind.isidentifier() or find_spec(name) is None:
        return None
    found: Callable[[FuncOp, Target], FuncOp] | None
    found = getattr(import_module(name), "lower", None)
    return found

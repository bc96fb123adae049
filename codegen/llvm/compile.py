"""Make an object file, or assembly, of the text of an LLVM module.

The text is verified first, for LLVM aborts the process on much that is wrong, and goes to the code
generator without any pass before: emitted code is in the form it wants. See Note [No passes].
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

from ...errors import CompileError
from ...ir.target import Target
from .cpu import target_machine

LINES = 200_000
"""Lines of one module: LLVM's time grows faster than the text, and it cannot be interrupted."""


def assemble(llvm_text: str, target: Target) -> bytes:
    """Return the object file of a module."""
    machine = target_machine(target)
    data: bytes = machine.emit_object(_module(llvm_text, target, machine))
    return data


def assembly(llvm_text: str, target: Target) -> str:
    """Return the assembly text of a module."""
    machine = target_machine(target)
    text: str = machine.emit_assembly(_module(llvm_text, target, machine))
    return text


def _module(llvm_text: str, target: Target, machine: Any) -> Any:
    """Return the verified module, in a context of its own so that its memory is given back."""
    lines = llvm_text.count("\n")
    if lines > LINES:
        raise CompileError(f"LLVM module of {lines} lines: expected {LINES} at most")
    try:
        module = llvm.parse_assembly(llvm_text, context=llvm.create_context())
        module.triple = target.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise AssertionError(f"LLVM refuses the emitted text: {error}") from error
    return module

"""Make an object file, or assembly, of the text of an LLVM module.

The text is verified first, for LLVM aborts the process on much that is wrong, and goes to the code
generator without any pass before: emitted code is in the form it wants. See Note [No passes].
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from ...errors import CompileError
from ...forks import across
from ...target import Target
from .cpu import target_machine
from .uninterrupted import uninterrupted

LINES = 200_000
"""Lines of one module: LLVM's time grows faster than the text, and it cannot be interrupted."""
OPTIMISED = 2
"""The level of LLVM's passes, for code that is not in the form that the code generator wants."""
PLAIN_LINES = 2_000_000
"""The same at level 0, where it grows with the text: the entry of a hundred thousand launches."""


across(lambda: [ffi.lib._lock._lock])
"""A child process gets LLVM as it is between two calls: see `gravure/forks.py`."""


@uninterrupted
def assemble(llvm_text: str, target: Target, optimisation: int = 1) -> bytes:
    """Return the object file of a module; level 0 is for code that hardly takes any time."""
    machine = target_machine(target, optimisation)
    most = LINES if optimisation else PLAIN_LINES
    data: bytes = machine.emit_object(parsed(llvm_text, target, machine, most))
    return data


@uninterrupted
def assemble_optimised(llvm_text: str, target: Target) -> bytes:
    """Return the object file of a module that LLVM's own passes are to go over first."""
    machine = target_machine(target)
    module = parsed(llvm_text, target, machine)
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMISED)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    data: bytes = machine.emit_object(module)
    return data


@uninterrupted
def assembly(llvm_text: str, target: Target) -> str:
    """Return the assembly text of a module."""
    machine = target_machine(target)
    text: str = machine.emit_assembly(parsed(llvm_text, target, machine))
    return text


def parsed(llvm_text: str, target: Target, machine: Any, most: int = LINES) -> Any:
    """Return the verified module, in a context of its own so that its memory is given back."""
    lines = llvm_text.count("\n")
    if lines > most:
        raise CompileError(f"LLVM module of {lines} lines: expected {most} at most")
    try:
        module = llvm.parse_assembly(llvm_text, context=llvm.create_context())
        module.triple = target.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise AssertionError(f"LLVM refuses the emitted text: {error}") from error
    return module


# Note [No passes]
# Measured on Zen 4 with LLVM 22, code generator at level 1:
#
#     kernel                        no passes          instcombine        O1
#     two loops over rows           3.4 ms, 33.9 us    4.4 ms, 34.0 us    11.7 ms, 33.6 us
#     division for each element     2.9 ms, 387 us     3.6 ms, 387 us     13.2 ms, 387 us
#
# (time to compile, time to run). The code generator itself takes what does not change out of
# loops, folds addresses and reuses equal machine instructions. GEMM 6x64 compiles in 11 ms at
# levels 1 to 3 and in 2.6 ms at level 0, which then runs at a third of the speed.

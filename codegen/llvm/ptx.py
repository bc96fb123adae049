"""Make PTX of the text of an LLVM module.

Other than for processors, LLVM's own passes run first: threads have no caches to hide what is
computed twice, and registers decide how many of them run. What LLVM cannot select aborts the
process, so kernels use a fixed list of intrinsics (see `codegen/ptx/emit.py`).
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from ...target import Target
from .compile import parsed
from .cpu import target_machine
from .uninterrupted import uninterrupted


@uninterrupted
def assemble_ptx(llvm_text: str, target: Target) -> str:
    """Return the PTX of a module."""
    machine = target_machine(target, 3)
    module = parsed(llvm_text, target, machine)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return _CALL_NUMBER.sub("", machine.emit_assembly(module))


_CALL_NUMBER = re.compile(r" // callseq .*")
"""A comment that counts the calls of the whole process: without it, equal input is equal output."""

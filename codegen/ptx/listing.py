"""The text of a program for a GPU: what LLVM is given, and the PTX that came of it."""

from __future__ import annotations

from ...ir import Program
from ...ir.levels import KIND
from ...ir.program import functions
from ...runtime.gpu.plan import GpuPlan
from ...target import Target
from .emit import emit_gpu_kernel
from .kernels import lower


def llvm_text(program: Program, plan: GpuPlan, target: Target) -> str:
    """Return the LLVM modules of all kernels, one behind the other."""
    names = {kernel.name for kernel in plan.kernels}
    lowered = program.level == "loops"
    made = [
        emit_gpu_kernel(function if lowered else lower(function, target), target)
        for function in functions(program.module)
        if KIND in function.attributes and function.sym_name.data in names
    ]
    return "\n".join(made)


def ptx_text(plan: GpuPlan) -> str:
    """Return one PTX module that has all kernels."""
    parts = [module.ptx.partition(_HEAD_ENDS) for module in plan.modules]
    head = "".join(parts[0][:2]).strip() if parts else ""
    return "\n".join([head, *(body.strip("\n") for _, _, body in parts), ""])


_HEAD_ENDS = ".address_size 64\n"
"""Behind version and target, which all modules have in common."""

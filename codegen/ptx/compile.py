"""Compile a planned program for a GPU."""

from __future__ import annotations

from ...ir import Program
from ...ir.levels import KIND
from ...ir.ops.structure import Launch
from ...ir.program import functions
from ...passes.analysis.blocks import operations_of
from ...runtime.artifact import Description
from ...runtime.gpu.plan import GpuPlan
from ...target import Target
from ..cache import Cache
from ..describe import Names, describe
from .assemble import gpu_codes
from .plan import gpu_plan

SLOTS = 1024
"""Threads that run a kernel which needs scratch memory for each."""


def compile_gpu(
    program: Program, target: Target, names: Names, cache: Cache
) -> tuple[Description, GpuPlan, int]:
    """Return description and plan of a planned program, and how many kernels were cached."""
    launched = {op.kernel for op in operations_of(program.main) if isinstance(op, Launch)}
    wanted = [
        function
        for function in functions(program.module)
        if KIND in function.attributes and function.sym_name.data in launched
    ]
    codes, cached = gpu_codes(wanted, target, cache, lowered=program.level == "loops")
    description = describe(program, names)
    return description, gpu_plan(program, description, codes, target), cached

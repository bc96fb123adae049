"""Compile a planned program for a GPU."""

from __future__ import annotations

from ...errors import UnsupportedOp
from ...ir import Program
from ...ir.levels import KIND
from ...ir.ops.structure import Launch
from ...ir.program import functions
from ...runtime.artifact import Description
from ...runtime.artifact import Launch as LaunchStep
from ...runtime.gpu_plan import GpuPlan
from ...target import Target
from ..describe import Names, describe
from ..llvm.cache import Cache
from .assemble import gpu_codes
from .plan import gpu_plan

SLOTS = 1024
"""Threads that run a kernel which needs scratch memory for each."""


def compile_gpu(
    program: Program, target: Target, names: Names, cache: Cache
) -> tuple[Description, GpuPlan, int]:
    """Return description and plan of a planned program, and how many kernels were cached."""
    launched = {
        str(op.plain_attributes()["kernel"])
        for op in program.main.body.block.ops
        if isinstance(op, Launch)
    }
    wanted = [
        function
        for function in functions(program.module)
        if KIND in function.attributes and function.sym_name.data in launched
    ]
    codes, cached = gpu_codes(wanted, target, cache, lowered=program.level == "loops")
    description = describe(program, names)
    for step in description.steps:
        if not isinstance(step, LaunchStep):
            raise UnsupportedOp(
                f"target {target}: a program with {type(step).__name__.lower()} steps,"
                " expected one without control flow"
            )
    return description, gpu_plan(program, description, codes, target), cached

"""Code for NVIDIA's GPUs: a plan of launches, with PTX for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ...passes.pipelines import pipeline_of
from ...target import Processor, Target
from ..compiled import object_cache
from ..ptx import kernels
from ..ptx.compile import SLOTS, compile_gpu
from ..ptx.listing import llvm_text, ptx_text
from .backend import Code, Job

if TYPE_CHECKING:
    from ..compiled import Compiled


class Cuda:
    """The back end of NVIDIA's GPUs, whose rows are in the table of targets from the start."""

    name = "cuda"
    processors: Sequence[Processor] = ()

    def check(self, target: Target) -> None:
        """Refuse nothing: a GPU has no operating system."""

    def pipeline(self, level: str, dtype: str) -> str:
        """Return the passes of a level."""
        return pipeline_of(level, dtype)

    def lower(self, kernel: FuncOp, target: Target) -> FuncOp:
        """Return a kernel's loops for blocks of threads."""
        return kernels.lower(kernel, target)

    def compile(self, job: Job) -> Code:
        """Return the plan of launches."""
        job.descend()
        names, cache = replace(job.names, slots=SLOTS, by_units=False), object_cache(job.options)
        description, plan, cached = compile_gpu(job.program, job.target, names, cache)
        return Code(description, plan=plan, cached=cached)

    def text(self, compiled: Compiled, stage: str) -> str:
        """Return the LLVM modules of all kernels, or their PTX."""
        program, plan = compiled.program, compiled.plan
        assert program is not None, "a program from the cache has no text"
        assert plan is not None, "what is compiled for a GPU has a plan"
        return llvm_text(program, plan, compiled.target) if stage == "llvm" else ptx_text(plan)

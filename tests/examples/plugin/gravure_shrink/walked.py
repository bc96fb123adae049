"""A back end that runs programs on the level `loops` by the reference interpreter.

It is slow, and finds wrong loops: an access outside of a buffer is an error there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from gravure.extend import (
    Architecture,
    Array,
    Capabilities,
    Code,
    Compiled,
    Interpreter,
    Job,
    Processor,
    Program,
    Target,
    describe,
    interpret_planned,
    lower_by,
    lower_kernel,
    pipeline_of,
    refuse_stage,
    register_backend,
    weight_blob,
)

WALKED = Architecture(
    name="walked",
    plain="",
    triple="walked-none-none",
    features={},
    can=Capabilities(convolve_integers=False, step_out=False, stream=False, run_anywhere=True),
    backend="walked",
    lanes=8,
    registers=16,
)
"""What kernels are to look like: passes and templates ask it."""


@dataclass
class Walk:
    """A program of loops, with its weights prepared."""

    program: Program
    weights: Array

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Interpret it."""
        return interpret_planned(self.program, inputs, self.weights)


class Walked:
    """The back end."""

    name = "walked"
    processors: Sequence[Processor] = (
        Processor("walked", WALKED, "", (), (1 << 15, 1 << 18, 1 << 20), "loops, by interpreter"),
    )

    def check(self, target: Target) -> None:
        """Refuse nothing: a program runs wherever Python does."""

    def pipeline(self, level: str, dtype: str) -> str:
        """Return the passes of a level: those of processors."""
        return pipeline_of(level, dtype)

    def lower(self, kernel: FuncOp, target: Target) -> FuncOp:
        """Return a kernel's loops by gravure's templates."""
        return lower_kernel(kernel, target)

    def compile(self, job: Job) -> Code:
        """Lower a program to loops, and prepare its weights."""
        job.descend()
        lower_by(self, job.program, job.target)
        weights = weight_blob(job.program, Interpreter(job.program.module, job.program.weights))
        return Code(describe(job.program, job.names), executable=Walk(job.program, weights))

    def text(self, compiled: Compiled, stage: str) -> str:
        """Refuse: there are no stages below loops."""
        raise refuse_stage(self, compiled.target, stage)


register_backend(Walked())

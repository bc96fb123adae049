"""What a back end is, and what it is given and gives.

    class Interpreted:
        name = "interpreted"
        processors = (Processor(...),)
        def lower(self, kernel, target): ...      one kernel as loops
        def compile(self, job): ...               a whole program
        ...

    register_backend(Interpreted())

Its targets are rows of the table of processors, whose architecture says by its `Capabilities`
what kernels shall look like; passes ask these, and know nothing of back ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects.func import FuncOp

from ...errors import CompileError
from ...ir import Program, erase
from ...ir.program import set_level
from ...passes.base import Observer, Pass, Report
from ...passes.cut_layers import LAYERS
from ...passes.instruments import from_environment
from ...passes.manager import run
from ...passes.pipelines import REPEAT
from ...passes.repeat_layers import LayersDifferError
from ...runtime.artifact import Description
from ...runtime.executable import Executable
from ...runtime.gpu.plan import GpuPlan
from ...target import Processor, Target
from ..describe import Names
from ..objects import kernels_of, name_kernels

if TYPE_CHECKING:
    from ..compiled import Compiled, Options


@dataclass
class Job:
    """A program on its way to code."""

    program: Program
    target: Target
    options: Options
    names: Names
    passes: Sequence[Pass]
    """Those that the program still has before it."""
    observers: Sequence[Observer] = ()
    """What looks on besides; if there is none, what the environment asks for."""
    report: Report | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def descend(
        self, ahead: Sequence[Observer] = (), digests: dict[str, str] | None = None
    ) -> None:
        """Run the passes, and name the kernels by what they compute.

        `ahead` looks on too; `digests` knows kernels that are named already, and gets the others.
        """
        start = perf_counter()
        looking = [*(self.observers or from_environment()), *ahead]
        given = self.program.module, self.program.weights
        try:
            self.run(looking)
        except LayersDifferError:
            if LAYERS in given[0].attributes:
                raise
            self.program.module, self.program.weights = given
            self.run(looking, disable=(REPEAT,))
        self.seconds["passes"] = perf_counter() - start
        name_kernels(self.program, {} if digests is None else digests)

    def run(self, looking: Sequence[Observer], disable: Sequence[str] = ()) -> None:
        """Run the passes."""
        self.report = run(
            self.passes,
            self.program,
            observers=looking,
            disable=[*self.options.disable, *disable],
            verify_each=self.options.verify,
        )


@dataclass(frozen=True)
class Code:
    """What a back end makes of a program, in one of three forms.

    Objects for a processor, which are linked to a library; a plan of launches on a GPU; or
    something that is run in this process, and cannot be stored.
    """

    description: Description
    objects: Sequence[bytes] = ()
    plan: GpuPlan | None = None
    executable: Executable | None = None
    cached: int = 0
    """How many kernels were made before."""


class Backend(Protocol):
    """One row of the table: what makes code for some processors."""

    @property
    def name(self) -> str:
        """What it is called: an identifier."""

    @property
    def processors(self) -> Sequence[Processor]:
        """The machines that it brings to the table of targets."""

    def check(self, target: Target) -> None:
        """Raise `TargetError` for a target that there is no code for."""

    def pipeline(self, level: str, dtype: str) -> str:
        """Return the passes of an optimisation level as text."""

    def lower(self, kernel: FuncOp, target: Target) -> FuncOp:
        """Return a kernel function as loops."""

    def compile(self, job: Job) -> Code:
        """Lower a program by `job.descend`, and make code of it."""

    def text(self, compiled: Compiled, stage: str) -> str:
        """Return what became of a program at the stage `llvm` or `asm`, or refuse."""


def lower_by(backend: Backend, program: Program, target: Target) -> None:
    """Replace every kernel function by its loops: the level `loops`."""
    block = program.module.body.block
    for function in kernels_of(program):
        block.insert_op_before(backend.lower(function, target), function)
        erase(function)
    set_level(program.module, "loops")


def refuse_stage(backend: Backend, target: Target, stage: str) -> CompileError:
    """Return the error of a back end that has no text at a stage."""
    return CompileError(
        f"target {target}: the back end {backend.name!r} has no stage {stage!r}",
        hint="the stage loops is the last",
    )

"""The stages of a program on its way down, and how to stop at one or to go on from one.

    lower(program, Options(), "fused")        passes up to the stage; the program is changed
    text_of(compiled, "asm")                  what became of a compiled program

A stage is a level with all that is done on it; text of a stage reads back as a program, and goes
on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import StringAttr

from ..collection import paused
from ..errors import GraphError
from ..ir import Array, Program
from ..passes.base import Observer, Pass, Report, Step
from ..passes.manager import closed, parse_pipeline, print_pipeline, run
from ..passes.pipelines import DESCENTS, remaining
from ..target import Target
from .backends.table import backend_of
from .compile import lower_kernels, pipeline_for, without_host_steps
from .compiled import Compiled, Options, spell
from .objects import name_kernels

STAGES: Mapping[str, str] = {
    "import": "operations on tensors, as the model has them",
    "graph": "operations on tensors, after all rewrites of the graph",
    "fused": "groups of operations that will be one kernel each",
    "planned": "places in memory, and a list of kernel launches",
    "loops": "each distinct kernel as loops over vectors",
    "llvm": "one LLVM module with kernels and entry",
    "asm": "the processor's instructions; the PTX of a GPU",
}
"""Every stage that has a text, from the top down."""

IR_STAGES = ("import", "graph", "fused", "planned", "loops")
"""The stages that are IR: they can be read back and gone on from."""

LEVEL_OF: Mapping[str, str] = {"import": "graph", **{stage: stage for stage in IR_STAGES[1:]}}
"""The level that a program is on at each of these stages."""


def passes_of(options: Options) -> tuple[Pass, ...]:
    """Return the passes that the options ask for."""
    return parse_pipeline(pipeline_for(options, Target.parse(options.target, options.mattr)))


def first_descent(passes: Sequence[Pass]) -> int:
    """Return the position of the first pass that leaves the level `graph`."""
    return next((i for i, each in enumerate(passes) if each.name in DESCENTS), len(passes))


def until(passes: Sequence[Pass], stage: str) -> tuple[Pass, ...]:
    """Return the passes that lead to a stage, at which a program is whole."""
    if stage == "import":
        return ()
    if stage == "graph":
        return closed(passes[: first_descent(passes)])
    last = [i for i, each in enumerate(passes, 1) if DESCENTS.get(each.name) == stage]
    return closed(passes[: last[-1]] if stage == "fused" and last else passes)


def behind(options: Options, stage: str, program: Program) -> Options:
    """Return the options for a program that is at a stage already."""
    level = LEVEL_OF[stage]
    if program.level != level:
        raise GraphError(
            f"the program is on level {program.level}, stage {stage} is on level {level}",
            location=program.source,
        )
    passes = passes_of(options)
    rest = passes[first_descent(passes) :] if stage == "graph" else remaining(passes, level)
    return replace(options, passes=print_pipeline(rest))


@paused()
def lower(
    program: Program, options: Options, stage: str, observers: Sequence[Observer] = ()
) -> Report:
    """Run the passes that lead to a stage of IR; the program is changed in place."""
    target = Target.parse(options.target, options.mattr)
    if stage != IR_STAGES[0]:
        without_host_steps(program, target)
    program.module.attributes["gv.target"] = StringAttr(spell(options))
    report = run(
        remaining(until(passes_of(options), stage), program.level),
        program,
        observers=observers or None,
        disable=options.disable,
        verify_each=options.verify,
    )
    if stage == "loops" and program.level == "planned":
        name_kernels(program, {})
        lower_kernels(program, target)
    return report


@dataclass(frozen=True)
class Snapshot:
    """A program as it was at one stage."""

    text: str
    weights: Mapping[str, Array]


@dataclass
class Snapshots(Observer):
    """Keeps the text of a program at some stages while passes run."""

    stages: Sequence[str]
    write: Callable[[str, Program], str]
    """Gives the text of a program at a stage."""
    found: dict[str, Snapshot] = field(default_factory=dict)
    last: Program | None = None

    def start(self, program: Program) -> None:
        """Keep what was read."""
        self.last = program
        self.keep("import", program)

    def before(self, step: Step, program: Program) -> None:
        """Keep the graph before a pass makes something else of it."""
        if step.name in DESCENTS and program.level == "graph":
            self.keep("graph", program)

    def after(self, step: Step, program: Program) -> None:
        """Keep what is fused; the other stages are complete when all passes are done."""
        if DESCENTS.get(step.name) == "fused":
            self.keep("fused", program)

    def finish(self, report: Report) -> None:
        """Keep the level that the program ends on."""
        assert self.last is not None, "passes end that have not started"
        if self.last.level not in self.found:
            self.keep(self.last.level, self.last)

    def keep(self, stage: str, program: Program) -> None:
        """Keep a stage if it is wanted."""
        if stage in self.stages:
            self.found[stage] = Snapshot(self.write(stage, program), dict(program.weights))


def text_of(compiled: Compiled, stage: str) -> str:
    """Return the text of a compiled program at the stage `llvm` or `asm`.

    Its program is lowered to loops, if it is not yet.
    """
    return backend_of(compiled.target).text(compiled, stage)

"""Code for processors: an object of each kernel by LLVM, made while the passes still run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ...ir import Program
from ...ir.levels import KIND
from ...ir.ops.library import MatmulLibrary
from ...ir.program import functions
from ...passes.analysis.blocks import operations_of
from ...passes.base import Observer, Pass, Step
from ...passes.pipelines import KERNELS, PLACE, pipeline_of
from ...runtime.artifact import LIBRARIES, launches
from ...target import Processor, Target, TargetError
from .. import kernels
from ..aot.vendors import vendor_of
from ..compiled import object_cache
from ..describe import Names, describe
from ..llvm.emit.kernel import emit_kernel
from ..llvm.entry.functions import Inside, emit_entry, emit_support
from ..llvm.listing import listing, listing_assembly
from ..objects import Objects, kernels_of, name_kernels
from .backend import Code, Job, lower_by

if TYPE_CHECKING:
    from ..compiled import Compiled, Options


class Processors:
    """The back end of processors; theirs is the table of targets that is there from the start."""

    name = "processors"
    processors: Sequence[Processor] = ()

    def check(self, target: Target) -> None:
        """Raise `TargetError` for a system whose object files gravure does not write."""
        if target.system not in ("linux", "none"):
            raise TargetError(
                f"{target.triple} wants Mach-O or COFF objects, gravure writes ELF: expected linux"
                " or none as operating system"
            )

    def pipeline(self, level: str, dtype: str) -> str:
        """Return the passes of a level."""
        return pipeline_of(level, dtype)

    def lower(self, kernel: FuncOp, target: Target) -> FuncOp:
        """Return a kernel's loops by the template of its kind."""
        return kernels.lower(kernel, target)

    def compile(self, job: Job) -> Code:
        """Return the objects of all kernels."""
        with objects_for(job.program, job.target, job.options) as made:
            ahead = [Ahead(made)] if are_kernels_done(job.passes) else []
            job.descend(ahead, made.digests)
            note_libraries(job)
            objects, cached = compile_kernels(job.program, made)
        return Code(describe(job.program, job.names), objects, cached=cached)

    def text(self, compiled: Compiled, stage: str) -> str:
        """Return one LLVM module with kernels and entry, or the instructions made of it."""
        program, target, model = compiled.program, compiled.target, compiled.description
        assert program is not None, "a program from the cache has no text"
        if program.level == "planned":
            lower_by(self, program, target)
        made = [emit_kernel(f, target) for f in functions(program.module) if KIND in f.attributes]
        entry = (
            emit_entry(model, compiled.manifest, held=Inside(compiled.fixed)),
            emit_support(model, python=False),
        )
        text = listing(entry, made, target)
        return text if stage == "llvm" else listing_assembly(text, target)


def note_libraries(job: Job) -> None:
    """Note which functions of which library kernels call."""
    called = {
        str(op.plain_attributes()["function"])
        for kernel in kernels_of(job.program)
        for op in operations_of(kernel)
        if isinstance(op, MatmulLibrary)
    }
    if called:
        job.names.extras[LIBRARIES] = {vendor_of(job.options.use_lib).needed: sorted(called)}


@dataclass
class Ahead(Observer):
    """Lets kernels be made while the passes go on that leave them as they are."""

    objects: Objects

    def after(self, step: Step, program: Program) -> None:
        """Begin when there are kernels."""
        if step.name == KERNELS and not self.objects.begun:
            name_kernels(program, self.objects.digests)
            self.objects.begin(kernels_of(program))


def are_kernels_done(passes: Sequence[Pass]) -> bool:
    """Say whether no pass changes kernels once they are functions."""
    names = [each.name for each in passes]
    return KERNELS in names and set(names[names.index(KERNELS) + 1 :]) <= set(PLACE)


def objects_for(program: Program, target: Target, options: Options) -> Objects:
    """Return what makes the objects of a program's kernels."""
    return Objects(target, object_cache(options), program.level == "loops", options.jobs)


def compile_kernels(
    program: Program, objects: Objects, only: Collection[str] | None = None
) -> tuple[list[bytes], int]:
    """Return the objects of kernels (of those named in `only`), and how many were in the cache."""
    wanted = [f for f in kernels_of(program) if only is None or f.sym_name.data in only]
    made, cached = objects.of(wanted)
    return [*(one.data for one in made), *objects.shared_objects()], cached


def compile_for_host(compiled: Compiled) -> Compiled:
    """Return what prepares the weights compiled for this machine, from the same functions."""
    host = Target.parse("native")
    host = host.in_common() if compiled.target.is_common else host
    program = compiled.program
    assert program is not None, "only what was just compiled can be compiled again"
    launched = {step.kernel for step in launches(compiled.description.prepare)}
    with objects_for(program, host, compiled.options) as made:
        objects, cached = compile_kernels(program, made, only=launched)
    libraries = {LIBRARIES: compiled.description.extras.get(LIBRARIES, {})}
    options = compiled.options
    names = Names(options.tag, host, options.slots, options.checks, libraries)
    return replace(
        compiled,
        objects=objects,
        target=host,
        cached=cached,
        plan=None,
        description=replace(describe(program, names), steps=()),
    )

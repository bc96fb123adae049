"""Compile a program: passes, kernels, objects, a library.

    compiled = compile_program(program, Options(target="native"))
    compiled.library().save("model.so")

Each distinct kernel becomes one object. Objects are kept on disk by the structure of the
kernel and the target, so that neither loops nor LLVM text are made again for a kernel that
was compiled before.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ..budget import Budget
from ..collection import paused
from ..errors import CompileError
from ..ir import Program
from ..ir.host import refuse_host_steps
from ..ir.placement import WORKSPACE, weight_rows
from ..passes.base import Observer, PipelineError
from ..passes.manager import parse_pipeline, run
from ..passes.note_requirements import requires
from ..passes.pipelines import (
    INLINE,
    NOTE,
    ROUNDING,
    calling,
    recomputing,
    remaining,
    swapping,
    with_numerics,
)
from ..passes.tell_sizes import loops_can_be_told, tell_sizes
from ..runtime.artifact import TOLD
from ..target import Target
from .aot.vendors import check_target, vendor_of
from .backends.backend import Job, lower_by
from .backends.processors import Processors, compile_for_host
from .backends.table import backend_of
from .compiled import Compiled, Options, spell, target_of
from .describe import Names


def pipeline_for(options: Options, target: Target) -> str:
    """Return the passes that the options ask for as text; raise `PipelineError`."""
    if options.passes and options.numerics != "fast":
        raise PipelineError(
            f"{options.numerics} numerics and a pipeline of its own, expected one of both",
            hint=f"passes that take it have the option exact: {', '.join(ROUNDING)}",
        )
    for name, given, place in (
        ("recompute", options.recompute, "rematerialise{layers} goes before fuse"),
        ("swap", options.swap, "swap goes before plan-memory"),
    ):
        if options.passes and given:
            raise PipelineError(
                f"{name} and a pipeline of its own, expected one of both",
                hint=f"the pass {place}",
            )
    pipeline = backend_of(target).pipeline(options.level, options.dtype)
    if options.recompute:
        pipeline = recomputing(pipeline)
    if options.swap:
        pipeline = swapping(pipeline)
    made = options.passes or with_numerics(pipeline, options.numerics)
    return with_library(made, options, target) if options.use_lib else made


def with_library(pipeline: str, options: Options, target: Target) -> str:
    """Return a pipeline that has products be computed by the library that the options name.

    Raises `PipelineError` where they cannot be, `CompileError` where there is no such library.
    """
    if options.passes:
        raise PipelineError(
            f"library {options.use_lib} and a pipeline of its own, expected one of both",
            hint="the pass use-library names the functions to call",
        )
    if options.dtype:
        raise PipelineError(
            f"library {options.use_lib} and weights of {options.dtype}: CBLAS multiplies f32 and"
            " f64 only, expected one of both"
        )
    check_target(options.use_lib, target)
    found = vendor_of(options.use_lib)
    return calling(pipeline, found.sgemm, found.dgemm)


@paused()
def compile_program(
    program: Program, options: Options | None = None, observers: Sequence[Observer] = ()
) -> Compiled:
    """Return the compiled program; `program`, of any level, is lowered in place."""
    options = options or Options()
    if not options.tag.isascii() or not options.tag.isidentifier():
        raise CompileError(f"tag {options.tag!r} is no identifier of C")
    target = target_of(options)
    backend = backend_of(target)
    rows = without_host_steps(program, target)
    noted(program)
    backend.check(target)
    program.module.attributes["gv.target"] = StringAttr(spell(options))
    pipeline = pipeline_for(options, target)
    if options.numerics != "fast" and program.level != "graph":
        raise CompileError(
            f"{options.numerics} numerics of a program on level {program.level}, expected one on"
            " level graph: they are decided there"
        )
    if options.use_lib and program.level != "graph":
        raise CompileError(
            f"library {options.use_lib} for a program on level {program.level}, expected one on"
            " level graph: what computes products is decided there"
        )
    extras = {"pipeline": str(pipeline), "numerics": options.numerics, **options.extras}
    if rows:
        extras[TOLD] = rows
    if target.choices:
        extras["records"] = target.records
    names = Names(options.tag, target, options.slots, options.checks, extras)
    passes = remaining(parse_pipeline(pipeline), program.level)
    job = Job(program, target, options, names, passes, observers)
    start = perf_counter()
    with Budget.parse(options.budget).kept():
        code = backend.compile(job)
    job.seconds["kernels"] = perf_counter() - start - job.seconds["passes"]
    return Compiled(
        description=code.description,
        objects=[*code.objects],
        weights=program.weights,
        places=weight_rows(program.module),
        options=options,
        target=target,
        peak=_number(program.main, WORKSPACE),
        program=program,
        report=job.report,
        seconds=job.seconds,
        cached=code.cached,
        plan=code.plan,
        executable=code.executable,
        again=compile_for_host,
    )


def noted(program: Program) -> None:
    """Have runs take note of what they require of values, whatever the pipeline is."""
    if program.level == "graph" and requires(program.module):
        run(f"{INLINE},{NOTE}", program, observers=(), verify_each=False)


def without_host_steps(program: Program, target: Target) -> list[dict[str, Any]]:
    """Have processors compute what they can of the host's steps, and refuse the others.

    Returns by which results the extents of others are told.
    """
    ours = backend_of(target).name == Processors.name and program.level == "graph"
    rows = tell_sizes(program) if ours else []
    refuse_host_steps(program)
    return rows


def takes_loops_of_hosts(program: Program, options: Options) -> bool:
    """Say whether code is to be made of a program whose host steps are loops of their own."""
    ours = backend_of(Target.parse(options.target, options.mattr)).name == Processors.name
    return ours and loops_can_be_told(program)


def lower_kernels(program: Program, target: Target) -> None:
    """Replace every kernel function by its loops: the level `loops`."""
    lower_by(backend_of(target), program, target)


def _number(function: FuncOp, name: str) -> int:
    row: Any = function.attributes.get(name)
    return int(row.value.data) if row is not None else 0


__all__ = [
    "Compiled",
    "Options",
    "compile_program",
    "lower_kernels",
    "noted",
    "takes_loops_of_hosts",
]

"""Compile a program: passes, kernels, objects, a library.

    compiled = compile_program(program, Options(target="native"))
    compiled.library().save("model.so")

Each distinct kernel becomes one object. Objects are kept on disk by the structure of the
kernel and the target, so that neither loops nor LLVM text are made again for a kernel that
was compiled before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp

from ..errors import CompileError
from ..ir import Program, erase
from ..ir.collection import paused
from ..ir.host import refuse_host_steps
from ..ir.levels import KIND
from ..ir.ops.structure import Launch
from ..ir.placement import WORKSPACE, weight_rows
from ..ir.program import forget_requirements, functions, set_level
from ..passes.analysis.blocks import operations_of
from ..passes.base import Observer, Pass, Step
from ..passes.instruments import from_environment
from ..passes.manager import parse_pipeline, run
from ..passes.pipelines import KERNELS, PLACE, pipeline_of, remaining
from ..runtime.artifact import launches
from ..runtime.gpu.plan import GpuPlan
from ..target import Target, TargetError
from . import kernels
from .compiled import Compiled, Options, object_cache, spell
from .describe import Names, describe
from .objects import Digests, Objects
from .ptx import kernels as gpu_kernels
from .ptx.compile import SLOTS, compile_gpu


@paused()
def refuse_system(target: Target) -> None:
    """Raise `TargetError` for a system whose object files gravure does not write."""
    if not target.is_gpu and target.system not in ("linux", "none"):
        raise TargetError(
            f"{target.triple} wants Mach-O or COFF objects, gravure writes ELF: expected linux or"
            " none as operating system"
        )


def compile_program(
    program: Program, options: Options | None = None, observers: Sequence[Observer] = ()
) -> Compiled:
    """Return the compiled program; `program`, of any level, is lowered in place."""
    options = options or Options()
    if not options.tag.isascii() or not options.tag.isidentifier():
        raise CompileError(f"tag {options.tag!r} is no identifier of C")
    refuse_host_steps(program)
    target = Target.parse(options.target, options.mattr)
    refuse_system(target)
    program.module.attributes["gv.target"] = StringAttr(spell(options))
    pipeline = options.passes or pipeline_of(options.level, options.dtype)
    extras = {"pipeline": str(pipeline), **options.extras}
    if target.choices:
        extras["records"] = target.records
    if target.is_gpu:
        forget_requirements(program)  # what is out of range is clamped there
    names = Names(options.tag, target, options.slots, options.checks, extras)
    passes = remaining(parse_pipeline(pipeline), program.level)
    seconds: dict[str, float] = {}
    start = perf_counter()
    with objects_for(program, target, options) as made:
        watching = [*(observers or from_environment())]
        if not target.is_gpu and are_kernels_done(passes):
            watching.append(Ahead(made))
        report = run(
            passes,
            program,
            observers=watching,
            disable=options.disable,
            verify_each=options.verify,
        )
        seconds["passes"] = perf_counter() - start
        start = perf_counter()
        name_kernels(program, made.digests)
        main = program.main
        plan: GpuPlan | None = None
        objects: list[bytes] = []
        if target.is_gpu:
            names = replace(names, slots=SLOTS)
            description, plan, cached = compile_gpu(program, target, names, object_cache(options))
        else:
            objects, cached = compile_kernels(program, made)
            description = describe(program, names)
    seconds["kernels"] = perf_counter() - start
    return Compiled(
        description=description,
        objects=objects,
        weights=program.weights,
        places=weight_rows(program.module),
        options=options,
        target=target,
        peak=_number(main, WORKSPACE),
        program=program,
        report=report,
        seconds=seconds,
        cached=cached,
        plan=plan,
        again=compile_for_host,
    )


@dataclass
class Ahead(Observer):
    """Lets kernels be made while the passes go on that leave them as they are."""

    objects: Objects

    def after(self, step: Step, program: Program) -> None:
        """Begin when there are kernels."""
        if step.name == KERNELS:
            name_kernels(program, self.objects.digests)
            self.objects.begin(kernels_of(program))


def are_kernels_done(passes: Sequence[Pass]) -> bool:
    """Say whether no pass changes kernels once they are functions."""
    names = [each.name for each in passes]
    return KERNELS in names and set(names[names.index(KERNELS) + 1 :]) <= set(PLACE)


def kernels_of(program: Program) -> list[FuncOp]:
    """Return the functions that are kernels."""
    return [function for function in functions(program.module) if KIND in function.attributes]


def name_kernels(program: Program, digests: dict[str, str]) -> None:
    """Name every kernel by its kind and the hash of its text, alike in all programs.

    `digests` gets the whole digests by name; those that are in it are named already.
    """
    names: dict[str, SymbolRefAttr] = {}
    texts = Digests()
    for function in kernels_of(program):
        if function.sym_name.data not in digests:
            kind, digest = function.attributes[KIND], texts.of(function)
            assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
            name = f"{kind.data}_{digest[:16]}"
            names[function.sym_name.data] = SymbolRefAttr(name)
            function.properties["sym_name"], digests[name] = StringAttr(name), digest
    for function in functions(program.module):
        for op in operations_of(function) if names and KIND not in function.attributes else ():
            if isinstance(op, Launch) and op.kernel in names:
                op.properties["kernel"] = names[op.kernel]
            elif isinstance(op, CallOp) and op.callee.root_reference.data in names:
                op.properties["callee"] = names[op.callee.root_reference.data]


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


def lower_kernels(program: Program, target: Target) -> None:
    """Replace every kernel function by its loops: the level `loops`."""
    block = program.module.body.block
    lower = gpu_kernels.lower if target.is_gpu else kernels.lower
    for function in kernels_of(program):
        block.insert_op_before(lower(function, target), function)
        erase(function)
    set_level(program.module, "loops")


def _number(function: FuncOp, name: str) -> int:
    row: Any = function.attributes.get(name)
    return int(row.value.data) if row is not None else 0


def compile_for_host(compiled: Compiled) -> Compiled:
    """Return what prepares the weights compiled for this machine, from the same functions."""
    host = Target.parse("native")
    program = compiled.program
    assert program is not None, "only what was just compiled can be compiled again"
    launched = {step.kernel for step in launches(compiled.description.prepare)}
    with objects_for(program, host, compiled.options) as made:
        objects, cached = compile_kernels(program, made, only=launched)
    names = Names(compiled.options.tag, host, compiled.options.slots, compiled.options.checks, {})
    return replace(
        compiled,
        objects=objects,
        target=host,
        cached=cached,
        plan=None,
        description=replace(describe(program, names), steps=()),
    )


__all__ = ["Compiled", "Options", "compile_program", "lower_kernels"]

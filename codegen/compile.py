"""Compile a program: passes, kernels, objects, a library.

    compiled = compile_program(program, Options(target="native"))
    compiled.library().save("model.so")

Each distinct kernel becomes one object. Objects are kept on disk by the structure of the
kernel and the target, so that neither loops nor LLVM text are made again for a kernel that
was compiled before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp

from ..errors import CompileError
from ..ir import Program, erase
from ..ir.collection import paused
from ..ir.host import refuse_host_steps
from ..ir.levels import KIND
from ..ir.ops.structure import Launch
from ..ir.placement import WORKSPACE, weight_rows
from ..ir.program import functions, set_level
from ..ir.tensor import Array
from ..ir.text import print_function
from ..passes.analysis.blocks import operations_of
from ..passes.base import Observer, Report
from ..passes.manager import parse_pipeline, run
from ..passes.pipelines import pipeline_of, remaining
from ..runtime.artifact import Description, launches
from ..runtime.gpu_plan import GpuPlan
from ..target import Target
from . import kernels
from .aot.library import Library, link
from .aot.manifest import manifest
from .aot.weights import Weights
from .describe import Names, describe
from .llvm.cache import Cache, default_cache
from .llvm.entry import entry_objects
from .objects import Objects
from .prepare import prepared_weights
from .ptx import kernels as gpu_kernels
from .ptx.compile import SLOTS, compile_gpu


@dataclass(frozen=True)
class Options:
    """How to compile."""

    target: str = "native"
    mattr: str = ""
    tag: str = "model"
    level: str = "O2"
    passes: str = ""
    """A pipeline instead of the level's."""
    dtype: str = ""
    """What weights of products are stored in: `bf16`, `i8`, or as they are."""
    disable: tuple[str, ...] = ()
    slots: int = 64
    """The most threads that a run may be shared by."""
    embed: bool = True
    """Whether the weights are put into the library."""
    checks: bool = True
    cache: bool = True
    verify: bool = False
    """Whether to verify the module after each pass."""
    jobs: int = 0
    """Processes that compile kernels; 0: two where there are two processors."""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Compiled:
    """A compiled program: objects, weights, and what is known about them."""

    description: Description
    objects: list[bytes]
    weights: Mapping[str, Array]
    """The raw weights and constants by name."""
    places: list[tuple[str, int, int]]
    """Name, offset and bytes of each weight in the blob."""
    options: Options
    target: Target
    peak: int = 0
    """Bytes of the workspace that buffers need at one time by the plan."""
    program: Program | None = None
    """The lowered program; None if the whole came from the cache."""
    report: Report | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    cached: int = 0
    """How many kernels were found in the cache."""
    plan: GpuPlan | None = None
    """The modules and launches where the target is a GPU; then there are no objects."""

    @property
    def max_live(self) -> int:
        """Return the bytes of workspace that no plan can be below."""
        return self.description.max_live

    @cached_property
    def manifest(self) -> str:
        """Return the manifest's text."""
        return manifest(self.description, self.objects, embedded=self.options.embed)

    @cached_property
    def blob(self) -> Array:
        """Return the bytes of all weights, prepared."""
        return prepared_weights(self)

    def entry(self, *, embedded: bool) -> tuple[bytes, ...]:
        """Return the objects with the functions that callers see."""
        return entry_objects(self.description, self.manifest, self.target, embedded=embedded)

    def require_processor(self) -> None:
        """Refuse what there is for processors only."""
        if self.plan is not None:
            raise CompileError(
                f"target {self.target}: there are no libraries for GPUs yet",
                hint="write a file *.gpu, which gravure.load reads",
            )

    def library(self) -> Library:
        """Return the shared library, with its weights if they are to be embedded."""
        self.require_processor()
        weights = Weights.of(self.blob) if self.description.weights else None
        embed = self.options.embed
        objects = [*self.entry(embedded=embed), *self.objects]
        return link(objects, self.description.tag, weights=weights, embed=embed)

    def code(self) -> bytes:
        """Return a shared library without weights."""
        self.require_processor()
        objects = [*self.entry(embedded=False), *self.objects]
        return link(objects, self.description.tag).tobytes()


@paused()
def compile_program(
    program: Program, options: Options | None = None, observers: Sequence[Observer] = ()
) -> Compiled:
    """Return the compiled program; `program`, of any level, is lowered in place."""
    options = options or Options()
    if not options.tag.isascii() or not options.tag.isidentifier():
        raise CompileError(f"tag {options.tag!r} is no identifier of C")
    refuse_host_steps(program)
    target = Target.parse(options.target, options.mattr)
    program.module.attributes["gv.target"] = StringAttr(spell(options))
    seconds: dict[str, float] = {}
    start = perf_counter()
    pipeline = options.passes or pipeline_of(options.level, options.dtype)
    report = run(
        remaining(parse_pipeline(pipeline), program.level),
        program,
        observers=observers or None,  # none given: those that the environment asks for
        disable=options.disable,
        verify_each=options.verify,
    )
    seconds["passes"] = perf_counter() - start
    start = perf_counter()
    name_kernels(program)
    main = program.main
    extras = {"pipeline": str(pipeline), **options.extras}
    names = Names(options.tag, target, options.slots, options.checks, extras)
    plan: GpuPlan | None = None
    objects: list[bytes] = []
    if target.is_gpu:
        names = replace(names, slots=SLOTS)
        description, plan, cached = compile_gpu(program, target, names, object_cache(options))
    else:
        objects, cached = compile_kernels(program, target, options)
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
    )


def spell(options: Options) -> str:
    """Return target and features as one text that `Target.parse` reads."""
    return f"{options.target},{options.mattr}" if options.mattr else options.target


def name_kernels(program: Program) -> None:
    """Name every kernel by its kind and the hash of its text, alike in all programs."""
    names: dict[str, str] = {}
    callers: list[FuncOp] = []
    for function in functions(program.module):
        kind = function.attributes.get(KIND)
        if isinstance(kind, StringAttr):
            old = function.sym_name.data
            function.properties["sym_name"] = StringAttr("kernel")
            digest = hashlib.sha256(print_function(function).encode()).hexdigest()
            names[old] = f"{kind.data}_{digest[:16]}"
            function.properties["sym_name"] = StringAttr(names[old])
        else:
            callers.append(function)
    for function in callers:
        for op in operations_of(function):
            if isinstance(op, Launch):
                kernel = str(op.plain_attributes()["kernel"])
                op.properties["kernel"] = SymbolRefAttr(names[kernel])


def compile_kernels(
    program: Program, target: Target, options: Options, *, only: Collection[str] | None = None
) -> tuple[list[bytes], int]:
    """Return the objects of kernels (of those named in `only`), and how many were in the cache."""
    wanted = [
        function
        for function in functions(program.module)
        if KIND in function.attributes and (only is None or function.sym_name.data in only)
    ]
    objects = Objects(target, object_cache(options), program.level == "loops", options.jobs)
    made, cached = objects.of(wanted)
    return [*(one.data for one in made), *objects.shared_objects()], cached


def lower_kernels(program: Program, target: Target) -> None:
    """Replace every kernel function by its loops: the level `loops`."""
    block = program.module.body.block
    lower = gpu_kernels.lower if target.is_gpu else kernels.lower
    for function in functions(program.module):
        if KIND in function.attributes:
            block.insert_op_before(lower(function, target), function)
            erase(function)
    set_level(program.module, "loops")


def object_cache(options: Options) -> Cache:
    """Return the cache that the options ask for."""
    return default_cache() if options.cache else Cache(None)


def _number(function: FuncOp, name: str) -> int:
    row: Any = function.attributes.get(name)
    return int(row.value.data) if row is not None else 0


def compile_for_host(compiled: Compiled) -> Compiled:
    """Return what prepares the weights compiled for this machine, from the same functions."""
    host = Target.parse("native")
    program = compiled.program
    assert program is not None, "only what was just compiled can be compiled again"
    launched = {step.kernel for step in launches(compiled.description.prepare)}
    objects, cached = compile_kernels(program, host, compiled.options, only=launched)
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

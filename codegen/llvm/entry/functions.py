"""Emit the functions that callers see: run, prepare, shapes, sizes, status, manifest.

    int32_t TAG_run(inputs, outputs, workspace, context)

checks the processor, the arguments and the context, gives every dimension its value, and runs the
steps. It calls nothing outside the library, takes no memory but some of the stack, and writes
nothing but the outputs and the workspace.

Note [The wrong processor]. Kernels may use instructions that the machine has not, and that shall be
a status and not the end of the program. So the module of the entry is assembled for the plain
architecture (`entry_target`), and asks the processor first. Asking takes about a microsecond
(more on virtual machines) and there is no global to remember the answer in: so a caller may ask
once, with `TAG_check_cpu`, and say so in each context that it passes. Who passes no context, or a
context full of zeros, is safe and pays in each call.

Note [Two modules]. What depends on the tag and the processor only (the pool, the calls from Python,
the question for the processor) is a module of its own, optimised and kept in the cache. The rest
is different for each model and runs for nanoseconds: LLVM makes it without optimising in 2 ms
instead of 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ....runtime.artifact import ALIGNMENT, OUTSIDE, REQUIRED, Description
from ....runtime.traces.recorder import RECORD
from ....target import RISCV, X86, Target
from ...cache import Cache
from ...keys import key_of
from ..compile import assemble
from .checks import Checks, RunSlots
from .cpu import VECTORS, check_cpu, system_call
from .given import emit_given, emit_places
from .pool import emit_pool
from .profile import ProfiledSteps
from .python_call import emit_python_call
from .record import RecordedSteps
from .routine import DIVISION, Routine, c_string
from .status import (
    POINTER,
    REACHED,
    REQUIREMENT,
    WEIGHTS,
    argument_number,
    messages,
    several,
    status,
    status_function,
)
from .steps import LAUNCH, ROW, StepFunctions, counters

PARALLEL_FOR, POOL, WEIGHTS_AT, SCOPE, THREADS, CHECKED = 0, 8, 16, 24, 32, 36
"""The layout of a `gravure_context`."""
CPU_CHECKED = 1
"""What a caller that asked about the processor writes into the context."""
WEIGHTS_SUFFIX = ".weights"
"""What the name of embedded weights has behind the tag."""
ROOM_SUFFIX = ".room"
"""What the name of the memory has behind the tag where weights are laid out at loading."""
LOADING_SUFFIX = ".loading"
"""What the name of the function has behind the tag that does so."""


class Inside(NamedTuple):
    """What an entry has of the weights, where they are not in the library as kernels want them."""

    fixed: Sequence[bytes] = ()
    """Those constants that `prepare` does not make from weights."""
    raw: Sequence[int] = ()
    """Where each weight lies as it was given, if the library lays them out when it is loaded."""


OUTSIDE_ONLY = Inside()


def entry_target(target: Target) -> Target:
    """Return the target to assemble the entry for: see Note [The wrong processor]."""
    if target.architecture is RISCV:
        return replace(target, features=tuple(f for f in target.features if f != VECTORS))
    if target.architecture is not X86:
        return target
    return replace(target, cpu=X86.plain, features=())


def entry_objects(
    model: Description,
    manifest: str,
    target: Target,
    *,
    embedded: bool = False,
    held: Inside = OUTSIDE_ONLY,
    cache: Cache | None = None,
) -> tuple[bytes, bytes]:
    """Return the objects that, linked with those of its kernels, are the library of a model.

    `embedded` says that the weights are linked too, as kernels want them. What depends on little
    is kept in `cache`. See Note [Two modules].
    """
    plain = entry_target(target)
    support = emit_support(model)
    text = emit_entry(model, manifest, embedded=embedded, held=held)
    kept = cache or Cache(None)
    return (
        kept.get_or_make(key_of(support, plain), lambda: support_object(support, plain), "entry"),
        assemble(text, plain, optimisation=0),
    )


@lru_cache(maxsize=16)
def support_object(text: str, target: Target) -> bytes:
    """Return the object of a support module; who keeps nothing in files has the last ones here."""
    return assemble(text, target)


def emit_support(model: Description, *, python: bool = True) -> str:
    """Return the text of the module that has nothing to do with what the model computes."""
    tag = model.tag
    return "\n".join(
        [
            f'target triple = "{model.triple}"',
            emit_check(model),
            LAUNCH.replace("TAG", tag),
            ROW.replace("TAG", tag),
            emit_pool(tag) if model.triple.startswith(X86.name) else "",
            emit_python_call(tag) if python else "",
        ]
    )


def emit_check(model: Description) -> str:
    """Return the functions that ask the processor whether it can run a model."""
    tag = model.tag
    return "\n".join(
        [
            system_call(model),
            check_cpu(model).finish(f"hidden i32 @{tag}.check_cpu()"),
            f"define i32 @{tag}_check_cpu() nounwind {{",
            f"  %status = call i32 @{tag}.check_cpu()",
            "  ret i32 %status",
            "}",
        ]
    )


def emit_entry(
    model: Description, manifest: str, *, embedded: bool = False, held: Inside = OUTSIDE_ONLY
) -> str:
    """Return the text of the module that knows the arguments and the steps of `model`."""
    return Entry(model, manifest, embedded, held).text()


class Entry:
    """The module under construction."""

    def __init__(
        self, model: Description, manifest: str, embedded: bool, held: Inside = OUTSIDE_ONLY
    ) -> None:
        self.model = model
        self.held = held
        self.tag = model.tag
        self.manifest = manifest
        self.embedded = embedded and model.weights > 0
        names = dict.fromkeys(counters((*model.prepare, *model.steps)))
        self.frame = RunSlots(model, tuple(names))
        self.steps = self.steps_of(model)
        self.alloca = f"%frame = alloca [{self.frame.slots} x i64], align 16"

    def text(self) -> str:
        """Return the whole module."""
        model, tag = self.model, self.tag
        functions = [*self.functions()]
        declarations: dict[str, None] = {}
        for routine, _ in functions:
            declarations |= routine.declarations
        body = "".join(routine.finish(head) for routine, head in functions)
        divides = any(routine.divides for routine, _ in functions)
        size, manifest = c_string(self.manifest)
        return "\n".join(
            [
                f'target triple = "{model.triple}"',
                self.outside(),
                self.steps.table(),
                *declarations,
                self.given(),
                *(f"@{tag}{name} = external hidden global i8" for name in self.elsewhere()),
                f"@{tag}_manifest = constant [{size} x i8] {manifest}",
                self.number("workspace", model.workspace_bytes),
                self.number("weights", model.weights),
                body,
                status_function(tag, self.messages(), several(model)),
                DIVISION if divides else "",
            ]
        )

    def given(self) -> str:
        """Return what takes weights in as they are given."""
        if not self.model.has_prepare:
            return ""
        text = emit_given(self.model, self.frame.bases["raw"], self.held.fixed)
        return text + emit_places(self.tag, self.held.raw) if self.held.raw else text

    def elsewhere(self) -> Sequence[str]:
        """Return what the names of memory have behind the tag that the linker gives."""
        if self.held.raw:
            return (WEIGHTS_SUFFIX, ROOM_SUFFIX)
        return (WEIGHTS_SUFFIX,) if self.embedded else ()

    def steps_of(self, model: Description) -> StepFunctions:
        """Return what makes the functions that run steps."""
        profile = model.extras.get("profile")
        if profile:
            return ProfiledSteps(model, self.frame, profile["offset"])
        if RECORD in model.extras:
            return RecordedSteps(model, self.frame, model.extras[RECORD])
        return StepFunctions(model, self.frame)

    def outside(self) -> str:
        """Declare what other modules have."""
        return "\n".join(
            [
                *(f"declare hidden void @{k}(ptr, i64, i64, i64)" for k in self.model.kernels),
                f"declare hidden i32 @{self.tag}.check_cpu()",
                f"declare hidden void @{self.tag}.launch(ptr, ptr, i64, i64, ptr)",
                f"declare hidden void @{self.tag}.row(ptr, ptr, ptr, ptr)",
            ]
        )

    def messages(self) -> dict[int, str]:
        """Return what every status means."""
        return messages(self.model)

    def number(self, what: str, size: int) -> str:
        """Emit a function that returns a number of bytes."""
        return f"define i64 @{self.tag}_{what}_bytes() nounwind {{\n  ret i64 {size}\n}}\n"

    def functions(self) -> Iterator[tuple[Routine, str]]:
        """Give every function that returns a status, with its head."""
        tag, model = self.tag, self.model
        steps = self.steps
        yield from Checks(model, self.frame).functions()
        yield (
            self.context(),
            f"internal i32 @{tag}.context(ptr %frame, ptr %workspace, ptr %context)",
        )
        yield from steps.functions("steps", model.steps)
        yield self.run(), f"i32 @{tag}_run(ptr %inputs, ptr %outputs, ptr %workspace, ptr %context)"
        yield self.output_shapes(), f"i32 @{tag}_output_shapes(ptr %inputs, ptr %shapes)"
        if model.has_prepare:
            yield from steps.functions("prepare", model.prepare)
            arguments = "ptr %raw, ptr %weights, ptr %workspace, ptr %context"
            yield self.prepare(), f"i32 @{tag}_prepare({arguments})"
        if self.held.raw:
            yield self.loading(), f"hidden i32 @{tag}{LOADING_SUFFIX}()"

    def require_cpu(self, routine: Routine) -> None:
        """Ask the processor, unless the context says that this was done."""
        ask, known, fit = (routine.fresh_label() for _ in range(3))
        none = routine.value("icmp eq ptr %context, null")
        routine.line(f"br i1 {none}, label %{ask}, label %{known}")
        routine.label(known)
        checked = routine.load("i32", "%context", CHECKED)
        done = routine.value(f"icmp eq i32 {checked}, {CPU_CHECKED}")
        routine.line(f"br i1 {done}, label %{fit}, label %{ask}")
        routine.label(ask)
        routine.require_call(f"@{self.tag}.check_cpu()")
        routine.line(f"br label %{fit}")
        routine.label(fit)

    def context(self) -> Routine:
        """Make the function that puts workspace, weights and pool into the frame."""
        model, frame, routine = self.model, self.frame, Routine()
        routine.store("ptr", "%workspace", "%frame", frame.WORKSPACE)
        routine.store("ptr", "null", "%frame", frame.PARALLEL_FOR)
        own = self.elsewhere()
        weights = f"@{self.tag}{own[-1]}" if own else "null"
        routine.store("ptr", weights, "%frame", frame.WEIGHTS)
        routine.line(
            f"br i1 {routine.value('icmp eq ptr %context, null')}, label %end, label %given"
        )
        routine.label("given")
        for source, target in ((PARALLEL_FOR, frame.PARALLEL_FOR), (POOL, frame.POOL)):
            routine.store("ptr", routine.load("ptr", "%context", source), "%frame", target)
        threads = routine.value(f"zext i32 {routine.load('i32', '%context', THREADS)} to i64")
        less = routine.value(f"sub i64 {threads}, 1")  # 0 threads are as many as there can be
        few = routine.value(f"icmp ult i64 {less}, {model.slots}")
        threads = routine.value(f"select i1 {few}, i64 {threads}, i64 {model.slots}")
        routine.store("i64", threads, "%frame", frame.THREADS)
        own = routine.load("ptr", "%context", WEIGHTS_AT)
        none = routine.value(f"icmp eq ptr {own}, null")
        routine.line(f"br i1 {none}, label %end, label %weights")
        routine.label("weights")
        routine.store("ptr", own, "%frame", frame.WEIGHTS)
        routine.line("br label %end")
        routine.label("end")
        return routine

    def require_workspace(self, routine: Routine, size: int) -> None:
        """Return a status if memory is needed and there is none, or at no good place."""
        if size and self.model.checks:
            wrong = status(POINTER, argument_number(self.model, "workspace"))
            routine.require_aligned("%workspace", ALIGNMENT, wrong, null=False)

    def require_weights(self, routine: Routine) -> None:
        """Return a status if there are no weights, or at no good place."""
        if not self.model.weights:
            return
        number = argument_number(self.model, "weights")
        weights = routine.load("ptr", "%frame", self.frame.WEIGHTS)
        routine.require(routine.value(f"icmp ne ptr {weights}, null"), status(WEIGHTS, number))
        routine.require_aligned(weights, ALIGNMENT, status(POINTER, number), null=True)

    def scope(self, routine: Routine, begins: int) -> None:
        """Tell the caller's pool that a run begins or ends."""
        given, tell, silent = (routine.fresh_label() for _ in range(3))
        none = routine.value("icmp eq ptr %context, null")
        routine.line(f"br i1 {none}, label %{silent}, label %{given}")
        routine.label(given)
        scope = routine.load("ptr", "%context", SCOPE)
        none = routine.value(f"icmp eq ptr {scope}, null")
        routine.line(f"br i1 {none}, label %{silent}, label %{tell}")
        routine.label(tell)
        pool = routine.load("ptr", "%context", POOL)
        routine.line(f"call void {scope}(ptr {pool}, i32 {begins})")
        routine.line(f"br label %{silent}")
        routine.label(silent)

    def run(self) -> Routine:
        """Make the function that runs the model."""
        routine, tag = Routine(), self.tag
        routine.line(self.alloca)
        self.require_cpu(routine)
        routine.require_call(f"@{tag}.inputs(ptr %inputs, ptr %frame)")
        routine.require_call(f"@{tag}.outputs(ptr %outputs, ptr %frame)")
        self.require_workspace(routine, self.model.workspace_bytes)
        routine.require_call(f"@{tag}.context(ptr %frame, ptr %workspace, ptr %context)")
        self.require_weights(routine)
        if OUTSIDE in self.model.extras:
            routine.store("i64", 0, "%workspace", self.model.extras[OUTSIDE]["offset"])
        self.scope(routine, 1)
        ended = routine.value(f"call i32 @{tag}.steps(ptr %frame)")
        self.scope(routine, 0)
        if self.model.demanded:
            routine.require_none(ended)
        for what, code in ((OUTSIDE, REACHED), (REQUIRED, REQUIREMENT)):
            if what in self.model.extras:
                self.require_none_told(routine, self.model.extras[what]["offset"], code)
        return routine

    def require_none_told(self, routine: Routine, offset: int, code: int) -> None:
        """Return a status if the run has told of something: its number is in the workspace."""
        found = routine.load("i32", "%workspace", offset)
        above = routine.value(f"shl i32 {found}, 8")
        named = routine.value(f"or i32 {above}, {code}")
        fine = routine.value(f"icmp eq i32 {found}, 0")
        routine.require_none(routine.value(f"select i1 {fine}, i32 0, i32 {named}"))

    def output_shapes(self) -> Routine:
        """Make the function that computes the shapes of outputs from those of inputs."""
        routine = self.frame.routine()
        routine.line(self.alloca)
        routine.require_call(f"@{self.tag}.inputs(ptr %inputs, ptr %frame)")
        for number, tensor in enumerate(self.model.outputs):
            if tensor.shape:
                shape = routine.load("ptr", "%shapes", 8 * number)
            for axis, size in enumerate(tensor.shape):
                routine.store("i64", routine.extent(size), shape, 8 * axis)
        return routine

    def prepare(self) -> Routine:
        """Make the function that computes the weights from the raw ones."""
        routine, model, tag = Routine(), self.model, self.tag
        routine.line(self.alloca)
        self.require_cpu(routine)
        self.require_workspace(routine, model.prepare_bytes)
        routine.require_call(f"@{tag}.context(ptr %frame, ptr %workspace, ptr %context)")
        routine.store("ptr", "%weights", "%frame", self.frame.WEIGHTS)
        self.require_weights(routine)
        if self.model.raw:
            wrong = status(POINTER, argument_number(model, "raw"))
            routine.require_aligned("%raw", 8, wrong, null=False)
            routine.require_call(f"@{tag}.take(ptr %raw, ptr %frame)")
        constants = f"{tag}{WEIGHTS_SUFFIX}" if self.embedded else f"{tag}.constants"
        known = f"@{constants}" if model.fixed else "null"
        routine.line(f"call void @{tag}.copies(ptr %raw, ptr {known}, ptr %weights)")
        self.scope(routine, 1)
        routine.line(f"call i32 @{tag}.prepare(ptr %frame)")
        self.scope(routine, 0)
        return routine

    def loading(self) -> Routine:
        """Make the function that lays the weights out when the library is loaded.

        Where it cannot, as on a processor that the code is not for, no run can, either.
        """
        routine, tag, places = Routine(), self.tag, self.held.raw
        routine.line(f"%raw = alloca [{len(places)} x ptr], align 16")
        routine.line(f"call void @{tag}.places(ptr @{tag}{WEIGHTS_SUFFIX}, ptr %raw)")
        behind = routine.address(f"@{tag}{ROOM_SUFFIX}", self.model.weights)
        arguments = f"ptr %raw, ptr @{tag}{ROOM_SUFFIX}, ptr {behind}, ptr null"
        routine.require_call(f"@{tag}_prepare({arguments})")
        return routine

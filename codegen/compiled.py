"""What was compiled, and how it was to be: all that a program from the cache needs to run.

Neither xDSL nor LLVM is imported here, so that a model that was compiled before starts in a
tenth of the time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import CompileError
from ..lazy import cached_property
from ..runtime.artifact import Description
from ..runtime.buffer import Array
from ..runtime.executable import Executable
from ..runtime.gpu.plan import GpuPlan
from ..target import Target
from .aot.debug import kernel_notes
from .aot.library import Library, More, link
from .aot.linker import Room
from .aot.manifest import manifest
from .aot.vendors import vendor_of
from .aot.weights import Weights
from .cache import Cache, default_cache
from .prepare import given_weights, grows, prepared_weights, raw_places

if TYPE_CHECKING:
    from ..ir import Program
    from ..passes.base import Report

FINDER = "libdl.so.2"
"""What libraries for GPUs find the driver by. Newer C libraries have that in themselves, and this
file beside them with nothing in it."""


@dataclass(frozen=True)
class Options:
    """How to compile: what `gravure.compile` and the verbs that compile take by these names.

    An instance does not change; `dataclasses.replace(options, level="O3")` makes another.

    >>> Options(level="O3", disable=("fuse",)).level
    'O3'
    """

    target: str = "native"
    """A processor or triple that `gravure targets` lists, or a GPU such as `cuda:sm_90a`."""
    mattr: str = ""
    """Features of the processor to add and remove, such as `+avx2,-fma`."""
    host: str = ""
    """What a library for a GPU is loaded on: a processor or a triple; else this machine's kind."""
    tag: str = "model"
    """What all symbols of a library begin with: an identifier of C; the file's name if not said."""
    level: str = "O2"
    """The pipeline of passes: `O0`, `O1`, `O2` or `O3`."""
    passes: str = ""
    """A pipeline instead of the level's: `canonicalize,constant-fold{limit=8}`."""
    dtype: str = ""
    """What weights of products become: `bf16`, `i8`, `i4` or as they are; `tf32` on GPUs."""
    numerics: str = "fast"
    """What results may differ in: `exact` (element-wise operations give the bits that each gives
    alone), `ulp:N` (each is at most N representable numbers off, and cheaper where that is enough)
    or `fast` (they may be written in any cheaper form)."""
    use_lib: str = ""
    """A library whose products of matrices are called: `cblas`, or `cblas:FILE`; else ours."""
    recompute: bool = False
    """Whether whole layers are computed again on the way back of training, not kept till then."""
    swap: bool = False
    """Whether what rests for long lies in the memory of a GPU's host meanwhile."""
    disable: tuple[str, ...] = ()
    """Passes to leave out, by name."""
    settable: tuple[str, ...] = ()
    """Tensors of an ONNX model that stay weights however small, so that others can be given."""
    whichever: bool = False
    """Whether either of two sizes of an ONNX model that broadcast may be 1 in some runs; else they
    are taken to be equal, which is faster."""
    slots: int = 64
    """The most threads that a run may be shared by."""
    embed: bool = True
    """Whether the weights are put into the library; else they are in a file beside it."""
    checks: bool = True
    """Whether a run looks at its arguments; else wrong ones are read and written blindly."""
    cache: bool = True
    """Whether kernels and programs that were compiled before are used, and new ones kept."""
    verify: bool = False
    """Whether to verify the module after each pass."""
    jobs: int = 0
    """Processes that compile kernels; 0: two where there are two processors."""
    budget: str = ""
    """What compiling may take by the clock, and of memory: `10s`, `1GB`, `10s/1GB`; or no limit."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What is noted in the library's manifest besides, by name: values of JSON."""


class OtherOptionFields(TypedDict, total=False):
    """The fields of `Options` but the target as keywords, for functions that have one."""

    mattr: str
    host: str
    tag: str
    level: str
    passes: str
    dtype: str
    numerics: str
    use_lib: str
    recompute: bool
    swap: bool
    disable: Sequence[str]
    settable: Sequence[str]
    whichever: bool
    slots: int
    embed: bool
    checks: bool
    cache: bool
    verify: bool
    jobs: int
    budget: str
    extras: Mapping[str, Any]


class OptionFields(OtherOptionFields, total=False):
    """The fields of `Options` as keywords."""

    target: str


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
    effort: int | None = None
    """Operations and bytes of a launch on average, at the most, if somebody counted them."""
    report: Report | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    cached: int = 0
    """How many kernels were found in the cache."""
    threads: int = 1
    """How many threads of this process prepare the weights."""
    linked: bytes = field(default=b"", init=False)
    """What `code` returns, once it was linked."""
    plan: GpuPlan | None = None
    """The modules and launches where the target is a GPU; then there are no objects."""
    executable: Executable | None = None
    """What runs the program where the back end is one of another kind; then there are none."""

    again: Callable[[Compiled], Compiled] | None = None
    """Compiles what prepares the weights for this machine; None: the code is this machine's."""

    def for_host(self) -> Compiled:
        """Return what prepares the weights compiled for this machine."""
        assert self.again is not None, "only what was just compiled can be compiled again"
        return self.again(self)

    @property
    def max_live(self) -> int:
        """Return the bytes of workspace that no plan can be below."""
        return self.description.max_live

    @cached_property
    def face(self) -> Description:
        """Return the model as callers of its library see it: on a GPU the code is elsewhere."""
        if self.plan is None:
            return self.description
        from .llvm.entry.gpu import host_description, host_target  # noqa: PLC0415  (loads LLVM)

        host = host_target(self.options.host)
        return host_description(self.description, self.assembled, host)

    @cached_property
    def assembled(self) -> GpuPlan:
        """Return the plan for GPUs, with its modules assembled where there is an assembler."""
        from .ptx.assemble import with_cubins  # noqa: PLC0415  (loads xDSL)

        assert self.plan is not None, "compiled for a processor"
        return with_cubins(self.plan, object_cache(self.options))

    @cached_property
    def manifest(self) -> str:
        """Return the manifest's text."""
        stored = raw_places(self.description)[1] if self.lays_out else None
        return manifest(self.face, self.objects, embedded=self.options.embed, stored=stored)

    @cached_property
    def blob(self) -> Array:
        """Return the bytes of all weights, prepared."""
        return prepared_weights(self)

    @property
    def fixed(self) -> list[bytes]:
        """Return the constants that are no weights, in the order of `Description.fixed`."""
        names = {offset: name for name, offset, size in self.places if size}
        return [
            self.weights[names[each.offset + n * each.distance]].tobytes()
            for each in self.description.fixed
            for n in range(each.count)
        ]

    @cached_property
    def lays_out(self) -> bool:
        """Say whether the library lays its weights out when it is loaded."""
        return self.options.embed and self.plan is None and grows(self.description)

    def entry(self, *, embedded: bool, late: bool = False) -> tuple[bytes, ...]:
        """Return the objects with the functions that callers see; `late`: it lays weights out."""
        if self.executable is not None:
            raise CompileError(
                f"target {self.target}: its back end runs programs in this process, and makes no"
                " files"
            )
        if self.plan is None:
            from .llvm.entry.functions import Inside, entry_objects  # noqa: PLC0415  (loads LLVM)

            return entry_objects(
                self.description,
                self.manifest,
                self.target,
                embedded=embedded and not late,
                held=Inside(
                    () if embedded and not late else self.fixed,
                    raw_places(self.description)[0] if late else (),
                ),
                cache=object_cache(self.options),
            )
        from .llvm.entry.gpu import gpu_entry_object  # noqa: PLC0415  (loads LLVM)

        return (gpu_entry_object(self.face, self.assembled, self.manifest, embedded=embedded),)

    def library(self) -> Library:
        """Return the shared library, with its weights if they are to be embedded."""
        model, late = self.description, self.lays_out
        if late:
            weights: Weights | None = given_weights(self)
        else:
            weights = Weights.of(self.blob) if model.weights else None
        size, embed = model.weights + model.prepare_bytes, self.options.embed
        room = Room(f"{model.tag}.room", size, f"{model.tag}.loading") if late else None
        objects = [*self.entry(embedded=embed, late=late), *self.objects]
        finder = () if self.plan is None else (FINDER,)
        return link(
            objects, model.tag, weights=weights, embed=embed,
            libraries=(*finder, *model.libraries), more=More(kernel_notes(model), room),
        )  # fmt: skip

    def code(self) -> bytes:
        """Return a shared library without weights, for this process."""
        assert self.plan is None, "what runs on a GPU is loaded by `frontend.models.gpu`"
        if not self.linked:
            objects = [*self.entry(embedded=False), *self.objects]
            notes = kernel_notes(self.description)
            names = [vendor_of(self.options.use_lib).path for _ in self.description.libraries]
            made = link(objects, self.description.tag, libraries=names, more=More(notes))
            self.linked = made.tobytes()
        return self.linked


def object_cache(options: Options) -> Cache:
    """Return the cache that the options ask for."""
    return default_cache() if options.cache else Cache(None)


def target_of(options: Options) -> Target:
    """Return the target that code is made for: with `exact` numerics, its functions are all's."""
    target = Target.parse(options.target, options.mattr)
    return target.in_common() if options.numerics == "exact" else target


def spell(options: Options) -> str:
    """Return target and features as one text that `Target.parse` reads."""
    return f"{options.target},{options.mattr}" if options.mattr else options.target

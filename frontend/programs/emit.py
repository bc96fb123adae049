"""Compile a model into files: libraries, objects, headers, text of any stage, or all in one.

    emit("m.onnx", "m.so")                                 m.so and m.h
    emit("m.onnx", "m.mlir", kinds=("ir@fused",))          what it is when kernels are formed
    emit("m.onnx", "m.zip", kinds=("library", "asm"))      one file with both

It is what `gravure compile` does.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from ...budget import Budget
from ...codegen.aot.build_files import cmake, pkg_config
from ...codegen.aot.cpp import cpp_header
from ...codegen.aot.header import session_header
from ...codegen.aot.manifest import peak_bytes
from ...codegen.aot.rust import rust_module
from ...codegen.aot.weights import Weights
from ...codegen.compile import Compiled, Options, compile_program, lower_kernels
from ...codegen.export import archive_of, gpu_file_of, header_of, object_of
from ...codegen.llvm.listing import listing_assembly, listing_object, read_listing
from ...codegen.stages import IR_STAGES, Snapshots, behind, lower, text_of
from ...errors import CompileError, GravureError, did_you_mean
from ...ir import Program
from ...passes.base import Observer, Report
from ...runtime.files import FilesTogether, replacing, together
from ...target import Target
from ..dims.symbols import DimOption, ShapeOption
from ..files.ir_text import ir_text
from ..files.weights import write_beside, write_safetensors
from ..models.compiled import tag_of
from ..text.writer import write_text
from .compile import compile_source
from .load import load_program
from .save import Saving, save_program
from .within import check_size, too_large, ways

Source = str | os.PathLike[str] | bytes


class EmitError(GravureError, ValueError):
    """A kind of file that `compile` does not write, or kinds that do not fit together.

    `gravure compile --list-stages` lists the kinds. Several kinds are written beside each other
    under one name, or into one file that ends in `.zip`.
    """

    code = "GV4400"
    exit_status = 2


@dataclass(frozen=True)
class Kind:
    """One kind of file."""

    suffix: str
    what: str
    is_text: bool = False


KINDS: Mapping[str, Kind] = {
    "library": Kind(".so", "a shared library: link it, or load it with gravure.load"),
    "static": Kind(".a", "an archive for a linker"),
    "object": Kind(".o", "an object for a linker"),
    "header": Kind(".h", "the C header, with an example of a call", True),
    "session": Kind(".session.h", "what C and C++ load any library by at run time", True),
    "cpp": Kind(".hpp", "a class of C++17 with named arguments, and the C header", True),
    "rust": Kind(".rs", "a module for Rust with named arguments", True),
    "pkgconfig": Kind(".pc", "what pkg-config says of the library", True),
    "cmake": Kind(".cmake", "what CMake includes for the library", True),
    "weights": Kind(".weights", "the weights, for a library that has them not"),
    "raw": Kind(".raw.safetensors", "the weights as they were given, which a library lays out"),
    "manifest": Kind(".json", "what the model is and how it was made", True),
    "graph": Kind(".gv", "graph text as the model was read, weights beside it", True),
    "onnx": Kind(".onnx", "an ONNX model as the model was read, before any pass"),
    "llvm": Kind(".ll", "one LLVM module with kernels and entry", True),
    "asm": Kind(".s", "assembly", True),
    "ptx": Kind(".ptx", "the assembly of a GPU", True),
    "gpu": Kind(".gpu", "a model for a GPU, which gravure.load reads"),
    **{
        f"ir@{stage}": Kind(".mlir", f"IR at the stage {stage!r}, weights beside it", True)
        for stage in IR_STAGES
    },
}
"""Every kind of file, with the suffix that asks for it."""

ALIASES = {"shared": "library", "obj": "object", "archive": "static", "ir": "ir@graph"}
_BY_SUFFIX = {kind.suffix: name for name, kind in KINDS.items()} | {".mlir": "ir@graph"}
GRAPHS = ("graph", "onnx")
"""Kinds that are written of the program before any pass."""
_CODE = ("library", "static", "object")


def parse_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds in a list parted by commas."""
    kinds = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        name = ALIASES.get(word, word)
        if name not in KINDS:
            hint = did_you_mean(word, (*KINDS, *ALIASES)) or f"kinds are {', '.join(KINDS)}"
            raise EmitError(f"kind {word!r} is unknown", hint=hint)
        kinds.append(name)
    return tuple(dict.fromkeys(kinds))


def kinds_for(output: Path, *, embed: bool = True, raw: bool = False) -> tuple[str, ...]:
    """Return the kinds that a file's name asks for; `raw` says that weights stay as given."""
    beside = () if embed else ("raw",) if raw else ("weights",)
    suffix = output.suffix
    if suffix == ".zip":
        return ("library", "header", "manifest", *beside)
    found = _BY_SUFFIX.get(suffix, "library")
    if found == "library":
        return ("library", "header", *beside)
    return (found, *(beside if found in _CODE else ()))


@dataclass(frozen=True)
class WrittenFile:
    """One file that was written."""

    kind: str
    path: Path
    size: int


@dataclass
class Emitted:
    """What was made of a model."""

    files: list[WrittenFile] = field(default_factory=list)
    data: bytes = b""
    """The only file, where none was to be written."""
    compiled: Compiled | None = None
    report: Report | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """How long the parts took; they sum to the whole."""
    spared: str = ""
    """What was done so that a run needs no more memory than it may."""


@dataclass(frozen=True)
class Request:
    """What is to be made of a model."""

    source: Source
    output: Path | None
    """None gives the only kind as bytes."""
    kinds: tuple[str, ...]
    options: Options
    shapes: Mapping[str, ShapeOption] | None = None
    dims: Mapping[str, DimOption] | None = None
    observers: Sequence[Observer] = ()
    start: str = ""
    """The stage that the source is at, if not the first of its level."""
    weights: bool = True
    """Whether weights are written beside IR text."""
    limit: int = 0
    """The most bytes that a run may need; 0 for any number."""
    max_size: int = 0
    """The most bytes that the library may have, with the weights in it; 0 for any number."""

    @property
    def stages(self) -> list[str]:
        """Return the stages whose IR is wanted, from the top down."""
        return [stage for stage in IR_STAGES if f"ir@{stage}" in self.kinds]

    @property
    def native(self) -> list[str]:
        """Return the kinds that are made of compiled code."""
        return [k for k in self.kinds if not k.startswith("ir@") and k not in GRAPHS]

    def path(self, kind: str) -> Path | None:
        """Return where a kind is written."""
        if self.output is None or kind == self.kinds[0]:
            return self.output
        texts = [each for each in self.kinds if each.startswith("ir@") or each == "graph"]
        several = kind in texts and len(texts) > 1  # each has weights beside it
        name = "text" if kind == "graph" else kind.removeprefix("ir@")
        stem = f".{name}" if several else ""
        return self.output.with_suffix(stem + KINDS[kind].suffix)

    def data(self, stage: str, program: Program) -> Path | None:
        """Return where the weights of a stage's IR are written, None for nowhere."""
        path = self.path(f"ir@{stage}")
        return (
            path.with_suffix(".safetensors") if path and self.weights and program.weights else None
        )


def emit(
    source: Source,
    output: str | os.PathLike[str] | None,
    kinds: Sequence[str] = (),
    options: Options | None = None,
    **more: Any,
) -> Emitted:
    """Compile a model and write it; kinds that are not given follow from the file's name.

    Further keywords are fields of `Request`.
    """
    options = options or Options()
    if options.tag == Options().tag and not isinstance(source, bytes):
        options = replace(options, tag=tag_of(source))
    path = None if output is None else Path(output)
    wanted = tuple(kinds) or (kinds_for(path, embed=options.embed) if path else ("library",))
    if path is None and len(wanted) > 1:
        raise EmitError(f"{len(wanted)} kinds cannot go to one stream, expected one")
    if path is not None and path.suffix == ".zip":
        return _bundle(Request(source, path, wanted, options, **more))
    return _Job(Request(source, path, wanted, options, **more)).run()


class _Job:
    """Carries out a request."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.made = Emitted()
        self.data: dict[str, Path | None] = {}
        self.snapshots = Snapshots(request.stages, self.text)

    def run(self) -> Emitted:
        """Compile, and then write."""
        start = perf_counter()
        if self.request.limit:
            self.compile_within()
        else:
            self.compile()
        compiled = self.made.compiled
        if self.request.max_size and compiled is not None:
            check_size(compiled, self.request.max_size)
        seconds = self.made.seconds
        if compiled is not None:
            seconds.update(compiled.seconds)
        elif self.made.report is not None:
            seconds["passes"] = self.made.report.seconds
        seconds["read"] = perf_counter() - start - sum(seconds.values())
        start = perf_counter()
        with together() as files:
            for kind in self.request.kinds:
                self.save(kind, files)
        seconds["write"] = perf_counter() - start
        return self.made

    def compile_within(self) -> None:
        """Compile in the first of the ways whose runs need no more memory than they may."""
        asked, best = self.request, 0
        smallest = asked.options
        for words, options in ways(asked.options):
            self.request, self.made = replace(asked, options=options), Emitted()
            self.snapshots = Snapshots(asked.stages, self.text)
            self.compile()
            if self.made.compiled is None:
                return
            needed = peak_bytes(self.made.compiled.description)
            if needed <= asked.limit:
                self.made.spared = words
                return
            if not best or needed < best:
                best, smallest = needed, options
        self.request = replace(asked, options=smallest, observers=(*asked.observers, Observer()))
        self.compile()
        assert self.made.compiled is not None, "it was compiled before"
        raise too_large(self.made.compiled, asked.limit)

    def compile(self) -> None:
        """Do all that does not depend on where the files go."""
        ask = self.request
        stages = ask.stages
        if not (stages or ask.native):
            return
        if not (stages or ask.observers or ask.start or {"llvm", "asm", "ptx"} & {*ask.kinds}):
            self.made.compiled = compile_source(
                ask.source, ask.options, shapes=ask.shapes, dims=ask.dims
            )
            return
        with Budget.parse(ask.options.budget).kept():
            self.descend(stages)

    def descend(self, stages: Sequence[str]) -> None:
        """Load the program and go down, with a look at each of the stages."""
        ask = self.request
        program = load_program(ask.source, shapes=ask.shapes, dims=ask.dims)
        options = behind(ask.options, ask.start, program) if ask.start else ask.options
        observers = (*ask.observers, self.snapshots)
        if ask.native:
            self.made.compiled = compile_program(program, options, observers)
            self.made.report = self.made.compiled.report
        else:
            self.made.report = lower(program, options, stages[-1], observers)
        if "loops" in stages:
            if program.level == "planned":
                lower_kernels(program, Target.parse(options.target, options.mattr))
            self.snapshots.keep("loops", program)
        missing = [stage for stage in stages if stage not in self.snapshots.found]
        if missing:
            raise CompileError(f"the pipeline does not reach the stage {missing[0]!r}")

    def text(self, stage: str, program: Program) -> str:
        """Return the text of a stage, with the file that its weights will be in."""
        self.data[stage] = self.request.data(stage, program)
        return ir_text(program, self.data[stage])

    def save(self, kind: str, files: FilesTogether) -> None:
        """Write one file, and its weights, and note them; or only keep what it would hold."""
        path = self.request.path(kind)
        if kind in GRAPHS:
            paths = self.save_graph(kind, path)
        elif kind.startswith("ir@"):
            stage = kind.removeprefix("ir@")
            kept = self.snapshots.found[stage]
            if path is None:
                self.made.data = kept.text.encode()
                return
            paths = write_beside(path, kept.text, kept.weights, self.data[stage])
        else:
            assert self.made.compiled is not None, "code comes of a compiled program"
            if path is None:
                self.made.data = bytes_of(self.made.compiled, kind)
                return
            write_kind(self.made.compiled, kind, path, self.stem(path))
            paths = [path]
        for each, name in zip(paths, (kind, "weights"), strict=False):
            self.made.files.append(WrittenFile(name, each, files.path(each).stat().st_size))

    def stem(self, path: Path) -> str:
        """Return the name of the library that a file of this name stands beside."""
        library = self.request.path("library") if "library" in self.request.kinds else None
        return (library or path).stem

    def save_graph(self, kind: str, path: Path | None) -> list[Path]:
        """Write the graph as it was read; return the files."""
        ask = self.request
        program = load_program(ask.source, shapes=ask.shapes, dims=ask.dims)
        if path is None:
            self.made.data = graph_bytes(program, kind, ask.options.tag)
            return []
        form = {"graph": "gv", "onnx": "onnx"}[kind]
        return save_program(program, path, Saving(form, ask.options.tag, ask.weights))


def graph_bytes(program: Program, kind: str, name: str) -> bytes:
    """Return a graph as text, or as an ONNX model."""
    if kind == "graph":
        return write_text(program, name=name).encode()
    from ..onnx.export.model import to_model  # noqa: PLC0415  (onnx takes 0.2 s to import)

    data: bytes = to_model(program).SerializeToString(deterministic=True)
    return data


def bytes_of(compiled: Compiled, kind: str, stem: str = "") -> bytes:
    """Return what a file of a kind holds; `stem` is the name of the library that it is about."""
    if kind == "ptx" and compiled.plan is None:
        raise EmitError(f"target {compiled.target} has no PTX, expected one like cuda:sm_90a")
    if kind in ("llvm", "asm", "ptx"):
        return text_of(compiled, kind).encode()
    if kind == "gpu":
        return gpu_file_of(compiled)
    forms = {"static": archive_of, "object": object_of, "header": header_of}
    if kind in forms:
        return forms[kind](compiled)
    if kind in BINDINGS:
        return BINDINGS[kind](compiled, stem or compiled.description.tag).encode()
    if kind == "manifest":
        return f"{compiled.manifest}\n".encode()
    if kind in ("weights", "raw"):
        raise EmitError("weights can only be written to a file")
    return compiled.library().tobytes()


def _rust(compiled: Compiled) -> str:
    if compiled.face.is_for_gpu or not compiled.options.embed:
        found = "for a GPU" if compiled.face.is_for_gpu else "whose weights lie in another file"
        raise EmitError(f"kind 'rust' of a model {found}, expected one that needs nothing else")
    return rust_module(compiled.face)


BINDINGS: Mapping[str, Callable[[Compiled, str], str]] = {
    "session": lambda *_: session_header(),
    "cpp": lambda compiled, _: cpp_header(compiled.face, embedded=compiled.options.embed),
    "rust": lambda compiled, _: _rust(compiled),
    "pkgconfig": lambda compiled, stem: pkg_config(compiled.face, stem),
    "cmake": lambda compiled, stem: cmake(compiled.face, stem),
}
"""What other languages and builds read of a library, by its kind."""


def write_kind(compiled: Compiled, kind: str, path: Path, stem: str) -> None:
    """Write a file of a kind; large ones pass through in pieces."""
    if kind == "library":
        compiled.library().save(path)
    elif kind == "weights":
        Weights.of(compiled.blob).save(path)
    elif kind == "raw":
        save_raw(compiled, path)
    else:
        with replacing(path) as file:
            file.write(bytes_of(compiled, kind, stem))


def save_raw(compiled: Compiled, path: Path) -> None:
    """Write the weights of which a library that has none prepares its own."""
    raw = compiled.description.raw
    if compiled.plan is not None or (compiled.description.weights and not raw):
        raise EmitError(f"target {compiled.target} prepares no weights, expected kind 'weights'")
    write_safetensors(path, {name: compiled.weights[name] for each in raw for name in each.names})


def _bundle(request: Request) -> Emitted:
    """Write all kinds into one file, which holds no time and no path of this machine."""
    assert request.output is not None, "a bundle is a file"
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        first = Path(folder) / (request.options.tag + KINDS[request.kinds[0]].suffix)
        made = _Job(replace(request, output=first)).run()
        with replacing(request.output) as file, zipfile.ZipFile(file, "w") as bundle:
            for each in made.files:
                entry = zipfile.ZipInfo(each.path.name)
                entry.external_attr = 0o644 << 16
                with (
                    each.path.open("rb") as source,
                    bundle.open(entry, "w", force_zip64=True) as to,
                ):
                    shutil.copyfileobj(source, to)
    made.files = [WrittenFile("bundle", request.output, request.output.stat().st_size)]
    return made


def emit_listing(source: Path, output: Path | None, kind: str, options: Options) -> Emitted:
    """Make assembly or an object of a file of LLVM text."""
    if kind not in ("asm", "object"):
        raise EmitError(f"LLVM text cannot become {kind}, expected asm or object")
    target = Target.parse(options.target, options.mattr)
    text = read_listing(source.read_text(encoding="utf-8", errors="replace"), source.name)
    made = Emitted()
    made.data = (
        listing_object(text, target)
        if kind == "object"
        else listing_assembly(text, target).encode()
    )
    if output is not None:
        with replacing(output) as file:
            file.write(made.data)
        made.files.append(WrittenFile(kind, output, output.stat().st_size))
    return made

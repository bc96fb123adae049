"""`gravure.compile`: from a model file or a program to a model that runs.

model = gravure.compile("model.onnx", threads=2)
[y] = model.run({"x": x})
model.save("model.so")

What is in the cache starts without the compiler: no xDSL, no LLVM is imported then.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..codegen.compiled import Compiled, Options
from ..codegen.prepare import runs_here
from ..codegen.store import find, keep, program_key
from ..errors import ArtifactError, CompileError
from ..runtime.arguments import check_threads
from ..runtime.buffer import address
from ..runtime.devices import gpu_index
from ..runtime.gpu_driver import Driver
from ..runtime.gpu_file import MAGIC, is_gpu_file
from ..runtime.model import Model
from ..target import Target
from .load import guess_format, load_program, read_bytes
from .onnx.wire import KEEP_BELOW, split
from .records import Records, with_words

if TYPE_CHECKING:
    from ..ir import Array, Program
    from ..passes.base import Observer
    from .symbols import DimOption, ShapeOption

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview
"""A file, or the bytes of one."""


class CompiledModel(Model):
    """A model that was compiled in this process."""

    compiled: Compiled

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the suffix of `path` asks for: a library, or `.o`, `.a`, `.h` for C."""
        from ..codegen.export import export  # noqa: PLC0415  (loads LLVM)

        export(self.compiled, path)


def compile(  # noqa: A001, PLR0913  (`gravure.compile`; each option is its own)
    source: Source | Program,
    *,
    threads: int = 1,
    target: str | None = None,
    device: Driver | str | None = None,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    tune: str | os.PathLike[str] | None = None,
    options: Options | None = None,
    observers: Sequence[Observer] = (),
    **more: Any,
) -> CompiledModel:
    """Compile a model for this process.

    `source` is a file (ONNX, graph text, IR text), the bytes of one, or a program. `shapes`
    and `dims` name and bound symbolic dimensions: `shapes={"x": ("N", 784)}, dims={"N": (1,
    64)}`. `target` and further keywords, which are fields of `Options`, go before what
    `options` says; `threads` is what the library has room for (`Options.slots`). `tune` is a
    file of decisions that `gravure compile --tune` measured. With the target of a GPU,
    `cuda:sm_90a`, the model runs on `device`: `gpu:0` if not said, or `emulated`, or another
    driver. Raises a `GravureError` that lists all faults of the model.
    """
    check_threads(threads)
    options = options or Options()
    target = options.target if target is None else target
    options = replace(options, target=target, slots=threads, **more)
    if tune is not None:
        records = Records.read(tune, Target.parse(options.target, options.mattr))
        options = replace(options, mattr=with_words(options.mattr, records.words))
    return compile_model(
        source, options, threads, device=device, shapes=shapes, dims=dims, observers=observers
    )


def load_on_gpu(compiled: Compiled, device: Driver | str | None = None) -> CompiledModel:
    """Load compiled code onto a GPU."""
    from .gpu import DeviceModel  # noqa: PLC0415  (gpu -> compile -> gpu)

    if compiled.plan is None:
        raise CompileError(f"target {compiled.target} is no GPU, expected one like cuda:sm_80")
    return DeviceModel.of(compiled, device)


def compile_model(  # noqa: PLR0913  (as `compile`)
    source: Source | Program,
    options: Options,
    threads: int = 1,
    *,
    device: Driver | str | None = None,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    observers: Sequence[Observer] = (),
) -> CompiledModel:
    """Return a model that runs in this process; it may have host steps (`stepped`)."""
    if device is not None or Target.parse(options.target, options.mattr).is_gpu:
        found = compile_source(source, options, shapes=shapes, dims=dims, observers=observers)
        return load_on_gpu(found, device)
    made = _compiled(source, options, shapes, dims, observers)
    if isinstance(made, Compiled):
        return load_compiled(made, threads)
    from .stepped import SteppedModel  # noqa: PLC0415  (stepped -> compile -> stepped)

    return SteppedModel(made, options, threads)


def compile_source(
    source: Source | Program,
    options: Options,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    observers: Sequence[Observer] = (),
) -> Compiled:
    """Return the compiled program of a source, not yet loaded; refuse one with host steps."""
    made = _compiled(source, options, shapes, dims, observers)
    return made if isinstance(made, Compiled) else _compiler()(made, options, observers)


def _compiled(
    source: Source | Program,
    options: Options,
    shapes: Mapping[str, ShapeOption] | None,
    dims: Mapping[str, DimOption] | None,
    observers: Sequence[Observer],
) -> Compiled | Program:
    """Return the compiled program; the program itself where it has host steps."""
    if not isinstance(source, str | os.PathLike | bytes | bytearray | memoryview):
        return _lowered(source, options, observers)
    if isinstance(source, bytearray | memoryview):
        source = bytes(source)
    if options.tag == Options().tag and not isinstance(source, bytes):
        options = replace(options, tag=tag_of(source))
    known = None if observers else Known.of(source, options, (shapes, dims))
    found = known.find() if known else None
    if found is not None:
        return found
    data = known.data if known else None
    program = load_program(source, shapes=shapes, dims=dims, data=data)
    compiled = _lowered(program, options, observers)
    if known and isinstance(compiled, Compiled):
        known.keep(compiled)
    return compiled


def _lowered(
    program: Program, options: Options, observers: Sequence[Observer]
) -> Compiled | Program:
    from ..ir.host import has_host_steps  # noqa: PLC0415  (not for what is in the cache)

    return program if has_host_steps(program) else _compiler()(program, options, observers)


def _compiler() -> Callable[[Program, Options, Sequence[Observer]], Compiled]:
    from ..codegen.compile import compile_program  # noqa: PLC0415  (loads xDSL and LLVM)

    return compile_program


def compile_piece(program: Program, options: Options) -> Compiled:
    """Return a compiled program, which the cache of whole programs may have."""
    known = Known.of_program(program, options)
    found = known.find() if known else None
    if found is None:
        found = _compiler()(program, options, ())
        if known:
            known.keep(found)
    return found


class Known:
    """A model as the cache of whole programs knows it: by all but the data of large weights."""

    def __init__(
        self, structure: bytes, payloads: Mapping[int, Array], more: object, options: Options
    ) -> None:
        self.payloads, self.options = payloads, options
        self.data: Any = None
        """The bytes of the file that it was, if it was one."""
        self.target = Target.parse(options.target, options.mattr)
        text = f"{hashlib.sha256(structure).hexdigest()} {more}"
        self.key = program_key(text, options, self.target)

    @classmethod
    def of(
        cls, source: str | os.PathLike[str] | bytes, options: Options, more: object
    ) -> Known | None:
        """Return what is known of a source; None for what is not kept: other formats, stdin."""
        if source == "-" or not _is_kept(options):
            return None
        data = read_bytes(source)
        if data is None or guess_format(data, source) != "onnx":
            return None
        parts = split(data)
        known = cls(parts.structure, parts.payloads, more, options)
        known.data = data
        return known

    @classmethod
    def of_program(cls, program: Program, options: Options) -> Known | None:
        """Return what is known of a program that nothing was done to; None if none is kept."""
        if not _is_kept(options):
            return None
        from ..ir import print_module  # noqa: PLC0415  (not for what is in the cache)

        parts, payloads = [print_module(program.module).encode()], {}
        for number, (_, array) in enumerate(sorted(program.weights.items())):
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            if flat.size < KEEP_BELOW:
                parts.append(flat.tobytes())
            else:
                payloads[number] = flat
        return cls(b"\0".join(parts), payloads, "program", options)

    def find(self) -> Compiled | None:
        """Return the compiled program if it is stored."""
        return find(self.key, self.options, self.target, self.payloads)

    def keep(self, compiled: Compiled) -> None:
        """Store a compiled program."""
        numbers = {address(p): n for n, p in self.payloads.items() if p.size}
        given = {}
        for name, array in compiled.weights.items():
            number = numbers.get(address(array)) if array.flags.c_contiguous else None
            if number is not None and array.nbytes == self.payloads[number].nbytes:
                given[name] = number
        keep(self.key, compiled, given)


def _is_kept(options: Options) -> bool:
    """Say whether whole programs are kept: not for other machines, as code prepares weights."""
    return bool(options.cache) and runs_here(Target.parse(options.target, options.mattr))


def load_compiled(compiled: Compiled, threads: int) -> CompiledModel:
    """Load compiled code into this process."""
    compiled.threads = threads
    weights = compiled.blob if compiled.description.weights else None
    model = CompiledModel.load(compiled.code(), threads=threads, weights=weights)
    assert isinstance(model, CompiledModel), "load gives what it is called on"
    model.compiled = compiled
    return model


def tag_of(path: str | os.PathLike[str]) -> str:
    """Return a C identifier made from a file's name."""
    stem = Path(path).stem
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return plain if plain[:1].isalpha() else f"model_{plain}"


def load(
    path: str | os.PathLike[str] | bytes,
    *,
    threads: int = 1,
    weights: Any = None,
    device: Driver | str | None = None,
) -> Model:
    """Load a compiled shared library, see `Model.load`, or a model for GPUs on a device.

    A library that runs on a GPU takes `device` too, but only one of this machine: `gpu:0`.
    """
    if is_for_gpu(path):
        from .gpu import DeviceModel  # noqa: PLC0415  (gpu -> compile -> gpu)

        return DeviceModel.read(path, device)
    if device is not None and (not isinstance(device, str) or device == "emulated"):
        raise ArtifactError(
            f"a library runs on this machine, not on {device}",
            hint="write the model to a file *.gpu, which any driver runs",
        )
    index = None if device is None else gpu_index(device)
    return Model.load(path, threads=threads, weights=weights, device=index)


def is_for_gpu(path: str | os.PathLike[str] | bytes) -> bool:
    """Say whether a file, or the bytes of one, is a model for GPUs."""
    if isinstance(path, bytes):
        return is_gpu_file(path)
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return is_gpu_file(file.read(len(MAGIC)))

"""`gravure.compile`: from a model file or a program to a model that runs.

model = gravure.compile("model.onnx", threads=2)
[y] = model.run({"x": x})
model.save("model.so")

What is in the cache starts without the compiler: no xDSL, no LLVM is imported then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from ... import knobs
from ...budget import Budget
from ...codegen.compiled import Compiled, Options, OtherOptionFields, object_cache
from ...codegen.digests import Stamp, file_digest
from ...codegen.keys import reader_stamp
from ...codegen.store import find, keep, program_key
from ...collection import paused
from ...errors import ArtifactError, ParseError, UnsupportedOp, did_you_mean
from ...plugins import load_named, names_loaded
from ...runtime.arguments import check_threads
from ...runtime.artifact import TOLD
from ...runtime.devices import gpu_index
from ...runtime.gpu.driver import Driver
from ...runtime.gpu.file import MAGIC, is_gpu_file
from ...runtime.model import Model
from ...target import Target
from ..files.beside import Noted, map_beside, map_file, noting
from ..files.records import Records, with_words
from ..models.compiled import CompiledModel, compile_if_whole, compile_program, is_kept, tag_of
from ..models.making import is_whole, made_of
from ..models.otherwise import Otherwise, Shapes
from .load import OptionError, Serialised, as_source, load_program, read_bytes

if TYPE_CHECKING:
    from ...ir import Program
    from ...passes.base import Observer
    from ..dims.symbols import DimOption, ShapeOption

LITTLE = 1 << 26
"""A model of at most so many bytes in memory is kept, as it may have to be read once more."""
LEAST = 1 << 20
"""The same of one without open sizes: few of these had some that were taken to be a number."""
SUFFIX = ".parallel.json"
RAW = ".safetensors"
"""What files of weights end with that a library lays out when it is loaded."""
"""What the name of a manifest of several ranks ends in."""
Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | Serialised
"""A file, the bytes of one, or a model of the package onnx."""


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
    **more: Unpack[OtherOptionFields],
) -> CompiledModel:
    """Compile a model for this process.

    - `source`: a file (ONNX, graph text, IR text, `file.py:function`), the bytes of one, an
      `onnx.ModelProto`, or a program.
    - `threads`: how many threads a run is shared by, from 1; also what the library has room for
      (`Options.slots`).
    - `target`: a processor, a triple, or a GPU: `native`, `znver4`, `cuda:sm_90a`; see
      `gravure.list_targets()`.
    - `device`: where a model for a GPU runs: `gpu:0`, `emulated`, or a driver.
    - `shapes`: the shapes of inputs by name: numbers, names, None for a dimension of its own. An
      input of an ONNX model that has a default is one of the result's only if it is named here.
    - `dims`: what dimensions with names are: a size, `(lowest, highest)`, or `(lowest, highest,
      step)` for multiples; memory is planned for the highest.
    - `tune`: a file of decisions that `gravure compile --tune` measured.
    - `options`: an `Options`, which holds all of the following.
    - `observers`: what looks on while passes run; nothing is taken from the cache then.

    Further keywords go before what `options` says:

    - `level`: the pipeline: `O0`, `O1`, `O2` (the default) or `O3`.
    - `passes`: a pipeline instead: `"canonicalize,constant-fold{limit=8}"`; `disable`: names of
      passes to leave out; `verify`: whether to verify the program after each.
    - `dtype`: what weights of products are stored in: `bf16`, `i8`, `i4`, or as they are (the
      default); `tf32` multiplies so on GPUs.
    - `numerics`: `exact`, where element-wise operations give the bits that each gives alone;
      `ulp:N`, where each is at most N representable numbers off; or `fast` (the default), where
      they may be written in any cheaper form.
    - `use_lib`: `cblas`, or `cblas:FILE`, whose functions compute products of f32 and f64; ours do
      unless it is said. What is in a run beyond `threads` is that library's.
    - `recompute`: whether whole layers are computed again on the way back of training, instead of
      being kept: less than half of the memory where there are many, a third more time.
    - `swap`: whether what rests for long lies in the memory of the host meanwhile, which is for
      GPUs: the numbers stay the same, and what goes to and fro takes the time of its bus.
    - `settable`: tensors of an ONNX model that can be given later (`Model.set_weights`), however
      small they are.
    - `checks`: whether a run looks at its arguments (True).
    - `cache`: whether what was compiled before is used, and the new kept (True).
    - `jobs`: processes that compile kernels; 0: two where there are two processors.
    - `budget`: what compiling may take by the clock, and of memory beyond what the process has:
      `"10s"`, `"1GB"`, `"10s/1GB"`; a `BudgetError` (a `CompileError`) says where it was spent.
    - `mattr`: features of the processor: `"+avx2,-fma"`; `host`: what a library for a GPU is
      loaded on.
    - `whichever`: whether either of two sizes of an ONNX model that broadcast may be 1 in some
      runs, also of a library that is saved (`UnsupportedOp` for other files). Else they are taken
      to be equal, which is faster, and a run in this process in which one is 1 has another model
      made first. So has one that fits neither, for its sizes alone (`PerformanceWarning`); the
      last 16 of these are kept.
    - `tag`: what the symbols of a library begin with; `embed`: whether its weights are in it;
      `extras`: what its manifest holds besides.

    Raises a `GravureError` that lists all faults of the model, and `OptionError`, which is a
    `TypeError`, for a keyword that there is not.

    >>> import numpy as np
    >>> import gravure as gv
    >>> text = b"model m(x: f32[N, 3]) -> (y) { y = relu(x) }"
    >>> model = gv.compile(text, dims={"N": (1, 64)}, level="O1", cache=False)
    >>> model(np.float32([[-1, 0, 2]]))
    array([[0., 0., 2.]], dtype=float32)
    """
    made = options_with("compile", options, more, target=target, threads=threads, tune=tune)
    return compile_model(
        source, made, threads, device=device, shapes=shapes, dims=dims, observers=observers
    )


TYPES: Mapping[str, tuple[type, ...]] = {
    field.name: (tuple, list) if isinstance(field.default, tuple) else (type(field.default),)
    for field in fields(Options)
    if field.default is not MISSING
}
"""The types that options may have."""
OWN = ("threads", "device", "shapes", "dims", "tune", "options", "observers")
"""Keywords of `gravure.compile` that are no fields of `Options`."""


def options_with(  # noqa: PLR0913  (what the verbs that compile have in common)
    verb: str,
    options: Options | None,
    more: OtherOptionFields,
    *,
    threads: int,
    target: str | None = None,
    tune: str | os.PathLike[str] | None = None,
    own: Sequence[str] = OWN,
) -> Options:
    """Return the options that the keywords of a function of ours ask for.

    `own` are the other keywords of the function, for who spells one wrongly.
    """
    check_threads(threads)
    made = replace(options or Options(), slots=threads)
    made = replace(made, **checked(verb, more, own))
    if target is not None:
        made = replace(made, target=target)
    if tune is not None:
        records = Records.read(tune, Target.parse(made.target, made.mattr))
        made = replace(made, mattr=with_words(made.mattr, records.words))
    return made


def checked(verb: str, options: Mapping[str, object], own: Sequence[str]) -> dict[str, Any]:
    """Return options as fields of `Options`; raise `OptionError` for what is none."""
    known = [field.name for field in fields(Options)]
    for name, value in options.items():
        if name not in known:
            every = [*known, *own]
            hint = did_you_mean(name, every) or f"options are {', '.join(every)}"
            raise OptionError(f"gravure.{verb} has no option {name!r}", hint=hint)
        if name in TYPES and not isinstance(value, TYPES[name]):
            wanted = " or ".join(kind.__name__ for kind in TYPES[name])
            raise OptionError(f"option {name} is {value!r}, expected a {wanted}")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}


@paused()
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
    made: Compiled | Program
    if is_whole(options, device):
        made = compile_source(source, options, shapes=shapes, dims=dims, observers=observers)
        return made_of(made, options, threads, device)
    try:
        made = _compiled(source, options, shapes, dims, observers)
    except UnsupportedOp as refusal:
        if refusal.size is None:
            raise
        from ..models.several import SeveralModel  # noqa: PLC0415  (few models are several)

        size = refusal.size
        return SeveralModel(
            refusal, size, lambda number: compile_model(
                source, options, threads, shapes=shapes, dims={**(dims or {}), size.name: number}
            ),
        )  # fmt: skip
    model = made_of(made, options, threads)
    again = None if options.whichever else _again(source, LITTLE if model.dims else LEAST)
    if again is not None:
        load = partial(load_program, shapes=shapes, dims=dims, settable=options.settable)

        def ready(program: Program) -> CompiledModel:
            return made_of(compile_if_whole(program, options), options, threads)

        names = [each.name for each in model.inputs]
        model.otherwise = Otherwise(
            lambda: ready(load(again(), whichever=True)),
            lambda sizes: ready(load(again(), shapes=exact_shapes(names, sizes))),
            tells=type(model) is not CompiledModel,
        )
    return model


def exact_shapes(names: Sequence[str], sizes: Shapes) -> Mapping[str, ShapeOption]:
    """Return the shapes of the inputs of one run, as an option."""
    from ..dims.symbols import ExactShape  # noqa: PLC0415  (not for what is in the cache)

    return {name: ExactShape(shape) for name, shape in zip(names, sizes, strict=True)}


def _again(
    source: Source | Program, most: int
) -> Callable[[], str | os.PathLike[str] | bytes] | None:
    """Return what gives a source once more as it is now; None where it is more than `most` bytes.

    It raises a `ParseError` where the file has changed.
    """
    if isinstance(source, str | os.PathLike):
        path, before = source, None if source == "-" else Stamp.of(Path(source))
        return None if before is None else lambda: _unchanged(path, before)
    size = source.ByteSize() if hasattr(source, "ByteSize") else None
    if isinstance(source, bytes | bytearray | memoryview):
        size = len(source)
    if size is None or size > most:
        return None
    kept = as_source(source)
    return lambda: kept


def _unchanged(path: str | os.PathLike[str], before: Stamp) -> str | os.PathLike[str]:
    """Return a file that is what it was, or raise."""
    if Stamp.of(Path(path)) != before:
        raise ParseError("the file has changed since the model was compiled", location=str(path))
    return path


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
    return made if isinstance(made, Compiled) else compile_program(made, options, observers)


def _compiled(
    source: Source | Program,
    options: Options,
    shapes: Mapping[str, ShapeOption] | None,
    dims: Mapping[str, DimOption] | None,
    observers: Sequence[Observer],
) -> Compiled | Program:
    """Return the compiled program; the program itself where it has host steps."""
    budget = Budget.parse(options.budget)
    with budget.kept():
        if not isinstance(source, str | os.PathLike | bytes):
            from ...ir import Program  # noqa: PLC0415  (not for what is in the cache)

            if isinstance(source, Program):
                if options.whichever:
                    raise OptionError("a program has sizes as it says, expected whichever=False")
                return compile_if_whole(source, options, observers)
            source = as_source(source)
        if options.tag == Options().tag and not isinstance(source, bytes):
            options = replace(options, tag=tag_of(source))
        known = None if observers else Known.of(source, options, (shapes, dims))
        found = known.find() if known else None
        if found is not None:
            return found
        data = known.file.data if known else None
        load = partial(
            load_program, source, shapes=shapes, dims=dims, settable=options.settable, data=data
        )
        load = partial(loaded, load, options)
        with noting() as named:
            compiled = _compiled_of(load, options, observers, budget)
        if known and isinstance(compiled, Compiled):
            known.keep(compiled, named)
        return compiled


def loaded(load: Callable[..., Program], options: Options, *, short: bool = False) -> Program:
    """Return the program that is loaded; where no two sizes are so that one may be 1, as always."""
    if options.whichever:
        try:
            return load(short=short, whichever=True)
        except UnsupportedOp as refusal:
            if not refusal.is_needless:
                raise
    return load(short=short)


def _compiled_of(
    load: Callable[..., Program], options: Options, observers: Sequence[Observer], budget: Budget
) -> Compiled | Program:
    """Return the compiled program that is loaded; the program itself where it has host steps.

    Of a long chain of layers a few are read, and all if what is left out cannot be put back.
    """
    program = load(short=may_be_short(options, observers))
    budget.check_weights(sum(w.nbytes for w in program.weights.values()))
    from ...ir.host import has_host_steps  # noqa: PLC0415  (not for what is in the cache)
    from ...passes.cut_layers import LAYERS  # noqa: PLC0415
    from ...passes.repeat_layers import LayersDifferError  # noqa: PLC0415

    if LAYERS not in program.module.attributes:
        return compile_if_whole(program, options, observers)
    if not has_host_steps(program):
        with suppress(LayersDifferError):
            return compile_program(program, options, observers)
    return compile_if_whole(load(), options, observers)


def may_be_short(options: Options, observers: Sequence[Observer]) -> bool:
    """Say whether most of a long chain of layers need not be read: passes would take it out."""
    from ...passes.pipelines import CUT, REPEAT  # noqa: PLC0415  (not for what is in the cache)

    watched = knobs.checks_passes() or knobs.TIME.is_on() or knobs.DUMP.text()
    if observers or watched or options.passes or not {CUT, REPEAT}.isdisjoint(options.disable):
        return False
    target = Target.parse(options.target, options.mattr)
    return options.level != "O0" and target.can.repeat_launches


class Known:
    """A source as the cache of whole programs knows it: by every byte that it is made from.

    Which files a model names shows when it is read, not before. So what is kept under the key of
    the model's own file is a list of the others, and of the plugins that were looked for since;
    with what these hold, it is the program's key.
    """

    def __init__(self, file: Noted, options: Options, more: object) -> None:
        self.file, self.options = file, options
        self.cache = object_cache(options)
        self.target = Target.parse(options.target, options.mattr)
        self.key = program_key(
            f"{reader_stamp()} {self._digest(file)} {file.path.name} {more}", options, self.target
        )

    @classmethod
    def of(
        cls, source: str | os.PathLike[str] | bytes, options: Options, more: object
    ) -> Known | None:
        """Return what is known of a source; None for what is not kept: Python files, stdin."""
        if source == "-" or not is_kept(options):
            return None
        path = Path("" if isinstance(source, bytes) else source)
        before = Stamp.of(path)
        data = read_bytes(source)
        return None if data is None else cls(Noted(path, before, data), options, more)

    def _digest(self, file: Noted) -> str:
        return file_digest(file.path, file.before, file.data, self.cache)

    def _key_with(self, named: Mapping[str, Noted]) -> str:
        """Return the key of the program that is made of these files, too."""
        rows = [(location, self._digest(file)) for location, file in named.items()]
        return program_key(f"{self.key} {rows}", self.options, self.target)

    def find(self) -> Compiled | None:
        """Return the compiled program if it is stored."""
        listed = self.cache.get(self.key)
        if listed is None:
            return None
        locations, plugins = json.loads(listed)
        with noting() as named:
            try:
                for location in locations:
                    map_beside(self.file.path.parent, location)
            except ParseError:  # it is not there now: who reads the model says so
                return None
        if not all(map(load_named, plugins)):  # one is not there now: who reads the model says so
            return None
        files = [self.file.data, *(file.data for file in named.values())]
        return find(self._key_with(named), self.options, self.target, files)

    def keep(self, compiled: Compiled, named: Mapping[str, Noted]) -> None:
        """Store a compiled program, unless a file changed while it was read."""
        files = [self.file, *named.values()]
        key = self._key_with(named)
        if any(Stamp.of(file.path) != file.before for file in files):
            return
        keep(key, compiled, [file.data for file in files])
        listed = json.dumps([[*named], names_loaded()]).encode()
        self.cache.put(self.key, listed, f"files of {compiled.options.tag}")


def load(
    path: str | os.PathLike[str] | bytes,
    *,
    threads: int = 1,
    weights: Any = None,
    device: Driver | str | None = None,
) -> Model:
    """Load a compiled shared library, see `Model.load`, or a model for GPUs on a device.

    Weights in a file `*.safetensors` are those that the model was compiled with, or others like
    them: the library lays them out as it wants them. One that runs on a GPU takes `device` too, but
    only one of this machine: `gpu:0`. Of a manifest `*.parallel.json` it is this rank's part:
    `gravure compile --parallel` writes it.
    """
    if not isinstance(path, bytes) and os.fspath(path).endswith(SUFFIX):
        if weights is not None or device is not None:
            raise ArtifactError("a manifest names its weights, and runs on processors")
        from ..distributed.ranked import RankedModel  # noqa: PLC0415  (loads xDSL)

        return RankedModel.read(path, threads)
    if is_for_gpu(path):
        from ..models.gpu import DeviceModel  # noqa: PLC0415  (not for processors)

        return DeviceModel.read(path, device)
    if device is not None and (not isinstance(device, str) or device == "emulated"):
        raise ArtifactError(
            f"a library runs on this machine, not on {device}",
            hint="write the model to a file *.gpu, which any driver runs",
        )
    index = None if device is None else gpu_index(device)
    if isinstance(weights, str | os.PathLike) and os.fspath(weights).endswith(RAW):
        from ..files.weights import read_safetensors  # noqa: PLC0415  (loads xDSL)

        weights = read_safetensors(map_file(Path(weights)), os.fspath(weights))
    model = Model.load(path, threads=threads, weights=weights, device=index)
    if TOLD not in model.manifest:
        return model
    from ..models.told import ToldModel  # noqa: PLC0415  (most tell nothing)

    return ToldModel(model)


def is_for_gpu(path: str | os.PathLike[str] | bytes) -> bool:
    """Say whether a file, or the bytes of one, is a model for GPUs."""
    if isinstance(path, bytes):
        return is_gpu_file(path)
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return is_gpu_file(file.read(len(MAGIC)))

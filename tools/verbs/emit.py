"""Compile a model into files, and say what was written and what a run of it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.aot.manifest import peak_bytes
from ...codegen.compiled import OptionFields, Options
from ...codegen.report import report
from ...codegen.stages import STAGES
from ...frontend.programs.compile import options_with
from ...frontend.programs.emit import KINDS, Emitted, emit_listing, parse_kinds
from ...frontend.programs.emit import emit as make
from ...passes.analysis.cost import largest
from ...passes.apart import WhyApart
from ..console import in_bytes, in_seconds, table, to_json
from ..talk import FilePath, Progress, Source, name_of, silent
from .bench import keep

if TYPE_CHECKING:
    from ...codegen.compile import Compiled
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...passes.apart import Apart
    from ...passes.base import Observer


@dataclass(frozen=True)
class CompiledFiles:
    """What a model was compiled into."""

    made: Emitted
    """The files, or the bytes of the only one; the compiled program; what passes did."""
    apart: tuple[Apart, ...] = ()
    """Which operations are not in one kernel, and why, if a report was asked for."""

    @property
    def paths(self) -> dict[str, Path]:
        """Return the files by kind."""
        return {file.kind: file.path for file in self.made.files}

    @property
    def data(self) -> bytes:
        """Return the only file, where none was to be written."""
        return self.made.data

    def __str__(self) -> str:
        return _text(self.made)

    def as_json(self) -> dict[str, Any]:
        """Return files, times, memory and the manifest as plain data."""
        return _data(self.made)

    def report(self) -> dict[str, Any]:
        """Return what each kernel does and how, and which operations are apart, and why."""
        compiled = self.made.compiled
        assert compiled is not None, "only compiled programs are reported on"
        assert compiled.program is not None, "what is reported on is not taken from the cache"
        sizes = largest(compiled.program.ranges)
        return {
            "schema": "gravure.report/2",
            "dims": sizes,
            "launches": report(compiled, sizes),
            "apart": [row.as_json() for row in self.apart],
        }

    def save_report(self, path: FilePath) -> None:
        """Write the report as JSON."""
        keep(path, to_json(self.report()))


def emit(  # noqa: PLR0913  (each option is its own)
    source: Source,
    output: FilePath | None = None,
    kinds: str | Sequence[str] = (),
    *,
    start: str = "",
    weights: bool = True,
    limit: int = 0,
    max_size: int = 0,
    explained: bool = False,
    threads: int = 0,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    observers: Sequence[Observer] = (),
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> CompiledFiles:
    """Compile a model into a library, an object, a header, or text of any stage on the way.

    - `source`: a model, the text of a stage on the way (IR, LLVM), or the bytes of one.
    - `output`: the file to write; several kinds are written beside it, or into it if it ends in
      `.zip`. Without it the only kind is in `data`.
    - `kinds`: what to write: `library`, `header`, `object`, `static`, `asm`, `ir@planned`, and
      what else `gravure.list_stages()` names; the suffix of `output` says it if this is empty.
    - `start`: the stage that the source is at, if not the first of its level.
    - `weights`: whether weights are written beside IR text.
    - `limit`: the most bytes that a run may need; 0 for any number. Cheap values are computed
      again, weights kept as they are, and fewer threads used until that is so.
    - `max_size`: the most bytes that the library may have, with the weights in it; 0 for any.
    - `explained`: whether `report` shall know why operations are not in one kernel.
    - `threads`: the most threads of a run; 0 for what `options` says.
    - `shapes`, `dims`, `observers`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> made = gv.emit(b"model m(x: f32[8]) -> (y) { y = exp(x) }", "exp.so", tag="exp")
    >>> {kind: path.name for kind, path in made.paths.items()}
    {'library': 'exp.so', 'header': 'exp.h'}
    """
    own = ("output", "kinds", "start", "weights", "limit", "max_size", "explained", "threads",
           "shapes", "dims", "observers", "options", "progress")  # fmt: skip
    slots = threads or (options or Options()).slots
    made = options_with("emit", options, more, threads=slots, own=own)
    words = parse_kinds(kinds if isinstance(kinds, str) else ",".join(kinds))
    path = None if output is None else Path(output)
    with progress(f"compiling {name_of(source)}"):
        if start == "llvm" or (not isinstance(source, bytes) and str(source).endswith(".ll")):
            kind = (words or ("library",))[0]
            return CompiledFiles(emit_listing(Path(str(source)), path, kind, made))
        why = WhyApart()
        looking = [*observers, *([why] if explained else [])]
        found = make(
            source, path, words, made, shapes=shapes, dims=dims, observers=looking, start=start,
            weights=weights, limit=limit, max_size=max_size,
        )  # fmt: skip
    return CompiledFiles(found, tuple(why.found))


@dataclass(frozen=True)
class Stages:
    """The stages that a program goes through, and the kinds of files that it can become."""

    stages: Mapping[str, str]
    kinds: Mapping[str, Mapping[str, str]]
    """Suffix and meaning by name."""

    def __str__(self) -> str:
        kinds = [[name, kind["suffix"], kind["what"]] for name, kind in self.kinds.items()]
        kinds.append(["(several)", ".zip", "all that are named, or the usual kinds (bundle)"])
        stages = table([[name, what] for name, what in self.stages.items()], indent="  ")
        head = f"stages, from the top down\n{stages}\nkinds\n"
        return head + table(kinds, indent="  ")

    def as_json(self) -> dict[str, Any]:
        """Return both as plain data."""
        return {
            "schema": "gravure.stages/1",
            "stages": dict(self.stages),
            "kinds": dict(self.kinds),
        }


def list_stages() -> Stages:
    """Return all stages, and all kinds of files that `emit` writes.

    >>> import gravure as gv
    >>> [*gv.list_stages().stages][:3]
    ['import', 'graph', 'fused']
    """
    kinds = {name: {"suffix": kind.suffix, "what": kind.what} for name, kind in KINDS.items()}
    return Stages(dict(STAGES), kinds)


def _data(made: Emitted) -> dict[str, Any]:
    """Return what was made as plain data."""
    found: dict[str, Any] = {
        "schema": "gravure.compile/1",
        "files": [{"kind": f.kind, "path": str(f.path), "bytes": f.size} for f in made.files],
        "seconds": made.seconds,
        "peak_rss_bytes": peak_rss(),
    }
    if made.compiled is not None:
        compiled = made.compiled
        found["manifest"] = json.loads(compiled.manifest)
        found["memory"] = memory_of(compiled)
        found["kernels"] = {"distinct": kernels_of(compiled), "cached": compiled.cached}
    if made.spared:
        found["spared"] = made.spared
    if made.report is not None:
        found["passes"] = made.report.as_json()
    return found


def memory_of(compiled: Compiled) -> dict[str, int]:
    """Return how many bytes a run needs, and the least that its buffers could need."""
    model = compiled.description
    return {
        "workspace": model.workspace_bytes,
        "buffers": compiled.peak,
        "max_live": compiled.max_live,
        "weights": model.weights,
        "run": peak_bytes(model),
    }


def peak_rss() -> int:
    """Return the most memory that this process had; `getrusage` counts what its parent had, too."""
    status = Path("/proc/self/status")
    text = status.read_text(encoding="ascii") if status.exists() else ""
    _, _, rest = text.partition("VmHWM:")
    return int(rest.split()[0]) * 1024 if rest else getrusage(RUSAGE_SELF).ru_maxrss * 1024


def _text(made: Emitted) -> str:
    """Return what was made, for reading."""
    rows = [["wrote", *_row(f.path, f.size, KINDS[f.kind].what if f.kind in KINDS else "")]
            for f in made.files]  # fmt: skip
    text = table([*rows[:1], *(["", *row[1:]] for row in rows[1:])])
    return "\n".join(filter(None, [text, _about(made)]))


def _row(path: Path, size: int, what: str) -> list[str]:
    return [str(path), in_bytes(size), what.partition(":")[0] or "several kinds in one file"]


def _about(made: Emitted) -> str:
    compiled = made.compiled
    if compiled is None:
        return ""
    model, memory = compiled.description, memory_of(compiled)
    where = "embedded" if compiled.options.embed else "in a file"
    share = f"{memory['buffers'] / memory['max_live']:.2f}" if memory["max_live"] else "1.00"
    took = ", ".join(f"{name} {in_seconds(t)}" for name, t in made.seconds.items())
    rows = [
        ["target", f"{model.target}: {compiled.target.cpu}"
         + (f", {model.slots} threads at most" if compiled.plan is None else "")],
        *(["inputs" if i == 0 else "", f"{t.name}: {t}"] for i, t in enumerate(model.inputs)),
        *(["outputs" if i == 0 else "", f"{t.name}: {t}"] for i, t in enumerate(model.outputs)),
        *(["dims" if i == 0 else "", f"{d.name} = {d.low}..{d.high}"]
          for i, d in enumerate(model.dims)),
        ["workspace", f"{in_bytes(memory['workspace'])}: buffers {in_bytes(memory['buffers'])}, "
         f"{share} of what lives at one time"],
        ["weights", f"{in_bytes(memory['weights'])} {where}" if model.weights else "none"],
        ["memory", f"{in_bytes(memory['run'])} for a run in all; compiling took "
         f"{in_bytes(peak_rss())}"],
        *([["spared", made.spared]] if made.spared else []),
        *(["needs", f"{name}, for products of matrices"] for name in model.libraries),
        ["kernels", f"{kernels_of(compiled)} distinct, {compiled.cached} of them compiled before"],
        ["time", f"{in_seconds(sum(made.seconds.values()))}: {took}"],
    ]  # fmt: skip
    return table(rows)


def kernels_of(compiled: Compiled) -> int:
    """Return how many kernels the code has, on a processor or a GPU."""
    return len(compiled.objects) if compiled.plan is None else len(compiled.plan.kernels)

"""Compile a model into a library, an object, a header, or text of any stage on the way.

    gravure compile model.onnx                            # model.so and model.h, for this machine
    gravure compile model.onnx -o m.so --dim batch=1..64 --threads 8
    gravure compile model.onnx -o m.a --target neoverse-n1 --weights file
    gravure compile model.onnx --emit library,header,asm,ir@planned -o m.zip
    gravure compile model.onnx --target cuda:sm_90 --emit ptx -o m.ptx
    gravure compile model.onnx --to fused                 # IR on the standard output
    gravure compile m.fused.mlir -o m.so                  # goes on from there
    gravure compile train.py:predict --shape x=1,784 -o p.so

Kinds that --emit and the suffix of the output choose: --list-stages lists them. Several kinds are
written beside each other, or into one file that ends in .zip. A library gets its header beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, in_seconds, table, write_binary
from ..errors import UsageError
from ..options import (
    add_compile,
    dims_of,
    options_of,
    output_of,
    shapes_of,
    size,
    source_of,
)
from ..watch import add_watch, is_watching, observers_of, print_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...codegen.compile import Compiled, Options
    from ...frontend.emit import Emitted
    from ...passes.analysis.apart import Apart

NAME = "compile"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "model", nargs="?", metavar="MODEL",
        help="ONNX, graph text (.gv), IR text (.mlir), LLVM text (.ll), file.py:function; "
        "- is stdin",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write; - is stdout")
    parser.add_argument("--emit", default="", metavar="KIND,...", help="what to write")
    parser.add_argument("--to", default="", metavar="STAGE", help="stop at a stage, write its text")
    parser.add_argument(
        "--from", dest="start", default="", metavar="STAGE", help="the input is at this stage"
    )
    parser.add_argument("--list-stages", action="store_true", help="list stages and kinds")
    parser.add_argument(
        "--host", default="", metavar="NAME",
        help="what a library for a GPU is loaded on: processor or triple (this machine's kind)",
    )  # fmt: skip
    parser.add_argument("--tag", default="", help="what all symbols begin with (the file's name)")
    parser.add_argument(
        "--weights", choices=("embed", "file", "none"), default="embed",
        help="in the library, or in a file beside it; none: IR text without its weights",
    )  # fmt: skip
    parser.add_argument("--no-header", action="store_true", help="no header beside a library")
    parser.add_argument(
        "--max-memory", type=size, default=0, metavar="SIZE", help="fail if a run needs more"
    )
    parser.add_argument("--reproducer", type=Path, metavar="FILE", help="replays a pass that fails")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="what was fused, vectorised, shared by threads, and why not, as JSON",
    )
    add_compile(parser)
    add_watch(parser)


def run(args: argparse.Namespace) -> int:
    """Compile, write, and say what was written."""
    from ...passes.base import PassError

    console: Console = args.console
    if args.list_stages:
        console.result(stages_text(), {"schema": "gravure.stages/1", **stages_data()})
        return 0
    if args.model is None:
        raise UsageError("no model", hint="gravure compile --help shows the arguments")
    try:
        made, to_stdout = emitted(args)
    except PassError as error:
        if args.reproducer is not None and error.reproducer is not None:
            shutil.copyfile(error.reproducer, args.reproducer)
            error.hint = f"this is a mistake in gravure; {args.reproducer} replays it"
        raise
    if made.report is not None:
        print_report(args, made.report)
    if to_stdout:
        _to_stdout(made, args)
    elif console.json:
        console.result("", data_of(made))
    elif not console.quiet:
        console.result(text_of(made), {})
    return 0


def emitted(args: argparse.Namespace) -> tuple[Emitted, bool]:
    """Return what was made, and whether it goes to the standard output."""
    from ...frontend.emit import KINDS, emit, emit_listing, kinds_for, parse_kinds
    from ...passes.analysis.apart import WhyApart
    from ...passes.base import Observer

    source = source_of(args.model)
    options = options_for(args)
    is_bundle = args.emit == "bundle" and not args.to
    kinds = () if is_bundle else parse_kinds(f"{args.emit},{_kind_of_stage(args.to)}")
    if args.report and (args.to or {"llvm", "asm", "ptx", "ir@loops"} & {*kinds}):
        raise UsageError("--report is about compiled programs: leave --to and text kinds out")
    is_text = bool(kinds) and KINDS[kinds[0]].is_text
    if args.output is None and not is_text:
        suffix = ".zip" if is_bundle else KINDS[kinds[0]].suffix if kinds else ".so"
        path = output_of(f"{options.tag}{suffix}", args.model)
    else:
        path = output_of(args.output, args.model)
    if not kinds:
        kinds = kinds_for(path, embed=options.embed) if path else ("library",)
        kinds = tuple(kind for kind in kinds if not (args.no_header and kind == "header"))
    console: Console = args.console
    with console.progress(f"compiling {args.model}"):
        if args.model.endswith(".ll") or args.start == "llvm":
            return emit_listing(Path(args.model), path, kinds[0], options), path is None
        observers = observers_of(args)
        why = WhyApart()
        if args.report:
            observers.append(why)
        if is_watching(args) and not observers:
            observers = [Observer()]  # what is looked at is not taken from the cache
        made = emit(
            source, path, kinds, options, shapes=shapes_of(args), dims=dims_of(args),
            observers=observers, start=_stage(args.start), weights=args.weights != "none",
            limit=args.max_memory,
        )  # fmt: skip
    if args.report is not None:
        write_report(made, args.report, why.found)
    return made, path is None


def options_for(args: argparse.Namespace) -> Options:
    """Return the options of the compiler."""
    from ...frontend.compile import tag_of

    tag = args.tag or ("model" if args.model == "-" else tag_of(args.model))
    if not (tag.isascii() and tag.isidentifier()):
        raise UsageError(f"--tag {tag!r}: expected letters, digits and _, a letter first")
    return options_of(args, tag=tag, embed=args.weights != "file", host=args.host)


def _stage(name: str) -> str:
    """Return the name of a stage of IR, or raise `UsageError`."""
    from ...codegen.stages import IR_STAGES
    from ...frontend.symbols import did_you_mean

    if name and name not in IR_STAGES:
        hint = did_you_mean(name, IR_STAGES) or f"stages are {', '.join(IR_STAGES)}"
        raise UsageError(f"stage {name!r} is unknown", hint=hint)
    return name


def _kind_of_stage(name: str) -> str:
    return name if name in ("llvm", "asm", "ptx", "object", "library", "") else f"ir@{_stage(name)}"


def _to_stdout(made: Emitted, args: argparse.Namespace) -> None:
    """Write the only file to the standard output."""
    from ...frontend.emit import KINDS, parse_kinds

    kinds = parse_kinds(f"{args.emit},{_kind_of_stage(args.to)}") or ("library",)
    if KINDS[kinds[0]].is_text:
        sys.stdout.write(made.data.decode(errors="backslashreplace"))
    else:
        write_binary(made.data)


def stages_data() -> dict[str, Any]:
    """Return all stages and kinds."""
    from ...codegen.stages import STAGES
    from ...frontend.emit import KINDS

    kinds = {name: {"suffix": kind.suffix, "what": kind.what} for name, kind in KINDS.items()}
    return {"stages": dict(STAGES), "kinds": kinds}


def stages_text() -> str:
    """Return all stages and kinds as tables."""
    data = stages_data()
    kinds = [[name, kind["suffix"], kind["what"]] for name, kind in data["kinds"].items()]
    kinds.append(["(several)", ".zip", "all that --emit names, or the usual kinds (bundle)"])
    stages = table([[name, what] for name, what in data["stages"].items()], indent="  ")
    return f"stages, from the top down (--to, --from)\n{stages}\nkinds (--emit)\n" + table(
        kinds, indent="  "
    )


def data_of(made: Emitted) -> dict[str, Any]:
    """Return what was made as plain data."""
    import json

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
    if made.report is not None:
        found["passes"] = made.report.as_json()
    return found


def memory_of(compiled: Compiled) -> dict[str, int]:
    """Return how many bytes a run needs, and the least that its buffers could need."""
    from ...codegen.aot.manifest import peak_bytes

    model = compiled.description
    return {
        "workspace": model.workspace_bytes,
        "buffers": compiled.peak,
        "max_live": compiled.max_live,
        "weights": model.weights,
        "run": peak_bytes(model),
    }


def peak_rss() -> int:
    """Return the most memory that this process had."""
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss * 1024


def text_of(made: Emitted) -> str:
    """Return what was made, for reading."""
    from ...frontend.emit import KINDS

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
        ["kernels", f"{kernels_of(compiled)} distinct, {compiled.cached} of them compiled before"],
        ["time", f"{in_seconds(sum(made.seconds.values()))}: {took}"],
    ]  # fmt: skip
    return table(rows)


def write_report(made: Emitted, path: Path, apart: Sequence[Apart]) -> None:
    """Write what each kernel does and how, and which operations are not in one kernel, and why."""
    from ...codegen.report import report
    from ...passes.analysis.cost import largest
    from ...runtime.files import replacing
    from ..console import to_json

    compiled = made.compiled
    assert compiled is not None, "only compiled programs are reported on"
    assert compiled.program is not None, "what is reported on is not taken from the cache"
    sizes = largest(compiled.program.ranges)
    data = {
        "schema": "gravure.report/2",
        "dims": sizes,
        "launches": report(compiled, sizes),
        "apart": [row.as_json() for row in apart],
    }
    with replacing(path) as file:
        file.write(f"{to_json(data)}\n".encode())


def kernels_of(compiled: Compiled) -> int:
    """Return how many kernels the code has, on a processor or a GPU."""
    return len(compiled.objects) if compiled.plan is None else len(compiled.plan.kernels)

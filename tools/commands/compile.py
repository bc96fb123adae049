"""Compile a model into a library, an object, a header, or text of any stage on the way.

    gravure compile model.onnx                            # model.so and model.h, for this machine
    gravure compile model.onnx -o m.so --dim batch=1..64 --threads 8
    gravure compile model.onnx -o m.a --target neoverse-n1 --weights file
    gravure compile model.onnx --emit library,header,asm,ir@planned -o m.zip
    gravure compile model.onnx --target cuda:sm_90 --emit ptx -o m.ptx
    gravure compile model.onnx --to fused                 # IR on the standard output
    gravure compile m.fused.mlir -o m.so                  # goes on from there
    gravure compile train.py:predict --shape x=1,784 -o p.so
    gravure compile model.onnx --parallel tensor=2 -o m.parallel.json

Kinds that --emit and the suffix of the output choose: --list-stages lists them. Several kinds are
written beside each other, or into one file that ends in .zip. A library gets its header beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import did_you_mean
from ..console import Console, write_binary
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
    from ...codegen.compile import Options
    from ..verbs.emit import CompiledFiles
    from ..verbs.parallel import RankFiles

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
        "--weights", choices=("embed", "file", "raw", "none"), default="embed",
        help="in the library, or in a file beside it; raw: there as they were given, to be laid"
        " out when loaded; none: IR text without its weights",
    )  # fmt: skip
    parser.add_argument("--no-header", action="store_true", help="no header beside a library")
    parser.add_argument(
        "--max-memory", type=size, default=0, metavar="SIZE", help="what a run may need at most"
    )
    parser.add_argument(
        "--max-size", type=size, default=0, metavar="SIZE", help="what the library may have at most"
    )
    parser.add_argument(
        "--parallel", default="", metavar="KIND=N",
        help="for N ranks, by tensor=N or pipeline=N: a library and weights each, and a manifest",
    )  # fmt: skip
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
        from ..verbs.emit import list_stages

        console.show(list_stages())
        return 0
    if args.model is None:
        raise UsageError("no model", hint="gravure compile --help shows the arguments")
    if args.parallel:
        console.show(for_ranks(args))
        return 0
    try:
        made, to_stdout = emitted(args)
    except PassError as error:
        if args.reproducer is not None and error.reproducer is not None:
            shutil.copyfile(error.reproducer, args.reproducer)
            error.hint = f"this is a mistake in gravure; {args.reproducer} replays it"
        raise
    if made.made.report is not None:
        print_report(args, made.made.report)
    if to_stdout:
        _to_stdout(made, args)
    elif console.json or not console.quiet:
        console.show(made)
    return 0


def emitted(args: argparse.Namespace) -> tuple[CompiledFiles, bool]:
    """Return what was made, and whether it goes to the standard output."""
    from ...frontend.programs.emit import KINDS, parse_kinds
    from ...passes.base import Observer
    from ..verbs.emit import emit

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
        kinds = _kinds_for(args, path) if path else ("library",)
        kinds = tuple(kind for kind in kinds if not (args.no_header and kind == "header"))
    observers = observers_of(args)
    if is_watching(args) and not observers and not args.report:
        observers = [Observer()]  # what is looked at is not taken from the cache
    console: Console = args.console
    made = emit(
        source, path, kinds, shapes=shapes_of(args), dims=dims_of(args), observers=observers,
        start=args.start if args.start == "llvm" else _stage(args.start), options=options,
        weights=args.weights != "none", limit=args.max_memory,
        max_size=args.max_size, explained=bool(args.report),
        progress=console.progress,
    )  # fmt: skip
    if args.report is not None:
        made.save_report(args.report)
    return made, path is None


def for_ranks(args: argparse.Namespace) -> RankFiles:
    """Write the files of all ranks."""
    from ..verbs.parallel import compile_parallel

    taken = {
        "--emit": args.emit, "--to": args.to, "--from": args.start, "--report": args.report,
        "--max-memory": args.max_memory, "--max-size": args.max_size, "--host": args.host,
    }  # fmt: skip
    for name, value in taken.items():
        if value:
            raise UsageError(f"{name} does not go together with --parallel")
    options = options_for(args)
    path = output_of(args.output or f"{options.tag}.parallel.json", args.model)
    if path is None:
        raise UsageError("several files cannot go to the standard output")
    console: Console = args.console
    return compile_parallel(
        source_of(args.model), path, args.parallel, shapes=shapes_of(args), dims=dims_of(args),
        options=options, progress=console.progress,
    )  # fmt: skip


def options_for(args: argparse.Namespace) -> Options:
    """Return the options of the compiler."""
    from ...frontend.models.compiled import tag_of

    tag = args.tag or ("model" if args.model == "-" else tag_of(args.model))
    if not (tag.isascii() and tag.isidentifier()):
        raise UsageError(f"--tag {tag!r}: expected letters, digits and _, a letter first")
    return options_of(args, tag=tag, embed=args.weights not in ("file", "raw"), host=args.host)


def _kinds_for(args: argparse.Namespace, path: Path) -> tuple[str, ...]:
    """Return the kinds that a file's name asks for."""
    from ...frontend.programs.emit import kinds_for

    raw = args.weights == "raw"
    return kinds_for(path, embed=not (raw or args.weights == "file"), raw=raw)


def _stage(name: str) -> str:
    """Return the name of a stage of IR, or raise `UsageError`."""
    from ...codegen.stages import IR_STAGES

    if name and name not in IR_STAGES:
        hint = did_you_mean(name, IR_STAGES) or f"stages are {', '.join(IR_STAGES)}"
        raise UsageError(f"stage {name!r} is unknown", hint=hint)
    return name


def _kind_of_stage(name: str) -> str:
    return name if name in ("llvm", "asm", "ptx", "object", "library", "") else f"ir@{_stage(name)}"


def _to_stdout(made: CompiledFiles, args: argparse.Namespace) -> None:
    """Write the only file to the standard output."""
    from ...frontend.programs.emit import KINDS, parse_kinds

    kinds = parse_kinds(f"{args.emit},{_kind_of_stage(args.to)}") or ("library",)
    if KINDS[kinds[0]].is_text:
        sys.stdout.write(made.data.decode(errors="backslashreplace"))
    else:
        write_binary(made.data)

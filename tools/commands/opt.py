"""Run passes on a program and print what comes out, as IR, graph text or an ONNX model.

    gravure opt model.onnx                                # as it is read
    gravure opt model.onnx -p 'canonicalize,cse,constant-fold{limit=8}' -o small.gv
    gravure opt model.onnx -O2 --to graph --time-passes --stats
    gravure opt model.onnx -o model.opt.onnx --check      # for any runtime; compared on inputs
    gravure opt - -p cse < graph.mlir
    gravure opt --run-reproducer fuse.mlir                # fails as it failed before

Without -p, -O or --to no pass is run; for an ONNX model, those that leave it to other runtimes
(gravure passes --pipeline portable). A file that ends in .gv is written as graph text, with its
weights beside it, one that ends in .onnx as an ONNX model, anything else as IR. --check compares
results before and after each pass, or those of the ONNX model that was written with the original's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import Console
from ..errors import UsageError
from ..given import readable
from ..options import (
    add_model,
    add_shapes,
    add_target,
    dims_of,
    output_of,
    shapes_of,
    source_of,
    target_of,
)
from ..surgery import add_comparison, add_onnx, report, saving_of
from ..watch import add_watch, observers_of, print_report

if TYPE_CHECKING:
    from ...ir import Program
    from ...passes.base import Observer
    from ..verbs.optimize import Optimized

NAME = "opt"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write")
    parser.add_argument("-p", "--passes", default="", metavar="A,B{K=V}", help="the pipeline")
    parser.add_argument("-O", dest="level", choices=("0", "1", "2", "3"), help="a level's pipeline")
    parser.add_argument("--to", default="", metavar="STAGE", help="stop at this stage of -O")
    parser.add_argument(
        "--disable-pass", action="append", default=[], metavar="NAME", help="leave a pass out"
    )
    parser.add_argument(
        "--format", choices=("mlir", "gv", "onnx"), default="", help="the suffix's if not given"
    )
    parser.add_argument("--no-weights", action="store_true", help="write the text only")
    parser.add_argument(
        "--no-verify-each", action="store_true", help="verify after the last pass only"
    )
    parser.add_argument("--dump-pass-pipeline", action="store_true", help="print it, run nothing")
    parser.add_argument(
        "--run-reproducer", action="store_true", help="run the pipeline in MODEL's first line"
    )
    parser.add_argument("--reproducer", type=Path, metavar="FILE", help="replays a pass that fails")
    add_onnx(parser)
    add_comparison(parser)
    add_shapes(parser)
    add_target(parser)
    add_watch(parser)


def run(args: argparse.Namespace) -> int:
    """Read, run passes, print."""
    from ...frontend.programs.save import format_of
    from ...passes.reproduce import read_reproducer
    from ..verbs.optimize import optimize, pipeline_text

    output = output_of(args.output, args.model)
    is_onnx = format_of(output, args.format) == "onnx"
    if is_onnx and output is None:
        raise UsageError("an ONNX model is no text", hint="name a file: -o FILE.onnx")
    if args.passes and (args.level or args.to):
        raise UsageError("-p is a pipeline of its own, -O and --to choose from those there are")
    source: str | bytes | Program
    if args.run_reproducer:
        readable(args.model)
        how = {"passes": (replayed := read_reproducer(Path(args.model)))[0]}
        source = replayed[1]
    else:
        how = pipeline_of(args, is_onnx=is_onnx)
        if args.dump_pass_pipeline:
            print(pipeline_text(**how))
            return 0
        target, mattr = target_of(args)
        how |= {"target": target if said(args) else "", "mattr": mattr}
        source = source_of(args.model)
    found = optimize(
        source, **how, shapes=shapes_of(args), dims=dims_of(args), progress=args.console.progress,
        disable=[name for each in args.disable_pass for name in each.split(",")],
        observers=observers_of(args) if not is_onnx else without_check(args),
        verify=not args.no_verify_each, reproducer=args.reproducer,
    )  # fmt: skip
    print_report(args, found.report)
    return show(args, found, output, is_onnx=is_onnx)


def pipeline_of(args: argparse.Namespace, *, is_onnx: bool) -> dict[str, Any]:
    """Return which pipeline the arguments ask for; without a word, none but for ONNX models."""
    level = f"O{args.level}" if args.level else ""
    passes = args.passes or (None if is_onnx or level or args.to else "")
    return {"passes": passes, "level": level, "to": args.to}


def said(args: argparse.Namespace) -> bool:
    """Say whether anything is said about a machine."""
    return bool(args.target or args.mcpu or args.triple or args.mattr)


def show(args: argparse.Namespace, found: Optimized, output: Path | None, *, is_onnx: bool) -> int:
    """Write the program in the format that was asked for, or print it."""
    console: Console = args.console
    how = saving_of(args)
    if output is not None:
        made = found.save(
            output, format=how.format, name=how.name, weights=how.weights, opset=how.opset,
            external=how.external,
        )  # fmt: skip
        if is_onnx:
            return report(args, made)
    if console.json:
        console.show(found)
    elif output is None:
        sys.stdout.write(found.text(how.format, how.name))
    return 0


def without_check(args: argparse.Namespace) -> list[Observer]:
    """Return the observers but for the one that compares results after each pass."""
    from ...passes.check import Check

    return [each for each in observers_of(args) if not isinstance(each, Check)]

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
from typing import TYPE_CHECKING

from ..console import Console
from ..errors import UsageError
from ..options import (
    add_model,
    add_shapes,
    add_target,
    dims_of,
    output_of,
    readable,
    shapes_of,
    source_of,
    target_of,
)
from ..surgery import add_comparison, add_onnx, report_files, saving_of
from ..watch import add_watch, observers_of, print_report

if TYPE_CHECKING:
    from ...ir import Program
    from ...passes.base import Observer

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
    from ...frontend.save import format_of
    from ...passes.manager import parse_pipeline, print_pipeline
    from ...passes.manager import run as run_passes
    from ...passes.reproduce import read_reproducer

    output = output_of(args.output, args.model)
    is_onnx = format_of(output, args.format) == "onnx"
    if is_onnx and output is None:
        raise UsageError("an ONNX model is no text", hint="name a file: -o FILE.onnx")
    if args.run_reproducer:
        readable(args.model)
        pipeline, program = read_reproducer(Path(args.model))
        passes = parse_pipeline(pipeline)
    else:
        passes = parse_pipeline(pipeline_of(args))
        if args.dump_pass_pipeline:
            print(print_pipeline(passes))
            return 0
        program = load(args)
    console: Console = args.console
    before = len(list(program.main.body.block.ops))
    with console.progress("running passes"):
        report = run_passes(
            passes,
            program,
            observers=observers_of(args) if not is_onnx else without_check(args),
            verify_each=not args.no_verify_each,
            disable=[name for each in args.disable_pass for name in each.split(",")],
            reproducer=args.reproducer,
        )
    print_report(args, report)
    if is_onnx and output is not None:
        return onnx(args, program, output, before)
    if console.json:
        console.result("", {**report.as_json(), "schema": "gravure.opt/1", "text": text(program)})
    else:
        write(args, program, output)
    return 0


def pipeline_of(args: argparse.Namespace) -> str:
    """Return the pipeline that the arguments ask for."""
    from ...codegen.compile import Options
    from ...codegen.stages import IR_STAGES, passes_of, until
    from ...frontend.save import format_of
    from ...frontend.symbols import did_you_mean
    from ...passes.manager import print_pipeline
    from ...passes.pipelines import PORTABLE

    if args.passes and (args.level or args.to):
        raise UsageError("-p is a pipeline of its own, -O and --to choose from those there are")
    if not (args.level or args.to):
        is_onnx = format_of(Path(args.output), args.format) == "onnx"
        return str(args.passes) or (",".join(PORTABLE) if is_onnx else "")
    stage = args.to or "planned"
    if stage not in IR_STAGES[:-1]:
        hint = did_you_mean(stage, IR_STAGES[:-1]) or f"stages are {', '.join(IR_STAGES[:-1])}"
        raise UsageError(f"stage {stage!r} is not one that passes lead to", hint=hint)
    return print_pipeline(until(passes_of(Options(level=f"O{args.level or 2}")), stage))


def load(args: argparse.Namespace) -> Program:
    """Return the program, which knows its target."""
    from xdsl.dialects.builtin import StringAttr

    from ...codegen.compiled import Options, spell
    from ...frontend.load import load_program

    program = load_program(source_of(args.model), shapes=shapes_of(args), dims=dims_of(args))
    if args.target or args.mcpu or args.triple or args.mattr or args.level or args.to:
        target, mattr = target_of(args)
        options = Options(target=target, mattr=mattr)
        program.module.attributes["gv.target"] = StringAttr(spell(options))
    return program


def text(program: Program) -> str:
    """Return the program as IR."""
    from ...ir import print_module

    return print_module(program.module)


def onnx(args: argparse.Namespace, program: Program, output: Path, before: int) -> int:
    """Write the program as an ONNX model, and compare it with the original if asked to."""
    from ...frontend.save import save_program

    after = len(list(program.main.body.block.ops))
    files = save_program(program, output, saving_of(args))
    return report_files(args, files, [f"{before} operations before, {after} after"])


def without_check(args: argparse.Namespace) -> list[Observer]:
    """Return the observers but for the one that compares results after each pass."""
    from ...passes.check import Check

    return [each for each in observers_of(args) if not isinstance(each, Check)]


def write(args: argparse.Namespace, program: Program, output: Path | None) -> None:
    """Write the program in the format that was asked for."""
    from ...frontend.save import format_of, save_program
    from ...frontend.text.writer import write_text

    if output is not None:
        save_program(program, output, saving_of(args))
    elif format_of(output, args.format) == "gv":
        program.module.attributes.pop("gv.target", None)  # the text does not depend on it
        sys.stdout.write(write_text(program, name=saving_of(args).name))
    else:
        sys.stdout.write(text(program))

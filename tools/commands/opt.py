"""Run passes on a program and print what comes out, as IR or graph text.

    gravure opt model.onnx                                # as it is read
    gravure opt model.onnx -p 'canonicalize,cse,constant-fold{limit=8}' -o small.gv
    gravure opt model.onnx -O2 --to graph --time-passes --stats
    gravure opt - -p cse < graph.mlir
    gravure opt --run-reproducer fuse.mlir                # fails as it failed before

Without -p, -O or --to no pass is run. A file that ends in .gv is written as graph text, with its
weights beside it; anything else as IR. `gravure passes` lists the passes.
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
from ..watch import add_watch, observers_of, print_report

if TYPE_CHECKING:
    from ...ir import Program

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
        "--format", choices=("mlir", "gv"), default="", help="IR or graph text (the suffix's)"
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
    add_shapes(parser)
    add_target(parser)
    add_watch(parser)


def run(args: argparse.Namespace) -> int:
    """Read, run passes, print."""
    from ...passes.manager import parse_pipeline, print_pipeline
    from ...passes.manager import run as run_passes
    from ...passes.reproduce import read_reproducer

    output = output_of(args.output, args.model)
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
    with console.progress("running passes"):
        report = run_passes(
            passes,
            program,
            observers=observers_of(args),
            verify_each=not args.no_verify_each,
            disable=[name for each in args.disable_pass for name in each.split(",")],
            reproducer=args.reproducer,
        )
    print_report(args, report)
    if console.json:
        console.result("", {**report.as_json(), "schema": "gravure.opt/1", "text": text(program)})
    else:
        write(args, program, output)
    return 0


def pipeline_of(args: argparse.Namespace) -> str:
    """Return the pipeline that the arguments ask for."""
    from ...codegen.compile import Options
    from ...codegen.stages import IR_STAGES, passes_of, until
    from ...frontend.symbols import did_you_mean
    from ...passes.manager import print_pipeline

    if args.passes and (args.level or args.to):
        raise UsageError("-p is a pipeline of its own, -O and --to choose from those there are")
    if not (args.level or args.to):
        return str(args.passes)
    stage = args.to or "planned"
    if stage not in IR_STAGES[:-1]:
        hint = did_you_mean(stage, IR_STAGES[:-1]) or f"stages are {', '.join(IR_STAGES[:-1])}"
        raise UsageError(f"stage {stage!r} is not one that passes lead to", hint=hint)
    return print_pipeline(until(passes_of(Options(level=f"O{args.level or 2}")), stage))


def load(args: argparse.Namespace) -> Program:
    """Return the program, which knows its target."""
    from xdsl.dialects.builtin import StringAttr

    from ...codegen.compile import Options, spell
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


def write(args: argparse.Namespace, program: Program, output: Path | None) -> None:
    """Write the program in the format that was asked for."""
    from ...frontend.ir_files import save_ir
    from ...frontend.text.writer import save_text, write_text

    is_graph_text = (args.format or (output.suffix[1:] if output else "")) == "gv"
    name = Path(args.model).stem if args.model != "-" else "main"
    if is_graph_text:
        program.module.attributes.pop("gv.target", None)  # the text does not depend on it
    if output is None:
        sys.stdout.write(write_text(program, name=name) if is_graph_text else text(program))
    elif is_graph_text:
        save_text(program, output, name=name, weights=not args.no_weights)
    else:
        save_ir(program, output, weights=not args.no_weights)

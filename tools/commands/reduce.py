"""Cut a model that fails down to the few operations that make it fail.

    gravure reduce model.onnx -o small.mlir               # compiling fails, or results are wrong
    gravure reduce model.onnx --only-compile --disable-pass fuse
    gravure reduce model.onnx --test './fails.sh {}' -o small.mlir

What counts as the same failure: the same kind of error, or results that differ from the reference
interpreter's on made-up inputs. With --test, a command decides: it gets a file instead of {} and
ends with a status other than 0 if that file fails. Every try runs in a process of its own. Exit
status 1 says that the model does not fail.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..console import Console
from ..options import add_compile, add_model, dims_of, options_of, output_of, shapes_of, source_of

if TYPE_CHECKING:
    from ...ir import Program

NAME = "reduce"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (MODEL.small.mlir)")
    parser.add_argument("--only-compile", action="store_true", help="do not look at results")
    parser.add_argument("--test", default="", metavar="CMD", help="a command that decides")
    add_compile(parser)


def run(args: argparse.Namespace) -> int:
    """Find out how it fails, and reduce."""
    from ...frontend.ir_files import save_ir
    from ...frontend.load import load_program
    from ...frontend.reduce import Trial, apart, cut_out, reduce_program

    stem = Path(args.model).stem if args.model != "-" else "stdin"
    output = output_of(args.output or f"{stem}.small.mlir", args.model)
    console: Console = args.console
    program = load_program(source_of(args.model), shapes=shapes_of(args), dims=dims_of(args))
    every = [op for op in program.main.body.block.ops if op.name != "func.return"]
    whole = cut_out(program, [op for op in every if op.name not in ("gv.constant", "gv.weight")])
    trial = Trial(options_of(args, slots=args.threads or 1), run=not args.only_compile)
    judge = command(args.test) if args.test else trial.failure
    with console.progress("trying the whole model"):
        wanted = apart(judge, whole)
    if not wanted:
        console.result("the model does not fail", {"schema": "gravure.reduce/1", "failure": None})
        return 1
    tries = 0

    def fails(candidate: Program) -> bool:
        nonlocal tries
        tries += 1
        return apart(judge, candidate) == wanted

    with console.progress("reducing"):
        small = reduce_program(program, fails)
    left = sum(op.name not in ("gv.constant", "gv.weight", "func.return")
               for op in small.main.body.block.ops)  # fmt: skip
    data = {"schema": "gravure.reduce/1", "failure": wanted, "operations": left, "tries": tries}
    if output is None:
        from ...ir import print_module

        print(print_module(small.module), end="")
        return 0
    files = save_ir(small, output)
    console.result(
        f"{wanted}\n{left} of {len(every)} operations are left after {tries} tries: "
        + ", ".join(map(str, files)),
        {**data, "files": [str(path) for path in files]},
    )
    return 0


def command(text: str):  # type: ignore[no-untyped-def]
    """Return a judge that asks a command."""
    from ...frontend.ir_files import save_ir

    def judge(program: Program) -> str:
        with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
            path = Path(folder) / "candidate.mlir"
            save_ir(program, path)
            words = [word.replace("{}", str(path)) for word in shlex.split(text)]
            done = subprocess.run(words, capture_output=True, check=False)
        return "the command says so" if done.returncode else ""

    return judge

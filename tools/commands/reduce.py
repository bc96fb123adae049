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
    from ..verbs.reduce import Judge

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
    from ..verbs.reduce import reduce

    stem = Path(args.model).stem if args.model != "-" else "stdin"
    output = output_of(args.output or f"{stem}.small.mlir", args.model)
    console: Console = args.console
    threads = args.threads or 1
    found = reduce(
        source_of(args.model), test=command(args.test) if args.test else None,
        run=not args.only_compile, threads=threads, shapes=shapes_of(args), dims=dims_of(args),
        options=options_of(args, slots=threads), progress=console.progress,
    )  # fmt: skip
    if found and output is None:
        print(found.text(), end="")
    else:
        console.show(found.save(output) if found and output is not None else found)
    return int(not found)


def command(text: str) -> Judge:
    """Return a judge that asks a command."""
    from ...frontend.files.ir_text import save_ir

    def judge(program: Program) -> str:
        with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
            path = Path(folder) / "candidate.mlir"
            save_ir(program, path)
            words = [word.replace("{}", str(path)) for word in shlex.split(text)]
            done = subprocess.run(words, capture_output=True, check=False)
        return "the command says so" if done.returncode else ""

    return judge

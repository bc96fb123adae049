"""Find what a function's Python does once, while it is traced, and not in each run.

    gravure lint model.py:step
    gravure lint model.py:step --shape x=2,3 --shape y=3
    gravure lint model.py:step -i x=@x.npy --json

The file is run, and the function traced, run and compared with its Python. Told, each with its line
and how to mend it: random numbers of Python and numpy, clocks, files and prints; globals, lists,
arguments and attributes that change; tensors of the trace that are kept; results that are others;
functions that are traced over and over. Exit status 1 says that there is one.
gravure.function(check=True) does the same in a program, as warnings.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..options import shapes_of

NAME = "lint"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="FUNCTION", help="file.py:function")
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="SPEC", help="an input of yours"
    )
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=D,D,...",
        help="shape of an argument that no signature declares",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Look, and say what was found."""
    from ..checking.lint import lint

    console: Console = args.console
    found = lint(args.model, args.input, shapes=shapes_of(args), progress=console.progress)
    console.show(found)
    return int(not found)

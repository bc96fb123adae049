"""Say in what two models, programs or libraries differ.

    gravure diff old.onnx new.onnx
    gravure diff before.mlir after.mlir --text            # line by line
    gravure diff a.so b.so                                # what they say of themselves
    gravure diff a.json b.json                            # two records of bench, say

Names of values and where operations come from do not count. Exit status 0 says that there is no
difference, 1 that there is one.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..options import add_shapes, dims_of, shapes_of, source_of

NAME = "diff"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="A", help="model, program, library or JSON; - is stdin")
    parser.add_argument("other", metavar="B", help="what to compare it with")
    parser.add_argument("--text", action="store_true", help="show programs line by line")
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, and print."""
    from ..verbs.diff import diff_models

    console: Console = args.console
    first, second = (source_of(name) for name in (args.model, args.other))
    found = diff_models(first, second, shapes=shapes_of(args), dims=dims_of(args), text=args.text)
    console.show(found)
    return int(bool(found))

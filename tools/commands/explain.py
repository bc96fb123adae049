"""Print the page about an error, or what a model demands of its dimensions and why.

    gravure explain                                       # all codes
    gravure explain GV2100
    gravure explain UnsupportedOp
    gravure explain shapes model.onnx --dim N=1..64       # each condition with its node

An error prints its code with -v or --json.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..errors import UsageError
from ..options import add_shapes, dims_of, shapes_of, source_of

NAME = "explain"
SHAPES = "shapes"
"""The word instead of a code that asks about a model's dimensions."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "code", nargs="?", help="a code such as GV2000, an error's class, or the word shapes"
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="the model, behind shapes")
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Print one page, or all codes."""
    from ..verbs.explain import explain, explain_shapes

    console: Console = args.console
    if args.code != SHAPES:
        if args.model is not None:
            raise UsageError(f"a model stands behind {SHAPES!r} only")
        console.show(explain(args.code))
        return 0
    if args.model is None:
        raise UsageError("no model", hint="gravure explain shapes model.onnx")
    source = source_of(args.model)
    console.show(explain_shapes(source, shapes=shapes_of(args), dims=dims_of(args)))
    return 0

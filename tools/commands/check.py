"""Prove every pass on its own: results before and after it, on numbers of all kinds.

    gravure check model.onnx
    gravure check model.py:forward -O3 -i x=@x.npy        # also on an input of yours
    gravure check model.gv --passes canonicalize,fuse --dim N=1..64
    gravure check small.mlir                              # a file that gravure bisect wrote

The reference interpreter runs the program before and after each pass, as it is written and with
f64 in place of f32: on normal numbers, zeros of both signs, NaN, infinities, denormal and largest
numbers, also where masks hide them, in usual, odd and the fewest sizes of what is open, and on what
-i gives. What a pass may change is its contract: gravure passes NAME shows it. Exit status 1 says
that a pass changed more; pass, operation and node are named. gravure bisect makes that small.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..given import natural
from ..options import (
    add_model,
    add_pipeline,
    add_shapes,
    add_target,
    dims_of,
    options_of,
    shapes_of,
    source_of,
)

NAME = "check"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser)
    add_checked(parser)


def add_checked(parser: argparse.ArgumentParser) -> None:
    """Add what says on which inputs and with which passes a model is checked."""
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="SPEC", help="an input of yours"
    )
    parser.add_argument("--seed", type=natural, default=0, help="another seed, other numbers (0)")
    add_shapes(parser)
    add_target(parser)
    add_pipeline(parser)


def run(args: argparse.Namespace) -> int:
    """Check, and say what was found."""
    from ..checking.check import check

    console: Console = args.console
    found = check(
        source_of(args.model), args.input, seed=args.seed, shapes=shapes_of(args),
        dims=dims_of(args), options=options_of(args), progress=console.progress,
    )  # fmt: skip
    console.show(found)
    return int(not found)

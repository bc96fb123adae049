"""Shrink what a pass does wrong to a file that replays it.

    gravure bisect model.onnx                             # writes model.wrong.mlir
    gravure bisect model.py:forward -i x=@x.npy -o wrong.mlir
    gravure bisect model.onnx --passes canonicalize,cse -o -
    gravure check wrong.mlir                              # shows it again

Checks every pass as gravure check does, and cuts the program down to the few operations in which
the first pass that breaks its contract still does. The file begins with the pass: it is a text test
once it lies in tests/passes. Exit status 1 says that a pass was found, 0 that there is none.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..console import Console
from ..options import add_model, dims_of, options_of, output_of, shapes_of, source_of
from .check import add_checked

NAME = "bisect"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (MODEL.wrong.mlir)")
    add_checked(parser)


def run(args: argparse.Namespace) -> int:
    """Check, shrink, write."""
    from ..checking.bisect import bisect

    stem = Path(args.model.partition(":")[0]).stem if args.model != "-" else "stdin"
    output = output_of(args.output or f"{stem}.wrong.mlir", args.model)
    console: Console = args.console
    found = bisect(
        source_of(args.model), args.input, seed=args.seed, shapes=shapes_of(args),
        dims=dims_of(args), options=options_of(args), progress=console.progress,
    )  # fmt: skip
    if found and output is None:
        print(found.text(), end="")
    else:
        console.show(found.save(output) if found and output is not None else found)
    return int(bool(found))

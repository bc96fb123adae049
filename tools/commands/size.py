"""Say what the bytes of a library are: code and weights by operation, and the rest.

    gravure size model.onnx
    gravure size model.onnx --dtype i8 --target x86-64-v3
    gravure size model.so                                 # by section only
    gravure size model.onnx --json | jq '.rows[] | select(.bytes > 10000)'

Code and weights count where they are used first; the rows sum to the size of the file.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..options import add_compile, add_model, dims_of, is_library, options_of, shapes_of, source_of

NAME = "size"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    add_compile(parser)


def run(args: argparse.Namespace) -> int:
    """Compile, and print."""
    from ..verbs.size import size

    console: Console = args.console
    source = source_of(args.model)
    options = None if is_library(source) else options_of(args)
    console.show(
        size(source, shapes=shapes_of(args), dims=dims_of(args), options=options,
             progress=console.progress)
    )  # fmt: skip
    return 0

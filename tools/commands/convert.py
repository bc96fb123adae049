"""Write a model in another format or for another version of ONNX, as it is.

    gravure convert model.onnx -o model.gv                # graph text, weights beside it
    gravure convert model.gv -o model.onnx --check        # compared on made-up inputs
    gravure convert old.onnx -o new.onnx --opset 21
    gravure convert model.onnx -o model.mlir --dim batch=8

The suffix of the output says what is written: .onnx, .gv (graph text), .mlir (IR text). From ONNX
to ONNX, where shapes stay as they are, the standard's own library converts the version and nothing
else changes; every other way leads through gravure's graph. No pass is run: see gravure opt.
"""

from __future__ import annotations

import argparse

from ..errors import UsageError
from ..options import add_model, add_shapes, dims_of, output_of, shapes_of, source_of
from ..surgery import add_comparison, add_onnx, report, saving_of

NAME = "convert"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument(
        "--format", choices=("mlir", "gv", "onnx"), default="", help="the suffix's if not given"
    )
    parser.add_argument("--no-weights", action="store_true", help="write a text without weights")
    parser.add_argument("--check", action="store_true", help="compare results with the original's")
    add_onnx(parser)
    add_comparison(parser)
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Read, and write."""
    from ..verbs.surgery import convert

    output = output_of(args.output, args.model)
    if output is None:
        raise UsageError("a conversion needs a file to write", hint="-o FILE")
    how = saving_of(args)
    with args.console.progress(f"converting {args.model}"):
        made = convert(
            source_of(args.model), output, format=how.format, opset=how.opset,
            shapes=shapes_of(args), dims=dims_of(args), name=how.name, weights=how.weights,
            external=how.external,
        )  # fmt: skip
    return report(args, made)

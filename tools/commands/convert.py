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
from pathlib import Path

from ..errors import UsageError
from ..options import add_model, add_shapes, dims_of, output_of, shapes_of, source_of
from ..surgery import add_comparison, add_onnx, report_files, saving_of

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
    from ...frontend.load import guess_format, load_program, read_bytes
    from ...frontend.save import format_of, save_program

    output = output_of(args.output, args.model)
    if output is None:
        raise UsageError("a conversion needs a file to write", hint="-o FILE")
    kind, source = format_of(output, args.format), source_of(args.model)
    shapes, dims = shapes_of(args), dims_of(args)
    data = read_bytes(source)
    is_onnx = data is not None and guess_format(data, source) == "onnx"
    with args.console.progress(f"converting {args.model}"):
        if kind == "onnx" and is_onnx and args.opset and not (shapes or dims):
            from ...frontend.onnx.surgery import convert_version

            files = [convert_version(source, output, args.opset)]
        else:
            program = load_program(source, shapes=shapes, dims=dims)
            files = save_program(program, output, saving_of(args))
    return report_files(args, files, _notes(files))


def _notes(files: list[Path]) -> list[str]:
    return ["the weights are in a file of their own"] if len(files) > 1 else []

"""Let an ONNX model compute in fewer bits: integers by the ranges in your data, or f16 and bf16.

    gravure quantize model.onnx --data samples.npz -o model.i8.onnx
    gravure quantize model.onnx --data samples.npz --percentile 99.9 -o model.i8.onnx
    gravure quantize model.onnx --dtype f16 -o model.f16.onnx

The data has an array for each input by its name, with one axis more than the input (or several
times its first size): that many samples. The report compares the results with the original's on the
same samples: the largest difference, signal to noise, and how often the largest element of a row is
at the same place. Products become QDQ: u8 times i8, a scale for each output channel.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..given import above_zero
from ..options import model_output, source_of

NAME = "quantize"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model; - is stdin")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument("--data", metavar="FILE.npz", help="samples, an array for each input")
    parser.add_argument(
        "--dtype", choices=("i8", "f16", "bf16"), default="i8", help="what it computes in (i8)"
    )
    parser.add_argument(
        "--percentile", type=above_zero, default=100.0, metavar="P",
        help="what a range spans of a sample's numbers; less leaves outliers out (100)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Quantise, write, compare."""
    from ..verbs.quantize import quantize

    console: Console = args.console
    output = model_output(args)
    found = quantize(
        source_of(args.model), output, args.data, dtype=args.dtype, percentile=args.percentile,
        progress=console.progress,
    )  # fmt: skip
    console.show(found)
    return 0

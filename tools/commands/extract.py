"""Cut a part out of an ONNX model: what lies between some of its values.

    gravure extract model.onnx -o head.onnx --to /layer1/Add_output_0
    gravure extract model.onnx -o block.onnx --from x1,x2 --to y
    gravure extract model.onnx -o tail.onnx --from hidden

Values are named as in the file (gravure inspect, or any viewer of ONNX). Without --from the part
begins at the model's inputs, without --to it ends at its outputs. Inputs that no node needs any
more are left out.
"""

from __future__ import annotations

import argparse

from ..options import model_output, source_of, words
from ..surgery import report

NAME = "extract"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model; - is stdin")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument(
        "--from", dest="first", action="append", default=[], metavar="NAME,...",
        help="values that become inputs",
    )  # fmt: skip
    parser.add_argument(
        "--to", dest="last", action="append", default=[], metavar="NAME,...",
        help="values that become outputs",
    )  # fmt: skip
    parser.set_defaults(check=False)


def run(args: argparse.Namespace) -> int:
    """Cut, and write."""
    from ..verbs.surgery import extract

    output = model_output(args)
    first, last = sorted(words(args.first)), sorted(words(args.last))
    return report(args, extract(source_of(args.model), output, first=first, last=last))

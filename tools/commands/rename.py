"""Give inputs, outputs and other values of an ONNX model other names.

    gravure rename model.onnx -o named.onnx input.1=image 495=scores
    gravure rename model.onnx -o named.onnx input.1=image --check
    gravure rename model.onnx -o same.onnx /a/b/Add_output_0=sum

Names are changed wherever they stand, in graphs inside of nodes too. A name that is taken already
is refused.
"""

from __future__ import annotations

import argparse

from ..errors import UsageError
from ..options import model_output, source_of
from ..surgery import add_comparison, report

NAME = "rename"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model; - is stdin")
    parser.add_argument("names", nargs="+", metavar="OLD=NEW", help="a value and its new name")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument("--check", action="store_true", help="compare results with the original's")
    add_comparison(parser)
    parser.set_defaults(shape=[], dim=[])


def run(args: argparse.Namespace) -> int:
    """Rename, and write."""
    from ..verbs.surgery import rename_values

    names = {}
    for text in args.names:
        old, equals, new = text.partition("=")
        if not (old and equals and new) or old in names:
            raise UsageError(f"{text!r}: expected OLD=NEW, each old name once")
        names[old] = new
    output = model_output(args)
    return report(args, rename_values(source_of(args.model), output, names))

"""Give inputs of an ONNX model other shapes: numbers, or names for what is to be free.

    gravure reshape model.onnx -o free.onnx x=N,3,224,224
    gravure reshape model.onnx -o eight.onnx x=8,3,224,224 mask=8,1,1,224
    gravure reshape model.onnx -o any.onnx x=?,?,512

The shapes of all other values follow; what contradicts them (a Reshape to a fixed size, say) is
refused by the name of its node. A dimension ? is free and has no name.
"""

from __future__ import annotations

import argparse

from ..options import model_output, shapes_of, source_of
from ..surgery import report

NAME = "reshape"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model; - is stdin")
    parser.add_argument("shape", nargs="+", metavar="NAME=D,D,...", help="an input and its shape")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.set_defaults(check=False)


def run(args: argparse.Namespace) -> int:
    """Change the shapes, see whether they fit, and write."""
    from ..verbs.surgery import reshape_model

    output = model_output(args)
    return report(args, reshape_model(source_of(args.model), output, shapes_of(args) or {}))

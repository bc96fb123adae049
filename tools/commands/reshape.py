"""Give inputs of an ONNX model other shapes: numbers, or names for what is to be free.

    gravure reshape model.onnx -o free.onnx x=N,3,224,224
    gravure reshape model.onnx -o eight.onnx x=8,3,224,224 mask=8,1,1,224
    gravure reshape model.onnx -o any.onnx x=?,?,512

The shapes of all other values follow; what contradicts them (a Reshape to a fixed size, say) is
refused by the name of its node. A dimension ? is free and has no name.
"""

from __future__ import annotations

import argparse

from ..errors import UsageError
from ..options import output_of, shapes_of, source_of
from ..surgery import report_files

NAME = "reshape"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX model; - is stdin")
    parser.add_argument("shape", nargs="+", metavar="NAME=D,D,...", help="an input and its shape")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.set_defaults(check=False)


def run(args: argparse.Namespace) -> int:
    """Change the shapes, see whether they fit, and write."""
    from ...frontend.onnx.surgery import Surgery

    output = output_of(args.output, args.model)
    if output is None:
        raise UsageError("an ONNX model is no text", hint="name a file: -o FILE.onnx")
    source = source_of(args.model)
    surgery = Surgery.of(source)
    shapes = shapes_of(args) or {}
    outputs = surgery.reshape(source, shapes)
    notes = [f"{name}: {shape}" for name, shape in outputs.items()]
    return report_files(args, surgery.save(output), notes)

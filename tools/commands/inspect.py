"""Say what is in a model: arguments, operators, parameters, arithmetic; nothing is run.

    gravure inspect model.onnx
    gravure inspect model.onnx --dim batch=8 --params
    gravure inspect model.onnx --check                    # exit status 1 if no library can be made
    gravure inspect model.so                              # what a compiled model says of itself
    gravure inspect model.onnx --json | jq .parameters

A MAC is a multiplication with addition, and two flops; functions are exp, tanh, sqrt and the like.
Host steps are what is not compiled: a model that has them runs from Python and makes no library.
Dimensions without a number count as their largest, or as 1 if they have no bound.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..options import add_model, add_shapes, dims_of, shapes_of, source_of

NAME = "inspect"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    parser.add_argument("--params", action="store_true", help="list every stored tensor")
    parser.add_argument("--ops", action="store_true", help="what each kind of operation costs")
    parser.add_argument("--check", action="store_true", help="fail if no library can be made of it")
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Look, and print."""
    from ..verbs.inspect import LibraryInspection, inspect

    console: Console = args.console
    source, check = source_of(args.model), bool(args.check)
    found = inspect(source, shapes=shapes_of(args), dims=dims_of(args), check=check)
    if isinstance(found, LibraryInspection):
        console.show(found)
        return 0
    text = found.text(ops=args.ops, params=args.params)
    console.result(text, found.as_json(params=args.params))
    return int(check and not found.can_be_compiled)

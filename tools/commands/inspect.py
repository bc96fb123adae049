"""Say what is in a model: arguments, operators, parameters, arithmetic; nothing is run.

    gravure inspect model.onnx
    gravure inspect model.onnx --dim batch=8 --params
    gravure inspect model.onnx --check                    # exit status 1 if no library can be made
    gravure inspect model.so                              # what a compiled model says of itself
    gravure inspect model.onnx --json | jq .parameters
    gravure inspect model.onnx --html m.html              # a page: graph, passes, kernels, memory

A MAC is a multiplication with addition, and two flops; functions are exp, tanh, sqrt and the like.
Host steps are what is not compiled: a model that has them runs from Python and makes no library.
Dimensions without a number count as their largest, or as 1 if they have no bound. --html compiles
the model and measures its kernels on random inputs (--no-measure: it runs nothing); the page is one
file that needs no network.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..console import Console
from ..errors import UsageError
from ..given import positive
from ..options import add_model, add_shapes, dims_of, output_of, shapes_of, source_of

if TYPE_CHECKING:
    from ..verbs.view import View

NAME = "inspect"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    parser.add_argument("--params", action="store_true", help="list every stored tensor")
    parser.add_argument("--layers", action="store_true", help="list every operation")
    parser.add_argument("--ops", action="store_true", help="what each kind of operation costs")
    parser.add_argument("--check", action="store_true", help="fail if no library can be made of it")
    parser.add_argument("--html", metavar="FILE", help="write a page that shows the model")
    parser.add_argument("--no-measure", action="store_true", help="of --html: run nothing")
    parser.add_argument(
        "--threads", type=positive, default=1, metavar="N", help="of --html: of a run (1)"
    )
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Look, and print."""
    from ..verbs.inspect import LibraryInspection, inspect

    console: Console = args.console
    source, check = source_of(args.model), bool(args.check)
    if args.html:
        console.show(page(args, source))
        return 0
    found = inspect(source, shapes=shapes_of(args), dims=dims_of(args), check=check)
    if isinstance(found, LibraryInspection):
        console.show(found)
        return 0
    text = found.text(ops=args.ops, params=args.params, layers=args.layers)
    console.result(text, found.as_json(params=args.params, layers=args.layers))
    return int(check and not found.can_be_compiled)


def page(args: argparse.Namespace, source: str | bytes) -> View:
    """Write the page that shows a model."""
    from ..verbs.view import view

    if args.check or args.ops or args.params or args.layers:
        raise UsageError("--html is a page with all in it: no --check, --layers, --ops, --params")
    path = output_of(args.html, args.model)
    if path is None:
        raise UsageError("--html names a file, not the standard output")
    return view(
        source, path, threads=args.threads, measure=not args.no_measure, shapes=shapes_of(args),
        dims=dims_of(args), progress=args.console.progress,
    )  # fmt: skip

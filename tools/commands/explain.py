"""Print the page about an error, what a model demands of its dimensions, or where a graph runs.

    gravure explain                                       # all codes
    gravure explain GV2100
    gravure explain UnsupportedOp
    gravure explain shapes model.onnx --dim N=1..64       # each condition with its node
    gravure explain placement graph.pb --cpus 2           # devices, why, and what is sent
    gravure explain placement graph.pb --cpus 2 --costs costs.json
    gravure explain placement graph.pb --cluster ps=1,worker=2 --fetch loss --feed x:0

An error prints its code with -v or --json.
"""

from __future__ import annotations

import argparse

from ..console import Console
from ..errors import UsageError
from ..given import positive
from ..options import add_shapes, dims_of, shapes_of, source_of
from .launch import cluster_of

NAME = "explain"
SHAPES, PLACEMENT = "shapes", "placement"
"""The words instead of a code that ask about a model's dimensions, and about a graph's devices."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "code",
        nargs="?",
        help="a code such as GV2000, an error's class, or one of the words shapes and placement",
    )
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="the model behind shapes, the graph behind "
        "placement, which write_graph has written as bytes",
    )  # fmt: skip
    add_shapes(parser)
    parser.add_argument(
        "--fetch", action="append", default=[], metavar="NAME", help="what is wanted of a graph"
    )
    parser.add_argument(
        "--feed", action="append", default=[], metavar="NAME", help="a tensor that is fed"
    )
    parser.add_argument(
        "--cpus",
        type=positive,
        default=1,
        metavar="N",
        help="as how many devices the processor appears",
    )
    parser.add_argument("--cluster", metavar="JOBS", help="tasks of each job, as ps=1,worker=3")
    parser.add_argument(
        "--soft", action="store_true", help="put elsewhere what asks for a device that is not there"
    )
    parser.add_argument(
        "--costs", metavar="FILE", help="place what asks for nothing by these costs of operations"
    )
    parser.add_argument(
        "--transfer-bits", type=int, choices=(16, 32), default=32, metavar="BITS",
        help="in how many bits f32 values are sent",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print one page, or all codes."""
    from ..verbs.explain import explain, explain_placement, explain_shapes

    console: Console = args.console
    if args.code not in (SHAPES, PLACEMENT):
        if args.model is not None:
            raise UsageError(f"a model stands behind {SHAPES!r} and {PLACEMENT!r} only")
        console.show(explain(args.code))
        return 0
    if args.model is None:
        raise UsageError("no model", hint=f"gravure explain {args.code} model.onnx")
    if args.code == SHAPES:
        source = source_of(args.model)
        console.show(explain_shapes(source, shapes=shapes_of(args), dims=dims_of(args)))
        return 0
    console.show(
        explain_placement(
            args.model, args.fetch, args.feed, cpus=args.cpus, soft=args.soft,
            cluster=cluster_of(args.cluster), bits=args.transfer_bits, costs=args.costs,
        )
    )  # fmt: skip
    return 0

"""Compute graphs that are grown by chance, in many ways, and see whether all agree.

The interpreter is right; onnxruntime is asked where it is installed. Ways are levels of optimising,
threads, other processors, and accesses that are looked at; each runs with open sizes of 0, 1, one
less, and one more than usual. A fault is kept as the model, its inputs, and the part that fails.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random

import numpy as np

from ..given import positive
from .tally import fuzzed
from .workers import Outcome

NAME = "graphs"


def configure(parser: argparse._ArgumentGroup) -> None:
    """Add the options."""
    parser.add_argument("--most", type=positive, default=12, metavar="N", help="operators (12)")
    parser.add_argument(
        "--no-peer", action="store_true", help="do not ask onnxruntime where it is installed"
    )
    parser.add_argument(
        "--no-cases", action="store_true", help="leave out the standard's own test cases"
    )


def case(seed: int, number: int) -> Random:
    """Return the numbers that a case is drawn from."""
    return Random(f"graphs {seed} {number}")


def run(args: argparse.Namespace) -> int:
    """Do all cases; 1 if there is a fault."""
    from .making.grown import grown
    from .making.standard import cases
    from .shrink import write_shrunk
    from .ways import judged, some_ways

    if not args.no_cases:
        cases()  # before the children begin, so that each has them

    def judge(number: int) -> tuple[int, str]:
        random = case(args.seed, number)
        graph = grown(random, most=args.most, cases=not args.no_cases)
        kind, text, _ = judged(graph, some_ways(random, args.device), peer=not args.no_peer)
        return kind, text

    def keep(stem: Path, outcome: Outcome) -> None:
        graph = grown(case(args.seed, outcome.number), most=args.most, cases=not args.no_cases)
        stem.with_suffix(".onnx").write_bytes(graph.model)
        stem.with_suffix(".txt").write_text(f"{outcome.text}\nworlds: {graph.worlds}\n")
        write_shrunk(graph, outcome.text, stem.with_suffix(".mlir"))
        for world in range(len(graph.worlds)):
            pairs = zip(graph.inputs, graph.arrays(world), strict=True)
            arrays = {each.value.name: array for each, array in pairs}
            np.savez(f"{stem}-{world}.npz", allow_pickle=False, **arrays)

    return fuzzed(NAME, args, judge, keep)

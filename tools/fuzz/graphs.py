"""Compute graphs that are grown by chance, in many ways, and see whether all agree.

The interpreter is right; onnxruntime is asked where it is installed. Ways are levels of optimising,
threads, other processors, and accesses that are looked at; each runs with open sizes of 0, 1, one
less, and one more than usual. A fault is kept as the model, its inputs, and the part that fails.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np

from ..console import Console, table
from .workers import FAULT, READ, REFUSED, Outcome, outcomes

NAME = "graphs"
SHOWN = 12
"""Reasons for refusals that are listed."""


def configure(parser: argparse._ArgumentGroup) -> None:
    """Add the options."""
    parser.add_argument("--most", type=int, default=12, metavar="N", help="operators (12)")
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
    from .ways import judged, some_ways

    if not args.no_cases:
        cases()  # before the children begin, so that each has them
    start, first = time.monotonic(), args.first
    counts: Counter[int] = Counter()
    reasons: Counter[str] = Counter()
    faults: list[Outcome] = []

    def judge(number: int) -> tuple[int, str]:
        random = case(args.seed, number)
        graph = grown(random, most=args.most, cases=not args.no_cases)
        kind, text, _ = judged(graph, some_ways(random), peer=not args.no_peer)
        return kind, text

    while True:
        for outcome in outcomes(
            judge, first, args.cases, seconds=args.limit, memory=args.memory << 30
        ):
            counts[outcome.kind] += 1
            if outcome.kind == REFUSED:
                reasons[outcome.text.splitlines()[0]] += 1
            if outcome.kind == FAULT:
                faults.append(outcome)
                if args.keep:
                    keep(Path(args.keep), outcome, args)
        first += args.cases
        if time.monotonic() - start >= args.seconds:
            break
    _report(counts, reasons, faults, time.monotonic() - start, args.console)
    return int(bool(faults))


def keep(folder: Path, outcome: Outcome, args: argparse.Namespace) -> None:
    """Write a fault: the model, its inputs, what is wrong, and the part that fails."""
    from .making.grown import grown

    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"graphs-{args.seed}-{outcome.number}"
    graph = grown(case(args.seed, outcome.number), most=args.most, cases=not args.no_cases)
    stem.with_suffix(".onnx").write_bytes(graph.model)
    stem.with_suffix(".txt").write_text(f"{outcome.text}\nworlds: {graph.worlds}\n")
    for world in range(len(graph.worlds)):
        pairs = zip(graph.inputs, graph.arrays(world), strict=True)
        arrays = {each.value.name: array for each, array in pairs}
        np.savez(f"{stem}-{world}.npz", allow_pickle=False, **arrays)


def _report(
    counts: Counter[int],
    reasons: Counter[str],
    faults: list[Outcome],
    seconds: float,
    console: Console,
) -> None:
    head = ["cases", "right", "refused", "faults", "seconds"]
    row = [str(sum(counts.values())), str(counts[READ]), str(counts[REFUSED]),
           str(counts[FAULT]), f"{seconds:.1f}"]  # fmt: skip
    lines = [table([head, row], right="01234")]
    lines += [f"refused {times} times: {why}" for why, times in reasons.most_common(SHOWN)]
    lines += [f"case {fault.number}: {last_line(fault.text)}" for fault in faults]
    data = {
        "schema": "gravure.fuzz/1",
        "right": counts[READ],
        "refused": dict(reasons),
        "faults": [{"case": fault.number, "what": fault.text} for fault in faults],
        "seconds": seconds,
    }
    console.result("\n".join(lines), data)


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")

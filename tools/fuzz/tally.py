"""Do cases that are right, refused or at fault, and report: what the kinds of fuzzing share."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..console import Console, table
from .workers import FAULT, READ, REFUSED, Judge, Outcome, outcomes, processor_seconds

SHOWN = 12
"""Reasons for refusals that are listed."""
Keep = Callable[[Path, Outcome], None]
"""Writes what is at fault: without suffix, and how it went."""


def fuzzed(name: str, args: argparse.Namespace, judge: Judge, keep: Keep) -> int:
    """Do all cases; 1 if there is a fault."""
    start, first, spent = time.monotonic(), args.first, processor_seconds()
    counts: Counter[int] = Counter()
    reasons: Counter[str] = Counter()
    faults: list[Outcome] = []
    with suppress(KeyboardInterrupt):  # what was found until then is told
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
                        folder = Path(args.keep)
                        folder.mkdir(parents=True, exist_ok=True)
                        keep(folder / f"{name}-{args.seed}-{outcome.number}", outcome)
            first += args.cases
            if time.monotonic() - start >= args.seconds:
                break
    seconds = time.monotonic() - start, processor_seconds() - spent
    _report(counts, reasons, faults, seconds, args.console)
    return int(bool(faults))


def _report(
    counts: Counter[int],
    reasons: Counter[str],
    faults: list[Outcome],
    seconds: tuple[float, float],
    console: Console,
) -> None:
    head = ["cases", "right", "refused", "faults", "seconds", "of processor"]
    row = [str(sum(counts.values())), str(counts[READ]), str(counts[REFUSED]),
           str(counts[FAULT]), *(f"{each:.1f}" for each in seconds)]  # fmt: skip
    lines = [table([head, row], right="012345")]
    lines += [f"refused {times} times: {why}" for why, times in reasons.most_common(SHOWN)]
    lines += [f"case {fault.number}: {last_line(fault.text)}" for fault in faults]
    data = {
        "schema": "gravure.fuzz/1",
        "right": counts[READ],
        "refused": dict(reasons),
        "faults": [{"case": fault.number, "what": fault.text} for fault in faults],
        "seconds": seconds[0],
        "processor_seconds": seconds[1],
    }
    console.result("\n".join(lines), data)


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")

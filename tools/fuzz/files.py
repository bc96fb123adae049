"""Change the files that gravure reads, and see what becomes of each.

A changed file is read, or refused by an error of ours. Anything else is a fault: another
exception, a crash, a hang, too much memory.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..console import Console, table
from ..errors import UsageError
from .tally import last_line
from .workers import FAULT, READ, REFUSED, Outcome, outcomes, processor_seconds

NAME = "files"


@dataclass
class Tally:
    """What became of the cases of one kind."""

    name: str
    counts: dict[int, int] = field(default_factory=lambda: {READ: 0, REFUSED: 0, FAULT: 0})
    faults: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count a case."""
        self.counts[outcome.kind] += 1
        if outcome.kind == FAULT:
            self.faults.append(outcome)


def configure(parser: argparse._ArgumentGroup) -> None:
    """Add the options."""
    parser.add_argument(
        "--example", action="append", default=[], metavar="FILE", help="one more, by its suffix"
    )
    parser.add_argument("--kind", action="append", default=[], help="(all; see the table)")


def run(args: argparse.Namespace) -> int:
    """Do all cases; 1 if there is a fault."""
    from .subjects import SUBJECTS

    unknown = [name for name in args.kind if name not in SUBJECTS]
    if unknown:
        raise UsageError(f"kind {unknown[0]!r}, expected one of {', '.join(SUBJECTS)}")
    more = _given(args.example)
    start, first = time.monotonic(), args.first
    tallies = {name: Tally(name) for name in args.kind or SUBJECTS}
    while True:
        for name, tally in tallies.items():
            began, spent = time.monotonic(), processor_seconds()
            _fuzz(args, SUBJECTS[name], more.get(name, []), first, tally)
            tally.seconds += time.monotonic() - began
            tally.processor += processor_seconds() - spent
        first += args.cases
        if time.monotonic() - start >= args.seconds:
            break
    _report(list(tallies.values()), args.console)
    return int(any(tally.faults for tally in tallies.values()))


def _given(files: list[str]) -> dict[str, list[bytes]]:
    """Return the user's examples by kind."""
    from .subjects import SUBJECTS

    kinds = {suffix: name for name, each in SUBJECTS.items() for suffix in each.suffixes}
    found: dict[str, list[bytes]] = {}
    for file in files:
        path = Path(file)
        if path.suffix not in kinds:
            raise UsageError(f"file {file!r}: no kind of files ends in {path.suffix!r}")
        if not path.is_file():
            raise InputError("there is no such file", location=file)
        found.setdefault(kinds[path.suffix], []).append(path.read_bytes())
    return found


def _fuzz(
    args: argparse.Namespace, subject: Any, more: list[bytes], first: int, tally: Tally
) -> None:
    """Do some cases of one kind."""
    from .subjects import examples_of

    examples_of(subject)  # before the children begin, so that each has them

    def judge(number: int) -> tuple[int, str]:
        found: tuple[int, str] = subject.judge(subject.case(args.seed, number, more))
        return found

    cases = outcomes(judge, first, args.cases, seconds=args.limit, memory=args.memory << 30)
    for outcome in cases:
        tally.add(outcome)
        if outcome.kind == FAULT and args.keep:
            folder = Path(args.keep)
            folder.mkdir(parents=True, exist_ok=True)
            stem = folder / f"{subject.name}-{args.seed}-{outcome.number}"
            suffix = subject.suffixes[0] if subject.suffixes else ".bin"
            stem.with_suffix(suffix).write_bytes(subject.case(args.seed, outcome.number, more))
            stem.with_suffix(".txt").write_text(outcome.text)


def _report(tallies: list[Tally], console: Console) -> None:
    rows = [
        [t.name, str(sum(t.counts.values())), str(t.counts[READ]), str(t.counts[REFUSED]),
         str(t.counts[FAULT]), f"{t.seconds:.1f}", f"{t.processor:.1f}"]
        for t in tallies
    ]  # fmt: skip
    head = ["kind", "cases", "read", "refused", "faults", "seconds", "of processor"]
    lines = [table([head, *rows], right="123456")]
    lines += [
        f"{t.name} {fault.number}: {last_line(fault.text)}" for t in tallies for fault in t.faults
    ]
    data = {
        "schema": "gravure.fuzz/1",
        "kinds": [
            {
                "kind": t.name,
                "read": t.counts[READ],
                "refused": t.counts[REFUSED],
                "faults": [{"case": f.number, "what": f.text} for f in t.faults],
                "seconds": t.seconds,
                "processor_seconds": t.processor,
            }
            for t in tallies
        ],
    }
    console.result("\n".join(lines), data)

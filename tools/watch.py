"""Arguments that show what passes do, and the observers that they ask for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .options import words

if TYPE_CHECKING:
    from ..passes.base import Observer, Report


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add what prints and measures passes."""
    group = parser.add_argument_group("looking on")
    for when in ("before", "after"):
        group.add_argument(
            f"--print-ir-{when}", action="append", default=[], metavar="NAME",
            help=f"print the IR {when} these passes",
        )  # fmt: skip
        group.add_argument(
            f"--print-ir-{when}-all", action="store_true", help=f"print the IR {when} every pass"
        )
    group.add_argument(
        "--print-ir-after-change", action="store_true", help="print the IR where it changed"
    )
    group.add_argument("--function", default="", metavar="NAME", help="print this function only")
    group.add_argument("--dump-dir", type=Path, metavar="DIR", help="IR after each pass, numbered")
    group.add_argument(
        "--dump-change", action="store_true", help="dump no file where nothing changed"
    )
    group.add_argument("--time-passes", action="store_true", help="print the time of each pass")
    group.add_argument("--stats", action="store_true", help="print what passes counted")
    group.add_argument("--check", action="store_true", help="compare results before and after")


def observers_of(args: argparse.Namespace) -> list[Observer]:
    """Return the observers that the arguments ask for."""
    from ..passes.check import Check
    from ..passes.instruments import DumpDirectory, PrintIR
    from ..passes.manager import load

    found: list[Observer] = []
    before, after = words(args.print_ir_before), words(args.print_ir_after)
    for name in sorted(before | after):
        load(name)  # an unknown name is an error
    if args.print_ir_before_all:
        before |= {"*"}
    if args.print_ir_after_all or args.print_ir_after_change:
        after |= {"*"}
    if before or after:
        found.append(PrintIR(before, after, args.print_ir_after_change, args.function, write=_show))
    if args.dump_dir is not None:
        found.append(DumpDirectory(args.dump_dir, args.dump_change, args.function))
    if args.check:
        found.append(Check())
    return found


def is_watching(args: argparse.Namespace) -> bool:
    """Say whether what passes do is to be recorded."""
    return bool(args.time_passes or args.stats)


def print_report(args: argparse.Namespace, report: Report) -> None:
    """Print times and statistics."""
    if args.time_passes:
        print(report.as_table(), file=sys.stderr)
    if args.stats:
        for step in report.steps:
            for name, number in step.rewrite.counts.items():
                print(f"{number:10}  {step.rewrite}: {name}", file=sys.stderr)


def _show(text: str) -> None:
    sys.stderr.write(text)


__all__ = ["add_watch", "is_watching", "observers_of", "print_report"]

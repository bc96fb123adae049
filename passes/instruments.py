"""What looks on while passes run: print or dump the IR, print times, check the results.

All are observers; the manager calls them between passes. Results are compared by running the
program on the reference interpreter before and after each pass, so a pass that changes what a
program computes is named at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.ir import Operation

from .. import knobs
from ..errors import OutputError
from ..ir import Program, canonical_hash, print_module
from ..ir.program import optional_function
from .base import Observer, Report, Step
from .check import Check

Write = Callable[[str], object]


def say(text: str) -> None:
    """Write a text to standard error."""
    sys.stderr.write(text)


@dataclass
class Changes:
    """Tells whether a program changed since it was last looked at, by its canonical hash."""

    function: str = ""
    """Look at this function only; at the whole module if empty."""
    last: str = ""

    def of(self, program: Program) -> Operation | None:
        """Return what is looked at; None if the function does not exist (any more)."""
        return optional_function(program.module, self.function) if self.function else program.module

    def seen(self, program: Program) -> bool:
        """Say whether it changed, and remember it as it is now."""
        op = self.of(program)
        found = canonical_hash(op) if op is not None else ""
        changed, self.last = found != self.last, found
        return changed


@dataclass
class PrintIR(Observer):
    """Print the IR before or after passes."""

    passes_before: frozenset[str] = frozenset()
    """Names of passes; `*` stands for all."""
    passes_after: frozenset[str] = frozenset()
    only_changed: bool = False
    """Say `(unchanged)` instead of printing the same text again."""
    function: str = ""
    write: Write = say
    changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        self.changes = Changes(self.function)

    def start(self, program: Program) -> None:
        """Remember the program."""
        if self.only_changed:
            self.changes.seen(program)

    def before(self, step: Step, program: Program) -> None:
        """Print what a pass gets."""
        if self.passes_before & {"*", step.name}:
            self.show(f"before {step.rewrite}", program)

    def after(self, step: Step, program: Program) -> None:
        """Print what a pass leaves."""
        changed = self.changes.seen(program) if self.only_changed else True
        if not self.passes_after & {"*", step.name}:
            return
        if changed:
            self.show(f"after {step.rewrite}", program)
        else:
            self.write(f"// ----- after {step.rewrite} (unchanged)\n")

    def show(self, title: str, program: Program) -> None:
        """Print a title and the IR."""
        op = self.changes.of(program)
        text = print_module(op) if op is not None else f"// no function @{self.function}\n"
        self.write(f"// ----- {title}\n{text}")


@dataclass
class DumpDirectory(Observer):
    """Write the IR after each pass into a file `03-fuse.mlir` of a directory.

    One instance may watch several pipelines, one after the other: the numbers go on.
    """

    directory: Path
    only_changed: bool = False
    """Write no file where a pass changed nothing."""
    function: str = ""
    passes: frozenset[str] = frozenset({"*"})
    number: int = 0
    changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        self.changes = Changes(self.function)

    def start(self, program: Program) -> None:
        """Write the input, once."""
        if self.number == 0:
            self.changes.seen(program)
            self.put("input", program)
            self.number = 1

    def after(self, step: Step, program: Program) -> None:
        """Write what a pass leaves."""
        wanted = bool(self.passes & {"*", step.name})
        if wanted and (not self.only_changed or self.changes.seen(program)):
            self.put(step.name, program)
        self.number += 1

    def put(self, name: str, program: Program) -> None:
        """Write one file."""
        op = self.changes.of(program)
        if op is not None:
            path = self.directory / f"{self.number:02}-{name}.mlir"
            try:
                self.directory.mkdir(parents=True, exist_ok=True)
                path.write_text(print_module(op), encoding="utf-8")
            except OSError as error:
                reason = f"cannot write: {(error.strerror or str(error)).lower()}"
                raise OutputError(reason, location=str(path)) from error


@dataclass
class PrintTimes(Observer):
    """Print the table of times after the last pass."""

    write: Write = say

    def finish(self, report: Report) -> None:
        """Print the table."""
        self.write(f"{report.as_table()}\n")


def from_environment() -> list[Observer]:
    """Return the observers that GRAVURE_DUMP, GRAVURE_CHECK and GRAVURE_TIME ask for."""
    found: list[Observer] = []
    if (directory := knobs.DUMP.path()) is not None:
        found.append(DumpDirectory(directory))
    if knobs.checks_passes():
        found.append(Check())
    if knobs.TIME.is_on():
        found.append(PrintTimes())
    return found

"""Mutants: small changes of functions that a test should notice.

A tree of sources is copied with many mutants in it at once. Each is behind a switch, so that the
copy behaves as the original does until one is turned on:

    if a < b:    ->    if (a <= b if _mutant(17) else a < b):

What runs at import, annotations, assertions and the texts of errors have no mutants.
"""

from __future__ import annotations

import ast
import copy
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
LINKS: dict[type[ast.boolop], ast.boolop] = {ast.And: ast.Or(), ast.Or: ast.And()}
SWITCH = '''"""Which mutant is on, and which were passed."""
import os
ON = int(os.environ.get("GRAVURE_MUTANT", "-1"))
PASSED = set()
LOG = os.environ.get("GRAVURE_MUTANTS_PASSED")


def _mutant(number):
    if number not in PASSED:
        PASSED.add(number)
        if LOG:
            with open(LOG, "a") as file:
                file.write(f"{number}\\n")
    return number == ON
'''


@dataclass(frozen=True)
class Mutant:
    """A place in a file, what is there, and what is put there."""

    path: str
    line: int
    column: int
    start: int
    stop: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.before} -> {self.after}"


def changed(node: ast.AST) -> ast.expr | None:
    """Return the mutant of an expression, None if there is none of its kind."""
    made = copy.deepcopy(node)
    match made:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            made.ops = [COMPARISONS[type(op)]()]
        case ast.BoolOp(op=op):
            made.op = LINKS[type(op)]
        case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC:
            if any(map(is_text, (left, right))):
                return None
            made.op = ARITHMETIC[type(op)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return operand
        case ast.Subscript(slice=ast.Constant(value=int()) as index, ctx=ast.Load()):
            index.value += 1
        case ast.Subscript(
            slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int()) as index),
            ctx=ast.Load(),
        ):
            index.value += 1
        case _:
            return None
    return made


def is_text(node: ast.expr) -> bool:
    """Say whether a value is text, a list or a tuple: their sums are not numbers."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return text or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple)


class Finder(ast.NodeVisitor):
    """Collects the expressions inside of functions that have a mutant."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.expr, ast.expr]] = []
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Look at the body only: defaults and decorators belong to the import."""
        self.depth += 1
        for inner in node.body:
            self.visit(inner)
        self.depth -= 1

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave out the annotation."""
        if node.value is not None:
            self.visit(node.value)

    def generic_visit(self, node: ast.AST) -> None:
        """Note an expression, and look inside; leave out what is said for readers."""
        if isinstance(node, ast.Assert | ast.Raise | ast.JoinedStr | ast.pattern):
            return
        if self.depth and isinstance(node, ast.expr):
            after = changed(node)
            if after is not None:
                self.found.append((node, after))
        super().generic_visit(node)


def mutants_of(path: str, text: str) -> Iterator[Mutant]:
    """Give the mutants of a file."""
    finder = Finder()
    finder.visit(ast.parse(text))
    data = text.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node, after in finder.found:
        start = starts[node.lineno - 1] + node.col_offset
        stop = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = " ".join(data[start:stop].decode().split())
        yield Mutant(path, node.lineno, node.col_offset, start, stop, before, ast.unparse(after))


def chosen(root: Path, folders: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return so many mutants for each folder, none of which is inside of another."""
    picked: list[Mutant] = []
    for folder in folders:
        draw = random.Random(f"{seed} {folder}")
        found = [
            mutant
            for path in sorted((root / folder).rglob("*.py"))
            for mutant in mutants_of(path.relative_to(root).as_posix(), path.read_text())
        ]
        draw.shuffle(found)
        mine: list[Mutant] = []
        for mutant in found:
            if len(mine) == count:
                break
            if not any(crosses(mutant, other) for other in mine):
                mine.append(mutant)
        picked += sorted(mine, key=lambda m: (m.path, m.start))
    return picked


def crosses(one: Mutant, other: Mutant) -> bool:
    """Say whether two mutants share text."""
    return one.path == other.path and one.start < other.stop and other.start < one.stop


def plant(root: Path, target: Path, mutants: Sequence[Mutant]) -> None:
    """Copy a tree with mutants in it, each behind its number."""
    leave = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build")
    shutil.copytree(root, target, symlinks=True, ignore=leave)
    (target / "gravure_mutant.py").write_text(SWITCH)
    by_path: dict[str, list[tuple[int, Mutant]]] = {}
    for number, mutant in enumerate(mutants):
        by_path.setdefault(mutant.path, []).append((number, mutant))
    for path, here in by_path.items():
        data = (target / path).read_bytes()
        for number, mutant in sorted(here, key=lambda pair: -pair[1].start):
            before = data[mutant.start : mutant.stop].decode()
            new = f"(({mutant.after}) if _mutant({number}) else ({before}))"
            data = data[: mutant.start] + new.encode() + data[mutant.stop :]
        (target / path).write_text(with_switch(data.decode()))


def with_switch(text: str) -> str:
    """Return a module that imports the switch, after its docstring and what must come first."""
    line = 0
    for node in ast.parse(text).body:
        first = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not first and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        line = node.end_lineno or 0
    lines = text.split("\n")
    return "\n".join([*lines[:line], "from gravure_mutant import _mutant", *lines[line:]])

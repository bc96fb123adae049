"""Functions and files stay small enough to read in one sitting."""

import ast
from pathlib import Path
from statistics import median, quantiles

from .sources import nodes

ROOT = Path(__file__).parent.parent
PRODUCT = ("gravure", "codegen", "frontend", "ir", "passes", "runtime", "tools")
FILES = [
    path.relative_to(ROOT)
    for folder in (*PRODUCT, "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not any(part.is_symlink() for part in path.parents)
]
LONGEST_FILE, LONGEST_FUNCTION = 700, 80
MEDIAN_FUNCTION, P95_FUNCTION = 8, 40


Lengths = dict[str, int]


def function_lengths(path: Path) -> Lengths:
    """Return the lines of each function, by name and first line."""
    return {
        f"{node.name}, line {node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_files_are_short_and_so_are_their_functions() -> None:
    lines = {place: len((ROOT / place).read_text().splitlines()) for place in FILES}
    assert not {place: n for place, n in lines.items() if n > LONGEST_FILE}
    lengths = {place: function_lengths(ROOT / place) for place in FILES}
    long = {place: name for place, each in lengths.items() for name, n in each.items()
            if n > LONGEST_FUNCTION}  # fmt: skip
    assert not long, f"functions of more than {LONGEST_FUNCTION} lines: {long}"
    ours = [
        length
        for place, each in lengths.items()
        if place.parts[0] in PRODUCT
        for length in each.values()
    ]
    assert median(ours) <= MEDIAN_FUNCTION
    assert quantiles(ours, n=20)[-1] <= P95_FUNCTION

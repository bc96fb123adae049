"""Functions and files stay small enough to read in one sitting."""

import ast
from pathlib import Path
from statistics import median, quantiles

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("gravure", "codegen", "frontend", "ir", "passes", "runtime", "tools")
FILES = [
    path
    for folder in (*PRODUCT, "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not any(part.is_symlink() for part in path.parents)
]
LONGEST_FILE, LONGEST_FUNCTION = 700, 80
MEDIAN_FUNCTION, P95_FUNCTION = 8, 40


def function_lengths(path: Path) -> dict[str, int]:
    """Return the lines of each function, by name and first line."""
    return {
        f"{node.name}, line {node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_is_short_and_so_are_its_functions(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE
    long = {name: n for name, n in function_lengths(path).items() if n > LONGEST_FUNCTION}
    assert not long, f"functions of more than {LONGEST_FUNCTION} lines: {long}"


def test_most_functions_are_very_short() -> None:
    lengths = [
        length
        for path in FILES
        if path.relative_to(ROOT).parts[0] in PRODUCT
        for length in function_lengths(path).values()
    ]
    assert median(lengths) <= MEDIAN_FUNCTION
    assert quantiles(lengths, n=20)[-1] <= P95_FUNCTION

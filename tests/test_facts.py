"""What is known of an operation stands on its class: no lists of names beside it.

A list of names is what an operation from elsewhere is missing in. ONNX's rules and TensorFlow's
names are what those folders are about.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from gravure.ir import REGISTRY

ROOT = Path(__file__).parent.parent
FOLDERS = ("passes", "codegen", "frontend", "tools")
ASIDE = (
    "frontend/onnx/rules",
    "frontend/onnx/export",
    "frontend/tf",
    "passes/analysis/kernels/kinds.py",
)
"""What is about names from elsewhere, and the kinds of kernels, of which some are called so."""
FEW = 3
"""Up to so many names, this one excluded, are no list."""


def given(node: ast.AST) -> list[ast.expr]:
    """Return the values that stand beside each other in a list, a call, a `match` or an `or`."""
    match node:
        case ast.Dict():
            return [key for key in node.keys if key is not None] + node.values
        case ast.Set() | ast.List() | ast.Tuple():
            return node.elts
        case ast.Call():
            return node.args
        case ast.Match():
            inner = [part for case in node.cases for part in ast.walk(case.pattern)]
            return [part.value for part in inner if isinstance(part, ast.MatchValue)]
        case ast.BoolOp():
            compared = [part for part in node.values if isinstance(part, ast.Compare)]
            return [value for part in compared for value in part.comparators]
    return []


def lists_of_names(path: Path) -> Iterator[int]:
    """Give the lines where names of three or more operations stand beside each other."""
    plain = path.is_relative_to(ROOT / "passes")
    for node in ast.walk(ast.parse(path.read_text())):
        texts = {v.value for v in given(node) if isinstance(v, ast.Constant)}
        names = {text for text in texts if text in REGISTRY}
        if plain:
            names |= {text for text in texts if f"gv.{text}" in REGISTRY}
        if len(names) >= FEW:
            yield node.lineno


def places() -> list[str]:
    """Return where there are such lists, as `file:line`."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    named = {path: path.relative_to(ROOT).as_posix() for path in files}
    return [
        f"{name}:{line}"
        for path, name in named.items()
        if not name.startswith(ASIDE)
        for line in lists_of_names(path)
    ]


def test_no_list_of_operations_stands_beside_them() -> None:
    assert not places()

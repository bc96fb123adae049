"""Whatever has a name is used."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .sources import nodes

ROOT = Path(__file__).parent.parent
FOLDERS = ("ir", "passes", "codegen", "runtime", "frontend", "tools")
FILES = [
    *sorted((ROOT / "gravure").glob("*.py")),
    *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))),
]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

PUBLIC = (
    *("frontend/array/", "frontend/tf/", "frontend/keras/backend/"),
    "frontend/values/run_errors.py",
)
"""Folders and files whose names others ask for, after the array API, TensorFlow and Keras."""
FOUND = ("ir/ops/", "frontend/onnx/rules/", "passes/")
"""Folders whose classes and functions are found by their kind or their name."""
FOR_OTHERS = {
    "graph_text": "a graph as text: row A12",
    "loops_context": "reads text of the level loops",
    "run_ranks": "ranks as threads, for programs and tests",
    "register_tensor_conversion_function": "a name of TensorFlow's",
}
"""Names that nothing of ours uses, and who does."""


def prose(every: list[ast.AST]) -> set[ast.AST]:
    """Return the parts of a file that name things without using them."""
    found: set[ast.AST] = set()
    for node in every:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(node.value)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            found.update(nodes(node.value))
    return found


def uses(tree: ast.AST) -> Iterator[str]:
    """Give the names that code reads: as a variable, an attribute, a keyword, or in a string."""
    every = nodes(tree)
    aside = prose(every)
    for node in every:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in aside:
            yield from re.findall(r"[A-Za-z_]\w*", node.value)


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Give the functions, classes and constants of a file; not those that a decorator keeps."""
    for node in tree.body:
        if isinstance(node, Definition):
            if all(ast.unparse(each).startswith("dataclass") for each in node.decorator_list):
                yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, node) for each in targets if isinstance(each, ast.Name))


def own_uses(name: str, node: ast.stmt) -> int:
    """Return how often a function or class uses itself."""
    if not isinstance(node, Definition):
        return 0
    named = (n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in nodes(node))
    return sum(each == name for each in named)


class Defined(NamedTuple):
    """A function, class or constant, and how often its own text names it."""

    place: str
    line: int
    name: str
    own: int


def defined_in(place: str, tree: ast.Module) -> Iterator[Defined]:
    """Give what is to be used of what a file defines."""
    if place.startswith(PUBLIC):
        return
    for name, node in definitions(tree):
        is_found = isinstance(node, Definition) and place.startswith(FOUND)
        if not is_found and not name.startswith("__"):
            yield Defined(place, node.lineno, name, own_uses(name, node))


def test_whatever_is_defined_is_used() -> None:
    used: Counter[str] = Counter()
    defined: list[Defined] = []
    for path in FILES:  # trees of all at once would be for Python to sweep again and again
        tree = ast.parse(path.read_text())
        used.update(uses(tree))
        defined += defined_in(path.relative_to(ROOT).as_posix(), tree)
    unused = {d.name: f"{d.place}:{d.line}" for d in defined if used[d.name] <= d.own}
    assert unused.keys() == FOR_OTHERS.keys(), unused

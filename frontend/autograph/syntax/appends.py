"""`values.append(x)` in loops, said as an assignment: so a loop carries the list.

What is appended to is a list of Python's until a loop of a graph changes it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from .jumps import placed_new, runtime
from .names import own_nodes


class Append(ast.Assign):
    """An assignment that stands for an append."""


class Appends(ast.NodeTransformer):
    """Rewrites the appends to a function's own names that stand in its loops."""

    def __init__(self, own: Collection[str]) -> None:
        self.own, self.depth = own, 0

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self.depth += 1
        made = self.generic_visit(node)
        self.depth -= 1
        return made

    visit_For = visit_While = _loop

    def _nested(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _nested

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Rewrite a statement that appends."""
        match node.value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append"),
                args=[value],
                keywords=[],
            ) if self.depth and name in self.own and not isinstance(value, ast.Starred):
                call = runtime("append", ast.Name(name, ast.Load()), value)
                return placed_new(Append([ast.Name(name, ast.Store())], call), node)
        return node


def appended_names(body: Iterable[ast.stmt]) -> list[str]:
    """Return the names that statements append to."""
    found: dict[str, None] = {}
    for node in own_nodes(body):
        if isinstance(node, Append):
            found.update((t.id, None) for t in node.targets if isinstance(t, ast.Name))
    return list(found)

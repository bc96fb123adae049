"""Names as Python makes them inside of a class.

`self.__x` is `self._Owner__x`, `super()` has its class and its object: a function that stands
alone does not know its class any more.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from .jumps import placed
from .sources import mangled

Scoped = TypeVar("Scoped", ast.Global, ast.Nonlocal)


class Private(ast.NodeTransformer):
    """Writes out what a function's class stands for."""

    def __init__(self, owner: str, parameters: list[str]) -> None:
        self.owner = owner
        self.first = parameters[0] if parameters else ""

    def name(self, name: str) -> str:
        """Return a name as it is in the class."""
        return mangled(name, self.owner)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Write a name out."""
        node.id = self.name(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Write an attribute out."""
        node.attr = self.name(node.attr)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Write a parameter out."""
        node.arg = self.name(node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Write a nested function out."""
        node.name = self.name(node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave what has a class of its own."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Write `super()` out."""
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        if is_super and not node.args and self.first:
            node.args = [ast.Name("__class__", ast.Load()), ast.Name(self.first, ast.Load())]
            for each in node.args:
                placed(each, node)
        return node

    def _names(self, node: Scoped) -> Scoped:
        node.names = [self.name(n) for n in node.names]
        return node

    visit_Global = visit_Nonlocal = _names

"""Expressions: calls, `and`, `or`, `not`, `a if c else b` and chains of comparisons.

What Python evaluates only sometimes becomes a lambda. Where such a part writes a name (`:=`), it
becomes a function that is defined before the statement, for a lambda cannot write.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol, TypeVar

from .jumps import RuntimeCall, placed_new, runtime, thunk
from .names import own_nodes, uses_of

LEFT = {"super", "locals", "globals", "vars", "eval", "exec", "dir"}
"""Functions that look at who calls them."""
OPERATORS = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Is: "is_", ast.IsNot: "is_not", ast.In: "contained", ast.NotIn: "not_contained",
}  # fmt: skip
N = TypeVar("N", bound=ast.AST)


class Pieces(Protocol):
    """Who makes functions of pieces of code."""

    def piece(
        self, what: str, body: Sequence[ast.stmt], like: ast.AST, writes: Sequence[str]
    ) -> ast.FunctionDef:
        """Return a function of a piece, which writes some names."""


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of a function."""

    def __init__(self, rewriter: Pieces) -> None:
        self.rewriter = rewriter
        self.before: list[ast.stmt] | None = None

    def rewritten(self, node: N, before: list[ast.stmt] | None) -> N:
        """Rewrite a node; `before` takes what must be defined before it, where that can be."""
        outer, self.before = self.before, before
        try:
            made: N = self.visit(node)
            return made
        finally:
            self.before = outer

    def _elsewhere(self, node: N) -> N:
        """Rewrite a part whose scope is another one."""
        outer, self.before = self.before, None
        try:
            self.generic_visit(node)
            return node
        finally:
            self.before = outer

    def later(self, node: ast.expr) -> ast.expr | None:
        """Return a part as a function of nothing; None where that cannot be."""
        writes = uses_of([node]).writes
        if not writes:
            return placed_new(thunk(self.visit(node)), node)
        if self.before is None:
            return None
        inner: list[ast.stmt] = []
        value = self.rewritten(node, inner)
        result = placed_new(ast.Return(value), node)
        piece = self.rewriter.piece("part", [*inner, result], node, list(writes))
        self.before.append(piece)
        return ast.copy_location(ast.Name(piece.name, ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Let the runtime say what is called."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "super" and not node.args:
            return node
        self.generic_visit(node)
        if name in LEFT:
            return node
        node.func = placed_new(runtime("called", node.func), node.func)
        return node

    def visit_RuntimeCall(self, node: RuntimeCall) -> RuntimeCall:
        """Leave calls of the runtime."""
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Let the runtime join conditions; all but the first are evaluated when they count."""
        if own_yields(node):
            return self.generic_visit(node)
        rest = [self.later(value) for value in node.values[1:]]
        first = self.visit(node.values[0])
        if any(each is None for each in rest):
            kept = [first, *(self._elsewhere_expr(value) for value in node.values[1:])]
            return ast.copy_location(ast.BoolOp(node.op, kept), node)
        what = "and_" if isinstance(node.op, ast.And) else "or_"
        return placed_new(runtime(what, first, *[e for e in rest if e is not None]), node)

    def _elsewhere_expr(self, node: ast.expr) -> ast.expr:
        outer, self.before = self.before, None
        try:
            made: ast.expr = self.visit(node)
            return made
        finally:
            self.before = outer

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Let the runtime negate."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return placed_new(runtime("not_", node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Let the runtime join the comparisons of a chain."""
        if len(node.ops) == 1:
            return self.generic_visit(node)
        rest = [self.later(value) for value in node.comparators]
        if any(each is None for each in rest):
            return self.generic_visit(node)
        links: list[ast.expr] = [
            ast.Tuple([ast.Constant(OPERATORS[type(op)]), each], ast.Load())
            for op, each in zip(node.ops, rest, strict=True)
            if each is not None
        ]
        return placed_new(runtime("chain", self.visit(node.left), *links), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Let the runtime choose."""
        text = ast.Constant(ast.unparse(node.test))
        yes, no = self.later(node.body), self.later(node.orelse)
        if yes is None or no is None:
            return self._elsewhere(node)
        return placed_new(runtime("if_exp", self.visit(node.test), yes, no, text), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite a lambda, unless it yields."""
        if own_yields(node.body):
            return node
        node.args = self._elsewhere(node.args)
        node.body = self._elsewhere_expr(node.body)
        return node

    def _comprehension(self, node: ast.AST) -> ast.AST:
        return self._elsewhere(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave what is defined before a statement, which is rewritten already."""
        return node


def own_yields(node: ast.AST) -> bool:
    """Say whether an expression yields or waits itself."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in own_nodes([node]))

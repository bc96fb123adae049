"""Which names are still read behind a statement: backward over blocks that have one way out.

Loops go round until nothing is new. What an exception handler reads is live all through the
block that it guards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .jumps import ForLoop, WhileLoop
from .names import Uses, free_uses, own_nodes, uses_of

Names = frozenset[str]
NONE: Names = frozenset()


class Liveness:
    """Answers for one function whose jumps are flags."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._known: dict[int, Uses] = {}
        self._kept: list[ast.AST] = []
        self.closures = closures_of(body)

    def uses(self, node: ast.AST) -> Uses:
        """Return what a node uses; the name of a nested function stands for what that one uses."""
        if id(node) not in self._known:
            found = uses_of([node])
            for name in list(found.reads):
                if name in self.closures:
                    found.add(self.closures[name])
            self._known[id(node)] = found
            self._kept.append(node)
        return self._known[id(node)]

    def reads(self, nodes: Iterable[ast.AST | None]) -> Names:
        """Return what nodes read."""
        return frozenset(n for node in nodes if node is not None for n in self.uses(node).reads)

    def writes(self, nodes: Iterable[ast.AST]) -> dict[str, None]:
        """Return what nodes write, in order."""
        return {name: None for node in nodes for name in self.uses(node).writes}

    def block(self, body: Sequence[ast.stmt], after: Names, caught: Names = NONE) -> Names:
        """Return what is live before statements."""
        for statement in reversed(body):
            after = self.before(statement, after, caught) | caught
        return after

    def before(self, node: ast.stmt, after: Names, caught: Names = NONE) -> Names:
        """Return what is live before a statement, of what is live behind it."""
        match node:
            case ast.If():
                ways = self.block(node.body, after, caught) | self.block(node.orelse, after, caught)
                return ways | self.reads([node.test])
            case ast.While() | ast.For():
                return self.head(node, after, caught) | self.reads([getattr(node, "iter", None)])
            case ast.With():
                inner = self.block(node.body, after, caught)
                return (inner - self._kills(*_vars(node))) | self.reads(node.items)
            case ast.Try():
                return self._try(node, after, caught)
            case ast.Match():
                cases = [self.block(case.body, after, caught) for case in node.cases]
                parts = [part for c in node.cases for part in (c.pattern, c.guard)]
                return after.union(*cases) | self.reads([node.subject, *parts])
        return (after - self._kills(node)) | self.reads([node])

    def head(self, node: ast.While | ast.For, after: Names, caught: Names = NONE) -> Names:
        """Return what is live where a loop begins another turn."""
        flags = frozenset(node.exits if isinstance(node, WhileLoop | ForLoop) else ())
        live = after | flags | self.reads([getattr(node, "test", None)])
        kills = self._kills(node.target) if isinstance(node, ast.For) else NONE
        while True:
            found = live | (self.block(node.body, live, caught) - kills)
            if found == live:
                return live
            live = found

    def handled(self, node: ast.Try, after: Names, caught: Names) -> Names:
        """Return what is live all through the body of a `try`."""
        last = self.block(node.finalbody, after, caught)
        ways = [self.block(h.body, last, caught | last) for h in node.handlers]
        return caught.union(last, *ways) | self.reads([h.type for h in node.handlers])

    def _try(self, node: ast.Try, after: Names, caught: Names) -> Names:
        handled = self.handled(node, after, caught)
        last = self.block(node.finalbody, after, caught)
        return self.block(node.body, self.block(node.orelse, last, handled), handled)

    def _kills(self, *nodes: ast.AST) -> Names:
        """Return the names that are written whatever they were."""
        return frozenset(n for n in uses_of(nodes).writes if n.isidentifier())


def _vars(node: ast.With) -> list[ast.expr]:
    return [item.optional_vars for item in node.items if item.optional_vars is not None]


def closures_of(body: Sequence[ast.stmt]) -> dict[str, Uses]:
    """Return what nested functions use of what is around, by the names that they have."""
    found: dict[str, Uses] = {}
    for node in own_nodes(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.setdefault(node.name, Uses()).add(free_uses(node))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, Uses()).add(free_uses(node.value))
    changed = True
    while changed:
        sizes = {name: len(uses.reads) + len(uses.writes) for name, uses in found.items()}
        for uses in found.values():
            for other in [n for n in uses.reads if n in found]:
                uses.add(found[other])
        changed = any(len(u.reads) + len(u.writes) != sizes[n] for n, u in found.items())
    return found

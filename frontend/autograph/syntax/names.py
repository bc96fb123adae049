"""Which names a piece of a function reads and writes.

Names are those of the function's own scope: parameters of lambdas and targets of comprehensions
are left out. A chain like `self.total` or `state['k']` that is assigned to is a name as well
(`composite`). A nested function reads what it takes from around; whoever reads its name does so
too, for it may be called there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Uses:
    """What is read, what is written, in the order of the first time."""

    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    composite: dict[str, ast.expr] = field(default_factory=dict)
    """Of the writes, those that are no plain names: how they are written."""

    def add(self, other: Uses) -> None:
        """Take over what another piece uses."""
        self.reads.update(other.reads)
        self.writes.update(other.writes)
        self.composite.update(other.composite)


def composite_name(node: ast.expr) -> str:
    """Return `self.total` for such a chain that can be assigned to, else an empty text."""
    inner = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        if isinstance(inner, ast.Subscript) and not isinstance(
            inner.slice, ast.Constant | ast.Name
        ):
            return ""
        inner = inner.value
    return ast.unparse(node) if isinstance(inner, ast.Name) and inner is not node else ""


class Collector(ast.NodeVisitor):
    """Collects the uses below a node, in the scope that it stands in."""

    def __init__(self) -> None:
        self.uses = Uses()
        self.hidden: list[set[str]] = []
        """Names that belong to comprehensions around."""

    def read(self, name: str) -> None:
        """Take note of a name that is read."""
        if not any(name in names for names in self.hidden):
            self.uses.reads[name] = None

    def write(self, name: str) -> None:
        """Take note of a name that is written."""
        self.uses.writes[name] = None

    def visit_Name(self, node: ast.Name) -> None:
        """Take note of a name."""
        if isinstance(node.ctx, ast.Load):
            self.read(node.id)
        elif not any(node.id in names for names in self.hidden):
            self.write(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """Take note of a name that an expression writes: in the function, wherever it stands."""
        self.visit(node.value)
        self.write(node.target.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Take note of an attribute that is written."""
        self._composite(node, node.ctx)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Take note of an element that is written."""
        self._composite(node, node.ctx)
        self.visit(node.value)
        self.visit(node.slice)

    def _composite(self, node: ast.expr, context: ast.expr_context) -> None:
        name = composite_name(node)
        if not name:
            return
        if isinstance(context, ast.Load):
            self.read(name)
        else:
            self.write(name)
            self.uses.composite[name] = node

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Take note of a target that is read, then written."""
        self.visit(node.target)
        target = node.target
        name = target.id if isinstance(target, ast.Name) else composite_name(target)
        if name:
            self.read(name)
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Take note of a nested function's name, and of what it takes from around."""
        for part in (*node.decorator_list, *outside(node.args)):
            self.visit(part)
        self._closure(node)
        self.write(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Take note of what a lambda takes from around."""
        for part in outside(node.args):
            self.visit(part)
        self._closure(node)

    def _closure(self, node: Scope) -> None:
        found = free_uses(node)
        for name in (*found.reads, *found.writes):
            self.read(name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Take note of a class's name, and of all that its body may take from around."""
        inner = uses_of([*node.bases, *node.keywords, *node.decorator_list, *node.body])
        for name in inner.reads:
            self.read(name)
        self.write(node.name)

    def _comprehension(self, node: Comprehension) -> None:
        targets = uses_of([each.target for each in node.generators]).writes
        self.visit(node.generators[0].iter)
        self.hidden.append(set(targets))
        for each in node.generators[1:]:
            self.visit(each.iter)
        for each in node.generators:
            for test in each.ifs:
                self.visit(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            self.visit(part)
        self.hidden.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Take note of the name of what is caught."""
        if node.name:
            self.write(node.name)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Take note of what is imported."""
        for alias in node.names:
            self.write(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        """Take note of the name that a pattern gives."""
        if node.name:
            self.write(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """Take note of the name that the rest of a mapping gets."""
        if node.rest:
            self.write(node.rest)
        self.generic_visit(node)


def outside(arguments: ast.arguments) -> list[ast.AST]:
    """Return the parts of a signature that are evaluated where the function is made."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    notes = [a.annotation for a in (*named, *rest) if a.annotation is not None]
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None), *notes]


def uses_of(nodes: Iterable[ast.AST]) -> Uses:
    """Return what nodes use in the scope that they stand in."""
    collector = Collector()
    for node in nodes:
        collector.visit(node)
    return collector.uses


def declared(body: Sequence[ast.AST], kind: type[ast.Global | ast.Nonlocal]) -> set[str]:
    """Return the names that a function's body declares to be of another scope."""
    found: set[str] = set()
    for node in own_nodes(body):
        if isinstance(node, kind):
            found.update(node.names)
    return found


def own_nodes(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """Give all nodes below some that are not of a nested function or class."""
    for node in body:
        yield node
        if not isinstance(node, Scope | ast.ClassDef):
            yield from own_nodes(ast.iter_child_nodes(node))


def bound_names(node: Scope) -> set[str]:
    """Return the names that are a function's own."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    names = {a.arg for a in (*named, *rest)}
    if isinstance(node, ast.Lambda):
        return names | {n for n in uses_of([node.body]).writes if n.isidentifier()}
    writes = {name for name in uses_of(node.body).writes if name.isidentifier()}
    others = declared(node.body, ast.Global) | declared(node.body, ast.Nonlocal)
    return (names | writes) - others


def free_uses(node: Scope) -> Uses:
    """Return what a nested function takes from around, and what it writes there."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    found, own = uses_of(body), bound_names(node)
    roots = {name: name.split(".")[0].split("[")[0] for name in (*found.reads, *found.writes)}
    outer = declared(body, ast.Nonlocal) | declared(body, ast.Global)
    return Uses(
        {name: None for name in found.reads if roots[name] not in own},
        {name: None for name in found.writes if name in outer},
    )


def parameters_of(node: Scope) -> list[str]:
    """Return the names of a function's parameters by position."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]

"""A function's tree with its choices, loops, calls and conditions handed to the runtime.

    if x > 0:                 def body(): nonlocal y; y = x
        y = x                 def orelse(): nonlocal y; y = -x
    else:               =>    def get(): return (ag__.load(lambda: y, 'y'),)
        y = -x                def put(values): nonlocal y; ...
                              ag__.if_stmt(x > 0, body, orelse, get, put, ('y',), 1, ())

Variables stay variables of the function: where nothing is a tensor, the pieces run in the order
and with the meaning that they had. Every new node has the line of what it stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import deepcopy
from typing import TypeVar

from ....trees import expression_of, module_of
from .appends import Appends, appended_names
from .expressions import Expressions
from .jumps import Choice, ForLoop, Jumps, WhileLoop, placed, placed_new, runtime, thunk
from .liveness import NONE, Liveness, Names
from .loop_options import taken_options
from .names import bound_names, composite_name, declared, own_nodes, uses_of
from .python_tests import is_python

PREFIX = "ag__"
N = TypeVar("N", bound=ast.AST)


class Rewriter:
    """Rewrites one function, and those nested in it."""

    def __init__(self, numbers: list[int] | None = None) -> None:
        self.numbers = numbers if numbers is not None else [0]
        self.expressions = Expressions(self)
        self.live = Liveness([])
        self.globals: set[str] = set()
        self.outer: set[str] = set()
        self.own: set[str] = set()
        self.moved: dict[str, None] = {}
        """Names that pieces write, which must be names of the function."""

    def name(self, what: str) -> str:
        """Return a name that no user has."""
        self.numbers[0] += 1
        return f"{PREFIX}{what}_{self.numbers[0]}"

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        self.globals = declared(node.body, ast.Global)
        self.outer = declared(node.body, ast.Nonlocal)
        self.own = bound_names(node)
        parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        document = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        appending = Appends(self.own)
        body = [appending.visit(each) for each in node.body[len(document) :]]
        body = Jumps(names | parameters).function(body)
        self.own |= (
            {n for n in uses_of(body).writes if n.isidentifier()} - self.globals - self.outer
        )
        self.live = Liveness(body)
        made = self.block(body, frozenset(self.globals | self.outer))
        first = [
            statement
            for names, kind in ((self.globals, ast.Global), (self.outer, ast.Nonlocal))
            if names
            for statement in [kind(sorted(names))]
        ]
        bound = [
            ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), None, 1)
            for name in self.moved
            if name in self.own and name not in parameters
        ]
        head = [placed(each, node.body[0]) for each in (*first, *bound)]
        node.body = [*document, *head, *made] or [placed(ast.Pass(), node)]
        return node

    def block(self, body: Sequence[ast.stmt], after: Names, caught: Names = NONE) -> list[ast.stmt]:
        """Rewrite statements, behind which some names are live."""
        made: list[list[ast.stmt]] = []
        for node in reversed(body):
            before = self.live.before(node, after, caught) | caught
            made.append(self.statement(node, after, caught))
            after = before
        found = [each for statements in reversed(made) for each in statements]
        return found or [placed(ast.Pass(), body[0])] if body else []

    def statement(self, node: ast.stmt, after: Names, caught: Names) -> list[ast.stmt]:
        """Rewrite one statement."""
        match node:
            case ast.If():
                return self._choice(node, after, caught)
            case ast.While():
                return self._while(node, after, caught)
            case ast.For():
                return self._for(node, after, caught)
            case ast.With() | ast.Try() | ast.Match():
                return self._kept(node, after, caught)
            case ast.FunctionDef():
                return [self.nested(node)]
            case ast.AsyncFunctionDef() | ast.ClassDef():
                return [node]
            case ast.Global() | ast.Nonlocal():
                return []
            case ast.Assert():
                return self._assert(node)
        [made], before = self.expression([node])
        return [*before, made]

    def nested(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite a nested function, unless it is one that stays as it is."""
        decorators = [self.inside(d) for d in node.decorator_list]
        node = deepcopy(node)
        if not is_generator(node) and not any(map(is_opted_out, node.decorator_list)):
            Rewriter(self.numbers).function(node)
        node.decorator_list = decorators
        return node

    def expression(self, nodes: Sequence[N]) -> tuple[list[N], list[ast.stmt]]:
        """Rewrite expressions; what must be defined before them comes second."""
        before: list[ast.stmt] = []
        made = [self.expressions.rewritten(deepcopy(node), before) for node in nodes]
        return made, before

    def inside(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression that stands where nothing can be defined before it."""
        made: ast.expr = self.expressions.rewritten(deepcopy(node), None)
        return made

    def _assert(self, node: ast.Assert) -> list[ast.stmt]:
        [test], before = self.expression([node.test])
        message = [] if node.msg is None else [thunk(self.inside(node.msg))]
        return [*before, placed_new(ast.Expr(runtime("assert_stmt", test, *message)), node)]

    # Blocks that stay what they are.

    def _kept(
        self, node: ast.With | ast.Try | ast.Match, after: Names, caught: Names
    ) -> list[ast.stmt]:
        if isinstance(node, ast.Try):
            return [self._try(node, after, caught)]
        if isinstance(node, ast.Match):
            return self._match(node, after, caught)
        items, before = self.expression(node.items)
        inner = self.block(node.body, after, caught)
        return [*before, ast.copy_location(ast.With(items, inner), node)]

    def _try(self, node: ast.Try, after: Names, caught: Names) -> ast.Try:
        handled = self.live.handled(node, after, caught)
        last = self.live.block(node.finalbody, after, caught)
        orelse = self.live.block(node.orelse, last, handled)
        handlers = []
        for handler in node.handlers:
            body = self.block(handler.body, last, caught | last)
            kept = ast.ExceptHandler(handler.type, handler.name, body)
            handlers.append(ast.copy_location(kept, handler))
        body = self.block(node.body, orelse, handled)
        made = ast.Try(
            body or [placed(ast.Pass(), node)],
            handlers,
            self.block(node.orelse, last, handled),
            self.block(node.finalbody, after, caught),
        )
        return ast.copy_location(made, node)

    def _match(self, node: ast.Match, after: Names, caught: Names) -> list[ast.stmt]:
        [subject], before = self.expression([node.subject])
        cases = [
            ast.match_case(
                case.pattern,
                None if case.guard is None else self.inside(case.guard),
                self.block(case.body, after, caught),
            )
            for case in node.cases
        ]
        return [*before, ast.copy_location(ast.Match(subject, cases), node)]

    # Pieces.

    def state(self, writes: Sequence[str], live: Names, blocks: Sequence[ast.AST]) -> list[str]:
        """Return the names that pieces write and that others look at, plain ones and chains."""
        plain = [n for n in writes if n.isidentifier() and n in live and self.is_own(n)]
        found = uses_of(blocks).composite
        chains = []
        for name, node in found.items():
            used = uses_of([node]).reads
            roots = {n for n in used if n.isidentifier()}
            if not roots & set(writes):
                chains.append(name)
        return [*plain, *chains]

    def is_own(self, name: str) -> bool:
        """Say whether a name is the function's, or one that it declares to be of another scope."""
        return name in self.own or name in self.globals or name in self.outer

    def declarations(self, names: Sequence[str], like: ast.AST) -> list[ast.stmt]:
        """Return what a piece says first, which writes these names."""
        made: list[ast.stmt] = []
        plain = [n for n in names if n.isidentifier() and self.is_own(n)]
        self.moved.update(dict.fromkeys(plain))
        outer = [n for n in plain if n not in self.globals]
        if outer:
            made.append(placed(ast.Nonlocal(outer), like))
        if others := [n for n in plain if n in self.globals]:
            made.append(placed(ast.Global(others), like))
        return made

    def piece(
        self,
        what: str,
        body: Sequence[ast.stmt],
        like: ast.AST,
        writes: Sequence[str] = (),
        parameter: str = "",
    ) -> ast.FunctionDef:
        """Return a function of a piece."""
        args = [ast.arg(parameter)] if parameter else []
        head = self.declarations(writes, like)
        arguments = ast.arguments([], args, None, [], [], None, [])
        statements = [*head, *(body or [ast.Pass()])]
        made = ast.FunctionDef(self.name(what), arguments, statements, [])
        return placed_new(made, like)

    def access(self, names: Sequence[str], like: ast.AST) -> list[ast.FunctionDef]:
        """Return functions that read and write the state."""
        loads = [runtime("load", thunk(expression_of(n)), ast.Constant(n)) for n in names]
        get = self.piece("get", [ast.Return(ast.Tuple(list(loads), ast.Load()))], like)
        values = f"{PREFIX}values"
        lines = [line for i, name in enumerate(names) for line in _stored(name, f"{values}[{i}]")]
        body = module_of("\n".join(lines)).body
        put = self.piece("put", [placed(x, like) for x in body], like, names, values)
        return [placed(get, like), put]

    def call(
        self, what: str, parts: Sequence[ast.expr], functions: Sequence[ast.FunctionDef],
        names: Sequence[str], more: Sequence[ast.expr], like: ast.AST,
    ) -> list[ast.stmt]:  # fmt: skip
        """Return functions, and the call of the runtime with them."""
        given: list[ast.expr] = [ast.Name(f.name, ast.Load()) for f in functions]
        listed = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        call = placed_new(ast.Expr(runtime(what, *parts, *given, listed, *more)), like)
        return [*functions, call]

    def _choice(self, node: ast.If, after: Names, caught: Names) -> list[ast.stmt]:
        [test], before = self.expression([node.test])
        body, orelse = self.block(node.body, after, caught), self.block(node.orelse, after, caught)
        if is_python(node.test, self.own):
            return [*before, ast.copy_location(ast.If(test, body, orelse), node)]
        parts = [*node.body, *node.orelse]
        writes = list(self.live.writes(parts))
        inside = self.live.block(node.body, after, caught) | self.live.block(
            node.orelse, after, caught
        )
        kept = self.state(writes, after | caught, parts)
        rest = [n for n in writes if n not in kept and n in inside and self.is_own(n)]
        functions = [
            self.piece("body", body, node, list(self.live.writes(node.body))),
            self.piece("orelse", orelse, node, list(self.live.writes(node.orelse))),
            *self.access([*kept, *rest], node),
        ]
        jumping = node.jumping if isinstance(node, Choice) else ()
        more: list[ast.expr] = [
            ast.Constant(len(kept)),
            ast.Tuple([ast.Constant(n) for n in sorted(jumping)], ast.Load()),
        ]
        made = self.call("if_stmt", [test], functions, [*kept, *rest], more, node)
        return [*before, *made]

    def _while(self, node: ast.While, after: Names, caught: Names) -> list[ast.stmt]:
        options, body = taken_options(node.body, self.inside)
        head = self.live.head(node, after, caught)
        writes = list(self.live.writes([*body, node.test]))
        names = self.state(writes, head | caught, [*body, node.test])
        [test], before = self.expression([node.test])
        result = placed_new(ast.Return(test), node.test)
        functions = [
            self.piece("test", [*before, result], node, list(self.live.writes([node.test]))),
            self.piece("body", self.block(body, head, caught), node, list(self.live.writes(body))),
            *self.access(names, node),
        ]
        more = [options, self.lists(body)]
        return self.call("while_stmt", [self.exit(node, functions)], functions, names, more, node)

    def lists(self, body: Sequence[ast.stmt]) -> ast.expr:
        """Return the names that a loop appends to."""
        return ast.Tuple([ast.Constant(name) for name in appended_names(body)], ast.Load())

    def _for(self, node: ast.For, after: Names, caught: Names) -> list[ast.stmt]:
        options, body = taken_options(node.body, self.inside)
        [values], before = self.expression([node.iter])
        head = self.live.head(node, after, caught)
        writes = list(self.live.writes([node.target, *body]))
        names = self.state(writes, head | caught, [node.target, *body])
        item = f"{PREFIX}item"
        target = ast.Assign([node.target], ast.Name(item, ast.Load()))
        functions = [
            self.piece(
                "body",
                [placed_new(target, node), *self.block(body, head, caught)],
                node,
                writes,
                item,
            ),
            *self.access(names, node),
        ]
        given, more = [values, self.exit(node, functions)], [options, self.lists(body)]
        made = self.call("for_stmt", given, functions, names, more, node)
        return [*before, *made]

    def exit(self, node: ast.While | ast.For, functions: Sequence[ast.FunctionDef]) -> ast.expr:
        """Return what says whether a loop was left, None where it cannot be."""
        flags = node.exits if isinstance(node, WhileLoop | ForLoop) else ()
        if not flags:
            return ast.Constant(None)
        names: list[ast.expr] = [thunk(ast.Name(flag, ast.Load())) for flag in flags]
        return placed_new(ast.Tuple(names, ast.Load()), node)


def _stored(name: str, value: str) -> list[str]:
    """Return lines that give a name a value, or take its value away."""
    if name.isidentifier():
        return [f"{name} = {value}", f"if ag__.is_undefined({name}): del {name}"]
    return [
        f"if not ag__.is_undefined({value}): {name} = {value}",
        f"elif not ag__.is_undefined(ag__.load(lambda: {name}, '')): del {name}",
    ]


def is_generator(node: ast.AST) -> bool:
    """Say whether a function yields."""
    body = [node.body] if isinstance(node, ast.Lambda) else getattr(node, "body", [])
    return any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in own_nodes(body))


def is_opted_out(decorator: ast.expr) -> bool:
    """Say whether a decorator asks that a function is not converted."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = composite_name(function) if isinstance(function, ast.Attribute) else ""
    plain = function.id if isinstance(function, ast.Name) else name.rpartition(".")[2]
    if plain == "do_not_convert":
        return True
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return any(
        k.arg == "autograph" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in keywords
    )

"""`break`, `continue`, `return` and a loop's `else` said by flags, so that blocks have one way out.

    while a:                       break_ = False
        if b:                      while a, ended by break_:
            break          =>          if b:
        c                                  break_ = True
                                       else:
                                           c

What follows a branch that always jumps moves into the other branch; what follows one that may
have jumped is guarded by the flag. A branch that jumps is marked: what it leaves undefined is not
looked at behind it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .names import own_nodes

RUNTIME = "ag__"
"""The name that converted code knows its runtime by."""
RESULT = f"{RUNTIME}result"
"""The variable that a function's result is in."""
Node = TypeVar("Node", bound=ast.AST)
MOST_COPIES = 63
"""So often statements behind a choice are in both branches, for a `with` in it that jumps."""


class UnsupportedSyntaxError(Exception):
    """A function holds what has no form in a graph."""


@dataclass
class LoopFlags:
    """The flags of the loop that a statement is in."""

    broken: str
    continued: str
    used: dict[str, None] = field(default_factory=dict)


@dataclass
class Block:
    """Statements, the flags that they may set, and whether they always jump."""

    body: list[ast.stmt] = field(default_factory=list)
    flags: dict[str, None] = field(default_factory=dict)
    always: bool = False


class Choice(ast.If):
    """An `if` of which it is known which branches always jump: `body`, `orelse`."""

    jumping: frozenset[str] = frozenset()


class WhileLoop(ast.While):
    """A `while` that flags end, too."""

    exits: tuple[str, ...] = ()


class ForLoop(ast.For):
    """A `for` that flags end, too."""

    exits: tuple[str, ...] = ()


def always_jumps(body: Sequence[ast.stmt]) -> bool:
    """Say whether no way leads through statements; an exception is none that counts."""
    for node in body:
        if isinstance(node, ast.Break | ast.Continue | ast.Return):
            return True
        if isinstance(node, ast.If) and always_jumps(node.body) and always_jumps(node.orelse):
            return True
    return False


def jumps_but_for_errors(body: Sequence[ast.stmt]) -> bool:
    """Say whether no way leads through statements, if no `with` keeps an exception to itself."""
    for node in body:
        if isinstance(node, ast.With) and jumps_but_for_errors(node.body):
            return True
        if isinstance(node, ast.If) and all(map(jumps_but_for_errors, (node.body, node.orelse))):
            return True
    return always_jumps(body)


def test_of_none(flags: Sequence[str], like: ast.AST) -> ast.expr:
    """Return the expression that says that no flag is set."""
    names: list[ast.expr] = [ast.Name(flag, ast.Load()) for flag in flags]
    joined = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
    return placed(ast.UnaryOp(ast.Not(), joined), like)


def placed(node: Node, like: ast.AST) -> Node:
    """Give all parts of a new node the place of another one."""
    for each in ast.walk(node):
        located(each, like)
    return node


def placed_new(node: Node, like: ast.AST) -> Node:
    """Give those parts of a new node the place of another one that have none."""
    for each in ast.walk(node):
        if not hasattr(each, "lineno"):
            located(each, like)
    return node


def located(node: ast.AST, like: ast.AST) -> None:
    """Give a node the place where another one begins: of one on several lines, its first line."""
    if "lineno" not in node._attributes:
        return
    ast.copy_location(node, like)
    if getattr(like, "end_lineno", None) != getattr(like, "lineno", None):
        spot = vars(like)
        vars(node).update(end_lineno=spot["lineno"], end_col_offset=spot["col_offset"])


class RuntimeCall(ast.Call):
    """A call of what carries out converted code, which is not converted itself."""


def runtime(name: str, *args: ast.expr) -> RuntimeCall:
    """Return a call of a function of the runtime."""
    return RuntimeCall(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), [*args], [])


def thunk(value: ast.expr) -> ast.Lambda:
    """Return an expression as a function of nothing."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


def choice(
    test: ast.expr,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    jumping: Sequence[str],
    like: ast.AST,
) -> Choice:
    """Return a choice that stands at the place of another node."""
    made = Choice(test, body or [placed(ast.Pass(), like)], orelse)
    made.jumping = frozenset(jumping)
    return ast.copy_location(made, like)


class Jumps:
    """Rewrites the body of one function."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.returned = self.new(f"{RUNTIME}do_return")
        self.result = self.new(RESULT)
        self.lowers_returns = False
        self.copies = 0

    def new(self, base: str) -> str:
        """Return a name that the function does not have."""
        name, number = base, 1
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        return name

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return a function's body in which only the last statement returns."""
        returns = [node for node in own_nodes(body) if isinstance(node, ast.Return)]
        if not returns or (len(returns) == 1 and body[-1] is returns[0]):
            return [*self.block(body[: -1 if returns else None], None).body, *returns]
        self.lowers_returns = True
        made = self.block(body, None)
        end = made.body[-1]
        name = ast.Name(self.result, ast.Load())
        value: ast.expr = name
        if not made.always:
            value = runtime("returned", ast.Name(self.returned, ast.Load()), thunk(name))
        first = self.set(self.returned, False, body[0])
        return [first, *made.body, placed(ast.Return(value), end)]

    def set(self, name: str, value: bool | None, like: ast.AST) -> ast.stmt:
        """Return an assignment of a constant."""
        return placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), like)

    def block(self, body: Sequence[ast.stmt], loop: LoopFlags | None) -> Block:
        """Rewrite statements one after the other."""
        made = Block()
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            absorbed = self._absorbed(statement, rest) if isinstance(statement, ast.If) else None
            if absorbed is not None:
                statement, rest = absorbed, []  # noqa: PLW2901
            found = self.statement(statement, loop)
            made.body += found.body
            made.flags.update(found.flags)
            if found.always:
                made.always = True
                return made
            if absorbed is not None:
                return made
            if found.flags and rest:
                made.always = self._guard(made, found, rest, loop)
                return made
        return made

    def _absorbed(self, node: ast.If, rest: Sequence[ast.stmt]) -> ast.If | None:
        """Return a choice into which what follows it has moved, if a branch always jumps."""
        jumps = always_jumps(node.body), always_jumps(node.orelse)
        likely = jumps_but_for_errors(node.body), jumps_but_for_errors(node.orelse)
        if not any(jumps) and any(likely) and self.copies < MOST_COPIES:
            self.copies += 1  # both branches may come by what follows
            body = [*node.body, *copy.deepcopy([*rest])]
            return _with(node, body=body, orelse=[*node.orelse, *rest])
        if not any(jumps):
            return None
        body = [*node.body, *([] if jumps[0] else rest)]
        return _with(node, body=body, orelse=[*node.orelse, *([] if jumps[1] else rest)])

    def _choice(self, node: ast.If, loop: LoopFlags | None) -> Block:
        body, other = self.block(node.body, loop), self.block(node.orelse, loop)
        parts = {"body": body, "orelse": other}
        jumping = [name for name, each in parts.items() if each.always and each.flags]
        made = choice(node.test, body.body, other.body, jumping, node)
        return Block([made], body.flags | other.flags, body.always and other.always)

    def _guard(
        self, made: Block, found: Block, rest: Sequence[ast.stmt], loop: LoopFlags | None
    ) -> bool:
        """Append what runs only if nothing jumped; say whether something has jumped behind it."""
        inner = self.block(rest, loop)
        jumping = ["orelse", *(["body"] if inner.always and inner.flags else [])]
        test = test_of_none(list(found.flags), rest[0])
        made.body.append(choice(test, inner.body, [], jumping, rest[0]))
        made.flags.update(inner.flags)
        return inner.always and bool(inner.flags)

    def statement(self, node: ast.stmt, loop: LoopFlags | None) -> Block:
        """Rewrite one statement."""
        match node:
            case ast.Break():
                assert loop is not None
                loop.used[loop.broken] = None
                return Block([self.set(loop.broken, True, node)], {loop.broken: None}, True)
            case ast.Continue():
                assert loop is not None
                loop.used[loop.continued] = None
                return Block([self.set(loop.continued, True, node)], {loop.continued: None}, True)
            case ast.Return() if self.lowers_returns:
                value = node.value or placed(ast.Constant(None), node)
                result = placed(ast.Name(self.result, ast.Store()), node)
                given = ast.copy_location(ast.Assign([result], value), node)
                flag = self.set(self.returned, True, node)
                return Block([given, flag], {self.returned: None}, True)
            case ast.Raise():
                return Block([node], {}, True)
            case ast.If():
                return self._choice(node, loop)
            case ast.While() | ast.For():
                return self._loop(node)
            case ast.With():
                inner = self.block(node.body, loop)
                return Block([_with(node, body=inner.body)], inner.flags)
            case ast.Try():
                return self._try(node, loop)
            case ast.Match():
                return self._match(node, loop)
        return Block([node])

    def _loop(self, node: ast.While | ast.For) -> Block:
        loop = LoopFlags(self.new(f"{RUNTIME}break"), self.new(f"{RUNTIME}continue"))
        inner = self.block(node.body, loop)
        body, before = inner.body, []
        if loop.continued in loop.used:
            body = [self.set(loop.continued, False, node.body[0]), *body]
        ends = [flag for flag in inner.flags if flag in {loop.broken, self.returned}]
        if loop.broken in ends:
            before = [self.set(loop.broken, False, node)]
        again: WhileLoop | ForLoop
        if isinstance(node, ast.While):
            again = WhileLoop(node.test, body, [])
        else:
            again = ForLoop(node.target, node.iter, body, [])
        again.exits = tuple(ends)
        ast.copy_location(again, node)
        left = {flag: None for flag in ends if flag == self.returned}
        made = Block([*before, again], left)
        if node.orelse:
            self._loop_else(made, node.orelse, ends)
        return made

    def _loop_else(self, made: Block, orelse: list[ast.stmt], ends: Sequence[str]) -> None:
        """Append what runs behind a loop that was not left."""
        inner = self.block(orelse, None)
        if not ends:
            made.body += inner.body
        else:
            jumping = ["orelse"] if self.returned in ends else []
            test = test_of_none(ends, orelse[0])
            made.body.append(choice(test, inner.body, [], jumping, orelse[0]))
        made.flags.update(inner.flags)

    def _try(self, node: ast.Try, loop: LoopFlags | None) -> Block:
        body, last = self.block(node.body, loop), self.block(node.finalbody, loop)
        if last.flags:
            raise UnsupportedSyntaxError("a jump out of `finally`")
        orelse = Block()
        if node.orelse and body.flags:
            self._guard(orelse, body, node.orelse, loop)
        elif node.orelse:
            orelse = self.block(node.orelse, loop)
        flags = body.flags | orelse.flags
        handlers = []
        for handler in node.handlers:
            inner = self.block(handler.body, loop)
            handlers.append(_with(handler, body=inner.body))
            flags |= inner.flags
        made = _with(
            node, body=body.body, handlers=handlers, orelse=orelse.body, finalbody=last.body
        )
        return Block([made], flags)

    def _match(self, node: ast.Match, loop: LoopFlags | None) -> Block:
        cases: list[ast.match_case] = []
        flags: dict[str, None] = {}
        for case in node.cases:
            inner = self.block(case.body, loop)
            cases.append(ast.match_case(case.pattern, case.guard, inner.body))
            flags |= inner.flags
        return Block([_with(node, cases=cases)], flags)


def _with(node: Node, **parts: object) -> Node:
    """Return a node like another one with some parts replaced."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.copy_location(type(node)(**{**fields, **parts}), node)

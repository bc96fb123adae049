"""What statements of serial functions become, and what they call."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from ....target import Target
from .affine import affine_accesses
from .expressions import Expressions
from .kinds import ANY_ARRAY, ELEMENTS, INT, KINDS, ArrayRow, NumberKind, Scalar, Value

FEW = 1 << 31
"""So many times so many are less than a number of 64 bits holds."""


@dataclass
class WrittenOut:
    """A function that is being written out: where it ends, and what it gives then."""

    end: str
    rooms: Sequence[Scalar]
    is_single: bool


@cache
def parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return what a function says."""
    found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(found, ast.FunctionDef), f"{function} is no function"
    return found


class Statements(Expressions):
    """The text of one function."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.frames: list[WrittenOut] = []
        self.loops: list[tuple[str, str]] = []
        """Where each loop goes on, and where it ends."""
        self.by_statement: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self.assign,
            ast.AugAssign: self.change,
            ast.AnnAssign: self.declared,
            ast.Expr: self.expression,
            ast.If: self.branch,
            ast.While: self.loop,
            ast.For: self.count,
            ast.Return: self.give,
            ast.Break: lambda _: self.leave(self.loops[-1][1]),
            ast.Continue: lambda _: self.leave(self.loops[-1][0]),
            ast.Pass: lambda _: None,
        }

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Write statements."""
        for each in statements:
            known = self.by_statement.get(type(each))
            if known is None:
                raise self.wrong(each, "is not known in serial functions")
            known(each)

    # -- functions ------------------------------------------------------------------------

    def written_out(self, node: ast.Call) -> Value:
        """Return what another function gives, which is written out here."""
        assert isinstance(node.func, ast.Name)
        target = self.globals.get(node.func.id)
        function = getattr(target, "function", target)
        if not inspect.isfunction(function):
            raise self.wrong(node, "is not known in serial functions")
        return self.inside(function, [self.value(x) for x in node.args])

    def inside(self, function: Callable[..., Any], given: Sequence[Value]) -> Value:
        """Return what a function gives for values."""
        if any(frame.end.startswith(f"end.{function.__name__}.") for frame in self.frames):
            raise TypeError(f"{function.__name__} calls itself")
        read, label = parsed(function), self.text.fresh_label()
        names = inspect.get_annotations(function)
        gives = ast.parse(str(names["return"]), mode="eval").body
        kinds = gives.slice.elts if isinstance(gives, ast.Subscript) else [gives]  # type: ignore[attr-defined]
        rooms = [Scalar(self.room(kind), kind) for kind in (KINDS[ast.unparse(x)] for x in kinds)]
        frame = WrittenOut(
            f"end.{function.__name__}.{label}", rooms, not isinstance(gives, ast.Subscript)
        )
        kept = self.scope, self.globals, self.loops
        scope: dict[str, Value] = {}
        for argument, x in zip(read.args.args, given, strict=True):
            scope[argument.arg] = self.handed(x, str(names[argument.arg]), argument)
        self.scope, self.globals, self.loops = scope, function.__globals__, []
        self.frames.append(frame)
        self.body(read.body)
        self.jump(frame.end)
        self.text.label(frame.end)
        self.frames.pop()
        self.scope, self.globals, self.loops = kept
        made = tuple(self.loaded(room) for room in frame.rooms)
        return made[0] if frame.is_single else made

    def handed(self, x: Value, name: str, node: ast.AST) -> Value:
        """Return an argument as the function calls it: a variable of its own, or an array."""
        if name in KINDS and isinstance(x, Scalar):
            return self.variable(self.as_kind(x, KINDS[name], node))
        if isinstance(x, ArrayRow) and (name == ANY_ARRAY or ELEMENTS.get(name) == x.element):
            return x
        raise self.wrong(node, f"is not {name}")

    def give(self, node: ast.Return) -> None:
        """Return from a function."""
        assert node.value is not None, "a function gives something"
        found, frame = self.value(node.value), self.frames[-1]
        numbers = (found,) if isinstance(found, Scalar) else found
        if isinstance(numbers, ArrayRow):
            raise self.wrong(node, "gives an array")
        for room, x in zip(frame.rooms, numbers, strict=True):
            self.store(self.as_kind(x, room.kind, node), room)
        self.leave(frame.end)

    # -- variables ------------------------------------------------------------------------

    def store(self, x: Scalar, room: Scalar) -> None:
        """Set a variable."""
        self.text.line(f"store {x.kind.llvm} {x.text}, ptr {room.text}")

    def variable(self, x: Scalar) -> Scalar:
        """Return a new variable."""
        room = Scalar(self.room(x.kind), x.kind)
        self.store(x, room)
        return room

    def assign(self, node: ast.Assign) -> None:
        """Set variables and elements."""
        found = self.value(node.value)
        for target in node.targets:
            self.set(target, found)

    def set(self, target: ast.expr, x: Value, kind: NumberKind | None = None) -> None:
        """Set a variable, an element, or several of them."""
        if isinstance(target, ast.Tuple) and isinstance(x, tuple):
            for each, part in zip(target.elts, x, strict=True):
                self.set(each, part)
        elif isinstance(target, ast.Subscript) and isinstance(x, Scalar):
            self.put(target, x)
        elif isinstance(target, ast.Name) and isinstance(x, Scalar):
            room = self.scope.get(target.id)
            if isinstance(room, Scalar):
                self.store(self.as_kind(x, room.kind, target), room)
            else:
                self.scope[target.id] = self.variable(self.as_kind(x, kind or x.kind, target))
        else:
            raise self.wrong(target, "cannot be set to that")

    def declared(self, node: ast.AnnAssign) -> None:
        """Set a variable of a kind that is named."""
        assert node.value is not None, "a variable has a value"
        self.set(node.target, self.value(node.value), KINDS[ast.unparse(node.annotation)])

    def change(self, node: ast.AugAssign) -> None:
        """Set a variable or an element to what an operator makes of it."""
        before = self.scalar(node.target)
        self.set(node.target, self.binary(type(node.op), before, self.scalar(node.value)))

    def expression(self, node: ast.Expr) -> None:
        """Call a function; what only explains is nothing."""
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    # -- ways -----------------------------------------------------------------------------

    def leave(self, label: str) -> None:
        """Go elsewhere; nothing comes here."""
        self.jump(label)
        self.text.label(self.text.fresh_label())

    def branch(self, node: ast.If) -> None:
        """Go one of two ways."""
        labels = [self.text.fresh_label() for _ in range(3)]
        found = self.truth(self.scalar(node.test))
        self.text.line(f"br i1 {found}, label %{labels[0]}, label %{labels[1]}")
        for label, statements in zip(labels, (node.body, node.orelse), strict=False):
            self.text.label(label)
            self.body(statements)
            self.jump(labels[2])
        self.text.label(labels[2])

    @contextmanager
    def inner(self, on: str, end: str) -> Iterator[None]:
        """Be inside of a loop."""
        self.loops.append((on, end))
        yield
        self.loops.pop()

    def loop(self, node: ast.While) -> None:
        """Repeat something as long as a condition holds."""
        head, start, end = (self.text.fresh_label() for _ in range(3))
        self.jump(head)
        self.text.label(head)
        found = self.truth(self.scalar(node.test))
        self.text.line(f"br i1 {found}, label %{start}, label %{end}")
        self.text.label(start)
        with self.inner(head, end):
            self.body(node.body)
        self.jump(head)
        self.text.label(end)

    def count(self, node: ast.For) -> None:
        """Repeat something for each number of a range."""
        given = node.iter
        if not (isinstance(given, ast.Call) and ast.unparse(given.func) == "range"):
            raise self.wrong(given, "is no range")
        bounds = [self.scalar(x, INT) for x in given.args]
        low, high = bounds[:2] if len(bounds) > 1 else (Scalar("0", INT, 0), bounds[0])
        step = bounds[2].known if bounds[2:] else 1
        if not step:
            raise self.wrong(given, "has no known step")
        accesses = affine_accesses(node) if step == 1 else None
        if not accesses:
            self.repeat(node, low, high, step)
            return
        plain, looked_at, end = (self.text.fresh_label() for _ in range(3))
        fine = self.all_inside(node, accesses, low, high)
        self.text.line(f"br i1 {fine}, label %{plain}, label %{looked_at}")
        self.text.label(plain)
        self.inside_for_sure.update(accesses)
        self.repeat(node, low, high, step)
        self.inside_for_sure.difference_update(accesses)
        self.jump(end)
        self.text.label(looked_at)
        self.repeat(node, low, high, step)
        self.jump(end)
        self.text.label(end)

    def all_inside(
        self, node: ast.For, accesses: Sequence[ast.Subscript], low: Scalar, high: Scalar
    ) -> str:
        """Say whether all elements that a loop comes to are inside of their arrays.

        Their places go up or down evenly: the first and the last one are looked at. The steps, and
        how many there are, are to be so few that no place in between leaves 64 bits.
        """
        assert isinstance(node.target, ast.Name), "numbers of a range have one name"
        value, name, before = self.text.value, node.target.id, self.scope.get(node.target.id)
        ends = [low.text, value(f"add i64 {low.text}, 1"), value(f"sub i64 {high.text}, 1")]
        count = value(f"sub i64 {high.text}, {low.text}")
        fine = value(f"icmp ult i64 {count}, {FEW}")
        for access in accesses:
            places = []
            for end in ends:
                self.scope[name] = self.variable(Scalar(end, INT))
                places.append(self.as_kind(self.scalar(access.slice), INT, access).text)
            size = self.row(access.value).size
            step = value(f"add i64 {value(f'sub i64 {places[1]}, {places[0]}')}, {FEW}")
            limits = [(places[0], size), (places[2], size), (step, str(2 * FEW))]
            for place, limit in limits:
                fine = value(f"and i1 {fine}, {value(f'icmp ult i64 {place}, {limit}')}")
        self.scope.pop(name)
        if before is not None:
            self.scope[name] = before
        return fine

    def repeat(self, node: ast.For, low: Scalar, high: Scalar, step: int) -> None:
        """Repeat something for each number from the lowest up to the one before the highest."""
        at = self.variable(low)
        head, start, on, end = (self.text.fresh_label() for _ in range(4))
        self.jump(head)
        self.text.label(head)
        order = "slt" if step > 0 else "sgt"
        more = self.text.value(f"icmp {order} i64 {self.loaded(at).text}, {high.text}")
        self.text.line(f"br i1 {more}, label %{start}, label %{end}")
        self.text.label(start)
        self.set(node.target, self.loaded(at))
        with self.inner(on, end):
            self.body(node.body)
        self.jump(on)
        self.text.label(on)
        next_ = self.text.value(f"add i64 {self.loaded(at).text}, {step}")
        self.store(Scalar(next_, INT), at)
        self.jump(head)
        self.text.label(end)

"""Sizes that depend on symbolic dimensions: integer expressions in Python's syntax.

    >>> evaluate("max(N, 4) * 12 // 2", {"N": 7})
    42
    >>> symbols("N * (M + 1)")
    ('N', 'M')

Numbers stand for themselves, so that code need not ask whether a size is symbolic. Division and
remainder round down, as Python's do, and by zero give zero: no size can trap.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias, TypeVar

from ..trees import expression_of

Extent: TypeAlias = int | str
"""A number, or an expression of symbols."""

T = TypeVar("T")

OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y if y else 0,
    "%": lambda x, y: x % y if y else 0,
    "min": min,
    "max": max,
}
"""What an expression may do to two numbers."""

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    return expression_of(text)


def walk(
    expression: Extent,
    number: Callable[[int], T],
    symbol: Callable[[str], T],
    apply: Callable[[str, T, T], T],
) -> T:
    """Build a value bottom up: `number` and `symbol` make leaves, `apply` joins two by operator.

    >>> walk("N + 2", str, str.lower, lambda operator, x, y: f"({operator} {x} {y})")
    '(+ n 2)'
    """
    if isinstance(expression, int):
        return number(expression)

    def build(node: ast.expr) -> T:
        match node:
            case ast.Constant(value=int(literal)):
                return number(literal)
            case ast.Name(id=name):
                return symbol(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return apply("-", number(0), build(operand))
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
                return apply(_BINARY[type(operator)], build(left), build(right))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[first, *rest]):
                value = build(first)
                for each in rest:
                    value = apply(name, value, build(each))
                return value
        raise ValueError(f"{ast.unparse(node)!r} is not a size: expected +, -, *, //, %, min, max")

    return build(_parse(expression))


def evaluate(expression: Extent, values: Mapping[str, int]) -> int:
    """Return the number that `expression` is when its symbols have these values."""
    if isinstance(expression, int):
        return expression
    return walk(
        expression, int, values.__getitem__, lambda operator, x, y: OPERATORS[operator](x, y)
    )


def symbols(expression: Extent) -> tuple[str, ...]:
    """Return the names of the symbols in `expression`, in the order they first stand there."""
    found = walk(
        expression,
        lambda number: dict[str, None](),
        lambda name: {name: None},
        lambda operator, x, y: {**x, **y},
    )
    return tuple(found)


def affine(expression: Extent, name: str) -> tuple[int, int] | None:
    """Return a and b if an expression is a * name + b, with numbers a > 0 and b.

    >>> affine("2*N + 3 - N", "N"), affine("N // 2", "N"), affine("N + M", "N")
    ((1, 3), None, None)
    """

    def symbol(found: str) -> tuple[int, int] | None:
        return (1, 0) if found == name else None

    def apply(
        operator: str, x: tuple[int, int] | None, y: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        if x is None or y is None:
            return None
        if operator in "+-":
            sign = 1 if operator == "+" else -1
            return x[0] + sign * y[0], x[1] + sign * y[1]
        if operator == "*" and 0 in (x[0], y[0]):
            return x[0] * y[1] + y[0] * x[1], x[1] * y[1]
        return (0, OPERATORS[operator](x[1], y[1])) if x[0] == y[0] == 0 else None

    found = walk(expression, lambda number: (0, number), symbol, apply)
    return found if found is not None and found[0] > 0 else None

"""`set_loop_options(...)` in the body of a loop: taken out, and given to the loop.

The variables of `shape_invariants=[(v, shape)]` are meant by name; so their names are given.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from .jumps import placed, thunk

NAME = "set_loop_options"


def taken_options(
    body: Sequence[ast.stmt], inside: Callable[[ast.expr], ast.expr]
) -> tuple[ast.expr, list[ast.stmt]]:
    """Return a function that gives a loop's options, or None, and the body without them."""
    kept: list[ast.stmt] = []
    options: ast.expr = ast.Constant(None)
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and _is_named(call.func):
            options = placed(_options(call, inside), call)
        else:
            kept.append(node)
    return options, kept or [placed(ast.Pass(), body[0])]


def _is_named(function: ast.expr) -> bool:
    named = function.attr if isinstance(function, ast.Attribute) else ""
    return NAME in (named, function.id if isinstance(function, ast.Name) else "")


def _options(call: ast.Call, inside: Callable[[ast.expr], ast.expr]) -> ast.expr:
    words = [ast.keyword(k.arg, _named(k) if k.arg == "shape_invariants" else k.value)
             for k in call.keywords]  # fmt: skip
    made = ast.Call(ast.Name("dict", ast.Load()), list(call.args), words)
    return thunk(inside(made))


def _named(word: ast.keyword) -> ast.expr:
    """Return pairs of a variable and a shape with the variable's name in its place."""
    if not isinstance(word.value, ast.List | ast.Tuple):
        return word.value
    pairs: list[ast.expr] = []
    for pair in word.value.elts:
        if isinstance(pair, ast.Tuple | ast.List) and len(pair.elts) == 2:
            name = ast.Constant(ast.unparse(pair.elts[0]))
            pairs.append(ast.Tuple([name, pair.elts[1]], ast.Load()))
        else:
            pairs.append(pair)
    return ast.List(pairs, ast.Load())

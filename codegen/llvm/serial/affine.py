"""Loops whose elements lie evenly: whether they stay inside of arrays is known before they begin.

    for k in range(depth):
        made[to + k] += x[at + 2 * k]

Only the first and the last place of each are looked at then, and LLVM can carry several steps out
at a time, which it cannot where each one may leave the function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

EVEN = (ast.Add, ast.Sub, ast.Mult)
"""What places may be computed by."""
CALLS = {"len", "int", "float", "single", "rounded", "sqrt", "abs", "isnan", "min", "max"}
"""Functions that neither end a loop nor look at elements."""
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Pass)
"""What such a loop may consist of."""


def affine_accesses(loop: ast.For) -> Sequence[ast.Subscript]:
    """Return all elements that a loop takes or sets; none, unless all of them lie evenly.

    Neither does anything else end the loop before its last step.
    """
    nodes = [each for statement in loop.body for each in ast.walk(statement)]
    if not isinstance(loop.target, ast.Name) or not all(map(_goes_on, nodes)):
        return ()
    changed = {x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    if loop.target.id in changed:
        return ()
    found = [each for each in nodes if isinstance(each, ast.Subscript)]
    even = all(_is_even(each.slice, loop.target.id, changed) for each in found)
    return found if even else ()


def _goes_on(node: ast.AST) -> bool:
    """Say whether the loop goes on behind a part of it."""
    if isinstance(node, ast.stmt):
        return isinstance(node, STATEMENTS)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in CALLS
    return not isinstance(node, ast.FloorDiv | ast.Mod)  # (divisors of zero end the function)


def _is_even(place: ast.expr, counted: str, changed: set[str]) -> bool:
    """Say whether a place goes up or down by the same from step to step."""
    if isinstance(place, ast.BinOp) and isinstance(place.op, EVEN):
        sides = (place.left, place.right)
        if not all(_is_even(side, counted, changed) for side in sides):
            return False
        return not isinstance(place.op, ast.Mult) or not all(_names(x, counted) for x in sides)
    if isinstance(place, ast.Name):
        return place.id not in changed
    if isinstance(place, ast.Call):
        return isinstance(place.func, ast.Name) and place.func.id == "len"
    return isinstance(place, ast.Constant) and isinstance(place.value, int)


def _names(place: ast.expr, counted: str) -> bool:
    """Say whether a place depends on the number that is counted."""
    return any(isinstance(x, ast.Name) and x.id == counted for x in ast.walk(place))

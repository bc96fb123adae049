"""Conditions that are never tensors: `x is None`, `isinstance(x, T)`, and what is made of these."""

from __future__ import annotations

import ast
from collections.abc import Collection

ALWAYS_PYTHON = {"isinstance", "issubclass", "callable", "hasattr"}


def is_python(test: ast.expr, own: Collection[str] = ()) -> bool:
    """Say whether a condition is a truth value of Python's, whatever its names stand for.

    >>> is_python(ast.parse("x is not None and not isinstance(x, int)").body[0].value)
    True
    >>> is_python(ast.parse("x > 0").body[0].value)
    False
    """
    match test:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_python(operand, own)
        case ast.BoolOp(values=values):
            return all(is_python(value, own) for value in values)
        case ast.Compare(ops=ops):
            return all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
        case ast.Call(func=ast.Name(id=name)):
            return name in ALWAYS_PYTHON and name not in own
    return False

"""Python's own trees of Python's text, made by one thread at a time.

Python up to 3.13 counts how deep a tree is for the whole process: where threads make trees at once
and one is stopped in the middle (to collect garbage, say), `ast.parse` ends with a `SystemError`.
"""

from __future__ import annotations

import ast
import threading

from .forks import renewed

_LOCK = renewed(threading.RLock())


def module_of(text: str | bytes, name: str = "<unknown>") -> ast.Module:
    """Return the tree of a file."""
    with _LOCK:
        return ast.parse(text, name)


def expression_of(text: str) -> ast.expr:
    """Return the tree of an expression."""
    with _LOCK:
        return ast.parse(text, mode="eval").body

"""The source of a function that is there already: its node in the tree of its file.

A file is parsed once. A function is found by the line at which its code begins and its name;
lambdas, of which a line may hold many, by the columns that their code came from. So the nodes
have the lines and columns of the user's file, and what is made of them keeps these.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, field
from types import CodeType

from ....trees import module_of

FunctionNode = ast.FunctionDef | ast.Lambda


class NoSourceError(Exception):
    """The source of a function is not to be had, or is not that of its code."""


@dataclass(frozen=True)
class Source:
    """A function's node, and the name of the class that it is written in."""

    node: FunctionNode
    owner: str


@dataclass
class File:
    """A file's lines, and its functions by the line at which they begin."""

    lines: list[str]
    functions: dict[int, list[tuple[ast.AST, str]]] = field(default_factory=dict)


_FILES: dict[str, File] = {}


def file_of(name: str) -> File:
    """Return a file that was parsed, anew if its lines have changed."""
    linecache.checkcache(name)
    lines = linecache.getlines(name)
    if not lines:
        raise NoSourceError(f"the source of {name!r} is not to be had")
    known = _FILES.get(name)
    if known is None or known.lines != lines:
        known = File(list(lines))
        _enter(known, _parsed("".join(lines), name), "")
        _FILES[name] = known
    return known


def _parsed(text: str, name: str) -> ast.AST:
    try:
        return module_of(text)
    except SyntaxError as error:
        raise NoSourceError(f"{name!r} is no Python: {error}") from error


def _enter(file: File, node: ast.AST, owner: str) -> None:
    """Enter all functions below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            line = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", ()))])
            file.functions.setdefault(line, []).append((child, owner))
        _enter(file, child, child.name if isinstance(child, ast.ClassDef) else owner)


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters as a code object lists them."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in (*named, *rest)]


def mangled(name: str, owner: str) -> str:
    """Return a name as Python makes it inside of a class: `__x` is `_Owner__x`."""
    stripped = owner.lstrip("_")
    private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{stripped}{name}" if private and stripped else name


def source_of(code: CodeType) -> Source:
    """Return the source of a function's code."""
    file = file_of(code.co_filename)
    wanted = list(code.co_varnames[: _count(code)])
    found: list[Source] = []
    for node, owner in file.functions.get(code.co_firstlineno, ()):
        name = getattr(node, "name", "<lambda>")
        if isinstance(node, ast.AsyncFunctionDef) or mangled(name, owner) != mangled(
            code.co_name, owner
        ):
            continue
        assert isinstance(node, ast.FunctionDef | ast.Lambda)
        if [mangled(p, owner) for p in parameters(node.args)] == wanted:
            found.append(Source(node, owner))
    if len(found) > 1:
        found = [each for each in found if _spans(each.node, code)]
    if not found:
        raise NoSourceError(
            f"line {code.co_firstlineno} of {code.co_filename!r} does not hold {code.co_name!r}"
        )
    return min(found, key=_length)


def _count(code: CodeType) -> int:
    """Return how many parameters there are, those for the rest included."""
    rest = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + rest


def _spans(node: FunctionNode, code: CodeType) -> bool:
    """Say whether all that code was made from lies inside of a node's body."""
    body = node.body if isinstance(node, ast.Lambda) else node
    assert body.end_lineno is not None
    assert body.end_col_offset is not None
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (line == end_line and not end_column):
            continue
        if (line, column) < first or (end_line, end_column) > last:
            return False
    return True


def _length(source: Source) -> tuple[int, int]:
    node = source.node
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset

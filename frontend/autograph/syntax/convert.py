"""A Python function as another one that does the same, and whose choices and loops may be staged.

The new function has the names, the defaults, the closure's cells and the globals of the old one,
and the lines of its file: tracebacks, debuggers and `inspect` show the user's source. What is
made of a function's code is kept with the code.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from copy import deepcopy
from types import CellType, CodeType, FunctionType
from weakref import WeakKeyDictionary, WeakSet

from .jumps import RUNTIME, RuntimeCall, UnsupportedSyntaxError, placed
from .names import parameters_of
from .private import Private
from .rewrite import PREFIX, Rewriter
from .sources import NoSourceError, Source, source_of

FACTORY = f"{PREFIX}factory"
INNER = f"{PREFIX}function"
"""The name that a function has there: it must not hide its own, which it may call."""
FLAGS = 0x1FE0000
"""The bits of a code object that say which future features it has."""


class NotConvertibleError(Exception):
    """A function cannot be converted: why."""


_KNOWN: WeakKeyDictionary[CodeType, CodeType | NotConvertibleError] = WeakKeyDictionary()
_MADE: WeakSet[CodeType] = WeakSet()


def is_converted(code: CodeType) -> bool:
    """Say whether code is the result of a conversion."""
    return RUNTIME in code.co_freevars or code in _MADE


def converted_function(function: FunctionType, runtime: object) -> FunctionType:
    """Return the function that does what another one does, or raise `NotConvertibleError`."""
    code = converted_code(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(runtime)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def converted_code(code: CodeType) -> CodeType:
    """Return what a function's code is converted to."""
    if is_converted(code):
        return code
    found = _KNOWN.get(code)
    if found is None:
        try:
            found = _convert(code)
        except (NoSourceError, UnsupportedSyntaxError, NotConvertibleError) as error:
            found = NotConvertibleError(str(error))
        _KNOWN[code] = found
    if isinstance(found, NotConvertibleError):
        raise found
    return found


def _convert(code: CodeType) -> CodeType:
    kinds = {
        inspect.CO_GENERATOR: "generators are not supported",
        inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR: "coroutines are not supported",
    }
    for flag, why in kinds.items():
        if code.co_flags & flag:
            raise NotConvertibleError(why)
    module = ast.Module([_factory(source_of(code), code)], [])
    flags = code.co_flags & FLAGS
    made = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    factory = next(_codes(made))
    found = next(c for c in _codes(factory) if c.co_name == INNER)
    named = _named(found, code, f"{FACTORY}.<locals>.{INNER}")
    named = named.replace(co_name=code.co_name)
    _MADE.add(named)
    return named


def source_that_is_made(code: CodeType) -> str:
    """Return the source that a function's code is converted to."""
    converted_code(code)
    tree = Plain().visit(tree_of(code))
    tree.name = code.co_name if code.co_name.isidentifier() else INNER
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class Plain(ast.NodeTransformer):
    """Turns nodes of ours into Python's own."""

    def visit_RuntimeCall(self, node: RuntimeCall) -> ast.AST:
        """Return a call."""
        self.generic_visit(node)
        return ast.copy_location(ast.Call(node.func, node.args, node.keywords), node)


def tree_of(code: CodeType) -> ast.FunctionDef:
    """Return the tree that a function's code is converted to."""
    source = source_of(code)
    node: ast.AST = deepcopy(source.node)
    if isinstance(node, ast.Lambda):
        result = ast.copy_location(ast.Return(node.body), node.body)
        made = ast.FunctionDef(INNER, node.args, [result], [])
        node = ast.copy_location(made, node)
    assert isinstance(node, ast.FunctionDef)
    node = Private(source.owner, parameters_of(node)).visit(node)
    assert isinstance(node, ast.FunctionDef)
    _bare(node)
    node.name = INNER
    return Rewriter().function(node)


def _bare(node: ast.FunctionDef) -> None:
    """Take away what is evaluated when a function is defined: it is defined already."""
    node.lineno = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    node.decorator_list, node.returns = [], None
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    none = placed(ast.Constant(None), node)
    node.args.defaults = [none for _ in node.args.defaults]
    node.args.kw_defaults = [None if d is None else none for d in node.args.kw_defaults]


def _factory(source: Source, code: CodeType) -> ast.FunctionDef:
    """Return a function that has the free names of another one as parameters, and holds it."""
    node = tree_of(code)
    names = [ast.arg(name) for name in (RUNTIME, *code.co_freevars)]
    arguments = ast.arguments([], names, None, [], [], None, [])
    made = ast.FunctionDef(FACTORY, arguments, [node], [])
    for each in (made, *names):
        ast.copy_location(each, source.node)
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    return (c for c in code.co_consts if isinstance(c, CodeType))


def _named(code: CodeType, user: CodeType, start: str) -> CodeType:
    """Return code whose pieces are called as the user's functions are."""
    qualified = user.co_qualname + code.co_qualname.removeprefix(start)
    parts = [p for p in qualified.split(".<locals>.") if not p.startswith(PREFIX)]
    is_piece = code.co_name.startswith(PREFIX)
    return code.replace(
        co_name=parts[-1].rpartition(".")[2] if is_piece else code.co_name,
        co_qualname=".<locals>.".join(parts),
        co_consts=tuple(
            _named(c, user, start) if isinstance(c, CodeType) else c for c in code.co_consts
        ),
    )

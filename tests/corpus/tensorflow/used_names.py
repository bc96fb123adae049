"""Which names that are not public a test's source asks for, whether it comes to them or not.

Looked at are the test, what sets it up and ends it, and the methods and functions of its file that
these call.
Not public is what the stand-ins of modules say so of, and what begins with an underscore and is
not of the test's own file.
"""

import ast
import functools
import inspect
import sys
import textwrap
import types

TUPLES = {"_replace", "_asdict", "_fields", "_make"}
"""Public names of named tuples."""
FIXTURES = ("setUp", "tearDown")
"""What is run around each test."""


def body_of(function):
    """Return what a function's source consists of; nothing of a function without a source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # it is made of a text, or a part of a line
        return []
    first = tree.body[0]
    return first.body if isinstance(first, ast.FunctionDef) else [first]


def chains(function):
    """Return the chains of names (`ops.Graph`) that a function's source has, the longest."""
    nodes = [n for part in body_of(function) for n in ast.walk(part)]
    inner = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
    outer = [n for n in nodes if isinstance(n, ast.Attribute | ast.Name) and id(n) not in inner]
    return [chain(n) for n in outer]


def chain(node):
    """Return the names of `a.b.c`; what else a chain begins with is no name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id if isinstance(node, ast.Name) else None, *reversed(names)]


@functools.cache
def own_names(module):
    """Return the names that a file gives to functions, classes and attributes."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(sys.modules[module]))))
    made = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    made |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return made | {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def is_inner(name, module):
    """Say whether a name is that of something inner, and not of a file itself."""
    return (
        name[:1] == "_"
        and not name.startswith("__")
        and name not in TUPLES
        and name not in own_names(module)
    )


def private_name(test, absent):
    """Return the first name that a test asks for and that is not public, None if there is none.

    `absent` says of a value whether it stands for such a name.
    """
    kind, seen = type(test), set()
    own = getattr(test, "_testMethodName", "")  # what sets up a class has none
    left = [getattr(kind, name, None) for name in (own, *FIXTURES)]
    while left:
        function = inspect.unwrap(left.pop())
        own = isinstance(function, types.FunctionType) and function.__module__ == kind.__module__
        if not own or function in seen:
            continue
        seen.add(function)
        for names in chains(function):
            name, value = looked_up(names, kind, function)
            if absent(value) or is_inner(name, kind.__module__):
                return name
            left.append(value)
    return None


def looked_up(names, kind, function):
    """Return the last name of a chain that can be followed, and what it stands for.

    `kind` is the class of the test, whose `self` the function knows. If a name of the chain is an
    inner one, it is that name.
    """
    first, *rest = names
    if first == "self":
        own, rest = rest[:1], rest[1:]
        value, name = getattr(kind, own[0], None) if own else None, ""
    else:
        value, name = function.__globals__.get(first), first or ""
    for each in rest:
        if is_inner(each, kind.__module__):
            return each, None
        if isinstance(value, types.ModuleType):
            value, name = getattr(value, each, None), each
    return name, value

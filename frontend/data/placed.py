"""Functions of ours that graphs are written with: where they stand, and what they hold.

A step of the host is mostly a function inside of a function, whose closure holds a few plain
values. It is written as the module and its name there, with these values; read, it is made of the
same code again. Only modules take part that say of themselves that their functions do no more than
to compute on what they are given (`ROOMS`): none that a file can name touches other files, or
the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TypeAlias, cast

import numpy as np

from ...codegen.serial.function import Serial
from ..function.graph_data import GraphTextError, NodeReader, NotSerialisableError, Plain, Writer

ROOMS: set[str] = set()
"""Packages, with what is in them, and modules."""
OURS = f"{__name__.rpartition('.data.')[0]}."
NUMPY = ("numpy.fft", "numpy.linalg")
"""Modules of numpy whose functions may be written."""


def has_place(module: str) -> bool:
    """Say whether functions and classes of a module may be written."""
    return any(module == room or module.startswith(f"{room}.") for room in ROOMS)


@cache
def _codes(module: str) -> Mapping[str, list[CodeType]]:
    """Return the codes of a module's functions by their names in it, in their order."""
    found = find_spec(module)
    whole = getattr(found and found.loader, "get_code", lambda _: None)(module)
    made: dict[str, list[CodeType]] = {}
    for code in _inner(whole) if isinstance(whole, CodeType) else ():
        made.setdefault(code.co_qualname, []).append(code)
    return made


def _inner(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inner(each)


Write: TypeAlias = "Callable[[object], Plain]"
"""What writes a part of a value."""
Read: TypeAlias = "Callable[[Plain], object]"
"""What reads a part of data."""


def placed(value: object, writer: Writer, inside: tuple[object, ...] = ()) -> Plain:
    """Return a value as data, which may be or hold functions of ours.

    Raises `NotSerialisableError` where it is one of somebody else.
    """
    if any(value is each for each in inside):
        raise NotSerialisableError("what it does calls itself")

    def within(part: object) -> Plain:
        return placed(part, writer, (*inside, value))

    for form in (_named, _called, _contained, _made_of):
        if (found := form(value, within)) is not None:
            return found
    return writer.value(value)


def _named(value: object, within: Write) -> Plain:
    """Return the place and the name of what a module holds, None for another value."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(module, str) and isinstance(name, str) and _held(module, name) is value:
        return {"named": [module, name]}
    return None


def _held(module: str, name: str) -> object:
    """Return what a module holds under a name, None if that is no function of arrays."""
    if module not in NUMPY and not module.startswith(OURS):
        return None
    found: object = getattr(_imported(module), name, None)
    is_known = callable(found) if module in NUMPY else isinstance(found, Serial)
    return found if is_known else None


def _imported(name: str) -> ModuleType | None:
    """Return a module, None if there is none."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None


def _called(value: object, within: Write) -> Plain:
    """Return a function with what it holds, and numpy's types; None for another value."""
    match value:
        case FunctionType():
            return {"function": _function_data(value, within)}
        case MethodType():
            return {"method": [within(value.__self__), value.__name__]}
        case partial():
            return {"partial": [within(value.func), within(value.args), within(value.keywords)]}
        case np.dtype():
            return {"dtype of numpy": value.str}
        case type() if issubclass(value, np.generic):
            return {"class of numbers": np.dtype(value).str}
    return None


def _contained(value: object, within: Write) -> Plain:
    """Return the elements of what is a tuple, a list or a dictionary and no more; else None."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return {type(value).__name__: [within(each) for each in value]}
    if isinstance(value, dict) and type(value) is dict:
        return {"dict": [[within(k), within(v)] for k, v in value.items()]}
    return None


def _made_of(value: object, within: Write) -> Plain:
    """Return the class of an object of ours and its parts by name, None for another value."""
    kind = type(value)
    if not has_place(kind.__module__):
        return None
    cached = {n for c in kind.__mro__ for n, x in vars(c).items() if hasattr(x, "attrname")}
    parts: dict[str, object] = getattr(value, "__dict__", {})
    if isinstance(value, tuple):
        parts = dict(zip(getattr(kind, "_fields", ()), value, strict=True))
    named = {name: within(part) for name, part in parts.items() if name not in cached}
    return {"made": [kind.__module__, kind.__qualname__, named]}


def _function_data(function: FunctionType, within: Write) -> Plain:
    module, code = function.__globals__["__name__"], function.__code__
    same = _codes(module).get(code.co_qualname, []) if has_place(module) else []
    if code not in same:
        raise NotSerialisableError("what it does is known to this process only")
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    held = {name: within(cell.cell_contents) for name, cell in cells}
    defaults = [within(function.__defaults__), within(function.__kwdefaults__)]
    return [module, code.co_qualname, same.index(code), held, defaults]


def found_again(data: Plain, reader: NodeReader) -> object:
    """Return the value that data stand for."""

    def within(part: Plain) -> object:
        return found_again(part, reader)

    form = next(iter(data), "") if isinstance(data, dict) else ""
    read = READ.get(form)
    return reader.value(data) if read is None else read(_table(data)[form], within)


def _row(data: Plain) -> list[Plain]:
    if not isinstance(data, list):
        raise GraphTextError(f"{data!r} of a function, expected a list")
    return data


def _table(data: Plain) -> dict[str, Plain]:
    if not isinstance(data, dict):
        raise GraphTextError(f"{data!r} of a function, expected a dictionary")
    return cast("dict[str, Plain]", data)


def _again(data: Plain, within: Read) -> object:
    """Return what a module holds under a name."""
    module, name = map(str, _row(data))
    found = _held(module, name)
    if found is None:
        raise GraphTextError(f"there is no function {name!r} in {module}")
    return found


def _method(data: Plain, within: Read) -> object:
    """Return a function that an object of ours has."""
    owner, name = _row(data)
    found: object = getattr(within(owner), str(name), None)
    if not isinstance(found, MethodType):
        raise GraphTextError(f"there is no function {name!r} of {owner!r}")
    return found


def _partial(data: Plain, within: Read) -> object:
    function, args, keywords = map(within, _row(data))
    if callable(function) and isinstance(args, tuple) and isinstance(keywords, dict):
        return partial(function, *args, **keywords)
    raise GraphTextError(f"there is no function in {data!r}")


def _room(name: str) -> ModuleType:
    found = _imported(name) if has_place(name) else None
    if found is None:
        raise GraphTextError(f"there is no module {name!r} of functions on arrays")
    return found


def _object(data: Plain, within: Read) -> object:
    """Return an object of a class of ours, made of its parts."""
    module, name, inside = _row(data)
    parts = {n: within(part) for n, part in _table(inside).items()}
    found: object = getattr(_room(str(module)), str(name), None)
    if not isinstance(found, type) or found.__module__ != module:
        raise GraphTextError(f"there is no class {name!r} in {module}")
    if issubclass(found, tuple):
        row: object = found(**parts)
        return row
    made: object = object.__new__(found)
    vars(made).update(parts)
    return made


def _function(data: Plain, within: Read) -> FunctionType:
    """Return a function of the code that stands in a place, with what it holds."""
    place, name, number, inside, given = _row(data)
    module, held = _room(str(place)), _table(inside)
    same = dict(enumerate(_codes(str(place)).get(str(name), [])))
    code = same.get(number) if isinstance(number, int) else None
    if code is None or {*code.co_freevars} != {*held}:
        raise GraphTextError(f"there is no function {name!r} in {place}")
    cells = tuple(CellType(within(held[name])) for name in code.co_freevars)
    defaults, named = map(within, _row(given))
    made = FunctionType(code, vars(module), code.co_name, None, cells)
    made.__defaults__ = defaults if isinstance(defaults, tuple) else None
    made.__kwdefaults__ = named if isinstance(named, dict) else {}
    return made


READ: dict[str, Callable[[Plain, Read], object]] = {
    "named": _again,
    "function": _function,
    "method": _method,
    "partial": _partial,
    "dtype of numpy": lambda x, _: np.dtype(str(x)),
    "class of numbers": lambda x, _: np.dtype(str(x)).type,
    "tuple": lambda x, within: tuple(map(within, _row(x))),
    "list": lambda x, within: [*map(within, _row(x))],
    "dict": lambda x, within: {within(k): within(v) for k, v in map(_row, _row(x))},
    "made": _object,
}
"""By the names of forms: what reads them."""

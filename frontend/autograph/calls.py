"""What is called from converted code: user's functions are converted, too, others are not.

Not converted are classes (they are made as ever), Python's own modules, gravure, numpy and the
like (`LIBRARIES`), what says so (`do_not_convert`), and what has no source. Functions that are
given to gravure's functions are converted: they are called from there.
"""

from __future__ import annotations

import functools
import inspect
import sysconfig
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, TypeVar, overload
from weakref import WeakKeyDictionary, WeakSet

from ..graph.graph import Graph
from ..values.context import STATE
from ..values.origin import OURS, short, user_line
from .builtins import OVERLOADS
from .settings import ASKED, SETTINGS, AutographWarning, asking
from .state import MixedControlError, UnsupportedFunctionError
from .surface import surface_of
from .syntax.convert import (
    NotConvertibleError,
    converted_function,
    is_converted,
    source_that_is_made,
)

F = TypeVar("F", bound=Callable[..., object])
LIBRARIES = frozenset(
    ["IPython", "PIL", "keras", "matplotlib", "ml_dtypes", "numpy", "onnx", "pandas", "pytest",
     "_pytest", "scipy", "sklearn", "tensorflow", "torch"]
)  # fmt: skip
"""Packages whose functions run as they are."""
STANDARD = sysconfig.get_paths()["stdlib"] + "/"
LAZY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""The flags of functions that are Python's alone."""
MARK = "ag_do_not_convert"
"""The attribute of functions that run as they are."""
_WARNED: WeakSet[CodeType] = WeakSet()
_MADE: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()


def called(function: Any) -> Any:
    """Return what is called in a function's place."""
    kind = type(function)
    if kind is FunctionType:
        return _function(function)
    if kind is MethodType:
        plain = type(function.__func__) is FunctionType
        inner: Any = called(function.__func__) if plain else function.__func__
        same = inner is function.__func__
        return function if same else MethodType(inner, function.__self__)
    if kind is BuiltinFunctionType or isinstance(function, type):
        return OVERLOADS.get(function, _printer(function))
    if kind is functools.partial:
        return functools.partial(called(function.func), *function.args, **function.keywords)
    call = getattr(kind, "__call__", None)  # noqa: B004  (the function of the class is wanted)
    if type(call) is FunctionType and not is_library(call):
        return MethodType(_function(call), function)
    return function


def _printer(function: object) -> object:
    """Return `print` of tensors where it is asked for."""
    if function is not print or "BUILTIN_FUNCTIONS" not in ASKED.features:
        return function
    graph = STATE.context
    if not isinstance(graph, Graph):
        return function
    surface = surface_of(graph)
    return lambda *values, **options: surface.print(values, options)


def _function(function: FunctionType) -> Callable[..., object]:
    flags = function.__code__.co_flags
    if is_converted(function.__code__) or flags & LAZY or getattr(function, MARK, False):
        return function
    if is_library(function):
        return with_functions(function) if is_ours(function) else function
    return converted(function)


def converted(function: FunctionType, *, strict: bool = False) -> FunctionType:
    """Return a function converted; as it is, with one warning, where it cannot be."""
    known = _MADE.get(function)
    if known is not None:
        return known
    try:
        made = _MADE[function] = converted_function(function, RUNTIME[0])
    except NotConvertibleError as error:
        if strict:
            raise
        warn(function, str(error))
        return function
    SETTINGS.say(f"converted {function.__qualname__!r} of {function.__code__.co_filename}")
    return made


RUNTIME: list[object] = []
"""The module that converted code calls, which enters itself."""


def warn(function: FunctionType, why: str) -> None:
    """Say once that a function runs as it is."""
    if function.__code__ in _WARNED:
        return
    _WARNED.add(function.__code__)
    warnings.warn(
        f"{function.__qualname__!r} is not converted and runs as it is: {why} (decorate it with "
        "do_not_convert to silence this)",
        AutographWarning,
        stacklevel=2,
    )


def is_ours(function: FunctionType) -> bool:
    """Say whether a function is gravure's."""
    return str(function.__globals__.get("__name__", "")).startswith(OURS)


def is_library(function: FunctionType) -> bool:
    """Say whether a function belongs to what runs as it is."""
    module = str(function.__globals__.get("__name__", ""))
    if module.partition(".")[0] in LIBRARIES or f"{module}.".startswith(OURS):
        return True
    file = function.__code__.co_filename
    standard = file.startswith((STANDARD, "<frozen ")) and "-packages/" not in file
    return standard and module != "__main__"


def with_functions(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of gravure's that is given converted functions."""

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        return function(*map(argument, args), **{k: argument(v) for k, v in kwargs.items()})

    return call


def argument(value: Any) -> object:
    """Return an argument, functions of the user's converted, also those in lists."""
    kind = type(value)
    if kind in (FunctionType, MethodType, functools.partial):
        function = value.func if kind is functools.partial else getattr(value, "__func__", value)
        return (
            called(value) if type(function) is FunctionType and not is_library(function) else value
        )
    if kind in (list, tuple):
        made = [argument(x) for x in value]
        return value if all(a is b for a, b in zip(made, value, strict=True)) else kind(made)
    if kind is dict:
        found = {k: argument(x) for k, x in value.items()}
        return value if all(found[k] is value[k] for k in value) else found
    return value


@overload
def do_not_convert(func: F) -> F: ...
@overload
def do_not_convert(func: None = None) -> Callable[[F], F]: ...
def do_not_convert(func: Callable[..., object] | None = None) -> object:
    """Let a function, and what it calls, run as it is (a decorator)."""
    if func is None:
        return do_not_convert
    kept = func

    @functools.wraps(kept)
    def call(*args: object, **kwargs: object) -> object:
        return kept(*args, **kwargs)

    setattr(call, MARK, True)
    return call


def mixed(message: str, hint: str) -> MixedControlError:
    """Return the error for what depends on a tensor and cannot, at the user's line."""
    return MixedControlError(message, location=short(user_line()), hint=hint)


def strictly_converted(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function converted, or raise `UnsupportedFunctionError`."""
    function = getattr(function, "method", function)
    inner = _written_in_python(function)
    try:
        made = inner if is_converted(inner.__code__) else converted(inner, strict=True)
    except NotConvertibleError as error:
        raise unsupported(function, f"cannot be converted: {error}") from None
    return made if inner is function else MethodType(made, getattr(function, "__self__", None))


def code_of(function: Callable[..., object]) -> str:
    """Return the source that a function is converted to, or raise `UnsupportedFunctionError`."""
    function = getattr(function, "method", function)
    inner = _written_in_python(function)
    try:
        return source_that_is_made(inner.__code__)
    except NotConvertibleError as error:
        raise unsupported(function, f"cannot be converted: {error}") from None


def _written_in_python(function: Callable[..., object]) -> FunctionType:
    """Return the function behind a function or a method, or raise the same."""
    inner = getattr(function, "__func__", function)
    if not isinstance(inner, FunctionType):
        raise unsupported(function, "is not a function that was written in Python")
    return inner


def unsupported(function: object, why: str) -> UnsupportedFunctionError:
    """Return the error for a function that has no form in a graph, at the user's line."""
    name = getattr(function, "__qualname__", repr(function))
    return UnsupportedFunctionError(f"function {name!r} {why}", location=short(user_line()))


def to_trace(
    function: Callable[..., object], features: frozenset[str] = frozenset()
) -> Callable[..., object]:
    """Return what is traced for a function: converted; a generator is refused by name."""
    if inspect.isgeneratorfunction(function):
        raise unsupported(function, "is a generator, which has no form in a graph: return a list")
    if inspect.iscoroutinefunction(function):
        raise unsupported(function, "is a coroutine, which has no form in a graph")
    made: Callable[..., object] = called(function)
    if not features:
        return made

    def traced(*args: object, **kwargs: object) -> object:
        with asking(features):
            return made(*args, **kwargs)

    return traced

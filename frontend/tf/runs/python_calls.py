"""Python functions called from graphs, with tensors or with arrays, by TensorFlow's names."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....ir.types.dtypes import DType
from ...function.variable import Variable as CoreVariable
from ...graph.graph import GraphTensor
from ...graph.py_function import HostFunction, add_function
from ...values import nest
from ...values.dtypes import DTypeLike
from ...values.run_errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from ..core.bridge import TfTensor, dressed, dressed_leaves, row_of, wrap
from ..core.element_types import as_dtype
from ..core.specs import TensorSpec
from ..core.structures import PartSpec
from ..core.values import InGraph, convert, graph_of


class NoElementTypeError(Exception):
    """A Python function in a graph gives what has no element type."""


PYTHON_ERRORS: dict[type[Exception], type[OpError]] = {
    NoElementTypeError: InternalError,
    TypeError: InvalidArgumentError,
    ValueError: InvalidArgumentError,
    StopIteration: OutOfRangeError,
    NotImplementedError: UnimplementedError,
    MemoryError: ResourceExhaustedError,
}
"""What the errors of Python functions become; others are of an unknown kind."""


def _with_errors(function: Callable[..., object], *, single: bool) -> Callable[..., object]:
    """Return a function whose errors are TensorFlow's; unless `single`, it gives a list."""

    @functools.wraps(function)
    def run(*args: object) -> object:
        try:
            made = function(*args)
        except Exception as error:
            kind = next((k for e, k in PYTHON_ERRORS.items() if isinstance(error, e)), UnknownError)
            text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
            raise kind(text) from error
        return made if single or isinstance(made, list | tuple) else [made]

    return run


def _without_variables(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function that raises where the function gives a variable, which has no one value."""

    @functools.wraps(function)
    def run(*args: object) -> object:
        made = function(*args)
        for x in made if isinstance(made, list | tuple) else [made]:
            if isinstance(x, CoreVariable):
                raise RuntimeError(
                    f"Attempting to return a variable from a Python function in a graph: {x!r}, "
                    "expected a tensor, as its `read_value()` is"
                )
        return made

    return run


def _given(made: object, dtype: DTypeLike | None) -> TfTensor:
    """Return what Python gave as a tensor of the type that was stated."""
    if made is None:
        raise InvalidArgumentError("the function returns 0 values, but expects to see 1 values.")
    try:
        return convert(made, dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{type(error).__name__}: {error}") from None


def _typed(
    function: Callable[..., Any], outs: Sequence[DTypeLike | None], *, single: bool
) -> Callable[..., object]:
    """Return a function that gives tensors of the types that were stated, or is refused."""

    def run(*args: object) -> object:
        made = function(*args)
        if single:
            return _given(made, outs[0])
        if len(made) < len(outs):
            raise InvalidArgumentError(
                f"the function returns {len(made)} values, but expects to see {len(outs)} values."
            )
        return [_given(x, out) for x, out in zip(made, outs, strict=False)]

    return run


def py_function(
    func: object = None,
    inp: object = None,
    Tout: object = None,  # noqa: N803
    name: str | None = None,
) -> Any:
    """Call Python with eager tensors, also from a graph; without a function, decorate one."""
    if func is None:
        return lambda given: lambda *xs: _python(given, xs, Tout, name, is_smooth=True)
    return _python(func, inp, Tout, name, is_smooth=True)


def _python(func: object, inp: Any, Tout: Any, name: str | None, **how: bool) -> Any:  # noqa: N803
    is_smooth = how["is_smooth"]
    single = not isinstance(Tout, list | tuple)
    stated = [Tout] if single else list(Tout)
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r}")
    if is_smooth and any(isinstance(x, nest.TensorGroup) for x in [*inp, *stated]):
        parts = _python_of_parts(func, inp, stated, name)
        return parts[0] if single and stated else parts
    outs = [None if t is None else as_dtype(getattr(t, "dtype", t)) for t in stated]
    func = _with_errors(_without_variables(func) if is_smooth else func, single=single)
    if is_smooth and outs:
        func = _typed(func, outs, single=single)
    graph = graph_of(list(inp))
    if graph is None:
        made = func(*[convert(x) for x in inp])
        return made if outs else [] if is_smooth else None

    rows = [row for t in outs if (row := row_of(t)) is not None]
    host = HostFunction(func, rows, single=single, wrap=wrap, **how)
    with InGraph(graph):
        made = add_function(graph, host, [convert(x) for x in inp], name)
    if not made:
        return graph.operations[-1]  # what is waited for, and run: it gives nothing
    return dressed_leaves(made[0]) if single else list(made)


def _python_of_parts(
    func: Callable[..., object], inp: Iterable[object], stated: list[object], name: str | None
) -> list[object]:
    """Call Python where what it is given or gives is composite: the tensors of it are passed."""
    whole = list(inp)

    def given(*parts: object) -> list[object]:
        made = func(*nest.pack(whole, parts))
        if not stated:
            return []
        found = list(made) if isinstance(made, list | tuple) else [made]
        fits = len(found) == len(stated) and all(map(_is_as_stated, found, stated))
        if not fits:
            raise ValueError(
                f"py_function: func={func} returned {made!r}, which did not match Tout={stated!r}."
            )
        return nest.flatten(found)

    types: list[object] = [getattr(t, "dtype", t) for t in nest.flatten(stated)]
    made: list[object] = _python(given, nest.flatten(whole), types, name, is_smooth=True)
    if not stated:
        return made
    for part, spec in zip(made, nest.flatten(stated), strict=True):
        if isinstance(part, GraphTensor) and isinstance(spec, TensorSpec):
            dressed(part).set_shape(spec.shape)
    packed: list[object] = nest.pack(stated, made)
    return packed


def _is_as_stated(value: object, stated: object) -> bool:
    """Say whether what Python gave is composite or not as stated: which tensors is seen later."""
    if isinstance(stated, PartSpec) and isinstance(stated, nest.TensorGroup):
        return stated.is_compatible_with(value)
    return not isinstance(value, nest.TensorGroup)


def _of_row(value: object, row: DType | None, at: int) -> object:
    """Return an array, or raise `TypeError` where it is not of the type that was stated.

    What is no array at all, or one of records, is of no type that there is.
    """
    kind = getattr(value, "dtype", None)
    if kind is not None and getattr(kind, "names", None):
        raise NoElementTypeError(f"Unsupported numpy data type: {kind}, expected {row}")
    if isinstance(value, dict | set | type):
        raise NoElementTypeError(f"Unsupported object type {type(value).__name__}, expected {row}")
    if row is None or kind is None or (row.kind == "s" and kind.kind in "USO"):
        return value
    if kind != row.numpy:
        raise TypeError(f"{at}-th value returned is {kind}, but expects {row}")
    return value


def _called_now(func: Callable[..., object], inp: Sequence[object]) -> object:
    """Call Python with arrays at once: what it gives is taken as it is, and so are its errors."""
    found = nest.flatten(func(*[convert(x).numpy() for x in inp]))
    made = [x if x is None else convert(x) for x in found]
    return made[0] if len(made) == 1 else made


def numpy_function(
    func: Any = None,
    inp: Any = None,
    Tout: DTypeLike | None = None,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> object:
    """Call Python with arrays, also from a graph; without a function, decorate one."""
    if func is None:
        return lambda given: lambda *xs: numpy_function(given, xs, Tout, stateful, name)
    graph = graph_of(list(inp))
    if graph is None:
        return _called_now(func, inp)
    rows_ = [row_of(t) for t in (Tout if isinstance(Tout, list | tuple) else [Tout])]

    def called(*xs: TfTensor) -> object:
        made = func(*[x.numpy() for x in xs])
        several = isinstance(made, list | tuple)
        pairs = zip(made if several else [made], rows_, strict=False)
        checked = [_of_row(value, row, at) for at, (value, row) in enumerate(pairs)]
        return made if not checked else checked if several else checked[0]

    found = _python(called, inp, Tout, name, is_smooth=False, is_pure=not stateful)
    return found if stateful or rows_ else []

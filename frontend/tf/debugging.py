"""Checks that fail with a message, when they are made or when they are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, finfo
from ..kinds import PyFunction
from ..run_errors import InvalidArgumentError
from .calls import op
from .values import InGraph, convert, graph_of, same


def _assert(sign: str, holds: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check of two tensors."""

    def check(
        x: Any,
        y: Any,
        message: Any = None,
        summarize: Any = None,
        name: Any = None,
        data: Any = None,
    ) -> Any:
        """Raise unless the relation holds for all elements."""
        start = [*(data or ()), *([message] if message else ())]

        def run(a: Any, b: Any) -> Any:
            if not np.all(holds(a, b)):
                text = " ".join(map(str, [*start, f"Condition x {sign} y did not hold."]))
                text = f"{text} x = {a}, y = {b}"
                raise InvalidArgumentError(text)
            return ()

        graph = graph_of([x, y])
        with InGraph(graph):
            values = same(x, y)
            if graph is not None and sign != "~" and all(v.op.type == "Const" for v in values):
                run(*[v.op.attributes["value"] for v in values])  # it never holds: said at once
            return _checked(graph, run, values, name)

    return check


def _checked(graph: Any, run: Callable[..., Any], values: list[Any], name: Any) -> Any:
    if graph is None:
        run(*[v.numpy() for v in values])
        return None
    kind = PyFunction(run, (), pure=False)
    return graph.add(kind, [graph.owned(v) for v in values], name=name)


assert_greater = _assert(">", np.greater)
assert_less = _assert("<", np.less)
assert_equal = _assert("==", np.equal)
assert_none_equal = _assert("!=", np.not_equal)
assert_greater_equal = _assert(">=", np.greater_equal)
assert_less_equal = _assert("<=", np.less_equal)


def _assert_sign(check: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, message=None, summarize=None, name=None: check(x, 0, message, name=name)


assert_positive, assert_negative = _assert_sign(assert_greater), _assert_sign(assert_less)
assert_non_negative = _assert_sign(assert_greater_equal)
assert_non_positive = _assert_sign(assert_less_equal)


def Assert(  # noqa: N802  (is its name)
    condition: Any, data: Any, summarize: Any = None, name: Any = None
) -> Any:
    """Raise with the data unless a condition holds."""

    def run(holds: Any, *values: Any) -> Any:
        if not np.all(holds):
            raise InvalidArgumentError(f"Expected '{name or 'condition'}' to be true. "
                                       f"Summarized data: {list(values)}")  # fmt: skip
        return ()

    graph = graph_of([condition, *data])
    with InGraph(graph):
        return _checked(graph, run, [convert(condition), *map(convert, data)], name)


def assert_shapes(shapes: Any, **_: Any) -> None:
    """Raise unless tensors have the shapes stated, of which letters stand for equal sizes."""
    sizes: dict[Any, int] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        found = convert(tensor).shape.as_list()
        if len(found) != len(wanted):
            raise ValueError(f"shape {found}, expected {tuple(wanted)}")
        for size, name in zip(found, wanted, strict=True):
            known = name if isinstance(name, int) else sizes.setdefault(name, size)
            if size != known:
                raise ValueError(f"size {size} where {name} is {known}")


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise unless a tensor has so many axes."""
    found = convert(x).shape
    if found.rank != rank:
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank "
                         f"{found.rank}, shape {found}")  # fmt: skip


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise if a tensor has fewer axes."""
    found = convert(x).shape
    if found.rank is not None and found.rank < rank:
        raise ValueError(
            f"{message or ''} Tensor must have rank at least {rank}. Received rank {found.rank}, "
            f"shape {found}"
        )


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """Raise unless a tensor has one of several numbers of axes."""
    found = convert(x).shape
    if found.rank is not None and found.rank not in ranks:
        raise ValueError(
            f"{message or ''} Tensor must have rank in {tuple(ranks)}. Received rank {found.rank}, "
            f"shape {found}"
        )


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> Any:
    """Return a tensor, which must have no axes."""
    value = convert(tensor)
    if value.ndim:
        raise ValueError(f"{message or ''} Expected scalar shape, saw shape: {value.shape}.")
    return value


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Raise unless a tensor has an element type."""
    found = convert(tensor).dtype
    if found != tf_type:
        raise TypeError(f"{message or ''} tensor must be of type {tf_type}; got {found}")


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """Raise unless the elements are integers."""
    found = convert(x).dtype
    if not found.is_integer:
        raise TypeError(f'{message or ""} Expected "x" to be integer type. Found: {found}')


def assert_proper_iterable(values: Any) -> None:
    """Raise unless a value can be gone through, and is no tensor, text or array."""
    single = hasattr(values, "spec") or isinstance(values, str | bytes | np.ndarray)
    if single or not hasattr(values, "__iter__"):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Return the element type that tensors share, which is one of floats; float32 of nothing."""
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        found = convert(tensor).dtype
        if wanted is not None and found != wanted:
            raise ValueError(f"{tensor} must be of the same type ({wanted})")
        wanted = found
    wanted = wanted or as_dtype("float32")
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,
    name: Any = None,
) -> Any:
    """Raise unless all elements are within ten roundings of each other."""

    def close(a: Any, b: Any) -> Any:
        least = 10 * finfo(a.dtype).eps
        return np.abs(a - b) <= (atol or least) + (rtol or least) * np.abs(b)

    return _assert("~", close)(x, y, message, summarize, name)


def assert_all_finite(x: Any, message: str, name: Any = None) -> Any:
    """Return the tensor, or raise with the message where an element is NaN or infinite."""
    return check_numerics(x, message, name=name)


def is_numeric_tensor(tensor: Any) -> bool:
    """Say whether a value is a tensor of numbers."""
    return hasattr(tensor, "dtype") and tensor.dtype.kind in "iufc"


@op("CheckNumerics", "tensor", strict=False, refuses=True, is_check=True)
def check_numerics(m: Any, tensor: Any, message: str) -> Any:
    """Return the tensor, or raise with the message where an element is NaN or infinite."""
    return m.check_numerics(tensor, message=message)

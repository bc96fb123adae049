"""Text by TensorFlow's names: elements are bytes, computed by Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.tensor import TensorSpec
from ..abstract import Abstract
from ..kinds import TEXT
from .calls import op, perform, rule
from .core import row_of
from .values import InGraph, convert, graph_of


def texts(function: Callable[..., Any], *arrays: Any) -> Any:
    """Return what a function gives for the elements at each place, as text."""
    spread = np.broadcast_arrays(*(np.asarray(a, object) for a in arrays))
    made = np.empty(spread[0].shape, object)
    for place in np.ndindex(made.shape):
        made[place] = function(*(a[place] for a in spread))
    return made


def _unknown(xs: Any, dtype: Any) -> Any:
    """Return what is known of results of values that are not, None if they are."""
    found = [x for x in xs if isinstance(x, Abstract) and x.value is None]
    if not found:
        return None
    shapes = [x.spec.shape for x in found]
    shape = shapes[0] if all(s == shapes[0] for s in shapes) else None
    return Abstract(TensorSpec(dtype, shape))


@rule("StringJoin", differentiable=False)
def _join(m: Maker, *xs: Any, separator: str) -> Any:
    open_ = _unknown(xs, TEXT)
    return open_ or texts(lambda *parts: separator.encode().join(parts), *xs)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Put the texts at each place together."""
    with InGraph(graph_of(list(inputs))):
        values = [convert(x, "string") for x in inputs]
        return perform("StringJoin", values, name=name, separator=separator)


def _each(type_: str, function: Callable[[Any], Any], dtype: Any = TEXT) -> Callable[..., Any]:
    @op(type_, "input", strict=False, differentiable=False)
    def made(m: Maker, input: Any) -> Any:
        """Compute of each text."""
        open_ = _unknown([input], dtype)
        if open_ is not None:
            return open_
        found = texts(function, input)
        return found if dtype is TEXT else found.astype(dtype.numpy)

    return made


lower, upper = _each("StringLower", bytes.lower), _each("StringUpper", bytes.upper)
strip, length = _each("StringStrip", bytes.strip), _each("StringLength", len, rows.i32)


@op("StringToNumber", "input", strict=False, differentiable=False)
def to_number(m: Maker, input: Any, out_type: Any = "float32") -> Any:
    """Read numbers."""
    row = row_of(out_type)
    assert row is not None, "a type was given"
    open_ = _unknown([input], row)
    if open_ is not None:
        return open_
    try:
        return texts(lambda x: float(x) if row.is_float else int(x), input).astype(row.numpy)
    except ValueError as error:
        raise TypeError(f"StringToNumberOp could not correctly convert string: {error}") from None


@op("Substr", "input", strict=False, differentiable=False)
def substr(m: Maker, input: Any, pos: int, len: int) -> Any:
    """Cut a part of each text out."""
    return _unknown([input], TEXT) or texts(lambda x: x[pos : pos + len], input)


@op("RegexReplace", "input", strict=False, differentiable=False)
def regex_replace(m: Maker, input: Any, pattern: str, rewrite: str) -> Any:
    """Replace what fits a pattern in each text."""
    fitting = re.compile(pattern.encode())
    new = rewrite.encode()
    return _unknown([input], TEXT) or texts(lambda x: fitting.sub(new, x), input)


def written(value: Any) -> bytes:
    """Return a number as TensorFlow writes it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | np.bool_):
        return b"true" if value else b"false"
    return (f"{value:f}" if isinstance(value, float | np.floating) else str(value)).encode()


@op("AsString", "input", strict=False, differentiable=False)
def as_string(m: Maker, input: Any) -> Any:
    """Write each number as text."""
    return _unknown([input], TEXT) or texts(written, input)


@rule("ReduceJoin", differentiable=False)
def _reduce_join(m: Maker, x: Any, axis: int | None, separator: str) -> Any:
    array = np.asarray(x, object)
    sign = separator.encode()
    if axis is None:
        return np.asarray(sign.join(array.ravel().tolist()), object)
    moved = np.moveaxis(array, axis, -1)
    made = np.empty(moved.shape[:-1], object)
    for place in np.ndindex(made.shape):
        made[place] = sign.join(moved[place].tolist())
    return made


def reduce_join(inputs: Any, axis: int | None = None, separator: str = "", **_: Any) -> Any:
    """Put the texts along an axis together."""
    return perform("ReduceJoin", [convert(inputs)], axis=axis, separator=separator)

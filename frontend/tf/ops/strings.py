"""Text by TensorFlow's names: elements are bytes, computed by Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ....ir.types.tensor import Array, TensorSpec
from ...dims.unknown import unknown_dim
from ...graph.inference import Abstract, is_unknown
from ...graph.text_arrays import TEXT
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor, row_of
from ..core.calls import op, perform, rule
from ..core.values import InGraph, convert, graph_of
from .array_ops import expand_dims, reshape


def texts(function: Callable[..., object], *arrays: object) -> Array:
    """Return what a function gives for the elements at each place, as text."""
    spread = np.broadcast_arrays(*(np.asarray(a, object) for a in arrays))
    made = np.empty(spread[0].shape, object)
    for place in np.ndindex(made.shape):
        made[place] = function(*(a[place] for a in spread))
    return made


def _unknown(xs: Iterable[object], dtype: DType) -> Abstract | None:
    """Return what is known of results of values that are not, None if they are."""
    found = [x for x in xs if isinstance(x, Abstract) and x.value is None]
    if not found:
        return None
    shapes = [x.spec.shape for x in found]
    shape = shapes[0] if all(s == shapes[0] for s in shapes) else None
    return Abstract(TensorSpec(dtype, shape))


@rule("StringJoin", differentiable=False)
def _join(m: Maker, *xs: object, separator: str) -> object:
    open_ = _unknown(xs, TEXT)
    return open_ or texts(lambda *parts: separator.encode().join(parts), *xs)


def join(inputs: Sequence[object], separator: str = "", name: str | None = None) -> TfTensor:
    """Put the texts at each place together."""
    with InGraph(graph_of(list(inputs))):
        if not inputs:
            return convert(b"")
        values = [convert(x, "string") for x in inputs]
        return perform("StringJoin", values, name=name, separator=separator)


def _each(
    type_: str, function: Callable[[bytes], object], dtype: DType = TEXT
) -> Callable[..., TfTensor]:
    @op(type_, "input", strict=False, differentiable=False)
    def made(m: Maker, input: object) -> object:
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
def to_number(m: Maker, input: object, out_type: DTypeLike | None = "float32") -> object:
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
def substr(m: Maker, input: object, pos: int, len: int) -> object:
    """Cut a part of each text out."""
    return _unknown([input], TEXT) or texts(lambda x: _part(x, pos, len), input)


def _part(text: bytes, start: int, length: int) -> bytes:
    size = text.__len__()
    if not -size <= start <= size:
        raise TypeError(f"pos {start} out of range for string {text!r}")
    first = start + size if start < 0 else start
    return text[first : first + length]


@op("RegexReplace", "input", strict=False, differentiable=False)
def regex_replace(
    m: Maker, input: object, pattern: str, rewrite: str, replace_global: bool = True
) -> object:
    """Replace what fits a pattern in each text, everywhere or once."""
    fitting = re.compile(pattern.encode())
    new = rewrite.encode()
    return _unknown([input], TEXT) or texts(
        lambda x: fitting.sub(new, x, 0 if replace_global else 1), input
    )


def written(value: object) -> bytes:
    """Return a number as TensorFlow writes it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | np.bool_):
        return b"true" if value else b"false"
    return (f"{value:f}" if isinstance(value, float | np.floating) else str(value)).encode()


@op("RegexFullMatch", "input", strict=False, differentiable=False)
def regex_full_match(m: Maker, input: object, pattern: str) -> object:
    """Say of each text whether all of it fits a pattern."""
    fitting = re.compile(pattern.encode())
    open_ = _unknown([input], rows.bool_)
    return open_ or texts(lambda x: fitting.fullmatch(x) is not None, input).astype(bool)


@op("AsString", "input", strict=False, differentiable=False)
def as_string(
    m: Maker,
    input: object,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> object:
    """Write each number as text."""
    kind = "e" if scientific else "g" if shortest else "f"
    form = f"{fill}{'' if width < 0 else width}{'' if precision < 0 else f'.{precision}'}"

    def made(value: object) -> bytes:
        if isinstance(value, float | np.floating):
            return format(float(value), form + kind).encode()
        return written(value).rjust(max(width, 0), (fill or " ").encode())

    return _unknown([input], TEXT) or texts(made, input)


def split(input: object, sep: str | None = None, maxsplit: int = -1) -> TfTensor:
    """Cut one text at a separator, at white space if none is given."""
    x = convert(input)
    if x.ndim:
        raise NotImplementedError("texts are split one by one: a ragged result is not supported")
    with InGraph(graph_of([x])):
        return perform("StringSplit", [x], sep=sep or None, most=maxsplit)


@rule("StringSplit", differentiable=False)
def _split(m: Maker, x: object, sep: str | None, most: int) -> object:
    if is_unknown(x):
        return Abstract(TensorSpec(TEXT, (unknown_dim(),)))
    text: bytes = np.asarray(x).item()
    parts = text.split(None if sep is None else sep.encode(), most)
    made = np.empty(len(parts), object)
    made[:] = parts
    return made


def bytes_split(input: object, name: str | None = None) -> TfTensor:
    """Return the bytes of one text, each as a text."""
    x = convert(input)
    with InGraph(graph_of([x])):
        return perform("StringBytes", [x], name=name)


@rule("StringBytes", differentiable=False)
def _bytes(m: Maker, x: object) -> object:
    if is_unknown(x):
        return Abstract(TensorSpec(TEXT, (unknown_dim(),)))
    text: bytes = np.asarray(x).item()
    made = np.empty(len(text), object)
    made[:] = [text[i : i + 1] for i in range(len(text))]
    return made


@rule("ReduceJoin", differentiable=False)
def _reduce_join(m: Maker, x: object, axis: int | None, separator: str) -> object:
    if is_unknown(x):
        dims = spec_of_value(x).dims
        kept = () if axis is None else (d for i, d in enumerate(dims) if i != axis % len(dims))
        return Abstract(TensorSpec(TEXT, tuple(kept)))
    array = np.asarray(x, object)
    sign = separator.encode()
    if axis is None:
        return np.asarray(sign.join(array.ravel().tolist()), object)
    moved = np.moveaxis(array, axis, -1)
    made = np.empty(moved.shape[:-1], object)
    for place in np.ndindex(made.shape):
        made[place] = sign.join(moved[place].tolist())
    return made


def reduce_join(
    inputs: object,
    axis: int | None = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> TfTensor:
    """Put the texts along an axis together."""
    with InGraph(graph_of([inputs])):
        x = convert(inputs)
        made = perform("ReduceJoin", [x], name=name, axis=axis, separator=separator)
        if not keepdims:
            return made
        return expand_dims(made, axis) if axis is not None else reshape(made, [1] * x.ndim)

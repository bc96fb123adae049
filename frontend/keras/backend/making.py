"""New tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as _np
from keras.src.backend.common.dtypes import result_type as _result_type
from keras.src.backend.config import floatx as _floatx

from ...eager.tensor import Tensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import math_ops as _m
from ...values.given import TensorLike
from .tensors import (
    DType,
    cast,
    convert_to_tensor,
    dtype_or_float,
    floating,
    name_of,
    promoted,
    rank,
    type_of,
)

_F = _m.FUNCTIONS


def array(x: TensorLike, dtype: DType = None) -> Tensor:
    """Return a tensor."""
    return convert_to_tensor(x, dtype)


def zeros(shape: TensorLike, dtype: DType = None) -> Tensor:
    """Return zeros."""
    return full(shape, 0, dtype)


def ones(shape: TensorLike, dtype: DType = None) -> Tensor:
    """Return ones."""
    return full(shape, 1, dtype)


def empty(shape: TensorLike, dtype: DType = None) -> Tensor:
    """Return zeros."""
    return zeros(shape, dtype)


def full(shape: TensorLike, fill_value: TensorLike, dtype: DType = None) -> Tensor:
    """Return a tensor of one value."""
    return _a.broadcast_to(cast(fill_value, dtype_or_float(dtype)), shape)


def zeros_like(x: TensorLike, dtype: DType = None) -> Tensor:
    """Return zeros of a tensor's shape."""
    tensor = convert_to_tensor(x)
    return _made.zeros_like(tensor, dtype_or_float(dtype or tensor.dtype))


def ones_like(x: TensorLike, dtype: DType = None) -> Tensor:
    """Return ones of a tensor's shape."""
    tensor = convert_to_tensor(x)
    return _made.ones_like(tensor, dtype_or_float(dtype or tensor.dtype))


def empty_like(x: TensorLike, dtype: DType = None) -> Tensor:
    """Return zeros of a tensor's shape."""
    return zeros_like(x, dtype)


def full_like(x: TensorLike, fill_value: TensorLike, dtype: DType = None) -> Tensor:
    """Return a tensor of one value, of a tensor's shape."""
    tensor = convert_to_tensor(x)
    wanted = dtype_or_float(dtype or tensor.dtype)
    return _a.broadcast_to(cast(fill_value, wanted), _a.shape(tensor))


def arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike | None = None,
    dtype: DType = None,
) -> Tensor:
    """Return numbers at equal distances."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        kinds = [type_of(x) for x in (start, stop, step)]
        wanted = str(_result_type(*kinds))
    else:
        wanted = dtype_or_float(dtype)
    numbers = (start, stop, step)
    if wanted == "bool":
        return cast(_ranged([cast(x, "int32") for x in numbers]), "bool")
    held = "float32" if wanted in ("float16", "bfloat16") else wanted
    held = "int32" if held in ("int8", "int16", "uint8", "uint16") else held
    held = "int64" if held in ("uint32", "uint64") else held
    return cast(_ranged([cast(x, held) for x in numbers]), wanted)


def _ranged(numbers: list[Tensor]) -> Tensor:
    start, stop, step = numbers
    return _made.range_(start, stop, step)


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DType = None,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return so many numbers between two."""
    num = int(num)
    if num < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    first, last = promoted(start, stop, least=float)
    wanted = name_of(first) if dtype is None else dtype_or_float(dtype)
    first, last = first + _made.zeros_like(last), last + _made.zeros_like(first)
    gaps = num - 1 if endpoint else num
    step = (last - first) / gaps if gaps > 0 else (last - first) * _np.nan
    steps = _a.reshape(cast(_made.range_(num), name_of(first)), [num] + [1] * rank(first))
    found: Tensor = first + steps * (step if gaps > 0 else _made.zeros_like(step))
    if endpoint and num > 1:
        found = _a.concat([found[:-1], _a.expand_dims(last, 0)], 0)
    found = _moved(_rounded(found, wanted), axis)
    return (found, step) if retstep else found


def _rounded(x: Tensor, wanted: str) -> Tensor:
    return cast(_F["floor"](x) if wanted.startswith(("int", "uint")) else x, wanted)


def _moved(x: Tensor, axis: int) -> Tensor:
    """Bring the first axis to its place."""
    many = rank(x)
    place = axis % many
    rest = list(range(1, many))
    rest.insert(place, 0)
    return x if place == 0 else _a.transpose(x, rest)


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10,
    dtype: DType = None,
    axis: int = 0,
) -> Tensor:
    """Return so many powers of a base, between two exponents."""
    first, last = promoted(start, stop, least=float)
    wanted = name_of(first) if dtype is None else dtype_or_float(dtype)
    exponents = linspace(first, last, num, endpoint, axis=axis)
    assert isinstance(exponents, Tensor)
    return cast(_F["pow"](cast(base, name_of(exponents)), exponents), wanted)


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DType = None,
    axis: int = 0,
) -> Tensor:
    """Return so many numbers of equal ratios between two."""
    first, last = promoted(start, stop, least=float)
    wanted = name_of(first) if dtype is None else dtype_or_float(dtype)
    sign = _F["sign"](first)
    found = linspace(_F["log"](first * sign), _F["log"](last * sign), num, endpoint, axis=axis)
    assert isinstance(found, Tensor)
    return cast(_F["exp"](found) * (sign if not rank(sign) else _a.expand_dims(sign, axis)), wanted)


def eye(N: int, M: int | None = None, k: int = 0, dtype: DType = None) -> Tensor:  # noqa: N803
    """Return ones on a diagonal."""
    if isinstance(k, float) or not isinstance(k, int | _np.integer):
        raise TypeError(f"Argument `k` must be an integer. Received: k={k}")
    return cast(tri_mask(N, M, k, "equal"), dtype_or_float(dtype))


def identity(n: int, dtype: DType = None) -> Tensor:
    """Return a square matrix with ones on the diagonal."""
    return eye(n, dtype=dtype)


def tri_mask(rows: TensorLike, columns: TensorLike | None, k: int, relation: str) -> Tensor:
    """Tell where a column is at a row's number plus k, or `less_equal` than that."""
    if columns is None:
        columns = rows
    down = _a.expand_dims(_made.range_(cast(rows, "int32")), 1)
    along = _a.expand_dims(_made.range_(cast(columns, "int32")), 0)
    return _F[relation](along - k, down)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DType = None) -> Tensor:  # noqa: N803
    """Return ones at and below a diagonal."""
    return cast(tri_mask(N, M, k, "less_equal"), dtype_or_float(dtype))


def meshgrid(*x: TensorLike, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing {indexing!r}, expected 'xy' or 'ij'")
    flat: list[Tensor] = [_a.reshape(convert_to_tensor(each), [-1]) for each in x]
    if len(flat) == 1:
        return flat
    return list(_made.meshgrid(*flat, indexing=indexing))


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Return the powers of numbers as rows."""
    tensor = convert_to_tensor(x)
    count = tensor.shape[0] if N is None else N
    kind = str(_result_type(name_of(tensor), _floatx()))
    powers = _made.range_(count) if increasing else _made.range_(count - 1, -1, -1)
    found = _F["pow"](_a.expand_dims(cast(tensor, kind), -1), cast(powers, kind))
    return cast(found, name_of(tensor))


def _window(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the numbers of a window's places, and the last of these."""
    count = convert_to_tensor(x, "int32")
    places = cast(_made.range_(count), str(_floatx()))
    return places, cast(_F["maximum"](count - 1, 1), str(_floatx()))


def bartlett(x: TensorLike) -> Tensor:
    """Return Bartlett's window."""
    places, last = _window(x)
    return _single(x, 1.0 - _F["abs"](2.0 * places / last - 1.0))


def _single(x: TensorLike, window: Tensor) -> Tensor:
    """Return a window; of one place it is 1."""
    return _a.where(_F["equal"](convert_to_tensor(x, "int32"), 1), _made.ones_like(window), window)


def _cosines(x: TensorLike, *weights: float) -> Tensor:
    places, last = _window(x)
    found = _made.zeros_like(places)
    for times, weight in enumerate(weights):
        found = found + weight * _F["cos"](2.0 * _np.pi * times * places / last)
    return _single(x, found)


def hamming(x: TensorLike) -> Tensor:
    """Return Hamming's window."""
    return _cosines(x, 0.54, -0.46)


def hanning(x: TensorLike) -> Tensor:
    """Return Hann's window."""
    return _cosines(x, 0.5, -0.5)


def blackman(x: TensorLike) -> Tensor:
    """Return Blackman's window."""
    return _cosines(x, 0.42, -0.5, 0.08)


def kaiser(x: TensorLike, beta: TensorLike) -> Tensor:
    """Return Kaiser's window."""
    from .numbers import i0  # noqa: PLC0415

    places, last = _window(x)
    shape = cast(floating(beta), str(_floatx()))
    away = 2.0 * places / last - 1.0
    inside = _F["maximum"](1.0 - away * away, _made.zeros_like(away))
    return _single(x, i0(shape * _F["sqrt"](inside)) / i0(shape))


def unravel_index(indices: TensorLike, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Return the coordinates of places in a flat tensor."""
    tensor = convert_to_tensor(indices)
    whole = int(_np.prod(shape))
    place = _a.where(_F["less"](tensor, _made.zeros_like(tensor)), tensor + whole, tensor)
    found: list[Tensor] = []
    for size in reversed(shape):
        found.insert(0, _F["floormod"](place, size))
        place = _F["floordiv"](place, size)
    return tuple(found)

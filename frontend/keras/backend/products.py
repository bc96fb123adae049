"""Products of tensors, and what is added up along axes."""

from __future__ import annotations

import re as _re

import numpy as _np
from keras.src.backend.common.dtypes import result_type as _result_type

from ...eager.tensor import Tensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import nn_ops as _n
from ...tf.ops import window_ops as _w
from ...values.given import TensorLike
from .arrays import moveaxis, ravel
from .tensors import cast, convert_to_tensor, floating, name_of, promoted, rank, sizes

_R = _m.REDUCTIONS


def _products(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor, str]:
    """Return what is multiplied and the element type of the product."""
    a, b = convert_to_tensor(x1), convert_to_tensor(x2)
    kind = str(_result_type(a.dtype, b.dtype))
    if name_of(a) == name_of(b) == "int8":
        kind = "int32"
    held = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "int32"}.get(kind, kind)
    return cast(a, held), cast(b, held), kind


def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the matrix product."""
    a, b, kind = _products(x1, x2)
    if not rank(a) or not rank(b):
        raise ValueError("matmul: operands need at least one axis")
    if rank(a) >= 2 and rank(b) >= 2:
        return cast(_m.matmul(a, b), kind)
    left, right = rank(a) == 1, rank(b) == 1
    found = _m.matmul(_a.expand_dims(a, 0) if left else a, _a.expand_dims(b, -1) if right else b)
    found = _a.squeeze(found, [-1]) if right else found
    return cast(_a.squeeze(found, [-1 if right else -2]) if left else found, kind)


def dot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the product of numpy's `dot`."""
    a, b, kind = _products(x1, x2)
    if not rank(a) or not rank(b):
        return cast(a * b, kind)
    return cast(_w.tensordot(a, b, [[rank(a) - 1], [max(rank(b) - 2, 0)]]), kind)


def vdot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the product of all elements, added up."""
    a, b, kind = _products(x1, x2)
    found = _R["reduce_sum"](ravel(_m.conj(a) if kind.startswith("complex") else a) * ravel(b))
    return cast(found, kind)


def inner(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the products along the last axes."""
    a, b, kind = _products(x1, x2)
    if not rank(a) or not rank(b):
        return cast(a * b, kind)
    return cast(_w.tensordot(a, b, [[rank(a) - 1], [rank(b) - 1]]), kind)


def outer(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return all products of two rows."""
    a, b = promoted(x1, x2)
    found = _a.expand_dims(ravel(cast(a, _held(a))), 1) * ravel(cast(b, _held(b)))
    return cast(found, name_of(a))


def _held(x: Tensor) -> str:
    return "int32" if name_of(x) == "bool" else name_of(x)


def tensordot(x1: TensorLike, x2: TensorLike, axes: TensorLike = 2) -> Tensor:
    """Return products added up along axes."""
    a, b, kind = _products(x1, x2)
    if isinstance(axes, tuple | list):
        axes = [[each] if isinstance(each, int) else [*each] for each in axes]
    return cast(_w.tensordot(a, b, axes), kind)


def kron(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return Kronecker's product."""
    a, b = promoted(x1, x2)
    many = max(rank(a), rank(b))
    for _ in range(many - rank(a)):
        a = _a.expand_dims(a, 0)
    for _ in range(many - rank(b)):
        b = _a.expand_dims(b, 0)
    first = [n for each in a.shape for n in (each, 1)]
    second = [n for each in b.shape for n in (1, each)]
    found = cast(_a.reshape(a, first), _held(a)) * cast(_a.reshape(b, second), _held(b))
    whole = [m * n for m, n in zip(sizes(a), sizes(b), strict=True)]
    return cast(_a.reshape(found, whole), name_of(a))


def cross(
    x1: TensorLike,
    x2: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
    """Return the cross product; vectors of two have a third element of zero."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(x1, x2)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    flat = a.shape[-1] == b.shape[-1] == 2
    for each in (a, b):
        if each.shape[-1] not in (2, 3, None):
            raise ValueError(
                "Both `x1` and `x2` must have 2 or 3 as the dimension of their vectors, "
                f"got {tuple(a.shape)} and {tuple(b.shape)}"
            )
    ax, ay, az = _three(a)
    bx, by, bz = _three(b)
    last = ax * by - ay * bx
    if flat:
        return last
    found = _a.stack([ay * bz - az * by, az * bx - ax * bz, last], -1)
    return moveaxis(found, -1, axisc)


def _three(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x[..., 0], x[..., 1], x[..., 2] if x.shape[-1] == 3 else _made.zeros_like(x[..., 0])


def einsum(subscripts: str, *operands: TensorLike, **kwargs: str) -> Tensor:
    """Return products added up, by an equation of letters for axes."""
    given = list(map(convert_to_tensor, operands))
    kinds = {name_of(x) for x in given}
    kind = str(_result_type(*(x.dtype for x in given)))
    if kinds == {"int8"}:
        kind = "int32"
    held = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "int32"}.get(kind, kind)
    return cast(_n.einsum(_plain(subscripts), *(cast(x, held) for x in given)), kind)


def _plain(subscripts: str) -> str:
    """Return an equation without blanks."""
    return _re.sub(r"\s+", "", subscripts)


_FLOATS = ("bfloat16", "float16", "float64")


def correlate(x1: TensorLike, x2: TensorLike, mode: str = "valid") -> Tensor:
    """Return the sums of products of two rows at all places."""
    a, b = promoted(x1, x2)
    shared = name_of(a)
    kind = {"int64": "float64"}.get(shared, shared if shared in _FLOATS else "float32")
    a, b = cast(a, kind), cast(b, kind)
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be 'valid', 'same' or 'full'. Received: mode={mode}")
    count, window = sizes(a)[0], sizes(b)[0]
    turned = window > count
    if turned:
        a, b, count, window = b, a, window, count
    around = window - 1
    whole = _a.pad(a, [[around, around]])
    places = _np.arange(count + around)[:, None] + _np.arange(window)
    found = _R["reduce_sum"](_g.gather(whole, places.astype(_np.int32)) * b, -1)
    if turned:
        found = _a.reverse(found, [0])
    if mode == "full":
        return cast(found, kind)
    if mode == "valid":
        return cast(found[around : around + count - window + 1], kind)
    # Of the whole, the middle; where that is between two, numpy takes the left one of them.
    start = (window - 1) // 2 if not turned else window // 2
    return cast(found[start : start + count], kind)


def trapezoid(
    y: TensorLike, x: TensorLike | None = None, dx: TensorLike = 1.0, axis: int = -1
) -> Tensor:
    """Return the integral by the trapezoidal rule."""
    from .reductions import sum as summed  # noqa: PLC0415

    values = moveaxis(floating(y), axis, -1)
    if x is None:
        gaps = cast(dx, name_of(values))
    else:
        places = cast(x, name_of(values))
        places = places if rank(places) == 1 else moveaxis(places, axis, -1)
        gaps = places[..., 1:] - places[..., :-1]
    return summed(gaps * (values[..., 1:] + values[..., :-1]) / 2.0, -1)

"""Functions that make arrays of numbers, and of chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..core.bridge import Common, TfTensor
from ..core.space import Space
from ..core.values import static
from ..ops import creation as _c
from ..ops import random_ops as _r
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, reshape, transpose
from ..ops.array_ops import shape as _shape
from ..ops.math_ops import cast, identity
from ..runs.seeds import set_seed
from .elementwise import nonzero
from .promoting import Together, Value, as_type, result_type, tensor


def array(val: Value, dtype: Value = None, copy: bool = True, ndmin: int = 0) -> TfTensor:
    """Return a value as a tensor, with so many axes at least."""
    with Together(val):
        made = tensor(val) if dtype is None else as_type(val, dtype)
        for _ in range(max(ndmin - len(made.shape), 0) if ndmin else 0):
            made = made[None]
        return identity(made) if copy else made


def asarray(a: Value, dtype: Value = None) -> TfTensor:
    """Return a value as a tensor."""
    return array(a, dtype, copy=False)


def at_least_one(a: Value, dtype: Value = None) -> TfTensor:
    """Return a value as a tensor of one axis at least."""
    return array(a, dtype, copy=False, ndmin=1)


def _filled(number: int) -> Callable[..., TfTensor]:
    def public(shape: Value, dtype: Value = float) -> TfTensor:
        """Return an array of one number; texts are empty."""
        return full(shape, _as_text(number, dtype), dtype)

    return public


def _as_text(number: int, dtype: Value) -> int | bytes:
    """Return what a number is among elements of a type: no text where it is 0."""
    return (
        b""
        if number == 0 and np.dtype(getattr(dtype, "as_numpy_dtype", dtype)).kind in "OSU"
        else number
    )


def _filled_like(number: int) -> Callable[..., TfTensor]:
    def public(a: Value, dtype: Value = None) -> TfTensor:
        """Return an array of one number in the shape of another one; texts are empty."""
        return full_like(a, _as_text(number, result_type(a) if dtype is None else dtype), dtype)

    return public


def full(shape: Value, fill_value: Value, dtype: Value = None) -> TfTensor:
    """Return an array of one value."""
    with Together(shape, fill_value):
        value = asarray(fill_value, dtype)
        return broadcast_to(value, [shape] if isinstance(shape, int) else shape)


def full_like(
    a: Value, fill_value: Value, dtype: Value = None, order: str = "K", subok: bool = True,
    shape: Value = None,
) -> TfTensor:  # fmt: skip
    """Return an array of one value in the shape of another one."""
    if order != "K" or not subok:
        raise ValueError(f"order {order!r} and subok {subok} are not supported")
    with Together(a, fill_value):
        x = tensor(a)
        value = as_type(fill_value, dtype or x.dtype.as_numpy_dtype)
        return broadcast_to(value, _shape(x) if shape is None else shape)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Value = float) -> TfTensor:  # noqa: N803
    """Return a matrix with ones along a diagonal."""
    return as_type(np.eye(N, M, k), dtype)


def identity_matrix(n: int, dtype: Value = float) -> TfTensor:
    """Return a square matrix with ones along its diagonal."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Value = None) -> TfTensor:  # noqa: N803
    """Return a matrix with ones at and under a diagonal."""
    return as_type(np.tri(N, M, k), dtype or np.float64)


def arange(start: Value, stop: Value = None, step: Value = 1, dtype: Value = None) -> TfTensor:
    """Return numbers at equal steps, without the last one."""
    with Together(start, stop, step):
        first, last = (0, start) if stop is None else (start, stop)
        if isinstance(step, int | float) and not step:
            raise ValueError("step must be non-zero.")
        known = [static(v) for v in (first, last, step)]
        kind = np.dtype(dtype or result_type(*map(_as_array, (first, last, step))))
        if not any(isinstance(v, Common) for v in known):
            return as_type(np.arange(*known), kind)
        low, high, by = (as_type(v, kind) for v in (first, last, step))
        return cast(_c.range_(low, high, by), kind)


def _as_array(value: Value) -> Value:
    return np.asarray(value) if isinstance(value, int | float) else value


def _of_ends(*ends: Value) -> np.dtype[Any]:
    """Return what numbers between ends count in: what numpy takes of the ends times 1.0."""
    kinds = [result_type(np.asarray(v) if np.isscalar(v) else v) for v in ends]
    return np.result_type(*[k if k.kind in "fcV" else np.float64 for k in kinds])


def linspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Value = float, axis: int = 0,
) -> object:  # fmt: skip
    """Return so many numbers at equal steps; they count in what their ends do, as in TensorFlow."""
    if num < 0:
        raise ValueError(f"Argument `num` must not be negative. Received: num={num}")
    with Together(start, stop):
        kind = _of_ends(start, stop)
        low, high = (as_type(v, kind) for v in (start, stop))
        wide = broadcast_dynamic_shape(_shape(low), _shape(high))
        low, high = broadcast_to(low, wide), broadcast_to(high, wide)
        parts = num - 1 if endpoint else num
        step = (high - low) / parts if parts > 0 else low * np.nan
        last = high - step if not endpoint and num > 1 else high
        made = _c.linspace(low, last, max(num, 1), axis=axis)
        if num == 0:
            made = made[(*[slice(None)] * (axis % len(made.shape)), slice(0))]
        return (made, step) if retstep else made


def logspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, base: float = 10.0,
    dtype: Value = None, axis: int = 0,
) -> TfTensor:  # fmt: skip
    """Return powers of a base whose exponents are at equal steps, in the type of their ends."""
    exponents = tensor(linspace(start, stop, num, endpoint, axis=axis))
    made: TfTensor = as_type(base, exponents.dtype.as_numpy_dtype) ** exponents
    return made


def geomspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, dtype: Value = None,
    axis: int = 0,
) -> TfTensor:  # fmt: skip
    """Return numbers each of which is as many times the one before it."""
    with Together(start, stop):
        kind = np.dtype(dtype or _of_ends(start, stop))
        low, high = as_type(start, kind), as_type(stop, kind)
        share = as_type(linspace(0.0, 1.0, num, endpoint), kind)
        outer = max(len(low.shape), len(high.shape))
        rows = reshape(share, [-1, *[1] * outer])
        made: TfTensor = low * (high / low) ** rows
        order = [*range(1, outer + 1)]
        order.insert(axis % (outer + 1), 0)
        return transpose(made, order) if axis else made


def vander(x: Value, N: int | None = None, increasing: bool = False) -> TfTensor:  # noqa: N803
    """Return the powers of each element in a row, the highest first."""
    with Together(x):
        given = tensor(x)
        count = given.shape.as_list()[0] if N is None else N
        powers = np.arange(count or 0)
        if not increasing:
            powers = powers[::-1]
        return reshape(given, [-1, 1]) ** as_type(powers, given.dtype.as_numpy_dtype)


def diag_indices(n: int, ndim: int = 2) -> tuple[TfTensor, ...]:
    """Return the places of a diagonal, an array for each axis."""
    return (_c.range_(n),) * ndim


def ix_(*args: Value) -> list[TfTensor]:
    """Return arrays of which each lies along an axis of its own; masks as the places in them."""
    made = []
    for place, each in enumerate(args):
        with Together(each):
            shape = [1] * len(args)
            shape[place] = -1
            given = tensor(each)
            if len(given.shape) != 1:
                raise ValueError(f"Arrays of one axis are expected. Received shape {given.shape}.")
            indices = nonzero(given)[0] if given.dtype == "bool" else given
            made.append(reshape(indices, shape))
    return made


def _extents(size: Value) -> Value:
    return [] if size is None else [size] if isinstance(size, int) else size


def _of_chance(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    def public(*size: int) -> TfTensor:
        """Draw numbers of a shape."""
        return function(list(size), dtype="float64")

    return public


def uniform(low: Value = 0.0, high: Value = 1.0, size: Value = None) -> TfTensor:
    """Draw numbers that are equally likely anywhere between two ends."""
    ends = as_type(low, np.float64), as_type(high, np.float64)
    return _r.uniform(_extents(size), dtype="float64") * (ends[1] - ends[0]) + ends[0]


def randint(
    low: int, high: int | None = None, size: Value = None, dtype: Value = np.int64
) -> TfTensor:
    """Draw whole numbers, up to but not with the upper end."""
    first, last = (0, low) if high is None else (low, high)
    kind = np.dtype(dtype)
    drawn = kind if kind.name in ("int32", "int64") else np.dtype(np.int64)
    return cast(_r.uniform(_extents(size), first, last, drawn.name), kind)


def standard_normal(size: Value = None) -> TfTensor:
    """Draw numbers that are spread normally."""
    return _r.normal(_extents(size), dtype="float64")


class Rates:
    """Draws that are made of what is above arrays."""

    drawn: ClassVar[Callable[..., TfTensor]]
    """Draws from the Poisson distribution: for a shape, rates, and an element type."""


def poisson(lam: float = 1.0, size: Value = None) -> TfTensor:
    """Draw how often something happens that happens so often on average."""
    return Rates.drawn(_extents(size), lam, "int64")


def seed(s: int) -> None:
    """Begin the sequence of draws anew."""
    try:
        number = int(s)
    except TypeError:
        raise ValueError(
            f"Argument `s` got an invalid value {s!r}. Only integers are supported."
        ) from None
    set_seed(number)


random = Space(
    "experimental.numpy.random",
    poisson=poisson,
    rand=_of_chance(_r.uniform),
    randint=randint,
    randn=_of_chance(_r.normal),
    random=lambda size=None: uniform(size=size),
    seed=seed,
    standard_normal=standard_normal,
    uniform=uniform,
)
MAKING: dict[str, Callable[..., object]] = {
    "arange": arange,
    "array": array,
    **dict.fromkeys(("asanyarray", "asarray"), asarray),
    "ascontiguousarray": at_least_one,
    "copy": array,
    "diag_indices": diag_indices,
    **dict.fromkeys(("empty", "zeros"), _filled(0)),
    **dict.fromkeys(("empty_like", "zeros_like"), _filled_like(0)),
    "eye": eye,
    "full": full,
    "full_like": full_like,
    "geomspace": geomspace,
    "identity": identity_matrix,
    "ix_": ix_,
    "linspace": linspace,
    "logspace": logspace,
    "ones": _filled(1),
    "ones_like": _filled_like(1),
    "tri": tri,
    "vander": vander,
}

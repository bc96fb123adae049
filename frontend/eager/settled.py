"""Operations on arrays whose types and shapes are known: what depends on these is done once.

`settled(op, arrays, attributes)` gives a function of arrays like these that has one array for a
result, the same as `Op.evaluate` has; what is noted of a function (`remembered`) is carried out by
such functions. numpy may warn in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...ir.op import REGISTRY, Array, Op
from ...ir.ops.layout import slices_of
from ...ir.ops.reduce import Reduction
from ...ir.types.dtypes import DType, bf16, f16, of_numpy
from ...ir.types.numerics import round_to
from ...ir.types.shapes import normalize_axes

Kernel = Callable[..., Array]
Settle = Callable[..., Kernel | None]

SETTLED: dict[type[Op], Settle] = {}
"""By operation: what is given arrays and attributes and returns the function, if it has one."""


def settled(op: type[Op], arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel:
    """Return what computes the one result from arrays like these; attributes are complete."""
    settle = partial(_reduction, op) if issubclass(op, Reduction) else SETTLED.get(op)
    if settle is not None and not any(x.dtype.kind in "OSU" for x in arrays):
        found = settle(*arrays, **attributes)
        if found is not None:
            return found
    evaluate = partial(op.evaluate, **attributes)
    return lambda *xs: evaluate(*xs)[0]


def _settles(name: str) -> Callable[[Settle], Settle]:
    """Enter a function for the operation of a name."""

    def decorate(settle: Settle) -> Settle:
        SETTLED[REGISTRY[f"gv.{name}"]] = settle
        return settle

    return decorate


def itself(x: Array) -> Array:
    """Return the array."""
    return x


@_settles("reshape")
def _reshape(x: Array, *, shape: tuple[int, ...]) -> Kernel:
    return itself if x.shape == shape else lambda x: x.reshape(shape)


@_settles("transpose")
def _transpose(x: Array, *, order: tuple[int, ...]) -> Kernel:
    return itself if order == tuple(range(x.ndim)) else lambda x: x.transpose(order)


@_settles("slice")
def _slice(
    x: Array, *, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]
) -> Kernel:
    key = slices_of(starts, stops, steps)
    return (lambda x: x[key]) if x.ndim else itself


@_settles("broadcast_to")
def _broadcast_to(x: Array, *, shape: tuple[int, ...]) -> Kernel | None:
    return itself if x.shape == shape else None


@_settles("concat")
def _concat(*_: Array, axis: int) -> Kernel:
    return lambda *xs: np.concatenate(xs, axis)


@_settles("select")
def _select(*_: Array) -> Kernel:
    return np.where


@_settles("cast")
def _cast(x: Array, *, dtype: DType) -> Kernel | None:
    """Between numbers that numpy converts as we do: not to halves, and floats to integers."""
    source, narrow = of_numpy(x.dtype), "n"
    if narrow in (source.kind, dtype.kind) or dtype in (bf16, f16, source) or source is bf16:
        return None
    if dtype.kind == "b":
        return lambda x: x != 0
    if source.kind in "biu" or dtype.kind in "fc":
        wanted = dtype.numpy
        return lambda x: x.astype(wanted)
    return None


def _reduction(
    op: type[Reduction], x: Array, *, axes: tuple[int, ...], keepdims: bool
) -> Kernel | None:
    """Return the function of a reduction: its axes are counted from the front, and types known."""
    dtype = of_numpy(x.dtype)
    if not axes or op.evaluate.__func__ is not Reduction.evaluate.__func__:  # type: ignore[attr-defined]
        return None
    found, combine = normalize_axes(axes, x.ndim), op.combine
    if not dtype.is_float:
        return lambda x: combine(np.asarray(x, order="C"), found, keepdims=keepdims)

    def floats(x: Array) -> Array:
        """Combine in a wider type."""
        made = np.asarray(combine(x.astype(np.float64, order="C"), found, keepdims=keepdims))
        return round_to(made, dtype)

    return floats

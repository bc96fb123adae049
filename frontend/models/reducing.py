"""Reductions along axes that are data: compiled once for all sizes, and called as it is needed.

What lies in front of the axes, the axes, and what lies behind them are one axis each; where other
axes lie between them, or little behind, they are moved last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ...codegen.single import of_sizes
from ...codegen.single import whole as of_alike
from ...ir import Array, GraphEmit
from ...ir.op import REGISTRY
from ...ir.ops.host.along import ReduceAlong, reduced_axes
from ...ir.types.dims import symbol
from ...ir.types.dtypes import (
    bf16,
    bool_,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    of_numpy,
    u8,
    u16,
    u32,
    u64,
)
from ...ir.types.tensor import TensorSpec
from ..eager.kernels import quiet

COMPILED = {x.numpy for x in (bool_, f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64)}
LARGEST = 1 << 31
"""The largest size of an axis."""
WIDE = 8
"""Where fewer elements lie behind the axes, these are moved last."""


class ReductionLayout(NamedTuple):
    """How a tensor is reduced."""

    order: tuple[int, ...] | None
    """In which order its axes are put, if they are not in it."""
    shape: tuple[int, ...]
    """What it is taken for: rows, or what is reduced and more axes around it."""
    result: tuple[int, ...]


def reduced(
    x: Array, axes: Array, *, kind: str, sizes: object = (), keep: bool = True, none: bool = False
) -> Sequence[Array]:
    """Return what `gv.reduce_along` does."""
    how = _layout(x.shape, tuple(axes.tolist()), keep=keep, none=none)
    if how is None or x.dtype not in COMPILED:
        return _by_numpy(x, axes, kind=kind, keep=keep, none=none)
    rows = x if how.order is None else x.transpose(how.order)
    whole = np.ascontiguousarray(rows).reshape(how.shape)
    made = _kernel(kind, x.dtype, how.shape)(whole)
    return (made if made.shape == how.result else made.reshape(how.result),)


_by_numpy = quiet(ReduceAlong.evaluate)


@lru_cache(maxsize=512)
def _layout(
    shape: tuple[int, ...], given: tuple[int, ...], *, keep: bool, none: bool
) -> ReductionLayout | None:
    """Return how a tensor of some shape is reduced; None where nothing is to be put together."""
    axes = reduced_axes(given, len(shape), none=none)
    if not axes or 0 in shape or max(shape) >= LARGEST:
        return None
    left = [axis for axis in range(len(shape)) if axis not in axes]
    result = tuple(1 if a in axes else d for a, d in enumerate(shape) if keep or a not in axes)
    front, back = shape[: axes[0]], shape[axes[-1] + 1 :]
    several = prod(shape[axis] for axis in axes)
    if len(axes) == axes[-1] - axes[0] + 1 and (prod(back) == 1 or prod(back) >= WIDE):
        parts = prod(front), several, prod(back)
        return ReductionLayout(None, parts if parts[2] > 1 else parts[:2], result)
    return ReductionLayout((*left, *axes), (prod(shape[axis] for axis in left), several), result)


def _kernel(kind: str, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Callable[..., Array]:
    """Return what reduces the second axis of arrays."""
    if kind == "logsumexp":  # where something lies between, whose room depends on the sizes
        spec = TensorSpec(of_numpy(dtype), shape)
        return of_alike(REGISTRY[f"gv.{kind}"], [spec], {"axes": (1,), "keepdims": False})
    return _of_any_sizes(kind, dtype, len(shape))


@lru_cache(maxsize=128)
def _of_any_sizes(kind: str, dtype: np.dtype[np.generic], rank: int) -> Callable[..., Array]:
    """Return what reduces the second axis of arrays of any sizes."""
    names = "arb"[:rank]
    spec = TensorSpec(of_numpy(dtype), tuple(map(symbol, names)))
    return of_sizes(partial(_applied, kind), [spec], dict.fromkeys(names, (1, LARGEST)))


def _applied(kind: str, emit: GraphEmit, x: SSAValue) -> object:
    return emit(REGISTRY[f"gv.{kind}"], x, axes=(1,), keepdims=False)

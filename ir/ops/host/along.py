"""Host steps along axes that are data: which ones there are, a run tells.

The rank of a result is known, its sizes are not: any of them may be one that changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

from ...families import INTEGER, expect, expect_same
from ...host import HostOp
from ...op import REGISTRY, Array, register
from ...types.dims import Dim
from ...types.tensor import TensorSpec
from .late import cuts, padded, pairs


@lru_cache(maxsize=256)
def axes_from(given: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return axes from the front, or raise `ValueError` where one is none or comes twice.

    >>> axes_from((-1, 0), 3)
    (2, 0)
    """
    found = tuple(axis + rank if axis < 0 else axis for axis in given)
    if len({*found}) != len(found) or not all(0 <= axis < rank for axis in found):
        raise ValueError(f"axes {[*given]} of {rank}, expected different ones")
    return found


def expect_vectors(*vectors: TensorSpec) -> None:
    """Raise `TypeError` unless all are vectors of integers."""
    for each in vectors:
        expect(each, INTEGER)
        if each.rank != 1:
            raise TypeError(f"{each}, expected a vector")


def counts_match(*counts: int) -> None:
    """Raise `ValueError` unless there are as many numbers for all axes."""
    if len({*counts}) > 1:
        raise ValueError(f"{', '.join(map(str, counts))} numbers, expected as many of each")


@register
class SliceAlong(HostOp):
    """Parts of axes that are data; see `gv.slice_by`."""

    name = "gv.slice_along"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        starts: TensorSpec,
        stops: TensorSpec,
        steps: TensorSpec,
        axes: TensorSpec,
        *,
        sizes: tuple[Dim, ...],
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        expect_vectors(starts, stops, steps, axes)
        if len(sizes) != x.rank:
            raise TypeError(f"{len(sizes)} sizes for {x}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, starts: Array, stops: Array, steps: Array, axes: Array, *, sizes: Any = ()
    ) -> Sequence[Array]:
        """Cut the tensor, or raise `ValueError`."""
        rows = [each.tolist() for each in (starts, stops, steps)]
        along = axes_from(tuple(axes.tolist()), x.ndim)
        counts_match(len(along), *map(len, rows))
        return (x[cuts(x.shape, tuple(zip(along, *rows, strict=True)))].copy(),)


@register
class PadAlong(HostOp):
    """The tensor with elements around axes that are data; see `gv.pad_by`."""

    name = "gv.pad_along"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        pads: TensorSpec,
        value: TensorSpec,
        axes: TensorSpec,
        *,
        sizes: tuple[Dim, ...],
        mode: str = "constant",
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        expect_same(x, value)
        expect_vectors(pads, axes)
        if len(sizes) != x.rank:
            raise TypeError(f"{len(sizes)} sizes for {x}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, pads: Array, value: Array, axes: Array, *, sizes: Any = (), mode: str
    ) -> Sequence[Array]:
        """Pad, or raise `ValueError`."""
        counts, along = tuple(pads.tolist()), axes_from(tuple(axes.tolist()), x.ndim)
        counts_match(2 * len(along), len(counts))
        return padded(x, pairs(x.ndim, along, counts), value, mode)


@register
class SqueezeAlong(HostOp):
    """The tensor without axes that are data, of which each has one element."""

    name = "gv.squeeze_along"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, axes: TensorSpec, *, sizes: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        expect_vectors(axes)
        if len(sizes) > x.rank:
            raise TypeError(f"{len(sizes)} sizes for {x}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(cls, x: Array, axes: Array, *, sizes: tuple[Dim, ...]) -> Sequence[Array]:
        """Drop the axes, or raise `ValueError`."""
        along = axes_from(tuple(axes.tolist()), x.ndim)
        counts_match(x.ndim - len(along), len(sizes))
        for axis in along:
            if x.shape[axis] != 1:
                raise ValueError(f"axis {axis} has {x.shape[axis]} elements, expected 1")
        return (x.reshape([d for axis, d in enumerate(x.shape) if axis not in along]),)


@register
class UnsqueezeAlong(HostOp):
    """The tensor with more axes of one element, at places that are data."""

    name = "gv.unsqueeze_along"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, axes: TensorSpec, *, sizes: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        expect_vectors(axes)
        if len(sizes) < x.rank:
            raise TypeError(f"{len(sizes)} sizes for {x}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(cls, x: Array, axes: Array, *, sizes: tuple[Dim, ...]) -> Sequence[Array]:
        """Insert the axes, or raise `ValueError`."""
        rank = x.ndim + axes.size
        along, left = axes_from(tuple(axes.tolist()), rank), iter(x.shape)
        counts_match(rank, len(sizes))
        return (x.reshape([1 if axis in along else next(left) for axis in range(rank)]),)


KINDS = ("sum", "prod", "max", "min", "any", "all", "mean", "logsumexp")
"""The reductions that there are."""


@register
class ReduceAlong(HostOp):
    """The reduction of a kind along axes that are data: of all, or of `none`, if there are none."""

    name = "gv.reduce_along"

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        axes: TensorSpec,
        *,
        kind: str,
        sizes: tuple[Dim, ...],
        keep: bool = True,
        none: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        expect_vectors(axes)
        if kind not in KINDS:
            raise TypeError(f"kind {kind!r}, expected one of {', '.join(KINDS)}")
        if len(sizes) > x.rank or (keep and len(sizes) != x.rank):
            raise TypeError(f"{len(sizes)} sizes for {x}")
        REGISTRY[f"gv.{kind}"].infer(x, axes=(), keepdims=keep)
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, axes: Array, *, kind: str, sizes: Any = (), keep: bool, none: bool
    ) -> Sequence[Array]:
        """Reduce, or raise `ValueError`."""
        along = reduced_axes(tuple(axes.tolist()), x.ndim, none=none)
        made: Sequence[Array] = REGISTRY[f"gv.{kind}"].evaluate(x, axes=along, keepdims=keep)
        return made


def reduced_axes(given: tuple[int, ...], rank: int, *, none: bool) -> tuple[int, ...]:
    """Return the axes that are reduced, in their order from the front.

    >>> reduced_axes((-1, 0), 3, none=False), reduced_axes((), 2, none=False)
    ((0, 2), (0, 1))
    """
    return tuple(sorted(axes_from(given, rank))) if given or none else tuple(range(rank))

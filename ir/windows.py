"""Windows that move over the spatial axes of an image: how many there are and what they see.

Images are [N, C, *S], or [N, *S, C] with `channels_last`. Window p sees, along each axis, the
elements p * stride + k * dilation - low for k below the window's extent; places before 0 and
behind the end are padding.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .demands import at_most
from .iteration import Affine
from .types.dims import Dim
from .types.tensor import Array, TensorSpec


def spatial_axes(rank: int, *, channels_last: bool) -> tuple[int, ...]:
    """Return the axes of an image that are neither batch nor channels."""
    return tuple(range(1, rank - 1)) if channels_last else tuple(range(2, rank))


def channel_axis(rank: int, *, channels_last: bool) -> int:
    """Return the axis of an image that counts channels."""
    return rank - 1 if channels_last else 1


def image(batch: Any, channels: Any, spatial: Sequence[Any], *, channels_last: bool) -> Any:
    """Return three groups of things, one an axis, in the order of an image's axes."""
    return (batch, *spatial, channels) if channels_last else (batch, channels, *spatial)


def spatial(x: TensorSpec, *, channels_last: bool) -> tuple[Dim, ...]:
    """Return the extents of an image's spatial axes, or raise `TypeError`."""
    if x.rank < 3:
        raise TypeError(f"an image of rank {x.rank}, expected at least 3")
    return tuple(x.dims[axis] for axis in spatial_axes(x.rank, channels_last=channels_last))


def expect_pairs(pads: Sequence[Sequence[Dim]]) -> None:
    """Raise `TypeError` unless the pads of each axis are two."""
    for axis, pair in enumerate(pads):
        if len(pair) != 2:
            raise TypeError(f"{len(pair)} pads of axis {axis}, expected one before and one behind")


@dataclass(frozen=True)
class Windows:
    """The extents of a window, and how it moves along each axis."""

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilations: tuple[int, ...]

    @classmethod
    def of(cls, kernel: Sequence[Dim], attributes: Mapping[str, Any]) -> Windows:
        """Return the windows that an operation's attributes state."""
        named = (attributes[name] for name in ("strides", "pads", "dilations"))
        return cls(tuple(kernel), *named)

    @property
    def spans(self) -> tuple[Dim, ...]:
        """Return how many places a window reaches over, those it skips included."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def taps(self) -> Iterator[tuple[int, ...]]:
        """Go through the places inside of a window in row-major order."""
        ranges = [range(k) for k in self.kernel if isinstance(k, int)]
        assert len(ranges) == len(self.kernel), f"window {self.kernel} has symbolic extents"
        return itertools.product(*ranges)

    @property
    def is_padded(self) -> bool:
        """Say whether a window may see padding."""
        return any(low or high for low, high in self.pads)

    def check(self, *, allow_crop: bool = False) -> None:
        """Raise `TypeError` unless the numbers make sense."""
        rank = len(self.kernel)
        for name, values in (
            ("strides", self.strides),
            ("pads", self.pads),
            ("dilations", self.dilations),
        ):
            if len(values) != rank:
                raise TypeError(f"{name} of {len(values)} axes, expected {rank}")
        expect_pairs(self.pads)
        for name, steps in (("strides", self.strides), ("dilations", self.dilations)):
            if min(steps) < 1:
                raise TypeError(f"{name} {steps}, expected at least 1")
        if min(p for pair in self.pads for p in pair) < 0 and not allow_crop:
            raise TypeError(f"pads {self.pads}, expected at least 0")
        if any(isinstance(k, int) and k < 1 for k in self.kernel):
            raise TypeError(f"window {self.kernel}, expected at least 1 element an axis")

    def counts(self, extents: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the number of windows along each axis, or raise `TypeError` if none fits.

        Of one element there are none where there are no elements, which is no fault.
        """
        found = []
        rows = zip(extents, self.spans, self.strides, self.pads, strict=True)
        for extent, span, stride, (low, high) in rows:
            room = extent + low + high - span
            text = f"a window over {span} elements does not fit in {extent} elements padded by "
            least = 0 if span == 1 else span
            at_most(least, room + span, f"{text}{low} and {high}")
            found.append(room // stride + 1)
        return tuple(found)

    def leftovers(self, extents: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return how many elements behind the last window no window sees, along each axis."""
        rows = zip(extents, self.spans, self.strides, self.pads, strict=True)
        return tuple((e + low + high - span) % step for e, span, step, (low, high) in rows)

    def reach(self, counts: Sequence[Any]) -> tuple[Any, ...]:
        """Return over how many elements so many windows reach, padding included."""
        rows = zip(counts, self.spans, self.strides, strict=True)
        return tuple((n - 1) * step + span for n, span, step in rows)

    def spread(self, counts: Sequence[Dim], more: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the extents over which so many windows reach, with `more` elements behind."""
        rows = zip(self.reach(counts), self.pads, more, strict=True)
        return tuple(reach + extra - low - high for reach, (low, high), extra in rows)

    def indices(self, first_place: int, first_tap: int) -> tuple[Affine, ...]:
        """Return the index along each axis, for loop dims numbered from these."""
        return tuple(
            Affine(((first_place + i, step), (first_tap + i, dilation)), -low)
            for i, (step, dilation, (low, _)) in enumerate(
                zip(self.strides, self.dilations, self.pads, strict=True)
            )
        )

    def padded(self, x: Array, fill: Any, *, channels_last: bool = False) -> Array:
        """Return an image with its padding; itself if there is none."""
        if not self.is_padded:
            return x
        pads = image((0, 0), (0, 0), self.pads, channels_last=channels_last)
        shape = [low + extent + high for extent, (low, high) in zip(x.shape, pads, strict=True)]
        made = np.full(shape, fill, x.dtype)
        made[tuple(slice(low, low + n) for n, (low, _) in zip(x.shape, pads, strict=True))] = x
        return made

    def view(self, x: Array, fill: Any, *, channels_last: bool = False) -> Array:
        """Return what each window sees, as [N, C, *places, *taps] or [N, *places, *taps, C]."""
        x = self.padded(x, fill, channels_last=channels_last)
        axes = spatial_axes(x.ndim, channels_last=channels_last)
        places = self._places([x.shape[axis] for axis in axes])
        bytes_ = [x.strides[axis] for axis in axes]
        steps = (n * step for n, step in zip(bytes_, self.strides, strict=True))
        skips = (n * step for n, step in zip(bytes_, self.dilations, strict=True))
        channel = channel_axis(x.ndim, channels_last=channels_last)
        made: Array = np.lib.stride_tricks.as_strided(
            x,
            image(
                x.shape[0], x.shape[channel], (*places, *self.kernel), channels_last=channels_last
            ),
            image(x.strides[0], x.strides[channel], (*steps, *skips), channels_last=channels_last),
            writeable=False,
        )
        return made

    def by_tap(self, x: Array, fill: Any, *, channels_last: bool) -> Iterator[Array]:
        """Go through the places inside of a window: what all windows see there, as an image."""
        x = self.padded(x, fill, channels_last=channels_last)
        axes = spatial_axes(x.ndim, channels_last=channels_last)
        counts = self._places([x.shape[axis] for axis in axes])
        everything = slice(None)
        for tap in self.taps():
            rows = zip(tap, self.dilations, counts, self.strides, strict=True)
            parts = [slice(k * d, k * d + (n - 1) * step + 1, step) for k, d, n, step in rows]
            yield x[image(everything, everything, parts, channels_last=channels_last)]

    def _places(self, extents: Sequence[int]) -> list[Any]:
        """Return the number of windows along each axis of an image that has its padding.

        Raises `TypeError` if none fits, as `counts` does of sizes that are known before.
        """
        inner = replace(self, pads=((0, 0),) * len(self.kernel))
        return list(inner.counts(extents))

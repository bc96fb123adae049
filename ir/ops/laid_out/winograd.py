"""Winograd's form of a 3x3 convolution: tiles of results from fewer products, after transforms.

    Y = At [ (G g Gt) * (Bt d B) ] A        d: a tile of the image, g: 3x3 weights, Y: the results

The matrices are Toom and Cook's for the points 0, 1, -1, 2, -2 (as many as there need be) and
infinity. A tile of 4x4 results takes 36 products instead of 144, and in f32 it differs from a
direct sum by about 1e-5 of the largest; one of 2x2 takes 16 instead of 36 and is as near as the
direct sum. Windows that move by 2 see a pixel of an even place with the outer two weights and one
of an odd place with the middle one: the first is such a product of two taps, the second a plain
one. Of these, 4x4 results take 81 products and 2x2 take 25, where places share weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ...facts import KernelForm, Work
from ...op import REGISTRY, Array, Op, register
from ...samples import Sample
from ...types.dims import Dim, ceil_divide
from ...types.numerics import round_to
from ...types.tensor import TensorSpec, spec_of_array

Matrix: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
TAPS = 3
POINTS = (0, 1, -1, 2, -2)


@dataclass(frozen=True, eq=False)
class Form:
    """How `tile` results along an axis are computed, of windows that move by `stride`."""

    tile: int
    stride: int
    image: Matrix
    """[places, seen]: Bt."""
    weights: Matrix
    """[planes, 3]: G."""
    result: Matrix
    """[tile, places]: At."""
    runs: tuple[tuple[int, int, int], ...]
    """Planes, first and behind the last, and how many places in turn share each of them."""

    @property
    def seen(self) -> int:
        """Return the pixels along an axis that a tile sees: as many as there are places."""
        return len(self.image)

    @property
    def planes(self) -> int:
        """Return the transformed weights along an axis."""
        return len(self.weights)

    @property
    def plane_of(self) -> tuple[int, ...]:
        """Return the plane that each place is multiplied with."""
        return tuple(
            p for low, high, count in self.runs for p in range(low, high) for _ in [0] * count
        )


@lru_cache
def form_of(tile: int, stride: int) -> Form:
    """Return the form of so many results along an axis; raise ValueError if there is none."""
    if stride not in (1, 2) or not 2 <= tile <= len(POINTS) - 2 + stride:
        raise ValueError(f"no form has tiles of {tile} results of windows that move by {stride}")
    if stride == 1:
        image, weights, result = toom_cook(tile, TAPS)
        return Form(tile, 1, image, weights, result, ((0, len(image), 1),))
    few, outer, sums = toom_cook(tile, TAPS - 1)
    count, places = len(few), len(few) + tile
    image, weights = np.zeros((places, places)), np.zeros((count + 1, TAPS))
    image[:count, ::2], image[count:, 1::2] = few, np.eye(tile)
    weights[:count, ::2], weights[count, 1] = outer, 1
    result = np.concatenate([sums, np.eye(tile)], axis=1)
    return Form(tile, 2, image, weights, result, ((0, count, 1), (count, count + 1, tile)))


def toom_cook(results: int, taps: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return Bt, G and At of `results` results of windows of `taps` taps."""
    points = POINTS[: results + taps - 2]
    count = len(points) + 1
    image, weights, result = (
        np.zeros(s) for s in ((count, count), (count, taps), (results, count))
    )
    for row, point in enumerate(points):
        others = [p for p in points if p != point]
        image[row, :-1] = np.poly(others)[::-1].round()
        weights[row] = np.power(float(point), range(taps)) / np.prod([point - p for p in others])
        result[:, row] = np.power(float(point), range(results))
    image[-1], weights[-1, -1], result[-1, -1] = np.poly(points)[::-1].round(), 1, 1
    return image, weights, result


def transform_weights(emit: Any, weight: Any, spec: TensorSpec, tile: int, form: Form) -> Any:
    """Return the panels [P, planes, I, tile] of weights [O, I, 3, 3], made by graph operations."""
    outputs, inputs = (int(d) for d in spec.dims[:2])  # type: ignore[arg-type]
    planes = form.planes**2
    both = np.kron(form.weights, form.weights).T.astype(spec.dtype.numpy)
    flat = emit(REGISTRY["gv.reshape"], weight, shape=(outputs * inputs, TAPS * TAPS))
    made = emit(REGISTRY["gv.matmul"], flat, emit(REGISTRY["gv.constant"], value=both))
    made = emit(REGISTRY["gv.reshape"], made, shape=(outputs, inputs, planes))
    made = emit(REGISTRY["gv.transpose"], made, order=(2, 1, 0))
    panels = -(-outputs // tile)
    rest = panels * tile - outputs
    if rest:
        made = emit(REGISTRY["gv.pad"], made, pads=((0, 0), (0, 0), (0, rest)))
    made = emit(REGISTRY["gv.reshape"], made, shape=(planes, inputs, panels, tile))
    return emit(REGISTRY["gv.transpose"], made, order=(2, 0, 1, 3))


@register
class WinogradPacked(Op):
    """A 3x3 convolution of [N, H, W, C] with weights [P, planes, C, width], by square tiles."""

    name = "gv.winograd_packed"
    KERNEL: ClassVar = KernelForm("winograd")
    SAMPLES: ClassVar = (
        Sample(((1, 6, 7, 3), (2, 36, 3, 4)), {"columns": 7, "pads": ((1, 1), (1, 0)), "tile": 4}),
        Sample(((2, 4, 9, 2), (1, 16, 2, 4)), {"columns": 4, "pads": ((0, 0), (2, 1)), "tile": 2}),
        Sample(
            ((1, 6, 9, 2), (1, 16, 2, 4)),
            {"columns": 3, "pads": ((1, 0), (1, 1)), "tile": 2, "stride": 2},
        ),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, panels: TensorSpec, *, columns: Dim,
        pads: tuple[tuple[int, int], ...], tile: int, stride: int = 1,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, H', W', columns]."""
        try:
            planes = form_of(tile, stride).planes ** 2
        except ValueError as error:
            raise TypeError(str(error)) from error
        if x.dtype != panels.dtype:
            raise TypeError(f"element types differ: {x.dtype} and {panels.dtype}")
        if x.rank != 4 or panels.rank != 4 or panels.dims[1] != planes:
            raise TypeError(
                f"operands {x} and {panels}, expected [N, H, W, C], [P, {planes}, C, width]"
            )
        if x.dims[-1] != panels.dims[2]:
            raise TypeError(f"channels differ: {x.dims[-1]} and {panels.dims[2]}")
        if ceil_divide(columns, int(panels.dims[3])) != panels.dims[0]:  # type: ignore[arg-type]
            raise TypeError(f"{panels.dims[0]} panels do not hold {columns} columns")
        rows = [
            (d + (low + high - TAPS)) // stride + 1
            for d, (low, high) in zip(x.dims[1:3], pads, strict=True)
        ]
        return (x.with_shape((x.dims[0], *rows, columns)),)

    @classmethod
    def evaluate(
        cls, x: Array, panels: Array, *, columns: int, pads: tuple[tuple[int, int], ...],
        tile: int, stride: int = 1,
    ) -> Sequence[Array]:  # fmt: skip
        """Transform tiles, multiply, transform back, in f64."""
        form = form_of(tile, stride)
        count, height, width, channels = x.shape
        sizes = [
            (d + low + high - TAPS) // stride + 1
            for d, (low, high) in zip((height, width), pads, strict=True)
        ]
        tiles = [-(-size // tile) for size in sizes]
        (top, _), (left, _) = pads
        wide = np.zeros(
            (count, *(low + d + tile * stride + TAPS for low, d in ((top, height), (left, width))),
             channels)
        )  # fmt: skip
        wide[:, top : top + height, left : left + width] = x
        places = [tile * stride * np.arange(t)[:, None] + np.arange(form.seen) for t in tiles]
        parts = wide[:, places[0]][:, :, :, places[1]]
        image = np.einsum("ai,nyixjc,bj->abnyxc", form.image, parts, form.image, optimize=True)
        weights = np.moveaxis(panels.astype(np.float64), 0, 2)
        weights = weights.reshape(form.planes, form.planes, channels, -1)[..., :columns]
        weights = weights[list(form.plane_of)][:, list(form.plane_of)]
        made = image.reshape(form.seen, form.seen, -1, channels) @ weights
        made = made.reshape(form.seen, form.seen, count, *tiles, columns)
        made = np.einsum("pa,abnyxo,qb->nypxqo", form.result, made, form.result, optimize=True)
        made = made.reshape(count, tiles[0] * tile, tiles[1] * tile, columns)
        return (round_to(made[:, : sizes[0], : sizes[1]], spec_of_array(x).dtype),)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the products of each place of each tile, whole tiles."""
        form = form_of(attributes["tile"], attributes["stride"])
        images, rows, columns, filters = results[0].static_shape
        tiles = images * -(-rows // form.tile) * -(-columns // form.tile)
        return Work.products(tiles * form.seen**2 * filters * operands[1].static_shape[2])


__all__ = ["Form", "WinogradPacked", "form_of", "transform_weights"]

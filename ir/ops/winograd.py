"""Winograd's form of a 3x3 convolution: tiles of 4x4 results from 36 products instead of 144.

    Y = At [ (G g Gt) * (Bt d B) ] A        d: 6x6 of the image, g: 3x3 weights, Y: 4x4 results

F(4x4, 3x3) with the points 0, 1, -1, 2, -2 and infinity. Results in f32 differ from a direct sum
by about 1e-5 of the largest, ten times what the direct sum errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..dims import Dim, ceil_divide
from ..numerics import round_to
from ..op import REGISTRY, Array, Op, register
from ..samples import Sample
from ..tensor import TensorSpec, spec_of_array

TILE = 4
"""Rows and columns of results of a tile."""
SEEN = TILE + 2
"""Rows and columns of the image that a tile sees."""

BT = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ],
    np.float64,
)
G = np.array(
    [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ],
    np.float64,
)
AT = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]],
    np.float64,
)


def transform_weights(emit: Any, weight: Any, spec: TensorSpec, tile: int) -> Any:
    """Return the panels [P, 36, I, tile] of weights [O, I, 3, 3], made by graph operations."""
    outputs, inputs = (int(d) for d in spec.dims[:2])  # type: ignore[arg-type]
    both = np.kron(G, G).T.astype(spec.dtype.numpy)
    flat = emit(REGISTRY["gv.reshape"], weight, shape=(outputs * inputs, 9))
    made = emit(REGISTRY["gv.matmul"], flat, emit(REGISTRY["gv.constant"], value=both))
    made = emit(REGISTRY["gv.reshape"], made, shape=(outputs, inputs, SEEN * SEEN))
    made = emit(REGISTRY["gv.transpose"], made, order=(2, 1, 0))
    panels = -(-outputs // tile)
    rest = panels * tile - outputs
    if rest:
        made = emit(REGISTRY["gv.pad"], made, pads=((0, 0), (0, 0), (0, rest)))
    made = emit(REGISTRY["gv.reshape"], made, shape=(SEEN * SEEN, inputs, panels, tile))
    return emit(REGISTRY["gv.transpose"], made, order=(2, 0, 1, 3))


@register
class WinogradPacked(Op):
    """A 3x3 convolution of [N, H, W, C] with transformed weights [P, 36, C, tile], by tiles."""

    name = "gv.winograd_packed"
    SAMPLES: ClassVar = (
        Sample(((1, 6, 7, 3), (2, 36, 3, 4)), {"columns": 7, "pads": ((1, 1), (1, 0))}),
        Sample(((2, 4, 9, 2), (1, 36, 2, 4)), {"columns": 4, "pads": ((0, 0), (2, 1))}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, panels: TensorSpec, *, columns: Dim, pads: tuple[tuple[int, int], ...]
    ) -> Sequence[TensorSpec]:
        """Return [N, H', W', columns]."""
        if x.dtype != panels.dtype:
            raise TypeError(f"element types differ: {x.dtype} and {panels.dtype}")
        if x.rank != 4 or panels.rank != 4 or panels.dims[1] != SEEN * SEEN:
            raise TypeError(f"operands {x} and {panels}, expected [N, H, W, C], [P, 36, C, tile]")
        if x.dims[-1] != panels.dims[2]:
            raise TypeError(f"channels differ: {x.dims[-1]} and {panels.dims[2]}")
        if ceil_divide(columns, int(panels.dims[3])) != panels.dims[0]:  # type: ignore[arg-type]
            raise TypeError(f"{panels.dims[0]} panels do not hold {columns} columns")
        rows = [d + (low + high - 2) for d, (low, high) in zip(x.dims[1:3], pads, strict=True)]
        return (x.with_shape((x.dims[0], *rows, columns)),)

    @classmethod
    def evaluate(
        cls, x: Array, panels: Array, *, columns: int, pads: tuple[tuple[int, int], ...]
    ) -> Sequence[Array]:
        """Transform tiles, multiply, transform back, in f64."""
        count, height, width, channels = x.shape
        sizes = [d + low + high - 2 for d, (low, high) in zip((height, width), pads, strict=True)]
        tiles = [-(-size // TILE) for size in sizes]
        wide = np.zeros((count, *(t * TILE + 2 for t in tiles), channels))
        (top, _), (left, _) = pads
        seen = [
            (min(d, w - low)) for d, w, low in zip((height, width), wide.shape[1:3], (top, left),
                                                   strict=True)
        ]  # fmt: skip
        wide[:, top : top + seen[0], left : left + seen[1]] = x[:, : seen[0], : seen[1]]
        places = [TILE * np.arange(t)[:, None] + np.arange(SEEN) for t in tiles]
        parts = wide[:, places[0]][:, :, :, places[1]]
        image = np.einsum("ai,nyixjc,bj->abnyxc", BT, parts, BT, optimize=True)
        weights = np.moveaxis(panels.astype(np.float64), 0, 2)
        weights = weights.reshape(SEEN * SEEN, channels, -1)[:, :, :columns]
        made = image.reshape(SEEN * SEEN, -1, channels) @ weights
        made = made.reshape(SEEN, SEEN, count, *tiles, columns)
        made = np.einsum("pa,abnyxo,qb->nypxqo", AT, made, AT, optimize=True)
        made = made.reshape(count, tiles[0] * TILE, tiles[1] * TILE, columns)
        return (round_to(made[:, : sizes[0], : sizes[1]], spec_of_array(x).dtype),)


__all__ = ["AT", "BT", "SEEN", "TILE", "G", "WinogradPacked", "transform_weights"]

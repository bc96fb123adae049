"""Register tiles: how many rows and vectors of columns a product is computed by.

The accumulators, one row of B and one splat of A must fit the registers:
rows * vectors + vectors + 1 <= registers. Wide tiles load less of A, tall ones less of B.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....ir.types.dims import Dim
from ....ir.types.dtypes import DType, f32
from ....target import Target
from .choices import decide

TALLEST = 14
"""The most rows of a register tile."""
DEEP = 1024
"""The most of the depth that is summed at a time where a block has several tiles."""


def lanes_of(target: Target, dtype: DType) -> int:
    """Return how many elements of a dtype a register holds."""
    return max(1, target.lanes * 4 // dtype.size)


def lanes_in(target: Target, dtype: DType, width: int) -> int:
    """Return the lanes of the vectors in a panel: half of a register's if those do not fill it."""
    lanes = lanes_of(target, dtype)
    return lanes if width % lanes == 0 else lanes // 2


def rows_for(target: Target, vectors: int) -> int:
    """Return the most rows that fit the registers, not more than `TALLEST`."""
    return max(1, min(TALLEST, (target.registers - vectors - 1) // vectors))


def vectors_for(target: Target, rows: Dim, columns: int, dtype: DType) -> int:
    """Return the vectors of one panel for a product of these sizes.

    One row: eight, to hide the latency of the multiply-add. Else the widest of 4, 3, 2, 1
    (3, 2, 1 with 16 registers) that pads the columns least, and of which few rows need one tile
    only, so that B is read once.
    """
    lanes = lanes_of(target, dtype)
    if rows == 1:
        return max(1, min(8, (target.registers - 1) // 2, -(-columns // lanes)))
    widest = 4 if target.registers >= 32 else 3
    while isinstance(rows, int) and widest > 2 and rows_for(target, widest) < rows <= 14:
        widest -= 1
    choices = range(max(1, min(widest, -(-columns // lanes))), 0, -1)
    padded = {v: -(-columns // (v * lanes)) * v * lanes for v in choices}
    least = min(padded.values())
    near = [v for v in choices if padded[v] <= least * 1.07]
    return near[0]


def product_width(target: Target, rows: Dim, columns: int, dtype: DType) -> int:
    """Return the columns of one panel of a product, which may be of vectors of half the lanes."""
    lanes = lanes_of(target, dtype)
    halves = -(-2 * columns // lanes)
    if target.has_halves and dtype == f32 and rows != 1 and halves in (1, 3, 5):
        return halves * lanes // 2
    return panel_width(target, rows, columns, dtype)


def panel_width(target: Target, rows: Dim, columns: int, dtype: DType) -> int:
    """Return the columns of one panel, which can be tuned."""
    lanes = lanes_of(target, dtype)
    most = min(8 if rows == 1 else 4, (target.registers - 1) // 2, -(-columns // lanes))
    rule = vectors_for(target, rows, columns, dtype)
    name = f"panel_{dtype}_{rows}x{columns}"
    return decide(target, name, range(1, most + 1), rule) * lanes


FEW_CHANNELS = 16
"""Below this many channels, the channels of all taps along a row are walked together."""


def is_joined(channels: int, attributes: Mapping[str, Any]) -> bool:
    """Say whether a gradient of weights takes all taps along a row as one run of memory."""
    joins = attributes["window"][-1] > 1 and attributes["dilations"][-1] == 1
    return channels < FEW_CHANNELS and joins and attributes["pads"][-1] == (0, 0)

"""What the weights of a model look like: ranges, means, histograms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...runtime.buffer import Array

BINS = 40
MOST = 1 << 20
"""Elements that are looked at: of more, each n-th one."""


def weights_of(weights: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Return a row for each weight."""
    return [row_of(name, array) for name, array in weights.items()]


def row_of(name: str, array: Array) -> dict[str, Any]:
    """Return what one weight looks like; text and complex numbers have no histogram."""
    row: dict[str, Any] = {
        "name": name, "dtype": str(array.dtype), "shape": list(array.shape),
        "bytes": array.nbytes,
    }  # fmt: skip
    if array.dtype.kind in "OSUc" or not array.size:
        return row
    flat = array.reshape(-1)
    taken = flat[:: -(-flat.size // MOST)].astype(np.float64)
    finite = taken[np.isfinite(taken)]
    row |= {"not_finite": int(taken.size - finite.size), "zeros": float((taken == 0).mean())}
    row["sampled"] = taken.size < flat.size
    if not finite.size:
        return row
    low, high = float(finite.min()), float(finite.max())
    counts, _ = np.histogram(finite, BINS, (low, high if high > low else low + 1))
    middle = {"mean": float(finite.mean()), "std": float(finite.std())}
    return row | {"min": low, "max": high, **middle, "counts": counts.tolist()}

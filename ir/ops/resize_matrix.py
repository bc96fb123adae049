"""Resizing along one axis by taps, or as a product with a matrix: for what `gv.resize` does not do.

That is antialiasing, where an element of the result is made of many, and cropping, where the
region of interest is a part of the image.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor

import numpy as np

from ..op import Array
from .resize import HALF_WAY

MOST_ELEMENTS = 1 << 24
"""Taps beyond which making them would take minutes."""


@dataclass(frozen=True)
class Stretch:
    """How one axis is resized."""

    extent: int
    result: int
    factor: float
    mode: str
    coordinate: str
    nearest: str
    cubic: float
    antialias: bool
    exclude_outside: bool
    region: tuple[float, float]
    """Begin and end of what is cropped, as parts of the axis."""


def places(how: Stretch) -> Array:
    """Return where in the axis each element of the result lies."""
    at = np.arange(how.result, dtype=np.float64)
    last, wide = how.extent - 1, how.factor * how.extent
    match how.coordinate:
        case "align_corners":
            found = at * last / (wide - 1) if wide != 1 else at * 0
        case "asymmetric":
            found = _divided(at, how.factor)
        case "tf_crop_and_resize":
            found = _cropped(how)
        case "pytorch_half_pixel" if how.result == 1:
            found = at
        case "half_pixel_symmetric":
            short = np.float32
            share = short(how.result) / short(wide)
            offset = float(short(how.extent / 2) * (short(1) - share))
            found = (offset + (at + 0.5) / how.factor - 0.5).astype(np.float32).astype(np.float64)
        case _:
            found = _divided(at + 0.5, how.factor) - 0.5
    return np.asarray(found)


def _cropped(how: Stretch) -> Array:
    """Return the places of what is cropped.

    Each step is of 32 bits, as onnxruntime has it: in more, what ends with the axis might end a
    bit beyond it, where the fill is.
    """
    low, high = map(np.float32, how.region)
    last = np.float32(how.extent - 1)
    if how.result == 1:
        return np.full(1, 0.5 * float((low + high) * last))
    at = np.arange(how.result, dtype=np.float32)
    found = low * last + at * (high - low) * last / np.float32(how.result - 1)
    return np.asarray(found.astype(np.float64))


def _divided(places: Array, factor: float) -> Array:
    """Return quotients of 32 bits, as `gv.resize` has them."""
    return np.asarray((places / factor).astype(np.float32).astype(np.float64))


@lru_cache(maxsize=64)
def weights(how: Stretch) -> Array:
    """Return the matrix [result, extent] whose rows say what each element is made of."""
    made = np.zeros((how.result, how.extent))
    indices, shares = taps(how)
    np.add.at(made, (np.arange(how.result)[:, None], indices), shares)
    return made


@lru_cache(maxsize=64)
def taps(how: Stretch) -> tuple[Array, Array]:
    """Return which elements each of the result is made of, and of how much: [result, taps] both.

    What counts nothing is left out. Where there are fewer than elsewhere, the last stands again,
    and counts nothing.
    """
    scale = min(how.factor, 1.0) if how.antialias else 1.0
    most = how.result * 4 / scale if scale else 0
    if most > MOST_ELEMENTS:
        raise ValueError(
            f"resizing {how.extent} to {how.result} elements takes {most:.0f} taps, "
            f"expected at most {MOST_ELEMENTS}"
        )
    rows: list[list[tuple[int, float]]] = []
    for at in places(how):
        found: dict[int, float] = {}
        for index, weight in _taps(how, float(at)):
            within = min(max(index, 0), how.extent - 1)
            found[within] = found.get(within, 0.0) + weight
        rows.append([(index, weight) for index, weight in found.items() if weight] or [(0, 0.0)])
    count = max(map(len, rows), default=1)
    full = [row + [(row[-1][0], 0.0)] * (count - len(row)) for row in rows]
    made = np.array(full, np.float64).reshape(how.result, count, 2)
    return made[:, :, 0].astype(np.int64), made[:, :, 1]


def outside(how: Stretch) -> Array:
    """Return which elements of the result lie outside of the axis."""
    at = places(how)
    return np.asarray((at < 0) | (at > how.extent - 1))


def _taps(how: Stretch, at: float) -> list[tuple[int, float]]:
    """Return the elements, as index and weight, that a place is made of."""
    if how.mode == "nearest":
        return [(_rounded(at, how.nearest), 1.0)]
    reach = 1 if how.mode == "linear" else 2
    scale = min(how.factor, 1.0) if how.antialias else 1.0
    base = floor(at) - (1 if at == floor(at) else 0)
    share = at - base
    first = floor(-reach / scale) + 1
    kernel = _linear if how.mode == "linear" else _cubic
    offsets = range(first, 2 - first)
    found = [(base + i, kernel((i - share) * scale, how.cubic)) for i in offsets]
    if how.exclude_outside:
        found = [(i, w if 0 <= i < how.extent else 0.0) for i, w in found]
    total = sum(w for _, w in found)
    return [(i, w / total) for i, w in found]


def _rounded(at: float, nearest: str) -> int:
    match nearest:
        case "floor":
            return floor(at)
        case "ceil":
            return -floor(-at)
        case "round_prefer_ceil":
            return floor(at + 0.5 + HALF_WAY)
        case _:
            return -floor(0.5 + HALF_WAY - at)


def _linear(distance: float, _: float) -> float:
    return max(1 - abs(distance), 0.0)


def _cubic(distance: float, a: float) -> float:
    x = abs(distance)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

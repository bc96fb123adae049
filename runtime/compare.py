"""How far results are from those they should be: absolute, relative, and in ulps.

    >>> difference = compare(np.float32([1.0, 2.0]), np.float32([1.0, 2.5]), Tolerance())
    >>> difference.is_close, difference.absolute, difference.relative
    (False, 0.5, 0.2)

A NaN is equal to a NaN, and an infinity to the same infinity only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .buffer import Array


@dataclass(frozen=True)
class Tolerance:
    """What may differ: |found - wanted| <= absolute + relative * |wanted|, or so many ulps."""

    relative: float = 1e-4
    absolute: float = 1e-5
    ulps: int = 0
    """An element that is this near is close, whatever its size."""


@dataclass(frozen=True)
class Difference:
    """How one result differs from what was wanted."""

    absolute: float
    """The largest difference."""
    relative: float
    """The largest difference, each relative to the wanted element."""
    ulps: int
    """The most representable numbers between two elements; -1 for what has no such order."""
    wrong: int
    """How many elements are further off than they may be."""
    size: int
    worst: tuple[int, ...] | None = None
    """Where the element is that is furthest off in terms of the tolerance, if any is wrong."""
    found: str = ""
    wanted: str = ""
    """That element, as text."""
    reason: str = ""
    """Why the two cannot be compared: another shape or type."""

    @property
    def is_close(self) -> bool:
        """Say whether all of it is within the tolerance."""
        return not self.wrong and not self.reason

    def as_json(self) -> dict[str, Any]:
        """Return the numbers by name."""
        worst = None if self.worst is None else list(self.worst)
        numbers = {k: _plain(v) for k, v in asdict(self).items()}
        return {**numbers, "worst": worst, "close": self.is_close}


def compare(found: Array, wanted: Array, tolerance: Tolerance) -> Difference:
    """Return how `found` differs from `wanted`."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        reason = f"found {found.dtype}{[*found.shape]}, expected {wanted.dtype}{[*wanted.shape]}"
        return Difference(float("inf"), float("inf"), -1, found.size, found.size, reason=reason)
    if not found.size:
        return Difference(0.0, 0.0, 0, 0, 0)
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    first, second = found.astype(wide), wanted.astype(wide)
    with np.errstate(all="ignore"):
        same = (found == wanted) | (np.isnan(first) & np.isnan(second))
        absolute = np.where(same, 0.0, np.abs(first - second))
        relative = np.where(same, 0.0, absolute / np.abs(second))
        allowed = tolerance.absolute + tolerance.relative * np.abs(second)
        excess = np.where(same, 0.0, np.nan_to_num(absolute / allowed, nan=np.inf, posinf=np.inf))
    distance = ulps_between(found, wanted)
    near = same | (excess <= 1.0)
    if distance is not None and tolerance.ulps:
        near |= distance <= tolerance.ulps
    wrong = int(np.count_nonzero(~near))
    place = np.unravel_index(int(np.argmax(np.where(near, 0.0, excess + 1))), found.shape)
    return Difference(
        _largest(absolute),
        _largest(relative),
        -1 if distance is None else int(distance.max()),
        wrong,
        found.size,
        worst=tuple(int(i) for i in place) if wrong else None,
        found=str(found[place]) if wrong else "",
        wanted=str(wanted[place]) if wrong else "",
    )


def ulps_between(first: Array, second: Array) -> Array | None:
    """Return how many representable numbers lie between two elements; None for complex ones.

    Of integers it is the difference. From a NaN to anything else it is the largest number.
    """
    kind = first.dtype.kind
    if kind == "c":
        return None
    if kind in "biu":
        distance: Array = np.abs(first.astype(np.int64) - second.astype(np.int64))
        return distance
    one, two = _ordered(first), _ordered(second)
    nans = np.isnan(first.astype(np.float64)), np.isnan(second.astype(np.float64))
    low, high = np.minimum(one, two), np.maximum(one, two)
    distance = np.minimum(high.astype(np.uint64) - low.astype(np.uint64), np.iinfo(np.int64).max)
    apart: Array = np.asarray(distance.astype(np.int64))
    apart[nans[0] & nans[1]] = 0
    apart[nans[0] ^ nans[1]] = np.iinfo(np.int64).max
    return apart


def _ordered(array: Array) -> Array:
    """Return integers in the order of the floats, so that neighbours differ by one."""
    bits = array.view(np.dtype(f"i{array.dtype.itemsize}")).astype(np.int64)
    lowest = np.int64(-(1 << (8 * array.dtype.itemsize - 1)))
    return np.where(bits < 0, lowest - bits, bits)


def _largest(values: Array) -> float:
    """Return the largest value, NaN if there is one."""
    return float(values.max())


def _plain(value: Any) -> Any:
    """Return a float that JSON does not have as text."""
    return value if not isinstance(value, float) or np.isfinite(value) else str(value)

"""What summaries hold: numbers, distributions, sounds, tensors with what shows them."""

from __future__ import annotations

import io
import wave
from functools import cache
from typing import Any

import numpy as np

from ...ir.op import Array
from ..values.run_errors import InvalidArgumentError
from .messages import HistogramProto, Summary, SummaryMetadata
from .tensors import to_message

GROWTH, LEAST, MOST = 1.1, 1e-12, 1e20
"""Each limit of a distribution is a tenth above the one before, between these."""
SCALARS, TENSORS, BLOBS = 1, 2, 3
"""The classes of data that TensorBoard knows."""
LARGEST = float(np.finfo(np.float64).max)


@cache
def limits() -> Array:
    """Return the upper limits of a distribution's parts."""
    up = []
    value = LEAST
    while value < MOST:
        up.append(value)
        value *= GROWTH
    return np.array([*(-x for x in reversed([*up, LARGEST])), 0.0, *up, LARGEST])


@cache
def _first_places() -> Array:
    """Return where the least number of each pattern of a number's upper 16 bits belongs.

    These are the sign, the exponent and four bits of the fraction: numbers of one pattern differ
    by less than a tenth, so that there is at most one limit among them.
    """
    patterns = np.arange(1 << 16, dtype=np.uint64)
    lowest = patterns << np.uint64(48)
    lowest |= np.where(patterns >> np.uint64(15), np.uint64((1 << 48) - 1), np.uint64(0))
    edges = limits()
    return np.minimum(np.searchsorted(edges, lowest.view(np.float64), "right"), len(edges) - 1)


def _places(flat: Array) -> Array:
    """Return in which part each number is: those of equal limits go to the part above."""
    edges = limits()
    places = _first_places()[flat.view(np.uint64) >> np.uint64(48)]
    places += flat >= edges[places]
    made: Array = np.minimum(places, len(edges) - 1)
    return made


def histogram(values: Array) -> HistogramProto:
    """Return a distribution in parts that grow: parts without values that follow are one."""
    flat = np.ascontiguousarray(values, np.float64).ravel()
    with np.errstate(over="ignore"):
        squares = np.square(flat).sum()
        made = HistogramProto(num=flat.size, sum=flat.sum(), sum_squares=squares)
    made.min, made.max = (flat.min(), flat.max()) if flat.size else (LARGEST, -LARGEST)
    edges = limits()
    counts = np.bincount(_places(flat), minlength=len(edges))
    kept = counts > 0
    kept[:-1] |= kept[1:]
    kept[-1] = True
    made.bucket_limit.extend(edges[kept].tolist())
    made.bucket.extend(counts[kept].tolist())
    return made


def even_histogram(values: Array, parts: int) -> Array:
    """Return a distribution in equal parts: a row of left end, right end and count for each."""
    flat = np.asarray(values, np.float64).ravel()
    if not flat.size or not parts:
        return np.zeros((parts, 3))
    low, high = flat.min(), flat.max()
    if low == high:
        counts = np.zeros(parts)
        counts[-1] = flat.size
        return np.stack([np.full(parts, low), np.full(parts, high), counts], axis=1)
    places = np.minimum(((flat - low) / ((high - low) / parts)).astype(np.int64), parts - 1)
    edges = np.linspace(low, high, parts + 1)
    counts = np.bincount(places, minlength=parts).astype(np.float64)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


def metadata(
    plugin: str, kind: int = 0, description: str = "", name: str = "", content: bytes = b""
) -> SummaryMetadata:
    """Return what says how a tensor is shown."""
    made = SummaryMetadata(
        display_name=name, summary_description=description or "", data_class=kind
    )
    made.plugin_data.plugin_name, made.plugin_data.content = plugin, content
    return made


def of_tensor(tag: str, array: Array, shown: SummaryMetadata) -> Summary:
    """Return a summary of a tensor."""
    made = Summary()
    value = made.value.add(tag=tag, tensor=to_message(array))
    value.metadata.CopyFrom(shown)
    return made


def checked(values: Array, tag: str, what: str) -> Array:
    """Return numbers that are all finite, or raise `InvalidArgumentError`."""
    found = np.asarray(values)
    if not np.isfinite(found.astype(np.float64)).all():
        kind = "Nan" if np.isnan(found.astype(np.float64)).any() else "Infinity"
        raise InvalidArgumentError(f"{kind} in summary {what} for: {tag}")
    return found


def as_bytes_image(image: Array) -> Array:
    """Return an image as bytes: the largest value is white; with negative ones, 0 is grey."""
    if image.dtype == np.uint8:
        return image
    wide = image.astype(np.float64)
    fine = np.isfinite(wide)
    known = wide[fine]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    scale, offset = 0.0, 0.0
    if low < 0:
        most = max(abs(low), abs(high))
        scale, offset = (127.0 / most if most >= 1e-7 else 0.0), 128.0
    elif high >= 1e-7:
        scale = 255.0 / high
    made = np.clip(np.where(fine, wide, 0.0) * scale + offset, 0, 255).astype(np.uint8)
    if not fine.all():
        bad = np.array([255, 0, 0, 255], np.uint8)[: image.shape[-1]]
        made[~fine.all(axis=-1)] = bad
    return made


def sound(samples: Array, rate: float) -> bytes:
    """Return sound as a WAV file of 16 bits; samples are in rows of channels, from -1 to 1."""
    numbers = np.clip(np.round(samples * 32767.0), -32768, 32767).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as made:
        made.setnchannels(samples.shape[1])
        made.setsampwidth(2)
        made.setframerate(max(round(rate), 1))  # (a file has a whole number)
        made.writeframes(numbers.tobytes())
    return file.getvalue()


def merged(parts: list[bytes]) -> bytes:
    """Return several summaries as one; each tag comes once."""
    seen = set[str]()
    for each in parts:
        found: Any = Summary.FromString(each)
        for value in found.value:
            if value.tag in seen:
                raise InvalidArgumentError(f"Duplicate tag {value.tag} found in summary inputs")
            seen.add(value.tag)
    return b"".join(parts)  # which is what a message of all values is

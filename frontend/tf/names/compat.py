"""`tf.compat`: texts and bytes, extents of either version, and the versions themselves."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping

import numpy as np

from ..core.dimensions import Dimension
from ..core.shapes import dimension_at_index
from ..core.space import Space


def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Return a text or bytes as bytes."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: object, encoding: str = "utf-8") -> str:
    """Return a text or bytes as a text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Return any value as a text, bytes decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: object) -> object:
    """Return a path as a text or bytes; other things as they are."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def path_to_bytes(path: object) -> bytes:
    """Return a path as bytes."""
    return as_bytes(path_to_str(path))


def dimension_value(dimension: object) -> object:
    """Return an extent as a number, None if it is not known."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Say that no program of an older version has to read what is written: nothing differs."""
    return True


TEXTS: dict[str, object] = {
    "as_bytes": as_bytes,
    "as_text": as_text,
    "as_str": as_text,
    "as_str_any": as_str_any,
    "bytes_or_text_types": (bytes, str),
    "complex_types": (numbers.Complex, np.number),
    "dimension_at_index": dimension_at_index,
    "dimension_value": dimension_value,
    "forward_compatible": forward_compatible,
    "integral_types": (numbers.Integral, np.integer),
    "path_to_bytes": path_to_bytes,
    "path_to_str": path_to_str,
    "real_types": (numbers.Real, np.integer, np.floating),
}


def compat_space(first: object, second: Mapping[str, object] | object) -> Space:
    """Return the namespace, which holds both versions."""
    return Space("compat", v1=first, v2=second, **TEXTS)

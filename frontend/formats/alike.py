"""Hashes of many texts: those of one length are gone through together, in numpy's words of 64 bits.

A hash is written once, by `word` and `byte` and arithmetic modulo 2^64: of bytes, or of `Alike`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ...ir.types.tensor import Array

FEW = 12
"""So few texts of one length are faster one by one."""
Word = int
"""A word of a text; of texts that are alike an array of them, which has the same arithmetic."""


@dataclass(frozen=True)
class Alike:
    """Texts of one length, a row of bytes for each."""

    rows: Array

    def __len__(self) -> int:
        return int(self.rows.shape[1])


Text = bytes | Alike


def word(text: Text, at: int, size: int = 8) -> Word:
    """Return so many bytes as a number, the lowest first."""
    if isinstance(text, bytes):
        return int.from_bytes(text[at : at + size], "little")
    room = np.zeros((len(text.rows), 8), np.uint8)
    part = text.rows[:, at : at + size]
    room[:, : part.shape[1]] = part
    return cast("Word", room.view("<u8")[:, 0])


def byte(text: Text, at: int) -> Word:
    """Return one byte as a number; those below 0 are counted from the end."""
    if isinstance(text, bytes):
        return text[at]
    return cast("Word", text.rows[:, at].astype(np.uint64))


def hashes(function: Callable[[Text], Word], texts: Sequence[bytes]) -> Array:
    """Return a function's hash of each text."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    begins = np.cumsum(sizes) - sizes
    every = np.frombuffer(b"".join(texts), np.uint8)
    made = np.empty(len(texts), np.uint64)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        places = np.flatnonzero(sizes == size)
        if len(places) <= FEW or not size:
            made[places] = [function(texts[i]) for i in places.tolist()]
        else:
            windows = np.lib.stride_tricks.sliding_window_view(every, size)
            made[places] = function(Alike(windows[begins[places]]))
    return made


def hashes_of_rows(function: Callable[[Text], Word], rows: Array) -> Array:
    """Return a function's hash of the bytes of each row of a table of bytes."""
    if len(rows) <= FEW or not rows.shape[1]:
        return np.array([function(row.tobytes()) for row in rows], np.uint64)
    return np.asarray(function(Alike(rows)))

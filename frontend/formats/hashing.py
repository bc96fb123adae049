"""Hashes of many texts, by functions that go through them one after the other."""

from __future__ import annotations

import numpy as np

from ...codegen.serial.function import Serial
from ...ir.types.tensor import Array


def hashes(function: Serial, every: Array, sizes: Array, *key: int) -> Array:
    """Return a hash of each of some texts, which lie one behind the other."""
    made = np.empty(len(sizes), np.uint64)
    function(every, sizes, *key, made)
    return made


def hash_of(function: Serial, data: bytes, *key: int) -> int:
    """Return the hash of one text."""
    size = np.array([len(data)], np.int64)
    return int(hashes(function, np.frombuffer(data, np.uint8), size, *key)[0])

"""Sums of numbers that follow one another, each rounded as it is added."""

from __future__ import annotations

import numpy as np

from ...codegen.serial.function import F32s, F64s, I64s, serial, single
from ...ir.op import Array

TYPES = (np.dtype(np.float32), np.dtype(np.float64))
"""The element types of numbers that are added up here."""


def sums_of(data: Array, ends: Array) -> Array:
    """Return the sum of the numbers up to each end, from the one before on."""
    made = np.empty(len(ends), data.dtype)
    function = _narrow if data.dtype == np.float32 else _wide
    function(np.ascontiguousarray(data), np.ascontiguousarray(ends, np.int64), made)
    return made


@serial
def _narrow(data: F32s, ends: I64s, made: F32s) -> int:
    at = 0
    for row in range(len(ends)):
        total = 0.0
        for i in range(at, ends[row]):
            total = single(total + data[i])
        made[row], at = total, ends[row]
    return at


@serial
def _wide(data: F64s, ends: I64s, made: F64s) -> int:
    at = 0
    for row in range(len(ends)):
        total = 0.0
        for i in range(at, ends[row]):
            total += data[i]
        made[row], at = total, ends[row]
    return at

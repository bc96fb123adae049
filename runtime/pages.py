"""Keep the pages of results that are gone for those that come.

glibc gives memory back to the system as soon as an array of some MiB is freed, and the system
clears each page anew when the next one is written to: for eager operations on a million elements
that is most of their time. Told to keep some, it hands the same pages out again.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

from ..knobs import GLIBC_KNOBS

_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
LARGEST = 32 << 20
"""Bytes of the largest array that comes from kept memory: the most that glibc allows."""
KEPT = 256 << 20
"""Bytes that may lie free at the end of the heap before some are given back."""


@cache
def keep() -> bool:
    """Tell glibc to keep memory, and say whether it does; not where the user told it how to.

    Elsewhere than on glibc nothing is done: other allocators keep memory by themselves.
    """
    if platform.libc_ver()[0] != "glibc" or any(knob.text() for knob in GLIBC_KNOBS):
        return False
    tell = ctypes.CDLL(None).mallopt
    return bool(tell(_MMAP_THRESHOLD, LARGEST)) and bool(tell(_TRIM_THRESHOLD, KEPT))

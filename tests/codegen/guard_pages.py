"""Arrays at the edge of memory that cannot be touched."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_libc = ctypes.CDLL(None)


def guarded(array: Array, *, at_end: bool = True) -> Array:
    """Return a copy that ends where a page begins that cannot be touched, or begins behind one.

    The other side has such a page too, up to a page less one byte away.
    """
    page = mmap.PAGESIZE
    inner = max(1, -(-array.nbytes // page)) * page
    area = mmap.mmap(-1, inner + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for edge in (0, page + inner):
        address = ctypes.c_void_p(start + edge)
        assert _libc.mprotect(address, ctypes.c_size_t(page), 0) == 0, "a page is protected"
    offset = page + (inner - array.nbytes if at_end else 0)
    result = np.frombuffer(area, np.uint8, array.nbytes, offset).view(array.dtype)
    made: Array = result.reshape(array.shape)
    made[...] = array
    return made

"""CRC-32C of records: masked, so that a sum of bytes that hold sums is still a good one."""

from __future__ import annotations

import google_crc32c

MASK = 0xA282EAD8


def masked(data: bytes | memoryview) -> int:
    """Return the sum of bytes, turned by 15 bits and with a constant added.

    >>> hex(masked(b""))
    '0xa282ead8'
    """
    crc: int = google_crc32c.value(bytes(data))
    return ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF

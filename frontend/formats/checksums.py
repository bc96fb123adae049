"""CRC-32C of records: masked, so that a sum of bytes that hold sums is still a good one."""

from __future__ import annotations

import google_crc32c

MASK = 0xA282EAD8


def masked(data: bytes | memoryview) -> int:
    """Return the sum of bytes, turned by 15 bits and with a constant added.

    >>> hex(masked(b""))
    '0xa282ead8'
    """
    return turned(google_crc32c.value(bytes(data)))


def turned(crc: int) -> int:
    """Return a sum turned by 15 bits and with a constant added."""
    return ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF

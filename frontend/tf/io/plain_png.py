"""PNGs of the usual kind, decoded: channels of 8 bits, in rows from top to bottom.

What is of another kind, is large, or is not as it should be, is left to who knows all of them. Of
colours of 16 bits nobody else does, who keeps eight of them: they are read and written here.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from ....codegen.serial.function import U8s, serial
from ....ir.op import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""How many there are, by the number that says of what colours an image is."""
HEAD = 8 + 8 + 13 + 4
"""Where what follows the first chunk begins."""
MOST = 1 << 15
"""The most bytes that are decoded here: beyond, others are as fast."""
DEEP_MOST = 1 << 31
"""Those of channels of 16 bits."""


def plain_png(data: bytes, bits: int = 8) -> Array | None:
    """Return height, width and channels of a PNG; None if it is not of the usual kind."""
    if len(data) < HEAD or not data.startswith(SIGNATURE) or data[12:16] != b"IHDR":
        return None
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    depth, most = CHANNELS.get(data[25], 0), MOST if bits == 8 else DEEP_MOST
    step = width * depth * (bits // 8)
    is_usual = data[8:12] == b"\0\0\0\r" and data[24] == bits and data[26:29] == bytes(3)
    if not is_usual or not 0 < (step + 1) * height < most or not _is_whole(data, 8, 13):
        return None
    packed = _parts(data)
    rows = None if packed is None else _unpacked(packed, (step + 1) * height)
    if rows is None:
        return None
    made = np.empty((height, width, depth * (bits // 8)), np.uint8)
    done = _undo_filters(np.frombuffer(rows, np.uint8), made, height, step, made.shape[2])
    if done != height:
        return None
    return made if bits == 8 else made.view(">u2").astype(np.uint16)


def deep_png(array: Array, compression: int) -> bytes:
    """Return an image whose channels have 16 bits as a PNG."""
    height, width, depth = array.shape
    colours = next(kind for kind, count in CHANNELS.items() if count == depth)
    rows = np.zeros((height, 1 + width * depth * 2), np.uint8)  # (0 before a row: as it is)
    rows[:, 1:] = array.astype(">u2").reshape(height, -1).view(np.uint8)
    head = struct.pack(">IIBBBBB", width, height, 16, colours, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), compression)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    """Return a part of a PNG: its size before it, its checksum behind it."""
    whole = kind + content
    return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))


def _is_whole(data: bytes, at: int, size: int) -> bool:
    """Say whether the chunk at a place has the checksum that stands behind it."""
    end = at + 8 + size
    return zlib.crc32(data[at + 4 : end]) == int.from_bytes(data[end : end + 4], "big")


def _parts(data: bytes) -> bytes | None:
    """Return the packed rows, if nothing but these follows the first chunk, and the end."""
    at, found = HEAD, list[bytes]()
    while at + 12 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if kind == b"IEND":
            return b"".join(found)
        if kind != b"IDAT" or at + 12 + size > len(data) or not _is_whole(data, at, size):
            return None
        found.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    return None


def ends_whole(data: bytes) -> bool:
    """Say whether a PNG has its end, and what has to be read is as it was written until there."""
    at, is_end = len(SIGNATURE), False
    while not is_end:
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if at + 12 + size > len(data) or (kind[:1].isupper() and not _is_whole(data, at, size)):
            return False
        at, is_end = at + 12 + size, kind == b"IEND"
    return True


def _unpacked(packed: bytes, size: int) -> bytes | None:
    """Return so many bytes that were packed; None if there are others."""
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(packed, size + 1)
    except zlib.error:
        return None
    return found if len(found) == size and reader.eof else None


@serial
def _undo_filters(rows: U8s, made: U8s, height: int, step: int, depth: int) -> int:
    """Add to each byte what was taken from it: what its neighbours say; return how many rows."""
    for row in range(height):
        source, to = row * (step + 1) + 1, row * step
        kind, above = rows[source - 1], to - step
        if kind > 4:
            return row
        for i in range(step):
            left = made[to + i - depth] if i >= depth else 0
            up = made[above + i] if row > 0 else 0
            found = rows[source + i]
            if kind == 1:
                found += left
            elif kind == 2:
                found += up
            elif kind == 3:
                found += (left + up) // 2
            elif kind == 4:
                corner = made[above + i - depth] if row > 0 and i >= depth else 0
                found += _nearest(left, up, corner)
            made[to + i] = found & 255
    return height


def _nearest(left: int, up: int, corner: int) -> int:
    """Return the neighbour that is nearest to a plane through the three."""
    by_left, by_up = abs(up - corner), abs(left - corner)
    by_corner = abs(left + up - 2 * corner)
    if by_left <= by_up and by_left <= by_corner:
        return left
    return up if by_up <= by_corner else corner

"""PNGs of the usual kind: channels of 8 or 16 bits, in rows from top to bottom.

All are written here. What is read and of another kind, or not as it should be, is left to who knows
all of them, but for colours of 16 bits, of which nobody else keeps more than eight.

Images lie between zeros here, with a row of them above and a pixel before each row, so that each
byte has neighbours: the one to its left, the one above, and the corner before that.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np

from ....codegen.serial.function import U8s, serial
from ....ir.op import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""How many there are, by the number that says of what colours an image is."""
HEAD = 8 + 8 + 13 + 4
"""Where what follows the first chunk begins."""
MOST = 1 << 31
"""The most bytes that are decoded here."""
FILTERS = 5
"""How many ways there are to say what a byte's neighbours say of it."""
MEMORY = 8
"""Of zlib, which says so if nobody asks."""


def plain_png(data: bytes, bits: int = 8) -> Array | None:
    """Return height, width and channels of a PNG; None if it is not of the usual kind."""
    if len(data) < HEAD or not data.startswith(SIGNATURE) or data[12:16] != b"IHDR":
        return None
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    depth = CHANNELS.get(data[25], 0) * (bits // 8)
    step = width * depth
    is_usual = data[8:12] == b"\0\0\0\r" and data[24] == bits and data[26:29] == bytes(3)
    if not is_usual or not 0 < (step + 1) * height < MOST or not _is_whole(data, 8, 13):
        return None
    packed = _parts(data)
    rows = None if packed is None else _unpacked(packed, (step + 1) * height)
    if rows is None:
        return None
    lines = np.zeros((height + 1, depth + step), np.uint8)
    if _undo_filters(np.frombuffer(rows, np.uint8), lines, height, step, depth) != height:
        return None
    made = np.ascontiguousarray(lines[1:, depth:]).reshape(height, width, depth)
    return made if bits == 8 else made.view(">u2").astype(np.uint16)


def png_of(array: Array, compression: int) -> bytes:
    """Return an image whose channels have 8 or 16 bits as a PNG."""
    height, width, channels = array.shape
    colours = next(kind for kind, count in CHANNELS.items() if count == channels)
    depth = channels * array.itemsize
    step = width * depth
    lines = np.zeros((height + 1, depth + step), np.uint8)
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder(">"))
    lines[1:, depth:] = plain.reshape(height, -1).view(np.uint8)
    rows = np.empty((height, 1 + step), np.uint8)
    _filter(lines, np.empty(FILTERS * step, np.uint8), rows, height, step, depth)
    packer = zlib.compressobj(compression, zlib.DEFLATED, zlib.MAX_WBITS, MEMORY, zlib.Z_FILTERED)
    packed = b"".join([packer.compress(rows.data), packer.flush()])
    head = struct.pack(">IIBBBBB", width, height, 8 * array.itemsize, colours, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", packed), (b"IEND", b"")]
    return b"".join([SIGNATURE, *(piece for part in parts for piece in _chunk(*part))])


def _chunk(kind: bytes, content: bytes) -> Sequence[bytes]:
    """Return the pieces of a part of a PNG: its size before it, its checksum behind it."""
    sum_ = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)), kind, content, struct.pack(">I", sum_)


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
def _undo_filters(rows: U8s, lines: U8s, height: int, step: int, depth: int) -> int:
    """Add to each byte what was taken from it: what its neighbours say; return how many rows."""
    for row in range(height):
        source, to = row * (step + 1) + 1, (row + 1) * (step + depth) + depth
        kind, above = rows[source - 1], to - step - depth
        if kind >= FILTERS:
            return row
        if kind == 0:
            for i in range(step):
                lines[to + i] = rows[source + i]
        elif kind == 1:
            for i in range(step):
                lines[to + i] = rows[source + i] + lines[to + i - depth] & 255
        elif kind == 2:
            for i in range(step):
                lines[to + i] = rows[source + i] + lines[above + i] & 255
        elif kind == 3:
            _add_means(rows, lines, source, to, step, depth)
        else:
            _add_nearest(rows, lines, source, to, step, depth)
    return height


def _add_means(rows: U8s, lines: U8s, source: int, to: int, step: int, depth: int) -> int:
    """Add to each byte of a row the mean of the neighbours to its left and above."""
    above = to - step - depth
    for i in range(step):
        both = lines[to + i - depth] + lines[above + i]
        lines[to + i] = rows[source + i] + (both >> 1) & 255
    return step


def _add_nearest(rows: U8s, lines: U8s, source: int, to: int, step: int, depth: int) -> int:
    """Add to each byte of a row the neighbour that is nearest to a plane through the three.

    That is the lower of the other two where the corner is far above them, the higher one where it
    is far below, and the corner in between: distances would be compared one after the other.
    """
    above = to - step - depth
    for i in range(step):
        left, up, corner = lines[to + i - depth], lines[above + i], lines[above + i - depth]
        low, high, bound = min(left, up), max(left, up), 3 * corner - left - up
        near = low if high <= bound else corner
        lines[to + i] = rows[source + i] + (high if bound <= low else near) & 255
    return step


@serial
def _filter(lines: U8s, tried: U8s, rows: U8s, height: int, step: int, depth: int) -> int:
    """Take from each byte what its neighbours say: of a row, as leaves the least."""
    for row in range(height):
        at, to = (row + 1) * (step + depth) + depth, row * (step + 1) + 1
        above = at - step - depth
        for i in range(step):
            x, left, up = lines[at + i], lines[at + i - depth], lines[above + i]
            corner = lines[above + i - depth]
            low, high, bound = min(left, up), max(left, up), 3 * corner - left - up
            near = low if high <= bound else corner
            tried[i] = x
            tried[step + i] = x - left & 255
            tried[2 * step + i] = x - up & 255
            tried[3 * step + i] = x - (left + up >> 1) & 255
            tried[4 * step + i] = x - (high if bound <= low else near) & 255
        best, least = 0, 256 * step
        for kind in range(FILTERS):
            left_over = 0
            for i in range(step):
                x = tried[kind * step + i]
                left_over += min(x, 256 - x)
            if left_over < least:
                best, least = kind, left_over
        rows[to - 1] = best
        for i in range(step):
            rows[to + i] = tried[best * step + i]
    return height

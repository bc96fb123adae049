"""FarmHash's 64-bit fingerprint of bytes, by which TensorFlow puts words into buckets."""

from __future__ import annotations

from ...codegen.serial.function import I64s, U8s, U64s, Word, little, serial
from .hashing import hash_of

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def farm(data: bytes) -> int:
    """Return FarmHash's fingerprint."""
    return hash_of(farms, data, 0)


@serial
def farms(every: U8s, sizes: I64s, buckets: Word, made: U64s) -> int:
    """Make the fingerprint of each text, or its bucket where there are some."""
    at = 0
    for i in range(len(sizes)):
        found = _farm(every, at, sizes[i])
        made[i] = found % buckets if buckets else found
        at += sizes[i]
    return 0


def _farm(data: U8s, at: int, size: int) -> Word:
    if size <= 16:
        return _short(data, at, size)
    if size <= 32:
        factor = K2 + size * 2 & MASK
        a, b = little(data, at, 8) * K1 & MASK, little(data, at + 8, 8)
        c = little(data, at + size - 8, 8) * factor & MASK
        d = little(data, at + size - 16, 8) * K2 & MASK
        first = _turned(a + b, 43) + _turned(c, 30) + d & MASK
        return _mixed(first, a + _turned(b + K2, 18) + c & MASK, factor)
    return _middle(data, at, size) if size <= 64 else _long(data, at, size)


def _turned(x: Word, by: int) -> Word:
    """Rotate to the right."""
    x &= MASK
    return (x >> by | x << (64 - by)) & MASK


def _shifted(x: Word) -> Word:
    x &= MASK
    return x ^ x >> 47


def _mixed(u: Word, v: Word, factor: Word) -> Word:
    a = _shifted((u ^ v) * factor)
    return _shifted((v ^ a) * factor) * factor & MASK


def _short(data: U8s, at: int, size: int) -> Word:
    factor = K2 + size * 2 & MASK
    end = at + size
    if size >= 8:
        a, b = little(data, at, 8) + K2 & MASK, little(data, end - 8, 8)
        c = _turned(b, 37) * factor + a & MASK
        return _mixed(c, (_turned(a, 25) + b) * factor & MASK, factor)
    if size >= 4:
        return _mixed(size + (little(data, at, 4) << 3), little(data, end - 4, 4), factor)
    if size:
        y = int(data[at]) + (int(data[at + (size >> 1)]) << 8)
        z = size + (int(data[end - 1]) << 2)
        return _shifted(y * K2 & MASK ^ z * K0 & MASK) * K2 & MASK
    return K2


def _middle(data: U8s, at: int, size: int) -> Word:
    factor = K2 + size * 2 & MASK
    end = at + size
    a, b = little(data, at, 8) * K2 & MASK, little(data, at + 8, 8)
    c, d = little(data, end - 8, 8) * factor & MASK, little(data, end - 16, 8) * K2 & MASK
    y = _turned(a + b, 43) + _turned(c, 30) + d & MASK
    z = _mixed(y, a + _turned(b + K2, 18) + c & MASK, factor)
    e, f = little(data, at + 16, 8) * factor & MASK, little(data, at + 24, 8)
    g = (y + little(data, end - 32, 8)) * factor & MASK
    h = (z + little(data, end - 24, 8)) * factor & MASK
    first = _turned(e + f, 43) + _turned(g, 30) + h & MASK
    return _mixed(first, e + _turned(f + a, 18) + g & MASK, factor)


def _weak(data: U8s, at: int, a: Word, b: Word) -> tuple[Word, Word]:
    """Mix 32 bytes into two seeds."""
    a = a + little(data, at, 8) & MASK
    b = _turned(b + a + little(data, at + 24, 8), 21)
    c = a
    a = a + little(data, at + 8, 8) + little(data, at + 16, 8) & MASK
    b += _turned(a, 44)
    return a + little(data, at + 24, 8) & MASK, b + c & MASK


def _long(data: U8s, at: int, size: int) -> Word:
    y = 81 * K1 + 113 & MASK
    x, z = (81 * K2 & MASK) + little(data, at, 8) & MASK, _shifted(y * K2 + 113) * K2 & MASK
    v0: Word = 0
    v1: Word = 0
    w0: Word = 0
    w1: Word = 0
    factor: Word = K1
    times = 1
    last = at + size - 64
    while True:
        if at >= last:  # the last 64 bytes, some of which may have been mixed already
            factor = K1 + ((z & 0xFF) << 1)
            times, rest = 9, size - 1 & 63
            w0 = w0 + rest & MASK
            v0 = v0 + w0 & MASK
            w0 = w0 + v0 & MASK
            at = last
        x = _turned(x + y + v0 + little(data, at + 8, 8), 37) * factor & MASK
        y = _turned(y + v1 + little(data, at + 48, 8), 42) * factor & MASK
        x ^= w1 * times & MASK
        y = y + v0 * times + little(data, at + 40, 8) & MASK
        z = _turned(z + w0, 33) * factor & MASK
        v0, v1 = _weak(data, at, v1 * factor & MASK, x + w0 & MASK)
        w0, w1 = _weak(data, at + 32, z + w1 & MASK, y + little(data, at + 16, 8) & MASK)
        z, x = x, z
        if times == 9:
            break
        at += 64
    head = _mixed(v0, w0, factor) + _shifted(y) * K0 + z & MASK
    return _mixed(head, _mixed(v1, w1, factor) + x & MASK, factor)

"""FarmHash's 64-bit fingerprint of bytes, by which TensorFlow puts words into buckets."""

from __future__ import annotations

from .alike import Text, Word, byte
from .alike import word as _word

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
Pair = tuple[Word, Word]


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


def farm(data: Text) -> Word:
    """Return FarmHash's fingerprint."""
    size = len(data)
    if size <= 16:
        return _short(data)
    if size <= 32:
        factor = K2 + size * 2
        a, b = _word(data, 0) * K1 & MASK, _word(data, 8)
        c, d = _word(data, size - 8) * factor & MASK, _word(data, size - 16) * K2
        first = _turned(a + b, 43) + _turned(c, 30) + d & MASK
        return _mixed(first, a + _turned(b + K2, 18) + c & MASK, factor)
    return _middle(data) if size <= 64 else _long(data)


def _short(data: Text) -> Word:
    size = len(data)
    factor = K2 + size * 2
    if size >= 8:
        a, b = _word(data, 0) + K2 & MASK, _word(data, size - 8)
        c = _turned(b, 37) * factor + a & MASK
        return _mixed(c, (_turned(a, 25) + b) * factor & MASK, factor)
    if size >= 4:
        return _mixed(size + (_word(data, 0, 4) << 3), _word(data, size - 4, 4), factor)
    if size:
        y = byte(data, 0) + (byte(data, size >> 1) << 8)
        z = size + (byte(data, -1) << 2)
        return _shifted(y * K2 & MASK ^ z * K0 & MASK) * K2 & MASK
    return K2


def _middle(data: Text) -> Word:
    size = len(data)
    factor = K2 + size * 2
    a, b = _word(data, 0) * K2 & MASK, _word(data, 8)
    c, d = _word(data, size - 8) * factor & MASK, _word(data, size - 16) * K2
    y = _turned(a + b, 43) + _turned(c, 30) + d & MASK
    z = _mixed(y, a + _turned(b + K2, 18) + c & MASK, factor)
    e, f = _word(data, 16) * factor & MASK, _word(data, 24)
    g = (y + _word(data, size - 32)) * factor & MASK
    h = (z + _word(data, size - 24)) * factor & MASK
    first = _turned(e + f, 43) + _turned(g, 30) + h & MASK
    return _mixed(first, e + _turned(f + a, 18) + g & MASK, factor)


def _weak(data: Text, at: int, a: Word, b: Word) -> Pair:
    """Mix 32 bytes into two seeds."""
    w, x, y, z = (_word(data, at + 8 * i) for i in range(4))
    a = a + w & MASK
    b = _turned(b + a + z, 21)
    c = a
    a = a + x + y & MASK
    b += _turned(a, 44)
    return a + z & MASK, b + c & MASK


def _step(
    data: Text, at: int, sums: tuple[Word, Word, Word], v: Pair, w: Pair, last: Word | None = None
) -> tuple[tuple[Word, Word, Word], Pair, Pair]:
    """Mix 64 bytes into the state; `last` is the factor of the last step."""
    x, y, z = sums
    factor, times = (K1, 1) if last is None else (last, 9)
    x = _turned(x + y + v[0] + _word(data, at + 8), 37) * factor & MASK
    y = _turned(y + v[1] + _word(data, at + 48), 42) * factor & MASK
    x ^= w[1] * times & MASK
    y = y + v[0] * times + _word(data, at + 40) & MASK
    z = _turned(z + w[0], 33) * factor & MASK
    v = _weak(data, at, v[1] * factor & MASK, x + w[0] & MASK)
    w = _weak(data, at + 32, z + w[1] & MASK, y + _word(data, at + 16) & MASK)
    return (z, y, x), v, w


def _long(data: Text) -> Word:
    seed, size = 81, len(data)
    y = seed * K1 + 113 & MASK
    sums = ((seed * K2 & MASK) + _word(data, 0) & MASK, y, _shifted(y * K2 + 113) * K2 & MASK)
    v: Pair = (0, 0)
    w: Pair = (0, 0)
    end = (size - 1) // 64 * 64
    for at in range(0, end, 64):
        sums, v, w = _step(data, at, sums, v, w)
    factor = K1 + ((sums[2] & 0xFF) << 1)
    first = w[0] + (size - 1 & 63) & MASK
    v = (v[0] + first & MASK, v[1])
    w = (first + v[0] & MASK, w[1])
    last = end + (size - 1 & 63) - 63
    (x, y, z), v, w = _step(data, last, sums, v, w, factor)
    head = _mixed(v[0], w[0], factor) + _shifted(y) * K0 + z & MASK
    return _mixed(head, _mixed(v[1], w[1], factor) + x & MASK, factor)

"""Hashes of bytes: SipHash-2-4, and the variant of MurmurHash64A that TensorFlow uses itself."""

from __future__ import annotations

from ....codegen.serial.function import I64s, U8s, U64s, Word, little, serial

MASK = (1 << 64) - 1
FACTOR, SHIFT, SEED = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE


def _rest(data: U8s, at: int, size: int) -> Word:
    """Return up to seven bytes as a number, the lowest first."""
    made: Word = 0
    for i in range(size):
        made |= int(data[at + i]) << 8 * i
    return made


@serial
def murmurs(every: U8s, sizes: I64s, buckets: Word, made: U64s) -> int:
    """Make the bucket of each text by MurmurHash64A (Appleby) with TensorFlow's seed."""
    at = 0
    for i in range(len(sizes)):
        made[i] = _murmur(every, at, sizes[i]) % buckets
        at += sizes[i]
    return 0


def _murmur(data: U8s, at: int, size: int) -> Word:
    made: Word = SEED ^ size * FACTOR & MASK
    end = at + size
    while at + 8 <= end:
        each = little(data, at, 8) * FACTOR & MASK
        each = (each ^ each >> SHIFT) * FACTOR & MASK
        made = (made ^ each) * FACTOR & MASK
        at += 8
    if at < end:
        made = (made ^ _rest(data, at, end - at)) * FACTOR & MASK
    made = (made ^ made >> SHIFT) * FACTOR & MASK
    return made ^ made >> SHIFT


@serial
def sips(every: U8s, sizes: I64s, k0: Word, k1: Word, buckets: Word, made: U64s) -> int:
    """Make the bucket of each text by SipHash-2-4 (Aumasson and Bernstein, 2012) with a key."""
    at = 0
    for i in range(len(sizes)):
        made[i] = _sip(every, at, sizes[i], k0, k1) % buckets
        at += sizes[i]
    return 0


def _sip(data: U8s, at: int, size: int, k0: Word, k1: Word) -> Word:
    a, b = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    c, d = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
    end = at + size
    while at <= end:  # the last word says the size too
        each = little(data, at, 8) if at + 8 <= end else _last(data, at, end - at, size)
        d ^= each
        for _ in range(2):
            a, b, c, d = _mixed(a, b, c, d)
        a ^= each
        at += 8
    c ^= 0xFF
    for _ in range(4):
        a, b, c, d = _mixed(a, b, c, d)
    return a ^ b ^ c ^ d


def _last(data: U8s, at: int, left: int, size: int) -> Word:
    return _rest(data, at, left) | (size & 0xFF) << 56


def _turned(x: Word, by: int) -> Word:
    return (x << by | x >> (64 - by)) & MASK


def _mixed(a: Word, b: Word, c: Word, d: Word) -> tuple[Word, Word, Word, Word]:
    """Mix the four words of the state."""
    a = a + b & MASK
    b = _turned(b, 13) ^ a
    a = _turned(a, 32)
    c = c + d & MASK
    d = _turned(d, 16) ^ c
    a = a + d & MASK
    d = _turned(d, 21) ^ a
    c = c + b & MASK
    b = _turned(b, 17) ^ c
    return a, b, _turned(c, 32), d

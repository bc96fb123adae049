"""Hashes of bytes: SipHash-2-4, and the variant of MurmurHash64A that TensorFlow uses itself."""

from __future__ import annotations

from ...formats.alike import Text, Word, word

MASK = (1 << 64) - 1
FACTOR, SHIFT, SEED = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE


def murmur(data: Text) -> Word:
    """Return the hash by MurmurHash64A (Appleby) with TensorFlow's seed.

    >>> murmur(b"") == murmur(b"a")
    False
    """
    made: Word = SEED ^ len(data) * FACTOR & MASK
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        each = word(data, at) * FACTOR & MASK
        each = (each ^ each >> SHIFT) * FACTOR & MASK
        made = (made ^ each) * FACTOR & MASK
    if len(data) > whole:
        made = (made ^ word(data, whole)) * FACTOR & MASK
    made = (made ^ made >> SHIFT) * FACTOR & MASK
    return made ^ made >> SHIFT


def sip(data: Text, key: tuple[int, int]) -> Word:
    """Return the hash by SipHash-2-4 (Aumasson and Bernstein, 2012) with a key of two words.

    >>> hex(sip(bytes(range(15)), (0x0706050403020100, 0x0F0E0D0C0B0A0908)))
    '0xa129ca6149be45e5'
    """
    k0, k1 = key[0] & MASK, key[1] & MASK
    v: list[Word] = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = len(data) // 8 * 8
    words = [word(data, at) for at in range(0, whole, 8)]
    words.append(word(data, whole) | (len(data) & 0xFF) << 56)
    for each in words:
        v[3] = v[3] ^ each
        _mix(v, 2)
        v[0] = v[0] ^ each
    v[2] = v[2] ^ 0xFF
    _mix(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _turned(x: Word, by: int) -> Word:
    return (x << by | x >> (64 - by)) & MASK


def _mix(v: list[Word], rounds: int) -> None:
    """Mix the four words of the state."""
    for _ in range(rounds):
        v[0] = v[0] + v[1] & MASK
        v[1] = _turned(v[1], 13) ^ v[0]
        v[0] = _turned(v[0], 32)
        v[2] = v[2] + v[3] & MASK
        v[3] = _turned(v[3], 16) ^ v[2]
        v[0] = v[0] + v[3] & MASK
        v[3] = _turned(v[3], 21) ^ v[0]
        v[2] = v[2] + v[1] & MASK
        v[1] = _turned(v[1], 17) ^ v[2]
        v[2] = _turned(v[2], 32)

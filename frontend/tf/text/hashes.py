"""Hashes of bytes: SipHash-2-4, and the variant of MurmurHash64A that TensorFlow uses itself."""

from __future__ import annotations

MASK = (1 << 64) - 1
FACTOR, SHIFT, SEED = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE


def murmur(data: bytes) -> int:
    """Return the hash by MurmurHash64A (Appleby) with TensorFlow's seed.

    >>> murmur(b"") == murmur(b"a")
    False
    """
    made = SEED ^ len(data) * FACTOR & MASK
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * FACTOR & MASK
        word = (word ^ word >> SHIFT) * FACTOR & MASK
        made = (made ^ word) * FACTOR & MASK
    if data[whole:]:
        made = (made ^ int.from_bytes(data[whole:], "little")) * FACTOR & MASK
    made = (made ^ made >> SHIFT) * FACTOR & MASK
    return made ^ made >> SHIFT


def sip(data: bytes, key: tuple[int, int]) -> int:
    """Return the hash by SipHash-2-4 (Aumasson and Bernstein, 2012) with a key of two words.

    >>> hex(sip(bytes(range(15)), (0x0706050403020100, 0x0F0E0D0C0B0A0908)))
    '0xa129ca6149be45e5'
    """
    k0, k1 = key[0] & MASK, key[1] & MASK
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        _mix(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _mix(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _turned(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MASK


def _mix(v: list[int], rounds: int) -> None:
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

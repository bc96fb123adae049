"""The two hash tables by which a dynamic linker finds a name in a library."""

from __future__ import annotations

import struct
from collections.abc import Sequence

BLOOM_SHIFT = 6


def system_v_hash(name: str) -> int:
    """Return the hash of the System V ABI.

    >>> hex(system_v_hash("printf"))
    '0x77905a6'
    """
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def gnu_hash(name: str) -> int:
    """Return the hash of DT_GNU_HASH.

    >>> hex(gnu_hash("printf"))
    '0x156b2bb8'
    """
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def bucket_count(names: int) -> int:
    """Return how many buckets serve this many names."""
    return max(1, names // 2)


def gnu_order(names: Sequence[str]) -> list[str]:
    """Return defined names in the order that the GNU table wants: by bucket, then by name."""
    buckets = bucket_count(len(names))
    return sorted(names, key=lambda name: (gnu_hash(name) % buckets, name))


def system_v_table(names: Sequence[str]) -> bytes:
    """Return the table for the symbols 1, 2, ... that have these names."""
    buckets = [0] * bucket_count(len(names))
    chains = [0] * (len(names) + 1)
    for index, name in enumerate(names, 1):
        bucket = system_v_hash(name) % len(buckets)
        chains[index], buckets[bucket] = buckets[bucket], index
    words = [len(buckets), len(chains), *buckets, *chains]
    return struct.pack(f"<{len(words)}I", *words)


def gnu_table(names: Sequence[str], first: int) -> bytes:
    """Return the table for the symbols from `first` on, whose names are in `gnu_order`."""
    hashes = [gnu_hash(name) for name in names]
    buckets = [0] * bucket_count(len(names))
    bloom = [0] * (1 << max(0, (len(names) // 8).bit_length()))
    chain = []
    for index, value in enumerate(hashes):
        bucket = value % len(buckets)
        buckets[bucket] = buckets[bucket] or first + index
        word = value // 64 % len(bloom)
        bloom[word] |= 1 << value % 64 | 1 << (value >> BLOOM_SHIFT) % 64
        last = index + 1 == len(hashes) or hashes[index + 1] % len(buckets) != bucket
        chain.append(value & ~1 | last)
    head = struct.pack("<4I", len(buckets), first, len(bloom), BLOOM_SHIFT)
    body = struct.pack(f"<{len(bloom)}Q", *bloom)
    return head + body + struct.pack(f"<{len(buckets) + len(chain)}I", *buckets, *chain)

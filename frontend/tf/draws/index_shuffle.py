"""Places in a shuffled sequence, each found without the others.

A permutation of the numbers of so many bits is a cipher of that width: Simon's (Beaulieu and
others, 2013) with a few rounds. One of the numbers up to some other is that cipher, applied until
the number is no larger (Black and Rogaway, 2002).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....codegen.serial.function import I64s, U64s, Word, serial
from ....ir.op import Array
from ....ir.types.tensor import TensorSpec
from ...graph.graph import spec_with_unknowns
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import pad

FIRST = 498247692
"""The first word of a key; the seed has the others."""
CONSTANT, BITS = 0xFFFFFFFC, 0x7369F885192C0EF5
LEAST = 16
"""So many bits a number has at least: the cipher turns halves of it by eight."""
TYPES = ("int32", "uint32", "int64", "uint64")


@serial
def permuted(
    numbers: U64s, limits: U64s, halves: I64s, keys: U64s, rounds: int, made: U64s
) -> int:  # fmt: skip
    """Find the place of each number among those up to its limit; a key is `rounds` words."""
    for i in range(len(numbers)):
        x = _enciphered(numbers[i], halves[i], keys, i * rounds, rounds)
        while x > limits[i]:
            x = _enciphered(x, halves[i], keys, i * rounds, rounds)
        made[i] = x
    return 0


def _enciphered(number: Word, half: int, keys: U64s, at: int, rounds: int) -> Word:
    """Return a number of two halves enciphered by a key."""
    mask = (1 << half) - 1
    left, right = number >> half & mask, number & mask
    for i in range(0, rounds, 2):
        left = left ^ _mixed(right, half, mask) ^ keys[at + i]
        right = right ^ _mixed(left, half, mask) ^ keys[at + i + 1]
    return left << half | right


def _mixed(x: Word, half: int, mask: Word) -> Word:
    """Return what one half adds to the other."""
    return (_turned(x, 1, half, mask) & _turned(x, 8, half, mask)) ^ _turned(x, 2, half, mask)


def _turned(x: Word, by: int, half: int, mask: Word) -> Word:
    """Turn a half to the left."""
    return (x << by | x >> (half - by)) & mask


def _keys(seed: Array, halves: Array, rounds: int) -> Array:
    """Return a word for each round, of keys of three words and of a width."""
    half = halves.astype(np.uint64)
    mask = (np.uint64(1) << half) - np.uint64(1)
    made = [word & mask for word in np.moveaxis(seed.astype(np.uint32).astype(np.uint64), -1, 0)]
    for i in range(3, rounds):
        last = made[-1]
        right = [last >> np.uint64(by) | last << (half - np.uint64(by)) for by in (3, 4)]
        turned = (right[0] ^ right[1]) & mask
        # Of the bits there are as many as a half has.
        bit = np.where(i - 3 < half, np.uint64(BITS >> i - 3 & 1), np.uint64(0))
        made.append((np.uint64(CONSTANT) & mask) ^ bit ^ made[i - 3] ^ turned)
    return np.stack(made, -1)


def _half(limit: int) -> int:
    """Return of how many bits one half of the numbers is that are permuted."""
    exact = int(np.ceil(np.log2(float(limit)))) if limit else 0
    return max(exact + exact % 2, LEAST) // 2


def shuffled(index: Array, seed: Array, most: Array, rounds: int) -> Array:
    """Return the places of numbers in permutations of the numbers up to others."""
    numbers, limits = (x.astype(np.uint64).ravel() for x in np.broadcast_arrays(index, most))
    halves = np.array([_half(x) for x in limits.tolist()], np.int64)
    keys = _keys(np.broadcast_to(seed, (len(numbers), 3)), halves, rounds)
    made = np.empty_like(numbers)
    permuted(numbers, limits, halves, np.ascontiguousarray(keys), rounds, made)
    return made


def _places(rounds: int, index: Array, seed: Array, most: Array) -> Array:
    """Return the places of numbers, or raise where what is given does not belong together."""
    given = (("index", index, 0), ("seed", seed, 1), ("max_index", most, 0))
    for what, array, least in given:
        if array.ndim not in (least, least + 1):
            raise InvalidArgumentError(f"{what} has shape {array.shape} [Op:RandomIndexShuffle]")
    sizes = {x.shape[0] for _, x, least in given if x.ndim > least}
    count = index.size if index.ndim else max(sizes, default=1)
    if seed.shape[-1] != 3 or len(sizes) > 1:
        raise InvalidArgumentError(
            f"Seed must be a vector of size [3] or a matrix of size [{count}, 3] but got "
            f"{str(list(seed.shape)).replace(' ', '')}. [Op:RandomIndexShuffle]"
        )
    for place, limit in np.broadcast(index, most):
        if place < 0 or limit < place:
            wrong = (
                f"index must be >= 0 but was {place}"
                if place < 0
                else f"max_index must be >= index, but {limit} < {place}"
            )
            raise InvalidArgumentError(f"{wrong} [Op:RandomIndexShuffle]")
    dims = (count,) if sizes else ()
    made = shuffled(np.broadcast_to(index, dims), seed, most, rounds)
    return made.astype(index.dtype).reshape(dims)


def _result(specs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
    """Return what is known of places: there are as many as there are of what there are several."""
    if any(s.shape is None for s in specs):
        return [TensorSpec(specs[0].dtype, None)]
    pairs = zip(specs, (0, 1, 0), strict=True)
    sizes = [s.dims[0] for s, least in pairs if len(s.dims) > least]
    known = [d if isinstance(d, int) else None for d in sizes]
    return [spec_with_unknowns(specs[0].dtype, known[:1])]


def random_index_shuffle(
    index: object, seed: object, max_index: object, rounds: int = 4, name: str | None = None
) -> TfTensor:
    """Return places in shuffled sequences by keys of three words."""
    if rounds < 4 or rounds % 2:
        raise InvalidArgumentError(f"rounds must be at least 4 and even, got {rounds}")
    with InGraph(graph_of([index, seed, max_index])):
        number = convert(index)
        key, most = convert(seed), convert(max_index, number.dtype)
        for what, found in (("index", number), ("seed", key)):
            if found.dtype.name not in TYPES:
                raise InvalidArgumentError(
                    f"Value for attr 'dtype' of {what} is {found.dtype.name}, expected one of "
                    f"{', '.join(TYPES)}"
                )

    def compute(index: Array, seed: Array, most: Array) -> Sequence[Array]:
        return (_places(rounds, index, seed, most),)

    return host("RandomIndexShuffle", compute, [number, key, most], _result, name=name)[0]


def index_shuffle(index: object, seed: object, max_index: object) -> TfTensor:
    """Return places in shuffled sequences, by seeds of two words: each seed is one permutation."""
    with InGraph(graph_of([index, seed, max_index])):
        words = convert(seed)
        before = [[1, 0], *[[0, 0]] * ((words.shape.rank or 1) - 1)]
        return random_index_shuffle(index, pad(words, before, constant_values=FIRST), max_index)

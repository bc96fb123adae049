"""Random numbers from a counter: element i of a draw depends on the key and i, nothing else.

Philox-4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), and the
numbers that TensorFlow makes of its words. There is no state: the key is an operand, so the same
numbers come out eager, staged and ahead of time, with any number of threads.

A key is u32 of six elements: two words of the key proper, then the counter, lowest word first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from math import pi
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..op import REGISTRY, Array, Call, Op, register
from ..samples import Sample
from ..types import dtypes
from ..types.dims import Dim, floor_divide, product, remainder
from ..types.dtypes import DType
from ..types.tensor import TensorSpec

FACTORS = (0xD2511F53, 0xCD9E8D57)
STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
WORD = 0xFFFFFFFF
STRIDE = 256
"""How many counters are set aside for each number drawn: also for those drawn until they fit."""


@register
class RandomBits(Op):
    """Four words of u32 for each element of a shape: `per` elements that follow share them.

    The counter of element i is that of the key and `stride * (i // per)`.
    """

    name = "gv.random_bits"
    EXACT: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((6,),), {"shape": (3, 5)}, (dtypes.u32,), differentiable=False),
        Sample(((6,),), {"shape": (7,), "per": 2, "stride": 128}, (dtypes.u32,)),
        Sample(((6,),), {"shape": ()}, (dtypes.u32,), differentiable=False),
    )

    @classmethod
    def infer(
        cls, key: TensorSpec, *, shape: tuple[Dim, ...], per: int = 4, stride: int = 1
    ) -> Sequence[TensorSpec]:
        """Return four specs of the shape."""
        if key.dtype != dtypes.u32 or key.shape != (6,):
            raise TypeError(f"the key is {key}, expected u32[6]")
        if per < 1 or stride < 1:
            raise TypeError(f"{per} elements a block, {stride} apart, expected at least one")
        return (TensorSpec(dtypes.u32, tuple(shape)),) * 4

    @classmethod
    def evaluate(
        cls, key: Array, *, shape: tuple[int, ...], per: int, stride: int
    ) -> Sequence[Array]:
        """Encrypt the counter of each block."""
        count = int(np.prod(shape, dtype=np.int64))
        blocks = np.arange(-(-count // per), dtype=np.uint64) * np.uint64(stride)
        words = philox(key, blocks)
        return tuple(np.repeat(word, per)[:count].reshape(shape) for word in words)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Encrypt the counter of each element by whole-tensor operations."""
        make, shape = Draw(call.emit), call.attributes["shape"]
        index = make("iota", shape=(product(shape),), axis=0, dtype=dtypes.u64)
        block = make("floor_divide", index, make.word(call.attributes["per"], dtypes.u64))
        block = make("mul", block, make.word(call.attributes["stride"], dtypes.u64))
        words = [make.part(call.operands[0], i) for i in range(6)]
        wide = [make.wide(word) for word in words[2:]]
        low = make("add", block, make.joined(wide[0], wide[1]))
        carry = make("cast", make("less", low, block), dtype=dtypes.u64)
        high = make("add", make.joined(wide[2], wide[3]), carry)
        counter = [*make.halves(low), *make.halves(high)]
        made = make.encrypted(words[:2], counter)
        return tuple(make("reshape", word, shape=shape) for word in made)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return nothing: the key is not a float."""
        return (None,)


class Draw:
    """Makes numbers of words, through an `emit`."""

    def __init__(self, emit: Callable[..., Any]) -> None:
        self.emit = emit

    def __call__(self, name: str, *operands: Any, **attributes: Any) -> Any:
        """Carry out an operation."""
        return self.emit(REGISTRY[f"gv.{name}"], *operands, **attributes)

    def word(self, value: float, dtype: DType = dtypes.u32) -> Any:
        """Make a constant."""
        return self("constant", value=np.array(value).astype(dtype.numpy))

    def part(self, key: Any, index: int) -> Any:
        """Take one word of a key."""
        part = self("slice", key, starts=(index,), stops=(index + 1,), steps=(1,))
        return self("reshape", part, shape=())

    def tried(self, key: Any, trial: int) -> Any:
        """Return the key of a later try: counters are set aside for those that need some."""
        step = np.array([0, 0, trial, 0, 0, 0], np.uint32)
        return self("add", key, self("constant", value=step))

    def wide(self, word: Any) -> Any:
        """Return a word as u64."""
        return self("cast", word, dtype=dtypes.u64)

    def joined(self, low: Any, high: Any) -> Any:
        """Return a u64 of two halves, which are u64 themselves."""
        return self("bitwise_or", low, self("shift_left", high, self.word(32, dtypes.u64)))

    def halves(self, both: Any) -> tuple[Any, Any]:
        """Return the low and the high word of a u64."""
        high = self("shift_right", both, self.word(32, dtypes.u64))
        return self("cast", both, dtype=dtypes.u32), self("cast", high, dtype=dtypes.u32)

    def encrypted(self, key: Sequence[Any], counter: Sequence[Any]) -> Sequence[Any]:
        """Return the four words of a block."""
        (a, b, c, d), keys = counter, list(key)
        for number in range(ROUNDS):
            if number:
                keys = [self("add", k, self.word(s)) for k, s in zip(keys, STEPS, strict=True)]
            p, q = (
                self.halves(self("mul", self.wide(x), self.word(f, dtypes.u64)))
                for x, f in zip((a, c), FACTORS, strict=True)
            )
            a = self("bitwise_xor", self("bitwise_xor", q[1], b), keys[0])
            c = self("bitwise_xor", self("bitwise_xor", p[1], d), keys[1])
            b, d = q[0], p[0]
        return a, b, c, d

    def lane(self, shape: Sequence[Dim], per: int) -> Any:
        """Return the place of each element among those that share a block."""
        index = self("iota", shape=(product(tuple(shape)),), axis=0, dtype=dtypes.u32)
        made = self("bitwise_and", index, self.word(per - 1))
        return self("reshape", made, shape=tuple(shape))

    def chosen(self, lane: Any, values: Sequence[Any]) -> Any:
        """Return for each element the value that its lane names."""
        found = values[-1]
        for i, value in reversed(list(enumerate(values[:-1]))):
            found = self("select", self("equal", lane, self.word(i)), value, found)
        return found

    def unit(self, words: Sequence[Any], dtype: DType) -> Any:
        """Return floats from 0 to below 1: random bits behind the point of 1, less 1."""
        if dtype == dtypes.f64:
            upper = self("bitwise_and", words[0], self.word(0xFFFFF))
            both = self.joined(self.wide(words[1]), self.wide(upper))
            bits = self("bitwise_or", both, self.word(1023 << 52, dtypes.u64))
        else:
            mask, one = {"f16": (0x3FF, 0x3C00), "bf16": (0x7F, 0x3F80)}.get(
                dtype.name, (0x7FFFFF, 0x3F800000)
            )
            kept = self("bitwise_and", words[0], self.word(mask))
            bits = self("bitwise_or", kept, self.word(one))
            if dtype.size == 2:
                bits = self("cast", bits, dtype=dtypes.u16)
        return self("sub", self("bitcast", bits, dtype=dtype), self.word(1, dtype))

    def normals(self, words: Sequence[Any], dtype: DType) -> tuple[Any, Any]:
        """Return two numbers of the normal distribution by Box and Muller, f32 or f64."""
        half = len(words) // 2
        radius = self("maximum", self.unit(words[:half], dtype), self.word(1e-7, dtype))
        radius = self("sqrt", self("mul", self("log", radius), self.word(-2, dtype)))
        turn = self("cast", self.unit(words[half:], dtype), dtype=dtypes.f64)
        turn = self("mul", turn, self.word(2 * pi, dtypes.f64))
        angle = self("cast", turn, dtype=dtype)
        return self("mul", self("sin", angle), radius), self("mul", self("cos", angle), radius)


Limits: TypeAlias = tuple[Any, Any]
"""From which integer on, and below which."""
WIDE = ("normal", "truncated", "first")
"""What is computed in f32 where it is asked for in narrower floats."""


def words_of(dtype: DType) -> int:
    """Return how many words become one number."""
    return 2 if dtype.size == 8 else 1


def per_block(dtype: DType) -> int:
    """Return how many numbers come of one block."""
    return 4 // words_of(dtype)


def _blocks(make: Draw, key: Any, shape: Sequence[Dim], words: int) -> tuple[list[Any], Any]:
    """Return the words of each element's block, by places of `words`, and the element's lane."""
    per = 4 // words
    made = make("random_bits", key, shape=tuple(shape), per=per)
    return [made[i : i + words] for i in range(0, 4, words)], make.lane(shape, per)


def _own(make: Draw, key: Any, shape: Sequence[Dim], words: int) -> list[Any]:
    """Return the words that are each element's own."""
    places, lane = _blocks(make, key, shape, words)
    return [make.chosen(lane, [place[i] for place in places]) for i in range(words)]


def _units(make: Draw, places: Sequence[Sequence[Any]], dtype: DType) -> list[Any]:
    """Return the floats that the words of each place of a block are."""
    return [make.unit(words, dtype) for words in places]


def _pairs(make: Draw, places: Sequence[Sequence[Any]], dtype: DType) -> list[Any]:
    """Return the numbers of the normal distribution that each two places of a block are."""
    found: list[Any] = []
    for i in range(0, len(places), 2):
        found += make.normals([*places[i], *places[i + 1]], dtype)
    return found


MANY = 1 << 10
"""So many numbers are drawn block by block: an element by itself encrypts all of its block."""


def _by_blocks(
    emit: Any, key: Any, shape: Sequence[Dim], dtype: DType, kind: str, limits: Limits | None = None
) -> Any | None:
    """Return the numbers that a shape takes of whole blocks, None where it is not of many.

    Of a size that is open it takes whole blocks in each run, or none.
    """
    count = product(tuple(shape))
    wide = dtypes.f32 if kind in WIDE and dtype.size == 2 else dtype
    per = per_block(wide)
    if isinstance(count, int):
        if count < MANY:
            return None
        blocks: Dim = -(-count // per)
    elif remainder(count, per) == 0:
        blocks = floor_divide(count, per)
    else:
        return None
    made = in_blocks(emit, key, blocks, dtype, kind, limits)
    if isinstance(count, int) and count % per:
        made = Draw(emit)("slice", made, starts=(0,), stops=(count,), steps=(1,))
    return Draw(emit)("reshape", made, shape=tuple(shape))


def uniform(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType) -> Any:
    """Return numbers from 0 (included) to 1 (left out)."""
    if (made := _by_blocks(emit, key, shape, dtype, "uniform")) is not None:
        return made
    make = Draw(emit)
    return make.unit(_own(make, key, shape, words_of(dtype)), dtype)


def integers(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType, limits: Limits | None) -> Any:
    """Return integers from the first limit to below the second; without limits, of all there are.

    Limits are values of the type.
    """
    if (made := _by_blocks(emit, key, shape, dtype, "integers", limits)) is not None:
        return made
    make = Draw(emit)
    return _between(make, _own(make, key, shape, words_of(dtype)), dtype, limits)


def _between(make: Draw, own: Sequence[Any], dtype: DType, limits: Limits | None) -> Any:
    """Return the integers that words are, or the remainders of these that lie between limits."""
    bits = make.joined(*map(make.wide, own)) if len(own) == 2 else own[0]
    if limits is None:
        return make("cast", bits, dtype=dtype)
    unsigned = dtypes.u64 if len(own) == 2 else dtypes.u32
    low, high = (make("cast", x, dtype=unsigned) for x in limits)
    made = make("add", make("mod", bits, make("sub", high, low)), low)
    return make("cast", made, dtype=dtype)


def normal(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType) -> Any:
    """Return numbers of the normal distribution (mean 0, variance 1)."""
    if (made := _by_blocks(emit, key, shape, dtype, "normal")) is not None:
        return made
    make, wide = Draw(emit), dtypes.f64 if dtype == dtypes.f64 else dtypes.f32
    places, lane = _blocks(make, key, shape, words_of(wide))
    made = make.chosen(lane, _pairs(make, places, wide))
    return made if wide == dtype else make("cast", made, dtype=dtype)


def in_blocks(
    emit: Any, key: Any, count: Dim, dtype: DType, kind: str, limits: Limits | None = None
) -> Any:
    """Return the numbers of so many whole blocks in a row.

    They are those of the function that `kind` names (uniform, integers, normal, truncated), with
    each block encrypted once; or `first`, truncated ones, NaN where half of the tries do not do.
    """
    make = Draw(emit)
    wide = dtypes.f32 if kind in WIDE and dtype.size == 2 else dtype
    words = words_of(wide)

    def places(key: Any, stride: int = 1) -> list[Any]:
        made = make("random_bits", key, shape=(count,), per=1, stride=stride)
        return [made[i : i + words] for i in range(0, 4, words)]

    match kind:
        case "normal":
            found = _pairs(make, places(key), wide)
        case "truncated":
            found = _within(make, key, places, wide, TRIES)
        case "first":
            found = _within(make, key, places, wide, TRIES // 2)
        case "integers":
            found = [_between(make, own, dtype, limits) for own in places(key)]
        case _:
            found = _units(make, places(key), wide)
    columns = [make("reshape", x, shape=(count, 1)) for x in found]
    rows = make("reshape", make("concat", *columns, axis=1), shape=(count * len(found),))
    return rows if wide == dtype else make("cast", rows, dtype=dtype)


def _within(
    make: Draw, key: Any, places: Callable[[Any, int], list[Any]], dtype: DType, tries: int
) -> list[Any]:
    """Return for each place of blocks the number that `truncated` puts there, if these tries do."""
    words = words_of(dtype)
    per = 4 // words
    none = make.word(0 if tries == TRIES else np.nan, dtype)
    count, made = make.word(0, dtypes.i32), [none] * per
    for trial in range(tries * words):
        for found in _pairs(make, places(make.tried(key, trial), STRIDE // words), dtype):
            fits = make("less", make("abs", found), make.word(2, dtype))
            for lane in range(per):
                mine = make("logical_and", fits, make("equal", count, make.word(lane, dtypes.i32)))
                made[lane] = make("select", mine, found, made[lane])
            count = make("add", count, make("cast", fits, dtype=dtypes.i32))
    return made


TRIES = 4
"""Blocks that are drawn for numbers within two deviations: all but one of 10^14 are enough."""


def truncated(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType) -> Any:
    """Return numbers of the normal distribution within two deviations.

    Each block of numbers takes those that fit, in order, of blocks that are its own.
    """
    if (found := _by_blocks(emit, key, shape, dtype, "truncated")) is not None:
        return found
    make, wide = Draw(emit), dtypes.f64 if dtype == dtypes.f64 else dtypes.f32
    words = words_of(wide)
    per = 4 // words
    lane = make("cast", make.lane(shape, per), dtype=dtypes.i32)
    count, made = make.word(0, dtypes.i32), make.word(0, wide)
    for trial in range(TRIES * words):
        step = make.tried(key, trial)
        block = make("random_bits", step, shape=tuple(shape), per=per, stride=STRIDE // words)
        for i in range(0, 4, 2 * words):
            for found in make.normals(block[i : i + 2 * words], wide):
                fits = make("less", make("abs", found), make.word(2, wide))
                mine = make("logical_and", fits, make("equal", count, lane))
                made = make("select", mine, found, made)
                count = make("add", count, make("cast", fits, dtype=dtypes.i32))
    return made if wide == dtype else make("cast", made, dtype=dtype)


def further(key: Array, counters: int) -> Array:
    """Return a key whose counter is so many further.

    >>> further(np.array([7, 8, 2**32 - 1, 0, 0, 0], np.uint32), 3).tolist()
    [7, 8, 2, 1, 0, 0]
    """
    at = sum(word << 32 * i for i, word in enumerate(key[2:].tolist())) + counters
    words = [at >> 32 * i & WORD for i in range(4)]
    return np.array([*key[:2].tolist(), *words], np.uint32)


FEW = 12
"""So many blocks are encrypted one by one, as Python's integers."""


def philox(key: Array, blocks: Array) -> Sequence[Array]:
    """Return four words for each block (u64), which is added to the counter of a key."""
    first, second, *start = key.tolist()
    low, high = start[0] | start[1] << 32, start[2] | start[3] << 32
    if len(blocks) <= FEW:
        counters = [(low | high << 64) + block for block in blocks.tolist()]
        words = [[counter >> shift & WORD for shift in (0, 32, 64, 96)] for counter in counters]
        made = [_encrypted(each, first, second) for each in words]
        return list(np.array(made, np.uint32).reshape(-1, 4).T)
    lows = blocks + np.uint64(low)
    highs = np.uint64(high) + (lows < blocks)
    found = np.empty((4, len(blocks)), np.uint32)
    for i in range(0, len(blocks), AT_ONCE):
        at = slice(i, i + AT_ONCE)
        found[:, at] = _of_many(lows[at], highs[at], first, second)
    return list(found)


AT_ONCE = 4096
"""So many blocks stay in a processor's nearest cache while they are encrypted."""


def _of_many(lows: Array, highs: Array, first: int, second: int) -> Array:
    """Return the four words of counters, given by their halves, encrypted by two words."""
    factors = np.array(FACTORS, np.uint64)[:, None]
    multiplied, kept = (
        np.stack(pair) for pair in ((lows & WORD, highs & WORD), (lows >> 32, highs >> 32))
    )
    for _ in range(ROUNDS):
        product = multiplied * factors
        key = np.array([[first], [second]], np.uint64)
        multiplied = (product[::-1] >> 32) ^ kept ^ key
        kept = product[::-1] & WORD
        first, second = (first + STEPS[0]) & WORD, (second + STEPS[1]) & WORD
    return np.stack([multiplied[0], kept[0], multiplied[1], kept[1]])


def _encrypted(counter: Sequence[int], first: int, second: int) -> Sequence[int]:
    """Return the words of a counter encrypted by two words."""
    a, b, c, d = counter
    for _ in range(ROUNDS):
        p, q = a * FACTORS[0], c * FACTORS[1]
        a, c = (q >> 32) ^ b ^ first, (p >> 32) ^ d ^ second
        b, d = q & WORD, p & WORD
        first, second = (first + STEPS[0]) & WORD, (second + STEPS[1]) & WORD
    return a, b, c, d


def key_of(*parts: Any) -> Array:
    """Return the key for whatever tells draws apart; its counter begins at 0."""
    words = np.frombuffer(sha256(repr(parts).encode()).digest()[:16], np.uint32)
    return np.concatenate([words[:2], np.zeros(2, np.uint32), words[2:]])


def drawn_key(seeds: tuple[int, int], used: int) -> Array:
    """Return the key for two seeds of 64 bits, of which so many counters were used."""
    halves = [(x >> shift) & WORD for x in (seeds[0], used, seeds[1]) for shift in (0, 32)]
    return np.array(halves, np.uint32)

"""Random numbers from a counter: element i of a draw depends on the key and i, nothing else.

Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
There is no state: the key is an operand, so the same numbers come out eager, staged and ahead
of time, with any number of threads. The decomposition is made of operations on u32.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from .. import dtypes
from ..dims import Dim, product
from ..dtypes import DType
from ..op import REGISTRY, Array, Call, Op, register
from ..samples import Sample
from ..tensor import TensorSpec

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


@register
class RandomBits(Op):
    """u32 numbers of a shape, twice: two words for each element. `key` is a u32 of two elements."""

    name = "gv.random_bits"
    SAMPLES: ClassVar = (
        Sample(((2,),), {"shape": (3, 5)}, (dtypes.u32,), differentiable=False),
        Sample(((2,),), {"shape": ()}, (dtypes.u32,), differentiable=False),
    )

    @classmethod
    def infer(cls, key: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return two specs of the shape."""
        if key.dtype != dtypes.u32 or key.shape != (2,):
            raise TypeError(f"the key is {key}, expected u32[2]")
        return (TensorSpec(dtypes.u32, tuple(shape)),) * 2

    @classmethod
    def evaluate(cls, key: Array, *, shape: tuple[int, ...]) -> Sequence[Array]:
        """Encrypt the index of each element."""
        count = int(np.prod(shape, dtype=np.int64))
        words = threefry(key, np.arange(count, dtype=np.uint64))
        return tuple(word.reshape(shape) for word in words)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Encrypt the index of each element by whole-tensor operations."""
        make = _Words(call.emit)
        shape = call.attributes["shape"]
        count = product(shape)
        key = call.operands[0]
        words = [make.key(key, 0), make.key(key, 1)]
        index = call.emit(REGISTRY["gv.iota"], shape=(count,), axis=0, dtype=dtypes.u32)
        zero = call.emit(REGISTRY["gv.broadcast_to"], make.word(0), shape=(count,))
        made = rounds(make, words, index, zero)
        return tuple(call.emit(REGISTRY["gv.reshape"], word, shape=shape) for word in made)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return nothing: the key is not a float."""
        return (None,)


class _Words:
    """Arithmetic on u32 tensors through an `emit`."""

    def __init__(self, emit: Any) -> None:
        self.emit = emit

    def word(self, value: int) -> Any:
        return self.emit(REGISTRY["gv.constant"], value=np.array(value, np.uint32))

    def key(self, key: Any, index: int) -> Any:
        part = self.emit(REGISTRY["gv.slice"], key, starts=(index,), stops=(index + 1,), steps=(1,))
        return self.emit(REGISTRY["gv.reshape"], part, shape=())

    def add(self, a: Any, b: Any) -> Any:
        return self.emit(REGISTRY["gv.add"], a, b)

    def xor(self, a: Any, b: Any) -> Any:
        return self.emit(REGISTRY["gv.bitwise_xor"], a, b)

    def rotate(self, a: Any, count: int) -> Any:
        up = self.emit(REGISTRY["gv.shift_left"], a, self.word(count))
        down = self.emit(REGISTRY["gv.shift_right"], a, self.word(32 - count))
        return self.emit(REGISTRY["gv.bitwise_or"], up, down)


class _NumpyWords:
    """The same on numpy arrays."""

    def word(self, value: int) -> Any:
        return np.uint32(value)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def xor(self, a: Any, b: Any) -> Any:
        return a ^ b

    def rotate(self, a: Any, count: int) -> Any:
        return (a << np.uint32(count)) | (a >> np.uint32(32 - count))


def key_of(*parts: Any) -> Array:
    """Return the key for a seed and a count, or whatever tells draws apart."""
    return np.frombuffer(sha256(repr(parts).encode()).digest()[:8], np.uint32)


def drawn_key(key: Array, count: int) -> Array:
    """Return the key of a draw by how often was drawn before; programs add the same."""
    return np.array([key[0], (int(key[1]) + count) % (1 << 32)], np.uint32)


def rounds(make: Any, key: Sequence[Any], x: Any, y: Any) -> tuple[Any, Any]:
    """Encrypt two words by a key of two words."""
    parity = make.xor(make.xor(key[0], key[1]), make.word(PARITY))
    keys = [key[0], key[1], parity]
    x, y = make.add(x, keys[0]), make.add(y, keys[1])
    for group in range(5):
        for count in ROTATIONS[group % 2]:
            x = make.add(x, y)
            y = make.xor(make.rotate(y, count), x)
        x = make.add(x, keys[(group + 1) % 3])
        y = make.add(make.add(y, keys[(group + 2) % 3]), make.word(group + 1))
    return x, y


def threefry(key: Array, counter: Array) -> tuple[Array, Array]:
    """Return two words for each counter (u64: low word and high word are the block)."""
    low = (counter & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    high = (counter >> np.uint64(32)).astype(np.uint32)
    with np.errstate(over="ignore"):
        x, y = rounds(_NumpyWords(), (np.uint32(key[0]), np.uint32(key[1])), low, high)
    return np.asarray(x), np.asarray(y)


def uniform(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType) -> Any:
    """Return numbers from 0 (included) to 1 (left out): the upper 24 (f64: 53) bits."""
    first, second = emit(RandomBits, key, shape=tuple(shape))
    wide = dtypes.f64 if dtype == dtypes.f64 else dtypes.f32

    def number(value: float) -> Any:
        return emit(REGISTRY["gv.constant"], value=np.array(value, wide.numpy))

    def shift(x: Any, by: int) -> Any:
        word = emit(REGISTRY["gv.constant"], value=np.array(by, np.uint32))
        return emit(REGISTRY["gv.cast"], emit(REGISTRY["gv.shift_right"], x, word), dtype=wide)

    if wide == dtypes.f32:
        made = emit(REGISTRY["gv.mul"], shift(first, 8), number(2.0**-24))
    else:
        upper = emit(REGISTRY["gv.mul"], shift(first, 5), number(2.0**26))
        both = emit(REGISTRY["gv.add"], upper, shift(second, 6))
        made = emit(REGISTRY["gv.mul"], both, number(2.0**-53))
    return made if wide == dtype else emit(REGISTRY["gv.cast"], made, dtype=dtype)


def normal(emit: Any, key: Any, shape: Sequence[Dim], dtype: DType) -> Any:
    """Return numbers of the normal distribution (mean 0, variance 1) by Box and Muller."""
    wide = dtypes.f64 if dtype == dtypes.f64 else dtypes.f32
    first, second = emit(RandomBits, key, shape=tuple(shape))
    word = emit(REGISTRY["gv.constant"], value=np.array(8, np.uint32))

    def number(value: float) -> Any:
        return emit(REGISTRY["gv.constant"], value=np.array(value, wide.numpy))

    def unit(bits: Any, offset: float) -> Any:
        upper = emit(REGISTRY["gv.shift_right"], bits, word)
        whole = emit(REGISTRY["gv.cast"], upper, dtype=wide)
        moved = emit(REGISTRY["gv.add"], whole, number(offset))
        return emit(REGISTRY["gv.mul"], moved, number(2.0**-24))

    radius = emit(REGISTRY["gv.log"], unit(first, 1.0))
    radius = emit(REGISTRY["gv.sqrt"], emit(REGISTRY["gv.mul"], radius, number(-2.0)))
    angle = emit(REGISTRY["gv.mul"], unit(second, 0.0), number(2.0 * np.pi))
    made = emit(REGISTRY["gv.mul"], radius, emit(REGISTRY["gv.cos"], angle))
    return made if wide == dtype else emit(REGISTRY["gv.cast"], made, dtype=dtype)

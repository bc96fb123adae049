"""`tf.random.Generator`: draws whose state is a variable."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import nullcontext
from enum import IntEnum
from math import prod
from typing import Any, ClassVar

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.ops.random import STRIDE, WORD
from ....ir.types import dtypes as rows
from ....runtime.tracing import EARS
from ...eager.tensor import Tensor
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor
from ...values.context import STATE, entered
from ...values.dtypes import DTypeLike
from ..core.bridge import EagerTensor, TfTensor
from ..core.calls import perform_all, rule
from ..core.shapes import ShapeLike, broadcast_static_shape
from ..core.values import InGraph, convert, graph_of, static
from ..graph.state import Variable
from ..ops.array_ops import (
    broadcast_dynamic_shape,
    concat,
    reshape,
    stack,
    unstack,
)
from ..ops.array_ops import shape as shape_of
from ..ops.composed import bitcast
from ..ops.creation import zeros, zeros_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast
from ..ops.random_ops import Source, from_key, row_given, whole, words_of
from .ops import binomials


class Algorithm(IntEnum):
    """The ways to make random words of a state; Philox is the one."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


PHILOX, ALL = 1, (1 << 64) - 1
ALGORITHMS = (PHILOX, Algorithm.AUTO_SELECT, "philox", "auto_select", None)


@rule("RngReadAndSkip", differentiable=False, gives_list=True)
def _read_and_skip(m: Maker, state: object, count: object) -> object:
    """Return the key of a state, and the state that many counters on."""
    if spec_of_value(state).dims != (3,):
        raise TypeError(f"the state is {spec_of_value(state)}, expected int64[3]")
    low, high, key = (m.slice(state, starts=(i,), stops=(i + 1,), steps=(1,)) for i in range(3))
    unsigned = m.cast(low, dtype=rows.u64)
    moved = m.add(unsigned, m.cast(m.reshape(count, shape=(1,)), dtype=rows.u64))
    carry = m.cast(m.less(moved, unsigned), dtype=rows.i64)
    parts = (words_of(m, x) for x in (key, low, high))
    following = m.concat(m.cast(moved, dtype=rows.i64), m.add(high, carry), key, axis=0)
    return m.concat(*parts, axis=0), following


def _of_replica(words: TfTensor, replica: object) -> TfTensor:
    """Return the words of a draw with another key, which is drawn by the replica's number."""
    with InGraph(graph_of([words, replica])):
        number = cast(reshape(convert(replica), [1]), "uint32")
        place = concat([words[:2], number, zeros([3], "uint32")], 0)
        own = from_key([1], place, "RandomUniformInt", rows.u64, low=None, high=None)
        return concat([reshape(bitcast(own, "uint32"), [2]), words[2:]], 0)


class Generator(Source):
    """Draws numbers by a state, which each draw moves on; the numbers are TensorFlow's.

    One that is made in the scope of a strategy draws other numbers for each replica.
    """

    IS_SHARED: ClassVar[Callable[[], bool]] = staticmethod(lambda: False)
    """Says whether what is made now is in the scope of a strategy."""
    REPLICA: ClassVar[Callable[[], object]] = staticmethod(lambda: None)
    """Gives the number of the replica that runs, None between replicas."""

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what checkpoints keep, by TensorFlow's name."""
        return {"_state_var": self.state}

    def __init__(self, copy_from: Any = None, state: object = None, alg: object = None) -> None:
        if alg not in ALGORITHMS:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox for the "
                "Philox algorithm"
            )
        self._is_shared = Generator.IS_SHARED()
        given = copy_from.state.read_value() if copy_from is not None else state
        if isinstance(given, Variable) and given.dtype == "int64":
            _check(given)
            self.state = given  # each draw moves on what the program holds too
            return
        _check(given)
        around = nullcontext() if isinstance(STATE.context, FuncGraph) else entered(None)
        with around:  # (a function makes a variable as it makes others: in its first call only)
            is_computed = isinstance(given, GraphTensor)
            first = given if is_computed else np.asarray(static(given), np.int64)
            self.state = Variable(first, trainable=False, dtype="int64", name="StateVar")

    @classmethod
    def from_state(cls, state: object, alg: object = None) -> Generator:
        """Return a generator in a state: the counter, and the key."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: int, alg: object = None) -> Generator:
        """Return the generator of a seed."""
        return cls(state=_state_of_seed(seed), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: object = None) -> Generator:
        """Return a generator that no other one is like."""
        return cls(state=[_signed(secrets.randbits(64)) for _ in range(3)], alg=alg)

    @classmethod
    def from_key_counter(cls, key: object, counter: object, alg: object = None) -> Generator:
        """Return the generator of a key and a counter of two numbers."""
        return cls(state=_state_of_key(key, counter), alg=alg)

    @property
    def algorithm(self) -> int:
        """Return the number of the algorithm, which is Philox's."""
        return PHILOX

    @property
    def key(self) -> Tensor:
        """Return the key, a number."""
        return self.state.read_value()[2]

    def reset(self, state: object) -> None:
        """Put the generator into a state."""
        _check(state)
        self.state.assign(state)

    def reset_from_seed(self, seed: int) -> None:
        """Put the generator into the state of a seed."""
        self.reset(_state_of_seed(seed))

    def reset_from_key_counter(self, key: object, counter: object) -> None:
        """Put the generator into the state of a key and a counter."""
        self.reset(_state_of_key(key, counter))

    def skip(self, delta: object) -> TfTensor:
        """Leave out so many numbers; return the state before."""
        return self._moved(convert(delta, "int64") * STRIDE)[1]

    def _moved(self, count: TfTensor | int) -> tuple[TfTensor, TfTensor]:
        """Leave out counters; return key and state before."""
        before = convert(self.state)
        if isinstance(count, int) and _is_at_once(before):
            key, after = _following(before._array, count)
        else:
            key, after = perform_all("RngReadAndSkip", [before, convert(count, "int64")])
        self.state.assign(after)
        return key, before

    def draw(self, type_: str, shape: object, row: rows.DType, **options: object) -> TfTensor:
        """Draw, and move on."""
        return from_key(shape, self.key_for(shape), type_, row, **options)

    def key_for(self, shape: object) -> TfTensor:
        """Return the key of a draw, and move on."""
        dims = static(shape)
        if not isinstance(dims, list | tuple) or not all(isinstance(d, int) for d in dims):
            count = REDUCTIONS["reduce_prod"](whole(shape, "int64")) * STRIDE
            key = self._moved(count)[0]
        else:
            key = self._moved(STRIDE * prod(dims))[0]
        replica = Generator.REPLICA() if self._is_shared else None
        return key if replica is None else _of_replica(key, replica)

    def uniform_full_int(
        self, shape: ShapeLike, dtype: DTypeLike | None = "uint64", name: str | None = None
    ) -> TfTensor:
        """Draw integers of the whole range of a type."""
        del name
        return self.draw("RandomUniformInt", shape, row_given(dtype), low=None, high=None)

    def binomial(
        self,
        shape: ShapeLike,
        counts: object,
        probs: object,
        dtype: DTypeLike = "int32",
        name: str | None = None,
    ) -> TfTensor:
        """Draw how many of so many tries succeed, by a chance of each."""
        del name
        with InGraph(graph_of([shape, counts, probs])):
            key, _ = self._moved(_counters_of_binomial(shape, convert(counts), convert(probs)))
            return binomials(shape, key, counts, probs, dtype)

    def make_seeds(self, count: int = 1) -> TfTensor:
        """Return seeds for functions without a state: two rows of so many numbers."""
        keys = self.uniform_full_int([count], "int64")
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Return generators that are independent of this one and of each other."""
        keys = unstack(self.uniform_full_int([count], "int64"))
        return [Generator.from_key_counter(key, [0, 0]) for key in keys]


def _counters_of_binomial(shape: object, counts: TfTensor, probs: TfTensor) -> TfTensor | int:
    """Return how many counters TensorFlow sets aside for numbers of the binomial distribution."""
    dims = static(shape)
    if isinstance(dims, list | tuple) and all(isinstance(d, int) for d in dims):
        shapes = counts.shape, probs.shape
        if all(x.is_fully_defined() for x in shapes):
            parts = prod(broadcast_static_shape(*shapes).known())
            return parts * 200 * (prod(dims) // max(parts, 1) + 3) // 4 * STRIDE
    inner = broadcast_dynamic_shape(shape_of(counts), shape_of(probs))
    parts_then = cast(REDUCTIONS["reduce_prod"](inner), "int64")
    every = REDUCTIONS["reduce_prod"](whole(shape, "int64"))
    each = every // FUNCTIONS["maximum"](parts_then, convert(1, "int64"))
    return parts_then * 200 * (each + 3) // 4 * STRIDE


def _is_at_once(state: TfTensor) -> bool:
    """Say whether a state is there to be looked at, and nobody takes note of what is done to it."""
    is_there = isinstance(state, EagerTensor) and state.direct
    return is_there and not (STATE.busy or EARS.count)


def _following(state: Array, count: int) -> tuple[TfTensor, TfTensor]:
    """Return the key of a state, and the state that many counters on."""
    low, high, key = state.tolist()
    words = [x >> shift & WORD for x in (key, low, high) for shift in (0, 32)]
    moved = (low & ALL) + (count & ALL)
    following = [_signed(moved), _signed(high + (moved > ALL)), key]
    return EagerTensor(np.array(words, np.uint32)), EagerTensor(np.array(following, np.int64))


def create_rng_state(seed: object, alg: object) -> TfTensor:
    """Return the state of a generator of a seed."""
    if alg not in ALGORITHMS:
        raise ValueError(f"Argument `alg` got unsupported value {alg}, expected philox")
    return convert(_state_of_seed(seed), "int64")


def _check(state: object) -> None:
    if isinstance(state, GraphTensor):
        convert(state).shape.assert_is_compatible_with([3])
    elif (found := np.shape(static(state))) != (3,):
        raise ValueError(f"Shapes {found} and [3] are incompatible")


def _signed(number: int) -> int:
    """Return the int64 of the lowest 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _state_of_key(key: object, counter: object) -> object:
    """Return the state of a counter and a key: numbers, or a tensor if one of them is."""
    parts = [static(counter), static(key)]
    if not any(isinstance(each, GraphTensor) for each in parts):
        return [*parts[0], parts[1]]
    with InGraph(graph_of(parts)):
        return concat([reshape(convert(each, "int64"), [-1]) for each in parts], 0)


def _state_of_seed(seed: object) -> object:
    """Return the words of a number of Python's, lowest first; arrays and lists stand at the end."""
    if isinstance(seed, GraphTensor):
        with InGraph(graph_of([seed])):
            words = reshape(cast(seed, "int64"), [-1])[:3]
            return concat([convert([0, 0, 0], "int64")[shape_of(words)[0] :], words], 0)
    if isinstance(seed, int):
        return [_signed(int(seed) >> 64 * place) for place in range(3)]
    given = [_signed(int(x)) for x in np.ravel(np.asarray(static(seed))).tolist()[:3]]
    return [0] * (3 - len(given)) + given


class Global:
    """The generator of the process."""

    generator: Generator | None = None


def get_global_generator() -> Generator:
    """Return the generator of the process."""
    if Global.generator is None:
        with entered(None):
            Global.generator = Generator.from_non_deterministic_state()
    return Global.generator


def set_global_generator(generator: Generator) -> None:
    """Make a generator that of the process."""
    Global.generator = generator

"""Normal numbers within bounds of one's own, drawn until they fit; the numbers are TensorFlow's.

A mean, a deviation and two bounds are a batch; its samples are drawn one after the other from one
row of words, which goes on from batch to batch. Far out in the tail, normal numbers would never
fit: there they are drawn evenly, or as waiting times (Robert, "Simulation of truncated normal
variables", 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ....ir.ops.random import further
from ....ir.types.dtypes import DType
from ...eager.remembered import remembered
from ...eager.tensor import Tensor
from ...graph.graph import spec_with_unknowns
from ...values.context import STATE
from ...values.run_errors import InternalError, InvalidArgumentError
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of, same, static
from ..ops.array_ops import broadcast_to
from ..ops.array_ops import shape as shape_of
from ..ops.math_ops import FUNCTIONS, identity
from ..ops.nn_ops import clip_by_value
from ..ops.random_ops import drawn_now, key_of_seed
from ..ops.special import erfc

INSIDE = 1.3
"""From so many deviations within the bounds on, normal numbers are tried."""
TRIES = 1000
"""So many tries may fail one after the other."""
AT_ONCE = 1 << 12
"""So many blocks of words are made at a time."""


class Scaled(NamedTuple):
    """A batch: bounds in deviations from the mean, and what leads back."""

    low: Array
    high: Array
    deviation: Array
    mean: Array


def scaled(mean: Array, deviation: Array, low: Array, high: Array) -> Scaled:
    """Return a batch, turned so that a bound that is there, or is nearer, is the lower one."""
    fits = deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))
    if not fits:
        raise InvalidArgumentError("Invalid parameters [Op:StatelessParameterizedTruncatedNormal]")
    if low == -np.inf or high < mean:
        low, high, deviation = high, low, -deviation
    return Scaled((low - mean) / deviation, (high - mean) / deviation, deviation, mean)


class TriedWords:
    """The numbers that blocks of words give, even and normal, which are made as they are taken."""

    def __init__(self, key: Array, row: DType) -> None:
        self.key, self.row = key, row
        self.per = 2 if row.numpy.itemsize == 8 else 4
        self.at = 0
        """The next block."""
        self.made: dict[str, tuple[int, Array]] = {}

    def blocks(self, type_: str, count: int) -> Array:
        """Return the numbers of the next blocks, one block a row."""
        first, found = self.made.get(type_, (0, np.zeros((0, self.per), self.row.numpy)))
        if not first <= self.at <= self.at + count <= first + len(found):
            first, wanted = self.at, max(count, AT_ONCE)
            key = Tensor(further(self.key, first))
            drawn = drawn_now(type_, key, (wanted * self.per,), self.row)
            found = drawn._array.reshape(wanted, self.per)
            self.made[type_] = first, found
        return found[self.at - first : self.at - first + count]


class Try(NamedTuple):
    """How numbers are tried: what blocks give, and which of it fits."""

    type: str
    blocks: int
    """How many blocks a step takes."""
    run: Callable[[Array], tuple[Array, Array]]


def _normal(batch: Scaled) -> Try:
    def run(found: Array) -> tuple[Array, Array]:
        return found.ravel(), ((found >= batch.low) & (found <= batch.high)).ravel()

    return Try("RandomStandardNormal", 1, run)


def _in_f64(function: Callable[[Array], Array], x: Array) -> Array:
    """Return a function of numbers, rounded once."""
    made: Array = function(x.astype(np.float64)).astype(x.dtype)
    return made


def _even(batch: Scaled) -> Try:
    kind = batch.low.dtype.type
    top = kind(0) if batch.low < 0 else batch.low * batch.low

    def run(found: Array) -> tuple[Array, Array]:
        z = found[0::2] * (batch.high - batch.low) + batch.low
        chance = _in_f64(np.exp, (top - z * z) / kind(2))
        return z.ravel(), (found[1::2] <= chance).ravel()

    return Try("RandomUniform", 2, run)


def _waiting(batch: Scaled) -> Try:
    kind = batch.low.dtype.type
    rate = (batch.low + np.sqrt(batch.low * batch.low + kind(4))) / kind(2)

    def run(found: Array) -> tuple[Array, Array]:
        with np.errstate(divide="ignore"):
            z = -_in_f64(np.log, found[:, 0::2]) / rate + batch.low
        away = rate - z if batch.low < rate else np.full_like(z, batch.low - rate)
        chance = _in_f64(np.exp, -away * away / kind(2))
        return z.ravel(), ((found[:, 1::2] <= chance) & (z < batch.high)).ravel()

    return Try("RandomUniform", 1, run)


def way_of(batch: Scaled) -> Try:
    """Return how the numbers of a batch are tried."""
    low, high, kind = batch.low, batch.high, batch.low.dtype.type
    if (low < kind(-INSIDE) and high >= 0) or (high > kind(INSIDE) and low <= 0):
        return _normal(batch)
    root = np.sqrt(low * low + kind(4))
    bound = _in_f64(np.exp, np.asarray(kind(0.5) + (low * (low - root)) / kind(4)))
    return _even(batch) if high - low < kind(2) * bound / (low + root) else _waiting(batch)


def samples(words: TriedWords, batch: Scaled, count: int) -> Array:
    """Return so many numbers of a batch; the words go on behind the last block that was used."""
    way, made, have = way_of(batch), [np.zeros(0, words.row.numpy)], 0
    behind = 0
    while have < count:
        steps = max(1, min(2 * (count - have) // words.per, AT_ONCE // way.blocks))
        found, fits = way.run(words.blocks(way.type, steps * way.blocks))
        at = np.flatnonzero(fits)[: count - have]
        for one, other in pairwise([-1 - behind, *at[:1], *([] if len(at) else [len(fits)])]):
            if other - one - 1 > TRIES:
                raise InternalError("TruncatedNormal: the sampler failed to accept a sample")
        per = len(fits) // steps
        behind = len(fits) - 1 - int(at[-1]) if len(at) else behind + len(fits)
        have += len(at)
        made.append(found[at])
        used = int(at[-1]) // per + 1 if have == count else steps
        words.at += used * way.blocks
    return np.concatenate(made)


def truncated(key: Array, dims: Sequence[int], parameters: Sequence[Array], row: DType) -> Array:
    """Return numbers of a shape; parameters of one shape are of its last axes."""
    inner, kind = parameters[0].shape, row.numpy
    batches = prod(inner)
    count = prod(dims) // batches if batches else 0
    made, words = np.empty((count, batches), kind), TriedWords(key, row)
    with np.errstate(all="ignore"):
        for place, values in enumerate(zip(*[p.ravel() for p in parameters], strict=True)):
            batch = scaled(*values)
            made[:, place] = samples(words, batch, count) * batch.deviation + batch.mean
    return made.reshape(tuple(dims))


def _below(x: TfTensor) -> TfTensor:
    """Return the share of the normal distribution below numbers."""
    found = 0.5 * erfc(-x * convert(sqrt(0.5), x.dtype))
    return convert(found)


def _with_gradient(made: TfTensor, parameters: Sequence[TfTensor]) -> TfTensor:
    """Return what was drawn, with its gradients by the parameters.

    A number moves so that the share of the distribution below it stays (Figurnov, Mohamed and
    Mnih, "Implicit reparameterization gradients", 2018).
    """
    if STATE.context is None and not STATE.recorders:
        return made

    def draws(
        mean: TfTensor, deviation: TfTensor, low: TfTensor, high: TfTensor
    ) -> tuple[TfTensor, Callable[[TfTensor], list[TfTensor]]]:
        def gradient(grad: TfTensor) -> list[TfTensor]:
            x, first, last = ((v - mean) / deviation for v in (made, low, high))
            share = (_below(x) - _below(first)) / (_below(last) - _below(first))
            ends = np.finfo(made.dtype.name)
            share = clip_by_value(share, float(ends.tiny), 1 - float(ends.eps))
            exp, log, log1p = (FUNCTIONS[n] for n in ("exp", "log", "log1p"))
            by_high = exp(0.5 * (x * x - last * last) + log(share))
            by_low = exp(0.5 * (x * x - first * first) + log1p(-share))
            return [grad, grad * x, grad * by_low, grad * by_high]

        return identity(made), gradient

    found: TfTensor = custom_gradient(draws)(*[broadcast_to(p, shape_of(made)) for p in parameters])
    return found


@remembered
def stateless_parameterized_truncated_normal(
    shape: object,
    seed: object,
    means: object = 0.0,
    stddevs: object = 1.0,
    minvals: object = -2.0,
    maxvals: object = 2.0,
    name: str | None = None,
) -> TfTensor:
    """Draw what the seed says, from normal distributions within bounds.

    TensorFlow's threads each begin a row of words; the numbers here are those of one thread.
    """
    with InGraph(graph_of([shape, seed, means, stddevs, minvals, maxvals])):
        parameters = same(means, stddevs, minvals, maxvals)
        row, known, wanted = parameters[0].spec.dtype, static(shape), convert(shape, "int32")
        dims = known if isinstance(known, list | tuple) else None
        spec = spec_with_unknowns(row, _known_dims(dims, wanted))

        def compute(key: Array, sizes: Array, *values: Array) -> Sequence[Array]:
            wide, outer = np.broadcast_arrays(*values), tuple(sizes.tolist())
            inner = wide[0].shape
            if outer[len(outer) - len(inner) :] != inner or len(inner) > len(outer):
                raise InvalidArgumentError(
                    f"Shape passed in must end with broadcasted shape: {list(outer)} does not end "
                    f"with {list(inner)} [Op:StatelessParameterizedTruncatedNormal]"
                )
            return (truncated(key, outer, wide, row),)

        given = [key_of_seed(seed), wanted, *parameters]
        made = host("StatelessParameterizedTruncatedNormal", compute, given, [spec], name=name)
        return _with_gradient(made[0], parameters)


def _known_dims(dims: Sequence[object] | None, wanted: TfTensor) -> list[int | None] | None:
    """Return what is known of a shape that is given as a list of sizes or as a tensor."""
    if dims is not None:
        return [d if isinstance(d, int) else None for d in dims]
    rank = wanted.shape.as_list()[0] if wanted.shape.rank else None
    return None if rank is None else [None] * rank

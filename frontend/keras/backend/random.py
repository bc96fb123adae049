"""Random numbers of a seed: Philox, as `tf.random.stateless_*` draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as _np
from keras.src.backend.config import floatx as _floatx
from keras.src.random.seed_generator import SeedGenerator, make_default_seed
from keras.src.random.seed_generator import draw_seed as _draw_seed

from ...eager.tensor import Tensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import random_ops as _r
from ...tf.ops import sorting as _sorting
from ...values.given import TensorLike
from .tensors import DType, cast, convert_to_tensor, name_of, rank
from .tensors import dtype_or_float as _dtype_or_float
from .tensors import shape as _shape

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "make_default_seed",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]
_F, _R = _m.FUNCTIONS, _m.REDUCTIONS
Seed: TypeAlias = "int | SeedGenerator | None"


def _key(seed: Seed) -> Tensor:
    """Return the two numbers that a draw begins with."""
    return cast(_F["floormod"](cast(_draw_seed(seed), "int64"), 2**31 - 2), "int32")


def _drawn_in(dtype: DType) -> tuple[str, str]:
    """Return the element type that is asked for, and the one that is drawn in."""
    wanted = _dtype_or_float(dtype or _floatx())
    return wanted, "float64" if wanted == "float64" else "float32"


def normal(
    shape: Sequence[int],
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw from normal distributions."""
    wanted, held = _drawn_in(dtype)
    found = _r.stateless_normal(shape, _key(seed), dtype=held)
    return cast(found * cast(stddev, held) + cast(mean, held), wanted)


def uniform(
    shape: Sequence[int],
    minval: TensorLike = 0.0,
    maxval: TensorLike = 1.0,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw evenly from a range."""
    wanted, held = _drawn_in(dtype)
    low, high = cast(minval, held), cast(maxval, held)
    found = _r.stateless_uniform(shape, _key(seed), dtype=held)
    return cast(found * (high - low) + low, wanted)


def categorical(
    logits: TensorLike, num_samples: int, dtype: str = "int32", seed: Seed = None
) -> Tensor:
    """Draw classes by the logarithms of their shares."""
    found = _r.stateless_categorical(convert_to_tensor(logits), num_samples, seed=_key(seed))
    return cast(found, dtype)


def randint(
    shape: Sequence[int],
    minval: TensorLike,
    maxval: TensorLike,
    dtype: str = "int32",
    seed: Seed = None,
) -> Tensor:
    """Draw whole numbers from a range without its end."""
    wanted = _dtype_or_float(dtype)
    if wanted.startswith(("float", "bfloat")):
        raise ValueError(
            f"`keras.random.randint` requires an integer `dtype`. Received: dtype={dtype} "
        )
    held = wanted if wanted in ("int32", "int64") else "int64"
    low, high = cast(minval, held), cast(maxval, held)
    return cast(_r.stateless_uniform(shape, _key(seed), low, high, held), wanted)


def truncated_normal(
    shape: Sequence[int],
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw from normal distributions, again what is beyond two deviations."""
    wanted, held = _drawn_in(dtype)
    found = _r.stateless_truncated_normal(shape, _key(seed), dtype=held)
    return cast(found * cast(stddev, held) + cast(mean, held), wanted)


def dropout(
    inputs: TensorLike,
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: Seed = None,
) -> Tensor:
    """Return values of which a share is zero, the others being larger by as much."""
    x = convert_to_tensor(inputs)
    if rate == 0:
        return x
    sizes = _shape(x)
    if noise_shape is not None:
        sizes = tuple(own if n is None else n for n, own in zip(noise_shape, sizes, strict=True))
    held = "float64" if name_of(x) == "float64" else "float32"
    drawn = _r.stateless_uniform(sizes, _key(seed), dtype=held)
    kept = _F["greater_equal"](drawn, cast(rate, held))
    if rate == 1:
        return _made.zeros_like(x)
    return _a.where(kept, x * cast(1.0 / (1.0 - rate), name_of(x)), _made.zeros_like(x))


def shuffle(x: TensorLike, axis: int = 0, seed: Seed = None) -> Tensor:
    """Return the parts along an axis in another order."""
    tensor = convert_to_tensor(x)
    count = _shape(tensor)[axis]
    order = _sorting.argsort(_r.stateless_uniform([count], _key(seed)), stable=True)
    return _g.gather(tensor, order, axis=axis)


def gamma(
    shape: Sequence[int], alpha: TensorLike, dtype: DType = None, seed: Seed = None
) -> Tensor:
    """Draw from gamma distributions."""
    wanted, held = _drawn_in(dtype)
    return cast(_gamma_of(_key(seed), shape, alpha, held), wanted)


def _gamma_of(key: Tensor, shape: Sequence[int], alpha: TensorLike, held: str) -> Tensor:
    """Draw from gamma distributions (Marsaglia and Tsang, 2000).

    A candidate is taken in more than 95 of 100 tries: of 16 at least one is, but for once in
    10^20 draws.
    """
    a = _a.broadcast_to(cast(alpha, held), shape)
    small = _F["less"](a, 1.0)
    d = _a.where(small, a + 1.0, a) - 1.0 / 3.0
    keys = _a.unstack(_r.split(key, 3), 3)
    z = _r.stateless_normal([_TRIES, *shape], keys[0], dtype=held)
    u = _r.stateless_uniform([_TRIES, *shape], keys[1], dtype=held)
    root = 1.0 + z / _F["sqrt"](9.0 * d)
    v = root * root * root
    positive = _F["greater"](v, 0.0)
    safe = _a.where(positive, v, _made.ones_like(v))
    bound = 0.5 * z * z + d - d * v + d * _F["log"](safe)
    taken = _F["logical_and"](positive, _F["less"](_F["log"](u), bound))
    found = _first(d * v, taken)
    boost = _F["pow"](_r.stateless_uniform(shape, keys[2], dtype=held), 1.0 / a)
    return _a.where(small, found * boost, found)


_TRIES = 16
"""How many candidates are drawn for each element."""


def _first(values: Tensor, taken: Tensor) -> Tensor:
    """Return the first value along the first axis that is taken; the last if none is."""
    place = _m.argmax(cast(taken, "int32"), 0, output_type="int32")
    numbers = _a.reshape(_made.range_(_TRIES), [_TRIES] + [1] * (rank(values) - 1))
    chosen = _F["equal"](numbers, _a.expand_dims(place, 0))
    return _R["reduce_sum"](_a.where(chosen, values, _made.zeros_like(values)), 0)


def beta(
    shape: Sequence[int],
    alpha: TensorLike,
    beta: TensorLike,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw from beta distributions: shares of two gammas."""
    wanted, held = _drawn_in(dtype)
    one, two = _a.unstack(_r.split(_key(seed), 2), 2)
    x = _gamma_of(one, shape, alpha, held)
    y = _gamma_of(two, shape, beta, held)
    return cast(x / (x + y), wanted)


def binomial(
    shape: Sequence[int],
    counts: TensorLike,
    probabilities: TensorLike,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw how many of a number of tries succeed; the counts must be known before the run."""
    wanted, held = _drawn_in(dtype)
    tries = convert_to_tensor(counts)
    most = int(_np.max(_np.asarray(tries)))
    drawn = _r.stateless_uniform([most, *shape], _key(seed), dtype=held)
    numbers = _a.reshape(_made.range_(most), [most] + [1] * len(shape))
    counted = _F["less"](cast(numbers, held), _a.broadcast_to(cast(tries, held), shape))
    hit = _F["less"](drawn, _a.broadcast_to(cast(probabilities, held), shape))
    return cast(_R["reduce_sum"](cast(_F["logical_and"](counted, hit), held), 0), wanted)

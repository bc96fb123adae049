"""Random numbers of a seed: Philox, as `tf.random.stateless_*` draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from keras.src.backend.config import floatx as _floatx
from keras.src.random.seed_generator import SeedGenerator, make_default_seed
from keras.src.random.seed_generator import draw_seed as _draw_seed

from ...eager.tensor import Tensor
from ...tf.draws import ops as _draws
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import random_ops as _r
from ...tf.ops import sorting as _sorting
from ...values.given import TensorLike
from .tensors import DType, cast, convert_to_tensor, name_of
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


def _kind(dtype: DType) -> str:
    """Return the element type that is asked for, Keras's float without one: draws differ by it."""
    return _dtype_or_float(dtype or _floatx())


def normal(
    shape: Sequence[int | Tensor],
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw from normal distributions."""
    return _r.stateless_normal(shape, _key(seed), mean, stddev, _kind(dtype))


def uniform(
    shape: Sequence[int],
    minval: TensorLike = 0.0,
    maxval: TensorLike = 1.0,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw evenly from a range."""
    wanted = _kind(dtype)
    low, high = cast(minval, wanted), cast(maxval, wanted)
    return _r.stateless_uniform(shape, _key(seed), low, high, wanted)


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
    return _r.stateless_truncated_normal(shape, _key(seed), mean, stddev, _kind(dtype))


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
    if rate == 1:
        return _made.zeros_like(x)
    sizes = _shape(x)
    if noise_shape is not None:
        sizes = tuple(own if n is None else n for n, own in zip(noise_shape, sizes, strict=True))
    drawn = _r.stateless_uniform(sizes, _key(seed), dtype=name_of(x))
    kept = _F["greater_equal"](drawn, cast(rate, name_of(x)))
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
    return cast(_draws.stateless_gamma(shape, _key(seed), cast(alpha, held), dtype=held), wanted)


def _drawn_in(dtype: DType) -> tuple[str, str]:
    """Return the element type that is asked for, and the one that is drawn in."""
    wanted = _kind(dtype)
    return wanted, "float32" if wanted == "bfloat16" else wanted


def beta(
    shape: Sequence[int],
    alpha: TensorLike,
    beta: TensorLike,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw from beta distributions: shares of two gammas."""
    wanted, held = _drawn_in(dtype)
    key = _key(seed)
    x, y = (
        cast(_draws.stateless_gamma(shape, place, many, dtype=held), wanted)
        for place, many in (
            (key, _a.broadcast_to(cast(alpha, held), shape)),
            (key + _APART, _a.broadcast_to(cast(beta, held), shape)),
        )
    )
    return x / (x + y)


_APART = 12
"""So far are the seeds of the two gammas of a beta apart, as in TensorFlow's backend."""


def binomial(
    shape: Sequence[int],
    counts: TensorLike,
    probabilities: TensorLike,
    dtype: DType = None,
    seed: Seed = None,
) -> Tensor:
    """Draw how many of a number of tries succeed."""
    wanted, held = _drawn_in(dtype)
    of = "float64" if held == "float64" else "float32"  # tries that half floats have no number for
    many, chance = cast(counts, of), cast(probabilities, of)
    drawn = _draws.stateless_binomial(shape, _key(seed), many, chance, held)
    return cast(drawn, wanted)

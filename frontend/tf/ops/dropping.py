"""Elements set to zero by chance, and the others scaled up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

from ...eager.remembered import remember_all
from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.values import InGraph, convert, graph_of, static
from .array_ops import shape, where
from .creation import zeros_like
from .random_ops import stateless_uniform, uniform


def dropout(
    x: object,
    rate: float | TfTensor = 0.5,
    noise_shape: object = None,
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Set elements to 0 by chance, and scale the others up."""
    return general_dropout(x, rate, partial(uniform, seed=seed), noise_shape, name)


def stateless_dropout(
    x: object,
    rate: float | TfTensor,
    seed: object,
    rng_alg: str = "auto_select",
    noise_shape: object = None,
    name: str | None = None,
) -> TfTensor:
    """Set those elements to 0 that a seed says, and scale the others up."""
    if rng_alg not in ("auto_select", "philox"):
        raise ValueError(f"rng_alg {rng_alg!r} is not here: numbers are drawn by philox")
    sampler = partial(stateless_uniform, seed=seed)
    return general_dropout(x, rate, sampler, noise_shape, name or "stateless_dropout")


def _noise_dims(x: TfTensor, noise_shape: object) -> object:
    """Return of what sizes chances are: those of the elements where none is said."""
    if isinstance(noise_shape, TensorShape):
        noise_shape = noise_shape.as_list()
    if not isinstance(noise_shape, list | tuple) or None not in noise_shape:
        return noise_shape
    if x.shape.rank is not None and x.shape.rank != len(noise_shape):
        raise ValueError(f"noise_shape is {[*noise_shape]}, expected {x.shape.rank} sizes")
    known = x.shape.as_list() if x.shape.rank is not None else [None] * len(noise_shape)
    every = shape(x)
    return [
        every[i] if n is None and size is None else size if n is None else n
        for i, (n, size) in enumerate(zip(noise_shape, known, strict=True))
    ]


def general_dropout(
    x: object,
    rate: float | TfTensor,
    uniform_sampler: Callable[..., TfTensor],
    noise_shape: object = None,
    name: str | None = None,
) -> TfTensor:
    """Set elements to 0 where a sampler of a `shape` and a `dtype` gives less than the rate."""
    known = static(rate)
    if isinstance(known, int | float) and not 0 <= known < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    if isinstance(known, int | float) and not known:
        return convert(x)
    graph = graph_of([x, rate])
    with InGraph(graph), nullcontext() if graph is None else graph.name_scope(name or "dropout"):
        return _dropped(convert(x), rate, uniform_sampler, noise_shape)


def _dropped(
    x: TfTensor,
    rate: float | TfTensor,
    uniform_sampler: Callable[..., TfTensor],
    noise_shape: object,
) -> TfTensor:
    """Return the elements of a tensor, or 0, by chance."""
    if noise_shape is None:
        dims: object = x.shape.as_list() if x.shape.is_fully_defined() else shape(x)
    else:
        dims = _noise_dims(x, noise_shape)
    kept = uniform_sampler(shape=dims, dtype=x.dtype) >= rate
    made = where(kept, x / (1.0 - rate), zeros_like(x))
    if not made.eager:
        made.set_shape(x.shape)
    return made


remember_all(globals())

"""Pooling over windows of uneven sizes, whose edges are drawn (Graham, 2014)."""

from __future__ import annotations

import math
import secrets
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ....ir.op import Array
from ....ir.ops.random import drawn_key
from ....ir.types import dtypes as rows
from ...eager.remembered import remembered
from ...graph.graph import Graph
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host, like_input, unknown
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import shape
from ..runs.seeds import seeds_of
from ..special.words import WordsInTurn
from .uneven import Edges, back_to_all, back_to_largest, pooled

FractionalMaxPool = namedtuple(
    "FractionalMaxPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)
FractionalAvgPool = namedtuple(
    "FractionalAvgPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)
AVERAGE, LARGEST = "FractionalAvgPool", "FractionalMaxPool"
Three = tuple[TfTensor, TfTensor, TfTensor]


def _edges(length: int, count: int, words: WordsInTurn, *, smooth: bool) -> Array:
    """Return where windows along an axis begin, and its end: sizes are one of two neighbours."""
    if smooth:
        ratio, least = length / count, length // count
        most = min((least + 2) / ratio - 1, (length + 1 - least) / ratio - (count - 1))
        start = words.double() * most
        ends = [1, *(math.ceil(ratio * (i + start)) for i in range(1, count)), length + 1]
        sizes = np.diff(ends)
    else:
        sizes = np.full(count, length // count) + (np.arange(count) < length % count)
        for i in range(count):  # (the last one stays, but its word is taken)
            other = i + words.next() % (count - i)
            sizes[i], sizes[other] = sizes[other], sizes[i]
    words.anew()
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _edges_of_seeds(
    seeds: tuple[int, int], sizes: Sequence[int], counts: Sequence[int], *, smooth: bool
) -> Edges:
    """Return the edges that are drawn by seeds."""
    words = WordsInTurn(drawn_key(seeds, 0))
    pairs = zip(sizes, counts, strict=True)
    down, across = (_edges(n, count, words, smooth=smooth) for n, count in pairs)
    return down, across


_known_edges = lru_cache(maxsize=256)(_edges_of_seeds)
"""The edges that are drawn by seeds that were given: not to be changed."""


def _require_edges(edges: Edges, x: Sequence[int], grad: Sequence[int]) -> None:
    """Raise unless there is a window within images for each gradient."""
    if len(x) != 4 or len(grad) != 4:
        raise InvalidArgumentError(f"images {list(x)} and gradients {list(grad)}: expected 4 axes")
    for along, size, count in zip(edges, x[1:3], grad[1:3], strict=True):
        fits = along.shape == (count + 1,) and along[0] >= 0 and along[-1] <= size
        if not fits or (np.diff(along) < 1).any():
            raise InvalidArgumentError(
                f"edges {along.tolist()} are not those of {count} windows over {size} elements"
            )
    if (x[0], x[3]) != (grad[0], grad[3]):
        raise InvalidArgumentError(f"gradients {list(grad)} of images {list(x)}")


def fractional_max_pool_grad(
    orig_input: object, orig_output: object, out_backprop: object, row_pooling_sequence: object,
    col_pooling_sequence: object, overlapping: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Go back through the largest elements of windows."""
    del orig_output

    def compute(x: Array, grad: Array, down: Array, across: Array) -> Sequence[Array]:
        _require_edges((down, across), x.shape, grad.shape)
        return (back_to_largest(x, grad, (down, across), overlapping),)

    with InGraph(graph_of([orig_input, out_backprop])):
        x = convert(orig_input)
        edges = [convert(e, "int64") for e in (row_pooling_sequence, col_pooling_sequence)]
        given = [x, convert(out_backprop), *edges]
        return host("FractionalMaxPoolGrad", compute, given, like_input(x.spec.dtype), name=name)[0]


def fractional_avg_pool_grad(
    orig_input_tensor_shape: object, out_backprop: object, row_pooling_sequence: object,
    col_pooling_sequence: object, overlapping: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Go back through the means of windows."""

    def compute(sizes: Array, grad: Array, down: Array, across: Array) -> Sequence[Array]:
        _require_edges((down, across), sizes.tolist(), grad.shape)
        return (back_to_all(sizes, grad, (down, across), overlapping),)

    with InGraph(graph_of([orig_input_tensor_shape, out_backprop])):
        back = convert(out_backprop)
        edges = [convert(e, "int64") for e in (row_pooling_sequence, col_pooling_sequence)]
        given = [convert(orig_input_tensor_shape), back, *edges]
        spec = unknown(back.spec.dtype, None, None, None, None)
        return host("FractionalAvgPoolGrad", compute, given, [spec], name=name)[0]


def _ratios(given: object) -> list[float]:
    """Return the ratio for each axis of images, or raise where there is none."""
    if isinstance(given, int | float):
        found = [1.0, float(given), float(given), 1.0]
    elif isinstance(given, list | tuple):
        found = [float(x) for x in given]
    else:
        raise ValueError("pooling_ratio should be an int or a list of ints.")
    if len(found) != 4 or found[0] != 1.0 or found[-1] != 1.0:
        raise ValueError("The first and last elements of pooling ratio must be 1.0.")
    if any(x < 1.0 for x in found):
        raise ValueError("pooling_ratio should be >= 1.0.")
    return found


@remembered
def _pool(
    type_: str, value: object, ratios: Sequence[float], smooth: bool, overlapping: bool,
    seeds: tuple[int, int] | None, name: str | None,
) -> tuple[TfTensor, TfTensor, TfTensor]:  # fmt: skip
    def compute(x: Array) -> Sequence[Array]:
        if x.ndim != 4:
            raise InvalidArgumentError(f"value has shape {x.shape}, expected four axes")
        sizes = x.shape[1:3]
        counts = tuple([math.floor(n / r) for n, r in zip(sizes, ratios[1:3], strict=True)])
        if min(counts) < 1:
            raise InvalidArgumentError(f"pooling_ratio {list(ratios)} leaves nothing of {x.shape}")
        if seeds:
            edges = _known_edges(seeds, sizes, counts, smooth=smooth)
        else:
            own = divmod(secrets.randbits(128), 1 << 64)
            edges = _edges_of_seeds(own, sizes, counts, smooth=smooth)
        down, across = edges
        made = pooled(x, edges, overlapping, mean=type_ == AVERAGE)
        return made, down.copy(), across.copy()

    with InGraph(graph_of([value])):
        x = convert(value)
        dims = x.shape.as_list() if x.shape.rank else [None] * 4
        sizes = [None if d is None else math.floor(d / r) for d, r in
                 zip(dims, ratios, strict=True)]  # fmt: skip
        specs = [unknown(x.spec.dtype, *sizes)]
        specs += [unknown(rows.i64, None if n is None else n + 1) for n in sizes[1:3]]

        @custom_gradient
        def run(x: TfTensor) -> tuple[Three, Callable[..., TfTensor]]:
            made, down, across = host(type_, compute, [x], specs, effect=not seeds, name=name)

            def gradient(grad: TfTensor, *_: object) -> TfTensor:
                if type_ == LARGEST:
                    return fractional_max_pool_grad(x, made, grad, down, across, overlapping)
                return fractional_avg_pool_grad(shape(x, "int64"), grad, down, across, overlapping)

            return (made, down, across), gradient

        found: tuple[TfTensor, TfTensor, TfTensor] = run(x)
        return found


def _seeds(seed: int) -> tuple[int, int] | None:
    """Return the seeds of an operation that has one, None if it draws others each time."""
    context = STATE.context
    return seeds_of(seed, context if isinstance(context, Graph) else None) if seed else None


def _second(type_: str, kind: Callable[..., Three]) -> Callable[..., Three]:
    def function(
        value: object, pooling_ratio: object, pseudo_random: bool = False,
        overlapping: bool = False, seed: int = 0, name: str | None = None,
    ) -> Three:  # fmt: skip
        """Combine windows of uneven sizes; return the edges of their rows and columns too."""
        found = _ratios(pooling_ratio)
        with InGraph(graph_of([value])):
            own = _seeds(seed)
        return kind(*_pool(type_, value, found, pseudo_random, overlapping, own, name))

    return function


def _first(type_: str, kind: Callable[..., Three]) -> Callable[..., Three]:
    def function(
        value: object, pooling_ratio: Sequence[float], pseudo_random: bool = False,
        overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
        name: str | None = None,
    ) -> Three:  # fmt: skip
        """Combine windows of uneven sizes; return the edges of their rows and columns too."""
        if not deterministic and (seed or seed2):
            raise InvalidArgumentError("Both seed and seed2 should be 0 if deterministic is false.")
        own = (seed, seed2) if seed or seed2 else None
        if deterministic and own is None:
            own = divmod(secrets.randbits(128), 1 << 64)
        found = _ratios(pooling_ratio)
        return kind(*_pool(type_, value, found, pseudo_random, overlapping, own, name))

    return function


SECOND: dict[str, object] = {
    "fractional_avg_pool": _second(AVERAGE, FractionalAvgPool),
    "fractional_max_pool": _second(LARGEST, FractionalMaxPool),
}
FIRST: dict[str, object] = {
    "fractional_avg_pool": _first(AVERAGE, FractionalAvgPool),
    "fractional_max_pool": _first(LARGEST, FractionalMaxPool),
}
RAW: dict[str, object] = {
    "FractionalAvgPool": FIRST["fractional_avg_pool"],
    "FractionalAvgPoolGrad": fractional_avg_pool_grad,
    "FractionalMaxPool": FIRST["fractional_max_pool"],
    "FractionalMaxPoolGrad": fractional_max_pool_grad,
}
"""By the type of an operation: its function."""

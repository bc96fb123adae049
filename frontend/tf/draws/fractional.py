"""Pooling over windows of uneven sizes, whose edges are drawn (Graham, 2014)."""

from __future__ import annotations

import math
import secrets
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from ....ir.op import Array
from ....ir.ops.random import drawn_key
from ....ir.types import dtypes as rows
from ...graph.graph import Graph
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host, like_input, unknown
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import shape
from ..runs.seeds import seeds_of
from ..special.words import WordsInTurn

FractionalMaxPool = namedtuple(
    "FractionalMaxPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)
FractionalAvgPool = namedtuple(
    "FractionalAvgPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)
Combine = Callable[[Array], Array]
Three = tuple[TfTensor, TfTensor, TfTensor]


def _edges(length: int, count: int, words: WordsInTurn, *, smooth: bool) -> Array:
    """Return where windows along an axis begin, and its end: sizes are one of two neighbours."""
    if length % count == 0:
        sizes = np.full(count, length // count)
    elif smooth:
        ratio, least = length / count, length // count
        most = min((least + 2) / ratio - 1, (length + 1 - least) / ratio - (count - 1))
        start = words.double() * most
        ends = [1, *(math.ceil(ratio * (i + start)) for i in range(1, count)), length + 1]
        sizes = np.diff(ends)
        words.anew()
    else:
        sizes = np.full(count, length // count) + (np.arange(count) < length % count)
        for i in range(count - 1):
            other = i + words.next() % (count - i)
            sizes[i], sizes[other] = sizes[other], sizes[i]
        words.anew()
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _parts(edges: Array, size: int, overlapping: bool) -> list[slice]:
    """Return the windows along an axis."""
    return [slice(int(a), min(int(b) + overlapping, size)) for a, b in pairwise(edges)]


def _windows(
    down: Array, across: Array, x: Sequence[int], overlapping: bool
) -> Iterator[tuple[int, int, slice, slice]]:
    for i, high in enumerate(_parts(down, x[1], overlapping)):
        for j, wide in enumerate(_parts(across, x[2], overlapping)):
            yield i, j, high, wide


def _pooled(combine: Combine, x: Array, down: Array, across: Array, overlapping: bool) -> Array:
    made = np.empty((x.shape[0], len(down) - 1, len(across) - 1, x.shape[3]), x.dtype)
    for i, j, high, wide in _windows(down, across, x.shape, overlapping):
        made[:, i, j] = combine(x[:, high, wide])
    return made


def _mean(window: Array) -> Array:
    found: Array = window.sum((1, 2)) / (window.shape[1] * window.shape[2])
    return found.astype(window.dtype)


def _largest(window: Array) -> Array:
    found: Array = window.max((1, 2))
    return found


def _back_to_largest(x: Array, grad: Array, down: Array, across: Array, overlapping: bool) -> Array:
    """Bring each gradient to the first largest element of its window."""
    made = np.zeros_like(x)
    batch, depth = np.ix_(range(x.shape[0]), range(x.shape[3]))
    for i, j, high, wide in _windows(down, across, x.shape, overlapping):
        window = x[:, high, wide]
        flat = window.reshape(len(window), -1, window.shape[3])
        place = flat.argmax(1) if flat.size else np.zeros((0, 0), np.int64)
        row, column = np.divmod(place, window.shape[2])
        at = batch, row + high.start, column + wide.start, depth
        np.add.at(made, at, grad[:, i, j])
    return made


def _back_to_all(sizes: Array, grad: Array, down: Array, across: Array, overlapping: bool) -> Array:
    """Spread each gradient evenly over its window."""
    made = np.zeros(tuple(sizes.tolist()), np.float64)
    for i, j, high, wide in _windows(down, across, made.shape, overlapping):
        count = (high.stop - high.start) * (wide.stop - wide.start)
        made[:, high, wide] += (grad[:, i, j].astype(np.float64) / count)[:, None, None, :]
    return made.astype(grad.dtype)


def fractional_max_pool_grad(
    orig_input: object, orig_output: object, out_backprop: object, row_pooling_sequence: object,
    col_pooling_sequence: object, overlapping: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Go back through the largest elements of windows."""
    del orig_output

    def compute(x: Array, grad: Array, down: Array, across: Array) -> Sequence[Array]:
        return (_back_to_largest(x, grad, down, across, overlapping),)

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
        return (_back_to_all(sizes, grad, down, across, overlapping),)

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


def _pool(
    type_: str, combine: Combine, value: object, ratios: Sequence[float], smooth: bool,
    overlapping: bool, seeds: tuple[int, int] | None, name: str | None,
) -> tuple[TfTensor, TfTensor, TfTensor]:  # fmt: skip
    def compute(x: Array) -> Sequence[Array]:
        if x.ndim != 4:
            raise InvalidArgumentError(f"value has shape {x.shape}, expected four axes")
        key = drawn_key(seeds or divmod(secrets.randbits(128), 1 << 64), 0)
        words = WordsInTurn(key)
        counts = [math.floor(n / r) for n, r in zip(x.shape[1:3], ratios[1:3], strict=True)]
        if min(counts) < 1:
            raise InvalidArgumentError(f"pooling_ratio {list(ratios)} leaves nothing of {x.shape}")
        down, across = (
            _edges(n, count, words, smooth=smooth)
            for n, count in zip(x.shape[1:3], counts, strict=True)
        )
        return _pooled(combine, x, down, across, overlapping), down, across

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
                if combine is _largest:
                    return fractional_max_pool_grad(x, made, grad, down, across, overlapping)
                return fractional_avg_pool_grad(shape(x, "int64"), grad, down, across, overlapping)

            return (made, down, across), gradient

        found: tuple[TfTensor, TfTensor, TfTensor] = run(x)
        return found


def _seeds(seed: int) -> tuple[int, int] | None:
    """Return the seeds of an operation that has one, None if it draws others each time."""
    context = STATE.context
    return seeds_of(seed, context if isinstance(context, Graph) else None) if seed else None


def _second(type_: str, combine: Combine, kind: Callable[..., Three]) -> Callable[..., Three]:
    def function(
        value: object, pooling_ratio: object, pseudo_random: bool = False,
        overlapping: bool = False, seed: int = 0, name: str | None = None,
    ) -> Three:  # fmt: skip
        """Combine windows of uneven sizes; return the edges of their rows and columns too."""
        found = _ratios(pooling_ratio)
        with InGraph(graph_of([value])):
            own = _seeds(seed)
        return kind(*_pool(type_, combine, value, found, pseudo_random, overlapping, own, name))

    return function


def _first(type_: str, combine: Combine, kind: Callable[..., Three]) -> Callable[..., Three]:
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
        return kind(*_pool(type_, combine, value, found, pseudo_random, overlapping, own, name))

    return function


SECOND: dict[str, object] = {
    "fractional_avg_pool": _second("FractionalAvgPool", _mean, FractionalAvgPool),
    "fractional_max_pool": _second("FractionalMaxPool", _largest, FractionalMaxPool),
}
FIRST: dict[str, object] = {
    "fractional_avg_pool": _first("FractionalAvgPool", _mean, FractionalAvgPool),
    "fractional_max_pool": _first("FractionalMaxPool", _largest, FractionalMaxPool),
}
RAW: dict[str, object] = {
    "FractionalAvgPool": FIRST["fractional_avg_pool"],
    "FractionalAvgPoolGrad": fractional_avg_pool_grad,
    "FractionalMaxPool": FIRST["fractional_max_pool"],
    "FractionalMaxPoolGrad": fractional_max_pool_grad,
}
"""By the type of an operation: its function."""

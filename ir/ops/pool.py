"""Pools: the largest, the sum and the mean of what each window sees, channel by channel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compose.functions import cut, resize_edges, stack
from ..compose.maker import Emit, Maker
from ..facts import KernelForm
from ..families import FLOAT, REAL, EmitMath, expect, spec_of_value
from ..gradient.tape import Composite
from ..iteration import Iteration, dim
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dims import Dim, product
from ..types.dtypes import DType, bf16, f16, f32, f64, i32, i64, u8
from ..types.numerics import round_to, widen, widened
from ..types.tensor import TensorSpec, spec_of_array
from ..windows import Windows, image, spatial, spatial_axes
from .conv import Pairs, restated
from .layout import replaced


def pool_samples(*dtypes: Any, **attributes: Any) -> tuple[Sample, ...]:
    """Return samples in 1 to 3 axes with strides, pads and dilations."""
    first, *_ = dtypes
    uses: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
        ((2, 3, 6, 5), _moves((2, 3), strides=(2, 1))),
        ((1, 2, 7, 6), _moves((3, 3), strides=(2, 2), pads=((1, 1), (0, 1)))),
        ((2, 6, 5, 3), _moves((2, 3), pads=((1, 0), (1, 1)), channels_last=True)),
        ((2, 3, 9), _moves((3,), strides=(2,), dilations=(2,), pads=((0, 2),))),
        ((1, 2, 3, 4, 4), _moves((2, 2, 1), strides=(1, 2, 3))),
        ((0, 2, 4), _moves((2,))),
    )
    return tuple(
        Sample((shape,), {**use, **attributes}, dtypes if i < 2 else (first,))
        for i, (shape, use) in enumerate(uses)
    )


def _moves(window: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    rank = len(window)
    plain = {"strides": (1,) * rank, "pads": ((0, 0),) * rank, "dilations": (1,) * rank}
    return {"window": window, **plain, **changes}


class Pool(Op):
    """A combination of what each window sees. x is [N, C, *S], or [N, *S, C]."""

    COMPILED_ALONE: ClassVar = True

    KINDS: ClassVar[str] = REAL

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        window: tuple[int, ...],
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        channels_last: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return an image with a place for each window."""
        expect(x, cls.KINDS)
        extents = spatial(x, channels_last=channels_last)
        if len(window) != len(extents):
            raise TypeError(f"window of {len(window)} axes, expected {len(extents)}")
        windows = Windows(window, strides, pads, dilations)
        windows.check()
        batch, channels = x.dims[0], x.dims[-1 if channels_last else 1]
        counts = windows.counts(extents)
        return (x.with_shape(image(batch, channels, counts, channels_last=channels_last)),)

    @classmethod
    def combine(cls, first: Array, second: Array, out: Array) -> None:
        """Put elements together with others, each with its own."""
        raise NotImplementedError(f"{cls.name} does not combine arrays")

    @classmethod
    def outside(cls, x: Array) -> Any:
        """Return what the padding counts as."""
        return 0

    @classmethod
    def evaluate(cls, x: Array, **attributes: Any) -> Sequence[Array]:
        """Combine what each window sees, one place inside of it after the other."""
        windows, last = Windows.of(attributes["window"], attributes), attributes["channels_last"]
        source = widen(x)
        seen = windows.by_tap(source, cls.outside(source), channels_last=last)
        made = np.array(next(seen), order="C")
        for each in seen:
            cls.combine(made, each, made)
        dtype = spec_of_array(x).dtype
        return (round_to(made, dtype) if made.dtype != x.dtype else made,)


class WindowFold(Pool):
    """A pool that puts the elements together one by one with a combiner."""

    COMBINER: ClassVar[str]
    KERNEL: ClassVar = KernelForm("pool")

    @classmethod
    def iteration(cls, x: TensorSpec, *, window: tuple[int, ...], **attributes: Any) -> Iteration:
        """Loop over batch, channel, place, and inside over the taps."""
        last: bool = attributes["channels_last"]
        windows = Windows.of(window, attributes)
        counts = windows.counts(spatial(x, channels_last=last))
        rank = len(window)
        places = tuple(dim(2 + i) for i in range(rank))
        seen = windows.indices(2, 2 + rank)
        return Iteration(
            parallel=(x.dims[0], x.dims[-1 if last else 1], *counts),
            reduce=window,
            reads=(image(dim(0), dim(1), seen, channels_last=last),),
            write=image(dim(0), dim(1), places, channels_last=last),
            combiner=cls.COMBINER,
            body=lambda math, element: element,
            guarded=(windows.is_padded,),
            outside="identity",
        )


@register
class MaxPool(WindowFold):
    """The largest element that each window sees; NaN if it sees one. Padding is never seen."""

    EXACT: ClassVar = True
    STEPS: ClassVar = "results"
    name = "gv.max_pool"
    COMBINER: ClassVar = "max"
    SAMPLES: ClassVar = pool_samples(f32, f64, f16, bf16, i32, u8)

    @classmethod
    def combine(cls, first: Array, second: Array, out: Array) -> None:
        """Take the larger ones."""
        np.maximum(first, second, out=out)

    @classmethod
    def outside(cls, x: Array) -> Any:
        """Return the lowest value."""
        return spec_of_array(x).dtype.minimum

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the gradient to the largest element of each window."""
        if not call.specs[0].dtype.is_float:
            return (None,)
        return (call.emit(MaxPoolGradient, call.operands[0], grads[0], **call.attributes),)


@register
class MaxPoolGradient(Composite):
    """The gradient of `gv.max_pool`: each window's goes to the first of its largest elements."""

    name = "gv.max_pool_gradient"
    SAMPLES: ClassVar = (
        Sample(((2, 3, 6, 5), (2, 3, 3, 3)), _moves((2, 3), strides=(2, 1)), (f32, f64, bf16)),
        Sample(
            ((1, 2, 7, 6), (1, 2, 4, 3)),
            _moves((3, 3), strides=(2, 2), pads=((1, 1), (0, 1))),
        ),
        Sample(
            ((1, 7, 3), (1, 4, 3)),
            _moves((3,), dilations=(2,), pads=((1, 0),), channels_last=True),
        ),
        Sample(((0, 2, 4), (0, 2, 3)), _moves((2,))),
        Sample(((2, 4, 6, 3), (2, 2, 2, 3)), _moves((2, 3), strides=(2, 3), channels_last=True)),
        Sample(((1, 2, 6), (1, 2, 3)), _moves((2,), strides=(2,)), (f32, bf16)),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        grad: TensorSpec,
        *,
        window: tuple[int, ...],
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        channels_last: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the image's spec; the gradient has that of the pool's result."""
        expect(x, FLOAT)
        (pooled,) = MaxPool.infer(
            x, window=window, strides=strides, pads=pads, dilations=dilations,
            channels_last=channels_last,
        )  # fmt: skip
        if grad != pooled:
            raise TypeError(f"a gradient {grad}, expected {pooled} as the pool's result")
        return (x,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Find the place of each window's largest element, and add the gradient there."""
        (x, grad), spec, make = call.operands, call.specs[0], Maker(call.emit)
        last = call.attributes["channels_last"]
        windows = Windows.of(call.attributes["window"], call.attributes)
        if _are_apart(windows, *call.specs, channels_last=last):
            return _where_largest(call.emit, x, grad, windows, channels_last=last)
        edges = image((0, 0), (0, 0), windows.pads, channels_last=last)
        if windows.is_padded:
            x = make.pad(x, pads=edges, value=-np.inf)
        padded = spec_of_value(x)
        place = _place_of_largest(call.emit, x, windows, call.specs[1].dims, channels_last=last)
        source, result = (_joined(s, channels_last=last) for s in (padded, call.specs[1]))
        total = make.scatter_elements(
            make.filled(0, spec.dtype, source),
            make.reshape(place, shape=result),
            make.reshape(grad, shape=result),
            axis=1 if last else 2,
            reduction="add",
        )
        total = make.reshape(total, shape=padded.dims)
        return resize_edges(call.emit, total, [(-low, -high) for low, high in edges])


def _joined(x: TensorSpec, *, channels_last: bool) -> tuple[Dim, ...]:
    """Return the shape of an image whose spatial axes are joined into one."""
    places = product(spatial(x, channels_last=channels_last))
    channels = x.dims[-1 if channels_last else 1]
    shape: tuple[Dim, ...] = image(x.dims[0], channels, (places,), channels_last=channels_last)
    return shape


def _are_apart(windows: Windows, x: TensorSpec, y: TensorSpec, *, channels_last: bool) -> bool:
    """Say whether each element of an image is seen by exactly one window."""
    counts = [spatial(spec, channels_last=channels_last) for spec in (x, y)]
    rows = zip(*counts, windows.kernel, windows.strides, windows.dilations, strict=True)
    exact = all(k == s and d == 1 and e == n * k for e, n, k, s, d in rows)
    return exact and not windows.is_padded


def _where_largest(emit: Emit, x: Any, grad: Any, windows: Windows, *, channels_last: bool) -> Any:
    """Return the gradient of each window at the first of its largest elements, 0 elsewhere.

    Windows are apart: each spatial axis is two, of windows and of the places in one.
    """
    make, math, spec = Maker(emit), EmitMath(emit), spec_of_value(x)
    window, pooled = windows.kernel, spec_of_value(grad).dims
    axes = spatial_axes(spec.rank, channels_last=channels_last)
    places = [axis + 1 + number for number, axis in enumerate(axes)]
    split, one = list(pooled), list(pooled)
    single: list[Dim] = [1] * (spec.rank + len(axes))
    for place, extent in zip(places, window, strict=True):
        split.insert(place, extent)
        one.insert(place, 1)
        single[place] = extent
    seen, tap_here = make.reshape(x, shape=tuple(split)), Term(math, make.number(0, i32))
    for place, extent in zip(places, window, strict=True):
        index = make.iota(shape=tuple(single), axis=place, dtype=i32)
        tap_here = tap_here * Term(math, make.extent_of(extent, i32)) + Term(math, index)

    def taps() -> Iterator[tuple[Term, Term]]:
        for number, tap in enumerate(windows.taps()):
            found = seen
            for place, at in zip(places, tap, strict=True):
                found = cut(emit, found, place, at, at + 1)
            yield Term(math, found), Term(math, make.number(number, i32))

    given = Term(math, make.reshape(grad, shape=tuple(one)))
    made = _first_largest(taps()).equals(tap_here).where(given, 0.0)
    return make.reshape(made.value, shape=spec.dims)


def _first_largest(seen: Iterable[tuple[Term, Term]]) -> Term:
    """Return the place of the first of the largest elements, given with theirs; NaN is largest."""
    (best, place), *others = seen
    for found, here in others:
        larger = ~(found <= best) & best.equals(best)
        best = larger.where(found, best)
        place = larger.where(here, place)
    return place


def _place_of_largest(
    emit: Emit, x: Any, windows: Windows, shape: tuple[Dim, ...], *, channels_last: bool
) -> Any:
    """Return where each window's first largest element is in the joined spatial axes.

    x is padded already, and there are windows for results of this shape.
    """
    make, math, dims = Maker(emit), EmitMath(emit), spec_of_value(x).dims
    axes = spatial_axes(len(dims), channels_last=channels_last)
    paces = [product(dims[axis + 1 : axes[-1] + 1]) for axis in axes]
    origin = Term(math, make.number(0, i64))
    for axis, pace, stride in zip(axes, paces, windows.strides, strict=True):
        start = Term(math, make.iota(shape=shape, axis=axis, dtype=i64))
        origin = origin + start * Term(math, make.extent_of(pace * stride))

    def taps() -> Iterator[tuple[Term, Term]]:
        for tap in windows.taps():
            shifts = [k * d for k, d in zip(tap, windows.dilations, strict=True)]
            seen = x
            for axis, shift, stride in zip(axes, shifts, windows.strides, strict=True):
                stop = shift + (shape[axis] - 1) * stride + 1
                seen = cut(emit, seen, axis, shift, stop, stride)
            offset: Dim = sum(shift * pace for shift, pace in zip(shifts, paces, strict=True))
            yield Term(math, seen), origin + Term(math, make.extent_of(offset))

    return _first_largest(taps()).value


@register
class SumPool(WindowFold):
    """The sum of the elements that each window sees; integers wrap."""

    name = "gv.sum_pool"
    COMBINER: ClassVar = "add"
    SAMPLES: ClassVar = pool_samples(f32, f64, f16, bf16, i32, i64)

    @classmethod
    def combine(cls, first: Array, second: Array, out: Array) -> None:
        """Add."""
        np.add(first, second, out=out)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each window's gradient to all that it sees.

        Windows that are apart repeat it; of those at each place, the ones that see an element
        are a window of windows.
        """
        spec, emit, make = call.specs[0], call.emit, Maker(call.emit)
        if not spec.dtype.is_float:
            return (None,)
        last, window = call.attributes["channels_last"], call.attributes["window"]
        windows = Windows.of(window, call.attributes)
        extents = spatial(spec, channels_last=last)
        if windows.kernel == windows.strides and set(windows.dilations) == {1}:
            made = _repeated(make, grads[0], windows, extents, channels_last=last)
            return (restated(emit, made, spec.dims),)
        turned = _windows_of_windows(windows)
        if turned is not None:
            made = emit(cls, grads[0], **{**call.attributes, "pads": turned})
            return (restated(emit, made, spec.dims),)
        return (_given_back(make, grads[0], windows, spec, channels_last=last),)


def _given_back(
    make: Maker, grad: Any, windows: Windows, spec: TensorSpec, *, channels_last: bool
) -> Any:
    """Return what all windows that see an element have, along one axis after the other."""
    given = make.to(grad, widened(spec.dtype))
    axes = spatial_axes(spec.rank, channels_last=channels_last)
    rows = zip(axes, windows.kernel, windows.strides, windows.dilations, windows.pads, strict=True)
    for axis, size, stride, dilation, (low, _) in rows:
        assert isinstance(size, int), f"window {windows.kernel} has symbolic extents"
        taps = [divmod(k * dilation, stride) for k in range(size)]
        given = _spread_along(make, given, axis, taps, stride)
        edges: list[tuple[Dim, Dim]] = [(0, 0)] * spec.rank
        edges[axis] = (-low, spec.dims[axis] + low - spec_of_value(given).dims[axis])
        given = resize_edges(make.emit, given, edges)
    return make.to(given, spec.dtype)


def _spread_along(
    make: Maker, x: Any, axis: int, taps: Sequence[tuple[int, int]], stride: int
) -> Any:
    """Put an element where each tap sees one: tap a * stride + r of place q at q + a, and there r.

    So each r is a sum of slices, and all of them side by side are the axis.
    """
    spec = spec_of_value(x)
    most = max(behind for behind, _ in taps)
    edges: list[tuple[Dim, Dim]] = [(0, 0)] * spec.rank
    edges[axis] = (most, most)
    wide, count = resize_edges(make.emit, x, edges), spec.dims[axis] + most
    shape = replaced(spec.dims, axis, count)
    parts = []
    for place in range(stride):
        starts = [most - behind for behind, here in reversed(taps) if here == place]
        slices = [cut(make.emit, wide, axis, start, start + count) for start in starts]
        parts.append(reduce(make.add, slices) if slices else make.filled(0, spec.dtype, shape))
    if stride == 1:
        return parts[0]
    side_by_side = stack(make.emit, parts, axis + 1)
    return make.reshape(side_by_side, shape=replaced(spec.dims, axis, count * stride))


def _repeated(
    make: Maker, grad: Any, windows: Windows, extents: Sequence[Dim], *, channels_last: bool
) -> Any:
    """Return an image that has what windows of it have, which are apart, at each place in one."""
    dims = spec_of_value(grad).dims
    deep, wide, whole = list(dims), list(dims), list(dims)
    edges: list[tuple[Dim, Dim]] = [(0, 0)] * len(dims)
    axes = spatial_axes(len(dims), channels_last=channels_last)
    rows = zip(axes, windows.kernel, windows.pads, extents, strict=True)
    for number, (axis, size, (low, _), extent) in enumerate(rows):
        deep.insert(axis + 1 + number, 1)
        wide.insert(axis + 1 + number, size)
        whole[axis] = whole[axis] * size
        edges[axis] = (-low, extent + low - whole[axis])
    many = make.broadcast_to(make.reshape(grad, shape=tuple(deep)), shape=tuple(wide))
    return resize_edges(make.emit, make.reshape(many, shape=tuple(whole)), edges)


def _windows_of_windows(windows: Windows) -> Pairs | None:
    """Return the pads of the windows that see those of step 1 that see an element."""
    if set(windows.strides) != {1}:
        return None
    ends = [
        (span - 1 - low, span - 1 - high)
        for span, (low, high) in zip(windows.spans, windows.pads, strict=True)
    ]
    known = [(a, b) for a, b in ends if isinstance(a, int) and isinstance(b, int)]
    fits = len(known) == len(ends) and min(end for pair in known for end in pair) >= 0
    return tuple(known) if fits else None


@lru_cache(maxsize=64)
def _numbers(windows: Windows, extents: tuple[int, ...], *, channels_last: bool) -> Array:
    """Return how many elements each window sees that are no padding, as an image."""
    ones = np.ones(image(1, 1, extents, channels_last=channels_last))
    return np.asarray(sum(windows.by_tap(ones, 0, channels_last=channels_last)))


@register
class AvgPool(Composite, Pool):
    """The mean of the elements that each window sees; padding counts only on demand."""

    name = "gv.avg_pool"
    KINDS: ClassVar = FLOAT
    SAMPLES: ClassVar = (
        *pool_samples(f32, f64, f16, bf16),
        *pool_samples(f32, count_padding=True),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        window: tuple[int, ...],
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        channels_last: bool = False,
        count_padding: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return an image with a place for each window."""
        return super().infer(
            x, window=window, strides=strides, pads=pads, dilations=dilations,
            channels_last=channels_last,
        )  # fmt: skip

    @classmethod
    def evaluate(cls, x: Array, **attributes: Any) -> Sequence[Array]:
        """Divide the sums by the number of elements seen."""
        wide = x.astype(np.float64)
        (sums,) = SumPool.evaluate(wide, **attributes)
        windows, last = Windows.of(attributes["window"], attributes), attributes["channels_last"]
        numbers: Any = np.float64(prod(attributes["window"]))
        if windows.is_padded and not attributes["count_padding"]:
            extents = [x.shape[axis] for axis in spatial_axes(x.ndim, channels_last=last)]
            numbers = _numbers(windows, tuple(extents), channels_last=last)
        with np.errstate(invalid="ignore"):
            return (round_to(np.asarray(sums / numbers), spec_of_array(x).dtype),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Divide `gv.sum_pool` by how many elements each window sees.

        That is one number where padding counts or is none; otherwise it is a product of how many
        it sees along each axis, which fold to constants where the shape is static.
        """
        make, spec, dtype = Maker(call.emit), call.specs[0], widened(call.specs[0].dtype)
        moves = {name: v for name, v in call.attributes.items() if name != "count_padding"}
        total = make.sum_pool(make.to(call.operands[0], dtype), **moves)
        windows = Windows.of(moves["window"], moves)
        numbers = make.number(prod(moves["window"]), dtype)
        if windows.is_padded and not call.attributes["count_padding"]:
            last = moves["channels_last"]
            extents = spatial(spec, channels_last=last)
            numbers = _numbers_seen(make, dtype, extents, moves)
        return make.to(make.div(total, numbers), spec.dtype)


def _numbers_seen(
    make: Maker, dtype: DType, extents: Sequence[Dim], moves: Mapping[str, Any]
) -> Any:
    """Return how many elements each window sees that are no padding: an image of one channel.

    Along each axis they are a `gv.sum_pool` of ones.
    """
    rank, last = len(extents), moves["channels_last"]

    def along(axis: int) -> Any:
        """Return how many it sees along one axis."""

        def only(values: Sequence[Any], other: Any) -> tuple[Any, ...]:
            return tuple(values[axis] if i == axis else other for i in range(rank))

        ones = make.filled(1, dtype, image(1, 1, only(extents, 1), channels_last=last))
        single = {name: only(moves[name], 1) for name in ("window", "strides", "dilations")}
        pads = only(moves["pads"], (0, 0))
        return make.sum_pool(ones, **single, pads=pads, channels_last=last)

    return reduce(make.mul, map(along, range(rank)))

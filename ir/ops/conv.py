"""Convolutions and their transposes, in any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compose.functions import dilate, flip, resize_edges
from ..compose.maker import Emit, Maker
from ..families import REAL, expect, expect_same, spec_of_value
from ..iteration import Affine, Iteration, dim
from ..op import REGISTRY, Array, Call, EagerEmit, Op, register
from ..samples import Sample
from ..types.dims import Dim, ceil_divide
from ..types.dtypes import bf16, f16, f32, f64, i32
from ..types.numerics import round_to, widen
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec, spec_of_array
from ..windows import Windows, channel_axis, image, spatial, spatial_axes

Pairs = tuple[tuple[int, int], ...]


def _moves(rank: int, **changes: Any) -> dict[str, Any]:
    """Return the attributes of windows that move by 1 without padding, with changes."""
    plain = {"strides": (1,) * rank, "pads": ((0, 0),) * rank, "dilations": (1,) * rank}
    return {**plain, **changes}


def _check_operands(x: TensorSpec, w: TensorSpec, groups: int) -> None:
    expect(x, REAL)
    expect_same(x, w)
    if x.rank < 3 or w.rank != x.rank:
        raise TypeError(f"ranks {x.rank} and {w.rank}, expected two equal ones from 3")
    if groups < 1:
        raise TypeError(f"groups {groups}, expected at least 1")


@register
class Conv(Op):
    """The sum over windows of image times weights (correlation: weights are not flipped).

    x is [N, C, *S] (or [N, *S, C]), w always [O, C / groups, *K]. Floats narrower than f32
    are computed in f32.
    """

    name = "gv.conv"
    COMPILED_FIXED: ClassVar = True
    SLIDES: ClassVar = True
    CONTRACTS: ClassVar = True
    WIDENS: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((2, 3, 6, 5), (4, 3, 3, 2)), _moves(2), (f32, f64, f16, bf16, i32)),
        Sample(((1, 2, 7, 6), (3, 2, 3, 3)), _moves(2, pads=((1, 1), (1, 1)), strides=(2, 2))),
        Sample(((1, 2, 7, 8), (3, 2, 3, 2)), _moves(2, pads=((2, 0), (0, 1)), dilations=(2, 3))),
        Sample(((1, 4, 5, 5), (6, 2, 3, 3)), _moves(2, groups=2, pads=((1, 1), (1, 0)))),
        Sample(((1, 3, 5, 6), (3, 1, 3, 3)), _moves(2, groups=3, strides=(1, 2)), (f32, bf16)),
        Sample(((2, 3, 9), (4, 3, 3)), _moves(1, strides=(3,), dilations=(2,), pads=((0, 2),))),
        Sample(((1, 2, 3, 4, 4), (2, 2, 2, 3, 1)), _moves(3, pads=((0, 0), (1, 1), (0, 0)))),
        Sample(
            ((2, 6, 5, 4), (4, 2, 3, 2)),
            _moves(2, channels_last=True, groups=2, strides=(2, 1), pads=((1, 1), (0, 1))),
            (f32, bf16),
        ),
        Sample(((1, 5, 3), (2, 3, 2)), _moves(1, channels_last=True)),
        Sample(((1, 4, 3, 3), (5, 4, 1, 1)), _moves(2)),
        Sample(((0, 2, 4, 4), (3, 2, 3, 3)), _moves(2)),
        Sample(
            ((1, 16, 10, 11), (24, 16, 3, 3)), _moves(2, pads=((1, 1),) * 2), differentiable=False
        ),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        w: TensorSpec,
        *,
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        groups: int = 1,
        channels_last: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return an image with a channel for each filter and a place for each window."""
        _check_operands(x, w, groups)
        filters, depth, *kernel = w.dims
        channels = x.dims[channel_axis(x.rank, channels_last=channels_last)]
        if depth * groups != channels:
            message = f"{channels} channels, expected {groups} x {depth} as the weights have"
            raise UnequalError(message, channels, depth * groups)
        if filters % groups != 0:
            raise TypeError(f"{filters} filters, expected a multiple of the {groups} groups")
        windows = Windows(tuple(kernel), strides, pads, dilations)
        windows.check()
        counts = windows.counts(spatial(x, channels_last=channels_last))
        return (x.with_shape(image(x.dims[0], filters, counts, channels_last=channels_last)),)

    @classmethod
    def evaluate(cls, x: Array, w: Array, *, groups: int, **attributes: Any) -> Sequence[Array]:
        """Multiply the weights by the matrix of what the windows see."""
        last = attributes["channels_last"]
        windows = Windows.of(w.shape[2:], attributes)
        if last and groups == 1:
            return (_rounded(_rows_of_channels(widen(x), widen(w), windows), x),)
        seen = windows.view(widen(np.moveaxis(x, -1, 1) if last else x), 0)
        batch, channels, *rest = seen.shape
        rank = len(rest) // 2
        places, taps = rest[:rank], rest[rank:]
        seen = np.moveaxis(seen, range(2, 2 + rank), range(-rank, 0))
        inner = channels // groups * prod(taps)
        columns = seen.reshape(batch, groups, inner, prod(places))
        rows = widen(w).reshape(groups, w.shape[0] // groups, inner)
        made = np.matmul(rows, columns).reshape(batch, w.shape[0], *places)
        return (_rounded(np.moveaxis(made, 1, -1) if last else made, x),)

    @classmethod
    def iteration(
        cls, x: TensorSpec, w: TensorSpec, *, groups: int, **attributes: Any
    ) -> Iteration:
        """Loop over batch, group, filter, place, and inside over channel and tap."""
        last: bool = attributes["channels_last"]
        filters, depth, *kernel = w.dims
        windows = Windows.of(kernel, attributes)
        counts = windows.counts(spatial(x, channels_last=last))
        rank, size = len(kernel), filters // groups
        channel = 3 + rank
        taps = tuple(dim(channel + 1 + i) for i in range(rank))
        seen = windows.indices(3, channel + 1)
        source = image(dim(0), Affine(((1, depth), (channel, 1))), seen, channels_last=last)
        which = Affine(((1, size), (2, 1)))
        places = tuple(dim(3 + i) for i in range(rank))
        return Iteration(
            parallel=(x.dims[0], groups, size, *counts),
            reduce=(depth, *kernel),
            reads=(source, (which, dim(channel), *taps)),
            write=image(dim(0), which, places, channels_last=last),
            combiner="add",
            body=lambda math, a, b: math.mul(a, b),
            guarded=(windows.is_padded, False),
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Spread the gradient by the transpose; for the weights, correlate with the image."""
        (x, w), grad, last = call.operands, grads[0], call.attributes["channels_last"]
        windows = Windows.of(call.specs[1].dims[2:], call.attributes)
        more = windows.leftovers(spatial(call.specs[0], channels_last=last))
        for_x = call.emit(ConvTranspose, grad, w, **call.attributes, output_pads=more)
        for_w = weight_gradient(call.emit, x, grad, windows.kernel, **call.attributes)
        return (restated(call.emit, for_x, call.specs[0].dims), for_w)


def _rows_of_channels(x: Array, w: Array, windows: Windows) -> Array:
    """Convolve an image whose channels are last: rows of what windows see times the weights."""
    seen = windows.view(x, 0, channels_last=True)
    rank, inner = w.ndim - 2, prod(w.shape[1:])
    shape = (*seen.shape[: 1 + rank], w.shape[0])
    columns = w.transpose(*range(2, w.ndim), 1, 0).reshape(inner, w.shape[0])
    made = np.matmul(seen.reshape(prod(shape[:-1]), inner), columns)
    return np.asarray(made).reshape(shape)


def _rounded(made: Array, like: Array) -> Array:
    dtype = spec_of_array(like).dtype
    return round_to(made, dtype) if dtype.is_float else np.asarray(made)


def restated(emit: Emit, value: Any, shape: tuple[Dim, ...]) -> Any:
    """Return a value whose shape is known to be this one, though written otherwise."""
    if spec_of_value(value).dims == shape:
        return value
    starts, steps = (0,) * len(shape), (1,) * len(shape)
    return Maker(emit).slice(value, starts=starts, stops=shape, steps=steps)


def conv_any_pads(
    emit: Emit, x: Any, w: Any, pads: Sequence[tuple[Dim, Dim]], **attributes: Any
) -> Any:
    """Convolve with pads that may crop or be symbolic."""
    x, plain = _cropped(emit, x, pads, attributes.get("channels_last", False))
    return emit(Conv, x, w, pads=plain, **attributes)


def weight_gradient(emit: Emit, x: Any, grad: Any, window: Sequence[Dim], **attributes: Any) -> Any:
    """Return the gradient [O, C / groups, *K] of weights that turned x into what `grad` is of."""
    x, pads = _cropped(emit, x, attributes.pop("pads"), attributes["channels_last"])
    made = REGISTRY["gv.conv_weights"]
    return emit(made, x, grad, window=tuple(window), pads=pads, **attributes)


def _cropped(emit: Emit, x: Any, pads: Sequence[tuple[Dim, Dim]], last: bool) -> tuple[Any, Pairs]:
    """Return an image with pads that are numbers and do not crop: else it is padded itself."""
    known = [(low, high) for low, high in pads if isinstance(low, int) and isinstance(high, int)]
    if len(known) == len(pads) and min(p for pair in known for p in pair) >= 0:
        return x, tuple(known)
    edges = image((0, 0), (0, 0), pads, channels_last=last)
    return resize_edges(emit, x, edges), ((0, 0),) * len(pads)


@register
class ConvTranspose(Op):
    """What `gv.conv` undoes: each element of the image puts a window of weights into the result.

    x is [N, C, *S] (or [N, *S, C]), w always [C, O / groups, *K]. Pads crop the result,
    `output_pads` extend its end.
    """

    name = "gv.conv_transpose"
    COMPILED_FIXED: ClassVar = True
    WIDENS: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((2, 3, 4, 3), (3, 2, 3, 2)), _moves(2, output_pads=(0, 0)), (f32, f64, bf16, i32)),
        Sample(
            ((1, 2, 3, 4), (2, 3, 3, 3)),
            _moves(2, strides=(2, 3), pads=((1, 1), (0, 2)), output_pads=(1, 0)),
            (f32, f16),
        ),
        Sample(
            ((1, 4, 3, 3), (4, 2, 2, 2)), _moves(2, strides=(2, 2), output_pads=(0, 0), groups=2)
        ),
        Sample(((2, 3, 5), (3, 2, 2)), _moves(1, strides=(3,), dilations=(2,), output_pads=(2,))),
        Sample(((2, 3, 5), (3, 2, 3)), _moves(1, dilations=(2,), pads=((1, 5),), output_pads=(0,))),
        Sample(
            ((1, 2, 2, 3, 2), (2, 1, 2, 2, 2)), _moves(3, strides=(2, 1, 2), output_pads=(0,) * 3)
        ),
        Sample(
            ((1, 3, 4, 4), (4, 1, 3, 3)),
            _moves(2, channels_last=True, strides=(2, 2), pads=((1, 1),) * 2, output_pads=(1, 1),
                   groups=2),
        ),
        Sample(((1, 4, 3), (3, 2, 3)), _moves(1, channels_last=True, output_pads=(0,))),
        Sample(((2, 3, 3, 2), (3, 4, 1, 1)), _moves(2, strides=(2, 3), output_pads=(1, 0))),
        Sample(((0, 2, 3), (2, 2, 2)), _moves(1, strides=(2,), output_pads=(0,))),
        Sample(((1, 2, 1), (2, 2, 2)), _moves(1, pads=((1, 1),), output_pads=(0,))),
        Sample(
            ((1, 2, 3, 4), (2, 16, 3, 3)),
            _moves(2, strides=(2, 2), pads=((1, 1), (0, 2)), output_pads=(1, 0)),
        ),
        Sample(
            ((1, 5, 2), (2, 16, 4)),
            _moves(1, channels_last=True, strides=(3,), pads=((4, 1),), output_pads=(0,), groups=2),
        ),
    )  # fmt: skip

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        w: TensorSpec,
        *,
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        output_pads: tuple[Dim, ...],
        groups: int = 1,
        channels_last: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return an image as large as all windows reach."""
        _check_operands(x, w, groups)
        channels, depth, *kernel = w.dims
        found = x.dims[channel_axis(x.rank, channels_last=channels_last)]
        if found != channels:
            message = f"{found} channels, expected {channels} as the weights have"
            raise UnequalError(message, found, channels)
        if channels % groups != 0:
            raise TypeError(f"{channels} channels, expected a multiple of the {groups} groups")
        windows = Windows(tuple(kernel), strides, pads, dilations)
        windows.check(allow_crop=True)
        if len(output_pads) != len(kernel):
            raise TypeError(f"output_pads of {len(output_pads)} axes, expected {len(kernel)}")
        extents = windows.spread(spatial(x, channels_last=channels_last), output_pads)
        if any(isinstance(e, int) and e < 0 for e in extents):
            raise TypeError(f"pads {pads} take more than there is")
        shape = image(x.dims[0], depth * groups, extents, channels_last=channels_last)
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(cls, x: Array, w: Array, *, groups: int, **attributes: Any) -> Sequence[Array]:
        """For each tap, add the products where the windows put them."""
        last = attributes["channels_last"]
        source = widen(np.moveaxis(x, -1, 1) if last else x)
        windows = Windows.of(w.shape[2:], attributes)
        batch, channels, *places = source.shape
        inner, filters = channels // groups, w.shape[1]
        columns = source.reshape(batch, groups, inner, prod(places))
        weights = np.swapaxes(widen(w).reshape(groups, inner, filters, *w.shape[2:]), 1, 2)
        reach = windows.reach(places)
        made = np.zeros((batch, groups, filters, *reach), source.dtype)
        for tap in np.ndindex(*w.shape[2:]):
            part = np.matmul(weights[(..., *tap)], columns)
            rows = zip(tap, windows.dilations, windows.strides, places, strict=True)
            where = (slice(k * d, max(k * d + (n - 1) * s + 1, 0), s) for k, d, s, n in rows)
            target: tuple[Any, ...] = (..., *where)
            made[target] += part.reshape(batch, groups, filters, *places)
        whole = made.reshape(batch, groups * filters, *reach)
        size = windows.spread(places, attributes["output_pads"])
        edges = _edges(windows, reach, size)
        whole = resize_edges(EagerEmit(), whole, ((0, 0), (0, 0), *edges))
        return (_rounded(np.moveaxis(whole, 1, -1) if last else whole, x),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Convolve with turned weights; with strides, once for each phase, and interleave.

        Result element q * stride + r takes only the taps t * stride + r. So each of the
        phases r is a convolution of stride 1 with some taps, all phases are one convolution
        with more filters, or several, and the result is read out of its channels.
        """
        windows, (made,) = Windows.of(call.specs[1].dims[2:], call.attributes), call.result_specs
        if 0 in spatial(made, channels_last=call.attributes["channels_last"]):
            return Maker(call.emit).filled(0.0, made.dtype, made.dims)  # all of it is cut off
        if set(windows.strides) == {1}:
            return _turned(call, windows)
        if set(windows.kernel) == {1}:
            return _apart(call, windows)
        return _by_phases(call, windows)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Convolve the gradient; for the weights, correlate it with the image."""
        (x, w), grad, last = call.operands, grads[0], call.attributes["channels_last"]
        kept = {name: call.attributes[name] for name in ("strides", "dilations", "groups")}
        windows = Windows.of(call.specs[1].dims[2:], call.attributes)
        more = call.attributes["output_pads"]
        pads = [(low, high - m) for (low, high), m in zip(windows.pads, more, strict=True)]
        for_x = conv_any_pads(call.emit, grad, w, pads, channels_last=last, **kept)
        for_w = weight_gradient(
            call.emit, grad, x, windows.kernel, pads=pads, channels_last=last, **kept
        )
        return (restated(call.emit, for_x, call.specs[0].dims), for_w)


def _turned(call: Call, windows: Windows) -> Any:
    """Return the transpose of a convolution of stride 1: one with the weights turned round."""
    x, w = call.operands
    weights = _turned_weights(call.emit, w, windows, call.attributes["groups"])
    rows = zip(windows.spans, windows.pads, call.attributes["output_pads"], strict=True)
    pads = [(span - 1 - low, span - 1 - high + more) for span, (low, high), more in rows]
    kept = {name: call.attributes[name] for name in ("groups", "channels_last", "dilations")}
    made = conv_any_pads(call.emit, x, weights, pads, strides=windows.strides, **kept)
    return restated(call.emit, made, call.result_specs[0].dims)


def _apart(call: Call, windows: Windows) -> Any:
    """Return the transpose of a strided convolution by windows of one element: zeros between."""
    x, w = call.operands
    last, ones = call.attributes["channels_last"], (1,) * len(windows.kernel)
    weights = _turned_weights(
        call.emit, w, replace(windows, strides=ones), call.attributes["groups"]
    )
    made = call.emit(
        Conv, x, weights, strides=ones, pads=((0, 0),) * len(ones), dilations=ones,
        groups=call.attributes["groups"], channels_last=last,
    )  # fmt: skip
    spec = spec_of_value(made)
    for axis, step in zip(
        spatial_axes(spec.rank, channels_last=last), windows.strides, strict=True
    ):
        made = dilate(call.emit, made, axis, step)
    reach = spatial(spec_of_value(made), channels_last=last)
    edges = _edges(windows, reach, spatial(call.result_specs[0], channels_last=last))
    made = resize_edges(call.emit, made, image((0, 0), (0, 0), edges, channels_last=last))
    return restated(call.emit, made, call.result_specs[0].dims)


def _turned_weights(emit: Emit, w: Any, windows: Windows, groups: int) -> Any:
    """Return [O, C / groups, *K] from [C, O / groups, *K], with each phase's taps as filters.

    The filters of each phase are together, for each group: [groups, *strides, O / groups] of them.
    """
    make, rank = Maker(emit), len(windows.kernel)
    channels, depth, *_ = spec_of_value(w).dims
    taps = [ceil_divide(k, s) for k, s in zip(windows.kernel, windows.strides, strict=True)]
    pairs = zip(taps, windows.strides, windows.kernel, strict=True)
    w = resize_edges(emit, w, [(0, 0), (0, 0), *((0, t * s - k) for t, s, k in pairs)])
    split = [d for pair in zip(taps, windows.strides, strict=True) for d in pair]
    w = make.reshape(w, shape=(groups, channels // groups, depth, *split))
    tap_axes, phase_axes = range(3, 3 + 2 * rank, 2), range(4, 4 + 2 * rank, 2)
    w = make.transpose(w, order=(0, *phase_axes, 2, 1, *tap_axes))
    w = flip(emit, w, range(3 + rank, 3 + 2 * rank))
    filters = depth * groups * prod(windows.strides)
    return make.reshape(w, shape=(filters, channels // groups, *taps))


def _by_phases(call: Call, windows: Windows) -> Any:
    """Return the transpose of a strided convolution."""
    x, w = call.operands
    last, groups = call.attributes["channels_last"], call.attributes["groups"]
    rank = len(windows.kernel)
    for axis, dilation in enumerate(windows.dilations, 2):
        w = dilate(call.emit, w, axis, dilation)
    w = resize_edges(call.emit, w, [(0, 0), (0, 0), *((0, 1 - d) for d in windows.dilations)])
    whole = Windows(windows.spans, windows.strides, windows.pads, (1,) * rank)
    apart = _phases_apart(call, whole, w)
    if apart is not None:
        return apart
    weights = _turned_weights(call.emit, w, whole, groups)
    taps = spec_of_value(weights).dims[2:]
    made = conv_any_pads(
        call.emit, x, weights, [(t - 1, t - 1) for t in taps],
        strides=(1,) * rank, dilations=(1,) * rank, groups=groups, channels_last=last,
    )  # fmt: skip
    phases = _interleaved(call.emit, made, windows.strides, groups, channels_last=last)
    reach = spatial(spec_of_value(phases), channels_last=last)
    size = spatial(call.result_specs[0], channels_last=last)
    edges = _edges(windows, reach, size)
    made = resize_edges(call.emit, phases, image((0, 0), (0, 0), edges, channels_last=last))
    return restated(call.emit, made, call.result_specs[0].dims)


def _phases_apart(call: Call, windows: Windows, w: Any) -> Any:
    """Return the transpose as a convolution for each phase; None where one of all is better.

    That one has as many taps for each phase as the most have. Result element q * stride + r is
    at place low + r of what all windows reach: it begins `shift` elements and `start` taps behind.
    """
    (made,), last = call.result_specs, call.attributes["channels_last"]
    size = spatial(made, channels_last=last)
    counts = [ceil_divide(n, s) for n, s in zip(size, windows.strides, strict=True)]
    phases = []
    for phase in np.ndindex(*windows.strides) if _is_worth_apart(windows, w) else ():
        starts, edges = [], []
        rows = zip(
            phase, windows.pads, windows.kernel, windows.strides, counts,
            spatial(call.specs[0], channels_last=last), strict=True,
        )  # fmt: skip
        for place, (low, _), span, stride, count, extent in rows:
            shift, start = divmod(low + place, stride)
            edges.append((ceil_divide(span - start, stride) - 1 - shift, count - extent + shift))
            starts.append(start)
        if not all(isinstance(edge, int) for pair in edges for edge in pair):
            return None
        phases.append(_phase(call, w, starts, edges))
    if not phases:
        return None
    axis = channel_axis(spec_of_value(phases[0]).rank, channels_last=last)
    whole = Maker(call.emit).concat(*phases, axis=axis)
    found = _interleaved(call.emit, whole, windows.strides, 1, channels_last=last)
    ends = [(0, n - c * s) for n, c, s in zip(size, counts, windows.strides, strict=True)]
    found = resize_edges(call.emit, found, image((0, 0), (0, 0), ends, channels_last=last))
    return restated(call.emit, found, made.dims)


WORTH_APART = 0.8
"""The part of the taps of one convolution for all phases that one for each at most has."""
FILTERS_APART = 16
"""As many filters as a vector has lanes: fewer of each phase would be computed like as many."""


def _is_worth_apart(windows: Windows, w: Any) -> bool:
    """Say whether phases differ in their taps, and have filters enough to be apart.

    Convolutions of three taps each way take as much less work as they have taps too many.
    """
    depth = spec_of_value(w).dims[1]
    rows = [
        (k, s) for k, s in zip(windows.kernel, windows.strides, strict=True) if isinstance(k, int)
    ]
    if not isinstance(depth, int) or depth < FILTERS_APART or len(rows) < len(windows.kernel):
        return False
    taps = [-(-k // s) for k, s in rows]
    part = prod(k / (t * s) for t, (k, s) in zip(taps, rows, strict=True))
    return taps != [3, 3] and part <= WORTH_APART and all(k >= s for k, s in rows)


def _phase(call: Call, w: Any, starts: Sequence[int], edges: Sequence[tuple[Dim, Dim]]) -> Any:
    """Return the elements of one phase: those of every stride-th tap, from some on."""
    strides, ones = call.attributes["strides"], (1,) * len(starts)
    whole = spec_of_value(w).dims
    part = Maker(call.emit).slice(w, starts=(0, 0, *starts), stops=whole, steps=(1, 1, *strides))
    windows = Windows(spec_of_value(part).dims[2:], ones, ((0, 0),) * len(starts), ones)
    weights = _turned_weights(call.emit, part, windows, call.attributes["groups"])
    kept = {name: call.attributes[name] for name in ("groups", "channels_last")}
    return conv_any_pads(
        call.emit, call.operands[0], weights, edges, strides=ones, dilations=ones, **kept
    )


def _interleaved(
    emit: Emit, x: Any, strides: Sequence[int], groups: int, *, channels_last: bool
) -> Any:
    """Spread channels over the places: they are [groups, *strides, O / groups], one for each phase.

    What lies together stays together where channels are last.
    """
    make, spec, rank = Maker(emit), spec_of_value(x), len(strides)
    places = spatial(spec, channels_last=channels_last)
    axis = channel_axis(spec.rank, channels_last=channels_last)
    filters = spec.dims[axis] // prod(strides)
    channels = (groups, *strides, filters // groups)
    parts = image(spec.dims[:1], channels, (places,), channels_last=channels_last)
    x = make.reshape(x, shape=tuple(d for part in parts for d in part))
    first = spatial_axes(spec.rank, channels_last=channels_last)[0]
    first += 0 if channels_last else rank + 1
    mixed = [a for i in range(rank) for a in (first + i, axis + 1 + i)]
    kept = (axis, axis + rank + 1)
    order = (0, *mixed, *kept) if channels_last else (0, *kept, *mixed)
    x = make.transpose(x, order=order)
    wide = [n * s for n, s in zip(places, strides, strict=True)]
    return make.reshape(x, shape=image(spec.dims[0], filters, wide, channels_last=channels_last))


def _edges(windows: Windows, reach: Sequence[Dim], size: Sequence[Dim]) -> list[tuple[Dim, Dim]]:
    """Return the pads that make results of this size from what all windows reach."""
    rows = zip(windows.pads, reach, size, strict=True)
    return [(-low, s - r + low) for (low, _), r, s in rows]

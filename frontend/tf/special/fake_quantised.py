"""Round as numbers of few bits would be, and go back as if nothing was rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...eager.remembered import remembered
from ...values.context import STATE
from ..core.bridge import TfTensor, custom_gradient
from ..core.space import Space
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, same
from ..ops.array_ops import reshape, where
from ..ops.math_ops import FUNCTIONS, REDUCTIONS
from ..ops.math_ops import cast as cast_to
from ..ops.nn_ops import clip_by_value


@remembered
def _bounds(
    low: TfTensor, high: TfTensor, bits: int, narrow: bool
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return the ends moved so that 0 is a step, and the size of a step."""
    if not 2 <= bits <= 16:
        raise ValueError(f"num_bits is {bits}, expected 2 to 16")
    least, most = float(narrow), float((1 << bits) - 1)
    step = (high - low) / (most - least)
    zero = least - low / step
    rounded = FUNCTIONS["floor"](zero + 0.5)
    moved = where(zero < least, least, where(zero > most, most, rounded))
    return (least - moved) * step, (most - moved) * step, step


@remembered
def _quantised(x: TfTensor, low: TfTensor, high: TfTensor, bits: int, narrow: bool) -> TfTensor:
    least, most, step = _bounds(low, high, bits, narrow)
    return _rounded(x, (least, most, step), 1.0 / step, _is_point(low, high))


@remembered
def _rounded(
    x: TfTensor, ends: tuple[TfTensor, TfTensor, TfTensor], inverse: TfTensor, is_point: TfTensor
) -> TfTensor:
    least, most, step = ends
    floor = FUNCTIONS["floor"]
    half = 0.5 - floor(0.5 - least * inverse)  # steps are counted from 0, as in TensorFlow
    count = floor((clip_by_value(x, least, most) - least) * inverse + half)
    return where(is_point, 0.0, count * step)


def _is_point(low: TfTensor, high: TfTensor) -> TfTensor:
    """Say whether both ends are 0: then all is 0, and gradients go through."""
    return FUNCTIONS["logical_and"](low == 0.0, high == 0.0)


@remembered
def _parts(
    x: TfTensor, low: TfTensor, high: TfTensor, grad: TfTensor, bits: int, narrow: bool
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return what of a gradient goes to elements, and what to the ends that they are behind."""
    least, most, _ = _bounds(low, high, bits, narrow)
    outside = FUNCTIONS["logical_not"](_is_point(low, high))
    below, above = (
        cast_to(FUNCTIONS["logical_and"](outside, side), grad.dtype)
        for side in (x < least, x > most)
    )
    return grad * (1.0 - below - above), grad * below, grad * above


@remembered
def fake_quant_with_min_max_vars(
    inputs: object, min: object, max: object, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Round to steps between two ends, which get the gradients of what lies behind them."""

    @custom_gradient
    def run(
        x: TfTensor, low: TfTensor, high: TfTensor
    ) -> tuple[TfTensor, Callable[[TfTensor], list[TfTensor]]]:
        def gradient(grad: TfTensor) -> list[TfTensor]:
            own, *ends = _parts(x, low, high, grad, num_bits, narrow_range)
            axes = list(range(len(x.shape) - len(low.shape)))
            return [own, *[REDUCTIONS["reduce_sum"](end, axis=axes) for end in ends]]

        return _quantised(x, low, high, num_bits, narrow_range), gradient

    with InGraph(graph_of([inputs, min, max])):
        x, low, high = same(inputs, min, max)
        if STATE.busy:
            return run(x, low, high)
        return _quantised(x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel(
    inputs: object, min: object, max: object, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Round to steps between two ends of each channel, which are along the last axis."""
    with InGraph(graph_of([inputs, min, max])):
        for end, given in (("min", min), ("max", max)):
            if len(convert(given).shape) != 1:
                raise ValueError(f"{end} has shape {convert(given).shape}, expected one axis")
        return fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range, name)


def fake_quant_with_min_max_args(
    inputs: object, min: float = -6.0, max: float = 6.0, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Round to steps between two numbers."""
    return fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range, name)


def _ends(
    x: TfTensor, low: TfTensor, high: TfTensor, signed: bool, bits: int, narrow: bool
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return steps per one, and the ends, of which one is moved to the last step."""
    least = float(narrow - (1 << bits - 1)) if signed else 0.0
    most = float((1 << bits - int(signed)) - 1)
    largest = x.dtype.max
    counts = [
        where(end * count > 0.0, count / where(end == 0.0, 1.0, end), largest)
        for end, count in ((low, least), (high, most))
    ]
    steps = FUNCTIONS["minimum"](*counts)
    bound_by_low = counts[0] < counts[1]
    return (
        steps,
        where(bound_by_low, low, least / steps),
        where(bound_by_low, most / steps, high),
    )


How = tuple[bool, int, bool]
"""Whether there are steps below 0, of how many bits they are, and whether one is left out."""


def _in_steps(
    x: TfTensor, low: TfTensor, high: TfTensor, clips: bool, mode: str, how: How
) -> TfTensor:
    steps, least, most = _ends(x, low, high, *how)
    scaled = (clip_by_value(x, least, most) if clips else x) * steps
    up = mode == "HALF_UP"
    return (FUNCTIONS["floor"](scaled + 0.5) if up else FUNCTIONS["round"](scaled)) / steps


@remembered
def _all_in_steps(
    x: TfTensor,
    low: TfTensor,
    high: TfTensor,
    is_given: bool,
    mode: str,
    how: How,
    axis: int | None,
) -> TfTensor:
    least, most = _ends_of(x, low, high, is_given, axis)
    return _in_steps(x, least, most, is_given, mode, how)


def _ends_of(
    x: TfTensor, low: TfTensor, high: TfTensor, is_given: bool, axis: int | None
) -> tuple[TfTensor, TfTensor]:
    """Return the ends of a tensor, or of each of its channels along the axis of these."""
    if not is_given:
        others = _others(x, axis)
        low, high = (
            REDUCTIONS[f"reduce_{end}"](x, axis=others, keepdims=axis is not None)
            for end in ("min", "max")
        )
    elif axis is not None:
        dims = [-1 if i == axis else 1 for i in range(len(x.shape))]
        low, high = reshape(low, dims), reshape(high, dims)
    return low, high


@remembered
def quantize_and_dequantize_v2(
    input: object, input_min: object, input_max: object, signed_input: bool = True,
    num_bits: int = 8, range_given: bool = False, round_mode: str = "HALF_TO_EVEN",
    name: str | None = None, narrow_range: bool = False, axis: int | None = None,
) -> TfTensor:  # fmt: skip
    """Round to steps around 0, and go back; gradients go through between the ends."""
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise ValueError(f"round_mode is {round_mode!r}, expected HALF_TO_EVEN or HALF_UP")
    how = signed_input, num_bits, narrow_range

    @custom_gradient
    def run(
        x: TfTensor, low: TfTensor, high: TfTensor
    ) -> tuple[TfTensor, Callable[[TfTensor], list[TfTensor]]]:
        least, most = _ends_of(x, low, high, range_given, at)

        def gradient(grad: TfTensor) -> list[TfTensor]:
            below, above = (cast_to(side, grad.dtype) for side in (x < least, x > most))
            ends = [
                reshape(REDUCTIONS["reduce_sum"](grad * side, axis=_others(x, at)), like.shape)
                for side, like in ((below, low), (above, high))
            ]
            return [grad * (1.0 - below - above), *ends]

        return _in_steps(x, least, most, range_given, round_mode, how), gradient

    with InGraph(graph_of([input, input_min, input_max])):
        x, low, high = same(input, input_min, input_max)
        if axis is not None and axis < 0 and x.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        at = axis + len(x.shape) if axis is not None and axis < 0 else axis
        _check_channels(x, (low, high), range_given, at)
        if STATE.busy:
            return run(x, low, high)
        return _all_in_steps(x, low, high, range_given, round_mode, how, at)


def _check_channels(
    x: TfTensor, ends: Sequence[TfTensor], is_given: bool, axis: int | None
) -> None:
    """Raise where an axis of channels, or the ends of these, do not fit the tensor."""
    if axis is None:
        return
    rank = x.shape.rank
    if rank is not None and axis >= rank:
        raise InvalidShapesError(f"Shape must be at least rank {axis + 1} but is rank {rank}")
    for end, name in zip(ends, ("input_min", "input_max"), strict=True):
        if is_given and end.shape.rank not in (1, None):
            raise InvalidShapesError(f"{name} has shape {end.shape}, expected one for each channel")


def _others(x: TfTensor, axis: int | None) -> list[int] | None:
    """Return the axes beside the one of channels; all of them where there is none."""
    return None if axis is None else [i for i in range(len(x.shape)) if i != axis]


def quantize_and_dequantize(
    input: object, input_min: object, input_max: object, signed_input: bool = True,
    num_bits: int = 8, range_given: bool = False, round_mode: str = "HALF_TO_EVEN",
    name: str | None = None, narrow_range: bool = False, axis: int | None = None,
) -> TfTensor:  # fmt: skip
    """Round to steps around 0, and go back; all gradients go through."""
    options = signed_input, num_bits, range_given, round_mode, name, narrow_range, axis

    @custom_gradient
    def run(x: TfTensor) -> tuple[TfTensor, Callable[[TfTensor], TfTensor]]:
        made = quantize_and_dequantize_v2(x, input_min, input_max, *options)
        return made, lambda grad: grad

    with InGraph(graph_of([input])):
        return run(convert(input))


NAMES = {
    "fake_quant_with_min_max_args": fake_quant_with_min_max_args,
    "fake_quant_with_min_max_vars": fake_quant_with_min_max_vars,
    "fake_quant_with_min_max_vars_per_channel": fake_quant_with_min_max_vars_per_channel,
    "quantize_and_dequantize": quantize_and_dequantize,
    "quantize_and_dequantize_v2": quantize_and_dequantize_v2,
}
quantization = Space("quantization", **NAMES)

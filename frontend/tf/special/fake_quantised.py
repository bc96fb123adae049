"""Round as numbers of few bits would be, and go back as if nothing was rounded."""

from __future__ import annotations

from collections.abc import Callable

from ..core.bridge import TfTensor, custom_gradient
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of, same
from ..ops.array_ops import where
from ..ops.creation import zeros_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS
from ..ops.math_ops import cast as cast_to
from ..ops.nn_ops import clip_by_value


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


def _quantised(x: TfTensor, low: TfTensor, high: TfTensor, bits: int, narrow: bool) -> TfTensor:
    least, most, step = _bounds(low, high, bits, narrow)
    away = clip_by_value(x, least, most) - least
    wide, inverse = cast_to(away, "float64"), cast_to(1.0 / step, "float64")
    count = FUNCTIONS["floor"](wide * inverse + 0.5)  # of one rounding, as in TensorFlow
    made = cast_to(count, x.dtype) * step + least
    return where(_is_point(low, high), zeros_like(made), made)


def _is_point(low: TfTensor, high: TfTensor) -> TfTensor:
    """Say whether both ends are 0: then all is 0, and gradients go through."""
    return FUNCTIONS["logical_and"](low == 0.0, high == 0.0)


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
        return run(*same(inputs, min, max))


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


NAMES = {
    "fake_quant_with_min_max_args": fake_quant_with_min_max_args,
    "fake_quant_with_min_max_vars": fake_quant_with_min_max_vars,
    "fake_quant_with_min_max_vars_per_channel": fake_quant_with_min_max_vars_per_channel,
}
quantization = Space("quantization", **NAMES)

"""The logarithms of running sums of exponentials along an axis, by twice as many elements a step.

Where the extent of the axis is not known, the steps are a loop: there are as many as it takes.
"""

from __future__ import annotations

import math

from ...eager.remembered import remembered
from ..core.bridge import TfTensor
from ..core.values import axis_in, convert
from ..graph.loops import while_loop
from ..ops.array_ops import concat, expand_dims, reshape, shape, size, split, stack, where
from ..ops.composed import roll
from ..ops.creation import constant, range_, zeros_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast


@remembered
def cumulative_logsumexp(
    x: object,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return the logarithms of the running sums of exponentials along an axis."""
    given = convert(x)
    if given.shape.rank is None:
        return _of_open_rank(given, axis, exclusive, reverse)
    axis = axis_in(axis, len(given.shape))
    extent = given.shape.as_list()[axis]
    if extent == 0:
        return given
    count = math.prod(given.shape.known()) if given.shape.is_fully_defined() else FEW
    both, wide = _log_in_steps, given
    if count < FEW:
        both, wide = _log_of_both, cast(given, "float64")
    if extent is None:
        return _of_open_extent(wide, axis, exclusive, reverse)
    made = _moved(wide, 1, axis, reverse) if exclusive else wide
    step = 1
    while step < extent:  # each holds as many as there are steps, and from then on twice as many
        made, step = both(_moved(made, step, axis, reverse), made), 2 * step
    return cast(made, given.dtype)


def _of_open_rank(x: TfTensor, axis: int, exclusive: bool, reverse: bool) -> TfTensor:
    """Do so along the second of three axes, which those before it and behind it become."""
    sizes = shape(x)
    at = axis if axis >= 0 else size(sizes) + axis
    product = REDUCTIONS["reduce_prod"]
    three = stack([product(sizes[:at]), sizes[at], product(sizes[at + 1 :])])
    flat = reshape(x, three)
    flat.set_shape([None, None, None])
    return reshape(cumulative_logsumexp(flat, 1, exclusive, reverse), sizes)


FEW = 1 << 14
"""Up to so many elements calls cost more than exponentials of f64."""


def _of_open_extent(x: TfTensor, axis: int, exclusive: bool, reverse: bool) -> TfTensor:
    """Do so in a loop over steps that are tensors."""
    extent = shape(x)[axis]
    place = range_(extent)
    place = extent - 1 - place if reverse else place
    for _ in range(len(x.shape) - 1 - axis):
        place = expand_dims(place, -1)

    def moved(x: TfTensor, step: TfTensor) -> TfTensor:
        turned = roll(x, -step if reverse else step, axis)
        return where(place < step, zeros_like(x) - float("inf"), turned)

    def further(step: TfTensor, made: TfTensor) -> tuple[TfTensor, TfTensor]:
        return 2 * step, _log_in_steps(moved(made, step), made)

    one = constant(1)
    begun = one, moved(x, one) if exclusive else x
    found: tuple[TfTensor, TfTensor] = while_loop(
        lambda step, made: step < extent, further, begun, [one.shape, x.shape]
    )
    return found[1]


def _log_in_steps(x: TfTensor, y: TfTensor) -> TfTensor:
    made: TfTensor = REDUCTIONS["reduce_logsumexp"](stack([x, y]), 0)
    return made


def _log_of_both(x: TfTensor, y: TfTensor) -> TfTensor:
    """Return the logarithm of the sum of exponentials, the larger one taken out of it if finite."""
    larger = FUNCTIONS["maximum"](x, y)
    base = where(FUNCTIONS["is_finite"](larger), larger, zeros_like(larger))
    exp = FUNCTIONS["exp"]
    made: TfTensor = FUNCTIONS["log"](exp(x - base) + exp(y - base)) + base
    return made


def _moved(x: TfTensor, step: int, axis: int, reverse: bool) -> TfTensor:
    """Return elements so many places further along an axis; where none come from, nothing is."""
    extent = x.shape.known()[axis]
    cut = step if reverse else extent - step
    first, last = split(x, [cut, extent - cut], axis)
    if reverse:
        return concat([last, zeros_like(first) - float("inf")], axis)
    return concat([zeros_like(last) - float("inf"), first], axis)

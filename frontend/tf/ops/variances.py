"""Variances and standard deviations, of complex numbers too."""

from __future__ import annotations

from ....ir.compose.maker import Maker
from ...eager.remembered import remember_all
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import op
from ..core.values import InGraph, InvalidTypesError, convert, graph_of
from .math_ops import FUNCTIONS, axes_of, conj, real, reduce_mean


def _variance_of(m: Maker, x: object, axis: object, keepdims: bool) -> object:
    axes = axes_of(x, axis)
    centred = m.sub(x, m.mean(x, axes=axes, keepdims=True))
    return m.mean(m.mul(centred, centred), axes=axes, keepdims=keepdims)


@op("Variance", "input_tensor", strict=False, shapes=shapes_of.reduced())
def _variance(
    m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False
) -> object:
    return _variance_of(m, input_tensor, axis, keepdims)


@op("Std", "input_tensor", strict=False, shapes=shapes_of.reduced())
def _std(m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False) -> object:
    return m.sqrt(_variance_of(m, input_tensor, axis, keepdims))


def reduce_variance(
    input_tensor: object, axis: object = None, keepdims: bool = False, name: str | None = None
) -> TfTensor:
    """Return the variance along axes: a real one, of complex numbers too."""
    with InGraph(graph_of([input_tensor])):
        x = convert(input_tensor)
        _refuse_integers(x)
        if x.spec.dtype.kind != "c":
            return _variance(x, axis, keepdims, name=name)
        centred = x - reduce_mean(x, axis, True)
        return reduce_mean(real(centred * conj(centred)), axis, keepdims, name=name)


def reduce_std(
    input_tensor: object, axis: object = None, keepdims: bool = False, name: str | None = None
) -> TfTensor:
    """Return the standard deviation along axes."""
    with InGraph(graph_of([input_tensor])):
        x = convert(input_tensor)
        _refuse_integers(x)
        if x.spec.dtype.kind != "c":
            return _std(x, axis, keepdims, name=name)
        return FUNCTIONS["sqrt"](reduce_variance(x, axis, keepdims), name=name)


def _refuse_integers(x: TfTensor) -> None:
    if x.dtype.is_integer:
        raise InvalidTypesError(
            f"Input must be either real or complex. Received integer type {x.dtype}."
        )


remember_all(globals())

"""Functions of one number whose derivative is one of the number and of what they give.

Where code is made of cases, the derivative of a case's constant is 0, also where the function is
infinite or has a bend; a formula of the derivative says what it is there.
"""

from __future__ import annotations

from collections.abc import Callable

from ...eager.remembered import remembered
from ...values.context import STATE
from ..core.bridge import TfTensor, custom_gradient
from ..core.values import InGraph, convert, graph_of

Slope = Callable[[TfTensor, TfTensor], TfTensor]
"""Of a number and of what the function gives for it."""


def with_slope(
    function: Callable[..., TfTensor], slope: Slope, text: str = ""
) -> Callable[..., TfTensor]:
    """Return the public function with that derivative."""

    def public(x: object, name: str | None = None) -> TfTensor:
        with InGraph(graph_of([x])):
            value = convert(x)
            return sloping(value) if STATE.busy else function(value, name=name)

    @custom_gradient
    def sloping(x: TfTensor) -> tuple[TfTensor, Callable[[TfTensor], TfTensor]]:
        return function(x), lambda grad: grad * slope(x, public(x))

    public.__doc__ = text or function.__doc__
    return remembered(public)

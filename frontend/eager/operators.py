"""The operators of tensors, and of all that acts like one (variables).

Two plain tensors of one type go straight to numpy's function; everything else goes through
`_operate`, which converts, promotes and applies the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from ...ir.op import REGISTRY, Array
from ...runtime.tracing import EARS
from ..values.context import STATE
from .kernels import kernels_of

Binary = Callable[[Any, object], Any]
Unary = Callable[[object], object]


def _forward(name: str) -> Binary:
    """Return the method of an operator."""
    op = REGISTRY[f"gv.{name}"]
    kernels = {} if name == "div" else kernels_of(op)
    floats = {dtype: kernel for dtype, kernel in kernels.items() if dtype.kind == "f"}
    if name == "div":
        kernels = floats = {d: k for d, k in kernels_of(op).items() if d.kind in "fc"}

    def method(self: Any, other: Any) -> object:
        kind = other.__class__
        if self.direct and not (STATE.busy or EARS.count):
            a: Array = self._array
            try:
                if kind is self.__class__:
                    b: Array = other._array
                    if a.dtype == b.dtype and (kernel := kernels.get(a.dtype)) is not None:
                        return kind(kernel(a, b))
                elif kind is float and (kernel := floats.get(a.dtype)) is not None:
                    return self.__class__(kernel(a, np.array(other, a.dtype)))
            except ValueError:
                pass  # the shapes do not broadcast: below it is said with their names
        return self._operate(op, self, other) if accepted(other) else NotImplemented

    return method


def _backward(name: str) -> Binary:
    """Return the method of an operator whose left operand is not a tensor."""
    op = REGISTRY[f"gv.{name}"]

    def method(self: Any, other: object) -> object:
        return self._operate(op, other, self) if accepted(other) else NotImplemented

    return method


def _unary(name: str) -> Unary:
    op = REGISTRY[f"gv.{name}"]

    def method(self: Any) -> object:
        return self._operate(op, self)

    return method


def accepted(value: object) -> bool:
    """Say whether a value can be an operand."""
    return isinstance(value, _ACCEPTED) or hasattr(value, "__array__")


class Operators:
    """Gives a class the operators of tensors; it defines `_operate`."""

    __slots__ = ()
    __array_priority__: ClassVar[float] = 100.0
    direct: ClassVar[bool] = False
    """Whether numpy computes on it at once."""
    eager: ClassVar[bool] = False
    """Whether instances hold their value in `_array`."""

    _operate: Callable[..., object]
    """`_operate(op, *values)`: promote the values and carry out the operation."""

    __add__, __radd__ = _forward("add"), _backward("add")
    __sub__, __rsub__ = _forward("sub"), _backward("sub")
    __mul__, __rmul__ = _forward("mul"), _backward("mul")
    __truediv__, __rtruediv__ = _forward("div"), _backward("div")
    __floordiv__, __rfloordiv__ = _forward("floor_divide"), _backward("floor_divide")
    __mod__, __rmod__ = _forward("mod"), _backward("mod")
    __pow__, __rpow__ = _forward("pow"), _backward("pow")
    __and__, __rand__ = _forward("bitwise_and"), _backward("bitwise_and")
    __or__, __ror__ = _forward("bitwise_or"), _backward("bitwise_or")
    __xor__, __rxor__ = _forward("bitwise_xor"), _backward("bitwise_xor")
    __lshift__, __rlshift__ = _forward("shift_left"), _backward("shift_left")
    __rshift__, __rrshift__ = _forward("shift_right"), _backward("shift_right")
    __lt__, __le__ = _forward("less"), _forward("less_equal")
    __gt__, __ge__ = _forward("greater"), _forward("greater_equal")
    __neg__, __invert__, __abs__ = _unary("neg"), _unary("bitwise_not"), _unary("abs")
    _equal, _not_equal = _forward("equal"), _forward("not_equal")

    def __pos__(self) -> Self:
        return self

    def __eq__(self, other: object) -> Any:
        return self._equal(other)

    def __ne__(self, other: object) -> Any:
        return self._not_equal(other)

    def __hash__(self) -> int:
        return id(self)


_ACCEPTED = (Operators, bool, int, float, complex, np.ndarray, np.generic, list, tuple)

"""Element-wise functions of the array API standard.

Python numbers take the element type of what they meet. Integers given to a function of floats
become float32. Of computed values nobody records, plain numpy does the work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.families import EmitMath
from ...ir.op import REGISTRY, Array
from ...ir.scalar_math import Term
from ...ir.types import dtypes as rows
from ...runtime.tracing import EARS
from ..eager.kernels import host, kernels_of
from ..eager.operators import Operators
from ..eager.remembered import remember_all, remembered
from ..eager.tensor import Tensor, apply, as_tensor, cast, computed, operate, promoted, single
from ..values import dtypes
from ..values.context import STATE
from ..values.dtypes import DTypeLike
from ..values.given import DeviceLike, TensorLike

Unary = Callable[[TensorLike], Tensor]
Binary = Callable[[TensorLike, TensorLike], Tensor]


def unary(name: str) -> Unary:
    """Return the function of one tensor that an operation is."""
    op = REGISTRY[f"gv.{name}"]
    kernels = kernels_of(op)

    def function(x: TensorLike, /) -> Tensor:
        if x.__class__ is Tensor and not (STATE.busy or EARS.count):
            kernel = kernels.get(x._array.dtype)
            if kernel is not None:
                return Tensor(kernel(x._array))
        return operate(op, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return function


def binary(name: str, method: Callable[[Tensor, Tensor], Tensor] | None = None) -> Binary:
    """Return the function of two tensors that an operation is."""
    op = REGISTRY[f"gv.{name}"]

    def general(x1: TensorLike, x2: TensorLike, /) -> Tensor:
        return operate(op, x1, x2)

    known = remembered(general)

    def function(x1: TensorLike, x2: TensorLike, /) -> Tensor:
        if method is not None and x1.__class__ is Tensor and x2.__class__ is Tensor:
            return method(x1, x2)
        return known(x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return function


def whole(name: str) -> Unary:
    """Return a function that rounds floats and leaves integers as they are."""
    of_floats = unary(name)

    def function(x: TensorLike, /) -> Tensor:
        x = as_tensor(x)
        return x if x.row.kind in "biu" else of_floats(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = of_floats.__doc__
    return function


def mixed(name: str, formula: Callable[..., Term]) -> Callable[..., Tensor]:
    """Return a function that is numpy's on computed values, else a formula of operations."""
    op = host(name, getattr(np, name))

    def run(*values: TensorLike) -> Tensor:
        made: Tensor
        tensors = promoted(*values)
        if tensors[0].row.kind in "biu":
            tensors = [cast(x, rows.f32) for x in tensors]
        if computed(*tensors) and tensors[0].row != rows.bf16:
            made = apply(op, *tensors)
            return made
        math = EmitMath(apply)
        made = formula(*(Term(math, x) for x in tensors)).value
        return made

    return run


acos, asin, atan = unary("acos"), unary("asin"), unary("atan")
acosh, asinh, atanh = unary("acosh"), unary("asinh"), unary("atanh")
cos, sin, tan = unary("cos"), unary("sin"), unary("tan")
cosh, sinh, tanh = unary("cosh"), unary("sinh"), unary("tanh")
exp, expm1, exp2, erf = unary("exp"), unary("expm1"), unary("exp2"), unary("erf")
log, log1p, log2, log10 = unary("log"), unary("log1p"), unary("log2"), unary("log10")
sqrt, rsqrt, reciprocal = unary("sqrt"), unary("rsqrt"), unary("reciprocal")
abs, negative, sign = unary("abs"), unary("neg"), unary("sign")  # noqa: A001  (the standard's)
isfinite, isinf, isnan = unary("isfinite"), unary("isinf"), unary("isnan")
logical_not, bitwise_invert = unary("logical_not"), unary("bitwise_not")
ceil, floor, trunc, round = map(whole, ("ceil", "floor", "trunc", "round"))  # noqa: A001

add = binary("add", Operators.__add__)
subtract = binary("sub", Operators.__sub__)
multiply = binary("mul", Operators.__mul__)
divide = binary("div", Operators.__truediv__)
floor_divide, remainder, fmod = binary("floor_divide"), binary("mod"), binary("fmod")
pow, atan2 = binary("pow"), binary("atan2")  # noqa: A001  (the standard's name)
maximum, minimum = binary("maximum"), binary("minimum")
equal, not_equal = binary("equal"), binary("not_equal")
less, less_equal = binary("less"), binary("less_equal")
greater, greater_equal = binary("greater"), binary("greater_equal")
bitwise_and, bitwise_or = binary("bitwise_and"), binary("bitwise_or")
bitwise_xor = binary("bitwise_xor")
bitwise_left_shift, bitwise_right_shift = binary("shift_left"), binary("shift_right")
logical_and, logical_or = binary("logical_and"), binary("logical_or")
logical_xor = binary("logical_xor")


def positive(x: TensorLike, /) -> Tensor:
    """Return the tensor itself."""
    return as_tensor(x)


def square(x: TensorLike, /) -> Tensor:
    """Return each element times itself."""
    return operate(REGISTRY["gv.mul"], *[as_tensor(x)] * 2)


def conj(x: TensorLike, /) -> Tensor:
    """Return complex conjugates; real numbers are their own."""
    x = as_tensor(x)
    return single(host("conj", np.conj), x) if x.row.kind == "c" else x


def real(x: TensorLike, /) -> Tensor:
    """Return real parts."""
    x = as_tensor(x)
    return single(host("real", _real), x) if x.row.kind == "c" else x


def _real(x: Array) -> Array:
    return np.array(x.real)


def imag(x: TensorLike, /) -> Tensor:
    """Return imaginary parts; 0 for real numbers."""
    x = as_tensor(x)
    if x.row.kind == "c":
        return single(host("imag", _imag), x)
    return operate(REGISTRY["gv.mul"], x, 0)


def _imag(x: Array) -> Array:
    return np.array(x.imag)


def _hypot(x: Term, y: Term) -> Term:
    x, y = x.apply("abs"), y.apply("abs")
    large, small = x.apply("maximum", y), x.apply("minimum", y)
    ratio = small / large.equals(0.0).where(1.0, large)
    inside = large * (ratio * ratio + 1.0).apply("sqrt")
    return (x.equals(np.inf) | y.equals(np.inf)).where(np.inf, inside)


def _logaddexp(x: Term, y: Term) -> Term:
    large = x.apply("maximum", y)
    spread = (-(x - y).apply("abs")).apply("exp").apply("log1p")
    return x.equals(y).where(x + float(np.log(2.0)), large + spread)


def _signbit(x: Term) -> Term:
    return (x < 0.0) | (x.equals(0.0) & (1.0 / x < 0.0))


def _copysign(x: Term, y: Term) -> Term:
    size = x.apply("abs")
    return _signbit(y).where(-size, size)


_on_hypot, _on_logaddexp = mixed("hypot", _hypot), mixed("logaddexp", _logaddexp)
_on_signbit, _on_copysign = mixed("signbit", _signbit), mixed("copysign", _copysign)


def hypot(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return sqrt(x1**2 + x2**2), without overflow in between."""
    return _on_hypot(x1, x2)


def logaddexp(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return log(exp(x1) + exp(x2)), without overflow in between."""
    return _on_logaddexp(x1, x2)


def signbit(x: TensorLike, /) -> Tensor:
    """Return whether elements are negative, which -0.0 is."""
    return _on_signbit(x)


def copysign(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the first operand with the signs of the second."""
    return _on_copysign(x1, x2)


def nextafter(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the next number from the first operand towards the second."""
    return single(host("nextafter", np.nextafter), *promoted(x1, x2))


def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Return each element kept between `min` and `max`, of which either may be left out."""
    x = as_tensor(x)
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is not None:
            x = single(REGISTRY[f"gv.{name}"], x, _bound(bound, x))
    return x


def _bound(value: TensorLike, x: Tensor) -> Tensor:
    """Return a bound in the type of what is bounded; beyond an integer's range, its end."""
    row = x.row
    if isinstance(value, int) and row.is_integer:
        value = min(max(value, row.minimum), row.maximum)
    return cast(as_tensor(value, row), row)


def where(condition: TensorLike, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return elements of `x1` where the condition holds, of `x2` where it does not."""
    flag = cast(as_tensor(condition), rows.bool_)
    return single(REGISTRY["gv.select"], flag, *promoted(x1, x2))


def astype(
    x: TensorLike, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None
) -> Tensor:
    """Return the elements in another type: floats become integers by truncation."""
    x, wanted = as_tensor(x), dtypes.as_dtype(dtype)
    if x.dtype is wanted:
        return Tensor(np.array(x.numpy())) if copy and computed(x) else x
    if x.dtype.kind == "c" and wanted.kind in "iuf":
        raise TypeError(f"element type {x.dtype} does not become {wanted}: use gravure.real")
    return cast(x, wanted.row)


remember_all(globals())

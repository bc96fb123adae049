"""Functions of each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ..core.bridge import TfTensor
from ..ops import composed as _composed
from ..ops import math_ops as _m
from ..ops.array_ops import where as _where
from ..ops.creation import ones_like, zeros_like
from ..ops.math_ops import FUNCTIONS as F
from ..ops.math_ops import cast
from .promoting import Together, Value, as_type, floating, promoted, tensor

Function = Callable[..., TfTensor]


def _of_one(apply: Function, given: Callable[[Value], TfTensor]) -> Function:
    def public(x: Value) -> TfTensor:
        """Compute for each element."""
        with Together(x):
            return apply(given(x))

    return public


def _of_two(apply: Function, floats: bool = False, kind: object = None) -> Function:
    def public(x1: Value, x2: Value) -> TfTensor:
        """Compute for each pair of elements."""
        with Together(x1, x2):
            pair = [as_type(x, kind) for x in (x1, x2)] if kind else promoted(x1, x2)
            return apply(*(map(floating, pair) if floats else pair))

    return public


def _truth(x: Value) -> TfTensor:
    return as_type(x, np.bool_)


def _root(x: TfTensor) -> TfTensor:
    return F["sign"](x) * F["pow"](F["abs"](x), 1.0 / 3.0)


def _sinc(x: TfTensor) -> TfTensor:
    angle = x * np.pi
    safe = _where(F["equal"](x, 0.0), ones_like(x), angle)
    return _where(F["equal"](x, 0.0), ones_like(x), F["sin"](safe) / safe)


def _infinite(sign: float) -> Function:
    return lambda x: F["equal"](x, sign * np.inf)


def _bit(x: TfTensor) -> TfTensor:
    return F["less"](x, zeros_like(x))


def _is_real(x: TfTensor) -> TfTensor:
    return F["equal"](_m.imag(x), 0) if x.dtype.is_complex else ones_like(x, "bool")


UNARY: dict[str, Function] = {
    **dict.fromkeys(("abs", "absolute", "fabs"), F["abs"]),
    **dict.fromkeys(("conj", "conjugate"), _m.conj),
    **dict.fromkeys(("bitwise_not", "invert"), F["invert"]),
    "imag": lambda x: _m.imag(x) if x.dtype.is_complex else zeros_like(x),
    "isreal": _is_real,
    "iscomplex": lambda x: F["logical_not"](_is_real(x)),
    "negative": F["negative"],
    "positive": lambda x: x,
    "real": lambda x: _m.real(x) if x.dtype.is_complex else x,
    "sign": F["sign"],
    "signbit": _bit,
    "square": _m.square,
}
"""Those whose operand keeps its type."""
FLOATS: dict[str, Function] = {
    **{
        name: F[name.replace("arc", "a")]
        for name in (
            *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos"),
            *("cosh", "exp", "expm1", "floor", "log", "log1p", "reciprocal", "sin", "sinh"),
            *("sqrt", "tan", "tanh"),
        )
    },
    "angle": _composed.angle,
    "cbrt": _root,
    "deg2rad": lambda x: x * (np.pi / 180.0),
    "exp2": lambda x: F["exp"](x * np.log(2.0)),
    "fix": lambda x: _where(F["greater_equal"](x, 0), F["floor"](x), F["ceil"](x)),
    "isfinite": F["is_finite"],
    "isinf": F["is_inf"],
    "isnan": F["is_nan"],
    "isneginf": _infinite(-1.0),
    "isposinf": _infinite(1.0),
    "log10": lambda x: F["log"](x) / np.log(10.0),
    "log2": lambda x: F["log"](x) / np.log(2.0),
    "rad2deg": lambda x: x * (180.0 / np.pi),
    "sinc": _sinc,
}
BINARY: dict[str, Function] = {
    **{
        name: F[name]
        for name in (
            *("add", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "greater"),
            *("greater_equal", "less", "less_equal", "maximum", "minimum", "multiply"),
            *("not_equal", "subtract"),
        )
    },
    "floor_divide": F["floordiv"],
    **dict.fromkeys(("mod", "remainder"), F["floormod"]),
    "power": F["pow"],
}
BINARY_FLOATS: dict[str, Function] = {
    "arctan2": F["atan2"],
    **dict.fromkeys(("divide", "true_divide"), _m.truediv),
    "float_power": lambda x, y: F["pow"](cast(x, "float64"), cast(y, "float64")),
    "hypot": lambda x, y: F["sqrt"](x * x + y * y),
    "logaddexp": lambda x, y: F["maximum"](x, y) + F["log1p"](F["exp"](-F["abs"](x - y))),
    "logaddexp2": lambda x, y: (
        F["maximum"](x, y) + F["log1p"](F["pow"](2.0, -F["abs"](x - y))) / np.log(2.0)
    ),
    "nextafter": _composed.nextafter,
    "heaviside": lambda x, y: _where(
        F["equal"](x, 0), y, cast(F["greater"](x, 0), x.dtype) + x * 0
    ),
}
LOGICAL = ("logical_and", "logical_or", "logical_xor")


def around(a: Value, decimals: int = 0) -> TfTensor:
    """Round to so many digits, halves to even numbers."""
    with Together(a):
        x, factor = tensor(a), 10.0**decimals
        if x.dtype.is_integer and decimals >= 0:
            return x
        return cast(F["round"](floating(x) * factor) / factor, x.dtype)


def clip(a: Value, a_min: Value, a_max: Value) -> TfTensor:
    """Return elements, or the end that they are beyond."""
    with Together(a, a_min, a_max):
        if a_min is None and a_max is None:
            raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
        if a_min is None:
            return BOTH["minimum"](a, a_max)
        return BOTH["maximum"](a if a_max is None else BOTH["minimum"](a, a_max), a_min)


def where(condition: Value, x: Value = None, y: Value = None) -> object:
    """Choose elements; of a condition alone, return the places where it holds."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    with Together(condition, x, y):
        one, other = promoted(x, y)
        return _where(_truth(condition), one, other)


def nonzero(a: Value) -> list[TfTensor]:
    """Return the places of elements that are not zero, an array for each axis."""
    with Together(a):
        truth = _truth(a)
        if not len(truth.shape):
            truth = truth[None]
        places = _where(truth)
        return [places[:, axis] for axis in range(len(truth.shape))]


def select(condlist: Sequence[Value], choicelist: Sequence[Value], default: Value = 0) -> TfTensor:
    """Return for each element that choice whose condition is the first to hold."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"{len(condlist)} conditions for {len(choicelist)} choices")
    with Together([*condlist], [*choicelist], default):
        *choices, found = promoted(*choicelist, default)
        pairs = [*zip(map(_truth, condlist), choices, strict=True)]
        return reduce(lambda made, pair: _where(pair[0], pair[1], made), reversed(pairs), found)


def isclose(
    a: Value, b: Value, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> TfTensor:
    """Say of each pair whether it is equal but for rounding."""
    with Together(a, b):
        x, y = map(floating, promoted(a, b))
        near = F["less_equal"](F["abs"](x - y), atol + rtol * F["abs"](y))
        made = F["logical_or"](F["equal"](x, y), F["logical_and"](F["is_finite"](y), near))
        both = F["logical_and"](F["is_nan"](x), F["is_nan"](y))
        return F["logical_or"](made, both) if equal_nan else made


def _of_whole(apply: Callable[[int, int], int]) -> Function:
    """Return a function of pairs of whole numbers, by Euclid's way."""

    def public(x1: Value, x2: Value) -> TfTensor:
        """Compute for each pair of whole numbers."""
        with Together(x1, x2):
            x, y = promoted(x1, x2)
            if not x.dtype.is_integer:
                raise ValueError(f"Arguments to gcd must be integers. Got: {x.dtype}")
            return _common(F["abs"](x) + y * 0, F["abs"](y) + x * 0, apply is np.lcm)

    return public


def _common(x: TfTensor, y: TfTensor, multiple: bool) -> TfTensor:
    from ..graph.loops import while_loop  # noqa: PLC0415  (control flow is above arrays)

    def turn(a: TfTensor, b: TfTensor) -> tuple[TfTensor, TfTensor]:
        safe = _where(F["equal"](b, 0), ones_like(b), b)
        return (
            _where(F["equal"](b, 0), a, b),
            _where(F["equal"](b, 0), zeros_like(b), F["floormod"](a, safe)),
        )

    goes_on = lambda a, b: _m.REDUCTIONS["reduce_any"](F["not_equal"](b, 0))  # noqa: E731
    divisor: TfTensor = while_loop(goes_on, turn, (x, y))[0]
    if not multiple:
        return divisor
    made: TfTensor = F["floordiv"](x, F["maximum"](divisor, ones_like(divisor))) * y
    return made


def divmod_(x1: Value, x2: Value) -> tuple[TfTensor, TfTensor]:
    """Return the rounded quotients and what is left."""
    return BOTH["floor_divide"](x1, x2), BOTH["mod"](x1, x2)


BOTH: dict[str, Function] = {
    **{name: _of_one(apply, tensor) for name, apply in UNARY.items()},
    **{name: _of_one(apply, floating) for name, apply in FLOATS.items()},
    **{name: _of_two(apply) for name, apply in BINARY.items()},
    **{name: _of_two(apply, floats=True) for name, apply in BINARY_FLOATS.items()},
    **{name: _of_two(F[name], kind=np.bool_) for name in LOGICAL},
    "logical_not": _of_one(F["logical_not"], _truth),
    "gcd": _of_whole(np.gcd),
    "lcm": _of_whole(np.lcm),
}
ELEMENTWISE: dict[str, Callable[..., object]] = {
    **BOTH,
    **dict.fromkeys(("around", "round"), around),
    "clip": clip,
    "divmod": divmod_,
    "isclose": isclose,
    "nonzero": nonzero,
    "select": select,
    "where": where,
}

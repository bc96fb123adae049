"""Functions of all elements along axes, sorting, and products of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.bridge import TfTensor
from ..core.values import static
from ..ops import math_ops as _m
from ..ops import sorting as _s
from ..ops import window_ops as _w
from ..ops.array_ops import concat, reshape
from ..ops.array_ops import where as _where
from ..ops.creation import zeros_like
from ..ops.linear_ops import cross as _cross
from ..ops.linear_ops import trace as _trace
from ..ops.math_ops import FUNCTIONS as F
from ..ops.math_ops import REDUCTIONS as R
from ..ops.math_ops import cast
from ..ops.nn_ops import einsum as _einsum
from .elementwise import isclose
from .promoting import Together, Value, as_type, floating, promoted, result_type, tensor

Function = Callable[..., TfTensor]


def _summable(x: TfTensor) -> TfTensor:
    """Return whole numbers as wide as numpy adds them up."""
    kind = np.dtype(x.dtype.as_numpy_dtype)
    if kind.kind == "b" or (kind.kind == "i" and kind.itemsize < 8):
        return cast(x, "int64")
    return cast(x, "uint64") if kind.kind == "u" else x


def _reduction(apply: Function, given: Callable[[TfTensor], TfTensor]) -> Function:
    def public(
        a: Value, axis: object = None, dtype: object = None, keepdims: bool | None = None
    ) -> TfTensor:
        """Reduce along axes: all of them if none is given."""
        with Together(a):
            x = tensor(a) if dtype is None else as_type(a, dtype)
            return apply(given(x) if dtype is None else x, axis=axis, keepdims=bool(keepdims))

    return public


def _extreme(apply: Function, given: Callable[[TfTensor], TfTensor]) -> Function:
    made = _reduction(apply, given)

    def public(a: Value, axis: object = None, keepdims: bool | None = None) -> TfTensor:
        """Reduce along axes: all of them if none is given."""
        return made(a, axis, keepdims=keepdims)

    return public


def _as_is(x: TfTensor) -> TfTensor:
    return x


def _numbers(x: TfTensor, other: float) -> TfTensor:
    return _where(F["is_nan"](x), zeros_like(x) + other, x) if x.dtype.is_floating else x


def _spread(root: bool) -> Function:
    def public(
        a: Value, axis: object = None, dtype: object = None, out: None = None, ddof: int = 0,
        keepdims: bool | None = None,
    ) -> TfTensor:  # fmt: skip
        """Return how far elements are from their mean, in squares or in their own measure."""
        if out is not None:
            raise ValueError("Setting out is not supported.")
        with Together(a):
            x = floating(a) if dtype is None else floating(as_type(a, dtype))
            mean = _m.reduce_mean(x, axis=axis, keepdims=True)
            square = F["pow"](F["abs"](x - mean), 2)
            total = R["reduce_sum"](square, axis=axis, keepdims=bool(keepdims))
            ones = R["reduce_sum"](square * 0 + 1, axis=axis, keepdims=bool(keepdims))
            made = total / (ones - ddof)
            return F["sqrt"](made) if root else made

    return public


def average(
    a: Value, axis: object = None, weights: Value = None, returned: bool = False
) -> TfTensor | tuple[TfTensor, TfTensor]:
    """Return the mean, in which elements count by their weights."""
    with Together(a, weights):
        if weights is None:
            x = floating(a)
            share = x * 0 + 1
        else:
            x, share = map(floating, promoted(a, weights))
            if len(share.shape) != len(x.shape):
                extents = [1] * len(x.shape)
                extents[int(static(axis))] = -1
                share = reshape(share, extents)
            share = share + x * 0
        total = R["reduce_sum"](share, axis=axis)
        made = R["reduce_sum"](x * share, axis=axis) / total
        return (made, total) if returned else made


def _place(apply: Function) -> Function:
    def public(a: Value, axis: int | None = None) -> TfTensor:
        """Return the place of the first such element along an axis, or of all."""
        with Together(a):
            x = tensor(a)
            return apply(reshape(x, [-1]), axis=0) if axis is None else apply(x, axis=axis)

    return public


def _running(apply: Function) -> Function:
    def public(a: Value, axis: int | None = None, dtype: object = None) -> TfTensor:
        """Reduce what stands before and at each element."""
        with Together(a):
            x = _summable(tensor(a)) if dtype is None else as_type(a, dtype)
            return apply(reshape(x, [-1]), 0) if axis is None else apply(x, axis)

    return public


def sort(a: Value, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> TfTensor:
    """Put elements into order along an axis, or all if it is None."""
    _refuse_order(kind, order)
    with Together(a):
        x = tensor(a)
        return _s.sort(reshape(x, [-1]), 0) if axis is None else _s.sort(x, axis)


def argsort(
    a: Value, axis: int | None = -1, kind: str = "quicksort", order: None = None
) -> TfTensor:
    """Return the places of elements in their order."""
    _refuse_order(kind, order)
    with Together(a):
        x = tensor(a)
        made = _s.argsort(reshape(x, [-1]), 0) if axis is None else _s.argsort(x, axis)
        return cast(made, "int64")


def _refuse_order(kind: str, order: object) -> None:
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"Invalid value for argument `kind`. Received kind={kind}.")
    if order is not None:
        raise ValueError("The `order` argument to sort is not supported.")


def diff(a: Value, n: int = 1, axis: int = -1) -> TfTensor:
    """Return differences of neighbours along an axis, n times."""
    with Together(a):
        x = tensor(a)
        at = axis % len(x.shape)
        before = [slice(None)] * at
        for _ in range(n):
            later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
            x = F["not_equal"](later, earlier) if x.dtype == "bool" else later - earlier
        return x


def count_nonzero(a: Value, axis: object = None) -> TfTensor:
    """Count elements that are not zero."""
    with Together(a):
        return R["reduce_sum"](cast(as_type(a, np.bool_), "int64"), axis=axis)


def ptp(a: Value, axis: object = None, keepdims: bool | None = None) -> TfTensor:
    """Return how far the greatest and the least element are apart."""
    return REDUCING["amax"](a, axis, keepdims) - REDUCING["amin"](a, axis, keepdims)


def dot(a: Value, b: Value) -> TfTensor:
    """Return the sums of products along the last axis of a and the last but one of b."""
    with Together(a, b):
        x, y = promoted(a, b)
        if 0 in (len(x.shape), len(y.shape)):
            return x * y
        return _w.tensordot(x, y, [[-1], [max(len(y.shape) - 2, 0)]])


def inner(a: Value, b: Value) -> TfTensor:
    """Return the sums of products along both last axes."""
    with Together(a, b):
        x, y = promoted(a, b)
        return x * y if 0 in (len(x.shape), len(y.shape)) else _w.tensordot(x, y, [[-1], [-1]])


def vdot(a: Value, b: Value) -> TfTensor:
    """Return the sum of products of all elements, those of a conjugated."""
    with Together(a, b):
        x, y = promoted(a, b)
        return R["reduce_sum"](reshape(_m.conj(x), [-1]) * reshape(y, [-1]))


def outer(a: Value, b: Value) -> TfTensor:
    """Return the products of each element of a and each of b."""
    with Together(a, b):
        x, y = promoted(a, b)
        return reshape(x, [-1, 1]) * reshape(y, [1, -1])


def matmul(x1: Value, x2: Value) -> TfTensor:
    """Multiply matrices; one axis is a row on the left and a column on the right."""
    with Together(x1, x2):
        x, y = promoted(x1, x2)
        if len(y.shape) == 1:
            return _w.tensordot(x, y, [[-1], [0]])
        if len(x.shape) == 1:
            return _w.tensordot(x, y, [[0], [-2]])
        return _m.matmul(x, y)


def tensordot(a: Value, b: Value, axes: object = 2) -> TfTensor:
    """Return the sums of products along axes."""
    with Together(a, b):
        x, y = promoted(a, b)
        return _w.tensordot(x, y, axes)


def cross(a: Value, b: Value, axis: int = -1) -> TfTensor:
    """Return vectors that stand upright on pairs of vectors of three elements."""
    if axis != -1:
        raise NotImplementedError(f"cross along axis {axis}: the last one is supported")
    with Together(a, b):
        x, y = promoted(a, b)
        return _cross(x, y)


def einsum(
    subscripts: str, *operands: Value, casting: str = "safe", optimize: bool = False
) -> TfTensor:
    """Add up products by an equation of subscripts."""
    if casting != "safe":
        raise ValueError(f"casting is {casting!r}, expected 'safe'")
    with Together(*operands):
        return _einsum(subscripts, *promoted(*operands))


def trace(a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TfTensor:
    """Return the sum of the diagonal of a matrix."""
    if offset or (axis1, axis2) not in ((0, 1), (-2, -1)):
        raise NotImplementedError(f"trace of offset {offset} and axes {axis1}, {axis2}")
    with Together(a):
        return _trace(tensor(a))


def allclose(
    a: Value, b: Value, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> TfTensor:
    """Say whether all pairs are equal but for rounding."""
    return R["reduce_all"](isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Value, a2: Value) -> TfTensor:
    """Say whether two arrays have one shape and equal elements."""
    with Together(a1, a2):
        x, y = promoted(a1, a2)
        if x.shape.as_list() != y.shape.as_list():
            return tensor(False)
        return R["reduce_all"](F["equal"](x, y))


def polyval(p: Value, x: Value) -> TfTensor:
    """Return what a polynomial of coefficients, the highest first, gives for elements."""
    with Together(p, x):
        given, at = promoted(p, x)
        made = zeros_like(at)
        for place in range(given.shape.as_list()[0] or 0):
            made = made * at + given[place]
        return made


def append(arr: Value, values: Value, axis: int | None = None) -> TfTensor:
    """Return elements behind those of an array."""
    with Together(arr, values):
        x, y = promoted(arr, values)
        if axis is None:
            x, y = reshape(x, [-1]), reshape(y, [-1])
        return concat([x, y], axis or 0)


REDUCING: dict[str, Function] = {
    "all": _extreme(R["reduce_all"], lambda x: as_type(x, np.bool_)),
    "any": _extreme(R["reduce_any"], lambda x: as_type(x, np.bool_)),
    **dict.fromkeys(("amax", "max"), _extreme(R["reduce_max"], _as_is)),
    **dict.fromkeys(("amin", "min"), _extreme(R["reduce_min"], _as_is)),
    "mean": _reduction(_m.reduce_mean, floating),
    "prod": _reduction(R["reduce_prod"], _summable),
    "sum": _reduction(R["reduce_sum"], _summable),
    "nansum": _reduction(R["reduce_sum"], lambda x: _summable(_numbers(x, 0.0))),
    "nanprod": _reduction(R["reduce_prod"], lambda x: _summable(_numbers(x, 1.0))),
    "std": _spread(root=True),
    "var": _spread(root=False),
    "argmax": _place(_m.argmax),
    "argmin": _place(_m.argmin),
    "cumsum": _running(_m.cumsum),
    "cumprod": _running(_m.cumprod),
}


def nanmean(
    a: Value, axis: object = None, dtype: object = None, keepdims: bool | None = None
) -> TfTensor:
    """Return the mean of elements that are numbers."""
    with Together(a):
        x = floating(a) if dtype is None else as_type(a, dtype)
        count = R["reduce_sum"](
            cast(F["logical_not"](F["is_nan"](x)), x.dtype), axis=axis, keepdims=bool(keepdims)
        )
        return REDUCING["nansum"](x, axis, keepdims=keepdims) / count


REDUCED: dict[str, Callable[..., object]] = {
    **REDUCING,
    "allclose": allclose,
    "append": append,
    "argsort": argsort,
    "array_equal": array_equal,
    "average": average,
    "count_nonzero": count_nonzero,
    "cross": cross,
    "diff": diff,
    "dot": dot,
    "einsum": einsum,
    "inner": inner,
    "matmul": matmul,
    "nanmean": nanmean,
    "outer": outer,
    "polyval": polyval,
    "ptp": ptp,
    "result_type": result_type,
    "sort": sort,
    "tensordot": tensordot,
    "trace": trace,
    "vdot": vdot,
}

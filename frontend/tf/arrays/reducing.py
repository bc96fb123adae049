"""Functions of all elements along axes, sorting, and products of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.bridge import Common, TfTensor
from ..core.element_types import as_dtype
from ..core.values import static
from ..ops import math_ops as _m
from ..ops import sorting as _s
from ..ops import window_ops as _w
from ..ops.array_ops import concat, reshape, stack
from ..ops.array_ops import where as _where
from ..ops.creation import zeros_like
from ..ops.linear_ops import trace as _trace
from ..ops.math_ops import FUNCTIONS as F
from ..ops.math_ops import REDUCTIONS as R
from ..ops.math_ops import cast
from ..ops.nn_ops import einsum as _einsum
from .elementwise import isclose
from .promoting import Together, Value, as_type, floating, promoted, result_type, tensor
from .shaping import diagonal, moveaxis

Function = Callable[..., TfTensor]


def _summable(x: TfTensor) -> TfTensor:
    """Return whole numbers as wide as numpy adds them up."""
    kind = np.dtype(x.dtype.as_numpy_dtype)
    if kind.kind == "b" or (kind.kind == "i" and kind.itemsize < 8):
        return cast(x, "int64")
    return cast(x, "uint64") if kind.kind == "u" else x


def _axes(given: Value) -> object:
    """Return axes as they are, those of an array as whole numbers: numpy's arrays may be floats."""
    if not isinstance(given, Common | np.ndarray):
        return given
    return np.asarray(static(given)).astype(int).tolist()


OF_TRUTH = {R["reduce_sum"]: R["reduce_any"], R["reduce_prod"]: R["reduce_all"]}
"""What sums and products of truth values are that are to be truth values themselves."""


def _refuse_out(out: object) -> None:
    if out is not None:
        raise ValueError("Setting out is not supported.")


def _reduction(apply: Function, given: Callable[[TfTensor], TfTensor]) -> Function:
    made = _without_out(apply, given)

    def public(
        a: Value, axis: object = None, dtype: object = None, out: None = None,
        keepdims: bool | None = None,
    ) -> TfTensor:  # fmt: skip
        """Reduce along axes: all of them if none is given."""
        _refuse_out(out)
        return made(a, axis, dtype, keepdims)

    return public


def _without_out(apply: Function, given: Callable[[TfTensor], TfTensor]) -> Function:
    def public(
        a: Value, axis: object = None, dtype: object = None, keepdims: bool | None = None
    ) -> TfTensor:
        """Reduce along axes: all of them if none is given."""
        with Together(a):
            x = tensor(a) if dtype is None else as_type(a, dtype)
            along = _axes(axis)
            of_truth = OF_TRUTH.get(apply) if x.dtype == "bool" else None
            if of_truth is not None and dtype is not None:
                return of_truth(x, axis=along, keepdims=bool(keepdims))
            return apply(given(x) if dtype is None else x, axis=along, keepdims=bool(keepdims))

    return public


def _extreme(apply: Function, of_truth: Function) -> Function:
    numbers, truths = _without_out(apply, _as_is), _without_out(of_truth, _as_is)

    def public(
        a: Value, axis: object = None, out: None = None, keepdims: bool | None = None
    ) -> TfTensor:
        """Reduce along axes: all of them if none is given."""
        _refuse_out(out)
        made = truths if result_type(a) == np.bool_ else numbers
        return made(a, axis, keepdims=keepdims)

    return public


def _choice(apply: Function) -> Function:
    made = _without_out(apply, lambda x: as_type(x, np.bool_))

    def public(a: Value, axis: object = None, keepdims: bool | None = None) -> TfTensor:
        """Say whether all or any elements are true, along axes: all of them if none is given."""
        return made(a, axis, keepdims=keepdims)

    return public


def _as_is(x: TfTensor) -> TfTensor:
    return x


def _numbers(x: TfTensor, other: float) -> TfTensor:
    return _where(F["is_nan"](x), zeros_like(x) + other, x) if x.dtype.is_floating else x


def _of_numbers(apply: Function, other: float) -> Function:
    made = _without_out(apply, _summable)

    def public(
        a: Value, axis: object = None, dtype: object = None, keepdims: bool | None = None
    ) -> TfTensor:
        """Reduce what are numbers along axes: all of them if none is given."""
        with Together(a):
            return made(_numbers(tensor(a), other), axis, dtype, keepdims)

    return public


def _spread(root: bool) -> Function:
    def public(
        a: Value, axis: object = None, dtype: object = None, out: None = None, ddof: int = 0,
        keepdims: bool | None = None,
    ) -> TfTensor:  # fmt: skip
        """Return how far elements are from their mean, in squares or in their own measure."""
        _refuse_out(out)
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
            if axis is None or len(x.shape) == 0:
                return apply(reshape(x, [-1]), axis=0)
            return apply(x, axis=axis)

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
        if axis is None or len(x.shape) == 0:
            x, axis = reshape(x, [-1]), 0
        made = _s.argsort(x, axis)
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
    ends = (REDUCING[name](a, axis, keepdims=keepdims) for name in ("amax", "amin"))
    return next(ends) - next(ends)


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


def cross(
    a: Value, b: Value, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> TfTensor:
    """Return vectors that stand upright on pairs of vectors of three elements, or of two.

    Where both are of two elements the result is the third one alone.
    """
    along = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    with Together(a, b):
        x, y = promoted(a, b)
        x, y = moveaxis(x, along[0], -1), moveaxis(y, along[1], -1)
        sizes = [v.shape.as_list()[-1] for v in (x, y)]
        if not {*sizes} <= {2, 3}:
            raise ValueError(f"Vectors of two or three elements are expected. Received: {sizes}")
        (x0, x1), (y0, y1) = (x[..., 0], x[..., 1]), (y[..., 0], y[..., 1])
        last = x0 * y1 - x1 * y0
        if sizes == [2, 2]:
            return last
        x2 = x[..., 2] if sizes[0] == 3 else zeros_like(x0)
        y2 = y[..., 2] if sizes[1] == 3 else zeros_like(y0)
        return moveaxis(stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, last], -1), -1, along[2])


def einsum(
    subscripts: str, *operands: Value, casting: str = "safe", optimize: bool = False
) -> TfTensor:
    """Add up products by an equation of subscripts."""
    if casting != "safe":
        raise ValueError(f"casting is {casting!r}, expected 'safe'")
    with Together(*operands):
        return _einsum(subscripts, *promoted(*operands))


def trace(
    a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: object = None
) -> TfTensor:
    """Return the sums of diagonals along two axes; those of the last two keep their type."""
    with Together(a):
        x = tensor(a) if dtype is None else as_type(a, dtype)
        count = len(x.shape)
        if offset == 0 and (axis1 % count, axis2 % count) == (count - 2, count - 1):
            return _trace(x)
        return REDUCING["sum"](diagonal(x, offset, axis1, axis2), -1, dtype)


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
    "all": _choice(R["reduce_all"]),
    "any": _choice(R["reduce_any"]),
    **dict.fromkeys(("amax", "max"), _extreme(R["reduce_max"], R["reduce_any"])),
    **dict.fromkeys(("amin", "min"), _extreme(R["reduce_min"], R["reduce_all"])),
    "mean": _reduction(_m.reduce_mean, floating),
    "prod": _reduction(R["reduce_prod"], _summable),
    "sum": _reduction(R["reduce_sum"], _summable),
    "nansum": _of_numbers(R["reduce_sum"], 0.0),
    "nanprod": _of_numbers(R["reduce_prod"], 1.0),
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
    "result_type": lambda *arrays_and_dtypes: as_dtype(result_type(*arrays_and_dtypes)),
    "sort": sort,
    "tensordot": tensordot,
    "trace": trace,
    "vdot": vdot,
}

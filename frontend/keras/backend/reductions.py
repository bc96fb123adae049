"""Sums, means, extremes, scans and statistics, by Keras's rules of promotion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as _np
from keras.src.backend.common.dtypes import result_type as _result_type
from keras.src.backend.config import floatx as _floatx

from ...array import reduction as _r
from ...array import searching as _s
from ...eager.tensor import Tensor
from ...tf.core.bridge import dressed as _dressed
from ...tf.nondense.sparse_tensor import SparseTensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import sorting as _sorting
from ...values.given import TensorLike
from .tensors import (
    Axes,
    DType,
    all_elements,
    as_sparse,
    axes_of,
    cast,
    convert_to_tensor,
    floating,
    name_of,
    promoted,
    rank,
    sizes,
)

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS
_WIDER = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
"""What sums of small integers are."""


def _some(axis: Axes) -> Axes:
    return list(axis) if isinstance(axis, tuple) else axis


def sum(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Return the sum along axes, of a sparse tensor as such."""
    if isinstance(x, SparseTensor):
        return as_sparse(sum(all_elements(x), axis, keepdims))
    tensor = convert_to_tensor(x)
    tensor = cast(tensor, _WIDER.get(name_of(tensor), name_of(tensor)))
    return _R["reduce_sum"](tensor, _some(axis), keepdims)


def prod(x: TensorLike, axis: Axes = None, keepdims: bool = False, dtype: DType = None) -> Tensor:
    """Return the product along axes."""
    tensor = convert_to_tensor(x)
    wanted = dtype or _WIDER.get(name_of(tensor), name_of(tensor))
    return _R["reduce_prod"](cast(tensor, wanted), _some(axis), keepdims)


def mean(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the mean along axes; of integers as floats."""
    tensor, kind = _averaged(x)
    return cast(_m.reduce_mean(tensor, _some(axis), keepdims), kind)


def _averaged(x: TensorLike) -> tuple[Tensor, str]:
    """Return what is averaged, in at least f32, and the element type of the average."""
    tensor = convert_to_tensor(x)
    kind = name_of(tensor)
    if kind == "int64" or kind.startswith(("int", "uint", "bool")):
        return cast(tensor, "float32"), str(_floatx())
    return cast(tensor, str(_result_type(kind, "float32"))), kind


def var(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the variance along axes; of integers as floats."""
    tensor = convert_to_tensor(x)
    kind = str(_result_type(name_of(tensor), float))
    wide = cast(tensor, str(_result_type(name_of(tensor), "float32")))
    if name_of(tensor) == "int64":
        kind = str(_floatx())
    return cast(_m.reduce_variance(wide, _some(axis), keepdims), kind)


def std(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation along axes."""
    return _F["sqrt"](var(x, axis, keepdims))


def _extreme(name: str) -> Callable[..., Tensor]:
    def function(
        x: TensorLike, axis: Axes = None, keepdims: bool = False, initial: TensorLike | None = None
    ) -> Tensor:
        tensor = convert_to_tensor(x)
        if initial is None and 0 in tuple(tensor.shape):
            raise ValueError(f"an empty tensor of shape {tuple(tensor.shape)} has no {name}")
        kind = name_of(tensor)
        wide = cast(tensor, "int32") if kind == "bool" else tensor
        found = _R[f"reduce_{name}"](wide, _some(axis), keepdims)
        if initial is not None:
            found = _F[f"{name}imum"](found, cast(initial, name_of(wide)))
        return cast(found, kind)

    function.__name__ = name
    return function


max, min = _extreme("max"), _extreme("min")  # noqa: A001
amax, amin = max, min


def all(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Tell whether all hold along axes."""
    return _R["reduce_all"](convert_to_tensor(x, "bool"), _some(axis), keepdims)


def any(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Tell whether some hold along axes."""
    return _R["reduce_any"](convert_to_tensor(x, "bool"), _some(axis), keepdims)


def count_nonzero(x: TensorLike, axis: Axes = None) -> Tensor:
    """Return how many are not zero along axes."""
    return _R["reduce_sum"](cast(convert_to_tensor(x, "bool"), "int32"), _some(axis))


def ptp(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the range along axes."""
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def average(x: TensorLike, axis: Axes = None, weights: TensorLike | None = None) -> Tensor:
    """Return the weighted mean along axes."""
    if weights is None:
        return mean(floating(x), axis)
    tensor, weight = promoted(x, weights, least=float)
    if rank(weight) != rank(tensor):
        (place,) = axes_of(tensor, axis)
        weight = _a.reshape(weight, [-1 if i == place else 1 for i in range(rank(tensor))])
    weight = weight + _made.zeros_like(tensor)
    return sum(tensor * weight, axis) / sum(weight, axis)


def _flat(x: Tensor) -> Tensor:
    return _a.reshape(x, [-1])


def _place(name: str) -> Callable[..., Tensor]:
    def function(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
        tensor = convert_to_tensor(x)
        if name_of(tensor) == "bool":
            tensor = cast(tensor, "int32")
        many = rank(tensor)
        if axis is None:
            found = getattr(_m, name)(_flat(tensor), 0, output_type="int32")
            return _a.reshape(found, [1] * many) if keepdims else found
        found = getattr(_m, name)(tensor, axis, output_type="int32")
        return _a.expand_dims(found, axis) if keepdims else found

    function.__name__ = name
    return function


argmax, argmin = _place("argmax"), _place("argmin")


def _scanned(x: TensorLike, axis: int | None, dtype: DType, name: str) -> Tensor:
    tensor = convert_to_tensor(x)
    kind = dtype or name_of(tensor)
    tensor = cast(tensor, "int32" if kind == "bool" else kind)
    return getattr(_m, name)(_flat(tensor) if axis is None else tensor, axis or 0)


def cumsum(x: TensorLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Return the sums of all so far."""
    return _scanned(x, axis, dtype, "cumsum")


def cumprod(x: TensorLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Return the products of all so far."""
    return _scanned(x, axis, dtype, "cumprod")


def diff(a: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """Return the differences of neighbours, n times."""
    return _dressed(_r.diff(convert_to_tensor(a), axis=axis, n=n))


# Without what is no number.


def _without_nan(x: TensorLike, fill: float) -> Tensor:
    tensor = convert_to_tensor(x)
    if not _is_float(tensor):
        return tensor
    return _a.where(_F["is_nan"](tensor), cast(fill, name_of(tensor)), tensor)


def _is_float(x: Tensor) -> bool:
    return not name_of(x).startswith(("int", "uint", "bool"))


def _nan(x: Tensor) -> Tensor:
    return _F["is_nan"](x) if _is_float(x) else _made.zeros_like(x, "bool")


def nansum(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the sum of the numbers."""
    return sum(_without_nan(x, 0.0), axis, keepdims)


def nanprod(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the product of the numbers."""
    return prod(_without_nan(x, 1.0), axis, keepdims)


def nancumsum(x: TensorLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Return the sums of the numbers so far."""
    return cumsum(_without_nan(x, 0.0), axis, dtype)


def nancumprod(x: TensorLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Return the products of the numbers so far."""
    return cumprod(_without_nan(x, 1.0), axis, dtype)


def _nan_extreme(x: TensorLike, axis: Axes, keepdims: bool, name: str, fill: float) -> Tensor:
    tensor = convert_to_tensor(x)
    extreme = max if name == "max" else min
    if not _is_float(tensor):
        return extreme(tensor, axis, keepdims)
    none = all(_nan(tensor), axis, keepdims)
    found = extreme(_without_nan(tensor, fill), axis, keepdims)
    return _a.where(none, cast(_np.nan, name_of(tensor)), found)


def nanmax(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the largest number."""
    return _nan_extreme(x, axis, keepdims, "max", -_np.inf)


def nanmin(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the least number."""
    return _nan_extreme(x, axis, keepdims, "min", _np.inf)


def nanmean(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the mean of the numbers."""
    tensor, kind = _averaged(x)
    count = sum(cast(_F["logical_not"](_nan(tensor)), name_of(tensor)), axis, keepdims)
    return cast(nansum(tensor, axis, keepdims) / count, kind)


def nanvar(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the variance of the numbers."""
    tensor, kind = _averaged(x)
    missing = _nan(tensor)
    away = tensor - nanmean(tensor, axis, keepdims=True)
    squares = _a.where(missing, _made.zeros_like(tensor), away * away)
    count = sum(cast(_F["logical_not"](missing), name_of(tensor)), axis, keepdims)
    return cast(sum(squares, axis, keepdims) / count, kind)


def nanstd(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation of the numbers."""
    return _F["sqrt"](nanvar(x, axis, keepdims))


def _nan_place(x: TensorLike, axis: int | None, keepdims: bool, name: str, fill: float) -> Tensor:
    tensor = convert_to_tensor(x)
    place = argmax if name == "max" else argmin
    found = place(_without_nan(tensor, fill), axis, keepdims)
    none = all(_nan(tensor), axis, keepdims)
    return _a.where(none, _made.zeros_like(found) - 1, found)


def nanargmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return where the largest number is; -1 where there is none."""
    return _nan_place(x, axis, keepdims, "max", -_np.inf)


def nanargmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return where the least number is; -1 where there is none."""
    return _nan_place(x, axis, keepdims, "min", _np.inf)


# Order.


def sort(x: TensorLike, axis: int | None = -1) -> Tensor:
    """Return values in order."""
    tensor = convert_to_tensor(x)
    if axis is None:
        tensor, axis = _flat(tensor), -1
    if name_of(tensor) == "bool":
        return cast(sort(cast(tensor, "int8"), axis), "bool")
    return _dressed(_s.sort(tensor, axis=axis)) if rank(tensor) else tensor


def argsort(x: TensorLike, axis: int | None = -1) -> Tensor:
    """Return the places of the values in order."""
    tensor = convert_to_tensor(x)
    if axis is None:
        tensor, axis = _flat(tensor), -1
    if name_of(tensor) == "bool":
        tensor = cast(tensor, "uint8")
    if not rank(tensor):
        return _made.zeros_like(tensor, "int32")
    return cast(_s.argsort(tensor, axis=axis), "int32")


def argpartition(x: TensorLike, kth: int, axis: int | None = -1) -> Tensor:
    """Return places of which the first ones are those of the least values; they are in order."""
    if not isinstance(kth, int):
        raise ValueError(f"kth must be an integer. Received: kth={kth}")
    return argsort(x, axis)


def searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: str = "left") -> Tensor:
    """Return where values belong in a sorted row."""
    row, wanted = promoted(sorted_sequence, values)
    if rank(row) != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_"
            f"map` to extend it to N-D sequences. Received: shape={tuple(row.shape)}"
        )
    return cast(_s.searchsorted(row, wanted, side=side), "int32")


def digitize(x: TensorLike, bins: TensorLike) -> Tensor:
    """Return the numbers of the bins that values are in."""
    values, edges = promoted(x, bins)
    return cast(_s.searchsorted(edges, values, side="right"), "int32")


def median(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the middle value along axes."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


def percentile(
    x: TensorLike, q: TensorLike, axis: Axes = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the values that so many of a hundred are below."""
    return quantile(x, floating(q) / 100.0, axis, method, keepdims)


def quantile(
    x: TensorLike, q: TensorLike, axis: Axes = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the values that a share of the others is below, along axes."""
    tensor = floating(x)
    rows, kept = _last(tensor, axis)
    rows = _s.sort(rows, axis=-1)
    found = _at_share(rows, floating(q), method, _nan(rows)[..., -1:])
    return _with_axes(found, tensor, kept, rank(q), keepdims=keepdims)


def _last(x: Tensor, axis: Axes) -> tuple[Tensor, list[int]]:
    """Return a tensor with some axes as the one last axis, and the numbers of the axes left."""
    gone = axes_of(x, axis)
    kept = [i for i in range(rank(x)) if i not in gone]
    lengths = sizes(x)
    turned = _a.transpose(x, [*kept, *gone]) if rank(x) else x
    return _a.reshape(turned, [*(lengths[i] for i in kept), -1]), kept


def _at_share(rows: Tensor, q: Tensor, method: str, bad: Tensor) -> Tensor:
    """Return the values at shares of sorted rows, the shares being the first axes."""
    count = sizes(rows)[-1]
    place = cast(q, name_of(rows)) * float(count - 1)
    low, high = cast(_F["floor"](place), "int32"), cast(_F["ceil"](place), "int32")
    chosen = {"lower": low, "higher": high, "nearest": cast(_F["round"](place), "int32")}
    rows = _a.where(bad, cast(_np.nan, name_of(rows)), rows)
    if method in chosen:
        found = _g.gather(rows, chosen[method], axis=-1)
    elif method in ("linear", "midpoint"):
        below, above = _g.gather(rows, low, axis=-1), _g.gather(rows, high, axis=-1)
        share = place - cast(low, name_of(rows))
        if method == "midpoint":
            share = cast(_F["greater"](share, _made.zeros_like(share)), name_of(rows)) * 0.5
        found = below * (1.0 - share) + above * share
    else:
        raise ValueError(f"method {method!r}, expected linear, lower, higher, midpoint or nearest")
    return found


def _with_axes(x: Tensor, like: Tensor, kept: list[int], shares: int, *, keepdims: bool) -> Tensor:
    """Bring the axes of the shares to the front; put axes of one where some are gone."""
    many = rank(x)
    x = _a.transpose(x, [*range(many - shares, many), *range(many - shares)]) if shares else x
    if keepdims:
        for axis in [i for i in range(rank(like)) if i not in kept]:
            x = _a.expand_dims(x, axis + shares)
    return x


def nanquantile(
    x: TensorLike, q: TensorLike, axis: Axes = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the values that a share of the numbers is below, along axes."""
    tensor = floating(x)
    kind = name_of(tensor)
    rows, kept = _last(tensor, axis)
    missing = _nan(rows)
    count = sum(cast(_F["logical_not"](missing), kind), -1, keepdims=True)
    rows = _s.sort(_a.where(missing, cast(_np.inf, kind), rows), axis=-1)
    shares = cast(floating(q), kind)
    place = count * _a.reshape(shares, [-1]) - _a.reshape(shares, [-1])
    found = _between(rows, _F["maximum"](place, _made.zeros_like(place)), method)
    found = _a.where(_F["equal"](count, _made.zeros_like(count)), cast(_np.nan, kind), found)
    found = _a.reshape(found, [*sizes(rows)[:-1], *sizes(shares)])
    return _with_axes(found, tensor, kept, rank(shares), keepdims=keepdims)


def _between(rows: Tensor, place: Tensor, method: str) -> Tensor:
    """Return the values of sorted rows at places, each row having its own."""
    low, high = cast(_F["floor"](place), "int32"), cast(_F["ceil"](place), "int32")
    many = rank(rows) - 1
    below = _g.gather(rows, low, axis=-1, batch_dims=many)
    above = _g.gather(rows, high, axis=-1, batch_dims=many)
    share = place - _F["floor"](place)
    if method == "lower":
        return below
    if method == "higher":
        return above
    if method == "nearest":
        nearest = cast(_F["round"](place), "int32")
        return _g.gather(rows, nearest, axis=-1, batch_dims=many)
    if method == "midpoint":
        share = cast(_F["greater"](share, _made.zeros_like(share)), name_of(rows)) * 0.5
    elif method != "linear":
        raise ValueError(f"method {method!r}, expected linear, lower, higher, midpoint or nearest")
    between = below * (1.0 - share) + above * share
    # Of two infinite neighbours the difference is no number: a place of its own needs none.
    return _a.where(_F["equal"](share, _made.zeros_like(share)), below, between)


def nanpercentile(
    x: TensorLike, q: TensorLike, axis: Axes = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the values that so many of a hundred numbers are below."""
    return nanquantile(x, floating(q) / 100.0, axis, method, keepdims)


def nanmedian(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the middle one of the numbers along axes."""
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


# Counts.


def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: int = 0, sparse: bool = False
) -> Tensor:
    """Return how often each number is in rows, or the sums of its weights."""
    if sparse:
        return as_sparse(bincount(x, weights, minlength))
    tensor = convert_to_tensor(x)
    counted = cast(tensor, "int32")
    weight = None if weights is None else convert_to_tensor(weights)
    found = _sorting.bincount(
        counted, weight, minlength=minlength, axis=-1 if rank(tensor) > 1 else None
    )
    if weight is not None:
        return cast(found, str(_result_type(name_of(tensor), name_of(weight))))
    return cast(found, "int32")


def histogram(
    x: TensorLike, bins: int | TensorLike = 10, range: Sequence[float] | None = None
) -> tuple[Tensor, Tensor]:
    """Return how many values are in each bin, and the edges of these."""
    tensor = floating(_flat(convert_to_tensor(x)))
    low, high = (min(tensor), max(tensor)) if range is None else map(convert_to_tensor, range)
    low, high = cast(low, name_of(tensor)), cast(high, name_of(tensor))
    if not isinstance(bins, int):
        raise ValueError(f"bins must be an integer. Received: bins={bins}")
    flat = _F["equal"](low, high)
    low, high = _a.where(flat, low - 0.5, low), _a.where(flat, high + 0.5, high)
    edges = _made.linspace(low, high, bins + 1)
    place = cast(_s.searchsorted(edges, tensor, side="right"), "int32") - 1
    # The last bin has its upper edge.
    place = _a.where(_F["equal"](tensor, high), _made.zeros_like(place) + (bins - 1), place)
    inside = _F["logical_and"](_F["greater_equal"](tensor, low), _F["less_equal"](tensor, high))
    kept = _a.where(inside, place, _made.zeros_like(place) + bins)
    counts = _g.unsorted_segment_sum(_made.ones_like(kept), kept, bins + 1)[:bins]
    return cast(counts, name_of(tensor)), edges


def corrcoef(x: TensorLike) -> Tensor:
    """Return the correlations of rows."""
    tensor = floating(x)
    if not rank(tensor):
        return cast(_np.nan, name_of(tensor))
    rows = _a.reshape(tensor, [1, -1]) if rank(tensor) == 1 else tensor
    away = rows - _m.reduce_mean(rows, -1, keepdims=True)
    shared = _m.matmul(away, away, transpose_b=True)
    own = _F["sqrt"](_R["reduce_sum"](away * away, -1))
    found = shared / (_a.expand_dims(own, -1) * _a.expand_dims(own, -2))
    found = _F["minimum"](_F["maximum"](found, -1.0), 1.0)
    return found[0, 0] if rank(tensor) == 1 else found

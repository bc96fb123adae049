"""Functions of tensors that are made of other operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, product
from ....ir.types.dtypes import DType
from ....ir.types.tensor import Array
from ...eager.remembered import remember_all
from ...eager.tensor import Tensor
from ...eager.text_arrays import moved_text
from ...graph.graph import GraphTensor
from ...graph.inference import Abstract, is_unknown
from ...graph.kinds import RULES
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ...values.texts import Text
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor, custom_gradient, row_of
from ..core.calls import op, perform, rule
from ..core.element_types import TfDataType, as_dtype, of_row
from ..core.required import demand
from ..core.shapes import ShapeLike, broadcast_static_shape
from ..core.values import (
    InGraph,
    InvalidShapesError,
    at_once,
    axis_in,
    convert,
    elements,
    graph_of,
    same,
    static,
)
from .array_ops import (
    broadcast_dynamic_shape,
    broadcast_to,
    reshape,
    stack,
    where,
)
from .array_ops import shape as tensor_shape
from .creation import zeros_like
from .gathering import scatter_nd
from .math_ops import FUNCTIONS, REDUCTIONS, add_n, cast, complex_, imag, real
from .sorting import tally

Pair: TypeAlias = Callable[[TfTensor], tuple[TfTensor, TfTensor]]
"""What gives the gradients of two operands."""


@op("Bitcast", "input", strict=False, differentiable=None)
def bitcast(m: Maker, input: object, type: DTypeLike | None) -> object:
    """Return the same bits as elements of another type."""
    row = row_of(type)
    assert row is not None, "a type was given"
    spec = spec_of_value(input)
    if row.size == spec.dtype.size:
        return m.bitcast(input, dtype=row)
    factor, dims = spec.dtype.size // row.size, spec.dims
    width = row.size // spec.dtype.size
    if not factor and not (dims and (dims[-1] == width or not isinstance(dims[-1], int))):
        numbers = [of_row(x).as_datatype_enum for x in (spec.dtype, row)]
        raise TypeError(
            f"Cannot bitcast from {numbers[0]} to {numbers[1]}: {spec.dtype} becomes {row} where "
            f"the last axis has {width} elements, found shape {list(dims)}"
        )
    grown = (*dims, factor) if factor else dims[:-1]
    if is_unknown(input):
        return Abstract(spec.with_shape(grown).with_dtype(row))
    array = np.ascontiguousarray(elements(input))
    return np.frombuffer(array.tobytes(), row.numpy).reshape(spec.with_shape(grown).static_shape)


def nextafter(x1: object, x2: object, name: str | None = None) -> TfTensor:
    """Return the next number from each element towards another."""
    with InGraph(graph_of([x1, x2])):
        pair = same(x1, x2)
        dims = broadcast_dynamic_shape(*map(tensor_shape, pair))
        made: TfTensor = _towards(*(broadcast_to(x, dims) for x in pair))
        return made


@custom_gradient
def _towards(x: TfTensor, y: TfTensor) -> tuple[TfTensor, Pair]:
    return _nextafter(x, y), lambda grad: (grad, zeros_like(grad))


@op("NextAfter", "x1", "x2", differentiable=False)
def _nextafter(m: Maker, x1: object, x2: object) -> object:
    """Count the bits of floats, which lie as far from 0 as their integers do, one up or down."""
    row = spec_of_value(x1).dtype
    if row.kind != "f":
        raise TypeError(f"the next number is that of floats, not of {row}")
    whole = {2: rows.i16, 4: rows.i32, 8: rows.i64}[row.size]
    zero, one, less = m.number(0, row), m.number(1, whole), m.number(-1, whole)
    up, is_above = m.less(x1, x2), m.less(zero, x1)
    step = m.select(up, m.select(is_above, one, less), m.select(is_above, less, one))
    moved = m.bitcast(m.add(m.bitcast(x1, dtype=whole), step), dtype=row)
    least = m.bitcast(one, dtype=row)
    from_zero = m.select(m.less(zero, x2), least, m.neg(least))
    made = m.select(m.equal(x1, zero), from_zero, moved)
    made = m.select(m.equal(x1, x2), x2, made)
    is_some = m.logical_and(m.equal(x1, x1), m.equal(x2, x2))
    return m.select(is_some, made, m.add(x1, x2))


def accumulate_n(
    inputs: Sequence[object],
    shape: ShapeLike = None,
    tensor_dtype: object = None,
    name: str | None = None,
) -> TfTensor:
    """Return the sum of tensors."""
    return add_n(inputs, name=name)


def angle(input: object, name: str | None = None) -> TfTensor:
    """Return the argument of complex numbers; of negative real ones it is pi, of others 0."""
    with InGraph(graph_of([input])):
        x = convert(input)
        if x.dtype.is_complex:
            return FUNCTIONS["atan2"](imag(x), real(x), name=name)
        half_turn, none = convert(math.pi, x.dtype), convert(0.0, x.dtype)
        return where(FUNCTIONS["less"](x, none), half_turn, none, name=name)


def polyval(coeffs: Sequence[object], x: object, name: str | None = None) -> TfTensor:
    """Return a polynomial's value, the coefficient of the highest power first."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    if not coeffs:
        return zeros_like(convert(x), name=name)
    total = convert(coeffs[0])
    for coefficient in coeffs[1:]:
        total = total * x + coefficient
    return total


def _steps(x: object) -> TfTensor:
    flat = reshape(convert(x), [-1])
    return flat[1:] - flat[:-1]


def is_strictly_increasing(x: object, name: str | None = None) -> TfTensor:
    """Return whether each element is greater than the one before."""
    return REDUCTIONS["reduce_all"](_steps(x) > 0, name=name)


def is_non_decreasing(x: object, name: str | None = None) -> TfTensor:
    """Return whether no element is less than the one before."""
    return REDUCTIONS["reduce_all"](_steps(x) >= 0, name=name)


@op("ClassNumbers", "numbers", strict=False, differentiable=False, refuses=True)
def _class_numbers(m: Maker, numbers: object, what: str, count: int | None) -> object:
    """Return the numbers of classes, or raise where one is negative or is that of no class."""
    zero = m.number(0, rows.i64)
    low = f"`{what}` contains negative values: {what}{{at}} = {{value}}"
    demand(m, numbers, lambda x: m.greater_equal(x, zero), lambda x: x < 0, low)
    if count is not None:
        end = m.number(count, rows.i64)
        high = f"`{what}` out of bound: {what}{{at}} = {{value}}, expected less than {count}"
        demand(m, numbers, lambda x: m.less(x, end), lambda x: x >= count, high)
    return numbers


def confusion_matrix(
    labels: object,
    predictions: object,
    num_classes: object = None,
    weights: object = None,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
) -> TfTensor:
    """Return how often each class (row) was predicted as each class (column)."""
    with InGraph(graph_of([labels, predictions])):
        known = static(num_classes)
        most = int(known) if isinstance(known, int | float) else None
        both = [
            _class_numbers(cast(convert(x), "int64"), what=what, count=most)
            for what, x in (("labels", labels), ("predictions", predictions))
        ]
        if not both[0].shape.is_compatible_with(both[1].shape):
            raise ValueError(
                f"the shapes of labels and predictions must be equal, found {both[0].shape} and "
                f"{both[1].shape}"
            )
        places = stack(both, 1)
        count = num_classes
        if count is None:
            count = REDUCTIONS["reduce_max"](places) + 1
        ones = FUNCTIONS["equal"](places[:, 0], places[:, 0])
        values = cast(ones if weights is None else convert(weights), dtype)
        return scatter_nd(places, values, stack([cast(count, "int64")] * 2), name=name)


@op("HistogramFixedWidth", "values", "value_range", differentiable=False, refuses=True)
def _histogram(m: Maker, values: object, value_range: object, nbins: int, dtype: DType) -> object:
    """Count elements in so many bins of one width.

    Widths are those of 64 bits: the ends may be further apart than their type has numbers.
    """
    count = product(spec_of_value(values).dims)
    x = m.reshape(values, shape=(count,))
    if spec_of_value(values).dtype.is_float:
        text = "Histogram values must not contain NaN"
        demand(m, m.equal(x, x), lambda v: v, np.logical_not, text)
    ends = [
        m.reshape(m.slice(value_range, starts=(i,), stops=(i + 1,), steps=(1,)), shape=())
        for i in (0, 1)
    ]
    text = "value_range should satisfy value_range[0] < value_range[1]"
    demand(m, m.less(*ends), lambda v: v, np.logical_not, text)
    x = m.minimum(m.maximum(x, ends[0]), ends[1])
    low, high = (m.to(end, rows.f64) for end in ends)
    bins = m.number(nbins, rows.f64)
    part = m.div(m.sub(m.to(x, rows.f64), low), m.sub(m.div(high, bins), m.div(low, bins)))
    inside = m.minimum(m.floor(part), m.number(nbins - 1, rows.f64))
    short = nbins <= rows.i32.maximum
    if isinstance(inside, Tensor):
        at = m.cast(inside, dtype=rows.i32 if short else rows.i64)
        return m.to(at_once(partial(tally, least=nbins), at), dtype)
    at = m.cast(inside, dtype=rows.u32 if short else rows.i64)  # (none counts from the end)
    at = m.reshape(at, shape=(count, 1))
    ones = m.filled(1, dtype, (count,))
    return m.scatter_nd(m.filled(0, dtype, (nbins,)), at, ones, reduction="add")


def histogram_fixed_width(
    values: object,
    value_range: object,
    nbins: object = 100,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
) -> TfTensor:
    """Count elements in bins of one width; those outside are in the first or the last."""
    with InGraph(graph_of([values, value_range, nbins])):
        x, count = convert(values), static(nbins)
        ends, row = convert(value_range, x.dtype), row_of(dtype)
        _check_bins(ends, count)
        if isinstance(count, int) and row is not None and x.shape.rank is not None:
            return _histogram(x, ends, count, row, name=name)
        x, ends, most = reshape(x, [-1]), reshape(ends, [2]), cast(count, "float64")
        x = FUNCTIONS["minimum"](FUNCTIONS["maximum"](x, ends[0]), ends[1])
        low, high = cast(ends[0], "float64"), cast(ends[1], "float64")
        part = FUNCTIONS["floor"]((cast(x, "float64") - low) / (high / most - low / most))
        bins = cast(FUNCTIONS["minimum"](part, most - 1.0), "int64")
        ones = cast(FUNCTIONS["equal"](bins, bins), dtype)
        return scatter_nd(reshape(bins, [-1, 1]), ones, [cast(count, "int64")], name=name)


def _check_bins(ends: TfTensor, count: object) -> None:
    """Raise unless a range has two ends, and the number of bins is one number above 0."""
    if ends.shape.rank not in (1, None):
        raise InvalidShapesError(
            f"value_range should be a vector: Shape must be rank 1 but is rank {ends.shape.rank}"
        )
    if ends.shape.num_elements() not in (2, None):
        raise InvalidShapesError("value_range should be a vector of 2 elements.")
    if isinstance(count, list) or (isinstance(count, TfTensor) and count.shape.rank):
        raise InvalidShapesError("nbins should be a scalar: Shape must be rank 0 but is rank 1")
    if isinstance(count, int) and count <= 0:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{count}'")


def _check_unravelled(indices: TfTensor, dims: Array) -> None:
    """Raise if an axis has no elements, or a number is not that of an element."""
    if (dims == 0).any():
        raise InvalidShapesError(
            f"Input dims cannot contain a dim of zero, but dims contains zero at index "
            f"{int(np.argmin(dims != 0))} [Op:UnravelIndex]"
        )
    if math.prod(map(int, np.ravel(dims))) > np.iinfo(dims.dtype).max:
        raise InvalidShapesError(
            f"Input dims product is causing integer overflow: {dims.tolist()} [Op:UnravelIndex]"
        )
    if not indices.eager:
        return
    outside = indices.numpy()[indices.numpy() >= dims.prod()]
    if outside.size:
        raise InvalidShapesError(
            f"index is out of bound as with dims: {outside[0]} of {dims.tolist()} [Op:UnravelIndex]"
        )


def unravel_index(indices: object, dims: object, name: str | None = None) -> TfTensor:
    """Return the places of elements along each axis by their numbers in a flat array."""
    with InGraph(graph_of([indices])):
        left, made = convert(indices), []
        extents = static(dims)
        _check_unravelled(left, np.asarray(extents, convert(dims).dtype.as_numpy_dtype))
        for extent in reversed(extents):
            made.append(left % extent)
            left = left // extent
        return stack(made[::-1], name=name)


def _blocks(block_shape: object, ends: object) -> tuple[list[int], list[tuple[int, int]]]:
    """Return how large blocks are along each axis, and what is put on or cut off there."""
    sizes, pairs = (np.asarray(elements(x)) for x in (block_shape, ends))
    sizes = sizes if sizes.ndim else np.full(2, sizes)  # (one number is for height and width)
    if pairs.shape != (len(sizes), 2):
        raise TypeError(
            f"paddings or crops should have shape {[len(sizes), 2]}, got {list(pairs.shape)}"
        )
    if (sizes < 1).any():
        raise TypeError(f"All values in block_shape must be positive, got {sizes.tolist()}")
    if (pairs < 0).any():
        raise TypeError(f"paddings and crops must be non-negative, got {pairs.tolist()}")
    return sizes.tolist(), [(a, b) for a, b in pairs.tolist()]


def _axes(value: object, count: int) -> tuple[Dim, tuple[Dim, ...], tuple[Dim, ...]]:
    """Return the sizes of the first axis, of those that blocks are along, and of the rest."""
    dims = spec_of_value(value).dims
    if len(dims) < 1 + count:
        raise TypeError(f"input rank should be >= {1 + count} instead of {len(dims)}")
    return dims[0], dims[1 : 1 + count], dims[1 + count :]


def _fitted(number: Dim, block: int, what: str) -> Dim:
    """Return how many blocks a size is; it must be a multiple."""
    if isinstance(number, int) and number % block:
        raise TypeError(f"{what} {number} is not divisible by {block}")
    return number // block


@op(
    "SpaceToBatchND", "input", "block_shape", "paddings",
    strict=False, shapes=shapes_of.blocks(apart=True),
)  # fmt: skip
def space_to_batch(m: Maker, input: object, block_shape: object, paddings: object) -> object:
    """Move the pixels of blocks, of which each image has one, to images of their own."""
    blocks, ends = _blocks(block_shape, paddings)
    count = len(blocks)
    batch, inner, outer = _axes(input, count)
    wide = [d + a + b for d, (a, b) in zip(inner, ends, strict=True)]
    small = [_fitted(d, b, "padded size") for d, b in zip(wide, blocks, strict=True)]
    if any(a or b for a, b in ends):
        whole = np.array([(0, 0), *ends, *[(0, 0)] * len(outer)])
        input = RULES["Pad"].function(m, input, whole)
    parts = [n for pair in zip(small, blocks, strict=True) for n in pair]
    made = m.reshape(input, shape=(batch, *parts, *outer))
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2)]
    made = m.transpose(made, order=(*order, *range(2 * count + 1, 2 * count + 1 + len(outer))))
    return m.reshape(made, shape=(batch * math.prod(blocks), *small, *outer))


@op(
    "BatchToSpaceND", "input", "block_shape", "crops",
    strict=False, shapes=shapes_of.blocks(apart=False),
)  # fmt: skip
def batch_to_space(m: Maker, input: object, block_shape: object, crops: object) -> object:
    """Put images together as the pixels of blocks: what `space_to_batch` did is undone."""
    blocks, ends = _blocks(block_shape, crops)
    count = len(blocks)
    whole, inner, outer = _axes(input, count)
    batch = _fitted(whole, math.prod(blocks), "batch size")
    big = [d * b for d, b in zip(inner, blocks, strict=True)]
    for d, (a, b) in zip(big, ends, strict=True):
        if isinstance(d, int) and a + b > d:
            raise TypeError(f"cropped size must be non-negative, got {d} without {a} and {b}")
    made = m.reshape(input, shape=(*blocks, batch, *inner, *outer))
    order = [count, *(n for i in range(count) for n in (count + 1 + i, i))]
    made = m.transpose(made, order=(*order, *range(2 * count + 1, 2 * count + 1 + len(outer))))
    made = m.reshape(made, shape=(batch, *big, *outer))
    for axis, (d, (a, b)) in enumerate(zip(big, ends, strict=True), 1):
        if a or b:
            made = c.cut(m.emit, made, axis, a, d - b)
    return made


def saturate_cast(value: object, dtype: DTypeLike | None, name: str | None = None) -> TfTensor:
    """Convert the elements to another type, whose range limits them; infinities are its ends.

    An end that the type of the elements does not have is the nearest inside. Of complex numbers
    both parts are limited, and to a real type only the real part counts.
    """
    x, row = convert(value), row_of(dtype)
    assert row is not None, "a type was given"
    if x.spec.dtype.kind == "c":
        if row.kind != "c":
            return saturate_cast(real(x), dtype, name)
        part = rows.f32 if row == rows.c64 else rows.f64
        limited = complex_(saturate_cast(real(x), part), saturate_cast(imag(x), part))
        return cast(limited, dtype, name)
    part = row if row.kind != "c" else rows.f32 if row == rows.c64 else rows.f64
    low, high = _ends_within(as_dtype(x.spec.dtype), as_dtype(part))
    return cast(FUNCTIONS["minimum"](FUNCTIONS["maximum"](x, low), high), dtype, name)


def _ends_within(have: TfDataType, want: TfDataType) -> tuple[Array, Array]:
    """Return the least and the greatest number of a type that another one has too."""
    if "bool" in (have.name, want.name):
        raise TypeError(f"cannot limit {have.name} to {want.name}: truth values have no range")
    row = np.dtype(have.as_numpy_dtype)
    made = []
    for pick, own, other in ((max, have.min, want.min), (min, have.max, want.max)):
        exact = pick(_exact(own), _exact(other))
        end = np.asarray(exact if row.kind in "iu" else float(exact), row)
        is_outside = _exact(end) < exact if pick is max else _exact(end) > exact
        made.append(np.nextafter(end, np.zeros((), row)) if is_outside else end)
    return made[0], made[1]


def _exact(number: Array | float) -> int:
    """Return an end of a range, which is whole, as a number of Python: exactly."""
    return int(number if isinstance(number, int | np.integer) else float(number))


@op("Roll", "input", strict=False)
def _roll(m: Maker, input: object, shift: object, axis: object) -> object:
    _check_roll(spec_of_value(input).rank, np.shape(static(shift)), np.shape(static(axis)))
    shifts, axes = np.ravel(static(shift)).tolist(), np.ravel(static(axis)).tolist()
    moved, rank_ = input, spec_of_value(input).rank
    if isinstance(input, Text):  # of which each step would lay all anew
        return moved_text(lambda places: [np.roll(places, shifts, axes)], [input])
    for by, at in zip(shifts, axes, strict=True):
        moved = c.roll(m.emit, moved, axis_in(at, rank_), int(by))
    return moved


def _check_roll(rank_: int, shift: Sequence[Dim], axis: Sequence[Dim]) -> None:
    """Raise unless there are as many shifts as axes, both in no more than a vector."""
    if not rank_:
        raise TypeError("input must be 1-D or higher: Shape must be at least rank 1 but is rank 0")
    for name, dims in (("shift", shift), ("axis", axis)):
        if len(dims) > 1:
            raise TypeError(
                f"{name} must be a scalar or a 1-D vector: Shape must be at most rank 1 but is "
                f"rank {len(dims)}"
            )
    counts = [dims[0] if dims else 1 for dims in (shift, axis)]
    if isinstance(counts[0], int) and counts[0] != counts[1]:
        raise TypeError(
            "shift and axis must have the same size: both shapes must be equal, found "
            f"{counts[0]} and {counts[1]}"
        )


def roll(input: object, shift: object, axis: object, name: str | None = None) -> TfTensor:
    """Move elements along axes, those at the end to the front."""
    by = static(shift)
    if not any(isinstance(x, GraphTensor) for x in (by if isinstance(by, list | tuple) else [by])):
        return _roll(input, by, axis, name=name)
    with InGraph(graph_of([input, shift])):
        x, every = convert(input), convert(by)
        axes = [axis_in(at, len(x.shape)) for at in np.ravel(static(axis)).tolist()]
        return perform("RollComputed", [x, every], name=name, axes=axes)


@rule("RollComputed", label="roll")
def _roll_computed(m: Maker, x: object, shifts: object, axes: Sequence[int]) -> object:
    """Move elements along axes as far as a run computes."""
    _check_roll(spec_of_value(x).rank, spec_of_value(shifts).dims, (len(axes),))
    shifts = m.reshape(shifts, shape=(len(axes),))
    for i, at in enumerate(axes):
        size = spec_of_value(x).dims[at]
        by = m.to(m.slice(shifts, starts=(i,), stops=(i + 1,), steps=(1,)), rows.i64)
        behind = m.sub(m.iota(shape=(size,), axis=0, dtype=rows.i64), by)
        x = m.gather(x, m.mod(behind, m.extent_of(size, rows.i64)), axis=at)
    return x


remember_all(globals())


def of_one_shape(*values: TfTensor) -> list[TfTensor]:
    """Return values of one shape."""
    wanted = tensor_shape(values[0])
    for each in values[1:]:
        wanted = broadcast_dynamic_shape(wanted, tensor_shape(each))
    dims = [v.shape for v in values]
    if all(d == dims[0] for d in dims) and dims[0].is_fully_defined():
        return list(values)
    made = [broadcast_to(v, wanted) for v in values]
    for one in made:
        one.set_shape(reduce(broadcast_static_shape, dims))
    return made

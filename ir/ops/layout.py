"""Operations that move elements and compute nothing.

They have no scalar rule: code generation reads through them, as an index into the source for
an index into the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ..compose.functions import cut, dilate, flip, pad_index, resize_edges, sum_along
from ..compose.maker import Maker
from ..demands import at_most, expect_elements, may_equal, same
from ..facts import KernelForm
from ..families import AxisPlaces, expect_same, spec_of_value, unbroadcast
from ..op import Array, Call, Op, register
from ..reading import Reading
from ..samples import Sample
from ..types.dims import Dim, DimExpr, ceil_divide, product
from ..types.dtypes import DType, bf16, bool_, f32, f64, i4, i8, i64
from ..types.indices import Indices, Linear, broadcast_index, flatten, unflatten
from ..types.numerics import fill
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec, spec_of
from ..windows import expect_pairs

MOVED = (f32, i64, bool_, bf16, i4)
"""The element types that data movement is tried with."""

MODES = ("constant", "reflect", "edge", "wrap")
FEW, NARROW = 1 << 12, 8
"""So many elements at most are padded one by one, so many columns at most column by column."""


@register
class Reshape(Op):
    """The same elements in row-major order in another shape."""

    name = "gv.reshape"
    IS_VIEW: ClassVar = True
    OF_SIZES: ClassVar = True
    WORKLESS: ClassVar = True
    BIJECTIVE: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((2, 6),), {"shape": (3, 4)}, MOVED),
        Sample(((2, 3),), {"shape": (6,)}),
        Sample(((1, 1),), {"shape": ()}),
        Sample(((),), {"shape": (1,)}),
        Sample(((0, 3),), {"shape": (5, 0, 2)}),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return the shape, which must hold as many elements."""
        _check_shape(shape)
        wanted, size = product(shape), x.size
        if wanted != size:
            text = f"shape {_text(shape)} of {wanted} elements, expected {size} as in "
            text += _text(x.dims)
            if not may_equal(size, wanted):
                raise UnequalError(text, wanted, size)
            same(wanted, size, text)
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(cls, x: Array, *, shape: tuple[int, ...]) -> Sequence[Array]:
        """Reshape."""
        return (np.reshape(x, shape),)

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices | None:
        """Return the place of the same row-major offset."""
        found = unflatten(flatten(index, result.dims), source.dims)
        return None if found is None else tuple(found)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the gradient the operand's shape."""
        return (call.emit(Reshape, grads[0], shape=call.specs[0].dims),)


def _check_shape(shape: tuple[Dim, ...]) -> None:
    if any(isinstance(d, int) and d < 0 for d in shape):
        raise TypeError(f"shape {_text(shape)} has a negative dimension")


def _text(shape: Sequence[Dim]) -> str:
    return f"({', '.join(map(str, shape))})"


@register
class Transpose(Op):
    """The tensor with its axes in another order: result axis i is source axis order[i]."""

    name = "gv.transpose"
    BIJECTIVE: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((2, 3, 4),), {"order": (2, 0, 1)}, MOVED),
        Sample(((5, 7),), {"order": (1, 0)}),
        Sample(((),), {"order": ()}),
        Sample(((0, 3),), {"order": (1, 0)}),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, order: tuple[int, ...]) -> Sequence[TensorSpec]:
        """Return the dimensions in the new order."""
        if sorted(order) != list(range(x.rank)):
            raise TypeError(f"order {order}, expected each of {x.rank} axes once")
        return (x.with_shape([x.dims[axis] for axis in order]),)

    @classmethod
    def evaluate(cls, x: Array, *, order: tuple[int, ...]) -> Sequence[Array]:
        """Transpose."""
        return (np.transpose(x, order),)

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices:
        """Put each part back where it was."""
        order: tuple[int, ...] = attributes["order"]
        return tuple(index[order.index(axis)] for axis in range(len(order)))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Move the gradient back by the inverse order."""
        order: tuple[int, ...] = call.attributes["order"]
        inverse = tuple(order.index(axis) for axis in range(len(order)))
        return (call.emit(Transpose, grads[0], order=inverse),)


@register
class BroadcastTo(Op):
    """The tensor repeated along axes of extent 1 and along new leading axes."""

    name = "gv.broadcast_to"
    SAMPLES: ClassVar = (
        Sample(((2, 1, 3),), {"shape": (4, 2, 5, 3)}, MOVED),
        Sample(((),), {"shape": (2, 2)}),
        Sample(((3,),), {"shape": (3,)}),
        Sample(((1, 2),), {"shape": (0, 2)}),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return the shape, to which the operand's must broadcast."""
        _check_shape(shape)
        tail = shape[len(shape) - x.rank :] if x.rank <= len(shape) else ()
        if len(tail) != x.rank or any(a not in (1, b) for a, b in zip(x.dims, tail, strict=True)):
            raise TypeError(f"shape {_text(x.dims)} does not broadcast to {_text(shape)}")
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(cls, x: Array, *, shape: tuple[int, ...]) -> Sequence[Array]:
        """Broadcast."""
        return (np.broadcast_to(x, shape),)

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices:
        """Read the one element there is along repeated axes."""
        return broadcast_index(index, source, result)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Sum the gradient over what was repeated."""
        return (unbroadcast(call, grads[0], call.specs[0]),)


@register
class Concat(Op):
    """Tensors joined along an axis."""

    name = "gv.concat"
    OF_SIZES: ClassVar = True
    KERNEL: ClassVar = KernelForm("concat")
    INDICES: ClassVar = 0
    SAMPLES: ClassVar = (
        Sample(((2, 3), (2, 1), (2, 4)), {"axis": 1}, MOVED),
        Sample(((2, 3), (0, 3), (1, 3)), {"axis": 0}),
        Sample(((4,),), {"axis": 0}),
    )

    @classmethod
    def infer(cls, *xs: TensorSpec, axis: int) -> Sequence[TensorSpec]:
        """Return the shape with the extents along the axis added up."""
        if not xs:
            raise TypeError("no operands, expected at least one")
        expect_same(*xs)
        check_axis(axis, xs[0].rank)
        for other in xs[1:]:
            message = (
                f"shapes {_text(xs[0].dims)} and {_text(other.dims)} differ beside axis {axis}"
            )
            if other.rank != xs[0].rank:
                raise TypeError(message)
            rows = zip(_without(xs[0].dims, axis), _without(other.dims, axis), strict=True)
            for one, two in rows:
                if one != two:
                    raise UnequalError(message, one, two)
        total: Dim = 0
        for x in xs:
            total = total + x.dims[axis]
        return (xs[0].with_shape(replaced(xs[0].dims, axis, total)),)

    @classmethod
    def evaluate(cls, *xs: Array, axis: int) -> Sequence[Array]:
        """Join."""
        return (np.concatenate(xs, axis),)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each operand its part of the gradient."""
        axis = call.attributes["axis"]
        start: Dim = 0
        parts = []
        for x in call.specs:
            parts.append(cut(call.emit, grads[0], axis, start, start + x.dims[axis]))
            start = start + x.dims[axis]
        return parts


def check_axis(axis: int, rank: int) -> None:
    """Raise `TypeError` unless the axis, counted from the front, exists."""
    if not 0 <= axis < rank:
        raise TypeError(f"axis {axis}, expected 0 to {rank - 1} for rank {rank}")


def replaced(shape: tuple[Dim, ...], axis: int, *dims: Dim) -> tuple[Dim, ...]:
    """Return the shape with other dimensions in the place of one."""
    return (*shape[:axis], *dims, *shape[axis + 1 :])


def _without(shape: tuple[Dim, ...], axis: int) -> tuple[Dim, ...]:
    return replaced(shape, axis) if axis < len(shape) else ()


@register
class Slice(Op):
    """The elements at start, start + step, ... before stop, along each axis.

    0 <= start <= stop <= extent. With a negative step, start counts down to stop, which is
    -(extent + 1) where element 0 is to be included: numpy's reading of these numbers. Numbers that
    are open may be -1 in a run: the place before element 0.
    """

    name = "gv.slice"
    OF_SIZES: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((5, 7),), {"starts": (1, 0), "stops": (4, 7), "steps": (1, 3)}, MOVED),
        Sample(((5, 7),), {"starts": (4, 5), "stops": (-6, 0), "steps": (-1, -2)}),
        Sample(((6,),), {"starts": (2,), "stops": (2,), "steps": (1,)}),
        Sample(((0, 2),), {"starts": (-1, 1), "stops": (-1, -3), "steps": (-1, -1)}),
        Sample(((),), {"starts": (), "stops": (), "steps": ()}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        starts: tuple[Dim, ...],
        stops: tuple[Dim, ...],
        steps: tuple[int, ...],
    ) -> Sequence[TensorSpec]:
        """Return the number of elements taken along each axis."""
        if not len(starts) == len(stops) == len(steps) == x.rank:
            found = f"{len(starts)} starts, {len(stops)} stops, {len(steps)} steps"
            raise TypeError(f"{found}, expected {x.rank} each")
        rows = zip(x.dims, starts, stops, steps, strict=True)
        return (x.with_shape([_taken(*row) for row in rows]),)

    @classmethod
    def evaluate(
        cls, x: Array, *, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]
    ) -> Sequence[Array]:
        """Slice."""
        return (np.asarray(x[slices_of(starts, stops, steps)]),)

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices:
        """Go from the start in steps."""
        rows = zip(index, attributes["starts"], attributes["steps"], strict=True)
        return tuple(i * step + start for i, start, step in rows)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Put the gradient where its elements came from, between zeros."""
        grad, pads = grads[0], list[tuple[Dim, Dim]]()
        starts, steps = call.attributes["starts"], call.attributes["steps"]
        backward = [axis for axis, step in enumerate(steps) if step < 0]
        grad = flip(call.emit, grad, backward)
        counts = spec_of_value(grad).dims
        rows = zip(call.specs[0].dims, starts, steps, counts, strict=True)
        for axis, (extent, start, step, count) in enumerate(rows):
            first = start if step > 0 else start + (count - 1) * step
            grad = dilate(call.emit, grad, axis, abs(step))
            pads.append((first, extent - first - count * abs(step)))
        return (resize_edges(call.emit, grad, pads),)


def slices_of(
    starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]
) -> tuple[slice, ...]:
    """Return what numpy is indexed with."""
    return tuple(_part(*row) for row in zip(starts, stops, steps, strict=True))


def _part(start: int, stop: int, step: int) -> slice:
    """Return a slice of Python's, where -1 is not the last element but before the first."""
    if step > 0 or stop >= 0:
        return slice(start, stop, step)
    return slice(start, None, step) if start >= 0 else slice(0, 0)


def _taken(extent: Dim, start: Dim, stop: Dim, step: int) -> Dim:
    """Return how many elements a slice takes along an axis."""
    if step == 0:
        raise TypeError("step 0, expected another number")
    if step > 0:
        _check_bound("start", start, 0, extent, step)
        _check_bound("stop", stop, 0, extent, step)
    else:
        stop = -1 if stop == -1 - extent else stop
        least = 0 if isinstance(extent, int) and extent else -1
        _check_bound("start", start, least, extent - 1, step)
        _check_bound("stop", stop, -1, extent - 1, step)
    count = ceil_divide(stop - start, step) if step > 0 else ceil_divide(start - stop, -step)
    return max(count, 0) if isinstance(count, int) else count


def _check_bound(what: str, value: Dim, low: int, high: Dim, step: int) -> None:
    def text() -> str:
        return f"{what} {value}, expected {low} to {high} with step {step}"

    at_most(low, value, text)
    at_most(value, high, text)


@register
class Pad(Op):
    """The tensor with elements put around it, or taken away where a pad is negative.

    Modes: `constant` (all are `value`), `edge` (the nearest element), `reflect` (mirrored
    at the edge, which is not repeated), `wrap` (from the other side).
    """

    name = "gv.pad"
    SAMPLES: ClassVar = (
        Sample(((2, 3),), {"pads": ((1, 0), (2, 3)), "value": 1.5}),
        Sample(((2, 3),), {"pads": ((1, 0), (0, 3))}, MOVED),
        Sample(((4, 5),), {"pads": ((-1, 2), (1, -3)), "value": -1.0}),
        Sample(((0, 2),), {"pads": ((2, 1), (0, 0)), "value": 2.0}),
        Sample(((),), {"pads": ()}),
        Sample(((3, 4),), {"pads": ((2, 1), (0, 3)), "mode": "reflect"}, MOVED),
        Sample(((3, 4),), {"pads": ((4, 1), (-1, 3)), "mode": "edge"}),
        Sample(((3, 4),), {"pads": ((2, 1), (5, -1)), "mode": "wrap"}),
        Sample(((1, 2),), {"pads": ((1, 2), (3, 4)), "mode": "reflect"}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        pads: tuple[tuple[Dim, Dim], ...],
        mode: str = "constant",
        value: float = 0.0,
    ) -> Sequence[TensorSpec]:
        """Return the shape grown by the pads."""
        if mode not in MODES:
            raise TypeError(f"mode {mode!r}, expected one of {', '.join(MODES)}")
        if len(pads) != x.rank:
            raise TypeError(f"pads of {len(pads)} axes, expected {x.rank}")
        expect_pairs(pads)
        shape = [d + low + high for d, (low, high) in zip(x.dims, pads, strict=True)]
        for axis, (before, after) in enumerate(zip(x.dims, shape, strict=True)):
            if isinstance(after, int) and after < 0:
                raise TypeError(f"pads {pads[axis]} take more than the {before} of axis {axis}")
            if mode != "constant" and pads[axis] != (0, 0):
                expect_elements(axis, before, after, f"for mode {mode!r} to repeat")
        return (x.with_shape(shape),)

    @classmethod
    def by_parts(cls, make: Maker, x: Any, *, pads: Any, mode: str, value: float) -> Any:
        """Pad both parts, the imaginary one with 0."""
        real = make.pad(x.real, pads=pads, mode=mode, value=value)
        return replace(x, real=real, imag=make.pad(x.imag, pads=pads, mode=mode, value=0.0))

    @classmethod
    def evaluate(cls, x: Array, *, pads: Any, mode: str, value: float) -> Sequence[Array]:
        """Copy the tensor into the result and fill what is around it.

        Where something is taken away, or there is nothing, elements are taken along each axis.
        """
        if mode != "constant" and (not x.size or any(low < 0 or high < 0 for low, high in pads)):
            for axis, (low, high) in enumerate(pads):
                if low or high or axis == 0:  # what nothing is done to is a copy, too
                    x = x.take(_index(x.shape[axis], low, high, mode), axis)
            return (x,)
        how = _padding(x.shape, tuple(pads), mode)
        if how.places is not None:
            return (x.take(how.places),)
        result: Array = np.empty(how.shape, x.dtype)
        if mode == "constant":
            fill(result, value)
        result[how.target] = x[how.source]
        for edge, inside in how.edges:
            result[edge] = result[inside]
        return (result,)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read the element that was here before there were pads."""
        (x,), pads, mode = operands, attributes["pads"], attributes["mode"]
        moved = tuple(i + (0 - low) for i, (low, _) in zip(index, pads, strict=True))
        guarded = [not (low == 0 and high == 0) for low, high in pads]
        if mode == "constant":
            return reading.within(x, moved, guarded, attributes["value"])
        rows = zip(moved, pads, spec_of(x.type).dims, strict=True)
        source = [_folded(reading, i, d, p, mode) if p != (0, 0) else i for i, p, d in rows]
        return reading.element(x, tuple(source))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Crop what was padded; what was repeated from an element is added to it."""
        grad, pads, mode = grads[0], call.attributes["pads"], call.attributes["mode"]
        if mode == "constant":
            return (resize_edges(call.emit, grad, [(-low, -high) for low, high in pads]),)
        for axis, (extent, pair) in enumerate(zip(call.specs[0].dims, pads, strict=True)):
            if pair != (0, 0):
                index = pad_index(call.emit, extent, pair, mode)
                grad = sum_along(call.emit, grad, index, axis, extent)
        return (grad,)


def _folded(
    reading: Reading, index: Linear, extent: Dim, pads: tuple[Dim, Dim], mode: str
) -> Linear:
    """Return where the element stands that is repeated at an index outside of an axis."""
    math, at, size = reading.math, reading.counted(index, i64), reading.size(extent)
    zero, last = math.constant(0, i64), math.sub(size, math.constant(1, i64))
    if mode == "edge":
        return reading.place(at, extent)
    if mode == "wrap" and _is_within(pads, extent, 0):  # (divisions take longer than all else)
        at = math.select(math.compare("lt", at, zero), math.add(at, size), at)
        at = math.select(math.compare("gt", at, last), math.sub(at, size), at)
    elif mode == "wrap":
        at = math.mod(at, size)
    elif _is_within(pads, extent, 1):
        at = math.maximum(at, math.sub(zero, at))
        at = math.minimum(at, math.sub(math.add(last, last), at))
    else:
        period = math.maximum(math.add(last, last), math.constant(1, i64))
        rest = math.mod(at, period)
        at = math.maximum(math.minimum(rest, math.sub(period, rest)), zero)
    return reading.place(at, extent)


def _is_within(pads: tuple[Dim, Dim], extent: Dim, rest: int) -> bool:
    """Say whether no pad repeats more elements than there are, all but a rest.

    What is repeated has one element at the least, of whatever size it is.
    """
    least = extent if isinstance(extent, int) else 1
    return all(isinstance(pad, int) and pad <= least - rest for pad in pads)


def _index(extent: int, low: int, high: int, mode: str) -> Array:
    """Return the index into an axis for each place of the padded axis."""
    place = np.arange(-low, extent + high)
    if mode == "edge":
        return np.clip(place, 0, max(extent - 1, 0))
    if mode == "wrap":
        return place % max(extent, 1)
    period = max(2 * extent - 2, 1)
    return np.minimum(place % period, period - place % period) if extent > 1 else place * 0


class Padding(NamedTuple):
    """How a tensor is padded."""

    shape: list[int]
    source: tuple[slice, ...]
    """What of the tensor is copied, ..."""
    target: tuple[slice, ...]
    """... and where it lies then."""
    edges: list[tuple[tuple[slice | int, ...], tuple[slice | Array, ...]]]
    """What lies around it along each axis, and what of the result is copied there; in order."""
    places: Array | None = None
    """Where each element of a small result comes from, by its place in the tensor."""


@lru_cache(maxsize=256)
def _padding(shape: tuple[int, ...], pads: tuple[tuple[int, int], ...], mode: str) -> Padding:
    """Return how a tensor of some shape is padded."""
    made = Padding([n + low + high for n, (low, high) in zip(shape, pads, strict=True)], (), (), [])
    source, target = list[slice](), list[slice]()
    for axis, (size, (low, high)) in enumerate(zip(shape, pads, strict=True)):
        first = max(-low, 0)
        last = max(first, size + min(high, 0))
        source.append(slice(first, last))
        target.append(slice(first + low, last + low))
        if mode == "constant":
            continue
        index, whole = _index(size, low, high, mode) + low, (slice(None),) * axis
        for edge in (slice(0, low), slice(low + size, low + size + high)):
            if axis == len(shape) - 1 and edge.stop - edge.start <= NARROW:
                # numpy goes over short rows one by one; columns are long.
                made.edges.extend(((*whole, at), (*whole, index[at])) for at in _steps(edge))
            elif edge.start < edge.stop:
                made.edges.append(((*whole, edge), (*whole, _as_slice(index[edge]))))
    how = made._replace(source=tuple(source), target=tuple(target))
    if mode == "constant" or not shape or prod(how.shape) > FEW:
        return how
    places = np.empty(how.shape, np.int64)
    places[how.target] = np.arange(prod(shape)).reshape(shape)[how.source]
    for border, inside in how.edges:
        places[border] = places[inside]
    return how._replace(places=places)


def _steps(edge: slice) -> range:
    """Return the places of an edge."""
    return range(edge.start, edge.stop)


def _as_slice(index: Array) -> slice | Array:
    """Return an index as a slice if it goes on in steps of 1 forwards or backwards, or stays.

    >>> _as_slice(np.array([2, 1, 0])), _as_slice(np.array([3, 3])), _as_slice(np.array([0, 2]))
    (slice(2, None, -1), slice(3, 4, 1), array([0, 2]))
    """
    first, step = int(index[0]), int(index[-1] > index[0]) - int(index[-1] < index[0])
    if (index != first + step * np.arange(len(index))).any():
        return index
    last = int(index[-1]) + (step or 1)
    return slice(first, last if last >= 0 else None, step or 1)


@register
class Iota(AxisPlaces):
    """0, 1, 2, ... along one axis, the same along the others."""

    name = "gv.iota"
    CHEAP: ClassVar = True
    SAMPLES: ClassVar = (
        Sample((), {"shape": (5,), "axis": 0, "dtype": i64}),
        Sample((), {"shape": (2, 3, 2), "axis": 1, "dtype": f32}),
        Sample((), {"shape": (0,), "axis": 0, "dtype": f64}),
        Sample((), {"shape": (300,), "axis": 0, "dtype": i8}),
    )

    @classmethod
    def infer(cls, *, shape: tuple[Dim, ...], axis: int, dtype: DType) -> Sequence[TensorSpec]:
        """Return the declared spec."""
        _check_shape(shape)
        check_axis(axis, len(shape))
        if not (dtype.is_integer or dtype.is_float):
            raise TypeError(f"element type {dtype}, expected an integer or a float")
        return (TensorSpec(dtype, shape),)

    @classmethod
    def evaluate(cls, *, shape: tuple[int, ...], axis: int, dtype: DType) -> Sequence[Array]:
        """Count; integers wrap."""
        counted = np.arange(shape[axis]).astype(dtype.numpy)
        column = counted.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        return (np.broadcast_to(column, shape),)

    @classmethod
    def extent(cls, operands: Sequence[TensorSpec], **attributes: Any) -> Dim:
        """Return the extent of the axis that is counted along."""
        return attributes["shape"][attributes["axis"]]  # type: ignore[no-any-return]

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Count along the axis."""
        return reading.counted(index[attributes["axis"]], attributes["dtype"])

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give nothing: there are no operands."""
        return ()


@register
class Extent(Op):
    """The values of dimensions, as a tensor of one axis."""

    name = "gv.extent"
    WORKLESS: ClassVar = True
    CHEAP: ClassVar = True
    SAMPLES: ClassVar = (Sample((), {"values": (2, 3)}), Sample((), {"values": ()}))

    @classmethod
    def infer(cls, *, values: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return a vector of i64."""
        if not all(isinstance(v, int | DimExpr) for v in values):
            raise TypeError(f"values {values}, expected dimensions")
        return (TensorSpec(i64, (len(values),)),)

    @classmethod
    def evaluate(cls, *, values: tuple[int, ...]) -> Sequence[Array]:
        """Return the values."""
        return (np.array(values, np.int64),)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Choose between the sizes."""
        values, math = attributes["values"], reading.math
        where, total = reading.counted(index[0], i64), reading.size(values[0] if values else 0)
        for position, value in enumerate(values[1:], 1):
            here = math.compare("eq", where, math.constant(position, i64))
            total = math.select(here, reading.size(value), total)
        return total

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give nothing: there are no operands."""
        return ()

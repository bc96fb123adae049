"""Host steps for shapes that are data: sizes, bounds and pads that a program computes.

What shapes are computed from shapes alone needs none of these: such sizes are symbolic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ....errors import RuntimeInputError
from ...families import INTEGER, REAL, expect, expect_same
from ...host import HostOp, label, one_of
from ...op import REGISTRY, Array, register
from ...types.dims import Dim, evaluate, symbols
from ...types.dtypes import bool_, f32, f64
from ...types.tensor import TensorSpec
from ..layout import Pad
from ..resize import times

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""What comes before and behind each axis."""


def count_of(vector: TensorSpec) -> int:
    """Return how many numbers a vector has, or raise `TypeError` where that is not known."""
    expect(vector, INTEGER)
    if vector.rank != 1 or not isinstance(count := vector.dims[0], int):
        raise TypeError(f"{vector} is no vector of a known number of sizes")
    return count


def resized(x: TensorSpec, axes: Sequence[int], sizes: Sequence[Dim]) -> TensorSpec:
    """Return a tensor's spec with other sizes of some axes."""
    shape = list(x.dims)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return x.with_shape(shape)


def is_name(size: Dim) -> bool:
    """Say whether a size is one symbol and nothing else."""
    return str(size).isidentifier()


@register
class ReadSizes(HostOp):
    """Take the numbers in a vector as the sizes of what comes after; `most` may bound them."""

    name = "gv.read_sizes"
    PURE: ClassVar = False
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, vector: TensorSpec, *, sizes: tuple[Dim, ...], most: tuple[Dim, ...] = ()
    ) -> Sequence[TensorSpec]:
        """Return nothing: there is one symbol for each number."""
        if len(sizes) != count_of(vector):
            raise TypeError(f"{len(sizes)} sizes, expected {vector.size}")
        return ()

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Bind the symbols, or raise where a number is no size."""
        (vector,), attributes = operands, self.plain_attributes()
        limits = [evaluate(dim, machine.symbols) for dim in attributes["most"]]
        rows = list(enumerate(zip(attributes["sizes"], vector, strict=True)))
        bound: dict[str, int] = {}
        for place, (size, number) in sorted(rows, key=lambda row: not is_name(row[1][0])):
            if number < 0 or (limits and number > limits[place]):
                most = f" to {limits[place]}" if limits else " or more"
                raise RuntimeInputError(f"size {number}, expected 0{most}", location=label(self))
            told = {**machine.symbols, **bound}
            if bound.keys() & symbols(size) and symbols(size) <= told.keys():
                is_so = evaluate(size, told) == number  # what it has bound itself just now
            else:
                is_so = machine.bind_size(size, int(number), self)
            if is_name(size):
                bound[str(size)] = int(number)
            if not is_so:
                message = f"found size {number}, expected {size}"
                raise RuntimeInputError(message, location=label(self))
        return ()


@register
class TransformRows(HostOp):
    """The Fourier transform along the axis before the last, which has the real and imaginary part.

    Nothing is divided. `gv.fourier` is the same of a number of points that is known.
    """

    name = "gv.transform_rows"

    @classmethod
    def infer(cls, x: TensorSpec, *, inverse: bool = False) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if x.dtype not in (f32, f64) or x.rank < 2 or x.dims[-1] != 2:
            raise TypeError(f"{x}, expected pairs of f32 or f64")
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, inverse: bool = False) -> Sequence[Array]:
        """Transform; no points have no transform."""
        if not x.size:
            return (x.copy(),)
        whole = x[..., 0] + 1j * x[..., 1]
        made = np.fft.ifft(whole, norm="forward") if inverse else np.fft.fft(whole)
        return (np.stack([made.real, made.imag], -1).astype(x.dtype, copy=False),)


@register
class Room(HostOp):
    """A tensor of some size with nothing in it: it tells compiled code the size."""

    name = "gv.room"
    MOVES: ClassVar = True

    @classmethod
    def infer(cls, *, size: Dim) -> Sequence[TensorSpec]:
        """Return a vector of that size."""
        return (TensorSpec(bool_, (size,)),)

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Return a tensor that takes no memory until it is read."""
        return (np.empty(evaluate(self.plain_attributes()["size"], machine.symbols), np.bool_),)


@register
class ReshapeTo(HostOp):
    """The same elements in a shape that is data: 0 keeps a dimension, -1 takes what is left."""

    name = "gv.reshape_to"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, shape: TensorSpec, *, sizes: tuple[Dim, ...], zero: bool = False
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape; with `zero` a 0 in the shape is a size."""
        if len(sizes) != count_of(shape):
            raise TypeError(f"{len(sizes)} sizes for {shape}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, shape: Array, *, sizes: Any = (), zero: bool = False
    ) -> Sequence[Array]:
        """Reshape, or raise `ValueError`."""
        return (np.ascontiguousarray(x).reshape(reshaped(x.shape, shape.tolist(), zero=zero)),)


def reshaped(found: Sequence[int], shape: Sequence[int], *, zero: bool) -> list[int]:
    """Return the sizes that a shape asks for of a tensor with other sizes, or raise `ValueError`.

    >>> reshaped((2, 3), (0, -1), zero=False), reshaped((0, 3), (4, 0), zero=True)
    ([2, 3], [4, 0])
    """
    rule = "0 is a size" if zero else "0 keeps a size"
    told = f"a tensor of shape {[*found]} as {[*shape]}, where {rule}"
    if min(shape, default=0) < -1 or shape.count(-1) > 1:
        raise ValueError(f"{told}: expected sizes, and -1 once at the most")
    if not zero and 0 in shape[len(found) :]:
        place = shape.index(0, len(found))
        raise ValueError(f"{told}: size {place} of {len(found)}, expected one that there is")
    wanted = [found[i] if size == 0 and not zero else size for i, size in enumerate(shape)]
    rest, count = prod(size for size in wanted if size != -1), prod(found)
    if -1 in wanted and not rest:
        raise ValueError(f"{told}: any size would do for -1, expected one that is given")
    if (count % rest if -1 in wanted else count - rest) != 0:
        of = "a multiple of " if -1 in wanted else ""
        raise ValueError(f"{told}: {count} elements, expected {of}{rest}")
    return [count // rest if size == -1 else size for size in wanted]


def broadcast(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Return the shape that two shapes of numbers broadcast to, or raise `ValueError`.

    >>> broadcast((3, 1), (2, 1, 4)), broadcast((), (0,))
    ([2, 3, 4], [0])
    """
    rank = max(len(one), len(other))
    rows = zip(*((*[1] * (rank - len(shape)), *shape) for shape in (one, other)), strict=True)
    made = [b if a == 1 else a if b in (1, a) else -1 for a, b in rows]
    if min(made, default=0) < 0:
        raise ValueError(f"shapes {[*one]} and {[*other]} do not broadcast")
    return made


@register
class ExpandTo(HostOp):
    """The tensor broadcast against a shape that is data, in both directions."""

    name = "gv.expand_to"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, shape: TensorSpec, *, sizes: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        if len(sizes) != max(count_of(shape), x.rank):
            raise TypeError(f"{len(sizes)} sizes for {x} and {shape}")
        return (x.with_shape(sizes),)

    @classmethod
    def evaluate(cls, x: Array, shape: Array, *, sizes: Any = ()) -> Sequence[Array]:
        """Repeat the elements."""
        wanted = broadcast(x.shape, shape.tolist())
        made: Array = np.empty(wanted, x.dtype)
        made[...] = x
        return (made,)


@register
class SliceBy(HostOp):
    """Parts of axes between bounds that are data, by numpy's rules for bounds.

    But for a start before the first element: that is the first one backwards, too, as in ONNX.
    """

    name = "gv.slice_by"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        starts: TensorSpec,
        stops: TensorSpec,
        steps: TensorSpec,
        *,
        axes: tuple[int, ...],
        sizes: tuple[Dim, ...],
    ) -> Sequence[TensorSpec]:
        """Return the shape with those axes replaced by the sizes."""
        counts = {len(axes), len(sizes), *(count_of(v) for v in (starts, stops, steps))}
        if len(counts) != 1 or len(set(axes)) != len(axes):
            raise TypeError(f"starts {starts}, stops {stops}, steps {steps}, axes {[*axes]}")
        return (resized(x, axes, sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, starts: Array, stops: Array, steps: Array, *, axes: Any, sizes: Any = ()
    ) -> Sequence[Array]:
        """Cut the tensor."""
        if len(axes) == 1:
            (axis,), first, last, step = axes, starts.item(), stops.item(), steps.item()
            if step == 1 and first >= 0 and last >= 0:  # what numpy means by them, too
                return (x[first:last].copy() if axis == 0 else _part(x, axis, first, last),)
            return (x[cuts(x.shape, ((axis, first, last, step),))].copy(),)
        bounds = zip(axes, starts.tolist(), stops.tolist(), steps.tolist(), strict=True)
        return (x[cuts(x.shape, tuple(bounds))].copy(),)


def _part(x: Array, axis: int, first: int, last: int) -> Array:
    """Return what lies between two places of an axis, as an array of its own."""
    return x[(*(slice(None),) * axis, slice(first, last))].copy()


@lru_cache(maxsize=256)
def cuts(
    shape: tuple[int, ...], bounds: tuple[tuple[int, int, int, int], ...]
) -> tuple[slice, ...]:
    """Return the parts between bounds: an axis, a start, a stop and a step each."""
    cuts = [slice(None)] * len(shape)
    for axis, first, last, step in bounds:
        # A stop before the first element is written as one that is far below.
        size = shape[axis]
        cuts[axis] = slice(max(first, -size), last if last >= -size else None, step)
        if step > 0 and last < -size:
            cuts[axis] = slice(0, 0)
    return tuple(cuts)


@register
class PadBy(HostOp):
    """The tensor with as many elements around it as data says."""

    name = "gv.pad_by"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        pads: TensorSpec,
        value: TensorSpec,
        *,
        axes: tuple[int, ...],
        sizes: tuple[Dim, ...],
        mode: str = "constant",
    ) -> Sequence[TensorSpec]:
        """Return the shape with those axes replaced by the sizes."""
        expect_same(x, value)
        if count_of(pads) != 2 * len(axes) or len(sizes) != len(axes) != len(set(axes)):
            raise TypeError(f"pads {pads} for axes {[*axes]} and {len(sizes)} sizes")
        return (resized(x, axes, sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, pads: Array, value: Array, *, axes: Any, sizes: Any = (), mode: str
    ) -> Sequence[Array]:
        """Pad, and put the value where nothing was."""
        return padded(x, pairs(x.ndim, tuple(axes), tuple(pads.tolist())), value, mode)


@lru_cache(maxsize=256)
def pairs(rank: int, axes: tuple[int, ...], counts: tuple[int, ...]) -> Pairs:
    """Return how many elements come before and behind each axis."""
    rows = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        rows[axis] = counts[place], counts[place + len(axes)]
    return tuple(rows)


def padded(x: Array, rows: Pairs, value: Array, mode: str) -> Sequence[Array]:
    """Pad by the rule of `gv.pad`; what is taken away does not come again from the other side."""
    ends = [*zip(x.shape, rows, strict=True)]
    for n, (low, high) in ends:
        taken = min(low, 0) + min(high, 0) if mode == "wrap" else low + high
        if taken < -n:
            raise ValueError(f"pads {low} and {high} take away more than {n} elements")
    if mode == "wrap" and any(low < 0 or high < 0 for low, high in rows):
        x = x[tuple(slice(max(-low, 0), n + min(high, 0)) for n, (low, high) in ends)]
        rows = tuple((max(low, 0), max(high, 0)) for low, high in rows)
    number: Any = value.reshape(())
    return Pad.evaluate(x, pads=rows, mode=mode, value=number)


def number_of(x: Array) -> Any:
    """Return the one element of an array as a number of Python's."""
    return x.item() if x.dtype.kind in "iuf" else x.astype(object).item()


@register
class RangeOf(HostOp):
    """start, start + delta, ... before the limit."""

    name = "gv.range_of"

    @classmethod
    def infer(
        cls, start: TensorSpec, limit: TensorSpec, delta: TensorSpec, *, sizes: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return a vector."""
        expect(start, REAL)
        expect_same(start, limit, delta)
        if not all(prod(x.shape) == 1 for x in (start, limit, delta) if x.is_static and x.shape):
            raise TypeError(f"start {start}, limit {limit}, delta {delta}, expected numbers")
        return (TensorSpec(start.dtype, (one_of(sizes),)),)

    @classmethod
    def evaluate(cls, start: Array, limit: Array, delta: Array, *, sizes: Any) -> Sequence[Array]:
        """Count."""
        first, last, step = map(number_of, (start, limit, delta))
        if step == 0:
            raise ValueError("delta is 0, expected another number")
        exact = start.dtype.kind in "iu"
        count = -(-(last - first) // step) if exact else int(np.ceil((last - first) / step))
        places = np.arange(max(count, 0)).astype(start.dtype, copy=False)
        if step != 1:
            places = places * delta.reshape(())
        made = places + start.reshape(())
        return (made.astype(start.dtype, copy=False),)


@register
class ResizeBy(HostOp):
    """The image resized along some axes by factors that are data; see `gv.resize`."""

    name = "gv.resize_by"

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        scales: TensorSpec,
        *,
        axes: tuple[int, ...],
        sizes: tuple[Dim, ...],
        mode: str = "nearest",
        coordinate: str = "half_pixel",
        nearest: str = "round_prefer_floor",
        cubic: float = -0.75,
        exclude_outside: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape with those axes replaced by the sizes."""
        if len(sizes) != len(axes) or scales.shape != (len(axes),):
            raise TypeError(f"scales {scales} and {len(sizes)} sizes for axes {[*axes]}")
        return (resized(x, axes, sizes),)

    @classmethod
    def evaluate(
        cls, x: Array, scales: Array, *, axes: Any, sizes: Any = (), **rules: Any
    ) -> Sequence[Array]:
        """Resize by the factors."""
        resize = REGISTRY["gv.resize"]
        return resize.evaluate(x, **stretched(x.shape, scales, axes), **rules)


def stretched(
    shape: Sequence[int], scales: Array, axes: Sequence[int]
) -> dict[str, tuple[float, ...]]:
    """Return the shape and the factors of an image that is resized, as `gv.resize` has them.

    Raise `ValueError` where a factor is none.
    """
    factors = [1.0] * len(shape)
    for axis, factor in zip(axes, scales.tolist(), strict=True):
        factors[axis] = factor
        if not 0 < factor < inf:
            raise ValueError(f"scale {factor}, expected a number above 0")
    found = tuple(times(d, factor) for d, factor in zip(shape, factors, strict=True))
    return {"shape": found, "scales": tuple(factors)}

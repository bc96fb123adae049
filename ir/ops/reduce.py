"""Reductions: many elements along some axes become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod
from typing import Any, ClassVar

import numpy as np

from ..demands import expect_elements
from ..facts import KernelForm
from ..families import BOOL, FLOAT, FLOATS, INTEGERS, NUMBER, REAL, AxisPlaces, EmitMath, expect
from ..iteration import Affine, Iteration, dim
from ..op import REGISTRY, Array, Call, Op, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dims import Dim, product
from ..types.dtypes import DType, bool_, c64, i64, of_numpy
from ..types.numerics import complex_multiply, round_to, widened
from ..types.shapes import normalize_axes, normalize_axis
from ..types.tensor import TensorSpec


def reduction_samples(*dtypes: DType, low: float = -2.0, high: float = 2.0) -> tuple[Sample, ...]:
    """Return samples over trailing, leading, inner, all and no axes, and of one element."""
    first, *_ = dtypes
    uses: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
        ((3, 18), {"axes": (1,)}),
        ((3, 4, 5), {"axes": (0, -2), "keepdims": True}),
        ((2, 3, 4), {"axes": (1,)}),
        ((4, 3), {"axes": (0, 1)}),
        ((4, 3), {"axes": ()}),
        ((), {"axes": ()}),
        ((0, 3), {"axes": (1,)}),
    )
    return tuple(
        Sample((shape,), attributes, dtypes if i < 2 else (first,), low=low, high=high)
        for i, (shape, attributes) in enumerate(uses)
    )


def kept_shape(shape: Sequence[Dim], axes: Sequence[int], *, keepdims: bool) -> tuple[Dim, ...]:
    """Return what is left of a shape when axes (from the front) are reduced."""
    left = enumerate(shape)
    if keepdims:
        return tuple(1 if i in axes else d for i, d in left)
    return tuple(d for i, d in left if i not in axes)


def leaves_few(x: TensorSpec, attributes: Mapping[str, Any]) -> bool:
    """Say whether a reduction leaves a last axis of few elements: it goes by how many they are."""
    axes, last = attributes.get("axes"), x.dims[-1] if x.rank else 0
    if not isinstance(axes, tuple) or not axes or not isinstance(last, int):
        return False
    return last < FEW and not {x.rank - 1, -1}.intersection(axes)


def is_along_rows(x: TensorSpec, attributes: Mapping[str, Any]) -> bool:
    """Say whether the last axes are those along which elements are put together."""
    axes = attributes.get("axes")
    if not isinstance(axes, tuple) or not axes:
        return False
    found = normalize_axes(axes, x.rank)
    return sorted(found) == [*range(x.rank - len(found), x.rank)]


FEW = 16
"""The elements of a vector, or about so many."""


def reduced(function: Any, x: Array, axes: tuple[int, ...], **options: Any) -> Array:
    """Return an array whose elements along axes were put together by a function of numpy's."""
    return np.asarray(function.reduce(x, axes, **options))


class Reduction(Op):
    """A combination of the elements along some axes; `axes=()` reduces nothing."""

    COMPILED_ALONE: ClassVar = True

    KINDS: ClassVar[str] = REAL
    HAS_IDENTITY: ClassVar[bool] = True
    """Whether there is a result for no elements."""

    @classmethod
    def infer(
        cls, x: TensorSpec, *, axes: tuple[int, ...], keepdims: bool = False
    ) -> Sequence[TensorSpec]:
        """Return the shape without the axes, or with 1 in their places."""
        expect(x, cls.KINDS)
        found = normalize_axes(axes, x.rank)
        empty = [axis for axis in found if x.dims[axis] == 0]
        if empty and not cls.HAS_IDENTITY:
            raise TypeError(f"axis {empty[0]} is empty, expected at least one element")
        return (x.with_shape(kept_shape(x.dims, found, keepdims=keepdims)),)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Return the reduction of an array of f32 or wider elements."""
        raise NotImplementedError(f"{cls.name} does not combine arrays")

    @classmethod
    def evaluate(cls, x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Sequence[Array]:
        """Combine; floats in a wider type. Over no axes each element stays, also a minus zero."""
        dtype = of_numpy(x.dtype)
        if not axes:
            return (x,)
        wide = x.astype(np.float64, order="C") if dtype.is_float else np.asarray(x, order="C")
        made = np.asarray(cls.combine(wide, normalize_axes(axes, x.ndim), keepdims=keepdims))
        return (round_to(made, dtype) if dtype.is_float else made,)


def blocks_along(x: Array, axes: Sequence[int]) -> Array:
    """Return an array with one axis in place of those that are reduced, and one at each side.

    It is a copy where others lie between them.
    """
    first, last = min(axes), max(axes)
    if last - first + 1 != len(axes):
        others = [axis for axis in range(x.ndim) if axis not in axes]
        x = x.transpose(*others, *axes)
        first, last = len(others), x.ndim - 1
    sizes = [prod(part) for part in (x.shape[:first], x.shape[first : last + 1])]
    return np.ascontiguousarray(x).reshape(*sizes, prod(x.shape[last + 1 :]))


def complex_product(blocks: Array) -> Array:
    """Return products along the middle one of three axes: those of both halves are multiplied.

    A number in the middle that is left waits for the next time.
    """
    count = blocks.shape[1]
    if not count:
        return np.ones((blocks.shape[0], blocks.shape[2]), blocks.dtype)
    while count > 1:
        half, kept = count // 2, count - count // 2
        made = complex_multiply(blocks[:, :half], blocks[:, kept:])
        blocks = np.concatenate([made, blocks[:, half:kept]], 1)
        count = kept
    return blocks[:, 0]


class Fold(Reduction):
    """A reduction that puts the elements together one by one with a combiner."""

    COMBINER: ClassVar[str]
    """The combiner of the iteration."""
    KERNEL: ClassVar = KernelForm("reduce", rows="row")

    @classmethod
    def iteration(cls, x: TensorSpec, *, axes: tuple[int, ...], keepdims: bool) -> Iteration:
        """Return the loops over the kept axes and, inside, over the reduced ones."""
        found = normalize_axes(axes, x.rank)
        kept = [axis for axis in range(x.rank) if axis not in found]
        place = {axis: dim(number) for number, axis in enumerate((*kept, *found))}
        written = range(x.rank) if keepdims else kept
        return Iteration(
            parallel=tuple(x.dims[axis] for axis in kept),
            reduce=tuple(x.dims[axis] for axis in found),
            reads=(tuple(place[axis] for axis in range(x.rank)),),
            write=tuple(place[axis] if axis in kept else Affine(()) for axis in written),
            combiner=cls.COMBINER,
            body=lambda math, element: element,
        )


def broadcast_back(call: Call, value: Any) -> Term:
    """Return a value of the result's shape, with 1 in place of the reduced axes, as a term."""
    (x,) = call.specs
    axes = normalize_axes(call.attributes["axes"], x.rank)
    if axes and not call.attributes["keepdims"]:
        shape = kept_shape(x.dims, axes, keepdims=True)
        value = call.emit(REGISTRY["gv.reshape"], value, shape=shape)
    return Term(EmitMath(call.emit), value)


def count(call: Call, dtype: DType) -> Term:
    """Return how many elements become one, as a number of this type."""
    (x,) = call.specs
    size = product([x.dims[axis] for axis in normalize_axes(call.attributes["axes"], x.rank)])
    math = EmitMath(call.emit)
    if isinstance(size, int):
        return Term(math, math.constant(size, dtype))
    extent = call.emit(REGISTRY["gv.extent"], values=(size,))
    return Term(math, call.emit(REGISTRY["gv.reshape"], extent, shape=())).cast(dtype)


@register
class Sum(Fold):
    """The sum of the elements; integers wrap."""

    name = "gv.sum"
    PARTWISE: ClassVar = True
    UNSIGNED: ClassVar = True
    KINDS: ClassVar = NUMBER
    COMBINER: ClassVar = "add"
    SAMPLES: ClassVar = reduction_samples(*FLOATS, *INTEGERS, c64)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Add pairwise."""
        return reduced(np.add, x, axes, keepdims=keepdims, dtype=x.dtype)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element the gradient of its sum."""
        grad = broadcast_back(call, grads[0]).value
        return (call.emit(REGISTRY["gv.broadcast_to"], grad, shape=call.specs[0].dims),)


@register
class Prod(Fold):
    """The product of the elements; integers wrap."""

    name = "gv.prod"
    KINDS: ClassVar = NUMBER
    COMBINER: ClassVar = "mul"
    SAMPLES: ClassVar = reduction_samples(*FLOATS, *INTEGERS)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Multiply; complex numbers half by half, in the order of compiled code."""
        if x.dtype.kind != "c":
            return reduced(np.multiply, x, axes, keepdims=keepdims, dtype=x.dtype)
        made = complex_product(blocks_along(x, axes))
        return made.reshape(kept_shape(x.shape, axes, keepdims=keepdims))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element the gradient times the product of all others, axis by axis."""
        grad, axes = broadcast_back(call, grads[0]), call.attributes["axes"]
        partial = [call.operands[0]]
        for axis in axes[:-1]:
            partial.append(call.emit(Prod, partial[-1], axes=(axis,), keepdims=True))
        scan = REGISTRY["gv.cumprod"]
        for axis, x in zip(reversed(axes), reversed(partial), strict=False):
            before = call.emit(scan, x, axis=axis, exclusive=True)
            after = call.emit(scan, x, axis=axis, exclusive=True, reverse=True)
            grad = grad * Term(grad.math, before) * Term(grad.math, after)
        return (grad.value,)


class Extreme(Fold):
    """The largest or smallest element; NaN if one is NaN."""

    EXACT: ClassVar = True
    HAS_IDENTITY: ClassVar = False
    SAMPLES: ClassVar = reduction_samples(*FLOATS, *INTEGERS)

    @classmethod
    def infer(
        cls, x: TensorSpec, *, axes: tuple[int, ...], keepdims: bool = False
    ) -> Sequence[TensorSpec]:
        """Return the shape without the axes, which must not be empty."""
        return super().infer(x, axes=axes, keepdims=keepdims)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Share the gradient evenly between the elements that equal the result."""
        grad, y = broadcast_back(call, grads[0]), broadcast_back(call, call.results[0])
        chosen = Term(y.math, call.operands[0]).equals(y).cast(y.dtype)
        axes = call.attributes["axes"]
        shares = call.emit(Sum, chosen.value, axes=axes, keepdims=True)
        return ((chosen * (grad / Term(y.math, shares))).value,)


@register
class Max(Extreme):
    """The largest element; NaN if one is NaN."""

    name = "gv.max"
    COMBINER: ClassVar = "max"

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Take the largest; of no elements, the lowest number."""
        lowest = of_numpy(x.dtype).minimum
        return reduced(np.maximum, x, axes, keepdims=keepdims, initial=lowest)


@register
class Min(Extreme):
    """The smallest element; NaN if one is NaN."""

    name = "gv.min"
    COMBINER: ClassVar = "min"

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Take the smallest; of no elements, the highest number."""
        highest = of_numpy(x.dtype).maximum
        return reduced(np.minimum, x, axes, keepdims=keepdims, initial=highest)


@register
class AnyTrue(Fold):
    """Whether one of the elements holds."""

    name = "gv.any"
    KINDS: ClassVar = BOOL
    COMBINER: ClassVar = "or"
    SAMPLES: ClassVar = reduction_samples(bool_)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Look for one that holds."""
        return reduced(np.logical_or, x, axes, keepdims=keepdims)


@register
class AllTrue(Fold):
    """Whether all of the elements hold."""

    name = "gv.all"
    KINDS: ClassVar = BOOL
    COMBINER: ClassVar = "and"
    SAMPLES: ClassVar = reduction_samples(bool_)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Look for one that does not hold."""
        return reduced(np.logical_and, x, axes, keepdims=keepdims)


@register
class Mean(Reduction):
    """The sum of the elements over their number; NaN of none."""

    name = "gv.mean"
    UNSIGNED: ClassVar = True
    KINDS: ClassVar = FLOAT
    SAMPLES: ClassVar = reduction_samples(*FLOATS)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Add, then divide."""
        number = np.float64(prod([x.shape[axis] for axis in axes]))
        return np.asarray(reduced(np.add, x, axes, keepdims=keepdims) / number)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Divide the sum, in at least f32."""
        dtype = call.specs[0].dtype
        x = Term(EmitMath(call.emit), call.operands[0]).cast(widened(dtype))
        total = Term(x.math, call.emit(Sum, x.value, **call.attributes))
        return (total / count(call, x.dtype)).cast(dtype).value

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element its part of the gradient."""
        grad = broadcast_back(call, grads[0])
        part = (grad / count(call, grad.dtype)).value
        return (call.emit(REGISTRY["gv.broadcast_to"], part, shape=call.specs[0].dims),)


@register
class LogSumExp(Reduction):
    """log(sum(exp(x))), without overflow."""

    name = "gv.logsumexp"
    KINDS: ClassVar = FLOAT
    HAS_IDENTITY: ClassVar = False
    SAMPLES: ClassVar = reduction_samples(*FLOATS, low=-9.0, high=9.0)

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], *, keepdims: bool) -> Array:
        """Take the largest element out of the sum."""
        largest = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
        base = np.where(np.isfinite(largest), largest, 0.0)
        total = np.log(np.sum(np.exp(x - base), axis=axes, keepdims=True)) + base
        return np.asarray(total if keepdims else np.squeeze(total, axes))

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take the largest element out of the sum, where it is finite."""
        dtype, axes = call.specs[0].dtype, call.attributes["axes"]
        x = Term(EmitMath(call.emit), call.operands[0]).cast(widened(dtype))
        largest = Term(x.math, call.emit(Max, x.value, axes=axes, keepdims=True))
        base = largest.emitted("isfinite").where(largest, 0.0)
        parts = (x - base).apply("exp").value
        total = Term(x.math, call.emit(Sum, parts, axes=axes, keepdims=True))
        result = (total.apply("log") + base).cast(dtype).value
        if call.attributes["keepdims"] or not axes:
            return result
        return call.emit(REGISTRY["gv.reshape"], result, shape=call.result_specs[0].dims)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element its share of the sum."""
        grad, y = broadcast_back(call, grads[0]), broadcast_back(call, call.results[0])
        x = Term(y.math, call.operands[0])
        return ((grad * (x - y).apply("exp")).value,)


class ArgExtreme(AxisPlaces):
    """The place of the largest or smallest element along an axis.

    A NaN is better than any number, or, with `passes_nan`, than none: of nothing but NaN, and of
    infinities that no other element is worse than, the first place is found.
    """

    EXACT: ClassVar = True
    COMPILED_ALONE: ClassVar = True
    KERNEL: ClassVar = KernelForm("argreduce")
    SAMPLES: ClassVar = (
        Sample(((4, 19),), {"axis": 1}, (*FLOATS, *INTEGERS), low=-9, high=9),
        Sample(((2, 9, 3),), {"axis": -2, "keepdims": True, "last": True}, (*FLOATS, *INTEGERS)),
        Sample(((9,),), {"axis": 0}),
        Sample(((7, 5),), {"axis": 1, "passes_nan": True}, (*FLOATS, *INTEGERS)),
        Sample(((0, 3),), {"axis": 1}),
    )
    EXTREME: ClassVar[type[Extreme]]
    WORST: ClassVar[float]
    """What no element is worse than."""

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        axis: int,
        keepdims: bool = False,
        last: bool = False,
        passes_nan: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape without the axis, or with 1 in its place, of i64."""
        expect(x, REAL)
        if not x.rank:
            raise TypeError(f"axis {axis} is out of range for rank 0")
        found = normalize_axis(axis, x.rank)
        if x.dims[found] == 0:
            raise TypeError(f"axis {axis} is empty, expected at least one element")
        made = TensorSpec(i64, kept_shape(x.dims, (found,), keepdims=keepdims))
        expect_elements(found, x.dims[found], made.size, "for {} places")
        return (made,)

    @classmethod
    def extent(cls, operands: Sequence[TensorSpec], **attributes: Any) -> Dim:
        """Return the extent of the axis that is searched."""
        return operands[0].dims[attributes["axis"]]  # type: ignore[no-any-return]

    @classmethod
    def find(cls, x: Array, axis: int) -> Array:
        """Return the place of the first extreme element."""
        raise NotImplementedError(f"{cls.name} does not search arrays")

    @classmethod
    def evaluate(
        cls, x: Array, *, axis: int, keepdims: bool, last: bool, passes_nan: bool = False
    ) -> Sequence[Array]:
        """Search, from the other end for the last place."""
        is_float = of_numpy(x.dtype).is_float
        wide = x.astype(np.float64) if is_float else x
        if passes_nan and is_float and (missing := np.isnan(wide)).any():
            wide[missing] = cls.WORST
        found = cls.find(np.flip(wide, axis) if last else wide, axis)
        found = x.shape[axis] - 1 - found if last else found
        kept = np.expand_dims(found, axis) if keepdims else np.asarray(found)
        return (kept.astype(np.int64),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take the least or greatest place of an element that equals the extreme or is NaN."""
        (x,), axis, last = call.specs, call.attributes["axis"], call.attributes["last"]
        math = EmitMath(call.emit)
        element = Term(math, call.operands[0])
        passes_nan = call.attributes["passes_nan"]
        if x.dtype.is_float and passes_nan:
            element = element.apply("isnan").where(cls.WORST, element)
        extreme = call.emit(cls.EXTREME, element.value, axes=(axis,), keepdims=True)
        found = element.equals(Term(math, extreme))
        if x.dtype.is_float and not passes_nan:
            found = found | element.apply("isnan")
        axis = normalize_axis(axis, x.rank)
        shape = tuple(d if i == axis else 1 for i, d in enumerate(x.dims))
        place = Term(math, call.emit(REGISTRY["gv.iota"], shape=shape, axis=axis, dtype=i64))
        places = found.where(place, -1 if last else i64.maximum).value
        pick = Max if last else Min
        return call.emit(pick, places, axes=(axis,), keepdims=call.attributes["keepdims"])

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return none: a place does not change smoothly."""
        return (None,)


@register
class ArgMax(ArgExtreme):
    """The place of the largest element along an axis."""

    name = "gv.argmax"
    EXTREME: ClassVar = Max
    WORST: ClassVar = -inf

    @classmethod
    def find(cls, x: Array, axis: int) -> Array:
        """Search for the largest."""
        return np.asarray(np.argmax(x, axis))


@register
class ArgMin(ArgExtreme):
    """The place of the smallest element along an axis."""

    name = "gv.argmin"
    EXTREME: ClassVar = Min
    WORST: ClassVar = inf

    @classmethod
    def find(cls, x: Array, axis: int) -> Array:
        """Search for the smallest."""
        return np.asarray(np.argmin(x, axis))

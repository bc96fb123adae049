"""Resizing images by interpolation, one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..compose.functions import repeat, sum_along
from ..compose.maker import Emit, Maker
from ..demands import expect_elements
from ..families import FLOAT, REAL, EmitMath, expect, spec_of_value
from ..gradient.tape import Composite
from ..op import Array, Call, register
from ..samples import Sample
from ..scalar_math import NumpyMath, Term
from ..types.dims import Dim
from ..types.dtypes import DType, bf16, f16, f32, f64, i32, i64, u8
from ..types.numerics import round_to, widened
from ..types.tensor import TensorSpec, spec_of_array
from .layout import replaced

MODES = ("nearest", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
)
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
HALF_WAY = 1e-6
"""How far from half way between two elements a place still is half way, as in onnxruntime.

By a scale of 32 bits, such as 1.3, none of those places comes out exactly.
"""

Number: TypeAlias = Term | float
"""An extent: a number, or a term where it is a symbol."""


def times(extent: int, factor: float) -> int:
    """Return an extent times a factor, rounded down; the product is of 32 bits, as ONNX has it.

    In more bits, 3 times 5/3 would be less than 5.
    """
    return int(np.floor(np.float32(extent) * np.float32(factor)))


@dataclass(frozen=True)
class Stretch:
    """The extents of an axis before and after, and the scale if one is given."""

    extent: Number
    result: Number
    scale: float | None

    def back(self, place: Term) -> Term:
        """Scale a place of the result back: exact where it is an integer, if there is no scale.

        By a scale the quotient is of 32 bits, as ONNX has it: in more, what is half way between
        two elements would be beyond it, as 16.5 / 3.3.
        """
        if self.scale is not None:
            return _short(place / self.scale)
        return place * self.extent / _at_least_one(self.result)

    def source(self, place: Term, how: str) -> Term:
        """Return where in the axis each place of the result lies."""
        if how == "asymmetric":
            return self.back(place)
        if how == "align_corners":
            last = self.result if self.scale is None else self.extent * self.scale
            return place * (self.extent - 1) / _at_least_one(last - 1)
        if how == "half_pixel_symmetric" and self.scale is not None:
            return _short(self._middle(place) + (place + 0.5) / self.scale - 0.5)
        found = self.back(place + 0.5) - 0.5
        if how == "pytorch_half_pixel":
            return self._zero_if_alone(found)
        return found

    def _middle(self, place: Term) -> Term:
        """Return how far the middle of the result is moved to lie on that of the axis.

        Each step is of 32 bits, as onnxruntime has it: places that are half way between two
        elements in exact numbers, as the middle itself, then lie where it has them.
        """
        assert self.scale is not None, "only a scale leaves a part of an element over"
        extent, result = (
            n if isinstance(n, Term) else place.like(n) for n in (self.extent, self.result)
        )
        share = _short(result / _short(extent * self.scale))
        return _short(extent * 0.5 * _short(1 - share))

    def _zero_if_alone(self, found: Term) -> Term:
        if isinstance(self.result, Term):
            return (self.result > 1).where(found, found * 0.0)
        return found if self.result > 1 else found * 0.0


def _short(number: Term) -> Term:
    """Round to what 32 bits have."""
    return number.cast(f32).cast(f64)


def _at_least_one(number: Number) -> Number:
    return number.apply("maximum", 1.0) if isinstance(number, Term) else max(number, 1.0)


def _clamped(index: Term, extent: Number) -> Term:
    return index.apply("minimum", extent - 1).apply("maximum", 0.0)


def weighted_taps(
    at: Term, extent: Number, attributes: dict[str, Any]
) -> list[tuple[Term, Term | None]]:
    """Return the elements, as index and weight, that each place is made of."""
    match attributes["mode"]:
        case "nearest":
            return [(_clamped(_nearest(at, attributes["nearest"]), extent), None)]
        case "linear":
            low = at.apply("floor")
            share = at - low
            taps = [(low, 1 - share), (low + 1, share)]
        case _:
            low = at.apply("floor")
            share = at - low
            weights = _cubic(share, attributes["cubic"])
            taps = [(low + (i - 1), w) for i, w in enumerate(weights)]
    if attributes["exclude_outside"]:
        inside = [((i < 0) | (i > extent - 1)).where(0.0, w) for i, w in taps]
        total = sum(inside[1:], inside[0])
        taps = [(i, w / total) for (i, _), w in zip(taps, inside, strict=True)]
    return [(_clamped(i, extent), w) for i, w in taps]


def _nearest(at: Term, how: str) -> Term:
    match how:
        case "floor" | "ceil":
            return at.apply(how)
        case "round_prefer_ceil":
            return (at + (0.5 + HALF_WAY)).apply("floor")
        case _:
            return (at - (0.5 + HALF_WAY)).apply("ceil")


def _cubic(share: Term, a: float) -> list[Term]:
    """Return the weights of the two elements before and the two behind a place."""

    def far(x: Term) -> Term:
        return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a

    def near(x: Term) -> Term:
        return (x * (a + 2) - (a + 3)) * x * x + 1

    return [far(share + 1), near(share), near(1 - share), far(2 - share)]


_NUMPY = NumpyMath()


@register
class Resize(Composite):
    """The image with other extents, interpolated; beyond the edge its last elements repeat.

    `coordinate` says where a place of the result lies in the image, `nearest` how that is
    rounded, `cubic` is the coefficient of cubic weights. `scales`, if given, take the place of
    result extent / extent in that.
    """

    name = "gv.resize"
    EXACT: ClassVar = True
    COMPILED_SIZED: ClassVar = True
    STEPS_BACK: ClassVar = True

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        shape: tuple[Dim, ...],
        mode: str = "nearest",
        coordinate: str = "half_pixel",
        nearest: str = "round_prefer_floor",
        scales: tuple[float, ...] = (),
        cubic: float = -0.75,
        exclude_outside: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape."""
        expect(x, REAL if mode == "nearest" else FLOAT)
        for name, value, known in (
            ("mode", mode, MODES),
            ("coordinate", coordinate, COORDINATES),
            ("nearest", nearest, NEAREST),
        ):
            if value not in known:
                raise TypeError(f"{name} {value!r}, expected one of {', '.join(known)}")
        if len(shape) != x.rank or len(scales) not in (0, x.rank):
            raise TypeError(f"{len(shape)} extents and {len(scales)} scales, expected {x.rank}")
        for axis, (before, after) in enumerate(zip(x.dims, shape, strict=True)):
            if before != after:
                expect_elements(axis, before, after, "to make {} of")
        if any(s <= 0 for s in scales):
            raise TypeError(f"scales {scales}, expected positive numbers")
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(cls, x: Array, **attributes: Any) -> Sequence[Array]:
        """Interpolate axis by axis."""
        dtype = spec_of_array(x).dtype
        wide = widened(dtype).numpy
        made = x.astype(wide, copy=False) if dtype.is_float else x
        for axis in _changed(x.shape, attributes):
            total: Any = 0
            for index, weight in _known_taps(x.shape[axis], axis, tuple(attributes.items())):
                part = np.take(made, index, axis)
                if weight is None:
                    total = part
                else:
                    factor = weight.astype(wide).reshape(-1, *(1,) * (x.ndim - 1 - axis))
                    part *= factor
                    total = np.add(total, part, out=part)
            made = total
        return (round_to(made, dtype) if dtype.is_float else np.array(made),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Gather the elements and add them up with their weights; whole factors repeat."""
        spec, make, attributes = call.specs[0], Maker(call.emit), call.attributes
        x, dtype = call.operands[0], widened(spec.dtype)
        repeats = _repeats(spec.dims, attributes)
        if repeats is not None:
            return repeat(call.emit, x, repeats)
        if attributes["mode"] != "nearest":
            x = make.to(x, dtype)
        for axis in _changed(spec.dims, attributes):
            x = _interpolated(call.emit, x, axis, spec.dims[axis], attributes)
        return make.to(x, spec.dtype)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element what the places get that are made of it, by their weights."""
        (spec, *_), make, attributes = call.specs, Maker(call.emit), call.attributes
        changed = _changed(spec.dims, attributes)
        extents = [(spec.dims[axis], attributes["shape"][axis]) for axis in changed]
        known = all(isinstance(n, int) for pair in extents for n in pair)
        if not known or attributes["mode"] == "nearest":
            return super().gradient(call, *grads)
        grad = make.to(grads[0], widened(spec.dtype))
        for axis, (extent, _) in reversed([*zip(changed, extents, strict=True)]):
            grad = _given_back(call.emit, grad, axis, extent, attributes)
        return (make.to(grad, spec.dtype),)


def _changed(dims: Sequence[Dim], attributes: dict[str, Any]) -> list[int]:
    """Return the axes along which there is something to do."""
    scales = attributes["scales"] or (1.0,) * len(dims)
    rows = zip(dims, attributes["shape"], scales, strict=True)
    return [axis for axis, (old, new, scale) in enumerate(rows) if old != new or scale != 1.0]


@lru_cache(maxsize=256)
def _known_taps(
    extent: int, axis: int, attributes: tuple[tuple[str, Any], ...]
) -> list[tuple[Array, Array | None]]:
    """Return indices and weights along an axis of known extents."""
    taps = _taps(None, extent, axis, dict(attributes))
    return [(index.cast(i64).value, None if w is None else w.value) for index, w in taps]


MOST_READERS = 8
"""Of how many places an element may be a part so that all of them are looked up for it."""


@lru_cache(maxsize=256)
def _readers(
    extent: int, axis: int, attributes: tuple[tuple[str, Any], ...]
) -> list[tuple[Array, Array]] | None:
    """Return, as index and weight, the places that each element is a part of; None: too many.

    Where an element is a part of less places, the index is behind the last one.
    """
    result = dict(attributes)["shape"][axis]
    found: list[dict[int, float]] = [{} for _ in range(extent)]
    for index, weight in _known_taps(extent, axis, attributes):
        shares = np.ones(result) if weight is None else weight
        for place, (at, share) in enumerate(zip(index.tolist(), shares.tolist(), strict=True)):
            found[at][place] = found[at].get(place, 0.0) + share
    most = max(map(len, found))
    if result < extent or most > MOST_READERS:
        return None
    rows = [[*sorted(each.items()), *[(result, 0.0)] * (most - len(each))] for each in found]
    made = np.array(rows).reshape(extent, most, 2)
    return [(made[:, i, 0].astype(np.int64), made[:, i, 1]) for i in range(most)]


def _given_back(emit: Emit, grad: Any, axis: int, extent: int, attributes: dict[str, Any]) -> Any:
    """Return the gradient of an image that was resized along one axis, of known extents."""
    make, math, spec = Maker(emit), EmitMath(emit), spec_of_value(grad)
    key = extent, axis, tuple(attributes.items())
    column = (-1, *(1,) * (spec.rank - 1 - axis))

    def weighted(part: Any, weight: Array) -> Term:
        factor = make.constant(value=weight.astype(spec.dtype.numpy).reshape(column))
        return Term(math, part) * Term(math, factor)

    readers = _readers(*key)
    if readers is None:
        taps = [(index, np.ones(1) if w is None else w) for index, w in _known_taps(*key)]
        parts = [
            Term(
                math, sum_along(emit, weighted(grad, w).value, make.constant(value=i), axis, extent)
            )
            for i, w in taps
        ]
        return sum(parts[1:], parts[0]).value
    if any((index == attributes["shape"][axis]).any() for index, _ in readers):
        grad = make.pad(grad, pads=tuple((0, int(i == axis)) for i in range(spec.rank)))
    parts = [weighted(make.gather(grad, make.constant(value=i), axis=axis), w) for i, w in readers]
    return sum(parts[1:], parts[0]).value


def _taps(
    emit: Emit | None, extent: Dim, axis: int, attributes: dict[str, Any]
) -> list[tuple[Term, Term | None]]:
    """Return indices and weights along an axis: arrays, or graph values if a symbol is in them."""
    result, scales = attributes["shape"][axis], attributes["scales"]
    place, before, after = _places(emit, extent, result)
    stretch = Stretch(before, after, scales[axis] if scales else None)
    at = stretch.source(place, attributes["coordinate"])
    return weighted_taps(at, before, attributes)


def _places(emit: Emit | None, extent: Dim, result: Dim) -> tuple[Term, Number, Number]:
    """Return 0, 1, 2, ... below the result's extent, and both extents, as numbers of f64."""
    if isinstance(extent, int) and isinstance(result, int):
        place = Term(_NUMPY, np.arange(result, dtype=np.float64))
        return place, float(extent), float(result)
    assert emit is not None, "arrays have no symbolic dimensions"
    make, math = Maker(emit), EmitMath(emit)
    place = Term(math, make.iota(shape=(result,), axis=0, dtype=f64))
    before, after = (
        float(d) if isinstance(d, int) else Term(math, make.extent_of(d, f64))
        for d in (extent, result)
    )
    return place, before, after


def _interpolated(emit: Emit, x: Any, axis: int, extent: Dim, attributes: dict[str, Any]) -> Any:
    """Return x resized along one axis."""
    make, spec, math = Maker(emit), spec_of_value(x), EmitMath(emit)
    column = replaced((1,) * spec.rank, axis, attributes["shape"][axis])[axis:]
    total: Term | None = None
    for index, weight in _taps(emit, extent, axis, attributes):
        part = Term(math, make.gather(x, _value(emit, index, i64), axis=axis))
        if weight is not None:
            factor = make.reshape(_value(emit, weight, spec.dtype), shape=column)
            part = part * Term(math, factor)
        total = part if total is None else total + part
    assert total is not None, "each place is made of at least one element"
    return total.value


def _value(emit: Emit, term: Term, dtype: DType) -> Any:
    """Return a term converted and, if it is an array, as a constant."""
    made = term.cast(dtype).value
    return Maker(emit).constant(value=made) if isinstance(term.math, NumpyMath) else made


def _repeats(dims: Sequence[Dim], attributes: dict[str, Any]) -> tuple[int, ...] | None:
    """Return how often each element is repeated along each axis, if that is all there is to do."""
    how = (attributes["coordinate"], attributes["nearest"])
    exact = how == ("asymmetric", "floor") or (
        how[0] == "half_pixel" and how[1].startswith("round")
    )
    scales = attributes["scales"]
    if attributes["mode"] != "nearest" or not exact:
        return None
    found = []
    for axis, (old, new) in enumerate(zip(dims, attributes["shape"], strict=True)):
        factor = new // old if old != 0 else 1
        if not isinstance(factor, int) or new != old * factor:
            return None
        if scales and scales[axis] != factor:
            return None
        found.append(factor)
    return tuple(found)


def _uses() -> list[tuple[tuple[int, ...], dict[str, Any]]]:
    up, down = (1, 2, 7, 8), (1, 2, 3, 2)
    uses: list[tuple[tuple[int, ...], dict[str, Any]]] = [
        ((1, 2, 3, 4), {"shape": (1, 2, 6, 12)}),
        ((1, 2, 4, 5), {"shape": up, "mode": "linear"}),
        ((1, 2, 4, 5), {"shape": down, "mode": "linear", "coordinate": "align_corners"}),
        ((1, 2, 4, 5), {"shape": up, "mode": "cubic"}),
        ((1, 2, 4, 5), {"shape": down, "mode": "cubic", "exclude_outside": True}),
        ((2, 5), {"shape": (2, 1), "mode": "linear", "coordinate": "pytorch_half_pixel"}),
        ((2, 5), {"shape": (2, 8), "mode": "linear", "coordinate": "half_pixel_symmetric",
                  "scales": (1.0, 1.7)}),
        ((3,), {"shape": (6,), "coordinate": "asymmetric", "nearest": "floor"}),
        ((0, 3), {"shape": (0, 5), "mode": "linear"}),
        ((2, 3), {"shape": (2, 3), "mode": "linear"}),
    ]  # fmt: skip
    uses += [
        ((2, 7), {"shape": (2, n), "nearest": how, "coordinate": where})
        for n, how, where in zip((5, 11, 9, 12), NEAREST, COORDINATES, strict=False)
    ]
    return uses


Resize.SAMPLES = tuple(
    Sample((shape,), attributes, ((f32, f16, bf16), (f32, u8, i32))["mode" not in attributes])
    for shape, attributes in _uses()
)

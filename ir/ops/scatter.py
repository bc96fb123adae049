"""Writing at indices that are data.

Indices are read as in `index`: from the end if negative, then clamped into the axis. Writes
happen in the row-major order of the updates, so that of equal indices the last one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compose.maker import Maker
from ..facts import KernelForm, Work
from ..families import EmitMath, expect_same
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dims import Dim
from ..types.dtypes import DType, bf16, f32, f64, i32, u8
from ..types.numerics import round_to, widen
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec, spec_of_array
from .index import (
    GatherElements,
    GatherNd,
    check_elements,
    check_not_empty,
    element_index,
    index_depth,
    indexed,
    vectors,
)
from .layout import MOVED

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}
"""How updates are put into elements, beside `none`: the element is replaced."""


def flat_places(shape: tuple[int, ...], at: tuple[Array, ...]) -> Array:
    """Return where in memory the elements of slices lie, which indices of leading axes name.

    numpy combines a vector at places in memory many times faster than slices at several indices.

    >>> flat_places((2, 3), (np.array([1, 0]),))
    array([3, 4, 5, 0, 1, 2])
    """
    lead, rest = shape[: len(at)], prod(shape[len(at) :])
    first, *others = at
    for indices, extent in zip(others, lead[1:], strict=True):
        first = first * extent + indices
    places: Array = (first.reshape(-1, 1) * rest + np.arange(rest)).reshape(-1)
    return places


class Scatter(Op):
    """A tensor with updates put in at indices; `reduction` says how.

    Where updates replace elements, an index that occurs twice makes the gradient arbitrary.
    """

    KERNEL: ClassVar = KernelForm("scatter")

    @classmethod
    def is_exact(cls, dtypes: Sequence[DType]) -> bool:
        """Say so but for floats of 16 bits: how often sums of them are rounded differs."""
        return not any(dtype.is_float and dtype.size == 2 for dtype in dtypes)

    @classmethod
    def check_updates(cls, x: TensorSpec, updates: TensorSpec, reduction: str) -> None:
        """Raise `TypeError` for updates of another type or an unknown reduction."""
        expect_same(x, updates)
        if reduction not in ("none", *REDUCTIONS):
            raise TypeError(f"reduction {reduction!r}, expected none, {', '.join(REDUCTIONS)}")
        kinds = "iufc" if reduction in ("add", "mul") else "iuf"
        if x.dtype.kind not in kinds and reduction != "none":
            raise TypeError(f"reduction {reduction!r} of {x.dtype}, expected numbers")

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Combine each update, unless it replaces."""
        combines = attributes["reduction"] != "none"
        return Work(flops=prod(operands[2].static_shape) if combines else 0)

    @classmethod
    def takes_parts(cls, count: int, attributes: Mapping[str, Any]) -> bool:
        """Say that both parts are put or added alike."""
        return attributes["reduction"] in ("none", "add")

    @classmethod
    def write(cls, x: Array, at: tuple[Array, ...], updates: Array, reduction: str) -> Array:
        """Return the tensor with updates written, in order."""
        if reduction == "none":
            result = np.array(x)
            result[at] = updates
            return result
        wide = np.array(widen(x), order="C")
        places, given = flat_places(x.shape, at), np.ascontiguousarray(widen(updates))
        REDUCTIONS[reduction](wide.reshape(-1), places, given.reshape(-1))
        dtype = spec_of_array(x).dtype
        return round_to(wide, dtype) if dtype.is_float else wide

    @classmethod
    def read(cls, call: Call, x: Any) -> Any:
        """Return the elements of x where updates are put."""
        raise NotImplementedError(f"{cls.name} does not read")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Read the updates' gradients where they were put; see `_extreme` for max and min."""
        (_, indices, updates), math = call.operands, EmitMath(call.emit)
        spec, grad = call.specs[2], Term(math, grads[0])

        def put(base: Any, values: Any, reduction: str) -> Any:
            changed = {**call.attributes, "reduction": reduction}
            return call.emit(call.op, base, indices, values, **changed)

        make = Maker(call.emit)
        match call.attributes["reduction"]:
            case "none":
                zeros = make.filled(0, spec.dtype, spec.dims)
                return (put(grads[0], zeros, "none"), None, cls.read(call, grads[0]))
            case "add":
                return (grads[0], None, cls.read(call, grads[0]))
            case "mul":
                ones = make.filled(1, spec.dtype, call.specs[0].dims)
                for_x = grad * Term(math, put(ones, updates, "mul"))
                return (for_x.value, None, cls._factors(call, put, grad).value)
            case _:
                return cls._extreme(call, put, grad)

    @classmethod
    def _factors(cls, call: Call, put: Callable[..., Any], grad: Term) -> Term:
        """Return the gradient of factors: what the others of the product are, also beside a 0."""
        x, _, updates = (Term(grad.math, v) for v in call.operands)
        make = Maker(call.emit)
        zero = updates.equals(0).cast(updates.dtype)
        count = put(make.filled(0, call.specs[2].dtype, call.specs[0].dims), zero.value, "add")
        others = Term(grad.math, cls.read(call, count)) - zero
        product = Term(grad.math, put(x.value, (updates + zero).value, "mul"))
        taken = Term(grad.math, cls.read(call, (grad * product).value)) / (updates + zero)
        return taken * others.equals(0).cast(updates.dtype)

    @classmethod
    def _extreme(cls, call: Call, put: Callable[..., Any], grad: Term) -> Sequence[Any]:
        """Share the gradient evenly between all that equal the largest (or smallest)."""
        y, x, updates = (
            Term(grad.math, v) for v in (call.results[0], call.operands[0], call.operands[2])
        )
        kept = x.equals(y).cast(y.dtype)
        won = updates.equals(Term(y.math, cls.read(call, y.value))).cast(y.dtype)
        share = grad / Term(y.math, put(kept.value, won.value, "add"))
        taken = Term(y.math, cls.read(call, share.value))
        return ((share * kept).value, None, (taken * won).value)


def _scattered(
    shapes: tuple[tuple[int, ...], ...], attributes: dict[str, Any], **more: Any
) -> tuple[Sample, ...]:
    """Return a sample for each reduction."""
    plain = indexed(shapes, 1, attributes, MOVED, differentiable=False, **more)
    return (
        plain,
        *(
            indexed(shapes, 1, {**attributes, "reduction": how}, (f32, f64, bf16, i32, u8), **more)
            for how in REDUCTIONS
        ),
    )


@register
class ScatterElements(Scatter):
    """The tensor with updates at indices along an axis, each at its own place along the others."""

    name = "gv.scatter_elements"
    SAMPLES: ClassVar = (
        *_scattered(((4, 3), (6, 3), (6, 3)), {"axis": 0}),
        indexed(((3, 4, 2), (2, 6, 1), (2, 6, 1)), 1, {"axis": 1, "reduction": "add"}),
        indexed(((5, 2), (1, 2), (1, 2)), 1, {"axis": 0}, index_dtype=i32),
        indexed(((4, 2), (0, 2), (0, 2)), 1, {"axis": 0}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        indices: TensorSpec,
        updates: TensorSpec,
        *,
        axis: int,
        reduction: str = "none",
    ) -> Sequence[TensorSpec]:
        """Return the tensor's spec; updates have the indices' shape."""
        cls.check_updates(x, updates, reduction)
        check_elements(x, indices, axis)
        text = f"updates {updates}, expected the shape of the indices {indices}"
        _check_sizes(updates, indices.dims, text)
        return (x,)

    @classmethod
    def evaluate(
        cls, x: Array, indices: Array, updates: Array, *, axis: int, reduction: str
    ) -> Sequence[Array]:
        """Write."""
        return (cls.write(x, element_index(x.shape, indices, axis), updates, reduction),)

    @classmethod
    def read(cls, call: Call, x: Any) -> Any:
        """Return the elements of x where updates are put."""
        return call.emit(GatherElements, x, call.operands[1], axis=call.attributes["axis"])


def _check_sizes(updates: TensorSpec, expected: Sequence[Dim], text: str) -> None:
    """Raise `TypeError` with a text where updates have other sizes."""
    if updates.rank != len(expected):
        raise TypeError(text)
    for found, wanted in zip(updates.dims, expected, strict=True):
        if found != wanted:
            raise UnequalError(text, wanted, found)


@register
class ScatterNd(Scatter):
    """The tensor with updates at index vectors, which are the indices' last axis."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.scatter_nd"
    ONNX: ClassVar = "ScatterND"
    SAMPLES: ClassVar = (
        *_scattered(((4, 3), (6, 1), (6, 3)), {}, span=(-4, 3)),
        indexed(((4, 3), (2, 3, 2), (2, 3)), 1, {"reduction": "add"}, span=(-3, 2)),
        indexed(((4, 2, 3), (1, 2), (1, 3)), 1, {}, span=(-2, 1)),
        indexed(((4, 2), (0, 1), (0, 2)), 1, {}),
        indexed(((), (3, 0), (3,)), 1, {"reduction": "add"}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        indices: TensorSpec,
        updates: TensorSpec,
        *,
        reduction: str = "none",
    ) -> Sequence[TensorSpec]:
        """Return the tensor's spec; updates have the shape that `gv.gather_nd` would give."""
        cls.check_updates(x, updates, reduction)
        depth = index_depth(x, indices)
        for axis in range(depth):
            check_not_empty(axis, x.dims[axis], indices)
        expected = (*indices.dims[:-1], *x.dims[depth:])
        text = f"updates {updates}, expected {x.with_shape(expected)}"
        _check_sizes(updates, expected, text)
        return (x,)

    @classmethod
    def evaluate(
        cls, x: Array, indices: Array, updates: Array, *, reduction: str
    ) -> Sequence[Array]:
        """Write."""
        if indices.shape[-1]:
            return (cls.write(x, vectors(x.shape, indices), updates, reduction),)
        at = (np.zeros(indices.shape[:-1], np.int64),)
        return (np.asarray(cls.write(x[np.newaxis], at, updates, reduction)[0]),)

    @classmethod
    def read(cls, call: Call, x: Any) -> Any:
        """Return the elements of x where updates are put."""
        return call.emit(GatherNd, x, call.operands[1])

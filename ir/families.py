"""What the families of operations share: checks of element types, and element-wise rules.

A member of `Elementwise` states a `formula` (how one element is computed) and, if it has
derivatives, `backward`; both are written with `Term`s. The rules of `Op` follow from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import SSAValue

from .op import REGISTRY, Array, Call, Op
from .samples import Sample
from .scalar_math import Formula, NumpyMath, ScalarMath, Term
from .types.dims import Dim
from .types.dtypes import DType, bf16, f16, f32, f64, i8, i16, i32, i64, of_numpy, u8, u16, u32, u64
from .types.numerics import in_wide, round_to
from .types.shapes import broadcast
from .types.tensor import TensorSpec, spec_of, spec_of_array

FLOATS = (f32, f64, f16, bf16)
INTEGERS = (i32, i64, i8, i16, u8, u16, u32, u64)

FLOAT, INTEGER, BOOL, ANY = "f", "iu", "b", "biufcns"
REAL, NUMBER, INEXACT = INTEGER + FLOAT, INTEGER + FLOAT + "c", FLOAT + "c"

_KINDS = {
    FLOAT: "a float",
    INTEGER: "an integer",
    BOOL: "bool",
    REAL: "an integer or a float",
    NUMBER: "a number",
    INEXACT: "a float or a complex number",
    "c": "complex",
}


class ElementTypeError(TypeError):
    """An operation is not for elements of a type."""


class AxisPlaces(Op):
    """An operation whose results of integers are places along an axis: 0 to its extent less 1."""

    @classmethod
    def extent(cls, operands: Sequence[TensorSpec], **attributes: Any) -> Dim:
        """Return how many places there are."""
        raise NotImplementedError(f"{cls.name} does not say which axis its results are places of")


def expect(spec: TensorSpec, kinds: str) -> None:
    """Raise `TypeError` unless the element type is of one of these kinds."""
    if spec.dtype.kind not in kinds:
        raise ElementTypeError(f"element type {spec.dtype}, expected {_KINDS[kinds]}")


def expect_same(*specs: TensorSpec) -> None:
    """Raise `TypeError` unless the element types agree."""
    for other in specs[1:]:
        if other.dtype != specs[0].dtype:
            raise TypeError(f"element types differ: {specs[0].dtype} and {other.dtype}")


def shape_of(*specs: TensorSpec) -> tuple[Dim, ...] | None:
    """Return the shape that operands broadcast to; of one operand, whatever it has."""
    return specs[0].shape if len(specs) == 1 else broadcast(*(s.dims for s in specs))


def spec_of_value(value: Any) -> TensorSpec:
    """Return the spec of what an `emit` takes and gives: an SSA value, an array, or its own."""
    if value.__class__ is np.ndarray:
        return spec_of_array(value)
    if isinstance(value, SSAValue):
        return spec_of(value.type)
    found = getattr(value, "spec", None)
    return found if isinstance(found, TensorSpec) else spec_of_array(np.asarray(value))


def unbroadcast(call: Call, grad: Any, spec: TensorSpec) -> Any:
    """Return a gradient summed over the axes along which an operand of `spec` was broadcast."""
    return summed_to(call.emit, grad, spec)


def summed_to(emit: Callable[..., Any], grad: Any, spec: TensorSpec) -> Any:
    """Return a value summed over the axes along which one of `spec` would be broadcast to it."""
    wide = spec_of_value(grad).dims
    added = len(wide) - spec.rank
    padded: tuple[Dim, ...] = (1,) * added + spec.dims
    axes = tuple(i for i, (a, b) in enumerate(zip(padded, wide, strict=True)) if a != b)
    leading = tuple(range(added))
    if axes and axes == leading:
        return emit(REGISTRY["gv.sum"], grad, axes=axes)
    if axes or leading:
        axes = tuple(sorted({*axes, *leading}))
        grad = emit(REGISTRY["gv.sum"], grad, axes=axes, keepdims=True)
    return emit(REGISTRY["gv.reshape"], grad, shape=spec.dims) if leading else grad


class EmitMath(ScalarMath):
    """`ScalarMath` on whole tensors: each step is the graph operation of its name."""

    def __init__(self, emit: Callable[..., Any]) -> None:
        self.emit = emit

    def step(self, name: str, *values: Any) -> Any:
        """Emit the operation."""
        return self.emit(REGISTRY[f"gv.{self._RENAMED.get(name, name)}"], *values)

    _RENAMED: ClassVar = {"truncated_divide": "div"}
    _PREDICATES: ClassVar = {
        "eq": "equal",
        "ne": "not_equal",
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
    }

    def dtype_of(self, x: Any) -> DType:
        """Return the type of the elements."""
        return spec_of_value(x).dtype

    def constant(self, value: Any, dtype: DType) -> Any:
        """Emit a constant without axes."""
        return self.emit(REGISTRY["gv.constant"], value=NumpyMath().constant(value, dtype))

    def cast(self, x: Any, dtype: DType) -> Any:
        """Emit a conversion, unless it changes nothing."""
        return x if self.dtype_of(x) == dtype else self.emit(REGISTRY["gv.cast"], x, dtype=dtype)

    def bitcast(self, x: Any, dtype: DType) -> Any:
        """Emit a view of the bits."""
        return self.emit(REGISTRY["gv.bitcast"], x, dtype=dtype)

    def compare(self, predicate: str, a: Any, b: Any) -> Any:
        """Emit a comparison."""
        return self.emit(REGISTRY[f"gv.{self._PREDICATES[predicate]}"], a, b)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Emit a product and a sum."""
        return self.add(self.mul(a, b), c)


class Elementwise(Op):
    """An operation whose result elements each come from one element of each operand."""

    KINDS: ClassVar[str] = FLOAT
    """The kinds of element types that the operands may have."""

    RESULT: ClassVar[DType | None] = None
    """The element type of the result, where it is not the operands'."""

    FUNCTION: ClassVar[Callable[..., Any] | None] = None
    """What computes the result on numpy arrays; if there is none, `formula` in f64 does."""

    NEAR: ClassVar[bool | None] = None
    """Whether results are near the true ones, not the nearest: who computes them otherwise gets
    other last bits. None: that is so where there is no `FUNCTION`."""

    @classmethod
    def is_near(cls) -> bool:
        """Say whether the last bits of results depend on how they are computed."""
        return cls.FUNCTION is None if cls.NEAR is None else cls.NEAR

    @classmethod
    def has_nearest(cls) -> bool:
        """Say whether `nearest` ever gives a result."""
        return cls.nearest.__func__ is not Elementwise.nearest.__func__  # type: ignore[attr-defined]

    @classmethod
    def is_by_formula(cls) -> bool:
        """Say whether `evaluate` carries out the formula, step by step."""
        own = cls.evaluate.__func__  # type: ignore[attr-defined]
        return cls.FUNCTION is None and own is Elementwise.evaluate.__func__  # type: ignore[attr-defined]

    @classmethod
    def nearest(cls, *operands: Any) -> Array | None:
        """Return the result on arrays for which it is the same anyhow; None for all others."""
        return None

    @classmethod
    def result(cls, *specs: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape with the result's element type."""
        expect(specs[0], cls.KINDS)
        expect_same(*specs)
        return (TensorSpec(cls.RESULT or specs[0].dtype, shape_of(*specs)),)

    @classmethod
    def formula(cls, *terms: Any, **attributes: Any) -> Term:
        """Return the result element; by default, the function of the operation's own name."""
        first: Term = terms[0]
        return first.apply(cls.name.removeprefix("gv."), *terms[1:])

    @classmethod
    def backward(cls, *terms: Any, **attributes: Any) -> Sequence[Term | None]:
        """Return the operands' gradients from those of the result, the result, the operands.

        By default there are none: the result does not depend on the operands smoothly.
        """
        return (None,) * (len(terms) - 2)

    @classmethod
    def scalar(cls, math: Any, *elements: Any, **attributes: Any) -> Any:
        """Compute the formula."""
        return cls.formula(*(Term(math, x) for x in elements), **attributes).value

    @classmethod
    def evaluate(cls, *operands: Any, **attributes: Any) -> Sequence[Array]:
        """Compute the numpy function, or the formula in f64, and round."""
        if operands[0].dtype.kind == "c":
            if cls.COMPLEX_FUNCTION is not None:
                return (np.asarray(cls.COMPLEX_FUNCTION(*operands)),)
            if cls.FUNCTION is None:
                whole: Any = REGISTRY["gv.complex"]
                return (whole.evaluated(cls, operands),)
        if cls.FUNCTION is not None:
            function = cls.FUNCTION if cls.RESULT else in_wide(cls.FUNCTION)
            return (np.asarray(function(*operands)),)
        dtypes = tuple([x.dtype for x in operands])
        wide, formula, dtype = _formula(cls, dtypes, tuple(attributes.items()))
        made = np.asarray(formula(*[x.astype(d) for x, d in zip(operands, wide, strict=True)]))
        return (round_to(made, dtype) if dtype.is_float else made,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return `backward`, summed over what was broadcast, for operands that are floats."""
        kind = call.specs[-1].dtype.kind
        if kind not in INEXACT:
            return (None,) * len(call.operands)
        flip = _conjugate(call) if kind == "c" else _itself
        values = (flip(grads[0]), call.results[0], *call.operands)
        math = EmitMath(call.emit)
        found = cls.backward(*(Term(math, v) for v in values), **call.attributes)
        return [
            None if term is None else unbroadcast(call, flip(term.value), spec)
            for term, spec in zip(found, call.specs, strict=True)
        ]


def _conjugate(call: Call) -> Callable[[Any], Any]:
    """Return what takes conjugates: the gradient of f(z) is that of w times conj(f'(z))."""
    return lambda x: call.emit(REGISTRY["gv.conj"], x)


def _itself(x: Any) -> Any:
    return x


@lru_cache(maxsize=4096)
def _formula(
    op: type[Elementwise], dtypes: tuple[Any, ...], attributes: tuple[tuple[str, Any], ...]
) -> tuple[Sequence[Any], Formula, DType]:
    """Return the types that operands are computed in, the formula, and the result's type."""
    given = [of_numpy(dtype) for dtype in dtypes]
    wide = [f64 if dtype.is_float else dtype for dtype in given]
    with np.errstate(all="ignore"):
        formula = Formula(partial(op.scalar, **dict(attributes)), wide)
    (made,) = op.infer(*(TensorSpec(dtype, ()) for dtype in given), **dict(attributes))
    return [dtype.numpy for dtype in wide], formula, made.dtype


def unary_samples(*dtypes: DType, low: float = -2.0, high: float = 2.0) -> tuple[Sample, ...]:
    """Return samples of one operand: of two axes, of none, and empty."""
    first, *_ = dtypes
    return (
        Sample(((2, 19),), {}, dtypes, low=low, high=high),
        Sample(((),), {}, (first,), low=low, high=high),
        Sample(((0, 3),), {}, (first,), low=low, high=high),
    )


def binary_samples(*dtypes: DType, low: float = -2.0, high: float = 2.0) -> tuple[Sample, ...]:
    """Return samples of two operands that broadcast in every way."""
    first, *_ = dtypes
    shapes = (((3, 17), (3, 17)), ((2, 1, 5), (3, 1)), ((), (4,)), ((0, 2), (1, 2)))
    return tuple(
        Sample(pair, {}, dtypes if i == 0 else (first,), low=low, high=high)
        for i, pair in enumerate(shapes)
    )


class Unary(Elementwise):
    """An element-wise operation on one tensor."""

    SAMPLES: ClassVar = unary_samples(*FLOATS)

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's shape."""
        return cls.result(x)


class Binary(Elementwise):
    """An element-wise operation on two tensors of one element type whose shapes broadcast."""

    SAMPLES: ClassVar = binary_samples(*FLOATS)

    @classmethod
    def infer(cls, lhs: TensorSpec, rhs: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape."""
        return cls.result(lhs, rhs)

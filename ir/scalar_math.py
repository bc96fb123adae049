"""`ScalarMath`: the vocabulary in which a rule says how one element is computed.

The `scalar` rule of an element-wise operation gets a math object and one element of each
operand. A code generator's math object appends instructions, `NumpyMath` computes at once
on whole arrays, and `EmitMath` (ops/families.py) makes graph operations. `Term` lets a rule
be written as a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .types import numerics
from .types.dtypes import DType, of_numpy
from .types.numerics import in_wide
from .types.tensor import Array


class UnknownStepError(LookupError):
    """A formula has a step that a math object does not know."""


class Stepwise:
    """The base of math objects: a step without a method of its own is told by its name."""

    def step(self, name: str, *values: Any) -> Any:
        """Carry out a step."""
        raise UnknownStepError(name)


class Functions(Stepwise):
    """Functions of floats that take many steps of arithmetic."""

    def pow(self, a: Any, b: Any, /) -> Any:
        """Return a to the power of b of floats, by C's rules."""
        return self.step("pow", a, b)

    def atan2(self, a: Any, b: Any, /) -> Any:
        """Return the angle of the point (b, a) of floats, by C's rules."""
        return self.step("atan2", a, b)

    def exp(self, x: Any, /) -> Any:
        """Return e to the power of a float."""
        return self.step("exp", x)

    def exp2(self, x: Any, /) -> Any:
        """Return 2 to the power of a float."""
        return self.step("exp2", x)

    def expm1(self, x: Any, /) -> Any:
        """Return exp(x) - 1, precise near 0."""
        return self.step("expm1", x)

    def log(self, x: Any, /) -> Any:
        """Return the natural logarithm."""
        return self.step("log", x)

    def log2(self, x: Any, /) -> Any:
        """Return the logarithm to base 2."""
        return self.step("log2", x)

    def log10(self, x: Any, /) -> Any:
        """Return the logarithm to base 10."""
        return self.step("log10", x)

    def log1p(self, x: Any, /) -> Any:
        """Return log(1 + x), precise near 0."""
        return self.step("log1p", x)

    def sin(self, x: Any, /) -> Any:
        """Return the sine."""
        return self.step("sin", x)

    def cos(self, x: Any, /) -> Any:
        """Return the cosine."""
        return self.step("cos", x)

    def tan(self, x: Any, /) -> Any:
        """Return the tangent."""
        return self.step("tan", x)

    def asin(self, x: Any, /) -> Any:
        """Return the inverse sine."""
        return self.step("asin", x)

    def acos(self, x: Any, /) -> Any:
        """Return the inverse cosine."""
        return self.step("acos", x)

    def atan(self, x: Any, /) -> Any:
        """Return the inverse tangent."""
        return self.step("atan", x)

    def sinh(self, x: Any, /) -> Any:
        """Return the hyperbolic sine."""
        return self.step("sinh", x)

    def cosh(self, x: Any, /) -> Any:
        """Return the hyperbolic cosine."""
        return self.step("cosh", x)

    def tanh(self, x: Any, /) -> Any:
        """Return the hyperbolic tangent."""
        return self.step("tanh", x)

    def asinh(self, x: Any, /) -> Any:
        """Return the inverse hyperbolic sine."""
        return self.step("asinh", x)

    def acosh(self, x: Any, /) -> Any:
        """Return the inverse hyperbolic cosine."""
        return self.step("acosh", x)

    def atanh(self, x: Any, /) -> Any:
        """Return the inverse hyperbolic tangent."""
        return self.step("atanh", x)

    def erf(self, x: Any, /) -> Any:
        """Return the error function."""
        return self.step("erf", x)


class Roots(Stepwise):
    """Functions of floats that are one slow step."""

    def sqrt(self, x: Any, /) -> Any:
        """Return the square root."""
        return self.step("sqrt", x)

    def rsqrt(self, x: Any, /) -> Any:
        """Return one over the square root."""
        return self.step("rsqrt", x)


class ScalarMath(Functions, Roots):
    """Operations on elements. Two operands have one type; nothing converts by itself.

    Floats narrower than f32 are computed in f32; whether the steps of one rule are rounded to
    the narrow type in between, or only its result, is up to the math object.
    """

    def constant(self, value: Any, dtype: DType, /) -> Any:
        """Return an element of this type: a Python number, rounded."""
        return self.step("constant", value, dtype)

    def dtype_of(self, x: Any, /) -> DType:
        """Return the type of an element."""
        found: DType = self.step("dtype_of", x)
        return found

    def cast(self, x: Any, dtype: DType, /) -> Any:
        """Convert. Float to integer truncates and saturates (NaN to 0), to bool is `!= 0`."""
        return self.step("cast", x, dtype)

    def stored(self, x: Any, /) -> Any:
        """Return what is read again of an element that is stored; here it is as wide already."""
        return x

    def bitcast(self, x: Any, dtype: DType, /) -> Any:
        """Return the same bits as a type of the same width; a bool is a byte, 0 or 1."""
        return self.step("bitcast", x, dtype)

    def add(self, a: Any, b: Any, /) -> Any:
        """Return a + b; integers wrap."""
        return self.step("add", a, b)

    def sub(self, a: Any, b: Any, /) -> Any:
        """Return a - b; integers wrap."""
        return self.step("sub", a, b)

    def mul(self, a: Any, b: Any, /) -> Any:
        """Return a * b; integers wrap."""
        return self.step("mul", a, b)

    def div(self, a: Any, b: Any, /) -> Any:
        """Return a / b of floats."""
        return self.step("div", a, b)

    def truncated_divide(self, a: Any, b: Any, /) -> Any:
        """Return a / b of integers towards zero; 0 where b is 0."""
        return self.step("truncated_divide", a, b)

    def floor_divide(self, a: Any, b: Any, /) -> Any:
        """Return a / b of integers (0 where b is 0) or floats, rounded down."""
        return self.step("floor_divide", a, b)

    def mod(self, a: Any, b: Any, /) -> Any:
        """Return the remainder with the sign of b; 0 where an integer b is 0."""
        return self.step("mod", a, b)

    def fmod(self, a: Any, b: Any, /) -> Any:
        """Return the remainder with the sign of a; 0 where an integer b is 0."""
        return self.step("fmod", a, b)

    def fma(self, a: Any, b: Any, c: Any, /) -> Any:
        """Return a * b + c of floats, rounded once or twice as the machine likes."""
        return self.step("fma", a, b, c)

    def minimum(self, a: Any, b: Any, /) -> Any:
        """Return the smaller; NaN if either is."""
        return self.step("minimum", a, b)

    def maximum(self, a: Any, b: Any, /) -> Any:
        """Return the larger; NaN if either is."""
        return self.step("maximum", a, b)

    def neg(self, x: Any, /) -> Any:
        """Return -x; integers wrap."""
        return self.step("neg", x)

    def abs(self, x: Any, /) -> Any:
        """Return the absolute value; of the lowest integer, itself."""
        return self.step("abs", x)

    def floor(self, x: Any, /) -> Any:
        """Round a float down."""
        return self.step("floor", x)

    def ceil(self, x: Any, /) -> Any:
        """Round a float up."""
        return self.step("ceil", x)

    def trunc(self, x: Any, /) -> Any:
        """Round a float towards zero."""
        return self.step("trunc", x)

    def round(self, x: Any, /) -> Any:
        """Round a float to nearest, half to even."""
        return self.step("round", x)

    def isnan(self, x: Any, /) -> Any:
        """Say whether a float is NaN, as bool."""
        return self.step("isnan", x)

    def compare(self, predicate: str, a: Any, b: Any, /) -> Any:
        """Return a bool; `predicate` is eq, ne, lt, le, gt or ge. With NaN only ne holds."""
        return self.step("compare", predicate, a, b)

    def select(self, condition: Any, a: Any, b: Any, /) -> Any:
        """Return a where the bool holds, b elsewhere; b's NaN does no harm there."""
        return self.step("select", condition, a, b)

    def logical_not(self, x: Any, /) -> Any:
        """Return the opposite of a bool."""
        return self.step("logical_not", x)

    def logical_and(self, a: Any, b: Any, /) -> Any:
        """Return whether both bools hold."""
        return self.step("logical_and", a, b)

    def logical_or(self, a: Any, b: Any, /) -> Any:
        """Return whether one of the bools holds."""
        return self.step("logical_or", a, b)

    def logical_xor(self, a: Any, b: Any, /) -> Any:
        """Return whether exactly one of the bools holds."""
        return self.step("logical_xor", a, b)

    def bitwise_not(self, x: Any, /) -> Any:
        """Return an integer with all bits changed."""
        return self.step("bitwise_not", x)

    def bitwise_and(self, a: Any, b: Any, /) -> Any:
        """Return the bits set in both integers."""
        return self.step("bitwise_and", a, b)

    def bitwise_or(self, a: Any, b: Any, /) -> Any:
        """Return the bits set in one of the integers."""
        return self.step("bitwise_or", a, b)

    def bitwise_xor(self, a: Any, b: Any, /) -> Any:
        """Return the bits set in exactly one of the integers."""
        return self.step("bitwise_xor", a, b)

    def shift_left(self, a: Any, b: Any, /) -> Any:
        """Return an integer shifted by b (read as unsigned); 0 where b is its width or more."""
        return self.step("shift_left", a, b)

    def shift_right(self, a: Any, b: Any, /) -> Any:
        """Return an integer shifted by b (read as unsigned), filled with the sign if signed."""
        return self.step("shift_right", a, b)


def _steps(vocabulary: type) -> frozenset[str]:
    return frozenset(name for name in vars(vocabulary) if not name.startswith("_"))


FUNCTIONS, ROOTS = _steps(Functions), _steps(Roots)
"""The names of the steps that are functions, and roots."""

PREDICATES: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


class NumpyMath(ScalarMath):
    """`ScalarMath` on numpy arrays."""

    def constant(self, value: Any, dtype: DType, /) -> Array:
        """Return an array without axes."""
        with np.errstate(over="ignore"):
            element: Array = np.array(value).astype(dtype.numpy)
            return element

    def dtype_of(self, x: Any, /) -> DType:
        """Return the type of the elements."""
        return of_numpy(x.dtype)

    def cast(self, x: Any, dtype: DType, /) -> Array:
        """Convert each element."""
        return numerics.saturate(np.asarray(x), dtype)

    def bitcast(self, x: Any, dtype: DType, /) -> Array:
        """View each element as another type."""
        if dtype.kind == "b":
            return np.asarray(np.asarray(x).view(np.uint8) != 0)
        viewed: Array = np.asarray(x).view(dtype.numpy)
        return viewed

    def compare(self, predicate: str, a: Any, b: Any, /) -> Array:
        """Compare elements."""
        return np.asarray(PREDICATES[predicate](a, b))

    def select(self, condition: Any, a: Any, b: Any, /) -> Array:
        """Choose between elements."""
        return np.asarray(np.where(condition, a, b))

    def fma(self, a: Any, b: Any, c: Any, /) -> Array:
        """Multiply and add in one step of twice the precision, f64 in two steps."""
        wide = [x.astype(np.float64) for x in (a, b, c)]
        return numerics.round_to(np.asarray(wide[0] * wide[1] + wide[2]), of_numpy(a.dtype))

    add = staticmethod(np.add)
    sub = staticmethod(np.subtract)
    mul = staticmethod(np.multiply)
    div = staticmethod(numerics.divide)
    truncated_divide = staticmethod(numerics.truncated_divide)
    floor_divide = staticmethod(in_wide(numerics.floor_divide))
    mod = staticmethod(in_wide(numerics.floor_remainder))
    fmod = staticmethod(in_wide(numerics.truncated_remainder))
    pow = staticmethod(in_wide(np.power))
    atan2 = staticmethod(in_wide(np.arctan2))
    minimum = staticmethod(numerics.smaller)
    maximum = staticmethod(numerics.larger)
    neg = staticmethod(np.negative)
    abs = staticmethod(np.absolute)
    exp = staticmethod(in_wide(np.exp))
    exp2 = staticmethod(in_wide(np.exp2))
    expm1 = staticmethod(in_wide(np.expm1))
    log = staticmethod(in_wide(np.log))
    log2 = staticmethod(in_wide(np.log2))
    log10 = staticmethod(in_wide(np.log10))
    log1p = staticmethod(in_wide(np.log1p))
    sqrt = staticmethod(in_wide(np.sqrt))
    rsqrt = staticmethod(in_wide(lambda x: np.reciprocal(np.sqrt(x))))
    sin = staticmethod(in_wide(np.sin))
    cos = staticmethod(in_wide(np.cos))
    tan = staticmethod(in_wide(np.tan))
    asin = staticmethod(in_wide(np.arcsin))
    acos = staticmethod(in_wide(np.arccos))
    atan = staticmethod(in_wide(np.arctan))
    sinh = staticmethod(in_wide(np.sinh))
    cosh = staticmethod(in_wide(np.cosh))
    tanh = staticmethod(in_wide(np.tanh))
    asinh = staticmethod(in_wide(np.arcsinh))
    acosh = staticmethod(in_wide(np.arccosh))
    atanh = staticmethod(in_wide(np.arctanh))
    erf = staticmethod(in_wide(numerics.erf))
    floor = staticmethod(in_wide(np.floor))
    ceil = staticmethod(in_wide(np.ceil))
    trunc = staticmethod(in_wide(np.trunc))
    round = staticmethod(in_wide(np.rint))
    isnan = staticmethod(np.isnan)
    logical_not = staticmethod(np.logical_not)
    logical_and = staticmethod(np.logical_and)
    logical_or = staticmethod(np.logical_or)
    logical_xor = staticmethod(np.logical_xor)
    bitwise_not = staticmethod(np.invert)
    bitwise_and = staticmethod(np.bitwise_and)
    bitwise_or = staticmethod(np.bitwise_or)
    bitwise_xor = staticmethod(np.bitwise_xor)
    shift_left = staticmethod(numerics.shift_left)
    shift_right = staticmethod(numerics.shift_right)


@dataclass(frozen=True)
class Slot:
    """An element of a formula that is being written down: its number, and one of its type."""

    place: int
    sample: Array


class Formula(ScalarMath):
    """`ScalarMath` that writes down the steps of a formula; called on arrays, it does them."""

    def __init__(self, rule: Callable[..., Any], dtypes: Sequence[DType]) -> None:
        self.steps: list[tuple[Callable[..., Any], list[tuple[int, Any]]]] = []
        self.count = len(dtypes)
        slots = [Slot(i, np.zeros((), dtype.numpy)) for i, dtype in enumerate(dtypes)]
        self.result = rule(self, *slots)

    def dtype_of(self, x: Any) -> DType:
        """Return the type of an element."""
        return of_numpy((x.sample if isinstance(x, Slot) else x).dtype)

    def step(self, name: str, *values: Any) -> Any:
        """Write a step down; of constants, carry it out."""
        function: Callable[..., Any] = getattr(_NUMPY, name)
        made = function(*[x.sample if isinstance(x, Slot) else x for x in values])
        if not any(isinstance(x, Slot) for x in values):
            return made
        read = [(x.place, None) if isinstance(x, Slot) else (-1, x) for x in values]
        self.steps.append((function, read))
        return Slot(self.count + len(self.steps) - 1, made)

    def __call__(self, *operands: Array) -> Any:
        """Return what the formula gives for arrays."""
        if not isinstance(self.result, Slot):
            return self.result
        values = list(operands)
        for function, read in self.steps:
            values.append(function(*[x if place < 0 else values[place] for place, x in read]))
        return values[self.result.place]


_NUMPY = NumpyMath()


@dataclass(frozen=True, eq=False)
class Term:
    """An element together with its math: operators and functions append to the formula.

    A Python number beside a term becomes a constant of the term's type.

    >>> x = Term(NumpyMath(), np.array([-1.0, 2.0]))
    >>> ((x > 0).where(x, x * 0.5) + 1).value.tolist()
    [0.5, 3.0]
    """

    math: Any
    value: Any

    @property
    def dtype(self) -> DType:
        """Return the type of the element."""
        return self.math.dtype_of(self.value)  # type: ignore[no-any-return]

    def apply(self, function: str, *others: Term | float) -> Term:
        """Return a method of the math applied to this and other elements of its type."""
        values = [self.like(other).value for other in others]
        return Term(self.math, getattr(self.math, function)(self.value, *values))

    def emitted(self, operation: str) -> Term:
        """Return an operation of a graph on this, by its name: the math emits (`EmitMath`)."""
        return Term(self.math, self.math.step(operation, self.value))

    def like(self, other: Term | float) -> Term:
        """Return a term as it is, a number as a constant of this term's type."""
        if isinstance(other, Term):
            return other
        return Term(self.math, self.math.constant(other, self.dtype))

    def cast(self, dtype: DType) -> Term:
        """Convert."""
        return Term(self.math, self.math.cast(self.value, dtype))

    def bitcast(self, dtype: DType) -> Term:
        """Take the bits as another type of the same width."""
        return Term(self.math, self.math.bitcast(self.value, dtype))

    def where(self, chosen: Term | float, other: Term | float) -> Term:
        """Choose between two elements by this bool; one of them is a term."""
        first = chosen if isinstance(chosen, Term) else other
        assert isinstance(first, Term), "a choice between two numbers has no type"
        values = (first.like(chosen).value, first.like(other).value)
        return Term(self.math, self.math.select(self.value, *values))

    def asked_for(self, slope: Term) -> Term:
        """Return this gradient times a slope; 0 where nothing comes back, however steep that is.

        Only a slope without an end is left out: the product is linear in the gradient, and so is
        differentiated by it where that is 0 too, which is what derivatives along a direction need.
        """
        size = slope.apply("abs")
        is_idle = self.equals(0.0) & ~(size < float("inf"))
        return self * is_idle.where(0.0, slope)

    def equals(self, other: Term | float) -> Term:
        """Say whether two elements are equal (`==` is about Python objects)."""
        return self.compare("eq", other)

    def differs(self, other: Term | float) -> Term:
        """Say whether two elements differ."""
        return self.compare("ne", other)

    def compare(self, predicate: str, other: Term | float) -> Term:
        """Compare by a predicate of `ScalarMath.compare`."""
        value = self.math.compare(predicate, self.value, self.like(other).value)
        return Term(self.math, value)

    def __add__(self, other: Term | float) -> Term:
        return self.apply("add", other)

    def __radd__(self, other: float) -> Term:
        return self.like(other) + self

    def __sub__(self, other: Term | float) -> Term:
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> Term:
        return self.like(other) - self

    def __mul__(self, other: Term | float) -> Term:
        return self.apply("mul", other)

    def __rmul__(self, other: float) -> Term:
        return self.like(other) * self

    def __truediv__(self, other: Term | float) -> Term:
        return self.apply("div", other)

    def __rtruediv__(self, other: float) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return self.apply("neg")

    def __lt__(self, other: Term | float) -> Term:
        return self.compare("lt", other)

    def __le__(self, other: Term | float) -> Term:
        return self.compare("le", other)

    def __gt__(self, other: Term | float) -> Term:
        return self.compare("gt", other)

    def __ge__(self, other: Term | float) -> Term:
        return self.compare("ge", other)

    def __and__(self, other: Term) -> Term:
        return self.apply("logical_and", other)

    def __or__(self, other: Term) -> Term:
        return self.apply("logical_or", other)

    def __invert__(self) -> Term:
        return self.apply("logical_not")

"""Which integers a value may be made of, as far as its operations tell.

Places that were searched, sorted or counted lie in their axis; what a model clamps lies between the
bounds; moved elements are what they were. Sums and differences of such values follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from operator import add, sub

from xdsl.ir import SSAValue

from ...ir import Dim, DType, Op
from ...ir.families import AxisPlaces, Elementwise
from ...ir.ops.layout import Pad
from ...ir.scalar_math import ScalarMath, UnknownStepError
from ...ir.types import dims as dim_rules
from ...ir.types.tensor import TensorSpec
from ...ir.types.values import value_spec
from .shapes import KnownEmit

DEPTH = 16
"""So many operations are looked back through."""


@dataclass(frozen=True)
class IntegerSpan:
    """Integers from `low` to `high`, both among them; an end that is None is not known."""

    low: Dim | None = None
    high: Dim | None = None

    def __or__(self, other: IntegerSpan) -> IntegerSpan:
        """Return the integers of both."""
        low = self.end(dim_rules.minimum, self.low, other.low)
        return IntegerSpan(low, self.end(dim_rules.maximum, self.high, other.high))

    @staticmethod
    def end(rule: Callable[[Dim, Dim], Dim], a: Dim | None, b: Dim | None) -> Dim | None:
        """Return an end that is made of two; None where one is not known."""
        return None if a is None or b is None else rule(a, b)

    @staticmethod
    def either(rule: Callable[[Dim, Dim], Dim], a: Dim | None, b: Dim | None) -> Dim | None:
        """Return an end that is made of two, of which one is enough."""
        return b if a is None else a if b is None else rule(a, b)


UNKNOWN = IntegerSpan()


def span_of(emitter: KnownEmit, value: SSAValue, depth: int = DEPTH) -> IntegerSpan:
    """Return which integers a tensor is made of."""
    spec = value_spec(value.type)
    if not isinstance(spec, TensorSpec) or not spec.dtype.is_integer:
        return UNKNOWN
    known, owner = emitter.span(value), value.owner
    if known is not None:
        return IntegerSpan(*known)
    if not isinstance(owner, Op) or owner.HOST is not None or not depth:
        return UNKNOWN
    return _made(
        owner, spec.dtype, [partial(span_of, emitter, x, depth - 1) for x in owner.operands]
    )


def _made(op: Op, dtype: DType, operands: Sequence[Callable[[], IntegerSpan]]) -> IntegerSpan:
    """Return which integers an operation makes of operands, whose spans are found if wanted."""
    rules, moved = op.plain_attributes(), op.moved(len(operands))
    if isinstance(op, AxisPlaces):
        return IntegerSpan(0, op.extent(op.specs, **rules) - 1)
    if moved is not None and not isinstance(op, Pad):
        return reduce(IntegerSpan.__or__, [find() for find in operands[:moved]])
    if isinstance(op, Elementwise):
        with suppress(UnknownStepError):
            found = op.scalar(SpanMath(dtype), *[find() for find in operands], **rules)
            return found if isinstance(found, IntegerSpan) else UNKNOWN
    return UNKNOWN


class SpanMath(ScalarMath):
    """A `ScalarMath` whose elements are spans of integers of one type.

    Of a step that may leave the type's range nothing is known.
    """

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def dtype_of(self, x: IntegerSpan) -> DType:
        """Return the element type of the results."""
        return self.dtype

    def constant(self, value: float, dtype: DType) -> IntegerSpan:
        """Return one whole number."""
        return IntegerSpan(int(value), int(value)) if float(value).is_integer() else UNKNOWN

    def cast(self, x: IntegerSpan, dtype: DType) -> IntegerSpan:
        """Return the same integers, if the type has them all."""
        return self.fitting(x.low, x.high)

    def fitting(self, low: Dim | None, high: Dim | None) -> IntegerSpan:
        """Return a span that the type has; sizes are small."""
        if low is None or high is None:
            return UNKNOWN
        ends = [each for each in (low, high) if isinstance(each, int)]
        fits = all(self.dtype.minimum <= each <= self.dtype.maximum for each in ends)
        return IntegerSpan(low, high) if fits else UNKNOWN

    def add(self, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Add."""
        low, high = IntegerSpan.end(add, a.low, b.low), IntegerSpan.end(add, a.high, b.high)
        return self.fitting(low, high)

    def sub(self, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Subtract."""
        low, high = IntegerSpan.end(sub, a.low, b.high), IntegerSpan.end(sub, a.high, b.low)
        return self.fitting(low, high)

    def minimum(self, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Return the smaller."""
        low = IntegerSpan.end(dim_rules.minimum, a.low, b.low)
        return IntegerSpan(low, IntegerSpan.either(dim_rules.minimum, a.high, b.high))

    def maximum(self, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Return the larger."""
        low = IntegerSpan.either(dim_rules.maximum, a.low, b.low)
        return IntegerSpan(low, IntegerSpan.end(dim_rules.maximum, a.high, b.high))

    def mod(self, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Return what is left of a division by a number above 0."""
        if isinstance(b.low, int) and b.low == b.high and b.low > 0:
            return IntegerSpan(0, b.low - 1)
        return UNKNOWN

    def compare(self, predicate: str, a: IntegerSpan, b: IntegerSpan) -> None:
        """Say nothing of which is larger."""

    def select(self, condition: object, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
        """Return what either may be."""
        return a | b

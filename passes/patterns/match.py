"""What patterns share: the result of a match, and expressions as polynomials of two values.

Exporters order and group factors as they like. So expressions are not compared as trees:
`0.5 * x * (1 + erf(...))` and `(x * 0.5) + (x * 0.5) * erf(...)` are one polynomial of x and
the erf, x/2 + x*e/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from xdsl.ir import Operation, SSAValue

from ...ir import DType, Op
from ...ir.build import operands_of
from ...ir.scalar_math import ScalarMath, UnknownStepError
from ..analysis.constants import scalar_of
from ..analysis.rewrite import spec
from ..analysis.steps import counted

Polynomial: TypeAlias = dict[tuple[int, int], float]
"""The coefficient of x**i * y**j by (i, j)."""

DEEPEST = 10
"""The most operations that a pattern reaches over."""
HIGHEST = 4
"""The highest power of a value in a pattern."""


@dataclass(frozen=True)
class Match:
    """What was found: `root` computes the operation `gv.<name>` of these operands.

    An operand that is a number becomes a constant.
    """

    root: Op
    name: str
    operands: Sequence[SSAValue | float]
    attributes: Mapping[str, Any] = field(default_factory=dict)


Pattern: TypeAlias = Callable[[Op], Match | None]


def polynomial(value: SSAValue, x: SSAValue, y: SSAValue | None = None) -> Polynomial | None:
    """Return the value as a polynomial of x and y, None if it is none."""
    return _Reader(x, y).read(value, DEEPEST)


@dataclass
class _Reader:
    """Reads values as polynomials of x and y, each once, however many ways lead to it."""

    x: SSAValue
    y: SSAValue | None
    known: dict[tuple[SSAValue, int], Polynomial | None] = field(default_factory=dict)

    def read(self, value: SSAValue, left: int) -> Polynomial | None:
        """Return a value, over so many operations at most."""
        if value is self.x:
            return {(1, 0): 1.0}
        if value is self.y:
            return {(0, 1): 1.0}
        key = value, left
        if key not in self.known:
            self.known[key] = self._read(value, left)
        return self.known[key]

    def _read(self, value: SSAValue, left: int) -> Polynomial | None:
        number = scalar_of(value)
        if number is not None:
            return {(0, 0): float(number)} if isinstance(number, int | float) else None
        op = value.owner
        if not isinstance(op, Op) or not left or not is_arithmetic(op):
            return None
        parts = []
        for operand in operands_of(op):
            part = self.read(operand, left - 1)
            if part is None:  # most are none: the rest of them need not be read
                return None
            parts.append(part)
        return combined(op, parts)


def combined(op: Op, parts: Sequence[Polynomial]) -> Polynomial | None:
    """Return what the formula of an operation makes of polynomials."""
    math = PolynomialMath(op.specs[0].dtype)
    try:
        if isinstance(op, OfPolynomials):
            return op.polynomial(math, *parts)
        found: Polynomial = type(op).scalar(math, *parts, **op.plain_attributes())
    except UnknownStepError:
        return None
    return found


@runtime_checkable
class OfPolynomials(Protocol):
    """An operation that says what it makes of polynomials, where its formula does not."""

    def polynomial(self, math: PolynomialMath, *parts: Polynomial) -> Polynomial:
        """Return the polynomial."""


class PolynomialMath(ScalarMath):
    """A `ScalarMath` whose elements are polynomials of x and y."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def dtype_of(self, x: Polynomial) -> DType:
        """Return the type of the elements."""
        return self.dtype

    def constant(self, value: float, dtype: DType) -> Polynomial:
        """Return a number."""
        return {(0, 0): float(value)}

    def add(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Add coefficients."""
        return {key: a.get(key, 0.0) + b.get(key, 0.0) for key in {**a, **b}}

    def neg(self, a: Polynomial) -> Polynomial:
        """Turn every sign."""
        return {key: -value for key, value in a.items()}

    def sub(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Add the opposite."""
        return self.add(a, self.neg(b))

    def mul(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Multiply each by each, up to the highest power of a pattern."""
        made: Polynomial = {}
        for (i, j), p in a.items():
            for (k, m), q in b.items():
                made[i + k, j + m] = made.get((i + k, j + m), 0.0) + p * q
        if any(max(key) > HIGHEST for key in made):
            raise UnknownStepError(f"a power above {HIGHEST}")
        return made

    def div(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Divide by a number."""
        divisor = self.number(b)
        if divisor == 0:
            raise UnknownStepError("a quotient by zero")
        return {key: value / divisor for key, value in a.items()}

    def pow(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Multiply as often as a small number says."""
        exponent = self.number(b)
        if exponent not in (1, 2, 3):
            raise UnknownStepError(f"the power {exponent}")
        made = a
        for _ in range(int(exponent) - 1):
            made = self.mul(made, a)
        return made

    def number(self, a: Polynomial) -> float:
        """Return what a polynomial is, if that is a number."""
        if a.keys() != {(0, 0)}:
            raise UnknownStepError("a number that is none")
        return a[0, 0]


def is_arithmetic(op: Op) -> bool:
    """Say whether the formula of an operation only has steps that polynomials have."""
    if not op.has("scalar"):
        return False
    key = type(op), op.specs[0].dtype, *op.properties.values()
    if key not in _ARITHMETIC:
        steps = counted(op).counts.keys()
        known = bool(steps) and steps <= vars(PolynomialMath).keys()
        _ARITHMETIC[key] = known or isinstance(op, OfPolynomials)
    return _ARITHMETIC[key]


_ARITHMETIC: dict[tuple[object, ...], bool] = {}
"""What was asked before: a formula follows from the element type and the attributes."""


def is_polynomial(value: SSAValue, wanted: Polynomial, x: SSAValue, y: SSAValue | None) -> bool:
    """Say whether a value is this polynomial, within the roundings of its element type."""
    found = polynomial(value, x, y)
    if found is None:
        return False
    close = 2e-3 if spec(value).dtype.size < 4 else 1e-5
    return all(
        abs(found.get(key, 0.0) - wanted.get(key, 0.0)) <= close * abs(wanted.get(key, 0.0))
        for key in {**found, **wanted}
    )


def arguments(value: SSAValue) -> Iterator[SSAValue]:
    """Give the values that a value may be a polynomial of, the nearest first."""
    waiting, seen = [(value, 0)], set[SSAValue]()
    for found, depth in waiting:
        if found in seen or scalar_of(found) is not None:
            continue
        seen.add(found)
        yield found
        op = found.owner
        if isinstance(op, Op) and depth < DEEPEST and is_arithmetic(op):
            waiting += [(operand, depth + 1) for operand in op.operands]


def argument_of(value: SSAValue, wanted: Polynomial) -> SSAValue | None:
    """Return the x that a value is this polynomial of."""
    for x in arguments(value):
        if x.type == value.type and is_polynomial(value, wanted, x, None):
            return x
    return None


def climb(value: SSAValue) -> Iterator[Op]:
    """Give the user of a value, the user of that, and so on, while each is the only one."""
    user: Operation | None = value.get_user_of_unique_use()
    for _ in range(DEEPEST):
        if not isinstance(user, Op) or len(user.results) != 1:
            return
        yield user
        user = user.results[0].get_user_of_unique_use()


def root_of(value: SSAValue, wanted: Polynomial, x: SSAValue) -> Op | None:
    """Return the operation above `value` whose result is this polynomial of x and the value."""
    for op in climb(value):
        if not is_arithmetic(op):
            return None
        result = op.results[0]
        if result.type == x.type and is_polynomial(result, wanted, x, value):
            return op
    return None

"""`Dimension`: one extent of a shape as TensorFlow's first version has it.

A known one is a number of Python's, too. Shapes give them out under the behaviour of the first
version (`compat.v1.disable_v2_behavior`), numbers and None otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from ...eager.operators import Binary

Given = TypeVar("Given")


class Behaviour:
    """What of the first version holds in this process."""

    dimensions = False
    """Whether shapes give out `Dimension`s."""
    references = False
    """Whether variables are read where they are fetched, behind what the step changes."""
    one_graph = False
    """Whether draws in branches and loops are counted as operations of the graph around them."""


def value_of(value: object) -> int | None:
    """Return an extent, None if it is not known."""
    if value is None or isinstance(value, Dimension):
        return None if value is None else value.value
    if hasattr(value, "__index__"):
        return int(value.__index__())
    raise TypeError(
        "Dimension value must be integer or None or have an __index__ method, got value "
        f"'{value}' with type '{type(value)}'"
    )


def _combined(function: Callable[[int, int], int]) -> Binary:
    """Return a method that combines two extents; what is not known leaves the result open."""

    def method(self: Dimension, other: object) -> object:
        try:
            theirs = value_of(other)
        except TypeError:
            return NotImplemented
        mine = self.value
        return Dimension(None if mine is None or theirs is None else function(mine, theirs))

    return method


def _compared(function: Callable[[int, int], bool]) -> Binary:
    """Return a method that compares two extents: None if one is not known."""

    def method(self: Dimension, other: object) -> object:
        try:
            theirs = value_of(other)
        except TypeError:
            return NotImplemented
        if self.value is None or theirs is None:
            return None
        return function(self.value, theirs)

    return method


def _type_name(value: object) -> str:
    """Return the name of the type of an operand: extents have one, known or not."""
    return "Dimension" if isinstance(value, Dimension) else type(value).__name__


def _undivided(left: str, right: str) -> TypeError:
    """Return the error for a quotient that is no whole number."""
    return TypeError(
        f"unsupported operand type(s) for /: '{left}' and '{right}', please use // instead"
    )


class Dimension:
    """One extent, which may be unknown."""

    value: int | None = None

    def __new__(cls, value: object) -> Dimension:
        """Return an extent; of one that is known, a number too."""
        found = value_of(value)
        if found is None:
            return super().__new__(cls)
        if found < 0:
            raise ValueError(f"Dimension {found} must be >= 0")
        return KnownDimension(found)

    def is_compatible_with(self, other: object) -> bool:
        """Say whether both can be the same extent."""
        theirs = Dimension(other).value
        return None in (self.value, theirs) or self.value == theirs

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise unless both can be the same extent."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: object) -> Dimension:
        """Return what both say together."""
        self.assert_is_compatible_with(other)
        return Dimension(value_of(other) if self.value is None else self.value)

    __add__ = _combined(lambda a, b: a + b)
    __radd__ = _combined(lambda a, b: b + a)
    __sub__ = _combined(lambda a, b: a - b)
    __rsub__ = _combined(lambda a, b: b - a)
    __mul__ = _combined(lambda a, b: a * b)
    __rmul__ = _combined(lambda a, b: b * a)
    __floordiv__ = _combined(lambda a, b: a // b)
    __rfloordiv__ = _combined(lambda a, b: b // a)
    __mod__ = _combined(lambda a, b: a % b)
    __rmod__ = _combined(lambda a, b: b % a)
    __lt__ = _compared(lambda a, b: a < b)
    __le__ = _compared(lambda a, b: a <= b)
    __gt__ = _compared(lambda a, b: a > b)
    __ge__ = _compared(lambda a, b: a >= b)
    __eq__ = _compared(lambda a, b: a == b)
    __ne__ = _compared(lambda a, b: a != b)

    def __truediv__(self, other: object) -> NoReturn:
        raise _undivided("Dimension", _type_name(other))

    def __rtruediv__(self, other: object) -> NoReturn:
        raise _undivided(_type_name(other), "Dimension")

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __reduce__(self) -> tuple[type[Dimension], tuple[int | None]]:
        return Dimension, (self.value,)


class KnownDimension(Dimension, int):
    """An extent that is known."""

    def __new__(cls, value: int) -> KnownDimension:
        """Return the extent as a number, too."""
        return int.__new__(cls, value)

    @property
    def value(self) -> int:  # type: ignore[override]
        """Return the number."""
        return int.__int__(self)

    def __format__(self, spec: str) -> str:
        return format(int.__int__(self), spec)


def dimension_value(dimension: Given) -> int | Given | None:
    """Return the number of an extent, None if it is not known."""
    return dimension.value if isinstance(dimension, Dimension) else dimension

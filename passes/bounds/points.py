"""Values that all atoms may have at once: what is negative at one of them cannot be shown.

A search for a proof tries many bounds, most of which lead nowhere; a point tells in a moment. The
values are those of one turn of each loop of one run, so that all facts hold of them; a point of
which one does not hold says nothing for as long as the fact is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .polynomial import Polynomial

SIZES = (67, 131, 259, 515, 99, 83, 147, 1027)
"""What sizes are at the first point; later ones take them in other orders."""
COUNT = 3
TRIES = 6
"""How many other sizes a point may take."""


class Origin(NamedTuple):
    """Where the values of an atom come from: a kind, and what it is made of.

    `symbol` and `from` (low), `turn` (how many), `walk` (from where, and how many), `//` and `%`
    (dividend and divisor), `^` (both), `least`, `most` and `any` (what it is chosen among), `data`
    (nothing).
    """

    kind: str
    parts: tuple[Polynomial, ...] = ()


class Point:
    """A value for each atom."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.values: list[int] = []
        self.is_wrong = False
        """Whether something is known here that does not hold of it."""

    def at(self, expression: Polynomial) -> int:
        """Return the value of an expression."""
        values, total = self.values, expression.constant
        for monomial, coefficient in expression.terms.items():
            product = coefficient
            for each in monomial:
                product *= values[each]
            total += product
        return total

    def again(self, origins: Sequence[Origin]) -> None:
        """Take other sizes."""
        self.number += COUNT
        self.values, self.is_wrong = [], False
        for origin in origins:
            self.add(origin)

    def add(self, origin: Origin) -> None:
        """Give the next atom a value."""
        try:
            self.values.append(self.value(origin))
        except ZeroDivisionError:
            self.values.append(0)
            self.is_wrong = True

    def value(self, origin: Origin) -> int:
        """Return one value of an origin."""
        parts = [self.at(each) for each in origin.parts]
        match origin.kind:
            case "turn" | "walk":
                found = sum(parts[:-1]) + self.turn(parts[-1])
            case "//":
                found = parts[0] // parts[1]
            case "%":
                found = parts[0] % parts[1]
            case "^":
                found = parts[0] ^ parts[1]
            case "most":
                found = max(parts)
            case "least" | "any":
                found = min(parts)
            case "symbol":
                number = len(self.values) * (self.number + 1) + self.number
                found = max(parts[0], SIZES[number % len(SIZES)])
            case "from":
                found = parts[0]
            case _:
                found = (-1, 1 << 40)[self.number % 2]
        return found

    def turn(self, turns: int) -> int:
        """Return the number of a turn of a loop: the first, the last or one between."""
        if turns < 1:
            raise ZeroDivisionError("a loop without turns")
        return (0, turns - 1, turns // 2)[(self.number + len(self.values)) % 3]


class Points:
    """Some points, and which of them facts that are known now hold of."""

    def __init__(self) -> None:
        self.all = [Point(number) for number in range(COUNT)]
        self.origins: list[Origin] = []
        self.supposed: list[Polynomial] = []

    def add(self, origin: Origin) -> None:
        """Give the next atom a value at each point."""
        self.origins.append(origin)
        for point in self.all:
            point.add(origin)

    def know(self, facts: Sequence[Polynomial]) -> None:
        """Leave out, from now on, the points of which a fact does not hold."""
        for point in self.all:
            point.is_wrong = point.is_wrong or any(point.at(fact) < 0 for fact in facts)

    def suppose(self, fact: Polynomial) -> None:
        """Know a fact from now on; a point of which it does not hold takes other sizes."""
        self.supposed.append(fact)
        self.know((fact,))
        for point in self.all:
            for _ in range(TRIES):
                if not point.is_wrong:
                    break
                point.again(self.origins)
                point.is_wrong |= any(point.at(each) < 0 for each in self.supposed)

    def wrong(self) -> list[bool]:
        """Return which points say nothing now."""
        return [point.is_wrong for point in self.all]

    def restore(self, wrong: Sequence[bool]) -> None:
        """Let the points be as they were when `wrong` was asked."""
        for point, each in zip(self.all, wrong, strict=True):
            point.is_wrong = each

    def refute(self, value: Polynomial) -> bool:
        """Say whether something is below 0 at a point."""
        for point in self.all:  # noqa: SIM110  (asked so often that a generator counts)
            if not point.is_wrong and point.at(value) < 0:
                return True
        return False

"""Values that all atoms may have at once: what is negative at one of them cannot be shown.

A search for a proof tries many bounds, most of which lead nowhere; a point tells in a moment. The
values are those of one turn of each loop of one run, so that all facts hold of them; a point of
which one does not hold says nothing for as long as the fact is known. Where none is left, as at
edges and in what is left over of rows, others are added.

Values are computed where they are asked for: most scopes ask for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from .polynomial import ONE, Monomial, Polynomial

SIZES = (67, 131, 259, 515, 99, 83, 147, 1027)
"""What sizes are at the first point; later ones take them in other orders."""
OTHERS = (24, 58, 1, 31, 13, 44, 95, 150, 8, 61, 37, 2, 78, 17, 29, 104)
"""What sizes are at points that were added."""
COUNT = 3
TRIES = 6
"""How many other sizes a point may take."""
MOST, ADDED = 16, 6
"""How many points there may be, and how many are added for the facts of one place."""


class Origin(NamedTuple):
    """Where the values of an atom come from: a kind, and what it is made of.

    `symbol` and `from` (low), `turn` (how many), `walk` (from where, and how many), `//` and `%`
    (dividend and divisor), `^` (both), `least`, `most` and `any` (what it is chosen among), `data`
    (nothing).
    """

    kind: str
    parts: tuple[Polynomial, ...] = ()


class Atoms(NamedTuple):
    """Where the values of atoms come from, and of which atoms each is made, itself too, as bits."""

    origins: list[Origin]
    needs: list[int]

    def add(self, origin: Origin) -> None:
        """Let there be another atom."""
        needs, bits = self.needs, 0
        for part in origin.parts:
            bits |= part.bits
        found = 1 << len(needs)
        while bits:
            more = needs[bits.bit_length() - 1]
            found |= more
            bits &= ~more
        self.origins.append(origin)
        needs.append(found)


class Point:
    """A value for each atom, and how many of the facts that are known now hold of them."""

    def __init__(self, number: int, atoms: Atoms) -> None:
        self.number = number
        self.atoms = atoms
        self.valued = 0
        """The atoms that have a value, as bits."""
        self.values: dict[Monomial, int] = {}
        """Of atoms, and of products that were asked for."""
        self.checked = 0
        self.is_wrong = False
        """Whether the fact behind those that were checked does not hold."""

    def at(self, expression: Polynomial) -> int:
        """Return the value of an expression."""
        values, total = self.values, expression.constant
        lacking = expression.bits & ~self.valued
        if lacking:
            self.fill(lacking)
        for monomial, coefficient in expression.terms.items():
            found = values.get(monomial)
            if found is None:
                found = values[monomial] = prod(values[each,] for each in monomial)
            total += coefficient * found
        return total

    def again(self) -> None:
        """Take other sizes."""
        self.number += COUNT
        self.valued, self.values, self.checked, self.is_wrong = 0, {}, 0, False

    def fill(self, lacking: int) -> None:
        """Give values to atoms, and to those that they are made of."""
        origins, needs, needed = self.atoms.origins, self.atoms.needs, 0
        while lacking:
            which = lacking.bit_length() - 1
            needed |= needs[which]
            lacking &= ~needs[which]
        needed &= ~self.valued
        while needed:  # what an atom is made of was made before it
            lowest = needed & -needed
            which = lowest.bit_length() - 1
            self.values[which,] = self.value(which, origins[which])
            self.valued |= lowest
            needed ^= lowest

    def is_alive(self, known: Sequence[Polynomial]) -> bool:
        """Say whether all that is known holds here."""
        if self.is_wrong:
            return False
        for fact in known[self.checked :]:
            if self.at(fact) < 0:
                self.is_wrong = True
                return False
            self.checked += 1
        return True

    def forget(self, count: int) -> None:
        """Know as many facts as before."""
        if self.checked >= count:
            self.checked, self.is_wrong = count, False

    def value(self, which: int, origin: Origin) -> int:
        """Return one value of an atom; any where there is none, as of a loop without turns."""
        parts = [self.at(each) for each in origin.parts]
        match origin.kind:
            case "turn" | "walk":
                found = sum(parts[:-1]) + (self.turn(which, parts[-1]) if parts[-1] > 0 else 0)
            case "//":
                found = parts[0] // (parts[1] or 1)
            case "%":
                found = parts[0] % (parts[1] or 1)
            case "^":
                found = parts[0] ^ parts[1]
            case "most":
                found = max(parts)
            case "least" | "any":
                found = min(parts)
            case "symbol":
                found = max(parts[0], self.size(which))
            case "from":
                found = parts[0]
            case _:
                found = (-1, 1 << 40)[self.number % 2]
        return found

    def size(self, which: int) -> int:
        """Return what a size is."""
        at = which * (self.number + 1) + self.number
        return SIZES[at % len(SIZES)] if self.number < COUNT else OTHERS[at % len(OTHERS)]

    def turn(self, which: int, turns: int) -> int:
        """Return the number of a turn of a loop: one of the first, the last or one between."""
        at = self.number + which
        if self.number < COUNT:
            return (0, turns - 1, turns // 2)[at % 3]
        ways = (0, turns - 1, turns // 2, 0, turns // 3, min(1, turns - 1), max(turns - 2, 0))
        return ways[(at + self.number * which) * 40503 % 65537 % len(ways)]


class Points:
    """Some points, and which of them facts that are known now hold of."""

    def __init__(self) -> None:
        self.atoms = Atoms([], [])
        self.known: list[Polynomial] = []
        """What is at least 0 now: facts, and that loops have turns and divisors are not 0."""
        self.all = [Point(number, self.atoms) for number in range(COUNT)]
        """Those that were there first, and those that were added."""
        self.hopeless = 0
        """With how many known facts, if any, no point was found."""

    @property
    def origins(self) -> list[Origin]:
        """Return where the values of all atoms come from."""
        return self.atoms.origins

    def add(self, origin: Origin) -> None:
        """Let there be another atom."""
        self.atoms.add(origin)
        if origin.kind in ("turn", "walk", "//", "%"):
            least = origin.parts[-1]
            if least.terms or least.constant < 1:
                self.known.append(least - ONE)

    def know(self, facts: Iterable[Polynomial]) -> None:
        """Leave out, from now on, the points of which a fact does not hold."""
        self.known += facts

    def suppose(self, fact: Polynomial) -> None:
        """Know a fact from now on; a point of which it does not hold takes other sizes."""
        self.known.append(fact)
        for point in self.all:
            for _ in range(TRIES):
                if point.is_alive(self.known):
                    break
                point.again()

    def restore(self, count: int) -> None:
        """Know as many facts as before."""
        del self.known[count:]
        for point in self.all:
            point.forget(count)
        if self.hopeless > count:
            self.hopeless = 0

    def refute(self, value: Polynomial, *, search: bool = True) -> bool:
        """Say whether something is below 0 at a point; `search` for one if none is left."""
        known = self.known
        count, left = len(known), 0
        for point in self.all:
            if point.is_wrong:
                continue
            if point.checked < count and not point.is_alive(known):
                continue
            if point.at(value) < 0:
                return True
            left += 1
            if left == COUNT:
                return False
        return search and not left and self.found() and self.refute(value)

    def found(self) -> bool:
        """Add points until one says something here; say whether there is one."""
        if not self.hopeless:
            for _ in range(min(ADDED, MOST - len(self.all))):
                point = Point(len(self.all), self.atoms)
                self.all.append(point)
                if point.is_alive(self.known):
                    return True
            self.hopeless = max(len(self.known), 1)
        return False

"""Values that all atoms may have at once: what is negative at one of them cannot be shown.

A search for a proof tries many bounds, most of which lead nowhere; a point tells in a moment. The
values are those of one turn of each loop of one run, so that all facts hold of them; a point of
which one does not hold says nothing for as long as the fact is known. Where none is left, as at
edges and in what is left over of rows, others are added.

Values are computed where they are asked for: most scopes ask for nothing. Those of some points are
the digits of one number, so that an expression takes as long as at one point:

    x = 3 and 70 and 0:   3 + 70 * B + 0 * B**2        x - 5:   -2 + 65 * B - 5 * B**2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from .polynomial import ONE, Monomial, Polynomial

SIZES = (67, 131, 259, 515, 99, 83, 147, 1027)
"""What sizes are at the first point; later ones take them in other orders."""
OTHERS = (24, 58, 1, 31, 13, 44, 95, 150, 8, 61, 37, 2, 78, 17, 29, 104)
"""What sizes are at points that were added."""
COUNT, ENDS = 5, 2
"""How many points there are first; in the first of these all loops are in their last turn, or in
their first one, where most bounds are met."""
TRIES = 6
"""How many other sizes a point may take."""
MOST, ADDED = 17, 6
"""How many points there may be, and how many are added for the facts of one place."""
WIDTH, LARGE = 192, 1 << 128
"""Bits of a digit, and what no product of atoms may reach: sums of some stay in a digit then."""
HALF = 1 << (WIDTH - 1)
Row: TypeAlias = list[int]
"""A value for each of some points."""


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


class Some:
    """Some points: a value of each atom at each, and at which of them facts hold."""

    def __init__(self, numbers: Iterable[int], atoms: Atoms) -> None:
        self.numbers = list(numbers)
        self.atoms = atoms
        self.shifts = [WIDTH * at for at in range(len(self.numbers))]
        self.ones = sum(1 << shift for shift in self.shifts)
        self.signs = self.ones * HALF
        """A bit for each point: the highest of its digit."""
        self.begin()

    def begin(self) -> None:
        """Know nothing."""
        self.fitting = self.signs
        """The points all of whose values fit into digits."""
        self.valued = 0
        """The atoms that have values, as bits."""
        self.rows: dict[int, Row] = {}
        self.values: dict[Monomial, int] = {}
        """Of atoms, and of products that were asked for."""
        self.living = [self.signs]
        """The points at which the first facts hold, by how many of them."""

    def at(self, expression: Polynomial) -> int:
        """Return the values of an expression as one number."""
        values, total = self.values, expression.constant * self.ones
        lacking = expression.bits & ~self.valued
        if lacking:
            self.fill(lacking)
        for monomial, coefficient in expression.terms.items():
            found = values.get(monomial)
            if found is None:
                found = values[monomial] = self.product(monomial)
            total += coefficient * found
        return total

    def below(self, expression: Polynomial) -> int:
        """Return the points at which an expression is below 0."""
        return ~(self.at(expression) + self.signs) & self.signs

    def sides(self, expression: Polynomial) -> tuple[int, int]:
        """Return the points at which an expression is below 0, and those at which it is above."""
        total = self.at(expression)
        return ~(total + self.signs) & self.signs, ~(self.signs - total) & self.signs

    def row(self, expression: Polynomial) -> Row:
        """Return the values of an expression."""
        terms, constant = expression.terms, expression.constant
        if not terms:
            return [constant] * len(self.numbers)
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            if len(monomial) == 1:
                if not self.valued >> monomial[0] & 1:
                    self.fill(expression.bits)
                row = self.rows[monomial[0]]
                return [value * coefficient + constant for value in row]
        total, mask = self.at(expression) + self.signs, 2 * HALF - 1
        return [(total >> shift & mask) - HALF for shift in self.shifts]

    def product(self, monomial: Monomial) -> int:
        """Return values as one number; a point at which one is too large says nothing any more."""
        rows = [self.rows[each] for each in monomial]
        row = [prod(each) for each in zip(*rows, strict=True)] if len(rows) > 1 else rows[0]
        if max(row) >= LARGE or min(row) <= -LARGE:
            for at, value in enumerate(row):
                if abs(value) >= LARGE:
                    row[at] = 0
                    self.fitting &= ~(HALF << self.shifts[at])
        total = 0
        for value in reversed(row):
            total = (total << WIDTH) + value
        return total

    def again(self, wrong: int) -> None:
        """Take other sizes at these points."""
        for at, shift in enumerate(self.shifts):
            self.numbers[at] += COUNT * bool(wrong & HALF << shift)
        self.begin()

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
            self.rows[which] = self.made(which, origins[which])
            self.valued |= lowest
            needed ^= lowest

    def alive(self, known: Sequence[Polynomial]) -> int:
        """Return the points at which all that is known holds."""
        living = self.living
        for fact in known[len(living) - 1 :]:
            before = living[-1]
            living.append(before and before & ~self.below(fact))
        return living[-1] & self.fitting

    def forget(self, count: int) -> None:
        """Know as many facts as before."""
        del self.living[count + 1 :]

    def made(self, which: int, origin: Origin) -> Row:
        """Return the values of an atom; any where there is none, as of a loop without turns."""
        kind, numbers = origin.kind, self.numbers
        parts = [self.row(each) for each in origin.parts]
        match kind:
            case "turn" | "walk":
                rows = zip(numbers, parts[-1], strict=True)
                found = [turn(number, which, turns) if turns > 0 else 0 for number, turns in rows]
                if kind == "walk":
                    found = [a + b for a, b in zip(parts[0], found, strict=True)]
            case "//":
                found = [n // (d or 1) for n, d in zip(*parts, strict=True)]
            case "%":
                found = [n % (d or 1) for n, d in zip(*parts, strict=True)]
            case "^":
                found = [a ^ b for a, b in zip(*parts, strict=True)]
            case "most":
                found = [max(row) for row in zip(*parts, strict=True)]
            case "least" | "any":
                found = [min(row) for row in zip(*parts, strict=True)]
            case "symbol":
                rows = zip(numbers, parts[0], strict=True)
                found = [max(low, size(number, which)) for number, low in rows]
            case "from":
                found = parts[0]
            case _:
                found = [(-1, 1 << 40)[number % 2] for number in numbers]
        return found


def size(point: int, which: int) -> int:
    """Return what a size is at a point."""
    at = which * (point + 1) + point
    return SIZES[at % len(SIZES)] if point < COUNT else OTHERS[at % len(OTHERS)]


def turn(point: int, which: int, turns: int) -> int:
    """Return the number of a turn of a loop: one of the first, the last or one between."""
    if point % COUNT < ENDS:
        return 0 if point % COUNT else turns - 1
    if point < COUNT:
        return (0, turns - 1, turns // 2)[(point + which) % 3]
    ways = (0, turns - 1, turns // 2, 0, turns // 3, min(1, turns - 1), max(turns - 2, 0))
    return ways[(point + which + point * which) * 40503 % 65537 % len(ways)]


class Points:
    """Some points, and which of them facts that are known now hold of."""

    def __init__(self) -> None:
        self.atoms = Atoms([], [])
        self.known: list[Polynomial] = []
        """What is at least 0 now: facts, and that loops have turns and divisors are not 0."""
        self.all = [Some(range(COUNT), self.atoms)]
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
        for some in self.all:
            for _ in range(TRIES):
                wrong = some.signs & ~some.alive(self.known)
                if not wrong:
                    break
                some.again(wrong)

    def restore(self, count: int) -> None:
        """Know as many facts as before."""
        del self.known[count:]
        for some in self.all:
            some.forget(count)
        if self.hopeless > count:
            self.hopeless = 0

    def refute(self, value: Polynomial, *, search: bool = True) -> bool:
        """Say whether something is below 0 at a point; `search` for one if none is left."""
        left = 0
        for some in self.all:
            alive = some.alive(self.known)
            if alive:
                if some.below(value) & alive & some.fitting:
                    return True
                left += alive.bit_count()
                if left >= COUNT:
                    return False
        return search and not left and self.found() and self.refute(value)

    def sides(self, value: Polynomial) -> tuple[bool, bool]:
        """Say whether something is below 0 at a point, and whether it is above 0 at one."""
        below = above = False
        for some in self.all:
            alive = some.alive(self.known)
            if alive:
                under, over = some.sides(value)
                alive &= some.fitting
                below, above = below or bool(under & alive), above or bool(over & alive)
                if below and above:
                    break
        return below, above

    def found(self) -> bool:
        """Add points until one says something here; say whether there is one."""
        count = sum(len(some.numbers) for some in self.all)
        if not self.hopeless and count < MOST:
            some = Some(range(count, count + ADDED), self.atoms)
            self.all.append(some)
            if some.alive(self.known):
                return True
            self.hopeless = max(len(self.known), 1)
        return False

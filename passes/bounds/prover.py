"""Proofs that an index expression is not negative.

The latest atom of an expression is replaced by what bounds it, from below where its coefficient is
positive and from above where it is negative, until numbers are left or no bound helps:

    m*n - 1 - n*q - r,   r <= n - 1,   q = u // n,   u <= m*n - 1
    m*n - n - n*q   =   n * (m - 1 - q)             holds where u <= n*(m - 1) + n - 1

Sizes are symbols of at least 0. Divisors must be shown to be at least 1 where a bound of a quotient
is used. What is found holds for all values within the bounds; what is not found may hold as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from ...ir import dims as dim_rules
from ...ir.types.dims import Dim, Range
from .polynomial import ZERO, Polynomial, atom, number

Bound: TypeAlias = tuple[Polynomial, Polynomial]
"""A factor k >= 1 and b: k * atom is at least (or at most) b."""
ONE = number(1)
DEEPEST = 100
"""How deep steps may be within each other."""
FUEL = 120
"""Steps that one proof may take in one order."""
BUDGET = 20000
"""Steps that all proofs together may take."""
Order: TypeAlias = Callable[[Polynomial], int]
"""Which atom of an expression is replaced next; -1 if it has none."""


@dataclass
class Atom:
    """What is known of one atom."""

    name: str
    lows: list[Bound] = field(default_factory=list)
    highs: list[Bound] = field(default_factory=list)
    among: tuple[Polynomial, ...] = ()
    """It is not below the smallest of these, or not above the largest."""
    among_low: bool = False
    among_high: bool = False
    is_natural: bool = False
    """Whether it is at least 0 wherever it stands."""
    divisor: Polynomial = ONE
    """What must be at least 1 for the bounds to hold."""
    dividend: Polynomial = ZERO
    """What must be at least 0 for the bounds to hold."""
    parts: tuple[Polynomial, Polynomial] | None = None
    """Of a quotient: what is divided, and by what."""


class Prover:
    """Knows atoms and facts, and proves inequalities."""

    def __init__(self, ranges: Mapping[str, Range] | None = None) -> None:
        self.atoms: list[Atom] = []
        self.ranges = dict(ranges or {})
        self._symbols: dict[str, Polynomial] = {}
        self._made: list[dict[object, Polynomial]] = [{}]
        """What was made of what, while the facts hold that were known then."""
        self._known: list[dict[tuple[Order, Polynomial], bool]] = [{}]
        self._order: Order = self.latest
        self.budget = BUDGET
        """How many steps all proofs may still take."""
        self._digits: dict[int, Polynomial] = {}
        """Atoms that were cut, as their digits."""
        self._fuel = 0
        self._open: dict[Polynomial, int] = {}
        """What is being proven, by how many are before it."""
        self._reached = 0
        """The least of those that were come back to."""

    # -- atoms ----------------------------------------------------------------------------

    def new(self, name: str, *, low: Polynomial | int | None = None) -> Polynomial:
        """Return a new atom, of which a lower bound may be known."""
        made = Atom(name)
        if low is not None:
            bound = number(low) if isinstance(low, int) else low
            made.lows.append((ONE, bound))
            made.is_natural = bound.is_constant and bound.constant >= 0
        self.atoms.append(made)
        return atom(len(self.atoms) - 1)

    def counter(self, name: str, low: Polynomial, high: Polynomial, step: Polynomial) -> Polynomial:
        """Return what walks from `low` by `step` as long as it is below `high`."""
        if step == ONE:
            made = self.new(name, low=low)
            self.atoms[-1].highs.append((ONE, high - 1))
            self.atoms[-1].is_natural = self.holds(low)
            return made
        turn = self.new(name, low=0)
        self.atoms[-1].highs.append(_tight(step, high - low - 1))
        return low + turn * step

    def symbol(self, name: str) -> Polynomial:
        """Return a symbol: at least 0, or in its range."""
        made = self._symbols.get(name)
        if made is None:
            low, high = self.ranges.get(name, (0, None))
            made = self._symbols[name] = self.new(name, low=max(low, 0))
            if high is not None:
                self.atoms[-1].highs.append((ONE, number(high)))
        return made

    def quotient(self, n: Polynomial, d: Polynomial, *, unsigned: bool = False) -> Polynomial:
        """Return n // d, rounded down; of a negative n, if `unsigned`, nothing is known."""
        n, d = self.resolved(n), self.resolved(d)
        simple = self._simple_quotient(n, d, unsigned=unsigned)
        if simple is not None:
            return simple
        is_down = not unsigned or self.holds(n)
        whole, by = self._unnested(n, d) if is_down else (n, d)
        key = "//", whole, by, is_down
        made = self._found(key)
        if made is None:
            made = self._made[-1][key] = self.new("//")
            row = self.atoms[-1]
            row.divisor, row.dividend = by, ZERO if is_down else n
            row.parts = (whole, by) if is_down else None
            if self.holds(n):
                row.lows.append((ONE, ZERO))
                row.is_natural = True
        row = self.atoms[made.latest]
        for divisor, value in ((d, n), (by, whole)):
            if (divisor, value) not in row.highs:
                row.lows.append((divisor, value - divisor + 1))
                row.highs.append((divisor, value))
        return made

    def _simple_quotient(
        self, n: Polynomial, d: Polynomial, *, unsigned: bool
    ) -> Polynomial | None:
        """Return a quotient that needs no atom of its own, or digits of what is divided."""
        if d == ONE or not n.terms:
            return n
        if n.is_constant and d.is_constant and d.constant > 0 and n.constant >= 0:
            return number(n.constant // d.constant)
        whole = n.divided(d)
        if whole is not None and d.is_constant:
            return whole
        if n.terms == {(n.latest,): 1} and self._is_cut(n.latest, d):
            return self._cut(n.latest, d)
        multiple, below = n.split(d)
        if not multiple.terms or not self.holds(below) or not self.holds(d - 1 - below):
            return None
        return multiple if not unsigned or self.holds(multiple) else None

    def _is_cut(self, which: int, d: Polynomial) -> bool:
        """Say whether an atom can be taken as digits: a multiple of a size, and what is left."""
        row = self.atoms[which]
        fits = row.is_natural and not row.among and bool(row.highs)
        return fits and row.highs[0][0] == ONE and d.latest < which and not row.dividend.terms

    def _cut(self, which: int, d: Polynomial) -> Polynomial:
        """Take an atom as q * d + r from now on, with r below d; return q."""
        high = self.atoms[which].highs[0][1]
        q, r = self.new("q", low=0), self.new("r", low=0)
        rest, outer = self.atoms[-1], self.atoms[-2]
        rest.highs.append((ONE, d - 1))
        rest.divisor = outer.divisor = d * self.atoms[which].divisor
        whole = (high + 1).divided(d)
        if whole is not None:
            outer.highs.append((ONE, whole - 1))
        else:
            rest.highs.append((ONE, high - q * d))
        outer.highs.append(_tight(d, high) if d.is_constant else (d, high))
        self._digits[which] = q * d + r
        return q

    def resolved(self, value: Polynomial) -> Polynomial:
        """Return an expression with atoms that were cut as their digits."""
        digits = self._digits
        while digits:
            cut = next((each for each in value.atoms() if each in digits), None)
            if cut is None:
                break
            factor, rest = value.parted(cut)
            value = factor * digits[cut] + rest
        return value

    def _unnested(self, n: Polynomial, d: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Return n and d of the same quotient, where n was a quotient itself."""
        if n.terms == {(n.latest,): 1} and (inner := self.atoms[n.latest].parts):
            return inner[0], inner[1] * d
        return n, d

    def remainder(self, n: Polynomial, d: Polynomial, *, unsigned: bool = False) -> Polynomial:
        """Return n % d, at least 0: n less a multiple of d."""
        if d == ONE:
            return ZERO
        return n - self.quotient(n, d, unsigned=unsigned) * d

    def one_of(self, kind: str, *values: Polynomial) -> Polynomial:
        """Return the `min` or `max` of values, or any of them (`select`)."""
        first = values[0]
        if all(each == first for each in values):
            return first
        if kind != "select" and len(values) == 2:
            for one, other in (values, values[::-1]):
                if self.holds(other - one):
                    return one if kind == "min" else other
        key = kind, *values
        made = self._found(key)
        if made is None:
            made = self._made[-1][key] = self.new(kind)
            row = self.atoms[-1]
            row.among, row.among_low, row.among_high = values, kind != "max", kind != "min"
            if kind == "min":
                row.highs = [(ONE, each) for each in values]
            if kind == "max":
                row.lows = [(ONE, each) for each in values]
            natural = any if kind == "max" else all
            row.is_natural = natural(self.holds(each) for each in values)
        return made

    def dim(self, dim: Dim) -> Polynomial:
        """Return a dimension."""
        if isinstance(dim, int):
            return number(dim)
        total = ZERO
        for monomial, coefficient in dim.terms:
            term = number(coefficient)
            for each in monomial:
                term = term * self._factor(each)
            total = total + term
        return total

    def _factor(self, one: dim_rules.Atom) -> Polynomial:
        if not one.op:
            return self.symbol(one.name)
        a, b = (self.dim(dim_rules.parse(text)) for text in one.args)
        match one.op:
            case "//":
                return self.quotient(a, b)
            case "%":
                return self.remainder(a, b)
            case kind:
                return self.one_of(kind, a, b)

    def _found(self, key: object) -> Polynomial | None:
        return next((made[key] for made in reversed(self._made) if key in made), None)

    def text(self, value: Polynomial) -> str:
        """Return an expression as it is read, atoms by name and number."""
        parts = []
        for monomial, coefficient in sorted(value.terms.items(), key=lambda term: -len(term[0])):
            factors = [self._name(each) for each in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            parts.append(f"{'-' if coefficient < 0 else '+'} {'*'.join(factors)}")
        return " ".join(parts).removeprefix("+ ") or "0"

    def _name(self, which: int) -> str:
        name = self.atoms[which].name
        return name if name in self._symbols else f"{name}{which}"

    # -- facts ----------------------------------------------------------------------------

    @contextmanager
    def given(self, facts: Sequence[Polynomial]) -> Iterator[None]:
        """Take for granted, for a while, that these are at least 0."""
        added = [row for fact in facts for row in self._learn(self.resolved(fact).reduced())]
        if added:
            self._known.append({})
            self._made.append({})
        yield
        for bounds, bound in reversed(added):
            bounds.remove(bound)
        if added:
            self._known.pop()
            self._made.pop()

    def suppose(self, fact: Polynomial) -> None:
        """Take for granted from now on that something is at least 0."""
        self._learn(self.resolved(fact).reduced())
        self._known = [{}]

    def _learn(self, fact: Polynomial) -> list[tuple[list[Bound], Bound]]:
        """Add a fact to the bounds of an atom; return what was added to what."""
        last = fact.latest
        if last < 0:
            return []
        products = [m for m in fact.terms if m]
        if len(products) == 1 and fact.constant < 0 < fact.terms[products[0]]:
            factors = set(products[0])  # a product that is at least 1: so is each of its factors
            if len(products[0]) > 1 and all(self.atoms[each].is_natural for each in factors):
                return [self._add(self.atoms[each].lows, (ONE, ONE)) for each in factors]
        return self._bounded(last, *fact.parted(last))

    def _bounded(
        self, which: int, factor: Polynomial, rest: Polynomial
    ) -> list[tuple[list[Bound], Bound]]:
        """Add what factor * atom + rest >= 0 says of an atom."""
        row = self.atoms[which]
        if which in factor.atoms():
            return []
        if self.holds(factor - 1):
            scale, limit = _tight(factor, rest)
            return [self._add(row.lows, (scale, -limit))]
        if self.holds(-factor - 1):
            return [self._add(row.highs, _tight(-factor, rest))]
        return []

    @staticmethod
    def _add(bounds: list[Bound], bound: Bound) -> tuple[list[Bound], Bound]:
        bounds.append(bound)
        return bounds, bound

    # -- proofs ---------------------------------------------------------------------------

    def holds(self, value: Polynomial) -> bool:
        """Say whether something is shown to be at least 0."""
        value = self.resolved(value).reduced()
        if value.is_constant:
            return value.constant >= 0
        if self._is_sum_of_naturals(value):
            return True
        return any(self._holds_by(order, value) for order in (self.latest, self.single))

    def _holds_by(self, order: Order, value: Polynomial) -> bool:
        """Say whether something is shown by replacing atoms in an order."""
        saved = self._order, self._fuel, self._open, self._reached
        self._order, self._fuel, self._open, self._reached = order, FUEL, {}, 0
        found = self._holds(value)
        self._order, self._fuel, self._open, self._reached = saved
        return found

    @staticmethod
    def latest(value: Polynomial) -> int:
        """Return the atom that was made last."""
        return value.latest

    def single(self, value: Polynomial) -> int:
        """Return an atom that lies between numbers, else the one that was made last."""
        for each in sorted(set(value.atoms()), reverse=True):
            row = self.atoms[each]
            bounds = (row.lows[:1], row.highs[:1])
            if all(b and b[0][0] == ONE and b[0][1].is_constant for b in bounds):
                return each
        return value.latest

    def _holds(self, value: Polynomial) -> bool:
        value = self.resolved(value).reduced()
        if value.is_constant:
            return value.constant >= 0
        key = self._order, value
        known = self._known[-1].get(key)
        if known is not None:
            return known
        if self._is_sum_of_naturals(value):
            self._known[-1][key] = True
            return True
        if self._fuel <= 0 or self.budget <= 0 or len(self._open) > DEEPEST:
            self._fuel = 0
            return False
        depth = self._open.get(value)
        if depth is not None:  # what leads back to itself shows nothing
            self._reached = min(self._reached, depth)
            return False
        self._fuel -= 1
        self.budget -= 1
        self._open[value] = len(self._open)
        outer, self._reached = self._reached, len(self._open)
        found = any(self._follows(each) for each in (self._without_factors(value), value))
        depth = self._open.pop(value)
        if found or (self._fuel > 0 and self._reached >= depth):
            self._known[-1][key] = found
        self._reached = min(outer, self._reached)
        return found

    def _is_sum_of_naturals(self, value: Polynomial) -> bool:
        return min(value.terms.values()) >= 0 and all(
            self.atoms[each].is_natural for each in value.atoms()
        )

    def _without_factors(self, value: Polynomial) -> Polynomial:
        """Return what is left of a product of atoms that are at least 0, and something."""
        while natural := [each for each in value.shared() if self.atoms[each].is_natural]:
            rest = value.divided(atom(natural[0]))
            assert rest is not None, "every term has the atom"
            value = rest.reduced()
        return value

    def _follows(self, value: Polynomial) -> bool:
        last = self._order(value)
        if last < 0:
            return value.constant >= 0
        row = self.atoms[last]
        factor, rest = value.parted(last)
        if not self._is_sane(row):
            return False
        up = self._sign(factor)
        if up is None:
            return last not in factor.atoms() and self._holds_at_ends(row, factor, rest)
        for bound in row.lows if up else row.highs:
            if self._holds(_replaced(factor, rest, bound, up=up)):
                return True
        if row.among and (row.among_low if up else row.among_high):
            return all(self._holds(factor * each + rest) for each in row.among)
        return False

    def _holds_at_ends(self, row: Atom, factor: Polynomial, rest: Polynomial) -> bool:
        """Say whether factor * atom + rest is at least 0 where the atom is least and largest."""
        return all(
            any(scale == ONE and self._holds(factor * limit + rest) for scale, limit in bounds)
            for bounds in (row.lows, row.highs)
        )

    def _sign(self, factor: Polynomial) -> bool | None:
        """Say whether a factor is at least 0 or at most 0; None if neither is known."""
        if factor.is_constant:
            return factor.constant > 0
        if self._holds(factor):
            return True
        return False if self._holds(-factor) else None

    def _is_sane(self, row: Atom) -> bool:
        """Say whether an atom's bounds hold here: those of a quotient by 0 do not."""
        if row.divisor is ONE or (row.divisor.is_constant and not row.dividend.terms):
            return row.divisor.constant > 0
        return self._holds(row.divisor - 1) and self._holds(row.dividend)


def _replaced(factor: Polynomial, rest: Polynomial, bound: Bound, *, up: bool) -> Polynomial:
    """Return what must be at least 0 for factor * atom + rest to be, by a bound of the atom."""
    scale, limit = bound
    if scale is ONE or scale == ONE:
        return factor * limit + rest
    part = factor.divided(scale)
    if part is not None:
        return part * limit + rest
    if factor.is_constant:
        # Whole numbers: the atom is compared with `rest` over the factor, rounded towards it.
        size = abs(factor.constant)
        target = _rounded(rest, size)
        if target is not None:
            # up: atom >= -target, where scale * atom >= limit; else atom <= target.
            return (limit if up else -limit) + scale * target + scale - 1
    return factor * limit + rest * scale


def _tight(scale: Polynomial, limit: Polynomial) -> Bound:
    """Return the bound scale * atom <= limit without the scale, where the limit can be rounded."""
    if scale != ONE and scale.is_constant:
        rounded = _rounded(limit, scale.constant)
        if rounded is not None:
            return ONE, rounded
    return scale, limit


def _rounded(rest: Polynomial, size: int) -> Polynomial | None:
    """Return rest / size, rounded down, if that is an expression."""
    made = {}
    for monomial, coefficient in rest.terms.items():
        if monomial and coefficient % size:
            return None
        if coefficient // size:
            made[monomial] = coefficient // size
    return Polynomial(made)

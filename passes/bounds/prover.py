"""Proofs that an index expression is not negative.

The latest atom of an expression is replaced by what bounds it, from below where its coefficient is
positive and from above where it is negative, until numbers are left or no bound helps:

    m*n - 1 - n*q - r,   r <= n - 1,   q = u // n,   u <= m*n - 1
    m*n - n - n*q   =   n * (m - 1 - q)             holds where u <= n*(m - 1) + n - 1

Sizes are symbols of at least 0. Divisors must be shown to be at least 1 where a bound of a quotient
is used. What is found holds for all values within the bounds; what is not found may hold as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import TypeAlias

from ...ir import dims as dim_rules
from ...ir.types.dims import Dim, Range
from .bound import Atom, Bound, replaced, tight
from .every import Every
from .points import Origin
from .polynomial import ONE, ZERO, Polynomial, atom, number
from .scopes import Learned, Order, Scopes

DATA = Origin("data")
DEEPEST = 100
"""How deep steps may be within each other: each takes four calls of Python's stack."""
FUEL = 120
"""Steps that one proof may take in one order, without those that it has no choice in."""
PATIENCE = 6
"""Steps that one proof takes before points are looked for: most need fewer."""
EARLY = 8
"""Steps that are tried before what is given is learned from."""
TRUST = 2
"""Steps without a look at points, of a proof that is expected to be found."""
LEARNED = 60
"""How many facts may be learned from one: what follows from each other can go on for ever."""
BUDGET = 20000
"""Steps that all proofs together may take."""
LATEST: Order = attrgetter("latest")
Helpful: TypeAlias = dict[tuple[int, bool], Bound]
"""Bounds by the atom that they are of, and whether from below."""


class Prover(Scopes):
    """Knows atoms and facts, and proves inequalities."""

    def __init__(self, ranges: Mapping[str, Range] | None = None) -> None:
        super().__init__()
        self.atoms: list[Atom] = []
        self.naturals = self.quotients = self._chosen_ones = self._cuts = 0
        """Atoms that are at least 0 wherever they stand, those with `parts`, those with `among`,
        and those that were cut, as bits."""
        self.ranges = dict(ranges or {})
        self._symbols: dict[str, Polynomial] = {}
        self._of_dims: dict[dim_rules.Atom, Polynomial] = {}
        """What quotients and other parts of dimensions are."""
        self.later: dict[int, tuple[list[Bound], list[Bound]]] = {}
        """Upper and lower bounds of counters by atoms that were made later."""
        self._order: Order = LATEST
        self.budget = BUDGET
        """How many steps all proofs may still take."""
        self._sizes: list[Polynomial] = []
        """What was supposed, like sizes that are sums: these may be factors of others."""
        self._digits: dict[int, Polynomial] = {}
        """Atoms that were cut, as their digits."""
        self._resolved: dict[Polynomial, Polynomial] = {}
        self._fuel = self._patience = self._doubt = 0
        self._open: dict[Polynomial, int] = {}
        """What is being proven, by how many are before it."""
        self._reached = 0
        """The least of those that were come back to."""
        self._learned = 0
        """How many facts were learned from the one that is given."""
        self.helpful: Helpful = {}
        """By which bound of an atom what was like this was shown last: it is tried first."""

    # -- atoms ----------------------------------------------------------------------------

    def new(
        self, name: str, *, low: Polynomial | int | None = None, origin: Origin | None = None
    ) -> Polynomial:
        """Return a new atom, of which a lower bound, and where its values come from, is known."""
        made, come = Atom(name), DATA
        if low is not None:
            bound = number(low) if isinstance(low, int) else low
            made.lows.append((ONE, bound))
            if bound.is_constant and bound.constant >= 0:
                self.naturals |= 1 << len(self.atoms)
            come = Origin("from", (bound,))
        self.points.add(origin or come)
        self.atoms.append(made)
        return atom(len(self.atoms) - 1)

    def is_natural(self, which: int) -> bool:
        """Say whether an atom is at least 0 wherever it stands."""
        return bool(self.naturals >> which & 1)

    def note_natural(self, made: Polynomial, *values: Polynomial) -> None:
        """Note that an atom is at least 0 wherever it stands if all of these are."""
        if all(self.holds(each) for each in values):
            self.naturals |= made.bits

    def counter(self, name: str, low: Polynomial, high: Polynomial, step: Polynomial) -> Polynomial:
        """Return what walks from `low` by `step` as long as it is below `high`."""
        low, high = self.resolved(low), self.resolved(high)
        extent = high - low
        if step == ONE or self._is_any(step):
            made = self.new(name, low=low, origin=Origin("walk", (low, extent)))
            self.atoms[-1].highs.append((ONE, high - 1))
            self.note_natural(made, low)
            return made
        turns = self.quotient(extent + step - 1, step)
        turn = self.new(name, low=0, origin=Origin("turn", (turns,)))
        self.atoms[-1].highs.append(tight(step, extent - 1))
        return low + turn * step

    def _is_any(self, step: Polynomial) -> bool:
        """Say whether of a step nothing is known but that it is at least 1: it may be 1 as well."""
        return (
            step.is_atom
            and self.points.origins[step.latest] == Origin("from", (ONE,))
            and not self.atoms[step.latest].highs
        )

    def symbol(self, name: str) -> Polynomial:
        """Return a symbol: at least 0, or in its range."""
        made = self._symbols.get(name)
        if made is None:
            low, high = self.ranges.get(name, (0, None))
            origin = Origin("symbol", (number(max(low, 0)),))
            made = self._symbols[name] = self.new(name, low=max(low, 0), origin=origin)
            if high is not None:
                self.atoms[-1].highs.append((ONE, number(high)))
        return made

    def quotient(self, n: Polynomial, d: Polynomial, *, unsigned: bool = False) -> Polynomial:
        """Return n // d, rounded down; of a negative n, if `unsigned`, nothing is known."""
        n, d = self.resolved(n), self.resolved(d)
        found = self._quotients.get((n, d, unsigned))
        if found is None:
            found = self._made_quotient(n, d, unsigned=unsigned)
            self._quotients[n, d, unsigned] = found
        return found

    def _made_quotient(self, n: Polynomial, d: Polynomial, *, unsigned: bool) -> Polynomial:
        if d.is_constant and d.constant <= 0:  # by nothing: of what is never reached
            return self.new("//")
        simple = self._simple_quotient(n, d, unsigned=unsigned)
        if simple is not None:
            return simple
        is_down = not unsigned or self.holds(n)
        whole, by = self._unnested(n, d) if is_down else (n, d)
        key = "//", whole, by, is_down
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self.new("//", origin=Origin("//", (whole, by)))
            row = self.atoms[-1]
            row.divisor, row.dividend = by, ZERO if is_down else n
            row.parts = (whole, by) if is_down else None
            self.quotients |= made.bits if is_down else 0
            if self.holds(n):
                row.lows.append((ONE, ZERO))
                self.naturals |= made.bits
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
        if d == ONE or n.is_zero:
            return n
        if n.is_constant and d.is_constant and d.constant > 0 and n.constant >= 0:
            return number(n.constant // d.constant)
        whole = n.divided(d)
        if whole is not None and d.is_constant:
            return whole
        if n.is_atom and self._is_cut(n.latest, d):
            return self._cut(n.latest, d)
        multiple, below = n.split(d)
        if multiple.is_zero or not self.holds(below) or not self.holds(d - 1 - below):
            return None
        return multiple if not unsigned or self.holds(multiple) else None

    def _is_cut(self, which: int, d: Polynomial) -> bool:
        """Say whether an atom can be taken as digits: a multiple of a size, and what is left."""
        row = self.atoms[which]
        fits = self.is_natural(which) and not row.among and bool(row.highs)
        return fits and row.highs[0][0] is ONE and d.latest < which and row.dividend.is_zero

    def _cut(self, which: int, d: Polynomial) -> Polynomial:
        """Take an atom as q * d + r from now on, with r below d; return q."""
        high = self.resolved(self.atoms[which].highs[0][1])
        cut = atom(which)
        q = self.new("q", low=0, origin=Origin("//", (cut, d)))
        r = self.new("r", low=0, origin=Origin("%", (cut, d)))
        rest, outer = self.atoms[-1], self.atoms[-2]
        rest.highs.append((ONE, d - 1))
        rest.divisor = outer.divisor = d * self.atoms[which].divisor
        whole = (high + 1).divided(d)
        if whole is not None:
            outer.highs.append((ONE, whole - 1))
        else:
            rest.highs.append((ONE, high - q * d))
        outer.highs.append(tight(d, high) if d.is_constant else (d, high))
        self.take_as(which, q * d + r)
        return q

    def take_as(self, which: int, value: Polynomial) -> None:
        """Take an atom as something else from now on."""
        self._digits[which] = value
        self._cuts |= 1 << which
        self._resolved = {}

    def resolved(self, value: Polynomial) -> Polynomial:
        """Return an expression with atoms that were cut as their digits."""
        cut = value.bits & self._cuts if self._cuts else 0
        if not cut:
            return value
        found = self._resolved.get(value)
        if found is None:
            which = cut.bit_length() - 1
            factor, rest = value.parted(which)
            whole = rest.plus_product(factor, self._digits[which])
            found = self._resolved[value] = self.resolved(whole)
        return found

    def _unnested(self, n: Polynomial, d: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Return n and d of the same quotient, where n was a quotient itself."""
        if n.is_atom and (inner := self.atoms[n.latest].parts):
            return inner[0], inner[1] * d
        return n, d

    def remainder(self, n: Polynomial, d: Polynomial, *, unsigned: bool = False) -> Polynomial:
        """Return n % d, at least 0: n less a multiple of d."""
        if d == ONE:
            return ZERO
        return self.resolved(n - self.quotient(n, d, unsigned=unsigned) * d)

    def one_of(self, kind: str, *values: Polynomial) -> Polynomial:
        """Return the `min` or `max` of values, or any of them (`select`)."""
        first = values[0]
        if all(each == first for each in values):
            return first
        if kind != "select" and len(values) == 2:
            for one, other in (values, values[::-1]):
                above = other - one
                if not self.points.refute(above, search=False) and self.holds(above):
                    return one if kind == "min" else other
        key = kind, *values
        made = self._made.get(key)
        if made is None:
            way = "most" if kind == "max" else "least" if kind == "min" else "any"
            made = self._made[key] = self.new(kind, origin=Origin(way, values))
            row = self.atoms[-1]
            row.among, row.among_low, row.among_high = values, kind != "max", kind != "min"
            self._chosen_ones |= made.bits
            if kind == "min":
                row.highs = [(ONE, each) for each in values]
            if kind == "max":
                row.lows = [(ONE, each) for each in values]
            natural = any if kind == "max" else all
            if natural(self.holds(each) for each in values):
                self.naturals |= made.bits
        return made

    def with_one(
        self, value: Polynomial, old: Polynomial, new: Polynomial, kind: str
    ) -> Polynomial:
        """Return a value in which what is one, or the `min` or `max` of one, is that of another."""
        if value == old:
            return new
        for each in value.atoms():
            row = self.atoms[each]
            is_kind = row.among_low == (kind == "min") and row.among_high == (kind == "max")
            if is_kind and len(row.among) == 2 and old in row.among:
                factor, rest = value.parted(each)
                (other,) = (one for one in row.among if one != old)
                return rest + factor * self.one_of(kind, new, other) if factor == ONE else value
        return value

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
        if one not in self._of_dims:
            self._of_dims[one] = self._made_factor(one)
        return self._of_dims[one]

    def _made_factor(self, one: dim_rules.Atom) -> Polynomial:
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

    def name(self, which: int) -> str:
        """Return the name of an atom: of a symbol its own, of others with their number."""
        name = self.atoms[which].name
        return name if name in self._symbols else f"{name}{which}"

    # -- facts ----------------------------------------------------------------------------

    def suppose(self, fact: Polynomial) -> None:
        """Take for granted from now on that something is at least 0."""
        if len(fact.terms) + bool(fact.constant) > 1:
            self._sizes.append(fact)
        self.points.suppose(fact)
        self.facts.append(fact)
        self._learn_of(fact)
        self._not_shown, self._quotients = {}, {}

    def _learn_of(self, given: Polynomial) -> Learned:
        """Add what is given to the bounds of atoms, and what follows from it."""
        self._learned = 0
        return self._learn(self.resolved(given).reduced())

    def _learn(self, fact: Polynomial) -> Learned:
        """Add a fact to the bounds of atoms; return what was added to what."""
        last = fact.latest
        if last < 0:
            self.is_dead |= fact.constant < 0
            return []
        self._learned += 1
        if self._learned > LEARNED or fact in self._lessons or self.is_sum_of_naturals(fact):
            return []
        self._lessons.add(fact)
        self._shown.add(fact)
        factor, rest = fact.parted(last)
        learned = self._bounded(last, factor, rest)
        parts = self.atoms[last].parts
        if parts and factor == ONE and rest.is_constant and parts[1].is_constant:
            learned += self._learn(parts[0] + parts[1] * rest.constant)
        if fact.bits & self._chosen_ones:
            for each in fact.atoms():
                if self.atoms[each].among:
                    learned += self._chosen(each, *fact.parted(each))
        if fact.constant < 0:
            learned += self._positive(fact)
            if any(len(monomial) > 1 for monomial in fact.terms):
                learned += self._factors(fact - fact.constant)
        return learned

    def _positive(self, fact: Polynomial) -> Learned:
        """Learn that what alone makes a sum positive is so without the rest, as are its factors."""
        makers = [] if fact.bits & ~self.naturals else [m for m, c in fact.terms.items() if c > 0]
        if len(makers) != 1:
            return []
        row = self.atoms[makers[0][0]]
        if len(makers[0]) == 1 < len(fact.terms) and (row.parts or row.among):
            alone = atom(makers[0][0]) * fact.terms[makers[0]] + fact.constant
            return self._learn(alone.reduced())
        return [
            row
            for each in sorted(set(makers[0]))
            if (ONE, ONE) not in self.atoms[each].lows
            for row in self._add(self.atoms[each].lows, (ONE, ONE))
        ]

    def _chosen(self, which: int, factor: Polynomial, rest: Polynomial) -> Learned:
        """Learn from factor * min or max + rest >= 0: of the others, or of the one it has to be."""
        row = self.atoms[which]
        learned: Learned = []
        is_up, is_down = factor == ONE and row.among_high, factor == -ONE and row.among_low
        if is_up or is_down:
            able = [each for each in row.among if not self.holds(-(factor * each + rest) - 1)]
            if len(able) == 1:
                learned = self._learn(self.resolved(rest.plus_product(factor, able[0])).reduced())
                return learned + self._add(row.highs if is_up else row.lows, (ONE, able[0]))
        if (factor == ONE and not row.among_high) or (factor == -ONE and not row.among_low):
            for each in row.among:  # what holds of the smallest holds of all
                learned += self._learn(self.resolved(rest.plus_product(factor, each)).reduced())
            return learned
        if which == max(fact_atoms := {which, *rest.atoms()}):
            fact = factor * atom(which) + rest
            for other in sorted(fact_atoms - {which}):
                learned += self._bounded(other, *fact.parted(other))
        return learned

    def _factors(self, whole: Polynomial) -> Learned:
        """Learn that factors of what is at least 1, none of which is below 0, are so too."""
        learned: Learned = []
        for each in (*map(atom, whole.shared()), *self._sizes):
            if each.bits & ~whole.bits or each == whole:
                continue
            rest = whole.divided(each)
            if rest is not None and not rest.is_constant and self.holds(each):
                learned += self._learn(each - 1) + self._learn(rest - 1)
                break
        return learned

    def _bounded(self, which: int, factor: Polynomial, rest: Polynomial) -> Learned:
        """Add what factor * atom + rest >= 0 says of an atom."""
        row = self.atoms[which]
        if factor.bits >> which & 1:
            return []
        up = self._direction(factor)
        if up is None:
            return []
        if up:
            scale, limit = tight(factor, rest)
            low = scale, -limit
            learned = self._add(row.lows, low)
            return learned + self._meet(which, (low,), row.highs) if learned else []
        high = tight(-factor, rest)
        learned = self._add(row.highs, high)
        return learned + self._meet(which, row.lows, (high,)) if learned else []

    def _direction(self, factor: Polynomial) -> bool | None:
        """Say whether something is at least 1 or at most -1; None if neither is known."""
        if not factor.terms:
            return factor.constant > 0
        if self.holds(factor - 1):
            return True
        return False if self.holds(-factor - 1) else None

    def _meet(self, which: int, lows: Sequence[Bound], highs: Sequence[Bound]) -> Learned:
        """Learn that no lower bound of an atom is above an upper one."""
        learned: Learned = []
        if not self.is_sane(which):
            return learned
        for (low_scale, low), (high_scale, high) in product(tuple(lows), tuple(highs)):
            if low_scale is not ONE or high_scale is not ONE:
                continue
            between = high - low
            self.is_dead |= between.is_constant and between.constant < 0
            if 0 <= between.latest < which and not self.is_sum_of_naturals(between):
                learned += self._learn(self.resolved(between).reduced())
        return learned

    @staticmethod
    def _add(bounds: list[Bound], bound: Bound) -> Learned:
        """Add a bound to those that are tried one after the other, the last one first."""
        if bound in bounds:
            return []
        bounds.append(bound)
        return [(bounds, bound)]

    # -- proofs ---------------------------------------------------------------------------

    def holds(self, value: Polynomial, fuel: int = FUEL, *, expected: bool = False) -> bool:
        """Say whether something is shown to be at least 0, or nothing comes here."""
        if self.is_dead:
            return True
        value = self.resolved(value)
        if self.is_sum_of_naturals(value):
            return True
        if not value.terms and not self._unlearned:
            return False
        return self.holds_by(LATEST, value.reduced(), fuel, expected=expected)

    def holds_always(self, value: Polynomial) -> bool:
        """Say whether something is at least 0 in every turn, which are tried one by one."""
        value = self.resolved(value)
        if self.points.refute(value):
            return False
        return Every(self.points.origins).shows(value, [*map(self.resolved, self.facts)])

    def holds_by(
        self, order: Order, value: Polynomial, fuel: int = FUEL, *, expected: bool = False
    ) -> bool:
        """Say whether something, `reduced`, is shown by replacing atoms in an order."""
        if self._unlearned:
            if fuel > 2 * EARLY and self._holds_by(order, value, EARLY, expected=expected):
                return True
            if self.points.refute(value):  # facts do not help: they hold at the point
                return False
            self.learn()
            if self.is_dead:
                return True
        return self._holds_by(order, value, fuel, expected=expected)

    def _holds_by(self, order: Order, value: Polynomial, fuel: int, *, expected: bool) -> bool:
        saved = self._order, self._fuel, self._open, self._reached, self._patience, self._doubt
        self._order, self._fuel, self._open, self._reached = order, fuel, {}, 0
        self._patience, self._doubt = fuel - PATIENCE, fuel - TRUST * expected
        found = self._shows(value)
        self._order, self._fuel, self._open, self._reached, self._patience, self._doubt = saved
        return found

    def single(self, value: Polynomial) -> int:
        """Return an atom that lies between numbers, else the one that was made last."""
        bits = value.bits
        while bits:
            which = bits.bit_length() - 1
            row = self.atoms[which]
            if row.lows and row.highs:
                (low_scale, low), (high_scale, high) = row.lows[0], row.highs[0]
                if low_scale is ONE is high_scale and not (low.terms or high.terms):
                    return which
            bits ^= 1 << which
        return value.latest

    def counter_first(self, value: Polynomial) -> int:
        """Return a counter that quotients of it bound, once; else an atom between numbers."""
        latest = max((each for each in self.later if value.bits >> each & 1), default=-1)
        return latest if latest >= 0 else self.single(value)

    def _holds(self, value: Polynomial) -> bool:
        if value.bits & self._cuts:
            value = self.resolved(value)
        if not value.terms:
            return value.constant >= 0
        if self.is_sum_of_naturals(value):
            return True
        return self._shows(value.reduced())

    def _shows(self, value: Polynomial) -> bool:
        """Say whether something is shown; atoms that have one bound are replaced by it at once."""
        shown = self._shown
        while value.terms:
            if value in shown:
                return True
            order = self._order
            last = value.bits.bit_length() - 1 if order is LATEST else order(value)
            row, factor = self.atoms[last], value.terms.get((last,), 0)
            bounds = row.lows if factor > 0 else row.highs
            if len(bounds) != 1 or not factor or row.among or last in self.later:
                break
            ((scale, limit),) = bounds
            if limit.latest >= last or not (row.divisor is ONE or self.is_sane(last)):
                break
            limit = self.resolved(limit) if limit.bits & self._cuts else limit
            made = value.bounded(last, limit) if scale is ONE else None
            if made is None:
                alone, rest = value.parted(last)
                if alone.terms:
                    break
                made = replaced(alone, rest, (scale, limit), up=factor > 0).reduced()
            value = made
        if not value.terms:
            return value.constant >= 0
        if self.is_sum_of_naturals(value):
            return True
        if self._is_refuted(value) or self._is_too_far(value):
            return False
        return self._search(value)

    def _is_refuted(self, value: Polynomial) -> bool:
        """Say whether something was not shown before, or a point says that it cannot be."""
        if self._not_shown and (self._order, value) in self._not_shown:
            return True
        fuel = self._fuel
        return fuel <= self._doubt and self.points.refute(value, search=fuel < self._patience)

    def _is_too_far(self, value: Polynomial) -> bool:
        """Say whether the search ends here: there were too many steps, or it is back at a start."""
        if self._fuel <= 0 or self.budget <= 0 or len(self._open) > DEEPEST:
            self._fuel = 0
            return True
        depth = self._open.get(value)
        if depth is None:
            return False
        self._reached = min(self._reached, depth)  # what leads back to itself shows nothing
        return True

    def _search(self, value: Polynomial) -> bool:
        """Say whether something follows from the bounds of its atoms."""
        self._fuel -= 1
        self.budget -= 1
        self._open[value] = len(self._open)
        outer, self._reached = self._reached, len(self._open)
        other = self._without_factors(value)
        found = self._follows(other) or (other is not value and self._follows(value))
        depth = self._open.pop(value)
        if found:
            self._shown.add(value)
        elif self._fuel > 0 and self._reached >= depth:
            self._not_shown[self._order, value] = None
        self._reached = min(outer, self._reached)
        return found

    def is_sum_of_naturals(self, value: Polynomial) -> bool:
        """Say whether something is at least 0 because all that it is the sum of is so."""
        if value.bits & ~self.naturals or value.constant < 0:
            return False
        return not value.terms or min(value.terms.values()) >= 0

    def _without_factors(self, value: Polynomial) -> Polynomial:
        """Return what is left of a product of atoms that are at least 0, and something."""
        while natural := [each for each in value.shared() if self.is_natural(each)]:
            value = value.parted(natural[0])[0].reduced()
        return value

    def _follows(self, value: Polynomial) -> bool:
        last = self._order(value)
        if last < 0:
            return value.constant >= 0
        row = self.atoms[last]
        factor, rest = value.parted(last)
        if not self.is_sane(last):
            return False
        up = self._sign(factor) if factor.terms else factor.constant > 0
        if up is None:
            return not factor.bits >> last & 1 and self._holds_at_ends(row, factor, rest)
        if last in self.later and self._follows_later(last, factor, rest, up=up):
            return True
        lows = row.lows or [(ONE, ZERO)] * self.is_natural(last)
        for bound in self._in_order(last, lows if up else row.highs, up=up):
            scale, limit = bound
            here = self.resolved(limit) if limit.bits & self._cuts else limit
            if self._holds(replaced(factor, rest, (scale, here), up=up)):
                self.helpful[last, up] = bound
                return True
        is_among = bool(row.among) and (row.among_low if up else row.among_high)
        return is_among and all(
            self._holds(rest.plus_product(factor, self.resolved(each))) for each in row.among
        )

    def _in_order(self, which: int, bounds: Sequence[Bound], *, up: bool) -> Sequence[Bound]:
        """Return bounds of an atom in the order in which they are tried: the last says most."""
        if len(bounds) == 1:
            return bounds
        found, first = bounds[::-1], self.helpful.get((which, up))
        if first is not None and first in found:
            return [first, *(each for each in found if each is not first)]
        return found

    def _follows_later(self, last: int, factor: Polynomial, rest: Polynomial, *, up: bool) -> bool:
        """Say whether something follows from bounds by later atoms, of which each counts once."""
        bounds = self.later.pop(last)
        found = any(
            self._holds(replaced(factor, rest, (scale, self.resolved(limit)), up=up))
            for scale, limit in reversed(bounds[up])
        )
        self.later[last] = bounds
        return found

    def _holds_at_ends(self, row: Atom, factor: Polynomial, rest: Polynomial) -> bool:
        """Say whether factor * atom + rest is at least 0 where the atom is least and largest."""
        for bounds in (row.lows, row.highs):
            for scale, limit in bounds:  # generators would take twice the stack
                if scale is ONE and self._holds(rest.plus_product(factor, self.resolved(limit))):
                    break
            else:
                return False
        return True

    def _sign(self, factor: Polynomial) -> bool | None:
        """Say whether what is no number is at least 0 or at most 0; None if neither is known."""
        if not factor.bits & ~self.naturals:
            coefficients = (*factor.terms.values(), factor.constant)
            if min(coefficients) >= 0 or max(coefficients) <= 0:
                return max(coefficients) > 0
        below, above = self.points.sides(factor)  # what is so at a point cannot be shown
        if not below and self._holds(factor):
            return True
        return False if not above and self._holds(-factor) else None

    def is_sane(self, which: int) -> bool:
        """Say whether an atom's bounds hold here: those of a quotient by 0 do not."""
        row = self.atoms[which]
        if row.divisor is ONE or self._sane >> which & 1:
            return True
        if row.divisor.is_constant and row.dividend.is_zero:
            return row.divisor.constant > 0
        if not (self._holds(row.divisor - 1) and self._holds(row.dividend)):
            return False
        self._sane |= 1 << which
        return True

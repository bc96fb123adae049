"""Polynomials with whole coefficients over numbered atoms: index expressions.

Atoms are numbered in the order in which they are made, so that what an atom is made of has
smaller numbers than its own.
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]
"""The atoms that are multiplied, sorted; none for the constant."""
Terms: TypeAlias = dict[Monomial, int]
UNKNOWN = -1
"""Bits that have to be looked for."""


class Polynomial:
    """A sum of products of atoms, and a constant. Made by arithmetic; never changed.

    Expressions that differ by a constant share their products, as places beside each other do.

    >>> n = atom(0)
    >>> (n + 1) * n - n == n * n
    True
    """

    __slots__ = ("_hash", "bits", "constant", "terms")

    def __init__(self, terms: Terms, constant: int = 0, bits: int = UNKNOWN) -> None:
        self.terms = terms
        """Products of one atom or more, and how often each is taken; never 0."""
        self.constant = constant
        self.bits = bits if bits >= 0 else _bits_of(terms)
        """The atoms as bits of a number, which tells at once what is among them."""
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Polynomial)
            and self.constant == other.constant
            and self.terms == other.terms
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.bits, self.constant, sum(self.terms.values())))
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({self.terms}, {self.constant})"

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return Polynomial(self.terms, self.constant + other, self.bits) if other else self
        more, fewer = self, other
        if len(more.terms) < len(fewer.terms):
            more, fewer = fewer, more
        constant = self.constant + other.constant
        if not fewer.terms:
            return Polynomial(more.terms, constant, more.bits) if fewer.constant else more
        made, bits = more.terms.copy(), more.bits | fewer.bits
        for monomial, coefficient in fewer.terms.items():
            total = made.get(monomial, 0) + coefficient
            if total:
                made[monomial] = total
            else:
                del made[monomial]
                bits = UNKNOWN
        return Polynomial(made, constant, bits)

    def plus(self, other: Polynomial, times: int) -> Polynomial:
        """Return the sum of this and some times another."""
        made, bits = self.terms.copy(), self.bits | other.bits
        for monomial, coefficient in other.terms.items():
            total = made.get(monomial, 0) + coefficient * times
            if total:
                made[monomial] = total
            else:
                made.pop(monomial, None)
                bits = UNKNOWN
        return Polynomial(made, self.constant + other.constant * times, bits)

    def plus_product(self, one: Polynomial, two: Polynomial) -> Polynomial:
        """Return the sum of this and a product, which is not made by itself."""
        if not one.terms:
            return self.plus(two, one.constant)
        if not two.terms:
            return self.plus(one, two.constant)
        made, bits = self.terms.copy(), self.bits | one.bits | two.bits
        constant = two.constant
        for left, x in one.terms.items():
            for right, y in two.terms.items():
                both = left + right
                if left[-1] > right[0]:
                    both = tuple(sorted(both))
                made[both] = made.get(both, 0) + x * y
            if constant:
                made[left] = made.get(left, 0) + x * constant
        if one.constant:
            for right, y in two.terms.items():
                made[right] = made.get(right, 0) + y * one.constant
        if not all(made.values()):
            made, bits = {monomial: c for monomial, c in made.items() if c}, UNKNOWN
        return Polynomial(made, self.constant + one.constant * constant, bits)

    def __neg__(self) -> Polynomial:
        terms = {monomial: -c for monomial, c in self.terms.items()}
        return Polynomial(terms, -self.constant, self.bits)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return Polynomial(self.terms, self.constant - other, self.bits) if other else self
        constant = self.constant - other.constant
        if not other.terms:
            return Polynomial(self.terms, constant, self.bits) if other.constant else self
        if self.terms is other.terms:
            return number(constant)
        made, bits = self.terms.copy(), self.bits | other.bits
        for monomial, coefficient in other.terms.items():
            total = made.get(monomial, 0) - coefficient
            if total:
                made[monomial] = total
            else:
                del made[monomial]
                bits = UNKNOWN
        return Polynomial(made, constant, bits)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self._times(other)
        if not other.terms:
            return self._times(other.constant)
        if not self.terms:
            return other._times(self.constant)
        return ZERO.plus_product(self, other)

    def _times(self, factor: int) -> Polynomial:
        if factor == 1:
            return self
        if not factor:
            return ZERO
        terms = {m: c * factor for m, c in self.terms.items()}
        return Polynomial(terms, self.constant * factor, self.bits)

    @property
    def is_constant(self) -> bool:
        """Say whether there are no atoms."""
        return not self.terms

    @property
    def is_atom(self) -> bool:
        """Say whether this is one atom, and nothing else."""
        return not self.constant and len(self.terms) == 1 and self.terms == {(self.latest,): 1}

    @property
    def is_zero(self) -> bool:
        """Say whether there is nothing."""
        return not self.terms and not self.constant

    def atoms(self) -> list[int]:
        """Return the atoms in their order, each once."""
        found, bits = [], self.bits
        while bits:
            lowest = bits & -bits
            found.append(lowest.bit_length() - 1)
            bits ^= lowest
        return found

    @property
    def latest(self) -> int:
        """Return the atom of the largest number; -1 if there is none."""
        return self.bits.bit_length() - 1

    def parted(self, atom: int) -> tuple[Polynomial, Polynomial]:
        """Return c and r of c * atom + r; the atom may still be in c."""
        rest = self.terms.copy()
        constant = rest.pop((atom,), 0)
        factor: Terms = {}
        for monomial in [each for each in rest if atom in each]:
            at = monomial.index(atom)
            factor[monomial[:at] + monomial[at + 1 :]] = rest.pop(monomial)
        if not factor:
            return number(constant), Polynomial(rest, self.constant, self.bits & ~(1 << atom))
        return Polynomial(factor, constant), Polynomial(rest, self.constant)

    def bounded(self, atom: int, limit: Polynomial) -> Polynomial | None:
        """Return this, `reduced`, with something for an atom; None where a product has that.

        The same as by `parted`, `plus` and `reduced`: most steps of proofs are this one.
        """
        for monomial in self.terms:
            if atom in monomial and len(monomial) > 1:
                return None
        made, bits = self.terms.copy(), (self.bits | limit.bits) & ~(1 << atom)
        factor = made.pop((atom,))
        for monomial, coefficient in limit.terms.items():
            total = made.get(monomial, 0) + coefficient * factor
            if total:
                made[monomial] = total
            else:
                del made[monomial]
                bits = UNKNOWN
        constant, common = self.constant + limit.constant * factor, 0
        for coefficient in made.values():
            common = gcd(common, coefficient)
            if common == 1:
                break
        if common > 1:
            made = {monomial: c // common for monomial, c in made.items()}
            constant //= common
        return Polynomial(made, constant, bits)

    def divided(self, divisor: Polynomial) -> Polynomial | None:
        """Return the quotient, None where it is not exact."""
        if self.is_zero:
            return self
        if divisor.bits & ~self.bits:
            return None
        if not self.terms:
            left = self.constant % divisor.constant
            return None if left else number(self.constant // divisor.constant)
        if not divisor.terms:
            whole, rest = self._split_by(divisor.constant)
            return whole if rest.is_zero else None
        first, lead = self.lead, divisor.lead
        if self.coefficient(first) % divisor.coefficient(lead) or _without(first, lead) is None:
            return None
        whole, rest = self.split(divisor, exact=True)
        return whole if rest.is_zero else None

    @property
    def lead(self) -> Monomial:
        """Return the product that division begins with."""
        return max(self.terms, key=_order) if len(self.terms) > 1 else next(iter(self.terms), ())

    def coefficient(self, monomial: Monomial) -> int:
        """Return how often a product is taken, or the constant."""
        return self.terms.get(monomial, 0) if monomial else self.constant

    def split(self, divisor: Polynomial, *, exact: bool = False) -> tuple[Polynomial, Polynomial]:
        """Return q and r of q * divisor + r, with as many terms in q as the divisor divides.

        If only an `exact` quotient is wanted, it ends at the first term that is left.
        """
        if not divisor.terms:
            return self._split_by(divisor.constant)
        lead, others = divisor.lead, _summands(divisor)
        scale = others.pop(lead)
        whole, rest, ahead = Terms(), Terms(), _summands(self)
        while ahead:
            monomial = max(ahead, key=_order)
            coefficient = ahead.pop(monomial)
            left = _without(monomial, lead)
            if left is None or coefficient % scale:
                rest[monomial] = coefficient
                if exact:
                    break
                continue
            factor = whole[left] = coefficient // scale
            for each, times in others.items():
                key = tuple(sorted(left + each))
                total = ahead.pop(key, 0) - factor * times
                if total:
                    ahead[key] = total
        return _sum_of(whole), _sum_of(rest)

    def _split_by(self, scale: int) -> tuple[Polynomial, Polynomial]:
        """Return q and r of q * scale + r, with what the number does not divide in r."""
        whole, rest = Terms(), Terms()
        for monomial, coefficient in self.terms.items():
            factor, left = divmod(coefficient, scale)
            if left:
                rest[monomial] = coefficient
            else:
                whole[monomial] = factor
        factor, left = divmod(self.constant, scale)
        if left:
            return Polynomial(whole), Polynomial(rest, self.constant)
        return Polynomial(whole, factor), Polynomial(rest)

    def reduced(self) -> Polynomial:
        """Return what is at least 0 just where this is: divided by a number, and rounded down."""
        common = 0
        for coefficient in self.terms.values():
            common = gcd(common, coefficient)
            if common == 1:
                return self
        if not common:
            return self
        made = {m: c // common for m, c in self.terms.items()}
        return Polynomial(made, self.constant // common, self.bits)

    def shared(self) -> list[int]:
        """Return the atoms that every term has, in their order."""
        if self.constant:
            return []
        common: list[int] | None = None
        for monomial in self.terms:
            if common is None:
                common = list(dict.fromkeys(monomial))
            else:
                common = [each for each in common if each in monomial]
            if not common:
                return []
        return common or []


def _bits_of(terms: Terms) -> int:
    """Return the atoms of products as bits of a number."""
    bits = 0
    for monomial in terms:
        for each in monomial:
            bits |= 1 << each
    return bits


def _summands(value: Polynomial) -> Terms:
    """Return the terms and the constant as one, as division goes over them."""
    return {**value.terms, (): value.constant} if value.constant else value.terms.copy()


def _sum_of(summands: Terms) -> Polynomial:
    """Return the sum of terms, of which one may be a constant."""
    constant = summands.pop((), 0)
    return Polynomial(summands, constant)


def _order(monomial: Monomial) -> tuple[int, Monomial]:
    """Return what monomials are ordered by, as division wants it: by degree, then by atoms."""
    return len(monomial), monomial[::-1]


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Return what is left of a product without these factors; None where one is missing."""
    if not part:
        return monomial
    left = list(monomial)
    for each in part:
        if each not in left:
            return None
        left.remove(each)
    return tuple(left)


ZERO = Polynomial({}, 0, 0)
SMALL = (ZERO, *(Polynomial({}, value, 0) for value in range(1, 65)))
"""Constants that are made once."""


def number(value: int) -> Polynomial:
    """Return a constant."""
    return SMALL[value] if 0 <= value < len(SMALL) else Polynomial({}, value, 0)


ONE = number(1)


def atom(which: int) -> Polynomial:
    """Return the expression that is one atom."""
    return Polynomial({(which,): 1}, 0, 1 << which)

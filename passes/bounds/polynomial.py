"""Polynomials with whole coefficients over numbered atoms: index expressions.

Atoms are numbered in the order in which they are made, so that what an atom is made of has
smaller numbers than its own.
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]
"""The atoms that are multiplied, sorted; none for the constant."""


class Polynomial:
    """A sum of products of atoms. Made by arithmetic; never changed.

    >>> n = atom(0)
    >>> (n + 1) * n - n == n * n
    True
    """

    __slots__ = ("_bits", "_hash", "terms")

    def __init__(self, terms: dict[Monomial, int], bits: int = -1) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._bits = bits

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Polynomial) and self.terms == other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.bits, frozenset(self.terms.values())))
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({dict(self.terms)})"

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self._plus(other)
        more, fewer = self, other
        if len(more.terms) < len(fewer.terms):
            more, fewer = fewer, more
        if not fewer.terms:
            return more
        made = more.terms.copy()
        for monomial, coefficient in fewer.terms.items():
            total = made.get(monomial, 0) + coefficient
            if total:
                made[monomial] = total
            else:
                del made[monomial]
        return Polynomial(made)

    def _plus(self, constant: int) -> Polynomial:
        total = self.constant + constant
        made = self.terms.copy()
        if total:
            made[()] = total
        else:
            made.pop((), None)
        return Polynomial(made, self._bits)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()}, self._bits)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self._plus(-other)
        if not other.terms:
            return self
        made = self.terms.copy()
        for monomial, coefficient in other.terms.items():
            total = made.get(monomial, 0) - coefficient
            if total:
                made[monomial] = total
            else:
                del made[monomial]
        return Polynomial(made)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self if other == 1 else self._times(other)
        if other.is_constant:
            return self * other.constant
        if self.is_constant:
            return other * self.constant
        made: dict[Monomial, int] = {}
        for one, x in self.terms.items():
            for two, y in other.terms.items():
                key = tuple(sorted(one + two)) if one and two else one or two
                made[key] = made.get(key, 0) + x * y
        return Polynomial({m: c for m, c in made.items() if c})

    def _times(self, factor: int) -> Polynomial:
        made = {m: c * factor for m, c in self.terms.items()} if factor else {}
        return Polynomial(made, self._bits if factor else 0)

    @property
    def constant(self) -> int:
        """Return the number that stands by itself."""
        return self.terms.get((), 0)

    @property
    def is_constant(self) -> bool:
        """Say whether there are no atoms."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def bits(self) -> int:
        """Return the atoms as bits of a number, which tells at once what is among them."""
        if self._bits < 0:
            self._bits = 0
            for monomial in self.terms:
                for each in monomial:
                    self._bits |= 1 << each
        return self._bits

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
        factor: dict[Monomial, int] = {}
        rest = self.terms.copy()
        for monomial in self.terms:
            if atom in monomial:
                at = monomial.index(atom)
                factor[monomial[:at] + monomial[at + 1 :]] = rest.pop(monomial)
        return Polynomial(factor), Polynomial(rest)

    def divided(self, divisor: Polynomial) -> Polynomial | None:
        """Return the quotient, None where it is not exact."""
        if not self.terms:
            return self
        if divisor.bits & ~self.bits:
            return None
        first, lead = self.lead, divisor.lead
        if self.terms[first] % divisor.terms[lead] or _without(first, lead) is None:
            return None
        whole, rest = self.split(divisor, exact=True)
        return None if rest.terms else whole

    @property
    def lead(self) -> Monomial:
        """Return the product that division begins with."""
        return max(self.terms, key=_order) if len(self.terms) > 1 else next(iter(self.terms))

    def split(self, divisor: Polynomial, *, exact: bool = False) -> tuple[Polynomial, Polynomial]:
        """Return q and r of q * divisor + r, with as many terms in q as the divisor divides.

        If only an `exact` quotient is wanted, it ends at the first term that is left.
        """
        lead = divisor.lead
        scale, others = divisor.terms[lead], [m for m in divisor.terms if m != lead]
        whole, rest, ahead = dict[Monomial, int](), dict[Monomial, int](), dict(self.terms)
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
            for each in others:
                key = tuple(sorted(left + each))
                total = ahead.pop(key, 0) - factor * divisor.terms[each]
                if total:
                    ahead[key] = total
        return Polynomial(whole), Polynomial(rest)

    def reduced(self) -> Polynomial:
        """Return what is at least 0 just where this is: divided by a number, and rounded down."""
        common = 0
        for monomial, coefficient in self.terms.items():
            if monomial:
                common = gcd(common, coefficient)
                if common == 1:
                    return self
        if not common:
            return self
        made = {m: c // common for m, c in self.terms.items()}
        if made.get((), 1) == 0:
            del made[()]
        return Polynomial(made, self._bits)

    def shared(self) -> list[int]:
        """Return the atoms that every term has, in their order."""
        if () in self.terms:
            return []
        shortest = min(self.terms, key=len, default=())
        return [a for a in dict.fromkeys(shortest) if all(a in each for each in self.terms)]


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


ZERO = Polynomial({})
SMALL = (ZERO, *(Polynomial({(): value}) for value in range(1, 65)))
"""Constants that are made once."""


def number(value: int) -> Polynomial:
    """Return a constant."""
    return SMALL[value] if 0 <= value < len(SMALL) else Polynomial({(): value})


ONE = number(1)


def atom(which: int) -> Polynomial:
    """Return the expression that is one atom."""
    return Polynomial({(which,): 1})

"""Bounds of atoms, and what has to hold where an atom is replaced by one of its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .polynomial import ONE, ZERO, Polynomial

Bound: TypeAlias = tuple[Polynomial, Polynomial]
"""A factor k >= 1 and b: k * atom is at least (or at most) b. A factor of one is `ONE` itself."""


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
    divisor: Polynomial = ONE
    """What must be at least 1 for the bounds to hold."""
    dividend: Polynomial = ZERO
    """What must be at least 0 for the bounds to hold."""
    parts: tuple[Polynomial, Polynomial] | None = None
    """Of a quotient: what is divided, and by what."""


def replaced(factor: Polynomial, rest: Polynomial, bound: Bound, *, up: bool) -> Polynomial:
    """Return what must be at least 0 for factor * atom + rest to be, by a bound of the atom."""
    scale, limit = bound
    if scale is ONE:
        return rest.plus_product(factor, limit)
    if factor.is_constant:
        # Whole numbers: the atom is compared with `rest` over the factor, rounded towards it.
        size = abs(factor.constant)
        target = rounded(rest, size)
        if target is not None:
            # up: atom >= -target, where scale * atom >= limit; else atom <= target.
            return (limit if up else -limit) + scale * target + scale - 1
    part = factor.divided(scale)
    if part is not None:
        return rest.plus_product(part, limit)
    return (rest * scale).plus_product(factor, limit)


def tight(scale: Polynomial, limit: Polynomial) -> Bound:
    """Return the bound scale * atom <= limit without the scale, where the limit can be rounded."""
    if scale == ONE:
        return ONE, limit
    if scale.is_constant:
        whole = rounded(limit, scale.constant)
        if whole is not None:
            return ONE, whole
    return scale, limit


def rounded(rest: Polynomial, size: int) -> Polynomial | None:
    """Return rest / size, rounded down, if that is an expression."""
    made = {}
    for monomial, coefficient in rest.terms.items():
        if coefficient % size:
            return None
        made[monomial] = coefficient // size
    return Polynomial(made, rest.constant // size, rest.bits)

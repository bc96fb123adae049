"""Bounds of atoms, and what has to hold where an atom is replaced by one of its bounds."""

from __future__ import annotations

from typing import TypeAlias

from .polynomial import ONE, Polynomial

Bound: TypeAlias = tuple[Polynomial, Polynomial]
"""A factor k >= 1 and b: k * atom is at least (or at most) b."""


def replaced(factor: Polynomial, rest: Polynomial, bound: Bound, *, up: bool) -> Polynomial:
    """Return what must be at least 0 for factor * atom + rest to be, by a bound of the atom."""
    scale, limit = bound
    if scale is ONE or scale == ONE:
        return rest.plus(limit, factor.constant) if not factor.terms else factor * limit + rest
    if factor.is_constant:
        # Whole numbers: the atom is compared with `rest` over the factor, rounded towards it.
        size = abs(factor.constant)
        target = rounded(rest, size)
        if target is not None:
            # up: atom >= -target, where scale * atom >= limit; else atom <= target.
            return (limit if up else -limit) + scale * target + scale - 1
    part = factor.divided(scale)
    return part * limit + rest if part is not None else factor * limit + rest * scale


def tight(scale: Polynomial, limit: Polynomial) -> Bound:
    """Return the bound scale * atom <= limit without the scale, where the limit can be rounded."""
    if scale is not ONE and scale.is_constant and scale.constant != 1:
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

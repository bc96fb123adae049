"""Sizes with a sum as a factor, as those of what has no padding: taken as products of atoms.

    X*Y*N - X*N - Y*N + N,   X and Y at least 1:       X = U + 1, Y = V + 1:      U*V*N

What a product of sums leaves is seldom seen to be at least 0: bounds of each sum go to four terms.
"""

from __future__ import annotations

from collections.abc import Iterable

from .points import Origin
from .polynomial import ONE, Polynomial, atom
from .prover import Prover


def count_from(prover: Prover, fact: Polynomial, sizes: Iterable[Polynomial]) -> None:
    """Take X as U + k if X - c is at least 0, as was supposed, and sizes have a factor X - k."""
    which, most = fact.latest, -fact.constant
    if most <= 0 or fact + most != atom(which) or prover.resolved(fact) != fact:
        return
    within = [size for size in sizes if size.bits >> which & 1]
    for least in range(1, most + 1):
        factor = atom(which) - least
        if any(size.divided(factor) is not None for size in within):
            _count(prover, which, least)
            return


def _count(prover: Prover, which: int, least: int) -> None:
    """Take an atom as a number, and an atom of what is above it."""
    row = prover.atoms[which]
    origin = Origin("//", (atom(which) - least, ONE))
    above = prover.new(f"{row.name}-{least}", low=0, origin=origin)
    made = prover.atoms[-1]
    made.lows += [(scale, limit - scale * least) for scale, limit in row.lows]
    made.highs += [(scale, limit - scale * least) for scale, limit in row.highs]
    made.divisor, made.dividend = row.divisor, row.dividend
    if row.parts:
        n, d = row.parts
        made.parts = n - d * least, d
        prover.quotients |= above.bits
    prover.take_as(which, above + least)

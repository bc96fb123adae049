"""Proofs of places that are taken apart into quotients and what these leave.

    image, tile = at // 64, at % 64;  row, column = tile // 8, tile % 8

    column = at - 64 * image - 8 * row is at most 7:    at <= 64 * image + 8 * row + 7

A column has no atom, and the quotients are made later than the counter that they are of; so here
the counter is replaced first, by what its quotients and facts on them say of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .bound import tight
from .polynomial import ONE, ZERO, Polynomial, atom
from .prover import Prover


def holds_by_rests(prover: Prover, value: Polynomial) -> bool:
    """Say whether something is shown if counters are replaced by quotients of them first.

    What is left of a place below 64 by 8 is below 8 only as long as both are looked at as one:

        8 * q <= at <= 8 * q + 7,   8 * q <= 63
    """
    value = prover.resolved(value).reduced()
    if prover.points.refute(value) or not any(prover.atoms[e].parts for e in value.atoms()):
        return False
    prover.learn()
    below, rests = _rests(prover, value)
    with prover.given(below):
        prover.learn()  # before there are bounds by later atoms, which hold here only
        prover.later = {}
        for fact in (*rests, *prover.facts):
            _bound_counter(prover, prover.resolved(fact).reduced())
        found = prover.holds_by(prover.counter_first, value)
        prover.later = {}
    return found


def is_taken_apart(prover: Prover, value: Polynomial) -> bool:
    """Say whether there are a quotient and a quotient of what it leaves."""
    quotients = of_quotients = 0
    for each in prover.resolved(value).atoms():
        parts = prover.atoms[each].parts
        if parts:
            quotients |= 1 << each
            of_quotients |= parts[0].bits
    return bool(quotients & of_quotients)


def _quotients(
    prover: Prover, value: Polynomial
) -> list[tuple[int, tuple[Polynomial, Polynomial]]]:
    """Return the quotients in a value, and in what those are of: each with what that is."""
    found, bits, seen = [], value.bits, 0
    while left := bits & ~seen:
        which = left.bit_length() - 1
        seen |= 1 << which
        parts = prover.atoms[which].parts
        if parts is not None:
            found.append((which, parts))
            bits |= parts[0].bits | parts[1].bits
    return found[::-1]  # what an atom is made of was made before it


def _rests(prover: Prover, value: Polynomial) -> tuple[list[Polynomial], list[Polynomial]]:
    """Return facts of how large the quotients of a value are, and of what is left by each."""
    below, rests = [], []
    for which, (n, d) in _quotients(prover, value):
        if not prover.is_sane(which):
            continue
        q = atom(which)
        rests += [n - d * q, d * q + d - 1 - n]
        for limit in _limits(prover, n):
            whole = (limit + 1).divided(d)
            below.append(whole - 1 - q if whole is not None else limit - d * q)
    return below, rests


def _limits(prover: Prover, value: Polynomial, depth: int = 4) -> Iterator[Polynomial]:
    """Give what is left by a quotient, or a counter and more, is not above."""
    for each in value.atoms():
        whole, size = prover.atoms[each].parts or (ZERO, ONE)
        if value == whole - size * atom(each) and prover.is_sane(each):
            yield size - 1
    if not depth or value.is_constant or not prover.is_sane(value.latest):
        return
    factor, rest = value.parted(value.latest)
    if factor != ONE:
        return
    for scale, limit in prover.atoms[value.latest].highs:
        if scale == ONE:
            yield limit + rest
            yield from _limits(prover, limit + rest, depth - 1)


def _bound_counter(prover: Prover, fact: Polynomial) -> None:
    """Note how a fact on a quotient bounds the latest counter in it."""
    origins = prover.points.origins
    counters = [each for each in fact.atoms() if origins[each].kind in ("walk", "turn")]
    if not counters or counters[-1] == fact.latest:
        return
    which = counters[-1]
    factor, rest = fact.parted(which)
    if factor.is_constant:
        up = factor.constant > 0  # the counter is -rest / factor at least, or rest at most
        scale, limit = tight(factor if up else -factor, rest)
        bounds = prover.later.setdefault(which, ([], []))
        bounds[up].append((scale, -limit if up else limit))

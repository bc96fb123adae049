"""Proofs of places that are taken apart into quotients and what these leave.

    image, tile = at // 64, at % 64;  row, column = tile // 8, tile % 8

    column = at - 64 * image - 8 * row is at most 7:    at <= 64 * image + 8 * row + 7

A column has no atom, and the quotients are made later than the counter that they are of; so here
the counter is replaced first, by what its quotients and facts on them say of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .bound import Bound, tight
from .polynomial import ONE, ZERO, Polynomial, atom
from .prover import Prover

Quotients: TypeAlias = list[tuple[int, tuple[Polynomial, Polynomial]]]
"""Atoms, and what each divides by what."""
Later: TypeAlias = dict[int, tuple[list[Bound], list[Bound]]]
"""Upper and lower bounds of counters by atoms that were made later."""


class Rests:
    """Shows what holds of quotients and what these leave, if counters are replaced by them first.

    What is left of a place below 64 by 8 is below 8 only as long as both are looked at as one:

        8 * q <= at <= 8 * q + 7,   8 * q <= 63

    What is known of some quotients is kept for the next ones: both ends of a place have the same.
    """

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self.known: tuple[int, ...] = ()
        """The quotients of which bounds are given now."""
        self.later: Later = {}
        self.have_helped = False
        """Whether something was shown: it is then worth a try early on."""

    def show(self, value: Polynomial) -> bool:
        """Say whether something is shown to be at least 0."""
        prover = self.prover
        value = prover.resolved(value).reduced()
        if prover.points.refute(value) or not value.bits & prover.quotients:
            return False
        quotients = _quotients(prover, value)
        if self.known != (which := tuple([each for each, _ in quotients])):
            self.leave()
            self.enter(quotients)
            self.known = which
        prover.later = self.later
        found = prover.holds_by(prover.counter_first, value)
        prover.later = {}
        self.have_helped |= found
        return found

    def enter(self, quotients: Quotients) -> None:
        """Take for granted how large quotients are, which follows from what they are of."""
        prover = self.prover
        prover.learn()
        below, rests = _rests(prover, quotients)
        prover.enter(below)
        prover.learn()  # before there are bounds by later atoms, which hold here only
        self.later = {}
        for fact in (*rests, *prover.facts):
            _bound_counter(prover, self.later, prover.resolved(fact).reduced())

    def leave(self) -> None:
        """Know no more than before."""
        if self.known:
            self.prover.leave()
            self.known = ()


def is_taken_apart(prover: Prover, value: Polynomial) -> bool:
    """Say whether there are a quotient and a quotient of what it leaves."""
    bits = left = prover.resolved(value).bits & prover.quotients
    of_quotients = 0
    while left:
        which = left.bit_length() - 1
        left ^= 1 << which
        if parts := prover.atoms[which].parts:
            of_quotients |= parts[0].bits
    return bool(bits & of_quotients)


def _quotients(prover: Prover, value: Polynomial) -> Quotients:
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


def _rests(prover: Prover, quotients: Quotients) -> tuple[list[Polynomial], list[Polynomial]]:
    """Return facts of how large some quotients are, and of what is left by each."""
    below, rests = [], []
    for which, (n, d) in quotients:
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


def _bound_counter(prover: Prover, later: Later, fact: Polynomial) -> None:
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
        bounds = later.setdefault(which, ([], []))
        bounds[up].append((scale, -limit if up else limit))
